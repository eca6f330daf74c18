/* Driver functions by name and version, as NVIDIA's runtime asks for them: no CUDA header, no
 * runtime. Prints what it sees, which must be the same with and without a library in front of the
 * driver. "fork" as argument: a child asks, too. */
#include "cuda/types.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .b8 table[8];\n"
    ".visible .global .align 4 .u32 hits;\n"
    ".visible .entry scale(.param .u64 p, .param .u32 n)\n"
    "{\n"
    "  .reg .b32 r<8>; .reg .b64 d<4>; .reg .pred q; .reg .f32 f<4>;\n"
    "  ld.param.u64 d1, [p]; ld.param.u32 r1, [n];\n"
    "  mov.u32 r2, %ctaid.x; mov.u32 r3, %ntid.x; mov.u32 r4, %tid.x; mad.lo.s32 r5, r2, r3, r4;\n"
    "  setp.ge.u32 q, r5, r1; @q ret;\n"
    "  cvta.to.global.u64 d1, d1; mul.wide.u32 d2, r5, 4; add.s64 d3, d1, d2;\n"
    "  ld.const.f32 f1, [table+4]; ld.global.f32 f2, [d3]; mul.f32 f3, f1, f2;\n"
    "  st.global.f32 [d3], f3; ret;\n"
    "}\n";

enum { N = 1000, VERSION = 12000 };

static CUresult (*get)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void *find(const char *name, int version, cuuint64_t flags)
{
    CUdriverProcAddressQueryResult found = 0;
    void *code = NULL;
    if (get(name, &code, version, flags, &found) != CUDA_SUCCESS || !code) {
        printf("%s: not there (%d)\n", name, (int)found);
        exit(1);
    }
    return code;
}

#define CALL(name, types, ...) ((CUresult(*) types)find(#name, VERSION, 0))(__VA_ARGS__)
#define CHECK(name, types, ...)                                      \
    do {                                                             \
        CUresult result_ = CALL(name, types, __VA_ARGS__);           \
        if (result_ != CUDA_SUCCESS) {                               \
            printf(#name ": %d, line %d\n", (int)result_, __LINE__); \
            exit(1);                                                 \
        }                                                            \
    } while (0)

static CUcontext context;
static CUfunction scale;

static CUresult launch(CUstream stream, CUdeviceptr data, unsigned threads)
{
    unsigned n = N;
    void *params[] = {&data, &n};
    return CALL(cuLaunchKernel,
                (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                 CUstream, void **, void **),
                scale, (N + 127) / 128, 1, 1, threads, 1, 1, 0, stream, params, NULL);
}

/* The same launch with its parameters in a buffer, and by the newest function; what the driver says
 * of the parameters. */
static void other_ways(CUdeviceptr data)
{
    struct {
        CUdeviceptr p;
        unsigned n;
    } packed = {data, N};
    size_t size = 12, offset, bytes;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    unsigned n = N, count = 0;
    void *params[] = {&data, &n};
    CUlaunchConfig config = {.gridDimX = (N + 127) / 128,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 128,
                             .blockDimY = 1,
                             .blockDimZ = 1};
    CHECK(cuLaunchKernel,
          (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
           CUstream, void **, void **),
          scale, (N + 127) / 128, 1, 1, 128, 1, 1, 0, NULL, NULL, extra);
    CHECK(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config, scale,
          params, NULL);
    printf("parameters:");
    CUresult (*ask)(CUfunction, size_t, size_t *,
                    size_t *) = (CUresult (*)(CUfunction, size_t, size_t *,
                                              size_t *))find("cuFuncGetParamInfo", 12040, 0);
    for (; count < 9 && ask(scale, count, &offset, &bytes) == CUDA_SUCCESS; count++)
        printf(" %zu at %zu", bytes, offset);
    printf("\n");
}

/* All have their streams before one goes on: a handle that was given back may be given out again.
 */
static pthread_barrier_t together;

static void *on_a_thread(void *result)
{
    float host[N];
    CUstream stream;
    CUdeviceptr data;
    CHECK(cuCtxSetCurrent, (CUcontext), context);
    CHECK(cuStreamCreate, (CUstream *, unsigned), &stream, CU_STREAM_NON_BLOCKING);
    pthread_barrier_wait(&together);
    CHECK(cuMemAllocAsync, (CUdeviceptr *, size_t, CUstream), &data, sizeof host, stream);
    CHECK(cuMemsetD32Async, (CUdeviceptr, unsigned, size_t, CUstream), data, 0x3f800000, N, stream);
    for (int i = 0; i < 3; i++)
        if (launch(stream, data, 128) != CUDA_SUCCESS)
            exit(1);
    CHECK(cuMemcpyDtoHAsync, (void *, CUdeviceptr, size_t, CUstream), host, data, sizeof host,
          stream);
    CHECK(cuStreamSynchronize, (CUstream), stream);
    CHECK(cuMemFreeAsync, (CUdeviceptr, CUstream), data, stream);
    CHECK(cuStreamSynchronize, (CUstream), stream);
    CHECK(cuStreamDestroy, (CUstream), stream);
    *(float *)result = host[N - 1];
    return NULL;
}

static void threads(void)
{
    pthread_t thread[4];
    float results[4];
    pthread_barrier_init(&together, NULL, 4);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, on_a_thread, &results[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    printf("threads %g %g %g %g\n", results[0], results[1], results[2], results[3]);
}

static void graph(CUdeviceptr data)
{
    CUstream stream;
    CUgraph g;
    CUgraphExec exec;
    size_t nodes = 0;
    CHECK(cuStreamCreate, (CUstream *, unsigned), &stream, CU_STREAM_NON_BLOCKING);
    CHECK(cuStreamBeginCapture, (CUstream, int), stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUresult r = launch(stream, data, 128), s = launch(stream, data, 128);
    CHECK(cuStreamEndCapture, (CUstream, CUgraph *), stream, &g);
    CHECK(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *), g, NULL, &nodes);
    printf("captured %d %d: %zu nodes\n", (int)r, (int)s, nodes);
    CHECK(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &exec, g, 0);
    CHECK(cuGraphLaunch, (CUgraphExec, CUstream), exec, stream);
    CHECK(cuGraphLaunch, (CUgraphExec, CUstream), exec, stream);
    CHECK(cuStreamSynchronize, (CUstream), stream);
    CHECK(cuGraphExecDestroy, (CUgraphExec), exec);
    CHECK(cuGraphDestroy, (CUgraph), g);
    CHECK(cuStreamDestroy, (CUstream), stream);
}

static void array(void)
{
    CUDA_ARRAY_DESCRIPTOR d = {
        .Width = 64, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1};
    float row[64], back[64] = {0};
    CUarray handle;
    for (int i = 0; i < 64; i++)
        row[i] = (float)i;
    CHECK(cuArrayCreate, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), &handle, &d);
    CHECK(cuMemcpyHtoA, (CUarray, size_t, const void *, size_t), handle, 0, row, sizeof row);
    CHECK(cuMemcpyAtoH, (void *, CUarray, size_t, size_t), back, handle, 0, sizeof back);
    CHECK(cuArrayDestroy, (CUarray), handle);
    printf("array %g\n", back[63]);
}

static void in_child(void)
{
    CUdeviceptr data;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        printf("in the child %d\n", (int)CALL(cuMemAlloc, (CUdeviceptr *, size_t), &data, 100));
        fflush(stdout);
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

int main(int argc, char **argv)
{
    CUmodule module;
    CUdeviceptr data, table;
    size_t bytes;
    void *pinned;
    float host[N];
    const float factors[2] = {1, 2};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    get = driver
              ? (CUresult (*)(const char *, void **, int, cuuint64_t,
                              CUdriverProcAddressQueryResult *))dlsym(driver, "cuGetProcAddress_v2")
              : NULL;
    if (!get)
        return 2;
    for (int i = 0; i < N; i++)
        host[i] = (float)i;
    CHECK(cuInit, (unsigned), 0);
    CHECK(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CHECK(cuCtxSetCurrent, (CUcontext), context);
    CHECK(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CHECK(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &scale, module, "scale");
    CHECK(cuModuleGetGlobal, (CUdeviceptr *, size_t *, CUmodule, const char *), &table, &bytes,
          module, "table");
    CHECK(cuMemcpyHtoD, (CUdeviceptr, const void *, size_t), table, factors, sizeof factors);
    CHECK(cuMemAlloc, (CUdeviceptr *, size_t), &data, sizeof host);
    CHECK(cuMemHostAlloc, (void **, size_t, unsigned), &pinned, 4096, 0);
    CHECK(cuMemcpyHtoD, (CUdeviceptr, const void *, size_t), data, host, sizeof host);
    printf("launch %d, too many threads %d\n", (int)launch(NULL, data, 128),
           (int)launch(NULL, data, 5000));
    other_ways(data);
    CHECK(cuCtxSynchronize, (void), );
    CHECK(cuMemcpyDtoH, (void *, CUdeviceptr, size_t), host, data, sizeof host);
    printf("table of %zu bytes, last %g\n", bytes, host[N - 1]);
    threads();
    graph(data);
    array();
    printf("same functions %d, other mode %d\n",
           find("cuLaunchKernel", VERSION, 0) == find("cuLaunchKernel", VERSION, 1),
           find("cuLaunchKernel", VERSION, 0) == find("cuLaunchKernel", VERSION, 2));
    printf("free of nothing %d\n", (int)CALL(cuMemFree, (CUdeviceptr), data + 4));
    if (argc > 1 && strcmp(argv[1], "fork") == 0)
        in_child();
    CHECK(cuMemFreeHost, (void *), pinned);
    CHECK(cuMemFree, (CUdeviceptr), data);
    CHECK(cuModuleUnload, (CUmodule), module);
    CHECK(cuDevicePrimaryCtxRelease, (CUdevice), 0);
    return 3;
}
