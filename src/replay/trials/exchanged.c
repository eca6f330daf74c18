/* A block's part of an object kept in shared memory in the place of an array there: the part does not
 * fit beside the array, and what the array passes on is loaded where it is read. Both changes were
 * counted by themselves; none touches an instruction of the other.
 *
 * Needs the trials of arrays that are left out, which come before. */
#include "replay/trials/part.h"

#include <string.h>

static bool keeps_whole_part(const obs_trial *t)
{
    return t->kind == OBS_TRIAL_KEPT || (t->kind == OBS_TRIAL_STAGED && !t->pitch);
}

static bool have_instruction_of_both(const obs_trial *a, const obs_trial *b)
{
    for (uint32_t i = 0; i < a->nbefore; i++)
        for (uint32_t k = 0; k < b->nbefore; k++)
            if (a->before[i].pc == b->before[k].pc || (a->before[i].space == b->before[k].space &&
                                                       a->before[i].object == b->before[k].object))
                return true;
    return false;
}

static bool put_together(wl_arena *arena, const obs_insn *a, uint32_t na, const obs_insn *b,
                         uint32_t nb, trial_rows *out)
{
    out->rows = wl_new_array(arena, obs_insn, (size_t)na + nb + 1);
    if (!out->rows)
        return false;
    memcpy(out->rows, a, na * sizeof *a);
    memcpy(&out->rows[na], b, nb * sizeof *b);
    out->count = na + nb;
    return true;
}

static wl_status exchange_for(trial_work *t, const obs_trial *part, const obs_trial *array)
{
    trial_rows before = {0}, after = {0};
    obs_trial both = {.kind = OBS_TRIAL_EXCHANGED, .object = part->object, .pad = part->pad};
    if (!put_together(t->arena, part->before, part->nbefore, array->before, array->nbefore,
                      &before) ||
        !put_together(t->arena, part->after, part->nafter, array->after, array->nafter, &after))
        return WL_NOMEM;
    after.blocks = part->blocks;
    trial_add(t, both, &before, &after);
    return WL_OK;
}

/* Tries parts that fit once the array is gone. */
static wl_status exchange_array(trial_work *t, const obs_trial *array)
{
    const obs_summary *s = t->launch->summary;
    trial_work parts = *t;
    parts.freed = s->shared[array->object].bytes;
    parts.count = 0;
    parts.rows = wl_new_array(t->arena, obs_trial, TRIAL_MOST);
    wl_status status = parts.rows ? WL_OK : WL_NOMEM;
    if (status == WL_OK && trial_has_loads(s))
        status = trial_staged(&parts);
    if (status == WL_OK && trial_has_changes(s))
        status = trial_kept(&parts);
    t->flow = parts.flow;
    for (uint32_t i = 0; i < parts.count && status == WL_OK; i++) {
        const obs_trial *part = &parts.rows[i];
        bool beside = part->pad <= trial_shared_room(s);
        if (keeps_whole_part(part) && !beside && part->blocks == array->blocks &&
            !have_instruction_of_both(part, array))
            status = exchange_for(t, part, array);
    }
    return status;
}

wl_status trial_exchanged(trial_work *t)
{
    wl_status status = WL_OK;
    for (uint32_t i = 0, count = t->count; i < count && status == WL_OK; i++)
        if (t->rows[i].kind == OBS_TRIAL_DIRECT && t->rows[i].object < t->launch->summary->nshared)
            status = exchange_array(t, &t->rows[i]);
    return status;
}
