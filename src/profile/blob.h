/* Bulk arrays as blobs: zstd over a little-endian layout, sizes checked before use.
 * docs/profile-schema.md gives the layout; nothing else knows it. */
#ifndef WL_PROFILE_BLOB_H
#define WL_PROFILE_BLOB_H

#include "base/arena.h"
#include "base/error.h"
#include "capture/capture.h"

typedef struct blob {
    unsigned char *data;
    size_t size, capacity;
    struct ZSTD_CCtx_s *packer; /* good for the next one: to make it takes longer than a small
                                   blob does */
} blob;

void blob_free(blob *b);

/* How many of a heat map's first rows, with its pcsets, pack into `most` bytes. */
uint32_t blob_heat_rows(const obs_heat *heat, size_t most);
/* Packs a heat map's rows (sectors relative to `first_sector`) and pcsets, not compressed. */
wl_status blob_pack_heat(const obs_heat *heat, uint64_t first_sector, blob *out);
/* Unpacks what blob_pack_heat made; WL_CORRUPT where sizes, order or indices do not fit. */
wl_status blob_unpack_heat(const unsigned char *data, size_t size, uint32_t nrows, uint32_t npcsets,
                           uint32_t npcs, wl_arena *arena, obs_heat_row **rows, obs_pcset **pcsets);

wl_status blob_compress(const void *data, size_t size, blob *out);
/* `expected` bytes, no more and no less, with a NUL after them; in the arena. *unpacker is made where
 * it is NULL, and good for the next one: to make it takes longer than a small blob does. */
typedef struct ZSTD_DCtx_s blob_unpacker;
wl_status blob_decompress(blob_unpacker **unpacker, const void *data, size_t size,
                          uint64_t expected, wl_arena *arena, unsigned char **out);
void blob_unpacker_free(blob_unpacker *unpacker); /* NULL is allowed */

#endif
