/* Allocations that failed: what was held then, and what would have made room; worked by hand. */
#include "support/test.h"
#include "tale.h"

#include "analysis/objects/order.h"
#include "analysis/objects/shortage.h"

#include <stdlib.h>

static obj_trace t;
static uint32_t *levels;
static obj_lives lives;
static obj_hits hits;
static obj_shortage shortage;

static int begin(void **state)
{
    (void)state;
    tale_begin(&t);
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(levels);
    obj_lives_free(&lives);
    wl_vec_free(&hits);
    obj_shortage_free(&shortage);
    tale_end(&t);
    levels = NULL;
    lives = (obj_lives){0};
    return 0;
}

static void refuse(uint64_t bytes, uint64_t free_bytes)
{
    obj_refusal r = {(uint32_t)t.ops.count, 0, 0, bytes, free_bytes, 1000};
    assert_true(wl_push(&t.refusals, r));
}

static void analyse(void)
{
    ana_thresholds thresholds = ana_thresholds_default();
    levels = obj_order(&t);
    assert_non_null(levels);
    assert_true(obj_lives_of(&t, levels, &thresholds, &lives));
    assert_true(obj_find_patterns(&t, levels, &lives, NULL, &thresholds, &hits));
    assert_true(obj_shortage_of(&t, &hits, &t.refusals.data[0], &shortage));
}

static void expect_room(size_t place, ana_pattern pattern, uint32_t object, uint64_t bytes)
{
    assert_true(place < shortage.rooms.count);
    const obj_room *room = &shortage.rooms.data[place];
    assert_int_equal(hits.data[room->hit].pattern, pattern);
    assert_int_equal(hits.data[room->hit].object, object);
    assert_int_equal(room->bytes, bytes);
}

/* 700 bytes are held when 600 are asked for and 300 are free: `old` is not used any more, `late` not
 * yet; either has 200, and both 300 together. What is freed before, or comes after, does not count. */
static void kept_and_early(void **state)
{
    uint32_t gone, old, late, used, after;
    (void)state;
    tale_allocate(&t, TALE_HOST, 50, &gone);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, gone);
    tale_free(&t, TALE_HOST, gone);
    tale_allocate(&t, TALE_HOST, 200, &old);
    tale_allocate(&t, TALE_HOST, 100, &late);
    tale_allocate(&t, TALE_HOST, 400, &used);
    tale_launch(&t, TALE_LEGACY, old, used);
    refuse(600, 300);
    tale_launch(&t, TALE_LEGACY, used, OBJ_NONE);
    tale_allocate(&t, TALE_HOST, 500, &after);
    tale_launch(&t, TALE_LEGACY, used, late);
    tale_launch(&t, TALE_LEGACY, used, after);
    tale_free(&t, TALE_HOST, old);
    tale_free(&t, TALE_HOST, late);
    analyse();
    assert_int_equal(shortage.in_use, 700);
    assert_int_equal(shortage.missing, 300);
    assert_int_equal(shortage.held.count, 3);
    assert_int_equal(shortage.held.data[0].object, used);
    assert_int_equal(shortage.held.data[1].object, old);
    assert_int_equal(shortage.rooms.count, 2);
    expect_room(0, ANA_LATE_DEALLOCATION, old, 200);
    expect_room(1, ANA_EARLY_ALLOCATION, late, 100);
    assert_int_equal(shortage.room, 300);
}

/* No more changes than are needed. */
static void as_much_as_is_missing(void **state)
{
    uint32_t a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 200, &a);
    tale_allocate(&t, TALE_HOST, 100, &b);
    refuse(320, 200);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    analyse();
    assert_int_equal(shortage.rooms.count, 1);
    expect_room(0, ANA_UNUSED_ALLOCATION, a, 200);
}

/* Nothing follows: whether `a` would have been used again nobody knows. What was larger than need be
 * was so all the same. */
static void end_of_the_process(void **state)
{
    uint32_t a;
    (void)state;
    tale_allocate(&t, TALE_HOST, 200, &a);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, a);
    refuse(320, 200);
    tale_free(&t, TALE_HOST, a);
    analyse();
    assert_true(obj_ends_by_shortage(&t));
    assert_int_equal(shortage.missing, 120);
    assert_int_equal(shortage.rooms.count, 0);
    for (size_t i = 0; i < hits.count; i++)
        assert_true(hits.data[i].possible);
    obj_hit larger = {.pattern = ANA_OVERALLOCATION,
                      .object = a,
                      .other = OBJ_NONE,
                      .from = OBJ_NONE,
                      .to = OBJ_NONE,
                      .keeps = 60};
    assert_true(wl_push(&hits, larger));
    obj_shortage_free(&shortage);
    assert_true(obj_shortage_of(&t, &hits, &t.refusals.data[0], &shortage));
    expect_room(0, ANA_OVERALLOCATION, a, 140);
}

/* A copy after it: the process went on. */
static void process_goes_on(void **state)
{
    uint32_t a;
    (void)state;
    tale_allocate(&t, TALE_HOST, 200, &a);
    refuse(320, 200);
    tale_copy_in(&t, TALE_LEGACY, a);
    analyse();
    assert_false(obj_ends_by_shortage(&t));
    assert_false(hits.count && hits.data[0].possible);
}

/* Objects of one place are one row; what is free is not missing. */
static void sites(void **state)
{
    uint32_t a, b;
    (void)state;
    tale_allocate(&t, TALE_HOST, 100, &a);
    tale_allocate(&t, TALE_HOST, 150, &b);
    t.objects.data[b].site = t.objects.data[a].site;
    refuse(320, 400);
    analyse();
    assert_int_equal(shortage.missing, 0);
    assert_int_equal(shortage.held.count, 1);
    assert_int_equal(shortage.held.data[0].object, b);
    assert_int_equal(shortage.held.data[0].count, 2);
    assert_int_equal(shortage.held.data[0].bytes, 250);
    assert_int_equal(shortage.rooms.count, 0);
}

/* What the program divides is told by its parts, and what none of them has. */
static void parts(void **state)
{
    uint32_t pool, a, b, c;
    (void)state;
    tale_allocate(&t, TALE_HOST, 1000, &pool);
    tale_allocate(&t, TALE_HOST, 50, &c);
    tale_part(&t, pool, 300, &a);
    tale_part(&t, pool, 200, &b);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, a);
    tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    tale_free(&t, TALE_HOST, b);
    refuse(320, 200);
    tale_launch(&t, TALE_LEGACY, c, c);
    tale_free(&t, TALE_HOST, a);
    analyse();
    const obj_held *held = shortage.held.data;
    assert_int_equal(shortage.in_use, 1050);
    assert_int_equal(shortage.held.count, 3);
    assert_true(held[0].object == pool && held[0].rest && held[0].bytes == 700);
    assert_true(held[1].object == a && !held[1].rest && held[1].bytes == 300);
    assert_true(held[2].object == c && !held[2].rest && held[2].bytes == 50);
    expect_room(0, ANA_LATE_DEALLOCATION, a, 300);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(kept_and_early),
        TEST(as_much_as_is_missing),
        TEST(end_of_the_process),
        TEST(process_goes_on),
        TEST(sites),
        TEST(parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
