/* Whole launches through obs_record: rows and heat maps against the reference, splitting by
 * object, arrays of shared memory, several workers in any order, limits. */
#include "patterns.h"
#include "reference.h"
#include "support/drive.h"
#include "support/test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    PCS = 24,
    BLOCKS = 12,
    REQUESTS = 250,
    OBJECTS = 3,
    ROOM = 64 * 1024,
    MAX_ROWS = 1024,
    MAX_HEATS = 64
};

static const uint64_t BASE = 0x7f2200000000;
static const uint64_t sampled[] = {0, 3, 4, 11};
static const obs_shared arrays[] = {
    {"", 0, 0}, {"tile", 0, 4096}, {"other", 8192, 1024}, {"overlaps", 4000, 5000}};

/* Objects of ROOM bytes side by side; number 0 is the gap behind them. */
static uint32_t object_at(void *ctx, uint64_t address)
{
    (void)ctx;
    uint64_t n = (address - BASE) / ROOM;
    return n < OBJECTS ? (uint32_t)n + 1 : 0;
}

static uint32_t array_at(uint64_t offset)
{
    for (uint32_t i = 1; i < 4; i++)
        if (offset >= arrays[i].offset && offset < arrays[i].offset + arrays[i].bytes)
            return i;
    return 0;
}

static uint32_t object_of(const acc_request *a, uint32_t lane)
{
    if (a->space == ACC_LOCAL)
        return 0;
    return a->space == ACC_SHARED ? array_at(a->addr[lane]) : object_at(NULL, a->addr[lane]);
}

/* ---- the same requests, given to both ---- */

typedef struct request {
    acc_request access;
    uint64_t addr[32];
} request;

/* Request `n` of a block, the same every time: three in a row have one pattern, shifted. Global
 * ones may cross objects; then the caller does not know the object. */
static void draw(uint64_t block, uint32_t n, request *r)
{
    pattern_rng rng = {(block * 100003 + n / 3 + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++)
        pattern_below(&rng, 2);
    bool shared = pattern_below(&rng, 3) == 0;
    uint64_t base = shared ? 0 : BASE + pattern_below(&rng, OBJECTS) * (uint64_t)ROOM;
    r->access = pattern_draw(&rng, base, ROOM - 512, true, r->addr);
    pattern_rng again = {rng.state + n % 3};
    uint64_t shift = n % 3
                         ? (uint64_t)pattern_below(&again, 512 / r->access.bytes) * r->access.bytes
                         : 0;
    for (int i = 0; i < 32; i++)
        r->addr[i] += shift;
    r->access.space = shared ? ACC_SHARED : r->access.space;
    if (r->access.space == ACC_SHARED || r->access.space == ACC_LOCAL)
        for (int i = 0; i < 32; i++)
            r->addr[i] %= ROOM / 2;
    if (r->access.space == ACC_SHARED || r->access.space == ACC_LOCAL)
        r->access.stride = ACC_IRREGULAR; /* the remainder may have broken it */
    r->access.pc = pattern_below(&rng, PCS);
    r->access.warp = pattern_below(&rng, 8);
    if (r->access.space == ACC_GLOBAL || r->access.space == ACC_CONST) {
        uint32_t first = object_of(&r->access, (uint32_t)__builtin_ctz(r->access.mask));
        bool one = true;
        for (uint32_t i = 0; i < 32; i++)
            one = one && (!(r->access.mask >> i & 1) || object_of(&r->access, i) == first);
        r->access.object = one && pattern_below(&rng, 2) ? first : 0;
    }
}

/* ---- the reference's side ---- */

static struct {
    ref_row rows[MAX_ROWS];
    uint32_t nrows;
    ref_heat *heats[MAX_HEATS];
    uint32_t nheats;
} ref;

static ref_row *ref_row_of(const acc_request *a, uint32_t object)
{
    for (uint32_t i = 0; i < ref.nrows; i++) {
        const obs_insn *insn = &ref.rows[i].insn;
        if (insn->pc == a->pc && insn->object == object && insn->space == a->space &&
            insn->op == a->op)
            return &ref.rows[i];
    }
    assert_true(ref.nrows < MAX_ROWS);
    ref_row *row = &ref.rows[ref.nrows++];
    row->insn = (obs_insn){
        .pc = a->pc, .object = object, .space = (uint8_t)a->space, .op = (uint8_t)a->op};
    return row;
}

static ref_heat *ref_heat_of(const acc_request *a, uint32_t object, uint64_t block)
{
    for (uint32_t i = 0; i < ref.nheats; i++) {
        ref_heat *h = ref.heats[i];
        if (h->object == object && h->space == a->space && h->block == block)
            return h;
    }
    assert_true(ref.nheats < MAX_HEATS);
    ref_heat *h = calloc(1, sizeof *h);
    h->object = object;
    h->space = a->space;
    h->block = block;
    h->first = a->space == ACC_SHARED
                   ? 0
                   : (BASE + (object ? object - 1 : OBJECTS) * (uint64_t)ROOM) / 32;
    return ref.heats[ref.nheats++] = h;
}

static bool is_sampled(uint64_t block)
{
    for (size_t i = 0; i < sizeof sampled / sizeof *sampled; i++)
        if (sampled[i] == block)
            return true;
    return false;
}

static void ref_record(uint64_t block, const request *r)
{
    uint32_t left = r->access.mask;
    while (left) {
        acc_request part = r->access;
        uint32_t object = object_of(&part, (uint32_t)__builtin_ctz(left));
        part.mask = 0;
        part.addr = r->addr;
        for (uint32_t i = 0; i < 32; i++)
            if ((left >> i & 1) && object_of(&part, i) == object)
                part.mask |= 1u << i;
        ref_row_add(ref_row_of(&part, object), &part);
        if (is_sampled(block) && part.space != ACC_LOCAL)
            ref_heat_add(ref_heat_of(&part, object, block), &part);
        left &= ~part.mask;
    }
}

static int fill_reference(void **state)
{
    (void)state;
    for (uint64_t block = 0; block < BLOCKS; block++) {
        for (uint32_t n = 0; n < REQUESTS; n++) {
            request r;
            draw(block, n, &r);
            r.access.addr = r.addr;
            ref_record(block, &r);
        }
    }
    for (uint32_t i = 0; i < ref.nrows; i++)
        ref_row_finish(&ref.rows[i]);
    return 0;
}

static int free_reference(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < ref.nheats; i++)
        free(ref.heats[i]);
    return 0;
}

/* ---- our side ---- */

static const obs_config config = {.ncode = PCS,
                                  .grid = {2, 3, 2},
                                  .block = {64, 4, 1},
                                  .nshared = 4,
                                  .shared = arrays,
                                  .nsampled = 4,
                                  .sampled = sampled,
                                  .object_at = object_at};

typedef struct job {
    obs_launch *launch;
    uint32_t number, step;
    bool interleaved;
} job;

static void run_block(obs_block *b, uint64_t block, uint32_t from, uint32_t to)
{
    for (uint32_t n = from; n < to; n++) {
        request r;
        draw(block, n, &r);
        r.access.addr = r.addr;
        obs_record(b, &r.access);
    }
}

/* Every step'th block, one after another or all of them in flight together. */
static void *work(void *arg)
{
    job *j = arg;
    obs_block *blocks[BLOCKS];
    drive worker = drive_begin(j->launch, j->number);
    for (uint64_t b = j->number; b < BLOCKS; b += j->step) {
        blocks[b] = drive_block(&worker, b);
        run_block(blocks[b], b, 0, j->interleaved ? REQUESTS / 2 : REQUESTS);
        if (!j->interleaved)
            drive_end(&worker, blocks[b], 0);
    }
    for (uint64_t b = j->number; j->interleaved && b < BLOCKS; b += j->step)
        run_block(blocks[b], b, REQUESTS / 2, REQUESTS); /* and no end: the launch fails */
    return NULL;
}

static obs_summary observe(wl_arena *arena, uint32_t workers, bool interleaved)
{
    obs_launch *launch;
    obs_summary summary;
    pthread_t threads[8];
    job jobs[8];
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    for (uint32_t i = 0; i < workers; i++) {
        jobs[i] = (job){launch, i, workers, interleaved};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &jobs[i]), 0);
    }
    for (uint32_t i = 0; i < workers; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(obs_finish(launch, arena, &summary), WL_OK);
    obs_launch_free(launch);
    return summary;
}

/* ---- comparing ---- */

static const ref_row *find_row(const obs_insn *insn)
{
    for (uint32_t i = 0; i < ref.nrows; i++) {
        const obs_insn *r = &ref.rows[i].insn;
        if (r->pc == insn->pc && r->object == insn->object && r->space == insn->space &&
            r->op == insn->op)
            return &ref.rows[i];
    }
    return NULL;
}

static void compare_rows(const obs_summary *s)
{
    assert_int_equal(s->ninsns, ref.nrows);
    for (uint32_t i = 0; i < s->ninsns; i++) {
        const ref_row *row = find_row(&s->insns[i]);
        assert_non_null(row);
        assert_memory_equal(&s->insns[i], &row->insn, sizeof row->insn);
        if (i) {
            const obs_insn *a = &s->insns[i - 1], *b = &s->insns[i];
            assert_true(a->pc < b->pc || (a->pc == b->pc && a->object <= b->object));
        }
    }
}

static void compare_pcs(const obs_heat *heat, uint16_t set, uint64_t want)
{
    uint64_t got = 0;
    assert_true(set < heat->npcsets);
    for (uint32_t i = 0; i < heat->pcsets[set].count; i++) {
        got |= 1ull << heat->pcsets[set].pcs[i];
        assert_true(i == 0 || heat->pcsets[set].pcs[i - 1] < heat->pcsets[set].pcs[i]);
    }
    assert_int_equal(got, want);
}

static void compare_row(const obs_heat *heat, const obs_heat_row *row, const ref_heat *want)
{
    uint32_t s = (uint32_t)(row->sector - want->first);
    assert_true(s < REF_SECTORS);
    assert_int_equal(row->history, want->cells[s].history);
    assert_memory_equal(row->word, want->cells[s].word, sizeof row->word);
    assert_int_equal(row->reads, want->cells[s].counts[0]);
    assert_int_equal(row->writes, want->cells[s].counts[1]);
    assert_int_equal(row->atomics, want->cells[s].counts[2]);
    for (uint32_t w = 0; w < 8; w++)
        assert_int_equal(row->owner >> (2 * w) & 3,
                         heat->space == ACC_SHARED ? ref_owner(want, s, w) : 0);
    compare_pcs(heat, row->pcset, want->cells[s].pcs);
}

/* Each of the map's sets is of some row, and not empty. */
static void expect_sets_in_use(const obs_heat *heat)
{
    for (uint32_t i = 0; i < heat->npcsets; i++) {
        uint32_t rows = 0;
        for (uint32_t r = 0; r < heat->nrows; r++)
            rows += heat->rows[r].pcset == i;
        assert_true(rows > 0 && heat->pcsets[i].count > 0);
    }
}

static void compare_heats(const obs_summary *s)
{
    assert_int_equal(s->nheats, ref.nheats);
    for (uint32_t i = 0; i < s->nheats; i++) {
        const obs_heat *heat = &s->heats[i];
        uint32_t k = 0, touched = 0;
        while (k < ref.nheats &&
               (ref.heats[k]->object != heat->object || ref.heats[k]->space != heat->space ||
                ref.heats[k]->block != heat->block))
            k++;
        assert_true(k < ref.nheats);
        for (uint32_t c = 0; c < REF_SECTORS; c++)
            touched += ref.heats[k]->cells[c].history != 0;
        assert_int_equal(heat->nrows, touched);
        for (uint32_t r = 0; r < heat->nrows; r++) {
            compare_row(heat, &heat->rows[r], ref.heats[k]);
            assert_true(r == 0 || heat->rows[r - 1].sector < heat->rows[r].sector);
        }
        assert_int_equal(heat->block_index[0] + 2 * heat->block_index[1] + 6 * heat->block_index[2],
                         heat->block);
        assert_int_equal(heat->warps, 8);
        assert_int_equal(heat->dropped, 0);
        expect_sets_in_use(heat);
    }
}

static void compare_all(uint32_t workers, bool interleaved)
{
    wl_arena *arena = wl_arena_new();
    obs_summary s = observe(arena, workers, interleaved);
    compare_rows(&s);
    compare_heats(&s);
    assert_int_equal(s.blocks_observed, BLOCKS);
    assert_int_equal(s.blocks_sampled, 4);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.nshared, 4);
    assert_string_equal(s.shared[1].name, "tile");
    wl_arena_free(arena);
}

static void one_worker(void **state)
{
    (void)state;
    assert_true(ref.nrows > 200 && ref.nheats > 20);
    compare_all(1, false);
}

static void several_workers(void **state)
{
    (void)state;
    compare_all(4, false);
}

static void blocks_in_flight_together(void **state)
{
    (void)state;
    compare_all(3, true);
}

static bool heats_equal(const obs_heat *a, const obs_heat *b)
{
    if (a->block != b->block || a->object != b->object || a->space != b->space ||
        a->nrows != b->nrows || a->npcsets != b->npcsets ||
        memcmp(a->rows, b->rows, a->nrows * sizeof *a->rows) != 0)
        return false;
    for (uint32_t i = 0; i < a->npcsets; i++)
        if (a->pcsets[i].count != b->pcsets[i].count ||
            memcmp(a->pcsets[i].pcs, b->pcsets[i].pcs, a->pcsets[i].count * 4) != 0)
            return false;
    return true;
}

/* To the byte: what the capture gets does not depend on the number of threads. */
static void threads_make_no_difference(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_summary a = observe(arena, 1, false), b = observe(arena, 5, false);
    assert_int_equal(a.ninsns, b.ninsns);
    assert_memory_equal(a.insns, b.insns, a.ninsns * sizeof *a.insns);
    assert_int_equal(a.nheats, b.nheats);
    for (uint32_t i = 0; i < a.nheats; i++)
        assert_true(heats_equal(&a.heats[i], &b.heats[i]));
    wl_arena_free(arena);
}

/* Requests of one instruction that agree in their first and last lane and differ between. */
static void same_ends(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    pattern_rng rng = {77};
    obs_launch *launch;
    obs_summary s;
    ref_row *want = calloc(1, sizeof *want);
    uint64_t addr[32];
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 1);
    want->insn = (obs_insn){.object = 1};
    for (uint32_t n = 0; n < 4000; n++) {
        for (uint32_t i = 0; i < 32; i++)
            addr[i] = BASE + (n % 4 ? addr[i] - BASE : pattern_below(&rng, 64) * 4);
        addr[1 + pattern_below(&rng, 30)] = BASE + pattern_below(&rng, 64) * 4;
        acc_request a = {
            .bytes = 4, .mask = UINT32_MAX, .addr = addr, .stride = ACC_IRREGULAR, .object = 1};
        ref_row_add(want, &a);
        obs_record(block, &a);
        if (n % 3)
            ref_row_add(want, &a), obs_record(block, &a);
    }
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.ninsns, 1);
    assert_memory_equal(&s.insns[0], &want->insn, sizeof want->insn);
    obs_launch_free(launch);
    wl_arena_free(arena);
    free(want);
}

/* One pattern of lanes that moves up and down over the ends of arrays in shared memory. */
static void over_the_ends_of_arrays(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    pattern_rng rng = {99};
    obs_launch *launch;
    obs_summary s;
    ref_row *want = calloc(4, sizeof *want);
    uint64_t addr[32], distance[32];
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 1);
    for (int i = 0; i < 32; i++)
        distance[i] = pattern_below(&rng, 200) * 4;
    for (uint32_t n = 0; n < 3000; n++) {
        uint64_t base = n < 1500 ? 3000 + n * 4 : 3000 + (3000 - n) * 4;
        for (int i = 0; i < 32; i++)
            addr[i] = base + distance[i];
        acc_request a = {.space = ACC_SHARED, .bytes = 4, .addr = addr, .stride = ACC_IRREGULAR};
        for (uint32_t object = 0; object < 4; object++) {
            a.mask = 0;
            for (uint32_t i = 0; i < 32; i++)
                a.mask |= (uint32_t)(array_at(addr[i]) == object) << i;
            want[object].insn.object = object;
            want[object].insn.space = ACC_SHARED;
            if (a.mask)
                ref_row_add(&want[object], &a);
        }
        a.mask = UINT32_MAX;
        obs_record(block, &a);
    }
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.ninsns, 4);
    for (uint32_t i = 0; i < 4; i++) {
        ref_row_finish(&want[i]);
        assert_memory_equal(&s.insns[i], &want[i].insn, sizeof want->insn);
    }
    obs_launch_free(launch);
    wl_arena_free(arena);
    free(want);
}

/* Lanes of any size at any place: bulk copies are not aligned to theirs. */
static void lanes_across_sectors(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    pattern_rng rng = {4711};
    obs_launch *launch;
    obs_summary s;
    ref_heat *want = calloc(1, sizeof *want);
    uint64_t addr[32];
    want->first = BASE / 32;
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, sampled[0]);
    for (uint32_t n = 0; n < 3000; n++) {
        acc_request a = pattern_draw(&rng, BASE, ROOM, false, addr);
        a.space = ACC_GLOBAL;
        a.object = 1;
        a.pc = n % PCS;
        a.warp = n % 8;
        obs_record(block, &a);
        ref_heat_add(want, &a);
    }
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.nheats, 1);
    assert_true(s.heats[0].nrows > ROOM / 64);
    for (uint32_t r = 0; r < s.heats[0].nrows; r++)
        compare_row(&s.heats[0], &s.heats[0].rows[r], want);
    obs_launch_free(launch);
    wl_arena_free(arena);
    free(want);
}

/* ---- limits and faults ---- */

static obs_summary touch_sectors(wl_arena *arena, uint64_t limit, uint32_t sectors)
{
    obs_config limited = config;
    obs_launch *launch;
    obs_summary s;
    uint64_t addr[32];
    limited.heat_limit = limit;
    assert_int_equal(obs_launch_new(&limited, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    for (uint32_t i = 0; i < sectors * 2; i++) {
        for (int l = 0; l < 32; l++)
            addr[l] = BASE + (i % sectors) * 32;
        acc_request a = {.bytes = 4, .mask = UINT32_MAX, .addr = addr, .stride = 0, .object = 1};
        obs_record(block, &a);
    }
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    obs_launch_free(launch);
    return s;
}

static void full_maps_say_so(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_summary s = touch_sectors(arena, 10, 25);
    assert_int_equal(s.heats[0].nrows, 10);
    assert_int_equal(s.heats[0].dropped, 15); /* each once */
    assert_int_equal(s.insns[0].requests, 50);
    s = touch_sectors(arena, 10, 1000);
    assert_int_equal(s.heats[0].dropped, 40); /* at least so many */
    s = touch_sectors(arena, 0, 1000);
    assert_int_equal(s.heats[0].nrows, 1000);
    wl_arena_free(arena);
}

/* Sector i of the map is accessed by the i-th choice of three instructions of `ncode`, ascending. */
static void touch_by_threes(obs_block *block, uint32_t ncode, uint32_t sectors)
{
    uint64_t addr[32];
    uint32_t pcs[3] = {0, 1, 2};
    for (uint32_t i = 0; i < sectors; i++) {
        addr[0] = BASE + i * 32;
        for (int k = 0; k < 3; k++)
            obs_record(block, &(acc_request){.pc = pcs[k],
                                             .bytes = 4,
                                             .mask = 1,
                                             .addr = addr,
                                             .stride = ACC_IRREGULAR,
                                             .object = 1});
        int k = 2;
        while (k > 0 && pcs[k] == ncode - 3 + (uint32_t)k)
            k--;
        for (pcs[k]++; k < 2; k++)
            pcs[k + 1] = pcs[k] + 1;
    }
}

/* A row names its set by 16 bits: further ones have the set of all instructions. */
static void more_sets_of_instructions_than_rows_can_name(void **state)
{
    (void)state;
    enum { NCODE = 80, NAMED = UINT16_MAX, SECTORS = NAMED + 10 };
    obs_config many = {
        .ncode = NCODE, .grid = {1, 1, 1}, .block = {32, 1, 1}, .nsampled = 1, .sampled = sampled};
    wl_arena *arena = wl_arena_new();
    obs_launch *launch;
    obs_summary s;
    assert_int_equal(obs_launch_new(&many, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    touch_by_threes(block, NCODE, SECTORS);
    drive_end(&worker, block, 1);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.dropped, 0);
    assert_int_equal(s.heats[0].nrows, SECTORS);
    assert_int_equal(s.heats[0].npcsets, NAMED + 1);
    assert_int_equal(s.heats[0].rows[NAMED - 1].pcset, NAMED - 1);
    assert_int_equal(s.heats[0].pcsets[NAMED - 1].count, 3);
    assert_int_equal(s.heats[0].rows[NAMED].pcset, NAMED);
    assert_int_equal(s.heats[0].rows[SECTORS - 1].pcset, NAMED);
    assert_int_equal(s.heats[0].pcsets[NAMED].count, NCODE);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

static void nonsense_is_dropped(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_launch *launch;
    obs_summary s;
    uint64_t addr[32] = {0};
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 1);
    obs_record(block, &(acc_request){.pc = PCS, .bytes = 4, .mask = 1, .addr = addr});
    obs_record(block, &(acc_request){.pc = 0, .bytes = 0, .mask = 1, .addr = addr});
    obs_record(block, &(acc_request){.pc = 0, .bytes = 4, .mask = 0, .addr = addr});
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.ninsns, 0);
    assert_int_equal(s.dropped, 2);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* Of blocks in flight any may end first; those that never do count, too. */
static void blocks_end_in_any_order(void **state)
{
    (void)state;
    for (uint32_t first = 0; first < 3; first++) {
        wl_arena *arena = wl_arena_new();
        obs_launch *launch;
        obs_summary s;
        obs_block *blocks[3];
        uint64_t addr[32] = {BASE};
        assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
        drive worker = drive_begin(launch, 0);
        for (uint32_t i = 0; i < 3; i++)
            blocks[i] = drive_block(&worker, sampled[i]);
        for (uint32_t i = 0; i < 3; i++)
            obs_record(blocks[i], &(acc_request){.pc = 0, .bytes = 4, .mask = 1, .addr = addr});
        drive_end(&worker, blocks[first], 1);
        drive_end(&worker, blocks[(first + 1) % 3], 1);
        assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
        assert_int_equal(s.nheats, 3);
        assert_int_equal(s.insns[0].requests, 3);
        obs_launch_free(launch);
        wl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_worker),
        cmocka_unit_test(several_workers),
        cmocka_unit_test(blocks_in_flight_together),
        cmocka_unit_test(threads_make_no_difference),
        cmocka_unit_test(same_ends),
        cmocka_unit_test(over_the_ends_of_arrays),
        cmocka_unit_test(lanes_across_sectors),
        cmocka_unit_test(full_maps_say_so),
        cmocka_unit_test(more_sets_of_instructions_than_rows_can_name),
        cmocka_unit_test(nonsense_is_dropped),
        cmocka_unit_test(blocks_end_in_any_order),
    };
    return cmocka_run_group_tests(tests, fill_reference, free_reference);
}
