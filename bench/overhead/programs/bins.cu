/* A histogram of 1,024 bins over SIZE random keys, counted in shared memory first: one array of known size, and one whose size
 * the launch tells. */
#include "common.cuh"

constexpr int BINS = 1024, BLOCKS = 1024, THREADS = 256;

__device__ inline void count_keys(const unsigned *keys, unsigned *mine, unsigned *bins, int n)
{
    for (int b = threadIdx.x; b < BINS; b += THREADS)
        mine[b] = 0;
    __syncthreads();
    for (int i = blockIdx.x * THREADS + threadIdx.x; i < n; i += gridDim.x * THREADS)
        atomicAdd(&mine[keys[i] % BINS], 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += THREADS)
        atomicAdd(&bins[b], mine[b]);
}

__global__ void bins_static(const unsigned *keys, unsigned *bins, int n)
{
    __shared__ unsigned mine[BINS];
    count_keys(keys, mine, bins, n);
}

__global__ void bins_dynamic(const unsigned *keys, unsigned *bins, int n)
{
    extern __shared__ unsigned mine[];
    count_keys(keys, mine, bins, n);
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 24);
    int n = bench.size;
    Random random(15);
    std::vector<unsigned> keys(n), want;
    for (unsigned &key : keys)
        key = random.next();
    Array<unsigned> d_keys(keys), d_static(BINS), d_dynamic(BINS);
    bench.rounds([&] {
        d_static.clear();
        d_dynamic.clear();
        bench.time("bins_static", [&] { bins_static<<<BLOCKS, THREADS>>>(d_keys, d_static, n); });
        bench.time("bins_dynamic", [&] { bins_dynamic<<<BLOCKS, THREADS, BINS * sizeof(unsigned)>>>(d_keys, d_dynamic, n); });
    });
    if (bench.check) {
        want.resize(BINS);
        for (unsigned key : keys)
            want[key % BINS]++;
    }
    bench.expect("static", bench.result("static", d_static), want);
    bench.expect("dynamic", bench.result("dynamic", d_dynamic), want);
    return bench.done();
}
