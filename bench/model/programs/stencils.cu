// Neighbours in two and three dimensions: block shapes, index orders, shared tiles, registers along z; a convolution of 3 by 3.
#include "harness.h"

const int sizes[2] = {128, 384}; // cubes; the planes have as many points
static float *in, *out;
static int n, w;

static void prepare(int size)
{
    n = size;
    in = random_floats((size_t)n * n * n, 1);
    out = device<float>((size_t)n * n * n);
    for (w = 32; (size_t)w * w * 4 <= (size_t)n * n * n; w *= 2)
        ; // a plane of a power of two, as large as fits
}

// Every variant of a group leaves the same; groups are told apart by run.py.
static double result() { return sum_of(out, (size_t)w * w); }

__global__ void seven_points(float *out, const float *in, int n, int crossed)
{
    int a = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
    int x = crossed ? b : a, y = crossed ? a : b;
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    size_t i = ((size_t)z * n + y) * n + x;
    out[i] = in[i] + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + in[i - n * n] + in[i + n * n]);
}

__global__ void seven_points_along_z(float *out, const float *in, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= n - 1 || y >= n - 1)
        return;
    size_t plane = (size_t)n * n, i = (size_t)y * n + x;
    float below = in[i], here = in[i + plane];
    for (int z = 1; z < n - 1; z++) {
        i += plane;
        float above = in[i + plane];
        out[i] = here + 0.1f * (in[i - 1] + in[i + 1] + in[i - n] + in[i + n] + below + above);
        below = here;
        here = above;
    }
}

__global__ void seven_points_tiled(float *out, const float *in, int n)
{
    __shared__ float s[10][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y, z = blockIdx.z;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    size_t i = ((size_t)z * n + y) * n + x;
    s[ty][tx] = in[i];
    if (tx == 1 && x > 0)
        s[ty][0] = in[i - 1];
    if (tx == 32 && x < n - 1)
        s[ty][33] = in[i + 1];
    if (ty == 1 && y > 0)
        s[0][tx] = in[i - n];
    if (ty == 8 && y < n - 1)
        s[9][tx] = in[i + n];
    __syncthreads();
    if (x < 1 || y < 1 || z < 1 || x >= n - 1 || y >= n - 1 || z >= n - 1)
        return;
    out[i] = s[ty][tx] + 0.1f * (s[ty][tx - 1] + s[ty][tx + 1] + s[ty - 1][tx] + s[ty + 1][tx] + in[i - n * n] + in[i + n * n]);
}

const variant variants[] = {
    {"block_32x8", [] { seven_points<<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(out, in, n, 0); }},
    {"block_8x32", [] { seven_points<<<dim3(n / 8, n / 32, n), dim3(8, 32)>>>(out, in, n, 0); }},
    {"block_128x1", [] { seven_points<<<dim3(n / 128, n, n), dim3(128, 1)>>>(out, in, n, 0); }},
    {"crossed", [] { seven_points<<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(out, in, n, 1); }},
    {"along_z", [] { seven_points_along_z<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(out, in, n); }},
    {"tiled", [] { seven_points_tiled<<<dim3(n / 32, n / 8, n), dim3(32, 8)>>>(out, in, n); }},
    {}};
