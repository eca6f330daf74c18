/* cuLink*: PTX in, PTX out. What an application takes for a cubin is the text of all that it added,
 * joined; it can only be loaded again. */
#include "api/driver/driver.h"

#include "cuda/fatbin.h"
#include "ptx/link.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

struct CUlinkState_st {
    unsigned sm;
    wl_vec(ptx_source) parts;
    char *text; /* once it is complete */
    size_t length;
    dr_log log;
    CUlinkState self;
    UT_hash_handle hh;
};

static CUlinkState states; /* under the lock of the device layer */

static CUlinkState find_link_state(CUlinkState handle)
{
    CUlinkState found;
    HASH_FIND_PTR(states, &handle, found);
    return found;
}

dev_result dr_new_link(dev_call *call, unsigned count, const CUjit_option *options, void **values,
                       CUlinkState *out)
{
    if (!out || (count && (!options || !values)))
        return DEV_INVALID_VALUE;
    CUlinkState state = calloc(1, sizeof *state);
    if (!state)
        return DEV_NOMEM;
    state->log = dr_error_log(count, options, values);
    state->log.left = NULL; /* the lists of options may go before the log is written */
    state->sm = dev_gpu_description(dev_context_device(call->context))->sm;
    state->self = state;
    HASH_ADD_PTR(states, self, state);
    *out = state;
    return DEV_OK;
}

/* Takes over the texts of the image. */
static dev_result add_image(CUlinkState state, const void *data, size_t size, wl_error *err)
{
    cuda_image image;
    wl_status status = cuda_image_read(data, size, state->sm, &image, err);
    for (size_t i = 0; status == WL_OK && i < image.count; i++)
        if (!wl_push(&state->parts, image.ptx[i]))
            status = wl_fail(err, WL_NOMEM, "no memory to link PTX");
        else
            image.ptx[i].text = NULL;
    if (image.ptx)
        cuda_image_clear(&image);
    return dev_image_result(status);
}

dev_result dr_link_data(CUlinkState handle, int type, const void *data, size_t size)
{
    CUlinkState state = find_link_state(handle);
    wl_error err = {0};
    if (!state)
        return DEV_INVALID_HANDLE;
    if (!data || !size || state->text)
        return DEV_INVALID_VALUE;
    if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY)
        return dev_unsupported_part("cuLinkAddData of anything but PTX and fat binaries");
    dev_result r = add_image(state, data, size, &err);
    dr_write_log(&state->log, &err);
    return r;
}

dev_result dr_link_file(CUlinkState state, int type, const char *path)
{
    char *data;
    size_t length;
    dev_result r = path ? dr_read_file(path, &data, &length) : DEV_INVALID_VALUE;
    if (r)
        return r;
    r = dr_link_data(state, type, data, length);
    free(data);
    return r;
}

dev_result dr_complete_link(CUlinkState handle, void **cubin, size_t *size)
{
    CUlinkState state = find_link_state(handle);
    wl_error err = {0};
    if (!state)
        return DEV_INVALID_HANDLE;
    if (!state->text && ptx_link(state->parts.data, state->parts.count, &state->text,
                                 &state->length, &err) != WL_OK) {
        dr_write_log(&state->log, &err);
        return DEV_INVALID_IMAGE;
    }
    if (cubin)
        *cubin = state->text;
    if (size)
        *size = state->length + 1;
    return DEV_OK;
}

dev_result dr_destroy_link(CUlinkState handle)
{
    CUlinkState state = find_link_state(handle);
    if (!state)
        return DEV_INVALID_HANDLE;
    HASH_DEL(states, state);
    for (size_t i = 0; i < state->parts.count; i++)
        free(state->parts.data[i].text);
    wl_vec_free(&state->parts);
    free(state->text);
    free(state);
    return DEV_OK;
}
