/* Where each of many pieces goes when they are packed one behind the other, as in a compressor: a warp adds up the lengths of
 * its 32 pieces and takes room for all of them at once. Data, launch and check. A block is one warp. */
#ifndef BROADCAST_H
#define BROADCAST_H

#include "../common/example.h"

#include <algorithm>

__global__ void place(const unsigned *lengths, unsigned *starts, unsigned *used);

/* The sum over this lane and those before it. */
__device__ inline unsigned scan(unsigned value)
{
    for (int step = 1; step < 32; step *= 2) {
        unsigned other = __shfl_up_sync(0xffffffff, value, step);
        value += threadIdx.x >= step ? other : 0;
    }
    return value;
}

/* The pieces fill the room without gaps, and those of a warp lie together. */
inline int check_places(const std::vector<unsigned> &lengths, const std::vector<unsigned> &starts)
{
    std::vector<size_t> groups;
    std::vector<float> got, want;
    for (size_t i = 0; i < starts.size(); i += 32)
        groups.push_back(i);
    std::sort(groups.begin(), groups.end(),
              [&](size_t a, size_t b) { return starts[a] < starts[b]; });
    unsigned next = 0;
    for (size_t first : groups) {
        for (size_t i = first; i < first + 32; i++) {
            got.push_back(static_cast<float>(starts[i] - next));
            next += lengths[i];
        }
    }
    want.resize(got.size());
    return verdict(got, want, 0);
}

inline int run_place(int argc, char **argv)
{
    int n = size_argument(argc, argv, 1 << 20);
    size_t bytes = n * sizeof(unsigned);
    std::vector<unsigned> lengths(n), starts(n);
    for (int i = 0; i < n; i++)
        lengths[i] = 1 + i * 7919u % 29;
    unsigned *d_lengths, *d_starts, *d_used;
    CHECK(cudaMalloc(&d_lengths, bytes));
    CHECK(cudaMalloc(&d_starts, bytes));
    CHECK(cudaMalloc(&d_used, sizeof(unsigned)));
    CHECK(cudaMemcpy(d_lengths, lengths.data(), bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_starts, 0, bytes));
    CHECK(cudaMemset(d_used, 0, sizeof(unsigned)));
    if (!skip_kernel(argc, argv))
        place<<<n / 32, 32>>>(d_lengths, d_starts, d_used);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(starts.data(), d_starts, bytes, cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_lengths));
    CHECK(cudaFree(d_starts));
    CHECK(cudaFree(d_used));
    return check_places(lengths, starts);
}

#endif
