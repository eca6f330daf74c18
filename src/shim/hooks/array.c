/* CUDA arrays as objects. They have no address, so that they are kept by handle. */
#include "cuda/args.h"
#include "shim/hooks/hook.h"

#include <stdlib.h>

typedef struct array { /* CUarray or CUmipmappedArray */
    void *handle;
    drv_object object;
    UT_hash_handle hh;
} array;

static array *arrays;

uint64_t hook_array_element(CUarray_format format)
{
    unsigned bytes = cuda_format_bytes((int)format);
    return bytes ? bytes : 4; /* of a format that is not a plain one: a guess */
}

static uint64_t extent_or_one(uint64_t n)
{
    return n ? n : 1;
}

/* Of the elements; how the device lays them out is its own affair. */
static uint64_t array_bytes(const CUDA_ARRAY3D_DESCRIPTOR *d)
{
    return hook_array_element(d->Format) * d->NumChannels * d->Width * extent_or_one(d->Height) *
           extent_or_one(d->Depth);
}

static uint64_t bytes_of_levels(CUDA_ARRAY3D_DESCRIPTOR d, unsigned levels)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < levels; i++) {
        bytes += array_bytes(&d);
        d.Width = extent_or_one(d.Width / 2);
        d.Height /= d.Height > 1 ? 2 : 1;
        d.Depth /= d.Depth > 1 ? 2 : 1;
    }
    return bytes;
}

static array *find_array(const void *handle)
{
    array *a = NULL;
    HASH_FIND_PTR(arrays, &handle, a);
    return a;
}

uint32_t hook_array_object(const void *handle)
{
    array *a = handle ? find_array(handle) : NULL;
    return a ? a->object.number : 0;
}

void hook_arrays_gone(CUcontext context)
{
    array *a, *next;
    HASH_ITER (hh, arrays, a, next) {
        if (a->object.context != context)
            continue;
        drv_object_freed(&a->object, 0, CAP_FREED_CONTEXT);
        HASH_DEL(arrays, a);
        free(a);
    }
}

/* ---- hooks ---- */

static CUresult array_made(hook_call *call, CUresult result, void *const *handle, uint64_t bytes)
{
    array *a;
    if (!call->rec.active || result != CUDA_SUCCESS || !(a = calloc(1, sizeof *a)))
        return hook_end(call, result);
    pthread_mutex_lock(&rec_g.lock);
    a->handle = *handle;
    a->object = (drv_object){
        .bytes = bytes, .kind = CAP_OBJECT_ARRAY, .context = drv_current().handle};
    hook_object_write(call, &a->object);
    HASH_ADD_PTR(arrays, handle, a);
    pthread_mutex_unlock(&rec_g.lock);
    return hook_end(call, result);
}

#define MAKE(symbol, bytes, params, args)                                                     \
    HOOK(symbol, params, args)                                                                \
    {                                                                                         \
        hook_call call;                                                                       \
        hook_begin(&call, #symbol, CAP_CALL_ALLOC);                                           \
        CUresult result = real_##symbol args;                                                 \
        return array_made(&call, result, (void **)out, result == CUDA_SUCCESS ? (bytes) : 0); \
    }

MAKE(cuArrayCreate_v2,
     hook_array_element(d->Format) * d->NumChannels * d->Width * extent_or_one(d->Height),
     (CUarray * out, const CUDA_ARRAY_DESCRIPTOR *d), (out, d))
MAKE(cuArray3DCreate_v2, array_bytes(d), (CUarray * out, const CUDA_ARRAY3D_DESCRIPTOR *d),
     (out, d))
MAKE(cuMipmappedArrayCreate, bytes_of_levels(*d, levels),
     (CUmipmappedArray * out, const CUDA_ARRAY3D_DESCRIPTOR *d, unsigned int levels),
     (out, d, levels))

/* The array was taken out before the release: the handle may be given out again while the call is
 * under way. */
static CUresult array_released(hook_call *call, CUresult result, array *a)
{
    if (!a)
        return hook_end(call, result);
    pthread_mutex_lock(&rec_g.lock);
    if (result == CUDA_SUCCESS) {
        call->rec.record.source_object = a->object.number;
        call->rec.record.bytes = a->object.bytes;
        hook_write_call(call, result);
        drv_object_freed(&a->object, call->rec.id, CAP_FREED_PROGRAM);
        free(a);
    } else {
        HASH_ADD_PTR(arrays, handle, a);
    }
    pthread_mutex_unlock(&rec_g.lock);
    return hook_end(call, result);
}

static array *take_array(const hook_call *call, const void *handle)
{
    if (!call->rec.active)
        return NULL;
    pthread_mutex_lock(&rec_g.lock);
    array *a = find_array(handle);
    if (a)
        HASH_DEL(arrays, a);
    pthread_mutex_unlock(&rec_g.lock);
    return a;
}

#define RELEASE(symbol, type)                                   \
    HOOK(symbol, (type handle), (handle))                       \
    {                                                           \
        hook_call call;                                         \
        hook_begin(&call, #symbol, CAP_CALL_FREE);              \
        array *a = take_array(&call, handle);                   \
        return array_released(&call, real_##symbol(handle), a); \
    }

RELEASE(cuArrayDestroy, CUarray)
RELEASE(cuMipmappedArrayDestroy, CUmipmappedArray)
