/* The order of numbers, for qsort and bsearch; and the largest. */
#ifndef WL_BASE_ORDER_H
#define WL_BASE_ORDER_H

#include <stdint.h>

/* Of two uint64_t, the smaller first. */
static inline int wl_by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* *most is no less than the number afterwards. */
static inline void wl_raise(uint64_t *most, uint64_t number)
{
    if (number > *most)
        *most = number;
}

#endif
