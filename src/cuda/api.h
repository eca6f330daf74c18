/* The functions of CUDA's driver by name, from driver_api.def. */
#ifndef WL_CUDA_API_H
#define WL_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>

typedef enum cuda_stream_kind {
    CUDA_STREAM_LEGACY,
    CUDA_STREAM_PTDS,
    CUDA_STREAM_PTSZ
} cuda_stream_kind;

typedef struct cuda_driver_function {
    const char *symbol;      /* "cuMemcpyHtoD_v2_ptds" */
    const char *base;        /* "cuMemcpyHtoD" */
    int version;             /* cuGetProcAddress finds it from this version of CUDA on; 0: never */
    cuda_stream_kind stream; /* whether stream 0 in it means the thread's own default stream */
} cuda_driver_function;

/* All rows of the driver, sorted by base and by symbol. */
const cuda_driver_function *cuda_driver_functions(size_t *count);

/* What cuGetProcAddress finds for a name and a version: the newest variant not newer than
 * `version`, of the per-thread kind where `per_thread` is set and there is one. A name with a
 * suffix of its own ("cuMemAlloc_v2") is no name. NULL without; *known then says whether a newer
 * version would have it. */
const cuda_driver_function *cuda_driver_find(const char *name, int version, bool per_thread,
                                             bool *known);

#endif
