/* A graph that forks and joins, with a child graph, launched three times: the last time without one
 * of its kernels. tests/gpu/test_graph.py knows its edges. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 32, BYTES = N * 4 };

#define CHECK(call)                                                     \
    do {                                                                \
        CUresult result_ = (call);                                      \
        if (result_ != CUDA_SUCCESS) {                                  \
            printf("%s: %d, line %d\n", #call, (int)result_, __LINE__); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

#define KERNEL(name, parts)                                                                     \
    ".visible .entry " name "(.param .u64 p)\n{\n"                                              \
    "  .reg .b32 r<4>; .reg .b64 d<4>;\n"                                                       \
    "  ld.param.u64 d1, [p]; mov.u32 r1, %tid.x; mul.wide.u32 d2, r1, 4; add.s64 d3, d1, d2;\n" \
    "  ld.global.u32 r2, [d3]; " parts " st.global.u32 [d3], r3; ret;\n}\n"

static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n" KERNEL("left", "add.u32 r3, r2, 1;")
        KERNEL("right", "add.u32 r3, r2, 2;") KERNEL("join", "add.u32 r3, r2, r2;");

static CUcontext context;
static CUmodule module;
static CUdeviceptr data[2];
static unsigned host[N];

static CUgraphNode add_kernel(CUgraph graph, const char *name, CUdeviceptr *on,
                              const CUgraphNode *after, size_t count)
{
    CUgraphNode node;
    CUfunction function;
    void *params[] = {on};
    CHECK(cuModuleGetFunction(&function, module, name));
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = function,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = N,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    CHECK(cuGraphAddKernelNode(&node, graph, after, count, &kernel));
    return node;
}

static CUgraphNode add_set(CUgraph graph, CUdeviceptr on, unsigned value)
{
    CUgraphNode node;
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = on, .elementSize = 4, .width = N, .height = 1, .value = value};
    CHECK(cuGraphAddMemsetNode(&node, graph, NULL, 0, &set, context));
    return node;
}

static CUgraphNode add_copy(CUgraph graph, CUgraphNode after)
{
    CUgraphNode node;
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = data[0],
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    CHECK(cuGraphAddMemcpyNode(&node, graph, &after, 1, &copy, context));
    return node;
}

/* The copy is added before what it waits for, by an edge of its own. */
static CUgraphExec build(CUgraphNode *right)
{
    CUgraph graph, child;
    CUgraphExec exec;
    CUgraphNode both[2], set, join, holder, last;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphCreate(&child, 0));
    add_copy(child, add_set(child, data[1], 7));
    CHECK(cuGraphAddChildGraphNode(&holder, graph, NULL, 0, child));
    CHECK(cuGraphAddEmptyNode(&last, graph, &holder, 1));
    set = add_set(graph, data[0], 1);
    both[0] = add_kernel(graph, "left", &data[0], &set, 1);
    both[1] = add_kernel(graph, "right", &data[1], &set, 1);
    join = add_kernel(graph, "join", &data[0], both, 2);
    CHECK(cuGraphAddDependencies(graph, &join, &holder, NULL, 1));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    *right = both[1];
    return exec;
}

int main(void)
{
    CUgraphNode right;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemAlloc(&data[i], BYTES));
        CHECK(cuMemsetD8(data[i], 0, BYTES));
    }
    CUgraphExec exec = build(&right);
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuGraphNodeSetEnabled(exec, right, 0));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuStreamSynchronize(NULL));
    printf("%u %u\n", host[0], host[N - 1]);
    return 0;
}
