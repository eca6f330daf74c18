/* Objects of which a kernel accesses some elements far more often than others: what of that goes to a
 * range that fits into shared memory.
 *
 * The cost is what requests to the range move beyond loading it once a block, as far as no other
 * pattern is charged for it. Requests move sectors in proportion to their accesses: an estimate.
 * Where another pattern tells of the same kernel and object that warps share its data, the frequency
 * is that finding's evidence. */
#include "analysis/frequency/measure.h"
#include "analysis/input.h"

typedef struct work {
    const ana_input *input;
    const ana_group *group;
    const prof_use *use; /* the launches that access it most */
    ana_frequency frequency;
    int class;    /* of the accesses to the hot range that are most: WL_LOADS, WL_ATOMICS */
    double saved; /* sectors, over all launches */
} work;

/* ---- what is known ---- */

static double all_accesses(const prof_use *u)
{
    return (double)u->count * ((double)u->times[WL_LOADS] + (double)u->times[WL_STORES] +
                               (double)u->times[WL_ATOMICS]);
}

/* Of the group's object, the launches with most accesses, where they are counted. */
static const prof_use *most_used(const prof_use_rows *uses, const ana_group *g)
{
    const prof_use *best = NULL;
    for (uint32_t i = 0; i < uses->count; i++) {
        const prof_use *u = &uses->rows[i];
        bool counted = u->known == OBS_KNOWN_COUNTED && u->spans && u->touched;
        if (counted && u->object == g->object && u->space == g->space &&
            (!best || all_accesses(u) > all_accesses(best)))
            best = u;
    }
    return best;
}

/* By the sums that the row has, which spares reading the elements of most. */
static bool is_uneven(const ana_thresholds *t, const prof_use *u)
{
    double n = (double)u->touched, mean = all_accesses(u) / (double)u->count / n;
    return u->squares / n - mean * mean > t->variation * t->variation * mean * mean;
}

static bool is_of_class(const obs_insn *c, int class)
{
    return class == WL_LOADS ? c->op == ACC_LOAD : c->op == ACC_ATOMIC || c->op == ACC_REDUCTION;
}

/* ---- what it costs ---- */

static double sectors_of_class(const work *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->group->ninsns; i++)
        if (is_of_class(&w->group->insns[i].c, w->class))
            sum += (double)w->group->insns[i].c.sectors;
    return sum;
}

static double blocks_of_launches(const work *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->group->ntraffic; i++) {
        const prof_traffic *t = &w->group->traffic[i];
        const prof_launch *l = prof_find_launch(&w->input->program->launches, t->launch);
        sum += l ? (double)t->count * l->grid[0] * l->grid[1] * l->grid[2] : 0;
    }
    return sum;
}

static double bytes_of_range(const work *w)
{
    return (double)w->frequency.count * OBS_WORD_BYTES;
}

static bool saves_sectors(work *w)
{
    const ana_frequency *f = &w->frequency;
    w->class = f->hot[WL_ATOMICS] > f->hot[WL_LOADS] ? WL_ATOMICS : WL_LOADS;
    double fill = blocks_of_launches(w) * (bytes_of_range(w) / OBS_SECTOR_BYTES + 1);
    double part = f->all[w->class] ? (double)f->hot[w->class] / (double)f->all[w->class] : 0;
    w->saved = part * sectors_of_class(w) - fill;
    return w->saved > 0 && bytes_of_range(w) <= w->input->program->thresholds->staged_bytes;
}

static void charge_draft(const work *w, const ana_drafts *drafts, ana_draft *d)
{
    double all = sectors_of_class(w);
    for (uint32_t i = 0; i < d->ninsns; i++) {
        const obs_insn *c = &d->insns[i].c;
        double sectors = is_of_class(c, w->class) ? (double)c->sectors : 0,
               left = sectors - ana_charged(drafts, w->group, i), own = w->saved * sectors / all;
        d->insn_excess[i] = own < left ? own : left > 0 ? left : 0;
        d->excess += d->insn_excess[i];
    }
    d->alone = w->saved;
}

/* ---- what is said ---- */

static bool tells_of_sharing(ana_pattern p)
{
    return p == ANA_HOT || p == ANA_HOT_RANDOM || p == ANA_SAME_ADDRESS ||
           p == ANA_SCATTERED_ATOMICS;
}

static ana_draft *draft_of_sharing(const work *w, const ana_drafts *drafts)
{
    for (uint32_t i = 0; i < drafts->count; i++)
        if (drafts->rows[i].group == w->group && tells_of_sharing(drafts->rows[i].pattern))
            return &drafts->rows[i];
    return NULL;
}

static bool add_frequency(const work *w, ana_draft *d)
{
    const ana_frequency *f = &w->frequency;
    ana_add_evidence(d, "variation", "variation of the accesses of an element", 100 * f->variation,
                     "%");
    ana_add_evidence(d, "hot_bytes", "bytes accessed most", bytes_of_range(w), "bytes");
    ana_add_evidence(d, "hot_accesses", "of all accesses",
                     100 * (double)(f->hot[0] + f->hot[1] + f->hot[2]) / (double)f->accesses, "%");
    d->frequency = wl_arena_copy(w->input->arena, f, sizeof *f);
    return d->frequency != NULL;
}

static bool set_frequency_words(const work *w, ana_draft *d)
{
    const ana_frequency *f = &w->frequency;
    wl_arena *arena = w->input->arena;
    unsigned long long first = f->first * OBS_WORD_BYTES,
                       last = (f->first + f->count) * OBS_WORD_BYTES - 1;
    d->kind = w->class == WL_LOADS ? REMEDY_STAGE : REMEDY_PRIVATE;
    d->summary = wl_arena_printf(
        arena,
        "%.0f %% of the %s go to bytes %llu to %llu; an element there is accessed %.3g times "
        "in a launch, one elsewhere %.3g times.",
        100 * (double)f->hot[w->class] / (double)f->all[w->class],
        w->class == WL_LOADS ? "loads" : "atomic updates", first, last,
        (double)(f->hot[0] + f->hot[1] + f->hot[2]) / (double)f->count,
        f->elements > f->count ? (double)(f->accesses - f->hot[0] - f->hot[1] - f->hot[2]) /
                                     (double)(f->elements - f->count)
                               : 0.0);
    d->remedy = w->class == WL_LOADS
                    ? wl_arena_printf(arena,
                                      "Load bytes %llu to %llu of " ANA_OBJECT
                                      " into shared memory once per block, and take what is "
                                      "elsewhere from device memory.",
                                      first, last)
                    : wl_arena_printf(arena,
                                      "Update bytes %llu to %llu of " ANA_OBJECT
                                      " in a copy in shared memory, and add the copies up at the "
                                      "block's end.",
                                      first, last);
    return d->summary && d->remedy;
}

static bool draft_frequency(const work *w, ana_drafts *drafts)
{
    ana_draft *shared = draft_of_sharing(w, drafts);
    if (shared)
        return add_frequency(w, shared);
    ana_draft *d = ana_draft_add_of(drafts, w->input, w->group, ANA_NON_UNIFORM_ACCESS);
    if (!d)
        return false;
    charge_draft(w, drafts, d);
    d->launches = (uint32_t)w->group->launches;
    d->example_launch = w->use->launch;
    d->certainty = ANA_CERTAINTY_ESTIMATED;
    drafts->count -= d->excess <= 0;
    return d->excess <= 0 || (add_frequency(w, d) && set_frequency_words(w, d));
}

/* ---- kernels ---- */

static wl_status measure_use(work *w, bool *found, wl_error *err)
{
    wl_span_reader reader;
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch
                           ? prof_load_spans(w->input->program->db, w->use->spans, scratch, &reader,
                                             err)
                           : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    *found = status == WL_OK && frequency_measure(&reader, &w->frequency);
    wl_arena_free(scratch);
    return status;
}

static wl_status look_at_group(work *w, ana_drafts *drafts, wl_error *err)
{
    bool found = false;
    if (!w->use || !is_uneven(w->input->program->thresholds, w->use))
        return WL_OK;
    wl_status status = measure_use(w, &found, err);
    w->frequency.launch = w->use->launch;
    if (status != WL_OK || !found || !saves_sectors(w))
        return status;
    return draft_frequency(w, drafts)
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

wl_status ana_detect_frequency(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_use_rows *uses = &input->uses;
    wl_status status = WL_OK;
    for (uint32_t g = 0; g < input->ngroups && status == WL_OK && uses->count; g++) {
        const ana_group *group = &input->groups[g];
        bool in_device_memory = group->space == ACC_GLOBAL && group->info;
        work w = {.input = input,
                  .group = group,
                  .use = in_device_memory ? most_used(uses, group) : NULL};
        status = look_at_group(&w, drafts, err);
    }
    return status;
}
