/* A step of clustering by expectation and maximisation (EM): how much each point belongs to each cluster. */
#ifndef EM_H
#define EM_H

#include "../common/example.h"

constexpr int DIMS = 16, CLUSTERS = 24, THREADS = 128;

/* points: [DIMS][n], so that lanes take neighbours; means, scales: [CLUSTERS][DIMS]; parts: [CLUSTERS][n];
 * biases: [CLUSTERS]. */
struct mixture {
    const float *points, *means, *scales, *biases;
    float *parts;
    int n;
};

inline float distance_of(const std::vector<float> &points, const std::vector<float> &means,
                         const std::vector<float> &scales, int n, int i, int k)
{
    float sum = 0;
    for (int d = 0; d < DIMS; d++) {
        float x = points[d * n + i] - means[k * DIMS + d];
        sum += x * x * scales[k * DIMS + d];
    }
    return sum;
}

template <typename Launch> int run_em(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 1 << 15) / THREADS * THREADS;
    std::vector<float> points = numbers(static_cast<size_t>(DIMS) * n, 1),
                       means = numbers(CLUSTERS * DIMS, 2), scales = numbers(CLUSTERS * DIMS, 3),
                       biases = numbers(CLUSTERS, 4);
    for (float &s : scales)
        s = 0.25f + 0.125f * s;
    std::vector<float> want(static_cast<size_t>(CLUSTERS) * n), got(want.size());
    for (int i = 0; i < n; i++) {
        float all = 0;
        for (int k = 0; k < CLUSTERS; k++)
            all += want[static_cast<size_t>(k) * n + i] =
                std::exp(biases[k] - distance_of(points, means, scales, n, i, k));
        for (int k = 0; k < CLUSTERS; k++)
            want[static_cast<size_t>(k) * n + i] /= all;
    }
    float *d_points, *d_means, *d_scales, *d_biases, *d_parts;
    CHECK(cudaMalloc(&d_points, points.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_means, means.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_scales, scales.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_biases, biases.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_parts, want.size() * sizeof(float)));
    CHECK(cudaMemcpy(d_points, points.data(), points.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_means, means.data(), means.size() * sizeof(float), cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_scales, scales.data(), scales.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(d_biases, biases.data(), biases.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(mixture{d_points, d_means, d_scales, d_biases, d_parts, n});
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_parts, got.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (float *p : {d_points, d_means, d_scales, d_biases, d_parts})
        CHECK(cudaFree(p));
    return verdict(got, want, 1e-4f);
}

#endif
