/* One cause, one finding: the change that saves most is told, and what it mends is told as mended.
 *
 * What was tried is told in place of what is only advised, where it is the same change or saves
 * nearly as much.
 * Swapping a kernel's indices or widening its blocks changes all of its instructions at once and is
 * a change of a few characters, so that it is told where it saves nearly as much as the best of the
 * other remedies.
 * Then findings are taken in the order of what they save; one that changes instructions which an
 * earlier one has changed, and hardly saves anything after that, is mended by it. */
#include "analysis/choose.h"

#include <stdlib.h>
#include <string.h>

typedef struct chooser {
    const gain_input *in;
    const gain_kernel *k;
    ana_finding *rows;
    size_t count;
} chooser;

static const model_change nothing;

/* ---- worths ---- */

static void set_worths(const chooser *c)
{
    for (size_t i = 0; i < c->count; i++)
        for (uint32_t r = 0; r < c->rows[i].nremedies; r++) {
            ana_remedy *remedy = &c->rows[i].remedies[r];
            remedy->worth = gain_worth(c->in, c->k, &remedy->change);
            remedy->worth.of_full = gain_part(c->in, c->k, &nothing, &remedy->change);
        }
}

static ana_remedy *remedy_of_kind(const ana_finding *f, remedy_kind kind, bool counted)
{
    for (uint32_t r = 0; r < f->nremedies; r++)
        if (f->remedies[r].kind == kind && f->remedies[r].counted == counted)
            return &f->remedies[r];
    return NULL;
}

static void put_first(ana_finding *f, const ana_remedy *told)
{
    ana_remedy first = *told;
    size_t before = (size_t)(told - f->remedies);
    memmove(&f->remedies[1], f->remedies, before * sizeof first);
    f->remedies[0] = first;
    f->remedy = first.remedy;
    f->advice = first.advice;
    f->change = first.change;
}

/* ---- counted remedies ---- */

/* Is something told that was tried, of this finding or of one that covers it? */
static bool has_tried_remedy(const ana_finding *f)
{
    return f->covered_by || f->remedies[0].counted;
}

static bool changes_kernel(remedy_kind kind)
{
    return kind == REMEDY_SWAP || kind == REMEDY_WIDEN;
}

static bool does_better(const ana_remedy *a, const ana_remedy *b)
{
    if (a->worth.of_full != b->worth.of_full)
        return a->worth.of_full > b->worth.of_full;
    return a->after.sectors + a->after.wavefronts < b->after.sectors + b->after.wavefronts;
}

static bool lays_out_shared(remedy_kind kind)
{
    return kind == REMEDY_PAD || kind == REMEDY_SWIZZLE;
}

/* The best of those that lay out the finding's array or object otherwise; NULL where one is told
 * already. */
static const ana_remedy *best_layout(const ana_finding *f, bool shared)
{
    const ana_remedy *best = NULL;
    for (uint32_t r = 0; r < f->nremedies && !has_tried_remedy(f); r++) {
        const ana_remedy *one = &f->remedies[r];
        bool fits = one->counted && !changes_kernel(one->kind) &&
                    lays_out_shared(one->kind) == shared;
        if (fits && (!best || does_better(one, best)))
            best = one;
    }
    return best;
}

static bool places_data(remedy_kind kind)
{
    return kind == REMEDY_SPREAD || kind == REMEDY_ALIGN;
}

/* Swapping the indices makes lanes run along what they ran across: so does to let them run along rows, and
 * so does to turn the rows round. */
static bool turns_rows(remedy_kind kind)
{
    return kind == REMEDY_SWAP || kind == REMEDY_TRANSPOSE || kind == REMEDY_ALONG;
}

/* Does it say by how much what the finding's own remedy says only in words? */
static bool says_more(remedy_kind tried, remedy_kind own)
{
    bool records = tried == REMEDY_SPLIT && own == REMEDY_NEIGHBOURS;
    return tried == own || records || (tried == REMEDY_SWAP && turns_rows(own)) ||
           (places_data(tried) && places_data(own)) ||
           (lays_out_shared(tried) && lays_out_shared(own));
}

/* Takes away the second remedy: the first says the same, and more. */
static void drop_second(ana_finding *f)
{
    memmove(&f->remedies[1], &f->remedies[2], (--f->nremedies - 1) * sizeof *f->remedies);
}

static bool is_nearly_as_good(const chooser *c, const ana_remedy *a, const ana_remedy *b)
{
    enum { NEARLY = 10 }; /* per cent */
    return !c->k->model || 100 * a->worth.of_full >= (100 - NEARLY) * b->worth.of_full;
}

/* What was tried stands in the place of what is only advised, or before it. */
static void tell_layouts(const chooser *c, bool shared)
{
    for (size_t i = 0; i < c->count; i++) {
        ana_finding *f = &c->rows[i];
        const ana_remedy *tried = best_layout(f, shared), *own = f->remedies;
        if (!tried)
            continue;
        bool replaces = says_more(tried->kind, own->kind);
        if (!replaces && !is_nearly_as_good(c, tried, own))
            continue;
        put_first(f, tried);
        if (replaces) /* its own stands second now */
            drop_second(f);
    }
}

/* Does the change mend the finding, and is nothing told yet that does? */
static ana_remedy *open_remedy(ana_finding *f, remedy_kind kind)
{
    return has_tried_remedy(f) ? NULL : remedy_of_kind(f, kind, true);
}

/* The costliest of the findings that the change of the kernel mends. */
static ana_finding *costliest_open(const chooser *c, remedy_kind kind)
{
    ana_finding *most = NULL;
    for (size_t i = 0; i < c->count; i++)
        if (open_remedy(&c->rows[i], kind) && (!most || c->rows[i].cost.excess > most->cost.excess))
            most = &c->rows[i];
    return most;
}

static bool is_best(const chooser *c, const ana_remedy *change)
{
    if (!c->k->model)
        return true;
    bool best = change->worth.of_full >= c->in->thresholds->least_gain;
    for (size_t i = 0; i < c->count && best; i++)
        if (open_remedy(&c->rows[i], change->kind))
            best = is_nearly_as_good(c, change, c->rows[i].remedies);
    return best;
}

/* Smaller blocks are a change of a number; to divide what each thread does may take a new algorithm. */
static void tell_smaller(const chooser *c)
{
    for (size_t i = 0; i < c->count; i++) {
        ana_finding *f = &c->rows[i];
        const ana_remedy *smaller = remedy_of_kind(f, REMEDY_SMALLER, false);
        if (smaller && !has_tried_remedy(f) && is_nearly_as_good(c, smaller, f->remedies))
            put_first(f, smaller);
    }
}

/* A change of the whole kernel is told of one finding. */
static void tell_once(const chooser *c, remedy_kind kind)
{
    ana_finding *head = costliest_open(c, kind);
    const ana_remedy *change = head ? open_remedy(head, kind) : NULL;
    if (!change || !is_best(c, change))
        return;
    for (size_t i = 0; i < c->count; i++)
        if (&c->rows[i] != head && open_remedy(&c->rows[i], kind))
            c->rows[i].covered_by = remedy_title(kind);
    bool replaces = says_more(kind, head->remedies->kind);
    put_first(head, change);
    if (replaces)
        drop_second(head);
}

/* ---- what is mended besides ---- */

/* The next in the order of what they save, after one that saves so much. */
static ana_finding *next_to_take(const chooser *c, const bool *done)
{
    ana_finding *next = NULL;
    for (size_t i = 0; i < c->count; i++) {
        ana_finding *f = &c->rows[i];
        if (!done[i] && !f->covered_by && !f->costs && !model_changes_grid(&f->change) &&
            (!next || f->remedies[0].worth.of_full > next->remedies[0].worth.of_full))
            next = f;
    }
    return next;
}

/* The finding that was told before, and changes an instruction that this one changes, too. */
static const ana_finding *before_it(const chooser *c, const bool *done, const ana_finding *f)
{
    for (size_t i = 0; i < c->count; i++)
        if (done[i] && !c->rows[i].covered_by && remedy_overlap(&c->rows[i].change, &f->change))
            return &c->rows[i];
    return NULL;
}

static bool take_next(const chooser *c, bool *done, ana_finding *f, model_change *taken)
{
    double least = c->in->thresholds->least_gain;
    const ana_finding *other = before_it(c, done, f);
    if (other && f->remedies[0].worth.of_full >= least &&
        gain_part(c->in, c->k, taken, &f->change) < least)
        f->covered_by = remedy_title(other->remedies[0].kind);
    done[f - c->rows] = true;
    return f->covered_by || remedy_join(c->in->arena, taken, &f->change, taken);
}

static bool mark_mended(const chooser *c)
{
    bool *done = wl_new_array(c->in->arena, bool, c->count + 1);
    model_change taken = nothing;
    ana_finding *f;
    while (done && (f = next_to_take(c, done)))
        if (!take_next(c, done, f, &taken))
            return false;
    return done != NULL;
}

/* ---- chances ---- */

/* They are told where a change of them saves time. */
static void mark_costs(const chooser *c)
{
    for (size_t i = 0; i < c->count && c->k->model; i++) {
        ana_finding *f = &c->rows[i];
        f->costs = f->told == ANA_CHANCE &&
                   f->remedies[0].worth.of_full < c->in->thresholds->least_gain;
    }
}

/* ---- the same change twice ---- */

static bool turn_the_same(remedy_kind a, remedy_kind b)
{
    return a != b && (a == REMEDY_SWAP || b == REMEDY_SWAP) && turns_rows(a) && turns_rows(b);
}

/* Does one of the finding's remedies tell it: the same change from another side before it, or, where it was not
 * tried, one of its kind? */
static bool is_repeated(const ana_finding *f, uint32_t at)
{
    const ana_remedy *one = &f->remedies[at];
    for (uint32_t r = 0; r < f->nremedies; r++) {
        const ana_remedy *other = &f->remedies[r];
        bool same_kind = r != at && other->kind == one->kind && !one->counted;
        if ((r < at && turn_the_same(one->kind, other->kind)) ||
            (same_kind && (r < at || other->counted)))
            return true;
    }
    return false;
}

/* Of one change the first is told, of one kind what was tried. */
static void drop_repeated(ana_finding *f)
{
    const ana_remedy *tried = f->nremedies ? remedy_of_kind(f, f->remedies->kind, true) : NULL;
    if (tried && !f->remedies->counted)
        put_first(f, tried);
    for (uint32_t r = f->nremedies; r-- > 1;)
        if (is_repeated(f, r)) {
            size_t after = f->nremedies - r - 1;
            memmove(&f->remedies[r], &f->remedies[r + 1], after * sizeof *f->remedies);
            f->nremedies--;
        }
}

bool choose_remedies(const gain_input *in, const gain_kernel *k, ana_finding *findings,
                     size_t count)
{
    chooser c = {in, k, findings, count};
    set_worths(&c);
    tell_layouts(&c, true);
    tell_once(&c, REMEDY_SWAP);
    tell_once(&c, REMEDY_WIDEN);
    tell_layouts(&c, false);
    tell_smaller(&c);
    for (size_t i = 0; i < count; i++)
        drop_repeated(&findings[i]);
    mark_costs(&c);
    return !k->model || mark_mended(&c);
}
