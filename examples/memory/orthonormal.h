/* The modified Gram-Schmidt process: the vectors of A become orthonormal ones (Q), and R says how A's are made of
 * these. A vector's elements lie side by side. */
#ifndef ORTHONORMAL_H
#define ORTHONORMAL_H

#include "../common/example.h"

constexpr int THREADS = 256;

/* The scalar product of two vectors, by one block; all threads get it. */
__device__ inline float multiply(const float *x, const float *y, int n)
{
    __shared__ float sums[THREADS];
    float sum = 0;
    for (int i = threadIdx.x; i < n; i += THREADS)
        sum += x[i] * y[i];
    sums[threadIdx.x] = sum;
    for (int half = THREADS / 2; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            // finds: divergent sums (hidden)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    __syncthreads();
    return sums[0];
}

/* q: the vector a, of length 1. */
__global__ void normalize(const float *a, float *q, int n)
{
    float norm = sqrtf(multiply(a, a, n));
    for (int i = threadIdx.x; i < n; i += THREADS)
        q[i] = a[i] / norm;
}

/* Takes out of each vector of a, one a block, its part along q; r: how much that was. */
__global__ void project(const float *q, float *a, float *r, int n)
{
    float *vector = a + static_cast<size_t>(blockIdx.x) * n, part = multiply(q, vector, n);
    for (int i = threadIdx.x; i < n; i += THREADS)
        vector[i] -= q[i] * part;
    if (threadIdx.x == 0)
        r[blockIdx.x] = part;
}

/* Makes a vector of Q of vector k of A, and takes it out of that and of those behind it. r: row k of R, from the
 * diagonal on. */
inline void launch_step(float *a, float *q, float *r, int n, int k)
{
    float *vector = a + static_cast<size_t>(k) * n;
    normalize<<<1, THREADS>>>(vector, q, n);
    project<<<n - k, THREADS>>>(q, vector, r, n);
}

inline double product_of(const float *x, const float *y, int n)
{
    double sum = 0;
    for (int i = 0; i < n; i++)
        sum += static_cast<double>(x[i]) * y[i];
    return sum;
}

/* What is left of a vector of A without its parts along those of Q up to its own. */
inline float rest_of(const float *a, const std::vector<float> &q, int n, int k)
{
    std::vector<float> rest(a, a + n);
    for (int i = 0; i <= k; i++) {
        float part = static_cast<float>(product_of(&q[i * n], a, n));
        for (int x = 0; x < n; x++)
            rest[x] -= part * q[i * n + x];
    }
    return static_cast<float>(std::sqrt(product_of(rest.data(), rest.data(), n)));
}

/* Of some vectors: their lengths, products with another, and what A's have that Q's do not. */
inline int check_vectors(const std::vector<float> &a, const std::vector<float> &q, int n)
{
    std::vector<float> got, want;
    for (int k = 3; k < n; k += n / 8) {
        got.push_back(static_cast<float>(product_of(&q[k * n], &q[k * n], n)));
        got.push_back(static_cast<float>(product_of(&q[k * n], &q[k / 2 * n], n)));
        got.push_back(rest_of(&a[k * n], q, n, k));
        want.insert(want.end(), {1, 0, 0});
    }
    return verdict(got, want, 1e-2f);
}

/* `all` takes A to Q. */
template <typename All> int run_orthonormal(int argc, char **argv, All all)
{
    int n = size_argument(argc, argv, 512);
    std::vector<float> a = numbers(static_cast<size_t>(n) * n, 1), q(a.size());
    for (int i = 0; i < n; i++)
        a[i * n + i] += 8;
    all(a.data(), q.data(), n, !skip_kernel(argc, argv));
    CHECK(cudaGetLastError());
    return check_vectors(a, q, n);
}

#endif
