/* Paths of warps folded by hand and against a reference, and an observer that passes all on. */
#include "base/varint.h"
#include "replay/followed.h"
#include "support/random.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

static void equal_neighbours_are_one_run(void **state)
{
    (void)state;
    const rewrite_warp_path warps[] = {
        {5, 10, 90}, {5, 10, 90}, {0, 0, 0}, {9, 11, 20}, {5, 10, 90}};
    static const uint8_t want[] = {1, 2, 0, 1, 2, 1, 1, 1};
    wl_arena *arena = wl_arena_new();
    obs_summary s = {0};
    assert_int_equal(replay_fold_paths(warps, 5, arena, &s), WL_OK);
    assert_int_equal(s.npaths, 2);
    assert_memory_equal(&s.paths[0], (&(obs_path){5, 10, 90, 3, 0}), sizeof(obs_path));
    assert_memory_equal(&s.paths[1], (&(obs_path){9, 11, 20, 1, 3}), sizeof(obs_path));
    assert_int_equal(s.path_bytes, sizeof want);
    assert_memory_equal(s.path_runs, want, sizeof want);
    s = (obs_summary){0};
    assert_int_equal(replay_fold_paths(warps + 2, 1, arena, &s), WL_OK); /* nothing is known */
    assert_int_equal(s.npaths, 0);
    wl_arena_free(arena);
}

/* The path of each warp, as the runs tell. */
static void unfold(const obs_summary *s, uint32_t *path, uint64_t count)
{
    const uint8_t *at = (const uint8_t *)s->path_runs, *end = at + s->path_bytes;
    uint64_t warp = 0, number = 0, length = 0;
    while (at < end) {
        assert_true(wl_varint_get(&at, end, &number) && wl_varint_get(&at, end, &length));
        for (uint64_t i = 0; i < length; i++, warp++) {
            assert_true(warp < count);
            path[warp] = number ? (uint32_t)number - 1 : OBS_NO_PATH;
        }
    }
    assert_int_equal(warp, count);
}

enum { MANY = OBS_MOST_PATHS + 1000 };

static void folded_paths_unfold(void **state)
{
    (void)state;
    static rewrite_warp_path warps[MANY];
    static uint32_t path[MANY];
    uint64_t seed = 1, unknown = 0;
    wl_arena *arena = wl_arena_new();
    obs_summary s = {0};
    for (uint32_t i = 0; i < MANY;
         i++) { /* first a few paths, then new ones until there are too many */
        uint64_t value = i < 1000 ? random_next(&seed) % 3 : i;
        warps[i] = (rewrite_warp_path){value * 977, value, 2 * value};
    }
    assert_int_equal(replay_fold_paths(warps, MANY, arena, &s), WL_OK);
    assert_int_equal(s.npaths, OBS_MOST_PATHS);
    unfold(&s, path, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        unknown += path[i] == OBS_NO_PATH;
        if (path[i] != OBS_NO_PATH)
            assert_true(s.paths[path[i]].hash == warps[i].hash && s.paths[path[i]].first <= i);
        else
            assert_true(!warps[i].instructions || i >= OBS_MOST_PATHS);
    }
    uint64_t known = 0;
    for (uint32_t i = 0; i < s.npaths; i++)
        known += s.paths[i].warps;
    assert_int_equal(known + unknown, MANY);
    wl_arena_free(arena);
}

/* ---- the observer ---- */

typedef struct heard {
    uint32_t begun, ended, accesses, barriers, entries, workers;
} heard;

static void *hear_worker(void *ctx, uint32_t number)
{
    (void)number;
    return ctx;
}

static void hear_worker_end(void *worker)
{
    ((heard *)worker)->workers++;
}

/* Nobody wants block 1. */
static void *hear_block(void *worker, uint64_t block)
{
    ((heard *)worker)->begun++;
    return block == 1 ? NULL : worker;
}

static void hear_block_end(void *worker, void *block, uint64_t warp_instructions)
{
    ((heard *)worker)->ended += block != NULL && warp_instructions == 12;
}

static void hear_access(void *block, const acc_request *request)
{
    ((heard *)block)->accesses += request->pc == 3;
}

static void hear_barrier(void *block, uint32_t pc)
{
    ((heard *)block)->barriers += pc == 4;
}

static void hear_entry(void *block, uint32_t warp, uint32_t pc, uint32_t mask)
{
    ((heard *)block)->entries += warp == 1 && pc == 2 && mask == 3;
}

static void all_is_passed_on(void **state)
{
    (void)state;
    const rewrite_path_step steps[] = {
        {.pc = 2, .kind = REWRITE_PATH_POINT, .add = 5, .factor = 3}};
    const rewrite_path path = {1, steps, 0};
    heard h = {0};
    const acc_observer inner = {&h,           hear_worker,    hear_worker_end,
                                hear_block,   hear_block_end, hear_access,
                                hear_barrier, hear_entry};
    replay_followed *f = replay_followed_new(&path, 2, 2);
    acc_observer o = replay_followed_observer(f, &inner);
    void *worker = o.worker_begin(o.ctx, 0);
    for (uint64_t b = 0; b < 2; b++) {
        void *block = o.block_begin(worker, b);
        o.access(block, &(acc_request){.pc = 3, .mask = 1});
        o.barrier(block, 4);
        o.enter(block, 1, 2, 3);
        o.block_end(worker, block, 12);
    }
    o.worker_end(worker);
    assert_memory_equal(&h, (&(heard){2, 1, 1, 1, 1, 1}), sizeof h);
    wl_arena *arena = wl_arena_new();
    obs_summary s = {0};
    assert_int_equal(replay_followed_finish(f, arena, &s), WL_OK);
    assert_int_equal(s.npaths, 1); /* of warp 1 of both blocks; warps 0 did nothing */
    assert_true(s.paths[0].warps == 2 && s.paths[0].first == 1);
    assert_true(s.paths[0].instructions == 5 && s.paths[0].lane_instructions == 10);
    wl_arena_free(arena);
    replay_followed_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_neighbours_are_one_run),
        cmocka_unit_test(folded_paths_unfold),
        cmocka_unit_test(all_is_passed_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
