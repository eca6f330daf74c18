/* Objects of which each block accesses its part again and again, while shared memory, in which it has no
 * room, holds an array that does no more than pass on what is loaded (Zheng et al., "GMProf": arrays to
 * change places).
 *
 * Both changes were tried, together: the cost is what requests to the object move beyond what is moved
 * then, as far as no other pattern is charged for it. It is told where the change saves time. */
#include "analysis/input.h"
#include "analysis/remedy/tried.h"
#include "analysis/shared/trials.h"

typedef struct work {
    const ana_input *input;
    const prof_trial *trial;
    const ana_group *group;    /* the object's */
    const prof_object *array;  /* that gives its place */
    double before, after;      /* sectors of the object, in the trial's blocks */
    double accesses, of_array; /* of a word by a block: of the object, of the array */
} work;

static double words_accessed(const obs_insn *c)
{
    return (double)c->active_lanes * c->bytes / OBS_WORD_BYTES;
}

static void count_rows(work *w)
{
    const prof_trial *t = w->trial;
    double own = 0, other = 0, words = t->pad / (double)OBS_WORD_BYTES;
    for (uint32_t i = 0; i < t->nbefore; i++) {
        const obs_insn *c = &t->before[i];
        own += c->object == t->object && c->space == ACC_GLOBAL ? words_accessed(c) : 0;
        other += c->space == ACC_SHARED ? words_accessed(c) : 0;
        w->before += c->space == ACC_GLOBAL ? (double)c->sectors : 0;
    }
    for (uint32_t i = 0; i < t->nafter; i++)
        w->after += t->after[i].space == ACC_GLOBAL ? (double)t->after[i].sectors : 0;
    w->accesses = t->blocks && words > 0 ? own / (double)t->blocks / words : 0;
    w->of_array = t->blocks && w->array->bytes >= OBS_WORD_BYTES
                      ? other / (double)t->blocks / ((double)w->array->bytes / OBS_WORD_BYTES)
                      : 0;
}

/* Is the object's part used more often than the array, and does less move once they changed places? */
static bool is_used_more(const work *w)
{
    return w->accesses >= w->input->program->thresholds->promoted_accesses &&
           w->accesses > w->of_array && w->after < w->before;
}

static bool set_words_of_swap(const work *w, ana_draft *d)
{
    const char *array = ana_object_text(w->array);
    ana_add_evidence(d, "accesses_of_word", "accesses of a word by a block", w->accesses, "");
    ana_add_evidence(d, "accesses_in_array", "of a word of the array in shared memory", w->of_array,
                     "");
    ana_add_evidence(d, "block_bytes", "bytes that a block accesses", w->trial->pad, "bytes");
    ana_add_evidence(d, "array_bytes", "bytes of the array", (double)w->array->bytes, "bytes");
    d->kind = REMEDY_EXCHANGE;
    d->remedy = tried_exchange(w->input, w->trial);
    d->summary =
        wl_arena_printf(w->input->arena,
                        "A block accesses each of the %u bytes that it uses of it %.3g times on "
                        "average, but a word of %s, "
                        "which is in shared memory, %.3g times; there is no room for both.",
                        w->trial->pad, w->accesses, array, w->of_array);
    return d->summary && d->remedy;
}

static bool draft_swap(const ana_input *input, const prof_trial *trial, ana_drafts *drafts)
{
    work w = {.input = input,
              .trial = trial,
              .group = ana_group_of(input, ACC_GLOBAL, trial->object),
              .array = tried_array(input, trial)};
    if (!w.group || !w.array)
        return true;
    count_rows(&w);
    if (!is_used_more(&w))
        return true;
    ana_draft *d = ana_draft_add_of(drafts, input, w.group, ANA_SWAP_ARRAYS);
    if (!d)
        return false;
    trials_charge(&(trial_cost){.group = w.group,
                                .trial = trial,
                                .part = 1 - w.after / w.before,
                                .of_trial = true},
                  drafts, d);
    drafts->count -= d->excess <= 0;
    return d->excess <= 0 || set_words_of_swap(&w, d);
}

static bool is_exchange(const prof_trial *t)
{
    return t->kind == OBS_TRIAL_EXCHANGED;
}

wl_status ana_detect_swaps(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    return trials_each(input, is_exchange, draft_swap, drafts, err);
}
