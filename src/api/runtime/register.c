/* What nvcc's generated code registers when the program starts: fat binaries, kernels, variables.
 * Nothing is loaded before it is used. */
#include "api/driver/driver.h"
#include "api/runtime/runtime.h"
#include "base/vec.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

typedef struct rt_loaded { /* a binary in a context */
    dev_context *context;
    uint64_t context_id; /* addresses of contexts are used again */
    dev_module *module;
    dev_result error;
} rt_loaded;

typedef struct rt_binary {
    const void *wrapper;
    wl_vec(rt_loaded) loaded;
    bool reported; /* why it could not be loaded */
} rt_binary;

struct rt_function {
    const void *stub;
    rt_binary *binary;
    const char *name;
    UT_hash_handle hh;
};

typedef struct rt_variable {
    const void *shadow; /* of managed variables the pointer that the host code goes through */
    rt_binary *binary;
    const char *name;
    size_t size;
    bool managed;
    UT_hash_handle hh;
} rt_variable;

/* Registered by constructors and dlopen, before and beside other calls. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static rt_function *functions;
static rt_variable *variables;

static void renew_lock_in_child(void)
{
    pthread_mutex_init(&lock, NULL); /* a thread that the child lacks may have held it */
}

__attribute__((constructor)) static void prepare(void)
{
    pthread_atfork(NULL, NULL, renew_lock_in_child);
}

/* ---- registration ---- */

WL_RUNTIME(void **, __cudaRegisterFatBinary, (void *wrapper))
{
    rt_binary *binary = calloc(1, sizeof *binary);
    if (binary)
        binary->wrapper = wrapper;
    return (void **)binary;
}

WL_RUNTIME(void, __cudaRegisterFatBinaryEnd, (void **handle))
{
    (void)handle;
}

static void forget_binary(rt_binary *binary)
{
    rt_function *f, *next_function;
    rt_variable *v, *next_variable;
    HASH_ITER (hh, functions, f, next_function) {
        if (f->binary == binary) {
            HASH_DEL(functions, f);
            free(f);
        }
    }
    HASH_ITER (hh, variables, v, next_variable) {
        if (v->binary == binary) {
            HASH_DEL(variables, v);
            free(v);
        }
    }
}

/* Also at the end of every program: its modules go, so that their variables are not taken for
 * leaks. */
WL_RUNTIME(void, __cudaUnregisterFatBinary, (void **handle))
{
    rt_binary *binary = (rt_binary *)handle;
    if (!binary)
        return;
    if (dev_lock()) {
        for (size_t i = 0; i < binary->loaded.count; i++)
            if (dev_is(binary->loaded.data[i].module, DEV_MODULE))
                dev_module_unload(binary->loaded.data[i].module);
        dev_unlock();
    }
    pthread_mutex_lock(&lock);
    forget_binary(binary);
    pthread_mutex_unlock(&lock);
    wl_vec_free(&binary->loaded);
    free(binary);
}

WL_RUNTIME(void, __cudaRegisterFunction,
           (void **handle, const char *stub, char *device_stub, const char *name, int thread_limit,
            uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid, int *warp_size))
{
    (void)device_stub, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid;
    (void)warp_size;
    rt_function *f = calloc(1, sizeof *f), *old;
    if (!f)
        return;
    *f = (rt_function){.stub = stub, .binary = (rt_binary *)handle, .name = name};
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(functions, &f->stub, old);
    if (old) {
        HASH_DEL(functions, old);
        free(old);
    }
    HASH_ADD_PTR(functions, stub, f);
    pthread_mutex_unlock(&lock);
}

static void add_variable(void **handle, const void *shadow, const char *name, size_t size,
                         bool managed)
{
    rt_variable *v = calloc(1, sizeof *v), *old;
    if (!v)
        return;
    *v = (rt_variable){.shadow = shadow,
                       .binary = (rt_binary *)handle,
                       .name = name,
                       .size = size,
                       .managed = managed};
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(variables, &v->shadow, old);
    if (old) {
        HASH_DEL(variables, old);
        free(old);
    }
    HASH_ADD_PTR(variables, shadow, v);
    pthread_mutex_unlock(&lock);
}

WL_RUNTIME(void, __cudaRegisterVar,
           (void **handle, char *shadow, char *device_address, const char *name, int ext,
            size_t size, int constant, int global))
{
    (void)device_address, (void)ext, (void)constant, (void)global;
    add_variable(handle, shadow, name, size, false);
}

WL_RUNTIME(void, __cudaRegisterManagedVar,
           (void **handle, void **shadow, char *device_address, const char *name, int ext,
            size_t size, int constant, int global))
{
    (void)device_address, (void)ext, (void)constant, (void)global;
    add_variable(handle, shadow, name, size, true);
}

WL_RUNTIME(int, __cudaRegisterHostVar, (void **handle, const char *name, char *shadow, size_t size))
{
    (void)handle, (void)name, (void)shadow, (void)size;
    return cudaSuccess;
}

WL_RUNTIME(int, __cudaRegisterUnifiedTable, (void **handle, void *table))
{
    (void)handle, (void)table;
    return cudaSuccess;
}

/* ---- loading ---- */

/* Host code reaches a managed variable through its shadow, which holds the address. */
static void set_managed(rt_binary *binary, dev_module *module)
{
    pthread_mutex_lock(&lock);
    for (rt_variable *v = variables; v; v = v->hh.next) {
        uint64_t address, size;
        if (v->binary == binary && v->managed &&
            dev_module_global(module, v->name, &address, &size) == DEV_OK)
            *(uint64_t *)(uintptr_t)v->shadow = address;
    }
    pthread_mutex_unlock(&lock);
}

static void report_load_failure(rt_binary *binary, const wl_error *why)
{
    if (!binary->reported)
        rec_message(WL_LOG_ERROR, "Device code could not be loaded: %s", why->text);
    binary->reported = true;
}

static dev_result load_binary(rt_binary *binary, dev_context *context, dev_module **out)
{
    for (size_t i = 0; i < binary->loaded.count; i++) {
        rt_loaded *l = &binary->loaded.data[i];
        if (l->context != context || l->context_id != dev_context_id(context))
            continue;
        *out = l->module;
        return l->error;
    }
    wl_error why = {0};
    rt_loaded l = {.context = context, .context_id = dev_context_id(context)};
    l.error = dev_module_load(context, binary->wrapper, &l.module, &why);
    if (l.error)
        report_load_failure(binary, &why);
    else
        set_managed(binary, l.module);
    if (!wl_push(&binary->loaded, l))
        return DEV_NOMEM;
    *out = l.module;
    return l.error;
}

WL_RUNTIME(char, __cudaInitModule, (void **handle))
{
    dev_call call;
    dev_module *module;
    dev_result r = dev_begin(&call, "__cudaInitModule", CAP_CALL_OTHER, DEV_PRIMARY | DEV_QUIET);
    if (r == DEV_OK)
        r = load_binary((rt_binary *)handle, call.context, &module);
    return rt_end(&call, r) == cudaSuccess;
}

/* ---- finding ---- */

static rt_function *find_stub(const void *function)
{
    rt_function *f;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(functions, &function, f);
    if (!f) /* is it what __cudaGetKernel gave? */
        for (rt_function *each = functions; each && !f; each = each->hh.next)
            f = each == function ? each : NULL;
    pthread_mutex_unlock(&lock);
    return f;
}

static dev_result unknown_function(const void *function)
{
    return !function || api_runtime_release() < 13 ? DEV_INVALID_DEVICE_FUNCTION
                                                   : DEV_INVALID_HANDLE;
}

dev_result rt_resolve(dev_context *context, const void *function, dev_function **out)
{
    rt_function *f = function ? find_stub(function) : NULL;
    if (!f) { /* it may be of a library */
        bool known = function && dr_resolve(context, function, out) == DEV_OK;
        return known ? DEV_OK : unknown_function(function);
    }
    dev_module *module;
    dev_result r = load_binary(f->binary, context, &module);
    if (r == DEV_OK)
        r = dev_module_function(module, f->name, out);
    return r == DEV_NOT_FOUND ? unknown_function(function) : r;
}

dev_result rt_symbol(dev_context *context, const void *shadow, uint64_t *address, size_t *size)
{
    rt_variable *v;
    pthread_mutex_lock(&lock);
    HASH_FIND_PTR(variables, &shadow, v);
    pthread_mutex_unlock(&lock);
    if (!v)
        return DEV_INVALID_SYMBOL;
    dev_module *module;
    uint64_t bytes;
    dev_result r = load_binary(v->binary, context, &module);
    if (r == DEV_OK)
        r = dev_module_global(module, v->name, address, &bytes);
    *size = v->size;
    return r == DEV_NOT_FOUND ? DEV_INVALID_SYMBOL : r;
}

/* nvcc 12 and 13 ask for the kernel once a call site, and launch it by what they get. */
WL_RUNTIME(int, __cudaGetKernel, (cudaKernel_t * kernel, const void *stub))
{
    if (!kernel || !stub)
        return rt_fail(cudaErrorInvalidValue);
    rt_function *f = find_stub(stub);
    *kernel = f ? (cudaKernel_t)f : (cudaKernel_t)(uintptr_t)stub;
    return cudaSuccess;
}

WL_RUNTIME(int, cudaGetKernel, (cudaKernel_t * kernel, const void *stub))
{
    rt_function *f = stub ? find_stub(stub) : NULL;
    if (!kernel || !f)
        return rt_fail(kernel ? cudaErrorInvalidDeviceFunction : cudaErrorInvalidValue);
    *kernel = (cudaKernel_t)f;
    return cudaSuccess;
}
