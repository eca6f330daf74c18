/* What of objects launches access: cases worked by hand, and random courses against arrays of
 * flags. */
#include "support/random.h"
#include "support/test.h"
#include "tale.h"

#include "analysis/objects/order.h"
#include "analysis/objects/savings.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_SETS = 64, MOST_ELEMENTS = 64 };

static obj_trace t;
static uint32_t *levels;
static obj_lives lives;
static obj_extent *extents;
static obj_hits hits;
static obj_plan plan;
static wl_spans sets[MOST_SETS]; /* from 1 on: what obj_access.part numbers */
static uint32_t nsets;

static int begin(void **state)
{
    (void)state;
    tale_begin(&t);
    nsets = 0;
    return 0;
}

static int end(void **state)
{
    (void)state;
    free(levels);
    free(extents);
    obj_lives_free(&lives);
    wl_vec_free(&hits);
    obj_plan_free(&plan);
    tale_end(&t);
    for (uint32_t i = 1; i <= nsets; i++)
        wl_spans_free(&sets[i]);
    levels = NULL;
    extents = NULL;
    lives = (obj_lives){0};
    plan = (obj_plan){0};
    return 0;
}

static bool read_set(void *ctx, uint32_t elements, wl_span_reader *out)
{
    (void)ctx;
    *out = wl_spans_read(sets[elements].data, sets[elements].size, false);
    return elements <= nsets;
}

/* Elements from `first` on, `runs` times `count` of them, `step` apart. */
static uint32_t elements_of(uint64_t first, uint64_t count, uint64_t runs, uint64_t step)
{
    wl_spans *s = &sets[++nsets];
    *s = (wl_spans){0};
    for (uint64_t i = 0; i < runs; i++) {
        wl_span span = {.first = first + i * step, .count = count};
        wl_spans_add(s, &span);
    }
    assert_true(wl_spans_finish(s));
    return nsets;
}

static uint32_t launch_on(uint32_t object, uint32_t elements)
{
    obj_access a = {.object = object, .how = OBJ_WRITE, .part = elements};
    uint32_t op = tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    t.ops.data[op].accesses = obj_trace_add_set(&t, &a, 1);
    return op;
}

static void measure(void)
{
    ana_thresholds thresholds = ana_thresholds_default();
    levels = obj_order(&t);
    assert_non_null(levels);
    assert_true(obj_lives_of(&t, levels, &thresholds, &lives));
    extents = obj_extents_of(&t, &lives, read_set, NULL);
    assert_non_null(extents);
}

static void analyse(void)
{
    ana_thresholds thresholds = ana_thresholds_default();
    measure();
    assert_true(obj_find_patterns(&t, levels, &lives, extents, &thresholds, &hits));
    assert_true(obj_plan_savings(&t, 0.01, &hits, &plan));
}

static const obj_hit *hit_of(ana_pattern pattern)
{
    for (size_t i = 0; i < hits.count; i++)
        if (hits.data[i].pattern == pattern)
            return &hits.data[i];
    return NULL;
}

/* ---- overallocation ---- */

/* Two launches use the first 300 and 500 bytes of 4,000: 500 are enough. */
static void end_is_unused(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    launch_on(o, elements_of(0, 75, 1, 0));
    launch_on(o, elements_of(50, 75, 1, 0));
    tale_free(&t, TALE_HOST, o);
    analyse();
    assert_true(extents[o].known);
    assert_int_equal(extents[o].elements, 1000);
    assert_int_equal(extents[o].touched, 125);
    assert_int_equal(extents[o].hole.first, 125);
    assert_int_equal(extents[o].hole.count, 875);
    const obj_hit *hit = hit_of(ANA_OVERALLOCATION);
    assert_non_null(hit);
    assert_true(obj_is_unused_at_ends(&extents[o]));
    assert_false(hit->possible);
    assert_int_equal(hit->keeps, 500);
    assert_int_equal(hit->saves, 3500);
    assert_int_equal(plan.devices[0].after, 500);
}

/* 200 of 400 bytes are enough; beside 1 MiB that is no step of a plan. */
static void little_is_no_step(void **state)
{
    (void)state;
    uint32_t small, large;
    tale_allocate(&t, TALE_HOST, 400, &small);
    tale_allocate(&t, TALE_HOST, 1 << 20, &large);
    const obj_access both[] = {
        {.object = small, .how = OBJ_WRITE, .part = elements_of(0, 50, 1, 0)},
        {.object = large, .how = OBJ_WRITE, .part = elements_of(0, 1 << 18, 1, 0)}};
    uint32_t op = tale_launch(&t, TALE_LEGACY, OBJ_NONE, OBJ_NONE);
    t.ops.data[op].accesses = obj_trace_add_set(&t, both, 2);
    tale_free(&t, TALE_HOST, small);
    tale_free(&t, TALE_HOST, large);
    analyse();
    const obj_hit *hit = hit_of(ANA_OVERALLOCATION);
    assert_non_null(hit);
    assert_int_equal(hit->object, small);
    assert_int_equal(hit->saves, 200);
    assert_false(hit->planned);
    assert_int_equal(plan.devices[0].after, (1 << 20) + 400);
}

/* 100 elements at each end of 1,000 are used: 800 in between can be left out. */
static void middle_is_unused(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    launch_on(o, elements_of(0, 100, 2, 900));
    analyse();
    assert_int_equal(extents[o].hole.first, 100);
    assert_int_equal(extents[o].hole.count, 800);
    assert_false(obj_is_unused_at_ends(&extents[o]));
    assert_int_equal(hit_of(ANA_OVERALLOCATION)->keeps, 800);
}

/* Every fourth element is used: few, but the rest lies scattered. */
static void scattered_is_told_nothing_of(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    launch_on(o, elements_of(0, 1, 250, 4));
    analyse();
    assert_int_equal(extents[o].touched, 250);
    assert_null(hit_of(ANA_OVERALLOCATION));
}

/* Four fifths are used: enough. One element less is too few. */
static void threshold_of_use(void **state)
{
    (void)state;
    uint32_t o, less;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    tale_allocate(&t, TALE_HOST, 4000, &less);
    launch_on(o, elements_of(0, 800, 1, 0));
    launch_on(less, elements_of(0, 799, 1, 0));
    analyse();
    assert_int_equal(hit_of(ANA_OVERALLOCATION)->object, less);
    for (size_t i = 0; i < hits.count; i++)
        assert_true(hits.data[i].object == less || hits.data[i].pattern != ANA_OVERALLOCATION);
}

/* One launch whose elements are not known, or of which nothing is, rules it out. */
static void all_launches_must_be_known(void **state)
{
    (void)state;
    uint32_t o, other;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    launch_on(o, elements_of(0, 10, 1, 0));
    launch_on(o, 0);
    tale_free(&t, TALE_HOST, o);
    tale_allocate(&t, TALE_HOST, 4000, &other);
    launch_on(other, 1);
    tale_launch_unknown(&t, TALE_LEGACY);
    analyse();
    assert_false(extents[o].known);
    assert_false(extents[other].known);
    assert_null(hit_of(ANA_OVERALLOCATION));
}

/* An object that is divided has its elements in its parts. */
static void divided_is_not_known(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    t.objects.data[o].divided = true;
    launch_on(o, elements_of(0, 10, 1, 0));
    analyse();
    assert_false(extents[o].known);
}

/* What another object gets of it may be needed. The host's copy has to be shortened: no doubt. */
static void copies_beside_it(void **state)
{
    (void)state;
    uint32_t o, copy, in;
    tale_allocate(&t, TALE_HOST, 4000, &o);
    in = tale_copy_in(&t, TALE_LEGACY, o);
    launch_on(o, elements_of(0, 10, 1, 0));
    analyse();
    assert_false(hit_of(ANA_OVERALLOCATION)->possible);
    assert_int_equal(extents[o].by_host.op, in);
    assert_int_equal(extents[o].by_host.bytes, 4000);
    end(NULL);
    begin(NULL);
    tale_allocate(&t, TALE_HOST, 4000, &o);
    tale_allocate(&t, TALE_HOST, 4000, &copy);
    launch_on(o, elements_of(0, 10, 1, 0));
    obj_access both[] = {tale_access(&t, o, OBJ_READ), tale_access(&t, copy, OBJ_WRITE)};
    uint32_t op = tale_copy_in(&t, TALE_LEGACY, o);
    t.ops.data[op].accesses = obj_trace_add_set(&t, both, 2);
    analyse();
    assert_true(hit_of(ANA_OVERALLOCATION)->possible);
    assert_int_equal(extents[o].on_device.op, op);
}

/* ---- slices ---- */

/* Gram-Schmidt's R, 4 x 8: two launches on the diagonal's element, one on the rest of the row. Both
 * are slices: the longest has 7 elements. */
static void rows_one_after_another(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 128, &o);
    for (uint32_t row = 0; row < 4; row++) {
        uint32_t diagonal = elements_of(8 * row, 1, 1, 0), rest = elements_of(8 * row + 1, 7, 1, 0);
        launch_on(o, diagonal);
        launch_on(o, diagonal);
        launch_on(o, rest);
    }
    analyse();
    assert_int_equal(extents[o].slices, 8);
    assert_int_equal(extents[o].longest, 7);
    assert_int_equal(hit_of(ANA_STRUCTURED_ACCESS)->keeps, 28);
    assert_int_equal(plan.devices[0].after, 28);
}

/* Launches that share elements access one slice: here all eight of a row. */
static void launches_that_overlap_share_a_slice(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 128, &o);
    for (uint32_t row = 0; row < 4; row++) {
        launch_on(o, elements_of(8 * row, 5, 1, 0));
        launch_on(o, elements_of(8 * row + 3, 5, 1, 0));
        launch_on(o, elements_of(8 * row, 1, 1, 0));
    }
    analyse();
    assert_int_equal(extents[o].slices, 4);
    assert_int_equal(extents[o].longest, 8);
}

/* Whoever comes back to a slice, by the same elements or by others, needs all of them. */
static void coming_back_is_no_structure(void **state)
{
    (void)state;
    uint32_t o, other, first;
    tale_allocate(&t, TALE_HOST, 128, &o);
    tale_allocate(&t, TALE_HOST, 128, &other);
    first = elements_of(0, 8, 1, 0);
    uint32_t second = elements_of(8, 8, 1, 0), within = elements_of(3, 1, 1, 0);
    launch_on(o, first);
    launch_on(o, second);
    launch_on(o, first);
    launch_on(other, first);
    launch_on(other, second);
    launch_on(other, within);
    analyse();
    assert_int_equal(extents[o].slices, 0);
    assert_int_equal(extents[other].slices, 0);
    assert_null(hit_of(ANA_STRUCTURED_ACCESS));
}

/* Another object gets more than a slice at once: then all of them have to be there. */
static void copied_whole_on_device(void **state)
{
    (void)state;
    uint32_t o, copy;
    tale_allocate(&t, TALE_HOST, 128, &o);
    tale_allocate(&t, TALE_HOST, 128, &copy);
    launch_on(o, elements_of(0, 16, 1, 0));
    launch_on(o, elements_of(16, 16, 1, 0));
    obj_access both[] = {tale_access(&t, o, OBJ_READ), tale_access(&t, copy, OBJ_WRITE)};
    uint32_t op = tale_copy_in(&t, TALE_LEGACY, o);
    t.ops.data[op].accesses = obj_trace_add_set(&t, both, 2);
    analyse();
    assert_int_equal(extents[o].slices, 2);
    assert_null(hit_of(ANA_STRUCTURED_ACCESS));
}

/* A slice of 20 of 50 used elements keeps less than leaving out what is unused, of 200. */
static void less_of_both_is_told(void **state)
{
    (void)state;
    uint32_t o;
    tale_allocate(&t, TALE_HOST, 800, &o);
    launch_on(o, elements_of(0, 20, 1, 0));
    launch_on(o, elements_of(20, 20, 1, 0));
    launch_on(o, elements_of(40, 10, 1, 0));
    analyse();
    assert_null(hit_of(ANA_OVERALLOCATION));
    assert_int_equal(hit_of(ANA_STRUCTURED_ACCESS)->keeps, 80);
}

/* ---- against flags ---- */

typedef struct flags {
    bool of[MOST_ELEMENTS];
} flags;

static flags flags_of(uint32_t set)
{
    flags f = {0};
    wl_span_reader reader = wl_spans_read(sets[set].data, sets[set].size, false);
    for (wl_span span; wl_span_next(&reader, &span);)
        memset(&f.of[span.first], 1, span.count);
    return f;
}

static bool share_elements(const flags *a, const flags *b)
{
    for (int i = 0; i < MOST_ELEMENTS; i++)
        if (a->of[i] && b->of[i])
            return true;
    return false;
}

static void add_flags(flags *a, const flags *b)
{
    for (int i = 0; i < MOST_ELEMENTS; i++)
        a->of[i] |= b->of[i];
}

/* Slices by their definition; 0 where two overlap, or there is one. */
static uint32_t count_slices(const uint32_t *course, uint32_t n, uint32_t *longest)
{
    flags slices[32];
    uint32_t count = 0;
    *longest = 0;
    for (uint32_t i = 0; i < n; i++) {
        flags f = flags_of(course[i]);
        if (count && share_elements(&slices[count - 1], &f))
            add_flags(&slices[count - 1], &f);
        else
            slices[count++] = f;
    }
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (share_elements(&slices[a], &slices[b]))
                return 0;
    for (uint32_t a = 0; a < count; a++) {
        uint32_t first = 0, last = MOST_ELEMENTS - 1;
        while (!slices[a].of[first])
            first++;
        while (!slices[a].of[last])
            last--;
        *longest = last - first + 1 > *longest ? last - first + 1 : *longest;
    }
    *longest = count < 2 ? 0 : *longest;
    return count < 2 ? 0 : count;
}

static void expect_extent(const flags *all, const obj_extent *e)
{
    uint32_t touched = 0, run = 0, most = 0;
    for (int i = 0; i < MOST_ELEMENTS; i++) {
        touched += all->of[i];
        run = all->of[i] ? 0 : run + 1;
        most = run > most ? run : most;
    }
    assert_int_equal(e->touched, touched);
    assert_int_equal(e->hole.count, most);
    for (uint64_t i = 0; i < e->hole.count; i++)
        assert_false(all->of[e->hole.first + i]);
    assert_true(all->of[e->used.first] && all->of[e->used.first + e->used.count - 1]);
    for (uint64_t i = 0; i < MOST_ELEMENTS; i++)
        if (i < e->used.first || i >= e->used.first + e->used.count)
            assert_false(all->of[i]);
}

static void random_courses(void **state)
{
    enum { COURSES = 10000 };
    uint64_t seed = 17;
    (void)state;
    uint32_t structured = 0;
    for (int i = 0; i < COURSES; i++) {
        uint32_t o, course[16], n = 1 + (uint32_t)random_below(&seed, 8), longest;
        uint64_t at = 0;
        flags all = {0};
        end(NULL);
        begin(NULL);
        tale_allocate(&t, TALE_HOST, (uint64_t)MOST_ELEMENTS * 4, &o);
        for (uint32_t k = 0; k < n; k++) { /* mostly upwards, now and then anywhere or again */
            uint64_t count = 1 + random_below(&seed, 6);
            at = at < 56 && random_below(&seed, 8) ? at : random_below(&seed, 40);
            bool again = k && random_below(&seed, 6) == 0;
            course[k] = again ? course[k - 1]
                              : elements_of(at, 1 + random_below(&seed, count), 1, 0);
            at += again ? 0 : count;
            launch_on(o, course[k]);
            flags f = flags_of(course[k]);
            add_flags(&all, &f);
        }
        measure();
        assert_true(extents[o].known);
        expect_extent(&all, &extents[o]);
        assert_int_equal(extents[o].slices, count_slices(course, n, &longest));
        assert_int_equal(extents[o].longest, longest);
        structured += extents[o].slices > 0;
    }
    assert_in_range(structured, COURSES / 20, COURSES - COURSES / 20);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
    const struct CMUnitTest tests[] = {
        TEST(end_is_unused),
        TEST(little_is_no_step),
        TEST(middle_is_unused),
        TEST(scattered_is_told_nothing_of),
        TEST(threshold_of_use),
        TEST(all_launches_must_be_known),
        TEST(divided_is_not_known),
        TEST(copies_beside_it),
        TEST(rows_one_after_another),
        TEST(launches_that_overlap_share_a_slice),
        TEST(coming_back_is_no_structure),
        TEST(copied_whole_on_device),
        TEST(less_of_both_is_told),
        TEST(random_courses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
