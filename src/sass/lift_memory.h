/* Addresses and lists of registers, for the functions that lift accesses to memory. */
#ifndef WL_SASS_LIFT_MEMORY_H
#define WL_SASS_LIFT_MEMORY_H

#include "sass/lifter.h"

typedef struct register_list {
    char at[240];
} register_list;

/* "%r4" or "{%r4, %r5}": so many registers of operand `i`, to be read, or written under the guard. */
register_list lift_list(lifter *l, unsigned i, unsigned words, bool written);
/* "[%d0+16]" of 64 bits, or "[%t0+16]" of 32, in shared or local memory: operand `i`. */
lift_text lift_wide_address(lifter *l, unsigned i);
lift_text lift_narrow_address(lifter *l, unsigned i);

/* What is lifted behind this runs for one of the lanes that come here, as a uniform instruction does. */
void lift_one_lane(lifter *l);

#endif
