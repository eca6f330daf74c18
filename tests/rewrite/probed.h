/* A module as it is and with probes, on one emulated device: both run from the same memory, and
 * what the probes wrote is compared with what the emulator's observer saw. Everything fails the
 * test on any error. */
#ifndef TEST_REWRITE_PROBED_H
#define TEST_REWRITE_PROBED_H

#include "../emu/fixture.h"
#include "rewrite/layout.h"

enum { MAX_ARGUMENTS = 8 };

typedef struct probed {
    fixture f; /* the original */
    ir_module *rewritten_ptx;
    emu_module *rewritten;
    wl_arena *arena;
    rewrite_result result;
} probed;

/* A launch, and the memory that it may change. */
typedef struct shape {
    emu_dim grid, block;
    uint32_t dynamic_shared;
    uint32_t nargs;
    uint64_t args[MAX_ARGUMENTS];
    void *data; /* in the device: one allocation, kept and compared */
    uint64_t bytes;
    uint32_t nobjects; /* parts of it that are told as objects; 0: some that have nothing to do with
                          the kernel */
    rewrite_object objects[MAX_ARGUMENTS];
} shape;

typedef struct seen {
    uint64_t block;
    uint32_t pc, op, space, bytes, flags, mask, warp;
    uint64_t addr[32]; /* normalised */
} seen;

/* Lanes of a warp began a basic block. */
typedef struct entered {
    uint64_t block;
    uint32_t warp, pc, mask;
} entered;

/* What one run did. */
typedef struct shot {
    entered *entries;
    size_t nentries, entries_room;
    seen *list;
    size_t count, room;
    emu_block_count *blocks;
    uint32_t nblocks;
    uint32_t *block_of, ncode; /* [ncode] the basic block of each instruction */
    uint64_t warp_instructions;
    void *data; /* memory after it */
} shot;

void probed_begin(probed *p, const char *ptx, uint32_t probes, bool everything);
void probed_end(probed *p);
const rewrite_kernel *probed_kernel(const probed *p, const char *name);

/* Runs the original and restores the memory that was before. */
void shoot_original(probed *p, const char *name, const shape *s, shot *out);
/* A copy of the state that a launch left. */
typedef struct left {
    rewrite_copy copy;
    rewrite_layout layout;
    void *state;
    uint64_t logged; /* entries of the log, which are counted */
    uint8_t params[512];
} left;

/* Runs the rewritten kernel, restores the memory, and leaves a copy of the state. With `off` the
 * state's address is 0. Threads and blocks of the setup are found here. */
void shoot_probed(probed *p, const char *name, const shape *s, bool off, const rewrite_setup *given,
                  const uint64_t *blocks, uint32_t nblocks, shot *out, left *state);
void shot_end(shot *s);
void left_end(left *l);

/* Accesses of the trace as the observer would have told them. */
void read_trace(probed *p, const left *state, shot *out);

/* k(in): lane l reads in[l] and, where it is below 3, runs three instructions more, which read in[in[l] + 8 * l]; adds 1
 * to in[100] at the end. */
#define SMALL                                                               \
    HEADER ".visible .entry k(.param .u64 in)\n{\n"                         \
           ".reg .pred %p<3>;\n.reg .b32 %r<6>;\n.reg .b64 %d<6>;\n"        \
           "ld.param.u64 %d1, [in];\nmov.u32 %r1, %tid.x;\n"                \
           "mad.wide.u32 %d2, %r1, 4, %d1;\n"                               \
           "ld.global.u32 %r2, [%d2];\n"                                    \
           "setp.lt.u32 %p1, %r2, 3;\n@!%p1 bra END;\n"                     \
           "mad.lo.u32 %r3, %r1, 8, %r2;\nmad.wide.u32 %d3, %r3, 4, %d1;\n" \
           "ld.global.u32 %r4, [%d3];\n"                                    \
           "END:\nred.global.add.u32 [%d1+400], 1;\nret;\n}\n"

#endif
