/* Modules, libraries, kernels and linking in the driver interface. */
#include "api/driver/driver.h"

#include "cuda/fatbin.h"
#include "ptx/link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* ---- options ---- */

typedef struct jit_log { /* where the application wants to read what went wrong */
    char *text;
    size_t size;
    void **left; /* its size option: receives the length written */
} jit_log;

static jit_log error_log(unsigned count, const CUjit_option *options, void **values)
{
    jit_log log = {0};
    for (unsigned i = 0; options && values && i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            log.text = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) {
            log.size = (uintptr_t)values[i] & UINT32_MAX;
            log.left = &values[i];
        }
        if (options[i] == CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES)
            values[i] = NULL;
    }
    return log;
}

static void write_log(const jit_log *log, const wl_error *err)
{
    size_t length = 0;
    if (log->text && log->size) {
        int wanted = snprintf(log->text, log->size, "%s", err->text);
        length = (size_t)wanted < log->size ? (size_t)wanted : log->size - 1;
    }
    if (log->left)
        *log->left = (void *)length;
}

dev_result dr_read_file(const char *path, char **data, size_t *length)
{
    FILE *file = fopen(path, "rbe");
    long size = -1;
    if (!file)
        return DEV_FILE_NOT_FOUND;
    if (fseek(file, 0, SEEK_END) == 0)
        size = ftell(file);
    *data = size >= 0 ? calloc(1, (size_t)size + 1) : NULL;
    bool good = *data && fseek(file, 0, SEEK_SET) == 0 &&
                fread(*data, 1, (size_t)size, file) == (size_t)size;
    fclose(file);
    *length = good ? (size_t)size : 0;
    if (good)
        return DEV_OK;
    free(*data);
    return DEV_FILE_NOT_FOUND;
}

/* ---- modules ---- */

static dev_module *module_of(CUmodule handle)
{
    return dev_is(handle, DEV_MODULE) ? (dev_module *)handle : NULL;
}

static CUresult load(const char *api, CUmodule *out, const void *image, unsigned count,
                     const CUjit_option *options, void **values)
{
    DR_QUIET(api);
    dev_module *module;
    wl_error err = {0};
    jit_log log = error_log(count, options, values);
    if (!out || !image)
        DR_END(DEV_INVALID_VALUE);
    result = dev_module_load(call->context, image, &module, &err);
    write_log(&log, &err);
    if (result == DEV_OK)
        *out = (CUmodule)module;
    DR_END(result);
}

WL_DRIVER(CUresult, cuModuleLoadData, (CUmodule * module, const void *image))
{
    return load("cuModuleLoadData", module, image, 0, NULL, NULL);
}

WL_DRIVER(CUresult, cuModuleLoadDataEx,
          (CUmodule * module, const void *image, unsigned count, CUjit_option *options,
           void **values))
{
    return load("cuModuleLoadDataEx", module, image, count, options, values);
}

WL_DRIVER(CUresult, cuModuleLoadFatBinary, (CUmodule * module, const void *image))
{
    return load("cuModuleLoadFatBinary", module, image, 0, NULL, NULL);
}

WL_DRIVER(CUresult, cuModuleLoad, (CUmodule * module, const char *path))
{
    char *data;
    size_t length;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    dev_result result = dr_read_file(path, &data, &length);
    if (result)
        return (CUresult)result;
    CUresult loaded = load("cuModuleLoad", module, data, 0, NULL, NULL);
    free(data);
    return loaded;
}

WL_DRIVER(CUresult, cuModuleUnload, (CUmodule handle))
{
    DR_QUIET("cuModuleUnload");
    dev_module *module = module_of(handle);
    DR_END(module ? dev_module_unload(module) : DEV_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuModuleGetLoadingMode, (int *mode))
{
    DR_FREE("cuModuleGetLoadingMode");
    if (mode)
        *mode = CU_MODULE_LAZY_LOADING;
    DR_END(mode ? DEV_OK : DEV_INVALID_VALUE);
}

WL_DRIVER(CUresult, cuModuleGetFunction, (CUfunction * out, CUmodule handle, const char *name))
{
    DR_QUIET("cuModuleGetFunction");
    dev_module *module = module_of(handle);
    dev_function *function;
    if (!out || !name || !*name)
        DR_END(DEV_INVALID_VALUE);
    result = module ? dev_module_function(module, name, &function) : DEV_INVALID_HANDLE;
    if (result == DEV_OK)
        *out = (CUfunction)function;
    DR_END(result);
}

WL_DRIVER(CUresult, cuModuleGetFunctionCount, (unsigned *count, CUmodule handle))
{
    DR_QUIET("cuModuleGetFunctionCount");
    dev_module *module = module_of(handle);
    if (!count || !module)
        DR_END(count ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *count = dev_module_count(module);
    DR_END(DEV_OK);
}

static unsigned list_functions(dev_module *module, void **out, unsigned room)
{
    unsigned i = 0;
    for (; i < room && i < dev_module_count(module); i++)
        out[i] = dev_module_at(module, i);
    return i;
}

WL_DRIVER(CUresult, cuModuleEnumerateFunctions, (CUfunction * out, unsigned room, CUmodule handle))
{
    DR_QUIET("cuModuleEnumerateFunctions");
    dev_module *module = module_of(handle);
    if (!out || !module)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    list_functions(module, (void **)out, room);
    DR_END(DEV_OK);
}

static dev_result global(dev_module *module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    uint64_t at, size;
    dev_result result = dev_module_global(module, name, &at, &size);
    if (result == DEV_OK && address)
        *address = at;
    if (result == DEV_OK && bytes)
        *bytes = size;
    return result;
}

WL_DRIVER(CUresult, cuModuleGetGlobal_v2,
          (CUdeviceptr * address, size_t *bytes, CUmodule handle, const char *name))
{
    DR_QUIET("cuModuleGetGlobal_v2");
    dev_module *module = module_of(handle);
    if (!name || (!address && !bytes))
        DR_END(DEV_INVALID_VALUE);
    DR_END(module ? global(module, name, address, bytes) : DEV_INVALID_HANDLE);
}

/* ---- libraries: modules that each context gets when it needs them ---- */

typedef struct dr_library dr_library;

typedef struct dr_kernel {
    dr_library *library;
    char *name;
    UT_hash_handle hh; /* of all kernels, by address */
    struct dr_kernel *self, *next;
} dr_kernel;

typedef struct dr_loaded {
    dev_context *context;
    dev_module *module;
    struct dr_loaded *next;
} dr_loaded;

struct dr_library {
    char *text; /* the image's PTX in one piece, owned */
    dr_loaded *loaded;
    dr_kernel *kernels;
    dr_library *self;
    UT_hash_handle hh; /* of all libraries, by address */
};

static dr_library *libraries; /* under the lock of the device layer */
static dr_kernel *kernels;

static dr_library *library_of(CUlibrary handle)
{
    dr_library *found;
    HASH_FIND_PTR(libraries, &handle, found);
    return found;
}

static dr_kernel *kernel_of(void *handle)
{
    dr_kernel *found;
    HASH_FIND_PTR(kernels, &handle, found);
    return found;
}

/* The library's module in a context. A module or a context that went leaves an entry that is not
 * used any more. */
static dev_result library_module(dr_library *library, dev_context *context, dev_module **out,
                                 wl_error *err)
{
    for (dr_loaded *l = library->loaded; l; l = l->next) {
        if (l->context == context && dev_is(l->module, DEV_MODULE) &&
            dev_module_context(l->module) == context) {
            *out = l->module;
            return DEV_OK;
        }
    }
    dr_loaded *added = calloc(1, sizeof *added);
    if (!added)
        return DEV_NOMEM;
    dev_result result = dev_module_load(context, library->text, &added->module, err);
    if (result) {
        free(added);
        return result;
    }
    added->context = context;
    added->next = library->loaded;
    library->loaded = added;
    *out = added->module;
    return DEV_OK;
}

static void free_library(dr_library *library)
{
    for (dr_loaded *l = library->loaded, *next; l; l = next) {
        next = l->next;
        if (dev_is(l->module, DEV_MODULE) && dev_module_context(l->module) == l->context)
            dev_module_unload(l->module);
        free(l);
    }
    for (dr_kernel *k = library->kernels, *next; k; k = next) {
        next = k->next;
        if (kernels)
            HASH_DEL(kernels, k);
        free(k->name);
        free(k);
    }
    free(library->text);
    free(library);
}

/* The device that an image is read for where there is no context yet. */
static dev_gpu *library_device(const dev_call *call)
{
    dev_context *context = dev_current();
    (void)call;
    return context ? dev_context_device(context) : dev_gpu_get(0);
}

static dev_result image_text(const void *image, unsigned sm, char **text, wl_error *err)
{
    cuda_image read;
    size_t length;
    wl_status status = cuda_image_read(image, CUDA_SIZE_UNKNOWN, sm, &read, err);
    if (status == WL_NOENT)
        return DEV_NO_BINARY_FOR_GPU;
    if (status == WL_UNSUPPORTED)
        return DEV_INVALID_PTX;
    if (status != WL_OK)
        return status == WL_NOMEM ? DEV_NOMEM : DEV_INVALID_IMAGE;
    if (read.count > 1) {
        status = ptx_link(read.ptx, read.count, text, &length, err);
    } else {
        *text = read.ptx[0].text;
        read.ptx[0].text = NULL;
    }
    cuda_image_clear(&read);
    return status == WL_OK ? DEV_OK : DEV_INVALID_PTX;
}

static CUresult load_library(const char *api, CUlibrary *out, const void *image, unsigned count,
                             const CUjit_option *options, void **values)
{
    DR_FREE(api);
    jit_log log = error_log(count, options, values);
    wl_error err = {0};
    if (!out || !image)
        DR_END(DEV_INVALID_VALUE);
    dr_library *library = calloc(1, sizeof *library);
    if (!library)
        DR_END(DEV_NOMEM);
    unsigned sm = dev_gpu_description(library_device(call))->sm;
    result = image_text(image, sm, &library->text, &err);
    dev_module *module;
    if (result == DEV_OK && dev_current()) /* tells at once what is wrong with it */
        result = library_module(library, dev_current(), &module, &err);
    write_log(&log, &err);
    if (result) {
        free_library(library);
        DR_END(result);
    }
    library->self = library;
    HASH_ADD_PTR(libraries, self, library);
    *out = (CUlibrary)library;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuLibraryLoadData,
          (CUlibrary * library, const void *image, CUjit_option *options, void **values,
           unsigned count, CUlibraryOption *library_options, void **library_values,
           unsigned library_count))
{
    (void)library_options, (void)library_values, (void)library_count;
    return load_library("cuLibraryLoadData", library, image, count, options, values);
}

WL_DRIVER(CUresult, cuLibraryLoadFromFile,
          (CUlibrary * library, const char *path, CUjit_option *options, void **values,
           unsigned count, CUlibraryOption *library_options, void **library_values,
           unsigned library_count))
{
    char *data;
    size_t length;
    (void)library_options, (void)library_values, (void)library_count;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    dev_result result = dr_read_file(path, &data, &length);
    if (result)
        return (CUresult)result;
    CUresult loaded = load_library("cuLibraryLoadFromFile", library, data, count, options, values);
    free(data);
    return loaded;
}

WL_DRIVER(CUresult, cuLibraryUnload, (CUlibrary handle))
{
    DR_FREE("cuLibraryUnload");
    dr_library *library = library_of(handle);
    if (!library)
        DR_END(DEV_INVALID_HANDLE);
    HASH_DEL(libraries, library);
    free_library(library);
    DR_END(DEV_OK);
}

/* The library's module in the current context, or in the first device's primary one. */
static dev_result some_module(dr_library *library, dev_module **module)
{
    dev_context *context = dev_current();
    dev_result result = DEV_OK;
    if (!library)
        return DEV_INVALID_HANDLE;
    if (!context)
        result = dev_primary_retain(dev_gpu_get(0), &context);
    return result ? result : library_module(library, context, module, NULL);
}

static dr_kernel *kernel_named(dr_library *library, const char *name)
{
    for (dr_kernel *k = library->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    dr_kernel *kernel = calloc(1, sizeof *kernel);
    if (!kernel || !(kernel->name = strdup(name))) {
        free(kernel);
        return NULL;
    }
    kernel->library = library;
    kernel->self = kernel;
    kernel->next = library->kernels;
    library->kernels = kernel;
    HASH_ADD_PTR(kernels, self, kernel);
    return kernel;
}

WL_DRIVER(CUresult, cuLibraryGetKernel, (CUkernel * out, CUlibrary handle, const char *name))
{
    DR_FREE("cuLibraryGetKernel");
    dr_library *library = library_of(handle);
    dev_module *module;
    dev_function *function;
    if (!out || !name)
        DR_END(DEV_INVALID_VALUE);
    result = some_module(library, &module);
    if (result == DEV_OK)
        result = dev_module_function(module, name, &function);
    if (result == DEV_OK)
        *out = (CUkernel)kernel_named(library, name);
    DR_END(result == DEV_OK && !*out ? DEV_NOMEM : result);
}

WL_DRIVER(CUresult, cuLibraryGetKernelCount, (unsigned *count, CUlibrary handle))
{
    DR_FREE("cuLibraryGetKernelCount");
    dev_module *module;
    result = count ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *count = dev_module_count(module);
    DR_END(result);
}

WL_DRIVER(CUresult, cuLibraryEnumerateKernels, (CUkernel * out, unsigned room, CUlibrary handle))
{
    DR_FREE("cuLibraryEnumerateKernels");
    dr_library *library = library_of(handle);
    dev_module *module;
    result = out ? some_module(library, &module) : DEV_INVALID_VALUE;
    for (unsigned i = 0; !result && i < room && i < dev_module_count(module); i++)
        out[i] = (CUkernel)kernel_named(library, dev_function_name(dev_module_at(module, i)));
    DR_END(result);
}

WL_DRIVER(CUresult, cuLibraryGetModule, (CUmodule * out, CUlibrary handle))
{
    DR_QUIET("cuLibraryGetModule");
    dev_module *module;
    result = out ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        *out = (CUmodule)module;
    DR_END(result);
}

static CUresult library_global(const char *api, CUdeviceptr *address, size_t *bytes,
                               CUlibrary handle, const char *name)
{
    DR_FREE(api);
    dev_module *module;
    result = name ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    DR_END(result ? result : global(module, name, address, bytes));
}

WL_DRIVER(CUresult, cuLibraryGetGlobal,
          (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name))
{
    return library_global("cuLibraryGetGlobal", address, bytes, library, name);
}

WL_DRIVER(CUresult, cuLibraryGetManaged,
          (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name))
{
    return library_global("cuLibraryGetManaged", address, bytes, library, name);
}

/* ---- kernels and functions ---- */

dev_function *dr_function(dev_context *context, CUfunction handle)
{
    dev_module *module;
    dev_function *function;
    if (dev_is(handle, DEV_FUNCTION))
        return (dev_function *)handle;
    dr_kernel *kernel = kernel_of(handle);
    if (!kernel || library_module(kernel->library, context, &module, NULL) ||
        dev_module_function(module, kernel->name, &function))
        return NULL;
    return function;
}

WL_DRIVER(CUresult, cuKernelGetFunction, (CUfunction * out, CUkernel kernel))
{
    DR_QUIET("cuKernelGetFunction");
    dev_function *function = dr_function(call->context, (CUfunction)kernel);
    if (!out || !function)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *out = (CUfunction)function;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuKernelGetLibrary, (CUlibrary * out, CUkernel handle))
{
    DR_FREE("cuKernelGetLibrary");
    dr_kernel *kernel = kernel_of(handle);
    if (!out || !kernel)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *out = (CUlibrary)kernel->library;
    DR_END(DEV_OK);
}

static CUresult name_of(const char *api, const char **name, void *handle)
{
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    if (!name || !function)
        DR_END(name ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *name = dev_function_name(function);
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuFuncGetName, (const char **name, CUfunction function))
{
    return name_of("cuFuncGetName", name, function);
}

WL_DRIVER(CUresult, cuKernelGetName, (const char **name, CUkernel kernel))
{
    return name_of("cuKernelGetName", name, kernel);
}

static CUresult param(const char *api, void *handle, size_t index, size_t *offset, size_t *size)
{
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    if (!offset || !function)
        DR_END(offset ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    DR_END(dev_function_param(function, index, offset, size));
}

WL_DRIVER(CUresult, cuFuncGetParamInfo,
          (CUfunction function, size_t index, size_t *offset, size_t *size))
{
    return param("cuFuncGetParamInfo", function, index, offset, size);
}

WL_DRIVER(CUresult, cuKernelGetParamInfo,
          (CUkernel kernel, size_t index, size_t *offset, size_t *size))
{
    return param("cuKernelGetParamInfo", kernel, index, offset, size);
}

WL_DRIVER(CUresult, cuFuncGetModule, (CUmodule * out, CUfunction handle))
{
    DR_QUIET("cuFuncGetModule");
    dev_function *function = dr_function(call->context, handle);
    if (!out || !function)
        DR_END(out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE);
    *out = (CUmodule)dev_function_module(function);
    DR_END(DEV_OK);
}

static CUresult attribute(const char *api, int *get, int number, void *handle, int set)
{
    DR_QUIET(api);
    dev_function *function = dr_function(call->context, handle);
    if (!function)
        DR_END(DEV_INVALID_HANDLE);
    DR_END(get ? dev_function_get(function, number, get) : dev_function_set(function, number, set));
}

WL_DRIVER(CUresult, cuFuncGetAttribute, (int *value, int number, CUfunction function))
{
    return value ? attribute("cuFuncGetAttribute", value, number, function, 0)
                 : CUDA_ERROR_INVALID_VALUE;
}

WL_DRIVER(CUresult, cuFuncSetAttribute, (CUfunction function, int number, int value))
{
    return attribute("cuFuncSetAttribute", NULL, number, function, value);
}

WL_DRIVER(CUresult, cuKernelGetAttribute,
          (int *value, int number, CUkernel kernel, CUdevice device))
{
    (void)device; /* all devices are of one kind */
    return value ? attribute("cuKernelGetAttribute", value, number, kernel, 0)
                 : CUDA_ERROR_INVALID_VALUE;
}

WL_DRIVER(CUresult, cuKernelSetAttribute, (int number, int value, CUkernel kernel, CUdevice device))
{
    (void)device;
    return attribute("cuKernelSetAttribute", NULL, number, kernel, value);
}

/* Preferences: nothing that can be observed here depends on them. */
static CUresult prefer(const char *api, void *handle, bool valid)
{
    DR_QUIET(api);
    if (!valid)
        DR_END(DEV_INVALID_VALUE);
    DR_END(dr_function(call->context, handle) ? DEV_OK : DEV_INVALID_HANDLE);
}

WL_DRIVER(CUresult, cuFuncSetCacheConfig, (CUfunction function, int config))
{
    return prefer("cuFuncSetCacheConfig", function, config >= 0 && config <= 3);
}

WL_DRIVER(CUresult, cuKernelSetCacheConfig, (CUkernel kernel, int config, CUdevice device))
{
    (void)device;
    return prefer("cuKernelSetCacheConfig", kernel, config >= 0 && config <= 3);
}

WL_DRIVER(CUresult, cuFuncSetSharedMemConfig, (CUfunction function, int config))
{
    return prefer("cuFuncSetSharedMemConfig", function, config >= 0 && config <= 2);
}

WL_DRIVER(CUresult, cuFuncLoad, (CUfunction function))
{
    return prefer("cuFuncLoad", function, true);
}

WL_DRIVER(CUresult, cuFuncIsLoaded, (int *state, CUfunction function))
{
    CUresult result = prefer("cuFuncIsLoaded", function, state);
    if (result == CUDA_SUCCESS)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return result;
}
