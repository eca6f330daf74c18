/* European call options by a binomial tree: a block goes back through the tree of one option. */
#ifndef BINOMIAL_H
#define BINOMIAL_H

#include "../common/example.h"

constexpr int THREADS = 256, STEPS = THREADS - 1, VALUES = THREADS;

struct option {
    float price, strike, up, up_part, down_part;
};

/* What the option is worth at the tree's end, after `ups` steps up. */
__device__ __host__ inline float worth_at_end(const option &o, int ups)
{
    float worth = o.price * expf(o.up * static_cast<float>(2 * ups - STEPS)) - o.strike;
    return worth > 0 ? worth : 0;
}

template <typename Launch> int run_binomial(int argc, char **argv, Launch launch)
{
    const int n = size_argument(argc, argv, 1024);
    std::vector<float> draws = numbers(2 * n, 5), want(n), got(n);
    std::vector<option> options(n);
    for (int i = 0; i < n; i++) {
        options[i] = {20 + 5 * draws[2 * i], 20 + 5 * draws[2 * i + 1], 0.02f, 0.505f, 0.494f};
        std::vector<float> value(VALUES);
        for (int t = 0; t < VALUES; t++)
            value[t] = worth_at_end(options[i], t);
        for (int step = STEPS; step > 0; step--)
            for (int t = 0; t < step; t++)
                value[t] = options[i].up_part * value[t + 1] + options[i].down_part * value[t];
        want[i] = value[0];
    }
    option *d_options;
    float *d_values, *d_results;
    CHECK(cudaMalloc(&d_options, n * sizeof(option)));
    CHECK(cudaMalloc(&d_values, static_cast<size_t>(n) * VALUES * sizeof(float)));
    CHECK(cudaMalloc(&d_results, n * sizeof(float)));
    CHECK(cudaMemcpy(d_options, options.data(), n * sizeof(option), cudaMemcpyHostToDevice));
    if (!skip_kernel(argc, argv))
        launch(n, d_options, d_values, d_results);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(got.data(), d_results, n * sizeof(float), cudaMemcpyDeviceToHost));
    CHECK(cudaFree(d_options));
    CHECK(cudaFree(d_values));
    CHECK(cudaFree(d_results));
    return verdict(got, want, 1e-3f);
}

#endif
