/* Modules and libraries that come and go, and what the program asks of them by name. */
#include "shim/hooks/hook.h"

/* ---- loading ---- */

typedef struct loading {
    hook_call call;
    drv_module *module; /* NULL: nothing is recorded */
} loading;

static void begin_loading(loading *l, bool library, const void *image, const char *file,
                          drv_jit_options jit)
{
    l->module = NULL;
    if (!l->call.rec.active || (!image && !file))
        return;
    pthread_mutex_lock(&rec_g.lock);
    l->module = drv_module_new(library, image, file, jit);
    pthread_mutex_unlock(&rec_g.lock);
}

static CUresult end_loading(loading *l, CUresult result, void *const *handle)
{
    if (l->module && result == CUDA_SUCCESS) {
        pthread_mutex_lock(&rec_g.lock);
        drv_module_loaded(l->module, *handle);
        pthread_mutex_unlock(&rec_g.lock);
    } else if (l->module) {
        drv_module_free(l->module);
    }
    return hook_end(&l->call, result);
}

#define LOAD(symbol, is_library, image, file, options, values, count, params, args)            \
    HOOK(symbol, params, args)                                                                 \
    {                                                                                          \
        loading l;                                                                             \
        hook_begin(&l.call, #symbol, CAP_CALL_OTHER);                                          \
        begin_loading(&l, is_library, image, file, (drv_jit_options){options, values, count}); \
        return end_loading(&l, real_##symbol args, (void **)out);                              \
    }

LOAD(cuModuleLoad, false, NULL, name, NULL, NULL, 0, (CUmodule * out, const char *name),
     (out, name))
LOAD(cuModuleLoadData, false, image, NULL, NULL, NULL, 0, (CUmodule * out, const void *image),
     (out, image))
LOAD(cuModuleLoadDataEx, false, image, NULL, options, values, count,
     (CUmodule * out, const void *image, unsigned int count, CUjit_option *options, void **values),
     (out, image, count, options, values))
LOAD(cuModuleLoadFatBinary, false, image, NULL, NULL, NULL, 0, (CUmodule * out, const void *image),
     (out, image))
LOAD(cuLibraryLoadData, true, image, NULL, jit, jit_values, njit,
     (CUlibrary * out, const void *image, CUjit_option *jit, void **jit_values, unsigned int njit,
      CUlibraryOption *options, void **values, unsigned int noptions),
     (out, image, jit, jit_values, njit, options, values, noptions))
LOAD(cuLibraryLoadFromFile, true, NULL, name, jit, jit_values, njit,
     (CUlibrary * out, const char *name, CUjit_option *jit, void **jit_values, unsigned int njit,
      CUlibraryOption *options, void **values, unsigned int noptions),
     (out, name, jit, jit_values, njit, options, values, noptions))

/* ---- unloading ---- */

/* With the lock held. Returns what its kernels recorded with. */
static probe_own *forget_module(drv_module *m)
{
    patch_module_gone(m);
    probe_own *own = probe_module_gone(m);
    drv_module_forget(m);
    return own;
}

void hook_modules_gone(CUcontext context)
{
    probe_modules_left(context);
    for (drv_module *m; (m = drv_module_of_context(context));)
        probe_own_free(forget_module(m), false);
    drv_libraries_leave(context);
}

static void begin_unloading(void *handle)
{
    pthread_mutex_lock(&rec_g.lock);
    drv_module *m = drv_module_of(handle);
    probe_own *own = NULL;
    if (m && drv_module_has_handle(m, handle))
        own = forget_module(m);
    pthread_mutex_unlock(&rec_g.lock);
    probe_own_free(own, true);
}

#define UNLOAD(symbol, type)                           \
    HOOK(symbol, (type handle), (handle))              \
    {                                                  \
        hook_call call;                                \
        hook_begin(&call, #symbol, CAP_CALL_OTHER);    \
        if (call.rec.active)                           \
            begin_unloading(handle);                   \
        return hook_end(&call, real_##symbol(handle)); \
    }

UNLOAD(cuModuleUnload, CUmodule)
UNLOAD(cuLibraryUnload, CUlibrary)

/* ---- looking up ---- */

HOOK(cuModuleGetFunction, (CUfunction * out, CUmodule module, const char *name),
     (out, module, name))
{
    CUresult result = real_cuModuleGetFunction(out, module, name);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        drv_function_add(*out, name, drv_module_find(module, false, name));
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuLibraryGetKernel, (CUkernel * out, CUlibrary library, const char *name),
     (out, library, name))
{
    CUresult result = real_cuLibraryGetKernel(out, library, name);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        drv_function *f = drv_function_add(*out, name, drv_module_find(library, true, name));
        if (f)
            f->kernel = true;
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuKernelGetFunction, (CUfunction * out, CUkernel kernel), (out, kernel))
{
    CUresult result = real_cuKernelGetFunction(out, kernel);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        drv_kernel_has_function(kernel, *out);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuLibraryGetModule, (CUmodule * out, CUlibrary library), (out, library))
{
    CUresult result = real_cuLibraryGetModule(out, library);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        drv_module *m = drv_module_of(library);
        if (m)
            drv_library_has_module(m, *out);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

/* ---- variables by name: their contents will be written ---- */

static CUresult use_named_module(CUresult result, void *handle, bool library, const char *name)
{
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        drv_module *m = drv_module_find(handle, library, name);
        if (m)
            drv_module_use(m);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuModuleGetGlobal_v2, (CUdeviceptr * out, size_t *bytes, CUmodule module, const char *name),
     (out, bytes, module, name))
{
    return use_named_module(real_cuModuleGetGlobal_v2(out, bytes, module, name), module, false,
                            name);
}

HOOK(cuLibraryGetGlobal, (CUdeviceptr * out, size_t *bytes, CUlibrary library, const char *name),
     (out, bytes, library, name))
{
    return use_named_module(real_cuLibraryGetGlobal(out, bytes, library, name), library, true,
                            name);
}

HOOK(cuLibraryGetManaged, (CUdeviceptr * out, size_t *bytes, CUlibrary library, const char *name),
     (out, bytes, library, name))
{
    return use_named_module(real_cuLibraryGetManaged(out, bytes, library, name), library, true,
                            name);
}

/* ---- what the program sets at a function ---- */

#define CACHE_CONFIG(symbol, params, args, handle) \
    HOOK(symbol, params, args)                     \
    {                                              \
        CUresult result = real_##symbol args;      \
        if (result == CUDA_SUCCESS)                \
            probe_cache_config(handle, config);    \
        return result;                             \
    }

CACHE_CONFIG(cuFuncSetCacheConfig, (CUfunction f, int config), (f, config), f)
CACHE_CONFIG(cuKernelSetCacheConfig, (CUkernel f, int config, CUdevice device), (f, config, device),
             f)
