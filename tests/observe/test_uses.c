/* How often elements are accessed: worked by hand, and random launches against counting one by one.
 */
#include "observe/uses.h"
#include "patterns.h"
#include "support/drive.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    OBJECTS = 3,
    ROOM = 64 * 1024,
    ARRAYS = 4,
    WORDS = ROOM / 4 + 2,
    BLOCKS = 12,
    REQUESTS = 200
};

/* Objects side by side, of which the second does not begin at a multiple of 4; number 0 is the gap
 * behind them. */
static const uint64_t BASE = 0x7f2200000000;
static const uint64_t begins[OBJECTS + 1] = {0, ROOM + 2, 2 * ROOM, 3 * ROOM};
static const obs_shared arrays[ARRAYS] = {
    {"", 0, 0}, {"tile", 0, 4096}, {"other", 8192, 1024}, {"overlaps", 4000, 5002}};

static uint32_t object_at(void *ctx, uint64_t address)
{
    (void)ctx;
    for (uint32_t i = 0; i < OBJECTS; i++)
        if (address - BASE >= begins[i] && address - BASE < begins[i + 1])
            return i + 1;
    return 0;
}

static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    uint32_t n = object_at(ctx, address);
    if (n)
        *out = (obs_range){n, BASE + begins[n - 1], begins[n] - begins[n - 1], false, false};
    return n != 0;
}

static obs_config config_for(obs_known objects, obs_known shared)
{
    return (obs_config){.ncode = 8,
                        .grid = {BLOCKS, 1, 1},
                        .block = {64, 1, 1},
                        .nshared = ARRAYS,
                        .shared = arrays,
                        .object_at = object_at,
                        .range_at = range_at,
                        .objects = objects,
                        .arrays = shared};
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

static wl_span_reader read_use(const obs_use *use)
{
    return wl_spans_read(use->spans, use->length, use->known == OBS_KNOWN_COUNTED);
}

static void expect_span(wl_span_reader *r, uint64_t first, uint64_t count, uint64_t loads,
                        uint64_t stores, uint64_t atomics)
{
    wl_span span;
    assert_true(wl_span_next(r, &span));
    assert_int_equal(span.first, first);
    assert_int_equal(span.count, count);
    assert_int_equal(span.times[WL_LOADS], loads);
    assert_int_equal(span.times[WL_STORES], stores);
    assert_int_equal(span.times[WL_ATOMICS], atomics);
}

static void expect_end(wl_span_reader *r)
{
    wl_span span;
    assert_false(wl_span_next(r, &span));
    assert_false(r->damaged);
}

/* ---- by hand ---- */

typedef struct warp {
    acc_request access;
    uint64_t addr[32];
} warp;

/* Lane l accesses base + l * stride. */
static void record(obs_block *block, acc_op op, acc_space space, uint64_t base, int64_t stride,
                   uint32_t bytes, uint32_t mask)
{
    warp w = {.access = {.op = op,
                         .space = space,
                         .bytes = bytes,
                         .mask = mask,
                         .stride = mask == UINT32_MAX ? stride : ACC_IRREGULAR}};
    for (int l = 0; l < 32; l++)
        w.addr[l] = base + (uint64_t)l * (uint64_t)stride;
    w.access.addr = w.addr;
    w.access.object = space == ACC_GLOBAL ? object_at(NULL, base) : 0;
    obs_record_use(block, &w.access);
}

static void run_by_hand(obs_block *b)
{
    record(b, ACC_LOAD, ACC_GLOBAL, BASE, 4, 4, UINT32_MAX);      /* elements 0 to 31 */
    record(b, ACC_LOAD, ACC_GLOBAL, BASE + 20, 0, 4, UINT32_MAX); /* element 5 */
    record(b, ACC_STORE, ACC_GLOBAL, BASE + 64, 8, 8, 0x3);       /* 16 to 19 */
    record(b, ACC_REDUCTION, ACC_GLOBAL, BASE + 128, -4, 4, 0x7); /* 32, 31, 30 */
    record(b, ACC_LOAD, ACC_GLOBAL, BASE + 400, 1, 1, 0x1f);      /* 100, and once 101 */
    record(b, ACC_STORE, ACC_SHARED, 16, 132, 4, 0x7);            /* tile: 4, 37, 70 */
    record(b, ACC_LOAD, ACC_GLOBAL, BASE + 3 * (uint64_t)ROOM, 4, 4, UINT32_MAX); /* no object */
}

static void worked_by_hand(void **state)
{
    (void)state;
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED);
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    run_by_hand(block);
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.objects_known, OBS_KNOWN_COUNTED);
    assert_int_equal(s.arrays_known, OBS_KNOWN_COUNTED);
    assert_int_equal(s.nuses, 2);
    wl_span_reader r = read_use(use_of(&s, ACC_GLOBAL, 1));
    expect_span(&r, 0, 5, 1, 0, 0);
    expect_span(&r, 5, 1, 33, 0, 0);
    expect_span(&r, 6, 10, 1, 0, 0);
    expect_span(&r, 16, 4, 1, 1, 0);
    expect_span(&r, 20, 10, 1, 0, 0);
    expect_span(&r, 30, 2, 1, 0, 1);
    expect_span(&r, 32, 1, 0, 0, 1);
    expect_span(&r, 100, 1, 4, 0, 0);
    expect_span(&r, 101, 1, 1, 0, 0);
    expect_end(&r);
    r = read_use(use_of(&s, ACC_SHARED, 1));
    expect_span(&r, 4, 1, 0, 1, 0);
    expect_span(&r, 37, 1, 0, 1, 0);
    expect_span(&r, 70, 1, 0, 1, 0);
    expect_end(&r);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* ---- an object in another ---- */

enum { AROUND = 1, PART = 2, PART_BEGIN = 256, PART_END = 512, AROUND_BYTES = 1024 };

static bool nested_range_at(void *ctx, uint64_t address, obs_range *out)
{
    uint64_t at = address - BASE;
    (void)ctx;
    if (at >= PART_BEGIN && at < PART_END)
        *out = (obs_range){PART, BASE + PART_BEGIN, PART_END - PART_BEGIN, false, false};
    else
        *out = (obs_range){AROUND, BASE, AROUND_BYTES, false, true};
    return at < AROUND_BYTES;
}

static void load_nested(obs_block *block, uint32_t object, uint64_t at, int64_t stride,
                        uint32_t bytes, uint32_t mask)
{
    warp w = {.access = {.op = ACC_LOAD,
                         .space = ACC_GLOBAL,
                         .bytes = bytes,
                         .mask = mask,
                         .object = object,
                         .stride = mask == UINT32_MAX ? stride : ACC_IRREGULAR}};
    for (int l = 0; l < 32; l++)
        w.addr[l] = BASE + at + (uint64_t)l * (uint64_t)stride;
    w.access.addr = w.addr;
    obs_record_use(block, &w.access);
}

/* All of one instruction, so that each finds the table of the one before it first. */
static void run_nested(obs_block *b)
{
    load_nested(b, AROUND, 0, 4, 4, UINT32_MAX);   /* elements 0 to 31 of what is around */
    load_nested(b, PART, 256, 4, 4, UINT32_MAX);   /* 0 to 31 of the part */
    load_nested(b, AROUND, 512, 0, 4, UINT32_MAX); /* 128 of what is around */
    load_nested(b, 0, 224, 4, 4, UINT32_MAX);      /* 56 to 63 around, 0 to 23 of the part */
    load_nested(b, 0, 0, 480, 4, 0x3);             /* 0 around, 56 of the part */
    load_nested(b, PART, 508, 4, 8, 0x1);          /* 63, and what follows is not the part's */
}

static void the_innermost_object_counts(void **state)
{
    (void)state;
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_NOTHING);
    config.range_at = nested_range_at;
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    run_nested(block);
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.nuses, 2);
    wl_span_reader r = read_use(use_of(&s, ACC_GLOBAL, AROUND));
    expect_span(&r, 0, 1, 2, 0, 0);
    expect_span(&r, 1, 31, 1, 0, 0);
    expect_span(&r, 56, 8, 1, 0, 0);
    expect_span(&r, 128, 1, 32, 0, 0);
    expect_end(&r);
    r = read_use(use_of(&s, ACC_GLOBAL, PART));
    expect_span(&r, 0, 24, 2, 0, 0);
    expect_span(&r, 24, 8, 1, 0, 0);
    expect_span(&r, 56, 1, 1, 0, 0);
    expect_span(&r, 63, 1, 1, 0, 0);
    expect_end(&r);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* ---- one by one ---- */

typedef struct naive {
    uint64_t objects[OBJECTS + 1][WL_CLASSES][WORDS], arrays[ARRAYS][WL_CLASSES][WORDS];
} naive;

static uint32_t array_at(uint64_t offset)
{
    for (uint32_t i = 1; i < ARRAYS; i++)
        if (offset >= arrays[i].offset && offset < arrays[i].offset + arrays[i].bytes)
            return i;
    return 0;
}

static void add_lane(naive *n, const acc_request *a, uint64_t address)
{
    int class_ = a->op == ACC_LOAD ? WL_LOADS : a->op == ACC_STORE ? WL_STORES : WL_ATOMICS;
    bool shared = a->space == ACC_SHARED;
    uint32_t o = shared ? array_at(address) : object_at(NULL, address);
    if (!o)
        return;
    uint64_t begin = shared ? arrays[o].offset : BASE + begins[o - 1];
    uint64_t end = shared ? begin + arrays[o].bytes : BASE + begins[o];
    uint64_t *counts = shared ? n->arrays[o][class_] : n->objects[o][class_];
    for (uint64_t w = address / 4; w <= (address + a->bytes - 1) / 4; w++)
        if (w <= (end - 1) / 4)
            counts[w - begin / 4]++;
}

static void draw(uint64_t block, uint32_t n, warp *w)
{
    pattern_rng rng = {(block * 100003 + n + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++)
        pattern_below(&rng, 2);
    bool shared = pattern_below(&rng, 3) == 0;
    w->access = pattern_draw(&rng,
                             shared ? 0 : BASE + pattern_below(&rng, OBJECTS) * (uint64_t)ROOM,
                             ROOM - 512, true, w->addr);
    if (shared) {
        w->access.space = ACC_SHARED;
        w->access.stride = ACC_IRREGULAR;
        for (int i = 0; i < 32; i++)
            w->addr[i] %= 9216 - w->access.bytes;
    } else if (w->access.space == ACC_SHARED) {
        w->access.space = ACC_GLOBAL;
    }
    w->access.addr = w->addr;
    w->access.object = 0;
}

static naive *count_naively(void)
{
    naive *n = calloc(1, sizeof *n);
    for (uint64_t block = 0; block < BLOCKS; block++)
        for (uint32_t i = 0; i < REQUESTS; i++) {
            warp w;
            draw(block, i, &w);
            if (w.access.space != ACC_GLOBAL && w.access.space != ACC_SHARED)
                continue;
            for (uint32_t m = w.access.mask; m; m &= m - 1)
                add_lane(n, &w.access, w.addr[__builtin_ctz(m)]);
        }
    return n;
}

static void compare(const obs_use *use, uint64_t counts[WL_CLASSES][WORDS], bool counted)
{
    wl_span_reader r = use ? read_use(use) : (wl_span_reader){0};
    wl_span span = {0};
    for (uint64_t w = 0; w < WORDS; w++) {
        while (span.first + span.count <= w && wl_span_next(&r, &span))
            ;
        bool inside = w >= span.first && w < span.first + span.count, any = false;
        for (int c = 0; c < WL_CLASSES; c++) {
            any |= counts[c][w] != 0;
            if (counted)
                assert_int_equal(inside ? span.times[c] : 0, counts[c][w]);
        }
        assert_int_equal(inside, any);
    }
    assert_false(r.damaged);
}

typedef struct job {
    obs_launch *launch;
    uint32_t number, step;
} job;

static void *work(void *arg)
{
    const job *j = arg;
    drive worker = drive_begin(j->launch, j->number);
    for (uint64_t b = j->number; b < BLOCKS; b += j->step) {
        obs_block *block = drive_block(&worker, b);
        for (uint32_t i = 0; i < REQUESTS; i++) {
            warp w;
            draw(b, i, &w);
            obs_record_use(block, &w.access);
        }
        drive_end(&worker, block, 0);
    }
    return NULL;
}

static obs_summary observe(const obs_config *config, wl_arena *arena, uint32_t workers)
{
    obs_launch *launch = launch_for(config);
    obs_summary s;
    pthread_t threads[8];
    job jobs[8];
    for (uint32_t i = 0; i < workers; i++) {
        jobs[i] = (job){launch, i, workers};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    obs_launch_free(launch);
    return s;
}

static void check_random(obs_known objects, uint32_t workers)
{
    naive *n = count_naively();
    obs_config config = config_for(objects, OBS_KNOWN_COUNTED);
    wl_arena *arena = wl_arena_new();
    obs_summary s = observe(&config, arena, workers);
    for (uint32_t o = 1; o <= OBJECTS; o++)
        compare(use_of(&s, ACC_GLOBAL, o), n->objects[o], objects == OBS_KNOWN_COUNTED);
    for (uint32_t a = 1; a < ARRAYS; a++)
        compare(use_of(&s, ACC_SHARED, a), n->arrays[a], true);
    assert_int_equal(s.nuses, OBJECTS + ARRAYS - 1);
    wl_arena_free(arena);
    free(n);
}

static void one_by_one(void **state)
{
    (void)state;
    check_random(OBS_KNOWN_COUNTED, 1);
    check_random(OBS_KNOWN_COUNTED, 5);
    check_random(OBS_KNOWN_TOUCHED, 3);
}

/* ---- lanes that walk ---- */

typedef struct walker { /* a warp that goes on where it was */
    warp w;
    uint32_t left; /* requests, before it goes elsewhere */
} walker;

static void walk(obs_block *block, walker *w)
{
    w->w.access.addr = w->w.addr;
    obs_record_use(block, &w->w.access);
    for (int l = 0; l < 32; l++)
        w->w.addr[l] += w->w.access.bytes;
}

static walker walker_at(uint32_t number, acc_op op, uint64_t at, uint64_t apart, uint32_t bytes,
                        uint32_t mask)
{
    walker w = {.w.access = {.op = op,
                             .space = ACC_GLOBAL,
                             .warp = number,
                             .bytes = bytes,
                             .mask = mask,
                             .stride = ACC_IRREGULAR}};
    for (uint64_t l = 0; l < 32; l++)
        w.w.addr[l] = at + l * apart;
    return w;
}

/* In each of two blocks, by turns, so that neither ends what the other does: two lanes load elements
 * 0 to 3 and 64 to 67, the first of each once more; a lane stores 256 to 261, two at a time. */
static void walks_by_hand(void **state)
{
    (void)state;
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED);
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    drive worker = drive_begin(launch, 0);
    for (uint64_t b = 0; b < 2; b++) {
        obs_block *block = drive_block(&worker, b);
        walker loads = walker_at(0, ACC_LOAD, BASE, 256, 4, 3);
        walker stores = walker_at(1, ACC_STORE, BASE + 1024, 0, 8, 1);
        for (int i = 0; i < 4; i++) {
            walk(block, &loads);
            if (i < 3)
                walk(block, &stores);
        }
        loads = walker_at(0, ACC_LOAD, BASE, 256, 4, 3);
        walk(block, &loads);
        drive_end(&worker, block, 0);
    }
    obs_summary s;
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    const obs_use *use = use_of(&s, ACC_GLOBAL, 1);
    wl_span_reader r = read_use(use);
    expect_span(&r, 0, 1, 4, 0, 0);
    expect_span(&r, 1, 3, 2, 0, 0);
    expect_span(&r, 64, 1, 4, 0, 0);
    expect_span(&r, 65, 3, 2, 0, 0);
    expect_span(&r, 256, 6, 0, 2, 0);
    expect_end(&r);
    assert_int_equal(use->block_words, 2 * 14);
    assert_int_equal(use->block_accesses, 2 * 16);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

enum { WALKERS = 6, WALKS = 3000 };

/* Anywhere, also into what lies behind an object, and where an element is not whole. */
static void go_elsewhere(pattern_rng *rng, uint32_t number, walker *w)
{
    static const uint32_t sizes[] = {4, 8, 16, 2}, masks[] = {UINT32_MAX, 0xf0f0, 1u << 31, 0x3};
    static const acc_op ops[] = {ACC_LOAD, ACC_STORE, ACC_ATOMIC};
    uint64_t at = BASE + pattern_below(rng, 3 * ROOM / 2) * 2;
    *w = walker_at(number % 3, ops[pattern_below(rng, 3)], at & ~(pattern_below(rng, 4) ? 3ull : 0),
                   4 * (1 + pattern_below(rng, 300)), sizes[pattern_below(rng, 4)],
                   masks[pattern_below(rng, 4)]);
    w->left = 1 + pattern_below(rng, 20);
}

static void walk_at_random(obs_block *block, uint64_t number, naive *n)
{
    pattern_rng rng = {number * 977 + 13};
    walker walkers[WALKERS] = {0};
    for (int i = 0; i < WALKS; i++) {
        uint32_t k = pattern_below(&rng, WALKERS);
        walker *w = &walkers[k];
        if (!w->left)
            go_elsewhere(&rng, k, w);
        w->left--;
        for (uint32_t m = w->w.access.mask; m; m &= m - 1)
            add_lane(n, &w->w.access, w->w.addr[__builtin_ctz(m)]);
        walk(block, w);
    }
}

static uint64_t words_of(const naive *all, const naive *before, uint32_t object)
{
    uint64_t words = 0;
    for (uint64_t w = 0; w < WORDS; w++) {
        bool any = false;
        for (int c = 0; c < WL_CLASSES; c++)
            any |= all->objects[object][c][w] != before->objects[object][c][w];
        words += any;
    }
    return words;
}

static void walks_at_random(void **state)
{
    (void)state;
    naive *n = calloc(1, sizeof *n), *before = calloc(1, sizeof *before);
    uint64_t words[OBJECTS + 1] = {0};
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED);
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    for (uint64_t b = 0; b < 4; b++) {
        obs_block *block = drive_block(&worker, b);
        memcpy(before, n, sizeof *before);
        walk_at_random(block, b, n);
        drive_end(&worker, block, 0);
        for (uint32_t o = 1; o <= OBJECTS; o++)
            words[o] += words_of(n, before, o);
    }
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    for (uint32_t o = 1; o <= OBJECTS; o++) {
        compare(use_of(&s, ACC_GLOBAL, o), n->objects[o], true);
        assert_int_equal(use_of(&s, ACC_GLOBAL, o)->block_words, words[o]);
    }
    obs_launch_free(launch);
    wl_arena_free(arena);
    free(before);
    free(n);
}

/* ---- a large object ---- */

enum {
    LARGE_BYTES = 8 << 20,
    CROWD = 1200, /* workers: more than can claim a part of what a counter holds */
    CROWD_THREADS = 4,
    CROWD_REQUESTS = 8
};

static bool large_range_at(void *ctx, uint64_t address, obs_range *out)
{
    (void)ctx;
    *out = (obs_range){1, BASE, LARGE_BYTES, false, false};
    return address - BASE < LARGE_BYTES;
}

/* Where request `i` of the worker begins: the same place for all of them, or one of its own. */
static uint64_t crowd_begin(uint32_t worker, uint32_t i)
{
    return i == 0 ? 4096 : (worker * 977u + i * 65537u) % (LARGE_BYTES / 4 - 32) * 4;
}

static void *work_in_crowd(void *arg)
{
    const job *j = arg;
    for (uint32_t n = j->number; n < CROWD; n += j->step) {
        drive worker = drive_begin(j->launch, n);
        obs_block *block = drive_block(&worker, n);
        for (uint32_t i = 0; i < CROWD_REQUESTS; i++)
            record(block, i % 2 ? ACC_STORE : ACC_LOAD, ACC_GLOBAL, BASE + crowd_begin(n, i), 4, 4,
                   UINT32_MAX);
        drive_end(&worker, block, 0);
    }
    return NULL;
}

static void compare_crowd(const obs_use *use)
{
    static uint32_t counts[2][LARGE_BYTES / 4];
    for (uint32_t n = 0; n < CROWD; n++)
        for (uint32_t i = 0; i < CROWD_REQUESTS; i++)
            for (uint32_t lane = 0; lane < 32; lane++)
                counts[i % 2][crowd_begin(n, i) / 4 + lane]++;
    wl_span_reader r = read_use(use);
    wl_span span = {0};
    for (uint64_t w = 0; w < LARGE_BYTES / 4; w++) {
        while (span.first + span.count <= w && wl_span_next(&r, &span))
            ;
        bool inside = w >= span.first && w < span.first + span.count;
        assert_int_equal(inside ? span.times[WL_LOADS] : 0, counts[0][w]);
        assert_int_equal(inside ? span.times[WL_STORES] : 0, counts[1][w]);
    }
}

/* They have one table, and some a table of their own: all together must have room for few. */
static void many_workers_of_a_large_object(void **state)
{
    (void)state;
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_NOTHING);
    config.range_at = large_range_at;
    config.grid[0] = CROWD;
    config.use_limit = 11 * (uint64_t)LARGE_BYTES; /* half of it for stamps */
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    pthread_t threads[CROWD_THREADS];
    job jobs[CROWD_THREADS];
    obs_summary s;
    for (uint32_t i = 0; i < CROWD_THREADS; i++) {
        jobs[i] = (job){launch, i, CROWD_THREADS};
        assert_int_equal(pthread_create(&threads[i], NULL, work_in_crowd, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < CROWD_THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.nuses, 1);
    assert_int_equal(s.uses[0].known, OBS_KNOWN_COUNTED);
    compare_crowd(&s.uses[0]);
    assert_int_equal(s.uses[0].reuse & OBS_REUSE_BLOCKS, OBS_REUSE_BLOCKS);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* ---- what is not known ---- */

static void limits(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_NOTHING);
    config.use_limit = 20000; /* the first objects' pages */
    obs_summary s = observe(&config, arena, 1);
    uint32_t known = 0;
    assert_int_equal(s.nuses, OBJECTS);
    assert_null(use_of(&s, ACC_SHARED, 1));
    for (uint32_t i = 0; i < s.nuses; i++) {
        known += s.uses[i].known == OBS_KNOWN_COUNTED;
        assert_true(s.uses[i].known || !s.uses[i].length);
    }
    assert_true(known < OBJECTS);
    assert_int_equal(s.arrays_known, OBS_KNOWN_NOTHING);
    wl_arena_free(arena);
}

static void what_cannot_be_counted(void **state)
{
    (void)state;
    obs_config config = config_for(OBS_KNOWN_COUNTED, OBS_KNOWN_COUNTED);
    obs_launch *launch = launch_for(&config);
    wl_arena *arena = wl_arena_new();
    obs_summary s;
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    uint64_t addr[32] = {BASE + 2 * (uint64_t)ROOM};
    acc_request texture = {.space = ACC_GLOBAL,
                           .bytes = 4,
                           .mask = 1,
                           .flags = ACC_TEXTURE,
                           .addr = addr,
                           .stride = ACC_IRREGULAR};
    record(block, ACC_LOAD, ACC_GLOBAL, BASE, 4, 4, UINT32_MAX);
    obs_record_use(block, &texture);
    record(block, ACC_LOAD, ACC_SHARED, 0, 4, 4, UINT32_MAX);
    record(block, ACC_LOAD, ACC_SHARED, 1 << 24, 4, 4, 1); /* of another block */
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.nuses, 2);
    assert_int_equal(use_of(&s, ACC_GLOBAL, 1)->known, OBS_KNOWN_COUNTED);
    assert_int_equal(use_of(&s, ACC_GLOBAL, 3)->known, OBS_KNOWN_NOTHING);
    assert_int_equal(s.arrays_known, OBS_KNOWN_NOTHING);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* ---- spans ---- */

static void random_spans(pattern_rng *rng, wl_spans *spans, uint64_t counts[WL_CLASSES][WORDS])
{
    for (uint64_t w = 0; w < WORDS; w++) {
        wl_span span = {.first = w, .count = 1};
        for (int c = 0; c < WL_CLASSES; c++) {
            uint64_t times = pattern_below(rng, 3) ? 0 : 1ull << pattern_below(rng, 63);
            counts[c][w] += times;
            span.times[c] = times;
        }
        wl_spans_add(spans, &span);
    }
    assert_true(wl_spans_finish(spans));
}

static void sums(void **state)
{
    (void)state;
    static uint64_t counts[WL_CLASSES][WORDS];
    pattern_rng rng = {7};
    wl_spans a = {.counted = true}, b = {.counted = true}, sum = {.counted = true}, either = {0};
    random_spans(&rng, &a, counts);
    random_spans(&rng, &b, counts);
    wl_span_reader x = wl_spans_read(a.data, a.size, true), y = wl_spans_read(b.data, b.size, true);
    assert_true(wl_spans_sum(&x, &y, &sum));
    assert_true(wl_spans_sum(&x, &y, &either));
    obs_use use = {.known = OBS_KNOWN_COUNTED, .spans = (char *)sum.data, .length = sum.size};
    compare(&use, counts, true);
    use = (obs_use){
        .known = OBS_KNOWN_TOUCHED, .spans = (char *)either.data, .length = either.size};
    compare(&use, counts, false);
    wl_spans_free(&a), wl_spans_free(&b), wl_spans_free(&sum), wl_spans_free(&either);
}

static bool is_damaged(const void *data, size_t size, bool counted)
{
    wl_span_reader r = wl_spans_read(data, size, counted);
    wl_span span;
    while (wl_span_next(&r, &span))
        ;
    return r.damaged;
}

static void damage(void **state)
{
    (void)state;
    static const uint8_t good[] = {3, 2, 1, 0, 0x80, 1}, cut[] = {3, 2, 1},
                         empty[] = {0, 0, 1, 0, 0}, nobody[] = {0, 1, 0, 0, 0}, open[] = {0, 0x80},
                         far[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1},
                         wide[] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 1};
    assert_false(is_damaged(good, sizeof good, true));
    assert_false(is_damaged(NULL, 0, true));
    assert_true(is_damaged(cut, sizeof cut, true));
    assert_true(is_damaged(empty, sizeof empty, true));
    assert_true(is_damaged(nobody, sizeof nobody, true));
    assert_true(is_damaged(open, sizeof open, false));
    assert_true(is_damaged(far, sizeof far, false));
    assert_true(is_damaged(wide, sizeof wide, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_by_hand), cmocka_unit_test(the_innermost_object_counts),
        cmocka_unit_test(one_by_one),     cmocka_unit_test(many_workers_of_a_large_object),
        cmocka_unit_test(walks_by_hand),  cmocka_unit_test(walks_at_random),
        cmocka_unit_test(limits),         cmocka_unit_test(what_cannot_be_counted),
        cmocka_unit_test(sums),           cmocka_unit_test(damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
