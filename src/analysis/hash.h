/* Hashes of what findings and objects are known by: each adds to the one before. */
#ifndef WL_ANALYSIS_HASH_H
#define WL_ANALYSIS_HASH_H

#include <stdint.h>
#include <string.h>

#include <xxhash.h>

static inline uint64_t hash_number(uint64_t hash, uint64_t value)
{
    return XXH3_64bits_withSeed(&value, sizeof value, hash);
}

/* NULL counts as the number 0. */
static inline uint64_t hash_text(uint64_t hash, const char *text)
{
    return text ? XXH3_64bits_withSeed(text, strlen(text), hash) : hash_number(hash, 0);
}

#endif
