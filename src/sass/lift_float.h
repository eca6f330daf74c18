/* What the functions share that lift floating point (lift_float.c, lift_half.c, lift_convert.c). */
#ifndef WL_SASS_LIFT_FLOAT_H
#define WL_SASS_LIFT_FLOAT_H

#include "sass/lifter.h"

/* An operand, by its number in the layout, with its sign and absolute value. */
lift_text lift_f32(lifter *l, unsigned i);
lift_text lift_f64(lifter *l, unsigned i);
/* ".rn", ".ftz" or "" */
const char *lift_rounding(const lifter *l);
const char *lift_flush(const lifter *l);
/* "ltu"; NULL: always or never. */
const char *lift_float_comparison(const lifter *l);
/* "and": how a comparison goes together with a predicate. */
const char *lift_combination(const lifter *l);

#endif
