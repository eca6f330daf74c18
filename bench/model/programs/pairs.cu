// Every particle with every other, as in an N-body step or a near-field list: out of global memory, constant-like broadcasts, shared
// tiles, arrays apart, several a thread, with division and with rsqrt.
#include "harness.h"

const int sizes[2] = {4096, 32768};
static float4 *p;
static float *x, *y, *z, *m, *out;
static int n;

__global__ void prepare_split(float *x, float *y, float *z, float *m, const float4 *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = p[i];
        x[i] = v.x, y[i] = v.y, z[i] = v.z, m[i] = v.w;
    }
}

static void prepare(int size)
{
    n = size;
    p = (float4 *)random_floats(4 * (size_t)n, 1);
    x = device<float>(n), y = device<float>(n), z = device<float>(n), m = device<float>(n), out = device<float>(n);
    prepare_split<<<blocks_of(n, 256), 256>>>(x, y, z, m, p, n);
}

static double result() { return sum_of(out, n); }

__device__ float potential(float4 a, float4 b)
{
    float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
    return b.w * rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
}

__global__ void from_global(float *out, const float4 *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = p[i];
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += potential(a, p[j]);
    out[i] = sum;
}

__global__ void divided(float *out, const float4 *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = p[i];
    float sum = 0;
    for (int j = 0; j < n; j++) {
        float4 b = p[j];
        float dx = a.x - b.x, dy = a.y - b.y, dz = a.z - b.z;
        sum += b.w / sqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    }
    out[i] = sum;
}

__global__ void apart(float *out, const float *x, const float *y, const float *z, const float *m, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = make_float4(x[i], y[i], z[i], m[i]);
    float sum = 0;
    for (int j = 0; j < n; j++)
        sum += potential(a, make_float4(x[j], y[j], z[j], m[j]));
    out[i] = sum;
}

__global__ void tiled(float *out, const float4 *p, int n)
{
    __shared__ float4 s[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 a = p[i];
    float sum = 0;
    for (int j = 0; j < n; j += 256) {
        s[threadIdx.x] = p[j + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++)
            sum += potential(a, s[k]);
        __syncthreads();
    }
    out[i] = sum;
}

__global__ void tiled_four(float *out, const float4 *p, int n)
{
    __shared__ float4 s[256];
    int i = blockIdx.x * 1024 + threadIdx.x;
    float4 a[4];
    float sum[4] = {};
    for (int r = 0; r < 4; r++)
        a[r] = p[i + 256 * r];
    for (int j = 0; j < n; j += 256) {
        s[threadIdx.x] = p[j + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < 256; k++) {
            float4 b = s[k];
            for (int r = 0; r < 4; r++)
                sum[r] += potential(a[r], b);
        }
        __syncthreads();
    }
    for (int r = 0; r < 4; r++)
        out[i + 256 * r] = sum[r];
}

const variant variants[] = {
    {"global", [] { from_global<<<n / 256, 256>>>(out, p, n); }},
    {"divided", [] { divided<<<n / 256, 256>>>(out, p, n); }},
    {"apart", [] { apart<<<n / 256, 256>>>(out, x, y, z, m, n); }},
    {"tiled", [] { tiled<<<n / 256, 256>>>(out, p, n); }},
    {"tiled_four", [] { tiled_four<<<n / 1024, 256>>>(out, p, n); }},
    {}};
