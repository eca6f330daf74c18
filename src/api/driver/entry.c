/* Errors and entry points by name in the driver interface: what needs no call. */
#include "api/driver/driver.h"

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

WL_DRIVER(CUresult, cuGetProcAddress_v2,
          (const char *name, void **out, int version, cuuint64_t flags, int *status))
{
    return (CUresult)api_driver_function(name, out, version, flags, status);
}

/* Without a status a name that is not there is an error. */
WL_DRIVER(CUresult, cuGetProcAddress, (const char *name, void **out, int version, cuuint64_t flags))
{
    CUresult result = (CUresult)api_driver_function(name, out, version, flags, NULL);
    return result == CUDA_SUCCESS && !*out ? CUDA_ERROR_NOT_FOUND : result;
}
