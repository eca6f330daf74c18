/* Which of the remedies of each finding is told, and which findings another's remedy mends. */
#ifndef WL_ANALYSIS_CHOOSE_H
#define WL_ANALYSIS_CHOOSE_H

#include "analysis/gain.h"

/* The findings of a kernel. Sets the worth of each remedy by itself, the order of remedies, what is
 * told of the first, covered_by and costs. False when memory is exhausted. */
bool choose_remedies(const gain_input *in, const gain_kernel *k, ana_finding *findings,
                     size_t count);

#endif
