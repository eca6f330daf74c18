/* An object that begins further back, so that what lanes take together begins where a line does. */
#include "replay/trials/objects.h"

/* The misaligned instruction with most requests. */
static const trial_form *costliest(const trial_object *o)
{
    uint32_t most = 0;
    for (uint32_t i = 1; i < o->rows.count; i++)
        most = o->rows.rows[i].misaligned > o->rows.rows[most].misaligned ? i : most;
    return &o->forms.rows[most];
}

static uint64_t move_address(const void *how, uint64_t address)
{
    return address + *(const uint32_t *)how;
}

/* Tries it where all warps of the instruction begin as far off. */
static wl_status move_object(trial_work *t, const trial_object *o)
{
    const trial_form *f = costliest(o);
    uint64_t off = (f->pointer + (uint64_t)f->start) % OBS_LINE_BYTES;
    obs_trial trial = {
        .kind = OBS_TRIAL_MOVED, .object = o->alloc.id, .pad = (uint32_t)(OBS_LINE_BYTES - off)};
    trial_rows after;
    if (!f->whole || off % OBS_SECTOR_BYTES == 0 || trial_form_strays(f, OBS_SECTOR_BYTES))
        return WL_OK;
    wl_status status = trial_move_object(t, o, move_address, &trial.pad, &after);
    if (status == WL_OK)
        trial_add(t, trial, &o->rows, &after);
    return status;
}

wl_status trial_moved(trial_work *t)
{
    return trial_each_object(t, trial_is_misaligned, move_object);
}
