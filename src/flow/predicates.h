/* What follows from a predicate that holds.
 *
 * An atom is a truth that some values decide: that a predicate's value holds, or that an integer is
 * below, or is, another one. A literal is an atom or its negation. Predicates that are computed
 * alike, or as each other's negation, have one atom.
 *
 * Wherever a literal is asked about, the values that decide it are those that their registers hold
 * there: their definitions dominate the place, and so nothing can have computed them anew since
 * whatever else is said there was found. */
#ifndef WL_FLOW_PREDICATES_H
#define WL_FLOW_PREDICATES_H

#include "flow/kernel.h"

enum { FLOW_MAX_PLACE = 3 };

/* Where something is asked: in a block that runs, where all of these literals hold, too. FLOW_NONE
 * stands for none. */
typedef struct flow_place {
    uint32_t block;
    flow_literal also[FLOW_MAX_PLACE];
} flow_place;

flow_place flow_in_block(uint32_t block);
/* With one more; it is dropped where there is no room, which only makes less certain. */
flow_place flow_where(flow_place at, flow_literal literal);

static inline flow_literal flow_not(flow_literal literal)
{
    return literal == FLOW_NONE ? FLOW_NONE : literal ^ 1;
}

/* Does the literal hold in every execution in the context? False for FLOW_NONE. */
bool flow_holds(const flow_function *f, const flow_place *at, flow_literal literal);
/* That the instruction's guard lets it run; FLOW_NONE where it has no guard. */
flow_literal flow_guard_literal(const flow_function *f, const ir_insn *insn);
/* Whether control goes from one block to the other where the guard of the first one's last
 * instruction holds, or where it does not. */
typedef enum flow_taken { FLOW_TAKEN_PERHAPS, FLOW_TAKEN_WHERE, FLOW_TAKEN_ELSE } flow_taken;
flow_taken flow_taken_where(const flow_function *f, uint32_t from, uint32_t to);
/* What holds whenever control goes from one block to the other; FLOW_NONE: nothing is known. */
flow_literal flow_edge_literal(const flow_function *f, uint32_t from, uint32_t to);
/* The context at the end of an edge's way, before the block that it leads to. */
flow_place flow_on_edge(const flow_function *f, uint32_t from, uint32_t to);
/* Is what decides the literal defined before the block's phis, in every way to it? */
bool flow_literal_before(const flow_function *f, flow_literal literal, uint32_t block);
/* Does the instruction write the register whatever it held? Not where only a part is written, or
 * where the guard may not let it run in that context. */
typedef enum flow_runs { FLOW_RUNS_PERHAPS, FLOW_RUNS_ALWAYS, FLOW_RUNS_NEVER } flow_runs;
flow_runs flow_runs_where(const flow_function *f, const ir_insn *insn, const flow_place *at);

#endif
