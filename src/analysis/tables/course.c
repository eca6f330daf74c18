/* Courses: the traces of processes with what is known of calls, in rows that can be replayed. */
#include "analysis/tables/course.h"
#include "analysis/detect.h"
#include "analysis/objects/analysis.h"

#include <stdlib.h>

/* The analysis of one process, and the rows that are made of it. */
typedef struct coursing {
    const ana_program *program;
    const ana_findings *findings;
    obj_analysis found;
    uint32_t *row_of; /* by operation of the trace */
    uint32_t most;    /* rows of operations */
    prof_call_time_rows times;
    wl_arena *arena;
    ana_course *out;
} coursing;

const char *ana_effect_name(ana_effect effect)
{
    static const char *const names[] = {
#define X(id, name) name,
#include "analysis/tables/effects.def"
#undef X
    };
    return names[effect];
}

/* ---- operations ---- */

static const prof_call_time *time_of_call(const coursing *c, uint32_t call)
{
    uint32_t low = 0, high = c->times.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (c->times.rows[middle].call < call)
            low = middle + 1;
        else
            high = middle;
    }
    bool known = call && low < c->times.count && c->times.rows[low].call == call;
    return known ? &c->times.rows[low] : NULL;
}

static uint32_t kernel_of_op(const coursing *c, const obj_op *op)
{
    const prof_launch *l = op->launch ? prof_find_launch(&c->program->launches, op->launch) : NULL;
    return l ? l->kernel : 0;
}

static ana_course_op row_of_op(const coursing *c, uint32_t at)
{
    const obj_op *op = &c->found.trace.ops.data[at];
    const prof_call_time *time = time_of_call(c, op->call);
    bool runs = obj_accesses_objects(op->kind);
    return (ana_course_op){.kind = op->kind,
                           .waits = op->waits,
                           .unknown = op->unknown,
                           .count = 1,
                           .level = c->found.levels[at],
                           .queue = op->queue,
                           .thread = op->thread,
                           .about = runs ? 0 : op->about,
                           .accesses = runs ? op->accesses : 0,
                           .kernel = kernel_of_op(c, op),
                           .site = time ? time->site : OBJ_NONE,
                           .start_ns = time ? time->start_ns : -1,
                           .seconds = op->seconds};
}

static ana_course_set set_of_trace(const obj_trace *trace, uint32_t set)
{
    uint32_t first = set ? trace->sets.data[set - 1] : 0;
    return (ana_course_set){first, trace->sets.data[set] - first};
}

/* Kinds of launches that differ in what the trace does not have may access the same. */
static bool are_equal_sets(const obj_trace *trace, uint32_t a, uint32_t b)
{
    ana_course_set x = set_of_trace(trace, a), y = set_of_trace(trace, b);
    if (a == b || x.count != y.count)
        return a == b;
    for (uint32_t i = 0; i < x.count; i++) {
        const obj_access *left = &trace->accesses.data[x.first + i];
        const obj_access *right = &trace->accesses.data[y.first + i];
        if (left->object != right->object || left->how != right->how)
            return false;
    }
    return true;
}

/* Nothing begins or ends between launches that do the same, so that they can be one moment. */
static bool does_the_same(const obj_trace *trace, const ana_course_op *a, const ana_course_op *b)
{
    return a->kind == OBJ_LAUNCH && b->kind == OBJ_LAUNCH && a->unknown == b->unknown &&
           a->kernel == b->kernel && a->site == b->site && a->queue == b->queue &&
           a->thread == b->thread && are_equal_sets(trace, a->accesses, b->accesses);
}

static void join_ops(ana_course_op *to, const ana_course_op *next)
{
    bool measured = to->seconds >= 0 && next->seconds >= 0;
    to->count++;
    to->seconds = measured ? to->seconds + next->seconds : -1;
}

static void need_op(bool *needed, size_t count, uint32_t op)
{
    if (op < count)
        needed[op] = true;
}

/* The operations that anything refers to: without the others all can be replayed. */
static bool *list_needed(const coursing *c)
{
    size_t n = c->found.trace.ops.count;
    bool *needed = calloc(n + 1, sizeof *needed);
    for (uint32_t i = 0; needed && i < c->found.trace.objects.count; i++) {
        const obj_object *o = &c->found.trace.objects.data[i];
        const obj_life *life = &c->found.lives.rows[i];
        const uint32_t ops[] = {o->allocate, o->free, o->begin, o->end, life->first, life->last};
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++)
            need_op(needed, n, ops[k]);
    }
    for (uint32_t i = 0; needed && i < c->found.hits.count; i++) {
        need_op(needed, n, c->found.hits.data[i].from);
        need_op(needed, n, c->found.hits.data[i].to);
    }
    for (uint32_t i = 0; needed && i < c->found.trace.refusals.count; i++)
        need_op(needed, n, c->found.trace.refusals.data[i].at);
    return needed;
}

/* Whether the operation gets a row of its own. `last`: the row before it; NULL: there is none. */
static bool begins_row(const coursing *c, const bool *needed, uint32_t at,
                       const ana_course_op *last, const ana_course_op *row)
{
    return needed ? needed[at] : !last || !does_the_same(&c->found.trace, last, row);
}

/* By operation its row; *rows of them. `out` may be NULL: then they are only counted. */
static void make_rows(const coursing *c, const bool *needed, ana_course_op *out, uint32_t *row_of,
                      uint32_t *rows)
{
    ana_course_op last = {0};
    *rows = 0;
    for (uint32_t i = 0; i < c->found.trace.ops.count; i++) {
        ana_course_op row = row_of_op(c, i);
        bool begins = begins_row(c, needed, i, *rows ? &last : NULL, &row);
        if (begins)
            last = row;
        if (begins && out)
            out[*rows] = row;
        else if (out && !needed)
            join_ops(&out[*rows - 1], &row);
        *rows += begins;
        row_of[i] = *rows ? *rows - 1 : 0;
    }
}

static bool fill_ops(coursing *c)
{
    size_t n = c->found.trace.ops.count;
    ana_course *out = c->out;
    bool *needed = NULL;
    c->row_of = malloc((n + 1) * sizeof *c->row_of);
    if (!c->row_of)
        return false;
    make_rows(c, NULL, NULL, c->row_of, &out->nops);
    if (out->nops > c->most) {
        needed = list_needed(c);
        if (!needed)
            return false;
        uint32_t all = out->nops;
        make_rows(c, needed, NULL, c->row_of, &out->nops);
        out->left_out = all - out->nops;
    }
    out->ops = wl_new_array(c->arena, ana_course_op, (size_t)out->nops + 1);
    if (out->ops)
        make_rows(c, needed, out->ops, c->row_of, &out->nops);
    free(needed);
    return out->ops != NULL;
}

static uint32_t row_of_moment(const coursing *c, uint32_t op)
{
    return op < c->found.trace.ops.count ? c->row_of[op] : OBJ_NONE;
}

static bool fill_accesses(coursing *c)
{
    ana_course *out = c->out;
    out->nsets = (uint32_t)c->found.trace.sets.count;
    out->naccesses = (uint32_t)c->found.trace.accesses.count;
    out->nqueues = (uint32_t)c->found.trace.queues.count;
    out->sets = wl_new_array(c->arena, ana_course_set, (size_t)out->nsets + 1);
    out->queues = wl_arena_copy(c->arena, c->found.trace.queues.data,
                                out->nqueues * sizeof *out->queues);
    out->accesses = wl_new_array(c->arena, ana_course_access, (size_t)out->naccesses + 1);
    for (uint32_t i = 0; out->sets && i < out->nsets; i++)
        out->sets[i] = set_of_trace(&c->found.trace, i);
    for (uint32_t i = 0; out->accesses && i < out->naccesses; i++) {
        const obj_access *a = &c->found.trace.accesses.data[i];
        out->accesses[i] = (ana_course_access){a->object, a->possible ? 0 : a->how};
    }
    return out->sets && out->queues && out->accesses;
}

/* ---- objects ---- */

static ana_course_object row_of_object(const coursing *c, uint32_t at)
{
    const obj_object *o = &c->found.trace.objects.data[at];
    const obj_life *life = &c->found.lives.rows[at];
    return (ana_course_object){.id = o->id,
                               .device = o->device,
                               .bytes = o->bytes,
                               .allocate = row_of_moment(c, o->allocate),
                               .free = row_of_moment(c, o->free),
                               .begin = row_of_moment(c, o->begin),
                               .end = row_of_moment(c, o->end),
                               .first = row_of_moment(c, life->first),
                               .last = row_of_moment(c, life->last),
                               .accesses = life->accesses,
                               .idle_calls = life->idle_calls,
                               .idle_seconds = life->idle_seconds,
                               .ended = o->ended,
                               .possibly = life->possibly,
                               .counted = o->counted,
                               .fixed = o->fixed,
                               .seen_by_host = o->seen_by_host,
                               .pooled = o->pooled};
}

static bool fill_objects(coursing *c)
{
    ana_course *out = c->out;
    size_t n = c->found.trace.objects.count;
    out->ndevices = c->found.trace.ndevices;
    out->objects = wl_new_array(c->arena, ana_course_object, n + 1);
    out->devices = wl_new_array(c->arena, ana_course_device, (size_t)out->ndevices + 1);
    if (!out->objects || !out->devices)
        return false;
    for (uint32_t d = 0; d < out->ndevices; d++) {
        const obj_device_peaks *peaks = &c->found.plan.devices[d];
        uint32_t pool = obj_pool_of(&c->found.trace, d);
        out->devices[d] = (ana_course_device){
            .pool = pool == OBJ_NONE ? 0 : c->found.trace.objects.data[pool].id,
            .peak = peaks->before,
            .peak_after = peaks->after,
            .moment = row_of_moment(c, peaks->moment)};
    }
    for (uint32_t i = 0; i < n; i++) {
        const obj_object *o = &c->found.trace.objects.data[i];
        const prof_object *row = prof_find_object(&c->program->objects, o->id);
        out->objects[out->nobjects++] = row_of_object(c, i);
        out->devices[o->device].ordinal = row ? row->device : 0;
    }
    return true;
}

/* ---- changes ---- */

static ana_effect effect_of(ana_pattern pattern)
{
    switch (pattern) {
    case ANA_EARLY_ALLOCATION: return ANA_EFFECT_LATER;
    case ANA_LATE_DEALLOCATION:
    case ANA_LEAK: return ANA_EFFECT_SOONER;
    case ANA_UNUSED_ALLOCATION: return ANA_EFFECT_LEFT_OUT;
    case ANA_TEMPORARY_IDLENESS: return ANA_EFFECT_AWAY;
    case ANA_REDUNDANT_ALLOCATION: return ANA_EFFECT_REUSE;
    case ANA_OVERALLOCATION:
    case ANA_STRUCTURED_ACCESS: return ANA_EFFECT_SMALLER;
    default: return ANA_EFFECT_NOTHING;
    }
}

/* OBJ_NONE where the trace has no such object; they ascend by id. */
static uint32_t site_of_object(const coursing *c, uint32_t id)
{
    size_t low = 0, high = c->found.trace.objects.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (c->found.trace.objects.data[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    bool known = low < c->found.trace.objects.count && c->found.trace.objects.data[low].id == id;
    return known ? c->found.trace.objects.data[low].site : OBJ_NONE;
}

/* Findings of one place may be put together under the object that costs most. */
static uint32_t number_of_finding(const coursing *c, const obj_hit *h)
{
    const obj_object *o = &c->found.trace.objects.data[h->object];
    uint32_t alike = 0;
    for (uint32_t i = 0; i < c->findings->count; i++) {
        const ana_finding *f = &c->findings->rows[i];
        if (f->pattern == h->pattern && f->object == o->id)
            return f->number;
        if (!alike && f->pattern == h->pattern && site_of_object(c, f->object) == o->site)
            alike = f->number;
    }
    return alike;
}

typedef struct ordered_hit {
    uint32_t bundle, hit;
} ordered_hit;

static int by_bundle_and_hit(const void *a, const void *b)
{
    const ordered_hit *x = a, *y = b;
    if (x->bundle != y->bundle)
        return x->bundle < y->bundle ? -1 : 1;
    return x->hit < y->hit ? -1 : x->hit > y->hit;
}

static ana_course_hit row_of_hit(const coursing *c, const obj_hit *h)
{
    return (ana_course_hit){.object = h->object,
                            .other = h->other,
                            .from = row_of_moment(c, h->from),
                            .to = row_of_moment(c, h->to),
                            .calls = h->calls,
                            .bytes = h->keeps ? h->keeps : h->bytes};
}

static void add_to_changes(coursing *c, const ordered_hit *at, bool begins)
{
    const obj_hit *h = &c->found.hits.data[at->hit];
    ana_course *out = c->out;
    if (begins)
        out->changes[out->nchanges++] = (ana_course_change){.pattern = h->pattern,
                                                            .effect = effect_of(h->pattern),
                                                            .possible = h->possible,
                                                            .first = out->nhits,
                                                            .saves = h->saves,
                                                            .number = number_of_finding(c, h)};
    out->changes[out->nchanges - 1].count++;
    out->hits[out->nhits++] = row_of_hit(c, h);
}

static bool fill_changes(coursing *c)
{
    size_t n = c->found.hits.count;
    ana_course *out = c->out;
    ordered_hit *order = malloc((n + 1) * sizeof *order);
    uint32_t *row_of_hit_number = malloc((n + 1) * sizeof *row_of_hit_number);
    out->hits = wl_new_array(c->arena, ana_course_hit, n + 1);
    out->changes = wl_new_array(c->arena, ana_course_change, n + 1);
    bool good = order && row_of_hit_number && out->hits && out->changes;
    for (uint32_t i = 0; good && i < n; i++)
        order[i] = (ordered_hit){c->found.hits.data[i].bundle, i};
    if (good && n)
        qsort(order, n, sizeof *order, by_bundle_and_hit);
    for (uint32_t i = 0; good && i < n; i++) {
        row_of_hit_number[order[i].hit] = i;
        add_to_changes(c, &order[i], i == 0 || order[i].bundle != order[i - 1].bundle);
    }
    for (uint32_t i = 0; good && i < c->found.plan.steps.count; i++) {
        const obj_step *step = &c->found.plan.steps.data[i];
        ana_course_hit *hit = &out->hits[row_of_hit_number[step->hit]];
        hit->step = i + 1;
        hit->adds = step->adds;
    }
    free(order);
    free(row_of_hit_number);
    return good;
}

/* ---- refusals ---- */

static bool fill_refusals(coursing *c)
{
    ana_course *out = c->out;
    size_t n = c->found.trace.refusals.count;
    out->refusals = wl_new_array(c->arena, ana_course_refusal, n + 1);
    for (size_t i = 0; out->refusals && i < n; i++) {
        const obj_refusal *r = &c->found.trace.refusals.data[i];
        uint32_t at = row_of_moment(c, r->at);
        out->refusals[out->nrefusals++] = (ana_course_refusal){.at = at == OBJ_NONE ? out->nops
                                                                                    : at,
                                                               .device = r->device,
                                                               .call = r->call,
                                                               .bytes = r->bytes,
                                                               .free = r->free,
                                                               .total = r->total};
    }
    return out->refusals != NULL;
}

/* ---- all of it ---- */

static bool fill_course(coursing *c)
{
    return fill_ops(c) && fill_accesses(c) && fill_objects(c) && fill_changes(c) &&
           fill_refusals(c);
}

static wl_status load_calls(coursing *c, wl_arena *scratch, wl_error *err)
{
    prof_db *db = c->program->db;
    uint32_t process = c->out->process;
    wl_status status = prof_load_call_times(db, process, scratch, &c->times, err);
    if (status == WL_OK)
        status = prof_load_call_sites(db, process, c->arena, &c->out->sites, err);
    return status == WL_OK ? prof_load_frames(db, process, c->arena, &c->out->frames, err) : status;
}

static wl_status add_course(coursing *c, const obj_kinds *kinds, wl_arena *scratch, wl_error *err)
{
    wl_status status = load_calls(c, scratch, err);
    if (status != WL_OK)
        return status;
    status = obj_analyse(c->program, kinds, c->out->process, scratch, &c->found, err);
    if (status == WL_OK && !fill_course(c))
        status = ana_nomem(err);
    obj_analysis_free(&c->found);
    free(c->row_of);
    return status;
}

static wl_status fill_courses(const ana_program *program, const ana_findings *findings,
                              uint32_t most, wl_arena *scratch, wl_arena *arena, ana_courses *out,
                              wl_error *err)
{
    obj_kinds kinds;
    uint32_t last = 0;
    out->rows = wl_new_array(arena, ana_course, (size_t)program->objects.count + 1);
    wl_status status = out->rows ? obj_load_kinds(program, scratch, &kinds, err) : ana_nomem(err);
    for (uint32_t i = 0; i < program->objects.count && status == WL_OK; i++) {
        uint32_t process = program->objects.rows[i].process;
        if (process <= last) /* of a kernel, or of a process that is done */
            continue;
        last = process;
        coursing c = {
            .program = program,
            .findings = findings,
            .most = most,
            .arena = arena,
            .out = &out->rows[out->count++],
        };
        *c.out = (ana_course){.process = process};
        status = add_course(&c, &kinds, scratch, err);
    }
    return status;
}

wl_status ana_course_table(prof_db *profile, const ana_findings *findings, uint32_t most,
                           wl_arena *arena, ana_courses *out, wl_error *err)
{
    ana_thresholds defaults = ana_thresholds_default();
    ana_program program = {.db = profile,
                           .thresholds = findings->thresholds ? findings->thresholds : &defaults};
    wl_arena *scratch = wl_arena_new();
    *out = (ana_courses){0};
    wl_status status = scratch ? prof_load_objects(profile, scratch, &program.objects, err)
                               : ana_nomem(err);
    if (status == WL_OK)
        status = prof_load_launch_kinds(profile, PROF_ALL, scratch, &program.launches, err);
    if (status == WL_OK)
        status = fill_courses(&program, findings, most, scratch, arena, out, err);
    wl_arena_free(scratch);
    return status;
}
