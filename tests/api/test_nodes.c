/* What CUDA's functions say of libraries and their kernels, of what programs register, and of graphs:
 * edges, what their nodes do, and how instances are changed. */
#include "answers.h"

#include <pthread.h>
#include <string.h>

enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2, WITHIN_DEVICE = 3 };

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter[4] = {40, 41, 42, 43};\n"
    ".visible .entry put(.param .u64 p, .param .u32 v)\n{\n"
    "  .reg .u64 %d<2>; .reg .u32 %r<2>;\n"
    "  ld.param.u64 %d0, [p]; ld.param.u32 %r0, [v]; st.global.u32 [%d0], %r0; ret;\n}\n"
    ".visible .entry nothing()\n{\n  ret;\n}\n";

/* ---- libraries ---- */

#define LIBRARY_OPTIONS void *, void **, unsigned, void *, void **, unsigned
#define LOAD(out, image)                                                                      \
    DRIVER(cuLibraryLoadData, (CUlibrary *, const void *, LIBRARY_OPTIONS), out, image, NULL, \
           NULL, 0, NULL, NULL, 0)

static void kernels_of_libraries_are_told(void **state)
{
    CUlibrary library, of;
    CUkernel kernels[3] = {NULL}, put;
    CUfunction function;
    CUmodule module, owner;
    const char *name;
    size_t offset, size;
    unsigned count;
    int value;
    (void)state;
    EXPECT(1, LOAD(NULL, ptx));
    EXPECT(1, LOAD(&library, NULL));
    OK(LOAD(&library, ptx));
#define KERNEL(...) DRIVER(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), __VA_ARGS__)
#define LIST(...) DRIVER(cuLibraryEnumerateKernels, (CUkernel *, unsigned, CUlibrary), __VA_ARGS__)
    OK(KERNEL(&put, library, "put"));
    EXPECT(1, KERNEL(NULL, library, "put"));
    EXPECT(1, KERNEL(&put, library, NULL));
    OK(DRIVER(cuLibraryGetKernelCount, (unsigned *, CUlibrary), &count, library));
    assert_int_equal(count, 2);
    EXPECT(1, DRIVER(cuLibraryGetKernelCount, (unsigned *, CUlibrary), NULL, library));
    OK(LIST(kernels, 1, library));
    assert_ptr_equal(kernels[0], put); /* the same handle each time */
    assert_null(kernels[1]);
    OK(LIST(kernels, 3, library));
    assert_non_null(kernels[1]);
    assert_null(kernels[2]);
    EXPECT(1, LIST(NULL, 3, library));
    OK(DRIVER(cuKernelGetName, (const char **, CUkernel), &name, kernels[1]));
    assert_string_equal(name, "nothing");
    OK(DRIVER(cuKernelGetLibrary, (CUlibrary *, CUkernel), &of, put));
    assert_ptr_equal(of, library);
    EXPECT(1, DRIVER(cuKernelGetLibrary, (CUlibrary *, CUkernel), NULL, put));
    EXPECT(400, DRIVER(cuKernelGetLibrary, (CUlibrary *, CUkernel), &of, (CUkernel)&of));
    OK(DRIVER(cuKernelGetParamInfo, (CUkernel, size_t, size_t *, size_t *), put, 1, &offset,
              &size));
    assert_int_equal(offset, 8);
    assert_int_equal(size, 4);
#define GET(...) DRIVER(cuKernelGetAttribute, (int *, int, CUkernel, CUdevice), __VA_ARGS__)
#define SET(...) DRIVER(cuKernelSetAttribute, (int, int, CUkernel, CUdevice), __VA_ARGS__)
    OK(SET(8, 4096, put, 0));
    OK(GET(&value, 8, put, 0));
    assert_int_equal(value, 4096);
    EXPECT(1, SET(0, 4096, put, 0));
    EXPECT(400, SET(8, 4096, (CUkernel)&of, 0));
    EXPECT(400, GET(&value, 8, (CUkernel)&of, 0));
    OK(CALL(cudaKernelSetAttributeForDevice, (const void *, int, int, int), put, 8, 512, 0));
    OK(GET(&value, 8, put, 0));
    assert_int_equal(value, 512);
    OK(DRIVER(cuKernelSetCacheConfig, (CUkernel, int, CUdevice), put, 3, 0));
    EXPECT(1, DRIVER(cuKernelSetCacheConfig, (CUkernel, int, CUdevice), put, 4, 0));
    OK(DRIVER(cuKernelGetFunction, (CUfunction *, CUkernel), &function, put));
    OK(DRIVER(cuFuncGetName, (const char **, CUfunction), &name, function));
    assert_string_equal(name, "put");
    OK(DRIVER(cuFuncGetParamInfo, (CUfunction, size_t, size_t *, size_t *), function, 0, &offset,
              &size));
    assert_int_equal(size, 8);
    OK(DRIVER(cuLibraryGetModule, (CUmodule *, CUlibrary), &module, library));
    OK(DRIVER(cuFuncGetModule, (CUmodule *, CUfunction), &owner, function));
    assert_ptr_equal(owner, module);
    EXPECT(1, DRIVER(cuLibraryGetModule, (CUmodule *, CUlibrary), NULL, library));
    OK(DRIVER(cuFuncLoad, (CUfunction), function));
    EXPECT(400, DRIVER(cuFuncLoad, (CUfunction), (CUfunction)&of));
    OK(DRIVER(cuFuncIsLoaded, (int *, CUfunction), &value, function));
    assert_int_equal(value, 1);
    OK(DRIVER(cuLibraryUnload, (CUlibrary), library));
    EXPECT(400, DRIVER(cuLibraryGetModule, (CUmodule *, CUlibrary), &module, library));
    EXPECT(400, DRIVER(cuKernelGetLibrary, (CUlibrary *, CUkernel), &of, put));
}

/* Whatever is asked to take an image says the same of one that it cannot. */
static void images_of_nothing_are_refused(void **state)
{
    static const struct {
        const char *image;
        int result;
    } rows[] = {{"neither PTX nor a fat binary", 200},
                {".version 9.0\n.target sm_120\n.address_size 64\n", 218}}; /* a later device */
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        CUlinkState link;
        CUlibrary library;
        CUmodule module;
        const char *image = rows[i].image;
        EXPECT(rows[i].result, LOAD(&library, image));
        EXPECT(rows[i].result,
               DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, image));
        OK(DRIVER(cuLinkCreate_v2, (unsigned, CUjit_option *, void **, CUlinkState *), 0, NULL,
                  NULL, &link));
        EXPECT(rows[i].result,
               DRIVER(cuLinkAddData_v2,
                      (CUlinkState, int, const void *, size_t, const char *, unsigned,
                       CUjit_option *, void **),
                      link, CU_JIT_INPUT_PTX, image, strlen(image) + 1, "part", 0, NULL, NULL));
        OK(DRIVER(cuLinkDestroy, (CUlinkState), link));
    }
}

/* What a block may ask for without more ado is 48 KiB; no more than 32 bits of it count. */
static void shared_memory_of_launches_is_checked(void **state)
{
    static const struct {
        size_t bytes;
        int result;
    } rows[] = {{0, 0},          {48 << 10, 0},   {(48 << 10) + 1, 1},
                {UINT32_MAX, 1}, {1ull << 32, 1}, {(1ull << 32) + 64, 1}};
    dim3 one = {1, 1, 1};
    CUlibrary library;
    CUkernel kernel;
    (void)state;
    OK(LOAD(&library, ptx));
    OK(KERNEL(&kernel, library, "nothing"));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        EXPECT(rows[i].result,
               CALL(cudaLaunchKernel, (const void *, dim3, dim3, void **, size_t, cudaStream_t),
                    kernel, one, one, NULL, rows[i].bytes, NULL));
    OK(CALL(cudaDeviceSynchronize, (void)));
    OK(DRIVER(cuLibraryUnload, (CUlibrary), library));
}

/* ---- what programs register ---- */

enum { REGISTERING = 4, REGISTERED = 20000 };
static char stubs[REGISTERING][REGISTERED];

static int find_kernel(const char *stub)
{
    cudaKernel_t kernel;
    return CALL(cudaGetKernel, (cudaKernel_t *, const void *), &kernel, stub);
}

/* As a library does that is opened; gives the handle back. */
static void *register_kernels(void *first_stub)
{
    void **handle = ((void **(*)(void *))entry_named("__cudaRegisterFatBinary", 13))(NULL);
    inj_code entry = entry_named("__cudaRegisterFunction", 13);
    for (char *stub = first_stub; stub < (char *)first_stub + REGISTERED; stub++)
        ((void (*)(void **, const char *, char *, const char *, int, void *, void *, void *, void *,
                   int *))entry)(handle, stub, NULL, "k", -1, NULL, NULL, NULL, NULL, NULL);
    return handle;
}

static void threads_register_at_once(void **state)
{
    pthread_t threads[REGISTERING];
    void *handles[REGISTERING];
    (void)state;
    for (int i = 0; i < REGISTERING; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, register_kernels, stubs[i]), 0);
    for (int i = 0; i < REGISTERING; i++)
        assert_int_equal(pthread_join(threads[i], &handles[i]), 0);
    for (int i = 0; i < REGISTERING; i++) {
        for (int k = 0; k < REGISTERED; k++)
            OK(find_kernel(&stubs[i][k]));
        ((void (*)(void *))entry_named("__cudaUnregisterFatBinary", 13))(handles[i]);
        EXPECT(98, find_kernel(&stubs[i][0]));
        EXPECT(98, find_kernel(&stubs[i][REGISTERED - 1]));
    }
}

/* ---- graphs ---- */

static unsigned *data; /* four words on the device */
static cudaGraph_t graph;

static int make_graph(void **state)
{
    (void)state;
    OK(CALL(cudaMalloc, (void **, size_t), (void **)&data, 16));
    OK(CALL(cudaMemset, (void *, int, size_t), data, 0, 16));
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &graph, 0));
    return 0;
}

static int end_graph(void **state)
{
    (void)state;
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), graph));
    OK(CALL(cudaFree, (void *), data));
    return 0;
}

static struct cudaMemsetParams set_of(unsigned word, unsigned value)
{
    return (struct cudaMemsetParams){
        .dst = data + word, .value = value, .elementSize = 4, .width = 1, .height = 1};
}

#define ADD_EMPTY(...)                                                                             \
    CALL(cudaGraphAddEmptyNode, (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t), \
         __VA_ARGS__)
#define ADD_SET(...)                                                       \
    CALL(cudaGraphAddMemsetNode,                                           \
         (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, \
          const struct cudaMemsetParams *),                                \
         __VA_ARGS__)
#define TYPE(...) CALL(cudaGraphNodeGetType, (cudaGraphNode_t, int *), __VA_ARGS__)
#define INSTANTIATE(...) \
    CALL(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long), __VA_ARGS__)

static void expect_words(cudaGraphExec_t exec, unsigned a, unsigned b)
{
    unsigned words[2];
    OK(CALL(cudaMemset, (void *, int, size_t), data, 0, 16));
    OK(CALL(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), exec, NULL));
    OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), words, data, 8, DEVICE_TO_HOST));
    assert_int_equal(words[0], a);
    assert_int_equal(words[1], b);
}

static void edges_are_listed_and_changed(void **state)
{
    cudaGraphNode_t n[3], list[4], from[4], to[4], foreign;
    cudaGraph_t other;
    size_t count = 4;
    (void)state;
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &other, 0));
    OK(ADD_EMPTY(&foreign, other, NULL, 0));
    OK(ADD_EMPTY(&n[0], graph, NULL, 0));
    OK(ADD_EMPTY(&n[1], graph, n, 1));
    OK(ADD_EMPTY(&n[2], graph, n, 2));
    EXPECT(1, ADD_EMPTY(NULL, graph, NULL, 0));
    EXPECT(1, ADD_EMPTY(&n[2], NULL, NULL, 0));
    EXPECT(1, ADD_EMPTY(&list[0], graph, NULL, 1));
    EXPECT(1, ADD_EMPTY(&list[0], graph, &foreign, 1));
#define BEFORE(...)                                                                            \
    CALL(cudaGraphNodeGetDependencies, (cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *), \
         __VA_ARGS__)
#define AFTER(...)                                                                               \
    CALL(cudaGraphNodeGetDependentNodes, (cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *), \
         __VA_ARGS__)
#define EDGES(...)                                                                                 \
    CALL(cudaGraphGetEdges, (cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *), \
         __VA_ARGS__)
    memset(list, 0xff, sizeof list);
    OK(BEFORE(n[2], list, NULL, &count));
    assert_int_equal(count, 2);
    assert_ptr_equal(list[0], n[0]);
    assert_ptr_equal(list[1], n[1]);
    assert_null(list[2]); /* what is left of the list is emptied */
    assert_null(list[3]);
    count = 1;
    OK(AFTER(n[0], list, NULL, &count));
    assert_int_equal(count, 1); /* as much as there is room for */
    assert_ptr_equal(list[0], n[1]);
    OK(AFTER(n[0], NULL, NULL, &count));
    assert_int_equal(count, 2);
    EXPECT(1, AFTER(n[0], NULL, NULL, NULL));
    EXPECT(1, AFTER((cudaGraphNode_t)&count, NULL, NULL, &count));
    count = 2;
    OK(EDGES(graph, from, to, NULL, &count));
    assert_int_equal(count, 2);
    OK(EDGES(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 3);
    EXPECT(1, EDGES(graph, from, NULL, NULL, &count));
    EXPECT(1, EDGES(graph, NULL, NULL, NULL, NULL));
    EXPECT(1, EDGES((cudaGraph_t)&count, NULL, NULL, NULL, &count));
#define REMOVE(...)                                                                             \
    CALL(cudaGraphRemoveDependencies,                                                           \
         (cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, const void *, size_t), \
         __VA_ARGS__)
    OK(REMOVE(graph, &n[0], &n[2], NULL, 1));
    OK(EDGES(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 2);
    EXPECT(1, REMOVE(graph, &n[0], &foreign, NULL, 1));
    EXPECT(1, REMOVE(graph, &foreign, &n[0], NULL, 1));
    EXPECT(1, REMOVE(graph, NULL, &n[0], NULL, 1));
    EXPECT(1, REMOVE(graph, &n[0], NULL, NULL, 1));
    OK(CALL(cudaGraphAddDependencies,
            (cudaGraph_t, const cudaGraphNode_t *, const cudaGraphNode_t *, const void *, size_t),
            graph, &n[0], &n[2], NULL, 1));
    OK(CALL(cudaGraphDestroyNode, (cudaGraphNode_t), n[1]));
    EXPECT(1, CALL(cudaGraphDestroyNode, (cudaGraphNode_t), n[1]));
    OK(EDGES(graph, NULL, NULL, NULL, &count));
    assert_int_equal(count, 1);
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), other));
    EXPECT(1, CALL(cudaGraphDestroy, (cudaGraph_t), other));
    EXPECT(1, CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), NULL, 0));
    EXPECT(1, CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &other, 1));
}

/* Set in the graph for later instances, or in one instance for its later launches. */
static void sets_of_graphs_are_changed(void **state)
{
    cudaGraphNode_t n[2], host;
    cudaGraphExec_t exec, later;
    struct cudaMemsetParams got, a = set_of(0, 5), b = set_of(1, 6), c = set_of(0, 7),
                                 d = set_of(1, 8);
    unsigned enabled;
    int type;
    (void)state;
#define SET_PARAMS(...)                                                                    \
    CALL(cudaGraphMemsetNodeSetParams, (cudaGraphNode_t, const struct cudaMemsetParams *), \
         __VA_ARGS__)
#define SET_STEP(...)                      \
    CALL(cudaGraphExecMemsetNodeSetParams, \
         (cudaGraphExec_t, cudaGraphNode_t, const struct cudaMemsetParams *), __VA_ARGS__)
#define ENABLE(...) \
    CALL(cudaGraphNodeSetEnabled, (cudaGraphExec_t, cudaGraphNode_t, unsigned), __VA_ARGS__)
#define ENABLED(...) \
    CALL(cudaGraphNodeGetEnabled, (cudaGraphExec_t, cudaGraphNode_t, unsigned *), __VA_ARGS__)
    OK(ADD_SET(&n[0], graph, NULL, 0, &a));
    OK(ADD_SET(&n[1], graph, n, 1, &b));
    OK(ADD_EMPTY(&host, graph, NULL, 0));
    EXPECT(1, ADD_SET(&n[1], graph, n, 1, NULL));
    OK(TYPE(n[0], &type));
    assert_int_equal(type, 2);
    OK(TYPE(host, &type));
    assert_int_equal(type, 5);
    EXPECT(1, TYPE(n[0], NULL));
    EXPECT(1, INSTANTIATE(NULL, graph, 0));
    EXPECT(1, INSTANTIATE(&exec, graph, 16));
    EXPECT(801, INSTANTIATE(&exec, graph, 4));
    OK(INSTANTIATE(&exec, graph, 1));
    expect_words(exec, 5, 6);
    OK(SET_PARAMS(n[0], &c));
    OK(CALL(cudaGraphMemsetNodeGetParams, (cudaGraphNode_t, struct cudaMemsetParams *), n[0],
            &got));
    assert_int_equal(got.value, 7);
    EXPECT(1, SET_PARAMS(host, &c));
    EXPECT(1, SET_PARAMS(n[0], NULL));
    expect_words(exec, 5, 6); /* made before */
    OK(INSTANTIATE(&later, graph, 0));
    expect_words(later, 7, 6);
    OK(SET_STEP(later, n[1], &d));
    expect_words(later, 7, 8);
    EXPECT(1, SET_STEP(later, host, &d));
    EXPECT(1, SET_STEP(NULL, n[1], &d));
    EXPECT(1, SET_STEP(later, n[1], NULL));
    OK(ENABLED(later, n[0], &enabled));
    assert_int_equal(enabled, 1);
    OK(ENABLE(later, n[0], 0));
    OK(ENABLED(later, n[0], &enabled));
    assert_int_equal(enabled, 0);
    expect_words(later, 0, 8);
    OK(ENABLE(later, n[0], 1));
    expect_words(later, 7, 8);
    EXPECT(1, ENABLED(later, n[0], NULL));
    EXPECT(1, ENABLED(NULL, n[0], &enabled));
    EXPECT(1, ENABLE(NULL, n[0], 1));
    unsigned long long flags;
    OK(CALL(cudaGraphExecGetFlags, (cudaGraphExec_t, unsigned long long *), exec, &flags));
    assert_int_equal(flags, 1);
    EXPECT(1, CALL(cudaGraphExecGetFlags, (cudaGraphExec_t, unsigned long long *), exec, NULL));
    OK(CALL(cudaGraphUpload, (cudaGraphExec_t, cudaStream_t), exec, NULL));
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), later));
    EXPECT(1, CALL(cudaGraphExecDestroy, (cudaGraphExec_t), later));
    EXPECT(1, CALL(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), later, NULL));
    EXPECT(1, CALL(cudaGraphUpload, (cudaGraphExec_t, cudaStream_t), later, NULL));
}

static void kernels_of_graphs_are_changed(void **state)
{
    CUgraphNode node;
    CUgraphExec exec;
    CUmodule module;
    CUfunction put;
    unsigned value = 3;
    void *args[] = {&data, &value};
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, ptx));
    OK(DRIVER(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &put, module, "put"));
    CUDA_KERNEL_NODE_PARAMS_v2 p = {.func = put,
                                    .gridDimX = 2,
                                    .gridDimY = 3,
                                    .gridDimZ = 4,
                                    .blockDimX = 5,
                                    .blockDimY = 6,
                                    .blockDimZ = 7,
                                    .sharedMemBytes = 64,
                                    .kernelParams = args},
                               got;
#define PARAMS CUDA_KERNEL_NODE_PARAMS_v2
    OK(DRIVER(cuGraphAddKernelNode_v2,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const PARAMS *), &node,
              (CUgraph)graph, NULL, 0, &p));
    value = 99; /* copied when the node was made */
    OK(DRIVER(cuGraphKernelNodeGetParams_v2, (CUgraphNode, PARAMS *), node, &got));
    unsigned sizes[] = {got.gridDimX,  got.gridDimY,  got.gridDimZ,      got.blockDimX,
                        got.blockDimY, got.blockDimZ, got.sharedMemBytes};
    assert_memory_equal(sizes, ((unsigned[]){2, 3, 4, 5, 6, 7, 64}), sizeof sizes);
    assert_ptr_equal(got.func, put);
    assert_int_equal(*(unsigned *)got.kernelParams[1], 3);
    OK(INSTANTIATE((cudaGraphExec_t *)&exec, graph, 0));
    expect_words((cudaGraphExec_t)exec, 3, 0);
    value = 4;
    OK(DRIVER(cuGraphExecKernelNodeSetParams_v2, (CUgraphExec, CUgraphNode, const PARAMS *), exec,
              node, &p));
    expect_words((cudaGraphExec_t)exec, 4, 0);
    value = 5;
    OK(DRIVER(cuGraphKernelNodeSetParams_v2, (CUgraphNode, const PARAMS *), node, &p));
    expect_words((cudaGraphExec_t)exec, 4, 0);
    OK(DRIVER(cuGraphKernelNodeGetParams_v2, (CUgraphNode, PARAMS *), node, &got));
    assert_int_equal(*(unsigned *)got.kernelParams[1], 5);
    EXPECT(1, DRIVER(cuGraphKernelNodeGetParams_v2, (CUgraphNode, PARAMS *), node, NULL));
    EXPECT(1, DRIVER(cuGraphKernelNodeSetParams_v2, (CUgraphNode, const PARAMS *), node, NULL));
    OK(DRIVER(cuGraphExecDestroy, (CUgraphExec), exec));
    OK(DRIVER(cuGraphDestroyNode, (CUgraphNode), node));
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
}

/* Arguments that came in one piece are given back as a list, whether or not that piece is there. */
static void packed_arguments_become_a_list(void **state)
{
    struct {
        unsigned *to;
        unsigned value;
    } packed = {data, 3};
    size_t bytes = sizeof packed;
    void *extra[] = {(void *)1, &packed, (void *)2, &bytes, NULL};
    struct cudaKernelNodeParams p = {.gridDim = {1, 1, 1}, .blockDim = {1, 1, 1}, .extra = extra},
                                got;
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    CUlibrary library;
    CUkernel put;
    (void)state;
    OK(LOAD(&library, ptx));
    OK(KERNEL(&put, library, "put"));
    p.func = put;
    OK(CALL(cudaGraphAddKernelNode,
            (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t,
             const struct cudaKernelNodeParams *),
            &node, graph, NULL, 0, &p));
    packed.value = 99;
    OK(CALL(cudaGraphKernelNodeGetParams, (cudaGraphNode_t, struct cudaKernelNodeParams *), node,
            &got));
    assert_ptr_equal(got.func, put);
    assert_null(got.extra);
    assert_ptr_equal(*(unsigned **)got.kernelParams[0], data);
    assert_int_equal(*(unsigned *)got.kernelParams[1], 3);
    OK(INSTANTIATE(&exec, graph, 0));
    expect_words(exec, 3, 0);
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    OK(DRIVER(cuLibraryUnload, (CUlibrary), library));
}

static void copies_of_graphs_are_changed(void **state)
{
    unsigned words[4] = {1, 2, 3, 4};
    cudaGraphNode_t node;
    cudaGraphExec_t exec;
    struct cudaMemcpy3DParms got;
    (void)state;
#define ADD_COPY(...)                                                                            \
    CALL(cudaGraphAddMemcpyNode1D,                                                               \
         (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, void *, const void *, \
          size_t, int),                                                                          \
         __VA_ARGS__)
    OK(ADD_COPY(&node, graph, NULL, 0, data, words, 8, HOST_TO_DEVICE));
    OK(CALL(cudaGraphMemcpyNodeGetParams, (cudaGraphNode_t, struct cudaMemcpy3DParms *), node,
            &got));
    assert_ptr_equal(got.srcPtr.ptr, words);
    assert_ptr_equal(got.dstPtr.ptr, data);
    assert_int_equal(got.extent.width, 8);
    assert_int_equal(got.extent.height, 1);
    assert_int_equal(got.kind, HOST_TO_DEVICE);
    OK(INSTANTIATE(&exec, graph, 0));
    expect_words(exec, 1, 2);
    OK(CALL(cudaGraphExecMemcpyNodeSetParams1D,
            (cudaGraphExec_t, cudaGraphNode_t, void *, const void *, size_t, int), exec, node, data,
            words + 2, 8, HOST_TO_DEVICE));
    expect_words(exec, 3, 4);
    OK(CALL(cudaGraphMemcpyNodeSetParams1D, (cudaGraphNode_t, void *, const void *, size_t, int),
            node, data + 1, words, 4, HOST_TO_DEVICE));
    expect_words(exec, 3, 4);
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    OK(INSTANTIATE(&exec, graph, 0));
    expect_words(exec, 0, 1);
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    EXPECT(1, ADD_COPY(&node, graph, NULL, 0, data, words, 17, HOST_TO_DEVICE));
    EXPECT(21, ADD_COPY(&node, graph, NULL, 0, data, words, 8, 9));
}

static void clones_and_children_are_found(void **state)
{
    struct cudaMemsetParams a = set_of(0, 5), b = set_of(0, 9);
    cudaGraphNode_t node, twin, child;
    cudaGraph_t clone, outer, inside;
    cudaGraphExec_t exec;
    CUgraphExecUpdateResultInfo info;
    (void)state;
#define FIND(...) \
    CALL(cudaGraphNodeFindInClone, (cudaGraphNode_t *, cudaGraphNode_t, cudaGraph_t), __VA_ARGS__)
#define UPDATE(...)                                                                          \
    CALL(cudaGraphExecUpdate, (cudaGraphExec_t, cudaGraph_t, CUgraphExecUpdateResultInfo *), \
         __VA_ARGS__)
#define CHILD(...) \
    CALL(cudaGraphChildGraphNodeGetGraph, (cudaGraphNode_t, cudaGraph_t *), __VA_ARGS__)
    OK(ADD_SET(&node, graph, NULL, 0, &a));
    OK(CALL(cudaGraphClone, (cudaGraph_t *, cudaGraph_t), &clone, graph));
    OK(FIND(&twin, node, clone));
    assert_ptr_not_equal(twin, node);
    EXPECT(1, FIND(&twin, twin, graph));
    EXPECT(1, FIND(NULL, node, clone));
    EXPECT(1, FIND(&child, node, NULL));
    OK(FIND(&twin, node, clone));
    OK(SET_PARAMS(twin, &b));
    OK(INSTANTIATE(&exec, graph, 0));
    expect_words(exec, 5, 0);
    OK(UPDATE(exec, clone, &info));
    assert_int_equal(info.result, 0);
    expect_words(exec, 9, 0);
    OK(ADD_EMPTY(&child, clone, &twin, 1));
    EXPECT(910, UPDATE(exec, clone, &info));
    assert_int_equal(info.result, 2); /* another topology */
    EXPECT(1, UPDATE(exec, NULL, &info));
    assert_int_equal(info.result, 1);
    EXPECT(1, UPDATE(exec, NULL, NULL));
    EXPECT(1, CALL(cudaGraphClone, (cudaGraph_t *, cudaGraph_t), NULL, graph));
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &outer, 0));
    OK(CALL(cudaGraphAddChildGraphNode,
            (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t, cudaGraph_t), &child,
            outer, NULL, 0, graph));
    OK(CHILD(child, &inside));
    assert_ptr_not_equal(inside, graph); /* a copy of it */
    EXPECT(1, CALL(cudaGraphDestroy, (cudaGraph_t), inside));
    EXPECT(1, CHILD(node, &inside));
    EXPECT(1, CHILD(child, NULL));
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), outer));
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), clone));
}

static void note_run(void *data_of_host)
{
    ++*(int *)data_of_host;
}

/* The driver has a function for each kind of node: what it adds is told again, and runs. */
static void the_driver_adds_each_kind(void **state)
{
    CUDA_MEMSET_NODE_PARAMS set = {
        .dst = (CUdeviceptr)(data + 1), .value = 6, .elementSize = 4, .width = 1, .height = 1};
    CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = (CUdeviceptr)(data + 1),
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = (CUdeviceptr)data,
                          .WidthInBytes = 4,
                          .Height = 1,
                          .Depth = 1};
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}},
                                        .bytesize = 64},
                               alloc_back;
    int runs = 0, type;
    CUDA_HOST_NODE_PARAMS host = {note_run, &runs}, host_back;
    enum { SET, COPIED, HOST, RECORD, WAIT, ALLOC, GIVEN, KINDS };
    static const int types[KINDS] = {2, 1, 3, 7, 6, 10, 11};
    CUgraph g = (CUgraph)graph;
    CUgraphNode n[KINDS];
    CUdeviceptr given;
    CUevent event, event_back;
    cudaGraphExec_t exec;
    (void)state;
#define ADD_NODE(name, part, ...)                                                               \
    DRIVER(cuGraphAdd##name##Node, (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, part), \
           __VA_ARGS__)
#define READ_NODE(name, type, ...) DRIVER(cuGraph##name, (CUgraphNode, type *), __VA_ARGS__)
    OK(DRIVER(cuEventCreate, (CUevent *, unsigned), &event, 0));
    OK(DRIVER(cuGraphAddMemsetNode,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMSET_NODE_PARAMS *,
               CUcontext),
              &n[SET], g, NULL, 0, &set, NULL));
    OK(DRIVER(cuGraphAddMemcpyNode,
              (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_MEMCPY3D *,
               CUcontext),
              &n[COPIED], g, &n[SET], 1, &copy, NULL));
    OK(ADD_NODE(Host, const CUDA_HOST_NODE_PARAMS *, &n[HOST], g, &n[COPIED], 1, &host));
    OK(ADD_NODE(EventRecord, CUevent, &n[RECORD], g, &n[HOST], 1, event));
    OK(ADD_NODE(EventWait, CUevent, &n[WAIT], g, &n[RECORD], 1, event));
    OK(ADD_NODE(MemAlloc, CUDA_MEM_ALLOC_NODE_PARAMS *, &n[ALLOC], g, &n[WAIT], 1, &alloc));
    OK(ADD_NODE(MemFree, CUdeviceptr, &n[GIVEN], g, &n[ALLOC], 1, alloc.dptr));
    for (int i = 0; i < KINDS; i++) {
        OK(TYPE((cudaGraphNode_t)n[i], &type));
        assert_int_equal(type, types[i]);
    }
    OK(READ_NODE(HostNodeGetParams, CUDA_HOST_NODE_PARAMS, n[HOST], &host_back));
    assert_ptr_equal(host_back.userData, &runs);
    OK(READ_NODE(EventRecordNodeGetEvent, CUevent, n[RECORD], &event_back));
    assert_ptr_equal(event_back, event);
    OK(READ_NODE(EventWaitNodeGetEvent, CUevent, n[WAIT], &event_back));
    assert_ptr_equal(event_back, event);
    OK(READ_NODE(MemAllocNodeGetParams, CUDA_MEM_ALLOC_NODE_PARAMS, n[ALLOC], &alloc_back));
    assert_int_equal(alloc_back.bytesize, 64);
    assert_int_equal(alloc_back.dptr, alloc.dptr);
    OK(READ_NODE(MemFreeNodeGetParams, CUdeviceptr, n[GIVEN], &given));
    assert_int_equal(given, alloc.dptr);
    EXPECT(1, READ_NODE(MemFreeNodeGetParams, CUdeviceptr, n[ALLOC], &given));
    EXPECT(1, ADD_NODE(MemFree, CUdeviceptr, &n[GIVEN], g, NULL, 0, 0));
    OK(INSTANTIATE(&exec, graph, 0));
    expect_words(exec, 6, 6);
    assert_int_equal(runs, 1);
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), exec));
    OK(DRIVER(cuEventDestroy_v2, (CUevent), event));
}

int main(void)
{
#define WITH_GRAPH(test) cmocka_unit_test_setup_teardown(test, make_graph, end_graph)
    const struct CMUnitTest tests[] = {
        WITH_GRAPH(kernels_of_libraries_are_told), /* makes a context, too */
        WITH_GRAPH(shared_memory_of_launches_is_checked),
        cmocka_unit_test(threads_register_at_once),
        WITH_GRAPH(images_of_nothing_are_refused),
        WITH_GRAPH(edges_are_listed_and_changed),
        WITH_GRAPH(sets_of_graphs_are_changed),
        WITH_GRAPH(kernels_of_graphs_are_changed),
        WITH_GRAPH(copies_of_graphs_are_changed),
        WITH_GRAPH(packed_arguments_become_a_list),
        WITH_GRAPH(clones_and_children_are_found),
        WITH_GRAPH(the_driver_adds_each_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
