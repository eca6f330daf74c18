/* A sum in two launches of a tree in shared memory: a number a block, then those. */
#include "common.cuh"

constexpr int THREADS = 256, BLOCKS = 1024;

__global__ void reduce(const float *in, float *sums, int n)
{
    __shared__ float part[THREADS];
    int thread = threadIdx.x;
    float sum = 0;
    for (int i = blockIdx.x * THREADS + thread; i < n; i += gridDim.x * THREADS)
        sum += in[i];
    part[thread] = sum;
    __syncthreads();
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (thread < half)
            part[thread] += part[thread + half];
        __syncthreads();
    }
    if (thread == 0)
        sums[blockIdx.x] = part[0];
}

int main(int argc, char **argv)
{
    Bench bench(argc, argv, 1 << 24);
    int n = bench.size;
    std::vector<float> in = random_floats(n, 1);
    std::vector<double> want;
    Array<float> d_in(in), d_sums(BLOCKS), d_sum(1);
    bench.rounds([&] {
        bench.time("reduce", [&] {
            reduce<<<BLOCKS, THREADS>>>(d_in, d_sums, n);
            reduce<<<1, THREADS>>>(d_sums, d_sum, BLOCKS);
        });
    });
    if (bench.check) {
        double sum = 0;
        for (float x : in)
            sum += x;
        want.push_back(sum);
    }
    bench.expect("sum", bench.result("sum", d_sum), want, 1e-3);
    return bench.done();
}
