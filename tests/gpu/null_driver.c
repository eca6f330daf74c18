/* A driver that does nothing, and does it at once: what is left of a call is what stands before the
 * driver. It takes any image for a module, with every kernel that it is asked for; each has two
 * parameters, of 8 and 4 bytes. Linking gives the bytes of the file that NULL_DRIVER_CUBIN names.
 * An image with the text of NULL_DRIVER_REFUSES in it is refused. Blocks of kernels of an image
 * with the text of NULL_DRIVER_LARGE in it have at most 512 threads in place of 1024, unless
 * registers were limited to 64 or fewer, and that many always where NULL_DRIVER_STUBBORN is set.
 * Kernels of an image with the text of NULL_DRIVER_LAUNCHES in it cannot be launched. Events are
 * NULL_DRIVER_STEP milliseconds apart, in the order in which they are recorded, or all of them 1.
 * With NULL_DRIVER_OLD it does not tell parameters, as before CUDA 12.4. What is put on streams is
 * written to the file that NULL_DRIVER_LOG names, a line each: what, and the stream; so are the
 * options of a module that is compiled: option-N, and its value. For tests and benchmarks. */
#include "cuda/types.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { KERNELS = 64, NAME = 128 };

static struct CUctx_st *const the_context = (void *)0x1000;
static __thread CUcontext current;
static char names[KERNELS][NAME];
static CUmodule modules[KERNELS]; /* of the kernels */
static bool few[KERNELS];         /* threads a block */
static bool barred[KERNELS];
static bool limited; /* the latest image's registers */
static unsigned count;
static CUdeviceptr next = 0x700000000000;

#define API __attribute__((visibility("default")))

/* ---- the log ---- */

static FILE *log_file;
static double device_ms, device_step;
static bool busy, capturing;

__attribute__((constructor)) static void open_log(void)
{
    const char *path = getenv("NULL_DRIVER_LOG");
    const char *step = getenv("NULL_DRIVER_STEP");
    log_file = path ? fopen(path, "w") : NULL;
    device_step = step ? strtod(step, NULL) : 0;
}

API void null_driver_tell(const char *what, CUstream stream);
API void null_driver_tell(const char *what, CUstream stream)
{
    if (log_file) {
        fprintf(log_file, "%s %lu\n", what, (unsigned long)(uintptr_t)stream);
        fflush(log_file);
    }
}

static void tell_option(CUjit_option option, const void *value)
{
    if (log_file) {
        fprintf(log_file, "option-%d %lu\n", (int)option, (unsigned long)(uintptr_t)value);
        fflush(log_file);
    }
}

/* From now on no event is over, unless somebody waits for it; all streams are being captured. */
API void null_driver_behave(bool is_busy, bool is_capturing);
API void null_driver_behave(bool is_busy, bool is_capturing)
{
    busy = is_busy;
    capturing = is_capturing;
}

API CUresult cuInit(unsigned flags);
API CUresult cuInit(unsigned flags)
{
    return flags ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

API CUresult cuDriverGetVersion(int *version);
API CUresult cuDriverGetVersion(int *version)
{
    *version = 13000;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int *n);
API CUresult cuDeviceGetCount(int *n)
{
    *n = 1;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGet(CUdevice *device, int ordinal);
API CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    *device = ordinal;
    return ordinal ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS;
}

API CUresult cuDeviceGetName(char *name, int size, CUdevice device);
API CUresult cuDeviceGetName(char *name, int size, CUdevice device)
{
    (void)device;
    snprintf(name, (size_t)size, "NVIDIA H200");
    return CUDA_SUCCESS;
}

API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device);
API CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device)
{
    (void)device;
    *bytes = (size_t)1 << 37;
    return CUDA_SUCCESS;
}

API CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device);
API CUresult cuDeviceGetAttribute(int *value, int which, CUdevice device)
{
    (void)device;
    *value = which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR   ? 9
             : which == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR ? 0
                                                                     : 132;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
API CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device)
{
    (void)device;
    *context = the_context;
    return CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active);
API CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 1;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSetCurrent(CUcontext context);
API CUresult cuCtxSetCurrent(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPushCurrent_v2(CUcontext context);
API CUresult cuCtxPushCurrent_v2(CUcontext context)
{
    current = context;
    return CUDA_SUCCESS;
}

API CUresult cuCtxPopCurrent_v2(CUcontext *context);
API CUresult cuCtxPopCurrent_v2(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetCurrent(CUcontext *context);
API CUresult cuCtxGetCurrent(CUcontext *context)
{
    *context = current;
    return CUDA_SUCCESS;
}

API CUresult cuCtxGetDevice(CUdevice *device);
API CUresult cuCtxGetDevice(CUdevice *device)
{
    *device = 0;
    return CUDA_SUCCESS;
}

API CUresult cuCtxSynchronize(void);
API CUresult cuCtxSynchronize(void)
{
    return CUDA_SUCCESS;
}

/* ---- memory: addresses only, but where NULL_DRIVER_MEMORY asks for memory of the host's ---- */

static bool has_memory(void)
{
    return getenv("NULL_DRIVER_MEMORY") != NULL;
}

API CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes);
API CUresult cuMemAlloc_v2(CUdeviceptr *out, size_t bytes)
{
    if (has_memory()) {
        *out = (CUdeviceptr)(uintptr_t)aligned_alloc(512, (bytes + 511) & ~(size_t)511);
        return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
    }
    *out = __atomic_fetch_add(&next, (bytes + 511) & ~(size_t)511, __ATOMIC_RELAXED);
    return CUDA_SUCCESS;
}

API CUresult cuMemFree_v2(CUdeviceptr address);
API CUresult cuMemFree_v2(CUdeviceptr address)
{
    if (has_memory())
        free((void *)(uintptr_t)address);
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

API CUresult cuModuleLoadData(CUmodule *out, const void *image);
API CUresult cuModuleLoadData(CUmodule *out, const void *image)
{
    const char *refused = getenv("NULL_DRIVER_REFUSES");
    *out = (CUmodule)(uintptr_t)image;
    limited = false;
    null_driver_tell("load", NULL);
    return refused && strstr(image, refused) ? CUDA_ERROR_INVALID_PTX : CUDA_SUCCESS;
}

API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                                void **values);
API CUresult cuModuleLoadDataEx(CUmodule *out, const void *image, unsigned n, CUjit_option *options,
                                void **values)
{
    CUresult result = cuModuleLoadData(out, image);
    for (unsigned i = 0; i < n; i++) {
        tell_option(options[i], values[i]);
        limited |= options[i] == CU_JIT_MAX_REGISTERS && (uintptr_t)values[i] <= 64;
    }
    return result;
}

API CUresult cuModuleLoad(CUmodule *out, const char *path);
API CUresult cuModuleLoad(CUmodule *out, const char *path)
{
    (void)path;
    *out = (CUmodule)names;
    return CUDA_SUCCESS;
}

API CUresult cuModuleUnload(CUmodule module);
API CUresult cuModuleUnload(CUmodule module)
{
    (void)module;
    return CUDA_SUCCESS;
}

API CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name);
API CUresult cuModuleGetFunction(CUfunction *out, CUmodule module, const char *name)
{
    const char *large = getenv("NULL_DRIVER_LARGE"), *bars = getenv("NULL_DRIVER_LAUNCHES");
    if (count == KERNELS)
        return CUDA_ERROR_OUT_OF_MEMORY;
    snprintf(names[count], NAME, "%s", name);
    few[count] = large && strstr((const char *)module, large) &&
                 (!limited || getenv("NULL_DRIVER_STUBBORN"));
    barred[count] = bars && strstr((const char *)module, bars);
    modules[count] = module;
    *out = (CUfunction)names[count++];
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetModule(CUmodule *out, CUfunction f);
API CUresult cuFuncGetModule(CUmodule *out, CUfunction f)
{
    *out = modules[((char *)f - names[0]) / NAME];
    return CUDA_SUCCESS;
}

/* Every module has every variable, of one word. */
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule module,
                                  const char *name);
API CUresult cuModuleGetGlobal_v2(CUdeviceptr *out, size_t *bytes, CUmodule module,
                                  const char *name)
{
    enum { VARIABLES = 16 };
    static struct {
        CUmodule module;
        char name[NAME];
        CUdeviceptr at;
    } known[VARIABLES];
    int i = 0;
    while (i < VARIABLES && known[i].at &&
           (known[i].module != module || strcmp(known[i].name, name) != 0))
        i++;
    if (i == VARIABLES)
        return CUDA_ERROR_NOT_FOUND;
    known[i].module = module;
    snprintf(known[i].name, NAME, "%s", name);
    if (!known[i].at)
        cuMemAlloc_v2(&known[i].at, 4);
    *out = known[i].at;
    *bytes = 4;
    return CUDA_SUCCESS;
}

API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
API CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetAttribute(int *value, int which, CUfunction f);
API CUresult cuFuncGetAttribute(int *value, int which, CUfunction f)
{
    size_t index = (size_t)((char *)f - names[0]) / NAME;
    *value = which != CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 0 : few[index] ? 512 : 1024;
    return CUDA_SUCCESS;
}

API CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *bytes);
API CUresult cuFuncGetParamInfo(CUfunction f, size_t index, size_t *offset, size_t *bytes)
{
    (void)f;
    *offset = 8 * index;
    *bytes = index ? 4 : 8;
    if (getenv("NULL_DRIVER_OLD"))
        return CUDA_ERROR_NOT_SUPPORTED;
    return index < 2 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static char *cubin;
static size_t cubin_bytes;

API CUresult cuLinkCreate_v2(unsigned n, void *options, void **values, CUlinkState *out);
API CUresult cuLinkCreate_v2(unsigned n, void *options, void **values, CUlinkState *out)
{
    (void)n, (void)options, (void)values;
    *out = (CUlinkState)names;
    return CUDA_SUCCESS;
}

API CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t size,
                              const char *name, unsigned n, void *options, void **values);
API CUresult cuLinkAddData_v2(CUlinkState state, int type, void *data, size_t size,
                              const char *name, unsigned n, void *options, void **values)
{
    (void)state, (void)type, (void)data, (void)size, (void)name, (void)n, (void)options;
    (void)values;
    return CUDA_SUCCESS;
}

API CUresult cuLinkComplete(CUlinkState state, void **out, size_t *bytes);
API CUresult cuLinkComplete(CUlinkState state, void **out, size_t *bytes)
{
    (void)state;
    const char *path = getenv("NULL_DRIVER_CUBIN");
    FILE *file = path ? fopen(path, "rb") : NULL;
    if (!file || !(cubin = malloc(1 << 20)))
        return CUDA_ERROR_FILE_NOT_FOUND;
    cubin_bytes = fread(cubin, 1, 1 << 20, file);
    fclose(file);
    *out = cubin;
    *bytes = cubin_bytes;
    return CUDA_SUCCESS;
}

API CUresult cuLinkDestroy(CUlinkState state);
API CUresult cuLinkDestroy(CUlinkState state)
{
    (void)state;
    return CUDA_SUCCESS;
}

/* ---- streams and launches ---- */

static CUstream captured; /* NULL: none is, but where null_driver_behave() says so */

API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status);
API CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *status)
{
    bool is = capturing || (stream && stream == captured);
    *status = is ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

API CUresult cuStreamCreate(CUstream *out, unsigned flags);
API CUresult cuStreamCreate(CUstream *out, unsigned flags)
{
    static uintptr_t streams;
    (void)flags;
    *out = (CUstream)(100 + __atomic_fetch_add(&streams, 1, __ATOMIC_RELAXED));
    return CUDA_SUCCESS;
}

API CUresult cuStreamDestroy_v2(CUstream stream);
API CUresult cuStreamDestroy_v2(CUstream stream)
{
    null_driver_tell("destroy", stream);
    return CUDA_SUCCESS;
}

API CUresult cuStreamSynchronize(CUstream stream);
API CUresult cuStreamSynchronize(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
API CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    (void)event, (void)flags;
    null_driver_tell("wait", stream);
    return CUDA_SUCCESS;
}

API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream);
API CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t bytes, CUstream stream)
{
    if (has_memory())
        memset((void *)(uintptr_t)to, value, bytes);
    null_driver_tell("set", stream);
    return CUDA_SUCCESS;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream);
API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream)
{
    if (has_memory())
        memcpy((void *)(uintptr_t)to, from, bytes);
    null_driver_tell("write", stream);
    return CUDA_SUCCESS;
}

API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream);
API CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream)
{
    if (has_memory())
        memcpy(to, (const void *)(uintptr_t)from, bytes);
    else
        memset(to, 0, bytes);
    null_driver_tell("read", stream);
    return CUDA_SUCCESS;
}

API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream);
API CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *c, CUstream stream)
{
    memset(c->dstHost, 0, c->dstPitch * c->Height);
    null_driver_tell("read-rows", stream);
    return CUDA_SUCCESS;
}

struct CUevent_st {
    double ms;
};

API CUresult cuMemcpy3DBatchAsync_v2(size_t n, CUDA_MEMCPY3D_BATCH_OP *list,
                                     unsigned long long flags, CUstream stream);
API CUresult cuMemcpy3DBatchAsync_v2(size_t n, CUDA_MEMCPY3D_BATCH_OP *list,
                                     unsigned long long flags, CUstream stream)
{
    (void)n, (void)list, (void)flags, (void)stream;
    return CUDA_SUCCESS;
}

API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream);
API CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
    (void)address, (void)stream;
    return CUDA_SUCCESS;
}

API CUresult cuEventCreate(CUevent *out, unsigned flags);
API CUresult cuEventCreate(CUevent *out, unsigned flags)
{
    (void)flags;
    *out = calloc(1, sizeof **out);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

API CUresult cuEventDestroy_v2(CUevent event);
API CUresult cuEventDestroy_v2(CUevent event)
{
    free(event);
    return CUDA_SUCCESS;
}

/* What passes on the host between an event on the default stream and the launch behind it. */
static __thread double recorded_at, waited;
static __thread unsigned long waits;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The mean in seconds, of this thread's launches with an event before them. */
API double null_driver_wait(void);
API double null_driver_wait(void)
{
    return waits ? waited / (double)waits : 0;
}

API CUresult cuEventRecord(CUevent event, CUstream stream);
API CUresult cuEventRecord(CUevent event, CUstream stream)
{
    event->ms = device_ms += device_step;
    null_driver_tell("event", stream);
    if (recorded_at <= 0 && !stream)
        recorded_at = now();
    return CUDA_SUCCESS;
}

API CUresult cuCtxRecordEvent(CUcontext context, CUevent event);
API CUresult cuCtxRecordEvent(CUcontext context, CUevent event)
{
    (void)context, (void)event;
    null_driver_tell("look", NULL);
    return CUDA_SUCCESS;
}

API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode);
API CUresult cuStreamBeginCapture_v2(CUstream stream, int mode)
{
    (void)mode;
    captured = stream;
    return CUDA_SUCCESS;
}

API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph);
API CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
    (void)stream;
    captured = NULL;
    *graph = (CUgraph)names;
    return CUDA_SUCCESS;
}

API CUresult cuEventSynchronize(CUevent event);
API CUresult cuEventSynchronize(CUevent event)
{
    (void)event;
    recorded_at = 0;
    return CUDA_SUCCESS;
}

API CUresult cuEventQuery(CUevent event);
API CUresult cuEventQuery(CUevent event)
{
    (void)event;
    return busy ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

API CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b);
API CUresult cuEventElapsedTime(float *ms, CUevent a, CUevent b)
{
    *ms = device_step > 0 ? (float)(b->ms - a->ms) : 1;
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                            void **params, void **extra);
API CUresult cuLaunchKernel(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                            unsigned by, unsigned bz, unsigned shared, CUstream stream,
                            void **params, void **extra)
{
    (void)gx, (void)gy, (void)gz, (void)bx, (void)by, (void)bz, (void)shared;
    (void)params, (void)extra;
    if (barred[((char *)f - names[0]) / NAME])
        return CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
    null_driver_tell("launch", stream);
    if (recorded_at > 0) {
        waited += now() - recorded_at;
        waits++;
        recorded_at = 0;
    }
    return CUDA_SUCCESS;
}

API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra);
API CUresult cuLaunchKernelEx(const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    return cuLaunchKernel(f, c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
                          c->blockDimZ, c->sharedMemBytes, c->hStream, params, extra);
}

API CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream);
API CUresult cuGraphLaunch(CUgraphExec graph, CUstream stream)
{
    (void)graph, (void)stream;
    return CUDA_SUCCESS;
}

/* ---- by name ---- */

API CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *found);
API CUresult cuGetProcAddress_v2(const char *name, void **out, int version, cuuint64_t flags,
                                 CUdriverProcAddressQueryResult *found)
{
    static void *self;
    char newer[NAME];
    Dl_info info;
    (void)version, (void)flags;
    if (!self && dladdr((void *)cuInit, &info))
        self = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    snprintf(newer, sizeof newer, "%s_v2", name);
    *out = dlsym(self, newer);
    if (!*out)
        *out = dlsym(self, name);
    if (found)
        *found = *out ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return *out ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}
