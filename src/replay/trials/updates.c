/* A block's atomic updates of an object made in a copy of its part, in shared memory, and the copy
 * added to the object at the end: once a block, by all threads together. Where the lanes of a warp
 * update one element, one of them does so for all.
 *
 * Few blocks suffice, since it is their own part that matters. */
#include "replay/trials/objects.h"
#include "replay/trials/part.h"

#include <stdlib.h>

typedef struct updating {
    const trial_work *t;
    const trial_object *object;
    bool combine; /* the lanes of a warp first */
    /* Of all blocks: what came of it. */
    atomic_bool *failed;
    atomic_uint *elements; /* of the largest part */
} updating;

static bool may_keep(const obs_insn *row)
{
    return (row->op == ACC_ATOMIC || row->op == ACC_REDUCTION) && row->requests > 1 &&
           (row->bytes == 4 || row->bytes == 8);
}

static bool is_of_one_element(const obs_insn *row)
{
    return may_keep(row) && row->uniform * 2 > row->requests;
}

static bool is_of_several_elements(const obs_insn *row)
{
    return may_keep(row) && !is_of_one_element(row);
}

bool trial_has_common_updates(const obs_summary *s)
{
    return trial_any_pays(s, is_of_one_element);
}

bool trial_has_scattered_updates(const obs_summary *s)
{
    return trial_any_pays(s, is_of_several_elements);
}

/* ---- may they be made in another order? ---- */

/* What is done to the old value; IR_S_none where the order of updates matters. */
static ir_suffix deed_of(const ir_insn *insn)
{
    static const ir_suffix deeds[] = {IR_S_add, IR_S_min, IR_S_max, IR_S_and, IR_S_or, IR_S_xor};
    for (size_t i = 0; i < sizeof deeds / sizeof *deeds; i++)
        if (ir_has(insn, deeds[i]))
            return deeds[i];
    return IR_S_none;
}

/* Does the kernel use what the instruction returns? */
static bool is_result_used(const flow_kernel *flow, uint32_t pc)
{
    ir_place place = ir_kernel_at(flow->code, pc);
    const flow_function *f = &flow->funcs[place.index];
    uint32_t insn = pc - f->first_pc;
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        if (f->user_first[f->defs[d]] != f->user_first[f->defs[d] + 1])
            return true;
    return false;
}

static const ir_insn *insn_of(const trial_work *t, const obs_insn *row)
{
    return ir_kernel_at(t->flow->code, row->pc).insn;
}

/* Is all that the launch does to the object one kind of update, whose results nobody uses? */
static bool may_be_made_later(const trial_work *t, const trial_rows *rows)
{
    const ir_insn *first = insn_of(t, &rows->rows[0]);
    for (uint32_t i = 0; i < rows->count; i++) {
        const obs_insn *row = &rows->rows[i];
        const ir_insn *insn = insn_of(t, row);
        if (!may_keep(row) || row->bytes != rows->rows[0].bytes || deed_of(insn) == IR_S_none ||
            deed_of(insn) != deed_of(first) || insn->types[0] != first->types[0] ||
            is_result_used(t->flow, row->pc))
            return false;
    }
    return true;
}

/* ---- a block ---- */

typedef struct showing {
    const trial_shown *to;
    const acc_request *like; /* its instruction updates the object for all */
} showing;

static void show_clearing(const void *ctx, const trial_portion *p)
{
    const showing *s = ctx;
    trial_portion_show(p, s->like, ACC_STORE, ACC_SHARED, s->to);
}

static void show_adding(const void *ctx, const trial_portion *p)
{
    const showing *s = ctx;
    trial_portion_show(p, s->like, ACC_LOAD, ACC_SHARED, s->to);
    trial_portion_show(p, s->like, s->like->op, ACC_GLOBAL, s->to);
}

/* The first of the lanes that update the same element next to each other. */
static uint32_t first_of_runs(const acc_request *r)
{
    uint32_t leaders = 0;
    uint64_t last = 0;
    for (uint32_t left = r->mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        if (!leaders || r->addr[lane] != last)
            leaders |= UINT32_C(1) << lane;
        last = r->addr[lane];
    }
    return leaders;
}

static bool show_part(const updating *u, const trial_log *log, const uint32_t *all,
                      const trial_shown *to)
{
    trial_part part;
    if (!trial_part_make(&part, log, all, log->count))
        return false;
    const showing s = {to, trial_log_at(log, 0)};
    trial_raise(u->elements, part.count);
    trial_part_move(&part, trial_threads(u->t), show_clearing, &s);
    for (uint32_t i = 0; i < log->count; i++) {
        const acc_request *r = trial_log_at(log, i);
        trial_part_show(&part, r, u->combine ? first_of_runs(r) : UINT32_MAX, to);
    }
    trial_part_move(&part, trial_threads(u->t), show_adding, &s);
    trial_part_clear(&part);
    return true;
}

static void update_block(const void *how, const trial_log *log, const trial_shown *to)
{
    const updating *u = how;
    uint32_t *all = calloc((size_t)log->count + 1, sizeof *all);
    for (uint32_t i = 0; all && i < log->count; i++)
        all[i] = i;
    if (log->full || !all || (log->count && !show_part(u, log, all, to)))
        atomic_store(u->failed, true);
    free(all);
}

static bool is_updated_object(const void *how, const acc_request *request)
{
    const updating *u = how;
    return request->space == ACC_GLOBAL && request->object == u->object->alloc.id;
}

/* ---- the trial ---- */

static wl_status update_object(trial_work *t, const trial_object *o, bool combine)
{
    atomic_bool failed = false;
    atomic_uint elements = 0;
    const updating u = {t, o, combine, &failed, &elements};
    const trial_view view = {.choose = is_updated_object, .redo = update_block, .how = &u};
    obs_trial trial = {.kind = combine ? OBS_TRIAL_COMBINED : OBS_TRIAL_PRIVATE,
                       .object = o->alloc.id};
    trial_rows after;
    if (!may_be_made_later(t, &o->rows))
        return WL_OK;
    wl_status status = trial_run_changed(t, &(trial_run){.view = &view}, &after);
    uint64_t bytes = (uint64_t)elements * o->rows.rows[0].bytes;
    trial.pad = (uint32_t)bytes;
    if (status == WL_OK && !failed && bytes <= trial_shared_room(t->launch->summary) &&
        trial_sectors(&after) < trial_sectors(&o->rows))
        trial_add(t, trial, &o->rows, &after);
    return status;
}

static wl_status combine_updates(trial_work *t, const trial_object *o)
{
    return update_object(t, o, true);
}

static wl_status keep_updates(trial_work *t, const trial_object *o)
{
    return update_object(t, o, false);
}

wl_status trial_combined(trial_work *t)
{
    return trial_each_of_few(t, is_of_one_element, combine_updates);
}

wl_status trial_private(trial_work *t)
{
    return trial_each_of_few(t, is_of_several_elements, keep_updates);
}
