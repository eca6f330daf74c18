/* Numbers of seven bits a byte, the lowest first; bit 7 is set in all bytes but the last (LEB128).
 */
#ifndef WL_BASE_VARINT_H
#define WL_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

enum { WL_VARINT_BYTES = 10 }; /* at most */

/* There must be room for WL_VARINT_BYTES. Returns where the number ends. */
static inline uint8_t *wl_varint_put(uint8_t *at, uint64_t number)
{
    for (; number > 127; number >>= 7)
        *at++ = (uint8_t)(number | 128);
    *at++ = (uint8_t)number;
    return at;
}

/* Moves *at on. False where the bytes end within the number, or it has more than 64 bits. */
static inline bool wl_varint_get(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
    *number = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        *number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return shift < 63 || byte < 2;
    }
    return false;
}

/* A signed number's number: 2 * n, or -2 * n - 1 where negative. */
static inline uint64_t wl_zigzag(int64_t n)
{
    return (uint64_t)n << 1 ^ (0 - ((uint64_t)n >> 63));
}

/* Differences wrap, and sums take that back. */
static inline uint64_t wl_zigzag_apart(int64_t number, int64_t before)
{
    return wl_zigzag((int64_t)((uint64_t)number - (uint64_t)before));
}

static inline int64_t wl_zigzag_add(int64_t before, uint64_t zigzag)
{
    return (int64_t)((uint64_t)before + (zigzag >> 1 ^ (0 - (zigzag & 1))));
}

#endif
