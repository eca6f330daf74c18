/* Copies and sets. */
#include "collect/inline/probe.h"

enum { MAX_CONSTANT = 64 << 10 }; /* bytes of constant memory that a device has */

/* One side: the object and the place in it. */
static uint32_t place(uint64_t address, uint64_t *offset, shim_object **object)
{
    *object = address ? shim_object_find(address) : NULL;
    *offset = *object ? address - (*object)->base : 0;
    return *object ? (*object)->number : 0;
}

/* What a constant holds is kept where the host wrote it, `data` being host memory; otherwise it is unknown from here. */
static void write_constant(const shim_object *o, uint32_t call, uint64_t offset, const void *data,
                           uint64_t bytes)
{
    bool known = data && bytes <= MAX_CONSTANT;
    cap_symbol record = {.object = o->number,
                         .call = call,
                         .offset = offset,
                         .data = known ? data : "",
                         .length = known ? bytes : 0};
    SHIM_WRITE(symbol, &record);
}

typedef struct moved {
    uint64_t from, to, bytes;
    const void *host;                  /* `from` where it is host memory */
    const void *from_array, *to_array; /* in the place of an address */
    bool waits;                        /* where it blocks: for the work of its stream */
} moved;

static CUresult done(shim_call *call, CUresult result, const moved *m, const shim_time *time)
{
    shim_object *object;
    if (!call->active)
        return shim_end(call, result);
    cap_call *r = &call->record;
    pthread_mutex_lock(&shim_g.lock);
    r->bytes = m->bytes;
    r->source_object = place(m->from, &r->source_offset, &object);
    r->target_object = place(m->to, &r->target_offset, &object);
    if (m->from_array)
        r->source_object = shim_array_object(m->from_array);
    if (m->to_array)
        r->target_object = shim_array_object(m->to_array);
    shim_write_call(call, result);
    shim_time_keep(time, result == CUDA_SUCCESS ? call->id : 0);
    if (object && object->kind == CAP_OBJECT_CONST && result == CUDA_SUCCESS)
        write_constant(object, call->id, r->target_offset, m->host, m->bytes);
    pthread_mutex_unlock(&shim_g.lock);
    return shim_end(call, result);
}

/* `blocking`: the stream's work is over when the call returns. Copies of the other kind may wait, too: for pageable memory. */
#define MOVE(symbol, what, of, per_thread, blocking, params, args, ...)                            \
    HOOK(symbol, params, args)                                                                     \
    {                                                                                              \
        shim_call call;                                                                            \
        shim_time time = {0};                                                                      \
        if (blocking || CAP_CALL_##what == CAP_CALL_COPY)                                          \
            shim_begin(&call, #symbol, CAP_CALL_##what);                                           \
        else                                                                                       \
            shim_begin_work(&call, #symbol, CAP_CALL_##what);                                      \
        call.record.stream = shim_stream(of, per_thread);                                          \
        if (call.active)                                                                           \
            shim_time_call_begin(&time, #symbol, call.record.stream);                              \
        CUresult result = real_##symbol args;                                                      \
        shim_time_end(&time, result);                                                              \
        moved m = {0};                                                                             \
        if (result == CUDA_SUCCESS)                                                                \
            m = (moved){__VA_ARGS__};                                                              \
        if (blocking && result == CUDA_SUCCESS) {                                                  \
            shim_times_resolve(0, true);                                                           \
            shim_probes_resolve(&(shim_wait){m.waits ? SHIM_OVER_STREAM : SHIM_OVER_NOTHING, NULL, \
                                             call.record.stream, call.launched});                  \
        }                                                                                          \
        return done(&call, result, &m, &time);                                                     \
    }

/* A blocking function, its per-thread variant, and the two of its counterpart that takes a stream. */
#define UNPACK(...) __VA_ARGS__
#define MOVES(what, plain, plain_thread, async, async_thread, params, args, ...)            \
    MOVE(plain, what, NULL, false, true, (UNPACK params), (UNPACK args), __VA_ARGS__)       \
    MOVE(plain_thread, what, NULL, true, true, (UNPACK params), (UNPACK args), __VA_ARGS__) \
    MOVE(async, what, stream, false, false, (UNPACK params, CUstream stream),               \
         (UNPACK args, stream), __VA_ARGS__)                                                \
    MOVE(async_thread, what, stream, true, false, (UNPACK params, CUstream stream),         \
         (UNPACK args, stream), __VA_ARGS__)

MOVES(COPY, cuMemcpy, cuMemcpy_ptds, cuMemcpyAsync, cuMemcpyAsync_ptsz,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), from, to, bytes,
      .host = NULL)
MOVES(COPY, cuMemcpyHtoD_v2, cuMemcpyHtoD_v2_ptds, cuMemcpyHtoDAsync_v2, cuMemcpyHtoDAsync_v2_ptsz,
      (CUdeviceptr to, const void *from, size_t bytes), (to, from, bytes), (uint64_t)from, to,
      bytes, .host = from)
MOVES(COPY, cuMemcpyDtoH_v2, cuMemcpyDtoH_v2_ptds, cuMemcpyDtoHAsync_v2, cuMemcpyDtoHAsync_v2_ptsz,
      (void *to, CUdeviceptr from, size_t bytes), (to, from, bytes), from, (uint64_t)to, bytes,
      .host = NULL, .waits = true)
MOVES(COPY, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), from, to, bytes,
      .host = NULL)
MOVES(COPY, cuMemcpyPeer, cuMemcpyPeer_ptds, cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz,
      (CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
       size_t bytes),
      (to, to_context, from, from_context, bytes), from, to, bytes, .host = NULL)

MOVES(SET, cuMemsetD8_v2, cuMemsetD8_v2_ptds, cuMemsetD8Async, cuMemsetD8Async_ptsz,
      (CUdeviceptr to, unsigned char value, size_t count), (to, value, count), 0, to, count,
      .host = NULL)
MOVES(SET, cuMemsetD16_v2, cuMemsetD16_v2_ptds, cuMemsetD16Async, cuMemsetD16Async_ptsz,
      (CUdeviceptr to, unsigned short value, size_t count), (to, value, count), 0, to, 2 * count,
      .host = NULL)
MOVES(SET, cuMemsetD32_v2, cuMemsetD32_v2_ptds, cuMemsetD32Async, cuMemsetD32Async_ptsz,
      (CUdeviceptr to, unsigned int value, size_t count), (to, value, count), 0, to, 4 * count,
      .host = NULL)
MOVES(SET, cuMemsetD2D8_v2, cuMemsetD2D8_v2_ptds, cuMemsetD2D8Async, cuMemsetD2D8Async_ptsz,
      (CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t rows),
      (to, pitch, value, width, rows), 0, to, width *rows, .host = NULL)
MOVES(SET, cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz,
      (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows),
      (to, pitch, value, width, rows), 0, to, 2 * width * rows, .host = NULL)
MOVES(SET, cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz,
      (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows),
      (to, pitch, value, width, rows), 0, to, 4 * width * rows, .host = NULL)

/* ---- copies of rows and slices ---- */

static uint64_t address_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST    ? (uint64_t)(uintptr_t)host
           : type == CU_MEMORYTYPE_ARRAY ? 0
                                         : device;
}

#define SIDE(c, side)                                                 \
    address_of(c->side##MemoryType, c->side##Host, c->side##Device) + \
        (c->side##MemoryType == CU_MEMORYTYPE_ARRAY                   \
             ? 0                                                      \
             : c->side##XInBytes + c->side##Y * c->side##Pitch)
#define ARRAY(c, side) (c->side##MemoryType == CU_MEMORYTYPE_ARRAY ? c->side##Array : NULL)
#define ARRAYS(c) .from_array = ARRAY(c, src), .to_array = ARRAY(c, dst)
#define PLANE(c) SIDE(c, src), SIDE(c, dst), c->WidthInBytes * c->Height, NULL, ARRAYS(c)
#define VOLUME(c)                                            \
    SIDE(c, src) + c->srcZ * c->srcPitch * c->srcHeight,     \
        SIDE(c, dst) + c->dstZ * c->dstPitch * c->dstHeight, \
        c->WidthInBytes * c->Height * c->Depth, NULL, ARRAYS(c)

MOVES(COPY, cuMemcpy2D_v2, cuMemcpy2D_v2_ptds, cuMemcpy2DAsync_v2, cuMemcpy2DAsync_v2_ptsz,
      (const CUDA_MEMCPY2D *c), (c), PLANE(c))
MOVE(cuMemcpy2DUnaligned_v2, COPY, NULL, false, true, (const CUDA_MEMCPY2D *c), (c), PLANE(c))
MOVE(cuMemcpy2DUnaligned_v2_ptds, COPY, NULL, true, true, (const CUDA_MEMCPY2D *c), (c), PLANE(c))
MOVES(COPY, cuMemcpy3D_v2, cuMemcpy3D_v2_ptds, cuMemcpy3DAsync_v2, cuMemcpy3DAsync_v2_ptsz,
      (const CUDA_MEMCPY3D *c), (c), VOLUME(c))
MOVES(COPY, cuMemcpy3DPeer, cuMemcpy3DPeer_ptds, cuMemcpy3DPeerAsync, cuMemcpy3DPeerAsync_ptsz,
      (const CUDA_MEMCPY3D_PEER *c), (c), VOLUME(c))

/* ---- rows of arrays ---- */

#define TO_ARRAY .to_array = to
#define FROM_ARRAY .from_array = from

MOVES(COPY, cuMemcpyHtoA_v2, cuMemcpyHtoA_v2_ptds, cuMemcpyHtoAAsync_v2, cuMemcpyHtoAAsync_v2_ptsz,
      (CUarray to, size_t offset, const void *from, size_t bytes), (to, offset, from, bytes),
      (uint64_t)from, 0, bytes, from, TO_ARRAY)
MOVES(COPY, cuMemcpyAtoH_v2, cuMemcpyAtoH_v2_ptds, cuMemcpyAtoHAsync_v2, cuMemcpyAtoHAsync_v2_ptsz,
      (void *to, CUarray from, size_t offset, size_t bytes), (to, from, offset, bytes), 0,
      (uint64_t)to, bytes, NULL, FROM_ARRAY, .waits = true)

#define BLOCKING(plain, params, args, ...)                          \
    MOVE(plain, COPY, NULL, false, true, params, args, __VA_ARGS__) \
    MOVE(plain##_ptds, COPY, NULL, true, true, params, args, __VA_ARGS__)

BLOCKING(cuMemcpyDtoA_v2, (CUarray to, size_t offset, CUdeviceptr from, size_t bytes),
         (to, offset, from, bytes), from, 0, bytes, NULL, TO_ARRAY)
BLOCKING(cuMemcpyAtoD_v2, (CUdeviceptr to, CUarray from, size_t offset, size_t bytes),
         (to, from, offset, bytes), 0, to, bytes, NULL, FROM_ARRAY)
BLOCKING(cuMemcpyAtoA_v2,
         (CUarray to, size_t to_offset, CUarray from, size_t from_offset, size_t bytes),
         (to, to_offset, from, from_offset, bytes), 0, 0, bytes, NULL, FROM_ARRAY, TO_ARRAY)

/* ---- many copies by one call: a record each ---- */

typedef struct CUmemcpyAttributes_st CUmemcpyAttributes;

static CUresult done_batch(shim_call *call, CUresult result, const CUdeviceptr *to,
                           const CUdeviceptr *from, const size_t *sizes, size_t count)
{
    shim_object *object;
    if (!call->active || result != CUDA_SUCCESS)
        return shim_end(call, result);
    cap_call *r = &call->record;
    pthread_mutex_lock(&shim_g.lock);
    for (size_t i = 0; i < count; i++) {
        r->bytes = sizes[i];
        r->source_object = place(from[i], &r->source_offset, &object);
        r->target_object = place(to[i], &r->target_offset, &object);
        call->id = 0;
        shim_write_call(call, result);
    }
    pthread_mutex_unlock(&shim_g.lock);
    return shim_end(call, result);
}

#define BATCH(symbol, per_thread, params, args)                   \
    HOOK(symbol, params, args)                                    \
    {                                                             \
        shim_call call;                                           \
        shim_begin(&call, #symbol, CAP_CALL_COPY);                \
        call.record.stream = shim_stream(stream, per_thread);     \
        CUresult result = real_##symbol args;                     \
        return done_batch(&call, result, to, from, sizes, count); \
    }

BATCH(cuMemcpyBatchAsync, false,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
       size_t *which, size_t nhow, size_t *failed, CUstream stream),
      (to, from, sizes, count, how, which, nhow, failed, stream))
BATCH(cuMemcpyBatchAsync_ptsz, true,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
       size_t *which, size_t nhow, size_t *failed, CUstream stream),
      (to, from, sizes, count, how, which, nhow, failed, stream))
BATCH(cuMemcpyBatchAsync_v2, false,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
       size_t *which, size_t nhow, CUstream stream),
      (to, from, sizes, count, how, which, nhow, stream))
BATCH(cuMemcpyBatchAsync_v2_ptsz, true,
      (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
       size_t *which, size_t nhow, CUstream stream),
      (to, from, sizes, count, how, which, nhow, stream))
