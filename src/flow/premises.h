/* What must hold of a thread where it makes an access, told by nothing but the thread's place in its
 * block and the block's size: which threads of a block an access is left to.
 *
 * A premise is an expression: numbers, "tid.x" and "ntid.x" (also y and z), "laneid", "self" (in a
 * loop, premises.def), "?" for what is not known, and what premises.def has, such as
 * "lt.u32(tid.x, 16)". It is a predicate: a thread for which it is 0 never makes the access. Of
 * others nothing is said. It speaks of no particular iteration of a loop: what differs from one to
 * another is told by what it may be. */
#ifndef WL_FLOW_PREMISES_H
#define WL_FLOW_PREMISES_H

#include "flow/kernel.h"

typedef enum flow_premise_op {
#define X(id, text, operands) FLOW_PREMISE_##id,
#include "flow/premises.def"
#undef X
    FLOW_PREMISE_OPS
} flow_premise_op;

/* Operands of an expression stand within each other so often at most, and it has so many characters. */
enum { FLOW_PREMISE_DEPTH = 24, FLOW_PREMISE_TEXT = 1000 };

const char *flow_premise_text(flow_premise_op op); /* "lt" */
uint32_t flow_premise_operands(flow_premise_op op);

typedef struct flow_premise {
    uint32_t pc;
    const char *text;
} flow_premise;

typedef struct flow_premises {
    uint32_t count;
    flow_premise *rows; /* by pc; of accesses of which something is known */
} flow_premises;

/* Of the kernel's own accesses, not those of functions that it calls; passes up to affine have run.
 * The rows lie in `arena`. Fails with WL_NOMEM only. */
wl_status flow_find_premises(flow_kernel *kernel, wl_arena *arena, flow_premises *out);

#endif
