#include "base/vec.h"

bool wl_vec_grow(void **data, size_t *capacity, size_t count, size_t more, size_t size)
{
    size_t need, bytes;
    if (__builtin_add_overflow(count, more, &need))
        return false;
    if (need <= *capacity)
        return true;
    size_t grown = *capacity ? *capacity * 2 : 8;
    if (grown < need)
        grown = need;
    if (__builtin_mul_overflow(grown, size, &bytes))
        return false;
    void *moved = realloc(*data, bytes);
    if (!moved)
        return false;
    *data = moved;
    *capacity = grown;
    return true;
}
