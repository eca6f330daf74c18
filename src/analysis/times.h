/* How long launches took on a GPU, those included that were not timed. */
#ifndef WL_ANALYSIS_TIMES_H
#define WL_ANALYSIS_TIMES_H

#include "base/arena.h"
#include "profile/profile.h"

/* Seconds of each launch in `launches`, without what probes cost; negative where no launch of its kernel was timed. A launch
 * counts with its own time if it has one and did not record, else with the mean of launches like it: those of the same kernel
 * and shape that did not record, those that did, those of the same kernel. NULL when memory is exhausted. */
double *ana_launch_seconds(const prof_launch_rows *launches, wl_arena *arena);

typedef struct ana_device_time {
    uint64_t launches, timed;
    double
        seconds; /* of all launches, as above; an estimate unless all were timed; negative: none was */
    double least, most; /* of those that were timed */
} ana_device_time;

/* Of a kernel. `seconds`: what ana_launch_seconds gave for `launches`. */
ana_device_time ana_device_time_of(const prof_launch_rows *launches, const double *seconds,
                                   uint32_t kernel);

#endif
