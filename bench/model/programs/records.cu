// Records of six floats: together, apart, and by vectors; gathers in and out of order.
#include "harness.h"

#include <numeric>
#include <random>

const int sizes[2] = {1 << 18, 1 << 23};
struct record { float x, y, z, vx, vy, vz; };
static record *together;
static float *apart, *out;
static int *sorted, *mixed, *near;
static int n;

__global__ void prepare_split(record *together, const float *apart, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        together[i] = {apart[i], apart[n + i], apart[2 * n + i], apart[3 * n + i], apart[4 * n + i], apart[5 * n + i]};
}

static int *indices(const std::vector<int> &order)
{
    int *p = device<int>(n);
    CHECK(cudaMemcpy(p, order.data(), n * sizeof *p, cudaMemcpyHostToDevice));
    return p;
}

static void prepare(int size)
{
    n = size;
    apart = random_floats(6 * (size_t)n, 1);
    together = device<record>(n);
    prepare_split<<<blocks_of(n, 256), 256>>>(together, apart, n);
    out = device<float>(n);
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    sorted = indices(order);
    std::mt19937 random(1);
    for (int i = 0; i + 1024 <= n; i += 1024)
        std::shuffle(order.begin() + i, order.begin() + i + 1024, random);
    near = indices(order);
    std::shuffle(order.begin(), order.end(), random);
    mixed = indices(order);
}

// Of a permutation the sum is the same.
static double result()
{
    std::vector<float> host(n);
    CHECK(cudaMemcpy(host.data(), out, n * sizeof(float), cudaMemcpyDeviceToHost));
    return std::accumulate(host.begin(), host.end(), 0.0);
}

__global__ void one_field(float *out, const record *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = r[i].x;
}

__global__ void one_array(float *out, const float *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[i];
}

__global__ void all_fields(float *out, const record *r, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (r[i].x + r[i].y + r[i].z) * 0 + r[i].vx * 0 + r[i].vy * 0 + r[i].vz * 0 + r[i].x;
}

__global__ void all_arrays(float *out, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (a[i] + a[n + i] + a[2 * n + i]) * 0 + a[3 * n + i] * 0 + a[4 * n + i] * 0 + a[5 * n + i] * 0 + a[i];
}

__global__ void gather(float *out, const float *x, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = x[index[i]];
}

__global__ void scatter(float *out, const float *x, const int *index, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[index[i]] = x[i];
}

const variant variants[] = {
    {"one_field", [] { one_field<<<blocks_of(n, 256), 256>>>(out, together, n); }},
    {"one_array", [] { one_array<<<blocks_of(n, 256), 256>>>(out, apart, n); }},
    {"all_fields", [] { all_fields<<<blocks_of(n, 256), 256>>>(out, together, n); }},
    {"all_arrays", [] { all_arrays<<<blocks_of(n, 256), 256>>>(out, apart, n); }},
    {"gather_mixed", [] { gather<<<blocks_of(n, 256), 256>>>(out, apart, mixed, n); }},
    {"gather_near", [] { gather<<<blocks_of(n, 256), 256>>>(out, apart, near, n); }},
    {"gather_sorted", [] { gather<<<blocks_of(n, 256), 256>>>(out, apart, sorted, n); }},
    {"scatter_mixed", [] { scatter<<<blocks_of(n, 256), 256>>>(out, apart, mixed, n); }},
    {"scatter_sorted", [] { scatter<<<blocks_of(n, 256), 256>>>(out, apart, sorted, n); }},
    {}};
