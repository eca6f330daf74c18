/* Ranges of the program's own, by what the launches in them cost. */
#include "analysis/tables/ranges.h"

#include "analysis/times.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

/* ---- sums ---- */

static void add_known_seconds(double *sum, double seconds)
{
    if (seconds >= 0)
        *sum = (*sum < 0 ? 0 : *sum) + seconds;
}

static void add_sums(ana_launch_sums *to, const ana_launch_sums *more)
{
    to->launches += more->launches;
    to->requests += more->requests;
    to->sectors += more->sectors;
    to->sectors_min += more->sectors_min;
    to->wavefronts += more->wavefronts;
    to->wavefronts_min += more->wavefronts_min;
    add_known_seconds(&to->host_seconds, more->host_seconds);
    add_known_seconds(&to->device_seconds, more->device_seconds);
}

static const ana_launch_sums no_sums = {.host_seconds = -1, .device_seconds = -1};

/* ---- what the profile has ---- */

typedef struct source {
    prof_range_rows ranges;
    prof_range_member_rows members;
    prof_range_launches_rows launches;
    prof_kind_sums_rows sums;
    prof_launch_rows kinds;
    double *seconds;    /* of `kinds` */
    const char **names; /* of `ranges`, as ana_range_name gives them */
    uint32_t nkernels;  /* the greatest number of one */
} source;

static wl_status no_memory_for_ranges(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
}

static wl_status name_ranges(source *s, wl_arena *arena, wl_error *err)
{
    s->names = wl_new_array(arena, const char *, (size_t)s->ranges.count + 1);
    s->seconds = ana_launch_seconds(&s->kinds, arena);
    if (!s->names || !s->seconds)
        return no_memory_for_ranges(err);
    for (uint32_t i = 0; i < s->ranges.count; i++)
        if (!(s->names[i] = ana_range_name(arena, s->ranges.rows[i].name)))
            return no_memory_for_ranges(err);
    for (uint32_t i = 0; i < s->kinds.count; i++)
        if (s->kinds.rows[i].kernel > s->nkernels)
            s->nkernels = s->kinds.rows[i].kernel;
    return WL_OK;
}

static wl_status load_opened(prof_db *db, wl_arena *arena, source *s, wl_error *err)
{
    wl_status status = prof_load_range_lists(db, arena, &s->members, err);
    status = status == WL_OK ? prof_load_range_launches(db, arena, &s->launches, err) : status;
    status = status == WL_OK ? prof_load_kind_sums(db, arena, &s->sums, err) : status;
    status = status == WL_OK ? prof_load_launch_kinds(db, PROF_ALL, arena, &s->kinds, err) : status;
    return status == WL_OK ? name_ranges(s, arena, err) : status;
}

/* The row of a range; NULL: the profile, which may come from anywhere, has none. */
static const prof_range *range_of(const source *s, uint32_t id)
{
    uint32_t low = 0, high = s->ranges.count; /* ids ascend */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->ranges.rows[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < s->ranges.count && s->ranges.rows[low].id == id ? &s->ranges.rows[low] : NULL;
}

static int by_kind(const void *key, const void *row)
{
    uint32_t kind = *(const uint32_t *)key, other = ((const prof_launch *)row)->kind;
    return (kind > other) - (kind < other);
}

static int by_kind_of_sums(const void *key, const void *row)
{
    uint32_t kind = *(const uint32_t *)key, other = ((const prof_kind_sums *)row)->kind;
    return (kind > other) - (kind < other);
}

static const prof_launch *kind_of(const source *s, uint32_t kind)
{
    return s->kinds.count
               ? bsearch(&kind, s->kinds.rows, s->kinds.count, sizeof *s->kinds.rows, by_kind)
               : NULL;
}

static ana_launch_sums sums_of(const source *s, const prof_range_launches *l)
{
    ana_launch_sums sums = {
        .launches = l->count, .host_seconds = l->host_seconds, .device_seconds = -1};
    const prof_launch *kind = kind_of(s, l->kind);
    const prof_kind_sums *one = s->sums.count ? bsearch(&l->kind, s->sums.rows, s->sums.count,
                                                        sizeof *s->sums.rows, by_kind_of_sums)
                                              : NULL;
    double seconds = kind ? s->seconds[kind - s->kinds.rows] : -1;
    if (kind && seconds >= 0 && kind->count)
        sums.device_seconds = seconds * (double)l->count / (double)kind->count;
    if (one) {
        sums.requests = l->count * one->requests;
        sums.sectors = l->count * one->sectors;
        sums.sectors_min = l->count * one->sectors_min;
        sums.wavefronts = l->count * one->wavefronts;
        sums.wavefronts_min = l->count * one->wavefronts_min;
    }
    return sums;
}

/* ---- rows ---- */

typedef struct node node;

struct node {
    const char *key; /* of the parent, domain and name */
    ana_range row;
    uint32_t number; /* in the order in which they were found, from 1 */
    node *parent, *next;
    uint64_t *kernels; /* bits by number: those that were launched in it */
    UT_hash_handle hh;
};

typedef struct table {
    const source *s;
    wl_arena *arena;
    node *nodes;    /* by key, in the order in which they were found */
    node **counted; /* of each range, the last row that it counts in */
    uint32_t count;
    bool nomem;
} table;

static node *add_node(table *t, node *parent, const char *domain, const char *name, const char *key)
{
    node *n = wl_new(t->arena, node);
    if (!n || !(n->kernels = wl_new_array(t->arena, uint64_t, t->s->nkernels / 64 + 1)))
        return NULL;
    n->key = key;
    n->row = (ana_range){.parent = parent ? parent->number : 0,
                         .depth = parent ? parent->row.depth + 1 : 0,
                         .domain = domain,
                         .name = name,
                         .sums = no_sums};
    n->number = ++t->count;
    n->parent = parent;
    HASH_ADD_KEYPTR(hh, t->nodes, n->key, strlen(n->key), n);
    return n->hh.tbl ? n : NULL;
}

/* NULL without memory. */
static node *node_within(table *t, node *parent, const prof_range *range)
{
    node *n = NULL;
    const char *name = t->s->names[range - t->s->ranges.rows];
    const char *key = wl_arena_printf(t->arena, "%u %zu %s %s", parent ? parent->number : 0,
                                      strlen(range->domain), range->domain, name);
    if (key)
        HASH_FIND_STR(t->nodes, key, n);
    if (key && !n)
        n = add_node(t, parent, range->domain, name, key);
    t->nomem |= !n;
    return n;
}

/* The row of the innermost of the ranges from members[at] on that are of one list; *end is behind them. */
static node *node_of_list(table *t, uint32_t at, uint32_t *end)
{
    const prof_range_member_rows *m = &t->s->members;
    node *n = NULL;
    for (*end = at; *end < m->count && m->rows[*end].list == m->rows[at].list; ++*end) {
        const prof_range *range = range_of(t->s, m->rows[*end].range);
        node *within = range ? node_within(t, n, range) : NULL;
        if (!within)
            continue;
        node **counted = &t->counted[range - t->s->ranges.rows];
        within->row.times += *counted != within;
        *counted = within;
        n = within;
    }
    return n;
}

static void add_launches_to(table *t, node *n, const prof_range_launches *l, ana_ranges *out)
{
    const ana_launch_sums sums = sums_of(t->s, l);
    const prof_launch *kind = kind_of(t->s, l->kind);
    add_sums(&out->all, &sums);
    if (!n)
        add_sums(&out->outside, &sums);
    for (; n; n = n->parent) {
        add_sums(&n->row.sums, &sums);
        if (kind)
            n->kernels[kind->kernel / 64] |= UINT64_C(1) << kind->kernel % 64;
    }
}

/* Lists and launches both ascend by list. */
static void add_all_launches(table *t, ana_ranges *out)
{
    const prof_range_member_rows *m = &t->s->members;
    uint32_t at = 0, end;
    for (uint32_t i = 0; i < t->s->launches.count && !t->nomem;) {
        uint32_t list = t->s->launches.rows[i].ranges;
        while (at < m->count && m->rows[at].list < list && !t->nomem) {
            node_of_list(t, at, &end); /* other calls were made in it */
            at = end;
        }
        bool found = list && at < m->count && m->rows[at].list == list;
        node *n = found ? node_of_list(t, at, &end) : NULL;
        at = found ? end : at;
        for (; i < t->s->launches.count && t->s->launches.rows[i].ranges == list; i++)
            add_launches_to(t, n, &t->s->launches.rows[i], out);
    }
}

static uint32_t count_findings(const table *t, const node *n, const ana_findings *findings)
{
    uint32_t count = 0, last = 0;
    for (uint32_t i = 0; findings && i < findings->count; i++) {
        const ana_finding *f = &findings->rows[i];
        if (!f->kernel || f->kernel > t->s->nkernels || f->number == last ||
            !(n->kernels[f->kernel / 64] >> f->kernel % 64 & 1))
            continue;
        last = f->number;
        count++;
    }
    return count;
}

/* ---- in order ---- */

static uint64_t moved_by(const ana_launch_sums *s)
{
    return s->sectors + s->wavefronts;
}

/* Siblings stand together, those of the first parent first. */
static int by_parent_and_cost(const void *a, const void *b)
{
    const node *x = *(node *const *)a, *y = *(node *const *)b;
    uint32_t p = x->row.parent, q = y->row.parent;
    if (p != q)
        return p < q ? -1 : 1;
    double s = x->row.sums.device_seconds, u = y->row.sums.device_seconds;
    if (s < u || s > u)
        return s > u ? -1 : 1;
    if (moved_by(&x->row.sums) != moved_by(&y->row.sums))
        return moved_by(&x->row.sums) > moved_by(&y->row.sums) ? -1 : 1;
    return x->number < y->number ? -1 : 1;
}

/* By number, the first of the nodes within each, which are linked by `next`; 0: of those in none. */
static node **link_siblings(const table *t)
{
    node **sorted = wl_new_array(t->arena, node *, (size_t)t->count + 1);
    node **first = wl_new_array(t->arena, node *, (size_t)t->count + 1);
    if (!sorted || !first)
        return NULL;
    uint32_t i = 0;
    for (node *n = t->nodes; n; n = n->hh.next)
        sorted[i++] = n;
    if (i)
        qsort(sorted, i, sizeof *sorted, by_parent_and_cost);
    while (i-- > 0) {
        sorted[i]->next = first[sorted[i]->row.parent];
        first[sorted[i]->row.parent] = sorted[i];
    }
    return first;
}

/* Each before those within it; those in which no launch was made are left out, and so is all within
 * them. */
static bool write_rows(const table *t, const ana_findings *findings, wl_arena *arena,
                       ana_ranges *out)
{
    node **first = link_siblings(t);
    uint32_t *places = wl_new_array(t->arena, uint32_t, (size_t)t->count + 1);
    out->rows = wl_new_array(arena, ana_range, (size_t)t->count + 1);
    if (!first || !places || !out->rows)
        return false;
    for (node *n = first[0]; n;) {
        bool in = n->row.sums.launches > 0;
        if (in) {
            ana_range *row = &out->rows[out->count++];
            *row = n->row;
            row->parent = n->parent ? places[n->parent->number] : 0;
            row->nfindings = count_findings(t, n, findings);
            row->name = wl_arena_strdup(arena, row->name);
            row->domain = wl_arena_strdup(arena, row->domain);
            places[n->number] = out->count;
            if (!row->name || !row->domain)
                return false;
        }
        node *next = in ? first[n->number] : NULL;
        while (!next && n) {
            next = n->next;
            n = n->parent;
        }
        n = next;
    }
    return true;
}

wl_status ana_range_table(prof_db *profile, const ana_findings *findings, wl_arena *arena,
                          ana_ranges *out, wl_error *err)
{
    source s = {0};
    *out = (ana_ranges){.outside = no_sums, .all = no_sums};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? prof_load_ranges(profile, scratch, &s.ranges, err)
                               : no_memory_for_ranges(err);
    bool any = status == WL_OK && s.ranges.count > 0;
    status = any ? load_opened(profile, scratch, &s, err) : status;
    if (any && status == WL_OK) {
        table t = {.s = &s, .arena = scratch};
        t.counted = wl_new_array(scratch, node *, s.ranges.count);
        t.nomem = !t.counted;
        if (!t.nomem)
            add_all_launches(&t, out);
        if (t.nomem || !write_rows(&t, findings, arena, out))
            status = no_memory_for_ranges(err);
        HASH_CLEAR(hh, t.nodes);
    }
    wl_arena_free(scratch);
    return status;
}
