/* What warps did, step by step: the summary's sequences, read back, against the requests as they
 * came; with several workers, with too little room, of all blocks and of those that are chosen. */
#include "base/steps.h"
#include "patterns.h"
#include "support/drive.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { BLOCKS = 6, WARPS = 4, REQUESTS = 120, OBJECTS = 3, ROOM = 64 * 1024, PCS = 24 };
enum { MOST_STEPS = 2 * REQUESTS * 4, ARRAY = 4096, BARRIER = 99, ENTRY = 98 };

static const uint64_t BASE = 0x7f2200000000;
static const uint64_t sampled[] = {0, 1, 2, 3, 4, 5};
static const obs_shared arrays[] = {{"", 0, 0}, {"tile", 0, ARRAY}, {"other", ARRAY, ROOM}};

/* Objects of ROOM bytes side by side; number 0 is what lies beyond. */
static uint32_t object_at(void *ctx, uint64_t address)
{
    (void)ctx;
    uint64_t n = (address - BASE) / ROOM;
    return n < OBJECTS ? (uint32_t)n + 1 : 0;
}

static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    uint32_t n = object_at(ctx, address);
    *out = (obs_range){n, BASE + (n - 1) * (uint64_t)ROOM, ROOM, false, false};
    return n > 0;
}

static const obs_config config = {.ncode = PCS,
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {WARPS * 32, 1, 1},
                                  .nshared = 3,
                                  .shared = arrays,
                                  .nsampled = BLOCKS,
                                  .sampled = sampled,
                                  .object_at = object_at,
                                  .range_at = range_at,
                                  .sequence_limit = 1 << 20};

static obs_config all_blocks(void)
{
    obs_config all = config;
    all.all_warps = true;
    return all;
}

/* ---- the requests, as they came ---- */

typedef struct step { /* on one object, by addresses */
    uint32_t pc, mask, object;
    acc_space space;
    uint64_t addr[32];
} step;

typedef struct warp_steps {
    uint32_t count;
    step steps[MOST_STEPS];
} warp_steps;

static uint32_t object_of(const acc_request *a, uint32_t lane)
{
    if (a->space == ACC_LOCAL)
        return 0;
    return a->space == ACC_SHARED ? 1 + (a->addr[lane] >= ARRAY) : object_at(NULL, a->addr[lane]);
}

/* A request is a step on each object that it accesses, in the order of their first lanes. */
static void note(warp_steps *w, const acc_request *a)
{
    for (uint32_t left = a->mask; left;) {
        step *s = &w->steps[w->count++];
        *s = (step){.pc = a->pc, .space = a->space};
        s->object = object_of(a, (uint32_t)__builtin_ctz(left));
        for (uint32_t lane = 0; lane < 32; lane++) {
            bool here = left >> lane & 1 && object_of(a, lane) == s->object;
            s->mask |= (uint32_t)here << lane;
            s->addr[lane] = here ? a->addr[lane] : 0;
        }
        left &= ~s->mask;
    }
}

/* A barrier is a step of all warps, without an access. */
static void note_barrier(warp_steps *block, uint32_t pc)
{
    for (uint32_t warp = 0; warp < WARPS; warp++)
        block[warp].steps[block[warp].count++] = (step){
            .pc = pc, .mask = UINT32_MAX, .object = BARRIER};
}

/* Lanes of a warp begin a basic block; where all blocks are kept this is told. */
static void enter(const drive *worker, obs_block *b, uint32_t warp, uint32_t n, warp_steps *w)
{
    uint32_t mask = n % 3 ? UINT32_MAX : n * 0x9e3779b9u | 1;
    if (!worker->observer.enter)
        return;
    worker->observer.enter(b, warp, n % PCS, mask);
    if (w)
        w->steps[w->count++] = (step){.pc = n % PCS, .mask = mask, .object = ENTRY};
}

/* Request `n` of a warp. Those of warps 0 and 1 of all blocks differ in where they lie only. */
static acc_request draw(uint32_t block, uint32_t warp, uint32_t n, uint64_t *addr)
{
    uint32_t kind = warp < 2 ? 0 : 1 + block * WARPS + warp;
    pattern_rng rng = {(kind * 1009 + n + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++)
        pattern_below(&rng, 2);
    uint64_t object = kind ? pattern_below(&rng, OBJECTS * 2) : 2 * pattern_below(&rng, OBJECTS);
    acc_request a = pattern_draw(&rng, 0, ROOM / 2, true, addr);
    uint64_t begin = BASE + object * (ROOM / 2); /* of every second, a part lies in the next one */
    if (a.space == ACC_SHARED || a.space == ACC_LOCAL)
        begin = a.space == ACC_SHARED && kind == 0 ? ARRAY : 0;
    for (int lane = 0; lane < 32; lane++)
        addr[lane] += begin + (kind ? object % 2 * (ROOM / 4) : (block * 2 + warp) * 64u);
    a.pc = pattern_below(&rng, PCS);
    a.warp = warp;
    return a;
}

static void run_block(const drive *worker, uint32_t block, warp_steps *ref)
{
    uint64_t addr[32];
    obs_block *b = drive_block(worker, block);
    for (uint32_t n = 0; n < REQUESTS; n++) {
        if (n % 7 == 5) {
            worker->observer.barrier(b, n % PCS);
            if (ref)
                note_barrier(&ref[block * WARPS], n % PCS);
        }
        for (uint32_t warp = 0; warp < WARPS; warp++) {
            if (n % 3 < 2)
                enter(worker, b, warp, n, ref ? &ref[block * WARPS + warp] : NULL);
            acc_request a = draw(block, warp, n, addr);
            obs_record(b, &a);
            if (ref)
                note(&ref[block * WARPS + warp], &a);
        }
    }
    drive_end(worker, b, 1);
}

static obs_summary observe_blocks(const obs_config *with, uint32_t nworkers, wl_arena *arena,
                                  warp_steps *ref)
{
    obs_launch *launch;
    obs_summary s;
    drive workers[BLOCKS];
    assert_int_equal(obs_launch_new(with, &launch), WL_OK);
    for (uint32_t i = 0; i < nworkers; i++)
        workers[i] = drive_begin(launch, i);
    for (uint32_t i = 0; i < BLOCKS; i++) /* one worker has them in order, several do not */
        run_block(&workers[i % nworkers], nworkers > 1 ? (i * 5 + 2) % BLOCKS : i, ref);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.dropped, 0);
    obs_launch_free(launch);
    return s;
}

/* ---- reading them back ---- */

static uint64_t begin_of_slot(const obs_step_object *slot)
{
    if (slot->space == ACC_SHARED)
        return arrays[slot->object].offset;
    return slot->space != ACC_LOCAL && slot->object ? BASE + (slot->object - 1) * (uint64_t)ROOM
                                                    : 0;
}

static void expect_step(const wl_step *got, const obs_warps *group, const wl_warp *warp,
                        const step *want)
{
    assert_true(got->pc == want->pc && got->mask == want->mask);
    assert_int_equal(got->slot == WL_STEP_BARRIER, want->object == BARRIER);
    assert_int_equal(got->slot == WL_STEP_ENTRY, want->object == ENTRY);
    if (want->object == BARRIER || want->object == ENTRY)
        return;
    assert_true(got->slot < group->nslots);
    const obs_step_object *slot = &group->slots[got->slot];
    assert_true(slot->space == want->space && slot->object == want->object);
    for (uint32_t lane = 0; lane < 32; lane++)
        if (want->mask >> lane & 1)
            assert_int_equal(begin_of_slot(slot) + (uint64_t)warp->begin[got->slot] +
                                 (uint64_t)got->offset[lane],
                             want->addr[lane]);
}

static void expect_warp(const obs_summary *s, const obs_warps *group, const wl_warp *warp,
                        const warp_steps *want)
{
    const obs_sequence *q = &s->sequences[group->sequence];
    uint32_t at = 0;
    for (uint32_t p = 0; p < q->npages; p++) {
        wl_page_reader r = wl_page_read(q->pages[p].data, q->pages[p].length, q->nslots);
        for (wl_step got; wl_page_step(&r, &got); at++) {
            assert_true(at < want->count);
            expect_step(&got, group, warp, &want->steps[at]);
        }
        assert_false(r.damaged);
    }
    assert_int_equal(at, want->count);
}

/* Returns how many warps there are, each of them once. */
static uint32_t expect_warps(const obs_summary *s, const warp_steps *ref)
{
    uint32_t count = 0, seen = 0;
    for (uint32_t g = 0; g < s->nwarps; g++)
        for (uint32_t p = 0; p < s->warps[g].npages; p++) {
            const obs_page *page = &s->warps[g].pages[p];
            wl_page_reader r = wl_page_read(page->data, page->length, s->warps[g].nslots);
            for (wl_warp warp; wl_page_warp(&r, &warp); count++) {
                uint32_t n = (uint32_t)warp.block * WARPS + warp.number;
                assert_true(n < BLOCKS * WARPS && !(seen >> n & 1));
                seen |= 1u << n;
                expect_warp(s, &s->warps[g], &warp, &ref[n]);
            }
            assert_false(r.damaged);
        }
    return count;
}

static uint64_t bytes_of(const obs_summary *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->nsequences; i++)
        for (uint32_t p = 0; p < s->sequences[i].npages; p++)
            bytes += s->sequences[i].pages[p].length;
    for (uint32_t i = 0; i < s->nwarps; i++)
        for (uint32_t p = 0; p < s->warps[i].npages; p++)
            bytes += s->warps[i].pages[p].length;
    return bytes;
}

static void expect_pages(const obs_page *a, uint32_t na, const obs_page *b, uint32_t nb)
{
    assert_int_equal(na, nb);
    for (uint32_t i = 0; i < na; i++) {
        assert_true(a[i].count == b[i].count && a[i].length == b[i].length);
        assert_memory_equal(a[i].data, b[i].data, a[i].length);
    }
}

static void expect_same(const obs_summary *a, const obs_summary *b)
{
    assert_true(a->nsequences == b->nsequences && a->nwarps == b->nwarps);
    assert_int_equal(a->warps_dropped, b->warps_dropped);
    for (uint32_t i = 0; i < a->nsequences; i++)
        expect_pages(a->sequences[i].pages, a->sequences[i].npages, b->sequences[i].pages,
                     b->sequences[i].npages);
    for (uint32_t i = 0; i < a->nwarps; i++) {
        assert_int_equal(a->warps[i].sequence, b->warps[i].sequence);
        expect_pages(a->warps[i].pages, a->warps[i].npages, b->warps[i].pages, b->warps[i].npages);
    }
}

/* ---- tests ---- */

static warp_steps *new_reference(void)
{
    warp_steps *ref = calloc((size_t)BLOCKS * WARPS, sizeof *ref);
    assert_non_null(ref);
    return ref;
}

static void expect_those_that_came(const obs_config *with)
{
    wl_arena *arena = wl_arena_new();
    warp_steps *ref = new_reference();
    obs_summary one = observe_blocks(with, 1, arena, ref);
    assert_int_equal(expect_warps(&one, ref), BLOCKS * WARPS);
    assert_int_equal(one.warps_dropped, 0);
    /* Warps 0 and 1 of all blocks took one sequence, over the same objects. */
    assert_int_equal(one.nsequences, 1 + BLOCKS * (WARPS - 2));
    assert_int_equal(one.nwarps, one.nsequences);
    for (uint32_t workers = 2; workers <= BLOCKS; workers++) {
        obs_summary several = observe_blocks(with, workers, arena, NULL);
        expect_same(&one, &several);
    }
    free(ref);
    wl_arena_free(arena);
}

static void steps_are_those_that_came(void **state)
{
    (void)state;
    obs_config all = all_blocks();
    expect_those_that_came(&config);
    expect_those_that_came(&all);
    all.nsampled = 0; /* maps or not */
    expect_those_that_came(&all);
}

/* Blocks 0, 1, ... are there with all of their warps, up to some block. */
static uint32_t expect_first_blocks(const obs_summary *s)
{
    uint64_t blocks = 0;
    uint32_t count = 0;
    for (uint32_t g = 0; g < s->nwarps; g++)
        for (uint32_t p = 0; p < s->warps[g].npages; p++) {
            const obs_page *page = &s->warps[g].pages[p];
            wl_page_reader r = wl_page_read(page->data, page->length, s->warps[g].nslots);
            for (wl_warp warp; wl_page_warp(&r, &warp); count++)
                blocks |= 1u << warp.block;
        }
    assert_int_equal(blocks & (blocks + 1), 0);
    assert_int_equal(count, __builtin_popcountll(blocks) * WARPS);
    return count;
}

/* What finds no room is counted, and what is kept is whole: the first blocks, whoever ran which of
 * them when. */
static void expect_room_kept_to(const obs_config *like)
{
    wl_arena *arena = wl_arena_new();
    warp_steps *ref = new_reference();
    obs_config with = *like;
    uint64_t last = 0, changes = 0;
    obs_summary whole = observe_blocks(&with, 1, arena, ref);
    uint64_t all = bytes_of(&whole);
    for (uint64_t limit = all / 16; limit < 2 * all; limit += all / 16) {
        with.sequence_limit = limit;
        obs_summary s = observe_blocks(&with, 1, arena, NULL);
        uint32_t kept = expect_warps(&s, ref);
        assert_int_equal(expect_first_blocks(&s), kept);
        assert_int_equal(kept + s.warps_dropped, BLOCKS * WARPS);
        assert_true(bytes_of(&s) <= limit && kept >= last);
        for (uint32_t workers = 2; workers <= BLOCKS; workers++) {
            obs_summary several = observe_blocks(&with, workers, arena, NULL);
            expect_same(&s, &several);
        }
        changes += kept > last;
        last = kept;
    }
    assert_int_equal(last, BLOCKS * WARPS);
    assert_true(changes >= BLOCKS - 1);
    free(ref);
    wl_arena_free(arena);
}

static void room_is_kept_to(void **state)
{
    (void)state;
    obs_config all = all_blocks();
    expect_room_kept_to(&config);
    expect_room_kept_to(&all);
}

/* A warp whose steps find no room while its block runs has none, and the others have theirs. */
static void long_walks_are_dropped(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    warp_steps *ref = new_reference();
    obs_config with = all_blocks();
    uint64_t last = UINT64_MAX, changes = 0;
    obs_summary whole = observe_blocks(&with, 1, arena, ref);
    uint64_t most = bytes_of(&whole) / 2;
    for (with.step_limit = 64; with.step_limit < most; with.step_limit += most / 24) {
        obs_summary s = observe_blocks(&with, 1, arena, NULL);
        obs_summary several = observe_blocks(&with, 3, arena, NULL);
        assert_int_equal(expect_warps(&s, ref) + s.warps_dropped, BLOCKS * WARPS);
        expect_same(&s, &several);
        changes += s.warps_dropped < last;
        last = s.warps_dropped;
    }
    assert_true(last == 0 && changes > 2);
    free(ref);
    wl_arena_free(arena);
}

/* A block whose log is too long has a map, and no sequences: one that was asked for, and one that
 * was chosen. */
static void long_logs_are_dropped(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_config with = config;
    with.log_limit = 4096;
    obs_summary s = observe_blocks(&with, 1, arena, NULL);
    assert_int_equal(s.warps_dropped, BLOCKS * WARPS);
    assert_true(s.nheats > 0 && s.nsequences == 0 && s.nwarps == 0);
    with.automatic = true;
    with.nsampled = 0;
    s = observe_blocks(&with, 1, arena, NULL);
    assert_true(s.nsamples > 0 && s.blocks_sampled > 0);
    assert_int_equal(s.warps_dropped, s.nsamples * WARPS);
    assert_true(s.nheats > 0 && s.nsequences == 0 && s.nwarps == 0);
    wl_arena_free(arena);
}

/* Of automatic samples: those that are chosen; and the samples are those without sequences. */
static void chosen_blocks_have_them(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    warp_steps *ref = new_reference();
    obs_config with = config, without;
    with.automatic = true;
    with.nsampled = 0;
    without = with;
    without.sequence_limit = 0;
    obs_summary s = observe_blocks(&with, 2, arena, ref);
    obs_summary none = observe_blocks(&without, 2, arena, NULL);
    assert_true(s.nsamples > 0 && s.nsamples == none.nsamples);
    assert_memory_equal(s.samples, none.samples, s.nsamples * sizeof *s.samples);
    assert_true(none.nwarps == 0 && none.warps_dropped == 0);
    with.all_warps = true; /* steps of all blocks change nothing about which are chosen */
    obs_summary all = observe_blocks(&with, 2, arena, NULL);
    assert_int_equal(all.nsamples, none.nsamples);
    assert_memory_equal(all.samples, none.samples, all.nsamples * sizeof *all.samples);
    assert_int_equal(all.nheats, none.nheats);
    for (uint32_t i = 0; i < all.nheats; i++)
        assert_memory_equal(all.heats[i].rows, none.heats[i].rows,
                            all.heats[i].nrows * sizeof *all.heats[i].rows);
    assert_int_equal(expect_warps(&s, ref), s.nsamples * WARPS);
    assert_int_equal(s.warps_dropped, 0);
    free(ref);
    wl_arena_free(arena);
}

/* A sequence of more steps than a page holds. */
static void long_sequences_have_pages(void **state)
{
    (void)state;
    enum { STEPS = 2 * WL_PAGE_ITEMS + 5 };
    wl_arena *arena = wl_arena_new();
    obs_launch *launch;
    obs_summary s;
    uint64_t addr[32];
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    for (uint32_t i = 0; i < STEPS; i++) {
        for (uint32_t lane = 0; lane < 32; lane++)
            addr[lane] = BASE + 4 * (i + lane);
        acc_request a = {
            .pc = 1, .bytes = 4, .mask = UINT32_MAX, .addr = addr, .stride = 4, .object = 1};
        obs_record(block, &a);
    }
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    /* Warp 0's steps, and none of the three others. */
    assert_int_equal(s.nsequences, 2);
    assert_int_equal(s.sequences[0].npages, 3);
    assert_int_equal(s.sequences[0].pages[1].count, WL_PAGE_ITEMS);
    assert_int_equal(s.sequences[0].pages[2].count, 5);
    assert_true(s.sequences[1].npages == 0 && s.warps[1].pages[0].count == 3);
    wl_page_reader r = wl_page_read(s.sequences[0].pages[2].data, s.sequences[0].pages[2].length,
                                    1);
    wl_step last;
    while (wl_page_step(&r, &last))
        continue;
    assert_false(r.damaged);
    assert_int_equal(last.offset[31], 4 * (STEPS - 1 + 31));
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* Of one block: `count` times lanes side by side at `base`, in that space. */
static void record_lines(obs_block *block, uint32_t warp, acc_space space, uint64_t base,
                         uint32_t count)
{
    uint64_t addr[32];
    for (uint32_t lane = 0; lane < 32; lane++)
        addr[lane] = base + 4 * lane;
    for (uint32_t i = 0; i < count; i++)
        obs_record(block, &(acc_request){.pc = 1,
                                         .space = space,
                                         .bytes = 4,
                                         .mask = UINT32_MAX,
                                         .warp = warp,
                                         .addr = addr,
                                         .stride = 4});
}

/* Warps 0 and 2 took the steps of warp 1 over another object, warp 3 none. */
static void warps_over_other_objects_are_apart(void **state)
{
    (void)state;
    wl_arena *arena = wl_arena_new();
    obs_launch *launch;
    obs_summary s;
    assert_int_equal(obs_launch_new(&config, &launch), WL_OK);
    drive worker = drive_begin(launch, 0);
    obs_block *block = drive_block(&worker, 0);
    for (uint32_t warp = 0; warp < 3; warp++)
        record_lines(block, warp, ACC_GLOBAL, BASE + warp % 2 * (uint64_t)ROOM, 2);
    drive_end(&worker, block, 0);
    assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
    assert_int_equal(s.nsequences, 2);
    assert_int_equal(s.nwarps, 3);
    assert_int_equal(s.warps[0].sequence, s.warps[1].sequence);
    assert_int_equal(s.warps[0].slots[0].object, 1);
    assert_int_equal(s.warps[1].slots[0].object, 2);
    assert_int_equal(s.warps[0].pages[0].count, 2);
    assert_int_equal(s.warps[1].pages[0].count, 1);
    assert_int_equal(s.warps[2].pages[0].count, 1);
    obs_launch_free(launch);
    wl_arena_free(arena);
}

/* What finds no room in the log is a step that is not known: the block's warps have none. */
static void steps_are_whole_or_not_there(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 4096; count *= 64) {
        wl_arena *arena = wl_arena_new();
        obs_config with = config;
        obs_launch *launch;
        obs_summary s;
        with.log_limit = 16 << 10;
        assert_int_equal(obs_launch_new(&with, &launch), WL_OK);
        drive worker = drive_begin(launch, 0);
        obs_block *block = drive_block(&worker, 0);
        for (uint32_t i = 0; i < count; i++) /* each is unlike the one before */
            record_lines(block, 0, ACC_LOCAL, i * i % 1000 * 128, 1);
        drive_end(&worker, block, 0);
        assert_int_equal(obs_finish(launch, arena, &s), WL_OK);
        assert_int_equal(s.warps_dropped, count == 4096 ? WARPS : 0);
        assert_int_equal(s.nsequences, count == 4096 ? 0 : 2);
        obs_launch_free(launch);
        wl_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(steps_are_those_that_came),
                                       cmocka_unit_test(room_is_kept_to),
                                       cmocka_unit_test(long_walks_are_dropped),
                                       cmocka_unit_test(long_logs_are_dropped),
                                       cmocka_unit_test(chosen_blocks_have_them),
                                       cmocka_unit_test(long_sequences_have_pages),
                                       cmocka_unit_test(warps_over_other_objects_are_apart),
                                       cmocka_unit_test(steps_are_whole_or_not_there)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
