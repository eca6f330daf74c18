#include "analysis/shared/words.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

enum { WORD = OBS_WORD_BYTES, FIRST_SLOTS = 1024 };

typedef struct last_read { /* words [first, end) by a warp's lanes; none where end is 0 */
    uint32_t first[SHARED_LANES], end[SHARED_LANES];
} last_read;

typedef struct read_word { /* lanes of a warp that read a word by a load */
    uint64_t key;          /* 0: empty */
    uint32_t lanes;
} read_word;

typedef struct pc_set { /* those of `rest`, and one more */
    uint32_t pc, rest;
    uint32_t child, sibling; /* sets that have one more than this; 0: none */
} pc_set;

struct shared_words {
    const shared_stores *stores;
    uint32_t nwords;
    shared_word *words;
    uint32_t nloads, *loads; /* pcs of loads that stores may depend on, ascending */
    last_read *last;         /* [load][warp] */
    read_word *seen;         /* open addressing */
    uint32_t capacity, count;
    wl_vec(pc_set) sets; /* 0: the empty one */
};

/* ---- loads that stores may depend on ---- */

static int pcs_ascend(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static bool collect_loads(shared_words *w)
{
    const prof_fill_read_rows *reads = &w->stores->reads;
    w->loads = malloc((reads->count + 1u) * sizeof *w->loads);
    for (uint32_t i = 0; w->loads && i < reads->count; i++)
        w->loads[i] = reads->rows[i].load;
    if (w->loads && reads->count)
        qsort(w->loads, reads->count, sizeof *w->loads, pcs_ascend);
    for (uint32_t i = 0; w->loads && i < reads->count; i++)
        if (!i || w->loads[i] != w->loads[i - 1])
            w->loads[w->nloads++] = w->loads[i];
    return w->loads != NULL;
}

static uint32_t number_of_load(const shared_words *w, uint32_t pc)
{
    const uint32_t *found = bsearch(&pc, w->loads, w->nloads, sizeof pc, pcs_ascend);
    return found ? (uint32_t)(found - w->loads) : UINT32_MAX;
}

static last_read *last_read_of(const shared_words *w, uint32_t load, uint32_t warp)
{
    return &w->last[load * SHARED_WARPS + warp % SHARED_WARPS];
}

static uint64_t key_of_read(uint32_t load, uint32_t warp, uint32_t word)
{
    return (uint64_t)(load + 1) << 40 | (uint64_t)warp << 32 | word;
}

static read_word *seen_slot(const shared_words *w, uint64_t key)
{
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> 32) & (w->capacity - 1);
    while (w->seen[at].key && w->seen[at].key != key)
        at = (at + 1) & (w->capacity - 1);
    return &w->seen[at];
}

static bool grow_seen(shared_words *w)
{
    read_word *old = w->seen;
    uint32_t n = w->capacity;
    if (2 * (w->count + 1) <= n)
        return true;
    read_word *more = calloc(n ? 2 * (size_t)n : FIRST_SLOTS, sizeof *more);
    if (!more)
        return false;
    w->seen = more;
    w->capacity = n ? 2 * n : FIRST_SLOTS;
    for (uint32_t i = 0; i < n; i++)
        if (old[i].key)
            *seen_slot(w, old[i].key) = old[i];
    free(old);
    return true;
}

static bool note_seen(shared_words *w, uint64_t key, uint32_t lane)
{
    if (!grow_seen(w))
        return false;
    read_word *r = seen_slot(w, key);
    w->count += r->key == 0;
    r->key = key;
    r->lanes |= 1u << lane;
    return true;
}

static uint32_t seen_lanes(const shared_words *w, uint32_t load, uint32_t warp, uint32_t word)
{
    return w->capacity ? seen_slot(w, key_of_read(load, warp, word))->lanes : 0;
}

static uint32_t first_word_of(const shared_access *a, uint32_t lane)
{
    return (uint32_t)(a->at[lane] / WORD);
}

/* One more than the last, inside of the memory. */
static uint32_t end_word_of(const shared_words *w, const shared_access *a, uint32_t lane)
{
    uint64_t end = (a->at[lane] + a->bytes + WORD - 1) / WORD;
    return end < w->nwords ? (uint32_t)end : w->nwords;
}

static bool note_reads(shared_words *w, const shared_access *a)
{
    uint32_t load = number_of_load(w, a->pc);
    if (load == UINT32_MAX)
        return true;
    last_read *last = last_read_of(w, load, a->warp);
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        last->first[lane] = first_word_of(a, lane);
        last->end[lane] = end_word_of(w, a, lane);
        for (uint32_t i = last->first[lane]; i < last->end[lane]; i++)
            if (!note_seen(w, key_of_read(load, a->warp, i), lane))
                return false;
    }
    return true;
}

/* ---- does a stored value depend on the word? ---- */

static bool lane_read_last(const last_read *last, uint32_t lane, uint32_t word)
{
    return word >= last->first[lane] && word < last->end[lane];
}

static bool read_by_warp(const shared_words *w, const prof_fill_read *r, uint32_t warp,
                         uint32_t lanes, uint32_t word)
{
    uint32_t load = number_of_load(w, r->load);
    if (r->earlier)
        return seen_lanes(w, load, warp, word) & lanes;
    bool found = false;
    for (uint32_t m = lanes; m && !found; m &= m - 1)
        found = lane_read_last(last_read_of(w, load, warp), (uint32_t)__builtin_ctz(m), word);
    return found;
}

static bool was_word_read(const shared_words *w, const prof_fill_read *r, uint32_t warp,
                          uint32_t lane, uint32_t word)
{
    enum { BY_THREAD, BY_WARP, BY_BLOCK };
    bool found = false;
    if (r->scope == BY_THREAD)
        return read_by_warp(w, r, warp, 1u << lane, word);
    if (r->scope == BY_WARP)
        return read_by_warp(w, r, warp, UINT32_MAX, word);
    for (uint32_t i = 0; i < SHARED_WARPS && !found; i++) /* others may have gone on since */
        found = seen_lanes(w, number_of_load(w, r->load), i, word) != 0;
    return found;
}

static const prof_fill *fill_at(const shared_words *w, uint32_t pc)
{
    const prof_fill_rows *fills = &w->stores->fills;
    for (uint32_t low = 0, high = fills->count; low < high;) {
        uint32_t middle = low + (high - low) / 2;
        if (fills->rows[middle].pc == pc)
            return &fills->rows[middle];
        if (fills->rows[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static bool is_word_update(const shared_words *w, const prof_fill *fill, const shared_access *a,
                           uint32_t lane, uint32_t word)
{
    const prof_fill_read_rows *reads = &w->stores->reads;
    bool found = fill && fill->updates;
    for (uint32_t i = 0; fill && i < reads->count && !found; i++)
        found = reads->rows[i].pc == a->pc &&
                was_word_read(w, &reads->rows[i], a->warp, lane, word);
    return found;
}

/* ---- sets of instructions ---- */

static bool pc_set_has(const shared_words *w, uint32_t set, uint32_t pc)
{
    for (; set; set = w->sets.data[set].rest)
        if (w->sets.data[set].pc == pc)
            return true;
    return false;
}

/* The set with one more; the same where memory is exhausted. */
static uint32_t set_with(shared_words *w, uint32_t set, uint32_t pc)
{
    if (pc_set_has(w, set, pc))
        return set;
    uint32_t child = w->sets.data[set].child;
    while (child && w->sets.data[child].pc != pc)
        child = w->sets.data[child].sibling;
    if (child || !wl_push(&w->sets, (pc_set){pc, set, 0, w->sets.data[set].child}))
        return child ? child : set;
    w->sets.data[set].child = (uint32_t)w->sets.count - 1;
    return w->sets.data[set].child;
}

uint32_t shared_words_sets(const shared_words *words)
{
    return (uint32_t)words->sets.count;
}

uint32_t shared_words_set(const shared_words *words, uint32_t set, uint32_t *pcs)
{
    uint32_t count = 0;
    for (; set; set = words->sets.data[set].rest, count++)
        if (pcs)
            pcs[count] = words->sets.data[set].pc;
    if (pcs && count)
        qsort(pcs, count, sizeof *pcs, pcs_ascend);
    return count;
}

/* ---- accesses ---- */

static void begin_range(ana_word_use *u, const prof_fill *fill)
{
    u->begun++;
    u->accesses = 0;
    u->updated = 0;
    u->origin = (uint16_t)(fill && !fill->unknown ? ANA_FILLED + fill->origin : ANA_FILLED_SOMEHOW);
}

static void touch_word(shared_words *w, const shared_access *a, const prof_fill *fill,
                       uint32_t lane, uint32_t word)
{
    ana_word_use *u = &w->words[word].use;
    bool load = a->op == ACC_LOAD, store = a->op == ACC_STORE;
    bool update = !load && is_word_update(w, fill, a, lane, word);
    w->words[word].touched = true;
    u->loads += load;
    u->stores += store;
    u->atomics += !load && !store;
    u->readers |= store ? 0 : 1u << a->warp % SHARED_WARPS;
    u->writers |= load ? 0 : 1u << a->warp % SHARED_WARPS;
    u->set = set_with(w, u->set, a->pc);
    if (!store || update)
        u->accesses++;
    u->updated |= update;
    if (!load && !update)
        begin_range(u, fill);
}

bool shared_words_take(shared_words *words, const shared_access *access)
{
    const prof_fill *fill = access->op == ACC_LOAD ? NULL : fill_at(words, access->pc);
    for (uint32_t m = access->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m), end = end_word_of(words, access, lane);
        for (uint32_t word = first_word_of(access, lane); word < end; word++)
            touch_word(words, access, fill, lane, word);
    }
    return access->op == ACC_STORE || note_reads(words, access);
}

const shared_word *shared_words_at(const shared_words *words, uint32_t word)
{
    return &words->words[word];
}

void shared_words_next(shared_words *words)
{
    for (uint32_t i = 0; i < words->nwords; i++) {
        shared_word *word = &words->words[i];
        const ana_word_use *u = &word->use;
        if (word->touched)
            *word = (shared_word){
                {.accesses = u->accesses, .origin = u->origin, .updated = u->updated}, false};
    }
}

/* ---- whole ---- */

shared_words *shared_words_new(const shared_stores *stores, uint32_t nwords)
{
    shared_words *w = calloc(1, sizeof *w);
    if (!w)
        return NULL;
    w->stores = stores;
    w->nwords = nwords;
    w->words = calloc(nwords + 1u, sizeof *w->words);
    bool all = w->words && wl_push(&w->sets, (pc_set){0}) && collect_loads(w);
    w->last = all ? calloc((size_t)w->nloads * SHARED_WARPS + 1, sizeof *w->last) : NULL;
    if (w->last)
        return w;
    shared_words_free(w);
    return NULL;
}

void shared_words_free(shared_words *words)
{
    if (!words)
        return;
    free(words->words);
    free(words->loads);
    free(words->last);
    free(words->seen);
    wl_vec_free(&words->sets);
    free(words);
}
