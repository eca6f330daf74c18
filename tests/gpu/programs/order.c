/* Calls whose records say more than what was moved: streams by turns, events, rows, an allocation
 * that fails, graphs, two devices. tests/gpu/test_order.py knows what each leaves in a profile. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>

enum { N = 1024, BYTES = N * 4, PITCH = 128, ROWS = 4, WIDTH = 64 };

#define CHECK(call)                                                     \
    do {                                                                \
        CUresult result_ = (call);                                      \
        if (result_ != CUDA_SUCCESS) {                                  \
            printf("%s: %d, line %d\n", #call, (int)result_, __LINE__); \
            exit(1);                                                    \
        }                                                               \
    } while (0)

static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry plus(.param .u64 p)\n{\n"
    "  .reg .b32 r<4>; .reg .b64 d<4>;\n"
    "  ld.param.u64 d1, [p]; mov.u32 r1, %tid.x; mul.wide.u32 d2, r1, 4; add.s64 d3, d1, d2;\n"
    "  ld.global.u32 r2, [d3]; add.u32 r3, r2, 1; st.global.u32 [d3], r3; ret;\n}\n";

static CUcontext contexts[2];
static CUfunction plus;
static CUdeviceptr data;
static unsigned host[N];

/* The second stream may well be given the handle of the first. */
static void streams(void)
{
    for (int i = 0; i < 2; i++) {
        CUstream stream;
        CHECK(cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, -1));
        CHECK(cuMemsetD8Async(data, (unsigned char)i, 16, stream));
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuStreamDestroy(stream));
    }
}

static void events(void)
{
    CUevent first, second;
    CHECK(cuEventCreate(&first, CU_EVENT_DEFAULT));
    CHECK(cuEventCreate(&second, CU_EVENT_DEFAULT));
    CHECK(cuEventRecord(first, NULL));
    CHECK(cuEventRecord(second, NULL));
    CHECK(cuEventRecord(first, NULL));
    CHECK(cuStreamWaitEvent(NULL, first, 0));
    CHECK(cuEventSynchronize(second));
    CHECK(cuEventDestroy(first));
    CHECK(cuEventDestroy(second));
}

static void rows(void)
{
    CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                          .srcHost = host,
                          .srcPitch = WIDTH,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = data,
                          .dstPitch = PITCH,
                          .WidthInBytes = WIDTH,
                          .Height = ROWS};
    CHECK(cuMemcpy2D(&copy));
    CHECK(cuMemsetD2D8(data, PITCH, 1, WIDTH, ROWS));
}

/* Nodes that are added last run first. */
static void graph(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode copied, ran, set, edges[2][2];
    void *params[] = {&data};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = data,
                          .srcPitch = BYTES,
                          .srcHeight = 1,
                          .dstMemoryType = CU_MEMORYTYPE_HOST,
                          .dstHost = host,
                          .dstPitch = BYTES,
                          .dstHeight = 1,
                          .WidthInBytes = BYTES,
                          .Height = 1,
                          .Depth = 1};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = plus,
                                      .gridDimX = 1,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 32,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = params};
    CUDA_MEMSET_NODE_PARAMS zero = {.dst = data, .elementSize = 4, .width = N, .height = 1};
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemcpyNode(&copied, graph, NULL, 0, &copy, contexts[0]));
    CHECK(cuGraphAddKernelNode(&ran, graph, NULL, 0, &kernel));
    CHECK(cuGraphAddMemsetNode(&set, graph, NULL, 0, &zero, contexts[0]));
    edges[0][0] = set, edges[1][0] = ran;
    edges[0][1] = ran, edges[1][1] = copied;
    CHECK(cuGraphAddDependencies(graph, edges[0], edges[1], NULL, 2));
    CHECK(cuGraphInstantiate(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuGraphLaunch(exec, NULL));
    CHECK(cuStreamSynchronize(NULL));
    printf("graph: %u %u\n", host[0], host[N - 1]);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
}

static void captured(void)
{
    CUstream stream;
    CUgraph graph;
    void *params[] = {&data};
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuLaunchKernel(plus, 1, 1, 1, 32, 1, 1, 0, stream, params, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(stream));
}

static void other_device(void)
{
    CUdeviceptr there;
    CHECK(cuCtxSetCurrent(contexts[1]));
    CHECK(cuMemAlloc(&there, 4096));
    CHECK(cuMemsetD8Async(there, 1, 4096, NULL));
    CHECK(cuMemFree(there));
    CHECK(cuCtxSetCurrent(contexts[0]));
}

int main(void)
{
    CUmodule module;
    CUdeviceptr none;
    CHECK(cuInit(0));
    for (int i = 0; i < 2; i++)
        CHECK(cuDevicePrimaryCtxRetain(&contexts[i], i));
    CHECK(cuCtxSetCurrent(contexts[0]));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&plus, module, "plus"));
    CHECK(cuMemAlloc(&data, BYTES));
    streams();
    events();
    rows();
    printf("too much: %d\n", (int)cuMemAlloc(&none, (size_t)1 << 50));
    graph();
    captured();
    other_device();
    CHECK(cuMemFree(data));
    return 0;
}
