/* What a launch left about one element: what rewrite_read_elements() tells of all at once,
 * worked out another way. */
#ifndef TESTS_REWRITE_ELEMENTS_H
#define TESTS_REWRITE_ELEMENTS_H

#include "rewrite/layout.h"

/* Elements count from the object's base rounded down to 4. */
bool elements_touched(const rewrite_copy *copy, uint32_t object, uint64_t element);
uint32_t elements_count(const rewrite_copy *copy, uint32_t object, unsigned class_,
                        uint64_t element);
/* Of the first `n` elements; for free(). */
bool *elements_all_touched(const rewrite_copy *copy, uint32_t object, uint64_t n);
uint32_t *elements_counts(const rewrite_copy *copy, uint32_t object, unsigned class_, uint64_t n);

#endif
