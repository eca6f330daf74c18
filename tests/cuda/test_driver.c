/* The emulated driver, called as an application calls libcuda.so.1. The results expected of calls,
 * good and bad, are those that driver 580.159 gave on an H200. */
#include "cuda/types.h"
#include "support/test.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *library;

static void *address_of(const char *symbol)
{
    void *found = dlsym(library, symbol);
    if (!found)
        fail_msg("%s is not exported", symbol);
    return found;
}

/* Calls a symbol of the driver; the arguments decide its type. */
#define ARGS(...) (__VA_ARGS__)
#define CALL(symbol, types, ...) ((CUresult(*) types)address_of(#symbol))(__VA_ARGS__)
#define EXPECT(code, call)                                            \
    do {                                                              \
        int result_ = (int)(call);                                    \
        if (result_ != (code))                                        \
            fail_msg("%s: %d instead of %d", #call, result_, (code)); \
    } while (0)

typedef CUdeviceptr ptr;

#define cuInit(...) CALL(cuInit, (unsigned), __VA_ARGS__)
#define cuDeviceGet(...) CALL(cuDeviceGet, (CUdevice *, int), __VA_ARGS__)
#define cuDeviceGetCount(...) CALL(cuDeviceGetCount, (int *), __VA_ARGS__)
#define cuDeviceGetAttribute(...) CALL(cuDeviceGetAttribute, (int *, int, CUdevice), __VA_ARGS__)
#define cuCtxGetCurrent(...) CALL(cuCtxGetCurrent, (CUcontext *), __VA_ARGS__)
#define cuCtxSetCurrent(...) CALL(cuCtxSetCurrent, (CUcontext), __VA_ARGS__)
#define cuCtxPushCurrent(...) CALL(cuCtxPushCurrent_v2, (CUcontext), __VA_ARGS__)
#define cuCtxPopCurrent(...) CALL(cuCtxPopCurrent_v2, (CUcontext *), __VA_ARGS__)
#define cuCtxCreate(...) CALL(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), __VA_ARGS__)
#define cuCtxDestroy(...) CALL(cuCtxDestroy_v2, (CUcontext), __VA_ARGS__)
#define cuCtxSynchronize() ((CUresult (*)(void))address_of("cuCtxSynchronize"))()
#define cuPrimaryRetain(...) CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), __VA_ARGS__)
#define cuPrimaryRelease(...) CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice), __VA_ARGS__)
#define cuPrimaryReset(...) CALL(cuDevicePrimaryCtxReset_v2, (CUdevice), __VA_ARGS__)
#define cuMemAlloc(...) CALL(cuMemAlloc_v2, (ptr *, size_t), __VA_ARGS__)
#define cuMemFree(...) CALL(cuMemFree_v2, (ptr), __VA_ARGS__)
#define cuMemcpyHtoD(...) CALL(cuMemcpyHtoD_v2, (ptr, const void *, size_t), __VA_ARGS__)
#define cuMemcpyDtoH(...) CALL(cuMemcpyDtoH_v2, (void *, ptr, size_t), __VA_ARGS__)
#define cuMemcpyDtoD(...) CALL(cuMemcpyDtoD_v2, (ptr, ptr, size_t), __VA_ARGS__)
#define cuMemcpy(...) CALL(cuMemcpy, (ptr, ptr, size_t), __VA_ARGS__)
#define cuMemsetD8(...) CALL(cuMemsetD8_v2, (ptr, unsigned char, size_t), __VA_ARGS__)
#define cuMemsetD32(...) CALL(cuMemsetD32_v2, (ptr, unsigned, size_t), __VA_ARGS__)
#define cuMemHostAlloc(...) CALL(cuMemHostAlloc, (void **, size_t, unsigned), __VA_ARGS__)
#define cuMemFreeHost(...) CALL(cuMemFreeHost, (void *), __VA_ARGS__)
#define cuMemHostRegister(...) CALL(cuMemHostRegister_v2, (void *, size_t, unsigned), __VA_ARGS__)
#define cuMemHostUnregister(...) CALL(cuMemHostUnregister, (void *), __VA_ARGS__)
#define cuMemAllocManaged(...) CALL(cuMemAllocManaged, (ptr *, size_t, unsigned), __VA_ARGS__)
#define cuPointerGetAttribute(...) CALL(cuPointerGetAttribute, (void *, int, ptr), __VA_ARGS__)
#define cuModuleLoadData(...) CALL(cuModuleLoadData, (CUmodule *, const void *), __VA_ARGS__)
#define cuModuleLoad(...) CALL(cuModuleLoad, (CUmodule *, const char *), __VA_ARGS__)
#define cuModuleUnload(...) CALL(cuModuleUnload, (CUmodule), __VA_ARGS__)
#define cuModuleGetFunction(...) \
    CALL(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), __VA_ARGS__)
#define cuModuleGetGlobal(...) \
    CALL(cuModuleGetGlobal_v2, (ptr *, size_t *, CUmodule, const char *), __VA_ARGS__)
#define cuFuncGetAttribute(...) CALL(cuFuncGetAttribute, (int *, int, CUfunction), __VA_ARGS__)
#define cuFuncSetAttribute(...) CALL(cuFuncSetAttribute, (CUfunction, int, int), __VA_ARGS__)
#define cuLaunchKernel(...)                                                                 \
    CALL(cuLaunchKernel,                                                                    \
         (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
          CUstream, void **, void **),                                                      \
         __VA_ARGS__)
#define cuStreamCreate(...) CALL(cuStreamCreate, (CUstream *, unsigned), __VA_ARGS__)
#define cuStreamDestroy(...) CALL(cuStreamDestroy_v2, (CUstream), __VA_ARGS__)
#define cuStreamSynchronize(...) CALL(cuStreamSynchronize, (CUstream), __VA_ARGS__)
#define cuEventCreate(...) CALL(cuEventCreate, (CUevent *, unsigned), __VA_ARGS__)
#define cuEventRecord(...) CALL(cuEventRecord, (CUevent, CUstream), __VA_ARGS__)
#define cuEventElapsedTime(...) CALL(cuEventElapsedTime, (float *, CUevent, CUevent), __VA_ARGS__)
#define cuGetProcAddress(...) \
    CALL(cuGetProcAddress_v2, (const char *, void **, int, cuuint64_t, int *), __VA_ARGS__)

/* ---- kernels ---- */

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* add: p[i] += table[i % 4]; scale: p[i] *= 3; shared: p[i] = the neighbour's through 128 bytes of
 * dynamic memory. */
static const char kernels[] = HEAD
    ".global .align 4 .u32 table[4] = {10, 20, 30, 40};\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry add(.param .u64 p)\n{\n"
    ".reg .u32 %r<6>; .reg .u64 %d<8>;\n"
    "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3; and.b32 %r2, %r1, 3;\n"
    "mul.wide.u32 %d5, %r2, 4; mov.u64 %d6, table; add.s64 %d7, %d6, %d5;\n"
    "ld.global.u32 %r3, [%d7]; ld.global.u32 %r4, [%d4]; add.s32 %r5, %r3, %r4;\n"
    "st.global.u32 [%d4], %r5; ret;\n}\n"
    ".visible .entry scale(.param .u64 p, .param .u32 factor)\n{\n"
    ".reg .u32 %r<5>; .reg .u64 %d<5>;\n"
    "ld.param.u64 %d1, [p]; ld.param.u32 %r4, [factor]; cvta.to.global.u64 %d2, %d1;\n"
    "mov.u32 %r1, %tid.x; mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3;\n"
    "ld.global.u32 %r2, [%d4]; mul.lo.s32 %r3, %r2, %r4; st.global.u32 [%d4], %r3; ret;\n}\n"
    ".visible .entry swap(.param .u64 p)\n{\n"
    ".reg .u32 %r<7>; .reg .u64 %d<5>;\n"
    "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; mov.u32 %r1, %tid.x;\n"
    "mul.wide.u32 %d3, %r1, 4; add.s64 %d4, %d2, %d3; ld.global.u32 %r2, [%d4];\n"
    "shl.b32 %r3, %r1, 2; mov.u32 %r4, dynamic; add.s32 %r5, %r4, %r3;\n"
    "st.shared.u32 [%r5], %r2; bar.sync 0; xor.b32 %r3, %r3, 4; add.s32 %r5, %r4, %r3;\n"
    "ld.shared.u32 %r6, [%r5]; st.global.u32 [%d4], %r6; ret;\n}\n"
    ".visible .entry bounded(.param .u64 p)\n.maxntid 64, 1, 1\n{\nret;\n}\n";

static CUcontext context;
static CUmodule module;
static CUfunction add, scale, swap_pairs, bounded;

static void get(CUfunction *function, const char *name)
{
    EXPECT(0, cuModuleGetFunction(function, module, name));
}

static void use_context(void)
{
    EXPECT(0, cuInit(0));
    EXPECT(0, cuPrimaryRetain(&context, 0));
    EXPECT(0, cuCtxSetCurrent(context));
    EXPECT(0, cuModuleLoadData(&module, kernels));
    get(&add, "add");
    get(&scale, "scale");
    get(&swap_pairs, "swap");
    get(&bounded, "bounded");
}

static int with_context(void **state)
{
    (void)state;
    use_context();
    return 0;
}

static int without_context(void **state)
{
    (void)state;
    EXPECT(0, cuPrimaryReset(0));
    return 0;
}

static ptr numbers(int count)
{
    int host[1024];
    ptr device;
    for (int i = 0; i < count; i++)
        host[i] = i;
    EXPECT(0, cuMemAlloc(&device, (size_t)count * 4));
    EXPECT(0, cuMemcpyHtoD(device, host, (size_t)count * 4));
    return device;
}

static void assert_numbers(ptr device, int count, int (*value)(int))
{
    int host[1024];
    EXPECT(0, cuMemcpyDtoH(host, device, (size_t)count * 4));
    for (int i = 0; i < count; i++)
        assert_int_equal(host[i], value(i));
}

static int added(int i)
{
    return i + 10 * (i % 4 + 1);
}

static int scaled(int i)
{
    return added(i) * 3;
}

static int swapped(int i)
{
    return i ^ 1;
}

/* ---- tests ---- */

static void nothing_works_before_init(void **state)
{
    int n;
    ptr p;
    CUcontext none;
    (void)state;
    EXPECT(3, cuDeviceGetCount(&n));
    EXPECT(3, cuDeviceGet(&n, 0));
    EXPECT(3, cuCtxGetCurrent(&none));
    EXPECT(3, cuMemAlloc(&p, 16));
    EXPECT(0, CALL(cuDriverGetVersion, (int *), &n));
    assert_int_equal(n, 13000);
    EXPECT(1, cuInit(1));
    EXPECT(0, cuInit(0));
    EXPECT(0, cuInit(0));
}

static void devices_answer(void **state)
{
    char name[64], bus[16];
    int n, device;
    size_t bytes;
    CUuuid uuid, again;
    (void)state;
    EXPECT(0, cuDeviceGetCount(&n));
    assert_int_equal(n, 1);
    EXPECT(0, cuDeviceGet(&device, 0));
    EXPECT(101, cuDeviceGet(&device, 99));
    EXPECT(101, cuDeviceGet(&device, -1));
    EXPECT(0, CALL(cuDeviceGetName, (char *, int, CUdevice), name, 64, 0));
    assert_string_equal(name, "NVIDIA H200");
    EXPECT(0, CALL(cuDeviceGetName, (char *, int, CUdevice), name, 5, 0));
    assert_string_equal(name, "NVID");
    EXPECT(0, CALL(cuDeviceTotalMem_v2, (size_t *, CUdevice), &bytes, 0));
    assert_int_equal(bytes, 150109880320);
    EXPECT(0, cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0));
    assert_int_equal(n, 132);
    EXPECT(1, cuDeviceGetAttribute(&n, 999, 0));
    EXPECT(1, cuDeviceGetAttribute(NULL, 1, 0));
    EXPECT(101, cuDeviceGetAttribute(&n, 1, 7));
    EXPECT(0, CALL(cuDeviceGetUuid_v2, (CUuuid *, CUdevice), &uuid, 0));
    EXPECT(0, CALL(cuDeviceGetUuid, (CUuuid *, CUdevice), &again, 0));
    assert_memory_equal(&uuid, &again, sizeof uuid);
    EXPECT(0, CALL(cuDeviceGetPCIBusId, (char *, int, CUdevice), bus, sizeof bus, 0));
    EXPECT(0, CALL(cuDeviceGetByPCIBusId, (CUdevice *, const char *), &device, bus));
    assert_int_equal(device, 0);
}

static void contexts_stack(void **state)
{
    CUcontext primary, own, current;
    unsigned flags, version;
    int active;
    ptr p;
    (void)state;
    EXPECT(0, cuCtxGetCurrent(&current));
    assert_null(current);
    EXPECT(201, cuMemAlloc(&p, 16));
    EXPECT(201, cuCtxSynchronize());
    EXPECT(0, CALL(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 0, &flags, &active));
    assert_int_equal(active, 0);
    EXPECT(0, cuPrimaryRetain(&primary, 0));
    EXPECT(0, CALL(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 0, &flags, &active));
    assert_int_equal(active, 1);
    EXPECT(0, cuCtxSetCurrent(primary));
    EXPECT(0, CALL(cuCtxGetApiVersion, (CUcontext, unsigned *), primary, &version));
    assert_int_equal(version, 3020);
    EXPECT(0, CALL(cuCtxGetFlags, (unsigned *), &flags));
    assert_int_equal(flags, CU_CTX_MAP_HOST);
    EXPECT(0, cuCtxCreate(&own, 0, 0));
    EXPECT(0, cuCtxGetCurrent(&current));
    assert_ptr_equal(current, own);
    EXPECT(0, cuCtxDestroy(own));
    EXPECT(201, cuCtxDestroy(own));
    EXPECT(0, cuCtxGetCurrent(&current));
    assert_ptr_equal(current, primary);
    EXPECT(0, cuCtxPopCurrent(&current));
    EXPECT(201, cuCtxPopCurrent(&current));
    EXPECT(0, cuCtxPushCurrent(primary));
    EXPECT(215, CALL(cuCtxGetLimit, (size_t *, int), &(size_t){0}, 3));
    EXPECT(1, CALL(cuCtxSetLimit, (int, size_t), 99, 4096));
    EXPECT(0, CALL(cuCtxSetLimit, (int, size_t), CU_LIMIT_STACK_SIZE, 4096));
    EXPECT(0, cuPrimaryRelease(0));
    EXPECT(201, cuPrimaryRelease(0));
}

static void memory_is_allocated(void **state)
{
    ptr p, q, base;
    size_t size;
    void *host;
    char stack[16];
    (void)state;
    EXPECT(1, cuMemAlloc(&p, 0));
    EXPECT(0, cuMemAlloc(&p, 1));
    assert_int_equal(p % 256, 0);
    EXPECT(0, cuMemAlloc(&q, 1));
    EXPECT(0, CALL(cuMemGetAddressRange_v2, (ptr *, size_t *, ptr), &base, &size, p));
    assert_int_equal(base, p);
    assert_int_equal(size, 1);
    EXPECT(500, CALL(cuMemGetAddressRange_v2, (ptr *, size_t *, ptr), &base, &size, 12345));
    EXPECT(2, cuMemAlloc(&base, 1ull << 50));
    EXPECT(0, cuMemFree(0));
    EXPECT(1, cuMemFree(p + 1));
    EXPECT(0, cuMemFree(p));
    EXPECT(1, cuMemFree(p));
    EXPECT(1, cuMemFree(12345));
    EXPECT(0, cuMemHostAlloc(&host, 0, 0));
    EXPECT(0, cuMemHostAlloc(&host, 100, 0));
    EXPECT(1, cuMemFree((ptr)host));
    EXPECT(1, cuMemFreeHost(stack));
    EXPECT(1, cuMemFreeHost((void *)q));
    EXPECT(0, cuMemFreeHost(host));
    EXPECT(0, cuMemFreeHost(NULL));
    EXPECT(1, cuMemAllocManaged(&p, 100, 0));
    EXPECT(1, cuMemAllocManaged(&p, 0, 1));
    EXPECT(0, cuMemAllocManaged(&p, 100, 1));
    memset((void *)p, 7, 100);
    EXPECT(0, cuMemFree(p));
    EXPECT(0, cuMemFree(q));
}

/* As recorded: rows start at multiples of 512 bytes. */
static void pitches_are_those_of_the_chip(void **state)
{
    static const size_t widths[][2] = {{1, 512}, {512, 512}, {513, 1024}, {10000, 10240}};
    size_t pitch;
    ptr p;
    (void)state;
    for (int i = 0; i < 4; i++) {
        EXPECT(0, CALL(cuMemAllocPitch_v2, (ptr *, size_t *, size_t, size_t, unsigned), &p, &pitch,
                       widths[i][0], 3, 4));
        assert_int_equal(pitch, widths[i][1]);
        EXPECT(0, cuMemFree(p));
    }
    EXPECT(1, CALL(cuMemAllocPitch_v2, (ptr *, size_t *, size_t, size_t, unsigned), &p, &pitch, 16,
                   3, 2));
    EXPECT(1, CALL(cuMemAllocPitch_v2, (ptr *, size_t *, size_t, size_t, unsigned), &p, &pitch, 0,
                   3, 4));
}

static void copies_check_their_ends(void **state)
{
    ptr p, q;
    char host[2000] = {0};
    (void)state;
    EXPECT(0, cuMemAlloc(&p, 1000));
    EXPECT(0, cuMemAlloc(&q, 1));
    EXPECT(0, cuMemcpyHtoD(p, host, 1000));
    EXPECT(0, cuMemcpyHtoD(p, host, 0));
    EXPECT(1, cuMemcpyHtoD(p, host, 1200));
    EXPECT(1, cuMemcpyHtoD(0, host, 10));
    EXPECT(1, cuMemcpyHtoD(p, NULL, 10));
    EXPECT(1, cuMemcpyDtoH(host, 12345, 10));
    EXPECT(0, cuMemcpy((ptr)host, (ptr)host + 1000, 10));
    EXPECT(1, cuMemcpyHtoD((ptr)host, host + 1000, 10));
    EXPECT(1, cuMemcpyDtoD(p, (ptr)host, 10));
    EXPECT(0, cuMemcpyHtoD(p, (void *)q, 1));
    EXPECT(0, cuMemsetD8(p, 1, 1000));
    EXPECT(1, cuMemsetD32(p + 1, 1, 10));
    EXPECT(1, cuMemsetD8(p, 1, 3000));
    EXPECT(0, cuMemsetD8(p, 1, 0));
    EXPECT(1, cuMemsetD8((ptr)host, 1, 10));
    EXPECT(0, cuMemsetD32(p, 0x01020304, 250));
    EXPECT(0, cuMemcpyDtoH(host, p, 8));
    assert_memory_equal(host, "\4\3\2\1\4\3\2\1", 8);
    EXPECT(0, cuMemFree(p));
    EXPECT(0, cuMemFree(q));
}

static void rows_are_copied(void **state)
{
    unsigned char host[6 * 10], back[4 * 6];
    ptr p;
    (void)state;
    for (int i = 0; i < 60; i++)
        host[i] = (unsigned char)i;
    EXPECT(0, cuMemAlloc(&p, 16 * 6));
    CUDA_MEMCPY2D in = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcPitch = 10,
                        .srcXInBytes = 3,
                        .srcY = 1,
                        .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                        .dstDevice = p,
                        .dstPitch = 16,
                        .WidthInBytes = 4,
                        .Height = 5};
    CUDA_MEMCPY2D out = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .srcPitch = 16,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = back,
                         .dstPitch = 4,
                         .WidthInBytes = 4,
                         .Height = 5};
    EXPECT(0, CALL(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), &in));
    EXPECT(0, CALL(cuMemcpy2D_v2, (const CUDA_MEMCPY2D *), &out));
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 4; x++)
            assert_int_equal(back[y * 4 + x], (y + 1) * 10 + x + 3);
    EXPECT(0, cuMemFree(p));
}

static void addresses_have_attributes(void **state)
{
    ptr p, managed;
    void *host;
    char stack[16];
    unsigned type = 77;
    uint64_t wide = 77;
    (void)state;
    EXPECT(0, cuMemAlloc(&p, 1000));
    EXPECT(0, cuMemHostAlloc(&host, 100, 0));
    EXPECT(0, cuMemAllocManaged(&managed, 100, 1));
    EXPECT(0, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 999));
    assert_int_equal(type, CU_MEMORYTYPE_DEVICE);
    EXPECT(0, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (ptr)host));
    assert_int_equal(type, CU_MEMORYTYPE_HOST);
    EXPECT(0, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_IS_MANAGED, managed));
    assert_int_equal(type, 1);
    EXPECT(0, cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 5));
    assert_int_equal(wide, 1000);
    EXPECT(1, cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_HOST_POINTER, p));
    EXPECT(0, cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_HOST_POINTER, (ptr)host));
    assert_int_equal(wide, (uint64_t)host);
    EXPECT(0, cuPointerGetAttribute(&wide, CU_POINTER_ATTRIBUTE_CONTEXT, p));
    assert_int_equal(wide, (uint64_t)context);
    EXPECT(1, cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (ptr)stack));
    EXPECT(1, cuPointerGetAttribute(&type, 99, p));
    CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                  CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    int ordinal = 0;
    void *values[] = {&type, &ordinal};
    EXPECT(0, CALL(cuPointerGetAttributes, (unsigned, CUpointer_attribute *, void **, ptr), 2, both,
                   values, (ptr)stack));
    assert_int_equal(type, 0);
    assert_int_equal(ordinal, -2);
    EXPECT(0, cuMemFree(p));
    EXPECT(0, cuMemFree(managed));
    EXPECT(0, cuMemFreeHost(host));
}

static void host_memory_is_registered(void **state)
{
    char *data = aligned_alloc(4096, 8192);
    ptr p;
    (void)state;
    EXPECT(0, cuMemHostRegister(data, 8192, 0));
    EXPECT(712, cuMemHostRegister(data, 8192, 0));
    EXPECT(1, cuMemHostRegister(data, 0, 0));
    EXPECT(0, CALL(cuMemHostGetDevicePointer_v2, (ptr *, void *, unsigned), &p, data, 0));
    for (int i = 0; i < 32; i++)
        ((int *)data)[i] = i;
    void *args[] = {&p};
    EXPECT(0, cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, cuCtxSynchronize());
    for (int i = 0; i < 32; i++)
        assert_int_equal(((int *)data)[i], added(i));
    EXPECT(0, cuMemHostUnregister(data));
    EXPECT(713, cuMemHostUnregister(data));
    free(data);
}

static void virtual_memory_is_mapped(void **state)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, 3};
    CUmemGenericAllocationHandle handle;
    size_t unit;
    ptr va;
    (void)state;
#define GRANULARITY(...) \
    CALL(cuMemGetAllocationGranularity, (size_t *, const CUmemAllocationProp *, int), __VA_ARGS__)
#define CREATE(...)                                                            \
    CALL(cuMemCreate,                                                          \
         (CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, \
          unsigned long long),                                                 \
         __VA_ARGS__)
#define RESERVE(...) \
    CALL(cuMemAddressReserve, (ptr *, size_t, size_t, ptr, unsigned long long), __VA_ARGS__)
    EXPECT(0, GRANULARITY(&unit, &prop, 0));
    assert_int_equal(unit, 2 << 20);
    EXPECT(1, CREATE(&handle, 100, &prop, 0));
    EXPECT(0, CREATE(&handle, unit, &prop, 0));
    EXPECT(1, RESERVE(&va, 100, 0, 0, 0));
    EXPECT(0, RESERVE(&va, 2 * unit, 0, 0, 0));
    EXPECT(0, CALL(cuMemMap, (ptr, size_t, size_t, CUmemGenericAllocationHandle, uint64_t), va,
                   unit, 0, handle, 0));
    EXPECT(0, CALL(cuMemSetAccess, (ptr, size_t, const CUmemAccessDesc *, size_t), va, unit,
                   &access, 1));
    EXPECT(0, cuMemsetD8(va, 0, 16));
    EXPECT(1, cuMemsetD8(va + unit, 0, 16));
    EXPECT(0, CALL(cuMemRelease, (CUmemGenericAllocationHandle), handle));
    EXPECT(0, CALL(cuMemUnmap, (ptr, size_t), va, unit));
    EXPECT(1, CALL(cuMemRelease, (CUmemGenericAllocationHandle), handle));
    EXPECT(0, CALL(cuMemAddressFree, (ptr, size_t), va, 2 * unit));
}

static void modules_are_loaded(void **state)
{
    CUmodule m;
    CUfunction f;
    ptr table;
    size_t size;
    int values[4];
    (void)state;
    EXPECT(200, cuModuleLoadData(&m, "garbage"));
    EXPECT(218, cuModuleLoadData(&m, HEAD ".visible .entry k(){ bogus; }"));
    EXPECT(200, cuModuleLoadData(&m, ""));
    EXPECT(1, cuModuleLoadData(&m, NULL));
    EXPECT(301, cuModuleLoad(&m, "/nonexistent"));
    EXPECT(0, cuModuleGetGlobal(&table, &size, module, "table"));
    assert_int_equal(size, 16);
    EXPECT(0, cuMemcpyDtoH(values, table, 16));
    assert_int_equal(values[2], 30);
    EXPECT(500, cuModuleGetGlobal(&table, &size, module, "nope"));
    EXPECT(500, cuModuleGetFunction(&f, module, "nope"));
    EXPECT(1, cuModuleGetFunction(&f, module, ""));
    EXPECT(0, cuModuleLoadData(&m, kernels));
    EXPECT(0, cuModuleGetFunction(&f, m, "add"));
    EXPECT(0, cuModuleUnload(m));
    EXPECT(400, cuModuleGetFunction(&f, m, "add"));
    EXPECT(400, cuModuleUnload(m));
}

static void faulty_ptx_is_explained(void **state)
{
    char log[512] = "";
    CUmodule m;
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)(uintptr_t)sizeof log};
    (void)state;
    EXPECT(218,
           CALL(cuModuleLoadDataEx, (CUmodule *, const void *, unsigned, CUjit_option *, void **),
                &m, HEAD ".visible .entry k(){\n bogus;\n }", 2, options, values));
    assert_non_null(strstr(log, "bogus"));
    assert_int_equal((uintptr_t)values[1], strlen(log));
}

static void functions_have_attributes(void **state)
{
    int value;
    (void)state;
    EXPECT(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, bounded));
    assert_int_equal(value, 64);
    EXPECT(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, add));
    assert_int_equal(value, 80);
    EXPECT(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, add));
    assert_int_equal(value, 90);
    EXPECT(0, cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, add));
    assert_int_equal(value, 49152);
    EXPECT(1, cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 300000));
    EXPECT(0, cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 232448));
    EXPECT(1, cuFuncSetAttribute(add, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1));
    EXPECT(1, cuFuncSetAttribute(add, 99, 1));
    EXPECT(1, cuFuncGetAttribute(&value, 99, add));
    EXPECT(1, CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t),
                   &value, add, 0, 0));
    EXPECT(0, CALL(cuOccupancyMaxActiveBlocksPerMultiprocessor, (int *, CUfunction, int, size_t),
                   &value, add, 1024, 0));
    assert_int_equal(value, 2);
    int grid;
    EXPECT(0, CALL(cuOccupancyMaxPotentialBlockSize,
                   (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int), &grid, &value,
                   bounded, NULL, 0, 0));
    assert_int_equal(value, 64);
    assert_int_equal(grid, 32 * 132);
}

static void launches_are_checked(void **state)
{
    ptr p = numbers(32);
    void *args[] = {&p};
    size_t bytes = sizeof p;
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &p, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                     CU_LAUNCH_PARAM_END};
    (void)state;
#define LAUNCH(gx, gy, gz, bx, by, bz, shared, params, more) \
    cuLaunchKernel(add, gx, gy, gz, bx, by, bz, shared, NULL, params, more)
    EXPECT(1, LAUNCH(0, 1, 1, 32, 1, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 0, 1, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 1025, 1, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 512, 4, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 1, 1, 65, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 65536, 1, 32, 1, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(2147483648u, 1, 1, 32, 1, 1, 0, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 32, 1, 1, 300000, args, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 32, 1, 1, 0, NULL, NULL));
    EXPECT(1, LAUNCH(1, 1, 1, 32, 1, 1, 0, args, extra));
    EXPECT(400, cuLaunchKernel(NULL, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(1, cuLaunchKernel(bounded, 1, 1, 1, 512, 1, 1, 0, NULL, args, NULL));
    EXPECT(720, CALL(cuLaunchCooperativeKernel,
                     (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                      unsigned, CUstream, void **),
                     add, 1 << 20, 1, 1, 32, 1, 1, 0, NULL, args));
    EXPECT(0, LAUNCH(1, 1, 1, 32, 1, 1, 0, NULL, extra));
    EXPECT(0, cuCtxSynchronize());
    assert_numbers(p, 32, added);
    EXPECT(0, cuMemFree(p));
}

static void kernels_run_in_order(void **state)
{
    ptr p = numbers(64), q = numbers(64);
    unsigned factor = 3;
    void *both[] = {&p, &factor}, *one[] = {&q};
    CUstream stream;
    CUevent before, after;
    float milliseconds = -1;
    (void)state;
    EXPECT(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT(0, cuEventCreate(&before, 0));
    EXPECT(0, cuEventCreate(&after, 0));
    EXPECT(0, cuEventRecord(before, stream));
    EXPECT(0, cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, stream, both, NULL));
    EXPECT(0, cuLaunchKernel(scale, 1, 1, 1, 64, 1, 1, 0, stream, both, NULL));
    EXPECT(0, cuEventRecord(after, stream));
    EXPECT(0, cuStreamSynchronize(stream));
    EXPECT(0, cuEventElapsedTime(&milliseconds, before, after));
    assert_true(milliseconds >= 0);
    assert_numbers(p, 64, scaled);
    CUlaunchConfig config = {.gridDimX = 1,
                             .gridDimY = 1,
                             .gridDimZ = 1,
                             .blockDimX = 64,
                             .blockDimY = 1,
                             .blockDimZ = 1,
                             .sharedMemBytes = 256,
                             .hStream = stream};
    EXPECT(0, CALL(cuLaunchKernelEx, (const CUlaunchConfig *, CUfunction, void **, void **),
                   &config, swap_pairs, one, NULL));
    EXPECT(0, cuStreamSynchronize(stream));
    assert_numbers(q, 64, swapped);
    EXPECT(0, cuStreamDestroy(stream));
    EXPECT(400, cuStreamDestroy(stream));
    EXPECT(0, cuMemFree(p));
    EXPECT(0, cuMemFree(q));
}

static void streams_and_events_are_checked(void **state)
{
    CUstream stream;
    CUevent event, untimed;
    float milliseconds;
    int priority;
    (void)state;
    EXPECT(1, cuStreamCreate(&stream, 5));
    EXPECT(0, CALL(cuStreamCreateWithPriority, (CUstream *, unsigned, int), &stream, 0, -100));
    EXPECT(0, CALL(cuStreamGetPriority, (CUstream, int *), stream, &priority));
    assert_int_equal(priority, -5);
    EXPECT(0, CALL(cuStreamQuery, (CUstream), stream));
    EXPECT(0, CALL(cuStreamQuery, (CUstream), CU_STREAM_LEGACY));
    EXPECT(0, cuStreamDestroy(stream));
    EXPECT(400, cuStreamDestroy(NULL));
    EXPECT(400, cuStreamDestroy(CU_STREAM_LEGACY));
    EXPECT(0, cuEventCreate(&event, 0));
    EXPECT(0, cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING));
    EXPECT(1, cuEventCreate(&event, 99));
    EXPECT(1, cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    EXPECT(0, CALL(cuEventQuery, (CUevent), event));
    EXPECT(400, cuEventElapsedTime(&milliseconds, event, event));
    EXPECT(0, cuEventRecord(event, NULL));
    EXPECT(0, cuEventRecord(untimed, NULL));
    EXPECT(400, cuEventElapsedTime(&milliseconds, event, untimed));
    EXPECT(0, cuEventElapsedTime(&milliseconds, event, event));
    EXPECT(0, CALL(cuEventDestroy_v2, (CUevent), event));
    EXPECT(400, CALL(cuEventDestroy_v2, (CUevent), event));
    EXPECT(400, CALL(cuEventSynchronize, (CUevent), NULL));
}

static void set_flag(void *data)
{
    __atomic_store_n((int *)data, 1, __ATOMIC_SEQ_CST);
}

static void host_functions_run(void **state)
{
    int flag = 0;
    (void)state;
    EXPECT(0, CALL(cuLaunchHostFunc, (CUstream, CUhostFn, void *), NULL, set_flag, &flag));
    EXPECT(0, cuCtxSynchronize());
    assert_int_equal(__atomic_load_n(&flag, __ATOMIC_SEQ_CST), 1);
    EXPECT(1, CALL(cuLaunchHostFunc, (CUstream, CUhostFn, void *), NULL, NULL, &flag));
}

static void libraries_serve_any_context(void **state)
{
    CUlibrary lib;
    CUkernel kernel, missing;
    CUfunction function;
    ptr p = numbers(32), table;
    size_t size;
    unsigned count;
    void *args[] = {&p};
    (void)state;
    EXPECT(0, CALL(cuLibraryLoadData,
                   (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *,
                    void **, unsigned),
                   &lib, kernels, NULL, NULL, 0, NULL, NULL, 0));
    EXPECT(0, CALL(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &kernel, lib, "add"));
    EXPECT(500,
           CALL(cuLibraryGetKernel, (CUkernel *, CUlibrary, const char *), &missing, lib, "nope"));
    EXPECT(0, CALL(cuLibraryGetKernelCount, (unsigned *, CUlibrary), &count, lib));
    assert_int_equal(count, 4);
    EXPECT(0, CALL(cuLibraryGetGlobal, (ptr *, size_t *, CUlibrary, const char *), &table, &size,
                   lib, "table"));
    assert_int_equal(size, 16);
    EXPECT(0, cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, CALL(cuKernelGetFunction, (CUfunction *, CUkernel), &function, kernel));
    assert_numbers(p, 32, added);
    int value = 0, most = CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    EXPECT(0, CALL(cuKernelSetAttribute, (int, int, CUkernel, CUdevice), most, 65536, kernel, 0));
    EXPECT(1, CALL(cuKernelSetAttribute, (int, int, CUkernel, CUdevice), most, 300000, kernel, 0));
    EXPECT(0,
           CALL(cuKernelGetAttribute, (int *, int, CUkernel, CUdevice), &value, most, kernel, 0));
    assert_int_equal(value, 65536);
    CUcontext other;
    EXPECT(0, cuCtxCreate(&other, 0, 0));
    EXPECT(0, cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, cuCtxSynchronize());
    EXPECT(0, cuCtxDestroy(other));
    EXPECT(0, CALL(cuLibraryUnload, (CUlibrary), lib));
    EXPECT(400, CALL(cuLibraryUnload, (CUlibrary), lib));
    EXPECT(400, cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, cuMemFree(p));
}

static void ptx_is_linked(void **state)
{
    static char caller[] = HEAD
        ".extern .func (.param .b32 r) plus (.param .b32 a);\n"
        ".visible .entry use(.param .u64 p)\n{\n"
        ".reg .u32 %r<3>; .reg .u64 %d<3>;\n"
        "ld.param.u64 %d1, [p]; cvta.to.global.u64 %d2, %d1; ld.global.u32 %r1, [%d2];\n"
        "{ .param .b32 a0; st.param.b32 [a0+0], %r1; .param .b32 r0;\n"
        "call.uni (r0), plus, (a0); ld.param.b32 %r2, [r0+0]; }\n"
        "st.global.u32 [%d2], %r2; ret;\n}\n";
    static char callee[] = HEAD
        ".visible .func (.param .b32 r) plus (.param .b32 a)\n{\n.reg .u32 %r<3>;\n"
        "ld.param.u32 %r1, [a]; add.s32 %r2, %r1, 41; st.param.b32 [r+0], %r2; ret;\n}\n";
    CUlinkState link;
    void *cubin;
    size_t size;
    CUmodule m;
    CUfunction use;
    ptr p = numbers(4);
    int result;
    void *args[] = {&p};
    (void)state;
#define LINK_ADD(state, type, text)                                                           \
    CALL(cuLinkAddData_v2,                                                                    \
         (CUlinkState, int, void *, size_t, const char *, unsigned, CUjit_option *, void **), \
         state, type, text, sizeof text, "part", 0, NULL, NULL)
    EXPECT(0, CALL(cuLinkCreate_v2, (unsigned, CUjit_option *, void **, CUlinkState *), 0, NULL,
                   NULL, &link));
    EXPECT(0, LINK_ADD(link, CU_JIT_INPUT_PTX, caller));
    EXPECT(0, LINK_ADD(link, CU_JIT_INPUT_PTX, callee));
    EXPECT(801, LINK_ADD(link, CU_JIT_INPUT_CUBIN, callee));
    EXPECT(0, CALL(cuLinkComplete, (CUlinkState, void **, size_t *), link, &cubin, &size));
    EXPECT(0, cuModuleLoadData(&m, cubin));
    EXPECT(0, CALL(cuLinkDestroy, (CUlinkState), link));
    EXPECT(400, CALL(cuLinkDestroy, (CUlinkState), link));
    EXPECT(0, cuModuleGetFunction(&use, m, "use"));
    EXPECT(0, cuLaunchKernel(use, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, cuMemcpyDtoH(&result, p, 4));
    assert_int_equal(result, 41);
    EXPECT(0, cuMemFree(p));
}

static void graphs_run(void **state)
{
    CUgraph graph;
    CUgraphNode first, second;
    CUgraphExec exec;
    ptr p = numbers(32);
    unsigned factor = 3;
    void *args[] = {&p, &factor};
    CUDA_KERNEL_NODE_PARAMS_v2 params = {.func = add,
                                         .gridDimX = 1,
                                         .gridDimY = 1,
                                         .gridDimZ = 1,
                                         .blockDimX = 32,
                                         .blockDimY = 1,
                                         .blockDimZ = 1,
                                         .kernelParams = args};
    size_t count;
    (void)state;
#define ADD_KERNEL(...)                                        \
    CALL(cuGraphAddKernelNode_v2,                              \
         (CUgraphNode *, CUgraph, const CUgraphNode *, size_t, \
          const CUDA_KERNEL_NODE_PARAMS_v2 *),                 \
         __VA_ARGS__)
    EXPECT(0, CALL(cuGraphCreate, (CUgraph *, unsigned), &graph, 0));
    EXPECT(0, ADD_KERNEL(&first, graph, NULL, 0, &params));
    params.func = scale;
    EXPECT(0, ADD_KERNEL(&second, graph, &first, 1, &params));
    EXPECT(0, CALL(cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *), graph, NULL, &count));
    assert_int_equal(count, 2);
    EXPECT(0, CALL(cuGraphGetRootNodes, (CUgraph, CUgraphNode *, size_t *), graph, NULL, &count));
    assert_int_equal(count, 1);
    EXPECT(0, CALL(cuGraphKernelNodeGetParams_v2, (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2 *),
                   second, &params));
    assert_ptr_equal(params.func, scale);
    assert_int_equal(*(unsigned *)params.kernelParams[1], 3);
    EXPECT(0,
           CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, uint64_t), &exec, graph, 0));
    EXPECT(0, CALL(cuGraphDestroy, (CUgraph), graph));
    EXPECT(0, CALL(cuGraphLaunch, (CUgraphExec, CUstream), exec, NULL));
    assert_numbers(p, 32, scaled);
    EXPECT(0, CALL(cuGraphExecDestroy, (CUgraphExec), exec));
    EXPECT(0, cuMemFree(p));
}

static void streams_are_captured(void **state)
{
    CUstream stream;
    CUgraph graph;
    CUgraphExec exec;
    ptr p = numbers(32);
    unsigned factor = 3;
    void *args[] = {&p, &factor};
    int status;
    (void)state;
    EXPECT(0, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    EXPECT(0,
           CALL(cuStreamBeginCapture_v2, (CUstream, int), stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    EXPECT(0, cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    EXPECT(0, cuLaunchKernel(scale, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    EXPECT(0, CALL(cuStreamIsCapturing, (CUstream, int *), stream, &status));
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT(0, CALL(cuStreamEndCapture, (CUstream, CUgraph *), stream, &graph));
    EXPECT(0,
           CALL(cuGraphInstantiateWithFlags, (CUgraphExec *, CUgraph, uint64_t), &exec, graph, 0));
    EXPECT(0, CALL(cuGraphLaunch, (CUgraphExec, CUstream), exec, stream));
    EXPECT(0, cuStreamSynchronize(stream));
    assert_numbers(p, 32, scaled);
    EXPECT(0, CALL(cuGraphExecDestroy, (CUgraphExec), exec));
    EXPECT(0, CALL(cuGraphDestroy, (CUgraph), graph));
    EXPECT(0, cuStreamDestroy(stream));
    EXPECT(0, cuMemFree(p));
}

static void entry_points_are_found(void **state)
{
    void *found;
    int status, n;
    (void)state;
    EXPECT(0, cuGetProcAddress("cuDeviceGetCount", &found, 12000, 0, &status));
    assert_int_equal(status, 0);
    EXPECT(0, ((CUresult (*)(int *))found)(&n));
    assert_int_equal(n, 1);
    EXPECT(0, cuGetProcAddress("cuMemAlloc_v2", &found, 13000, 0, &status));
    assert_int_equal(status, 1);
    assert_null(found);
    EXPECT(0, cuGetProcAddress("cuCtxCreate", &found, 1000, 0, &status));
    assert_int_equal(status, 2);
    EXPECT(1, cuGetProcAddress("cuInit", &found, 13000, 8, &status));
    EXPECT(1, cuGetProcAddress("cuInit", &found, 14000, 0, &status));
    EXPECT(500, CALL(cuGetProcAddress, (const char *, void **, int, cuuint64_t), "cuNoSuch", &found,
                     11030, 0));
    EXPECT(0, cuGetProcAddress("cuTexRefCreate", &found, 13000, 0, &status));
    EXPECT(801, ((CUresult (*)(void *))found)(NULL));
}

static void every_symbol_is_there(void **state)
{
    static const char *const symbols[] = {
#define CU(symbol, base, version, stream, ret, args) #symbol,
#include "cuda/driver_api.def"
#undef CU
    };
    (void)state;
    for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
        address_of(symbols[i]);
    EXPECT(801, CALL(cuTexRefCreate, (void *), NULL));
    EXPECT(801, CALL(cuIpcGetMemHandle, (void *, ptr), NULL, 0));
}

static void errors_are_named(void **state)
{
    const char *text;
    (void)state;
    EXPECT(0, CALL(cuGetErrorName, (int, const char **), 700, &text));
    assert_string_equal(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
    EXPECT(0, CALL(cuGetErrorString, (int, const char **), 700, &text));
    assert_string_equal(text, "an illegal memory access was encountered");
    EXPECT(1, CALL(cuGetErrorName, (int, const char **), 12345, &text));
    assert_null(text);
}

static void *launch_elsewhere(void *data)
{
    ptr p = *(ptr *)data;
    void *args[] = {&p};
    intptr_t result = cuCtxSetCurrent(context);
    if (!result)
        result = cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL);
    return (void *)result;
}

static void threads_share_a_context(void **state)
{
    pthread_t threads[4];
    ptr p[4];
    void *result;
    (void)state;
    for (int i = 0; i < 4; i++) {
        p[i] = numbers(32);
        assert_int_equal(pthread_create(&threads[i], NULL, launch_elsewhere, &p[i]), 0);
    }
    for (int i = 0; i < 4; i++) {
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_null(result);
    }
    EXPECT(0, cuCtxSynchronize());
    for (int i = 0; i < 4; i++) {
        assert_numbers(p[i], 32, added);
        EXPECT(0, cuMemFree(p[i]));
    }
}

/* An access outside of any allocation costs the context: all that follows gives the error, until it
 * is reset. */
static void faults_stick(void **state)
{
    ptr nowhere = 0, p;
    void *args[] = {&nowhere};
    CUcontext current;
    (void)state;
    EXPECT(0, cuMemAlloc(&p, 16));
    EXPECT(0, cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(700, cuCtxSynchronize());
    EXPECT(700, cuCtxSynchronize());
    EXPECT(700, cuMemAlloc(&p, 16));
    EXPECT(700, cuMemFree(p));
    EXPECT(700, CALL(cuStreamQuery, (CUstream), NULL));
    EXPECT(700, cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    EXPECT(0, cuCtxGetCurrent(&current));
    assert_ptr_equal(current, context);
    EXPECT(0, cuPrimaryReset(0));
    use_context();
    EXPECT(0, cuMemAlloc(&p, 16));
    EXPECT(0, cuMemFree(p));
}

int main(void)
{
#define IN_CONTEXT(test) cmocka_unit_test_setup_teardown(test, with_context, without_context)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_works_before_init), /* first */
        cmocka_unit_test(devices_answer),
        cmocka_unit_test(contexts_stack),
        IN_CONTEXT(memory_is_allocated),
        IN_CONTEXT(pitches_are_those_of_the_chip),
        IN_CONTEXT(copies_check_their_ends),
        IN_CONTEXT(rows_are_copied),
        IN_CONTEXT(addresses_have_attributes),
        IN_CONTEXT(host_memory_is_registered),
        IN_CONTEXT(virtual_memory_is_mapped),
        IN_CONTEXT(modules_are_loaded),
        IN_CONTEXT(faulty_ptx_is_explained),
        IN_CONTEXT(functions_have_attributes),
        IN_CONTEXT(launches_are_checked),
        IN_CONTEXT(kernels_run_in_order),
        IN_CONTEXT(streams_and_events_are_checked),
        IN_CONTEXT(host_functions_run),
        IN_CONTEXT(libraries_serve_any_context),
        IN_CONTEXT(ptx_is_linked),
        IN_CONTEXT(graphs_run),
        IN_CONTEXT(streams_are_captured),
        IN_CONTEXT(entry_points_are_found),
        IN_CONTEXT(every_symbol_is_there),
        IN_CONTEXT(errors_are_named),
        IN_CONTEXT(threads_share_a_context),
        IN_CONTEXT(faults_stick),
    };
    library = dlopen(WL_BINARY_DIR "/lib/warplens/emulate/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
