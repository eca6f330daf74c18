/* Memory runs out anywhere while a profile is read or written: then that is said. */
#include "content.h"
#include "story.h"
#include "support/scarce.h"
#include "support/test.h"

#include <string.h>
#include <unistd.h>

static wl_error err;

/* ---- reading ---- */

/* Everything that a report reads, with the same parameters for all. */
#define EACH_LOAD(X, X_OF_KERNEL)                          \
    X(info, prof_info)                                     \
    X(coverage, prof_coverage)                             \
    X(processes, prof_process_rows)                        \
    X(devices, prof_device_rows)                           \
    X(files, prof_file_rows)                               \
    X(kernels, prof_kernel_rows)                           \
    X(objects, prof_object_rows)                           \
    X(calls, prof_call_rows)                               \
    X(transfers, prof_transfer_rows)                       \
    X(locs, prof_loc_rows)                                 \
    X(passed, prof_passed_rows)                            \
    X(kind_instructions, prof_instruction_rows)            \
    X(work, prof_work_rows)                                \
    X(waits, prof_wait_rows)                               \
    X(touched, prof_touched_rows)                          \
    X(reuses, prof_reuse_rows)                             \
    X(faults, prof_fault_rows)                             \
    X(gaps, prof_gap_rows)                                 \
    X(skips, prof_skip_rows)                               \
    X(messages, prof_message_rows)                         \
    X(unsupported, prof_unsupported_rows)                  \
    X_OF_KERNEL(code, prof_code_rows)                      \
    X_OF_KERNEL(forms, prof_form_rows)                     \
    X_OF_KERNEL(launches, prof_launch_rows)                \
    X_OF_KERNEL(launch_kinds, prof_launch_rows)            \
    X_OF_KERNEL(instruction_totals, prof_instruction_rows) \
    X_OF_KERNEL(traffic, prof_traffic_rows)                \
    X_OF_KERNEL(heats, prof_heat_info_rows)                \
    X_OF_KERNEL(samples, prof_sample_rows)                 \
    X_OF_KERNEL(trials, prof_trial_rows)                   \
    X_OF_KERNEL(kind_samples, prof_sample_rows)            \
    X_OF_KERNEL(uses, prof_use_rows)                       \
    X_OF_KERNEL(live_ranges, prof_live_ranges_rows)        \
    X_OF_KERNEL(heat, prof_heat)                           \
    X_OF_KERNEL(spans, wl_span_reader)

#define LOAD(name, type)                                                    \
    static wl_status load_##name(prof_db *db, wl_arena *arena, uint32_t id) \
    {                                                                       \
        type rows;                                                          \
        (void)id;                                                           \
        return prof_load_##name(db, arena, &rows, &err);                    \
    }
#define LOAD_OF_KERNEL(name, type)                                          \
    static wl_status load_##name(prof_db *db, wl_arena *arena, uint32_t id) \
    {                                                                       \
        type rows;                                                          \
        return prof_load_##name(db, id, arena, &rows, &err);                \
    }
EACH_LOAD(LOAD, LOAD_OF_KERNEL)

static wl_status load_all_kinds(prof_db *db, wl_arena *arena, uint32_t id)
{
    prof_launch_rows rows;
    (void)id;
    wl_status status = prof_load_launch_kinds(db, PROF_ALL, arena, &rows, &err);
    assert_true(status != WL_OK || rows.count > 0);
    return status;
}

static wl_status read_launches(prof_db *db, wl_arena *arena, uint32_t id)
{
    (void)arena;
    (void)id;
    return prof_read_launches(db, &err);
}

static const struct {
    const char *name;
    wl_status (*load)(prof_db *db, wl_arena *arena, uint32_t id);
} loads[] = {
#define ROW(name, type) {#name, load_##name},
    EACH_LOAD(ROW, ROW){"all launch_kinds", load_all_kinds}, {"rows of launches", read_launches}};

static void reading(void **state)
{
    (void)state;
    const prof_options options = {.force = true};
    const char *path = story_path("memory.wlprof");
    prof_builder *builder;
    prof_db *db;
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_all(builder);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(path, &db, &err), &err);
    for (size_t i = 0; i < sizeof loads / sizeof *loads; i++) {
        size_t refused = 0;
        for (bool failed = true; failed;) {
            wl_arena *arena = wl_arena_new();
            scarce_fail(refused + 1);
            wl_status status = loads[i].load(db, arena, 1);
            failed = scarce_failed();
            scarce_fail(0);
            if (status != (failed ? WL_NOMEM : WL_OK))
                fail_msg("%s without request %zu: %s", loads[i].name, refused + 1,
                         wl_status_text(status));
            refused += failed;
            wl_arena_free(arena);
        }
        assert_true(refused > 0);
    }
    prof_close(db);
    unlink(path);
}

/* ---- writing ---- */

/* A process with two calls from one place, whose binary is not there. */
static wl_status write_stacks(const char *path)
{
    static cap_map map = {0x1000, 0x9000, 0, "/src/app", ""};
    static uint64_t pcs[] = {0x1234, 0x2345};
    cap_record first = story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
               second = story_call(2, "cudaMalloc", CAP_CALL_ALLOC);
    first.call.stack = second.call.stack = (cap_stack){2, pcs};
    const cap_record records[] = {story_process("/src/app"),
                                  {.type = CAP_MAPS, .maps = {1, &map}},
                                  story_module(1),
                                  first,
                                  second,
                                  story_object(1, 1, 0x10000, 4096)};
    const prof_options options = {.force = true};
    prof_builder *builder = NULL;
    wl_status status = prof_create(path, &options, &builder, &err);
    if (status)
        return status;
    status = prof_begin_process(builder, &err);
    for (size_t i = 0; i < sizeof records / sizeof *records && !status; i++)
        status = prof_add(builder, &records[i], &err);
    if (!status)
        return prof_finish(builder, &err);
    prof_discard(builder);
    return status;
}

/* Nothing is missing from a profile that was announced. */
static void writing(void **state)
{
    (void)state;
    const char *path = story_path("memory.wlprof");
    size_t refused = 0, said = 0;
    story_expect(write_stacks(path), &err);
    const uint64_t whole = content_hash(path);
    for (bool failed = true; failed;) {
        scarce_fail(refused + 1);
        wl_status status = write_stacks(path);
        failed = scarce_failed();
        scarce_fail(0);
        if (status != WL_NOMEM && (status != WL_OK || content_hash(path) != whole))
            fail_msg("without request %zu: %s", refused + 1, wl_status_text(status));
        refused += failed;
        said += status == WL_NOMEM;
    }
    assert_true(said > refused / 2);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reading), cmocka_unit_test(writing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
