/* A step of heat conduction: 5 points on a square of 16 * SIZE to a side, 7 points in a cube of SIZE to a side. */
#include "common.cuh"

__global__ void stencil_5(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    size_t i = static_cast<size_t>(y) * n + x;
    out[i] = 0.5f * in[i] + 0.125f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n]);
}

__global__ void stencil_7(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    size_t plane = static_cast<size_t>(n) * n, i = plane + static_cast<size_t>(y) * n + x;
    float below = in[i - plane], here = in[i];
    for (int z = 1; z < n - 1; z++, i += plane) {
        float above = in[i + plane];
        out[i] = 0.4f * here + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + below + above);
        below = here, here = above;
    }
}

static std::vector<float> square(const std::vector<float> &in, int n)
{
    std::vector<float> out(in.size());
    for (int y = 1; y < n - 1; y++)
        for (int x = 1; x < n - 1; x++) {
            const float *c = &in[y * n + x];
            out[y * n + x] = 0.5f * c[0] + 0.125f * (c[-1] + c[1] + c[-n] + c[n]);
        }
    return out;
}

static std::vector<float> cube(const std::vector<float> &in, int n)
{
    std::vector<float> out(in.size());
    for (int z = 1; z < n - 1; z++)
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                const float *c = &in[(z * n + y) * n + x];
                out[(z * n + y) * n + x] =
                    0.4f * c[0] + 0.1f * (c[-1] + c[1] + c[-n] + c[n] + c[-n * n] + c[n * n]);
            }
    return out;
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 256);
    int n3 = bench.size, n2 = 16 * n3;
    size_t count2 = static_cast<size_t>(n2) * n2, count3 = static_cast<size_t>(n3) * n3 * n3;
    std::vector<float> in2 = random_floats(count2, 1), in3 = random_floats(count3, 2), want2, want3;
    Array<float> d_in2(in2), d_out2(count2), d_in3(in3), d_out3(count3);
    dim3 block(32, 8);
    bench.rounds([&] {
        bench.time("stencil_5", [&] {
            stencil_5<<<dim3(blocks_for(n2, 32), blocks_for(n2, 8)), block>>>(d_in2, d_out2, n2);
        });
        bench.time("stencil_7", [&] {
            stencil_7<<<dim3(blocks_for(n3, 32), blocks_for(n3, 8)), block>>>(d_in3, d_out3, n3);
        });
    });
    if (bench.check)
        want2 = square(in2, n2), want3 = cube(in3, n3);
    bench.expect("square", bench.result("square", d_out2), want2, 1e-5);
    bench.expect("cube", bench.result("cube", d_out3), want3, 1e-5);
    return bench.done();
}
