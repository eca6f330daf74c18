/* What the files of the runtime front end (runtime_*.c) share. */
#ifndef WL_API_RUNTIME_RUNTIME_H
#define WL_API_RUNTIME_RUNTIME_H

#include "api/both/entry.h"
#include "cuda/types.h"
#include "device/core.h"

/* First and last statement of an entry point. RT_BEGIN makes a primary context where there is none, unless `flags` says
 * otherwise; RT_END also keeps the error for cudaGetLastError. */
#define RT_BEGIN(api, kind, flags)                   \
    dev_call call;                                   \
    int result = dev_begin(&call, api, kind, flags); \
    do {                                             \
        if (result)                                  \
            return rt_end(&call, result);            \
    } while (0)
#define RT_END(value) return rt_end(&call, value)

/* Calls that are not recorded, with and without need of a context. */
#define RT_QUIET(api) RT_BEGIN(api, CAP_CALL_OTHER, DEV_PRIMARY | DEV_QUIET)
#define RT_FREE(api) RT_BEGIN(api, CAP_CALL_OTHER, DEV_QUIET)

int rt_end(dev_call *call, int result);
int rt_fail(int result); /* an error before anything began */

/* ---- what the compiler registers ---- */

typedef struct rt_function rt_function; /* a kernel, found by the address of its host stub */

/* `function`: host stub, or what __cudaGetKernel or cudaGetFuncBySymbol gave. INVALID_DEVICE_FUNCTION where it is none of
 * these; NO_BINARY_FOR_GPU and others where its module cannot be loaded. */
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

#endif
