/* Kernels by handle: what a CUfunction or a CUkernel stands for. */
#include "shim/driver/impl.h"

#include <stdlib.h>
#include <string.h>

static drv_function *functions;
static drv_function *latest_function; /* that was asked for; NULL: none */

static void free_function(drv_function *f)
{
    if (latest_function == f)
        latest_function = NULL;
    HASH_DEL(functions, f);
    wl_vec_free(&f->params);
    free(f->name);
    free(f);
}

void drv_functions_gone(const drv_module *m)
{
    drv_function *f, *next;
    HASH_ITER (hh, functions, f, next) {
        if (f->module == m || !f->module)
            free_function(f);
    }
}

drv_function *drv_function_add(void *handle, const char *name, drv_module *module)
{
    static uint64_t serial;
    drv_function *f = NULL;
    HASH_FIND_PTR(functions, &handle, f);
    if (f && f->module == module && strcmp(f->name, name) == 0)
        return f;
    if (f) /* the handle was given out again */
        free_function(f);
    f = calloc(1, sizeof *f);
    if (!f || !(f->name = strdup(name))) {
        free(f);
        return NULL;
    }
    f->handle = handle;
    f->module = module;
    f->serial = ++serial;
    HASH_ADD_PTR(functions, handle, f);
    return f;
}

void drv_kernel_has_function(void *kernel, void *function)
{
    drv_function *known = NULL;
    HASH_FIND_PTR(functions, &kernel, known);
    if (known && kernel != function)
        drv_function_add(function, known->name, known->module);
}

/* A handle that came by another way (enumeration, a table of the runtime's): the driver knows its
 * name. A CUkernel may be given where a CUfunction is expected. */
static drv_function *ask_for_function(void *handle)
{
    const char *name = NULL;
    void *owner = NULL;
    bool kernel = false;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetName, (const char **, CUfunction), &name,
               (CUfunction)handle) == CUDA_SUCCESS)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetModule, (void **, CUfunction), &owner,
               (CUfunction)handle);
    else if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetName, (const char **, CUkernel), &name,
                    (CUkernel)handle) == CUDA_SUCCESS) {
        kernel = true;
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetLibrary, (void **, CUkernel), &owner,
               (CUkernel)handle);
    }
    drv_module *m = drv_module_find(owner, kernel, name);
    drv_function *f = drv_function_add(handle, name ? name : "(unknown kernel)", owner ? m : NULL);
    if (f)
        f->kernel = kernel;
    return f;
}

CUfunction drv_function_handle(const drv_function *f)
{
    CUfunction function = (CUfunction)f->handle;
    if (f->kernel)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuKernelGetFunction, (CUfunction *, CUkernel), &function,
               (CUkernel)f->handle);
    return function;
}

static uint32_t function_attribute(CUfunction function, int which)
{
    int value = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetAttribute, (int *, int, CUfunction), &value, which,
           function);
    return value > 0 ? (uint32_t)value : 0;
}

/* False where the driver does not tell: it learned to with CUDA 12.4. */
static bool ask_for_params(drv_function *f, CUfunction function)
{
    size_t offset, bytes;
    CUresult result = CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0;; i++) {
        result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuFuncGetParamInfo,
                        (CUfunction, size_t, size_t *, size_t *), function, i, &offset, &bytes);
        if (result != CUDA_SUCCESS)
            break;
        if (!wl_push(&f->params, ((cuda_param){(uint32_t)offset, (uint32_t)bytes})))
            return false;
        if (offset + bytes > f->param_bytes)
            f->param_bytes = (uint32_t)(offset + bytes);
    }
    return result == CUDA_ERROR_INVALID_VALUE; /* that is how the list ends */
}

static bool take_layout(drv_function *f)
{
    const cuda_layout *layout = f->module ? drv_module_layout(f->module, f->name) : NULL;
    f->params.count = 0;
    for (uint32_t i = 0; layout && i < layout->count; i++)
        if (!wl_push(&f->params, layout->params[i]))
            return false;
    f->param_bytes = layout ? layout->bytes : 0;
    return layout != NULL;
}

static void describe_function(drv_function *f)
{
    CUfunction function = drv_function_handle(f);
    f->described = true;
    f->static_shared = function_attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    f->local_bytes = function_attribute(function, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    f->registers = function_attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    for (int i = 0; i < 3; i++)
        f->cluster[i] = function_attribute(function, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH + i);
    f->params_known = ask_for_params(f, function) || take_layout(f);
}

drv_function *drv_function_of(void *handle)
{
    drv_function *f = NULL;
    if (latest_function && latest_function->handle == handle)
        return latest_function;
    HASH_FIND_PTR(functions, &handle, f);
    if (!f)
        f = ask_for_function(handle);
    if (f && !f->described)
        describe_function(f);
    return latest_function = f;
}
