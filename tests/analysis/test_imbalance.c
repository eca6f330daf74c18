/* Launches whose warps run unevenly, each side of both thresholds; what even work would save, by the
 * model. */
#include "support/arena.h"
#include "support/test.h"

#include "analysis/input.h"
#include "analysis/remedy/remedy.h"

#include <stdlib.h>
#include <string.h>

/* 264 blocks of 8 warps, of 2,000 instructions on average. */
static prof_launch launch(double longest_of_mean, double busiest_of_mean)
{
    uint64_t blocks = 264, each = 2000;
    return (prof_launch){
        .id = 1,
        .count = 1,
        .process = 1,
        .kernel = 1,
        .grid = {264, 1, 1},
        .block = {256, 1, 1},
        .warp_instructions = blocks * 8 * each,
        .longest_warps = (uint64_t)((double)(blocks * each) * longest_of_mean),
        .longest_warp = (uint64_t)((double)each * longest_of_mean * busiest_of_mean),
        .busiest_block = (uint64_t)((double)(8 * each) * busiest_of_mean),
        .warps_dropped = UINT64_MAX};
}

static ana_draft told;

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
    assert_int_equal(ana_detect_imbalance(&input, &drafts, &err), WL_OK);
    assert_true(drafts.count <= 1);
    told = drafts.count ? drafts.rows[0] : (ana_draft){0};
    assert_true(!drafts.count || (told.pattern == ANA_IMBALANCE && told.unit == ANA_INSTRUCTIONS &&
                                  told.kind == REMEDY_BALANCE));
    free(drafts.rows);
    return told.excess;
}

static double of_one(double longest, double busiest)
{
    prof_launch l = launch(longest, busiest);
    return excess_of(1, &l);
}

static void uneven_warps_are_told(void **state)
{
    (void)state;
    /* Eight warps have room for 3,000 instructions each, and execute 2,000. */
    assert_within(of_one(1.5, 1), 264 * 8 * 1000.0, 1);
    assert_non_null(strstr(told.summary, "longest warp of a block executes 3000 instructions"));
    assert_within(of_one(1.49, 1), 0, 0);
}

static void uneven_blocks_are_told(void **state)
{
    (void)state;
    /* 132 multiprocessors wait for a block that executes 16,000 instructions more. */
    assert_within(of_one(1, 2), 132 * 16000.0, 1);
    assert_non_null(strstr(told.summary, "busiest block executes 2.0 times"));
    assert_within(of_one(1, 1.4), 0, 0);
    assert_within(of_one(1, 1), 0, 0);
}

static void ends_of_sums_are_not_told(void **state)
{
    (void)state;
    prof_launch l = launch(2, 1);
    l.warp_instructions /= 2; /* 1,000 on average, and 1,999 */
    l.longest_warps = 264 * 1999;
    l.longest_warp = 1999;
    l.busiest_block = 8000;
    assert_within(excess_of(1, &l), 0, 0);
    l.longest_warp = 2000;
    assert_true(excess_of(1, &l) > 0);
}

static void what_is_not_known_is_not_told(void **state)
{
    (void)state;
    prof_launch l = launch(2, 2);
    l.longest_warp = l.longest_warps = l.busiest_block = 0; /* as of probes' counts */
    assert_within(excess_of(1, &l), 0, 0);
    l = launch(2, 2);
    l.kernel = 2;
    assert_within(excess_of(1, &l), 0, 0);
    l = launch(2, 2);
    l.warp_instructions = 0;
    assert_within(excess_of(1, &l), 0, 0);
}

static void launches_add_up(void **state)
{
    (void)state;
    prof_launch rows[] = {launch(1.5, 1), launch(1, 1), launch(2, 1)};
    rows[2].id = 3;
    rows[2].count = 2;
    assert_within(excess_of(3, rows), 264 * 8 * (1000.0 + 2 * 2000), 1);
    assert_true(told.launches == 3 && told.example_launch == 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_warps_are_told),
        cmocka_unit_test(uneven_blocks_are_told),
        cmocka_unit_test(ends_of_sums_are_not_told),
        cmocka_unit_test(what_is_not_known_is_not_told),
        cmocka_unit_test(launches_add_up),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
