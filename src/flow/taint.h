/* What the passes on dependence share. */
#ifndef WL_FLOW_TAINT_H
#define WL_FLOW_TAINT_H

#include "flow/predicates.h"

/* Cells of an object that an access of `bytes` at the reach's offset covers: all where the offset
 * is not known. */
typedef struct flow_range {
    uint32_t first, count; /* in kernel->cells */
} flow_range;

flow_range flow_cells(const flow_kernel *kernel, const flow_reach *reach, uint32_t object,
                      uint32_t skip, uint32_t bytes);
/* What decides where control goes at the end of a block: clean where it has one successor. */
flow_source flow_branch_source(const flow_kernel *kernel, const flow_function *f, uint32_t block);
/* A literal that the context implies and under which the tainted value is clean; FLOW_NONE. */
flow_literal flow_clean_where(const flow_function *f, uint32_t value, const flow_place *at);
/* What the value brings in where it is used in the context. */
flow_source flow_value_source(const flow_function *f, uint32_t value, const flow_place *at);
/* Is what the instruction computes made of its own operands in its own thread, and nothing else? */
bool flow_is_pure(const flow_function *f, const ir_insn *insn);
/* May control go over the edge where the literal holds, which is defined before the block? */
bool flow_edge_taken(const flow_function *f, uint32_t from, uint32_t to, flow_literal literal);

/* Is something of what the register held before left in the value? */
static inline bool flow_keeps_old(const flow_value *v, flow_runs runs)
{
    return v->old != FLOW_NONE && (v->partial || runs != FLOW_RUNS_ALWAYS);
}

/* Of the instruction's guard, where its block runs. */
flow_source flow_guard_source(const flow_function *f, const ir_insn *insn);
/* bar and barrier, of threads of a block or cluster; neither a warp's nor mbarrier. */
bool flow_is_barrier(const ir_insn *insn);
/* bar.warp.sync. */
bool flow_is_warp_barrier(const ir_insn *insn);

#endif
