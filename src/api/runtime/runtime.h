/* What the files of the runtime share. Entry points of one call are rows of entries.def. */
#ifndef WL_API_RUNTIME_RUNTIME_H
#define WL_API_RUNTIME_RUNTIME_H

#include "api/both/entry.h"
#include "api/both/node.h"
#include "cuda/types.h"
#include "device/device.h"

/* First and last statement of an entry point that is no row: then `call` is the call, and `result`
 * OK. RT_END also keeps the error for cudaGetLastError. */
#define RT_BEGIN(api, kind, flags)                        \
    dev_call begun_, *call = &begun_;                     \
    dev_result result = rt_begin(call, api, kind, flags); \
    do {                                                  \
        if (result)                                       \
            return rt_end(call, result);                  \
    } while (0)
#define RT_END(value) return rt_end(call, value)

enum { RT_DEVICES = 1 << 16 }; /* beside dev_begin's flags: the devices must be known */

dev_result rt_begin(dev_call *call, const char *api, cap_call_kind kind, uint32_t flags);
int rt_end(dev_call *call, dev_result result);
int rt_fail(int result); /* an error before anything began */

/* ---- what the compiler registers ---- */

typedef struct rt_function rt_function; /* a kernel, found by the address of its host stub */

/* `function`: host stub, or what __cudaGetKernel or cudaGetFuncBySymbol gave.
 * INVALID_DEVICE_FUNCTION where it is none of these; NO_BINARY_FOR_GPU and others where its module
 * cannot be loaded. */
dev_result rt_resolve(dev_context *context, const void *function, dev_function **out);
/* A variable, by the address of its host shadow. INVALID_SYMBOL where there is none. */
dev_result rt_symbol(dev_context *context, const void *shadow, uint64_t *address, size_t *size);

/* ---- arguments ---- */

/* CUarray_format; 0 where there is no such format. */
int rt_format_of(const struct cudaChannelFormatDesc *desc, unsigned *channels);
/* INVALID_VALUE, INVALID_HANDLE, INVALID_DIRECTION. */
dev_result rt_read_copy(const struct cudaMemcpy3DParms *p, dev_copy *copy);
dev_context *rt_device_context(int device); /* the primary context, made where needed; NULL */

extern const api_side rt_nodes;

/* ---- what rows of entries.def call ---- */

/* Nodes of graphs that copy bytes; the symbol ones to or from `offset` bytes in a variable. */
dev_result rt_add_copy(dev_call *call, CUgraphNode *out, CUgraph graph, const CUgraphNode *needs,
                       size_t count, void *to, const void *from, size_t bytes, int kind);
dev_result rt_add_copy_to(dev_call *call, CUgraphNode *out, CUgraph graph, const CUgraphNode *needs,
                          size_t count, const void *symbol, const void *from, size_t bytes,
                          size_t offset, int kind);
dev_result rt_add_copy_from(dev_call *call, CUgraphNode *out, CUgraph graph,
                            const CUgraphNode *needs, size_t count, void *to, const void *symbol,
                            size_t bytes, size_t offset, int kind);
dev_result rt_set_copy(dev_call *call, CUgraphNode node, void *to, const void *from, size_t bytes,
                       int kind);
dev_result rt_set_step_copy(dev_call *call, CUgraphExec exec, CUgraphNode node, void *to,
                            const void *from, size_t bytes, int kind);
dev_result rt_graph_memory(int device, int attribute, void *value);
dev_result rt_set_graph_memory(int device, int attribute, const void *value);
dev_result rt_object_create(cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned count,
                            unsigned flags);
dev_result rt_object_retain(cudaUserObject_t object, unsigned count);
dev_result rt_object_release(cudaUserObject_t object, unsigned count);
dev_result rt_graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                           unsigned flags);
dev_result rt_graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count);

/* call.c: functions of the driver, of the runtime's own release or of a given one. `status` may be
 * NULL. INVALID_VALUE; of release 11, which gives no status, NOT_FOUND. */
dev_result rt_entry_point_v11(const char *name, void **out, unsigned long long flags,
                              bool per_thread);
dev_result rt_entry_point(const char *name, void **out, unsigned long long flags, bool per_thread,
                          int *status);
dev_result rt_versioned_entry_point(const char *name, void **out, unsigned version,
                                    unsigned long long flags, bool per_thread, int *status);

/* memory.c; rt_clear: false where there is no place for the result */
bool rt_clear(void **data);
dev_result rt_malloc(dev_call *call, void **data, size_t size);
dev_result rt_malloc_host(dev_call *call, void **data, size_t size, unsigned flags);
dev_result rt_malloc_managed(dev_call *call, void **data, size_t size, unsigned flags);
dev_result rt_malloc_pitch(dev_call *call, void **data, size_t *pitch, size_t width, size_t height);
dev_result rt_malloc_3d(dev_call *call, struct cudaPitchedPtr *out, struct cudaExtent extent);
dev_result rt_register(dev_call *call, void *data, size_t size, unsigned flags);
dev_result rt_device_pointer(void **device, void *host, unsigned flags);
dev_result rt_host_flags(unsigned *flags, void *host);
dev_result rt_pointer_attributes(struct cudaPointerAttributes_v12 *out, const void *data);
dev_result rt_pointer_attributes_13(struct cudaPointerAttributes_v13 *out, const void *data);
dev_result rt_symbol_address(dev_call *call, void **address, const void *symbol);
dev_result rt_symbol_size(dev_call *call, size_t *size, const void *symbol);
dev_result rt_new_array(dev_call *call, void *out, const struct cudaChannelFormatDesc *desc,
                        struct cudaExtent extent, unsigned flags, unsigned levels);
dev_result rt_array_info(struct cudaChannelFormatDesc *desc, struct cudaExtent *extent,
                         unsigned *flags, cudaArray_const_t array);

/* copy.c */

typedef struct rt_rows { /* linear memory: rows with `pitch` bytes from one to the next */
    const void *data;
    size_t pitch;
} rt_rows;

typedef struct rt_corner { /* where in an array a copy starts */
    cudaArray_const_t array;
    size_t x, y; /* bytes, rows */
} rt_corner;

typedef struct rt_way { /* of a copy between linear memory and an array or a variable */
    bool into;          /* towards the array or the variable */
    int kind;           /* cudaMemcpyKind */
    bool blocking;
} rt_way;

dev_result rt_copy(dev_call *call, cudaStream_t stream, bool per_thread, void *to, const void *from,
                   size_t bytes, int kind, bool blocking);
dev_result rt_copy_between(dev_call *call, cudaStream_t stream, void *to, int to_device,
                           const void *from, int from_device, size_t bytes, bool blocking);
dev_result rt_copy_rows(dev_call *call, cudaStream_t stream, bool per_thread, rt_rows to,
                        rt_rows from, size_t width, size_t height, int kind, bool blocking);
dev_result rt_copy_slices(dev_call *call, cudaStream_t stream, bool per_thread,
                          const struct cudaMemcpy3DParms *p, bool blocking);
dev_result rt_copy_slices_between(dev_call *call, cudaStream_t stream, bool per_thread,
                                  const struct cudaMemcpy3DPeerParms *p, bool blocking);
dev_result rt_copy_array(dev_call *call, cudaStream_t stream, bool per_thread, rt_corner at,
                         rt_rows linear, size_t width, size_t height, rt_way way);
dev_result rt_copy_array_bytes(dev_call *call, cudaStream_t stream, bool per_thread, rt_corner at,
                               const void *data, size_t bytes, rt_way way);
dev_result rt_copy_arrays(dev_call *call, bool per_thread, rt_corner to, rt_corner from,
                          size_t width, size_t height, int kind);
dev_result rt_copy_symbol(dev_call *call, cudaStream_t stream, bool per_thread, const void *symbol,
                          size_t offset, const void *other, size_t bytes, rt_way way);
dev_set rt_rows_set(void *data, size_t pitch, int value, size_t width, size_t height);
dev_set rt_slices_set(struct cudaPitchedPtr p, int value, struct cudaExtent extent);

/* texture.c; `major`: the release of the runtime that the application was built with */
dev_result rt_new_texture(dev_call *call, int major, cudaTextureObject_t *out,
                          const struct cudaResourceDesc_v12 *resource,
                          const struct cudaTextureDesc *texture,
                          const struct cudaResourceViewDesc_v12 *view);
dev_result rt_new_surface(dev_call *call, int major, cudaSurfaceObject_t *out,
                          const struct cudaResourceDesc_v12 *resource);
dev_result rt_resource_of(unsigned long long handle, bool surface, void *out, size_t bytes);
dev_result rt_texture_of(unsigned long long handle, void *out, size_t bytes);
dev_result rt_view_of(unsigned long long handle, void *out, size_t bytes);

/* device.c */
dev_result rt_device_count(int *count);
dev_result rt_set_device(int device);
dev_result rt_init_device(int device, unsigned device_flags, unsigned flags);
dev_result rt_get_device(int *device);
dev_result rt_choose_device(int *device, const void *prop);
dev_result rt_set_valid_devices(const int *devices, int count);
dev_result rt_set_flags(unsigned flags);
dev_result rt_get_flags(unsigned *flags);
dev_result rt_reset(dev_call *call);
dev_result rt_properties_v11(cudaDeviceProp_v11 *prop, int device);
dev_result rt_properties_v12(cudaDeviceProp_v12 *prop, int device);
dev_result rt_properties_v13(cudaDeviceProp_v13 *prop, int device);

/* launch.c */
dev_result rt_launch(dev_call *call, cudaStream_t stream, bool per_thread, const void *function,
                     dim3 grid, dim3 block, void **args, size_t shared, bool cooperative);
dev_result rt_launch_config(dev_call *call, bool per_thread, const cudaLaunchConfig_t *config,
                            const void *function, void **args);
dev_result rt_attributes(dev_call *call, struct cudaFuncAttributes_v12 *out, const void *stub,
                         bool clusters);
dev_result rt_clusters(dev_call *call, int *out, const void *stub, const cudaLaunchConfig_t *config,
                       dev_result (*count)(dev_function *, const dev_launch *, int *));

#endif
