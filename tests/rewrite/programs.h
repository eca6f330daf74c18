/* How kernels of programs are launched in tests. */
#ifndef TEST_REWRITE_PROGRAMS_H
#define TEST_REWRITE_PROGRAMS_H

#include "probed.h"

typedef struct program {
    const char *kernel;
    emu_dim grid, block;
    uint32_t dynamic_shared;
    const char *args; /* programs.def says what the letters mean */
} program;

/* Those of programs.def. */
extern const program programs[];
extern const size_t program_count;

/* The launch, with its arrays in one allocation. */
shape program_shape(probed *p, const program *e);

#endif
