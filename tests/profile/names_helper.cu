#include "names_helper.h"

#include <cstdlib>

#define CUDA_CHECK(call)        \
    do {                        \
        if (call)               \
            exit(1);            \
    } while (0)

float *allocate_floats(size_t n)
{
    float *p = nullptr;
    CUDA_CHECK(cudaMalloc((void **)&p, n));
    return p;
}

void reserve_bytes(void **to, size_t n)
{
    CUDA_CHECK(cudaMalloc(to, n));
}
