/* Shared arrays that only pass on what a block loads from device memory, and of which each word is
 * read hardly more than once before it is filled again: they earn nothing (Zheng et al., "GMProf",
 * live ranges).
 *
 * What the block would do without the array was tried: a finding rests on such a trial, and is only
 * told where it saves time. The cost is the array's wavefronts, as far as no other pattern is
 * charged for them. An array that gives lanes an order that suits memory has no such trial, since
 * they would move more sectors without it. */
#include "analysis/input.h"
#include "analysis/shared/trials.h"

typedef struct work {
    const ana_input *input;
    const prof_trial *trial;
    double filled, read;    /* words of the array, by lanes */
    double before, after;   /* sectors that loads move: to fill the array, and in its place */
    const ana_group *group; /* the array's */
    const prof_object *from;
} work;

/* ---- what is known ---- */

static double filled_words(const obs_insn *c)
{
    return (double)c->active_lanes * c->bytes / OBS_WORD_BYTES;
}

static void count_before(work *w)
{
    for (uint32_t i = 0; i < w->trial->nbefore; i++) {
        const obs_insn *c = &w->trial->before[i];
        if (c->space != ACC_SHARED) {
            w->before += (double)c->sectors;
            w->from = prof_find_object(&w->input->program->objects, c->object);
        } else if (c->op == ACC_STORE) {
            w->filled += filled_words(c);
        } else {
            w->read += filled_words(c);
        }
    }
    for (uint32_t i = 0; i < w->trial->nafter; i++)
        w->after += (double)w->trial->after[i].sectors;
}

/* Registers serve better where no other thread reads a word. */
static bool is_thread_local(const work *w, const ana_drafts *drafts)
{
    for (uint32_t i = 0; i < drafts->count; i++)
        if (drafts->rows[i].group == w->group && drafts->rows[i].pattern == ANA_SHARED_THREAD_LOCAL)
            return true;
    return false;
}

static bool is_used_once(const work *w)
{
    const ana_thresholds *t = w->input->program->thresholds;
    return w->group && w->from && w->filled > 0 && w->read <= t->reads_of_range * w->filled;
}

/* ---- what is said ---- */

static bool set_words_of_once(const work *w, ana_draft *d)
{
    wl_arena *arena = w->input->arena;
    const char *from = ana_object_text(w->from);
    ana_add_evidence(d, "reads_of_range", "reads of a word before it is filled again",
                     w->read / w->filled, "");
    ana_add_evidence(d, "sectors_to_fill", "sectors that fill it", w->before, "sectors");
    ana_add_evidence(d, "sectors_without", "sectors without it", w->after, "sectors");
    d->kind = REMEDY_DIRECT;
    d->summary = wl_arena_printf(
        arena,
        "Blocks fill it from %s, and read each word %.2g times on average before it is filled "
        "again "
        "or the block ends. Loads from %s in its place would move %.3g times as many sectors.",
        from, w->read / w->filled, from, w->before > 0 ? w->after / w->before : 0);
    d->remedy = wl_arena_printf(arena,
                                "Leave out " ANA_OBJECT ": load from %s where it is read now.",
                                from);
    return d->summary && d->remedy;
}

static bool draft_array(const ana_input *input, const prof_trial *trial, ana_drafts *drafts)
{
    work w = {
        .input = input, .trial = trial, .group = ana_group_of(input, ACC_SHARED, trial->object)};
    count_before(&w);
    if (!is_used_once(&w) || is_thread_local(&w, drafts))
        return true;
    ana_draft *d = ana_draft_add_of(drafts, input, w.group, ANA_SHARED_USED_ONCE);
    if (!d)
        return false;
    trials_charge(&(trial_cost){.group = w.group, .trial = trial, .wavefronts = true, .part = 1},
                  drafts, d);
    drafts->count -= d->excess <= 0;
    return d->excess <= 0 || set_words_of_once(&w, d);
}

static bool loads_directly(const prof_trial *t)
{
    return t->kind == OBS_TRIAL_DIRECT;
}

wl_status ana_detect_once(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    return trials_each(input, loads_directly, draft_array, drafts, err);
}
