/* Kinds and classes of warps, and those that stand for most of them. */
#include "analysis/explore/kinds.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- a table of what was seen ---- */

typedef struct seen { /* numbers by hash; open addressing, half empty at least */
    uint64_t *keys;
    uint32_t *numbers; /* + 1; 0: empty */
    uint32_t capacity; /* a power of two */
} seen;

static bool open_seen(seen *s, uint32_t count)
{
    s->capacity = 16;
    while (s->capacity / 2 <= count && s->capacity < 1u << 31)
        s->capacity *= 2;
    s->keys = calloc(s->capacity, sizeof *s->keys);
    s->numbers = calloc(s->capacity, sizeof *s->numbers);
    return s->keys && s->numbers;
}

static void close_seen(seen *s)
{
    free(s->keys);
    free(s->numbers);
}

/* The number that the key has, or `next`, which it has from then on. */
static uint32_t number_seen(seen *s, uint64_t key, uint32_t next)
{
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 32) & (s->capacity - 1);
    while (s->numbers[at] && s->keys[at] != key)
        at = (at + 1) & (s->capacity - 1);
    if (!s->numbers[at]) {
        s->keys[at] = key;
        s->numbers[at] = next + 1;
    }
    return s->numbers[at] - 1;
}

/* ---- kinds ---- */

enum { ALIKE_BYTES = 128 /* where warps begin, modulo this, decides what their requests cost */ };

/* Two different kinds share one of these with a probability of 2^-64 for each pair: nothing worse
 * comes of that than a warp that is told with another. */
static uint64_t key_of_warp(const prof_warp *w)
{
    uint64_t key[2 + WL_MOST_SLOTS] = {(uintptr_t)w->pages, (uintptr_t)w->slots};
    for (uint32_t i = 0; i < w->nslots && i < WL_MOST_SLOTS; i++)
        key[2 + i] = (uint64_t)w->begin[i] % ALIKE_BYTES;
    return XXH3_64bits(key, (2 + (size_t)w->nslots) * sizeof *key);
}

static int most_warps_first(const void *a, const void *b)
{
    const ana_warp_kind *x = a, *y = b;
    if (x->warps != y->warps)
        return x->warps > y->warps ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* Numbers them by how many warps they have. */
static bool sort_kinds(ana_explore *e)
{
    uint32_t *now = calloc((size_t)e->nkinds + 1, sizeof *now);
    if (!now)
        return false;
    for (uint32_t i = 0; i < e->nkinds; i++)
        e->kinds[i].cluster = i; /* until there are clusters: its number so far */
    if (e->nkinds)
        qsort(e->kinds, e->nkinds, sizeof *e->kinds, most_warps_first);
    for (uint32_t i = 0; i < e->nkinds; i++) {
        now[e->kinds[i].cluster] = i;
        e->kinds[i].cluster = 0;
    }
    for (uint32_t i = 0; i < e->warps.count; i++)
        e->kind_of[i] = now[e->kind_of[i]];
    free(now);
    return true;
}

static bool find_kinds_of_warps(ana_explore *e, seen *kinds, seen *sequences)
{
    for (uint32_t i = 0; i < e->warps.count; i++) {
        const prof_warp *w = &e->warps.rows[i];
        uint32_t kind = number_seen(kinds, key_of_warp(w), e->nkinds);
        e->kind_of[i] = kind;
        if (kind == e->nkinds) {
            uint32_t sequence = number_seen(sequences, (uintptr_t)w->pages, e->nsequences);
            e->nsequences += sequence == e->nsequences;
            e->kinds[e->nkinds++] = (ana_warp_kind){.first = i, .sequence = sequence};
        }
        e->kinds[kind].warps++;
    }
    return sort_kinds(e);
}

static bool find_kinds(ana_explore *e, wl_arena *arena)
{
    seen kinds = {0}, sequences = {0};
    e->kind_of = wl_new_array(arena, uint32_t, e->warps.count + 1);
    e->kinds = wl_new_array(arena, ana_warp_kind, e->warps.count + 1);
    bool all = e->kind_of && e->kinds && open_seen(&kinds, e->warps.count) &&
               open_seen(&sequences, e->warps.count) && find_kinds_of_warps(e, &kinds, &sequences);
    close_seen(&kinds);
    close_seen(&sequences);
    return all;
}

/* ---- classes ---- */

static bool count_kinds(const explore_facts *facts, ana_explore *e, seen *likes,
                        explore_classes *out)
{
    explore_path path = {0};
    bool all = true;
    for (uint32_t i = 0; i < e->nkinds && all; i++) {
        ana_warp_kind *k = &e->kinds[i];
        all = explore_path_of(facts, &e->warps.rows[k->first], &path);
        uint32_t class = number_seen(likes, path.like, out->count);
        k->counts = path.counts;
        if (class == out->count)
            out->rows[out->count++] = (explore_class){path.like, k->first, 0, path.counts};
        explore_class *c = &out->rows[class];
        c->first = k->first < c->first ? k->first : c->first;
        c->warps += k->warps;
        out->of_kind[i] = class;
    }
    explore_path_free(&path);
    return all;
}

static bool find_classes(const explore_facts *facts, wl_arena *arena, ana_explore *e,
                         explore_classes *out)
{
    seen likes = {0};
    out->rows = wl_new_array(arena, explore_class, e->nkinds + 1);
    out->of_kind = wl_new_array(arena, uint32_t, e->nkinds + 1);
    bool all = out->rows && out->of_kind && open_seen(&likes, e->nkinds) &&
               count_kinds(facts, e, &likes, out);
    close_seen(&likes);
    return all;
}

/* ---- the block and the warp that stand for most ---- */

typedef struct block_shape {
    uint64_t like, operations;
    uint32_t first, warps, same; /* first: a row; same: blocks with this shape */
} block_shape;

static uint32_t find_block_shapes(const ana_explore *e, const explore_classes *classes,
                                  block_shape *shapes)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < e->warps.count; i++) {
        const prof_warp *w = &e->warps.rows[i];
        const explore_class *c = &classes->rows[explore_class_of(e, classes, i)];
        if (i == 0 || w->block != e->warps.rows[i - 1].block)
            shapes[count++] = (block_shape){.first = i};
        block_shape *s = &shapes[count - 1];
        s->like = (s->like ^ c->like) * 0x100000001b3u + w->number;
        s->operations += c->counts.operations;
        s->warps++;
    }
    return count;
}

static bool count_shapes(block_shape *shapes, uint32_t count)
{
    seen likes = {0};
    uint32_t *same = calloc((size_t)count + 1, sizeof *same);
    bool all = same && open_seen(&likes, count);
    for (uint32_t i = 0, next = 0; all && i < count; i++) {
        shapes[i].same = number_seen(&likes, shapes[i].like, next);
        next += shapes[i].same == next;
        same[shapes[i].same]++;
    }
    for (uint32_t i = 0; all && i < count; i++)
        shapes[i].same = same[shapes[i].same];
    close_seen(&likes);
    free(same);
    return all;
}

static int by_operations(const void *a, const void *b)
{
    const block_shape *x = a, *y = b;
    if (x->operations != y->operations)
        return x->operations < y->operations ? -1 : 1;
    return x->first < y->first ? -1 : x->first > y->first;
}

/* The first of those that most blocks are like; where no two are alike, the one in the middle by its
 * operations. */
static uint32_t representative_block(block_shape *shapes, uint32_t count)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < count; i++)
        if (shapes[i].warps > shapes[best].warps ||
            (shapes[i].warps == shapes[best].warps && shapes[i].same > shapes[best].same))
            best = i;
    if (shapes[best].same > 1)
        return shapes[best].first;
    qsort(shapes, count, sizeof *shapes, by_operations);
    return shapes[count / 2].first;
}

static bool is_in_block(const ana_explore *e, uint32_t row, uint32_t first)
{
    return row < e->warps.count && e->warps.rows[row].block == e->warps.rows[first].block;
}

/* Of the block's warps one that most are like; of several the one that does most. */
static uint32_t representative_warp(const ana_explore *e, const explore_classes *classes,
                                    uint32_t first)
{
    uint32_t best = first, most = 0;
    for (uint32_t i = first; is_in_block(e, i, first); i++) {
        uint32_t same = 0, class = explore_class_of(e, classes, i);
        for (uint32_t k = first; is_in_block(e, k, first); k++)
            same += explore_class_of(e, classes, k) == class;
        const explore_class *c = &classes->rows[class],
                            *b = &classes->rows[explore_class_of(e, classes, best)];
        if (same > most || (same == most && c->counts.operations > b->counts.operations)) {
            best = i;
            most = same;
        }
    }
    return best;
}

static bool find_representatives(const ana_explore *e, explore_classes *classes)
{
    block_shape *shapes = malloc(((size_t)e->warps.count + 1) * sizeof *shapes);
    uint32_t count = shapes ? find_block_shapes(e, classes, shapes) : 0;
    bool all = shapes && count_shapes(shapes, count);
    if (all && count) {
        classes->block = representative_block(shapes, count);
        classes->warp = representative_warp(e, classes, classes->block);
    }
    free(shapes);
    return all;
}

bool explore_find_kinds(const explore_facts *facts, wl_arena *arena, ana_explore *e,
                        explore_classes *out)
{
    *out = (explore_classes){0};
    return find_kinds(e, arena) && find_classes(facts, arena, e, out) &&
           find_representatives(e, out);
}
