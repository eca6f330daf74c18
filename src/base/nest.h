/* Ranges of addresses that lie in one another: two of them are apart, or one lies in the other. The
 * items belong to the caller and stay where they are while they are in a nest. Not safe to use from
 * several threads at once. */
#ifndef WL_BASE_NEST_H
#define WL_BASE_NEST_H

#include "base/vec.h"

#include <stdint.h>

typedef struct wl_nested {
    uint64_t base, bytes;
    struct wl_nested *around; /* the innermost one that this one lies in; set by the nest */
    uint32_t id;              /* the caller's */
} wl_nested;

typedef struct wl_nest {       /* all zero: empty */
    wl_vec(wl_nested *) items; /* by base; of one base the outer one first */
} wl_nest;

/* The innermost item that holds the address; NULL: none. [*low, *high) is narrowed to the addresses
 * around it of which the same is true. */
wl_nested *wl_nest_at(const wl_nest *nest, uint64_t address, uint64_t *low, uint64_t *high);
/* An item that would have to go before this range could be added: one that crosses a border of it,
 * or lies in it without being the same. NULL: none. */
wl_nested *wl_nest_in_the_way(const wl_nest *nest, uint64_t base, uint64_t bytes);
/* Any item that begins within the range, the innermost of the last; NULL: none. */
wl_nested *wl_nest_within(const wl_nest *nest, uint64_t base, uint64_t bytes);
/* Nothing may be in the way; an equal range lies in the one that was there before. False without
 * memory. */
bool wl_nest_add(wl_nest *nest, wl_nested *item);
/* What lies in it lies in what is around it from now on. */
void wl_nest_remove(wl_nest *nest, wl_nested *item);
void wl_nest_free(wl_nest *nest); /* forgets the items, which are the caller's */

#endif
