// A little of everything that a program does with the runtime; says what came out of it.
#include "check.h"

#include <cooperative_groups.h>
#include <cstdio>
#include <thread>
#include <vector>

__constant__ float factors[4];
__device__ int counter;

__global__ void scale(float *out, const float *in, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = factors[i & 3] * in[i];
    if (i == 0)
        atomicAdd(&counter, 1);
}

__global__ void __cluster_dims__(2, 1, 1) clustered(int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = (int)blockIdx.x;
}

__global__ void together(int *out)
{
    cooperative_groups::this_grid().sync();
    if (threadIdx.x == 0)
        atomicAdd(out, 1);
}

static int on_a_thread(int k, float *sum)
{
    const int n = 1000;
    float *data, host[n];
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaMallocAsync(&data, n * sizeof *data, stream));
    CHECK(cudaMemsetAsync(data, 0, n * sizeof *data, stream));
    for (int i = 0; i < 50; i++)
        scale<<<8, 128, 0, stream>>>(data, data, n);
    CHECK(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaFreeAsync(data, stream));
    CHECK(cudaStreamDestroy(stream));
    *sum = host[k];
    return 0;
}

static int in_a_graph(float *out, const float *in, int n)
{
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    scale<<<(n + 127) / 128, 128, 0, stream>>>(out, in, n);
    scale<<<(n + 127) / 128, 128, 0, stream>>>(out, out, n);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(INSTANTIATE(&exec, graph));
    for (int i = 0; i < 3; i++)
        CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    size_t nodes;
    CHECK(cudaGraphGetNodes(graph, nullptr, &nodes));
    printf("graph of %zu nodes\n", nodes);
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaStreamDestroy(stream));
    return 0;
}

int main()
{
    const int n = 5000;
    const float f[4] = {1, 2, 3, 4};
    float *in, *out, *managed, *pinned;
    int *ints, value;
    CHECK(cudaMemcpyToSymbol(factors, f, sizeof f));
    CHECK(cudaMalloc(&in, n * sizeof *in));
    CHECK(cudaMalloc(&out, n * sizeof *out));
    CHECK(cudaMallocManaged(&managed, n * sizeof *managed));
    CHECK(cudaMallocHost(&pinned, n * sizeof *pinned));
    CHECK(cudaMalloc(&ints, 4096));
    for (int i = 0; i < n; i++)
        pinned[i] = (float)i;
    CHECK(cudaMemcpy(in, pinned, n * sizeof *in, cudaMemcpyHostToDevice));
    scale<<<(n + 127) / 128, 128>>>(out, in, n);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
    scale<<<(n + 127) / 128, 128>>>(managed, out, n);
    CHECK(cudaMemcpy(pinned, out, n * sizeof *out, cudaMemcpyDeviceToHost));
    printf("out %g %g managed %g\n", pinned[1], pinned[4999], managed[4999]);
    clustered<<<4, 32>>>(ints);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemset(ints, 0, 4096));
    void *args[] = {&ints};
    CHECK(cudaLaunchCooperativeKernel((void *)together, dim3(8), dim3(64), args, 0, 0));
    CHECK(cudaMemcpy(&value, ints, sizeof value, cudaMemcpyDeviceToHost));
    printf("together %d\n", value);
    float sums[4];
    std::vector<std::thread> threads;
    for (int k = 0; k < 4; k++)
        threads.emplace_back([k, &sums] { on_a_thread(k, &sums[k]); });
    for (auto &t : threads)
        t.join();
    printf("threads %g\n", sums[0] + sums[1] + sums[2] + sums[3]);
    if (in_a_graph(out, in, n))
        return 1;
    scale<<<0, 128>>>(out, in, n);
    printf("wrong launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
    printf("counter %d\n", value);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFree(managed));
    CHECK(cudaFree(in));
    return 3;
}
