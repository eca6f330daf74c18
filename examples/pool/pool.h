/* One allocation for all that a kernel needs: heights, particles of which one field is used, results and room for parts of them. */
#ifndef POOL_H
#define POOL_H

#include "../common/example.h"

template <typename Launch> int run_pool(int argc, char **argv, int fields, Launch launch)
{
    int n = size_argument(argc, argv, 1 << 18);
    size_t heights = n, particles = static_cast<size_t>(n) * fields;
    size_t count = heights + particles + 2 * static_cast<size_t>(n);
    std::vector<float> data = numbers(count, 5), got(n), want(n);
    float *pool;
    CHECK(cudaMalloc(&pool, count * sizeof(float)));
    CHECK(cudaMemcpy(pool, data.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(pool, pool + heights, pool + heights + particles, n);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), pool + heights + particles, n * sizeof(float),
                     cudaMemcpyDeviceToHost));
    CHECK(cudaFree(pool));
    for (int i = 0; i < n; i++)
        want[i] = data[i] + data[heights + static_cast<size_t>(i) * fields];
    return verdict(got, want, 0);
}

#endif
