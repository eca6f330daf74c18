// Two streams, a graph, objects that live for different times: one is never used, one never freed.
#include <cstdio>

__global__ void fill(float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i;
}

__global__ void twice(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

int main()
{
    enum { N = 4096, BLOCKS = N / 256 };
    float *first, *second, *spare, *kept, host[N];
    cudaStream_t a, b;
    cudaGraph_t graph;
    cudaGraphExec_t ready;
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaMalloc(&first, N * 4);
    cudaMalloc(&second, N * 4);
    cudaMalloc(&spare, N * 8);
    cudaMemset(second, 0, N * 4);
    fill<<<BLOCKS, 256, 0, a>>>(first, N);
    fill<<<BLOCKS, 256, 0, b>>>(second, N);
    cudaStreamSynchronize(a);
    cudaFree(spare);
    cudaMalloc(&kept, N * 4);

    cudaStreamBeginCapture(a, cudaStreamCaptureModeGlobal);
    twice<<<BLOCKS, 256, 0, a>>>(first, kept, N);
    twice<<<BLOCKS, 256, 0, a>>>(kept, first, N);
    cudaStreamEndCapture(a, &graph);
    cudaGraphInstantiate(&ready, graph, 0);
    cudaGraphLaunch(ready, a);
    cudaMemcpyAsync(host, first, N * 4, cudaMemcpyDeviceToHost, a);
    cudaDeviceSynchronize();
    cudaFree(second);
    cudaFree(first);
    std::printf("%g\n", host[3]);
}
