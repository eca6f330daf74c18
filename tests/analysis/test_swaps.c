/* Arrays that change places: what is told of trials of both, worked by hand. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/finding.h"

#include <string.h>
#include <unistd.h>

enum { PART = 1024 /* bytes */, TILE = 128, BLOCKS = 4 };

static wl_error err;

/* Of an instruction that accesses each word of `bytes` so often in each block. */
static obs_insn row_of(uint32_t pc, acc_space space, uint32_t object, acc_op op, uint32_t bytes,
                       uint32_t times, uint64_t sectors)
{
    return (obs_insn){.pc = pc,
                      .space = (uint8_t)space,
                      .object = object,
                      .op = (uint8_t)op,
                      .bytes = 4,
                      .requests = (uint64_t)BLOCKS * times * bytes / 4 / 32,
                      .active_lanes = (uint64_t)BLOCKS * times * bytes / 4,
                      .sectors = sectors,
                      .sectors_min = sectors};
}

/* Object 1 is accessed `times` times by word, the story's tile `of_tile` times; its fill loads from
 * object 2. Of 96 and 16 sectors, `after` and 16 are left. */
static const ana_finding *find(uint32_t times, uint32_t of_tile, uint64_t after)
{
    static ana_findings all;
    ana_thresholds thresholds = ana_thresholds_default();
    obs_insn before[] = {row_of(1, ACC_GLOBAL, 1, ACC_LOAD, PART, times, 96),
                         row_of(2, ACC_GLOBAL, 2, ACC_LOAD, TILE, 1, 16),
                         row_of(5, ACC_SHARED, 1, ACC_STORE, TILE, 1, 0),
                         row_of(6, ACC_SHARED, 1, ACC_LOAD, TILE, of_tile - 1, 0)},
             now[] = {row_of(1, ACC_GLOBAL, 1, ACC_LOAD, PART, 1, after),
                      row_of(2, ACC_GLOBAL, 2, ACC_LOAD, TILE, of_tile - 1, 16)};
    obs_trial trial = {.kind = OBS_TRIAL_EXCHANGED,
                       .blocks = BLOCKS,
                       .object = 1,
                       .pad = PART,
                       .nbefore = 4,
                       .before = before,
                       .nafter = 2,
                       .after = now};
    obs_shared arrays[] = {{"", 0, 65536}, {"_ZZ5scalePfE4tile", 0, TILE}};
    cap_record device = story_device();
    device.device.file = "t4"; /* nothing was measured of it */
    cap_record records[] = {
        story_process("/src/app"),
        device,
        story_module(1),
        story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(1, 1, 0x7f0000000000, 4096),
        story_call(2, "cudaMalloc", CAP_CALL_ALLOC),
        story_object(2, 2, 0x7f0000100000, 1024),
        story_launch(1, 0, 0x7f0000000000),
        {.type = CAP_TRIALS,
         .trials = {.launch = 1, .nshared = 2, .shared = arrays, .count = 1, .trials = &trial}},
        story_end()};
    prof_builder *builder = story_begin("swaps.wlprof");
    story_tell(builder, records, sizeof records / sizeof *records);
    prof_db *db = story_finish(builder, "swaps.wlprof");
    story_expect(ana_find(db, &thresholds, arena, &all, &err), &err);
    prof_close(db);
    assert_int_equal(unlink(story_path("swaps.wlprof")), 0);
    for (uint32_t i = 0; i < all.count; i++)
        if (all.rows[i].pattern == ANA_SWAP_ARRAYS)
            return &all.rows[i];
    return NULL;
}

static void one_takes_the_place_of_the_other(void **state)
{
    (void)state;
    const ana_finding *f = find(8, 2, 16);
    assert_non_null(f);
    assert_non_null(strstr(f->summary, "1024 bytes"));
    assert_true(f->evidence[0].value == 8 && f->evidence[1].value == 2);
    assert_true(f->evidence[2].value == PART && f->evidence[3].value == TILE);
    assert_non_null(strstr(f->advice, "tile"));
    assert_int_equal(f->remedies[0].kind, REMEDY_EXCHANGE);
    assert_true(f->remedies[0].counted);
    assert_int_equal(f->change.shared, PART - TILE);
    assert_non_null(strstr(remedy_condition(REMEDY_EXCHANGE), "48 KiB"));
    /* The loads that filled the array are direct, the array's own are gone, the part is staged. */
    const model_change *c = &f->change;
    assert_int_equal(c->nedits, 4);
    assert_true(c->edits[0].staged >= 0 && !c->edits[0].direct);
    assert_true(c->edits[1].direct && c->edits[1].sectors == 1);
    assert_true(c->edits[2].requests == 0 && c->edits[3].requests == 0);
}

static void what_is_used_less_stays(void **state)
{
    (void)state;
    assert_non_null(find(4, 2, 16));
    assert_null(find(3, 2, 16)); /* less than four times */
    assert_null(find(8, 8, 16)); /* the array is used as often */
    assert_null(find(8, 2, 96)); /* nothing moves less */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, arena_set_up, arena_tear_down)
    const struct CMUnitTest tests[] = {T(one_takes_the_place_of_the_other),
                                       T(what_is_used_less_stays)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
