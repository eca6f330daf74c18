/* Shared arrays with bytes added after each of their rows, until their banks do not conflict. */
#include "replay/trials/arrays.h"

enum { WORD = 4 /* bytes; what is added to a row is a multiple of it */ };

typedef struct padding {
    uint64_t start, end; /* the array's bytes in the block's shared memory */
    uint32_t pitch, pad; /* `pad` bytes are added after each `pitch` */
} padding;

/* ---- requests ---- */

/* Where the rows lie with the padding, at addresses that no array has. */
static bool pad_addresses(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                          uint32_t *mask)
{
    const padding *p = how;
    if (request->space != ACC_SHARED)
        return false;
    for (uint32_t m = *mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t a = request->addr[lane];
        if (a < p->start || a >= p->end)
            return false;
        addr[lane] = TRIAL_ELSEWHERE + a + (a - p->start) / p->pitch * p->pad;
    }
    return true;
}

/* ---- trials ---- */

/* Fewer wavefronts; or as few in a shorter array. */
static bool is_better_padding(const trial_rows *rows, const padding *p, const trial_rows *kept,
                              const obs_trial *best)
{
    uint64_t now = trial_wavefronts(rows, false), least = trial_wavefronts(kept, false);
    bool shorter = (uint64_t)p->pad * best->pitch < (uint64_t)best->pad * p->pitch;
    return rows->count && (!kept->count || now < least || (now == least && shorter));
}

static bool may_pad(const trial_work *t, const padding *p)
{
    return trial_fits_longer(t->launch->summary, (p->end - p->start) / p->pitch * p->pad);
}

/* Tries one pitch with ever more padding, until nothing conflicts; keeps what helps most. */
static wl_status try_pads(const trial_work *t, padding p, uint32_t unit, obs_trial *best,
                          trial_rows *kept)
{
    const trial_view view = {.change = pad_addresses, .how = &p};
    wl_status status = WL_OK;
    for (p.pad = unit; p.pad <= 4 * unit && status == WL_OK && may_pad(t, &p); p.pad *= 2) {
        trial_rows rows;
        status = trial_run_changed(t, &(trial_run){.view = &view}, &rows);
        if (is_better_padding(&rows, &p, kept, best)) {
            *kept = rows;
            best->pitch = p.pitch;
            best->pad = p.pad;
        }
        if (rows.count && trial_wavefronts(&rows, false) == trial_wavefronts(&rows, true))
            break;
    }
    return status;
}

static wl_status try_array(trial_work *t, uint32_t array, uint32_t bytes)
{
    const obs_shared *a = &t->launch->summary->shared[array];
    padding p = {.start = a->offset, .end = (uint64_t)a->offset + a->bytes, .pitch = TRIAL_BANKS};
    uint32_t unit = bytes > WORD ? bytes : WORD, pitches[TRIAL_PITCHES + 1];
    obs_trial trial = {.kind = OBS_TRIAL_PADDED, .object = array};
    trial_rows before, after = {0};
    wl_status status = trial_analyse(t);
    if (status == WL_OK)
        status = trial_run_base(t);
    if (status == WL_OK)
        status = trial_rows_of(t, ACC_SHARED, array, &before);
    uint32_t count = status == WL_OK ? trial_pitches(t->flow, a->name, unit, pitches) : 0;
    pitches[count++] = TRIAL_BANKS; /* a word after each word of all banks suits any array */
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        p.pitch = pitches[i];
        if (p.pitch < a->bytes)
            status = try_pads(t, p, unit, &trial, &after);
    }
    trial_set_array(&after, array);
    if (status == WL_OK)
        trial_add(t, trial, &before, &after);
    return status;
}

wl_status trial_padded(trial_work *t)
{
    return trial_each_conflicting(t, try_array);
}
