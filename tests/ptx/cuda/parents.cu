// Dynamic parallelism; compiled with -rdc=true.
__global__ void child(int *data, int depth)
{
    data[threadIdx.x] += depth;
}

__global__ void parent(int *data, int depth)
{
    child<<<1, 32>>>(data, depth);
    if (depth > 0)
        parent<<<1, 32, 64>>>(data, depth - 1);
    cudaStream_t stream;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    child<<<2, 64, 0, stream>>>(data, 1);
    cudaStreamDestroy(stream);
    if (cudaGetLastError() != cudaSuccess)
        data[0] = -1;
}

extern __device__ float elsewhere(float x);
extern __shared__ int later[];

__global__ void uses_elsewhere(float *f)
{
    f[threadIdx.x] = elsewhere(f[threadIdx.x]) + (float)later[threadIdx.x];
}
