/* What the files of the driver front end (driver_*.c) share. */
#ifndef WL_API_DRIVER_DRIVER_H
#define WL_API_DRIVER_DRIVER_H

#include "api/both/entry.h"
#include "cuda/types.h"
#include "device/core.h"

enum { DR_VERSION = 13000 }; /* the driver that we stand in for: CUDA 13.0 */

/* First and last statement of an entry point. DR_BEGIN checks that cuInit was called, and `flags`. */
#define DR_BEGIN(api, kind, flags)                                       \
    dev_call call;                                                       \
    dev_result result = dev_begin(&call, api, kind, DEV_INIT | (flags)); \
    do {                                                                 \
        if (result)                                                      \
            return dr_end(&call, result);                                \
    } while (0)
#define DR_END(value) return dr_end(&call, value)

/* Calls that are not recorded, with and without need of a context. */
#define DR_QUIET(api) DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT | DEV_QUIET)
#define DR_FREE(api) DR_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET)

static inline CUresult dr_end(dev_call *call, dev_result result)
{
    return (CUresult)dev_driver_result(dev_end(call, result));
}

/* Two entry points with one body, which gets the name and whether stream 0 is the thread's own:
 *     WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream stream), (stream)) { ... api, per_thread ... } */
#define WL_DRIVER_STREAM(suffix, name, params, args)                                   \
    static CUresult dr_body_##name(const char *api, bool per_thread, API_ARGS params); \
    WL_DRIVER(CUresult, name, (API_ARGS params))                                       \
    {                                                                                  \
        return dr_body_##name(#name, false, API_ARGS args);                            \
    }                                                                                  \
    WL_DRIVER(CUresult, name##_##suffix, (API_ARGS params))                            \
    {                                                                                  \
        return dr_body_##name(#name, true, API_ARGS args);                             \
    }                                                                                  \
    static CUresult dr_body_##name(const char *api, bool per_thread, API_ARGS params)

/* A symbol of an older version whose arguments are the same. */
#define WL_DRIVER_ALSO(symbol, name)                                 \
    static const api_entry entry_also_##symbol                       \
        __attribute__((section("wl_entries"), used, aligned(8))) = { \
            #symbol, (inj_code)(void *)dr_##name, 0, 0, 0}

/* The file's content, NUL-terminated, malloc'ed; FILE_NOT_FOUND. Needs no lock. */
dev_result dr_read_file(const char *path, char **data, size_t *length);

/* INVALID_VALUE, INVALID_HANDLE. Within a call. */
dev_result dr_copy_3d(const CUDA_MEMCPY3D *params, dev_copy *copy);

/* `extra` of a launch: a list of tags with values that ends in CU_LAUNCH_PARAM_END. False where it is malformed, or given
 * together with `params`. */
bool dr_arguments(void **params, void **extra, dev_launch *launch);

/* The function that a CUfunction or a CUkernel stands for in the context; NULL where it is neither. */
dev_function *dr_function(dev_context *context, CUfunction handle);

#endif
