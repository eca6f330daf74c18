// Kernels like those that GMProf was tried on, written anew, for `warplens ptx`. paper.ptx is made of them:
// nvcc -ptx -O3 -lineinfo -arch=sm_80 -o paper.ptx paper.cu

// Jacobi: a tile is loaded anew in each pass, and each word of it is read by its neighbours.
extern "C" __global__ void jacobi(const float *in, float *out, int passes)
{
    __shared__ float tile[258];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    for (int pass = 0; pass < passes; pass++) {
        tile[t + 1] = in[i + pass];
        __syncthreads();
        out[i + pass] = tile[t] + tile[t + 2];
        __syncthreads();
    }
}

// Binomial options: two buffers take turns, the tree is walked back level by level.
extern "C" __global__ void binomial(const float *prices, float *out, int steps, float up, float down)
{
    __shared__ float a[256], b[256];
    int t = threadIdx.x;
    a[t] = fmaxf(prices[blockIdx.x] * t - 100.0f, 0.0f);
    __syncthreads();
    for (int level = steps; level > 0; level -= 2) {
        b[t] = up * a[t] + down * a[(t + 1) & 255];
        __syncthreads();
        a[t] = up * b[t] + down * b[(t + 1) & 255];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = a[0];
}

// EM: each block keeps the means of all clusters, and adds up what its threads find, in place.
extern "C" __global__ void em(const float *points, const float *means, float *sums, int count)
{
    __shared__ float mean[16], sum[128];
    int t = threadIdx.x;
    if (t < 16)
        mean[t] = means[t];
    __syncthreads();
    float best = 0;
    for (int i = blockIdx.x * 128 + t; i < count; i += 128 * gridDim.x)
        for (int c = 0; c < 16; c++) {
            float d = points[i] - mean[c];
            best += d * d;
        }
    sum[t] = best;
    __syncthreads();
    for (int s = 64; s > 0; s >>= 1) {
        if (t < s)
            sum[t] += sum[t + s];
        __syncthreads();
    }
    if (t == 0)
        sums[blockIdx.x] = sum[0];
}

// Co-clustering: the sizes of row clusters are the same for all threads, and for all rows.
extern "C" __global__ void coclustering(const float *data, const int *sizes, const int *cluster, const float *compressed,
                                        float *out, int rows, int clusters, int columns)
{
    extern __shared__ int size[];
    int t = threadIdx.x;
    if (t < clusters)
        size[t] = sizes[t];
    __syncthreads();
    float distance = 0;
    for (int r = blockIdx.x * blockDim.x + t; r < rows; r += blockDim.x * gridDim.x)
        for (int rc = 0; rc < clusters; rc++)
            if (size[rc] > 0)
                for (int c = 0; c < columns; c++)
                    distance += data[r * columns + c] * compressed[rc * columns + cluster[c]];
    out[blockIdx.x * blockDim.x + t] = distance;
}

// dxtc: functions that are called work on arrays of the kernel.
__device__ __noinline__ void put(float *place, int at, float value)
{
    place[at] = value;
}

__device__ __noinline__ float take(const float *place, int at)
{
    return place[at];
}

__device__ __noinline__ float add_up(const float *place, int count)
{
    float sum = 0;
#pragma unroll 1
    for (int i = 0; i < count; i++)
        sum += place[i];
    return sum;
}

extern "C" __global__ void dxtc(const float *colours, float *out, int count)
{
    __shared__ float palette[64], error[64];
    int t = threadIdx.x;
    put(palette, t, colours[blockIdx.x * 64 + t]);
    __syncthreads();
    put(error, t, take(palette, t ^ 1) - add_up(palette, count));
    __syncthreads();
    out[blockIdx.x * 64 + t] = add_up(error, 64);
}

// Bins that data chooses, privatised.
extern "C" __global__ void histogram(const unsigned *keys, unsigned *out, int count)
{
    __shared__ unsigned bins[256];
    int t = threadIdx.x;
    bins[t] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[keys[i] & 255], 1);
    __syncthreads();
    atomicAdd(&out[t], bins[t]);
}
