/* Launches as they were before CUDA 4: shape and parameters are set at the function, one after
 * another. */
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 4096 };

typedef struct setting { /* of a CUfunction */
    void *handle;
    drv_shape shape;
    uint32_t bytes;
    char params[MAX_PARAMS];
    UT_hash_handle hh;
} setting;

static setting *settings;

/* With the lock held; NULL without memory. */
static setting *of(CUfunction f)
{
    setting *s = NULL;
    void *handle = f;
    HASH_FIND_PTR(settings, &handle, s);
    if (!s && (s = calloc(1, sizeof *s))) {
        s->handle = handle;
        s->shape.block[0] = s->shape.block[1] = s->shape.block[2] = 1;
        HASH_ADD_PTR(settings, handle, s);
    }
    return s;
}

#define SET(symbol, params, args, what)               \
    HOOK(symbol, params, args)                        \
    {                                                 \
        CUresult result = real_##symbol args;         \
        if (result == CUDA_SUCCESS && rec_g.writer) { \
            pthread_mutex_lock(&rec_g.lock);          \
            setting *s = of(f);                       \
            if (s) {                                  \
                what;                                 \
            }                                         \
            pthread_mutex_unlock(&rec_g.lock);        \
        }                                             \
        return result;                                \
    }

static void put_param_bytes(setting *s, int offset, const void *data, size_t bytes)
{
    if (offset >= 0 && bytes <= MAX_PARAMS && (size_t)offset <= MAX_PARAMS - bytes)
        memcpy(s->params + offset, data, bytes);
}

SET(cuFuncSetBlockShape, (CUfunction f, int x, int y, int z), (f, x, y, z),
    s->shape.block[0] = (uint32_t)x;
    s->shape.block[1] = (uint32_t)y; s->shape.block[2] = (uint32_t)z)
SET(cuFuncSetSharedSize, (CUfunction f, unsigned int bytes), (f, bytes), s->shape.shared = bytes)
SET(cuParamSetSize, (CUfunction f, unsigned int bytes), (f, bytes), s->bytes = bytes)
SET(cuParamSeti, (CUfunction f, int offset, unsigned int value), (f, offset, value),
    put_param_bytes(s, offset, &value, sizeof value))
SET(cuParamSetf, (CUfunction f, int offset, float value), (f, offset, value),
    put_param_bytes(s, offset, &value, sizeof value))
SET(cuParamSetv, (CUfunction f, int offset, void *data, unsigned int bytes),
    (f, offset, data, bytes), put_param_bytes(s, offset, data, bytes))

static void note_old_launch(hook_call *call, CUfunction handle, int width, int height)
{
    hook_stack(call);
    pthread_mutex_lock(&rec_g.lock);
    drv_function *f = drv_function_of(handle);
    setting *s = of(handle);
    if (f && s) {
        s->shape.grid[0] = (uint32_t)width;
        s->shape.grid[1] = (uint32_t)height;
        s->shape.grid[2] = 1;
        hook_note(call, f, &s->shape,
                  (drv_param_bytes){s->params, s->bytes, s->bytes <= MAX_PARAMS});
    }
    pthread_mutex_unlock(&rec_g.lock);
}

#define LAUNCH(symbol, of_stream, width, height, params, args) \
    HOOK(symbol, params, args)                                 \
    {                                                          \
        hook_call call;                                        \
        hook_begin_launch(&call, #symbol);                     \
        call.stream = drv_stream(of_stream, false);            \
        CUresult result = real_##symbol args;                  \
        if (result == CUDA_SUCCESS && call.rec.active)         \
            note_old_launch(&call, f, width, height);          \
        return hook_end(&call, result);                        \
    }

LAUNCH(cuLaunch, NULL, 1, 1, (CUfunction f), (f))
LAUNCH(cuLaunchGrid, NULL, width, height, (CUfunction f, int width, int height), (f, width, height))
LAUNCH(cuLaunchGridAsync, stream, width, height,
       (CUfunction f, int width, int height, CUstream stream), (f, width, height, stream))
