/* Remedies as a vocabulary, and changes put together. */
#include "analysis/remedy/remedy.h"

static const struct {
    const char *name, *title, *condition;
} remedies[REMEDY_COUNT] = {
#define X(id, name, title, condition) [REMEDY_##id] = {name, title, condition},
#include "analysis/remedy/remedies.def"
#undef X
};

const char *remedy_name(remedy_kind kind)
{
    return remedies[kind].name;
}

const char *remedy_title(remedy_kind kind)
{
    return remedies[kind].title;
}

const char *remedy_condition(remedy_kind kind)
{
    return remedies[kind].condition;
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static double greater(double a, double b)
{
    return a > b ? a : b;
}

static bool changes_barriers(const model_change *c)
{
    return c->barriers > 0 || c->warp_barriers > 0;
}

bool remedy_overlap(const model_change *a, const model_change *b)
{
    if (changes_barriers(a) && changes_barriers(b))
        return true;
    for (uint32_t i = 0; i < a->nedits; i++)
        for (uint32_t k = 0; k < b->nedits; k++)
            if (model_edits_same(&a->edits[i], &b->edits[k]))
                return true;
    return false;
}

/* What both leave of an instruction: what each takes away is not the same. */
static void join_edit(model_edit *to, const model_edit *e)
{
    double *const parts[] = {&to->requests, &to->sectors, &to->wavefronts, &to->lanes};
    const double others[] = {e->requests, e->sectors, e->wavefronts, e->lanes};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        double both = *parts[i] + others[i] - 1;
        *parts[i] = both > 0 ? both : 0;
    }
    to->touched = lesser(to->touched, e->touched);
    to->staged = e->staged > to->staged ? e->staged : to->staged;
    if (e->updates > to->updates) {
        to->updates = e->updates;
        to->update_turns = e->update_turns;
        to->update_lanes = e->update_lanes;
        to->update_words = e->update_words;
    }
    to->shuffles = e->shuffles > to->shuffles ? e->shuffles : to->shuffles;
    to->direct |= e->direct;
}

static void add_edit(model_edit *edits, uint32_t *count, const model_edit *e)
{
    for (uint32_t i = 0; i < *count; i++)
        if (model_edits_same(&edits[i], e)) {
            join_edit(&edits[i], e);
            return;
        }
    edits[(*count)++] = *e;
}

bool remedy_join(wl_arena *arena, const model_change *a, const model_change *b, model_change *out)
{
    model_edit *edits = wl_new_array(arena, model_edit, (size_t)a->nedits + b->nedits + 1);
    /* The barriers of one change are among those of the other. */
    model_change both = {.edits = edits,
                         .fill = a->fill || b->fill,
                         .cut = a->cut || b->cut,
                         .even = a->even || b->even,
                         .packed = a->packed || b->packed,
                         .shared = a->shared + b->shared,
                         .barriers = greater(a->barriers, b->barriers),
                         .warp_barriers = greater(a->warp_barriers, b->warp_barriers)};
    if (!edits)
        return false;
    for (uint32_t i = 0; i < a->nedits; i++)
        add_edit(edits, &both.nedits, &a->edits[i]);
    for (uint32_t i = 0; i < b->nedits; i++)
        add_edit(edits, &both.nedits, &b->edits[i]);
    *out = both;
    return true;
}
