/* Host memory for what is read from the device. The driver copies into it directly; into other
 * memory it copies in pieces, at a tenth of the speed. */
#include "shim/probe/pages_impl.h"

#include <stdlib.h>
#include <uthash.h>

enum { LEAST = 1 << 20, MOST = 128 << 20 };

typedef struct staging { /* of a context */
    CUcontext context;
    void *memory; /* goes with the context */
    uint64_t room;
    UT_hash_handle hh;
} staging;

static staging *stagings;

static staging *staging_of(CUcontext context)
{
    staging *s = NULL;
    HASH_FIND_PTR(stagings, &context, s);
    if (!s && (s = calloc(1, sizeof *s))) {
        s->context = context;
        HASH_ADD_PTR(stagings, context, s);
    }
    return s;
}

static void grow_staging(staging *s, uint64_t bytes)
{
    uint64_t room = LEAST;
    while (room < bytes)
        room *= 2;
    if (s->room)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemFreeHost, (void *), s->memory);
    s->room = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemAllocHost_v2, (void **, size_t), &s->memory,
                     room) == CUDA_SUCCESS
                  ? room
                  : 0;
}

char *probe_staging(CUcontext context, uint64_t bytes)
{
    staging *s = bytes <= MOST ? staging_of(context) : NULL;
    if (!s)
        return NULL;
    if (s->room < bytes)
        grow_staging(s, bytes);
    return s->room >= bytes ? s->memory : NULL;
}

void probe_staging_gone(CUcontext context)
{
    staging *s = NULL;
    HASH_FIND_PTR(stagings, &context, s);
    if (!s)
        return;
    HASH_DEL(stagings, s);
    free(s);
}
