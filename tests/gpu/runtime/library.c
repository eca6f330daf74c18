/* Libraries of kernels that are loaded while the program runs. */
#include "runtime.h"

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code, enum cudaJitOption *jit,
                                void **jit_values, unsigned njit, enum cudaLibraryOption *options,
                                void **values, unsigned noptions)
{
    CALL(cuLibraryLoadData, (CUlibrary *)library, code, (CUjit_option *)jit, jit_values, njit,
         (CUlibraryOption *)options, values, noptions);
}

cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    CALL(cuLibraryUnload, (CUlibrary)library);
}

cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    CALL(cuLibraryGetKernelCount, count, (CUlibrary)library);
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room, cudaLibrary_t library)
{
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = DRIVER(cuLibraryEnumerateKernels, (CUkernel *)kernels, room, (CUlibrary)library);
    for (unsigned i = 0; result == cudaSuccess && i < room; i++)
        rt_add_kernel((CUkernel)kernels[i]);
    return rt_end(result);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = DRIVER(cuLibraryGetKernel, (CUkernel *)kernel, (CUlibrary)library, name);
    if (result == cudaSuccess)
        rt_add_kernel((CUkernel)*kernel);
    return rt_end(result);
}

cudaError_t cudaLibraryGetGlobal(void **address, size_t *bytes, cudaLibrary_t library,
                                 const char *name)
{
    CALL(cuLibraryGetGlobal, (CUdeviceptr *)address, bytes, (CUlibrary)library, name);
}
