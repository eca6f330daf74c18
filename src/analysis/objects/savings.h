/* What hits save: the course of allocations replayed with their changes made. */
#ifndef WL_ANALYSIS_OBJECTS_SAVINGS_H
#define WL_ANALYSIS_OBJECTS_SAVINGS_H

#include "analysis/objects/patterns.h"

typedef struct obj_step { /* of the plan */
    uint32_t hit;
    uint64_t peak; /* of the hit's device, with this step and all before it */
    uint64_t adds; /* how much higher the plan's peak is without the hit */
} obj_step;

typedef struct obj_device_peaks {
    uint64_t before, after; /* as it is; with the plan */
    uint32_t moment;        /* the first operation at the peak; OBJ_NONE where nothing is in use */
} obj_device_peaks;

typedef struct obj_plan {
    obj_device_peaks *devices; /* trace->ndevices of them */
    wl_vec(obj_step) steps;    /* what saves most by itself first; those of pools last */
} obj_plan;

/* Sets `bundle`, `saves` and `planned` of the hits.
 *
 * The plan: all hits that shorten lives are followed, which never makes the peak higher, but for
 * objects of which less than `least` of the peak could be left out; of the others (memory that is
 * reused, given back for a time) those that lower the peak by at least `least` of it, the largest
 * first. Then what the peak does not need is left out again, and
 * all of it where it saves less than `least` of the peak. Hits that are merely possible are no part of it. False when memory is exhausted; obj_plan_free() is
 * due either way. */
bool obj_plan_savings(const obj_trace *trace, double least, obj_hits *hits, obj_plan *plan);
void obj_plan_free(obj_plan *plan);

#endif
