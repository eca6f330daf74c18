/* Points on a line, each the last of a number of steps that are kept and added up from the end: data, launch and check, for
 * both versions of the kernel. steps[k * points + point]: step k of a point. */
#ifndef LOCAL_H
#define LOCAL_H

#include "../common/example.h"

constexpr int STEPS = 8, THREADS = 128;

/* What the kernels compute, in the same order of additions. */
inline std::vector<float> walked(const std::vector<float> &steps, int points)
{
    std::vector<float> sums(points);
    for (int p = 0; p < points; p++)
        for (int k = STEPS - 1; k >= 0; k--)
            sums[p] += steps[static_cast<size_t>(k) * points + p];
    return sums;
}

/* launch(steps, sums, points) starts the kernel. */
template <typename Launch> int run_local(int argc, char **argv, Launch launch)
{
    int points = size_argument(argc, argv, 1 << 17);
    std::vector<float> steps = numbers(static_cast<size_t>(STEPS) * points, 5), sums(points);
    float *d_steps, *d_sums;
    CHECK(cudaMalloc(&d_steps, steps.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_sums, sums.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_steps, steps.data(), steps.size() * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(d_steps, d_sums, points);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(sums.data(), d_sums, sums.size() * sizeof(float), cudaMemcpyDeviceToHost));
    return verdict(sums, walked(steps, points), 0);
}

#endif
