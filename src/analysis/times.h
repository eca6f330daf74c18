/* How long launches took on a GPU, those included that were not timed. */
#ifndef WL_ANALYSIS_TIMES_H
#define WL_ANALYSIS_TIMES_H

#include "base/arena.h"
#include "profile/profile.h"

/* Seconds of each row of `launches`, of all launches that it stands for together, without what probes cost; negative where no launch of its
 * kernel was timed. A launch counts with its own time if it has one and did not record, else with
 * the mean of launches like it: those of the same kernel and shape that did not record, those that
 * did, those of the same kernel. NULL when memory is exhausted. */
double *ana_launch_seconds(const prof_launch_rows *launches, wl_arena *arena);

typedef struct ana_device_time {
    uint64_t launches, timed;
    /* of all launches, as above; an estimate unless all were timed; negative: none was */
    double seconds;
    double least, most; /* of those that were timed */
} ana_device_time;

/* Of a kernel. `seconds`: what ana_launch_seconds gave for `launches`. */
ana_device_time ana_device_time_of(const prof_launch_rows *launches, const double *seconds,
                                   uint32_t kernel);

typedef enum ana_direction {
#define X(id, name, words) ANA_COPY_##id,
#include "analysis/copies.def"
#undef X
    ANA_DIRECTIONS
} ana_direction;

const char *ana_direction_name(ana_direction direction);
const char *ana_direction_words(ana_direction direction);

typedef struct ana_copy_sum { /* successful copies of one direction, or sets */
    uint64_t calls, bytes;
    uint64_t timed, timed_bytes;
    double seconds; /* on the device, of the timed ones */
} ana_copy_sum;

/* Managed memory counts as the device's. Copies in graphs are not in it. */
void ana_copies(const prof_transfer_rows *transfers, const prof_object_rows *objects,
                ana_copy_sum sums[ANA_DIRECTIONS]);

#endif
