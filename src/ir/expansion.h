/* What an assembler makes of an instruction, before any has seen it: a table that was measured once
 * with ptxas (expansions.def, bench/expansion). A division becomes a dozen instructions of several
 * classes, a move between registers none.
 *
 * It is an expectation. What ptxas makes of a whole kernel depends on what stands around an
 * instruction, too; bench/expansion/results.md says how far off the sum over a kernel is. */
#ifndef WL_IR_EXPANSION_H
#define WL_IR_EXPANSION_H

#include "ir/code.h"

/* Adds to machine[class] (ir_cost) how many machine instructions of that class the instruction
 * becomes, of its fast path where it has a slow one. The numbers need not be whole. */
void ir_add_expansion(const ir_insn *insn, double machine[IR_COST_COUNT]);

#endif
