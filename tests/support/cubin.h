/* Small cubins, made by hand: ELF headers and sections ".nv.info.<kernel>", without code. */
#ifndef WL_TESTS_SUPPORT_CUBIN_H
#define WL_TESTS_SUPPORT_CUBIN_H

#include <stddef.h>
#include <stdint.h>

enum { CUBIN_MOST_PARAMS = 8 };

typedef struct cubin_kernel {
    const char *name;
    uint32_t bytes; /* of all parameters, as the cubin states them */
    uint32_t count;
    uint32_t params[CUBIN_MOST_PARAMS][2]; /* offset, bytes */
    uint32_t position_of_first;            /* 0 as it should be */
    uint32_t cut;                          /* bytes that the section lacks at its end */
} cubin_kernel;

/* malloc'ed. */
unsigned char *cubin_make(const cubin_kernel *kernels, size_t count, size_t *size);

#endif
