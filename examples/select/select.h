/* A list of the places where a number is positive, in any order: data, launch and check. */
#ifndef SELECT_H
#define SELECT_H

#include "../common/example.h"

#include <algorithm>

template <typename Launch> int run_select(int argc, char **argv, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18), count = 0;
    std::vector<float> x = numbers(n, 3), got, want;
    std::vector<int> kept(n);
    float *d_x;
    int *d_kept, *d_count;
    CHECK(cudaMalloc(&d_x, n * sizeof(float)));
    CHECK(cudaMalloc(&d_kept, n * sizeof(int)));
    CHECK(cudaMalloc(&d_count, sizeof(int)));
    CHECK(cudaMemcpy(d_x, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemset(d_count, 0, sizeof(int)));
    if (!skip_kernel(argc, argv))
        launch(d_x, d_kept, d_count, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(&count, d_count, sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(kept.data(), d_kept, count * sizeof(int), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_x));
    CHECK(cudaFree(d_kept));
    CHECK(cudaFree(d_count));
    std::sort(kept.begin(), kept.begin() + count);
    for (int i = 0; i < count; i++)
        got.push_back(static_cast<float>(kept[i]));
    for (int i = 0; i < n; i++)
        if (x[i] > 0)
            want.push_back(static_cast<float>(i));
    got.resize(want.size(), -1);
    return verdict(got, want, 0);
}

#endif
