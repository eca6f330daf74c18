/* The course of memory: from recorded calls to the rows that the report's view is drawn from. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/tables.h"
#include "analysis/tables/course.h"

#include <string.h>
#include <unistd.h>

enum { MIB = 1 << 20 };

static wl_error err;
static prof_builder *builder;
static prof_db *db;
static uint32_t calls;
static uint64_t ordinals;

static int tear_down(void **state)
{
    prof_close(db);
    db = NULL;
    unlink(story_path("course.wlprof"));
    return arena_tear_down(state);
}

static void add(cap_record record)
{
    story_expect(prof_add(builder, &record, &err), &err);
}

static void begin(void)
{
    prof_options options = {.force = true};
    calls = 0;
    ordinals = 0;
    story_expect(prof_create(story_path("course.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    add(story_process("/src/app"));
    add(story_device());
    add(story_module(1));
}

static uint32_t call(const char *api, cap_call_kind kind, uint32_t source, uint32_t target)
{
    cap_record r = story_call(++calls, api, kind);
    r.call.ordinal = ++ordinals;
    r.call.source_object = source;
    r.call.target_object = target;
    r.call.bytes = source || target ? MIB : 0;
    add(r);
    return calls;
}

static void allocate(uint32_t object)
{
    uint32_t by = call("cudaMalloc", CAP_CALL_ALLOC, 0, 0);
    add(story_object(object, by, 0x7f0000000000 + 0x1000000 * (uint64_t)object, MIB));
}

static void free_object(uint32_t object)
{
    add(story_free(object, call("cudaFree", CAP_CALL_FREE, 0, 0)));
}

/* Of the kernel that accesses object 1. */
static void launch(uint32_t id)
{
    uint32_t by = call("cudaLaunchKernel", CAP_CALL_LAUNCH, 0, 0);
    cap_record r = story_launch(id, by, 0x7f0001000000);
    r.launch.ordinal = ++ordinals;
    add(r);
}

static const ana_course *end_with(ana_findings *findings, uint32_t most)
{
    ana_courses courses;
    ana_thresholds thresholds = ana_thresholds_default();
    add(story_end());
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("course.wlprof"), &db, &err), &err);
    story_expect(ana_find(db, &thresholds, arena, findings, &err), &err);
    story_expect(ana_course_table(db, findings, most, arena, &courses, &err), &err);
    assert_int_equal(courses.count, 1);
    return &courses.rows[0];
}

static const ana_course *end(ana_findings *findings)
{
    return end_with(findings, UINT32_MAX);
}

static const ana_course_change *change_of(const ana_course *c, ana_pattern pattern, uint32_t id)
{
    for (uint32_t i = 0; i < c->nchanges; i++) {
        const ana_course_change *change = &c->changes[i];
        if (change->pattern == pattern && c->objects[c->hits[change->first].object].id == id)
            return change;
    }
    return NULL;
}

static void expect_kinds(const ana_course *c, const uint8_t *kinds, uint32_t count)
{
    assert_int_equal(c->nops, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(c->ops[i].kind, kinds[i]);
}

static void expect_access(const ana_course *c, uint32_t op, uint32_t object, uint32_t how)
{
    const ana_course_set *set = &c->sets[c->ops[op].accesses];
    assert_int_equal(set->count, 1);
    assert_int_equal(c->objects[c->accesses[set->first].object].id, object);
    assert_int_equal(c->accesses[set->first].how, how);
}

/* Object 1 is launched on, 2 set and copied, 3 not used. */
static void make_program(void)
{
    begin();
    allocate(1);
    allocate(2);
    allocate(3);
    launch(1);
    call("cudaMemset", CAP_CALL_SET, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    free_object(1);
    free_object(2);
    free_object(3);
}

static void operations_and_objects(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {OBJ_ALLOCATE, OBJ_ALLOCATE, OBJ_ALLOCATE, OBJ_LAUNCH, OBJ_SET,
                                    OBJ_COPY,     OBJ_COPY,     OBJ_FREE,     OBJ_FREE,   OBJ_FREE};
    ana_findings findings;
    make_program();
    const ana_course *c = end(&findings);
    expect_kinds(c, kinds, sizeof kinds);
    expect_access(c, 3, 1, OBJ_READ | OBJ_WRITE);
    expect_access(c, 4, 2, OBJ_WRITE);
    expect_access(c, 6, 2, OBJ_READ);
    assert_int_equal(c->sets[c->ops[0].accesses].count, 0);
    assert_true(c->ops[3].kernel && !c->ops[4].kernel);
    assert_string_equal(c->sites.rows[c->ops[4].site].api, "cudaMemset");
    assert_int_equal(c->ops[4].site == c->ops[5].site, false);
    assert_int_equal(c->ops[5].site, c->ops[6].site);
    assert_true(c->ops[1].start_ns - c->ops[0].start_ns == 10);
    assert_true(c->ops[5].waits && !c->ops[4].waits);
    assert_true(c->queues[c->ops[0].queue].kind == OBJ_QUEUE_THREAD &&
                c->queues[c->ops[4].queue].kind == OBJ_QUEUE_LEGACY);

    assert_int_equal(c->nobjects, 3);
    const ana_course_object *two = &c->objects[1], *three = &c->objects[2];
    assert_int_equal(two->id, 2);
    assert_true(two->allocate == 1 && two->begin == 1 && two->free == 8 && two->end == 8);
    assert_true(two->first == 4 && two->last == 6 && two->accesses == 3);
    assert_true(three->first == OBJ_NONE && three->last == OBJ_NONE && three->bytes == MIB);
    assert_true(two->counted && !two->fixed && two->ended == OBJ_FREED);
}

static void changes_and_peaks(void **state)
{
    (void)state;
    ana_findings findings;
    make_program();
    const ana_course *c = end(&findings);
    assert_int_equal(c->ndevices, 1);
    assert_int_equal(c->devices[0].peak, 3 * MIB);
    assert_int_equal(c->devices[0].peak_after, findings.peak_after);
    assert_int_equal(c->devices[0].moment, 2);

    const ana_course_change *early = change_of(c, ANA_EARLY_ALLOCATION, 2),
                            *late = change_of(c, ANA_LATE_DEALLOCATION, 1),
                            *reuse = change_of(c, ANA_REDUNDANT_ALLOCATION, 2),
                            *unused = change_of(c, ANA_UNUSED_ALLOCATION, 3),
                            *dead = change_of(c, ANA_DEAD_WRITE, 2);
    assert_true(early && late && reuse && unused && dead);
    assert_int_equal(early->effect, ANA_EFFECT_LATER);
    assert_int_equal(late->effect, ANA_EFFECT_SOONER);
    assert_int_equal(reuse->effect, ANA_EFFECT_REUSE);
    assert_int_equal(unused->effect, ANA_EFFECT_LEFT_OUT);
    assert_int_equal(dead->effect, ANA_EFFECT_NOTHING);
    const ana_course_hit *hit = &c->hits[early->first];
    assert_true(hit->from == 1 && hit->to == 4 && hit->calls == 2 && hit->step);
    assert_int_equal(c->objects[c->hits[reuse->first].other].id, 1);
    assert_true(reuse->saves == MIB && !c->hits[reuse->first].step);
    hit = &c->hits[dead->first];
    assert_true(hit->from == 4 && hit->to == 5 && hit->bytes == MIB);
    for (uint32_t i = 0; i < c->nchanges; i++) {
        const ana_course_change *change = &c->changes[i];
        assert_true(change->count && change->first + change->count <= c->nhits);
        for (uint32_t k = 0; change->number && k < findings.count; k++)
            if (findings.rows[k].number == change->number)
                assert_int_equal(findings.rows[k].pattern, change->pattern);
    }
    assert_true(early->number && unused->number && dead->number);
}

/* Launches side by side that do the same are one row, whatever refers to the last of them. */
static void launches_are_folded(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {OBJ_ALLOCATE, OBJ_LAUNCH, OBJ_ALLOCATE, OBJ_LAUNCH,
                                    OBJ_COPY,     OBJ_FREE,   OBJ_FREE};
    ana_findings findings;
    begin();
    allocate(1);
    launch(1);
    launch(2);
    launch(3);
    allocate(2);
    launch(4);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 2);
    free_object(1);
    free_object(2);
    const ana_course *c = end(&findings);
    expect_kinds(c, kinds, sizeof kinds);
    assert_int_equal(c->ops[1].count, 3);
    assert_int_equal(c->ops[3].count, 1);
    const ana_course_object *one = &c->objects[0], *two = &c->objects[1];
    assert_true(one->first == 1 && one->last == 3 && one->free == 5 && one->accesses == 4);
    assert_true(two->begin == 2 && two->first == 4);
    assert_int_equal(c->ops[1].level, 1);
    assert_int_equal(c->ops[2].level, 1); /* the host does not wait for the launches */
    assert_int_equal(c->ops[3].level, 4);
}

/* Of too many operations only those are left that something refers to. */
static void too_many_operations(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {OBJ_ALLOCATE, OBJ_ALLOCATE, OBJ_LAUNCH, OBJ_COPY,
                                    OBJ_COPY,     OBJ_LAUNCH,   OBJ_FREE,   OBJ_FREE};
    ana_findings findings;
    begin();
    allocate(1);
    allocate(2);
    launch(1);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    launch(2);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    launch(3);
    free_object(1);
    free_object(2);
    const ana_course *c = end_with(&findings, 10);
    expect_kinds(c, kinds, sizeof kinds);
    assert_int_equal(c->left_out, 3);
    const ana_course_object *one = &c->objects[0], *two = &c->objects[1];
    assert_true(one->first == 2 && one->last == 5 && one->free == 6);
    assert_true(two->begin == 1 && two->first == 3 && two->last == 4 && two->end == 7);
    assert_int_equal(c->devices[0].moment, 1);
}

/* The allocation of 4 MiB fails when the fourth operation is next. */
static void refused_allocations(void **state)
{
    (void)state;
    ana_findings findings;
    begin();
    allocate(1);
    allocate(2);
    launch(1);
    cap_record r = story_call(++calls, "cudaMalloc", CAP_CALL_ALLOC);
    r.call.ordinal = ++ordinals;
    r.call.bytes = 4 * MIB;
    r.call.result = 2;
    add(r);
    add((cap_record){.type = CAP_REFUSAL, .refusal = {calls, MIB / 4, 6 * MIB}});
    call("cudaMemset", CAP_CALL_SET, 0, 2);
    free_object(1);
    free_object(2);
    const ana_course *c = end(&findings);
    assert_int_equal(c->nrefusals, 1);
    const ana_course_refusal *refusal = &c->refusals[0];
    assert_true(refusal->at == 3 && refusal->device == 0);
    assert_true(refusal->bytes == 4 * MIB && refusal->free == MIB / 4 && refusal->total == 6 * MIB);
    assert_int_equal(c->nops, 6); /* what failed is no operation */
}

/* A part of object 1, the quarter of it with this number. */
static void allocate_part(uint32_t object, uint32_t quarter)
{
    uint32_t by = call("warplens_alloc", CAP_CALL_ALLOC, 0, 0);
    cap_record r = story_object(object, by, 0x7f0001000000 + (uint64_t)quarter * MIB / 4, MIB / 4);
    r.object.parent = 1;
    add(r);
}

/* Most of the pool is in use when its third part has come, and the first has not gone. */
static void peaks_of_pools(void **state)
{
    (void)state;
    ana_findings findings;
    ana_pools pools;
    begin();
    allocate(1);
    allocate_part(2, 0);
    allocate_part(3, 1);
    add(story_free(3, call("warplens_free", CAP_CALL_FREE, 0, 0)));
    allocate_part(4, 1);
    allocate_part(5, 2);
    for (uint32_t i = 5; i != 0; i = i == 4 ? 2 : i - 1)
        add(story_free(i, call("cudaFree", CAP_CALL_FREE, 0, 0)));
    const ana_course *course = end(&findings);
    story_expect(ana_pool_table(db, arena, &pools, &err), &err);
    const ana_course_device *d = course->devices;
    assert_int_equal(course->ndevices, 2);
    assert_true(d[0].pool == 0 && d[0].peak == MIB);
    assert_true(d[1].pool == 1 && d[1].peak == 3 * MIB / 4);
    assert_int_equal(d[1].peak, pools.rows[0].most_used);
    assert_int_equal(course->objects[1].device, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(operations_and_objects, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(changes_and_peaks, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_are_folded, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_many_operations, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused_allocations, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(peaks_of_pools, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
