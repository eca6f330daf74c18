/* Streams by number: a handle that is destroyed and given out again is another stream, and each
 * context has default streams of its own. */
#include "shim/driver/impl.h"

#include "record/record.h"

#include <stdlib.h>
#include <string.h>

enum { LEGACY = 1 }; /* CU_STREAM_LEGACY */

typedef struct stream_key {
    uint64_t stream;  /* as drv_stream gives it */
    uint64_t context; /* of a default stream; 0: handles are the same in all */
} stream_key;

typedef struct numbered_stream {
    stream_key key;
    uint64_t number;
    uint64_t context; /* in which it was first used */
    UT_hash_handle hh;
} numbered_stream;

static numbered_stream *streams;
static const numbered_stream *latest; /* that was asked for; NULL: none */

static bool is_per_thread(uint64_t handle)
{
    return handle >> DRV_THREAD_SHIFT != 0;
}

uint64_t drv_stream(CUstream stream, bool per_thread)
{
    uint64_t value = (uint64_t)(uintptr_t)stream;
    if (value == DRV_PER_THREAD || (value == 0 && per_thread))
        return DRV_PER_THREAD | (uint64_t)rec_thread() << DRV_THREAD_SHIFT;
    return value == LEGACY ? 0 : value;
}

static cap_stream describe_stream(uint64_t handle, drv_context context)
{
    cap_stream record = {.device = context.device, .context = context.id};
    record.kind = handle == 0             ? CAP_STREAM_LEGACY
                  : is_per_thread(handle) ? CAP_STREAM_PER_THREAD
                                          : CAP_STREAM_CREATED;
    if (record.kind == CAP_STREAM_CREATED) {
        CUstream asked = (CUstream)(uintptr_t)handle;
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamGetFlags, (CUstream, unsigned *), asked,
               &record.flags);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamGetPriority, (CUstream, int *), asked,
               &record.priority);
    }
    return record;
}

/* NULL without memory. */
static const numbered_stream *add_stream(const stream_key *key, drv_context context)
{
    cap_stream record = describe_stream(key->stream, context);
    numbered_stream *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->key = *key;
    s->context = context.id;
    s->number = rec_stream(&record);
    HASH_ADD(hh, streams, key, sizeof s->key, s);
    return s;
}

uint64_t drv_stream_number(uint64_t handle, drv_context context)
{
    numbered_stream *s = NULL;
    bool is_default = handle == 0 || is_per_thread(handle);
    stream_key key = {handle, is_default ? context.id : 0};
    if (!context.id && is_default) /* a call that has no stream */
        return 0;
    if (latest && memcmp(&latest->key, &key, sizeof key) == 0)
        return latest->number;
    /* The key is hashed bytewise. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    HASH_FIND(hh, streams, &key, sizeof key, s);
    latest = s ? s : add_stream(&key, context);
    return latest ? latest->number : 0;
}

static void forget_stream(numbered_stream *s)
{
    if (latest == s)
        latest = NULL;
    HASH_DEL(streams, s);
    free(s);
}

void drv_stream_gone(uint64_t handle)
{
    numbered_stream *s = NULL;
    stream_key key = {handle, 0};
    /* The key is hashed bytewise. */
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult) */
    HASH_FIND(hh, streams, &key, sizeof key, s);
    if (s)
        forget_stream(s);
}

void drv_streams_gone(uint64_t context)
{
    numbered_stream *s, *next;
    HASH_ITER (hh, streams, s, next) {
        if (s->context == context)
            forget_stream(s);
    }
}
