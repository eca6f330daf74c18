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

/* The launch, or where its payload would take more than `most` bytes, the launch with the heat maps
 * cut to as many of their first rows each as fit; their `dropped` tells how many are missing. *own:
 * memory of the result, to be freed by the caller, also on failure. WL_LIMIT where not even a
 * launch without maps fits, WL_NOMEM. */
wl_status cap_fit_launch(const cap_launch *launch, size_t most, cap_launch *out, obs_heat **own);
/* Likewise the elements: the longest spans are left out, and of their objects nothing is known then.
 * Returns how many were in *left_out. */
wl_status cap_fit_uses(const cap_uses *uses, size_t most, cap_uses *out, obs_use **own,
                       uint32_t *left_out);

/* The frame around a payload. */
enum { CAP_HEADER_BYTES = 16, CAP_FRAME_BYTES = 24, CAP_FLAG_ZSTD = 1 };
extern const char cap_magic[8];
uint64_t cap_hash(uint32_t type, uint32_t flags, const void *payload, size_t size);

#endif
