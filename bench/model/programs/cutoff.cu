// Charges within a cutoff of the points of a lattice, in bins: a thread a point, four points, the bin staged (as cutcp); and counts of
// distances in bins of a histogram (as tpacf): by a linear and a binary search, in global and in shared memory.
#include "harness.h"

const int sizes[2] = {16, 40}; // bins a side; 8 points a bin and side
enum { PER_BIN = 16, EDGES = 32 };
static float4 *charges;
static float *out, *edges;
static unsigned *counts;
static int n;

static void prepare(int size)
{
    n = size;
    charges = (float4 *)random_floats((size_t)n * n * n * PER_BIN * 4, 1);
    out = device<float>((size_t)n * n * n * 512);
    edges = random_floats(EDGES, 3);
    std::vector<float> sorted(EDGES);
    for (int i = 0; i < EDGES; i++)
        sorted[i] = 3.0f * (i + 1) / EDGES;
    CHECK(cudaMemcpy(edges, sorted.data(), EDGES * sizeof(float), cudaMemcpyHostToDevice));
    counts = device<unsigned>(EDGES + 1);
}

static double result()
{
    double points = sum_of(out, (size_t)n * n * n * 512), histogram = sum_of(counts, EDGES + 1);
    CHECK(cudaMemset(counts, 0, (EDGES + 1) * sizeof *counts));
    CHECK(cudaMemset(out, 0, (size_t)n * n * n * 512 * sizeof *out));
    return histogram > 0 ? histogram / launched : points;
}

__device__ float energy(float3 point, float4 c)
{
    float dx = point.x - c.x, dy = point.y - c.y, dz = point.z - c.z, r2 = dx * dx + dy * dy + dz * dz;
    float s = 1 - r2;
    return r2 < 1 ? c.w * rsqrtf(r2 + 1e-4f) * s * s : 0;
}

__device__ int bin_at(int n, int x, int y, int z)
{
    return ((z + n) % n * n + (y + n) % n) * n + (x + n) % n;
}

// Block (8, 8, 8) or (8, 8, 2): the points of a bin, against the bin's and its neighbours' charges.
template <int along> __global__ void lattice(float *out, const float4 *charges, int n)
{
    int bin = bin_at(n, blockIdx.x, blockIdx.y, blockIdx.z), x = threadIdx.x, y = threadIdx.y;
    float sum[along] = {};
    for (int d = -1; d <= 1; d++) {
        const float4 *c = charges + (size_t)bin_at(n, blockIdx.x + d, blockIdx.y, blockIdx.z) * PER_BIN;
        for (int k = 0; k < PER_BIN; k++) {
            float4 one = c[k];
            one.x += d;
            for (int r = 0; r < along; r++)
                sum[r] += energy(make_float3(x / 8.0f, y / 8.0f, (threadIdx.z * along + r) / 8.0f), one);
        }
    }
    for (int r = 0; r < along; r++)
        out[(size_t)bin * 512 + ((threadIdx.z * along + r) * 8 + y) * 8 + x] = sum[r];
}

__global__ void lattice_staged(float *out, const float4 *charges, int n)
{
    __shared__ float4 s[3 * PER_BIN];
    int bin = bin_at(n, blockIdx.x, blockIdx.y, blockIdx.z), x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
    int t = (z * 8 + y) * 8 + x;
    if (t < 3 * PER_BIN) {
        int d = t / PER_BIN - 1;
        s[t] = charges[(size_t)bin_at(n, blockIdx.x + d, blockIdx.y, blockIdx.z) * PER_BIN + t % PER_BIN];
        s[t].x += d;
    }
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 3 * PER_BIN; k++)
        sum += energy(make_float3(x / 8.0f, y / 8.0f, z / 8.0f), s[k]);
    out[(size_t)bin * 512 + t] = sum;
}

__device__ float distance(float4 a, float4 b)
{
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return dx * dx + dy * dy + dz * dz;
}

__device__ int linear(const float *edges, float d)
{
    int i = 0;
    while (i < EDGES && d >= edges[i])
        i++;
    return i;
}

__device__ int binary(const float *edges, float d)
{
    int low = 0, high = EDGES;
    while (low < high) {
        int middle = (low + high) / 2;
        if (d >= edges[middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

enum how { GLOBAL_LINEAR, GLOBAL_BINARY, SHARED_BINARY, SHARED_BY_WARP };

template <how way> __global__ void correlation(unsigned *counts, const float4 *charges, const float *edges, int all)
{
    __shared__ unsigned s[8][EDGES + 1];
    for (int i = threadIdx.x; i < 8 * (EDGES + 1); i += blockDim.x)
        s[0][i] = 0;
    __syncthreads();
    float4 a = charges[blockIdx.x * blockDim.x + threadIdx.x];
    for (int j = 0; j < 512; j++) {
        float d = distance(a, charges[(blockIdx.x * 512 + j) % all]);
        int bin = way == GLOBAL_LINEAR ? linear(edges, d) : binary(edges, d);
        if (way == GLOBAL_LINEAR || way == GLOBAL_BINARY)
            atomicAdd(counts + bin, 1u);
        else
            atomicAdd(&s[way == SHARED_BY_WARP ? threadIdx.x / 32 : 0][bin], 1u);
    }
    __syncthreads();
    if (way == SHARED_BINARY || way == SHARED_BY_WARP)
        for (int i = threadIdx.x; i < 8 * (EDGES + 1); i += blockDim.x)
            if (s[0][i])
                atomicAdd(counts + i % (EDGES + 1), s[0][i]);
}

static int charges_all() { return n * n * n * PER_BIN; }

const variant variants[] = {
    {"lattice", [] { lattice<1><<<dim3(n, n, n), dim3(8, 8, 8)>>>(out, charges, n); }},
    {"lattice_four", [] { lattice<4><<<dim3(n, n, n), dim3(8, 8, 2)>>>(out, charges, n); }},
    {"lattice_staged", [] { lattice_staged<<<dim3(n, n, n), dim3(8, 8, 8)>>>(out, charges, n); }},
    {"correlation_global_linear", [] { correlation<GLOBAL_LINEAR><<<charges_all() / 256, 256>>>(counts, charges, edges, charges_all()); }},
    {"correlation_global", [] { correlation<GLOBAL_BINARY><<<charges_all() / 256, 256>>>(counts, charges, edges, charges_all()); }},
    {"correlation_shared", [] { correlation<SHARED_BINARY><<<charges_all() / 256, 256>>>(counts, charges, edges, charges_all()); }},
    {"correlation_by_warp", [] { correlation<SHARED_BY_WARP><<<charges_all() / 256, 256>>>(counts, charges, edges, charges_all()); }},
    {}};
