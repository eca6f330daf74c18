/* Objects of which each block accesses its part so often that the part belongs into shared memory
 * (Zheng et al., "GMProf": device memory that is accessed frequently).
 *
 * Keeping it there was tried: the cost is what requests move beyond what is moved then, as far as no
 * other pattern is charged for it. Where another pattern tells that warps share the same data, how
 * often a block accesses a word is that finding's evidence. */
#include "analysis/input.h"
#include "analysis/remedy/tried.h"
#include "analysis/shared/trials.h"

typedef struct work {
    const ana_input *input;
    const prof_trial *trial;
    const ana_group *group; /* the object's */
    double before, after;   /* sectors, in the trial's blocks */
    double words, accesses; /* of a block's part, at most; of a word by a block, at least */
} work;

static void count(work *w)
{
    const prof_trial *t = w->trial;
    double all = 0;
    for (uint32_t i = 0; i < t->nbefore; i++) {
        w->before += (double)t->before[i].sectors;
        all += (double)t->before[i].active_lanes * t->before[i].bytes / OBS_WORD_BYTES;
    }
    for (uint32_t i = 0; i < t->nafter; i++)
        w->after += (double)t->after[i].sectors;
    w->words = t->pad / (double)OBS_WORD_BYTES;
    w->accesses = t->blocks && w->words > 0 ? all / (double)t->blocks / w->words : 0;
}

static bool is_reused(const work *w)
{
    return w->group && w->accesses >= w->input->program->thresholds->promoted_accesses &&
           2 * w->after <= w->before;
}

/* ---- what is said ---- */

/* What staging is advised of, too. */
static ana_draft *draft_that_stages(const work *w, const ana_drafts *drafts)
{
    for (uint32_t i = 0; i < drafts->count; i++) {
        ana_draft *d = &drafts->rows[i];
        bool shares = d->pattern == ANA_HOT || d->pattern == ANA_HOT_RANDOM ||
                      d->pattern == ANA_NON_UNIFORM_ACCESS ||
                      (d->pattern == ANA_MISALIGNED && w->trial->kind == OBS_TRIAL_STAGED);
        if (d->group == w->group && shares)
            return d;
    }
    return NULL;
}

static void add_use(const work *w, ana_draft *d)
{
    ana_add_evidence(d, "accesses_of_word", "accesses of a word by a block", w->accesses, "");
    ana_add_evidence(d, "block_bytes", "bytes that a block accesses", w->words * OBS_WORD_BYTES,
                     "bytes");
}

static bool set_words_of_use(const work *w, ana_draft *d)
{
    wl_arena *arena = w->input->arena;
    add_use(w, d);
    d->kind = w->trial->kind == OBS_TRIAL_KEPT ? REMEDY_KEEP : REMEDY_STAGE;
    d->remedy = w->trial->kind == OBS_TRIAL_KEPT ? tried_keep(w->input, w->trial)
                                                 : tried_stage(w->input, w->trial);
    d->summary = wl_arena_printf(
        arena,
        "A block accesses each of the %.0f bytes that it uses of it %.3g times on average; in "
        "shared memory they would be moved once.",
        w->words * OBS_WORD_BYTES, w->accesses);
    return d->summary && d->remedy;
}

static bool draft_object(const ana_input *input, const prof_trial *trial, ana_drafts *drafts)
{
    work w = {
        .input = input, .trial = trial, .group = ana_group_of(input, ACC_GLOBAL, trial->object)};
    count(&w);
    if (!is_reused(&w))
        return true;
    ana_draft *other = draft_that_stages(&w, drafts);
    if (other) {
        add_use(&w, other);
        return true;
    }
    ana_draft *d = ana_draft_add_of(drafts, input, w.group, ANA_PROMOTE);
    if (!d)
        return false;
    trials_charge(&(trial_cost){.group = w.group, .trial = trial, .part = 1 - w.after / w.before},
                  drafts, d);
    drafts->count -= d->excess <= 0;
    return d->excess <= 0 || set_words_of_use(&w, d);
}

/* Parts that are kept whole: what fits only tile by tile is another's loop. */
static bool keeps_part(const prof_trial *t)
{
    return t->kind == OBS_TRIAL_KEPT || (t->kind == OBS_TRIAL_STAGED && !t->pitch);
}

wl_status ana_detect_promote(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    return trials_each(input, keeps_part, draft_object, drafts, err);
}
