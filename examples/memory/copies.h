/* Two streams that copy in, compute and copy out. What the first computes with is known only when the second has done
 * all its turns. */
#ifndef COPIES_H
#define COPIES_H

#include "../common/example.h"

constexpr int THREADS = 256, STEPS = 100, TURNS = 6;

/* Each element takes many steps, so that computing takes longer than the copies. */
__host__ __device__ inline float follow(float x, float add)
{
    for (int i = 0; i < STEPS; i++)
        x = x * 0.75f + add;
    return x;
}

__global__ void compute(const float *in, float *out, float add, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = follow(in[i], add);
}

inline int blocks_of(int n)
{
    return (n + THREADS - 1) / THREADS;
}

/* What the second stream's results say to the first. */
inline float add_of(const float *results, int n)
{
    return results[0] + results[n - 1];
}

/* `both` takes one input to one result, which adds what the second stream says, and TURNS inputs to TURNS results,
 * which add 0.5. */
template <typename Both> int run_copies(int argc, char **argv, Both both)
{
    int n = size_argument(argc, argv, 1 << 19), all = (TURNS + 1) * n;
    std::vector<float> in = numbers(all, 1), got(all), want(all);
    cudaStream_t streams[2];
    for (cudaStream_t &s : streams)
        CHECK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    both(in.data(), in.data() + n, got.data(), got.data() + n, n, streams,
         !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    for (cudaStream_t s : streams)
        CHECK(cudaStreamDestroy(s));
    for (int i = n; i < all; i++)
        want[i] = follow(in[i], 0.5f);
    float add = add_of(&want[all - n], n);
    for (int i = 0; i < n; i++)
        want[i] = follow(in[i], add);
    return verdict(got, want, 1e-3f);
}

#endif
