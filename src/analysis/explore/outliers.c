/* Classes of warps compared with the representative, or with the warp of the same number in its block
 * where they do not occur there; and put together by the reason. */
#include "analysis/explore/outliers.h"

#include "analysis/explore/kinds.h"
#include "analysis/explore/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum {
    MOST_WORK = 100000000, /* of comparisons, before the rest is told by its counts: some seconds */
    MOST_DIFFERENCES = 256, /* explore_align's */
    MOST_APART = 4          /* numbers of one reason that are told apart */
};

typedef struct judged { /* a class */
    uint32_t than;      /* a row of the launch's warps */
    bool in_block;      /* it occurs in the representative block */
    bool compared;
    uint32_t cluster;
    explore_comparison c;
} judged;

typedef struct rough_class {
    uint32_t class;
    double rough; /* the part by which its counts differ from those of what it is compared with */
} rough_class;

typedef struct group { /* of classes that differ alike */
    const judged *first;
    explore_comparison
        c;        /* of the first; of several reasons that are one but for their numbers, all */
    uint32_t now; /* the group that it became part of */
} group;

typedef struct reason_key {
    uint32_t why, pc, object, nothing; /* nothing: 0, where there would be a gap */
    double least, than_least;
} reason_key;

typedef struct group_key { /* equal for what differs alike */
    uint32_t compared, nreasons;
    reason_key reasons[2];
} group_key;

typedef struct group_entry {
    group_key key;
    uint32_t number; /* of the group */
    UT_hash_handle hh;
} group_entry;

typedef struct finder {
    const explore_facts *facts;
    const explore_classes *classes;
    wl_arena *arena;
    ana_explore *e;
    judged *all;        /* by class */
    rough_class *order; /* of classes, most different first */
    explore_comparer comparer;
    explore_path path, than;
    uint32_t than_row;    /* whose path that is; UINT32_MAX: none */
    wl_vec(group) groups; /* the representative's first */
    group_entry *entries; /* of them, by what they differ in */
    uint32_t *first_of;   /* by group: its first warp, a row */
} finder;

/* ---- what is compared with what ---- */

static bool is_in_block_of(const ana_explore *e, uint32_t row, uint32_t first)
{
    return row < e->warps.count && e->warps.rows[row].block == e->warps.rows[first].block;
}

/* The warp of that number in the representative block; the representative where there is none. */
static uint32_t same_number(const finder *f, uint32_t row)
{
    const ana_explore *e = f->e;
    for (uint32_t i = f->classes->block; is_in_block_of(e, i, f->classes->block); i++)
        if (e->warps.rows[i].number == e->warps.rows[row].number)
            return i;
    return f->classes->warp;
}

/* Classes of the representative block's warps are compared with the representative. */
static void choose_bases(finder *f)
{
    const explore_classes *cl = f->classes;
    for (uint32_t i = 0; i < cl->count; i++)
        f->all[i] = (judged){.than = same_number(f, cl->rows[i].first)};
    for (uint32_t i = cl->block; is_in_block_of(f->e, i, cl->block); i++) {
        judged *j = &f->all[explore_class_of(f->e, cl, i)];
        j->than = cl->warp;
        j->in_block = true;
    }
}

static double part_apart(uint64_t a, uint64_t b)
{
    double more = (double)(a > b ? a : b), less = (double)(a > b ? b : a);
    return more > 0 ? (more - less) / more : 0;
}

static double rough_of(const finder *f, uint32_t class)
{
    uint32_t than = explore_class_of(f->e, f->classes, f->all[class].than);
    const ana_warp_counts *a = &f->classes->rows[class].counts;
    const ana_warp_counts *b = &f->classes->rows[than].counts;
    double rough = fmax(part_apart(a->operations, b->operations), part_apart(a->lanes, b->lanes));
    rough = fmax(rough, part_apart(a->sectors, b->sectors));
    return fmax(rough, part_apart(a->wavefronts, b->wavefronts));
}

/* ---- comparing ---- */

static int rougher_first(const void *a, const void *b)
{
    const rough_class *x = a, *y = b;
    if (x->rough != y->rough)
        return x->rough > y->rough ? -1 : 1;
    return x->class < y->class ? -1 : x->class > y->class;
}

static bool load_than(finder *f, uint32_t row)
{
    bool there = f->than_row == row;
    f->than_row = row;
    return there || explore_path_of(f->facts, &f->e->warps.rows[row], &f->than);
}

static bool judge(finder *f, uint32_t class)
{
    judged *j = &f->all[class];
    j->compared = true;
    if (explore_class_of(f->e, f->classes, j->than) == class)
        return true; /* alike */
    const prof_warp *warp = &f->e->warps.rows[f->classes->rows[class].first];
    if (!load_than(f, j->than) || !explore_path_of(f->facts, warp, &f->path))
        return false;
    return explore_compare(&f->comparer, &f->path, &f->than, MOST_DIFFERENCES, &j->c);
}

static bool judge_all(finder *f)
{
    bool all = true;
    uint32_t count = f->classes->count, own = explore_class_of(f->e, f->classes, f->classes->warp);
    for (uint32_t i = 0; i < count; i++)
        f->order[i] = (rough_class){i, rough_of(f, i)};
    qsort(f->order, count, sizeof *f->order, rougher_first);
    for (uint32_t i = 0; i < count && all; i++) {
        uint32_t class = f->order[i].class;
        if (class == own || f->comparer.work < MOST_WORK)
            all = judge(f, class);
        else
            f->all[class].c.difference = f->order[i].rough;
    }
    return all;
}

/* ---- groups ---- */

#define HARDLY 0.02 /* what differs by less than this part is taken to be alike */

static void key_of_reason(const explore_reason *r, reason_key *key)
{
    key->why = r->why;
    key->pc = r->pc;
    key->object = r->object;
    key->least = r->least;
    key->than_least = r->than_least;
}

/* The group of those that differ as this one does; UINT32_MAX when memory is exhausted. */
static uint32_t group_of_judged(finder *f, const judged *j)
{
    group_key key;
    group_entry *entry = NULL;
    memset(&key, 0, sizeof key);
    key.compared = j->compared;
    key.nreasons = j->c.nreasons;
    for (uint32_t i = 0; i < j->c.nreasons; i++)
        key_of_reason(&j->c.reasons[i], &key.reasons[i]);
    HASH_FIND(hh, f->entries, &key, sizeof key, entry);
    if (entry)
        return entry->number;
    uint32_t number = (uint32_t)f->groups.count;
    entry = wl_new(f->arena, group_entry);
    if (!entry || !wl_push(&f->groups, (group){j, j->c, number}))
        return UINT32_MAX;
    *entry = (group_entry){.key = key, .number = number};
    HASH_ADD(hh, f->entries, key, sizeof entry->key, entry);
    return entry->hh.tbl ? number : UINT32_MAX;
}

static bool is_alike(const judged *j)
{
    return j->compared && (j->c.difference < HARDLY || !j->c.nreasons);
}

static bool put_into_group(finder *f, judged *j)
{
    uint32_t than = explore_class_of(f->e, f->classes, j->than);
    if (is_alike(j)) {
        j->cluster = f->all[than].cluster;
        if (j->cluster) /* it differs from the representative as that one does */
            j->c.difference = f->all[than].c.difference;
        return true;
    }
    j->cluster = group_of_judged(f, j);
    return j->cluster != UINT32_MAX;
}

/* Those of the representative block first: others may be like one of them. */
static bool find_groups(finder *f)
{
    bool all = wl_push(&f->groups, (group){0});
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < f->classes->count && all; i++) {
            judged *j = &f->all[f->order[i].class];
            if (j->in_block == (pass == 0))
                all = put_into_group(f, j);
        }
    return all;
}

/* By what is told of them but for numbers, those without a reason last; in their order. */
static int groups_by_reason(const void *a, const void *b)
{
    const group *x = *(group *const *)a, *y = *(group *const *)b;
    const explore_reason *p = &x->c.reasons[0], *q = &y->c.reasons[0];
    if (!x->c.nreasons != !y->c.nreasons)
        return x->c.nreasons ? -1 : 1;
    if (p->why != q->why)
        return p->why < q->why ? -1 : 1;
    if (p->pc != q->pc)
        return p->pc < q->pc ? -1 : 1;
    if (p->object != q->object)
        return p->object < q->object ? -1 : 1;
    return x < y ? -1 : x > y;
}

static bool differ_in_numbers(const group *a, const group *b)
{
    const explore_reason *x = &a->c.reasons[0], *y = &b->c.reasons[0];
    return a->c.nreasons && b->c.nreasons && x->why == y->why && x->pc == y->pc &&
           x->object == y->object;
}

static void take_group(group *a, const group *b)
{
    explore_reason *x = &a->c.reasons[0];
    const explore_reason *y = &b->c.reasons[0];
    x->least = fmin(x->least, y->least);
    x->most = fmax(x->most, y->most);
    x->than_least = fmin(x->than_least, y->than_least);
    x->than_most = fmax(x->than_most, y->than_most);
    a->c.nreasons = 1;
}

/* What differs in numbers only is told together, where that would be more than a few. */
static bool join_groups(finder *f)
{
    size_t count = f->groups.count - 1;
    group **sorted = malloc((count + 1) * sizeof(group *));
    if (!sorted)
        return false;
    for (size_t i = 0; i < count; i++)
        sorted[i] = &f->groups.data[i + 1];
    qsort(sorted, count, sizeof(group *), groups_by_reason);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && differ_in_numbers(sorted[i], sorted[end]);)
            end++;
        for (size_t k = i + 1; k < end && end - i > MOST_APART; k++) {
            take_group(sorted[i], sorted[k]);
            sorted[k]->now = sorted[i]->now;
        }
    }
    free(sorted);
    for (uint32_t i = 0; i < f->classes->count; i++)
        f->all[i].cluster = f->groups.data[f->all[i].cluster].now;
    return true;
}

/* ---- clusters ---- */

static ana_warp_place place_of_row(const finder *f, uint32_t row)
{
    const prof_warp *w = &f->e->warps.rows[row];
    return ana_warp_place_of(f->facts->grid, w->block, w->number);
}

static void add_kind_to_cluster(ana_warp_cluster *c, const ana_warp_kind *k)
{
    uint64_t operations = k->counts.operations;
    if (!c->kinds || k->first < c->first)
        c->first = k->first;
    if (!c->kinds || operations < c->least_operations)
        c->least_operations = operations;
    if (operations > c->most_operations)
        c->most_operations = operations;
    c->kinds++;
    c->warps += k->warps;
    c->difference += k->difference * k->warps;
}

static bool tell_reasons(finder *f, const group *g, ana_warp_cluster *c)
{
    const char *text[2] = {NULL, NULL};
    const prof_code *code = explore_code_of(f->facts, &g->c.reasons[0]);
    for (uint32_t i = 0; i < g->c.nreasons; i++)
        if (!(text[i] = explore_reason_text(f->facts, &g->c.reasons[i], c->warps > 1, f->arena)))
            return false;
    c->why = text[1]   ? wl_arena_printf(f->arena, "%s, and %s", text[0], text[1])
             : text[0] ? text[0]
             : c->difference > 0 && g->first
                 ? "differ in their counts by this part; they were not compared step by step"
                 : "";
    c->file = text[0] && code ? code->file : 0;
    c->line = c->file ? code->line : 0;
    return c->why != NULL;
}

static bool describe_cluster(finder *f, uint32_t group_number, const uint32_t *rows,
                             ana_warp_cluster *c)
{
    const group *g = &f->groups.data[group_number];
    c->place = place_of_row(f, c->first);
    c->than = place_of_row(f, g->first ? g->first->than : f->classes->warp);
    c->difference /= c->warps;
    c->which = explore_warps_text(f->facts, &f->e->warps, rows, c->warps, f->arena);
    return c->which && tell_reasons(f, g, c);
}

static int most_different_first(const void *a, const void *b)
{
    const ana_warp_cluster *x = a, *y = b;
    if (x->difference != y->difference)
        return x->difference > y->difference ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

static void add_kinds(finder *f, ana_warp_cluster *clusters)
{
    for (uint32_t i = 0; i < f->e->nkinds; i++) {
        const judged *j = &f->all[f->classes->of_kind[i]];
        f->e->kinds[i].difference = j->c.difference;
        f->e->kinds[i].cluster = j->cluster;
        f->e->cut |= !j->compared;
        add_kind_to_cluster(&clusters[j->cluster], &f->e->kinds[i]);
    }
}

/* The rows of each cluster's warps, one cluster after the other. */
static uint32_t *rows_by_cluster(finder *f, const ana_warp_cluster *clusters)
{
    const ana_explore *e = f->e;
    uint32_t *rows = wl_new_array(f->arena, uint32_t, e->warps.count + 1);
    uint32_t *next = wl_new_array(f->arena, uint32_t, f->groups.count + 1);
    for (uint32_t i = 1; next && i < f->groups.count; i++)
        next[i] = next[i - 1] + clusters[i - 1].warps;
    for (uint32_t i = 0; rows && next && i < e->warps.count; i++)
        rows[next[e->kinds[e->kind_of[i]].cluster]++] = i;
    return next ? rows : NULL;
}

/* Those that are empty go, and the others are sorted: only the representative's keeps its place. */
static bool number_warp_clusters(finder *f, ana_warp_cluster *clusters)
{
    ana_explore *e = f->e;
    uint32_t count = 0, *now = wl_new_array(f->arena, uint32_t, e->warps.count + 1);
    if (!now)
        return false;
    for (uint32_t i = 0; i < f->groups.count; i++)
        if (clusters[i].warps)
            clusters[count++] = clusters[i];
    if (count > 1)
        qsort(clusters + 1, count - 1, sizeof *clusters, most_different_first);
    for (uint32_t i = 0; i < count; i++)
        now[clusters[i].first] = i; /* by its first warp */
    for (uint32_t i = 0; i < e->nkinds; i++) {
        uint32_t first = f->first_of[e->kinds[i].cluster];
        e->kinds[i].cluster = now[first];
    }
    e->clusters = clusters;
    e->nclusters = count;
    return true;
}

static bool find_clusters(finder *f)
{
    ana_warp_cluster *clusters = wl_new_array(f->arena, ana_warp_cluster, f->groups.count + 1);
    f->first_of = wl_new_array(f->arena, uint32_t, f->groups.count + 1);
    if (!clusters || !f->first_of)
        return false;
    add_kinds(f, clusters);
    const uint32_t *rows = rows_by_cluster(f, clusters);
    bool all = rows != NULL;
    for (uint32_t i = 0, at = 0; i < f->groups.count && all; i++) {
        f->first_of[i] = clusters[i].first;
        if (clusters[i].warps)
            all = describe_cluster(f, i, rows + at, &clusters[i]);
        at += clusters[i].warps;
    }
    return all && number_warp_clusters(f, clusters);
}

/* ---- all together ---- */

static bool find_all(finder *f)
{
    choose_bases(f);
    return judge_all(f) && find_groups(f) && join_groups(f) && find_clusters(f);
}

static bool find_outliers(const explore_facts *facts, const explore_classes *classes,
                          wl_arena *arena, ana_explore *e)
{
    finder f = {.facts = facts,
                .classes = classes,
                .arena = arena,
                .e = e,
                .all = wl_new_array(arena, judged, classes->count + 1),
                .order = wl_new_array(arena, rough_class, classes->count + 1),
                .comparer = {.facts = facts},
                .than_row = UINT32_MAX};
    bool all = f.all && f.order && (!e->warps.count || find_all(&f));
    if (all && e->warps.count) {
        e->representative_row = classes->warp;
        e->representative_kind = e->kind_of[classes->warp];
        e->representative = place_of_row(&f, classes->warp);
    }
    explore_comparer_free(&f.comparer);
    explore_path_free(&f.path);
    explore_path_free(&f.than);
    HASH_CLEAR(hh, f.entries);
    wl_vec_free(&f.groups);
    return all;
}

/* Paths are known where all blocks are counted and each warp has entries. */
static void note_blocks(const explore_facts *facts, ana_explore *e)
{
    const uint32_t *grid = facts->grid;
    e->nwarps = e->warps.count;
    e->blocks = (uint64_t)grid[0] * grid[1] * grid[2];
    for (uint32_t i = 0; i < e->warps.count; i++)
        e->blocks_known += i == 0 || e->warps.rows[i].block != e->warps.rows[i - 1].block;
    e->paths = facts->mix_whole && e->nkinds;
    for (uint32_t i = 0; i < e->nkinds; i++)
        e->paths &= e->kinds[i].counts.entries > 0;
}

bool explore_of_warps(const explore_facts *facts, wl_arena *arena, ana_explore *e)
{
    explore_classes classes;
    if (!explore_find_kinds(facts, arena, e, &classes) || !find_outliers(facts, &classes, arena, e))
        return false;
    note_blocks(facts, e);
    return true;
}
