/* Modules and functions in the driver interface. */
#include "api/driver/driver.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what goes wrong, and files ---- */

dr_log dr_error_log(unsigned count, const CUjit_option *options, void **values)
{
    dr_log log = {0};
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

void dr_write_log(const dr_log *log, const wl_error *err)
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

dev_result dr_load_module(dev_call *call, CUmodule *out, const void *image, unsigned count,
                          const CUjit_option *options, void **values)
{
    dev_module *module;
    wl_error err = {0};
    dr_log log = dr_error_log(count, options, values);
    if (!out || !image)
        return DEV_INVALID_VALUE;
    dev_result r = dev_module_load(call->context, image, &module, &err);
    dr_write_log(&log, &err);
    if (r == DEV_OK)
        *out = (CUmodule)module;
    return r;
}

dev_result dr_load_module_file(dev_call *call, CUmodule *out, const char *path)
{
    char *data;
    size_t length;
    dev_result r = path ? dr_read_file(path, &data, &length) : DEV_INVALID_VALUE;
    if (r)
        return r;
    r = dr_load_module(call, out, data, 0, NULL, NULL);
    free(data);
    return r;
}

dev_result dr_unload_module(CUmodule module)
{
    return module_of(module) ? dev_module_unload(module_of(module)) : DEV_INVALID_HANDLE;
}

dev_result dr_loading_mode(int *mode)
{
    if (mode)
        *mode = CU_MODULE_LAZY_LOADING;
    return mode ? DEV_OK : DEV_INVALID_VALUE;
}

dev_result dr_module_function(CUfunction *out, CUmodule handle, const char *name)
{
    dev_module *module = module_of(handle);
    dev_function *function;
    if (!out || !name || !*name)
        return DEV_INVALID_VALUE;
    dev_result r = module ? dev_module_function(module, name, &function) : DEV_INVALID_HANDLE;
    if (r == DEV_OK)
        *out = (CUfunction)function;
    return r;
}

dev_result dr_function_count(unsigned *count, CUmodule handle)
{
    dev_module *module = module_of(handle);
    if (!count || !module)
        return count ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE;
    *count = dev_module_count(module);
    return DEV_OK;
}

dev_result dr_list_functions(CUfunction *out, unsigned room, CUmodule handle)
{
    dev_module *module = module_of(handle);
    if (!out || !module)
        return out ? DEV_INVALID_HANDLE : DEV_INVALID_VALUE;
    for (unsigned i = 0; i < room && i < dev_module_count(module); i++)
        out[i] = (CUfunction)dev_module_at(module, i);
    return DEV_OK;
}

dev_result dr_global(dev_module *module, const char *name, CUdeviceptr *address, size_t *bytes)
{
    uint64_t at, size;
    dev_result r = dev_module_global(module, name, &at, &size);
    if (r == DEV_OK && address)
        *address = at;
    if (r == DEV_OK && bytes)
        *bytes = size;
    return r;
}

dev_result dr_module_global(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name)
{
    dev_module *module = module_of(handle);
    if (!name || (!address && !bytes))
        return DEV_INVALID_VALUE;
    return module ? dr_global(module, name, address, bytes) : DEV_INVALID_HANDLE;
}

/* ---- functions ---- */

dev_result dr_function_module(dev_call *call, CUmodule *out, CUfunction handle)
{
    dev_function *function;
    dev_result r = out ? dr_resolve(call->context, handle, &function) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *out = (CUmodule)dev_function_module(function);
    return r;
}

dev_result dr_is_loaded(dev_call *call, int *state, CUfunction handle)
{
    dev_function *function;
    dev_result r = state ? dr_resolve(call->context, handle, &function) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return r;
}
