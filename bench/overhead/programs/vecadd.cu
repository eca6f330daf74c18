/* z = x + y. */
#include "common.cuh"

__global__ void vector_add(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 24);
    int n = bench.size;
    std::vector<float> x = random_floats(n, 1), y = random_floats(n, 2), want;
    Array<float> d_x(x), d_y(y), d_z(n);
    bench.rounds([&] {
        bench.time("vector_add", [&] { vector_add<<<blocks_for(n, 256), 256>>>(d_x, d_y, d_z, n); });
    });
    for (int i = 0; bench.check && i < n; i++)
        want.push_back(x[i] + y[i]);
    bench.expect("z", bench.result("z", d_z), want);
    return bench.done();
}
