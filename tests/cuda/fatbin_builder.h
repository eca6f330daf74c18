/* Builds fat binaries for tests, as nvcc writes them. */
#ifndef WL_TESTS_CUDA_FATBIN_BUILDER_H
#define WL_TESTS_CUDA_FATBIN_BUILDER_H

#include "cuda/fatbin.h"

#include <stdlib.h>
#include <string.h>

#include <lz4.h>
#include <zstd.h>

typedef struct builder {
    unsigned char *data;
    size_t size;
} builder;

typedef struct builder_entry {
    int kind; /* 1 PTX, 2 ELF */
    unsigned arch;
    char variant;
    cuda_compression compression;
    const void *content;
    size_t length;
    const char *name, *options;
} builder_entry;

static inline void put(unsigned char *at, unsigned long long value, size_t bytes)
{
    memcpy(at, &value, bytes);
}

static inline builder builder_new(void)
{
    builder b = {calloc(1, 16), 16};
    put(b.data, CUDA_FATBIN_MAGIC, 4);
    put(b.data + 4, 1, 2);
    put(b.data + 6, 16, 2);
    return b;
}

static inline size_t builder_compress(const builder_entry *entry, unsigned char *out, size_t room)
{
    switch (entry->compression) {
    case CUDA_LZ4:
        return (size_t)LZ4_compress_default(entry->content, (char *)out, (int)entry->length,
                                            (int)room);
    case CUDA_ZSTD: return ZSTD_compress(out, room, entry->content, entry->length, 3);
    default: memcpy(out, entry->content, entry->length); return entry->length;
    }
}

/* Header: 72 bytes, the name, the options, padded to 8; payload padded to 8. */
static inline void builder_add(builder *b, const builder_entry *entry)
{
    size_t name = entry->name ? strlen(entry->name) + 1 : 0,
           options = entry->options ? strlen(entry->options) + 1 : 0;
    size_t header = (72 + name + options + 7) & ~(size_t)7, room = entry->length * 2 + 1024;
    unsigned char *payload = calloc(1, room);
    size_t stored = builder_compress(entry, payload, room), padded = (stored + 7) & ~(size_t)7;
    unsigned long long flags = 0x11;
    flags |= entry->compression == CUDA_LZ4 ? 0x2000 : entry->compression == CUDA_ZSTD ? 0x8000 : 0;
    flags |= entry->variant == 'a' ? 0x100000 : entry->variant == 'f' ? 0x200000 : 0;
    b->data = realloc(b->data, b->size + header + padded);
    unsigned char *h = b->data + b->size;
    memset(h, 0, header);
    put(h, (unsigned)entry->kind, 2);
    put(h + 2, 0x101, 2);
    put(h + 4, header, 4);
    put(h + 8, padded, 8);
    put(h + 16, entry->compression == CUDA_PLAIN ? 0 : stored, 4);
    put(h + 28, entry->arch, 4);
    put(h + 32, 72, 4);
    put(h + 36, name, 4);
    put(h + 40, flags, 8);
    put(h + 56, entry->compression == CUDA_PLAIN ? 0 : entry->length, 8);
    put(h + 64, 72 + name, 4);
    put(h + 68, options, 4);
    if (name)
        memcpy(h + 72, entry->name, name);
    if (options)
        memcpy(h + 72 + name, entry->options, options);
    memcpy(h + header, payload, padded);
    free(payload);
    b->size += header + padded;
    put(b->data + 8, b->size - 16, 8);
}

static inline void builder_ptx(builder *b, unsigned arch, char variant,
                               cuda_compression compression, const char *text)
{
    builder_add(b, &(builder_entry){1, arch, variant, compression, text, strlen(text) + 1, NULL,
                                    NULL});
}

static inline void builder_sass(builder *b, unsigned arch)
{
    static const char sass[256] = "\177ELF";
    builder_add(b, &(builder_entry){2, arch, '\0', CUDA_PLAIN, sass, sizeof sass, NULL, NULL});
}

#endif
