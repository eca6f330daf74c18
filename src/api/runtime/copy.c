/* Copies and sets of the runtime: directions, rows, slices, arrays, variables. */
#include "api/both/copy.h"
#include "api/both/array.h"
#include "api/runtime/runtime.h"

/* ---- arguments ---- */

/* Sets what the direction says of both sides. */
static dev_result set_direction(dev_copy *copy, int kind)
{
    static const dev_memory_type H = DEV_MEMORY_HOST, D = DEV_MEMORY_DEVICE;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return DEV_INVALID_DIRECTION;
    copy->from.given = copy->to.given = kind != cudaMemcpyDefault;
    copy->from.expect = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? H : D;
    copy->to.expect = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? H : D;
    return DEV_OK;
}

static dev_result place_3d(cudaArray_t handle, struct cudaPos pos, struct cudaPitchedPtr ptr,
                           dev_place *place)
{
    if (handle && ptr.ptr)
        return DEV_INVALID_VALUE;
    if (!handle) {
        *place = (dev_place){.address = (uint64_t)ptr.ptr,
                             .pitch = ptr.pitch,
                             .height = ptr.ysize,
                             .x = pos.x,
                             .y = pos.y,
                             .z = pos.z};
        return ptr.ptr ? DEV_OK : DEV_INVALID_VALUE;
    }
    dev_array *array = api_array_of(handle);
    if (!array)
        return DEV_INVALID_HANDLE;
    *place = (dev_place){
        .array = array, .x = pos.x * api_element_bytes(array), .y = pos.y, .z = pos.z};
    return DEV_OK;
}

/* With an array on either side the extent counts that array's elements, else bytes. */
dev_result rt_read_copy(const struct cudaMemcpy3DParms *p, dev_copy *copy)
{
    *copy = (dev_copy){
        .width = p->extent.width, .height = p->extent.height, .depth = p->extent.depth};
    dev_result r = place_3d(p->srcArray, p->srcPos, p->srcPtr, &copy->from);
    if (r == DEV_OK)
        r = place_3d(p->dstArray, p->dstPos, p->dstPtr, &copy->to);
    if (r)
        return r;
    dev_array *array = copy->from.array ? copy->from.array : copy->to.array;
    if (array)
        copy->width *= api_element_bytes(array);
    return set_direction(copy, p->kind);
}

/* ---- bytes, rows, slices ---- */

static dev_result copy_towards(dev_call *call, cudaStream_t stream, bool per_thread, dev_copy copy,
                               int kind, bool blocking)
{
    dev_result r = set_direction(&copy, kind);
    return r ? r : api_copy(call, stream, per_thread, &copy, blocking);
}

dev_result rt_copy(dev_call *call, cudaStream_t stream, bool per_thread, void *to, const void *from,
                   size_t bytes, int kind, bool blocking)
{
    dev_copy copy = {.from.address = (uint64_t)from,
                     .to.address = (uint64_t)to,
                     .width = bytes,
                     .height = 1,
                     .depth = 1};
    return copy_towards(call, stream, per_thread, copy, kind, blocking);
}

dev_result rt_copy_between(dev_call *call, cudaStream_t stream, void *to, int to_device,
                           const void *from, int from_device, size_t bytes, bool blocking)
{
    if (!dev_gpu_get(to_device) || !dev_gpu_get(from_device))
        return DEV_INVALID_DEVICE;
    return rt_copy(call, stream, false, to, from, bytes, cudaMemcpyDeviceToDevice, blocking);
}

dev_result rt_copy_rows(dev_call *call, cudaStream_t stream, bool per_thread, rt_rows to,
                        rt_rows from, size_t width, size_t height, int kind, bool blocking)
{
    dev_copy copy = {.from = {.address = (uint64_t)from.data, .pitch = from.pitch},
                     .to = {.address = (uint64_t)to.data, .pitch = to.pitch},
                     .width = width,
                     .height = height,
                     .depth = 1};
    if (width > to.pitch || width > from.pitch)
        return DEV_INVALID_PITCH;
    return copy_towards(call, stream, per_thread, copy, kind, blocking);
}

dev_result rt_copy_slices(dev_call *call, cudaStream_t stream, bool per_thread,
                          const struct cudaMemcpy3DParms *p, bool blocking)
{
    dev_copy copy;
    dev_result r = p ? rt_read_copy(p, &copy) : DEV_INVALID_VALUE;
    return r ? r : api_copy(call, stream, per_thread, &copy, blocking);
}

dev_result rt_copy_slices_between(dev_call *call, cudaStream_t stream, bool per_thread,
                                  const struct cudaMemcpy3DPeerParms *p, bool blocking)
{
    if (!p)
        return DEV_INVALID_VALUE;
    struct cudaMemcpy3DParms parms = {.srcArray = p->srcArray,
                                      .srcPos = p->srcPos,
                                      .srcPtr = p->srcPtr,
                                      .dstArray = p->dstArray,
                                      .dstPos = p->dstPos,
                                      .dstPtr = p->dstPtr,
                                      .extent = p->extent,
                                      .kind = cudaMemcpyDeviceToDevice};
    return rt_copy_slices(call, stream, per_thread, &parms, blocking);
}

/* ---- arrays ---- */

static dev_result corner_place(rt_corner at, dev_place *place)
{
    *place = (dev_place){.array = api_array_of(at.array), .x = at.x, .y = at.y};
    return place->array ? DEV_OK : DEV_INVALID_HANDLE;
}

dev_result rt_copy_array(dev_call *call, cudaStream_t stream, bool per_thread, rt_corner at,
                         rt_rows linear, size_t width, size_t height, rt_way way)
{
    dev_place one, other = {.address = (uint64_t)linear.data, .pitch = linear.pitch};
    dev_result r = corner_place(at, &one);
    if (r)
        return r;
    dev_copy copy = {.from = way.into ? other : one,
                     .to = way.into ? one : other,
                     .width = width,
                     .height = height,
                     .depth = 1};
    if (linear.pitch < width)
        return DEV_INVALID_PITCH;
    return copy_towards(call, stream, per_thread, copy, way.kind, way.blocking);
}

/* Fills rows one after another: whole rows, or a piece of one. */
dev_result rt_copy_array_bytes(dev_call *call, cudaStream_t stream, bool per_thread, rt_corner at,
                               const void *data, size_t bytes, rt_way way)
{
    const dev_array *array = api_array_of(at.array);
    size_t row = array ? dev_array_get(array)->width * api_element_bytes(array) : 0;
    bool piece = bytes <= row - at.x;
    size_t width = piece ? bytes : row, height = piece ? 1 : row ? bytes / row : 0;
    if (!array || at.x > row || width * height != bytes || (height != 1 && at.x))
        return DEV_INVALID_VALUE;
    return rt_copy_array(call, stream, per_thread, at, (rt_rows){data, width}, width, height, way);
}

dev_result rt_copy_arrays(dev_call *call, bool per_thread, rt_corner to, rt_corner from,
                          size_t width, size_t height, int kind)
{
    dev_copy copy = {.width = width, .height = height, .depth = 1};
    dev_result r = corner_place(to, &copy.to);
    if (r == DEV_OK)
        r = corner_place(from, &copy.from);
    return r ? r : copy_towards(call, NULL, per_thread, copy, kind, true);
}

/* ---- variables ---- */

dev_result rt_copy_symbol(dev_call *call, cudaStream_t stream, bool per_thread, const void *symbol,
                          size_t offset, const void *other, size_t bytes, rt_way way)
{
    uint64_t base;
    size_t size;
    int kind = way.kind;
    bool allowed = kind == (way.into ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) ||
                   kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
    if (!allowed)
        return DEV_INVALID_DIRECTION;
    dev_result r = rt_symbol(call->context, symbol, &base, &size);
    if (r == DEV_OK && (offset > size || bytes > size - offset))
        r = DEV_INVALID_VALUE;
    if (r)
        return r;
    void *place = (void *)(base + offset), *data = (void *)(uintptr_t)other;
    return rt_copy(call, stream, per_thread, way.into ? place : data, way.into ? data : place,
                   bytes, kind, way.blocking);
}

/* ---- sets ---- */

dev_set rt_rows_set(void *data, size_t pitch, int value, size_t width, size_t height)
{
    return api_rows((uint64_t)data, pitch, (unsigned char)value, 1, width, height);
}

dev_set rt_slices_set(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    dev_set set = rt_rows_set(p.ptr, p.pitch, value, extent.width, extent.height);
    set.depth = extent.depth;
    set.slice = p.pitch * p.ysize;
    return set;
}
