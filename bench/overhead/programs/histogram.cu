/* How often each byte value occurs in SIZE words: counted in global memory, and in shared memory first. */
#include "common.cuh"

constexpr int BINS = 256, BLOCKS = 1024;

__global__ void histogram_global(const unsigned *in, unsigned *bins, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (unsigned word = in[i], byte = 0; byte < 4; byte++, word >>= 8)
            atomicAdd(&bins[word & 255], 1u);
}

__global__ void histogram_shared(const unsigned *in, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        for (unsigned word = in[i], byte = 0; byte < 4; byte++, word >>= 8)
            atomicAdd(&mine[word & 255], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 22);
    int n = bench.size;
    Random random(1);
    std::vector<unsigned> in(n), want;
    for (unsigned &word : in)
        word = random.next();
    Array<unsigned> d_in(in), d_global(BINS), d_shared(BINS);
    bench.rounds([&] {
        d_global.clear();
        d_shared.clear();
        bench.time("histogram_global", [&] { histogram_global<<<BLOCKS, BINS>>>(d_in, d_global, n); });
        bench.time("histogram_shared", [&] { histogram_shared<<<BLOCKS, BINS>>>(d_in, d_shared, n); });
    });
    if (bench.check) {
        want.resize(BINS);
        for (unsigned word : in)
            for (int byte = 0; byte < 4; byte++, word >>= 8)
                want[word & 255]++;
    }
    bench.expect("global", bench.result("global", d_global), want);
    bench.expect("shared", bench.result("shared", d_shared), want);
    return bench.done();
}
