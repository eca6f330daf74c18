/* What the files of the runtime front end (runtime_*.c) share. */
#ifndef WL_COLLECT_RUNTIME_H
#define WL_COLLECT_RUNTIME_H

#include "collect/core.h"
#include "collect/entry.h"
#include "cuda/types.h"

/* First and last statement of an entry point. RT_BEGIN makes a primary context where there is none, unless `flags` says
 * otherwise; RT_END also keeps the error for cudaGetLastError. */
#define RT_BEGIN(api, kind, flags)                       \
    collect_call call;                                   \
    int result = collect_begin(&call, api, kind, flags); \
    do {                                                 \
        if (result)                                      \
            return rt_end(&call, result);                \
    } while (0)
#define RT_END(value) return rt_end(&call, value)

/* Calls that are not recorded, with and without need of a context. */
#define RT_QUIET(api) RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_PRIMARY | COLLECT_QUIET)
#define RT_FREE(api) RT_BEGIN(api, CAP_CALL_OTHER, COLLECT_QUIET)

int rt_end(collect_call *call, int result);
int rt_fail(int result); /* an error before anything began */

/* ---- what the compiler registers ---- */

typedef struct rt_function rt_function; /* a kernel, found by the address of its host stub */

/* `function`: host stub, or what __cudaGetKernel or cudaGetFuncBySymbol gave. INVALID_DEVICE_FUNCTION where it is none of
 * these; NO_BINARY_FOR_GPU and others where its module cannot be loaded. */
collect_result rt_resolve(collect_context *context, const void *function, collect_function **out);
rt_function *rt_function_find(const void *function); /* NULL where it is not registered */
/* A variable, by the address of its host shadow. INVALID_SYMBOL where there is none. */
collect_result rt_symbol(collect_context *context, const void *shadow, uint64_t *address,
                         size_t *size);

/* ---- arguments ---- */

/* CUarray_format; 0 where there is no such format. */
int rt_format_of(const struct cudaChannelFormatDesc *desc, unsigned *channels);
collect_copy rt_linear_copy(void *to, const void *from, size_t bytes, int kind);
/* Sets what is known of both sides; INVALID_DIRECTION. */
collect_result rt_direction(collect_copy *copy, int kind);
collect_result rt_copy_3d(const struct cudaMemcpy3DParms *p, collect_copy *copy);
collect_result rt_launch_attributes(const cudaLaunchAttribute *attributes, unsigned count,
                                    collect_launch *launch);
bool rt_device_exists(int device);              /* takes the lock itself */
collect_context *rt_device_context(int device); /* the primary context, made where needed; NULL */

#endif
