/* Shared arrays of a launch whose banks conflict, and their rows. */
#include "replay/trials/arrays.h"
#include "flow/affine.h"
#include "replay/trials/part.h"

#include <stdlib.h>
#include <string.h>

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
    if ((at < count && pitches[at] == bytes) || at == TRIAL_PITCHES || bytes > UINT32_MAX)
        return count;
    count += count < TRIAL_PITCHES;
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

uint32_t trial_pitches(const flow_kernel *k, const char *array, uint32_t element,
                       uint32_t out[TRIAL_PITCHES])
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

/* ---- counts ---- */

uint64_t trial_wavefronts(const trial_rows *r, bool fewest)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += fewest ? r->rows[i].wavefronts_min : r->rows[i].wavefronts;
    return sum;
}

/* Bytes of a lane in the widest access; 0 where banks do not conflict, or a bulk copy moves the
 * array, which has its rows from elsewhere. */
static uint32_t conflicting_bytes(const obs_summary *s, uint32_t array)
{
    uint64_t passes = 0, fewest = 0;
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const obs_insn *c = &s->insns[i];
        if (c->space != ACC_SHARED || c->object != array)
            continue;
        if (c->flags & ACC_BULK)
            return 0;
        passes += c->wavefronts;
        fewest += c->wavefronts_min;
        bytes = c->bytes > bytes ? c->bytes : bytes;
    }
    return passes > fewest ? bytes : 0;
}

bool trial_fits_longer(const obs_summary *s, uint64_t more)
{
    uint64_t used = trial_shared_bytes(s);
    return used > TRIAL_MOST_SHARED || used + more <= TRIAL_MOST_SHARED;
}

void trial_set_array(trial_rows *r, uint32_t array)
{
    for (uint32_t i = 0; i < r->count; i++)
        r->rows[i].object = array;
}

bool trial_has_conflicts(const obs_summary *s)
{
    for (uint32_t i = 1; i < s->nshared; i++)
        if (conflicting_bytes(s, i))
            return true;
    return false;
}

wl_status trial_each_conflicting(trial_work *t, trial_of_array *try)
{
    const obs_summary *s = t->launch->summary;
    wl_status status = WL_OK;
    for (uint32_t i = 1; i < s->nshared && status == WL_OK; i++) {
        uint32_t bytes = conflicting_bytes(s, i);
        if (bytes)
            status = try(t, i, bytes);
    }
    return status;
}
