/* Accesses that the compiler of PTX merges or drops, so that counts from PTX are not those of the hardware. */
#include "check.h"

/* Four neighbours in shared memory: one load of 16 bytes. */
__global__ void four_neighbours(const float *in, float *out)
{
    __shared__ __align__(16) float row[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        row[i] = in[blockIdx.x * 1024 + i];
    __syncthreads();
    int at = 4 * threadIdx.x;
    out[blockIdx.x * 256 + threadIdx.x] = row[at] + 2 * row[at + 1] + 3 * row[at + 2] + 4 * row[at + 3];
}

/* Two neighbours of rows of 33 words: no alignment, so no merging. */
__global__ void two_neighbours(const float *in, float *out)
{
    __shared__ float tile[32][33];
    for (int y = threadIdx.y; y < 32; y += blockDim.y)
        tile[y][threadIdx.x] = in[(blockIdx.x * 32 + y) * 32 + threadIdx.x];
    __syncthreads();
    for (int y = threadIdx.y; y < 31; y += blockDim.y)
        out[(blockIdx.x * 32 + y) * 32 + threadIdx.x] = tile[threadIdx.x][y] + tile[threadIdx.x][y + 1];
}

/* Lanes of a warp leave the loop one after another; a load that is needed only sometimes. */
__global__ void ragged(const int *lengths, const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < lengths[i]; k++)
        sum += in[i * 16 + k];
    if (sum > 0)
        out[i] = sum / in[i];
}

/* The same of what the launch decides, so that it can be reckoned. */
__global__ void staircase(const float *in, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < (int)(threadIdx.x % 13); k++)
        sum += in[i * 16 + k];
    if (i % 3 == 0)
        out[i] = sum;
}

/* Atomics on few places: what lanes add to one is added up first. */
__global__ void counted(const int *in, int *bins)
{
    __shared__ int own[16];
    if (threadIdx.x < 16)
        own[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&own[in[i] & 15], 1);
    atomicAdd(&bins[16], 1);
    __syncthreads();
    if (threadIdx.x < 16)
        atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}

int main()
{
    static float reals[65536];
    static int wholes[65536];
    unsigned seed = 5;
    for (int i = 0; i < 65536; i++) {
        reals[i] = (float)((seed = seed * 1664525u + 1013904223u) >> 20) / 2048 - 1;
        wholes[i] = (int)(seed >> 28);
    }
    float *in, *out;
    int *lengths;
    CHECK(cudaMalloc(&in, sizeof reals));
    CHECK(cudaMalloc(&out, sizeof reals));
    CHECK(cudaMalloc(&lengths, sizeof wholes));
    CHECK(cudaMemcpy(in, reals, sizeof reals, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(lengths, wholes, sizeof wholes, cudaMemcpyHostToDevice));
    four_neighbours<<<64, 256>>>(in, out);
    two_neighbours<<<64, dim3(32, 8)>>>(in, out);
    ragged<<<16, 256>>>(lengths, in, out);
    staircase<<<16, 256>>>(in, out);
    counted<<<64, 256>>>(lengths, (int *)out);
    CHECK(cudaDeviceSynchronize());
    return 0;
}
