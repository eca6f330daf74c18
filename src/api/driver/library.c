/* Libraries and their kernels in the driver interface: a library is a module that each context gets
 * when it needs it. */
#include "api/driver/driver.h"
#include "cuda/fatbin.h"
#include "ptx/link.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

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

static dr_kernel *kernel_of_handle(const void *handle)
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

/* ---- loading ---- */

/* The device that an image is read for where there is no context yet. */
static dev_gpu *library_device(void)
{
    dev_context *context = dev_current();
    return context ? dev_context_device(context) : dev_gpu_get(0);
}

static dev_result image_text(const void *image, unsigned sm, char **text, wl_error *err)
{
    cuda_image read;
    size_t length;
    wl_status status = cuda_image_read(image, CUDA_SIZE_UNKNOWN, sm, &read, err);
    if (status != WL_OK)
        return dev_image_result(status);
    if (read.count > 1) {
        status = ptx_link(read.ptx, read.count, text, &length, err);
    } else {
        *text = read.ptx[0].text;
        read.ptx[0].text = NULL;
    }
    cuda_image_clear(&read);
    return status == WL_OK ? DEV_OK : DEV_INVALID_PTX;
}

static dev_result fill_library(dr_library *library, const void *image, wl_error *err)
{
    dev_module *module;
    unsigned sm = dev_gpu_description(library_device())->sm;
    dev_result r = image_text(image, sm, &library->text, err);
    if (r == DEV_OK && dev_current()) /* tells at once what is wrong with it */
        r = library_module(library, dev_current(), &module, err);
    return r;
}

dev_result dr_load_library(CUlibrary *out, const void *image, unsigned count,
                           const CUjit_option *options, void **values)
{
    dr_log log = dr_error_log(count, options, values);
    wl_error err = {0};
    if (!out || !image)
        return DEV_INVALID_VALUE;
    dr_library *library = calloc(1, sizeof *library);
    if (!library)
        return DEV_NOMEM;
    dev_result r = fill_library(library, image, &err);
    dr_write_log(&log, &err);
    if (r) {
        free_library(library);
        return r;
    }
    library->self = library;
    HASH_ADD_PTR(libraries, self, library);
    *out = (CUlibrary)library;
    return DEV_OK;
}

dev_result dr_load_library_file(CUlibrary *out, const char *path, unsigned count,
                                const CUjit_option *options, void **values)
{
    char *data;
    size_t length;
    dev_result r = path ? dr_read_file(path, &data, &length) : DEV_INVALID_VALUE;
    if (r)
        return r;
    r = dr_load_library(out, data, count, options, values);
    free(data);
    return r;
}

dev_result dr_unload_library(CUlibrary handle)
{
    dr_library *library = library_of(handle);
    if (!library)
        return DEV_INVALID_HANDLE;
    HASH_DEL(libraries, library);
    free_library(library);
    return DEV_OK;
}

/* ---- what is in a library ---- */

/* The library's module in the current context, or in the first device's primary one. */
static dev_result some_module(dr_library *library, dev_module **module)
{
    dev_context *context = dev_current();
    dev_result r = DEV_OK;
    if (!library)
        return DEV_INVALID_HANDLE;
    if (!context)
        r = dev_primary_retain(dev_gpu_get(0), &context);
    return r ? r : library_module(library, context, module, NULL);
}

dev_result dr_library_kernel(CUkernel *out, CUlibrary handle, const char *name)
{
    dr_library *library = library_of(handle);
    dev_module *module;
    dev_function *function;
    if (!out || !name)
        return DEV_INVALID_VALUE;
    dev_result r = some_module(library, &module);
    if (r == DEV_OK)
        r = dev_module_function(module, name, &function);
    if (r)
        return r;
    *out = (CUkernel)kernel_named(library, name);
    return *out ? DEV_OK : DEV_NOMEM;
}

dev_result dr_kernel_count(unsigned *count, CUlibrary handle)
{
    dev_module *module;
    dev_result r = count ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *count = dev_module_count(module);
    return r;
}

dev_result dr_list_kernels(CUkernel *out, unsigned room, CUlibrary handle)
{
    dr_library *library = library_of(handle);
    dev_module *module;
    dev_result r = out ? some_module(library, &module) : DEV_INVALID_VALUE;
    for (unsigned i = 0; !r && i < room && i < dev_module_count(module); i++)
        out[i] = (CUkernel)kernel_named(library, dev_function_name(dev_module_at(module, i)));
    return r;
}

dev_result dr_library_module(CUmodule *out, CUlibrary handle)
{
    dev_module *module;
    dev_result r = out ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUmodule)module;
    return r;
}

dev_result dr_library_global(CUdeviceptr *address, size_t *bytes, CUlibrary handle,
                             const char *name)
{
    dev_module *module;
    dev_result r = name ? some_module(library_of(handle), &module) : DEV_INVALID_VALUE;
    return r ? r : dr_global(module, name, address, bytes);
}

dev_result dr_kernel_library(CUlibrary *out, CUkernel handle)
{
    dr_kernel *kernel = kernel_of_handle(handle);
    if (!out || !kernel)
        return out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE;
    *out = (CUlibrary)kernel->library;
    return DEV_OK;
}

dev_result dr_resolve(dev_context *context, const void *handle, dev_function **out)
{
    dev_module *module;
    if (dev_is(handle, DEV_FUNCTION)) {
        *out = (dev_function *)(uintptr_t)handle;
        return DEV_OK;
    }
    dr_kernel *kernel = kernel_of_handle(handle);
    if (!kernel || library_module(kernel->library, context, &module, NULL) ||
        dev_module_function(module, kernel->name, out))
        return DEV_INVALID_HANDLE;
    return DEV_OK;
}
