/* Names and texts of CUDA errors: what cuGetErrorName, cudaGetErrorString and their kin return. */
#ifndef WL_CUDA_ERRORS_H
#define WL_CUDA_ERRORS_H

/* "CUDA_ERROR_INVALID_VALUE"; NULL where the driver API has no such error. */
const char *cuda_driver_error_name(int error);
/* NULL where the driver API has no such error. */
const char *cuda_driver_error_text(int error);
/* "cudaErrorInvalidValue"; "unrecognized error code" for numbers that the runtime API does not
 * know. */
const char *cuda_runtime_error_name(int error);
const char *cuda_runtime_error_text(int error);

#endif
