/* Traces of profiles. */
#ifndef WL_ANALYSIS_OBJECTS_LOAD_H
#define WL_ANALYSIS_OBJECTS_LOAD_H

#include "analysis/input.h"
#include "analysis/objects/trace.h"

/* What the launches of each kind access: rows of the whole profile. */
typedef struct obj_kinds {
    prof_instruction_rows instructions; /* prof_load_kind_instructions */
    const prof_instruction **by_launch; /* sorted by launch, object */
    prof_use_rows uses;                 /* of elements; prof_load_uses */
    const prof_use **used;              /* sorted likewise */
    prof_form_rows forms;               /* of all kernels */
} obj_kinds;

wl_status obj_load_kinds(const ana_program *program, wl_arena *arena, obj_kinds *out,
                         wl_error *err);

/* The trace of a process. obj_trace_free() is due either way. */
wl_status obj_load_trace(const ana_program *program, const obj_kinds *kinds, uint32_t process,
                         wl_arena *arena, obj_trace *out, wl_error *err);

#endif
