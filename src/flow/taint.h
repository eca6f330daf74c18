/* What the passes on dependence share. */
#ifndef WL_FLOW_TAINT_H
#define WL_FLOW_TAINT_H

#include "flow/kernel.h"

/* Cells of an object that an access of `bytes` at the reach's offset covers: all where the offset
 * is not known. */
typedef struct flow_range {
    uint32_t first, count; /* in kernel->cells */
} flow_range;

flow_range flow_cells(const flow_kernel *kernel, const flow_reach *reach, uint32_t object,
                      uint32_t skip, uint32_t bytes);
/* What decides where control goes at the end of a block: clean where it has one successor. */
flow_source flow_branch_source(const flow_kernel *kernel, const flow_function *f, uint32_t block);
/* Of the instruction's guard. */
flow_source flow_guard_source(const flow_function *f, const ir_insn *insn);
/* bar and barrier, of threads of a block or warp; not mbarrier. */
bool flow_is_barrier(const ir_insn *insn);

#endif
