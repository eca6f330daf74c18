/* The few functions of CUDA's driver interface that the demo uses, taken from libcuda.so.1 at run time, so that the demo
 * builds where no CUDA toolkit is installed. A program of your own includes <cuda.h> and links with -lcuda instead. */
#ifndef DEMO_DRIVER_H
#define DEMO_DRIVER_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

typedef int CUresult, CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;

#define DRIVER_FUNCTIONS(X)                                                                    \
    X(cuInit, (unsigned))                                                                      \
    X(cuDeviceGet, (CUdevice *, int))                                                          \
    X(cuDeviceGetName, (char *, int, CUdevice))                                                \
    X(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice))                                       \
    X(cuCtxSetCurrent, (CUcontext))                                                            \
    X(cuCtxSynchronize, (void))                                                                \
    X(cuModuleLoad, (CUmodule *, const char *))                                                \
    X(cuModuleGetFunction, (CUfunction *, CUmodule, const char *))                             \
    X(cuMemAlloc_v2, (CUdeviceptr *, size_t))                                                  \
    X(cuMemFree_v2, (CUdeviceptr))                                                             \
    X(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t))                                    \
    X(cuMemcpyDtoH_v2, (void *, CUdeviceptr, size_t))                                          \
    X(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t))                                     \
    X(cuLaunchKernel, (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
                       unsigned, CUstream, void **, void **))

#define X(name, arguments) static CUresult(*name) arguments;
DRIVER_FUNCTIONS(X)
#undef X

static void driver_open(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library) {
        fprintf(stderr,
                "no CUDA driver here (%s); 'warplens profile' runs this program without one\n",
                dlerror());
        exit(2);
    }
#define X(name, arguments) *(void **)&name = dlsym(library, #name);
    DRIVER_FUNCTIONS(X)
#undef X
}

#define CHECK(call)                                                                            \
    do {                                                                                       \
        CUresult result_ = (call);                                                             \
        if (result_) {                                                                         \
            fprintf(stderr, "%s:%d: %s: CUDA error %d\n", __FILE__, __LINE__, #call, result_); \
            exit(2);                                                                           \
        }                                                                                      \
    } while (0)

#endif
