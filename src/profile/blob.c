/* Packing and unpacking of the blobs that profiles hold. */
#include "profile/blob.h"

#include "profile/db.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>
#include <zstd_errors.h>

enum {
    ROW_BYTES = 8 + 4 + 4 * OBS_WORDS_PER_SECTOR + 3 * 4 + 2 * 2,
    LEVEL = 3,
    LARGE = 1 << 20,
    LEVEL_OF_LARGE = 1 /* takes half the time, and 4 % more room */
};

void blob_free(blob *b)
{
    free(b->data);
    ZSTD_freeCCtx(b->packer);
    *b = (blob){0};
}

static wl_status blob_room(blob *b, size_t size)
{
    if (size > b->capacity) {
        free(b->data);
        b->data = malloc(size);
        b->capacity = b->data ? size : 0;
    }
    b->size = 0;
    return b->data ? WL_OK : WL_NOMEM;
}

static void put16(blob *b, uint16_t value)
{
    value = htole16(value);
    memcpy(b->data + b->size, &value, sizeof value);
    b->size += sizeof value;
}

static void put32(blob *b, uint32_t value)
{
    value = htole32(value);
    memcpy(b->data + b->size, &value, sizeof value);
    b->size += sizeof value;
}

static void put64(blob *b, uint64_t value)
{
    value = htole64(value);
    memcpy(b->data + b->size, &value, sizeof value);
    b->size += sizeof value;
}

/* Column by column, sectors as differences: neighbouring rows are alike, so this compresses
 * well. */
static void put_rows(blob *b, const obs_heat_row *rows, uint32_t n, uint64_t first_sector)
{
    uint64_t last = first_sector;
    for (uint32_t i = 0; i < n; i++) {
        put64(b, rows[i].sector - last);
        last = rows[i].sector;
    }
    for (uint32_t i = 0; i < n; i++)
        put32(b, rows[i].history);
    for (uint32_t w = 0; w < OBS_WORDS_PER_SECTOR; w++)
        for (uint32_t i = 0; i < n; i++)
            put32(b, rows[i].word[w]);
    for (uint32_t i = 0; i < n; i++) {
        put32(b, rows[i].reads);
        put32(b, rows[i].writes);
        put32(b, rows[i].atomics);
    }
    for (uint32_t i = 0; i < n; i++) {
        put16(b, rows[i].owner);
        put16(b, rows[i].pcset);
    }
}

static size_t bytes_of_pcsets(const obs_heat *heat)
{
    size_t npcs = 0;
    for (uint32_t i = 0; i < heat->npcsets; i++)
        npcs += heat->pcsets[i].count;
    return (heat->npcsets + npcs) * 4;
}

uint32_t blob_heat_rows(const obs_heat *heat, size_t most)
{
    size_t sets = bytes_of_pcsets(heat), rows = sets < most ? (most - sets) / ROW_BYTES : 0;
    return heat->nrows < rows ? heat->nrows : (uint32_t)rows;
}

wl_status blob_pack_heat(const obs_heat *heat, uint64_t first_sector, blob *out)
{
    size_t size = (size_t)heat->nrows * ROW_BYTES + bytes_of_pcsets(heat);
    wl_status status = size > DB_MAX_VALUE ? WL_LIMIT : blob_room(out, size ? size : 1);
    if (status != WL_OK)
        return status;
    put_rows(out, heat->rows, heat->nrows, first_sector);
    for (uint32_t i = 0; i < heat->npcsets; i++) {
        put32(out, heat->pcsets[i].count);
        for (uint32_t k = 0; k < heat->pcsets[i].count; k++)
            put32(out, heat->pcsets[i].pcs[k]);
    }
    return WL_OK;
}

static uint16_t get16(const unsigned char **p)
{
    uint16_t value;
    memcpy(&value, *p, sizeof value);
    *p += sizeof value;
    return le16toh(value);
}

static uint32_t read_blob_u32(const unsigned char **p)
{
    uint32_t value;
    memcpy(&value, *p, sizeof value);
    *p += sizeof value;
    return le32toh(value);
}

static uint64_t read_blob_u64(const unsigned char **p)
{
    uint64_t value;
    memcpy(&value, *p, sizeof value);
    *p += sizeof value;
    return le64toh(value);
}

static const unsigned char *get_rows(const unsigned char *p, obs_heat_row *rows, uint32_t n)
{
    uint64_t last = 0;
    for (uint32_t i = 0; i < n; i++) {
        last += read_blob_u64(&p);
        rows[i].sector = last;
    }
    for (uint32_t i = 0; i < n; i++)
        rows[i].history = read_blob_u32(&p);
    for (uint32_t w = 0; w < OBS_WORDS_PER_SECTOR; w++)
        for (uint32_t i = 0; i < n; i++)
            rows[i].word[w] = read_blob_u32(&p);
    for (uint32_t i = 0; i < n; i++) {
        rows[i].reads = read_blob_u32(&p);
        rows[i].writes = read_blob_u32(&p);
        rows[i].atomics = read_blob_u32(&p);
    }
    for (uint32_t i = 0; i < n; i++) {
        rows[i].owner = get16(&p);
        rows[i].pcset = get16(&p);
    }
    return p;
}

/* Ascending sectors; a word's history within its sector's; an existing pcset. */
static bool rows_valid(const obs_heat_row *rows, uint32_t n, uint32_t npcsets)
{
    for (uint32_t i = 0; i < n; i++) {
        uint32_t words = 0;
        for (uint32_t w = 0; w < OBS_WORDS_PER_SECTOR; w++)
            words |= rows[i].word[w];
        if (words != rows[i].history || rows[i].pcset >= npcsets)
            return false;
        if (i && (int64_t)rows[i].sector <= (int64_t)rows[i - 1].sector)
            return false;
    }
    return true;
}

static bool get_pcsets(const unsigned char *p, obs_pcset *sets, uint32_t n, uint32_t *pcs,
                       uint32_t npcs)
{
    for (uint32_t i = 0; i < n; i++) {
        sets[i].count = read_blob_u32(&p);
        sets[i].pcs = pcs;
        if (sets[i].count > npcs)
            return false;
        for (uint32_t k = 0; k < sets[i].count; k++)
            *pcs++ = read_blob_u32(&p);
        npcs -= sets[i].count;
    }
    return npcs == 0;
}

wl_status blob_unpack_heat(const unsigned char *data, size_t size, uint32_t nrows, uint32_t npcsets,
                           uint32_t npcs, wl_arena *arena, obs_heat_row **rows, obs_pcset **pcsets)
{
    if (size != (uint64_t)nrows * ROW_BYTES + ((uint64_t)npcsets + npcs) * 4)
        return WL_CORRUPT;
    *rows = wl_new_array(arena, obs_heat_row, nrows);
    *pcsets = wl_new_array(arena, obs_pcset, npcsets);
    uint32_t *pcs = wl_new_array(arena, uint32_t, npcs);
    if (!*rows || !*pcsets || !pcs)
        return WL_NOMEM;
    const unsigned char *p = get_rows(data, *rows, nrows);
    bool valid = get_pcsets(p, *pcsets, npcsets, pcs, npcs) && rows_valid(*rows, nrows, npcsets);
    return valid ? WL_OK : WL_CORRUPT;
}

wl_status blob_compress(const void *data, size_t size, blob *out)
{
    wl_status status = blob_room(out, ZSTD_compressBound(size));
    if (status != WL_OK)
        return status;
    out->packer = out->packer ? out->packer : ZSTD_createCCtx();
    if (!out->packer)
        return WL_NOMEM;
    int level = size < LARGE ? LEVEL : LEVEL_OF_LARGE;
    size_t n = ZSTD_compressCCtx(out->packer, out->data, out->capacity, data, size, level);
    if (ZSTD_isError(n))
        return WL_NOMEM; /* its only failure with room for the bound */
    out->size = n;
    return WL_OK;
}

wl_status blob_decompress(blob_unpacker **unpacker, const void *data, size_t size,
                          uint64_t expected, wl_arena *arena, unsigned char **out)
{
    if (!data || expected > DB_MAX_VALUE || ZSTD_getFrameContentSize(data, size) != expected)
        return WL_CORRUPT;
    *out = wl_arena_alloc(arena, (size_t)expected + 1);
    *unpacker = *unpacker ? *unpacker : ZSTD_createDCtx();
    if (!*out || !*unpacker)
        return WL_NOMEM;
    size_t n = ZSTD_decompressDCtx(*unpacker, *out, (size_t)expected, data, size);
    if (ZSTD_getErrorCode(n) == ZSTD_error_memory_allocation)
        return WL_NOMEM;
    return ZSTD_isError(n) || n != expected ? WL_CORRUPT : WL_OK;
}

void blob_unpacker_free(blob_unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker);
}
