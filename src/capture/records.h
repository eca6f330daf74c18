/* Payloads of all records, from fields.def. */
#ifndef WL_CAPTURE_RECORDS_H
#define WL_CAPTURE_RECORDS_H

#include "capture/capture.h"
#include "capture/encode.h"

/* Of each record: the bytes of its payload; the payload, where that many bytes are free; the
 * payload at the buffer's end. */
#define X(id, number, type)                                   \
    size_t cap_size_##type(const cap_##type *v);              \
    void cap_encode_##type(uint8_t *at, const cap_##type *v); \
    void cap_put_cap_##type(cap_buffer *b, const cap_##type *v);
#include "capture/events.def"
#undef X

/* Reads a whole payload as a record of record->type. WL_CORRUPT also where bytes are left over or
 * the type is unknown. */
wl_status cap_decode(const uint8_t *payload, size_t size, wl_arena *arena, cap_record *record);

/* The frame around a payload. */
enum { CAP_HEADER_BYTES = 16, CAP_FRAME_BYTES = 24, CAP_FLAG_ZSTD = 1 };
extern const char cap_magic[8];
uint64_t cap_hash(uint32_t type, uint32_t flags, const void *payload, size_t size);

#endif
