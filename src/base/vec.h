/* Growing arrays on the heap: `wl_vec(type) v = {0}; if (!wl_push(&v, item)) ...; wl_vec_free(&v);`
 * Elements are v.data[0 .. v.count - 1]. */
#ifndef WL_BASE_VEC_H
#define WL_BASE_VEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

#define wl_vec(type)            \
    struct {                    \
        type *data;             \
        size_t count, capacity; \
    }

/* Makes room for `count` more elements; false (and unchanged) when memory is exhausted. */
#define wl_reserve(v, count_) \
    wl_vec_grow((void **)&(v)->data, &(v)->capacity, (v)->count, (count_), sizeof *(v)->data)

/* Appends a copy of `item`; false when memory is exhausted. */
#define wl_push(v, ...) \
    (wl_reserve((v), 1) ? ((v)->data[(v)->count++] = (__VA_ARGS__), true) : false)

#define wl_vec_free(v) (free((v)->data), (v)->data = NULL, (v)->count = (v)->capacity = 0)

bool wl_vec_grow(void **data, size_t *capacity, size_t count, size_t more, size_t size);

#endif
