/* playback: a program of many calls, each of which may fail: it writes what each returned to the
 * file PLAYBACK_LOG, where the driver that plays back writes what it gave (playback.c), and goes on
 * without what it did not get. */
#include "driver.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

enum { BYTES = 4096, THREADS = 32 };

static int log_file;

static bool tell_result(const char *name, CUresult result)
{
    char line[128];
    int length = snprintf(line, sizeof line, "= %s %d\n", name, (int)result);
    if (write(log_file, line, (size_t)length) != length)
        abort();
    return result == CUDA_SUCCESS;
}

/* Calls and tells; true where it succeeded. */
#define TRY(name, types, ...)                                                             \
    tell_result(#name, ({                                                                 \
                    CUresult(*function_) types = (CUresult(*) types)dlsym(driver, #name); \
                    function_ ? function_(__VA_ARGS__) : CUDA_ERROR_NOT_FOUND;            \
                }))

static CUfunction kernel;
static CUdeviceptr data, other;
static CUstream stream;
static CUevent begin, end;

static void launch(void)
{
    unsigned n = 1;
    void *params[] = {&data, &n};
    if (kernel && data)
        TRY(cuLaunchKernel, LAUNCH, kernel, 1, 1, 1, THREADS, 1, 1, 0, stream, params, NULL);
}

static void launch_from_buffer(void)
{
    struct {
        CUdeviceptr data;
        unsigned n;
    } buffer = {data, 1};
    size_t size = sizeof buffer;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size,
                     CU_LAUNCH_PARAM_END};
    if (kernel && data)
        TRY(cuLaunchKernel, LAUNCH, kernel, 2, 1, 1, THREADS, 1, 1, 0, stream, NULL, extra);
}

static void launch_extended(void)
{
    unsigned n = 1;
    void *params[] = {&data, &n};
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = THREADS,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .hStream = stream};
    if (kernel && data)
        TRY(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **), &config,
            kernel, params, NULL);
}

static void launch_timed(void)
{
    if (begin)
        TRY(cuEventRecord, (CUevent, CUstream), begin, stream);
    launch();
    if (end && TRY(cuEventRecord, (CUevent, CUstream), end, stream))
        TRY(cuEventSynchronize, (CUevent), end);
}

/* Into a graph, which is launched where the driver has what that takes. */
static void launch_captured(void)
{
    CUgraph graph = NULL;
    CUgraphExec ready = NULL;
    if (!stream || !TRY(cuStreamBeginCapture_v2, (CUstream, int), stream, 0))
        return;
    launch();
    if (!TRY(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph) || !graph)
        return;
    if (TRY(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, unsigned long long), &ready,
            graph, 0ull))
        TRY(cuGraphLaunch, (CUgraphExec, CUstream), ready, stream);
    TRY(cuStreamSynchronize, (CUstream), stream);
}

static void begin_program(void)
{
    CUdevice device = 0;
    CUcontext context = NULL;
    if (!TRY(cuInit, (unsigned), 0))
        exit(0);
    TRY(cuDeviceGet, (CUdevice *, int), &device, 0);
    if (!TRY(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, device))
        exit(0);
    TRY(cuCtxSetCurrent, (CUcontext), context);
    if (!TRY(cuStreamCreate, (CUstream *, unsigned), &stream, CU_STREAM_NON_BLOCKING))
        stream = NULL;
    if (!TRY(cuEventCreate, (CUevent *, unsigned), &begin, 0))
        begin = NULL;
    if (!TRY(cuEventCreate, (CUevent *, unsigned), &end, 0))
        end = NULL;
}

static void load_kernel(CUmodule *module)
{
    static const char ptx[] = GATHER_PTX;
    if (!TRY(cuModuleLoadData, (CUmodule *, const void *), module, ptx))
        *module = NULL;
    if (*module && !TRY(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &kernel,
                        *module, "gather"))
        kernel = NULL;
    if (kernel)
        TRY(cuFuncSetCacheConfig, (CUfunction, int), kernel, 1);
}

static void allocate(void)
{
    if (!TRY(cuMemAlloc_v2, (CUdeviceptr *, size_t), &data, BYTES))
        data = 0;
    if (!TRY(cuMemAlloc_v2, (CUdeviceptr *, size_t), &other, BYTES))
        other = 0;
    if (data)
        TRY(cuMemsetD8Async, (CUdeviceptr, unsigned char, size_t, CUstream), data, 0, BYTES,
            stream);
    TRY(cuStreamSynchronize, (CUstream), stream);
}

static void copy(void)
{
    static char bytes[BYTES];
    if (other)
        TRY(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream), other, bytes,
            BYTES, stream);
    if (data)
        TRY(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream), bytes, data, BYTES,
            stream);
    TRY(cuStreamSynchronize, (CUstream), stream);
}

static void end_program(CUmodule module)
{
    if (other)
        TRY(cuMemFree_v2, (CUdeviceptr), other);
    if (module)
        TRY(cuModuleUnload, (CUmodule), module);
    if (data)
        TRY(cuMemFree_v2, (CUdeviceptr), data);
    if (begin)
        TRY(cuEventDestroy_v2, (CUevent), begin);
    if (stream)
        TRY(cuStreamDestroy_v2, (CUstream), stream);
    TRY(cuCtxSynchronize, (void), );
}

int main(void)
{
    CUmodule module = NULL;
    driver = dlopen("libcuda.so.1", RTLD_LAZY);
    log_file = open(getenv("PLAYBACK_LOG"), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (!driver || log_file < 0)
        return 1;
    begin_program();
    load_kernel(&module);
    allocate();
    for (int i = 0; i < 3; i++)
        launch_timed();
    launch_from_buffer();
    launch_extended();
    copy();
    launch_captured();
    launch_timed();
    end_program(module);
    return 0;
}
