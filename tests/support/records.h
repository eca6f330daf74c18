/* Bytes of captures that tests make by hand, right or wrong. */
#ifndef TESTS_SUPPORT_RECORDS_H
#define TESTS_SUPPORT_RECORDS_H

#include "capture/encode.h"

static inline void put_bytes(cap_buffer *b, const void *data, size_t size)
{
    uint8_t *at = cap_reserve(b, size);
    if (at && size)
        memcpy(at, data, size);
}

/* The lower `bytes` bytes of the value, little-endian. */
static inline void put_number(cap_buffer *b, uint64_t value, size_t bytes)
{
    uint8_t *at = cap_reserve(b, bytes);
    if (at)
        cap_put_at(at, value, bytes);
}

#endif
