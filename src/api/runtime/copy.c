/* Copies and sets of the runtime. */
#include "api/runtime/runtime.h"

/* ---- arguments ---- */

dev_result rt_direction(dev_copy *copy, int kind)
{
    static const dev_memory_type H = DEV_MEMORY_HOST, D = DEV_MEMORY_DEVICE;
    if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
        return DEV_INVALID_DIRECTION;
    copy->from.given = copy->to.given = kind != cudaMemcpyDefault;
    copy->from.expect = kind == cudaMemcpyHostToHost || kind == cudaMemcpyHostToDevice ? H : D;
    copy->to.expect = kind == cudaMemcpyHostToHost || kind == cudaMemcpyDeviceToHost ? H : D;
    return DEV_OK;
}

dev_copy rt_linear_copy(void *to, const void *from, size_t bytes, int kind)
{
    dev_copy copy = {.from.address = (uint64_t)from,
                     .to.address = (uint64_t)to,
                     .width = bytes,
                     .height = 1,
                     .depth = 1};
    rt_direction(&copy, kind);
    return copy;
}

static dev_array *array_of(cudaArray_const_t handle)
{
    return dev_is(handle, DEV_ARRAY) ? (dev_array *)(uintptr_t)handle : NULL;
}

/* As above, outside of a call-> */
static dev_array *find_array(cudaArray_const_t handle)
{
    if (!dev_lock())
        return NULL;
    dev_array *array = array_of(handle);
    dev_unlock();
    return array;
}

static size_t element_of(const dev_array *array)
{
    const dev_array_desc *d = dev_array_get(array);
    return d->channels * dev_format_bytes(d->format);
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
    dev_array *array = array_of(handle);
    if (!array)
        return DEV_INVALID_HANDLE;
    *place = (dev_place){.array = array, .x = pos.x * element_of(array), .y = pos.y, .z = pos.z};
    return DEV_OK;
}

/* With an array on either side the extent counts that array's elements, else bytes. */
dev_result rt_copy_3d(const struct cudaMemcpy3DParms *p, dev_copy *copy)
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
        copy->width *= element_of(array);
    return rt_direction(copy, p->kind);
}

/* ---- one way for all ---- */

static int do_copy(const char *api, bool per_thread, cudaStream_t handle, const dev_copy *copy,
                   int kind, bool blocking)
{
    RT_BEGIN(api, CAP_CALL_COPY, DEV_PRIMARY);
    dev_stream *stream;
    dev_copy checked = *copy;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = rt_direction(&checked, kind);
    if (result == DEV_OK)
        result = dev_do_copy(call, stream, &checked, blocking);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy, (void *to, const void *from, size_t count, int kind),
                  (to, from, count, kind))
{
    dev_copy copy = rt_linear_copy(to, from, count, kind);
    return do_copy(api, per_thread, NULL, &copy, kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpyAsync,
                  (void *to, const void *from, size_t count, int kind, cudaStream_t stream),
                  (to, from, count, kind, stream))
{
    dev_copy copy = rt_linear_copy(to, from, count, kind);
    return do_copy(api, per_thread, stream, &copy, kind, false);
}

WL_RUNTIME(int, cudaMemcpyPeer,
           (void *to, int to_device, const void *from, int from_device, size_t count))
{
    if (!rt_device_exists(to_device) || !rt_device_exists(from_device))
        return rt_fail(cudaErrorInvalidDevice);
    dev_copy copy = rt_linear_copy(to, from, count, cudaMemcpyDeviceToDevice);
    return do_copy("cudaMemcpyPeer", false, NULL, &copy, cudaMemcpyDeviceToDevice, true);
}

WL_RUNTIME(int, cudaMemcpyPeerAsync,
           (void *to, int to_device, const void *from, int from_device, size_t count,
            cudaStream_t stream))
{
    if (!rt_device_exists(to_device) || !rt_device_exists(from_device))
        return rt_fail(cudaErrorInvalidDevice);
    dev_copy copy = rt_linear_copy(to, from, count, cudaMemcpyDeviceToDevice);
    return do_copy("cudaMemcpyPeerAsync", false, stream, &copy, cudaMemcpyDeviceToDevice, false);
}

static dev_copy rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                     size_t height)
{
    return (dev_copy){.from = {.address = (uint64_t)from, .pitch = from_pitch},
                      .to = {.address = (uint64_t)to, .pitch = to_pitch},
                      .width = width,
                      .height = height,
                      .depth = 1};
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy2D,
                  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                   size_t height, int kind),
                  (to, to_pitch, from, from_pitch, width, height, kind))
{
    if (width > to_pitch || width > from_pitch)
        return rt_fail(cudaErrorInvalidPitchValue);
    dev_copy copy = rows(to, to_pitch, from, from_pitch, width, height);
    return do_copy(api, per_thread, NULL, &copy, kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpy2DAsync,
                  (void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                   size_t height, int kind, cudaStream_t stream),
                  (to, to_pitch, from, from_pitch, width, height, kind, stream))
{
    if (width > to_pitch || width > from_pitch)
        return rt_fail(cudaErrorInvalidPitchValue);
    dev_copy copy = rows(to, to_pitch, from, from_pitch, width, height);
    return do_copy(api, per_thread, stream, &copy, kind, false);
}

static int copy_3d(const char *api, bool per_thread, const struct cudaMemcpy3DParms *p,
                   cudaStream_t handle, bool blocking)
{
    RT_BEGIN(api, CAP_CALL_COPY, DEV_PRIMARY);
    dev_stream *stream;
    dev_copy copy;
    result = p ? dev_stream_get(call, handle, per_thread, &stream) : DEV_INVALID_VALUE;
    if (result == DEV_OK)
        result = rt_copy_3d(p, &copy);
    if (result == DEV_OK)
        result = dev_do_copy(call, stream, &copy, blocking);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy3D, (const struct cudaMemcpy3DParms *p), (p))
{
    return copy_3d(api, per_thread, p, NULL, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpy3DAsync, (const struct cudaMemcpy3DParms *p, cudaStream_t stream),
                  (p, stream))
{
    return copy_3d(api, per_thread, p, stream, false);
}

static struct cudaMemcpy3DParms without_devices(const struct cudaMemcpy3DPeerParms *p)
{
    return (struct cudaMemcpy3DParms){.srcArray = p->srcArray,
                                      .srcPos = p->srcPos,
                                      .srcPtr = p->srcPtr,
                                      .dstArray = p->dstArray,
                                      .dstPos = p->dstPos,
                                      .dstPtr = p->dstPtr,
                                      .extent = p->extent,
                                      .kind = cudaMemcpyDeviceToDevice};
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy3DPeer, (const struct cudaMemcpy3DPeerParms *p), (p))
{
    if (!p)
        return rt_fail(cudaErrorInvalidValue);
    struct cudaMemcpy3DParms parms = without_devices(p);
    return copy_3d(api, per_thread, &parms, NULL, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpy3DPeerAsync,
                  (const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream), (p, stream))
{
    if (!p)
        return rt_fail(cudaErrorInvalidValue);
    struct cudaMemcpy3DParms parms = without_devices(p);
    return copy_3d(api, per_thread, &parms, stream, false);
}

/* ---- arrays ---- */

typedef struct corner { /* where in an array a copy starts */
    cudaArray_const_t array;
    size_t x, y; /* bytes, rows */
} corner;

/* `into`: towards the array; the other side is linear, with `pitch` bytes between its rows. */
static int copy_array(const char *api, bool per_thread, cudaStream_t handle, corner at, bool into,
                      const void *linear, size_t pitch, size_t width, size_t height, int kind,
                      bool blocking)
{
    RT_BEGIN(api, CAP_CALL_COPY, DEV_PRIMARY);
    dev_stream *stream;
    dev_array *array = array_of(at.array);
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result || !array)
        RT_END(result ? result : DEV_INVALID_HANDLE);
    dev_place one = {.array = array, .x = at.x, .y = at.y};
    dev_place other = {.address = (uint64_t)linear, .pitch = pitch};
    dev_copy copy = {.from = into ? other : one,
                     .to = into ? one : other,
                     .width = width,
                     .height = height,
                     .depth = 1};
    if (pitch < width)
        RT_END(DEV_INVALID_PITCH);
    result = rt_direction(&copy, kind);
    if (result == DEV_OK)
        result = dev_do_copy(call, stream, &copy, blocking);
    RT_END(result);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy2DToArray,
                  (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                   size_t height, int kind),
                  (to, x, y, from, pitch, width, height, kind))
{
    return copy_array(api, per_thread, NULL, (corner){to, x, y}, true, from, pitch, width, height,
                      kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpy2DToArrayAsync,
                  (cudaArray_t to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                   size_t height, int kind, cudaStream_t stream),
                  (to, x, y, from, pitch, width, height, kind, stream))
{
    return copy_array(api, per_thread, stream, (corner){to, x, y}, true, from, pitch, width, height,
                      kind, false);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy2DFromArray,
                  (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                   size_t height, int kind),
                  (to, pitch, from, x, y, width, height, kind))
{
    return copy_array(api, per_thread, NULL, (corner){from, x, y}, false, to, pitch, width, height,
                      kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpy2DFromArrayAsync,
                  (void *to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                   size_t height, int kind, cudaStream_t stream),
                  (to, pitch, from, x, y, width, height, kind, stream))
{
    return copy_array(api, per_thread, stream, (corner){from, x, y}, false, to, pitch, width,
                      height, kind, false);
}

/* cudaMemcpyToArray fills rows one after another: whole rows, or a piece of one. */
static bool as_rows(cudaArray_const_t handle, size_t x, size_t count, size_t *width, size_t *height)
{
    dev_array *array = find_array(handle);
    size_t row = array ? dev_array_get(array)->width * element_of(array) : 0;
    *width = count <= row - x ? count : row;
    *height = count <= row - x ? 1 : row ? count / row : 0;
    return array && x <= row && *width * *height == count && (*height == 1 || x == 0);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpyToArray,
                  (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, int kind),
                  (to, x, y, from, count, kind))
{
    size_t width, height;
    if (!as_rows(to, x, count, &width, &height))
        return rt_fail(cudaErrorInvalidValue);
    return copy_array(api, per_thread, NULL, (corner){to, x, y}, true, from, width, width, height,
                      kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpyToArrayAsync,
                  (cudaArray_t to, size_t x, size_t y, const void *from, size_t count, int kind,
                   cudaStream_t stream),
                  (to, x, y, from, count, kind, stream))
{
    size_t width, height;
    if (!as_rows(to, x, count, &width, &height))
        return rt_fail(cudaErrorInvalidValue);
    return copy_array(api, per_thread, stream, (corner){to, x, y}, true, from, width, width, height,
                      kind, false);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpyFromArray,
                  (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, int kind),
                  (to, from, x, y, count, kind))
{
    size_t width, height;
    if (!as_rows(from, x, count, &width, &height))
        return rt_fail(cudaErrorInvalidValue);
    return copy_array(api, per_thread, NULL, (corner){from, x, y}, false, to, width, width, height,
                      kind, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpyFromArrayAsync,
                  (void *to, cudaArray_const_t from, size_t x, size_t y, size_t count, int kind,
                   cudaStream_t stream),
                  (to, from, x, y, count, kind, stream))
{
    size_t width, height;
    if (!as_rows(from, x, count, &width, &height))
        return rt_fail(cudaErrorInvalidValue);
    return copy_array(api, per_thread, stream, (corner){from, x, y}, false, to, width, width,
                      height, kind, false);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpy2DArrayToArray,
                  (cudaArray_t to, size_t to_x, size_t to_y, cudaArray_const_t from, size_t from_x,
                   size_t from_y, size_t width, size_t height, int kind),
                  (to, to_x, to_y, from, from_x, from_y, width, height, kind))
{
    dev_copy copy = {.from = {.x = from_x, .y = from_y},
                     .to = {.x = to_x, .y = to_y},
                     .width = width,
                     .height = height,
                     .depth = 1};
    copy.from.array = find_array(from);
    copy.to.array = find_array(to);
    if (!copy.from.array || !copy.to.array)
        return rt_fail(cudaErrorInvalidResourceHandle);
    return do_copy(api, per_thread, NULL, &copy, kind, true);
}

/* ---- symbols ---- */

static int copy_symbol(const char *api, bool per_thread, cudaStream_t handle, const void *symbol,
                       size_t offset, void *other, size_t count, int kind, bool into, bool blocking)
{
    RT_BEGIN(api, CAP_CALL_COPY, DEV_PRIMARY);
    dev_stream *stream;
    uint64_t base;
    size_t size;
    bool allowed = kind == (into ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost) ||
                   kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
    if (!allowed)
        RT_END(DEV_INVALID_DIRECTION);
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = rt_symbol(call->context, symbol, &base, &size);
    if (result == DEV_OK && (offset > size || count > size - offset))
        result = DEV_INVALID_VALUE;
    if (result)
        RT_END(result);
    void *place = (void *)(base + offset);
    dev_copy copy = rt_linear_copy(into ? place : other, into ? other : place, count, kind);
    RT_END(dev_do_copy(call, stream, &copy, blocking));
}

WL_RUNTIME_STREAM(ptds, cudaMemcpyToSymbol,
                  (const void *symbol, const void *from, size_t count, size_t offset, int kind),
                  (symbol, from, count, offset, kind))
{
    return copy_symbol(api, per_thread, NULL, symbol, offset, (void *)(uintptr_t)from, count, kind,
                       true, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpyToSymbolAsync,
                  (const void *symbol, const void *from, size_t count, size_t offset, int kind,
                   cudaStream_t stream),
                  (symbol, from, count, offset, kind, stream))
{
    return copy_symbol(api, per_thread, stream, symbol, offset, (void *)(uintptr_t)from, count,
                       kind, true, false);
}

WL_RUNTIME_STREAM(ptds, cudaMemcpyFromSymbol,
                  (void *to, const void *symbol, size_t count, size_t offset, int kind),
                  (to, symbol, count, offset, kind))
{
    return copy_symbol(api, per_thread, NULL, symbol, offset, to, count, kind, false, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemcpyFromSymbolAsync,
                  (void *to, const void *symbol, size_t count, size_t offset, int kind,
                   cudaStream_t stream),
                  (to, symbol, count, offset, kind, stream))
{
    return copy_symbol(api, per_thread, stream, symbol, offset, to, count, kind, false, false);
}

/* ---- sets ---- */

static int do_set(const char *api, bool per_thread, cudaStream_t handle, const dev_set *set,
                  bool blocking)
{
    RT_BEGIN(api, CAP_CALL_SET, DEV_PRIMARY);
    dev_stream *stream;
    result = dev_stream_get(call, handle, per_thread, &stream);
    if (result == DEV_OK)
        result = dev_do_set(call, stream, set, blocking);
    RT_END(result);
}

static dev_set bytes(void *data, size_t pitch, int value, size_t width, size_t height)
{
    return (dev_set){.address = (uint64_t)data,
                     .pitch = pitch,
                     .value = (unsigned char)value,
                     .element = 1,
                     .width = width,
                     .height = height,
                     .depth = 1};
}

WL_RUNTIME_STREAM(ptds, cudaMemset, (void *data, int value, size_t count), (data, value, count))
{
    dev_set set = bytes(data, count, value, count, 1);
    return do_set(api, per_thread, NULL, &set, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemsetAsync, (void *data, int value, size_t count, cudaStream_t stream),
                  (data, value, count, stream))
{
    dev_set set = bytes(data, count, value, count, 1);
    return do_set(api, per_thread, stream, &set, false);
}

WL_RUNTIME_STREAM(ptds, cudaMemset2D,
                  (void *data, size_t pitch, int value, size_t width, size_t height),
                  (data, pitch, value, width, height))
{
    dev_set set = bytes(data, pitch, value, width, height);
    return do_set(api, per_thread, NULL, &set, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemset2DAsync,
                  (void *data, size_t pitch, int value, size_t width, size_t height,
                   cudaStream_t stream),
                  (data, pitch, value, width, height, stream))
{
    dev_set set = bytes(data, pitch, value, width, height);
    return do_set(api, per_thread, stream, &set, false);
}

static dev_set volume(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    dev_set set = bytes(p.ptr, p.pitch, value, extent.width, extent.height);
    set.depth = extent.depth;
    set.slice = p.pitch * p.ysize;
    return set;
}

WL_RUNTIME_STREAM(ptds, cudaMemset3D,
                  (struct cudaPitchedPtr p, int value, struct cudaExtent extent),
                  (p, value, extent))
{
    dev_set set = volume(p, value, extent);
    return do_set(api, per_thread, NULL, &set, true);
}

WL_RUNTIME_STREAM(ptsz, cudaMemset3DAsync,
                  (struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                   cudaStream_t stream),
                  (p, value, extent, stream))
{
    dev_set set = volume(p, value, extent);
    return do_set(api, per_thread, stream, &set, false);
}
