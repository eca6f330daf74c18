/* From capture files to a profile: several processes, captures that were cut off or damaged,
 * cancelling, many launches. */
#include "story.h"
#include "support/file.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static wl_error err;
static char paths[3][4096], profile[4096];

static const char *path_of(int i)
{
    snprintf(paths[i], sizeof paths[i], "%s.%d", story_path("import.wlcap"), i);
    return paths[i];
}

static int set_up(void **state)
{
    (void)state;
    snprintf(profile, sizeof profile, "%s", story_path("import.wlprof"));
    for (int i = 0; i < 3; i++)
        unlink(path_of(i));
    unlink(profile);
    return 0;
}

static void write_record(cap_writer *writer, const cap_record *r)
{
    wl_status status = WL_ARG;
    switch (r->type) {
#define X(id, number, t) \
    case CAP_##id: status = cap_write_##t(writer, &r->t); break;
#include "capture/events.def"
#undef X
    }
    assert_int_equal(status, WL_OK);
}

static void write_capture(int i, const char *executable, int64_t start_ns, uint32_t launches)
{
    cap_writer *writer;
    story_expect(cap_create(path_of(i), &writer, &err), &err);
    cap_record r = story_process(executable);
    r.process.start_ns = start_ns;
    write_record(writer, &r);
    const cap_record head[] = {story_device(), story_module(1),
                               story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
                               story_object(1, 1, 0x7f0000000000, 4096)};
    for (size_t k = 0; k < sizeof head / sizeof *head; k++)
        write_record(writer, &head[k]);
    for (uint32_t k = 1; k <= launches; k++) {
        r = story_launch(k, 1 + k, 0x7f0000000000);
        write_record(writer, &r);
        r = story_call(1 + k, "cudaLaunchKernel", CAP_CALL_LAUNCH);
        write_record(writer, &r);
    }
    r = story_end();
    write_record(writer, &r);
    cap_close(writer);
}

static prof_db *import(int n)
{
    const char *captures[3] = {paths[0], paths[1], paths[2]};
    prof_db *db;
    prof_options options = {.force = true};
    story_expect(prof_import(captures, (size_t)n, profile, &options, &err), &err);
    story_expect(prof_open(profile, &db, &err), &err);
    return db;
}

static void processes_in_order_of_start(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_process_rows processes;
    prof_launch_rows launches;
    prof_object_rows objects;
    write_capture(0, "/src/child", 2000, 1);
    write_capture(1, "/src/parent", 1000, 2);
    prof_db *db = import(2);
    story_expect(prof_load_processes(db, arena, &processes, &err), &err);
    assert_int_equal(processes.count, 2);
    assert_string_equal(processes.rows[0].executable, "/src/parent");
    assert_string_equal(processes.rows[1].executable, "/src/child");
    story_expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err), &err);
    assert_int_equal(launches.count, 3);
    assert_int_equal(launches.rows[2].process, 2);
    assert_int_equal(launches.rows[2].number, 1);
    assert_int_equal(launches.rows[2].kernel,
                     launches.rows[0].kernel); /* the same kernel of the same module */
    story_expect(prof_load_objects(db, arena, &objects, &err), &err);
    assert_int_equal(objects.count, 3); /* one each, and the kernel's shared array */
    prof_close(db);
    wl_arena_free(arena);
}

/* Wherever a capture is cut, what is whole comes in, and the coverage says that something is
 * missing. */
static void cut_captures(void **state)
{
    (void)state;
    write_capture(0, "/src/app", 1000, 3);
    struct stat st;
    assert_int_equal(stat(paths[0], &st), 0);
    uint32_t last = 0;
    for (off_t size = st.st_size - 1; size > 300; size -= 97) {
        wl_arena *arena = wl_arena_new();
        prof_launch_rows launches;
        prof_process_rows processes;
        assert_int_equal(truncate(paths[0], size), 0);
        prof_db *db = import(1);
        story_expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err), &err);
        story_expect(prof_load_processes(db, arena, &processes, &err), &err);
        assert_non_null(processes.rows[0].cut_off);
        assert_true(strlen(processes.rows[0].cut_off) > 10);
        assert_true(size == st.st_size - 1 || launches.count <= last);
        last = launches.count;
        prof_close(db);
        wl_arena_free(arena);
    }
    assert_int_equal(last, 0);
}

static void damaged_records_are_left_out(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_launch_rows launches;
    prof_process_rows processes;
    write_capture(0, "/src/app", 1000, 3);
    struct stat st;
    stat(paths[0], &st);
    FILE *file = fopen(paths[0], "r+b");
    fseek(file, st.st_size * 2 / 3, SEEK_SET);
    int c = fgetc(file);
    fseek(file, -1, SEEK_CUR);
    fputc(c ^ 0x55, file);
    fclose(file);
    prof_db *db = import(1);
    story_expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err), &err);
    story_expect(prof_load_processes(db, arena, &processes, &err), &err);
    assert_true(launches.count >= 1 && launches.count < 3);
    assert_non_null(strstr(processes.rows[0].cut_off, "damaged"));
    prof_close(db);
    wl_arena_free(arena);
}

static void no_captures_at_all(void **state)
{
    (void)state;
    const char *captures[1] = {path_of(0)};
    assert_int_equal(prof_import(captures, 1, profile, NULL, &err), WL_NOENT);
    test_write_text(paths[0], "no capture");
    assert_int_not_equal(prof_import(captures, 1, profile, NULL, &err), WL_OK);
    assert_int_equal(access(profile, F_OK), -1);
    prof_db *db = import(0); /* a program that made none gives an empty profile */
    prof_close(db);
}

static bool stop_at_half(void *ctx, uint64_t done, uint64_t total)
{
    uint64_t *last = ctx;
    assert_true(done >= *last && done <= total);
    *last = done;
    return done * 2 < total;
}

static void cancelled(void **state)
{
    (void)state;
    write_capture(0, "/src/app", 1000, 300);
    const char *captures[1] = {paths[0]};
    uint64_t last = 0;
    prof_options options = {.progress = stop_at_half, .progress_ctx = &last};
    assert_int_equal(prof_import(captures, 1, profile, &options, &err), WL_STATE);
    assert_true(last > 0);
    assert_int_equal(access(profile, F_OK), -1);
}

static char *cut_off_of(bool running)
{
    const char *captures[1] = {paths[0]};
    prof_process_rows processes;
    prof_db *db;
    wl_arena *arena = wl_arena_new();
    prof_options options = {.force = true, .running = &running};
    story_expect(prof_import(captures, 1, profile, &options, &err), &err);
    story_expect(prof_open(profile, &db, &err), &err);
    story_expect(prof_load_processes(db, arena, &processes, &err), &err);
    char *text = processes.rows[0].cut_off ? strdup(processes.rows[0].cut_off) : NULL;
    prof_close(db);
    wl_arena_free(arena);
    return text;
}

/* A process that still runs is told from one that was killed, and from one that has just ended. */
static void running_processes(void **state)
{
    (void)state;
    struct stat st;
    write_capture(0, "/src/app", 1000, 3);
    assert_null(cut_off_of(true));
    assert_int_equal(stat(paths[0], &st), 0);
    assert_int_equal(truncate(paths[0], st.st_size - 30), 0);
    char *running = cut_off_of(true), *killed = cut_off_of(false);
    assert_non_null(strstr(running, "still ran"));
    assert_null(strstr(killed, "still ran"));
    free(running);
    free(killed);
}

static wl_status refuse_profile(void *ctx, const char *path, wl_error *why)
{
    (void)ctx;
    prof_db *db;
    story_expect(prof_open(path, &db, &err), &err); /* it is whole by then */
    prof_close(db);
    assert_string_not_equal(path, profile);
    return wl_fail(why, WL_CORRUPT, "It does not please.");
}

/* It does not take the name, nor the place of the profile that has it. */
static void refused(void **state)
{
    (void)state;
    write_capture(0, "/src/app", 1000, 3);
    const char *captures[1] = {paths[0]};
    prof_options options = {.check = refuse_profile, .force = true};
    assert_int_equal(prof_import(captures, 1, profile, &options, &err), WL_CORRUPT);
    assert_string_equal(err.text, "It does not please.");
    assert_int_equal(access(profile, F_OK), -1);
    assert_true(file_write(profile, "older", 5));
    assert_int_equal(prof_import(captures, 1, profile, &options, &err), WL_CORRUPT);
    char *older = file_read(profile, NULL);
    assert_string_equal(older, "older");
    free(older);
}

static void many_launches(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    prof_launch_rows launches;
    write_capture(0, "/src/app", 1000, 10000);
    prof_db *db = import(1);
    story_expect(prof_load_launches(db, PROF_ALL, arena, &launches, &err), &err);
    assert_int_equal(launches.count, 10000);
    prof_close(db);
    wl_arena_free(arena);
}

static int tear_down(void **state)
{
    return set_up(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(processes_in_order_of_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cut_captures, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_records_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_captures_at_all, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cancelled, set_up, tear_down),
        cmocka_unit_test_setup_teardown(running_processes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_launches, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
