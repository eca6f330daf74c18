/* Which path each warp took: through a capture and the import, and read back. */
#include "story.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

/* Path 0 in warps 0 to 2, path 1 in warp 3, warps 4 to 303 are not known, path 0 in warp 304. */
static const uint8_t packed[] = {1, 3, 2, 1, 0, 0xac, 2, 1, 1};
static obs_path paths[2];

static cap_record story_paths(uint32_t launch)
{
    paths[0] = (obs_path){0xfedcba9876543210, 120, UINT64_MAX, 4, 0};
    paths[1] = (obs_path){7, 300, 4000, 1, 3};
    return (cap_record){.type = CAP_PATHS,
                        .paths = {launch, 2, paths, (const char *)packed, sizeof packed}};
}

static void write_capture(const char *path)
{
    cap_writer *w;
    const cap_record process = story_process("/src/app"), module = story_module(1);
    unlink(path);
    story_expect(cap_create(path, &w, &err), &err);
    assert_int_equal(cap_write_process(w, &process.process), WL_OK);
    assert_int_equal(cap_write_module(w, &module.module), WL_OK);
    for (uint32_t id = 1; id <= 2; id++) {
        cap_record launch = story_launch(id, 0, 0);
        const cap_record did = story_paths(id);
        if (id == 1) { /* as whoever observed it writes it */
            launch.launch.summary.npaths = did.paths.count;
            launch.launch.summary.paths = did.paths.paths;
            launch.launch.summary.path_runs = did.paths.runs;
            launch.launch.summary.path_bytes = did.paths.length;
        }
        assert_int_equal(cap_write_observed(w, &launch.launch), WL_OK);
    }
    cap_close(w);
}

static void assert_runs(const prof_path_run_rows *runs)
{
    static const prof_path_run want[] = {{0, 0, 3}, {1, 3, 1}, {OBS_NO_PATH, 4, 300}, {0, 304, 1}};
    assert_int_equal(runs->count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        assert_int_equal(runs->rows[i].path, want[i].path);
        assert_int_equal(runs->rows[i].first, want[i].first);
        assert_int_equal(runs->rows[i].warps, want[i].warps);
    }
}

static void paths_come_back(void **state)
{
    (void)state;
    char *capture = strdup(story_path("paths.wlcap")),
         *profile = strdup(story_path("paths.wlprof"));
    prof_options options = {.force = true};
    prof_db *db;
    prof_path_rows rows;
    prof_path_run_rows runs;
    wl_arena *arena = wl_arena_new();
    write_capture(capture);
    story_expect(prof_import((const char *const *)&capture, 1, profile, &options, &err), &err);
    story_expect(prof_open(profile, &db, &err), &err);
    story_expect(prof_load_paths(db, 1, arena, &rows, &err), &err);
    assert_int_equal(rows.count, 2);
    assert_memory_equal(&rows.rows[0].p, (&(obs_path){0xfedcba9876543210, 120, UINT64_MAX, 4, 0}),
                        sizeof(obs_path));
    assert_memory_equal(&rows.rows[1].p, (&(obs_path){7, 300, 4000, 1, 3}), sizeof(obs_path));
    story_expect(prof_load_path_runs(db, 1, arena, &runs, &err), &err);
    assert_runs(&runs);
    story_expect(prof_load_paths(db, 2, arena, &rows, &err), &err);
    story_expect(prof_load_path_runs(db, 2, arena, &runs, &err), &err);
    assert_true(rows.count == 0 && runs.count == 0);
    prof_close(db);
    wl_arena_free(arena);
    unlink(capture), unlink(profile);
    free(capture), free(profile);
}

/* ---- what does not hold together ---- */

typedef void change(cap_paths *p);

static void cut_runs(cap_paths *p)
{
    p->length--;
}

static void fewer_paths(cap_paths *p)
{
    p->count = 1;
}

static void no_paths(cap_paths *p)
{
    p->count = 0;
    p->length = 0;
}

static void other_number_of_warps(cap_paths *p)
{
    p->paths[1].warps++;
}

static void another_first(cap_paths *p)
{
    p->paths[1].first++;
}

static void an_empty_run(cap_paths *p)
{
    static const uint8_t runs[] = {1, 4, 2, 1, 1, 0};
    p->runs = (const char *)runs;
    p->length = sizeof runs;
}

static void another_launch(cap_paths *p)
{
    p->launch = 2;
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    static change *const changes[] = {
        cut_runs,      fewer_paths,  no_paths,      other_number_of_warps,
        another_first, an_empty_run, another_launch};
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("nonsense.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    cap_record r = story_process("/src/app");
    story_expect(prof_add(builder, &r, &err), &err);
    for (uint32_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        r = story_launch(10 + i, 0, 0);
        story_expect(prof_add(builder, &r, &err), &err);
        r = story_paths(10 + i);
        changes[i](&r.paths);
        if (prof_add(builder, &r, &err) != WL_CORRUPT)
            fail_msg("change %u is not refused", i);
    }
    r = story_launch(30, 0, 0);
    story_expect(prof_add(builder, &r, &err), &err);
    r = story_paths(30);
    story_expect(prof_add(builder, &r, &err), &err);
    assert_int_equal(prof_add(builder, &r, &err), WL_CORRUPT); /* only once */
    prof_discard(builder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_come_back),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
