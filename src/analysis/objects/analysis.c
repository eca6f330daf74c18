/* The way from a profile to what is found, step by step. */
#include "analysis/objects/analysis.h"
#include "analysis/detect.h"
#include "analysis/objects/order.h"

#include <stdlib.h>

/* The spans of the profile; those that were read last lie in the arena. */
typedef struct spans_reader {
    prof_db *db;
    wl_arena *arena;
    wl_status status;
    wl_error *err;
} spans_reader;

static bool read_spans(void *ctx, uint32_t elements, wl_span_reader *out)
{
    spans_reader *r = ctx;
    wl_arena_free(r->arena);
    r->arena = wl_arena_new();
    r->status = r->arena ? prof_load_spans(r->db, elements, r->arena, out, r->err)
                         : ana_nomem(r->err);
    return r->status == WL_OK;
}

static bool find_in_trace(const ana_program *program, spans_reader *reader, obj_analysis *a)
{
    const ana_thresholds *limits = program->thresholds;
    a->levels = obj_order(&a->trace);
    if (!a->levels || !obj_lives_of(&a->trace, a->levels, limits, &a->lives))
        return false;
    a->extents = obj_extents_of(&a->trace, &a->lives, read_spans, reader);
    bool found = a->extents &&
                 obj_find_patterns(&a->trace, a->levels, &a->lives, a->extents, limits, &a->hits);
    obj_lives_forget_gaps(&a->lives);
    return found && obj_plan_savings(&a->trace, limits->min_share, &a->hits, &a->plan);
}

wl_status obj_analyse(const ana_program *program, const obj_kinds *kinds, uint32_t process,
                      wl_arena *arena, obj_analysis *out, wl_error *err)
{
    spans_reader reader = {.db = program->db, .status = WL_OK, .err = err};
    *out = (obj_analysis){0};
    wl_status status = obj_load_trace(program, kinds, process, arena, &out->trace, err);
    if (status == WL_OK && !find_in_trace(program, &reader, out))
        status = reader.status == WL_OK ? ana_nomem(err) : reader.status;
    wl_arena_free(reader.arena);
    return status;
}

void obj_analysis_free(obj_analysis *a)
{
    obj_trace_free(&a->trace);
    free(a->levels);
    obj_lives_free(&a->lives);
    free(a->extents);
    wl_vec_free(&a->hits);
    obj_plan_free(&a->plan);
}
