/* Naive versions of what src/flow computes, straight from the definitions. */
#ifndef TEST_FLOW_REFERENCE_H
#define TEST_FLOW_REFERENCE_H

#include "support.h"

/* Is there a path from `from` to `to` that does not touch `without`? A node reaches itself unless
 * it is `without`. */
bool ref_reaches(const flow_graph *g, uint32_t from, uint32_t to, uint32_t without);
/* Does every path from the root to b go through a? False for unreached b. */
bool ref_dominates(const flow_graph *g, uint32_t root, uint32_t a, uint32_t b);
/* v is control dependent on c: some successor of c is post-dominated by v, and c itself is not, or
 * is v. */
bool ref_depends(const flow_graph *g, uint32_t exit, uint32_t v, uint32_t c);
/* Two paths from different successors of the branch to v that share no node before v, and do not
 * pass `stop`. */
bool ref_joins(const flow_graph *g, uint32_t branch, uint32_t stop, uint32_t v);

/* What may depend on data by the crudest rules: one cell a register, one for all of shared and one
 * for all of local memory; every register that an instruction reads may reach every one that it
 * writes; control dependence by definition. Only for kernels that call nothing. [pc]: the memory
 * instruction's address or execution is tainted. */
bool *ref_taint(const subject *s);

#endif
