/* A program both ways on the emulator: its PTX, and what the lifter makes of the machine code that ptxas
 * made of it. */
#ifndef TEST_SASS_LIFTING_H
#define TEST_SASS_LIFTING_H

#include "base/arena.h"
#include "emu/emu.h"
#include "sass/lift.h"
#include "support/test.h"

#include <stdbool.h>

/* Of a launch: requests by memory and operation; a sum over them that tells which lanes they had, in any order;
 * sectors or wavefronts. */
typedef struct lifting_traffic {
    uint64_t requests[ACC_SPACE_COUNT][ACC_OP_COUNT], lanes[ACC_SPACE_COUNT][ACC_OP_COUNT],
        cost[ACC_SPACE_COUNT][ACC_OP_COUNT];
} lifting_traffic;

typedef struct lifting_launch {
    emu_dim grid, block;
    uint32_t dynamic_shared;
    const void *params; /* as they lie in a .param array, each at a multiple of its size */
    uint32_t param_bytes;
    double time_limit; /* seconds; 0: a minute */
} lifting_launch;

/* Skips the test where there is no ptxas. */
void lifting_need_ptxas(void);
/* The cubin, malloc'ed; fails the test where ptxas does not take the PTX, but for NULL where `may_fail`. */
char *lifting_assemble(const char *ptx, const char *options, bool may_fail, size_t *size);
emu_machine *lifting_machine(void);
/* Of device memory. */
void *lifting_alloc(emu_machine *m, uint64_t bytes);
/* False: `why` says what went wrong. */
bool lifting_run(emu_machine *m, const char *ptx, const char *kernel, const lifting_launch *launch,
                 lifting_traffic *traffic, wl_error *why);
/* The first instruction of machine code that the lifter does not know, as text; NULL: it knows all. */
const char *lifting_unknown(const sass_lifted *lifted);

#endif
