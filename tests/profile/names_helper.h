// Helpers of names.cu that stand in another file.
#ifndef NAMES_HELPER_H
#define NAMES_HELPER_H

#include <cstddef>

float *allocate_floats(size_t n);
void reserve_bytes(void **to, size_t n);

#endif
