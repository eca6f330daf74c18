// Kernels as programs have them, for test_programs.c, which launches them as programs.def says. programs.ptx is made from this
// by
//   nvcc -ptx -O3 -lineinfo -arch=sm_80 programs.cu
#define KERNEL(name) extern "C" __global__ void name

constexpr int TILE = 32, ROWS = 8;

KERNEL(vecadd)(const float *x, const float *y, float *z, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        z[i] = x[i] + y[i];
}

KERNEL(transpose)(const float *in, float *out, int n)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * n + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x, y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        out[(y + j) * n + x] = tile[threadIdx.x][threadIdx.y + j];
}

KERNEL(gemm)(const float *a, const float *b, float *c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}

KERNEL(gemm_tiled)(const float *a, const float *b, float *c, int n)
{
    __shared__ float left[16][16], right[16][16];
    int tx = threadIdx.x, ty = threadIdx.y, row = blockIdx.y * 16 + ty, column = blockIdx.x * 16 + tx;
    float sum = 0;
    for (int k0 = 0; k0 < n; k0 += 16) {
        left[ty][tx] = a[row * n + k0 + tx];
        right[ty][tx] = b[(k0 + ty) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; k++)
            sum += left[ty][k] * right[k][tx];
        __syncthreads();
    }
    c[row * n + column] = sum;
}

KERNEL(stencil)(const float *in, float *out, int n)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}

KERNEL(reduction)(const float *in, float *out, int n)
{
    __shared__ float part[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        sum += in[i];
    part[threadIdx.x] = sum;
    for (int step = 128; step > 0; step /= 2) {
        __syncthreads();
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

KERNEL(softmax)(const float *in, float *out, int width)
{
    const float *row = in + blockIdx.x * width;
    float most = -1e30f, sum = 0;
    for (int i = threadIdx.x; i < width; i += 32)
        most = fmaxf(most, row[i]);
    for (int step = 16; step > 0; step /= 2)
        most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, step));
    for (int i = threadIdx.x; i < width; i += 32)
        sum += __expf(row[i] - most);
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    for (int i = threadIdx.x; i < width; i += 32)
        out[blockIdx.x * width + i] = __expf(row[i] - most) / sum;
}

KERNEL(spmv_scalar)(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = offsets[row], end = offsets[row + 1]; i < end; i++)
        sum += values[i] * x[columns[i]];
    y[row] = sum;
}

KERNEL(spmv_vector)(const int *offsets, const int *columns, const float *values, const float *x, float *y, int rows)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (row >= rows)
        return;
    float sum = 0;
    for (int i = offsets[row] + lane; i < offsets[row + 1]; i += 32)
        sum += values[i] * x[columns[i]];
    for (int step = 16; step > 0; step /= 2)
        sum += __shfl_xor_sync(0xffffffff, sum, step);
    if (lane == 0)
        y[row] = sum;
}

// One step of a breadth-first search: neighbours of the frontier get the next depth.
KERNEL(bfs)(const int *offsets, const int *targets, const int *depth, int *next, int vertices, int now)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= vertices || depth[v] != now)
        return;
    for (int e = offsets[v]; e < offsets[v + 1]; e++)
        if (depth[targets[e]] > now)
            next[targets[e]] = now + 1;
}

KERNEL(histogram)(const int *in, int *bins, int n)
{
    __shared__ int mine[128];
    if (threadIdx.x < 128)
        mine[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&mine[in[i] % 128], 1);
    __syncthreads();
    if (threadIdx.x < 128)
        atomicAdd(&bins[threadIdx.x], mine[threadIdx.x]);
}

KERNEL(embedding)(const int *words, const float4 *table, float4 *out, int width)
{
    for (int i = threadIdx.x; i < width; i += blockDim.x)
        out[blockIdx.x * width + i] = table[words[blockIdx.x] * width + i];
}
