/* The program's own ranges: their names by hand, and what launches in them cost, by hand and against
 * sums that are taken launch by launch. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/random.h"
#include "support/test.h"

#include "analysis/tables/ranges.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void expect_name(const char *name, const char *expected)
{
    assert_string_equal(ana_range_name(arena, name), expected);
}

static void names(void **state)
{
    (void)state;
    expect_name("forward", "forward");
    expect_name("step 12", "step *");
    expect_name("step12", "step*");
    expect_name("ProfilerStep#3", "ProfilerStep#*");
    expect_name("Epoch: 7", "Epoch: *");
    expect_name("train_iteration_00", "train_iteration_*");
    expect_name("conv1", "conv1"); /* a layer, not a count */
    expect_name("12", "12");
    expect_name("step", "step");
    expect_name("aten::add, seq = 12, op_id = 7", "aten::add");
    expect_name("aten::mm, op_id = 7, sizes = [[2, 3], [3, 4]]", "aten::mm");
    expect_name("", "");
}

/* ---- a story of launches ---- */

enum { MOST_OPEN = 4, NAMES = 3, LAUNCHES = 200 };

typedef struct open_range {
    uint32_t id, name;
    bool counted; /* a launch was made in it */
} open_range;

typedef struct story {
    uint64_t random;
    open_range open[MOST_OPEN];
    uint32_t depth, ranges, lists, calls;
    uint64_t launches_of[1 << 8], times_of[1 << 8]; /* by path: a digit a name, from 1 */
    uint64_t outside;
} story;

static const char *const texts[NAMES] = {"a", "b", "step 1"};
static story told;

static uint32_t path_of(uint32_t depth)
{
    uint32_t path = 0;
    for (uint32_t i = 0; i < depth; i++)
        path = path * 4 + told.open[i].name + 1;
    return path;
}

static void tell_record(prof_builder *b, cap_record r)
{
    story_tell(b, &r, 1);
}

/* The program opens and closes ranges at random. */
static void move(prof_builder *b)
{
    if (told.depth && random_below(&told.random, 2)) {
        told.depth--;
        return;
    }
    if (told.depth == MOST_OPEN)
        return;
    const open_range r = {++told.ranges, (uint32_t)random_below(&told.random, NAMES), false};
    told.open[told.depth++] = r;
    tell_record(b, (cap_record){.type = CAP_RANGE,
                                .range = {r.id, CAP_RANGE_PUSHED, 1, "", texts[r.name]}});
}

static uint32_t tell_list(prof_builder *b)
{
    uint32_t numbers[MOST_OPEN];
    for (uint32_t i = 0; i < told.depth; i++)
        numbers[i] = told.open[i].id;
    if (!told.depth)
        return 0;
    tell_record(b, (cap_record){.type = CAP_RANGES, .ranges = {++told.lists, told.depth, numbers}});
    return told.lists;
}

static void count_launch(void)
{
    told.outside += told.depth == 0;
    for (uint32_t i = 0; i < told.depth; i++) {
        uint32_t path = path_of(i + 1);
        told.launches_of[path]++;
        told.times_of[path] += !told.open[i].counted;
        told.open[i].counted = true;
    }
}

static prof_db *make_story(uint64_t seed)
{
    prof_builder *b = story_begin("ranges.wlprof");
    told = (story){.random = seed};
    tell_record(b, story_process("/src/app"));
    tell_record(b, story_device());
    tell_record(b, story_module(1));
    tell_record(b, story_call(1000, "cudaMalloc", CAP_CALL_ALLOC));
    tell_record(b, story_object(1, 1000, 0x7f0000000000, 4096));
    for (uint32_t i = 1; i <= LAUNCHES; i++) {
        for (uint64_t n = random_below(&told.random, 3); n > 0; n--)
            move(b);
        cap_record call = story_call(i, "cudaLaunchKernel", CAP_CALL_LAUNCH);
        call.call.ranges = tell_list(b);
        tell_record(b, call);
        tell_record(b, story_launch(i, i, 0x7f0000000000));
        count_launch();
    }
    tell_record(b, story_end());
    return story_finish(b, "ranges.wlprof");
}

static uint32_t number_of(const char *name)
{
    for (uint32_t i = 0; i < NAMES; i++)
        if (strcmp(name, strcmp(texts[i], "step 1") == 0 ? "step *" : texts[i]) == 0)
            return i + 1;
    fail_msg("%s is no range", name);
    return 0;
}

static uint32_t path_of_row(const ana_ranges *ranges, const ana_range *row)
{
    uint32_t outer = row->parent ? path_of_row(ranges, &ranges->rows[row->parent - 1]) : 0;
    return outer * 4 + number_of(row->name);
}

static void check_rows(const ana_ranges *ranges)
{
    uint64_t each = ranges->all.sectors / ranges->all.launches;
    uint32_t paths = 0;
    for (uint32_t i = 0; i < sizeof told.times_of / sizeof *told.times_of; i++)
        paths += told.launches_of[i] > 0;
    assert_int_equal(ranges->count, paths);
    assert_true(each > 0);
    for (uint32_t i = 0; i < ranges->count; i++) {
        const ana_range *r = &ranges->rows[i];
        uint32_t path = path_of_row(ranges, r);
        assert_true(r->parent <= i);
        assert_int_equal(r->depth, r->parent ? ranges->rows[r->parent - 1].depth + 1 : 0);
        assert_int_equal(r->sums.launches, told.launches_of[path]);
        assert_int_equal(r->sums.sectors, each * r->sums.launches);
        assert_int_equal(r->times, told.times_of[path]);
        if (i && r->parent == r[-1].parent)
            assert_true(r->sums.launches <= r[-1].sums.launches);
    }
}

static void sums(void **state)
{
    (void)state;
    wl_error err = {0};
    for (uint64_t seed = 1; seed <= 5; seed++) {
        ana_ranges ranges;
        prof_db *db = make_story(seed);
        story_expect(ana_range_table(db, NULL, arena, &ranges, &err), &err);
        assert_int_equal(ranges.all.launches, LAUNCHES);
        assert_int_equal(ranges.outside.launches, told.outside);
        check_rows(&ranges);
        prof_close(db);
    }
    unlink(story_path("ranges.wlprof"));
}

/* A capture that names what is not there, or twice the same, is damaged. */
static void damaged(void **state)
{
    (void)state;
    static uint32_t unknown[] = {7};
    const cap_record bad[] = {{.type = CAP_RANGES, .ranges = {1, 1, unknown}},
                              {.type = CAP_RANGE, .range = {0, CAP_RANGE_PUSHED, 1, "", ""}}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        wl_error err = {0};
        prof_builder *b = story_begin("ranges.wlprof");
        tell_record(b, story_process("/src/app"));
        assert_int_equal(prof_add(b, &bad[i], &err), WL_CORRUPT);
        prof_discard(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(sums, arena_set_up, arena_tear_down),
        cmocka_unit_test(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
