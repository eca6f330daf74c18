/* Shared arrays whose elements are permuted within their rows, which takes no memory: the column is
 * taken exclusive-or the row's number. Tried where padding leaves conflicts, or does not fit. */
#include "replay/trials/arrays.h"

typedef struct swizzling {
    uint64_t start, end; /* the array's bytes in the block's shared memory */
    uint32_t pitch;      /* bytes of a row */
    uint32_t unit;       /* bytes that stay together */
} swizzling;

static bool swizzle_addresses(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                              uint32_t *mask)
{
    const swizzling *s = how;
    if (request->space != ACC_SHARED)
        return false;
    for (uint32_t m = *mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t a = request->addr[lane];
        if (a < s->start || a >= s->end)
            return false;
        uint64_t at = a - s->start, row = at / s->pitch, columns = s->pitch / s->unit;
        uint64_t column = at % s->pitch / s->unit ^ row % columns;
        addr[lane] = TRIAL_ELSEWHERE + s->start + row * s->pitch + column * s->unit + at % s->unit;
    }
    return true;
}

static bool is_power_of_two(uint64_t n)
{
    return n && !(n & (n - 1));
}

static bool may_swizzle(const swizzling *s)
{
    uint64_t bytes = s->end - s->start;
    return is_power_of_two(s->pitch) && s->pitch > s->unit && s->pitch < bytes &&
           bytes % s->pitch == 0 && s->start % TRIAL_BANKS == 0;
}

/* The trial with padding of the array; NULL: there is none. */
static const obs_trial *padded_trial(const trial_work *t, uint32_t array)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->rows[i].kind == OBS_TRIAL_PADDED && t->rows[i].object == array)
            return &t->rows[i];
    return NULL;
}

/* What padding leaves of the array's wavefronts. */
static uint64_t left_by_padding(const trial_work *t, uint32_t array)
{
    const obs_trial *p = padded_trial(t, array);
    uint64_t left = p ? 0 : UINT64_MAX;
    for (uint32_t i = 0; p && i < p->nafter; i++)
        left += p->after[i].wavefronts;
    return left;
}

static wl_status try_swizzle(trial_work *t, uint32_t array, uint32_t bytes)
{
    const obs_shared *a = &t->launch->summary->shared[array];
    swizzling s = {.start = a->offset,
                   .end = (uint64_t)a->offset + a->bytes,
                   .unit = bytes > OBS_WORD_BYTES ? bytes : OBS_WORD_BYTES};
    obs_trial trial = {.kind = OBS_TRIAL_SWIZZLED, .object = array, .pad = s.unit};
    uint32_t pitches[TRIAL_PITCHES + 1], count = trial_pitches(t->flow, a->name, s.unit, pitches);
    trial_rows before, best = {0};
    const trial_view view = {.change = swizzle_addresses, .how = &s};
    wl_status status = trial_rows_of(t, ACC_SHARED, array, &before);
    uint64_t least = left_by_padding(t, array);
    pitches[count++] = TRIAL_BANKS;
    for (uint32_t i = 0; i < count && status == WL_OK && least > trial_wavefronts(&before, true);
         i++) {
        trial_rows rows = {0};
        s.pitch = pitches[i];
        if (may_swizzle(&s))
            status = trial_run_changed(t, &(trial_run){.view = &view}, &rows);
        if (!rows.count || trial_wavefronts(&rows, false) >= least)
            continue;
        least = trial_wavefronts(&rows, false);
        trial.pitch = s.pitch;
        best = rows;
    }
    trial_set_array(&best, array);
    if (status == WL_OK && trial_wavefronts(&best, false) < trial_wavefronts(&before, false))
        trial_add(t, trial, &before, &best);
    return status;
}

/* Comes after trial_padded(). */
wl_status trial_swizzled(trial_work *t)
{
    wl_status status = trial_analyse(t);
    if (status == WL_OK)
        status = trial_run_base(t);
    return status == WL_OK ? trial_each_conflicting(t, try_swizzle) : status;
}
