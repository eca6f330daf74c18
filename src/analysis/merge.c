/* Findings on objects that are allocated at one place again and again. */
#include "analysis/detect.h"
#include "analysis/group.h"

#include <stdlib.h>
#include <string.h>

static const char *name_of(const detect_run *run, uint32_t object)
{
    const prof_object *o = prof_find_object(&run->program.objects, object);
    return o ? o->name : "";
}

/* Objects that are never alive together have one name where they come from one place. */
static bool are_alike(const detect_run *run, const ana_finding *a, const ana_finding *b)
{
    return a->pattern == b->pattern && a->access && b->access &&
           a->access->space == b->access->space &&
           strcmp(name_of(run, a->object), name_of(run, b->object)) == 0;
}

static void merge_access(ana_access *to, const ana_access *from)
{
    to->objects += from->objects;
    to->launches += from->launches;
    to->first_object = from->first_object < to->first_object ? from->first_object
                                                             : to->first_object;
}

static void add_counts(remedy_counts *to, const remedy_counts *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->wavefronts += from->wavefronts;
}

static const ana_remedy *same_remedy(const ana_finding *f, const ana_remedy *as)
{
    for (uint32_t r = 0; r < f->nremedies; r++)
        if (f->remedies[r].kind == as->kind && f->remedies[r].counted == as->counted)
            return &f->remedies[r];
    return NULL;
}

static bool join_remedy(wl_arena *arena, ana_remedy *to, const ana_remedy *from)
{
    model_change change;
    bool good = remedy_join(arena, &to->change, &from->change, &change);
    add_counts(&to->before, &from->before);
    add_counts(&to->after, &from->after);
    to->change = change;
    return good;
}

/* The first of both, which is the costlier one's, and of the others those that both have. */
static bool join_remedies(wl_arena *arena, ana_finding *more, const ana_finding *less)
{
    const ana_remedy *rows = more->remedies;
    uint32_t n = more->nremedies;
    bool good = true;
    more->remedies = wl_new_array(arena, ana_remedy, n);
    more->nremedies = 0;
    for (uint32_t r = 0; more->remedies && r < n; r++) {
        const ana_remedy *other = r ? same_remedy(less, &rows[r]) : less->remedies;
        if (!other)
            continue;
        ana_remedy *joined = &more->remedies[more->nremedies++];
        *joined = rows[r];
        good &= join_remedy(arena, joined, other);
    }
    return good && more->remedies;
}

/* Text and evidence are those of the costlier one, the lines of both. */
static bool merge_findings(wl_arena *arena, ana_finding *to, const ana_finding *from)
{
    const ana_finding *more = from->cost.excess > to->cost.excess ? from : to;
    const ana_finding *less = more == to ? from : to;
    ana_cost cost = to->cost;
    cost.excess += from->cost.excess;
    cost.share_of_kernel += from->cost.share_of_kernel;
    merge_access(more->access, less->access);
    uint32_t nlines = 0;
    ana_line *lines = group_join_lines(arena, more->lines, more->nlines, less->lines, less->nlines,
                                       &nlines);
    ana_certainty certainty = more->certainty > less->certainty ? more->certainty : less->certainty;
    ana_finding joined = *more;
    if (!join_remedies(arena, &joined, less))
        return false;
    *to = joined;
    to->change = joined.remedies->change;
    to->cost = cost;
    to->certainty = certainty;
    to->lines = lines;
    to->nlines = nlines;
    return lines;
}

typedef struct order_key {
    const detect_run *run;
    const ana_finding *f;
} order_key;

static int by_pattern_and_object(const void *a, const void *b)
{
    const order_key *x = a, *y = b;
    int order = x->f->pattern < y->f->pattern ? -1 : x->f->pattern > y->f->pattern;
    order = order ? order : strcmp(name_of(x->run, x->f->object), name_of(y->run, y->f->object));
    return order ? order : x->f->object < y->f->object ? -1 : x->f->object > y->f->object;
}

wl_status detect_merge(detect_run *run, size_t first, wl_arena *scratch, wl_error *err)
{
    size_t n = run->found.count - first, kept = 0;
    order_key *order = wl_new_array(scratch, order_key, n);
    ana_finding *rows = wl_new_array(scratch, ana_finding, n);
    bool good = order && rows;
    for (size_t i = 0; good && i < n; i++)
        order[i] = (order_key){run, &run->found.data[first + i]};
    if (good && n)
        qsort(order, n, sizeof *order, by_pattern_and_object);
    for (size_t i = 0; good && i < n; i++)
        if (kept && are_alike(run, &rows[kept - 1], order[i].f))
            good = merge_findings(run->arena, &rows[kept - 1], order[i].f);
        else
            rows[kept++] = *order[i].f;
    if (!good)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (size_t i = 0; i < kept; i++)
        run->found.data[first + i] = rows[i];
    run->found.count = first + kept;
    return WL_OK;
}
