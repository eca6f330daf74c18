/* Kernels whose lanes are idle, each side of the threshold. */
#include "support/arena.h"
#include "support/test.h"

#include "analysis/input.h"

#include <stdlib.h>
#include <string.h>

/* 1,000 warp instructions of blocks of so many threads, with so many lanes on average. */
static prof_launch launch(uint32_t threads, double lanes)
{
    return (prof_launch){.id = 1,
                         .count = 1,
                         .kernel = 1,
                         .grid = {10, 1, 1},
                         .block = {threads, 1, 1},
                         .mix_whole = true,
                         .warp_instructions = 1000,
                         .thread_instructions = (uint64_t)(1000 * lanes)};
}

/* The excess that is told of the launch; 0: nothing is. `before`: a pattern that is told already. */
static double excess_after(prof_launch l, const ana_pattern *before)
{
    const ana_thresholds thresholds = ana_thresholds_default();
    const prof_kernel kernel = {.id = 1};
    const ana_program program = {.thresholds = &thresholds, .launches = {1, &l}};
    const ana_input input = {.program = &program,
                             .scope = ANA_SCOPE_KERNEL,
                             .kernel = &kernel,
                             .scratch = arena,
                             .arena = arena};
    ana_drafts drafts = {0};
    wl_error err;
    if (before)
        assert_non_null(ana_draft_add(&drafts, &input, *before));
    uint32_t first = drafts.count;
    assert_int_equal(ana_detect_idle_lanes(&input, &drafts, &err), WL_OK);
    double excess = drafts.count > first ? drafts.rows[first].excess : 0;
    assert_true(drafts.count == first || (drafts.rows[first].pattern == ANA_DIVERGENT &&
                                          drafts.rows[first].unit == ANA_INSTRUCTIONS));
    free(drafts.rows);
    return excess;
}

static double excess_of(prof_launch l)
{
    return excess_after(l, NULL);
}

static void idle_lanes_are_told(void **state)
{
    (void)state;
    assert_within(excess_of(launch(256, 16)), 500, 1e-9);
    assert_within(excess_of(launch(256, 8)), 750, 1e-9);
    assert_within(excess_of(launch(256, 16.1)), 0, 0);
    assert_within(excess_of(launch(256, 32)), 0, 0);
}

/* Of a block of 16 threads no more than 16 lanes can be active; of one of 48, 24 on average. */
static void lanes_without_threads_are_not_idle(void **state)
{
    (void)state;
    assert_within(excess_of(launch(16, 16)), 0, 0);
    assert_within(excess_of(launch(16, 8)), 500, 1e-9);
    assert_within(excess_of(launch(48, 12)), 500, 1e-9);
    assert_within(excess_of(launch(48, 12.1)), 0, 0);
}

static void not_told(void **state)
{
    (void)state;
    prof_launch l = launch(256, 8);
    l.mix_whole = false;
    assert_within(excess_of(l), 0, 0);
    l = launch(256, 8);
    l.kernel = 2;
    assert_within(excess_of(l), 0, 0);
    l = launch(256, 8);
    l.warp_instructions = l.thread_instructions = 0;
    assert_within(excess_of(l), 0, 0);
    const ana_pattern told[] = {ANA_DIVERGENT, ANA_IMBALANCE}, other = ANA_HOT;
    assert_within(excess_after(launch(256, 8), &told[0]), 0, 0);
    assert_within(excess_after(launch(256, 8), &told[1]), 0, 0);
    assert_within(excess_after(launch(256, 8), &other), 750, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(idle_lanes_are_told),
        cmocka_unit_test(lanes_without_threads_are_not_idle),
        cmocka_unit_test(not_told),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
