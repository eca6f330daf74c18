#include "capture/encode.h"

#include "capture/capture.h"

#include <stdlib.h>
#include <string.h>

static bool reserve_payload(cap_buffer *b, size_t more)
{
    if (b->status)
        return false;
    if (more > CAP_MAX_PAYLOAD - b->size) {
        b->status = WL_LIMIT;
        return false;
    }
    if (b->size + more <= b->capacity)
        return true;
    size_t capacity = b->capacity ? b->capacity * 2 : 512;
    while (capacity < b->size + more)
        capacity *= 2;
    uint8_t *data = realloc(b->lent ? NULL : b->data, capacity);
    if (!data) {
        b->status = WL_NOMEM;
        return false;
    }
    if (b->lent && b->size)
        memcpy(data, b->data, b->size);
    b->lent = false;
    b->data = data;
    b->capacity = capacity;
    return true;
}

uint8_t *cap_reserve(cap_buffer *b, size_t size)
{
    if (!reserve_payload(b, size))
        return NULL;
    b->size += size;
    return b->data + b->size - size;
}

void cap_buffer_free(cap_buffer *b)
{
    if (!b->lent)
        free(b->data);
    *b = (cap_buffer){0};
}

void cap_fail(cap_cursor *c, wl_status status)
{
    if (!c->status)
        c->status = status;
    c->at = c->end;
}

static void take_bytes(cap_cursor *c, void *data, size_t size)
{
    bool there = !c->status && size <= (size_t)(c->end - c->at);
    if (!there && !c->ended)
        cap_fail(c, WL_CORRUPT);
    if (!there) {
        memset(data, 0, size);
        return;
    }
    memcpy(data, c->at, size);
    c->at += size;
}

uint64_t cap_get_number(cap_cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if (!c->status &&
        c->end - c->at >= (ptrdiff_t)sizeof value) { /* most are: one load and a mask */
        memcpy(&value, c->at, sizeof value);
        c->at += bytes;
        return le64toh(value) & UINT64_MAX >> (64 - 8 * bytes);
    }
    take_bytes(c, &value, bytes);
    return le64toh(value);
}

static void *allocate_decoded(cap_cursor *c, size_t size)
{
    if (c->status)
        return NULL;
    if (size > CAP_MAX_DECODED || wl_arena_used(c->arena) > CAP_MAX_DECODED - size) {
        cap_fail(c, WL_CORRUPT);
        return NULL;
    }
    void *data = wl_arena_alloc(c->arena, size);
    if (!data)
        cap_fail(c, WL_NOMEM);
    return data;
}

/* `length` bytes and a NUL. */
static char *get_bytes(cap_cursor *c, uint64_t length)
{
    if (length > (uint64_t)(c->end - c->at))
        cap_fail(c, WL_CORRUPT);
    char *text = allocate_decoded(c, (size_t)length + 1);
    if (text)
        take_bytes(c, text, (size_t)length);
    return text;
}

const char *cap_get_string(cap_cursor *c)
{
    uint64_t length = cap_get_number(c, 4);
    if (length && !c->status && memchr(c->at, 0, length <= (uint64_t)(c->end - c->at) ? length : 0))
        cap_fail(c, WL_CORRUPT);
    const char *text = length ? get_bytes(c, length) : "";
    return text ? text : "";
}

const char *cap_get_text(cap_cursor *c, uint64_t *length)
{
    *length = cap_get_number(c, 8);
    const char *text = get_bytes(c, *length);
    *length = text ? *length : 0;
    return text ? text : "";
}

uint32_t cap_get_count(cap_cursor *c, size_t least, size_t size, void **data)
{
    uint64_t count = cap_get_number(c, 4);
    *data = NULL;
    if (count > (uint64_t)(c->end - c->at) / least)
        cap_fail(c, WL_CORRUPT);
    if (count)
        *data = allocate_decoded(c, (size_t)count * size);
    return *data ? (uint32_t)count : 0;
}
