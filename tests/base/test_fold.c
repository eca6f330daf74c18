/* Folded steps: by hand, and against the steps themselves, for warps that go through loops at random.
 */
#include "base/fold.h"

#include "base/repeats.h"
#include "base/varint.h"
#include "support/random.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static uint64_t state_of_random = 1;

static uint32_t below(uint32_t n)
{
    return (uint32_t)((random_next(&state_of_random) >> 20) % n);
}

static wl_step step_at(uint32_t pc, uint32_t mask, uint32_t slot, int64_t from, int64_t stride)
{
    wl_step step = {.pc = pc, .mask = mask, .slot = slot};
    for (int lane = 0; lane < WL_STEP_LANES; lane++)
        step.offset[lane] = (int64_t)((uint64_t)from + (uint64_t)stride * (uint64_t)lane);
    return step;
}

static void assert_step(const wl_step *got, const wl_step *want)
{
    assert_int_equal(got->pc, want->pc);
    assert_int_equal(got->mask, want->mask);
    assert_int_equal(got->slot, want->slot);
    for (uint32_t lane = 0; wl_step_accesses(want) && lane < WL_STEP_LANES; lane++)
        if (want->mask >> lane & 1)
            assert_int_equal(got->offset[lane], want->offset[lane]);
}

/* Folds and unfolds them; the page's bytes are left in `bytes`. */
static void fold_and_unfold(wl_folder *folder, const wl_step *steps, uint32_t count,
                            wl_fold_bytes *bytes)
{
    wl_step step;
    for (uint32_t i = 0; i < count; i++)
        assert_true(wl_folder_put(folder, &steps[i]));
    assert_int_equal(wl_folder_count(folder), count);
    bytes->count = 0;
    assert_true(wl_folder_end(folder, bytes));
    assert_int_equal(wl_folder_count(folder), 0);
    const wl_folded page = {bytes->data, bytes->count, count, 2};
    wl_unfolding u = {.pages = &page, .npages = 1};
    for (uint32_t i = 0; i < count; i++) {
        assert_true(wl_unfolding_step(&u, &step));
        assert_step(&step, &steps[i]);
    }
    assert_false(wl_unfolding_step(&u, &step) || u.failed);
    wl_unfolding_free(&u);
}

/* Three rounds of an entry and an access that moves by 128 bytes, then the way out. */
static void test_bytes_of_a_loop(void **state)
{
    (void)state;
    wl_folder *folder = wl_folder_new();
    wl_fold_bytes bytes = {0};
    wl_step steps[7];
    for (uint32_t i = 0; i < 3; i++) {
        steps[2 * i] = step_at(4, 3, WL_STEP_ENTRY, 0, 0);
        steps[2 * i + 1] = step_at(6, 3, 1, 128 * i, 4);
    }
    steps[6] = step_at(9, 1, WL_STEP_BARRIER, 0, 0);
    fold_and_unfold(folder, steps, 7, &bytes);
    static const char wanted[] = "\5\3"          /* two items, three times */
                                 "\0\10\3\1"     /* new: pc 4; lanes 0 and 1; an entry */
                                 "\0\4\0\3"      /* new: pc +2; the same lanes; slot 1 */
                                 "\0\6\2\0"      /* new: pc +3; lane 0; a barrier */
                                 "\0\0\x09"      /* moves of slot 1: at 0, lanes 4 apart */
                                 "\3\2"          /* one item, twice */
                                 "\0\x80\2\x09"; /* new: +128, lanes 4 apart */
    assert_int_equal(bytes.count, sizeof wanted - 1);
    assert_memory_equal(bytes.data, wanted, bytes.count);
    wl_folder_free(folder);
    wl_vec_free(&bytes);
}

/* ---- repeats, naively ---- */

static uint32_t naive_times(const uint32_t *list, uint32_t from, uint32_t to, uint32_t length)
{
    uint32_t times = 1;
    while (from + (times + 1) * length <= to &&
           memcmp(list + from, list + from + times * length, length * sizeof *list) == 0)
        times++;
    return times;
}

/* The shortest that begins with one of the next four that are equal to the first. */
static uint32_t naive_repeat(const uint32_t *list, uint32_t from, uint32_t to, uint32_t *times)
{
    uint32_t tries = 0;
    for (uint32_t at = from + 1; at < to && tries < 4; at++) {
        if (list[at] != list[from])
            continue;
        tries++;
        *times = naive_times(list, from, to, at - from);
        if (*times > 1)
            return at - from;
    }
    return 0;
}

static void test_repeats_are_those_of_a_search(void **state)
{
    (void)state;
    enum { ROUNDS = 3000, MOST = 60 };
    wl_repeats r = {0};
    uint32_t found = 0;
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t list[MOST], count = 1 + below(MOST), symbols = 1 + below(4);
        for (uint32_t i = 0; i < count; i++)
            list[i] = i > 8 && below(3) ? list[i - 1 - below(8)] : below(symbols);
        assert_true(wl_repeats_of(&r, list, count, symbols));
        for (uint32_t from = 0; from < count; from++) {
            uint32_t to = from + 1 + below(count - from), times = 0, wanted = 0;
            uint32_t length = wl_repeat_at(&r, from, to, UINT32_MAX, &times);
            assert_int_equal(length, naive_repeat(list, from, to, &wanted));
            assert_true(!length || times == wanted);
            assert_int_equal(wl_repeat_at(&r, from, to, 2, &times), length <= 2 ? length : 0);
            found += length > 0;
        }
    }
    assert_true(found > ROUNDS);
    wl_repeats_free(&r);
}

/* ---- warps at random ---- */

enum { LOOPS = 3, MOST_STEPS = 20000 };

typedef struct program { /* a nest of loops, each with a body of so many accesses */
    uint32_t bodies[LOOPS], rounds[LOOPS];
    uint32_t odd; /* one of so many accesses lies anywhere; 0: none */
} program;

typedef struct walking {
    const program *p;
    wl_step *steps;
    uint32_t count;
} walking;

static void walk_loop(walking *w, uint32_t depth) // NOLINT(misc-no-recursion)
{
    const program *p = w->p;
    if (depth == LOOPS)
        return;
    uint32_t rounds = below(4) ? p->rounds[depth] : below(5);
    for (uint32_t i = 0; i < rounds && w->count + 20 < MOST_STEPS; i++) {
        uint32_t pc = 100 * depth, mask = below(16) ? UINT32_MAX : 1 + below(1000);
        w->steps[w->count++] = step_at(pc, mask, WL_STEP_ENTRY, 0, 0);
        for (uint32_t k = 0; k < p->bodies[depth]; k++) {
            bool odd = p->odd && below(p->odd) == 0;
            wl_step *s = &w->steps[w->count++];
            *s = step_at(pc + 1 + k, mask, k % 2, 256 * (int64_t)i + 8 * depth, 4);
            for (int lane = 0; odd && lane < WL_STEP_LANES; lane++)
                s->offset[lane] = below(1 << 20);
        }
        walk_loop(w, depth + 1);
        if (below(3) == 0)
            w->steps[w->count++] = step_at(pc + 50, mask, WL_STEP_BARRIER, 0, 0);
    }
}

static void test_random_warps_come_back(void **state)
{
    (void)state;
    wl_folder *folder = wl_folder_new();
    wl_fold_bytes bytes = {0}, again = {0};
    wl_step *steps = calloc(MOST_STEPS, sizeof *steps);
    for (int round = 0; round < 60; round++) {
        program p = {.odd = below(3) ? 1 + below(20) : 0};
        for (int i = 0; i < LOOPS; i++) {
            p.bodies[i] = below(4);
            p.rounds[i] = below(12);
        }
        walking w = {.p = &p, .steps = steps};
        walk_loop(&w, 0);
        fold_and_unfold(folder, steps, w.count, &bytes);
        fold_and_unfold(folder, steps, w.count, &again);
        assert_true(bytes.count == again.count);
        assert_memory_equal(bytes.data ? bytes.data : (uint8_t *)"",
                            again.data ? again.data : (uint8_t *)"", bytes.count);
    }
    free(steps);
    wl_vec_free(&bytes);
    wl_vec_free(&again);
    wl_folder_free(folder);
}

/* As many steps as a page may have: nested loops take hardly more bytes than one round. */
static void test_loops_take_few_bytes(void **state)
{
    (void)state;
    wl_folder *folder = wl_folder_new();
    wl_fold_bytes bytes = {0};
    wl_step *steps = calloc(WL_FOLD_STEPS, sizeof *steps);
    for (uint32_t i = 0; i < WL_FOLD_STEPS; i++) {
        bool outer = i % 64 == 0;
        steps[i] = outer ? step_at(1, UINT32_MAX, WL_STEP_ENTRY, 0, 0)
                         : step_at(2, UINT32_MAX, 0, 1024 * (i / 64) + 32 * (i % 64), 4);
    }
    fold_and_unfold(folder, steps, WL_FOLD_STEPS, &bytes);
    assert_true(bytes.count < 60);
    free(steps);
    wl_vec_free(&bytes);
    wl_folder_free(folder);
}

/* ---- what no folder wrote ---- */

static bool opens(const uint8_t *data, size_t size, uint32_t nsteps)
{
    wl_unfolded u = {0};
    const wl_folded page = {data, size, nsteps, 2};
    bool all = wl_unfold(&page, &u);
    wl_unfolded_free(&u);
    return all;
}

/* An entry of lane 0 at pc 0, so many times. */
static bool opens_so_many(uint32_t times, uint32_t nsteps)
{
    uint8_t bytes[2 * WL_VARINT_BYTES + 4] = {3};
    uint8_t *at = wl_varint_put(bytes + 1, times);
    memcpy(at, "\0\0\1\1", 4);
    return opens(bytes, (size_t)(at - bytes) + 4, nsteps);
}

/* An entry of those lanes at that pc, as a page has it: pc is twice that. */
static bool opens_at(uint64_t pc, uint64_t mask)
{
    uint8_t bytes[2 * WL_VARINT_BYTES + 2] = {0};
    uint8_t *at = wl_varint_put(wl_varint_put(bytes + 1, 2 * pc), mask);
    *at++ = 1;
    return opens(bytes, (size_t)(at - bytes), 1);
}

static void test_numbers_beyond_their_bounds_are_refused(void **state)
{
    (void)state;
    assert_true(opens_so_many(2, 2));
    assert_false(opens_so_many(1, 1)); /* a repeat that is none */
    assert_true(opens_so_many(WL_FOLD_STEPS, WL_FOLD_STEPS));
    assert_false(opens_so_many(WL_FOLD_STEPS + 1, WL_FOLD_STEPS + 1));
    assert_true(opens_at(UINT32_MAX, UINT32_MAX));
    assert_false(opens_at(UINT64_C(1) << 32, 1));
    assert_false(opens_at(0, UINT64_C(1) << 32));
    wl_unfolded u = {0};
    static const uint8_t entry[] = {0, 0, 1, 1};
    assert_true(wl_unfold(&(wl_folded){entry, sizeof entry, 1, WL_MOST_SLOTS}, &u));
    assert_false(wl_unfold(&(wl_folded){entry, sizeof entry, 1, WL_MOST_SLOTS + 1}, &u));
    wl_unfolded_free(&u);
}

static void test_damaged_pages_are_refused(void **state)
{
    (void)state;
    static const char loop[] = "\5\3\0\10\3\1\0\4\0\3\0\6\2\0\0\0\x09\3\2\0\x80\2\x09";
    uint8_t bytes[sizeof loop - 1];
    memcpy(bytes, loop, sizeof bytes);
    assert_true(opens(bytes, sizeof bytes, 7));
    assert_true(opens(NULL, 0, 0));
    assert_false(opens(bytes, sizeof bytes, 6));
    assert_false(opens(bytes, sizeof bytes, 8));
    assert_false(opens(bytes, sizeof bytes, WL_FOLD_STEPS + 1));
    for (size_t size = 0; size < sizeof bytes; size++)
        assert_false(opens(bytes, size, 7));
    assert_false(opens((const uint8_t *)loop, sizeof loop, 7)); /* a byte more */
    static const struct {
        size_t at;
        uint8_t byte;
    } wrong[] = {{0, 1} /* no items */,       {1, 1} /* once */,
                 {1, 4} /* beyond the end */, {4, 0} /* no lane */,
                 {9, 4} /* slot 2 */,         {10, 6} /* an item that has not come */};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        uint8_t before = bytes[wrong[i].at];
        bytes[wrong[i].at] = wrong[i].byte;
        assert_false(opens(bytes, sizeof bytes, 7));
        bytes[wrong[i].at] = before;
    }
    for (int round = 0; round < 20000; round++) { /* whatever comes: no harm */
        uint8_t any[sizeof bytes];
        memcpy(any, bytes, sizeof any);
        for (uint32_t i = 0; i <= below(3); i++)
            any[below(sizeof any)] = (uint8_t)below(256);
        opens(any, sizeof any, 1 + below(12));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_of_a_loop),
        cmocka_unit_test(test_repeats_are_those_of_a_search),
        cmocka_unit_test(test_random_warps_come_back),
        cmocka_unit_test(test_loops_take_few_bytes),
        cmocka_unit_test(test_damaged_pages_are_refused),
        cmocka_unit_test(test_numbers_beyond_their_bounds_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
