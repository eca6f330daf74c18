/* Objects of a launch, and runs in which one of them is laid out otherwise. */
#include "replay/trials/objects.h"

bool trial_any_pays(const obs_summary *s, trial_pays *pays)
{
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].space == ACC_GLOBAL && s->insns[i].object && pays(&s->insns[i]))
            return true;
    return false;
}

bool trial_is_misaligned(const obs_insn *row)
{
    return row->misaligned && row->misaligned * 4 >= row->requests;
}

/* ---- one after the other ---- */

/* Is the row the first that pays of its object? */
static bool is_first_to_pay(const trial_rows *rows, uint32_t at, trial_pays *pays)
{
    const obs_insn *row = &rows->rows[at];
    bool first = row->space == ACC_GLOBAL && row->object && pays(row);
    for (uint32_t i = 0; i < at && first; i++)
        first = rows->rows[i].space != ACC_GLOBAL || rows->rows[i].object != row->object ||
                !pays(&rows->rows[i]);
    return first;
}

static bool are_alone(const trial_work *t, const trial_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        for (uint32_t k = 0; k < t->base.count; k++)
            if (t->base.rows[k].pc == rows->rows[i].pc && t->base.rows[k].space == ACC_GLOBAL &&
                t->base.rows[k].object != rows->rows[i].object)
                return false;
    return true;
}

static wl_status try_object(trial_work *t, uint32_t number, trial_of_object *try)
{
    trial_object o;
    if (!t->launch->find(t->launch->world, number, &o.alloc))
        return WL_OK;
    wl_status status = trial_rows_of(t, ACC_GLOBAL, number, &o.rows);
    if (status != WL_OK || !are_alone(t, &o.rows))
        return status;
    status = trial_forms_of(t, &o.rows, &o.alloc, &o.forms);
    return status == WL_OK ? try(t, &o) : status;
}

wl_status trial_each_object(trial_work *t, trial_pays *pays, trial_of_object *try)
{
    wl_status status = trial_analyse(t);
    if (status == WL_OK)
        status = trial_run_base(t);
    for (uint32_t i = 0; status == WL_OK && i < t->base.count; i++)
        if (is_first_to_pay(&t->base, i, pays))
            status = try_object(t, t->base.rows[i].object, try);
    return status;
}

/* Are all stores and updates to known objects? Else they may change any. */
static bool know_changes(const trial_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->rows[i].space == ACC_GLOBAL && rows->rows[i].op != ACC_LOAD &&
            !rows->rows[i].object)
            return false;
    return true;
}

wl_status trial_each_of_few(trial_work *t, trial_pays *pays, trial_of_object *try)
{
    trial_work few = *t;
    few.few = true;
    few.base = (trial_rows){0};
    wl_status status = trial_run_base(&few);
    if (status == WL_OK && know_changes(&few.base))
        status = trial_each_object(&few, pays, try);
    t->count = few.count;
    t->flow = few.flow;
    return status;
}

/* ---- laid out otherwise ---- */

typedef struct moving {
    uint32_t object;
    trial_move *move;
    const void *how;
} moving;

static bool move_object_lanes(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                              uint32_t *mask)
{
    const moving *m = how;
    if (request->space != ACC_GLOBAL || request->object != m->object)
        return false;
    for (uint32_t left = *mask; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(left);
        addr[lane] = m->move(m->how, request->addr[lane]);
    }
    return true;
}

static uint64_t requests_of(const trial_rows *rows)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rows->count; i++)
        sum += rows->rows[i].requests;
    return sum;
}

/* Requests of which only some lanes access the object are not moved. */
wl_status trial_move_object(const trial_work *t, const trial_object *o, trial_move *move,
                            const void *how, trial_rows *out)
{
    const moving m = {o->alloc.id, move, how};
    const trial_view view = {.change = move_object_lanes, .how = &m};
    wl_status status = trial_run_changed(t, &(trial_run){.view = &view}, out);
    if (requests_of(out) != requests_of(&o->rows) || trial_sectors(out) >= trial_sectors(&o->rows))
        *out = (trial_rows){0};
    return status;
}
