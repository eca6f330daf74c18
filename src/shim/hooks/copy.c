/* Copies and sets. */
#include "shim/hooks/copy.h"
#include "record/parts.h"
#include "shim/hooks/hook.h"

enum { MAX_CONSTANT = 64 << 10 }; /* bytes of constant memory that a device has */

/* From the first byte to the last. */
static uint64_t extent_of_side(const hook_moved *m, uint64_t pitch, uint64_t rows)
{
    const cap_shape *s = &m->shape;
    bool flat = s->rows <= 1 && s->slices <= 1;
    return flat ? m->bytes : ((s->slices - 1) * rows + s->rows - 1) * pitch + s->width;
}

/* One side: the innermost object that holds all of it, and the place in it. */
static uint32_t find_copied_object(uint64_t address, uint64_t bytes, uint64_t *offset,
                                   drv_object **object)
{
    *object = address ? drv_object_find(address) : NULL;
    *offset = 0;
    if (!*object)
        return 0;
    uint64_t base = (*object)->base;
    uint32_t part = rec_part_of(address, bytes, &base);
    *offset = address - base;
    return part ? part : (*object)->number;
}

/* What a constant holds is kept where the host wrote it, `data` being host memory; otherwise it is
 * unknown from here. */
static void write_constant(const drv_object *o, uint32_t call, uint64_t offset, const void *data,
                           uint64_t bytes)
{
    bool known = data && bytes <= MAX_CONSTANT;
    cap_symbol record = {.object = o->number,
                         .call = call,
                         .offset = offset,
                         .data = known ? data : "",
                         .length = known ? bytes : 0};
    REC_WRITE(symbol, &record);
}

/* Puts both sides into the record; returns the target, NULL where it is none of ours. */
static drv_object *describe_both_sides(rec_call *call, const hook_moved *m)
{
    drv_object *object;
    cap_call *r = &call->record;
    r->nshapes = 0; /* of a batch the copy before may have had one */
    if (m->shape.rows > 1 || m->shape.slices > 1) {
        call->shape = m->shape;
        rec_call_shape(call);
    }
    r->bytes = m->bytes;
    r->source_object = find_copied_object(m->from,
                                          extent_of_side(m, m->shape.source_pitch,
                                                         m->shape.source_rows),
                                          &r->source_offset, &object);
    r->target_object = find_copied_object(m->to,
                                          extent_of_side(m, m->shape.target_pitch,
                                                         m->shape.target_rows),
                                          &r->target_offset, &object);
    if (m->from_array)
        r->source_object = hook_array_object(m->from_array);
    if (m->to_array)
        r->target_object = hook_array_object(m->to_array);
    return object;
}

static void after_copy(const drv_object *target, const cap_call *r, uint32_t call,
                       const hook_moved *m)
{
    if (target && target->kind == CAP_OBJECT_CONST) {
        write_constant(target, call, r->target_offset, m->host, m->bytes);
        probe_constants_changed();
    }
}

void hook_moved_write(const hook_call *call, cap_call_kind kind, const hook_moved *moved)
{
    rec_call part;
    rec_call_begin_part(&part, &call->rec, kind);
    const drv_object *target = describe_both_sides(&part, moved);
    rec_call_write(&part, CUDA_SUCCESS);
    after_copy(target, &part.record, part.id, moved);
}

/* A call whose stream is being captured moves nothing: the graph does. `time` is taken only where
 * it is not. */
static bool captured(const hook_call *call, const hook_time *time)
{
    return !time->taken && drv_in_capture(call->stream);
}

static CUresult done(hook_call *call, CUresult result, const hook_moved *m, const hook_time *time)
{
    if (!call->rec.active)
        return hook_end(call, result);
    bool moved = result == CUDA_SUCCESS && !captured(call, time);
    if (result == CUDA_SUCCESS && !moved)
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    pthread_mutex_lock(&rec_g.lock);
    const drv_object *target = moved ? describe_both_sides(&call->rec, m) : NULL;
    hook_write_call(call, result);
    hook_time_keep(time, moved ? call->rec.id : 0);
    after_copy(target, &call->rec.record, call->rec.id, m);
    pthread_mutex_unlock(&rec_g.lock);
    return hook_end(call, result);
}

/* `what`: a COPY may wait even where it is not blocking, for pageable memory of the host. SHIFTs,
 * within devices, and SETs do not: what is noted of them may be held. */
#define KIND_COPY CAP_CALL_COPY
#define KIND_SHIFT CAP_CALL_COPY
#define KIND_SET CAP_CALL_SET
enum { WAITS_COPY = true, WAITS_SHIFT = false, WAITS_SET = false };

/* `blocking`: the stream's work is over when the call returns. */
#define MOVE(symbol, what, of, per_thread, blocking, params, args, ...)                         \
    HOOK(symbol, params, args)                                                                  \
    {                                                                                           \
        hook_call call;                                                                         \
        hook_time time = {0};                                                                   \
        if (blocking || WAITS_##what)                                                           \
            hook_begin(&call, #symbol, KIND_##what);                                            \
        else                                                                                    \
            hook_begin_work(&call, #symbol, KIND_##what);                                       \
        call.stream = drv_stream(of, per_thread);                                               \
        if (!(blocking))                                                                        \
            hook_async(&call);                                                                  \
        if (call.rec.active)                                                                    \
            hook_time_call_begin(&time, #symbol, call.stream);                                  \
        CUresult result = real_##symbol args;                                                   \
        hook_time_end(&time, result);                                                           \
        hook_moved m = {0};                                                                     \
        if (result == CUDA_SUCCESS)                                                             \
            m = (hook_moved){__VA_ARGS__};                                                      \
        if (blocking && result == CUDA_SUCCESS) {                                               \
            hook_times_resolve(0, true);                                                        \
            probe_resolve(&(probe_wait){m.waits ? PROBE_OVER_STREAM : PROBE_OVER_NOTHING, NULL, \
                                        call.stream, call.launched});                           \
        }                                                                                       \
        return done(&call, result, &m, &time);                                                  \
    }

/* `count` rows of `row` bytes, `step` bytes from one to the next. */
#define SET_ROWS(address, step, row, count) \
    0, address, (row) * (count), .host = NULL, .shape = {(row), (count), 1, 0, 0, (step), (count)}

/* A blocking function, its per-thread variant, and the two of its counterpart that takes a
 * stream. */
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
MOVES(SHIFT, cuMemcpyDtoD_v2, cuMemcpyDtoD_v2_ptds, cuMemcpyDtoDAsync_v2, cuMemcpyDtoDAsync_v2_ptsz,
      (CUdeviceptr to, CUdeviceptr from, size_t bytes), (to, from, bytes), from, to, bytes,
      .host = NULL)
MOVES(SHIFT, cuMemcpyPeer, cuMemcpyPeer_ptds, cuMemcpyPeerAsync, cuMemcpyPeerAsync_ptsz,
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
      (to, pitch, value, width, rows), SET_ROWS(to, pitch, width, rows))
MOVES(SET, cuMemsetD2D16_v2, cuMemsetD2D16_v2_ptds, cuMemsetD2D16Async, cuMemsetD2D16Async_ptsz,
      (CUdeviceptr to, size_t pitch, unsigned short value, size_t width, size_t rows),
      (to, pitch, value, width, rows), SET_ROWS(to, pitch, 2 * width, rows))
MOVES(SET, cuMemsetD2D32_v2, cuMemsetD2D32_v2_ptds, cuMemsetD2D32Async, cuMemsetD2D32Async_ptsz,
      (CUdeviceptr to, size_t pitch, unsigned int value, size_t width, size_t rows),
      (to, pitch, value, width, rows), SET_ROWS(to, pitch, 4 * width, rows))

/* ---- copies of rows and slices ---- */

static uint64_t operand_address(CUmemorytype type, const void *host, CUdeviceptr device)
{
    return type == CU_MEMORYTYPE_HOST    ? (uint64_t)(uintptr_t)host
           : type == CU_MEMORYTYPE_ARRAY ? 0
                                         : device;
}

#define SIDE(c, side)                                                      \
    operand_address(c->side##MemoryType, c->side##Host, c->side##Device) + \
        (c->side##MemoryType == CU_MEMORYTYPE_ARRAY                        \
             ? 0                                                           \
             : c->side##XInBytes + c->side##Y * c->side##Pitch)
#define ARRAY(c, side) (c->side##MemoryType == CU_MEMORYTYPE_ARRAY ? c->side##Array : NULL)
#define ARRAYS(c) .from_array = ARRAY(c, src), .to_array = ARRAY(c, dst)
#define PITCH(c, side) (ARRAY(c, side) ? 0 : c->side##Pitch ? c->side##Pitch : c->WidthInBytes)
#define ROWS(c, side, rows) (ARRAY(c, side) ? 0 : (rows) ? (rows) : c->Height)
#define SHAPE(c, depth, source_height, target_height) \
    .shape = {c->WidthInBytes,                        \
              c->Height,                              \
              depth,                                  \
              PITCH(c, src),                          \
              ROWS(c, src, source_height),            \
              PITCH(c, dst),                          \
              ROWS(c, dst, target_height)}
#define PLANE(c) \
    SIDE(c, src), SIDE(c, dst), c->WidthInBytes * c->Height, NULL, ARRAYS(c), SHAPE(c, 1, 0, 0)
#define VOLUME(c)                                                \
    SIDE(c, src) + c->srcZ * c->srcPitch * c->srcHeight,         \
        SIDE(c, dst) + c->dstZ * c->dstPitch * c->dstHeight,     \
        c->WidthInBytes * c->Height * c->Depth, NULL, ARRAYS(c), \
        SHAPE(c, c->Depth, c->srcHeight, c->dstHeight)

hook_moved hook_moved_volume(const CUDA_MEMCPY3D *c)
{
    return (hook_moved){VOLUME(c)};
}

hook_moved hook_moved_set(const CUDA_MEMSET_NODE_PARAMS *set)
{
    return (hook_moved){SET_ROWS(set->dst, set->pitch, set->elementSize * set->width, set->height)};
}

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

/* With the lock held when it is called: what the copy with this index moves. */
typedef hook_moved one_of(const void *list, size_t index);

static CUresult done_batch(hook_call *call, CUresult result, one_of *get, const void *list,
                           size_t count)
{
    hook_async(call);
    bool captured = call->rec.active && drv_in_capture(call->stream);
    if (captured)
        call->rec.record.flags |= CAP_CALL_CAPTURED;
    if (!call->rec.active || result != CUDA_SUCCESS || captured)
        return hook_end(call, result);
    pthread_mutex_lock(&rec_g.lock);
    for (size_t i = 0; i < count; i++) {
        hook_moved m = get(list, i);
        rec_call_again(&call->rec);
        const drv_object *target = describe_both_sides(&call->rec, &m);
        hook_write_call(call, result);
        after_copy(target, &call->rec.record, call->rec.id, &m);
    }
    pthread_mutex_unlock(&rec_g.lock);
    return hook_end(call, result);
}

#define BATCH(symbol, per_thread, get, list, count, params, args) \
    HOOK(symbol, params, args)                                    \
    {                                                             \
        hook_call call;                                           \
        hook_begin(&call, #symbol, CAP_CALL_COPY);                \
        call.stream = drv_stream(stream, per_thread);             \
        CUresult result = real_##symbol args;                     \
        return done_batch(&call, result, get, list, count);       \
    }
#define BATCHES(symbol, get, list, count, params, args)                            \
    BATCH(symbol, false, get, list, count, (UNPACK params, CUstream stream),       \
          (UNPACK args, stream))                                                   \
    BATCH(symbol##_ptsz, true, get, list, count, (UNPACK params, CUstream stream), \
          (UNPACK args, stream))

typedef struct ranges {
    const CUdeviceptr *to, *from;
    const size_t *sizes;
} ranges;

static hook_moved range(const void *list, size_t i)
{
    const ranges *r = list;
    return (hook_moved){.from = r->from[i], .to = r->to[i], .bytes = r->sizes[i]};
}

BATCHES(cuMemcpyBatchAsync, range, (&(ranges){to, from, sizes}), count,
        (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
         size_t *which, size_t nhow, size_t *failed),
        (to, from, sizes, count, how, which, nhow, failed))
BATCHES(cuMemcpyBatchAsync_v2, range, (&(ranges){to, from, sizes}), count,
        (CUdeviceptr * to, CUdeviceptr *from, size_t *sizes, size_t count, CUmemcpyAttributes *how,
         size_t *which, size_t nhow),
        (to, from, sizes, count, how, which, nhow))
BATCHES(cuMemcpyWithAttributesAsync, range, (&(ranges){&to, &from, &bytes}), 1,
        (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUmemcpyAttributes *how),
        (to, from, bytes, how))

/* The elements are those of the array, where one is among the two, else bytes. */
static uint64_t operand_element_bytes(const CUmemcpy3DOperand *o)
{
    CUDA_ARRAY3D_DESCRIPTOR d = {0};
    if (o->type != CU_MEMCPY_OPERAND_TYPE_ARRAY ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuArray3DGetDescriptor_v2,
               (CUDA_ARRAY3D_DESCRIPTOR *, CUarray), &d, o->op.array.array) != CUDA_SUCCESS)
        return 1;
    return hook_array_element(d.Format) * d.NumChannels;
}

static uint64_t address_of_operand(const CUmemcpy3DOperand *o)
{
    return o->type == CU_MEMCPY_OPERAND_TYPE_POINTER ? o->op.ptr.ptr : 0;
}

static const void *array_of_operand(const CUmemcpy3DOperand *o)
{
    return o->type == CU_MEMCPY_OPERAND_TYPE_ARRAY ? o->op.array.array : NULL;
}

/* Bytes from row to row, and rows from slice to slice; 0 in an array. A pointer without them has
 * its rows, or slices, side by side. */
static uint64_t operand_pitch(const CUmemcpy3DOperand *o, uint64_t element, size_t width)
{
    bool pointer = o->type == CU_MEMCPY_OPERAND_TYPE_POINTER;
    return !pointer ? 0 : element * (o->op.ptr.rowLength ? o->op.ptr.rowLength : width);
}

static uint64_t operand_rows(const CUmemcpy3DOperand *o, size_t height)
{
    bool pointer = o->type == CU_MEMCPY_OPERAND_TYPE_POINTER;
    return !pointer ? 0 : o->op.ptr.layerHeight ? o->op.ptr.layerHeight : height;
}

static cap_shape shape_of_volume(const CUDA_MEMCPY3D_BATCH_OP *c, uint64_t element)
{
    return (cap_shape){.width = element * c->extent.width,
                       .rows = c->extent.height,
                       .slices = c->extent.depth,
                       .source_pitch = operand_pitch(&c->src, element, c->extent.width),
                       .source_rows = operand_rows(&c->src, c->extent.height),
                       .target_pitch = operand_pitch(&c->dst, element, c->extent.width),
                       .target_rows = operand_rows(&c->dst, c->extent.height)};
}

static hook_moved volume(const void *list, size_t i)
{
    const CUDA_MEMCPY3D_BATCH_OP *c = (const CUDA_MEMCPY3D_BATCH_OP *)list + i;
    uint64_t element = operand_element_bytes(&c->src) * operand_element_bytes(&c->dst);
    if (array_of_operand(&c->src) && array_of_operand(&c->dst))
        element = operand_element_bytes(&c->src);
    return (hook_moved){.from = address_of_operand(&c->src),
                        .to = address_of_operand(&c->dst),
                        .bytes = element * c->extent.width * c->extent.height * c->extent.depth,
                        .from_array = array_of_operand(&c->src),
                        .to_array = array_of_operand(&c->dst),
                        .shape = shape_of_volume(c, element)};
}

BATCHES(cuMemcpy3DBatchAsync, volume, list, count,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, size_t *failed, unsigned long long flags),
        (count, list, failed, flags))
BATCHES(cuMemcpy3DBatchAsync_v2, volume, list, count,
        (size_t count, CUDA_MEMCPY3D_BATCH_OP *list, unsigned long long flags),
        (count, list, flags))
BATCHES(cuMemcpy3DWithAttributesAsync, volume, one, 1,
        (CUDA_MEMCPY3D_BATCH_OP * one, unsigned long long flags), (one, flags))
