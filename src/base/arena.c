#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK_SIZE = 64 * 1024, ALIGN_SMALL = 16, ALIGN_LARGE = 64 };

typedef struct chunk {
    struct chunk *next;
    size_t size; /* usable bytes behind the header */
    size_t used;
    char pad[ALIGN_LARGE - 3 * sizeof(size_t)];
    char data[];
} chunk;

struct wl_arena {
    chunk *head; /* the one that allocations come from */
    size_t used;
};

static chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - sizeof(chunk) - ALIGN_LARGE)
        return NULL;
    size_t total = (sizeof(chunk) + size + ALIGN_LARGE - 1) & ~(size_t)(ALIGN_LARGE - 1);
    chunk *c = aligned_alloc(ALIGN_LARGE, total);
    if (c)
        *c = (chunk){.size = total - sizeof(chunk)};
    return c;
}

wl_arena *wl_arena_new(void)
{
    return calloc(1, sizeof(wl_arena));
}

void wl_arena_free(wl_arena *arena)
{
    if (!arena)
        return;
    for (chunk *c = arena->head, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    free(arena);
}

/* Room for `size` bytes in the head chunk, which is replaced where it is full. A large block gets a
 * chunk of its own behind the head, so that what is left of the head stays in use. */
static chunk *chunk_for(wl_arena *arena, size_t size, size_t align)
{
    chunk *head = arena->head;
    if (head) {
        size_t start = (head->used + align - 1) & ~(align - 1);
        if (start <= head->size && size <= head->size - start) {
            head->used = start;
            return head;
        }
    }
    chunk *c = chunk_new(size > CHUNK_SIZE ? size : CHUNK_SIZE);
    if (!c)
        return NULL;
    if (head && size > CHUNK_SIZE / 2) {
        c->next = head->next;
        head->next = c;
    } else {
        c->next = head;
        arena->head = c;
    }
    return c;
}

void *wl_arena_alloc(wl_arena *arena, size_t size)
{
    chunk *c = chunk_for(arena, size, size >= ALIGN_LARGE ? ALIGN_LARGE : ALIGN_SMALL);
    if (!c)
        return NULL;
    void *data = c->data + c->used;
    c->used += size;
    arena->used += size;
    return memset(data, 0, size);
}

void *wl_arena_array(wl_arena *arena, size_t count, size_t size)
{
    size_t total;
    return __builtin_mul_overflow(count, size, &total) ? NULL : wl_arena_alloc(arena, total);
}

void *wl_arena_copy(wl_arena *arena, const void *data, size_t size)
{
    void *copy = wl_arena_alloc(arena, size);
    if (copy && size)
        memcpy(copy, data, size);
    return copy;
}

char *wl_arena_strdup(wl_arena *arena, const char *text)
{
    return wl_arena_copy(arena, text, strlen(text) + 1);
}

char *wl_arena_strndup(wl_arena *arena, const char *text, size_t length)
{
    char *copy = wl_arena_alloc(arena, length + 1);
    if (copy && length)
        memcpy(copy, text, length);
    return copy;
}

char *wl_arena_printf(wl_arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = length < 0 ? NULL : wl_arena_alloc(arena, (size_t)length + 1);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}

size_t wl_arena_used(const wl_arena *arena)
{
    return arena->used;
}
