/* What the files of the driver front end (driver_*.c) share. */
#ifndef WL_COLLECT_DRIVER_H
#define WL_COLLECT_DRIVER_H

#include "collect/core.h"
#include "collect/entry.h"
#include "cuda/types.h"

enum { DR_VERSION = 13000 }; /* the driver that we stand in for: CUDA 13.0 */

/* First and last statement of an entry point. DR_BEGIN checks that cuInit was called, and `flags`. */
#define DR_BEGIN(api, kind, flags)                                                   \
    collect_call call;                                                               \
    collect_result result = collect_begin(&call, api, kind, COLLECT_INIT | (flags)); \
    do {                                                                             \
        if (result)                                                                  \
            return dr_end(&call, result);                                            \
    } while (0)
#define DR_END(value) return dr_end(&call, value)

/* Calls that are not recorded, with and without need of a context. */
#define DR_QUIET(api) DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_CURRENT | COLLECT_QUIET)
#define DR_FREE(api) DR_BEGIN(api, CAP_CALL_OTHER, COLLECT_QUIET)

static inline CUresult dr_end(collect_call *call, collect_result result)
{
    return (CUresult)collect_driver_result(collect_end(call, result));
}

/* Two entry points with one body, which gets the name and whether stream 0 is the thread's own:
 *     WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream stream), (stream)) { ... api, per_thread ... } */
#define WL_DRIVER_STREAM(suffix, name, params, args)                                       \
    static CUresult dr_body_##name(const char *api, bool per_thread, COLLECT_ARGS params); \
    WL_DRIVER(CUresult, name, (COLLECT_ARGS params))                                       \
    {                                                                                      \
        return dr_body_##name(#name, false, COLLECT_ARGS args);                            \
    }                                                                                      \
    WL_DRIVER(CUresult, name##_##suffix, (COLLECT_ARGS params))                            \
    {                                                                                      \
        return dr_body_##name(#name, true, COLLECT_ARGS args);                             \
    }                                                                                      \
    static CUresult dr_body_##name(const char *api, bool per_thread, COLLECT_ARGS params)

/* A symbol of an older version whose arguments are the same. */
#define WL_DRIVER_ALSO(symbol, name)                                 \
    static const collect_entry entry_also_##symbol                   \
        __attribute__((section("wl_entries"), used, aligned(8))) = { \
            #symbol, (collect_code)(void *)dr_##name, 0, 0, 0}

/* The file's content, NUL-terminated, malloc'ed; FILE_NOT_FOUND. Needs no lock. */
collect_result dr_read_file(const char *path, char **data, size_t *length);

/* INVALID_VALUE, INVALID_HANDLE. Within a call. */
collect_result dr_copy_3d(const CUDA_MEMCPY3D *params, collect_copy *copy);

/* `extra` of a launch: a list of tags with values that ends in CU_LAUNCH_PARAM_END. False where it is malformed, or given
 * together with `params`. */
bool dr_arguments(void **params, void **extra, collect_launch *launch);

/* The function that a CUfunction or a CUkernel stands for in the context; NULL where it is neither. */
collect_function *dr_function(collect_context *context, CUfunction handle);

#endif
