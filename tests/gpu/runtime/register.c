/* What nvcc's generated code registers; loaded when it is first used. */
#include "runtime.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct binary {
    const void *wrapper;
    CUlibrary library; /* NULL: not loaded yet */
} binary;

typedef struct entry { /* a kernel by its host function, or a variable by its shadow */
    const void *host;
    const char *name;
    binary *owner;
    size_t bytes; /* 0: a kernel */
    bool managed;
    CUkernel kernel;
    UT_hash_handle hh;
} entry;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry *entries;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *stub, const char *name,
                            int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int ext,
                              size_t bytes, int constant, int global);
char __cudaInitModule(void **handle);
cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

void **__cudaRegisterFatBinary(void *wrapper)
{
    binary *b = calloc(1, sizeof *b);
    if (b)
        b->wrapper = wrapper;
    return (void **)b;
}

void __cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle;
}

void __cudaUnregisterFatBinary(void **handle)
{
    binary *b = (binary *)handle;
    entry *e, *next;
    pthread_mutex_lock(&lock);
    HASH_ITER (hh, entries, e, next) {
        if (e->owner == b) {
            HASH_DEL(entries, e);
            free(e);
        }
    }
    pthread_mutex_unlock(&lock);
    if (b->library)
        DRIVER(cuLibraryUnload, b->library);
    free(b);
}

static void add(void **handle, const void *host, const char *name, size_t bytes, bool managed)
{
    entry *e = calloc(1, sizeof *e);
    if (!e)
        abort();
    *e = (entry){
        .host = host, .name = name, .owner = (binary *)handle, .bytes = bytes, .managed = managed};
    pthread_mutex_lock(&lock);
    HASH_ADD_PTR(entries, host, e);
    pthread_mutex_unlock(&lock);
}

void __cudaRegisterFunction(void **handle, const char *host, char *stub, const char *name,
                            int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp)
{
    (void)stub, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    add(handle, host, name, 0, false);
}

void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int ext,
                       size_t bytes, int constant, int global)
{
    (void)address, (void)ext, (void)constant, (void)global;
    add(handle, host, name, bytes, false);
}

void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int ext,
                              size_t bytes, int constant, int global)
{
    (void)address, (void)ext, (void)constant, (void)global;
    add(handle, host, name, bytes, true);
}

/* ---- loading; with the lock held ---- */

/* Host code reaches a managed variable through its shadow, which holds the address. */
static void set_managed(const binary *b)
{
    CUdeviceptr address;
    size_t bytes;
    for (entry *e = entries; e; e = e->hh.next)
        if (e->owner == b && e->managed &&
            DRIVER(cuLibraryGetManaged, &address, &bytes, b->library, e->name) == cudaSuccess)
            memcpy((void *)(uintptr_t)e->host, &address, sizeof address);
}

/* CUDA 11's runtime loads by a table of the driver's, so that no library in front of the driver
 * sees it. */
static cudaError_t load_past(binary *b)
{
    const char *path = getenv("WARPLENS_DRIVER");
    void *driver = dlopen(path ? path : "libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
    __typeof__(&cuLibraryLoadData) load_data = NULL;
    if (driver)
        *(void **)&load_data = dlsym(driver, "cuLibraryLoadData");
    return load_data ? (cudaError_t)load_data(&b->library, b->wrapper, NULL, NULL, 0, NULL, NULL, 0)
                     : cudaErrorInsufficientDriver;
}

static cudaError_t load(binary *b)
{
    if (b->library)
        return cudaSuccess;
    cudaError_t result = RUNTIME_MAJOR == 11 ? load_past(b)
                                             : DRIVER(cuLibraryLoadData, &b->library, b->wrapper,
                                                      NULL, NULL, 0, NULL, NULL, 0);
    if (result == cudaSuccess)
        set_managed(b);
    return result;
}

char __cudaInitModule(void **handle)
{
    cudaError_t result = rt_begin();
    pthread_mutex_lock(&lock);
    if (result == cudaSuccess)
        result = load((binary *)handle);
    pthread_mutex_unlock(&lock);
    return rt_end(result) == cudaSuccess;
}

/* ---- finding ---- */

static cudaError_t get_kernel(entry *e)
{
    cudaError_t result = e->owner ? load(e->owner) : cudaSuccess;
    if (result == cudaSuccess && !e->kernel)
        result = DRIVER(cuLibraryGetKernel, &e->kernel, e->owner->library, e->name);
    return result == cudaErrorSymbolNotFound ? cudaErrorInvalidDeviceFunction : result;
}

void rt_add_kernel(CUkernel kernel)
{
    add(NULL, kernel, "", 0, false);
    pthread_mutex_lock(&lock);
    entry *e;
    HASH_FIND_PTR(entries, &kernel, e);
    e->kernel = kernel;
    pthread_mutex_unlock(&lock);
}

static bool is_kernel(const void *function)
{
    for (entry *e = entries; e; e = e->hh.next)
        if (e->kernel && (const void *)e->kernel == function)
            return true;
    return false;
}

cudaError_t rt_kernel(const void *function, CUkernel *kernel)
{
    entry *e;
    cudaError_t result = function ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(entries, &function, e);
    if (e && !e->bytes) {
        result = get_kernel(e);
        *kernel = e->kernel;
    } else if (is_kernel(function)) {
        result = cudaSuccess;
        *kernel = (CUkernel)(uintptr_t)function;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

cudaError_t rt_function(const void *function, CUfunction *out)
{
    CUkernel kernel;
    cudaError_t result = rt_kernel(function, &kernel);
    return result == cudaSuccess ? DRIVER(cuKernelGetFunction, out, kernel) : result;
}

cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host)
{
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = rt_kernel(host, (CUkernel *)kernel);
    return rt_end(result);
}

cudaError_t rt_symbol(const void *shadow, CUdeviceptr *address, size_t *bytes)
{
    entry *e;
    size_t ignored;
    cudaError_t result = rt_begin();
    if (result != cudaSuccess)
        return result;
    result = cudaErrorInvalidSymbol;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(entries, &shadow, e);
    if (e && e->bytes) {
        *bytes = e->bytes;
        result = load(e->owner);
        if (result == cudaSuccess && e->managed)
            result = DRIVER(cuLibraryGetManaged, address, &ignored, e->owner->library, e->name);
        else if (result == cudaSuccess)
            result = DRIVER(cuLibraryGetGlobal, address, &ignored, e->owner->library, e->name);
    }
    pthread_mutex_unlock(&lock);
    return result;
}
