/* Atomic updates that the compiler makes one of.
 *
 * Where all lanes of a warp update one integer of 32 bits, and the code shows it, ptxas lets one lane
 * do it for all: it counts them (VOTE, POPC) or reduces their values (REDUX). Seen in machine code for
 * add, and, or, min and max, of registers and constants, with and without a result; not for floats,
 * compare-and-swap and exchanges. */
#ifndef WL_ANALYSIS_ATOMICS_H
#define WL_ANALYSIS_ATOMICS_H

#include "profile/profile.h"

/* `code` and `form` may be NULL: then nothing shows it. */
bool ana_is_combined(const prof_code *code, const prof_form *form, const prof_launch *launch);

#endif
