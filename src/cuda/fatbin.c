#include "cuda/fatbin.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/vec.h"

/* Container: u32 magic, u16 version, u16 header bytes, u64 bytes of the entries.
 * Entry: u16 kind, u16 version, u32 header bytes, u64 payload bytes, u32 compressed bytes, u32, u16
 * minor, u16 major, u32 architecture (28), u32 offset and u32 length of the name (32, 36), u64
 * flags (40), u64, u64 expanded bytes (56), u32 offset and u32 length of the compiler's options
 * (64, 68). Offsets count from the entry's header. */
enum {
    CONTAINER_HEADER = 16,
    ENTRY_HEADER = 48,
    AT_HEADER = 4,
    AT_PAYLOAD = 8,
    AT_COMPRESSED = 16,
    AT_ARCH = 28,
    AT_NAME = 32,
    AT_FLAGS = 40,
    AT_EXPANDED = 56,
    AT_OPTIONS = 64,
    KIND_PTX = 1,
    KIND_ELF = 2,
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH_SPECIFIC = 0x100000,
    FLAG_FAMILY_SPECIFIC = 0x200000,
    LZ4_BEST_RATIO = 255
};

static uint16_t u16(const unsigned char *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static uint32_t u32(const unsigned char *p)
{
    return u16(p) | (uint32_t)u16(p + 2) << 16;
}

static uint64_t u64(const unsigned char *p)
{
    return u32(p) | (uint64_t)u32(p + 4) << 32;
}

/* ---- the container ---- */

/* The bytes that a pair (offset, length) in the entry's header names; NULL where it names none. */
static const char *header_text(const unsigned char *entry, uint32_t header, uint32_t at,
                               size_t *length)
{
    if (header < at + 8)
        return NULL;
    uint32_t offset = u32(entry + at), size = u32(entry + at + 4);
    if (size == 0 || offset >= header || size > header - offset)
        return NULL;
    *length = size;
    return (const char *)entry + offset;
}

static void read_name(const unsigned char *entry, uint32_t header, char *name, size_t room)
{
    size_t length = 0;
    const char *text = header_text(entry, header, AT_NAME, &length);
    if (length >= room)
        length = room - 1;
    if (text)
        memcpy(name, text, length);
    name[text ? length : 0] = '\0';
}

static bool is_relocatable(const unsigned char *entry, uint32_t header)
{
    size_t length = 0;
    const char *options = header_text(entry, header, AT_OPTIONS, &length);
    return options && memmem(options, length, "--compile-only", 14);
}

static wl_status read_entry(const unsigned char *p, uint64_t left, cuda_entry *out, uint64_t *bytes,
                            wl_error *err)
{
    if (left < ENTRY_HEADER)
        return wl_fail(err, WL_TRUNCATED, "the fat binary ends inside an entry's header");
    uint32_t header = u32(p + AT_HEADER);
    uint64_t payload = u64(p + AT_PAYLOAD), compressed = u32(p + AT_COMPRESSED);
    if (header < ENTRY_HEADER || header > left || payload > left - header)
        return wl_fail(err, WL_CORRUPT, "an entry of the fat binary is larger than the fat binary");
    *bytes = header + payload;
    memset(out, 0, sizeof *out);
    out->kind = u16(p) == KIND_PTX   ? CUDA_ENTRY_PTX
                : u16(p) == KIND_ELF ? CUDA_ENTRY_ELF
                                     : CUDA_ENTRY_OTHER;
    out->arch = u32(p + AT_ARCH);
    out->flags = u64(p + AT_FLAGS);
    out->variant = out->flags & FLAG_ARCH_SPECIFIC     ? 'a'
                   : out->flags & FLAG_FAMILY_SPECIFIC ? 'f'
                                                       : '\0';
    out->compression = out->flags & FLAG_ZSTD  ? CUDA_ZSTD
                       : out->flags & FLAG_LZ4 ? CUDA_LZ4
                                               : CUDA_PLAIN;
    out->payload = p + header;
    out->payload_bytes = out->expanded_bytes = payload;
    read_name(p, header, out->name, sizeof out->name);
    out->relocatable = is_relocatable(p, header);
    if (out->compression == CUDA_PLAIN)
        return WL_OK;
    if (compressed > payload || header < AT_EXPANDED + 8)
        return wl_fail(err, WL_CORRUPT,
                       "a compressed entry of the fat binary is larger than its payload");
    out->payload_bytes = compressed ? compressed : payload;
    out->expanded_bytes = u64(p + AT_EXPANDED);
    return WL_OK;
}

wl_status cuda_fatbin_read(const void *data, size_t size, cuda_fatbin *out, wl_error *err)
{
    const unsigned char *p = data;
    wl_vec(cuda_entry) entries = {0};
    memset(out, 0, sizeof *out);
    if (size < CONTAINER_HEADER)
        return wl_fail(err, WL_TRUNCATED, "too short for a fat binary");
    if (u32(p) != CUDA_FATBIN_MAGIC)
        return wl_fail(err, WL_PARSE, "not a fat binary");
    uint64_t header = u16(p + 6), left = u64(p + 8);
    if (header < CONTAINER_HEADER || header > size || left > size - header)
        return wl_fail(err, WL_TRUNCATED, "the fat binary states more bytes than there are");
    out->bytes = header + left;
    for (p += header; left > 0;) {
        cuda_entry entry;
        uint64_t bytes = 0;
        wl_status status = read_entry(p, left, &entry, &bytes, err);
        if (status == WL_OK && !wl_push(&entries, entry))
            status = wl_fail(err, WL_NOMEM, "no memory for the entries of a fat binary");
        if (status != WL_OK) {
            wl_vec_free(&entries);
            return status;
        }
        p += bytes;
        left -= bytes;
    }
    out->entries = entries.data;
    out->count = entries.count;
    return WL_OK;
}

void cuda_fatbin_clear(cuda_fatbin *fatbin)
{
    free(fatbin->entries);
    memset(fatbin, 0, sizeof *fatbin);
}

/* ---- content ---- */

static bool expand_lz4(const cuda_entry *entry, unsigned char *out)
{
    int done = LZ4_decompress_safe((const char *)entry->payload, (char *)out,
                                   (int)entry->payload_bytes, (int)entry->expanded_bytes);
    return done >= 0 && (size_t)done == entry->expanded_bytes;
}

static bool expand_zstd(const cuda_entry *entry, unsigned char *out)
{
    size_t done = ZSTD_decompress(out, entry->expanded_bytes, entry->payload, entry->payload_bytes);
    return !ZSTD_isError(done) && done == entry->expanded_bytes;
}

/* Refuses a stated size that the payload cannot expand to, before memory is asked for. */
static bool size_is_plausible(const cuda_entry *entry)
{
    if (entry->expanded_bytes > CUDA_MAX_CONTENT || entry->payload_bytes > CUDA_MAX_CONTENT)
        return false;
    if (entry->compression == CUDA_LZ4)
        return entry->expanded_bytes <= (entry->payload_bytes + 1) * LZ4_BEST_RATIO;
    if (entry->compression == CUDA_PLAIN)
        return true;
    unsigned long long stated = ZSTD_getFrameContentSize(entry->payload, entry->payload_bytes);
    return stated != ZSTD_CONTENTSIZE_ERROR &&
           (stated == ZSTD_CONTENTSIZE_UNKNOWN || stated == entry->expanded_bytes);
}

wl_status cuda_entry_content(const cuda_entry *entry, unsigned char **content, size_t *length,
                             wl_error *err)
{
    bool good = true;
    *content = NULL;
    if (!size_is_plausible(entry))
        return wl_fail(err, WL_CORRUPT, "an entry of the fat binary states an impossible size");
    unsigned char *out = malloc(entry->expanded_bytes + 1);
    if (!out)
        return wl_fail(err, WL_NOMEM, "no memory for %zu bytes of device code",
                       entry->expanded_bytes);
    switch (entry->compression) {
    case CUDA_PLAIN: memcpy(out, entry->payload, entry->expanded_bytes); break;
    case CUDA_LZ4: good = expand_lz4(entry, out); break;
    case CUDA_ZSTD: good = expand_zstd(entry, out); break;
    }
    if (!good) {
        free(out);
        return wl_fail(err, WL_CORRUPT, "the compressed device code for sm_%u is damaged",
                       entry->arch);
    }
    out[entry->expanded_bytes] = '\0';
    *content = out;
    *length = entry->kind == CUDA_ENTRY_PTX ? strlen((char *)out)
                                            : entry->expanded_bytes; /* PTX is padded with NUL */
    return WL_OK;
}

/* ---- choice ---- */

bool cuda_arch_fits(uint32_t arch, char variant, uint32_t sm)
{
    if (variant == 'a')
        return arch == sm;
    if (variant == 'f')
        return arch / 10 == sm / 10 && arch <= sm;
    return arch <= sm;
}

static int specific(char variant)
{
    return variant == 'a' ? 2 : variant == 'f' ? 1 : 0;
}

/* PTX is compiled for all later devices too; machine code runs within its major version, and not
 * before it is linked. */
static bool runs(const cuda_entry *entry, uint32_t sm)
{
    return cuda_arch_fits(entry->arch, entry->variant, sm) &&
           (entry->kind == CUDA_ENTRY_PTX || (entry->arch / 10 == sm / 10 && !entry->relocatable));
}

const cuda_entry *cuda_fatbin_choose(const cuda_fatbin *fatbin, cuda_entry_kind kind, uint32_t sm)
{
    const cuda_entry *best = NULL;
    for (size_t i = 0; i < fatbin->count; i++) {
        const cuda_entry *entry = &fatbin->entries[i];
        if (entry->kind != kind || !runs(entry, sm))
            continue;
        if (!best || entry->arch > best->arch ||
            (entry->arch == best->arch && specific(entry->variant) > specific(best->variant)))
            best = entry;
    }
    return best;
}
