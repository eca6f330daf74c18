/* Trials of changes: what the performance model says of a kernel with one. */
#include "analysis/gain.h"
#include "model_profiles.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <unistd.h>

static wl_error err;

static prof_db *of_lab; /* the open profile of a test's lab, whose rows that has; or NULL */

static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path(MODEL_PROFILE));
    prof_close(of_lab);
    of_lab = NULL;
    return 0;
}

static prof_instruction_rows instructions;

static model_lab *lab_of_module(cap_record module, void (*tell)(prof_builder *))
{
    model_lab *lab;
    prof_close(of_lab);
    of_lab = model_profile_of(module, "h200", tell);
    story_expect(model_lab_open(of_lab, arena, &lab, &err), &err);
    story_expect(prof_load_kind_instructions(of_lab, arena, &instructions, &err), &err);
    return lab;
}

static model_lab *lab_of(void (*tell)(prof_builder *))
{
    return lab_of_module(story_module(1), tell);
}

static uint32_t object_of(uint32_t pc, acc_space space)
{
    for (uint32_t i = 0; i < instructions.count; i++)
        if (instructions.rows[i].c.pc == pc && instructions.rows[i].c.space == space)
            return instructions.rows[i].c.object;
    fail();
    return 0;
}

/* Of an instruction of which all is left. */
static model_edit edit_of(uint32_t pc, acc_space space)
{
    return (model_edit){.pc = pc,
                        .object = object_of(pc, space),
                        .space = space,
                        .requests = 1,
                        .sectors = 1,
                        .wavefronts = 1,
                        .lanes = 1,
                        .touched = 1};
}

static ana_model try_edit(model_lab *lab, model_edit edit)
{
    model_change change = {.nedits = 1, .edits = &edit};
    return model_try(lab, 1, &change, MODEL_AS_RUN);
}

/* However often, and whatever was tried between. */
static void trials_that_change_nothing(void **state)
{
    (void)state;
    ana_models models;
    model_lab *lab = lab_of(model_second_without_maps);
    story_expect(model_of_all(lab, arena, &models, &err), &err);
    const ana_model *kernel = ana_model_of_kernel(&models, 1);
    model_edit half = edit_of(5, ACC_GLOBAL);
    half.touched = half.sectors = 0.5;
    for (int i = 0; i < 3; i++) {
        ana_model m = i == 1 ? try_edit(lab, edit_of(1, ACC_GLOBAL))
                             : model_try(lab, 1, NULL, MODEL_AS_RUN);
        assert_null(m.missing);
        assert_int_equal(m.launches, 2);
        assert_memory_equal(m.resources, kernel->resources, sizeof m.resources);
        assert_true(m.seconds == kernel->seconds && m.bound == kernel->bound);
        assert_true(try_edit(lab, half).resources[MODEL_L2] < m.resources[MODEL_L2]);
    }
    assert_string_equal(model_try(lab, 7, NULL, MODEL_AS_RUN).missing, "It was not launched.");
    assert_string_equal(model_try(lab_of(model_launch_too_large), 1, NULL, MODEL_AS_RUN).missing,
                        "Its blocks do not fit on the device.");
}

/* The store's 64 sectors, half full, the 32 that are loaded (8 of them from L2), the array's 4 wavefronts. */
static void trials_of_edits(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    double l2 = 0.25 * 32 / model_figure(CUDA_FIGURE_l2_one_sm);
    double clock = model_figure(CUDA_FIGURE_clock);
    double l1 = 0.25 * 32 / model_figure(CUDA_FIGURE_l1_wide) / clock;
    double pass = 0.25 / model_figure(CUDA_FIGURE_shared_passes) / clock;
    model_edit store = edit_of(5, ACC_GLOBAL), load = edit_of(1, ACC_GLOBAL);
    model_edit array = edit_of(5, ACC_SHARED);
    store.sectors = 0.5;
    ana_model m = try_edit(lab, store);
    ASSERT_NEAR(m.resources[MODEL_L2], (8 + 32) * l2);
    ASSERT_NEAR(m.resources[MODEL_L1], (32 + 32) * l1);
    ASSERT_NEAR(m.resources[MODEL_SHARED], 4 * pass);
    load.touched = 0.5; /* of its object, whoever loads it: one sector a block */
    ASSERT_NEAR(try_edit(lab, load).resources[MODEL_L2], (4 + 32) * l2);
    array.wavefronts = 0.25;
    m = try_edit(lab, array);
    ASSERT_NEAR(m.resources[MODEL_SHARED], 1 * pass);
    ASSERT_NEAR(m.resources[MODEL_L2], (8 + 32) * l2);
    array.shuffles = 3; /* for each of two requests */
    double shuffles = try_edit(lab, array).resources[MODEL_SHUFFLE] - m.resources[MODEL_SHUFFLE];
    ASSERT_NEAR(shuffles, 0.25 * 6 * 32 / model_figure(CUDA_FIGURE_shuffle) / clock);
}

/* What is kept in registers takes no instruction; an index that is worked out anew takes more. */
static void trials_of_instructions(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    double clock = model_figure(CUDA_FIGURE_clock);
    double issued = 0.25 * 32 / model_figure(CUDA_FIGURE_issue) / clock;
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN);
    model_edit array = edit_of(5, ACC_SHARED); /* two requests */
    array.requests = array.wavefronts = 0;
    ana_model m = try_edit(lab, array);
    ASSERT_NEAR(before.resources[MODEL_ISSUE] - m.resources[MODEL_ISSUE], 2 * issued);
    array = edit_of(5, ACC_SHARED);
    array.integers = 2;
    m = try_edit(lab, array);
    ASSERT_NEAR(m.resources[MODEL_ISSUE] - before.resources[MODEL_ISSUE], 4 * issued);
    ASSERT_NEAR(m.resources[MODEL_INTEGER] - before.resources[MODEL_INTEGER],
                0.25 * 4 * 32 / model_figure(CUDA_FIGURE_int32) / clock);
}

static uint64_t waits_again, waits_first;

static void launch_of_waits(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.summary.reuses[0].waits = waits_again;
    launch.launch.summary.reuses[1].waits = waits_first;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* Of 32 sectors 8 are loaded for the first time, in half of the waits: where the change leaves no more than these 8,
 * every wait is for one of them. Where it leaves 16, half of the sectors are lacked in place of a fourth, and as
 * many waits as two sectors and a half that are lacked independently have it. */
static void trials_of_waits(void **state)
{
    (void)state;
    waits_again = 0, waits_first = 4;
    double none =
        model_try(lab_of(launch_of_waits), 1, NULL, MODEL_AS_RUN).resources[MODEL_LATENCY];
    waits_again = 4, waits_first = 0;
    double all = model_try(lab_of(launch_of_waits), 1, NULL, MODEL_AS_RUN).resources[MODEL_LATENCY];
    waits_again = waits_first = 2;
    model_lab *lab = lab_of(launch_of_waits);
    double half = model_try(lab, 1, NULL, MODEL_AS_RUN).resources[MODEL_LATENCY];
    ASSERT_NEAR(half, (none + all) / 2);
    model_edit load = edit_of(1, ACC_GLOBAL);
    load.sectors = 0.25;
    assert_within(try_edit(lab, load).resources[MODEL_LATENCY], none, 1e-12);
    load.sectors = 0.5;
    double missed = (try_edit(lab, load).resources[MODEL_LATENCY] - all) / (none - all);
    assert_within(missed, 1 - pow(0.5, log(0.5) / log(0.75)), 1e-9);
}

/* What is staged is loaded once, and read from shared memory as often as it was loaded. */
static void trials_of_staging(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    double clock = model_figure(CUDA_FIGURE_clock);
    model_edit load = edit_of(1, ACC_GLOBAL);
    load.requests = load.sectors = 0.25;
    load.staged = 1;
    ana_model m = try_edit(lab, load);
    double pass = 0.25 / model_figure(CUDA_FIGURE_shared_passes) / clock;
    ASSERT_NEAR(m.resources[MODEL_SHARED], (4 + 8) * pass);
    ASSERT_NEAR(m.resources[MODEL_L1],
                0.25 * (8 + 64) * 32 / model_figure(CUDA_FIGURE_l1_wide) / clock);
    /* it has to come from L2 once, between two barriers */
    double least = model_figure(CUDA_FIGURE_l2_latency) + 2 * model_figure(CUDA_FIGURE_barrier_1);
    assert_true(m.resources[MODEL_LATENCY] >= least / clock);
}

static model_edit updates_in_place_of_the_store(void)
{
    model_edit store = edit_of(5, ACC_GLOBAL);
    store.updates = 1;
    store.update_turns = 3;
    store.update_lanes = 32;
    store.update_words = 64;
    return store;
}

/* Eight requests of floats by 32 warps, each of which takes three turns of its loop, beside the array's 4 passes. */
static void trials_of_updates(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    model_edit store = updates_in_place_of_the_store();
    ana_model m = try_edit(lab, store);
    double one = 32 / model_figure(CUDA_FIGURE_shared_atomic_lanes_f32),
           all = 32 / model_figure(CUDA_FIGURE_shared_atomic_bank_f32);
    double pass = (all / 32 - one) / 31, spins = 8 * (3 * (one - pass) + 9 * pass);
    double passes = 4 / model_figure(CUDA_FIGURE_shared_passes);
    ASSERT_NEAR(m.resources[MODEL_SHARED],
                0.25 * (spins + passes) / model_figure(CUDA_FIGURE_clock));

    /* One word: a try reads it once, and a warp waits for the lanes of its block's others. */
    store.update_words = 1;
    ana_model same = try_edit(lab, store);
    ASSERT_NEAR(m.resources[MODEL_SHARED] - same.resources[MODEL_SHARED],
                0.25 * 8 * 9 / 2 * pass / model_figure(CUDA_FIGURE_clock));
    double most = 256 - 3, least = 256 / 64 - 3;
    ASSERT_NEAR(same.resources[MODEL_LATENCY] - m.resources[MODEL_LATENCY],
                0.25 * (most - least) / model_figure(CUDA_FIGURE_shared_atomic_same_f32) /
                    model_figure(CUDA_FIGURE_clock));

    /* A warp waits for each of its tries; where it has more of them than others want its words, for nothing else. */
    store.update_words = 128;
    ana_model few = try_edit(lab, store);
    store.update_turns = 5;
    ana_model many = try_edit(lab, store);
    ASSERT_NEAR(many.resources[MODEL_LATENCY] - few.resources[MODEL_LATENCY],
                0.25 * (5 - 3) * model_figure(CUDA_FIGURE_shared_atomic_latency_f32) /
                    model_figure(CUDA_FIGURE_clock));
}

/* The story's module with another store. */
static model_lab *lab_of_store(const char *store)
{
    static char text[1 << 12];
    static const char own[] = "st.global.f32 [%rd1], %f2;\n";
    const char *at = strstr(story_ptx, own);
    cap_record module = story_module(1);
    assert_non_null(at);
    module.module.length = (uint64_t)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - story_ptx),
                                              story_ptx, store, at + strlen(own));
    assert_true(module.module.length < sizeof text);
    module.module.code = text;
    return lab_of_module(module, model_launches);
}

/* Integers have an instruction for it, which takes its turns. Of doubles 16 lanes take two words each: two tries a warp,
 * where lanes lie side by side. */
static void trials_of_updates_of_other_types(void **state)
{
    (void)state;
    model_lab *lab = lab_of_store("st.global.b32 [%rd1], %f2;\n");
    double clock = model_figure(CUDA_FIGURE_clock),
           passes = 1 / model_figure(CUDA_FIGURE_shared_passes);
    ana_model m = try_edit(lab, updates_in_place_of_the_store());
    ASSERT_NEAR(m.resources[MODEL_SHARED], 0.25 * (8 * 3 + 4) * passes / clock);

    lab = lab_of_store(".reg .f64 %fd<2>;\nst.global.f64 [%rd1], %fd1;\n");
    double one = 32 / model_figure(CUDA_FIGURE_shared_atomic_lanes_f64),
           all = 32 / model_figure(CUDA_FIGURE_shared_atomic_bank_f64);
    double pass = (all / 32 - one / 2) / 30, spins = 8 * (3 * (one / 2 - 2 * pass) + 9 * pass);
    m = try_edit(lab, updates_in_place_of_the_store());
    ASSERT_NEAR(m.resources[MODEL_SHARED], 0.25 * (spins + 4 * passes) / clock);
}

/* Two blocks of 256 threads fit where eight did: as many take turns. */
static void trials_that_take_shared_memory(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    model_change change = {.shared = 100 << 10};
    ana_model before = model_try(lab, 1, NULL, MODEL_FULL),
              m = model_try(lab, 1, &change, MODEL_FULL);
    ASSERT_NEAR(m.resources[MODEL_BLOCKS], before.resources[MODEL_BLOCKS]);
    ASSERT_NEAR(m.resources[MODEL_LATENCY], before.resources[MODEL_LATENCY] * 8 / 2);
    change.shared = 300 << 10; /* more than a block can have */
    m = model_try(lab, 1, &change, MODEL_FULL);
    ASSERT_NEAR(m.resources[MODEL_LATENCY], before.resources[MODEL_LATENCY] * 8);
}

/* Four blocks on 132 multiprocessors become as many as those. */
static void trials_of_more_blocks(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    model_change change = {.fill = true};
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN),
              m = model_try(lab, 1, &change, MODEL_AS_RUN);
    ASSERT_NEAR(m.resources[MODEL_SHARED], before.resources[MODEL_SHARED] * 4 / 132);
    assert_true(m.resources[MODEL_LATENCY] < before.resources[MODEL_LATENCY] / 10);
    ASSERT_NEAR(m.resources[MODEL_BLOCKS], before.resources[MODEL_BLOCKS] * 132 / 4);
}

static void launch_of_few_lanes(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    obs_mix *mix = &launch.launch.summary.mix;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        mix->thread_instructions[cost] = 8 * mix->warp_instructions[cost];
    launch.launch.summary.thread_instructions = 8 * launch.launch.summary.warp_instructions;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* A fourth of the lanes is active: full warps would execute a fourth of the instructions, each after
 * as many others as before. */
static void trials_of_full_warps(void **state)
{
    (void)state;
    model_lab *lab = lab_of(launch_of_few_lanes);
    model_change change = {.packed = true};
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN),
              m = model_try(lab, 1, &change, MODEL_AS_RUN);
    assert_true(before.resources[MODEL_ISSUE] > 0);
    ASSERT_NEAR(m.resources[MODEL_ISSUE], before.resources[MODEL_ISSUE] / 4);
    ASSERT_NEAR(m.resources[MODEL_LATENCY], before.resources[MODEL_LATENCY]);
    ASSERT_NEAR(m.resources[MODEL_SHARED], before.resources[MODEL_SHARED]);
}

static uint32_t grid_of_launches;

static void launches_of_grid(prof_builder *builder)
{
    cap_record launch = model_launch_without_maps(1);
    launch.launch.grid[0] = grid_of_launches;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* Of four blocks of eight warps 32 of one: a multiprocessor has the work of a warp, where it had that of a block, and
 * each warp takes as long as before. */
static void trials_of_smaller_blocks(void **state)
{
    (void)state;
    model_lab *lab = lab_of(model_launches);
    model_change change = {.cut = true};
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN),
              m = model_try(lab, 1, &change, MODEL_AS_RUN);
    ASSERT_NEAR(m.resources[MODEL_SHARED], before.resources[MODEL_SHARED] / 8);
    ASSERT_NEAR(m.resources[MODEL_BLOCKS] * model_figure(CUDA_FIGURE_blocks_32),
                8 * before.resources[MODEL_BLOCKS] * model_figure(CUDA_FIGURE_blocks_256));
    double barriers = before.resources[MODEL_LATENCY] - m.resources[MODEL_LATENCY];
    assert_true(barriers >= 0 && barriers < before.resources[MODEL_LATENCY] / 10);
}

/* So many blocks in place of four. */
static double cut_of_blocks(uint32_t blocks)
{
    grid_of_launches = blocks;
    model_lab *lab = lab_of(launches_of_grid);
    model_change change = {.cut = true};
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN),
              m = model_try(lab, 1, &change, MODEL_AS_RUN);
    return m.resources[MODEL_BLOCKS] / before.resources[MODEL_BLOCKS];
}

/* No smaller than it takes for each multiprocessor to have one, and not where each has one. */
static void blocks_are_cut_no_further_than_helps(void **state)
{
    (void)state;
    ASSERT_NEAR(cut_of_blocks(66), 2);
    ASSERT_NEAR(cut_of_blocks(132), 1);
    ASSERT_NEAR(cut_of_blocks(500), 1);
}

static void uneven_launch(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    obs_summary *s = &launch.launch.summary;
    s->longest_warp = s->longest_warps = s->busiest_block = s->warp_instructions;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* One warp of one of four blocks of eight does everything. */
static void trials_of_even_work(void **state)
{
    (void)state;
    model_lab *lab = lab_of(uneven_launch);
    model_change change = {.even = true};
    ana_model before = model_try(lab, 1, NULL, MODEL_AS_RUN),
              m = model_try(lab, 1, &change, MODEL_AS_RUN);
    ASSERT_NEAR(before.resources[MODEL_SHARED], 4 * m.resources[MODEL_SHARED]);
    ASSERT_NEAR(before.resources[MODEL_LATENCY], 4 * 8 * m.resources[MODEL_LATENCY]);
    lab = lab_of(model_launches);
    before = model_try(lab, 1, NULL, MODEL_AS_RUN);
    ASSERT_NEAR(before.seconds, m.seconds);
}

/* The speed-up may be another than is predicted, and a time that was not measured, too: errors that come
 * by themselves. */
static void ranges_of_gains(void **state)
{
    (void)state;
    enum { FAR = 4 };
    ana_models models;
    model_lab *lab = lab_of(uneven_launch);
    story_expect(model_of_all(lab, arena, &models, &err), &err);
    ana_model kernel = *ana_model_of_kernel(&models, 1);
    gain_input in = {.lab = lab, .models = &models, .arena = arena};
    gain_kernel k = {.time_share = 0.5, .seconds = FAR * kernel.seconds, .model = &kernel};
    model_change even = {.even = true};
    double most, least, part = 1 - model_try(lab, 1, &even, MODEL_AS_RUN).seconds / kernel.seconds;
    model_speedup_range(1 / (1 - part), &least, &most);
    assert_true(part > 0 && least < 1 / (1 - part) && most > 1 / (1 - part));

    ana_worth measured = gain_worth(&in, &k, &even);
    ASSERT_NEAR(measured.seconds, k.seconds * part);
    ASSERT_NEAR(measured.of_program, 0.5 * part);
    ASSERT_NEAR(measured.low, k.seconds * (1 - 1 / least));
    ASSERT_NEAR(measured.high, k.seconds * (1 - 1 / most));

    k.time_share = -1;
    kernel.low = kernel.seconds / 2;
    kernel.high = kernel.seconds * 3;
    ana_worth predicted = gain_worth(&in, &k, &even);
    double all = kernel.seconds * (double)kernel.launches;
    ASSERT_NEAR(predicted.seconds, all * part);
    ASSERT_NEAR(predicted.of_program, part); /* there is no other kernel */
    ASSERT_NEAR(predicted.low, all * (part - hypot(part - (1 - 1 / least), part / 2)));
    ASSERT_NEAR(predicted.high, all * (part + hypot(1 - 1 / most - part, part * 2)));
}

/* What is busy longest, and the launch. */
static double seconds_if_hidden(const ana_model *m)
{
    double longest = 0;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        if (r != MODEL_LAUNCH && m->resources[r] > longest)
            longest = m->resources[r];
    return longest + m->resources[MODEL_LAUNCH];
}

/* Latency is added to what is busy longest. If the one hides in the other, less may be saved, or more: with L2 busy
 * longest, all that is saved of latency may have been hidden already. */
static void gains_that_may_be_hidden(void **state)
{
    (void)state;
    ana_models models;
    model_lab *lab = lab_of(model_launches);
    story_expect(model_of_all(lab, arena, &models, &err), &err);
    ana_model kernel = *ana_model_of_kernel(&models, 1);
    gain_input in = {.lab = lab, .models = &models, .arena = arena};
    gain_kernel k = {.time_share = 0.5, .seconds = 1, .model = &kernel};
    model_edit few = edit_of(1, ACC_GLOBAL), none = edit_of(5, ACC_SHARED);
    few.touched = few.sectors = 0.25;
    none.requests = none.wavefronts = 0;
    for (int i = 0; i < 2; i++) {
        model_change change = {.nedits = 1, .edits = i ? &none : &few};
        ana_model then = model_try(lab, 1, &change, MODEL_AS_RUN);
        double least, most, hidden = 1 - seconds_if_hidden(&then) / seconds_if_hidden(&kernel);
        model_speedup_range(kernel.seconds / then.seconds, &least, &most);
        ana_worth w = gain_worth(&in, &k, &change);
        ASSERT_NEAR(w.low, fmin(1 - 1 / least, hidden));
        ASSERT_NEAR(w.high, fmax(1 - 1 / most, hidden));
        ASSERT_NEAR(w.after, then.seconds);
        assert_true(w.after_low == then.low && w.after_high == then.high);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(trials_that_change_nothing, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_edits, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_instructions, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_waits, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_staging, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_updates, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_that_take_shared_memory, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_more_blocks, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_smaller_blocks, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_updates_of_other_types, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(blocks_are_cut_no_further_than_helps, arena_set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(gains_that_may_be_hidden, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(ranges_of_gains, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_even_work, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_full_warps, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
