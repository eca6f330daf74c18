/* Puts findings together that one change in the source fixes. */
#include "analysis/group.h"
#include "analysis/hash.h"

#include <stdlib.h>
#include <string.h>

/* A finding with what it may share with others. */
typedef struct item {
    const ana_finding *f;
    uint32_t at;       /* its rank among all */
    uint64_t object;   /* shared arrays of one name and size are one */
    uint64_t findings; /* of its kernel: equal where kernels are alike */
} item;

typedef struct work {
    const ana_finding *rows;
    uint32_t count;
    const prof_kernel_rows *kernels;
    const prof_object_rows *objects;
    wl_arena *scratch, *arena;
    item *items, **order;
    uint32_t *parent; /* union-find over ranks: the root is the costliest */
} work;

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

/* ---- what findings share ---- */

/* Findings that are not about accesses have none of the spaces. */
static uint32_t finding_space_of(const ana_finding *f)
{
    return f->access ? f->access->space : ACC_SPACE_COUNT;
}

static uint64_t finding_object_identity(const work *w, const ana_finding *f)
{
    const prof_object *o = prof_find_object(w->objects, f->object);
    if (!o || finding_space_of(f) != ACC_SHARED || !o->variable[0])
        return hash_number(1, f->object);
    return hash_number(hash_text(2, o->variable), o->bytes);
}

static uint64_t finding_identity(const item *i)
{
    uint64_t hash = hash_number(hash_number(i->object, i->f->pattern), i->f->gain);
    return hash_text(hash, i->f->remedy);
}

static int by_kernel_alone(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    return ORDER(x->f->kernel, y->f->kernel);
}

/* In what order a kernel's findings come does not matter: their identities are added up. */
static void set_identities(work *w)
{
    for (uint32_t i = 0; i < w->count; i++) {
        w->items[i] = (item){
            .f = &w->rows[i], .at = i, .object = finding_object_identity(w, &w->rows[i])};
        w->order[i] = &w->items[i];
    }
    qsort(w->order, w->count, sizeof *w->order, by_kernel_alone);
    for (uint32_t i = 0, end; i < w->count; i = end) {
        const prof_kernel *k = prof_find_kernel(w->kernels, w->order[i]->f->kernel);
        uint64_t sum = k ? hash_number(hash_text(3, k->module), k->file) : 0;
        for (end = i; end < w->count && w->order[end]->f->kernel == w->order[i]->f->kernel; end++)
            sum += finding_identity(w->order[end]);
        for (uint32_t j = i; j < end; j++)
            w->order[j]->findings = sum;
    }
}

/* ---- joining ---- */

static int by_change(const item *x, const item *y)
{
    int order = ORDER(x->f->pattern, y->f->pattern);
    order = order ? order : ORDER(x->f->scope, y->f->scope);
    order = order ? order : ORDER(finding_space_of(x->f), finding_space_of(y->f));
    order = order ? order : ORDER(x->f->gain, y->f->gain);
    return order ? order : strcmp(x->f->remedy, y->f->remedy);
}

static int by_kernel(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    int order = by_change(x, y);
    order = order ? order : ORDER(x->f->kernel, y->f->kernel);
    return order || x->f->kernel ? order : ORDER(x->at, y->at); /* no kernel is nothing in common */
}

static int by_line(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    const ana_line *p = x->f->lines, *q = y->f->lines; /* the costliest */
    const char *in = x->f->nlines ? p->file : NULL, *other = y->f->nlines ? q->file : NULL;
    int order = by_change(x, y);
    if (order || !in || !other)
        return order ? order : in || other ? ORDER(!in, !other) : ORDER(x->at, y->at);
    order = strcmp(in, other);
    return order ? order : ORDER(p->line, q->line);
}

/* What only the process's end gives back: one change of habit. */
static int by_exit(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    int order = by_change(x, y);
    return order || x->f->gain == ANA_GAIN_AT_EXIT ? order : ORDER(x->at, y->at);
}

static int by_twin(const void *a, const void *b)
{
    const item *x = *(item *const *)a, *y = *(item *const *)b;
    int order = by_change(x, y);
    order = order ? order : ORDER(x->findings, y->findings);
    return order ? order : ORDER(x->object, y->object);
}

static uint32_t group_root_of(work *w, uint32_t at)
{
    while (w->parent[at] != at)
        at = w->parent[at] = w->parent[w->parent[at]];
    return at;
}

/* Joins findings that `compare` calls equal. */
static void join_equal(work *w, int (*compare)(const void *, const void *))
{
    qsort(w->order, w->count, sizeof *w->order, compare);
    for (uint32_t i = 1; i < w->count; i++) {
        if (compare(&w->order[i - 1], &w->order[i]) != 0)
            continue;
        uint32_t a = group_root_of(w, w->order[i - 1]->at), b = group_root_of(w, w->order[i]->at);
        w->parent[a < b ? b : a] = a < b ? a : b;
    }
}

/* ---- the order of groups ---- */

typedef struct cost {
    uint32_t root, count, next; /* next: where its next row goes */
    double section, rank;       /* section: those of one gain stand together, the costliest first */
    double share;               /* of what the program pays */
    uint64_t excess;
} cost;

static int by_group_cost(const void *a, const void *b)
{
    const cost *x = a, *y = b;
    int order = ORDER(y->section, x->section);
    order = order ? order : ORDER(y->rank, x->rank);
    order = order ? order : ORDER(y->excess, x->excess);
    return order ? order : ORDER(x->root, y->root);
}

/* What findings rank by: what fixing them saves, where that is predicted; those of little gain by
 * what they cost. */
static double share_to_rank(const ana_finding *f)
{
    if (!f->worth.known || f->gain != ANA_GAIN_FULL)
        return f->cost.share_of_program;
    return f->worth.of_program > 0 ? f->worth.of_program : 0;
}

bool find_saves_room(const ana_finding *f)
{
    ana_resource resource = ana_unit_resource(f->cost.unit);
    return resource == ANA_MEMORY || resource == ANA_COPIES;
}

/* What failed first, then time, then memory, then what is hardly worth it, by what is the costliest of that gain. */
static double section_of(const ana_finding *f, const double best[ANA_GAIN_COUNT])
{
    if (f->gain != ANA_GAIN_FULL)
        return best[f->gain] - f->gain * 1e-12;
    if (f->pattern == ANA_OUT_OF_MEMORY)
        return 4;
    return find_saves_room(f) ? 2 : 3;
}

/* One cost a group, in the order of the groups; *count of them. */
static cost *rank_groups(work *w, uint32_t *count)
{
    cost *all = wl_new_array(w->scratch, cost, w->count + 1);
    double best[ANA_GAIN_COUNT] = {0};
    for (uint32_t i = 0; all && i < w->count; i++) {
        cost *c = &all[group_root_of(w, i)];
        c->count++;
        c->rank += share_to_rank(&w->rows[i]);
        c->share += w->rows[i].cost.share_of_program;
        c->excess += w->rows[i].cost.excess;
    }
    *count = 0;
    for (uint32_t i = 0; all && i < w->count; i++) {
        if (all[i].count) {
            double *most = &best[w->rows[i].gain];
            *most = all[i].share > *most ? all[i].share : *most;
            all[i].root = i;
            all[(*count)++] = all[i];
        }
    }
    for (uint32_t g = 0; all && g < *count; g++)
        all[g].section = section_of(&w->rows[all[g].root], best);
    if (all)
        qsort(all, *count, sizeof *all, by_group_cost);
    return all;
}

/* ---- the groups ---- */

/* Copies the rows group after group; those of one stay in their order. */
static bool place_group_rows(work *w, cost *costs, ana_findings *out)
{
    uint32_t *group_of = wl_new_array(w->scratch, uint32_t, w->count + 1), at = 0;
    if (!group_of)
        return false;
    for (uint32_t g = 0; g < out->ngroups; g++) {
        group_of[costs[g].root] = g;
        out->groups[g] = (ana_finding_group){.first = at,
                                             .count = costs[g].count,
                                             .cost = {.unit = w->rows[costs[g].root].cost.unit,
                                                      .excess = costs[g].excess,
                                                      .share_of_program = costs[g].share}};
        costs[g].next = at;
        at += costs[g].count;
    }
    for (uint32_t i = 0; i < w->count; i++) {
        uint32_t g = group_of[group_root_of(w, i)];
        out->rows[costs[g].next] = w->rows[i];
        out->rows[costs[g].next++].number = g + 1;
    }
    return true;
}

/* Appends an id that is not there yet; 0 is none. */
static void append_id(uint32_t *ids, uint32_t *count, uint32_t id)
{
    uint32_t i = 0;
    while (i < *count && ids[i] != id)
        i++;
    if (id && i == *count)
        ids[(*count)++] = id;
}

/* Is there another object of the group with this variable? */
static bool shares_variable(const work *w, const ana_finding_group *g, const prof_object *o)
{
    for (uint32_t i = 0; i < g->nobjects; i++) {
        const prof_object *other = prof_find_object(w->objects, g->objects[i]);
        if (other && other != o && strcmp(other->variable, o->variable) == 0)
            return true;
    }
    return false;
}

/* "d_a and d_b", "d_a, d_b and 3 more"; objects of one variable by their whole names; "these
 * objects" where a variable's name is not known. */
static const char *name_all(const work *w, const ana_finding_group *g)
{
    enum { MOST = 3 };
    uint32_t named = g->nobjects <= MOST ? g->nobjects : MOST - 1;
    const char *text = "";
    for (uint32_t i = 0; text && i < named; i++) {
        const prof_object *o = prof_find_object(w->objects, g->objects[i]);
        if (!o || !o->variable[0])
            return "these objects";
        const char *before = i == 0 ? "" : i + 1 == g->nobjects ? " and " : ", ";
        text = wl_arena_printf(w->arena, "%s%s%s", text, before,
                               shares_variable(w, g, o) ? o->name : o->variable);
    }
    return text && named < g->nobjects
               ? wl_arena_printf(w->arena, "%s and %u more", text, g->nobjects - named)
               : text;
}

/* Does the group name an object like the finding's already? */
static bool names_object(const work *w, const ana_finding *rows, const ana_finding *f)
{
    for (const ana_finding *other = rows; other < f; other++)
        if (finding_object_identity(w, other) == finding_object_identity(w, f))
            return true;
    return false;
}

static bool is_about_object(const ana_finding *f)
{
    return f->scope == ANA_SCOPE_OBJECT || f->scope == ANA_SCOPE_KERNEL_AND_OBJECT;
}

static bool fill_group(const work *w, const ana_finding *rows, ana_finding_group *g)
{
    g->kernels = wl_new_array(w->arena, uint32_t, g->count);
    g->objects = wl_new_array(w->arena, uint32_t, g->count);
    if (!g->kernels || !g->objects)
        return false;
    for (uint32_t i = 0; i < g->count; i++) {
        const ana_finding *f = &rows[g->first + i];
        append_id(g->kernels, &g->nkernels, f->kernel);
        if (is_about_object(f) && !names_object(w, &rows[g->first], f))
            g->objects[g->nobjects++] = f->object;
        g->lines = group_join_lines(w->arena, g->lines, g->nlines, f->lines, f->nlines, &g->nlines);
        if (!g->lines)
            return false;
    }
    const ana_finding *lead = &rows[g->first];
    const char *names = name_all(w, g);
    g->names = g->nobjects > 1 ? names : NULL;
    g->advice = g->nobjects <= 1 ? lead->advice
                : names          ? group_fill(w->arena, lead->remedy, names)
                                 : NULL;
    return g->advice != NULL;
}

static bool make_groups(work *w, ana_findings *out)
{
    set_identities(w);
    join_equal(w, by_kernel);
    join_equal(w, by_line);
    join_equal(w, by_twin);
    join_equal(w, by_exit);
    cost *costs = rank_groups(w, &out->ngroups);
    out->rows = wl_new_array(w->arena, ana_finding, w->count);
    out->groups = wl_new_array(w->arena, ana_finding_group, out->ngroups);
    bool good = costs && out->rows && out->groups && place_group_rows(w, costs, out);
    for (uint32_t g = 0; good && g < out->ngroups; g++)
        good = fill_group(w, out->rows, &out->groups[g]);
    return good;
}

wl_status group_findings(const ana_finding *rows, uint32_t count, const prof_kernel_rows *kernels,
                         const prof_object_rows *objects, wl_arena *arena, ana_findings *out)
{
    work w = {.rows = rows,
              .count = count,
              .kernels = kernels,
              .objects = objects,
              .scratch = wl_arena_new(),
              .arena = arena};
    *out = (ana_findings){.count = count};
    bool good = count == 0;
    if (count && w.scratch) {
        w.items = wl_new_array(w.scratch, item, count);
        w.order = wl_new_array(w.scratch, item *, count);
        w.parent = wl_new_array(w.scratch, uint32_t, count);
        for (uint32_t i = 0; w.parent && i < count; i++)
            w.parent[i] = i;
        good = w.items && w.order && w.parent && make_groups(&w, out);
    }
    wl_arena_free(w.scratch);
    return good ? WL_OK : WL_NOMEM;
}

const char *group_fill(wl_arena *arena, const char *remedy, const char *names)
{
    const char *text = "", *mark;
    for (; text && (mark = strstr(remedy, ANA_OBJECT)); remedy = mark + strlen(ANA_OBJECT))
        text = wl_arena_printf(arena, "%s%.*s%s", text, (int)(mark - remedy), remedy, names);
    return text ? wl_arena_printf(arena, "%s%s", text, remedy) : NULL;
}

/* ---- lines ---- */

static void add_line(ana_line *to, const ana_line *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->sectors_min += from->sectors_min;
    to->wavefronts += from->wavefronts;
    to->wavefronts_min += from->wavefronts_min;
}

static bool same_finding_line(const ana_line *a, const ana_line *b)
{
    return a->file ? b->file && a->line == b->line && strcmp(a->file, b->file) == 0
                   : !b->file && a->pc == b->pc;
}

ana_line *group_join_lines(wl_arena *arena, const ana_line *first, uint32_t nfirst,
                           const ana_line *second, uint32_t nsecond, uint32_t *count)
{
    uint32_t n = nfirst;
    ana_line *lines = wl_new_array(arena, ana_line, nfirst + nsecond + 1);
    if (!lines)
        return NULL;
    if (n)
        memcpy(lines, first, n * sizeof *lines);
    for (uint32_t i = 0; i < nsecond; i++) {
        uint32_t at = 0;
        while (at < n && !same_finding_line(&lines[at], &second[i]))
            at++;
        if (at < n)
            add_line(&lines[at], &second[i]);
        else
            lines[n++] = second[i];
    }
    *count = n;
    return lines;
}
