/* Launches with too few blocks, each side of both thresholds. */
#include "support/arena.h"
#include "support/test.h"

#include "analysis/input.h"

#include <stdlib.h>
#include <string.h>

/* A launch of blocks of 8 warps that execute so many instructions each. */
static prof_launch launch(uint32_t blocks, uint64_t each)
{
    return (prof_launch){.id = 1,
                         .count = 1,
                         .process = 1,
                         .kernel = 1,
                         .grid = {blocks, 1, 1},
                         .block = {256, 1, 1},
                         .warp_instructions = blocks * 8 * each};
}

static const char *smaller; /* beside what was told last */

/* The excess that is told of the launches, on a device of 132 multiprocessors; 0: nothing is. */
static double excess_of(uint32_t n, prof_launch *launches)
{
    static prof_device device = {.id = 1, .process = 1, .num_sms = 132};
    const ana_thresholds thresholds = ana_thresholds_default();
    const prof_kernel kernel = {.id = 1};
    const ana_program program = {
        .thresholds = &thresholds, .launches = {n, launches}, .devices = {1, &device}};
    const ana_input input = {.program = &program,
                             .scope = ANA_SCOPE_KERNEL,
                             .kernel = &kernel,
                             .scratch = arena,
                             .arena = arena};
    ana_drafts drafts = {0};
    wl_error err;
    assert_int_equal(ana_detect_blocks(&input, &drafts, &err), WL_OK);
    assert_true(drafts.count <= 1);
    double excess = drafts.count ? drafts.rows[0].excess : 0;
    assert_true(!drafts.count || (drafts.rows[0].pattern == ANA_TOO_FEW_BLOCKS &&
                                  drafts.rows[0].unit == ANA_INSTRUCTIONS));
    assert_true(!drafts.count || strstr(drafts.rows[0].remedy, "each thread less of it"));
    smaller = drafts.count ? drafts.rows[0].smaller_blocks : NULL;
    free(drafts.rows);
    return excess;
}

static double of_one(uint32_t blocks, uint64_t each)
{
    prof_launch l = launch(blocks, each);
    return excess_of(1, &l);
}

static void told(void **state)
{
    (void)state;
    assert_true(of_one(4, 5000) == 128 * 8 * 5000.0); /* 128 multiprocessors are idle */
    assert_true(of_one(1, 5000) == 131 * 8 * 5000.0);
    assert_true(of_one(66, 5000) == 66 * 8 * 5000.0); /* half of them */
    assert_true(of_one(4, 2000) == 128 * 8 * 2000.0);
}

static void not_told(void **state)
{
    (void)state;
    assert_true(of_one(67, 5000) == 0);
    assert_true(of_one(1000, 5000) == 0);
    assert_true(of_one(4, 1999) == 0);
    prof_launch other = launch(4, 5000);
    other.device = 1; /* a device of which nothing is known */
    assert_true(excess_of(1, &other) == 0);
    other = launch(4, 5000);
    other.kernel = 2;
    assert_true(excess_of(1, &other) == 0);
    other = launch(0, 0);
    assert_true(excess_of(1, &other) == 0);
}

static void launches_add_up(void **state)
{
    (void)state;
    prof_launch rows[] = {launch(4, 5000), launch(1000, 5000), launch(2, 5000)};
    assert_true(excess_of(3, rows) == (128 + 130) * 8 * 5000.0);
}

/* Blocks of 8 warps: 16 of them have 128 warps, 17 have 136. */
static void smaller_blocks_where_there_are_warps(void **state)
{
    (void)state;
    assert_true(of_one(16, 5000) > 0);
    assert_null(smaller);
    assert_true(of_one(17, 5000) > 0);
    assert_non_null(strstr(smaller, "Start smaller blocks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(told),
        cmocka_unit_test(not_told),
        cmocka_unit_test(launches_add_up),
        cmocka_unit_test(smaller_blocks_where_there_are_warps),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
