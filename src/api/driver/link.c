/* cuLink*: PTX in, PTX out. What an application takes for a cubin is the text of all that it added,
 * joined; it can only be loaded again. */
#include "api/driver/driver.h"

#include "cuda/fatbin.h"
#include "ptx/link.h"

#include "base/vec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct CUlinkState_st {
    unsigned sm;
    wl_vec(ptx_source) parts;
    char *text; /* once it is complete */
    size_t length;
    char *log; /* of the application, for errors */
    size_t log_size;
    CUlinkState self;
    UT_hash_handle hh;
};

static CUlinkState states; /* under the lock of the device layer */

static CUlinkState state_of(CUlinkState handle)
{
    CUlinkState found;
    HASH_FIND_PTR(states, &handle, found);
    return found;
}

static void say(CUlinkState state, const wl_error *err)
{
    if (state->log && state->log_size)
        snprintf(state->log, state->log_size, "%s", err->text);
}

static dev_result read_status(wl_status status)
{
    switch (status) {
    case WL_OK: return DEV_OK;
    case WL_NOENT: return DEV_NO_BINARY_FOR_GPU;
    case WL_NOMEM: return DEV_NOMEM;
    case WL_UNSUPPORTED: return DEV_INVALID_PTX;
    default: return DEV_INVALID_IMAGE;
    }
}

WL_DRIVER(CUresult, cuLinkCreate_v2,
          (unsigned count, CUjit_option *options, void **values, CUlinkState *out))
{
    DR_QUIET("cuLinkCreate_v2");
    if (!out || (count && (!options || !values)))
        DR_END(DEV_INVALID_VALUE);
    CUlinkState state = calloc(1, sizeof *state);
    if (!state)
        DR_END(DEV_NOMEM);
    for (unsigned i = 0; i < count; i++) {
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER)
            state->log = values[i];
        if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES)
            state->log_size = (uintptr_t)values[i] & UINT32_MAX;
    }
    state->sm = dev_gpu_description(dev_context_device(call->context))->sm;
    state->self = state;
    HASH_ADD_PTR(states, self, state);
    *out = state;
    DR_END(DEV_OK);
}
WL_DRIVER_ALSO(cuLinkCreate, cuLinkCreate_v2);

/* Takes over the texts of the image. */
static dev_result add_image(CUlinkState state, const void *data, size_t size, wl_error *err)
{
    cuda_image image;
    wl_status status = cuda_image_read(data, size, state->sm, &image, err);
    for (size_t i = 0; status == WL_OK && i < image.count; i++) {
        if (!wl_push(&state->parts, image.ptx[i]))
            status = wl_fail(err, WL_NOMEM, "no memory to link PTX");
        else
            image.ptx[i].text = NULL;
    }
    if (image.ptx)
        cuda_image_clear(&image);
    return read_status(status);
}

static CUresult add(const char *api, CUlinkState handle, int type, const void *data, size_t size)
{
    DR_QUIET(api);
    CUlinkState state = state_of(handle);
    wl_error err = {0};
    if (!state)
        DR_END(DEV_INVALID_HANDLE);
    if (!data || !size || state->text)
        DR_END(DEV_INVALID_VALUE);
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        DR_END(dev_unsupported_part("cuLinkAddData of anything but PTX and fat binaries"));
    result = add_image(state, data, size, &err);
    say(state, &err);
    DR_END(result);
}

WL_DRIVER(CUresult, cuLinkAddData_v2,
          (CUlinkState state, int type, void *data, size_t size, const char *name, unsigned count,
           CUjit_option *options, void **values))
{
    (void)name, (void)count, (void)options, (void)values;
    return add("cuLinkAddData_v2", state, type, data, size);
}
WL_DRIVER_ALSO(cuLinkAddData, cuLinkAddData_v2);

WL_DRIVER(CUresult, cuLinkAddFile_v2,
          (CUlinkState state, int type, const char *path, unsigned count, CUjit_option *options,
           void **values))
{
    char *data;
    size_t length;
    (void)count, (void)options, (void)values;
    if (!path)
        return CUDA_ERROR_INVALID_VALUE;
    dev_result read = dr_read_file(path, &data, &length);
    if (read)
        return (CUresult)read;
    CUresult result = add("cuLinkAddFile_v2", state, type, data, length);
    free(data);
    return result;
}
WL_DRIVER_ALSO(cuLinkAddFile, cuLinkAddFile_v2);

WL_DRIVER(CUresult, cuLinkComplete, (CUlinkState handle, void **cubin, size_t *size))
{
    DR_QUIET("cuLinkComplete");
    CUlinkState state = state_of(handle);
    wl_error err = {0};
    if (!state)
        DR_END(DEV_INVALID_HANDLE);
    if (!state->text && ptx_link(state->parts.data, state->parts.count, &state->text,
                                 &state->length, &err) != WL_OK) {
        say(state, &err);
        DR_END(DEV_INVALID_IMAGE);
    }
    if (cubin)
        *cubin = state->text;
    if (size)
        *size = state->length + 1;
    DR_END(DEV_OK);
}

WL_DRIVER(CUresult, cuLinkDestroy, (CUlinkState handle))
{
    DR_FREE("cuLinkDestroy");
    CUlinkState state = state_of(handle);
    if (!state)
        DR_END(DEV_INVALID_HANDLE);
    HASH_DEL(states, state);
    for (size_t i = 0; i < state->parts.count; i++)
        free(state->parts.data[i].text);
    wl_vec_free(&state->parts);
    free(state->text);
    free(state);
    DR_END(DEV_OK);
}
