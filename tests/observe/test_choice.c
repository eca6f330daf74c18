/* Which blocks stand for a launch: hand-made launches with odd blocks, whatever the workers do, in
 * bounded memory; and the maps that are drawn afterwards are those that would have been drawn at
 * once. */
#include "observe/choice.h"
#include "patterns.h"
#include "support/drive.h"
#include "support/test.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 5, BLOCKS = GRID * GRID, MANY = 6000, ROOM = 1 << 20 };

static const uint64_t BASE = 0x7f2200000000;
static const obs_shared arrays[] = {{"", 0, 0}, {"tile", 0, 65536}};

/* What a block does: `requests` of `sectors` sectors each, and the instructions around them. */
typedef struct behaviour {
    uint64_t instructions;
    uint32_t requests, sectors;
} behaviour;

typedef behaviour plan(uint32_t block);

static void request(obs_block *b, uint32_t pc, uint32_t warp, uint64_t first, uint32_t sectors)
{
    uint64_t addr[32];
    for (uint32_t lane = 0; lane < 32; lane++)
        addr[lane] = BASE + first + (lane < sectors ? lane * 32u : 0);
    acc_request access = {.pc = pc,
                          .op = ACC_LOAD,
                          .space = ACC_GLOBAL,
                          .bytes = 4,
                          .mask = UINT32_MAX,
                          .warp = warp,
                          .addr = addr,
                          .stride = ACC_IRREGULAR,
                          .object = 1};
    obs_record(b, &access);
}

static void run_block(const drive *worker, uint32_t block, behaviour does)
{
    obs_block *b = drive_block(worker, block);
    for (uint32_t i = 0; i < does.requests; i++)
        request(b, i % 2, i % 8, (uint64_t)block * 64 + i * 4, does.sectors);
    drive_end(worker, b, does.instructions);
}

/* Block number i of a worker, of n blocks among `workers`: each takes its own part in an order of
 * its own. */
static uint32_t shuffled(uint32_t i, uint32_t worker, uint32_t workers, uint32_t n)
{
    uint32_t mine = (n - worker + workers - 1) / workers;
    return ((i * 7919u + worker * 31u) % mine) * workers + worker; /* 7919 is prime */
}

static bool incomplete;

static obs_launch *observe(plan *does, uint32_t n, uint32_t workers, wl_arena *arena,
                           obs_summary *out)
{
    obs_config config = {.ncode = 4,
                         .grid = {n == BLOCKS ? GRID : n, n == BLOCKS ? GRID : 1, 1},
                         .block = {256, 1, 1},
                         .nshared = 1,
                         .shared = arrays,
                         .automatic = true,
                         .incomplete = incomplete};
    obs_launch *launch;
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    for (uint32_t w = 0; w < workers; w++) {
        drive worker = drive_begin(launch, w);
        for (uint32_t i = 0; i < (n - w + workers - 1) / workers; i++) {
            uint32_t block = workers == 1 ? i : shuffled(i, w, workers, n);
            run_block(&worker, block, does(block));
        }
    }
    assert_int_equal(obs_finish(launch, arena, out), WL_OK);
    return launch;
}

typedef struct expected {
    uint32_t block;
    obs_why why;
    uint64_t alike;
} expected;

static uint64_t uses_of_block(const obs_summary *s, uint64_t block)
{
    uint64_t uses = 0;
    for (uint32_t i = 0; i < s->nreuses; i++)
        uses += s->reuses[i].block == block ? s->reuses[i].loads + s->reuses[i].stores : 0;
    return uses;
}

static void check(plan *does, uint32_t n, const expected *want, uint32_t count)
{
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    obs_launch_free(observe(does, n, 1, arena, &s));
    assert_int_equal(s.nsamples, count);
    assert_int_equal(s.blocks_sampled, count);
    for (uint32_t i = 0; i < count; i++) {
        const obs_sample *got = &s.samples[i];
        assert_int_equal(got->block, want[i].block);
        assert_int_equal(got->why, want[i].why);
        assert_int_equal(got->alike, want[i].alike);
        assert_int_equal(got->mapped, 1);
        assert_int_equal(got->instructions, does(want[i].block).instructions);
        assert_int_equal(got->requests, does(want[i].block).requests);
        assert_int_equal(got->sectors, got->requests * does(want[i].block).sectors);
        assert_int_equal(s.heats[i].block, want[i].block);
        assert_int_equal(uses_of_block(&s, got->block), got->sectors);
    }
    assert_int_equal(s.nheats, count);
    wl_arena_free(arena);
}

#define CHECK(does, n, ...)                                           \
    do {                                                              \
        static const expected want[] = {__VA_ARGS__};                 \
        check(does, n, want, (uint32_t)(sizeof want / sizeof *want)); \
    } while (0)

/* ---- launches with and without odd blocks ---- */

static const behaviour usual = {1000, 40, 4};

static behaviour all_alike(uint32_t block)
{
    (void)block;
    return usual;
}

static behaviour first_odd(uint32_t block)
{
    return block ? usual : (behaviour){300, 10, 4};
}

static behaviour one_odd(uint32_t block)
{
    return block == 17 ? (behaviour){9000, 400, 4} : usual;
}

static behaviour same_length_but_scattered(uint32_t block)
{
    return block == 20 ? (behaviour){1000, 40, 32} : usual;
}

static behaviour edges_odd(uint32_t block)
{
    uint32_t x = block % GRID, y = block / GRID;
    bool edge = x == 0 || y == 0 || x == GRID - 1 || y == GRID - 1;
    return edge ? (behaviour){700, 28, 4} : usual;
}

static behaviour two_populations(uint32_t block)
{
    return block % 3 ? usual : (behaviour){1000, 40, 16};
}

static behaviour drifting(
    uint32_t block) /* neighbours in the cells, far apart in the end; block 0 in the middle */
{
    uint32_t i = (block + BLOCKS / 2) % BLOCKS;
    return (behaviour){1000 + 40 * i, 40, 4};
}

static behaviour last_short(uint32_t block)
{
    return block == BLOCKS - 1 ? (behaviour){500, 20, 4} : usual;
}

/* Of the first BLOCKS most have too many accesses for a log; one has fewer instructions and one
 * more, a step each. */
static behaviour too_long_in_the_middle(uint32_t block)
{
    return block == 0   ? (behaviour){100000, 40, 4}
           : block == 1 ? (behaviour){1088, 40, 4}
           : block == 2 ? (behaviour){992, 40, 4}
                        : (behaviour){1024, block < BLOCKS ? 17000 : 40, 4};
}

static void odd_blocks(void **state)
{
    (void)state;
    CHECK(all_alike, BLOCKS, {0, OBS_WHY_TYPICAL, BLOCKS});
    CHECK(all_alike, 1, {0, OBS_WHY_TYPICAL, 1});
    CHECK(first_odd, BLOCKS, {0, OBS_WHY_OUTLIER, 1}, {1, OBS_WHY_TYPICAL, BLOCKS - 1});
    CHECK(one_odd, BLOCKS, {0, OBS_WHY_TYPICAL, BLOCKS - 1}, {17, OBS_WHY_OUTLIER, 1});
    CHECK(same_length_but_scattered, BLOCKS, {0, OBS_WHY_TYPICAL, BLOCKS - 1},
          {20, OBS_WHY_OUTLIER, 1});
    CHECK(last_short, BLOCKS, {0, OBS_WHY_TYPICAL, BLOCKS - 1}, {BLOCKS - 1, OBS_WHY_OUTLIER, 1});
    CHECK(edges_odd, BLOCKS, {0, OBS_WHY_TYPICAL, 16}, {GRID + 1, OBS_WHY_TYPICAL, 9});
    CHECK(two_populations, BLOCKS, {0, OBS_WHY_TYPICAL, 9}, {1, OBS_WHY_TYPICAL, 16});
    CHECK(drifting, BLOCKS, {0, OBS_WHY_TYPICAL, BLOCKS});
    CHECK(too_long_in_the_middle, BLOCKS, {0, OBS_WHY_OUTLIER, 1},
          {1, OBS_WHY_TYPICAL, BLOCKS - 1});
}

/* Requests that repeat the one before, whether their addresses lie at one distance or at any. */
static void repeated_requests_are_counted(void **state)
{
    enum { TIMES = 3 };
    (void)state;
    for (uint32_t sectors = 1; sectors <= 32; sectors++) {
        obs_config config = {.ncode = 4, .grid = {1, 1, 1}, .block = {32, 1, 1}, .automatic = true};
        wl_arena *arena = wl_arena_new();
        obs_launch *launch;
        obs_summary s;
        assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
        drive worker = drive_begin(launch, 0);
        obs_block *b = drive_block(&worker, 0);
        for (uint32_t i = 0; i < TIMES; i++)
            request(b, 0, 0, 0, sectors);
        drive_end(&worker, b, 100);
        assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
        assert_int_equal(s.nsamples, 1);
        assert_int_equal(s.samples[0].requests, TIMES);
        assert_int_equal(s.samples[0].sectors, TIMES * sectors);
        assert_int_equal(s.ninsns, 1);
        assert_int_equal(s.insns[0].requests, TIMES);
        assert_int_equal(s.insns[0].sectors, TIMES * sectors);
        obs_launch_free(launch);
        wl_arena_free(arena);
    }
}

/* ---- the workers make no difference ---- */

static behaviour all_kinds(uint32_t block)
{
    pattern_rng rng = {(block + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++)
        pattern_below(&rng, 2);
    uint32_t scale = 1u << pattern_below(&rng, 8);
    return (behaviour){100 * scale + pattern_below(&rng, 100 * scale), 4 + pattern_below(&rng, 12),
                       1 + pattern_below(&rng, 32)};
}

static void compare(const obs_summary *a, const obs_summary *b)
{
    assert_int_equal(a->nsamples, b->nsamples);
    assert_int_equal(a->blocks_sampled, b->blocks_sampled);
    for (uint32_t i = 0; i < a->nsamples; i++)
        assert_memory_equal(&a->samples[i], &b->samples[i], sizeof a->samples[i]);
    assert_int_equal(a->nreuses, b->nreuses);
    assert_memory_equal(a->reuses, b->reuses, a->nreuses * sizeof *a->reuses);
    assert_int_equal(a->nheats, b->nheats);
    for (uint32_t i = 0; i < a->nheats; i++) {
        assert_int_equal(a->heats[i].block, b->heats[i].block);
        assert_int_equal(a->heats[i].nrows, b->heats[i].nrows);
        for (uint32_t r = 0; r < a->heats[i].nrows; r++) {
            const obs_heat_row *x = &a->heats[i].rows[r], *y = &b->heats[i].rows[r];
            assert_int_equal(x->sector, y->sector);
            assert_memory_equal(x->word, y->word, sizeof x->word);
            assert_int_equal(x->reads, y->reads);
        }
    }
}

static void workers_make_no_difference(void **state)
{
    (void)state;
    static plan *const plans[] = {all_alike, one_odd,   edges_odd,
                                  drifting,  all_kinds, too_long_in_the_middle};
    for (size_t p = 0; p < sizeof plans / sizeof *plans; p++) {
        wl_arena *arena = wl_arena_new();
        obs_summary one, other;
        obs_launch_free(observe(plans[p], BLOCKS, 1, arena, &one));
        for (uint32_t workers = 2; workers < 8; workers++) {
            obs_launch_free(observe(plans[p], BLOCKS, workers, arena, &other));
            compare(&one, &other);
        }
        assert_true(one.nsamples > 0);
        obs_launch_free(observe(plans[p], MANY, 1, arena, &one));
        obs_launch_free(observe(plans[p], MANY, 3, arena, &other));
        compare(&one, &other);
        wl_arena_free(arena);
    }
}

/* What comes in no order that is known tells nothing of reuse, and of all else as much. */
static void requests_without_an_order(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_summary whole, other;
    obs_launch_free(observe(all_kinds, BLOCKS, 1, arena, &whole));
    incomplete = true;
    obs_launch_free(observe(all_kinds, BLOCKS, 1, arena, &other));
    incomplete = false;
    assert_true(whole.nreuses > 0);
    assert_int_equal(other.nreuses, 0);
    other.nreuses = whole.nreuses;
    other.reuses = whole.reuses;
    compare(&whole, &other);
    wl_arena_free(arena);
}

/* In a large launch one block in eight may have a map, and those at its ends; what has none is told
 * all the same. */
static uint32_t the_odd_one;

static behaviour odd_in_many(uint32_t block)
{
    return block == the_odd_one ? (behaviour){9000, 400, 4} : usual;
}

static void large_launches(void **state)
{
    (void)state;
    uint32_t mapped = 0, tried = 0;
    for (the_odd_one = 1; the_odd_one < MANY; the_odd_one += 100, tried++) {
        wl_arena *arena = wl_arena_new();
        obs_summary s;
        obs_launch_free(observe(odd_in_many, MANY, 1, arena, &s));
        assert_int_equal(s.nsamples, 2);
        assert_int_equal(s.samples[0].block, 0);
        assert_int_equal(s.samples[0].mapped, 1);
        assert_int_equal(s.samples[0].alike, MANY - 1);
        assert_int_equal(s.samples[1].block, the_odd_one);
        assert_int_equal(s.samples[1].instructions, 9000);
        assert_int_equal(s.blocks_sampled, 1u + s.samples[1].mapped);
        mapped += s.samples[1].mapped;
        wl_arena_free(arena);
    }
    assert_in_range(mapped, tried / 16, tried / 4);
    the_odd_one = MANY - 1;
    CHECK(odd_in_many, MANY, {0, OBS_WHY_TYPICAL, MANY - 1}, {MANY - 1, OBS_WHY_OUTLIER, 1});
}

/* ---- memory ---- */

static behaviour long_kinds(uint32_t block) /* logs of 4 to 40 KB */
{
    behaviour does = all_kinds(block);
    does.requests *= 16;
    return does;
}

static void memory_is_bounded(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    size_t before = mallinfo2().uordblks;
    obs_launch *launch = observe(long_kinds, MANY, 1, arena, &s);
    size_t used = mallinfo2().uordblks - before;
    assert_true(used < (OBS_CELLS + 1) * 128 * 1024); /* not MANY of them */
    assert_in_range(s.nsamples, 1, OBS_POPULATIONS + OBS_OUTLIERS);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

static behaviour endless(uint32_t block) /* an odd one as well */
{
    return (behaviour){block == 77 ? 100 : 1000000, 30000, 4};
}

/* Logs that are too long: block 0 goes on with a map, the middle and the last as well, others have
 * none. */
static void long_blocks(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    obs_launch_free(observe(endless, 100, 2, arena, &s));
    assert_int_equal(s.nsamples, 2);
    assert_int_equal(s.samples[0].block, 0);
    assert_int_equal(s.samples[0].mapped, 1);
    assert_int_equal(s.samples[0].alike, 99);
    assert_int_equal(s.samples[1].block, 77);
    assert_int_equal(s.samples[1].why, OBS_WHY_OUTLIER);
    assert_int_equal(s.samples[1].mapped, 0);
    assert_int_equal(s.blocks_sampled, 1);
    assert_int_equal(s.nheats, 1);
    assert_int_equal(s.nreuses, 0);
    uint64_t reads = 0;
    for (uint32_t r = 0; r < s.heats[0].nrows; r++)
        reads += s.heats[0].rows[r].reads;
    assert_int_equal(reads, 30000 * 4); /* none was lost where the log ended */
    wl_arena_free(arena);
}

/* ---- maps from logs ---- */

static void random_block(obs_launch *launch, uint32_t seed)
{
    drive worker = drive_begin(launch, 0);
    obs_block *b = drive_block(&worker, 0);
    pattern_rng rng = {seed * 0x9e3779b97f4a7c15u + 1};
    for (uint32_t i = 0; i < 400; i++) {
        uint64_t addr[32];
        bool shared = pattern_below(&rng, 3) == 0;
        acc_request a = pattern_draw(&rng, shared ? 0 : BASE, shared ? 65536 : ROOM, false, addr);
        a.space = shared ? ACC_SHARED : ACC_GLOBAL;
        a.object = shared ? 0 : 1;
        a.pc = pattern_below(&rng, 4);
        a.addr = addr;
        if (!shared && pattern_below(&rng, 8) == 0) {
            addr[__builtin_ctz(a.mask)] += (uint64_t)5 << 32; /* further than 32 bits tell */
            a.stride = ACC_IRREGULAR;
        }
        for (uint32_t times = pattern_below(&rng, 4) + 1, t = 0; t < times; t++) {
            a.warp = pattern_below(&rng, 8);
            for (uint32_t k = 0; k < 32 && t; k++)
                addr[k] += 128;
            obs_record(b, &a);
        }
    }
    drive_end(&worker, b, 0);
}

static void maps_from_logs(void **state)
{
    (void)state;
    static const uint64_t zero;
    for (uint32_t seed = 0; seed < 40; seed++) {
        obs_config config = {.ncode = 4,
                             .grid = {1, 1, 1},
                             .block = {256, 1, 1},
                             .nshared = 2,
                             .shared = arrays,
                             .nsampled = 1,
                             .sampled = &zero};
        obs_launch *asked, *automatic;
        obs_summary a, b;
        wl_arena *arena = wl_arena_new();
        assert_int_equal(obs_launch_new(&config, &asked), WL_OK);
        config.nsampled = 0;
        config.automatic = true;
        assert_int_equal(obs_launch_new(&config, &automatic), WL_OK);
        random_block(asked, seed);
        random_block(automatic, seed);
        assert_int_equal(obs_finish(asked, arena, &a), WL_OK);
        assert_int_equal(obs_finish(automatic, arena, &b), WL_OK);
        assert_int_equal(a.samples[0].why, OBS_WHY_ASKED);
        assert_int_equal(b.samples[0].why, OBS_WHY_TYPICAL);
        assert_true(a.nheats > 1);
        assert_int_equal(a.nheats, b.nheats);
        for (uint32_t i = 0; i < a.nheats; i++) {
            assert_int_equal(a.heats[i].nrows, b.heats[i].nrows);
            assert_memory_equal(a.heats[i].rows, b.heats[i].rows,
                                a.heats[i].nrows * sizeof *a.heats[i].rows);
        }
        obs_launch_free(asked);
        obs_launch_free(automatic);
        wl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(odd_blocks),
        cmocka_unit_test(repeated_requests_are_counted),
        cmocka_unit_test(workers_make_no_difference),
        cmocka_unit_test(requests_without_an_order),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(large_launches),
        cmocka_unit_test(long_blocks),
        cmocka_unit_test(maps_from_logs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
