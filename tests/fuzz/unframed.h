/* A capture without its frames, as fuzz_import takes it: type, two bytes of length, payload, and so
 * on; the last payload may be cut off. */
#ifndef TESTS_FUZZ_UNFRAMED_H
#define TESTS_FUZZ_UNFRAMED_H

#include "../support/file.h"
#include "../support/records.h"
#include "capture/records.h"

static inline void put_record(cap_buffer *b, uint32_t type, const uint8_t *payload, size_t size)
{
    put_number(b, type, 4);
    put_number(b, 0, 4);
    put_number(b, size, 8);
    put_number(b, cap_hash(type, 0, payload, size), 8);
    put_bytes(b, payload, size);
}

/* As a capture of today's version, each record in a frame with the right checksum. */
static inline bool write_framed(const char *path, const uint8_t *data, size_t size)
{
    cap_buffer b = {0};
    put_bytes(&b, cap_magic, 8);
    put_number(&b, CAP_VERSION, 8);
    while (size >= 3) {
        size_t length = data[1] | (size_t)data[2] << 8;
        length = length < size - 3 ? length : size - 3;
        put_record(&b, data[0], data + 3, length);
        data += 3 + length;
        size -= 3 + length;
    }
    bool written = !b.status && file_write(path, b.data, b.size);
    cap_buffer_free(&b);
    return written;
}

#endif
