/* Hostile captures. The first byte chooses: the rest is a whole file, or a payload (its type in the
 * second byte) that gets a frame with the right checksum. What can be read must be written as the
 * same bytes again, after which the optional fields follow that a payload may lack; and these
 * bytes, read, are written as themselves. */
#include "../support/records.h"
#include "capture/records.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void read_all(const uint8_t *data, size_t size)
{
    cap_reader *reader;
    cap_record record;
    wl_error err;
    bool end = false;
    if (cap_open_memory(data, size, &reader, &err))
        return;
    while (!end)
        (void)cap_read(reader, &record, &end, &err);
    cap_reader_free(reader);
}

static void put(cap_buffer *b, const cap_record *record)
{
    switch (record->type) {
#define X(id, number, t) \
    case CAP_##id: cap_put_cap_##t(b, &record->t); break;
#include "capture/events.def"
#undef X
    }
}

/* Reads and writes; false where it cannot be read. */
static bool pass_through(uint32_t type, const void *payload, size_t size, cap_buffer *again)
{
    wl_arena *arena = wl_arena_new();
    cap_record record = {.type = (cap_type)type};
    bool read = cap_decode(payload, size, arena, &record) == WL_OK;
    if (read)
        put(again, &record);
    if (read && (again->status || again->size < size || memcmp(again->data, payload, size)))
        abort();
    wl_arena_free(arena);
    return read;
}

static void read_payload(uint32_t type, const uint8_t *payload, size_t size)
{
    cap_buffer once = {0}, twice = {0};
    if (pass_through(type, payload, size, &once) &&
        (!pass_through(type, once.data, once.size, &twice) || twice.size != once.size))
        abort();
    cap_buffer_free(&once);
    cap_buffer_free(&twice);
}

static void read_framed(uint32_t type, uint32_t flags, const uint8_t *payload, size_t size)
{
    cap_buffer b = {0};
    put_bytes(&b, cap_magic, 8);
    put_number(&b, CAP_VERSION, 8);
    put_number(&b, type, 4);
    put_number(&b, flags, 4);
    put_number(&b, size, 8);
    put_number(&b, cap_hash(type, flags, payload, size), 8);
    put_bytes(&b, payload, size);
    read_all(b.data, b.size);
    cap_buffer_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2)
        return 0;
    switch (data[0] % 3) {
    case 0: read_all(data + 1, size - 1); break;
    case 1: read_framed(data[1], CAP_FLAG_ZSTD, data + 2, size - 2); break;
    default: read_payload(data[1], data + 2, size - 2);
    }
    return 0;
}
