/* What ended launches: the object that an access hit, or missed by least. */
#include "story.h"
#include "support/test.h"

#include <unistd.h>

static wl_error err;

enum { LOW = 0x10000, HIGH = 0x20000, GONE = 0x18000, BYTES = 0x1000 };

static cap_record fault_of(uint32_t launch, uint32_t in_memory, uint64_t address)
{
    return (cap_record){.type = CAP_FAULT,
                        .fault = {.launch = launch,
                                  .kind = "access outside of any allocation",
                                  .what = "reads 4 bytes",
                                  .pc = 3,
                                  .block = {1, 2, 3},
                                  .thread = {4, 5, 6},
                                  .in_memory = in_memory,
                                  .address = address,
                                  .bytes = 4}};
}

/* Objects 1 and 2 live, 3 is freed. */
static prof_builder *begin(const char *path)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    const cap_record head[] = {
        story_process("/src/app"),
        story_module(1),
        story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(1, 1, LOW, BYTES),
        story_object(2, 1, HIGH, BYTES),
        story_object(3, 1, GONE, BYTES),
        story_free(3, 1),
    };
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        story_expect(prof_add(builder, &head[i], &err), &err);
    return builder;
}

static void nearest_objects(void **state)
{
    static const struct {
        uint64_t address;
        uint32_t in_memory, object;
    } cases[] = {
        {LOW + BYTES, 1, 1},        /* the first byte after it */
        {LOW, 1, 1},                /* within */
        {LOW - 1, 1, 1},            /* before all */
        {HIGH - 1, 1, 2},           /* the last byte before it */
        {HIGH + BYTES + 999, 1, 2}, /* after all */
        {LOW + 2 * BYTES, 1, 1},    /* nearer to 1 than to 2 */
        {GONE, 1, 3},               /* freed memory that lay just there */
        {GONE + BYTES - 1, 1, 3},   /* its last byte */
        {GONE + BYTES, 1, 2},       /* after it: of what lives, 2 is nearer than 1 */
        {HIGH, 0, 0},               /* no address of global memory */
    };
    enum { COUNT = sizeof cases / sizeof *cases };
    (void)state;
    const char *path = story_path("faults.wlprof");
    prof_builder *builder = begin(path);
    for (uint32_t i = 0; i < COUNT; i++) {
        cap_record launch = story_launch(i + 1, 1, LOW);
        launch.launch.error = 700;
        cap_record fault = fault_of(i + 1, cases[i].in_memory, cases[i].address);
        story_expect(prof_add(builder, &launch, &err), &err);
        story_expect(prof_add(builder, &fault, &err), &err);
    }
    story_expect(prof_finish(builder, &err), &err);
    prof_db *db;
    prof_fault_rows rows;
    wl_arena *arena = wl_arena_new();
    story_expect(prof_open(path, &db, &err), &err);
    story_expect(prof_load_faults(db, arena, &rows, &err), &err);
    assert_int_equal(rows.count, COUNT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(rows.rows[i].object, cases[i].object);
    assert_int_equal(rows.rows[0].launch, 1);
    assert_string_equal(rows.rows[0].kind, "access outside of any allocation");
    assert_string_equal(rows.rows[0].what, "reads 4 bytes");
    assert_int_equal(rows.rows[0].pc, 3);
    assert_int_equal(rows.rows[0].block[2], 3);
    assert_int_equal(rows.rows[0].thread[0], 4);
    assert_int_equal(rows.rows[0].address, LOW + BYTES);
    assert_int_equal(rows.rows[0].bytes, 4);
    prof_coverage coverage;
    story_expect(prof_load_coverage(db, arena, &coverage, &err), &err);
    assert_int_equal(coverage.launches_failed, COUNT);
    assert_int_equal(coverage.launches_observed, 0);
    prof_close(db);
    wl_arena_free(arena);
    unlink(path);
}

static void a_fault_needs_its_launch(void **state)
{
    (void)state;
    prof_builder *builder = begin(story_path("faults.wlprof"));
    const cap_record fault = fault_of(7, 1, LOW);
    assert_int_equal(prof_add(builder, &fault, &err), WL_CORRUPT);
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_objects),
        cmocka_unit_test(a_fault_needs_its_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
