/* How unevenly a launch accesses the elements of an object, and which of them it accesses most. */
#ifndef WL_ANALYSIS_FREQUENCY_MEASURE_H
#define WL_ANALYSIS_FREQUENCY_MEASURE_H

#include "analysis/finding.h"
#include "base/spans.h"

/* What the counted spans of a launch show; every number is of accessed elements. The hot range is
 * the one with most accesses beyond the mean: of all ranges of the object the one where the sum of
 * (accesses of an element - mean) is largest. False where the spans are damaged, or empty. */
bool frequency_measure(const wl_span_reader *spans, ana_frequency *out);

#endif
