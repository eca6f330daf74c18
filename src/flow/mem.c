#include "flow/mem.h"

#include <string.h>

void *flow_alloc(flow_mem *mem, size_t count, size_t size)
{
    void *data = wl_arena_array(mem->arena, count ? count : 1, size);
    if (!data)
        longjmp(mem->fail, 1);
    return data;
}

uint32_t *flow_words(flow_mem *mem, size_t count, uint32_t value)
{
    uint32_t *words = flow_new(mem, uint32_t, count);
    for (size_t i = 0; i < count; i++)
        words[i] = value;
    return words;
}

wl_status flow_guard(flow_mem *mem, void (*body)(void *ctx), void *ctx)
{
    if (setjmp(mem->fail))
        return WL_NOMEM;
    body(ctx);
    return WL_OK;
}

void flow_grow(flow_mem *mem, void **data, uint32_t *room, uint32_t count, size_t size)
{
    uint32_t larger = *room ? *room * 2 : 16;
    void *copy = flow_alloc(mem, larger, size);
    if (count)
        memcpy(copy, *data, count * size);
    *data = copy;
    *room = larger;
}
