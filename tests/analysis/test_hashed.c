/* Warps that stand out by the instructions on their paths: by hand, and against a reference. */
#include "../profile/story.h"
#include "analysis/explore/hashed.h"
#include "base/varint.h"
#include "support/random.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static wl_error err;

/* A profile of one launch of blocks of two warps, with these paths. */
static prof_db *profile_of(uint32_t blocks, obs_path *paths, uint32_t npaths, const uint8_t *runs,
                           size_t length)
{
    prof_builder *builder;
    prof_options options = {.force = true};
    prof_db *db;
    char *path = strdup(story_path("hashed.wlprof"));
    cap_record records[] = {
        story_process("/src/app"),
        story_module(1),
        story_launch(1, 0, 0),
        {.type = CAP_PATHS, .paths = {1, npaths, paths, (const char *)runs, length}}};
    cap_launch *launch = &records[2].launch;
    memcpy(launch->grid, (uint32_t[]){blocks, 1, 1}, sizeof launch->grid);
    memcpy(launch->block, (uint32_t[]){33, 1, 1}, sizeof launch->block);
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    for (uint32_t i = 0; i < 4; i++)
        story_expect(prof_add(builder, &records[i], &err), &err);
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(path, &db, &err), &err);
    free(path);
    return db;
}

static void warps_that_run_more_stand_out(void **state)
{
    (void)state;
    static const uint8_t runs[] = {1, 3, 2, 1, 1, 1, 2, 1, 3, 1, 1, 1, 0, 2};
    obs_path paths[] = {{1, 100, 3200, 5, 0}, {2, 320, 4000, 2, 3}, {3, 40, 900, 1, 6}};
    prof_db *db = profile_of(5, paths, 3, runs, sizeof runs);
    wl_arena *arena = wl_arena_new();
    ana_hashed_rows rows;
    story_expect(ana_hashed_table(db, 8, arena, &rows, &err), &err);
    assert_int_equal(rows.count, 1);
    const ana_hashed *h = &rows.rows[0];
    assert_true(h->launch == 1 && h->warps == 10 && h->known == 8 && h->npaths == 3);
    assert_int_equal(h->warps_of_block, 2);
    /* Runs: path 0 three times, 1, 0, 1, 2, 0, and nothing is known of the last two: block 4. */
    assert_true(h->blocks == 5 && h->blocks_known == 4);
    assert_true(h->place.block == 0 && h->place.warp == 0);
    assert_true(h->representative.hash == 1 && h->representative.instructions == 100);
    assert_int_equal(h->noutliers, 2);
    assert_int_equal(h->outliers[0].path.hash, 2);
    assert_float_equal(h->outliers[0].times, 3.2, 1e-9);
    assert_int_equal(h->outliers[0].blocks, 2); /* warps 3 and 5: of blocks 1 and 2 */
    assert_float_equal(h->outliers[0].difference, 1 - 100.0 / 320, 1e-9);
    assert_true(h->outliers[0].place.block == 1 && h->outliers[0].place.warp == 1);
    assert_string_equal(h->outliers[0].which, "2 warps of 2 blocks");
    assert_string_equal(h->outliers[0].why, "ran 3.2 times as many instructions");
    assert_int_equal(h->outliers[1].path.hash, 3);
    assert_float_equal(h->outliers[1].times, 0.4, 1e-9);
    assert_int_equal(h->outliers[1].blocks, 1);
    assert_float_equal(h->outliers[1].difference, 0.6, 1e-9);
    assert_string_equal(h->outliers[1].which, "warp 0 of block 3");
    assert_string_equal(h->outliers[1].why, "ran 0.40 times as many instructions");
    story_expect(ana_hashed_table(db, 0, arena, &rows, &err), &err);
    assert_int_equal(rows.count, 0);
    prof_close(db);
    wl_arena_free(arena);
}

/* ---- random launches, warp by warp ---- */

enum { WARPS = 64, PATHS = 6 };

static int numbers_ascend(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static size_t pack(const uint32_t *path, uint8_t *out)
{
    uint8_t *at = out;
    for (uint32_t w = 0, n; w < WARPS; w += n) {
        for (n = 1; w + n < WARPS && path[w + n] == path[w];)
            n++;
        at = wl_varint_put(wl_varint_put(at, path[w] + 1u), n);
    }
    return (size_t)(at - out);
}

static uint64_t blocks_of_path(const uint32_t *path, uint32_t number)
{
    uint64_t blocks = 0;
    for (uint32_t b = 0; b < WARPS / 2; b++)
        blocks += path[2 * b] == number || path[2 * b + 1] == number;
    return blocks;
}

static void random_launches_as_warp_by_warp(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int round = 0; round < 20; round++) {
        obs_path paths[PATHS] = {0};
        uint32_t path[WARPS];
        uint64_t ran[WARPS];
        uint8_t runs[WARPS * 2 * WL_VARINT_BYTES];
        for (uint32_t w = 0; w < WARPS; w++) {
            path[w] = w < PATHS ? w : (uint32_t)random_below(&seed, PATHS);
            if (!paths[path[w]].warps++)
                paths[path[w]] = (obs_path){w + 1, 100 + 40 * random_below(&seed, 10), 1, 1, w};
            ran[w] = paths[path[w]].instructions;
        }
        prof_db *db = profile_of(WARPS / 2, paths, PATHS, runs, pack(path, runs));
        wl_arena *arena = wl_arena_new();
        ana_hashed_rows rows;
        story_expect(ana_hashed_table(db, 1, arena, &rows, &err), &err);
        const ana_hashed *h = &rows.rows[0];
        qsort(ran, WARPS, sizeof *ran, numbers_ascend);
        assert_int_equal(h->representative.instructions, ran[WARPS / 2]);
        uint32_t expected = 0;
        for (uint32_t i = 0; i < PATHS; i++) {
            double times = (double)paths[i].instructions / (double)ran[WARPS / 2];
            expected += times >= 1.5 || times <= 1 / 1.5;
        }
        assert_int_equal(h->noutliers, expected);
        assert_int_equal(h->blocks_known, WARPS / 2);
        for (uint32_t i = 0; i < h->noutliers; i++) {
            const ana_hashed_outlier *o = &h->outliers[i];
            assert_int_equal(o->blocks, blocks_of_path(path, (uint32_t)o->path.hash - 1));
        }
        prof_close(db);
        wl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(warps_that_run_more_stand_out),
        cmocka_unit_test(random_launches_as_warp_by_warp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
