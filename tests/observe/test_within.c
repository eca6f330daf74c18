/* What becomes of elements within a block: live ranges worked by hand, and random blocks against a
 * reference that keeps every access and asks it. */
#include "observe/filled.h"
#include "ranges.h"
#include "support/drive.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WARPS = 3, ARRAYS = 3, BASE = 1 << 20, ROOM = 16 * 1024 };

static const obs_shared arrays[ARRAYS] = {{"", 0, 0}, {"tile", 64, 1024}, {"other", 2048, 256}};

/* The instructions of the tests' kernel. */
enum {
    LOAD,
    LOAD_ALL, /* a sum goes through it */
    ADD,      /* atomic, with a result */
    FILL,     /* from device memory */
    UPDATE,   /* what LOAD returned, or another lane's */
    SUM,      /* what LOAD_ALL returned, at any time */
    COPY,     /* asynchronous */
    EXCHANGE, /* of what ADD returned */
    SET,      /* a constant */
    ANY,      /* what LOAD_ALL returned to any thread */
    SHUFFLED, /* what LOAD returned to any lane */
    PCS
};

static flow_read reads[] = {
    {LOAD, FLOW_BY_THREAD, false, false}, {LOAD_ALL, FLOW_BY_THREAD, false, true},
    {ADD, FLOW_BY_THREAD, false, false},  {LOAD_ALL, FLOW_BY_BLOCK, false, false},
    {LOAD, FLOW_BY_WARP, false, false},   {LOAD_ALL, FLOW_BY_WARP, true, true}};
static flow_fill fills[] = {{.pc = ADD, .origin = FLOW_COMPUTED, .updates = true},
                            {.pc = FILL, .origin = FLOW_DEVICE, .copied = true},
                            {.pc = UPDATE, .origin = FLOW_DEVICE, .first = 0, .count = 1},
                            {.pc = SUM, .origin = FLOW_COMPUTED, .first = 1, .count = 1},
                            {.pc = COPY, .origin = FLOW_ASYNC},
                            {.pc = EXCHANGE, .origin = FLOW_COMPUTED, .first = 2, .count = 1},
                            {.pc = SET, .origin = FLOW_COMPUTED},
                            {.pc = ANY, .origin = FLOW_DEVICE, .first = 3, .count = 1},
                            {.pc = SHUFFLED, .origin = FLOW_COMPUTED, .first = 4, .count = 2}};
static uint32_t fill_at[PCS] = {FLOW_NONE, FLOW_NONE, 0, 1, 2, 3, 4, 5, 6, 7, 8};
static flow_fills all_fills = {.npcs = PCS,
                               .at = fill_at,
                               .fills = fills,
                               .count = sizeof fills / sizeof *fills,
                               .reads = reads,
                               .nreads = sizeof reads / sizeof *reads};

static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    (void)ctx;
    *out = (obs_range){1, BASE, ROOM, false, false};
    return address - BASE < ROOM;
}

static obs_config config_for(uint32_t blocks)
{
    return (obs_config){.ncode = PCS,
                        .grid = {blocks, 1, 1},
                        .block = {WARPS * 32, 1, 1},
                        .nshared = ARRAYS,
                        .shared = arrays,
                        .range_at = range_at,
                        .objects = OBS_KNOWN_COUNTED,
                        .arrays = OBS_KNOWN_COUNTED,
                        .fills = &all_fills};
}

static obs_launch *launch_for(const obs_config *config)
{
    obs_launch *launch;
    assert_int_equal(obs_launch_new(config, &launch), WL_OK);
    return launch;
}

static const obs_use *use_of(const obs_summary *s, acc_space space, uint32_t object)
{
    for (uint32_t i = 0; i < s->nuses; i++)
        if (s->uses[i].space == space && s->uses[i].object == object)
            return &s->uses[i];
    return NULL;
}

typedef struct warp {
    acc_request access;
    uint64_t addr[32];
} warp;

static acc_op op_of(uint32_t pc)
{
    return pc == LOAD || pc == LOAD_ALL  ? ACC_LOAD
           : pc == ADD || pc == EXCHANGE ? ACC_ATOMIC
                                         : ACC_STORE;
}

/* Lane l accesses base + l * stride. */
static void record(obs_block *block, uint32_t pc, acc_space space, uint32_t warp_index,
                   uint64_t base, int64_t stride, uint32_t bytes, uint32_t mask)
{
    warp w = {.access = {.pc = pc,
                         .op = op_of(pc),
                         .space = space,
                         .bytes = bytes,
                         .mask = mask,
                         .warp = warp_index,
                         .object = space == ACC_GLOBAL,
                         .stride = mask == UINT32_MAX ? stride : ACC_IRREGULAR}};
    for (int l = 0; l < 32; l++)
        w.addr[l] = base + (uint64_t)l * (uint64_t)stride;
    w.access.addr = w.addr;
    obs_record_use(block, &w.access);
}

static void tile(obs_block *block, uint32_t pc, uint32_t warp_index, uint32_t word, int64_t stride,
                 uint32_t mask)
{
    record(block, pc, ACC_SHARED, warp_index, 64 + 4 * (uint64_t)word, stride, 4, mask);
}

static void expect_live(const obs_use *use, uint32_t i, obs_origin origin, uint64_t accesses,
                        uint64_t ranges)
{
    assert_true(i < use->nlive);
    assert_int_equal(use->live[i].origin, origin);
    assert_int_equal(use->live[i].accesses, accesses);
    assert_int_equal(use->live[i].ranges, ranges);
}

typedef void hand_body(obs_block *block);

/* One block of it; the arena owns the use of the tile. */
static const obs_use *observe_tile(hand_body *body, wl_arena *arena)
{
    static obs_summary s;
    obs_config config = config_for(1);
    obs_launch *launch = launch_for(&config);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    body(block);
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    obs_launch_free(launch);
    const obs_use *use = use_of(&s, ACC_SHARED, 1);
    assert_non_null(use);
    assert_int_equal(use->reuse, OBS_REUSE_ALL);
    return use;
}

/* ---- by hand ---- */

/* A loop that fills the tile from device memory three times, and reads each word twice. */
static void refill(obs_block *b)
{
    for (int i = 0; i < 3; i++) {
        tile(b, FILL, 0, 0, 4, UINT32_MAX);
        tile(b, LOAD_ALL, 0, 0, 4, UINT32_MAX);
        tile(b, LOAD_ALL, 1, 31, -4, UINT32_MAX);
    }
}

static void a_tile_that_is_refilled(void **state)
{
    wl_arena *arena = *state;
    const obs_use *use = observe_tile(refill, arena);
    assert_int_equal(use->ranges[OBS_FROM_MEMORY], 96);
    assert_int_equal(use->range_accesses[OBS_FROM_MEMORY], 192);
    assert_int_equal(use->nlive, 1);
    expect_live(use, 0, OBS_FROM_MEMORY, 2, 96);
    assert_true(use->block_words == 32 && use->block_words_most == 32 && use->blocks == 1);
    assert_int_equal(use->block_accesses, 288);
}

/* Two buffers that take turns: what goes into one was read from the other. */
static void take_turns(obs_block *b)
{
    tile(b, FILL, 0, 0, 4, UINT32_MAX);
    for (uint32_t i = 0; i < 4; i++) {
        tile(b, LOAD, 0, 32 * (i & 1), 4, UINT32_MAX);
        tile(b, UPDATE, 0, 32 * (1 - (i & 1)), 4, UINT32_MAX);
    }
}

static void buffers_that_take_turns(void **state)
{
    wl_arena *arena = *state;
    const obs_use *use = observe_tile(take_turns, arena);
    assert_int_equal(use->ranges[OBS_FROM_MEMORY], 32 + 4 * 32);
    assert_int_equal(use->nlive, 2);
    expect_live(use, 0, OBS_FROM_MEMORY, 0, 32); /* the last one is never read */
    expect_live(use, 1, OBS_FROM_MEMORY, 1, 4 * 32);
}

/* s[t] += s[t + d]: LOAD reads both, the word itself last. */
static void reduce(obs_block *b)
{
    tile(b, FILL, 0, 0, 4, UINT32_MAX);
    for (uint32_t d = 16; d > 0; d /= 2) {
        uint32_t mask = (1u << d) - 1;
        tile(b, LOAD, 0, d, 4, mask);
        tile(b, LOAD, 0, 0, 4, mask);
        tile(b, UPDATE, 0, 0, 4, mask);
    }
}

static void a_reduction_in_place(void **state)
{
    wl_arena *arena = *state;
    const obs_use *use = observe_tile(reduce, arena);
    assert_int_equal(use->ranges[OBS_FROM_MEMORY], 32); /* no update begins one */
    assert_int_equal(use->range_accesses[OBS_FROM_MEMORY], 3 * 31);
    expect_live(use, 0, OBS_FROM_MEMORY, 1, 16); /* words 16 to 31 */
    expect_live(use, 1, OBS_FROM_MEMORY, 3, 8);
    expect_live(use, 4, OBS_FROM_MEMORY, 9, 1);  /* word 1 */
    expect_live(use, 5, OBS_FROM_MEMORY, 10, 1); /* word 0 */
}

/* A histogram that is cleared, updated by atomics, and read once. */
static void count_keys(obs_block *b)
{
    tile(b, SET, 0, 0, 4, UINT32_MAX);
    for (int i = 0; i < 10; i++)
        tile(b, ADD, 1, 7, 0, UINT32_MAX);
    tile(b, LOAD, 0, 0, 4, UINT32_MAX);
}

static void a_private_histogram(void **state)
{
    wl_arena *arena = *state;
    const obs_use *use = observe_tile(count_keys, arena);
    assert_int_equal(use->ranges[OBS_COMPUTED], 32);
    assert_int_equal(use->range_accesses[OBS_COMPUTED], 352);
    assert_int_equal(use->nlive, 2);
    expect_live(use, 0, OBS_COMPUTED, 1, 31);
    expect_live(use, 1, OBS_COMPUTED, 256, 1); /* 321 */
}

/* Copies, exchanges, sums, what is read before anything is stored, and words wider than one. */
static void mixture(obs_block *b)
{
    tile(b, LOAD, 0, 0, 4, 0xf);                               /* unfilled: 4 */
    record(b, COPY, ACC_SHARED, 0, 64, 16, 16, 0x3);           /* words 0 to 7 */
    tile(b, ADD, 0, 1, 4, 0x1);                                /* word 1 */
    tile(b, EXCHANGE, 0, 1, 4, 0x1);                           /* depends on word 1: an update */
    tile(b, EXCHANGE, 0, 2, 4, 0x1);                           /* word 2 begins anew */
    tile(b, LOAD_ALL, 1, 4, 4, 0x1);                           /* word 4, thread 32 */
    tile(b, LOAD_ALL, 1, 5, 4, 0x1);                           /* word 5 */
    tile(b, SUM, 1, 4, 4, 0x1);                                /* its sum has word 4 in it */
    tile(b, SUM, 0, 5, 4, 0x1);                                /* another thread's has not */
    tile(b, ANY, 2, 4, 4, 0x1);                                /* but through a reduction it may */
    record(b, SHUFFLED, ACC_SHARED, 0, 64 + 4 * 3, 4, 4, 0x1); /* lane 3's LOAD was word 3 */
}

static void all_kinds(void **state)
{
    wl_arena *arena = *state;
    const obs_use *use = observe_tile(mixture, arena);
    assert_int_equal(use->unfilled, 4);
    assert_int_equal(use->ranges[OBS_FROM_COPY], 8);
    assert_int_equal(use->ranges[OBS_COMPUTED], 2);
    assert_int_equal(use->ranges[OBS_FROM_MEMORY], 0);
    /* of word 1 two, of 3 one, of 4 three, of 5 one */
    assert_int_equal(use->range_accesses[OBS_FROM_COPY], 7);
    assert_int_equal(use->range_accesses[OBS_COMPUTED], 0);
    assert_int_equal(use->block_words, 8);
}

/* ---- a reference that keeps every access ---- */

enum { BLOCKS = 24, REQUESTS = 160 };

static uint32_t below(uint64_t *rng, uint32_t bound)
{
    *rng = *rng * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*rng >> 33) % bound;
}

/* The n-th request of a block. Addresses are close together, so that words are met again. */
static void draw(uint64_t block, uint32_t n, warp *w)
{
    uint64_t rng = (block * 100003 + n + 1) * 0x9e3779b97f4a7c15u;
    static const uint32_t sizes[] = {1, 2, 4, 4, 4, 8, 16};
    below(&rng, 2);
    uint32_t pc = below(&rng, PCS), bytes = sizes[below(&rng, 7)];
    bool global = below(&rng, 4) == 0;
    bytes = op_of(pc) == ACC_ATOMIC ? 4 : bytes;
    w->access = (acc_request){.pc = pc,
                              .op = op_of(pc),
                              .space = global ? ACC_GLOBAL : ACC_SHARED,
                              .bytes = bytes,
                              .mask = below(&rng, 2) ? UINT32_MAX : 1 + below(&rng, UINT32_MAX),
                              .warp = below(&rng, WARPS),
                              .object = global,
                              .stride = ACC_IRREGULAR,
                              .addr = w->addr};
    uint32_t kind = below(&rng, 3), room = global ? ROOM : 2304, first = below(&rng, 24) * 96;
    uint32_t far = below(&rng, 4) ? 0 : 1904;
    for (uint32_t l = 0; l < 32; l++) {
        uint32_t at = kind == 0   ? first + l * bytes
                      : kind == 1 ? first
                                  : far + below(&rng, 40) * 16;
        w->addr[l] = (global ? BASE : 0) + at % (room - 16);
    }
    for (uint32_t l = 0; kind < 2 && w->access.mask == UINT32_MAX && l < 32; l++)
        if (w->addr[l] != w->addr[0] + l * (kind ? 0 : bytes))
            return;
    if (kind < 2 && w->access.mask == UINT32_MAX)
        w->access.stride = kind ? 0 : bytes;
}

static ref_ranges *run_reference(void)
{
    ref_ranges *r = ref_ranges_new(&all_fills, arrays, ARRAYS);
    for (uint64_t block = 0; block < BLOCKS; block++) {
        for (uint32_t n = 0; n < REQUESTS; n++) {
            warp w;
            draw(block, n, &w);
            ref_ranges_add(r, &w.access);
        }
        ref_ranges_end_block(r);
    }
    return r;
}

typedef struct job {
    obs_launch *launch;
    uint32_t number, step, together;
} job;

/* `together` blocks at a time, request by request. */
static void *work(void *arg)
{
    const job *j = arg;
    obs_block *block[BLOCKS];
    drive worker = drive_begin(j->launch, j->number);
    for (uint64_t b = j->number * j->together; b < BLOCKS; b += (uint64_t)j->step * j->together) {
        for (uint32_t k = 0; k < j->together; k++)
            block[k] = drive_block(&worker, b + k);
        for (uint32_t i = 0; i < REQUESTS * j->together; i++) {
            warp w;
            draw(b + i % j->together, i / j->together, &w);
            obs_record_use(block[i % j->together], &w.access);
        }
        for (uint32_t k = 0; k < j->together; k++)
            drive_end(&worker, block[k], 0);
    }
    return NULL;
}

static void check_random(const ref_ranges *r, uint32_t workers, uint32_t together)
{
    obs_config config = config_for(BLOCKS);
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    pthread_t threads[4];
    job jobs[4];
    obs_summary s;
    for (uint32_t i = 0; i < workers; i++) {
        jobs[i] = (job){launch, i, workers, together};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    for (uint32_t i = 1; i < ARRAYS; i++) {
        const obs_use *use = use_of(&s, ACC_SHARED, i);
        assert_int_equal(use->reuse, OBS_REUSE_ALL);
        assert_true(use->ranges[0] > 50 && use->ranges[1] > 50 && use->ranges[2] > 50);
        ref_ranges_compare(r, i, use);
    }
    assert_int_equal(use_of(&s, ACC_GLOBAL, 1)->reuse, OBS_REUSE_BLOCKS);
    ref_ranges_compare(r, 0, use_of(&s, ACC_GLOBAL, 1));
    obs_launch_free(launch);
    wl_arena_free(arena);
}

static void every_access_kept(void **state)
{
    (void)state;
    ref_ranges *r = run_reference();
    check_random(r, 1, 1);
    check_random(r, 3, 1);
    check_random(r, 2, 4);
    ref_ranges_free(r);
}

/* ---- many blocks, and what is not known ---- */

static void more_blocks_than_epochs(void **state)
{
    wl_arena *arena = *state;
    enum { MANY = 140000 };
    obs_config config = config_for(MANY);
    obs_launch *launch = launch_for(&config);
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    for (uint32_t b = 0; b < MANY; b++) {
        obs_block *block = drive_block(&worker, b);
        /* element 0 by each, element 1 only by one: its stamp comes round again */
        record(block, LOAD, ACC_GLOBAL, 0, BASE, 4, 4, b == 5 || b == 65540 || b == 131075 ? 3 : 1);
        drive_end(&worker, block, 0);
    }
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(use_of(&s, ACC_GLOBAL, 1)->block_words, MANY + 3);
    assert_int_equal(use_of(&s, ACC_GLOBAL, 1)->block_words_most, 2);
    obs_launch_free(launch);
}

/* What two blocks have stored to of the tile when they first pass a barrier: the second not to word
 * 31, and what it stores later does not count, nor what it only updates. */
static void what_is_filled_by_a_barrier(void **state)
{
    wl_arena *arena = *state;
    const obs_filled_by by[] = {{1, SET}, {2, SET}};
    obs_config config = config_for(3);
    config.filled = by;
    config.nfilled = 2;
    obs_launch *launch = launch_for(&config);
    acc_observer observer = obs_observer(launch);
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    for (uint32_t b = 0; b < 3; b++) {
        obs_block *block = drive_block(&worker, b);
        tile(block, FILL, 0, 0, 4, b ? UINT32_MAX >> 1 : UINT32_MAX);
        tile(block, ADD, 0, 40, 4, 1);
        if (b < 2) {
            observer.barrier(block, SET);
            observer.barrier(block, ADD);
        }
        tile(block, FILL, 0, 31, 4, 3);
        if (b < 2)
            observer.barrier(block, SET);
        drive_end(&worker, block, 0);
    }
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    for (uint32_t w = 0; w < 256; w++)
        assert_int_equal(obs_is_filled(launch, 1, w), w < 31);
    assert_false(obs_is_filled(launch, 1, 256)); /* beyond its end */
    assert_false(obs_is_filled(launch, 2, 0));   /* nobody stored there */
    assert_false(obs_is_filled(launch, 0, 0));   /* nobody asked */
    obs_launch_free(launch);
}

static uint8_t reuse_with(const flow_fills *of, uint32_t pc, wl_arena *arena)
{
    obs_config config = config_for(1);
    config.fills = of;
    obs_launch *launch = launch_for(&config);
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    tile(block, pc, 0, 0, 4, UINT32_MAX);
    record(block, SET, ACC_SHARED, 0, 2048, 4, 4, UINT32_MAX);
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    if (of)
        assert_true(use_of(&s, ACC_SHARED, 2)->reuse & OBS_REUSE_RANGES);
    obs_launch_free(launch);
    return use_of(&s, ACC_SHARED, 1)->reuse;
}

/* Of one array nothing is told where a store to it is not understood; of the other it is. */
static void stores_that_nobody_understands(void **state)
{
    wl_arena *arena = *state;
    flow_fill own[sizeof fills / sizeof *fills];
    flow_fills some = all_fills;
    memcpy(own, fills, sizeof own);
    own[fill_at[FILL]].unknown = true;
    own[fill_at[ADD]].unknown = true;
    some.fills = own;
    assert_int_equal(reuse_with(NULL, FILL, arena), OBS_REUSE_BLOCKS);
    assert_int_equal(reuse_with(&some, FILL, arena), OBS_REUSE_BLOCKS);
    assert_true(reuse_with(&some, ADD, arena) &
                OBS_REUSE_RANGES); /* it updates, whatever it adds */
    assert_true(reuse_with(&all_fills, FILL, arena) & OBS_REUSE_RANGES);
}

static int arena_begin(void **state)
{
    *state = wl_arena_new();
    return *state ? 0 : -1;
}

static int arena_end(void **state)
{
    wl_arena_free(*state);
    return 0;
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, arena_begin, arena_end)
    const struct CMUnitTest tests[] = {
        T(a_tile_that_is_refilled),
        T(buffers_that_take_turns),
        T(a_reduction_in_place),
        T(a_private_histogram),
        T(all_kinds),
        T(every_access_kept),
        T(more_blocks_than_epochs),
        T(what_is_filled_by_a_barrier),
        T(stores_that_nobody_understands),
    };
#undef T
    return cmocka_run_group_tests(tests, NULL, NULL);
}
