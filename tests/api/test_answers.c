/* What CUDA's functions answer: the result for each wrong argument, and every fact read back. Two
 * devices are emulated. */
#include "answers.h"

#include <stdlib.h>
#include <string.h>

enum { NON_BLOCKING = 1, LEGACY = 1, PER_THREAD = 2, NO_DEVICE = 99 };
enum { TO_DEVICE = 1, TO_HOST = 2, WITHIN_DEVICE = 3, NO_DIRECTION = 9 };

#define STREAM_HANDLE(number) ((cudaStream_t)(uintptr_t)(number))

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter[4] = {40, 41, 42, 43};\n"
    ".const .align 4 .u32 table[3] = {1, 2, 3};\n"
    ".visible .entry k(.param .u64 p, .param .u8 tiny, .param .align 8 .b8 pair[16])\n"
    ".maxntid 96, 1, 1\n{\n"
    "  .shared .align 4 .b8 tile[256]; .reg .u64 %d<2>;\n"
    "  ld.param.u64 %d0, [p]; st.shared.u32 [tile], 5; ret;\n}\n";

static void *allocate(size_t bytes)
{
    void *data;
    OK(CALL(cudaMalloc, (void **, size_t), &data, bytes));
    return data;
}

static void give_back(void *data)
{
    OK(CALL(cudaFree, (void *), data));
}

static void use_device(int device)
{
    OK(CALL(cudaSetDevice, (int), device));
}

static cudaStream_t new_stream(unsigned flags, int priority)
{
    cudaStream_t stream;
    OK(CALL(cudaStreamCreateWithPriority, (cudaStream_t *, unsigned, int), &stream, flags,
            priority));
    return stream;
}

static void end_stream(cudaStream_t stream)
{
    OK(CALL(cudaStreamDestroy, (cudaStream_t), stream));
}

static CUfunction function_of(CUmodule module)
{
    CUfunction function;
    OK(DRIVER(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &function, module, "k"));
    return function;
}

#define LAUNCH_ONE(function, params)                                                          \
    DRIVER(cuLaunchKernel,                                                                    \
           (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, \
            CUstream, void **, void **),                                                      \
           function, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL)

/* ---- devices and contexts ---- */

static void devices_are_told_apart(void **state)
{
    char bus[2][16];
    CUuuid uuid[2];
    int value, device;
    (void)state;
    OK(CALL(cudaGetDeviceCount, (int *), &value));
    assert_int_equal(value, 2);
    for (int i = 0; i < 2; i++) {
        OK(CALL(cudaDeviceGetPCIBusId, (char *, int, int), bus[i], sizeof bus[i], i));
        OK(CALL(cudaDeviceGetByPCIBusId, (int *, const char *), &device, bus[i]));
        assert_int_equal(device, i);
        OK(CALL(cudaDeviceGetByPCIBusId, (int *, const char *), &device, bus[i] + 5));
        assert_int_equal(device, i); /* without the domain */
        OK(DRIVER(cuDeviceGetUuid_v2, (CUuuid *, CUdevice), &uuid[i], i));
    }
    assert_string_not_equal(bus[0], bus[1]);
    assert_memory_not_equal(&uuid[0], &uuid[1], sizeof uuid[0]);
    EXPECT(1, CALL(cudaDeviceGetPCIBusId, (char *, int, int), NULL, 16, 0));
    EXPECT(1, CALL(cudaDeviceGetPCIBusId, (char *, int, int), bus[0], 0, 0));
    EXPECT(101, CALL(cudaDeviceGetPCIBusId, (char *, int, int), bus[0], 16, 2));
    EXPECT(1, CALL(cudaDeviceGetByPCIBusId, (int *, const char *), NULL, bus[0]));
    EXPECT(1, CALL(cudaDeviceGetByPCIBusId, (int *, const char *), &device, "here"));
    EXPECT(101, CALL(cudaDeviceGetByPCIBusId, (int *, const char *), &device, "0000:ff:1f.0"));
    EXPECT(1, CALL(cudaChooseDevice, (int *, const void *), NULL, bus));
    EXPECT(1, CALL(cudaChooseDevice, (int *, const void *), &device, NULL));
    EXPECT(101, CALL(cudaSetValidDevices, (int *, int), ((int[]){0, 2}), 2));
    OK(CALL(cudaSetValidDevices, (int *, int), ((int[]){0, 2}), 1));
    EXPECT(101, CALL(cudaInitDevice, (int, unsigned, unsigned), 2, 0, 0));
}

static void the_driver_describes_devices(void **state)
{
    CUdevprop prop;
    char name[32];
    int major, minor;
    size_t bytes;
    (void)state;
    OK(DRIVER(cuDeviceComputeCapability, (int *, int *, CUdevice), &major, &minor, 1));
    assert_int_equal(major * 10 + minor, 90);
    OK(DRIVER(cuDeviceGetProperties, (CUdevprop *, CUdevice), &prop, 1));
    assert_int_equal(prop.maxThreadsPerBlock, 1024);
    assert_int_equal(prop.maxThreadsDim[0], 1024);
    assert_int_equal(prop.maxThreadsDim[2], 64);
    assert_int_equal(prop.maxGridSize[0], 2147483647);
    assert_int_equal(prop.maxGridSize[1], 65535);
    assert_int_equal(prop.sharedMemPerBlock, 49152);
    assert_int_equal(prop.totalConstantMemory, 65536);
    assert_int_equal(prop.SIMDWidth, 32);
    assert_int_equal(prop.memPitch, 2147483647);
    assert_int_equal(prop.regsPerBlock, 65536);
    assert_int_equal(prop.textureAlign, 512);
    EXPECT(1, DRIVER(cuDeviceGetProperties, (CUdevprop *, CUdevice), NULL, 0));
    EXPECT(101, DRIVER(cuDeviceGetProperties, (CUdevprop *, CUdevice), &prop, 2));
    EXPECT(1, DRIVER(cuDeviceComputeCapability, (int *, int *, CUdevice), NULL, &minor, 0));
    EXPECT(1, DRIVER(cuDeviceComputeCapability, (int *, int *, CUdevice), &major, NULL, 0));
    EXPECT(101, DRIVER(cuDeviceComputeCapability, (int *, int *, CUdevice), &major, &minor, 2));
    EXPECT(1, DRIVER(cuDeviceGetName, (char *, int, CUdevice), NULL, 8, 0));
    EXPECT(1, DRIVER(cuDeviceGetName, (char *, int, CUdevice), name, 0, 0));
    EXPECT(101, DRIVER(cuDeviceGetName, (char *, int, CUdevice), name, 8, 2));
    EXPECT(1, DRIVER(cuDeviceTotalMem_v2, (size_t *, CUdevice), NULL, 0));
    EXPECT(101, DRIVER(cuDeviceTotalMem_v2, (size_t *, CUdevice), &bytes, -1));
    EXPECT(1, DRIVER(cuDeviceGetUuid_v2, (CUuuid *, CUdevice), NULL, 0));
    EXPECT(1, DRIVER(cuDriverGetVersion, (int *), NULL));
    EXPECT(1, DRIVER(cuDeviceGetCount, (int *), NULL));
    EXPECT(1, DRIVER(cuDeviceGet, (CUdevice *, int), NULL, 0));
}

static void peers_are_enabled_once(void **state)
{
    int value;
    (void)state;
    OK(CALL(cudaDeviceCanAccessPeer, (int *, int, int), &value, 0, 1));
    assert_int_equal(value, 1);
    OK(CALL(cudaDeviceCanAccessPeer, (int *, int, int), &value, 1, 1));
    assert_int_equal(value, 0);
    EXPECT(1, CALL(cudaDeviceCanAccessPeer, (int *, int, int), NULL, 0, 1));
    EXPECT(101, CALL(cudaDeviceCanAccessPeer, (int *, int, int), &value, 2, 1));
    EXPECT(101, CALL(cudaDeviceCanAccessPeer, (int *, int, int), &value, 0, 2));
    OK(CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 1, 0, 1));
    assert_int_equal(value, 0); /* the rank of the link */
    for (int number = 2; number <= 4; number++) {
        OK(CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, number, 0, 1));
        assert_int_equal(value, 1);
    }
    EXPECT(1, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), NULL, 1, 0, 1));
    EXPECT(1, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 0, 0, 1));
    EXPECT(1, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 6, 0, 1));
    EXPECT(101, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 1, 1, 1));
    EXPECT(101, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 1, 2, 1));
    EXPECT(101, CALL(cudaDeviceGetP2PAttribute, (int *, int, int, int), &value, 1, 0, 2));
    EXPECT(1, CALL(cudaDeviceEnablePeerAccess, (int, unsigned), 1, 1));
    EXPECT(101, CALL(cudaDeviceEnablePeerAccess, (int, unsigned), 2, 0));
    EXPECT(217, CALL(cudaDeviceEnablePeerAccess, (int, unsigned), 0, 0));
    EXPECT(705, CALL(cudaDeviceDisablePeerAccess, (int), 1));
    OK(CALL(cudaDeviceEnablePeerAccess, (int, unsigned), 1, 0));
    EXPECT(704, CALL(cudaDeviceEnablePeerAccess, (int, unsigned), 1, 0));
    OK(CALL(cudaDeviceDisablePeerAccess, (int), 1));
    EXPECT(705, CALL(cudaDeviceDisablePeerAccess, (int), 1));
    EXPECT(101, CALL(cudaDeviceDisablePeerAccess, (int), 2));
}

static void preferences_are_read_back(void **state)
{
    int config;
    unsigned flags;
    size_t value;
    (void)state;
    for (int set = 0; set <= 3; set++) {
        OK(CALL(cudaDeviceSetCacheConfig, (int), set));
        OK(CALL(cudaDeviceGetCacheConfig, (int *), &config));
        assert_int_equal(config, set);
    }
    OK(CALL(cudaDeviceSetCacheConfig, (int), 0));
    EXPECT(1, CALL(cudaDeviceSetCacheConfig, (int), 4));
    EXPECT(1, CALL(cudaDeviceSetCacheConfig, (int), -1));
    EXPECT(1, CALL(cudaDeviceGetCacheConfig, (int *), NULL));
    OK(DRIVER(cuCtxGetSharedMemConfig, (int *), &config));
    assert_int_equal(config, 1); /* banks of four bytes */
    EXPECT(1, DRIVER(cuCtxGetSharedMemConfig, (int *), NULL));
    OK(DRIVER(cuCtxSetSharedMemConfig, (int), 2));
    EXPECT(1, DRIVER(cuCtxSetSharedMemConfig, (int), 3));
    EXPECT(1, DRIVER(cuCtxSetSharedMemConfig, (int), -1));
    for (int limit = 0; limit <= 2; limit++) {
        OK(CALL(cudaDeviceSetLimit, (int, size_t), limit, 5000 + (size_t)limit));
        OK(CALL(cudaDeviceGetLimit, (size_t *, int), &value, limit));
        assert_int_equal(value, 5000 + limit);
    }
    EXPECT(1, CALL(cudaDeviceGetLimit, (size_t *, int), NULL, 0));
    EXPECT(1, CALL(cudaDeviceGetLimit, (size_t *, int), &value, -1));
    EXPECT(1, DRIVER(cuCtxGetLimit, (size_t *, int), NULL, 0));
    EXPECT(1, DRIVER(cuCtxGetLimit, (size_t *, int), &value, 10));
    EXPECT(1, DRIVER(cuCtxSetLimit, (int, size_t), -1, 1));
    OK(CALL(cudaSetDeviceFlags, (unsigned), 4));
    OK(CALL(cudaGetDeviceFlags, (unsigned *), &flags));
    assert_int_equal(flags, 4 | 8); /* host memory can always be mapped */
    OK(CALL(cudaSetDeviceFlags, (unsigned), 0));
    EXPECT(1, CALL(cudaSetDeviceFlags, (unsigned), 0x10000));
    EXPECT(1, CALL(cudaGetDeviceFlags, (unsigned *), NULL));
}

static void contexts_are_named(void **state)
{
    CUcontext own, current, foreign = (CUcontext)state;
    unsigned long long id, other;
    unsigned version, flags;
    int active;
    CUdevice device;
    OK(DRIVER(cuCtxGetCurrent, (CUcontext *), &current));
    OK(DRIVER(cuCtxGetId, (CUcontext, unsigned long long *), NULL, &id));
    OK(DRIVER(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &own, 0, 1));
    OK(DRIVER(cuCtxGetDevice, (CUdevice *), &device));
    assert_int_equal(device, 1);
    OK(DRIVER(cuCtxGetDevice_v2, (CUdevice *, CUcontext), &device, current));
    assert_int_equal(device, 0);
    OK(DRIVER(cuCtxGetId, (CUcontext, unsigned long long *), own, &other));
    assert_int_not_equal(id, other);
    OK(DRIVER(cuCtxGetId, (CUcontext, unsigned long long *), NULL, &id));
    assert_int_equal(id, other);
    OK(DRIVER(cuCtxSynchronize_v2, (CUcontext), own));
    EXPECT(709, DRIVER(cuCtxSynchronize_v2, (CUcontext), foreign));
    EXPECT(709, DRIVER(cuCtxGetId, (CUcontext, unsigned long long *), foreign, &id));
    EXPECT(1, DRIVER(cuCtxGetId, (CUcontext, unsigned long long *), own, NULL));
    EXPECT(201, DRIVER(cuCtxGetDevice_v2, (CUdevice *, CUcontext), &device, foreign));
    EXPECT(1, DRIVER(cuCtxGetDevice, (CUdevice *), NULL));
    EXPECT(201, DRIVER(cuCtxGetApiVersion, (CUcontext, unsigned *), foreign, &version));
    EXPECT(1, DRIVER(cuCtxGetApiVersion, (CUcontext, unsigned *), own, NULL));
    EXPECT(1, DRIVER(cuCtxGetFlags, (unsigned *), NULL));
    EXPECT(1, DRIVER(cuCtxSetFlags, (unsigned), 0x10000));
    OK(DRIVER(cuCtxSetFlags, (unsigned), 4));
    EXPECT(201, DRIVER(cuCtxPushCurrent_v2, (CUcontext), foreign));
    EXPECT(201, DRIVER(cuCtxSetCurrent, (CUcontext), foreign));
    EXPECT(1, DRIVER(cuCtxGetCurrent, (CUcontext *), NULL));
    EXPECT(201, DRIVER(cuCtxEnablePeerAccess, (CUcontext, unsigned), foreign, 0));
    OK(DRIVER(cuCtxEnablePeerAccess, (CUcontext, unsigned), current, 0));
    OK(DRIVER(cuCtxDisablePeerAccess, (CUcontext), current));
    OK(DRIVER(cuCtxDestroy_v2, (CUcontext), own));
    EXPECT(1, DRIVER(cuCtxDestroy_v2, (CUcontext), NULL));
    EXPECT(1, DRIVER(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), NULL, 0, 0));
    EXPECT(1, DRIVER(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &own, 0x10000, 0));
    EXPECT(101, DRIVER(cuCtxCreate_v2, (CUcontext *, unsigned, CUdevice), &own, 0, 2));
    EXPECT(1, DRIVER(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), NULL, 0));
    EXPECT(101, DRIVER(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), &own, 2));
    EXPECT(101, DRIVER(cuDevicePrimaryCtxRelease_v2, (CUdevice), 2));
    EXPECT(101, DRIVER(cuDevicePrimaryCtxSetFlags_v2, (CUdevice, unsigned), 2, 0));
    EXPECT(1, DRIVER(cuDevicePrimaryCtxSetFlags_v2, (CUdevice, unsigned), 0, 0x10000));
    OK(DRIVER(cuDevicePrimaryCtxSetFlags_v2, (CUdevice, unsigned), 1, 2));
    OK(DRIVER(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 1, &flags, &active));
    assert_int_equal(flags, 2);
    EXPECT(1, DRIVER(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 1, NULL, &active));
    EXPECT(1, DRIVER(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 1, &flags, NULL));
    EXPECT(101,
           DRIVER(cuDevicePrimaryCtxGetState, (CUdevice, unsigned *, int *), 2, &flags, &active));
}

/* ---- streams and events ---- */

static void expect_stream(cudaStream_t stream, unsigned flags, int priority, int device)
{
    unsigned is_flags = 77;
    int is_priority = 77, is_device = 77;
    OK(CALL(cudaStreamGetFlags, (cudaStream_t, unsigned *), stream, &is_flags));
    OK(CALL(cudaStreamGetPriority, (cudaStream_t, int *), stream, &is_priority));
    OK(CALL(cudaStreamGetDevice, (cudaStream_t, int *), stream, &is_device));
    assert_int_equal(is_flags, flags);
    assert_int_equal(is_priority, priority);
    assert_int_equal(is_device, device);
}

static void streams_tell_what_they_are(void **state)
{
    cudaStream_t plain = new_stream(0, 7), urgent = new_stream(NON_BLOCKING, -3), gone;
    unsigned long long ids[4];
    CUcontext context, current;
    unsigned flags;
    (void)state;
    expect_stream(plain, 0, 0, 0);
    expect_stream(urgent, NON_BLOCKING, -3, 0);
    expect_stream(NULL, 0, 0, 0);
    expect_stream(STREAM_HANDLE(LEGACY), 0, 0, 0);
    expect_stream(STREAM_HANDLE(PER_THREAD), NON_BLOCKING, 0, 0);
    cudaStream_t all[] = {plain, urgent, NULL, STREAM_HANDLE(PER_THREAD)};
    for (int i = 0; i < 4; i++)
        OK(CALL(cudaStreamGetId, (cudaStream_t, unsigned long long *), all[i], &ids[i]));
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < i; k++)
            assert_int_not_equal(ids[i], ids[k]);
    assert_int_not_equal(ids[2], 0);
    OK(DRIVER(cuCtxGetCurrent, (CUcontext *), &current));
    OK(DRIVER(cuStreamGetCtx, (CUstream, CUcontext *), urgent, &context));
    assert_ptr_equal(context, current);
    use_device(1);
    gone = new_stream(0, -9);
    expect_stream(gone, 0, -5, 1);
    end_stream(gone);
    use_device(0);
    EXPECT(1, CALL(cudaStreamGetFlags, (cudaStream_t, unsigned *), plain, NULL));
    EXPECT(400, CALL(cudaStreamGetFlags, (cudaStream_t, unsigned *), gone, &flags));
    EXPECT(1, CALL(cudaStreamCreateWithPriority, (cudaStream_t *, unsigned, int), NULL, 0, 0));
    end_stream(plain);
    end_stream(urgent);
}

static void streams_keep_attributes(void **state)
{
    cudaStream_t a = new_stream(0, 0), b = new_stream(0, 0);
    unsigned char set[64], got[64], none[64] = {0};
    (void)state;
#define SET_ATTRIBUTE(...) \
    CALL(cudaStreamSetAttribute, (cudaStream_t, int, const void *), __VA_ARGS__)
#define GET_ATTRIBUTE(...) CALL(cudaStreamGetAttribute, (cudaStream_t, int, void *), __VA_ARGS__)
    for (int attribute = 0; attribute < 8; attribute++) {
        memset(set, attribute + 1, sizeof set);
        OK(SET_ATTRIBUTE(a, attribute, set));
    }
    OK(GET_ATTRIBUTE(b, 3, got));
    assert_memory_equal(got, none, sizeof got);
    OK(CALL(cudaStreamCopyAttributes, (cudaStream_t, cudaStream_t), b, a));
    for (int attribute = 0; attribute < 8; attribute++) {
        memset(set, attribute + 1, sizeof set);
        OK(GET_ATTRIBUTE(a, attribute, got));
        assert_memory_equal(got, set, sizeof got);
        OK(GET_ATTRIBUTE(b, attribute, got));
        assert_memory_equal(got, set, sizeof got);
    }
    EXPECT(1, SET_ATTRIBUTE(a, 8, set));
    EXPECT(1, SET_ATTRIBUTE(a, -1, set));
    EXPECT(1, SET_ATTRIBUTE(a, 1, NULL));
    EXPECT(1, GET_ATTRIBUTE(a, 8, got));
    EXPECT(1, GET_ATTRIBUTE(a, 1, NULL));
    end_stream(b);
    EXPECT(400, SET_ATTRIBUTE(b, 1, set));
    EXPECT(400, GET_ATTRIBUTE(b, 1, got));
    EXPECT(400, CALL(cudaStreamCopyAttributes, (cudaStream_t, cudaStream_t), a, b));
    EXPECT(400, CALL(cudaStreamCopyAttributes, (cudaStream_t, cudaStream_t), b, a));
    end_stream(a);
}

static void gone_streams_and_events_are_refused(void **state)
{
    cudaStream_t stream = new_stream(0, 0), gone = new_stream(0, 0);
    cudaEvent_t event, lost;
    float milliseconds;
    char *data = allocate(64);
    (void)state;
    OK(CALL(cudaEventCreate, (cudaEvent_t *), &event));
    OK(CALL(cudaEventCreate, (cudaEvent_t *), &lost));
    OK(CALL(cudaEventDestroy, (cudaEvent_t), lost));
    end_stream(gone);
    EXPECT(1, CALL(cudaEventCreate, (cudaEvent_t *), NULL));
    EXPECT(400, CALL(cudaStreamSynchronize, (cudaStream_t), gone));
    EXPECT(400, CALL(cudaStreamQuery, (cudaStream_t), gone));
    EXPECT(400, CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), gone, event, 0));
    EXPECT(400, CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), stream, lost, 0));
    EXPECT(1, CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), stream, event, 2));
    EXPECT(400, CALL(cudaEventRecord, (cudaEvent_t, cudaStream_t), lost, stream));
    EXPECT(400, CALL(cudaEventRecord, (cudaEvent_t, cudaStream_t), event, gone));
    EXPECT(1,
           CALL(cudaEventRecordWithFlags, (cudaEvent_t, cudaStream_t, unsigned), event, stream, 2));
    EXPECT(400, CALL(cudaEventQuery, (cudaEvent_t), lost));
    EXPECT(400, CALL(cudaEventSynchronize, (cudaEvent_t), lost));
    EXPECT(1, CALL(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t), NULL, event, event));
    EXPECT(400, CALL(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t), &milliseconds,
                     event, lost));
    EXPECT(400, CALL(cudaEventElapsedTime, (float *, cudaEvent_t, cudaEvent_t), &milliseconds, lost,
                     event));
    EXPECT(1, CALL(cudaLaunchHostFunc, (cudaStream_t, void *, void *), stream, NULL, NULL));
    EXPECT(1, CALL(cudaStreamAddCallback, (cudaStream_t, void *, void *, unsigned), stream,
                   (void *)data, NULL, 1));
    EXPECT(400, CALL(cudaMemsetAsync, (void *, int, size_t, cudaStream_t), data, 0, 64, gone));
    EXPECT(400, CALL(cudaMemcpyAsync, (void *, const void *, size_t, int, cudaStream_t), data,
                     data + 32, 8, WITHIN_DEVICE, gone));
    use_device(1); /* an event is recorded on its device's streams only */
    cudaStream_t other = new_stream(0, 0);
    EXPECT(400, CALL(cudaEventRecord, (cudaEvent_t, cudaStream_t), event, other));
    end_stream(other);
    use_device(0);
    OK(CALL(cudaEventDestroy, (cudaEvent_t), event));
    end_stream(stream);
    give_back(data);
}

/* ---- copies ---- */

static void devices_copy_to_each_other(void **state)
{
    enum { BYTES = 256, HALF = 128 };
    unsigned char sent[BYTES], got[BYTES] = {0};
    cudaStream_t stream = new_stream(0, 0);
    (void)state;
    for (int i = 0; i < BYTES; i++)
        sent[i] = (unsigned char)(i * 7);
    unsigned char *here = allocate(BYTES);
    use_device(1);
    unsigned char *there = allocate(BYTES);
    use_device(0);
#define PEER(...) CALL(cudaMemcpyPeer, (void *, int, const void *, int, size_t), __VA_ARGS__)
#define PEER_ASYNC(...) \
    CALL(cudaMemcpyPeerAsync, (void *, int, const void *, int, size_t, cudaStream_t), __VA_ARGS__)
    OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), here, sent, BYTES, TO_DEVICE));
    OK(PEER(there, 1, here, 0, HALF));
    OK(PEER_ASYNC(there + HALF, 1, here + HALF, 0, HALF, stream));
    OK(CALL(cudaStreamSynchronize, (cudaStream_t), stream));
    OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), got, there, BYTES, TO_HOST));
    assert_memory_equal(got, sent, BYTES);
    EXPECT(101, PEER(there, NO_DEVICE, here, 0, HALF));
    EXPECT(101, PEER(there, 1, here, NO_DEVICE, HALF));
    EXPECT(101, PEER(there, -1, here, 0, HALF));
    EXPECT(101, PEER_ASYNC(there, NO_DEVICE, here, 0, HALF, stream));
    EXPECT(101, PEER_ASYNC(there, 1, here, NO_DEVICE, HALF, stream));
    EXPECT(1, PEER(there, 1, here, 0, BYTES + 1));
    EXPECT(1, CALL(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *), NULL));
    struct cudaMemcpy3DPeerParms rows = {.srcPtr = {there, 16, 16, 4},
                                         .srcDevice = 1,
                                         .dstPtr = {here, 32, 32, 4},
                                         .extent = {8, 4, 1}};
    OK(CALL(cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *), &rows));
    OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), got, here, BYTES, TO_HOST));
    for (int y = 0; y < 4; y++) {
        assert_memory_equal(got + y * 32, sent + y * 16, 8);
        assert_memory_equal(got + y * 32 + 8, sent + y * 32 + 8, 8); /* beside the rows */
    }
    end_stream(stream);
    give_back(here);
    give_back(there);
}

static void places_of_copies_are_checked(void **state)
{
    char *data = allocate(256), host[256] = {0};
    struct cudaMemcpy3DParms good = {.srcPtr = {host, 16, 16, 4},
                                     .dstPtr = {data, 16, 16, 4},
                                     .extent = {16, 4, 2},
                                     .kind = cudaMemcpyHostToDevice};
    (void)state;
#define ROWS(...) \
    CALL(cudaMemcpy2D, (void *, size_t, const void *, size_t, size_t, size_t, int), __VA_ARGS__)
#define SLICES(...) CALL(cudaMemcpy3D, (const struct cudaMemcpy3DParms *), __VA_ARGS__)
    OK(ROWS(data, 16, host, 16, 16, 16, TO_DEVICE));
    EXPECT(12, ROWS(data, 15, host, 16, 16, 2, TO_DEVICE));
    EXPECT(12, ROWS(data, 16, host, 15, 16, 2, TO_DEVICE));
    EXPECT(21, ROWS(data, 16, host, 16, 16, 2, NO_DIRECTION));
    EXPECT(21, ROWS(data, 16, host, 16, 16, 2, -1));
    EXPECT(1, ROWS(data, 16, host, 16, 16, 17, TO_DEVICE));
    EXPECT(1, SLICES(NULL));
    OK(SLICES(&good));
    struct cudaMemcpy3DParms p = good;
    p.kind = (enum cudaMemcpyKind)NO_DIRECTION;
    EXPECT(21, SLICES(&p));
    p = good;
    p.srcPtr.ptr = NULL;
    EXPECT(1, SLICES(&p));
    p = good;
    p.dstPtr.ptr = NULL;
    EXPECT(1, SLICES(&p));
    p = good;
    p.dstArray = (cudaArray_t)host; /* both an array and a pointer */
    EXPECT(1, SLICES(&p));
    p.dstPtr.ptr = NULL;
    EXPECT(400, SLICES(&p));
    p = good;
    p.extent.depth = 5; /* four slices of four rows are all there is */
    EXPECT(1, SLICES(&p));
    p = good;
    p.dstPos.z = 3;
    EXPECT(1, SLICES(&p));
    p.extent.depth = 1;
    OK(SLICES(&p));
    EXPECT(12, CALL(cudaMemcpy3D, (const struct cudaMemcpy3DParms *),
                    &((struct cudaMemcpy3DParms){.srcPtr = {host, 8, 16, 4},
                                                 .dstPtr = {data, 16, 16, 4},
                                                 .extent = {16, 2, 1},
                                                 .kind = cudaMemcpyHostToDevice})));
    give_back(data);
}

static const struct cudaChannelFormatDesc byte_channel = {.x = 8,
                                                          .f = cudaChannelFormatKindUnsigned};

static cudaArray_t new_array(size_t width, size_t height)
{
    cudaArray_t array;
    OK(CALL(cudaMallocArray,
            (cudaArray_t *, const struct cudaChannelFormatDesc *, size_t, size_t, unsigned), &array,
            &byte_channel, width, height, 0));
    return array;
}

/* Each function takes a corner of the image into an array, and another one takes it out again. */
static void arrays_are_filled_and_read(void **state)
{
    enum { W = 16, H = 4, ALL = W * H };
    unsigned char image[ALL], back[ALL];
    cudaStream_t s = new_stream(0, 0);
    cudaArray_t a = new_array(W, H), b = new_array(W, H);
    (void)state;
    for (int i = 0; i < ALL; i++)
        image[i] = (unsigned char)(i + 1);
#define TO_ROWS (cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, int)
#define TO_ROWS_ASYNC \
    (cudaArray_t, size_t, size_t, const void *, size_t, size_t, size_t, int, cudaStream_t)
#define FROM_ROWS (void *, size_t, cudaArray_t, size_t, size_t, size_t, size_t, int)
#define FROM_ROWS_ASYNC \
    (void *, size_t, cudaArray_t, size_t, size_t, size_t, size_t, int, cudaStream_t)
#define TO_BYTES (cudaArray_t, size_t, size_t, const void *, size_t, int)
#define TO_BYTES_ASYNC (cudaArray_t, size_t, size_t, const void *, size_t, int, cudaStream_t)
#define FROM_BYTES (void *, cudaArray_t, size_t, size_t, size_t, int)
#define FROM_BYTES_ASYNC (void *, cudaArray_t, size_t, size_t, size_t, int, cudaStream_t)
    OK(CALL(cudaMemcpy2DToArray, TO_ROWS, a, 0, 0, image, W, W, H, TO_DEVICE));
    OK(CALL(cudaMemcpy2DToArrayAsync, TO_ROWS_ASYNC, a, 2, 1, image, W, 3, 2, TO_DEVICE, s));
    memset(back, 0, ALL);
    OK(CALL(cudaMemcpy2DFromArrayAsync, FROM_ROWS_ASYNC, back, W, a, 1, 1, 5, 2, TO_HOST, s));
    OK(CALL(cudaStreamSynchronize, (cudaStream_t), s));
    assert_memory_equal(back, "\22\1\2\3\26", 5);
    assert_memory_equal(back + W, "\42\21\22\23\46", 5);
    OK(CALL(cudaMemcpyToArrayAsync, TO_BYTES_ASYNC, b, 0, 0, image, ALL, TO_DEVICE, s));
    OK(CALL(cudaMemcpyToArray, TO_BYTES, b, 3, 2, image, 5, TO_DEVICE));
    OK(CALL(cudaMemcpyFromArrayAsync, FROM_BYTES_ASYNC, back, b, 0, 0, ALL, TO_HOST, s));
    OK(CALL(cudaStreamSynchronize, (cudaStream_t), s));
    assert_memory_equal(back + 35, image, 5);
    memcpy(back + 35, image + 35, 5);
    assert_memory_equal(back, image, ALL);
    OK(CALL(cudaMemcpy2DArrayToArray,
            (cudaArray_t, size_t, size_t, cudaArray_t, size_t, size_t, size_t, size_t, int), b, 1,
            0, a, 0, 3, 4, 1, WITHIN_DEVICE));
    OK(CALL(cudaMemcpy2DFromArray, FROM_ROWS, back, W, b, 0, 0, W, 1, TO_HOST));
    assert_memory_equal(back, "\1\61\62\63\64\6", 6);
    OK(CALL(cudaFreeArray, (cudaArray_t), a));
    EXPECT(400, CALL(cudaFreeArray, (cudaArray_t), a));
    EXPECT(400, CALL(cudaMemcpy2DToArray, TO_ROWS, a, 0, 0, image, W, W, H, TO_DEVICE));
    EXPECT(400, CALL(cudaMemcpy2DFromArray, FROM_ROWS, back, W, a, 0, 0, W, H, TO_HOST));
    EXPECT(1, CALL(cudaMemcpyToArray, TO_BYTES, a, 0, 0, image, 5, TO_DEVICE));
    EXPECT(400,
           CALL(cudaMemcpy2DArrayToArray,
                (cudaArray_t, size_t, size_t, cudaArray_t, size_t, size_t, size_t, size_t, int), b,
                0, 0, a, 0, 0, 4, 1, WITHIN_DEVICE));
    EXPECT(400,
           CALL(cudaMemcpy2DArrayToArray,
                (cudaArray_t, size_t, size_t, cudaArray_t, size_t, size_t, size_t, size_t, int), a,
                0, 0, b, 0, 0, 4, 1, WITHIN_DEVICE));
    EXPECT(12, CALL(cudaMemcpy2DToArray, TO_ROWS, b, 0, 0, image, W - 1, W, H, TO_DEVICE));
    EXPECT(21, CALL(cudaMemcpy2DToArray, TO_ROWS, b, 0, 0, image, W, W, H, NO_DIRECTION));
    EXPECT(1, CALL(cudaMemcpy2DToArray, TO_ROWS, b, 1, 0, image, W, W, H, TO_DEVICE));
    EXPECT(1, CALL(cudaMemcpy2DToArray, TO_ROWS, b, 0, 1, image, W, W, H, TO_DEVICE));
    EXPECT(1, CALL(cudaMemcpyToArray, TO_BYTES, b, 0, 0, image, W + 1, TO_DEVICE));
    EXPECT(1, CALL(cudaMemcpyToArray, TO_BYTES, b, 1, 0, image, W, TO_DEVICE));
    EXPECT(1, CALL(cudaMemcpyFromArray, FROM_BYTES, back, b, W + 1, 0, 1, TO_HOST));
    OK(CALL(cudaFreeArray, (cudaArray_t), b));
    end_stream(s);
}

static void arrays_are_described(void **state)
{
    CUDA_ARRAY_DESCRIPTOR flat = {.Width = 12,
                                  .Height = 5,
                                  .Format = CU_AD_FORMAT_SIGNED_INT16,
                                  .NumChannels = 2},
                          got;
    CUDA_ARRAY3D_DESCRIPTOR deep = {.Width = 8,
                                    .Height = 4,
                                    .Depth = 2,
                                    .Format = CU_AD_FORMAT_FLOAT,
                                    .NumChannels = 4},
                            whole;
    struct cudaChannelFormatDesc desc;
    struct cudaExtent extent;
    unsigned flags = 77;
    CUarray array, volume;
    (void)state;
#define CREATE_FLAT(...) \
    DRIVER(cuArrayCreate_v2, (CUarray *, const CUDA_ARRAY_DESCRIPTOR *), __VA_ARGS__)
#define CREATE_DEEP(...) \
    DRIVER(cuArray3DCreate_v2, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *), __VA_ARGS__)
#define DESCRIBE(...) \
    DRIVER(cuArrayGetDescriptor_v2, (CUDA_ARRAY_DESCRIPTOR *, CUarray), __VA_ARGS__)
#define INFO(...)                                                                        \
    CALL(cudaArrayGetInfo,                                                               \
         (struct cudaChannelFormatDesc *, struct cudaExtent *, unsigned *, cudaArray_t), \
         __VA_ARGS__)
    EXPECT(1, CREATE_FLAT(&array, NULL));
    EXPECT(1, CREATE_FLAT(NULL, &flat));
    EXPECT(1, CREATE_DEEP(&array, NULL));
    EXPECT(1, CREATE_DEEP(NULL, &deep));
    OK(CREATE_FLAT(&array, &flat));
    OK(DESCRIBE(&got, array));
    assert_int_equal(got.Width, 12);
    assert_int_equal(got.Height, 5);
    assert_int_equal(got.Format, CU_AD_FORMAT_SIGNED_INT16);
    assert_int_equal(got.NumChannels, 2);
    OK(INFO(&desc, &extent, &flags, (cudaArray_t)array));
    assert_int_equal(desc.x, 16);
    assert_int_equal(desc.y, 16);
    assert_int_equal(desc.z, 0);
    assert_int_equal(desc.f, cudaChannelFormatKindSigned);
    assert_int_equal(extent.width, 12);
    assert_int_equal(extent.height, 5);
    assert_int_equal(extent.depth, 0);
    assert_int_equal(flags, 0);
    OK(INFO(NULL, NULL, NULL, (cudaArray_t)array));
    OK(CREATE_DEEP(&volume, &deep));
    OK(DRIVER(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray), &whole, volume));
    assert_int_equal(whole.Width, 8);
    assert_int_equal(whole.Height, 4);
    assert_int_equal(whole.Depth, 2);
    assert_int_equal(whole.Format, CU_AD_FORMAT_FLOAT);
    assert_int_equal(whole.NumChannels, 4);
    assert_int_equal(whole.Flags, 0);
    OK(INFO(&desc, &extent, NULL, (cudaArray_t)volume));
    assert_int_equal(desc.w, 32);
    assert_int_equal(desc.f, cudaChannelFormatKindFloat);
    assert_int_equal(extent.depth, 2);
    EXPECT(1, DESCRIBE(NULL, array));
    OK(DRIVER(cuArrayDestroy, (CUarray), array));
    EXPECT(400, DESCRIBE(&got, array));
    EXPECT(400, INFO(&desc, NULL, NULL, (cudaArray_t)array));
    EXPECT(400, DRIVER(cuArrayDestroy, (CUarray), array));
    OK(DRIVER(cuArrayDestroy, (CUarray), volume));
}

static void shapes_of_arrays_are_checked(void **state)
{
    enum { LAYERED = 1, CUBE = 4 };
    static const struct {
        int result;
        size_t width, height, depth;
        unsigned channels, flags;
    } cases[] = {
        {0, 8, 0, 0, 1, 0},
        {0, 8, 8, 0, 4, 0},
        {0, 8, 8, 2, 2, 0},
        {0, 8, 0, 3, 1, LAYERED},
        {0, 8, 8, 3, 1, LAYERED},
        {0, 8, 8, 6, 1, CUBE},
        {1, 0, 8, 0, 1, 0},
        {1, 8, 8, 0, 3, 0},
        {1, 8, 8, 0, 0, 0},
        {1, 8, 0, 2, 1, 0},
        {1, 8, 8, 0, 1, LAYERED},
        {1, 8, 8, 5, 1, CUBE},
        {1, 8, 4, 6, 1, CUBE},
        {0, 8, 8, 12, 1, CUBE | LAYERED},
        {1, 8, 8, 8, 1, CUBE | LAYERED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = cases[i].width,
                                     .Height = cases[i].height,
                                     .Depth = cases[i].depth,
                                     .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                     .NumChannels = cases[i].channels,
                                     .Flags = cases[i].flags};
        CUarray array;
        int result = CREATE_DEEP(&array, &d);
        if (result != cases[i].result)
            fail_msg("shape %zu: %d instead of %d", i, result, cases[i].result);
        if (result == 0)
            OK(DRIVER(cuArrayDestroy, (CUarray), array));
    }
}

static void mipmaps_give_their_levels(void **state)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 16,
                                 .Height = 4,
                                 .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                                 .NumChannels = 1},
                            got;
    static const size_t widths[] = {16, 8, 4, 2, 1}, heights[] = {4, 2, 1, 1, 1};
    CUmipmappedArray mipmap;
    CUarray level;
    (void)state;
#define MIPMAP(...)                \
    DRIVER(cuMipmappedArrayCreate, \
           (CUmipmappedArray *, const CUDA_ARRAY3D_DESCRIPTOR *, unsigned), __VA_ARGS__)
#define LEVEL(...) \
    DRIVER(cuMipmappedArrayGetLevel, (CUarray *, CUmipmappedArray, unsigned), __VA_ARGS__)
    OK(MIPMAP(&mipmap, &d, 99)); /* no more than there can be */
    for (unsigned i = 0; i < 5; i++) {
        OK(LEVEL(&level, mipmap, i));
        OK(DRIVER(cuArray3DGetDescriptor_v2, (CUDA_ARRAY3D_DESCRIPTOR *, CUarray), &got, level));
        assert_int_equal(got.Width, widths[i]);
        assert_int_equal(got.Height, heights[i]);
    }
    EXPECT(1, LEVEL(&level, mipmap, 5));
    EXPECT(1, LEVEL(NULL, mipmap, 0));
    EXPECT(400, DRIVER(cuArrayDestroy, (CUarray), level)); /* it goes with its array */
    EXPECT(400, DRIVER(cuMipmappedArrayDestroy, (CUmipmappedArray), (CUmipmappedArray)level));
    EXPECT(400, LEVEL(&level, (CUmipmappedArray)level, 0));
    OK(DRIVER(cuMipmappedArrayDestroy, (CUmipmappedArray), mipmap));
    EXPECT(400, DRIVER(cuMipmappedArrayDestroy, (CUmipmappedArray), mipmap));
}

/* Of each shape, as a kernel asks for it: what has no layers is one. */
static void arrays_tell_their_layers(void **state)
{
    enum { LAYERED = 1, SURFACE = 2, CUBE = 4 };
    static const struct {
        size_t height, depth;
        unsigned flags, layers;
    } cases[] = {
        {0, 0, 0, 1},
        {8, 0, 0, 1},
        {8, 3, 0, 1},
        {0, 5, LAYERED, 5},
        {8, 5, LAYERED, 5},
        {8, 6, CUBE, 1},
        {8, 12, CUBE | LAYERED, 2},
    };
    static const char asks[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param "
        ".u64 s, .param .u64 p)\n{\n.reg .b32 %r<2>; .reg .b64 %d<3>;\n"
        "ld.param.u64 %d1, [s]; ld.param.u64 %d2, [p]; suq.array_size.b32 "
        "%r1, [%d1]; st.global.u32 [%d2], %r1; ret;\n}\n";
    unsigned *out = allocate(4), layers;
    CUmodule module;
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, asks));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CUDA_ARRAY3D_DESCRIPTOR d = {.Width = 8,
                                     .Height = cases[i].height,
                                     .Depth = cases[i].depth,
                                     .Format = CU_AD_FORMAT_FLOAT,
                                     .NumChannels = 1,
                                     .Flags = cases[i].flags | SURFACE};
        CUDA_RESOURCE_DESC resource = {.resType = CU_RESOURCE_TYPE_ARRAY};
        CUsurfObject surface;
        void *params[] = {&surface, &out};
        OK(CREATE_DEEP(&resource.res.array.hArray, &d));
        OK(DRIVER(cuSurfObjectCreate, (CUsurfObject *, const CUDA_RESOURCE_DESC *), &surface,
                  &resource));
        OK(LAUNCH_ONE(function_of(module), params));
        OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), &layers, out, 4, TO_HOST));
        if (layers != cases[i].layers)
            fail_msg("shape %zu: %u layers instead of %u", i, layers, cases[i].layers);
        OK(DRIVER(cuSurfObjectDestroy, (CUsurfObject), surface));
        OK(DRIVER(cuArrayDestroy, (CUarray), resource.res.array.hArray));
    }
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
    give_back(out);
}

/* ---- kernels ---- */

#define ATTRIBUTES (struct cudaFuncAttributes_v12 *, const void *)

/* Each launch is refused, not the first one only; other kernels of the module run. */
static void kernels_that_cannot_be_emulated_are_refused(void **state)
{
    static const char odd[] = ".version 8.6\n.target sm_90\n.address_size 64\n"
                              ".visible .entry k() { tcgen05.wait::ld.sync.aligned; ret; }\n"
                              ".visible .entry fine() { ret; }\n";
    struct cudaFuncAttributes_v12 attributes;
    CUmodule module;
    CUfunction fine;
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, odd));
    CUfunction k = function_of(module);
    EXPECT(801, LAUNCH_ONE(k, NULL));
    EXPECT(801, LAUNCH_ONE(k, NULL));
    EXPECT(801, CALL(cudaFuncGetAttributes, ATTRIBUTES, &attributes, k));
    OK(DRIVER(cuModuleGetFunction, (CUfunction *, CUmodule, const char *), &fine, module, "fine"));
    OK(LAUNCH_ONE(fine, NULL));
    OK(CALL(cudaDeviceSynchronize, (void)));
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
}

/* Programs of release 11 give room for the first fields only. */
static void kernels_are_described(void **state)
{
    struct cudaFuncAttributes_v12 old, recent;
    size_t offset, size = 0;
    const char *name;
    CUmodule module;
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, ptx));
    CUfunction k = function_of(module);
    memset(&old, 0xff, sizeof old);
    memset(&recent, 0xff, sizeof recent);
    OK(CALL_OF(11, cudaFuncGetAttributes, ATTRIBUTES, &old, k));
    OK(CALL_OF(13, cudaFuncGetAttributes, ATTRIBUTES, &recent, k));
    assert_memory_equal(&old, &recent, sizeof(struct cudaFuncAttributes_v11));
    for (size_t i = sizeof(struct cudaFuncAttributes_v11); i < sizeof old; i++)
        assert_int_equal(((unsigned char *)&old)[i], 0xff);
    assert_int_equal(recent.sharedSizeBytes, 256);
    assert_int_equal(recent.constSizeBytes, 12);
    assert_int_equal(recent.localSizeBytes, 0);
    assert_int_equal(recent.maxThreadsPerBlock, 96);
    assert_int_equal(recent.ptxVersion, 80);
    assert_int_equal(recent.binaryVersion, 90);
    assert_int_equal(recent.maxDynamicSharedSizeBytes, 49152 - 256);
    assert_int_equal(recent.preferredShmemCarveout, -1);
    assert_int_equal(recent.nonPortableClusterSizeAllowed, 0);
    assert_int_equal(recent.reserved[15], 0);
    EXPECT(1, CALL(cudaFuncGetAttributes, ATTRIBUTES, NULL, k));
    EXPECT(98, CALL(cudaFuncGetAttributes, ATTRIBUTES, &recent, NULL));
    EXPECT(400, CALL(cudaFuncGetAttributes, ATTRIBUTES, &recent, &size));
    EXPECT(98, CALL_OF(12, cudaFuncGetAttributes, ATTRIBUTES, &recent, &size));
    static const size_t offsets[] = {0, 8, 16}, sizes[] = {8, 1, 16};
#define PARAM(...) \
    CALL(cudaFuncGetParamInfo, (const void *, size_t, size_t *, size_t *), __VA_ARGS__)
    for (size_t i = 0; i < 3; i++) {
        OK(PARAM(k, i, &offset, &size));
        assert_int_equal(offset, offsets[i]);
        assert_int_equal(size, sizes[i]);
    }
    OK(PARAM(k, 2, &offset, NULL));
    EXPECT(1, PARAM(k, 3, &offset, &size));
    EXPECT(1, PARAM(k, 0, NULL, &size));
    OK(CALL(cudaFuncGetName, (const char **, const void *), &name, k));
    assert_string_equal(name, "k");
    EXPECT(1, CALL(cudaFuncGetName, (const char **, const void *), NULL, k));
    EXPECT(1, CALL(cudaGetFuncBySymbol, (cudaFunction_t *, const void *), NULL, k));
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
}

static void attributes_of_kernels_are_kept(void **state)
{
    static const struct {
        int attribute, value, result;
    } cases[] = {
        {8, 0, 0},  {8, 1000, 0}, {8, 232448 - 256, 0}, {8, 232448 - 255, 1},
        {8, -1, 1}, {9, -1, 0},   {9, 100, 0},          {9, 101, 1},
        {9, -2, 1}, {14, 1, 0},   {15, 2, 0},           {7, 0, 1},
        {0, 0, 1},  {16, 0, 1},   {-1, 0, 1},
    };
    CUmodule module;
    int value;
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, ptx));
    CUfunction k = function_of(module);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int result = CALL(cudaFuncSetAttribute, (const void *, int, int), k, cases[i].attribute,
                          cases[i].value);
        if (result != cases[i].result)
            fail_msg("case %zu: %d instead of %d", i, result, cases[i].result);
        if (result)
            continue;
        OK(DRIVER(cuFuncGetAttribute, (int *, int, CUfunction), &value, cases[i].attribute, k));
        assert_int_equal(value, cases[i].value);
    }
    EXPECT(1, DRIVER(cuFuncGetAttribute, (int *, int, CUfunction), NULL, 1, k));
    for (int config = -1; config <= 4; config++) /* cache; banks of shared memory */
        EXPECT(config < 0 || config > 3,
               CALL(cudaFuncSetCacheConfig, (const void *, int), k, config));
    for (int config = -1; config <= 3; config++)
        EXPECT(config < 0 || config > 2,
               CALL_OF(12, cudaFuncSetSharedMemConfig, (const void *, int), k, config));
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
}

static void occupancy_is_told(void **state)
{
    CUmodule module;
    int blocks;
    size_t shared;
    (void)state;
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, ptx));
    CUfunction k = function_of(module);
#define BLOCKS(...)                                              \
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, \
         (int *, const void *, int, size_t, unsigned), __VA_ARGS__)
#define SHARED(...) \
    CALL(cudaOccupancyAvailableDynamicSMemPerBlock, (size_t *, const void *, int, int), __VA_ARGS__)
    OK(BLOCKS(&blocks, k, 96, 0, 0));
    assert_int_equal(blocks, 21); /* of 2048 threads */
    OK(BLOCKS(&blocks, k, 96, 100000, 1));
    assert_int_equal(blocks, 2);
    EXPECT(1, BLOCKS(&blocks, k, 96, 0, 2));
    EXPECT(1, BLOCKS(NULL, k, 96, 0, 0));
    EXPECT(1, BLOCKS(&blocks, k, 0, 0, 0));
    EXPECT(1, BLOCKS(&blocks, k, -32, 0, 0));
    OK(SHARED(&shared, k, 2, 96));
    assert_int_equal(shared, 233472 / 2 - 256); /* half of the SM's, less the static part */
    EXPECT(1, SHARED(NULL, k, 2, 96));
    EXPECT(1, SHARED(&shared, k, 0, 96));
    EXPECT(1, SHARED(&shared, k, 2, 0));
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
}

/* What a module had goes with it: the memory of its variables, too. */
static void modules_give_memory_back(void **state)
{
    size_t before, during, after, total, size;
    CUdeviceptr counter, base;
    CUmodule module;
    (void)state;
#define FREE_MEMORY(unused) OK(CALL(cudaMemGetInfo, (size_t *, size_t *), unused, &total))
    FREE_MEMORY(&before);
    OK(DRIVER(cuModuleLoadData, (CUmodule *, const void *), &module, ptx));
    OK(DRIVER(cuModuleGetGlobal_v2, (CUdeviceptr *, size_t *, CUmodule, const char *), &counter,
              &size, module, "counter"));
    assert_int_equal(size, 16);
    assert_int_equal(((unsigned *)counter)[3], 43);
    FREE_MEMORY(&during);
    assert_true(during < before);
    OK(DRIVER(cuModuleUnload, (CUmodule), module));
    FREE_MEMORY(&after);
    assert_int_equal(after, before);
    EXPECT(500, DRIVER(cuMemGetAddressRange_v2, (CUdeviceptr *, size_t *, CUdeviceptr), &base,
                       &size, counter));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(devices_are_told_apart),
        cmocka_unit_test(the_driver_describes_devices),
        cmocka_unit_test(peers_are_enabled_once),
        cmocka_unit_test(preferences_are_read_back),
        cmocka_unit_test(contexts_are_named),
        cmocka_unit_test(streams_tell_what_they_are),
        cmocka_unit_test(streams_keep_attributes),
        cmocka_unit_test(gone_streams_and_events_are_refused),
        cmocka_unit_test(devices_copy_to_each_other),
        cmocka_unit_test(places_of_copies_are_checked),
        cmocka_unit_test(arrays_are_filled_and_read),
        cmocka_unit_test(arrays_are_described),
        cmocka_unit_test(shapes_of_arrays_are_checked),
        cmocka_unit_test(mipmaps_give_their_levels),
        cmocka_unit_test(arrays_tell_their_layers),
        cmocka_unit_test(kernels_that_cannot_be_emulated_are_refused),
        cmocka_unit_test(kernels_are_described),
        cmocka_unit_test(attributes_of_kernels_are_kept),
        cmocka_unit_test(occupancy_is_told),
        cmocka_unit_test(modules_give_memory_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
