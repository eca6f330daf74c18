/* Shared arrays with bytes added after each of their rows, until their banks do not conflict. */
#include "flow/affine.h"
#include "replay/trials/trial.h"

#include <stdlib.h>
#include <string.h>

enum {
    PITCHES = 4,
    WORD = 4,   /* bytes; what is added to a row is a multiple of it */
    BANKS = 128 /* bytes of all banks */
};

typedef struct padding {
    uint64_t start, end; /* the array's bytes in the block's shared memory */
    uint32_t pitch, pad; /* `pad` bytes are added after each `pitch` */
} padding;

/* ---- rows ---- */

static bool is_of_array(const flow_kernel *k, const flow_term *t, const char *array)
{
    const flow_symbol *s = &t->factors[0];
    return t->nfactors == 1 && s->kind == FLOW_SYM_BASE && k->objects[s->a].var &&
           strcmp(k->objects[s->a].var->name, array) == 0;
}

static bool is_in_array(const flow_kernel *k, const flow_affine *form, const char *array)
{
    for (uint32_t i = 0; i < form->nterms; i++)
        if (is_of_array(k, &form->terms[i], array))
            return true;
    return false;
}

/* Keeps the smallest ones, ascending, each once. */
static uint32_t add_pitch(uint32_t *pitches, uint32_t count, uint64_t bytes)
{
    uint32_t at = 0;
    while (at < count && pitches[at] < bytes)
        at++;
    if ((at < count && pitches[at] == bytes) || at == PITCHES || bytes > UINT32_MAX)
        return count;
    count += count < PITCHES;
    memmove(&pitches[at + 1], &pitches[at], (count - 1 - at) * sizeof *pitches);
    pitches[at] = (uint32_t)bytes;
    return count;
}

static uint32_t add_form(const flow_kernel *k, const flow_affine *form, const char *array,
                         uint32_t element, uint32_t *pitches, uint32_t count)
{
    for (uint32_t i = 0; form && is_in_array(k, form, array) && i < form->nterms; i++) {
        const flow_term *t = &form->terms[i];
        uint64_t bytes = (uint64_t)llabs(t->coefficient);
        if (t->nfactors && !is_of_array(k, t, array) && bytes > element && bytes % element == 0)
            count = add_pitch(pitches, count, bytes);
    }
    return count;
}

/* Lengths of rows that the array of this name seems to have, in bytes, ascending: the distances by
 * which threads and iterations step through it, beyond an element. Returns how many. */
static uint32_t pitches_of(const flow_kernel *k, const char *array, uint32_t element,
                           uint32_t out[PITCHES])
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < k->code->count; n++) {
        const flow_function *f = &k->funcs[n];
        for (uint32_t a = 0; a < f->address_first[f->func->ninsns]; a++)
            if (f->addresses[a].touch && f->addresses[a].value != FLOW_NONE)
                count = add_form(k, f->affine[f->addresses[a].value], array, element, out, count);
    }
    return count;
}

/* ---- requests ---- */

/* Where the rows lie with the padding, at addresses that no array has. */
static bool pad_addresses(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                          uint32_t *mask)
{
    enum { ELSEWHERE = 1 << 30 }; /* in the same banks */
    const padding *p = how;
    if (request->space != ACC_SHARED)
        return false;
    for (uint32_t m = *mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t a = request->addr[lane];
        if (a < p->start || a >= p->end)
            return false;
        addr[lane] = ELSEWHERE + a + (a - p->start) / p->pitch * p->pad;
    }
    return true;
}

/* ---- trials ---- */

static uint64_t wavefronts_of(const trial_rows *r, bool fewest)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += fewest ? r->rows[i].wavefronts_min : r->rows[i].wavefronts;
    return sum;
}

/* Bytes of a lane in the widest access; 0 where banks do not conflict. */
static uint32_t conflicting_bytes(const obs_summary *s, uint32_t array)
{
    uint64_t passes = 0, fewest = 0;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *c = &s->insns[i];
        if (c->space != ACC_SHARED || c->object != array)
            continue;
        passes += c->wavefronts;
        fewest += c->wavefronts_min;
        bytes = c->bytes > bytes ? c->bytes : bytes;
    }
    return passes > fewest ? bytes : 0;
}

/* Fewer wavefronts; or as few in a shorter array. */
static bool is_better_padding(const trial_rows *rows, const padding *p, const trial_rows *kept,
                              const obs_trial *best)
{
    uint64_t now = wavefronts_of(rows, false), least = wavefronts_of(kept, false);
    bool shorter = (uint64_t)p->pad * best->pitch < (uint64_t)best->pad * p->pitch;
    return rows->count && (!kept->count || now < least || (now == least && shorter));
}

/* Tries one pitch with ever more padding, until nothing conflicts; keeps what helps most. */
static wl_status try_pads(const trial_work *t, padding p, uint32_t unit, obs_trial *best,
                          trial_rows *kept)
{
    const trial_view view = {.change = pad_addresses, .how = &p};
    wl_status status = WL_OK;
    for (p.pad = unit; p.pad <= 4 * unit && status == WL_OK; p.pad *= 2) {
        trial_rows rows;
        status = trial_run_changed(t, &(trial_run){.view = &view}, &rows);
        if (is_better_padding(&rows, &p, kept, best)) {
            *kept = rows;
            best->pitch = p.pitch;
            best->pad = p.pad;
        }
        if (rows.count && wavefronts_of(&rows, false) == wavefronts_of(&rows, true))
            break;
    }
    return status;
}

static void set_array(trial_rows *r, uint32_t array)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->rows[i].object = array;
}

static wl_status try_array(trial_work *t, uint32_t array, uint32_t bytes)
{
    const obs_shared *a = &t->launch->summary->shared[array];
    padding p = {.start = a->offset, .end = (uint64_t)a->offset + a->bytes, .pitch = BANKS};
    uint32_t unit = bytes > WORD ? bytes : WORD, pitches[PITCHES + 1];
    obs_trial trial = {.kind = OBS_TRIAL_PADDED, .object = array};
    trial_rows before, after = {0};
    wl_status status = trial_analyse(t);
    if (status == WL_OK)
        status = trial_run_base(t);
    if (status == WL_OK)
        status = trial_rows_of(t, ACC_SHARED, array, &before);
    uint32_t count = status == WL_OK ? pitches_of(t->flow, a->name, unit, pitches) : 0;
    pitches[count++] = BANKS; /* a word after each word of all banks suits any array */
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        p.pitch = pitches[i];
        if (p.pitch < a->bytes)
            status = try_pads(t, p, unit, &trial, &after);
    }
    set_array(&after, array);
    if (status == WL_OK)
        trial_add(t, trial, &before, &after);
    return status;
}

wl_status trial_padded(trial_work *t)
{
    const obs_summary *s = t->launch->summary;
    wl_status status = WL_OK;
    for (uint32_t i = 1; i < s->nshared && status == WL_OK; i++) {
        uint32_t bytes = conflicting_bytes(s, i);
        if (bytes)
            status = try_array(t, i, bytes);
    }
    return status;
}

bool trial_has_conflicts(const obs_summary *s)
{
    for (uint32_t i = 1; i < s->nshared; i++)
        if (conflicting_bytes(s, i))
            return true;
    return false;
}
