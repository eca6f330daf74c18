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
dev_result dr_read_copy(const CUDA_MEMCPY3D *params, dev_copy *copy);

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

/* memory.c */
dev_result dr_malloc(dev_call *call, CUdeviceptr *out, size_t size);
dev_result dr_malloc_managed(dev_call *call, CUdeviceptr *out, size_t size, unsigned flags);
dev_result dr_malloc_pitch(dev_call *call, CUdeviceptr *out, size_t *pitch, size_t width,
                           size_t height, unsigned element);
dev_result dr_malloc_host(dev_call *call, void **out, size_t size, unsigned flags);
dev_result dr_register(dev_call *call, void *data, size_t size, unsigned flags);
dev_result dr_device_pointer(CUdeviceptr *out, void *data, unsigned flags);
dev_result dr_host_flags(unsigned *flags, void *data);
dev_result dr_address_range(CUdeviceptr *base, size_t *size, CUdeviceptr address);
dev_result dr_pointer_attribute(void *out, int attribute, CUdeviceptr address);
dev_result dr_pointer_attributes(unsigned count, const CUpointer_attribute *attributes, void **data,
                                 CUdeviceptr address);
dev_result dr_set_pointer_attribute(const void *value, int attribute, CUdeviceptr address);

/* virtual.c */
dev_result dr_granularity(size_t *granularity, const CUmemAllocationProp *prop, int option);
dev_result dr_new_physical(CUmemGenericAllocationHandle *out, size_t size,
                           const CUmemAllocationProp *prop, unsigned long long flags);
dev_result dr_release_physical(CUmemGenericAllocationHandle handle);
dev_result dr_retain_physical(CUmemGenericAllocationHandle *out, void *address);
dev_result dr_physical_properties(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
dev_result dr_reserve(CUdeviceptr *out, size_t size, size_t align, unsigned long long flags);
dev_result dr_map(dev_call *call, CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags);
dev_result dr_set_access(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                         size_t count);
dev_result dr_access(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr address);

/* copy.c; copies of array bytes begin in the first row */
dev_result dr_new_flat_array(dev_call *call, CUarray *out, const CUDA_ARRAY_DESCRIPTOR *d);
dev_result dr_flat_descriptor(CUarray handle, CUDA_ARRAY_DESCRIPTOR *out);
dev_result dr_copy_to_array(dev_call *call, CUstream stream, bool per_thread, CUarray to,
                            size_t offset, dev_place from, size_t bytes, bool blocking);
dev_result dr_copy_from_array(dev_call *call, CUstream stream, bool per_thread, dev_place to,
                              CUarray from, size_t offset, size_t bytes, bool blocking);
dev_result dr_copy_arrays(dev_call *call, bool per_thread, CUarray to, size_t to_offset,
                          CUarray from, size_t from_offset, size_t bytes);
dev_result dr_copy_slices(dev_call *call, CUstream stream, bool per_thread, const CUDA_MEMCPY3D *c,
                          bool blocking);
dev_result dr_copy_rows(dev_call *call, CUstream stream, bool per_thread, const CUDA_MEMCPY2D *c,
                        bool blocking);

/* texture.c */
dev_result dr_new_texture(dev_call *call, CUtexObject *out, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view);
dev_result dr_new_surface(dev_call *call, CUsurfObject *out, const CUDA_RESOURCE_DESC *resource);
dev_result dr_resource_of(unsigned long long handle, bool surface, CUDA_RESOURCE_DESC *out);
dev_result dr_texture_of(CUtexObject handle, CUDA_TEXTURE_DESC *out);
dev_result dr_view_of(CUtexObject handle, CUDA_RESOURCE_VIEW_DESC *out);

#endif
