/* Repeats in lists of numbers. A hash tells in one step whether two parts may be equal; whether they
 * are is looked at then, which costs no more than what is folded. */
#include "base/repeats.h"

#include <stdlib.h>
#include <string.h>

#define BASE UINT64_C(0x9e3779b97f4a7c15)

static bool grow_places(wl_repeats *r, uint32_t count)
{
    size_t n = (size_t)count + 1;
    if (r->next && count <= r->capacity)
        return true;
    free(r->next);
    free(r->hash);
    free(r->power);
    r->next = malloc(n * sizeof *r->next);
    r->hash = malloc(n * sizeof *r->hash);
    r->power = malloc(n * sizeof *r->power);
    r->capacity = count;
    if (!r->next || !r->hash || !r->power)
        return false;
    r->power[0] = 1;
    for (size_t i = 1; i < n; i++)
        r->power[i] = r->power[i - 1] * BASE;
    return true;
}

static bool grow_repeats_seen(wl_repeats *r, uint32_t symbols)
{
    if (r->seen && symbols <= r->symbols)
        return true;
    free(r->seen);
    r->seen = malloc(((size_t)symbols + 1) * sizeof *r->seen);
    r->symbols = symbols;
    return r->seen != NULL;
}

bool wl_repeats_of(wl_repeats *r, const uint32_t *list, uint32_t count, uint32_t symbols)
{
    if (!grow_places(r, count) || !grow_repeats_seen(r, symbols))
        return false;
    r->list = list;
    r->count = count;
    for (uint32_t i = 0; i < symbols; i++)
        r->seen[i] = count;
    for (uint32_t i = count; i-- > 0;) {
        r->next[i] = r->seen[list[i]];
        r->seen[list[i]] = i;
    }
    r->hash[0] = 0;
    for (uint32_t i = 0; i < count; i++)
        r->hash[i + 1] = r->hash[i] * BASE + (list[i] + UINT64_C(1)) * UINT64_C(0xd6e8feb86659fd93);
    return true;
}

static uint64_t hash_of_part(const wl_repeats *r, uint32_t from, uint32_t length)
{
    return r->hash[from + length] - r->hash[from] * r->power[length];
}

static bool comes_again(const wl_repeats *r, uint32_t from, uint32_t length)
{
    return hash_of_part(r, from, length) == hash_of_part(r, from + length, length) &&
           memcmp(r->list + from, r->list + from + length, length * sizeof *r->list) == 0;
}

uint32_t wl_repeat_at(const wl_repeats *r, uint32_t from, uint32_t to, uint32_t most,
                      uint32_t *times)
{
    enum { TRIES = 4 };
    uint32_t again = r->next[from];
    for (int i = 0; i < TRIES && again < to; i++, again = r->next[again]) {
        uint32_t length = again - from, end = again + length;
        if (length > most || length > to - again)
            return 0;
        if (!comes_again(r, from, length))
            continue;
        while (end < to && r->list[end] == r->list[end - length])
            end++;
        *times = (end - from) / length;
        return length;
    }
    return 0;
}

void wl_repeats_free(wl_repeats *r)
{
    free(r->next);
    free(r->seen);
    free(r->hash);
    free(r->power);
    *r = (wl_repeats){0};
}
