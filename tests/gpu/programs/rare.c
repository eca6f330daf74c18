/* Calls that few programs make, a part of them each run: rare PART. What is printed does not depend
 * on who watches. Exits with 77 where the driver or the device cannot do it. tests/gpu/test_rare.py
 * knows what each part does. */
#include <cuda.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 1024, BYTES = N * 4, NOT_HERE = 77 };

#define CHECK(call)                                                     \
    do {                                                                \
        CUresult result_ = (call);                                      \
        if (result_ != CUDA_SUCCESS) {                                  \
            printf("%s: %d, line %d\n", #call, (int)result_, __LINE__); \
            fflush(stdout);                                             \
            _exit(result_ == CUDA_ERROR_NOT_SUPPORTED ? NOT_HERE : 1);  \
        }                                                               \
    } while (0)

/* plus adds to every element, permute exchanges them in an order that is data. */
static const char ptx[] =
    ".version 7.8\n.target sm_90\n.address_size 64\n"
    ".visible .entry plus(.param .u64 p, .param .u32 value)\n{\n"
    "  .reg .b32 r<8>; .reg .b64 d<4>;\n"
    "  ld.param.u64 d1, [p]; ld.param.u32 r1, [value];\n"
    "  mov.u32 r2, %ctaid.x; mov.u32 r3, %ntid.x; mov.u32 r4, %tid.x; mad.lo.s32 r5, r2, r3, r4;\n"
    "  mul.wide.u32 d2, r5, 4; add.s64 d3, d1, d2;\n"
    "  ld.global.u32 r6, [d3]; add.u32 r7, r6, r1; st.global.u32 [d3], r7; ret;\n}\n"
    ".visible .entry permute(.param .u64 p, .param .u64 order)\n{\n"
    "  .reg .b32 r<8>; .reg .b64 d<8>;\n"
    "  ld.param.u64 d1, [p]; ld.param.u64 d4, [order];\n"
    "  mov.u32 r2, %ctaid.x; mov.u32 r3, %ntid.x; mov.u32 r4, %tid.x; mad.lo.s32 r5, r2, r3, r4;\n"
    "  mul.wide.u32 d2, r5, 4; add.s64 d3, d4, d2; ld.global.u32 r6, [d3];\n"
    "  mul.wide.u32 d5, r6, 4; add.s64 d6, d1, d5;\n"
    "  ld.global.u32 r7, [d6]; add.u32 r7, r7, 1; st.global.u32 [d6], r7; ret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction plus, permute;

static void start(void)
{
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&plus, module, "plus"));
    CHECK(cuModuleGetFunction(&permute, module, "permute"));
}

static CUresult add(CUstream stream, CUdeviceptr data, unsigned value)
{
    void *params[] = {&data, &value};
    return cuLaunchKernel(plus, N / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL);
}

/* Host memory 0, 1, 2, ...; what a copy of it gave is told by its first, second and last element.
 */
static unsigned *numbers(void)
{
    static unsigned host[N];
    for (unsigned i = 0; i < N; i++)
        host[i] = i;
    return host;
}

static void tell(const char *what, const unsigned *host)
{
    printf("%s: %u %u %u\n", what, host[0], host[1], host[N - 1]);
}

static void tell_device(const char *what, CUdeviceptr data)
{
    unsigned host[N];
    CHECK(cuMemcpyDtoH(host, data, BYTES));
    tell(what, host);
}

/* ---- parts ---- */

/* Launches as they were before CUDA 4. */
static void old_launch(void)
{
    CUdeviceptr data, order;
    CUstream stream;
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemAlloc(&order, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuMemcpyHtoD(order, numbers(), BYTES));
    CHECK(cuFuncSetBlockShape(plus, 128, 1, 1));
    CHECK(cuParamSetv(plus, 0, &data, sizeof data));
    CHECK(cuParamSeti(plus, sizeof data, 10));
    CHECK(cuParamSetSize(plus, sizeof data + 4));
    CHECK(cuLaunchGrid(plus, N / 128, 1));
    CHECK(cuParamSeti(plus, sizeof data, 100));
    CHECK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
    CHECK(cuLaunchGridAsync(plus, N / 128, 1, stream));
    CHECK(cuFuncSetBlockShape(permute, 128, 1, 1));
    CHECK(cuParamSetv(permute, 0, &data, sizeof data));
    CHECK(cuParamSetv(permute, sizeof data, &order, sizeof order));
    CHECK(cuParamSetSize(permute, 2 * sizeof data));
    CHECK(cuLaunchGrid(permute, N / 128, 1));
    CHECK(cuStreamSynchronize(stream));
    tell_device("old launches", data);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(order));
    CHECK(cuMemFree(data));
}

/* Two pieces of memory side by side, which a kernel uses as one, and which go by one call. */
static void virtual_memory(void)
{
    size_t piece;
    CUdeviceptr base;
    CUmemGenericAllocationHandle memory[2];
    CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemAccessDesc access = {.location = properties.location,
                              .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CHECK(cuMemGetAllocationGranularity(&piece, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    CHECK(cuMemAddressReserve(&base, 2 * piece, 0, 0, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cuMemCreate(&memory[i], piece, &properties, 0));
        CHECK(cuMemMap(base + (size_t)i * piece, piece, 0, memory[i], 0));
    }
    CHECK(cuMemSetAccess(base, 2 * piece, &access, 1));
    CUdeviceptr data = base + piece - BYTES / 2; /* half in the first */
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(add(NULL, data, 5));
    tell_device("virtual memory", data);
    CHECK(cuMemUnmap(base, 2 * piece));
    for (int i = 0; i < 2; i++)
        CHECK(cuMemRelease(memory[i]));
    CHECK(cuMemAddressFree(base, 2 * piece));
}

static void capture(CUstream stream, CUdeviceptr data, unsigned *to, CUgraph *graph)
{
    CUdeviceptr own;
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuMemAllocAsync(&own, BYTES, stream));
    CHECK(cuMemsetD32Async(own, 7, N, stream));
    CHECK(cuMemcpyDtoDAsync(data, own, BYTES, stream));
    CHECK(add(stream, data, 1));
    CHECK(cuMemcpyDtoHAsync(to, data, BYTES, stream));
    CHECK(cuMemFreeAsync(own, stream));
    CHECK(cuStreamEndCapture(stream, graph));
}

/* A graph that allocates, sets, copies, launches and frees; then with another value to set. */
static void graph_memory(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[16];
    CUdeviceptr data;
    unsigned host[N];
    size_t count = 16;
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    capture(stream, data, host, &graph);
    CHECK(cuGraphGetNodes(graph, nodes, &count));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 2; i++) {
        CHECK(cuGraphLaunch(exec, stream));
        CHECK(cuStreamSynchronize(stream));
        tell("graph", host);
    }
    for (size_t i = 0; i < count; i++) {
        CUgraphNodeType type;
        CUDA_MEMSET_NODE_PARAMS set;
        CHECK(cuGraphNodeGetType(nodes[i], &type));
        if (type != CU_GRAPH_NODE_TYPE_MEMSET)
            continue;
        CHECK(cuGraphMemsetNodeGetParams(nodes[i], &set));
        set.value = 70;
        CHECK(cuGraphExecMemsetNodeSetParams(exec, nodes[i], &set, context));
    }
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    tell("changed graph", host);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(data));
}

/* A kernel in clusters of two blocks, captured into a graph; then half of its grid, with another value
 * to add. */
static void graph_kernels(void)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    CUdeviceptr data;
    size_t one = 1;
    unsigned value = 3, other = 40;
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION,
                                 .value.clusterDim = {2, 1, 1}};
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *params[] = {&data, &value}, *others[] = {&data, &other};
    CUlaunchConfig config = {.gridDimX = N / 128,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = &cluster,
                             .numAttrs = 1};
    CHECK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CHECK(cuLaunchKernelEx(&config, plus, params, NULL));
    CHECK(cuStreamEndCapture(stream, &graph));
    CHECK(cuGraphGetNodes(graph, &node, &one));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CUgraphNodeParams half = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                              .kernel = {.func = plus,
                                         .gridDimX = N / 256,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 128,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = others}};
    CHECK(cuGraphExecNodeSetParams(exec, node, &half));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    tell_device("graph of kernels", data);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(data));
}

/* Streams that wait for values in memory. */
static void values(void)
{
    CUstream stream;
    CUdeviceptr data, flag;
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemAlloc(&flag, 64));
    CHECK(cuMemsetD32(flag, 0, 16));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuStreamWriteValue32(stream, flag, 3, 0));
    CHECK(cuStreamWaitValue32(stream, flag, 3, CU_STREAM_WAIT_VALUE_EQ));
    CHECK(cuStreamWriteValue64(stream, flag + 8, 5, 0));
    CHECK(add(stream, data, 2));
    CHECK(cuStreamSynchronize(stream));
    tell_device("values", data);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(flag));
    CHECK(cuMemFree(data));
}

static void value_batch(void)
{
    CUstream stream;
    CUdeviceptr flag;
    unsigned host[2];
    CUstreamBatchMemOpParams list[2];
    memset(list, 0, sizeof list);
    CHECK(cuMemAlloc(&flag, 64));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 2; i++) {
        list[i].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        list[i].writeValue.address = flag + 4 * i;
        list[i].writeValue.value = 11 + i;
    }
    CHECK(cuStreamBatchMemOp(stream, 2, list, 0));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuMemcpyDtoH(host, flag, sizeof host));
    printf("batch of values: %u %u\n", host[0], host[1]);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(flag));
}

/* Clusters, and kernels that may begin before their predecessors end. */
static void extended(void)
{
    CUstream stream;
    CUdeviceptr data, order;
    unsigned value = 3;
    CUlaunchAttribute attributes[2];
    memset(attributes, 0, sizeof attributes);
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemAlloc(&order, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuMemcpyHtoD(order, numbers(), BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    attributes[0].id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attributes[0].value.clusterDim.x = 2;
    attributes[0].value.clusterDim.y = attributes[0].value.clusterDim.z = 1;
    attributes[1].id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attributes[1].value.programmaticStreamSerializationAllowed = 1;
    CUlaunchConfig config = {.gridDimX = N / 128,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream,
                             .attrs = attributes,
                             .numAttrs = 1};
    void *params[] = {&data, &value}, *others[] = {&data, &order};
    CHECK(cuLaunchKernelEx(&config, plus, params, NULL));
    CHECK(cuLaunchKernelEx(&config, permute, others, NULL));
    config.numAttrs = 2;
    for (int i = 0; i < 2; i++) {
        CHECK(cuStreamSynchronize(stream));
        CHECK(cuLaunchKernelEx(&config, plus, params, NULL));
    }
    CHECK(cuStreamSynchronize(stream));
    tell_device("extended launches", data);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(order));
    CHECK(cuMemFree(data));
}

/* Kernels of a library by number and by name, as kernel and as function. */
static void library(void)
{
    CUlibrary loaded;
    CUkernel kernels[4], kernel;
    CUfunction function;
    CUmodule within;
    CUdeviceptr data;
    unsigned count, value = 4;
    const char *name;
    void *params[] = {&data, &value};
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuLibraryLoadData(&loaded, ptx, NULL, NULL, 0, NULL, NULL, 0));
    CHECK(cuLibraryGetKernelCount(&count, loaded));
    CHECK(cuLibraryEnumerateKernels(kernels, 4, loaded));
    for (unsigned i = 0; i < count; i++) {
        CHECK(cuKernelGetName(&name, kernels[i]));
        if (strcmp(name, "plus") == 0)
            CHECK(cuLaunchKernel((CUfunction)kernels[i], N / 128, 1, 1, 128, 1, 1, 0, NULL, params,
                                 NULL));
    }
    CHECK(cuLibraryGetKernel(&kernel, loaded, "plus"));
    CHECK(cuKernelGetFunction(&function, kernel));
    CHECK(cuLaunchKernel(function, N / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    CHECK(cuLibraryGetModule(&within, loaded));
    CHECK(cuModuleGetFunction(&function, within, "plus"));
    CHECK(cuLaunchKernel(function, N / 128, 1, 1, 128, 1, 1, 0, NULL, params, NULL));
    tell_device("library", data);
    CHECK(cuLibraryUnload(loaded));
    CHECK(cuMemFree(data));
}

/* A kernel of a megabyte of PTX, each of whose loads depends on the one before, beside a small one.
 */
static char *large_ptx(void)
{
    enum { LOADS = 7000, ROOM = 2 << 20 };
    char *text = malloc(ROOM), *at = text;
    if (!text)
        exit(1);
    at += sprintf(at, "%s",
                  ".version 7.8\n.target sm_90\n.address_size 64\n"
                  ".visible .entry large(.param .u64 p)\n{\n  .reg .b32 r<8>; .reg .b64 d<8>;\n"
                  "  ld.param.u64 d1, [p];\n  mov.u64 d3, d1;\n  mov.u32 r1, 0;\n");
    for (int i = 0; i < LOADS; i++)
        at += sprintf(at, "%s",
                      "  ld.global.u32 r6, [d3];\n  and.b32 r6, r6, 1023;\n"
                      "  mul.wide.u32 d5, r6, 4;\n  add.s64 d3, d1, d5;\n"
                      "  add.u32 r1, r1, r6;\n  xor.b32 r1, r1, 5;\n");
    sprintf(at, "%s%s", "  st.global.u32 [d1+4], r1;\n  ret;\n}\n",
            strstr(ptx, ".visible .entry permute"));
    return text;
}

static void large(void)
{
    CUfunction function, small;
    CUdeviceptr data, order;
    char *text = large_ptx();
    void *one[] = {&data}, *two[] = {&data, &order};
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemAlloc(&order, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuMemcpyHtoD(order, numbers(), BYTES));
    CHECK(cuModuleUnload(module));
    CHECK(cuModuleLoadData(&module, text));
    free(text);
    CHECK(cuModuleGetFunction(&function, module, "large"));
    CHECK(cuModuleGetFunction(&small, module, "permute"));
    CHECK(cuLaunchKernel(small, N / 128, 1, 1, 128, 1, 1, 0, NULL, two, NULL));
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, NULL, one, NULL));
    tell_device("large kernel", data);
    CHECK(cuMemFree(order));
    CHECK(cuMemFree(data));
}

static void CUDA_CB host_function(void *data)
{
    *(unsigned *)data += 1;
}

/* Managed memory that moves, and a function of the host between two kernels. */
static void managed(void)
{
    CUstream stream;
    CUdeviceptr data;
    unsigned called = 0;
    CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE},
                  host = {.type = CU_MEM_LOCATION_TYPE_HOST};
    CHECK(cuMemAllocManaged(&data, BYTES, CU_MEM_ATTACH_GLOBAL));
    memcpy((void *)data, numbers(), BYTES);
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAdvise_v2(data, BYTES, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
    CHECK(cuMemPrefetchAsync_v2(data, BYTES, device, 0, stream));
    CHECK(add(stream, data, 1));
    CHECK(cuLaunchHostFunc(stream, host_function, &called));
    CHECK(add(stream, data, 1));
    CHECK(cuMemPrefetchAsync_v2(data, BYTES, host, 0, stream));
    CHECK(cuStreamSynchronize(stream));
    tell("managed", (const unsigned *)data);
    printf("host function called %u times\n", called);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(data));
}

__attribute__((unused)) static void not_in_this_header(void)
{
    printf("cuda.h is too old for it\n");
    fflush(stdout);
    _exit(NOT_HERE);
}

/* Many copies by one call. */
#if CUDA_VERSION < 12080
#define copy_batch not_in_this_header
#else
static void copy_batch(void)
{
    CUstream stream;
    CUdeviceptr from, to;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUDA_MEMCPY3D_BATCH_OP volume;
    size_t first = 0;
    CHECK(cuMemAlloc(&from, BYTES));
    CHECK(cuMemAlloc(&to, BYTES));
    CHECK(cuMemcpyHtoD(from, numbers(), BYTES));
    CHECK(cuMemsetD32(to, 0, N));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CUdeviceptr targets[] = {to, to + BYTES / 2}, sources[] = {from, from + BYTES / 2};
    size_t sizes[] = {64, BYTES / 2};
#if CUDA_VERSION >= 13000
    CHECK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &how, &first, 1, stream));
#else
    size_t failed;
    CHECK(cuMemcpyBatchAsync(targets, sources, sizes, 2, &how, &first, 1, &failed, stream));
#endif
    memset(&volume, 0, sizeof volume);
    volume.src.type = volume.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    volume.src.op.ptr.ptr = from;
    volume.dst.op.ptr.ptr = to;
    volume.src.op.ptr.rowLength = volume.dst.op.ptr.rowLength = 64;
    volume.src.op.ptr.layerHeight = volume.dst.op.ptr.layerHeight = 4;
    volume.extent.width = 32;
    volume.extent.height = 4;
    volume.extent.depth = 2;
    volume.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM;
#if CUDA_VERSION >= 13000
    CHECK(cuMemcpy3DBatchAsync(1, &volume, 0, stream));
#else
    CHECK(cuMemcpy3DBatchAsync(1, &volume, &failed, 0, stream));
#endif
    CHECK(cuStreamSynchronize(stream));
    tell_device("batch of copies", to);
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(to));
    CHECK(cuMemFree(from));
}
#endif

/* A node that runs its graph if a value is not zero, which it is not. */
static void conditional(void)
{
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode before, node, inside;
    CUgraphConditionalHandle condition;
    CUstream stream;
    CUdeviceptr data;
    unsigned one = 1, two = 2;
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    void *first[] = {&data, &one}, *second[] = {&data, &two};
    CUDA_KERNEL_NODE_PARAMS kernel = {.func = plus,
                                      .gridDimX = N / 128,
                                      .gridDimY = 1,
                                      .gridDimZ = 1,
                                      .blockDimX = 128,
                                      .blockDimY = 1,
                                      .blockDimZ = 1,
                                      .kernelParams = first};
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddKernelNode(&before, graph, NULL, 0, &kernel));
    CHECK(cuGraphConditionalHandleCreate(&condition, graph, context, 1,
                                         CU_GRAPH_COND_ASSIGN_DEFAULT));
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = condition;
    params.conditional.type = CU_GRAPH_COND_TYPE_IF;
    params.conditional.size = 1;
    params.conditional.ctx = context;
#if CUDA_VERSION >= 13000
    CHECK(cuGraphAddNode(&node, graph, &before, NULL, 1, &params));
#else
    CHECK(cuGraphAddNode(&node, graph, &before, 1, &params));
#endif
    kernel.kernelParams = second;
    CHECK(cuGraphAddKernelNode(&inside, params.conditional.phGraph_out[0], NULL, 0, &kernel));
    CHECK(cuGraphInstantiateWithFlags(&exec, graph, 0));
    CHECK(cuGraphLaunch(exec, stream));
    CHECK(cuStreamSynchronize(stream));
    tell_device("conditional node", data);
    CHECK(cuGraphExecDestroy(exec));
    CHECK(cuGraphDestroy(graph));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuMemFree(data));
}

/* Kernels on a part of the device: on a stream of its own, and in a context of its own. */
#if CUDA_VERSION < 12050
#define green not_in_this_header
#else
static void green(void)
{
    CUdevResource all, part, rest;
    CUdevResourceDesc description;
    CUgreenCtx context_of_part;
    CUcontext as_context;
    CUstream stream;
    CUdeviceptr data, order;
    unsigned groups = 1;
    CHECK(cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(cuDevSmResourceSplitByCount(&part, &groups, &all, &rest, 0, 8));
    CHECK(cuDevResourceGenerateDesc(&description, &part, 1));
    CHECK(cuGreenCtxCreate(&context_of_part, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemAlloc(&order, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuMemcpyHtoD(order, numbers(), BYTES));
    CHECK(cuGreenCtxStreamCreate(&stream, context_of_part, CU_STREAM_NON_BLOCKING, 0));
    CHECK(add(stream, data, 6));
    void *params[] = {&data, &order};
    for (int i = 0; i < 3; i++)
        CHECK(cuLaunchKernel(permute, N / 128, 1, 1, 128, 1, 1, 0, stream, params, NULL));
    CHECK(cuStreamSynchronize(stream));
    CHECK(cuCtxFromGreenCtx(&as_context, context_of_part));
    CHECK(cuCtxSetCurrent(as_context));
    CHECK(cuModuleLoadData(&module, ptx));
    CHECK(cuModuleGetFunction(&plus, module, "plus"));
    CHECK(add(NULL, data, 1));
    CHECK(add(stream, data, 1));
    CHECK(cuCtxSynchronize());
    tell_device("green context", data);
    CHECK(cuModuleUnload(module));
    CHECK(cuStreamDestroy(stream));
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemFree(order));
    CHECK(cuMemFree(data));
    CHECK(cuGreenCtxDestroy(context_of_part));
}
#endif

/* Two devices: copies between them, an event of one that the other waits for, a kernel on the
 * memory of the other, pools. */
typedef struct device {
    CUcontext context;
    CUfunction plus;
    CUstream stream;
    CUdeviceptr data, pooled;
} device;

static void set_up(device *d, CUdevice ordinal)
{
    CUmodule code;
    CUdevice got;
    if (cuDeviceGet(&got, ordinal) != CUDA_SUCCESS)
        exit(NOT_HERE);
    CHECK(cuDevicePrimaryCtxRetain(&d->context, got));
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuModuleLoadData(&code, ptx));
    CHECK(cuModuleGetFunction(&d->plus, code, "plus"));
    CHECK(cuStreamCreate(&d->stream, CU_STREAM_NON_BLOCKING));
    CHECK(cuMemAlloc(&d->data, BYTES));
    CHECK(cuMemAllocAsync(&d->pooled, BYTES, d->stream));
    CHECK(cuStreamSynchronize(d->stream));
}

static void add_on(const device *d, CUdeviceptr data, unsigned value)
{
    void *params[] = {&data, &value};
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuLaunchKernel(d->plus, N / 128, 1, 1, 128, 1, 1, 0, d->stream, params, NULL));
}

static void tear_down(const device *d)
{
    CHECK(cuCtxSetCurrent(d->context));
    CHECK(cuMemFreeAsync(d->pooled, d->stream));
    CHECK(cuStreamSynchronize(d->stream));
    CHECK(cuStreamDestroy(d->stream));
    CHECK(cuMemFree(d->data));
}

static void devices(void)
{
    device a, b;
    CUevent done;
    CUdeviceptr shared;
    set_up(&a, 0);
    set_up(&b, 1);
    CHECK(cuCtxSetCurrent(a.context));
    CHECK(cuMemcpyHtoD(a.data, numbers(), BYTES));
    CHECK(cuMemAllocManaged(&shared, BYTES, CU_MEM_ATTACH_GLOBAL));
    CHECK(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING));
    add_on(&a, a.data, 1);
    CHECK(cuMemcpyPeerAsync(b.data, b.context, a.data, a.context, BYTES, a.stream));
    CHECK(cuEventRecord(done, a.stream));
    CHECK(cuCtxSetCurrent(b.context));
    CHECK(cuStreamWaitEvent(b.stream, done, 0));
    add_on(&b, b.data, 10);
    CHECK(cuCtxEnablePeerAccess(a.context, 0));
    add_on(&b, a.data, 100); /* on its neighbour's memory */
    CHECK(cuStreamSynchronize(b.stream));
    CHECK(cuMemcpyPeer(a.pooled, a.context, b.data, b.context, BYTES));
    CHECK(cuMemcpyPeer(b.pooled, b.context, a.data, a.context, BYTES));
    add_on(&a, a.pooled, 1000);
    CHECK(cuStreamSynchronize(a.stream));
    memset((void *)shared, 0, BYTES);
    add_on(&a, shared, 1);
    CHECK(cuStreamSynchronize(a.stream));
    add_on(&b, shared, 1);
    CHECK(cuStreamSynchronize(b.stream));
    tell("shared", (const unsigned *)shared);
    CHECK(cuCtxSetCurrent(a.context));
    tell_device("first, pooled", a.pooled);
    CHECK(cuCtxSetCurrent(b.context));
    tell_device("second", b.data);
    tell_device("second, pooled", b.pooled);
    CHECK(cuCtxSetCurrent(a.context));
    CHECK(cuEventDestroy(done));
    CHECK(cuMemFree(shared));
    tear_down(&a);
    tear_down(&b);
}

/* ---- parts of two processes: what one sends the other ---- */

static void send_all(int to, const void *data, size_t bytes)
{
    if (write(to, data, bytes) != (ssize_t)bytes)
        exit(1);
}

static void receive_all(int from, void *data, size_t bytes)
{
    if (read(from, data, bytes) != (ssize_t)bytes)
        exit(NOT_HERE); /* the other one has ended */
}

static void send_file(int to, int file)
{
    char control[CMSG_SPACE(sizeof file)] = {0}, byte = 'f';
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof file);
    memcpy(CMSG_DATA(header), &file, sizeof file);
    if (sendmsg(to, &message, 0) != 1)
        exit(1);
}

static int receive_file(int from)
{
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
    int file = -1;
    if (recvmsg(from, &message, 0) != 1 || !CMSG_FIRSTHDR(&message))
        exit(NOT_HERE);
    memcpy(&file, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof file);
    return file;
}

/* The other process opens the memory of this one. */
static void ipc(int other, int is_child)
{
    CUipcMemHandle handle;
    CUdeviceptr data;
    char done;
    if (is_child) {
        receive_all(other, &handle, sizeof handle);
        CHECK(cuIpcOpenMemHandle(&data, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
        CHECK(add(NULL, data, 8));
        CHECK(cuCtxSynchronize());
        CHECK(cuIpcCloseMemHandle(data));
        send_all(other, "d", 1);
        return;
    }
    CHECK(cuMemAlloc(&data, BYTES));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuIpcGetMemHandle(&handle, data));
    send_all(other, &handle, sizeof handle);
    receive_all(other, &done, 1);
    tell_device("memory of two processes", data);
    CHECK(cuMemFree(data));
}

/* The same with a pool, and with memory out of it. */
static void pool(int other, int is_child)
{
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                 .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    CUmemPoolPtrExportData pointer;
    CUmemoryPool shared;
    CUdeviceptr data;
    int file;
    char done;
    if (is_child) {
        file = receive_file(other);
        CHECK(cuMemPoolImportFromShareableHandle(&shared, (void *)(size_t)file,
                                                 CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
        receive_all(other, &pointer, sizeof pointer);
        CUmemAccessDesc access = {.location = properties.location,
                                  .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        CHECK(cuMemPoolSetAccess(shared, &access, 1));
        CHECK(cuMemPoolImportPointer(&data, shared, &pointer));
        CHECK(add(NULL, data, 9));
        CHECK(cuCtxSynchronize());
        CHECK(cuMemFree(data));
        send_all(other, "d", 1);
        return;
    }
    CHECK(cuMemPoolCreate(&shared, &properties));
    CHECK(cuMemAllocFromPoolAsync(&data, BYTES, shared, NULL));
    CHECK(cuMemcpyHtoD(data, numbers(), BYTES));
    CHECK(cuMemPoolExportToShareableHandle(&file, shared, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                           0));
    CHECK(cuMemPoolExportPointer(&pointer, data));
    send_file(other, file);
    send_all(other, &pointer, sizeof pointer);
    receive_all(other, &done, 1);
    tell_device("pool of two processes", data);
    CHECK(cuMemFreeAsync(data, NULL));
    CHECK(cuCtxSynchronize());
    CHECK(cuMemPoolDestroy(shared));
}

static void in_two(void (*part)(int, int))
{
    int ends[2], status;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        exit(1);
    pid_t child = fork(); /* before any of them uses CUDA */
    close(ends[child != 0]);
    start();
    part(ends[child == 0], child == 0);
    if (child == 0)
        exit(0);
    waitpid(child, &status, 0);
    if (status)
        exit(1);
}

static const struct part {
    const char *name;
    void (*alone)(void);
    void (*two)(int, int);
} parts[] = {
    {"old_launch", old_launch, NULL},
    {"virtual_memory", virtual_memory, NULL},
    {"graph_memory", graph_memory, NULL},
    {"graph_kernels", graph_kernels, NULL},
    {"values", values, NULL},
    {"value_batch", value_batch, NULL},
    {"extended", extended, NULL},
    {"library", library, NULL},
    {"large", large, NULL},
    {"managed", managed, NULL},
    {"copy_batch", copy_batch, NULL},
    {"conditional", conditional, NULL},
    {"green", green, NULL},
    {"devices", devices, NULL},
    {"ipc", NULL, ipc},
    {"pool", NULL, pool},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof parts / sizeof *parts; i++) {
        if (strcmp(parts[i].name, argv[1]) != 0)
            continue;
        if (parts[i].two) {
            in_two(parts[i].two);
            return 0;
        }
        start();
        parts[i].alone();
        return 0;
    }
    fprintf(stderr, "usage: rare PART\n");
    return 2;
}
