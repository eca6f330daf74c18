/* Memory and copies. */
#include "runtime.h"

/* ---- allocation ---- */

cudaError_t cudaMalloc(void **out, size_t bytes)
{
    if (!out)
        return rt_end(cudaErrorInvalidValue);
    if (!bytes) {
        *out = NULL;
        return rt_end(rt_begin());
    }
    CALL(cuMemAlloc, (CUdeviceptr *)out, bytes);
}

cudaError_t cudaFree(void *p)
{
    if (!p)
        return rt_end(rt_begin());
    CALL(cuMemFree, (CUdeviceptr)p);
}

cudaError_t cudaMallocPitch(void **out, size_t *pitch, size_t width, size_t height)
{
    CALL(cuMemAllocPitch, (CUdeviceptr *)out, pitch, width, height, 4);
}

cudaError_t cudaMallocManaged(void **out, size_t bytes, unsigned flags)
{
    if (!bytes) {
        *out = NULL;
        return rt_begin();
    }
    CALL(cuMemAllocManaged, (CUdeviceptr *)out, bytes, flags);
}

cudaError_t cudaMallocHost(void **out, size_t bytes)
{
    CALL(cuMemHostAlloc, out, bytes, 0);
}

cudaError_t cudaHostAlloc(void **out, size_t bytes, unsigned flags)
{
    CALL(cuMemHostAlloc, out, bytes, flags);
}

cudaError_t cudaFreeHost(void *p)
{
    if (!p)
        return rt_end(rt_begin());
    CALL(cuMemFreeHost, p);
}

cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags)
{
    CALL(cuMemHostRegister, p, bytes, flags);
}

cudaError_t cudaHostUnregister(void *p)
{
    CALL(cuMemHostUnregister, p);
}

cudaError_t cudaHostGetDevicePointer(void **out, void *p, unsigned flags)
{
    CALL(cuMemHostGetDevicePointer, (CUdeviceptr *)out, p, flags);
}

cudaError_t cudaMallocAsync(void **out, size_t bytes, cudaStream_t stream)
{
    if (!bytes) {
        *out = NULL;
        return rt_end(rt_begin());
    }
    CALL(cuMemAllocAsync, (CUdeviceptr *)out, bytes, (CUstream)stream);
}

cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    CALL(cuMemFreeAsync, (CUdeviceptr)p, (CUstream)stream);
}

cudaError_t cudaMemGetInfo(size_t *available, size_t *total)
{
    CALL(cuMemGetInfo, available, total);
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    CALL(cuDeviceGetDefaultMemPool, (CUmemoryPool *)pool, device);
}

cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr which, void *value)
{
    CALL(cuMemPoolGetAttribute, (CUmemoryPool)pool, (CUmemPool_attribute)which, value);
}

cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    CALL(cuMemPoolDestroy, (CUmemoryPool)pool);
}

cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *a, const void *p)
{
    CUpointer_attribute which[] = {
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_DEVICE_POINTER,
        CU_POINTER_ATTRIBUTE_HOST_POINTER, CU_POINTER_ATTRIBUTE_IS_MANAGED,
        CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    unsigned type = 0, managed = 0;
    int device = 0;
    CUdeviceptr on_device = 0;
    void *on_host = NULL;
    void *values[] = {&type, &on_device, &on_host, &managed, &device};
    cudaError_t result = rt_begin();
    if (result == cudaSuccess)
        result = DRIVER(cuPointerGetAttributes, 5, which, values, (CUdeviceptr)p);
    *a = (struct cudaPointerAttributes){.type = managed ? cudaMemoryTypeManaged
                                                        : (enum cudaMemoryType)type,
                                        .device = type ? device : cudaInvalidDeviceId,
                                        .devicePointer = (void *)on_device,
                                        .hostPointer = type || managed ? on_host : (void *)p};
    return rt_end(result);
}

/* ---- copies ---- */

cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
    switch (kind) {
    case cudaMemcpyHostToDevice: CALL(cuMemcpyHtoD, (CUdeviceptr)to, from, bytes);
    case cudaMemcpyDeviceToHost: CALL(cuMemcpyDtoH, to, (CUdeviceptr)from, bytes);
    case cudaMemcpyDeviceToDevice: CALL(cuMemcpyDtoD, (CUdeviceptr)to, (CUdeviceptr)from, bytes);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: CALL(cuMemcpy, (CUdeviceptr)to, (CUdeviceptr)from, bytes);
    default: return rt_end(cudaErrorInvalidMemcpyDirection);
    }
}

cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    CUstream s = (CUstream)stream;
    switch (kind) {
    case cudaMemcpyHostToDevice: CALL(cuMemcpyHtoDAsync, (CUdeviceptr)to, from, bytes, s);
    case cudaMemcpyDeviceToHost: CALL(cuMemcpyDtoHAsync, to, (CUdeviceptr)from, bytes, s);
    case cudaMemcpyDeviceToDevice:
        CALL(cuMemcpyDtoDAsync, (CUdeviceptr)to, (CUdeviceptr)from, bytes, s);
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault: CALL(cuMemcpyAsync, (CUdeviceptr)to, (CUdeviceptr)from, bytes, s);
    default: return rt_end(cudaErrorInvalidMemcpyDirection);
    }
}

cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, enum cudaMemcpyKind kind)
{
    bool from_host = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyHostToHost;
    bool to_host = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyHostToHost;
    if (width > to_pitch || width > from_pitch)
        return rt_end(cudaErrorInvalidPitchValue);
    CUDA_MEMCPY2D copy = {.srcMemoryType = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                           : from_host               ? CU_MEMORYTYPE_HOST
                                                                     : CU_MEMORYTYPE_DEVICE,
                          .srcHost = from,
                          .srcDevice = (CUdeviceptr)from,
                          .srcPitch = from_pitch,
                          .dstMemoryType = kind == cudaMemcpyDefault ? CU_MEMORYTYPE_UNIFIED
                                           : to_host                 ? CU_MEMORYTYPE_HOST
                                                                     : CU_MEMORYTYPE_DEVICE,
                          .dstHost = to,
                          .dstDevice = (CUdeviceptr)to,
                          .dstPitch = to_pitch,
                          .WidthInBytes = width,
                          .Height = height};
    CALL(cuMemcpy2DUnaligned, &copy);
}

cudaError_t cudaMemset(void *p, int value, size_t bytes)
{
    CALL(cuMemsetD8, (CUdeviceptr)p, (unsigned char)value, bytes);
}

cudaError_t cudaMemsetAsync(void *p, int value, size_t bytes, cudaStream_t stream)
{
    CALL(cuMemsetD8Async, (CUdeviceptr)p, (unsigned char)value, bytes, (CUstream)stream);
}

cudaError_t cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height)
{
    CALL(cuMemsetD2D8, (CUdeviceptr)p, pitch, (unsigned char)value, width, height);
}

/* ---- variables ---- */

cudaError_t cudaGetSymbolAddress(void **out, const void *shadow)
{
    size_t bytes;
    return rt_end(rt_symbol(shadow, (CUdeviceptr *)out, &bytes));
}

cudaError_t cudaGetSymbolSize(size_t *bytes, const void *shadow)
{
    CUdeviceptr address;
    return rt_end(rt_symbol(shadow, &address, bytes));
}

cudaError_t cudaMemcpyToSymbol(const void *shadow, const void *from, size_t bytes, size_t offset,
                               enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    size_t size;
    cudaError_t result = rt_symbol(shadow, &address, &size);
    if (result == cudaSuccess && kind == cudaMemcpyDeviceToHost)
        result = cudaErrorInvalidMemcpyDirection;
    if (result == cudaSuccess && (offset > size || bytes > size - offset))
        result = cudaErrorInvalidValue;
    return result == cudaSuccess ? cudaMemcpy((void *)(address + offset), from, bytes, kind)
                                 : rt_end(result);
}

cudaError_t cudaMemcpyFromSymbol(void *to, const void *shadow, size_t bytes, size_t offset,
                                 enum cudaMemcpyKind kind)
{
    CUdeviceptr address;
    size_t size;
    cudaError_t result = rt_symbol(shadow, &address, &size);
    if (result == cudaSuccess && (offset > size || bytes > size - offset))
        result = cudaErrorInvalidValue;
    return result == cudaSuccess ? cudaMemcpy(to, (void *)(address + offset), bytes, kind)
                                 : rt_end(result);
}
