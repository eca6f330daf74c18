/* growing [MORE]: a kernel whose accesses depend on data works on memory of 1 MiB, then on new memory
 * of MORE MiB more (1), and so on; the memory before is given back. tests/gpu/test_growing.py */
#include "driver.h"

enum { TIMES = 12, MIB = 1 << 20 };

int main(int argc, char **argv)
{
    size_t more = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
    CUcontext context;
    CUmodule module;
    CUfunction gather;
    if (!(driver = dlopen("libcuda.so.1", RTLD_NOW)))
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, GATHER_PTX);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &gather, module, "gather");
    for (unsigned i = 1; i <= TIMES; i++) {
        CUdeviceptr memory;
        unsigned n = 0;
        void *params[] = {&memory, &n};
        CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &memory, (1 + (i - 1) * more) * MIB);
        CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), memory, 0, 64);
        CALL(cuLaunchKernel, LAUNCH, gather, 1, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
        CALL(cuCtxSynchronize, (void));
        CALL(cuMemFree_v2, (CUdeviceptr), memory);
    }
    return 0;
}
