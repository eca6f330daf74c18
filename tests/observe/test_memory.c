/* Memory runs out anywhere in an observation: then it says so, or the summary is whole. */
#include "patterns.h"
#include "support/drive.h"
#include "support/scarce.h"
#include "support/test.h"

#include <string.h>

enum { BLOCKS = 3, WARPS = 2, REQUESTS = 40, OBJECTS = 2, ROOM = 64 * 1024, PCS = 8 };

static const uint64_t BASE = 0x7f2200000000;
static const uint64_t sampled[] = {1};
static const obs_shared arrays[] = {{"", 0, 0}, {"tile", 0, 4096}};

static bool range_at(void *ctx, uint64_t address, obs_range *out)
{
    (void)ctx;
    uint32_t n = (uint32_t)((address - BASE) / ROOM);
    *out = (obs_range){n + 1, BASE + n * (uint64_t)ROOM, ROOM, false, false};
    return n < OBJECTS;
}

/* Each instruction may store what the two after it read. */
static flow_read reads[2 * PCS];
static flow_fill fills[PCS];
static uint32_t fill_at[PCS];
static const flow_fills all_fills = {
    .npcs = PCS, .at = fill_at, .fills = fills, .count = PCS, .reads = reads, .nreads = 2 * PCS};

static void fill_in_fills(void)
{
    for (uint32_t pc = 0; pc < PCS; pc++) {
        fill_at[pc] = pc;
        fills[pc] = (flow_fill){.pc = pc, .first = 2 * pc, .count = 2};
        reads[2 * pc] = (flow_read){.pc = (pc + 1) % PCS};
        reads[2 * pc + 1] = (flow_read){.pc = (pc + 2) % PCS, .earlier = true};
    }
}

static const obs_config config = {.ncode = PCS,
                                  .grid = {BLOCKS, 1, 1},
                                  .block = {WARPS * 32, 1, 1},
                                  .nshared = 2,
                                  .shared = arrays,
                                  .nsampled = 1,
                                  .sampled = sampled,
                                  .automatic = true,
                                  .sequence_limit = 1 << 20,
                                  .range_at = range_at,
                                  .objects = OBS_KNOWN_COUNTED,
                                  .arrays = OBS_KNOWN_COUNTED,
                                  .fills = &all_fills};

/* ---- an observation ---- */

static acc_request draw(uint32_t block, uint32_t n, uint64_t *addr)
{
    pattern_rng rng = {(block * 1009 + n + 1) * 0x9e3779b97f4a7c15u};
    for (int i = 0; i < 4; i++)
        pattern_below(&rng, 2);
    uint32_t object = pattern_below(&rng, OBJECTS);
    acc_request a = pattern_draw(&rng, BASE + object * (uint64_t)ROOM, ROOM, true, addr);
    bool own = a.space == ACC_SHARED || a.space == ACC_LOCAL;
    for (int lane = 0; own && lane < 32; lane++)
        addr[lane] -= BASE + object * (uint64_t)ROOM;
    a.pc = n % PCS;
    a.warp = n % WARPS;
    a.object = own ? 0 : object + 1;
    return a;
}

/* True where all blocks were taken. */
static bool run_blocks(obs_launch *launch)
{
    uint64_t addr[32];
    bool all = true;
    drive worker = drive_begin(launch, 0);
    for (uint32_t i = 0; i < BLOCKS; i++) {
        obs_block *b = drive_block(&worker, i);
        all = all && b;
        for (uint32_t n = 0; b && n < REQUESTS; n++) {
            acc_request a = draw(i, n, addr);
            if (worker.observer.enter)
                worker.observer.enter(b, a.warp, a.pc, a.mask);
            worker.observer.access(b, &a);
        }
        drive_end(&worker, b, 1000 * (i + 1));
    }
    return all;
}

typedef struct outcome {
    wl_status status;
    bool all_blocks;
    obs_summary summary; /* where the status is WL_OK */
} outcome;

static outcome observe(const obs_config *with, wl_arena *arena)
{
    outcome o = {0};
    obs_launch *launch = NULL;
    o.status = obs_launch_new(with, &launch);
    if (o.status)
        return o;
    o.all_blocks = run_blocks(launch);
    o.status = obs_finish(launch, arena, &o.summary);
    obs_launch_free(launch);
    return o;
}

/* ---- what it says ---- */

static bool says_that_uses_miss(const obs_summary *s, const obs_summary *whole)
{
    if (s->objects_known < whole->objects_known || s->arrays_known < whole->arrays_known)
        return true;
    for (uint32_t i = 0; i < s->nuses && i < whole->nuses; i++)
        if (s->uses[i].known < whole->uses[i].known || s->uses[i].reuse < whole->uses[i].reuse)
            return true;
    return false;
}

static bool says_that_maps_miss(const obs_summary *s)
{
    uint64_t dropped = 0;
    for (uint32_t i = 0; i < s->nheats; i++)
        dropped += s->heats[i].dropped;
    for (uint32_t i = 0; i < s->nsamples; i++)
        dropped += !s->samples[i].mapped;
    return dropped > 0;
}

static bool says_what_is_missing(const outcome *o, const obs_summary *whole)
{
    const obs_summary *s = &o->summary;
    return !o->all_blocks || s->dropped || s->warps_dropped || says_that_uses_miss(s, whole) ||
           says_that_maps_miss(s);
}

static void expect_same_maps(const obs_summary *s, const obs_summary *whole)
{
    assert_int_equal(s->nheats, whole->nheats);
    for (uint32_t i = 0; i < s->nheats; i++) {
        const obs_heat *a = &s->heats[i], *b = &whole->heats[i];
        assert_int_equal(a->nrows, b->nrows);
        assert_memory_equal(a->rows, b->rows, a->nrows * sizeof *a->rows);
        assert_int_equal(a->npcsets, b->npcsets);
        for (uint32_t k = 0; k < a->npcsets; k++) {
            assert_int_equal(a->pcsets[k].count, b->pcsets[k].count);
            assert_memory_equal(a->pcsets[k].pcs, b->pcsets[k].pcs,
                                a->pcsets[k].count * sizeof(uint32_t));
        }
    }
}

static void expect_same_steps(const obs_summary *s, const obs_summary *whole)
{
    assert_int_equal(s->nsequences, whole->nsequences);
    assert_int_equal(s->nwarps, whole->nwarps);
    for (uint32_t i = 0; i < s->nsequences; i++) {
        assert_int_equal(s->sequences[i].npages, whole->sequences[i].npages);
        assert_int_equal(s->sequences[i].pages[0].length, whole->sequences[i].pages[0].length);
    }
}

static void expect_whole(const obs_summary *s, const obs_summary *whole)
{
    assert_int_equal(s->ninsns, whole->ninsns);
    assert_memory_equal(s->insns, whole->insns, s->ninsns * sizeof *s->insns);
    assert_int_equal(s->nsamples, whole->nsamples);
    assert_memory_equal(s->samples, whole->samples, s->nsamples * sizeof *s->samples);
    assert_int_equal(s->nshared, whole->nshared);
    assert_string_equal(s->shared[1].name, "tile");
    assert_int_equal(s->nuses, whole->nuses);
    for (uint32_t i = 0; i < s->nuses; i++)
        assert_int_equal(s->uses[i].length, whole->uses[i].length);
    expect_same_maps(s, whole);
    expect_same_steps(s, whole);
}

/* What is told of a use at all is right, whatever is missing elsewhere. */
static void expect_right_reuse(const obs_use *use, const obs_use *whole)
{
    if (use->reuse & OBS_REUSE_BLOCKS) {
        assert_int_equal(use->block_words, whole->block_words);
        assert_int_equal(use->block_words_most, whole->block_words_most);
        assert_int_equal(use->block_accesses, whole->block_accesses);
    }
    if (!(use->reuse & OBS_REUSE_RANGES))
        return;
    assert_memory_equal(use->ranges, whole->ranges, sizeof use->ranges);
    assert_memory_equal(use->range_accesses, whole->range_accesses, sizeof use->range_accesses);
    assert_int_equal(use->nlive, whole->nlive);
}

static void expect_right_uses(const outcome *o, const obs_summary *whole)
{
    for (uint32_t i = 0; o->all_blocks && i < o->summary.nuses; i++)
        for (uint32_t k = 0; k < whole->nuses; k++)
            if (o->summary.uses[i].space == whole->uses[k].space &&
                o->summary.uses[i].object == whole->uses[k].object)
                expect_right_reuse(&o->summary.uses[i], &whole->uses[k]);
}

static void expect_failures_told(const obs_config *with)
{
    wl_arena *all = wl_arena_new();
    outcome whole = observe(with, all);
    assert_int_equal(whole.status, WL_OK);
    assert_true(whole.summary.nheats && whole.summary.nsequences && whole.summary.nuses > 1);
    assert_false(says_what_is_missing(&whole, &whole.summary));
    size_t refused = 0;
    for (bool failed = true; failed;) {
        wl_arena *arena = wl_arena_new();
        scarce_fail(refused + 1);
        outcome o = observe(with, arena);
        failed = scarce_failed();
        scarce_fail(0);
        if (o.status)
            assert_int_equal(o.status, WL_NOMEM);
        else if (!says_what_is_missing(&o, &whole.summary))
            expect_whole(&o.summary, &whole.summary);
        if (!o.status)
            expect_right_uses(&o, &whole.summary);
        refused += failed;
        wl_arena_free(arena);
    }
    assert_true(refused > 50);
    wl_arena_free(all);
}

static void any_request_for_memory_fails(void **state)
{
    (void)state;
    obs_config of_all = config;
    of_all.all_warps = true;
    fill_in_fills();
    expect_failures_told(&config);
    expect_failures_told(&of_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_request_for_memory_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
