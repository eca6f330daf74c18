#include "ranges.h"

#include "base/vec.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 1024 };

typedef struct kept { /* an access by a lane to shared memory */
    uint32_t request, pc, thread;
    uint64_t first, end; /* words */
} kept;

typedef struct word_state {
    bool open, used;
    obs_origin origin;
    uint64_t accesses;
} word_state;

typedef struct sums {
    uint64_t ranges[OBS_ORIGIN_COUNT], accesses[OBS_ORIGIN_COUNT], unfilled;
    uint64_t live[OBS_ORIGIN_COUNT][REF_LIVE]; /* by accesses below 16, then by octave */
    uint64_t words, most, all;
} sums;

struct ref_ranges {
    const flow_fills *fills;
    const obs_shared *arrays;
    uint32_t narrays, requests;
    uint64_t blocks;
    sums sums[REF_ARRAYS]; /* [0]: of the object */
    wl_vec(kept) log;
    wl_vec(word_state) words;   /* of shared memory */
    wl_vec(uint64_t) addresses; /* words of global memory, as often as they were accessed */
};

ref_ranges *ref_ranges_new(const flow_fills *fills, const obs_shared *arrays, uint32_t narrays)
{
    ref_ranges *r = calloc(1, sizeof *r);
    assert_non_null(r);
    assert_true(narrays <= REF_ARRAYS);
    r->fills = fills;
    r->arrays = arrays;
    r->narrays = narrays;
    return r;
}

void ref_ranges_free(ref_ranges *r)
{
    wl_vec_free(&r->log);
    wl_vec_free(&r->words);
    wl_vec_free(&r->addresses);
    free(r);
}

/* ---- updates ---- */

static bool is_in_scope(const flow_read *read, const kept *k, uint32_t thread)
{
    return read->scope == FLOW_BY_THREAD ? k->thread == thread
           : read->scope == FLOW_BY_WARP ? k->thread / 32 == thread / 32
                                         : true;
}

/* Whether a store by the thread in this request depends on what the read's load found in the word:
 * the last time that each thread executed it, or ever. */
static bool depends(const ref_ranges *r, const flow_read *read, uint32_t thread, uint64_t word)
{
    bool met[THREADS] = {false};
    for (size_t i = r->log.count; i-- > 0;) {
        const kept *k = &r->log.data[i];
        if (k->request == r->requests || k->pc != read->pc || !is_in_scope(read, k, thread))
            continue;
        bool counts = read->earlier || read->scope == FLOW_BY_BLOCK || !met[k->thread];
        if (counts && word >= k->first && word < k->end)
            return true;
        met[k->thread] = true;
    }
    return false;
}

static const flow_fill *fill_of(const ref_ranges *r, const acc_request *a)
{
    uint32_t at = r->fills->at[a->pc];
    return a->op == ACC_LOAD || a->flags & ACC_BARRIER || at == FLOW_NONE ? NULL
                                                                          : &r->fills->fills[at];
}

static bool is_update(const ref_ranges *r, const acc_request *a, uint32_t thread, uint64_t word)
{
    const flow_fill *fill = fill_of(r, a);
    if (!fill || fill->updates)
        return true;
    for (uint32_t i = 0; i < fill->count; i++)
        if (depends(r, &r->fills->reads[fill->first + i], thread, word))
            return true;
    return false;
}

/* ---- words ---- */

static void close_range(sums *to, word_state *s)
{
    uint64_t octave = 16;
    for (uint64_t a = s->accesses; a >= 32; a /= 2)
        octave++;
    if (s->open) {
        to->ranges[s->origin]++;
        to->accesses[s->origin] += s->accesses;
        to->live[s->origin][s->accesses < 16 ? s->accesses : octave]++;
    } else {
        to->unfilled += s->accesses;
    }
    s->accesses = 0;
}

static uint32_t array_of_word(const ref_ranges *r, uint64_t word)
{
    for (uint32_t i = 1; i < r->narrays; i++)
        if (word >= r->arrays[i].offset / 4 &&
            word < (r->arrays[i].offset + (uint64_t)r->arrays[i].bytes + 3) / 4)
            return i;
    return 0;
}

static obs_origin origin_of(flow_origin origin)
{
    static const obs_origin of[] = {[FLOW_COMPUTED] = OBS_COMPUTED,
                                    [FLOW_DEVICE] = OBS_FROM_MEMORY,
                                    [FLOW_ASYNC] = OBS_FROM_COPY};
    return of[origin];
}

static word_state *state_of_word(ref_ranges *r, uint64_t word)
{
    while (r->words.count <= word)
        assert_true(wl_push(&r->words, (word_state){0}));
    return &r->words.data[word];
}

static void access_word(ref_ranges *r, const acc_request *a, uint32_t thread, uint64_t word)
{
    uint32_t array = array_of_word(r, word);
    word_state *s = state_of_word(r, word);
    if (!array)
        return;
    r->sums[array].all++;
    s->used = true;
    if (is_update(r, a, thread, word)) {
        s->accesses++;
        return;
    }
    close_range(&r->sums[array], s);
    *s = (word_state){.open = true, .used = true, .origin = origin_of(fill_of(r, a)->origin)};
}

void ref_ranges_add(ref_ranges *r, const acc_request *access)
{
    const acc_request *a = access;
    r->requests++;
    for (uint32_t m = a->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        kept k = {r->requests, a->pc, a->warp * 32 + lane, a->addr[lane] / 4,
                  (a->addr[lane] + a->bytes - 1) / 4 + 1};
        for (uint64_t word = k.first; word < k.end; word++)
            if (a->space == ACC_SHARED)
                access_word(r, a, k.thread, word);
            else if (a->space == ACC_GLOBAL)
                assert_true(wl_push(&r->addresses, word));
        if (a->space == ACC_SHARED && a->op != ACC_STORE)
            assert_true(wl_push(&r->log, k));
    }
}

/* ---- blocks ---- */

static int by_word(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void add_words(sums *to, uint64_t words)
{
    to->words += words;
    to->most = words > to->most ? words : to->most;
}

void ref_ranges_end_block(ref_ranges *r)
{
    uint64_t used[REF_ARRAYS] = {0}, n = r->addresses.count;
    for (uint64_t word = 0; word < r->words.count; word++) {
        uint32_t array = array_of_word(r, word);
        used[array] += r->words.data[word].used;
        if (array)
            close_range(&r->sums[array], &r->words.data[word]);
    }
    if (n)
        qsort(r->addresses.data, n, sizeof(uint64_t), by_word);
    used[0] = 0;
    for (uint64_t i = 0; i < n; i++)
        used[0] += !i || r->addresses.data[i] != r->addresses.data[i - 1];
    r->sums[0].all += n;
    for (uint32_t i = 0; i < r->narrays; i++)
        add_words(&r->sums[i], used[i]);
    r->log.count = r->words.count = r->addresses.count = r->requests = 0;
    r->blocks++;
}

/* ---- the comparison ---- */

static void compare_live(const sums *its, const obs_use *use)
{
    uint32_t n = 0;
    for (int origin = 0; origin < OBS_ORIGIN_COUNT; origin++) {
        assert_int_equal(use->ranges[origin], its->ranges[origin]);
        assert_int_equal(use->range_accesses[origin], its->accesses[origin]);
        for (uint32_t i = 0; i < REF_LIVE; i++) {
            if (!its->live[origin][i])
                continue;
            assert_true(n < use->nlive && use->live[n].origin == origin);
            assert_int_equal(use->live[n].accesses, i < 16 ? i : UINT64_C(16) << (i - 16));
            assert_int_equal(use->live[n++].ranges, its->live[origin][i]);
        }
    }
    assert_int_equal(use->nlive, n);
}

void ref_ranges_compare(const ref_ranges *r, uint32_t array, const obs_use *use)
{
    const sums *its = &r->sums[array];
    if (!use) {
        assert_int_equal(its->all, 0);
        return;
    }
    assert_true(use->reuse & OBS_REUSE_BLOCKS);
    assert_int_equal(use->blocks, r->blocks);
    assert_int_equal(use->block_words, its->words);
    assert_int_equal(use->block_words_most, its->most);
    assert_int_equal(use->block_accesses, its->all);
    if (!(use->reuse & OBS_REUSE_RANGES))
        return;
    assert_int_equal(use->unfilled, its->unfilled);
    compare_live(its, use);
}
