/* A runtime library for tests: libcudart.so.13, .12 and .11.0 over whatever libcuda.so.1 the
 * process gets. NVIDIA's refuses any driver but NVIDIA's own, so it cannot show, without a GPU,
 * what an ordinary program does on top of the library in front of the driver. This one finds the
 * driver as NVIDIA's does (dlopen, then cuGetProcAddress by name and version), registers binaries
 * as libraries and launches kernels by CUkernel. It has what the programs in examples/ and tests/
 * use. */
#ifndef WL_TESTS_GPU_RUNTIME_H
#define WL_TESTS_GPU_RUNTIME_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* The driver's function of this name, as of the toolkit's version, called with these arguments. The
 * header's macros, which lead to the newest variant, give its type; the name that is asked for
 * stays without suffix. */
#define DRIVER(name, ...) RT_DRIVER(#name, &name, __VA_ARGS__)
#define RT_DRIVER(text, function, ...)                                                 \
    ({                                                                                 \
        static __typeof__(function) function_;                                         \
        if (!function_)                                                                \
            *(void **)&function_ = rt_driver(text);                                    \
        function_ ? (cudaError_t)function_(__VA_ARGS__) : cudaErrorInsufficientDriver; \
    })

void *rt_driver(const char *name);

/* Makes the calling thread's device current, as every call of the runtime does first. */
cudaError_t rt_begin(void);
int rt_device(void);
/* Keeps the error for cudaGetLastError. */
cudaError_t rt_end(cudaError_t result);

#define CALL(name, ...)                                     \
    do {                                                    \
        cudaError_t result_ = rt_begin();                   \
        if (result_ == cudaSuccess)                         \
            result_ = RT_DRIVER(#name, &name, __VA_ARGS__); \
        return rt_end(result_);                             \
    } while (0)

/* ---- register.c ---- */

/* The kernel behind a host function, or behind what __cudaGetKernel gave. */
cudaError_t rt_kernel(const void *function, CUkernel *kernel);
/* A kernel of a library, to be launched by its handle. */
void rt_add_kernel(CUkernel kernel);
/* The function of the kernel in the current context. */
cudaError_t rt_function(const void *function, CUfunction *out);
cudaError_t rt_symbol(const void *shadow, CUdeviceptr *address, size_t *bytes);

#endif
