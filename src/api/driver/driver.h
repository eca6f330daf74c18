/* What the files of the driver interface share. Entry points of one call are rows of
 * entries.def. */
#ifndef WL_API_DRIVER_DRIVER_H
#define WL_API_DRIVER_DRIVER_H

#include "api/both/entry.h"
#include "api/both/node.h"
#include "cuda/types.h"
#include "device/device.h"

enum { DR_VERSION = 13000 }; /* the driver that we stand in for: CUDA 13.0 */

/* First and last statement of an entry point that is no row. DR_BEGIN checks that cuInit was
 * called, and `flags`; then `call` is the call, and `result` OK. */
#define DR_BEGIN(api, kind, flags)                                      \
    dev_call begun_, *call = &begun_;                                   \
    dev_result result = dev_begin(call, api, kind, DEV_INIT | (flags)); \
    do {                                                                \
        if (result)                                                     \
            return dr_end(call, result);                                \
    } while (0)
#define DR_END(value) return dr_end(call, value)

/* Calls that are not recorded, with and without need of a context. */
#define DR_QUIET(api) DR_BEGIN(api, CAP_CALL_OTHER, DEV_CURRENT | DEV_QUIET)
#define DR_FREE(api) DR_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET)

static inline CUresult dr_end(dev_call *call, dev_result result)
{
    return (CUresult)dev_driver_result(dev_end(call, result));
}

/* Two entry points with one body, which gets the name and whether stream 0 is the thread's own:
 *     WL_DRIVER_STREAM(ptsz, cuStreamQuery, (CUstream s), (s)) { ... api, per_thread ... } */
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

/* The function that a CUfunction or a CUkernel stands for in the context; NULL where it is
 * neither. */
dev_function *dr_function(dev_context *context, CUfunction handle);

extern const api_side dr_nodes;

/* ---- what rows of entries.def call ---- */

/* cuStreamWaitValue, cuStreamWriteValue: of 4 or 8 bytes. */
dev_result dr_wait_value(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                         uint64_t value, unsigned bytes, unsigned flags);
dev_result dr_write_value(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                          uint64_t value, unsigned bytes);
dev_result dr_instantiate(CUgraphExec *out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params);

#endif
