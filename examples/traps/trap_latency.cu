/* A kernel that waits for latency: few threads follow long chains, each step of which needs the one before it. The lanes'
 * sectors are scattered, and that makes a step longer, but by far the most would be gained by more blocks. */
#include "../common/example.h"

constexpr int CHAINS = 256, THREADS = 64, STEPS = 2000;

__global__ void follow(const int *next, int *ends) // finds: too-few-blocks -
{
    int chain = blockIdx.x * THREADS + threadIdx.x, at = chain;
#pragma unroll 1
    for (int i = 0; i < STEPS; i++)
        at = next[at]; // finds: uncoalesced d_next
    ends[chain] = at;
}

int main(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1 << 20);
    std::vector<int> next(n), ends(CHAINS);
    std::vector<float> got, want;
    for (int i = 0; i < n; i++) /* a full cycle: multiplier and addend as Hull and Dobell ask */
        next[i] = static_cast<int>((i * 1664525u + 1013904223u) % static_cast<unsigned>(n));
    int *d_next, *d_ends;
    CHECK(cudaMalloc(&d_next, n * sizeof(int)));
    CHECK(cudaMalloc(&d_ends, CHAINS * sizeof(int)));
    CHECK(cudaMemcpy(d_next, next.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_ends, 0, CHAINS * sizeof(int)));
    if (!skip_kernel(argc, argv))
        follow<<<CHAINS / THREADS, THREADS>>>(d_next, d_ends);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(ends.data(), d_ends, CHAINS * sizeof(int), cudaMemcpyDeviceToHost));
    for (int chain = 0; chain < CHAINS; chain++) {
        int at = chain;
        for (int i = 0; i < STEPS; i++)
            at = next[at];
        got.push_back(static_cast<float>(ends[chain]));
        want.push_back(static_cast<float>(at));
    }
    return verdict(got, want, 0);
}
