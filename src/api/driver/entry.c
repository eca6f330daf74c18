/* Errors and entry points by name in the driver interface: what needs no call. */
#include "api/driver/driver.h"

#include "cuda/api.h"
#include "cuda/errors.h"

#include <stddef.h>

/* ---- errors ---- */

WL_DRIVER(CUresult, cuGetErrorName, (CUresult error, const char **out))
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = cuda_driver_error_name((int)error);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

WL_DRIVER(CUresult, cuGetErrorString, (CUresult error, const char **out))
{
    if (!out)
        return CUDA_ERROR_INVALID_VALUE;
    *out = cuda_driver_error_text((int)error);
    return *out ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* ---- entry points ---- */

static CUresult get_address(const char *name, void **out, int version, cuuint64_t flags,
                            int *status)
{
    const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM |
                             CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    bool there;
    if (!name || !out || version > DR_VERSION || (flags & ~known) || flags == known)
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

WL_DRIVER(CUresult, cuGetProcAddress_v2,
          (const char *name, void **out, int version, cuuint64_t flags, int *status))
{
    return get_address(name, out, version, flags, status);
}

/* Without a status a name that is not there is an error. */
WL_DRIVER(CUresult, cuGetProcAddress, (const char *name, void **out, int version, cuuint64_t flags))
{
    CUresult result = get_address(name, out, version, flags, NULL);
    return result == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : result;
}
