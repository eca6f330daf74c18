/* Walks through a list in pieces: each block keeps its piece of the list in shared memory, in which its threads follow
 * the numbers from place to place. */
#ifndef WINDOWS_H
#define WINDOWS_H

#include "../common/example.h"

constexpr int THREADS = 128, PIECE = 1024, STEPS = 64;

template <typename Launch> int run_windows(int argc, char **argv, Launch launch)
{
    const int blocks = size_argument(argc, argv, 1 << 22) / PIECE;
    std::vector<int> next(static_cast<size_t>(blocks) * PIECE),
        want(static_cast<size_t>(blocks) * THREADS), got(want.size());
    for (size_t i = 0; i < next.size(); i++)
        next[i] = static_cast<int>((i * 37 + i / PIECE + 11) % PIECE);
    for (int b = 0; b < blocks; b++)
        for (int t = 0; t < THREADS; t++) {
            int at = t;
            for (int step = 0; step < STEPS; step++)
                at = next[b * PIECE + at];
            want[b * THREADS + t] = at;
        }
    int *d_next, *d_ends;
    CHECK(cudaMalloc(&d_next, next.size() * sizeof(int)));
    CHECK(cudaMalloc(&d_ends, got.size() * sizeof(int)));
    CHECK(cudaMemcpy(d_next, next.data(), next.size() * sizeof(int), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_ends, 0, got.size() * sizeof(int)));
    if (!skip_kernel(argc, argv))
        launch(blocks, d_next, d_ends);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_ends, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_next));
    CHECK(cudaFree(d_ends));
    const bool right = got == want;
    puts(right ? "ok" : "wrong");
    return right ? 0 : 1;
}

#endif
