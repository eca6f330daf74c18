/* Texture compression: a block finds the two colours between which the 16 texels of its square lie best. */
#ifndef DXTC_H
#define DXTC_H

#include "../common/example.h"

constexpr int TEXELS = 16, THREADS = 64, TRIES = 128;

struct colour {
    float r, g, b;
};

/* The end points that a try stands for, as places among the texels. */
inline void ends_of(int number, int *low, int *high)
{
    *low = number % TEXELS;
    *high = (number / TEXELS + *low + 1) % TEXELS;
}

__device__ __host__ inline float squared(float x)
{
    return x * x;
}

__device__ __host__ inline float off_by(colour texel, colour a, colour b, float part)
{
    return squared(a.r + part * (b.r - a.r) - texel.r) +
           squared(a.g + part * (b.g - a.g) - texel.g) +
           squared(a.b + part * (b.b - a.b) - texel.b);
}

/* How far the texel is from the nearest of the four colours between the ends. */
__device__ __host__ inline float error_of(colour texel, colour a, colour b)
{
    float least = off_by(texel, a, b, 0);
    for (int i = 1; i < 4; i++)
        least = fminf(least, off_by(texel, a, b, static_cast<float>(i) / 3));
    return least;
}

template <typename Launch> int run_dxtc(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 1024); /* squares */
    std::vector<float> texels = numbers(static_cast<size_t>(n) * TEXELS * 3, 9), want(n), got(n);
    for (int s = 0; s < n; s++) {
        const colour *c =
            reinterpret_cast<const colour *>(&texels[static_cast<size_t>(s) * TEXELS * 3]);
        want[s] = INFINITY;
        for (int t = 0; t < TRIES; t++) {
            int low, high;
            ends_of(t, &low, &high);
            float sum = 0;
            for (int i = 0; i < TEXELS; i++)
                sum += error_of(c[i], c[low], c[high]);
            want[s] = std::fmin(want[s], sum);
        }
    }
    colour *d_texels;
    float *d_errors;
    CHECK(cudaMalloc(&d_texels, texels.size() * sizeof(float)));
    CHECK(cudaMalloc(&d_errors, n * sizeof(float)));
    CHECK(cudaMemcpy(d_texels, texels.data(), texels.size() * sizeof(float),
                     cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(n, d_texels, d_errors);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_errors, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_texels));
    CHECK(cudaFree(d_errors));
    return verdict(got, want, 1e-3f);
}

#endif
