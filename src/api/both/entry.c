#include "api/both/entry.h"

#include "api/both/aside.h"
#include "cuda/api.h"
#include "cuda/types.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- functions that are not there ---- */

static int missing_runtime(const char *symbol)
{
    int result = dev_unsupported(symbol);
    dev_thread *self = dev_self();
    if (self)
        self->last_error = result;
    return result;
}

#define CUDART(symbol, first, last, ret, args)  \
    static int missing_##symbol##_##first(void) \
    {                                           \
        return missing_runtime(#symbol);        \
    }
#include "cuda/runtime_api.def"
#undef CUDART

#define CU(symbol, base, version, stream, ret, args) \
    static int missing_##symbol(void)                \
    {                                                \
        return dev_unsupported(#symbol);             \
    }
#include "cuda/driver_api.def"
#undef CU

static const api_entry missing[] = {
#define CUDART(symbol, first, last, ret, args) \
    {#symbol, (inj_code)(void *)missing_##symbol##_##first, (first) / 1000, (last) / 1000, 0},
#include "cuda/runtime_api.def"
#undef CUDART
#define CU(symbol, base, version, stream, ret, args) \
    {#symbol, (inj_code)(void *)missing_##symbol, 0, 0, 0},
#include "cuda/driver_api.def"
#undef CU
};

/* ---- finding ---- */

extern const api_entry __start_wl_entries[] __attribute__((visibility("hidden")));
extern const api_entry __stop_wl_entries[] __attribute__((visibility("hidden")));

static const api_entry *search(const api_entry *from, const api_entry *to, const char *symbol,
                               int major)
{
    for (; from < to; from++)
        if (from->first <= major && major <= from->last && strcmp(from->symbol, symbol) == 0)
            return from;
    return NULL;
}

static int runtime_release;

int api_runtime_release(void)
{
    return __atomic_load_n(&runtime_release, __ATOMIC_RELAXED);
}

inj_code api_entry_find(const char *symbol, int major, bool *implemented)
{
    if (major)
        __atomic_store_n(&runtime_release, major, __ATOMIC_RELAXED);
    const api_entry *end = missing + sizeof missing / sizeof *missing;
    const api_entry *there = search(missing, end, symbol, major);
    const api_entry *found = search(__start_wl_entries, __stop_wl_entries, symbol, major);
    if (implemented)
        *implemented = found != NULL;
    if (!there) /* not a symbol of that library */
        return NULL;
    return found ? found->code : there->code;
}

int api_driver_function(const char *name, void **out, int version, uint64_t flags, int *status)
{
    const uint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                           CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    bool there;
    if (!name || !out || version > API_DRIVER_VERSION || (flags & ~known) || flags == known)
        return CUDA_ERROR_INVALID_VALUE;
    bool per_thread = flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    const cuda_driver_function *found = cuda_driver_find(name, version, per_thread, &there);
    *out = found ? (void *)api_entry_find(found->symbol, 0, NULL) : NULL;
    if (status)
        *status = found   ? CU_GET_PROC_ADDRESS_SUCCESS
                  : there ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                          : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return CUDA_SUCCESS;
}

/* ---- what this library exports ---- */

/* Named as the driver's own function, which the libraries in front forward here: nothing but CUDA's
 * symbols is visible. */
__attribute__((visibility("default"))) CUresult cuGetExportTable(const void **table,
                                                                 const CUuuid *id);

/* For the libraries in front. */
static inj_code find_for_front(const char *symbol, int major, bool *implemented)
{
    return major || !api_stands_aside() ? api_entry_find(symbol, major, implemented)
                                        : api_aside_find(symbol);
}

CUresult cuGetExportTable(const void **table, const CUuuid *id)
{
    static const inj_front_table front = {sizeof front, find_for_front};
    if (!table || !id)
        return CUDA_ERROR_INVALID_VALUE;
    *table = NULL;
    if (memcmp(id->bytes, INJ_FRONT_ID, sizeof id->bytes) != 0)
        return CUDA_ERROR_NOT_FOUND; /* private tables of NVIDIA's libraries */
    *table = &front;
    return CUDA_SUCCESS;
}

WL_DRIVER(CUresult, cuGetExportTable, (const void **table, const CUuuid *id))
{
    return cuGetExportTable(table, id);
}

WL_RUNTIME(int, cudaGetExportTable, (const void **table, const CUuuid *id))
{
    return cuGetExportTable(table, id);
}
