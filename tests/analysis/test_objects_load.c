/* From a profile to findings about memory: what the loader makes of calls and launches, and what
 * findings say. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/finding.h"
#include "analysis/tables.h"

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
    unlink(story_path("objects.wlprof"));
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
    story_expect(prof_create(story_path("objects.wlprof"), &options, &builder, &err), &err);
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

static void allocate(uint32_t object, cap_object_kind kind)
{
    uint32_t by = call("cudaMalloc", CAP_CALL_ALLOC, 0, 0);
    cap_record r = story_object(object, by, 0x7f0000000000 + 0x1000000 * (uint64_t)object, MIB);
    r.object.kind = kind;
    add(r);
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

static void launch_unseen(void)
{
    uint32_t by = call("cudaLaunchKernel", CAP_CALL_LAUNCH, 0, 0);
    add((cap_record){.type = CAP_SKIPPED, .skipped = {"_Z4hidev", "it has no code", by}});
}

static void end(ana_findings *out)
{
    ana_thresholds thresholds = ana_thresholds_default();
    add(story_end());
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("objects.wlprof"), &db, &err), &err);
    story_expect(ana_find(db, &thresholds, arena, out, &err), &err);
    assert_true(out->replayed);
}

static const ana_finding *finding_of(const ana_findings *all, ana_pattern pattern, uint32_t object)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (all->rows[i].pattern == pattern && all->rows[i].object == object)
            return &all->rows[i];
    return NULL;
}

static void expect_text(const char *text, const char *expected)
{
    if (strcmp(text, expected) != 0)
        fail_msg("'%s' instead of '%s'", text, expected);
}

/* Objects 1 and 2 are needed one after the other, 3 by nobody; what is set is copied over. */
static void program(void **state)
{
    (void)state;
    ana_findings all;
    ana_memory memory;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    allocate(2, CAP_OBJECT_DEVICE);
    allocate(3, CAP_OBJECT_DEVICE);
    launch(1);
    call("cudaMemset", CAP_CALL_SET, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    free_object(1);
    free_object(2);
    free_object(3);
    end(&all);
    story_expect(ana_memory_table(db, arena, &memory, &err), &err);
    assert_int_equal(memory.peak_bytes, 3 * MIB);
    assert_int_equal(all.peak_after, MIB);

    const ana_finding *dead = finding_of(&all, ANA_DEAD_WRITE, 2);
    assert_non_null(dead);
    expect_text(dead->summary,
                "What the memset writes is replaced by the copy, and nothing reads it in "
                "between: 1.0 MiB in vain.");
    assert_int_equal(dead->cost.excess, MIB);
    assert_true(dead->cost.share_of_program > 0.33 && dead->cost.share_of_program < 0.34);
    assert_false(dead->saving.known);

    const ana_finding *unused = finding_of(&all, ANA_UNUSED_ALLOCATION, 3);
    assert_non_null(unused);
    expect_text(unused->summary, "No copy, no set and no kernel accesses its 1.0 MiB.");
    assert_int_equal(unused->certainty, ANA_CERTAINTY_COUNTED);
    assert_true(unused->saving.bytes == MIB && unused->saving.step);

    const ana_finding *late = finding_of(&all, ANA_LATE_DEALLOCATION, 1),
                      *early = finding_of(&all, ANA_EARLY_ALLOCATION, 2),
                      *reuse = finding_of(&all, ANA_REDUNDANT_ALLOCATION, 2);
    assert_non_null(late);
    assert_non_null(early);
    assert_non_null(reuse);
    expect_text(late->remedy,
                "Free " ANA_OBJECT " just after the launch of scale, which is its last use.");
    expect_text(early->summary,
                "Its 1.0 MiB are allocated 2 calls before their first use, the memset.");
    assert_true(late->saving.step && early->saving.step && !reuse->saving.step);
    assert_int_equal(reuse->saving.bytes, MIB);
}

/* A launch that was not seen may use anything; managed memory is used by the host. */
static void what_is_not_seen(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    allocate(2, CAP_OBJECT_DEVICE);
    launch_unseen();
    allocate(3, CAP_OBJECT_MANAGED);
    launch(1);
    free_object(2);
    free_object(3);
    free_object(1);
    end(&all);
    const ana_finding *managed = finding_of(&all, ANA_UNUSED_ALLOCATION, 3);
    assert_null(finding_of(&all, ANA_UNUSED_ALLOCATION, 2));
    assert_non_null(managed);
    assert_int_equal(managed->certainty, ANA_CERTAINTY_POSSIBLE);
    assert_true(strstr(managed->summary, "those of managed memory by the host") != NULL);
    assert_int_equal(all.peak_after, 3 * MIB); /* what is possible only is no part of the plan */
}

/* What is copied in long before it is used can be put off, with its allocation. */
static void idle_since_copied_in(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 1);
    allocate(2, CAP_OBJECT_DEVICE);
    for (uint32_t i = 0; i < 20; i++)
        call("cudaMemset", CAP_CALL_SET, 0, 2), call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    free_object(2);
    launch(1);
    free_object(1);
    end(&all);
    const ana_finding *f = finding_of(&all, ANA_TEMPORARY_IDLENESS, 1);
    assert_non_null(f);
    expect_text(f->remedy, "Put off the copy, and the allocation of " ANA_OBJECT
                           ", until just before the launch of scale. What is copied must still be "
                           "there, and the same.");
    assert_int_equal(all.peak_after, MIB);
}

/* What a kernel made has to be kept somewhere meanwhile. */
static void idle_since_launch(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    launch(1);
    allocate(2, CAP_OBJECT_DEVICE);
    for (uint32_t i = 0; i < 20; i++)
        call("cudaMemcpy", CAP_CALL_COPY, 0, 2), call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    free_object(2);
    launch(2);
    free_object(1);
    end(&all);
    const ana_finding *f = finding_of(&all, ANA_TEMPORARY_IDLENESS, 1);
    assert_non_null(f);
    expect_text(f->remedy, "Copy " ANA_OBJECT
                           " to the host and free it after the launch of scale; allocate it again "
                           "and copy it back before the launch of scale.");
}

/* What a program does not free before it ends is one finding of little gain. */
static void left_to_the_end(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    allocate(2, CAP_OBJECT_DEVICE);
    call("cudaMemcpy", CAP_CALL_COPY, 0, 2);
    launch(1);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    end(&all);
    const ana_finding *one = finding_of(&all, ANA_LEAK, 1), *two = finding_of(&all, ANA_LEAK, 2);
    assert_true(one && two);
    assert_int_equal(one->gain, ANA_GAIN_AT_EXIT);
    assert_int_equal(one->number, two->number);
    expect_text(one->summary, "Nothing frees its 1.0 MiB before the process ends.");
    expect_text(one->remedy, "Free " ANA_OBJECT " after its last use.");
    assert_int_equal(all.peak_after, 2 * MIB);
}

/* 1 MiB is held by object 1, which is not used any more, when as much is refused; object 2 is used
 * after that. The launch reads object 1. */
static void refused(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate(1, CAP_OBJECT_DEVICE);
    allocate(2, CAP_OBJECT_DEVICE);
    launch(1);
    cap_record r = story_call(++calls, "cudaMalloc", CAP_CALL_ALLOC);
    r.call.ordinal = ++ordinals;
    r.call.bytes = MIB;
    r.call.result = 2;
    add(r);
    add((cap_record){.type = CAP_REFUSAL, .refusal = {calls, MIB / 4, 4 * MIB}});
    call("cudaMemset", CAP_CALL_SET, 0, 2);
    call("cudaMemcpy", CAP_CALL_COPY, 2, 0);
    free_object(1);
    free_object(2);
    end(&all);
    const ana_finding *f = finding_of(&all, ANA_OUT_OF_MEMORY, 0);
    assert_non_null(f);
    assert_ptr_equal(f, &all.rows[0]); /* what failed comes first */
    assert_int_equal(f->cost.excess, MIB / 4 * 3);
    assert_int_equal(f->refusal->requested, MIB);
    assert_int_equal(f->refusal->in_use, 2 * MIB);
    assert_int_equal(f->refusal->nrooms, 1);
    assert_int_equal(f->refusal->rooms[0].object, 1);
    assert_true(strstr(f->summary,
                       "asked for 1.0 MiB when 256 KiB of the device's 4.0 MiB were free."));
    assert_true(strstr(f->advice, "Make room for 768 KiB before it: free "));
}

/* A part of object 1, the quarter of it with this number. */
static void allocate_part(uint32_t object, uint32_t quarter)
{
    uint32_t by = call("warplens_alloc", CAP_CALL_ALLOC, 0, 0);
    cap_record r = story_object(object, by, 0x7f0001000000 + (uint64_t)quarter * MIB / 4, MIB / 4);
    r.object.parent = 1;
    add(r);
}

static void allocate_arena(void)
{
    allocate(1, CAP_OBJECT_DEVICE);
    add((cap_record){.type = CAP_ANNOTATION, .annotation = {1, "arena", 0}});
    for (uint32_t i = 0; i < 3; i++)
        allocate_part(2 + i, i);
}

static void copy_bytes(const char *api, cap_call_kind kind, uint32_t source, uint32_t target,
                       uint64_t bytes)
{
    cap_record r = story_call(++calls, api, kind);
    r.call.ordinal = ++ordinals;
    r.call.source_object = source;
    r.call.target_object = target;
    r.call.bytes = bytes;
    add(r);
}

static void free_arena(void)
{
    for (uint32_t i = 4; i > 0; i--)
        free_object(i);
}

/* The first half of the arena is set: parts 2 and 3, of which 2 is copied over unread. 4 is nobody's. */
static void parts(void **state)
{
    (void)state;
    ana_findings all;
    ana_pools pools;
    begin();
    allocate_arena();
    copy_bytes("cudaMemset", CAP_CALL_SET, 0, 1, MIB / 2);
    copy_bytes("cudaMemcpy", CAP_CALL_COPY, 0, 2, MIB / 4);
    copy_bytes("cudaMemcpy", CAP_CALL_COPY, 3, 0, MIB / 4);
    free_arena();
    end(&all);
    const ana_finding *unused = finding_of(&all, ANA_UNUSED_ALLOCATION, 4),
                      *dead = finding_of(&all, ANA_DEAD_WRITE, 2);
    assert_non_null(unused);
    expect_text(unused->summary,
                "No copy, no set and no kernel accesses its 256 KiB. What that saves is of the own "
                "peak of the pool \"arena\"; whether the device's peak falls with it depends on "
                "the pool's allocator.");
    assert_int_equal(unused->saving.pool, 1);
    assert_int_equal(unused->saving.bytes, MIB / 4);
    assert_non_null(dead);
    assert_int_equal(dead->cost.excess, MIB / 4);
    assert_null(finding_of(&all, ANA_DEAD_WRITE, 3));
    assert_null(finding_of(&all, ANA_DEAD_WRITE, 1));
    assert_null(finding_of(&all, ANA_UNUSED_ALLOCATION, 3));
    assert_int_equal(all.peak_after, MIB); /* of the device */
    story_expect(ana_pool_table(db, arena, &pools, &err), &err);
    assert_int_equal(pools.rows[0].most_used, 3 * MIB / 4);
}

/* The kernel accesses object 1, and it is not known which part of that. */
static void parts_that_may_be_used(void **state)
{
    (void)state;
    ana_findings all;
    begin();
    allocate_arena();
    launch(1);
    free_arena();
    end(&all);
    for (uint32_t i = 1; i <= 4; i++)
        assert_null(finding_of(&all, ANA_UNUSED_ALLOCATION, i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(program, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_seen, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(idle_since_copied_in, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(idle_since_launch, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(left_to_the_end, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(parts_that_may_be_used, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
