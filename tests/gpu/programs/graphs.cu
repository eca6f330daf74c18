// Graphs: child graphs, changes of an instance after it was made, nodes switched off.
#include "check.h"

#include <cstdio>

__global__ void add(int *data, int n, int value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        data[i] += value;
}

__global__ void twice(int *data, int stride)
{
    data[threadIdx.x * stride] *= 2;
}

struct kernel {
    void *args[3];
    cudaKernelNodeParams params = {};
    kernel(void *function, int grid, int block, void *a, void *b, void *c) : args{a, b, c}
    {
        params.func = function;
        params.gridDim = dim3(grid);
        params.blockDim = dim3(block);
        params.kernelParams = args;
    }
};

static cudaError_t update(cudaGraphExec_t exec, cudaGraph_t graph)
{
#if CUDART_VERSION < 12000
    cudaGraphNode_t differs;
    cudaGraphExecUpdateResult why;
    return cudaGraphExecUpdate(exec, graph, &differs, &why);
#else
    cudaGraphExecUpdateResultInfo info = {};
    return cudaGraphExecUpdate(exec, graph, &info);
#endif
}

static int show(const char *what, cudaGraphExec_t exec, cudaStream_t stream, const int *data)
{
    int host[256];
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
    printf("%s: %d %d %d %d\n", what, host[0], host[1], host[2], host[255]);
    return 0;
}

/* One kernel, and a child graph of two. */
static int build(int *data, int *n, int *value, int *stride, cudaGraph_t *graph, cudaGraphNode_t *first,
                 cudaGraphNode_t *child)
{
    cudaGraph_t inner;
    cudaGraphNode_t a, b;
    kernel one((void *)add, 2, 128, &data, n, value), two((void *)twice, 1, 32, &data, stride, nullptr);
    CHECK(cudaGraphCreate(&inner, 0));
    CHECK(cudaGraphAddKernelNode(&a, inner, nullptr, 0, &one.params));
    CHECK(cudaGraphAddKernelNode(&b, inner, &a, 1, &two.params));
    CHECK(cudaGraphCreate(graph, 0));
    CHECK(cudaGraphAddKernelNode(first, *graph, nullptr, 0, &one.params));
    CHECK(cudaGraphAddChildGraphNode(child, *graph, first, 1, inner));
    CHECK(cudaGraphDestroy(inner));
    return 0;
}

int main()
{
    int *data, n = 256, value = 1, stride = 1;
    cudaStream_t stream;
    cudaGraph_t graph, other, within;
    cudaGraphExec_t exec;
    cudaGraphNode_t first, child, elsewhere, inside;
    CHECK(cudaMalloc(&data, 256 * sizeof *data));
    CHECK(cudaMemset(data, 0, 256 * sizeof *data));
    CHECK(cudaStreamCreate(&stream));
    if (build(data, &n, &value, &stride, &graph, &first, &child))
        return 1;
    CHECK(INSTANTIATE(&exec, graph));
    if (show("as built", exec, stream, data))
        return 1;

    int few = 64, more = 10, wide = 8;
    kernel narrow((void *)add, 1, 64, &data, &few, &more);
    CHECK(cudaGraphExecKernelNodeSetParams(exec, first, &narrow.params));
    if (show("other parameters", exec, stream, data))
        return 1;

    value = 100;
    if (build(data, &n, &value, &wide, &other, &elsewhere, &inside))
        return 1;
    CHECK(update(exec, other));
    if (show("updated", exec, stream, data))
        return 1;
    CHECK(cudaGraphNodeSetEnabled(exec, first, 0));
    if (show("without the first", exec, stream, data))
        return 1;
    CHECK(cudaGraphChildGraphNodeGetGraph(child, &within));
    CHECK(cudaGraphExecChildGraphNodeSetParams(exec, child, within));
    if (show("the first child again", exec, stream, data))
        return 1;
    CHECK(cudaGraphExecDestroy(exec));
    CHECK(cudaGraphDestroy(graph));
    CHECK(cudaGraphDestroy(other));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudaFree(data));
    return 0;
}
