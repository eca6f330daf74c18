/* pointers [TIMES]: a kernel that takes its pointers out of a table in device memory: stores through the first, loads
 * through the second, an atomic operation through the third. The fourth leads to memory that it
 * leaves alone; of the four, each is larger than the one before, by 4096 bytes or TIMES as much.
 * tests/gpu/test_pointers.py */
#include "driver.h"

enum { TABLE = 4, BYTES = 4096 };

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry follow(.param .u64 table)\n{\n"
    "  .reg .b32 r<3>; .reg .b64 d<8>;\n"
    "  ld.param.u64 d1, [table]; cvta.to.global.u64 d2, d1;\n"
    "  ld.global.u64 d3, [d2]; ld.global.u64 d4, [d2+8]; ld.global.u64 d5, [d2+16];\n"
    "  mov.u32 r1, %tid.x; mul.wide.u32 d6, r1, 4; add.s64 d3, d3, d6; add.s64 d4, d4, d6;\n"
    "  ld.global.u32 r2, [d4]; st.global.u32 [d3], r2; red.global.add.u32 [d5+128], r2; ret;\n}\n";

int main(int argc, char **argv)
{
    CUcontext context;
    CUmodule module;
    CUfunction follow;
    CUdeviceptr table, pointers[TABLE];
    void *params[] = {&table};
    size_t bytes = BYTES * (argc > 1 ? strtoul(argv[1], NULL, 10) : 1);
    if (!(driver = dlopen("libcuda.so.1", RTLD_NOW)))
        return 2;
    CALL(cuInit, (unsigned), 0);
    CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &context, 0);
    CALL(cuCtxSetCurrent, (CUcontext), context);
    CALL(cuModuleLoadData, (CUmodule *, const void *), &module, ptx);
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &follow, module, "follow");
    CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &table, sizeof pointers);
    for (int i = 0; i < TABLE; i++) {
        CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), &pointers[i], bytes * (unsigned)(i + 1));
        CALL(cuMemsetD8_v2, (CUdeviceptr, unsigned char, size_t), pointers[i], 1, BYTES);
    }
    CALL(cuMemcpyHtoD_v2, (CUdeviceptr, const void *, size_t), table, pointers, sizeof pointers);
    for (int i = 0; i < 2; i++)
        CALL(cuLaunchKernel, LAUNCH, follow, 2, 1, 1, 32, 1, 1, 0, NULL, params, NULL);
    CALL(cuCtxSynchronize, (void));
    return 0;
}
