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

/* Calls that are not recorded, with and without need of a context. */
#define RT_QUIET(api) RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY | DEV_QUIET)
#define RT_FREE(api) RT_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET)

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
rt_function *rt_function_find(const void *function); /* NULL where it is not registered */
/* A variable, by the address of its host shadow. INVALID_SYMBOL where there is none. */
dev_result rt_symbol(dev_context *context, const void *shadow, uint64_t *address, size_t *size);

/* ---- arguments ---- */

/* CUarray_format; 0 where there is no such format. */
int rt_format_of(const struct cudaChannelFormatDesc *desc, unsigned *channels);
dev_copy rt_linear_copy(void *to, const void *from, size_t bytes, int kind);
/* Sets what is known of both sides; INVALID_DIRECTION. */
dev_result rt_direction(dev_copy *copy, int kind);
dev_result rt_copy_3d(const struct cudaMemcpy3DParms *p, dev_copy *copy);
dev_result rt_launch_attributes(const cudaLaunchAttribute *attributes, unsigned count,
                                dev_launch *launch);
bool rt_device_exists(int device);          /* takes the lock itself */
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
dev_result rt_instantiate(cudaGraphExec_t *out, cudaGraph_t graph, cudaGraphInstantiateParams *p);
dev_result rt_graph_memory(int device, int attribute, void *value);
dev_result rt_set_graph_memory(int device, int attribute, const void *value);
dev_result rt_object_create(cudaUserObject_t *out, void *data, cudaHostFn_t destroy, unsigned count,
                            unsigned flags);
dev_result rt_object_retain(cudaUserObject_t object, unsigned count);
dev_result rt_object_release(cudaUserObject_t object, unsigned count);
dev_result rt_graph_retain(cudaGraph_t graph, cudaUserObject_t object, unsigned count,
                           unsigned flags);
dev_result rt_graph_release(cudaGraph_t graph, cudaUserObject_t object, unsigned count);

#endif
