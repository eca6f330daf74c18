/* Launches that are alike: kept once, in memory and in the profile, whatever their number. */
#include "story.h"
#include "support/test.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

static void add_record(prof_builder *builder, cap_record record)
{
    story_expect(prof_add(builder, &record, &err), &err);
}

static cap_record note_of(uint32_t number, uint32_t blocks)
{
    return (cap_record){.type = CAP_NOTE,
                        .note = {.id = number,
                                 .call = 2 + number,
                                 .module = 1,
                                 .kernel = "_Z5scalePf",
                                 .grid = {blocks, 1, 1},
                                 .block = {64, 1, 1},
                                 .ordinal = 1000 + number,
                                 .params = ""}};
}

static void repeat_of_first(prof_builder *builder, uint32_t number)
{
    add_record(builder, note_of(number, 1));
    add_record(builder,
               (cap_record){.type = CAP_REPEAT,
                            .repeat = {.note = number, .same_as = 1, .host_seconds = 0.5}});
}

static void begin_story(prof_builder *builder)
{
    story_expect(prof_begin_process(builder, &err), &err);
    add_record(builder, story_process("/src/app"));
    add_record(builder, story_device());
    add_record(builder, story_module(1));
    add_record(builder, story_call(1, "cudaMalloc", CAP_CALL_ALLOC));
    add_record(builder, story_object(1, 1, 0x7f0000000000, 4096));
    add_record(builder, story_call(2, "cudaMalloc", CAP_CALL_ALLOC));
    add_record(builder, story_object(2, 2, 0x7f0000100000, 4096));
    add_record(builder, story_launch(1, 0, 0x7f0000000000));
    add_record(builder, story_uses(1));
}

static prof_builder *new_builder(const char *name)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path(name), &options, &builder, &err), &err);
    return builder;
}

static void set_time(prof_builder *builder, uint32_t number, double seconds)
{
    cap_time time = {number, seconds};
    add_record(builder, (cap_record){.type = CAP_TIMES, .times = {.count = 1, .times = &time}});
}

/* Launch 1 ran by itself; 2 to 6 repeat it, three of them timed; 7 and 8 were not worked out, for one
 * reason, 9 for another. */
static void tell_kinds(prof_builder *builder)
{
    static cap_gap gap = {3, "its address depends on data"};
    begin_story(builder);
    for (uint32_t number = 2; number <= 6; number++)
        repeat_of_first(builder, number);
    set_time(builder, 3, 2);
    set_time(builder, 4, 0.25);
    set_time(builder, 6, 1);
    for (uint32_t number = 7; number <= 9; number++) {
        add_record(builder, note_of(number, 5));
        add_record(builder, (cap_record){.type = CAP_WAY,
                                         .way = {.note = number,
                                                 .reason = number < 9 ? "too large" : "too slow",
                                                 .count = 1,
                                                 .gaps = &gap}});
    }
    add_record(builder, story_end());
}

typedef struct opened {
    prof_db *db;
    wl_arena *arena;
} opened;

static opened open_kinds(const char *name)
{
    opened o = {.arena = wl_arena_new()};
    prof_builder *builder = new_builder(name);
    tell_kinds(builder);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path(name), &o.db, &err), &err);
    return o;
}

static void done(opened *o, const char *name)
{
    prof_close(o->db);
    wl_arena_free(o->arena);
    unlink(story_path(name));
}

static void launches_alike_are_one_row(void **state)
{
    (void)state;
    opened o = open_kinds("kinds.wlprof");
    prof_launch_rows kinds;
    story_expect(prof_load_launch_kinds(o.db, PROF_ALL, o.arena, &kinds, &err), &err);
    assert_int_equal(kinds.count, 4); /* the first has counted elements, and a grid of its own */
    const prof_launch *k = kinds.rows;
    assert_int_equal(k[0].id, 1);
    assert_int_equal(k[0].count, 1);
    assert_int_equal(k[1].id, 2);
    assert_int_equal(k[1].count, 5);
    assert_int_equal(k[1].rows_of, 1);
    assert_int_equal(k[1].timed, 3);
    assert_true(k[1].host_seconds == 2.5 && k[1].device_seconds == 3.25);
    assert_true(k[1].device_least == 0.25 && k[1].device_most == 2);
    assert_int_equal(k[2].id, 7);
    assert_int_equal(k[2].count, 2);
    assert_int_equal(k[2].rows_of, 7);
    assert_true(k[2].host_seconds < 0 && k[2].device_seconds < 0 && k[2].timed == 0);
    assert_int_equal(k[3].id, 9);
    assert_ptr_equal(prof_find_launch(&kinds, 7), &k[2]);
    assert_null(prof_find_launch(&kinds, 8));
    done(&o, "kinds.wlprof");
}

static void each_launch_comes_back(void **state)
{
    (void)state;
    opened o = open_kinds("each.wlprof");
    prof_launch_rows rows;
    story_expect(prof_load_launches(o.db, PROF_ALL, o.arena, &rows, &err), &err);
    assert_int_equal(rows.count, 9);
    for (uint32_t i = 0; i < 9; i++) {
        assert_int_equal(rows.rows[i].id, i + 1);
        assert_int_equal(rows.rows[i].number, i + 1);
        assert_int_equal(rows.rows[i].count, 1);
    }
    assert_true(rows.rows[2].device_seconds == 2 && rows.rows[2].timed == 1);
    assert_true(rows.rows[4].device_seconds < 0 && rows.rows[4].timed == 0);
    assert_true(rows.rows[4].host_seconds == 0.5);
    assert_int_equal(rows.rows[4].ordinal, 1005);
    assert_int_equal(rows.rows[7].grid[0], 5);
    assert_int_equal(rows.rows[7].rows_of, 7);
    story_expect(prof_load_launches(o.db, 99, o.arena, &rows, &err), &err);
    assert_int_equal(rows.count, 0);
    done(&o, "each.wlprof");
}

static void counts_are_of_all(void **state)
{
    (void)state;
    opened o = open_kinds("counts.wlprof");
    prof_coverage c;
    prof_traffic_rows traffic;
    prof_instruction_rows totals;
    prof_gap_rows gaps;
    story_expect(prof_load_coverage(o.db, o.arena, &c, &err), &err);
    assert_int_equal(c.launches_seen, 9);
    assert_int_equal(c.launches_observed, 6);
    assert_int_equal(c.launches_repeated, 5);
    assert_int_equal(c.blocks_run, 6 * story_launch(1, 0, 0).launch.summary.blocks_run);
    story_expect(prof_load_traffic(o.db, PROF_ALL, o.arena, &traffic, &err), &err);
    uint64_t sectors = 0, moved = 0;
    for (uint32_t i = 0; i < traffic.count; i++)
        moved += traffic.rows[i].count * traffic.rows[i].sectors;
    story_expect(prof_load_instruction_totals(o.db, PROF_ALL, o.arena, &totals, &err), &err);
    for (uint32_t i = 0; i < totals.count; i++)
        sectors += totals.rows[i].c.sectors;
    assert_true(sectors > 0 && sectors == moved);
    story_expect(prof_load_gaps(o.db, o.arena, &gaps, &err), &err);
    assert_int_equal(gaps.count, 1);
    assert_int_equal(gaps.rows[0].launch, 7);
    done(&o, "counts.wlprof");
}

/* Copies by what they copy between; failed ones and other calls are none. */
static void transfers_are_added_up(void **state)
{
    (void)state;
    prof_builder *builder = new_builder("copies.wlprof");
    begin_story(builder);
    for (uint32_t number = 10; number < 20; number++) {
        cap_record call = story_call(number, "cudaMemcpy", CAP_CALL_COPY);
        call.call.target_object = 1;
        call.call.bytes = 100;
        call.call.result = number == 19 ? 1 : 0;
        add_record(builder, call);
    }
    cap_call_time time = {12, 0.5};
    add_record(builder, (cap_record){.type = CAP_CALL_TIMES, .call_times = {1, &time}});
    add_record(builder, story_end());
    story_expect(prof_finish(builder, &err), &err);
    opened o = {.arena = wl_arena_new()};
    prof_transfer_rows rows;
    story_expect(prof_open(story_path("copies.wlprof"), &o.db, &err), &err);
    story_expect(prof_load_transfers(o.db, o.arena, &rows, &err), &err);
    assert_int_equal(rows.count, 1);
    const prof_transfer *t = rows.rows;
    assert_int_equal(t->kind, CAP_CALL_COPY);
    assert_int_equal(t->target_object, 1);
    assert_true(t->count == 9 && t->bytes == 900 && t->timed == 1 && t->timed_bytes == 100);
    assert_true(t->device_seconds == 0.5);
    done(&o, "copies.wlprof");
}

/* Memory goes by what differs: a launch that is like others costs its times. */
static void memory_of_equal_launches(void **state)
{
    enum { LAUNCHES = 100000, BYTES_EACH = 100 };
    (void)state;
    prof_builder *builder = new_builder("memory.wlprof");
    begin_story(builder);
    repeat_of_first(builder, 2);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    for (uint32_t number = 3; number < LAUNCHES; number++)
        repeat_of_first(builder, number);
    size_t after = mallinfo2().uordblks + mallinfo2().hblkhd;
    if (after > before + (size_t)LAUNCHES * BYTES_EACH)
        fail_msg("%zu bytes a launch", (after - before) / LAUNCHES);
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(launches_alike_are_one_row), cmocka_unit_test(each_launch_comes_back),
        cmocka_unit_test(counts_are_of_all),          cmocka_unit_test(transfers_are_added_up),
        cmocka_unit_test(memory_of_equal_launches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
