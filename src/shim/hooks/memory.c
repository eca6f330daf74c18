/* Allocation and release. */
#include "shim/hooks/hook.h"

/* After an allocation, or one that failed: then there is no `base`, and `bytes` is what was asked
 * for. `pool`: that it came from, as drv_pool_number takes it; NULL: it came from none. */
static CUresult memory_made(hook_call *call, CUresult result, uint64_t base, uint64_t bytes,
                            cap_object_kind kind, const CUmemoryPool *pool)
{
    if (call->rec.active && result == CUDA_SUCCESS && bytes) {
        pthread_mutex_lock(&rec_g.lock);
        drv_object stale;
        if (drv_object_take(base, &stale)) /* went without our notice */
            drv_object_freed(&stale, 0, CAP_FREED_UNSEEN);
        drv_object object = {.base = base,
                             .bytes = bytes,
                             .pool = pool ? drv_pool_number(*pool) : 0,
                             .kind = (uint8_t)kind,
                             .context = drv_current().handle};
        hook_object_add(call, &object);
        drv_pools_record(call->rec.id);
        pthread_mutex_unlock(&rec_g.lock);
    }
    if (call->rec.active && result != CUDA_SUCCESS)
        call->rec.record.bytes = bytes;
    return hook_end(call, result);
}

typedef struct taken {
    bool there;
    drv_object object;
} taken;

/* Before a release: another thread may be given the address while the call is still under way. */
static taken take_allocation(const hook_call *call, uint64_t base)
{
    taken t = {false, {0}};
    if (call->rec.active) {
        pthread_mutex_lock(&rec_g.lock);
        t.there = drv_object_take(base, &t.object);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return t;
}

static CUresult memory_released(hook_call *call, CUresult result, const taken *t)
{
    if (call->rec.active && t->there) {
        pthread_mutex_lock(&rec_g.lock);
        if (result == CUDA_SUCCESS) {
            call->rec.record.source_object = t->object.number;
            call->rec.record.bytes = t->object.bytes;
            hook_write_call(call, result);
            drv_object_freed(&t->object, call->rec.id, CAP_FREED_PROGRAM);
            drv_pools_record(call->rec.id);
        } else {
            drv_object_add(&t->object);
        }
        pthread_mutex_unlock(&rec_g.lock);
    }
    return hook_end(call, result);
}

/* ---- making ---- */

/* `asked`: the bytes that a call which fails asked for. */
#define MAKE(symbol, kind, base, bytes, asked, params, args)                             \
    HOOK(symbol, params, args)                                                           \
    {                                                                                    \
        hook_call call;                                                                  \
        hook_begin(&call, #symbol, CAP_CALL_ALLOC);                                      \
        CUresult result = real_##symbol args;                                            \
        bool good = result == CUDA_SUCCESS;                                              \
        return memory_made(&call, result, good ? (uint64_t)(base) : 0,                   \
                           good ? (uint64_t)(bytes) : (asked), CAP_OBJECT_##kind, NULL); \
    }

/* A graph allocates when it runs. */
static CUresult made_async(hook_call *call, CUresult result, const CUdeviceptr *out, uint64_t bytes,
                           CUmemoryPool pool)
{
    bool captured = call->rec.active && result == CUDA_SUCCESS && drv_in_capture(call->stream);
    hook_async(call);
    if (captured)
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    if (captured)
        return hook_end(call, result);
    return memory_made(call, result, result == CUDA_SUCCESS ? *out : 0, bytes, CAP_OBJECT_DEVICE,
                       &pool);
}

#define MAKE_ASYNC(symbol, per_thread, pool, params, args)              \
    HOOK(symbol, params, args)                                          \
    {                                                                   \
        hook_call call;                                                 \
        hook_begin(&call, #symbol, CAP_CALL_ALLOC);                     \
        call.stream = drv_stream(stream, per_thread);                   \
        return made_async(&call, real_##symbol args, out, bytes, pool); \
    }

MAKE(cuMemAlloc_v2, DEVICE, *out, bytes, bytes, (CUdeviceptr * out, size_t bytes), (out, bytes))
MAKE(cuMemAllocPitch_v2, DEVICE, *out, *pitch *rows, width *rows,
     (CUdeviceptr * out, size_t *pitch, size_t width, size_t rows, unsigned int element),
     (out, pitch, width, rows, element))
MAKE(cuMemAllocManaged, MANAGED, *out, bytes, bytes,
     (CUdeviceptr * out, size_t bytes, unsigned int flags), (out, bytes, flags))
MAKE(cuMemAllocHost_v2, PINNED, *out, bytes, bytes, (void **out, size_t bytes), (out, bytes))
MAKE(cuMemHostAlloc, PINNED, *out, bytes, bytes, (void **out, size_t bytes, unsigned int flags),
     (out, bytes, flags))
MAKE(cuMemHostRegister, REGISTERED, data, bytes, bytes,
     (void *data, size_t bytes, unsigned int flags), (data, bytes, flags))
MAKE(cuMemHostRegister_v2, REGISTERED, data, bytes, bytes,
     (void *data, size_t bytes, unsigned int flags), (data, bytes, flags))
MAKE(cuMemMap, DEVICE, address, bytes, bytes,
     (CUdeviceptr address, size_t bytes, size_t offset, unsigned long long handle,
      unsigned long long flags),
     (address, bytes, offset, handle, flags))
MAKE_ASYNC(cuMemAllocAsync, false, NULL, (CUdeviceptr * out, size_t bytes, CUstream stream),
           (out, bytes, stream))
MAKE_ASYNC(cuMemAllocAsync_ptsz, true, NULL, (CUdeviceptr * out, size_t bytes, CUstream stream),
           (out, bytes, stream))
MAKE_ASYNC(cuMemAllocFromPoolAsync, false, pool,
           (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
           (out, bytes, pool, stream))
MAKE_ASYNC(cuMemAllocFromPoolAsync_ptsz, true, pool,
           (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
           (out, bytes, pool, stream))

/* Memory of another process, as long as its maker made it. */
static uint64_t imported_bytes(CUdeviceptr address)
{
    CUdeviceptr base = address;
    size_t bytes = 0;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemGetAddressRange_v2,
           (CUdeviceptr *, size_t *, CUdeviceptr), &base, &bytes, address);
    return bytes - (address - base);
}

MAKE(cuIpcOpenMemHandle, DEVICE, *out, imported_bytes(*out), 0,
     (CUdeviceptr * out, CUipcMemHandle handle, unsigned int flags), (out, handle, flags))
MAKE(cuIpcOpenMemHandle_v2, DEVICE, *out, imported_bytes(*out), 0,
     (CUdeviceptr * out, CUipcMemHandle handle, unsigned int flags), (out, handle, flags))

HOOK(cuMemPoolImportPointer, (CUdeviceptr * out, CUmemoryPool pool, CUmemPoolPtrExportData *data),
     (out, pool, data))
{
    hook_call call;
    hook_begin(&call, "cuMemPoolImportPointer", CAP_CALL_ALLOC);
    CUresult result = real_cuMemPoolImportPointer(out, pool, data);
    bool good = result == CUDA_SUCCESS;
    return memory_made(&call, result, good ? *out : 0, good ? imported_bytes(*out) : 0,
                       CAP_OBJECT_DEVICE, &pool);
}

/* ---- pools: no calls of interest, but their handles are given out again ---- */

HOOK(cuMemPoolCreate, (CUmemoryPool * out, const CUmemPoolProps *props), (out, props))
{
    CUresult result = real_cuMemPoolCreate(out, props);
    if (result == CUDA_SUCCESS) {
        pthread_mutex_lock(&rec_g.lock);
        drv_pool_created(*out, (uint32_t)props->location.id);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

/* It is forgotten before: another thread may be given the handle while the call is under way. */
HOOK(cuMemPoolDestroy, (CUmemoryPool pool), (pool))
{
    pthread_mutex_lock(&rec_g.lock);
    drv_pool_gone(pool);
    pthread_mutex_unlock(&rec_g.lock);
    return real_cuMemPoolDestroy(pool);
}

/* ---- releasing ---- */

#define RELEASE(symbol, base, params, args)                    \
    HOOK(symbol, params, args)                                 \
    {                                                          \
        hook_call call;                                        \
        hook_begin(&call, #symbol, CAP_CALL_FREE);             \
        taken t = take_allocation(&call, (uint64_t)(base));    \
        return memory_released(&call, real_##symbol args, &t); \
    }

#define RELEASE_ASYNC(symbol, per_thread)                                   \
    HOOK(symbol, (CUdeviceptr address, CUstream stream), (address, stream)) \
    {                                                                       \
        hook_call call;                                                     \
        hook_begin(&call, #symbol, CAP_CALL_FREE);                          \
        call.stream = drv_stream(stream, per_thread);                       \
        hook_async(&call);                                                  \
        if (drv_in_capture(call.stream)) { /* a graph frees when it runs */ \
            call.rec.record.flags |= CAP_CALL_CAPTURED;                     \
            return hook_end(&call, real_##symbol(address, stream));         \
        }                                                                   \
        taken t = take_allocation(&call, address);                          \
        return memory_released(&call, real_##symbol(address, stream), &t);  \
    }

RELEASE(cuMemFree_v2, address, (CUdeviceptr address), (address))
RELEASE(cuIpcCloseMemHandle, address, (CUdeviceptr address), (address))
RELEASE(cuMemFreeHost, data, (void *data), (data))
RELEASE(cuMemHostUnregister, data, (void *data), (data))
RELEASE_ASYNC(cuMemFreeAsync, false)
RELEASE_ASYNC(cuMemFreeAsync_ptsz, true)

/* ---- virtual memory: a range may hold what several calls mapped ---- */

typedef wl_vec(drv_object) object_list;

static void take_objects_in(object_list *list, uint64_t address, uint64_t bytes)
{
    drv_object o;
    for (uint64_t at = address; at - address < bytes && drv_object_take(at, &o); at += o.bytes)
        if (!wl_push(list, o))
            return;
}

static void range_released(hook_call *call, const object_list *list, uint64_t bytes)
{
    call->rec.record.source_object = list->count ? list->data[0].number : 0;
    call->rec.record.bytes = bytes;
    hook_write_call(call, CUDA_SUCCESS);
    for (size_t i = 0; i < list->count; i++)
        drv_object_freed(&list->data[i], call->rec.id, CAP_FREED_PROGRAM);
}

HOOK(cuMemUnmap, (CUdeviceptr address, size_t bytes), (address, bytes))
{
    hook_call call;
    object_list list = {0};
    hook_begin(&call, "cuMemUnmap", CAP_CALL_FREE);
    if (!call.rec.active)
        return hook_end(&call, real_cuMemUnmap(address, bytes));
    pthread_mutex_lock(&rec_g.lock);
    take_objects_in(&list, address, bytes);
    pthread_mutex_unlock(&rec_g.lock);
    CUresult result = real_cuMemUnmap(address, bytes);
    pthread_mutex_lock(&rec_g.lock);
    if (result == CUDA_SUCCESS)
        range_released(&call, &list, bytes);
    for (size_t i = 0; result != CUDA_SUCCESS && i < list.count; i++)
        drv_object_add(&list.data[i]);
    pthread_mutex_unlock(&rec_g.lock);
    wl_vec_free(&list);
    return hook_end(&call, result);
}
