/* The order of numbers, for qsort and bsearch. */
#ifndef WL_BASE_ORDER_H
#define WL_BASE_ORDER_H

#include <stdint.h>

/* Of two uint64_t, the smaller first. */
static inline int wl_by_number(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

#endif
