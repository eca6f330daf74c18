/* Live ranges of the words of shared memory, within a block: worked by hand, and random accesses
 * against a reference that keeps all of them. */
#include "analysis/shared/words.h"
#include "support/test.h"

#include <string.h>

enum { WORDS = 24, MOST = 200 };

/* Stores: pc 10 begins ranges with what memory holds, 11 may depend on the last execution of load 1,
 * 12 on any of load 2 by the warp, 13 on loads of 3 by any thread of the block; 20 updates. */
static prof_fill fill_rows[] = {
    {1, 10, OBS_FROM_MEMORY, true, false, false}, {1, 11, OBS_COMPUTED, false, false, false},
    {1, 12, OBS_FROM_COPY, false, false, false},  {1, 13, OBS_COMPUTED, false, false, true},
    {1, 20, OBS_COMPUTED, false, true, false},
};
static prof_fill_read read_rows[] = {
    {1, 11, 1, 0, false, false},
    {1, 12, 2, 1, false, true},
    {1, 13, 3, 2, true, false},
};
static const shared_stores stores = {{5, fill_rows}, {3, read_rows}};

static shared_access lanes_at(uint32_t pc, acc_op op, uint32_t warp, uint32_t mask, uint32_t word)
{
    shared_access a = {.pc = pc, .op = op, .warp = warp, .mask = mask, .bytes = 4};
    for (uint32_t lane = 0; lane < SHARED_LANES; lane++)
        a.at[lane] = 4u * word + 4u * lane;
    return a;
}

static void take(shared_words *w, shared_access a)
{
    assert_true(shared_words_take(w, &a));
}

static void expect_range(const shared_words *w, uint32_t word, uint32_t begun, uint32_t accesses,
                         uint32_t origin, bool updated)
{
    const ana_word_use *u = &shared_words_at(w, word)->use;
    if (u->begun != begun || u->accesses != accesses || u->origin != origin ||
        u->updated != updated)
        fail_msg("word %u: begun %u, accesses %u, origin %u, updated %u", word, u->begun,
                 u->accesses, u->origin, u->updated);
}

/* ---- by hand ---- */

static void refills_begin_ranges(void **state)
{
    (void)state;
    shared_words *w = shared_words_new(&stores, WORDS);
    expect_range(w, 0, 0, 0, ANA_UNFILLED, false);
    take(w, lanes_at(1, ACC_LOAD, 0, 1, 0));
    expect_range(w, 0, 0, 1, ANA_UNFILLED, false); /* what nobody stored */
    take(w, lanes_at(10, ACC_STORE, 0, 3, 0));
    take(w, lanes_at(1, ACC_LOAD, 1, 3, 0));
    take(w, lanes_at(1, ACC_LOAD, 0, 1, 0));
    expect_range(w, 0, 1, 2, ANA_FILLED + OBS_FROM_MEMORY, false);
    expect_range(w, 1, 1, 1, ANA_FILLED + OBS_FROM_MEMORY, false);
    const ana_word_use *u = &shared_words_at(w, 0)->use;
    assert_true(u->loads == 3 && u->stores == 1 && u->readers == 3 && u->writers == 1);
    take(w, lanes_at(12, ACC_STORE, 1, 1, 0));
    expect_range(w, 0, 2, 0, ANA_FILLED + OBS_FROM_COPY, false);
    shared_words_next(w); /* the range goes on, and what the phase did is over */
    assert_false(shared_words_at(w, 0)->touched);
    take(w, lanes_at(1, ACC_LOAD, 0, 1, 0));
    expect_range(w, 0, 0, 1, ANA_FILLED + OBS_FROM_COPY, false);
    shared_words_free(w);
}

static void stores_of_what_was_read_update(void **state)
{
    (void)state;
    shared_words *w = shared_words_new(&stores, WORDS);
    take(w, lanes_at(10, ACC_STORE, 0, 3, 0));
    take(w, lanes_at(1, ACC_LOAD, 0, 1, 1)); /* lane 0 reads word 1 */
    take(w, lanes_at(11, ACC_STORE, 0, 1, 1));
    expect_range(w, 1, 1, 2, ANA_FILLED + OBS_FROM_MEMORY, true);
    take(w, lanes_at(11, ACC_STORE, 0, 1, 0)); /* word 0 it has not read */
    expect_range(w, 0, 2, 0, ANA_FILLED + OBS_COMPUTED, false);
    take(w, lanes_at(11, ACC_STORE, 1, 1, 1)); /* nor has warp 1 word 1 */
    expect_range(w, 1, 2, 0, ANA_FILLED + OBS_COMPUTED, false);
    take(w, lanes_at(20, ACC_ATOMIC, 0, 1, 2)); /* an update of what nobody stored */
    expect_range(w, 2, 0, 1, ANA_UNFILLED, true);
    take(w, lanes_at(13, ACC_STORE, 0, 1, 3));
    expect_range(w, 3, 1, 0, ANA_FILLED_SOMEHOW, false);
    shared_words_free(w);
}

static void sets_name_the_instructions(void **state)
{
    (void)state;
    uint32_t pcs[4];
    shared_words *w = shared_words_new(&stores, WORDS);
    take(w, lanes_at(10, ACC_STORE, 0, 1, 0));
    take(w, lanes_at(2, ACC_LOAD, 0, 1, 0));
    take(w, lanes_at(10, ACC_STORE, 0, 1, 0));
    take(w, lanes_at(2, ACC_LOAD, 0, 1, 4));
    assert_int_equal(shared_words_set(w, shared_words_at(w, 0)->use.set, pcs), 2);
    assert_true(pcs[0] == 2 && pcs[1] == 10);
    assert_int_equal(shared_words_set(w, shared_words_at(w, 4)->use.set, pcs), 1);
    assert_true(pcs[0] == 2 && shared_words_set(w, 0, NULL) == 0);
    shared_words_free(w);
}

/* What lies beyond the memory is left out, and an access of several words is one of each. */
static void wide_accesses_touch_all_their_words(void **state)
{
    (void)state;
    shared_words *w = shared_words_new(&stores, WORDS);
    shared_access a = lanes_at(10, ACC_STORE, 0, 1, WORDS - 2);
    a.bytes = 16;
    take(w, a);
    assert_true(shared_words_at(w, WORDS - 1)->touched && shared_words_at(w, WORDS - 2)->touched);
    assert_false(shared_words_at(w, WORDS - 3)->touched);
    shared_words_free(w);
}

/* ---- against a reference ---- */

static shared_access kept[MOST];

static bool covers(const shared_access *a, uint32_t lane, uint32_t word)
{
    return a->mask >> lane & 1 && word >= a->at[lane] / 4 &&
           word < (a->at[lane] + a->bytes + 3) / 4;
}

/* Did the lane's last execution of the load before access `n` read the word; with `any`: did any? */
static bool lane_read(uint32_t n, const prof_fill_read *r, uint32_t warp, uint32_t lane,
                      uint32_t word, bool any)
{
    for (uint32_t i = n; i--;) {
        const shared_access *a = &kept[i];
        if (a->pc != r->load || a->warp != warp || !(a->mask >> lane & 1))
            continue;
        if (covers(a, lane, word))
            return true;
        if (!any)
            return false;
    }
    return false;
}

static bool depends(uint32_t n, const prof_fill_read *r, uint32_t lane, uint32_t word)
{
    bool found = false;
    for (uint32_t warp = 0; warp < SHARED_WARPS; warp++)
        for (uint32_t l = 0; l < SHARED_LANES; l++) {
            bool who = r->scope == 2 ? true : warp == kept[n].warp && (r->scope == 1 || l == lane);
            found |= who && lane_read(n, r, warp, l, word, r->earlier || r->scope == 2);
        }
    return found;
}

typedef struct told {
    uint32_t begun, accesses, origin;
    bool updated;
} told;

static void tell_access(uint32_t n, uint32_t lane, uint32_t word, told *t)
{
    const shared_access *a = &kept[n];
    const prof_fill *fill = NULL;
    bool load = a->op == ACC_LOAD, update = false;
    for (uint32_t i = 0; i < 5; i++)
        fill = fill_rows[i].pc == a->pc ? &fill_rows[i] : fill;
    for (uint32_t i = 0; fill && i < 3; i++)
        update |= read_rows[i].pc == a->pc && depends(n, &read_rows[i], lane, word);
    update |= fill && fill->updates;
    t->accesses += load || update;
    t->updated |= update;
    if (!load && !update) {
        uint32_t origin = fill->unknown ? ANA_FILLED_SOMEHOW : ANA_FILLED + fill->origin;
        *t = (told){t->begun + 1, 0, origin, false};
    }
}

static shared_access draw(uint64_t *seed)
{
    static const uint32_t pcs[] = {1, 2, 3, 4, 10, 11, 11, 12, 13, 20};
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint32_t bits = (uint32_t)(*seed >> 33), pc = pcs[bits % 10];
    shared_access a = lanes_at(pc,
                               pc < 10    ? ACC_LOAD
                               : pc == 20 ? ACC_ATOMIC
                                          : ACC_STORE,
                               bits >> 8 & 1, bits >> 9 & 7, 0);
    a.bytes = bits >> 12 & 1 ? 8 : 4;
    a.mask |= a.mask == 0;
    for (uint32_t lane = 0; lane < 3; lane++)
        a.at[lane] = 4 * ((bits >> (13 + 3 * lane)) % 6);
    return a;
}

static void ranges_are_those_of_all_accesses(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 60; round++) {
        told want[WORDS] = {0};
        shared_words *w = shared_words_new(&stores, WORDS);
        for (uint32_t n = 0; n < MOST; n++) {
            kept[n] = draw(&seed);
            take(w, kept[n]);
            for (uint32_t lane = 0; lane < SHARED_LANES; lane++)
                for (uint32_t word = 0; word < WORDS; word++)
                    if (covers(&kept[n], lane, word))
                        tell_access(n, lane, word, &want[word]);
        }
        for (uint32_t word = 0; word < WORDS; word++)
            expect_range(w, word, want[word].begun, want[word].accesses, want[word].origin,
                         want[word].updated);
        shared_words_free(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refills_begin_ranges),
        cmocka_unit_test(stores_of_what_was_read_update),
        cmocka_unit_test(sets_name_the_instructions),
        cmocka_unit_test(wide_accesses_touch_all_their_words),
        cmocka_unit_test(ranges_are_those_of_all_accesses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
