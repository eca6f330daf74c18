/* Thresholds of all patterns: thresholds.def, X(id, default, "reason"). A user may set others; what
 * is shown then says which. */
#ifndef WL_ANALYSIS_THRESHOLDS_H
#define WL_ANALYSIS_THRESHOLDS_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ana_thresholds {
#define X(id, value, reason) double id;
#include "analysis/thresholds.def"
#undef X
} ana_thresholds;

#define ANA_THRESHOLD_MOST 1e15 /* that a user may set */

enum { ANA_THRESHOLD_COUNT = sizeof(ana_thresholds) / sizeof(double) };

typedef struct ana_threshold {
    const char *name, *reason; /* "hot_share"; sentences */
    double initial;            /* the default */
    size_t offset;             /* in ana_thresholds */
} ana_threshold;

ana_thresholds ana_thresholds_default(void);

/* In the order of the table; `i` below ANA_THRESHOLD_COUNT. */
const ana_threshold *ana_threshold_get(uint32_t i);
/* Its value in `thresholds`; NULL: the default. */
double ana_threshold_value(const ana_thresholds *thresholds, uint32_t i);
bool ana_threshold_differs(const ana_thresholds *thresholds, uint32_t i); /* from the default */

/* Sets one from "name=value", where the value is a number from 0 to
 * ANA_THRESHOLD_MOST. WL_ARG with the known name that is
 * nearest, or with what is allowed. */
wl_status ana_threshold_set(ana_thresholds *thresholds, const char *setting, wl_error *err);

/* Whether a value reaches a threshold, edges aside. */
static inline bool ana_reaches(const ana_thresholds *t, double value, double threshold)
{
    return value >= threshold * (1 - t->edge);
}

#endif
