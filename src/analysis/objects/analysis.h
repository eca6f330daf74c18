/* All that is found about the objects of a process. */
#ifndef WL_ANALYSIS_OBJECTS_ANALYSIS_H
#define WL_ANALYSIS_OBJECTS_ANALYSIS_H

#include "analysis/objects/load.h"
#include "analysis/objects/savings.h"

typedef struct obj_analysis {
    obj_trace trace;
    uint32_t *levels; /* by operation */
    obj_lives lives;
    obj_extent *extents; /* by object */
    obj_hits hits;
    obj_plan plan;
} obj_analysis;

/* obj_analysis_free() is due either way. */
wl_status obj_analyse(const ana_program *program, const obj_kinds *kinds, uint32_t process,
                      wl_arena *arena, obj_analysis *out, wl_error *err);
void obj_analysis_free(obj_analysis *analysis);

#endif
