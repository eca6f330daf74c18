/* What repeats in a list of numbers: where a part of it comes at least twice without a gap. Found in
 * time that grows with the list's length only, and always the same for equal lists. */
#ifndef WL_BASE_REPEATS_H
#define WL_BASE_REPEATS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct wl_repeats { /* all zero: of an empty list */
    const uint32_t *list;
    uint32_t count, capacity, symbols;
    uint32_t *next;  /* where the number comes again; `count`: nowhere */
    uint32_t *seen;  /* by number */
    uint64_t *hash;  /* of what stands before each place; one more at the end */
    uint64_t *power; /* of the hash's base */
} wl_repeats;

/* Prepares for the list, whose numbers are below `symbols`, and which must stay until the next one.
 * Memory is used again. False when memory is exhausted. */
bool wl_repeats_of(wl_repeats *r, const uint32_t *list, uint32_t count, uint32_t symbols);

/* How many numbers from `from` on come again at once, and *times: how often in all, 2 or more, up to
 * `to`. 0: none. Lengths that begin with one of the next four that are equal to the first are tried,
 * and none above `most`. */
uint32_t wl_repeat_at(const wl_repeats *r, uint32_t from, uint32_t to, uint32_t most,
                      uint32_t *times);

void wl_repeats_free(wl_repeats *r);

#endif
