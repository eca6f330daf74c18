/* Libraries of kernels that are loaded while the program runs: the driver's, with the thread's
 * device in use. */
#include "api/driver/driver.h"
#include "api/runtime/runtime.h"

/* Calls the driver interface's function of this name; errors have the same numbers. */
#define DRIVER(name, types, ...)                                                              \
    do {                                                                                      \
        int current_ = make_current("cuda" #name);                                            \
        int result_ = current_ ? current_                                                     \
                               : (int)((CUresult(*) types)api_entry_find("cu" #name, 0,       \
                                                                         NULL))(__VA_ARGS__); \
        return result_ && !current_ ? rt_fail(result_) : result_;                             \
    } while (0)

static int make_current(const char *api)
{
    RT_QUIET(api);
    RT_END(result);
}

WL_RUNTIME(int, cudaLibraryLoadData,
           (CUlibrary * library, const void *code, void *jit, void **jit_values, unsigned njit,
            void *options, void **values, unsigned noptions))
{
    DRIVER(LibraryLoadData,
           (CUlibrary *, const void *, void *, void **, unsigned, void *, void **, unsigned),
           library, code, jit, jit_values, njit, options, values, noptions);
}

WL_RUNTIME(int, cudaLibraryLoadFromFile,
           (CUlibrary * library, const char *path, void *jit, void **jit_values, unsigned njit,
            void *options, void **values, unsigned noptions))
{
    DRIVER(LibraryLoadFromFile,
           (CUlibrary *, const char *, void *, void **, unsigned, void *, void **, unsigned),
           library, path, jit, jit_values, njit, options, values, noptions);
}

WL_RUNTIME(int, cudaLibraryUnload, (CUlibrary library))
{
    DRIVER(LibraryUnload, (CUlibrary), library);
}

WL_RUNTIME(int, cudaLibraryGetKernel, (CUkernel * kernel, CUlibrary library, const char *name))
{
    DRIVER(LibraryGetKernel, (CUkernel *, CUlibrary, const char *), kernel, library, name);
}

WL_RUNTIME(int, cudaLibraryGetKernelCount, (unsigned *count, CUlibrary library))
{
    DRIVER(LibraryGetKernelCount, (unsigned *, CUlibrary), count, library);
}

WL_RUNTIME(int, cudaLibraryEnumerateKernels, (CUkernel * kernels, unsigned room, CUlibrary library))
{
    DRIVER(LibraryEnumerateKernels, (CUkernel *, unsigned, CUlibrary), kernels, room, library);
}

WL_RUNTIME(int, cudaLibraryGetGlobal,
           (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name))
{
    DRIVER(LibraryGetGlobal, (CUdeviceptr *, size_t *, CUlibrary, const char *), address, bytes,
           library, name);
}

WL_RUNTIME(int, cudaLibraryGetManaged,
           (CUdeviceptr * address, size_t *bytes, CUlibrary library, const char *name))
{
    DRIVER(LibraryGetManaged, (CUdeviceptr *, size_t *, CUlibrary, const char *), address, bytes,
           library, name);
}
