/* Bytes of a payload: numbers little-endian, everything bounds-checked. */
#ifndef WL_CAPTURE_ENCODE_H
#define WL_CAPTURE_ENCODE_H

#include "base/arena.h"
#include "base/error.h"

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* ---- numbers in memory, without a check ---- */

/* The lower bytes of the value, up to 8, where there is room for them; returns where they end. */
static inline uint8_t *cap_put_at(uint8_t *at, uint64_t value, size_t bytes)
{
    value = htole64(value);
    memcpy(at, &value, bytes);
    return at + bytes;
}

static inline uint64_t cap_get_at(const uint8_t *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes);
    return le64toh(value);
}

/* ---- writing: a growing buffer; a failure sticks ---- */

typedef struct cap_buffer { /* all zero: empty */
    uint8_t *data;
    size_t size, capacity;
    wl_status status; /* WL_NOMEM, or WL_LIMIT beyond CAP_MAX_PAYLOAD */
    bool lent;        /* data belongs to somebody else, and is left where it grows too small */
} cap_buffer;

/* Room for `size` more bytes, which count as written. NULL after a failure. */
uint8_t *cap_reserve(cap_buffer *b, size_t size);
void cap_buffer_free(cap_buffer *b);

/* ---- reading: a cursor; after a failure everything reads as 0 ---- */

typedef struct cap_cursor {
    const uint8_t *at, *end;
    wl_arena *arena;  /* owns what is read */
    wl_status status; /* WL_CORRUPT, WL_NOMEM */
    bool ended;       /* at an OPTIONAL(): what follows reads as 0 */
} cap_cursor;

void cap_fail(cap_cursor *c, wl_status status); /* the first one stays */
uint64_t cap_get_number(cap_cursor *c, size_t bytes);
const char *cap_get_string(cap_cursor *c);
const char *cap_get_text(cap_cursor *c, uint64_t *length); /* NUL-terminated copy */
/* A count of elements that take at least `least` bytes each here, and zeroed room for them of
 * `size` each in *data. 0 and NULL on failure. */
uint32_t cap_get_count(cap_cursor *c, size_t least, size_t size, void **data);

#endif
