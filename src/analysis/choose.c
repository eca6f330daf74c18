/* One cause, one finding: the change that saves most is told, and what it mends is told as mended.
 *
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

/* A padding that was tried stands in the place of the one that is only advised. */
static void tell_pads(const chooser *c)
{
    for (size_t i = 0; i < c->count; i++) {
        ana_finding *f = &c->rows[i];
        const ana_remedy *pad = remedy_of_kind(f, REMEDY_PAD, true);
        if (pad) {
            put_first(f, pad);
            f->nremedies--; /* its own, which stands last */
        }
    }
}

/* Does the change mend the finding, and is nothing told yet that does? */
static ana_remedy *open_remedy(ana_finding *f, remedy_kind kind)
{
    return f->covered_by || f->remedies[0].counted ? NULL : remedy_of_kind(f, kind, true);
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
    enum { NEARLY = 10 }; /* per cent */
    if (!c->k->model)
        return true;
    bool best = change->worth.of_full >= c->in->thresholds->least_gain;
    for (size_t i = 0; i < c->count && best; i++)
        if (open_remedy(&c->rows[i], change->kind))
            best = 100 * change->worth.of_full >=
                   (100 - NEARLY) * c->rows[i].remedies[0].worth.of_full;
    return best;
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
    put_first(head, change);
}

/* ---- what is mended besides ---- */

/* The next in the order of what they save, after one that saves so much. */
static ana_finding *next_to_take(const chooser *c, const bool *done)
{
    ana_finding *next = NULL;
    for (size_t i = 0; i < c->count; i++) {
        ana_finding *f = &c->rows[i];
        if (!done[i] && !f->covered_by && !f->change.fill &&
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

bool choose_remedies(const gain_input *in, const gain_kernel *k, ana_finding *findings,
                     size_t count)
{
    chooser c = {in, k, findings, count};
    set_worths(&c);
    tell_pads(&c);
    tell_once(&c, REMEDY_SWAP);
    tell_once(&c, REMEDY_WIDEN);
    return !k->model || mark_mended(&c);
}
