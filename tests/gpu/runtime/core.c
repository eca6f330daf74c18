/* The driver, the thread's device, errors. */
#include "runtime.h"

#include "cuda/errors.h"

#include <dlfcn.h>
#include <pthread.h>

enum { MAX_DEVICES = 16 };

static __thread cudaError_t last_error;
static __thread int device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static CUcontext primary[MAX_DEVICES];
static cudaError_t lost; /* what a kernel broke stays broken until the device is reset */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult (*get_address)(const char *, void **, int, cuuint64_t,
                               CUdriverProcAddressQueryResult *);

static void open_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_LAZY);
    if (library)
        *(void **)&get_address = dlsym(library, "cuGetProcAddress_v2");
}

void *rt_driver(const char *name)
{
    CUdriverProcAddressQueryResult found;
    void *code = NULL;
    pthread_once(&once, open_driver);
    if (!get_address || get_address(name, &code, CUDART_VERSION, 0, &found) != CUDA_SUCCESS)
        return NULL;
    return code;
}

cudaError_t rt_begin(void)
{
    CUcontext current = NULL;
    cudaError_t result = DRIVER(cuInit, 0);
    if (result == cudaSuccess)
        result = DRIVER(cuCtxGetCurrent, &current);
    if (result != cudaSuccess || current)
        return result;
    pthread_mutex_lock(&lock);
    if (!primary[device])
        result = DRIVER(cuDevicePrimaryCtxRetain, &primary[device], device);
    pthread_mutex_unlock(&lock);
    return result == cudaSuccess ? DRIVER(cuCtxSetCurrent, primary[device]) : result;
}

int rt_device(void)
{
    return device;
}

cudaError_t rt_end(cudaError_t result)
{
    if (result != cudaSuccess && result != cudaErrorNotReady)
        last_error = result;
    if (result == cudaErrorIllegalAddress)
        lost = result;
    return result;
}

cudaError_t cudaGetLastError(void)
{
    cudaError_t e = last_error;
    last_error = cudaSuccess;
    return e;
}

cudaError_t cudaPeekAtLastError(void)
{
    return last_error;
}

const char *cudaGetErrorName(cudaError_t error)
{
    return cuda_runtime_error_name((int)error);
}

const char *cudaGetErrorString(cudaError_t error)
{
    return cuda_runtime_error_text((int)error);
}

/* ---- devices ---- */

cudaError_t cudaGetDeviceCount(int *count)
{
    cudaError_t result = DRIVER(cuInit, 0);
    return rt_end(result == cudaSuccess ? DRIVER(cuDeviceGetCount, count) : result);
}

cudaError_t cudaGetDevice(int *out)
{
    *out = device;
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int ordinal)
{
    int count = 0;
    cudaError_t result = cudaGetDeviceCount(&count);
    if (result != cudaSuccess || ordinal < 0 || ordinal >= count || ordinal >= MAX_DEVICES)
        return rt_end(cudaErrorInvalidDevice);
    device = ordinal;
    DRIVER(cuCtxSetCurrent, NULL);
    return rt_end(rt_begin());
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int ordinal)
{
    CALL(cuDeviceGetAttribute, value, (CUdevice_attribute)attribute, ordinal);
}

static int attribute(int ordinal, CUdevice_attribute which)
{
    int value = 0;
    DRIVER(cuDeviceGetAttribute, &value, which, ordinal);
    return value;
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int ordinal)
{
    cudaError_t result = rt_begin();
    *p = (struct cudaDeviceProp){0};
    if (result == cudaSuccess)
        result = DRIVER(cuDeviceGetName, p->name, (int)sizeof p->name, ordinal);
    if (result != cudaSuccess)
        return rt_end(result);
    DRIVER(cuDeviceTotalMem, &p->totalGlobalMem, ordinal);
    p->major = attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    p->minor = attribute(ordinal, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    p->warpSize = attribute(ordinal, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
    p->multiProcessorCount = attribute(ordinal, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    p->maxThreadsPerBlock = attribute(ordinal, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    p->sharedMemPerBlock = (size_t)attribute(ordinal,
                                             CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    p->l2CacheSize = attribute(ordinal, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    return cudaSuccess;
}

cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    CALL(cuCtxGetLimit, value, (CUlimit)limit);
}

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    CALL(cuCtxSetLimit, (CUlimit)limit, value);
}

cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    CALL(cuCtxSetCacheConfig, (CUfunc_cache)config);
}

cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL(cuCtxGetStreamPriorityRange, least, greatest);
}

cudaError_t cudaDeviceCanAccessPeer(int *can, int ordinal, int peer)
{
    CALL(cuDeviceCanAccessPeer, can, ordinal, peer);
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    (void)peer;
    return rt_end(cudaErrorPeerAccessUnsupported);
}

/* From CUDA 13 on the driver's takes a context, which the toolkit's header does not say. */
cudaError_t cudaDeviceSynchronize(void)
{
    CUcontext context = NULL;
    CUresult (*synchronize)(CUcontext);
    cudaError_t result = rt_begin();
    *(void **)&synchronize = rt_driver("cuCtxSynchronize");
    if (result == cudaSuccess)
        result = DRIVER(cuCtxGetCurrent, &context);
    return rt_end(result == cudaSuccess ? (cudaError_t)synchronize(context) : result);
}

cudaError_t cudaDeviceReset(void)
{
    cudaError_t result = rt_begin();
    pthread_mutex_lock(&lock);
    if (result == cudaSuccess) {
        DRIVER(cuCtxSetCurrent, NULL);
        result = DRIVER(cuDevicePrimaryCtxReset, device);
        primary[device] = NULL;
        lost = cudaSuccess;
    }
    pthread_mutex_unlock(&lock);
    return rt_end(result);
}

#if RUNTIME_MAJOR >= 13
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                             unsigned long long flags,
                                             enum cudaDriverEntryPointQueryResult *found)
{
    CALL(cuGetProcAddress, name, out, (int)version, flags, (CUdriverProcAddressQueryResult *)found);
}
#endif
