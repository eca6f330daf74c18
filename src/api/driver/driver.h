/* What the files of the driver interface share. Entry points of one call are rows of
 * entries.def. */
#ifndef WL_API_DRIVER_DRIVER_H
#define WL_API_DRIVER_DRIVER_H

#include "api/both/entry.h"
#include "api/both/node.h"
#include "cuda/types.h"
#include "device/device.h"

enum { DR_VERSION = API_DRIVER_VERSION };

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

/* The file's content, NUL-terminated, malloc'ed; FILE_NOT_FOUND. */
dev_result dr_read_file(const char *path, char **data, size_t *length);

typedef struct dr_log { /* where the application wants to read what went wrong */
    char *text;
    size_t size;
    void **left; /* its size option, which receives the length written; may be NULL */
} dr_log;

dr_log dr_error_log(unsigned count, const CUjit_option *options, void **values);
void dr_write_log(const dr_log *log, const wl_error *err);

/* INVALID_VALUE, INVALID_HANDLE. Within a call. */
dev_result dr_read_copy(const CUDA_MEMCPY3D *params, dev_copy *copy);

/* An api_resolver, of a CUfunction or a CUkernel. INVALID_HANDLE. */
dev_result dr_resolve(dev_context *context, const void *handle, dev_function **out);
dev_result dr_global(dev_module *module, const char *name, CUdeviceptr *address, size_t *bytes);

extern const api_side dr_nodes;

/* ---- what rows of entries.def call ---- */

/* cuStreamWaitValue, cuStreamWriteValue: of 4 or 8 bytes. */
dev_result dr_wait_value(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                         uint64_t value, unsigned bytes, unsigned flags);
dev_result dr_write_value(dev_call *call, CUstream stream, bool per_thread, CUdeviceptr address,
                          uint64_t value, unsigned bytes);

/* tensor.c; the arguments of cuTensorMapEncodeTiled */
typedef struct dr_tensor {
    const void *address;
    const cuuint64_t *dim, *stride;
    const cuuint32_t *box, *step;
    cuuint32_t rank;
    unsigned element, interleave, swizzle, promotion, fill;
} dr_tensor;
/* INVALID_VALUE, NOT_SUPPORTED */
dev_result dr_encode_tiled(CUtensorMap *map, const dr_tensor *args);
dev_result dr_replace_address(CUtensorMap *map, void *address);

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

/* device.c */
dev_result dr_device_count(int *count);
dev_result dr_device(CUdevice *device, int ordinal);
dev_result dr_device_name(char *name, int length, CUdevice device);
dev_result dr_device_uuid(CUuuid *uuid, CUdevice device);
dev_result dr_device_memory(size_t *bytes, CUdevice device);
dev_result dr_compute_capability(int *major, int *minor, CUdevice device);
dev_result dr_device_properties(CUdevprop *prop, CUdevice device);
dev_result dr_linear_texture_width(size_t *width, int format, unsigned channels, CUdevice device);
dev_result dr_affinity_support(int *supported, CUdevice device);
dev_result dr_primary_retain(CUcontext *context, CUdevice device);
dev_result dr_with_device(CUdevice device, dev_result (*act)(dev_gpu *device));
dev_result dr_set_primary_flags(CUdevice device, unsigned flags);
dev_result dr_primary_state(CUdevice device, unsigned *flags, int *active);

/* context.c; those that take a context take NULL for the current one */
dev_result dr_new_context(CUcontext *out, unsigned flags, CUdevice device);
dev_result dr_new_context_3(CUcontext *out, const CUexecAffinityParam *params, int count,
                            unsigned flags, CUdevice device);
dev_result dr_new_context_4(CUcontext *out, const CUctxCreateParams *params, unsigned flags,
                            CUdevice device);
dev_result dr_destroy_context(CUcontext handle);
dev_result dr_push_context(CUcontext handle);
dev_result dr_pop_context(CUcontext *out);
dev_result dr_set_current(CUcontext handle);
dev_result dr_get_current(CUcontext *out);
dev_result dr_context_device(CUdevice *out, CUcontext handle);
dev_result dr_context_id(CUcontext handle, unsigned long long *id);
dev_result dr_context_version(CUcontext handle, unsigned *version);
dev_result dr_synchronize(CUcontext handle);
dev_result dr_context_flags(dev_call *call, unsigned *flags);
dev_result dr_set_context_flags(unsigned flags);
dev_result dr_limit(dev_call *call, size_t *value, int limit);
dev_result dr_set_limit(dev_call *call, int limit, size_t value);
dev_result dr_enable_peer(dev_call *call, CUcontext handle, unsigned flags);
dev_result dr_disable_peer(dev_call *call, CUcontext handle);

/* launch.c */
dev_result dr_launch(dev_call *call, CUstream stream, bool per_thread, CUfunction function,
                     dev_launch launch, void **params, void **extra);
dev_result dr_launch_config(dev_call *call, bool per_thread, const CUlaunchConfig *config,
                            CUfunction function, void **params, void **extra);
dev_result dr_clusters(dev_call *call, int *out, CUfunction handle, const CUlaunchConfig *config,
                       dev_result (*count)(dev_function *, const dev_launch *, int *));

/* module.c */
dev_result dr_load_module(dev_call *call, CUmodule *out, const void *image, unsigned count,
                          const CUjit_option *options, void **values);
dev_result dr_load_module_file(dev_call *call, CUmodule *out, const char *path);
dev_result dr_unload_module(CUmodule module);
dev_result dr_loading_mode(int *mode);
dev_result dr_module_function(CUfunction *out, CUmodule handle, const char *name);
dev_result dr_function_count(unsigned *count, CUmodule handle);
dev_result dr_list_functions(CUfunction *out, unsigned room, CUmodule handle);
dev_result dr_module_global(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name);
dev_result dr_function_module(dev_call *call, CUmodule *out, CUfunction handle);
dev_result dr_is_loaded(dev_call *call, int *state, CUfunction handle);

/* library.c */
dev_result dr_load_library(CUlibrary *out, const void *image, unsigned count,
                           const CUjit_option *options, void **values);
dev_result dr_load_library_file(CUlibrary *out, const char *path, unsigned count,
                                const CUjit_option *options, void **values);
dev_result dr_unload_library(CUlibrary handle);
dev_result dr_library_kernel(CUkernel *out, CUlibrary handle, const char *name);
dev_result dr_kernel_count(unsigned *count, CUlibrary handle);
dev_result dr_list_kernels(CUkernel *out, unsigned room, CUlibrary handle);
dev_result dr_library_module(CUmodule *out, CUlibrary handle);
dev_result dr_library_global(CUdeviceptr *address, size_t *bytes, CUlibrary handle,
                             const char *name);
dev_result dr_kernel_library(CUlibrary *out, CUkernel handle);

/* link.c */
dev_result dr_new_link(dev_call *call, unsigned count, const CUjit_option *options, void **values,
                       CUlinkState *out);
dev_result dr_link_data(CUlinkState handle, int type, const void *data, size_t size);
dev_result dr_link_file(CUlinkState state, int type, const char *path);
dev_result dr_complete_link(CUlinkState handle, void **cubin, size_t *size);
dev_result dr_destroy_link(CUlinkState handle);

#endif
