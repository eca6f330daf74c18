/* The seeds are of today's formats: of those of another version, fuzzers reach hardly more than what
 * refuses them. Where this fails, make_seeds.py makes them anew. */
#include "profile/profile.h"
#include "support/test.h"
#include "unframed.h"

#include <glob.h>
#include <stdlib.h>
#include <unistd.h>

#define SEEDS WL_SOURCE_DIR "/tests/fuzz/"

typedef void seed_check(const char *path, const uint8_t *data, size_t size);

/* There must be some. */
static void check_seeds(const char *pattern, seed_check *check)
{
    glob_t found;
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        size_t size;
        char *data = file_read(found.gl_pathv[i], &size);
        assert_non_null(data);
        check(found.gl_pathv[i], (const uint8_t *)data, size);
        free(data);
    }
    globfree(&found);
}

static uint64_t seen; /* types of records */

/* ---- fuzz_capture ---- */

static void check_whole(const char *path, const uint8_t *data, size_t size)
{
    cap_reader *reader;
    cap_record record;
    wl_error err;
    assert_int_equal(data[0], 0);
    if (cap_open_memory(data + 1, size - 1, &reader, &err) != WL_OK)
        fail_msg("%s: %s", path, err.text);
    for (bool end = false; !end;) {
        if (cap_read(reader, &record, &end, &err) != WL_OK)
            fail_msg("%s: %s", path, err.text);
        seen |= end ? 0 : CAP_BIT(record.type);
    }
    cap_reader_free(reader);
}

static void check_payload(const char *path, const uint8_t *data, size_t size)
{
    wl_arena *arena = wl_arena_new();
    cap_record record = {.type = (cap_type)data[1]};
    assert_int_equal(data[0], 2);
    if (cap_decode(data + 2, size - 2, arena, &record) != WL_OK)
        fail_msg("%s: a record of type %u cannot be read", path, data[1]);
    seen |= CAP_BIT(record.type);
    wl_arena_free(arena);
}

/* ---- fuzz_import ---- */

static void check_imported(const char *path)
{
    prof_db *db;
    prof_trial_rows trials;
    prof_form_rows forms;
    wl_error err;
    wl_arena *arena = wl_arena_new();
    assert_int_equal(prof_open(path, &db, &err), WL_OK);
    assert_int_equal(prof_load_trials(db, PROF_ALL, arena, &trials, &err), WL_OK);
    assert_int_equal(prof_load_forms(db, PROF_ALL, arena, &forms, &err), WL_OK);
    assert_true(trials.count && trials.rows[0].nbefore && trials.rows[0].nafter && forms.count);
    prof_close(db);
    wl_arena_free(arena);
}

static void check_unframed(const char *path, const uint8_t *data, size_t size)
{
    const char *captures[] = {WL_BINARY_DIR "/tests/seed.wlcap"};
    const char *profile = WL_BINARY_DIR "/tests/seed.wlprof";
    prof_options options = {.force = true, .no_sources = true};
    wl_error err;
    assert_true(write_framed(captures[0], data, size));
    if (prof_import(captures, 1, profile, &options, &err) != WL_OK)
        fail_msg("%s: %s", path, err.text);
    check_imported(profile);
    unlink(captures[0]);
    unlink(profile);
}

/* ---- tests ---- */

static const uint64_t of_a_run = CAP_BIT(CAP_PROCESS) | CAP_BIT(CAP_DEVICE) | CAP_BIT(CAP_MAPS) |
                                 CAP_BIT(CAP_MODULE) | CAP_BIT(CAP_OBJECT) | CAP_BIT(CAP_FREE) |
                                 CAP_BIT(CAP_CALL) | CAP_BIT(CAP_LAUNCH) | CAP_BIT(CAP_USES) |
                                 CAP_BIT(CAP_STREAM) | CAP_BIT(CAP_TRIALS) | CAP_BIT(CAP_END) |
                                 CAP_BIT(CAP_SEQUENCES) | CAP_BIT(CAP_PATHS);

static void seeds_of_captures_can_be_read(void **state)
{
    (void)state;
    seen = 0;
    check_seeds(SEEDS "capture/real-whole", check_whole);
    assert_int_equal(seen & of_a_run, of_a_run);
    seen = 0;
    check_seeds(SEEDS "capture/*payload-*", check_payload);
    assert_int_equal(seen & of_a_run, of_a_run);
}

static void seeds_of_imports_make_profiles(void **state)
{
    (void)state;
    check_seeds(SEEDS "import/*", check_unframed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(seeds_of_captures_can_be_read),
        cmocka_unit_test(seeds_of_imports_make_profiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
