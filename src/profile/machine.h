/* How many machine instructions each basic block of a kernel's PTX became, from its machine code.
 *
 * ptxas notes of each machine instruction which line of the PTX it was made from, but also moves,
 * merges, repeats and leaves out. So what is asked is not what became of each instruction, but how
 * often the machine code's own basic blocks run: as often as the block of the PTX in the same loop
 * that what cannot be moved in it comes from, divided by how often the loop's body stands there
 * (docs/model.md). */
#ifndef WL_PROFILE_MACHINE_H
#define WL_PROFILE_MACHINE_H

#include "flow/kernel.h"
#include "sass/code.h"

typedef struct machine_counts {
    /* By function of the kernel and basic block; NULL for a function that the machine code was not
     * found of, and of all where why_not is given. */
    double (**by_block)[IR_COST_COUNT];
    uint32_t unknown;    /* instructions of the code whose opcode is not known: left out */
    const char *why_not; /* why there is none; NULL where there is */
} machine_counts;

/* Why machine instructions cannot be told by the lines of this PTX; "" where they can. NULL as `text`: the
 * kernel has none. */
const char *machine_apart(const sass_code *code, const char *text);

/* `text` is the kernel's PTX, which the machine code must have been made from. Needs the pass ilp.
 * Everything lies in the arena. WL_NOMEM is the only failure. */
wl_status machine_count(const flow_kernel *flow, const sass_code *code, const char *text,
                        wl_arena *arena, machine_counts *out);

#endif
