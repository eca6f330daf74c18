/* What the performance model reads from a profile. */
#include "model_profiles.h"

#include <math.h>

#include <unistd.h>

static wl_error err;

static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path(MODEL_PROFILE));
    return 0;
}

static ana_models models_of(const char *device, void (*tell)(prof_builder *))
{
    ana_models models;
    prof_db *db = model_profile(device, tell);
    story_expect(ana_model_table(db, arena, &models, &err), &err);
    prof_close(db);
    return models;
}

/* Four blocks, each on a multiprocessor of its own; the numbers of story_launch. */
static void counts_of_a_profile(void **state)
{
    (void)state;
    ana_models models = models_of("h200", model_launches);
    assert_int_equal(models.count, 3);
    assert_int_equal(models.nkernels, 1);
    const ana_model *m = ana_model_of(&models, models.rows[0].kind);
    assert_null(m->missing);
    assert_int_equal(m->launches, 1);
    double clock = model_figure(CUDA_FIGURE_clock);
    ASSERT_NEAR(m->resources[MODEL_SHARED],
                0.25 * 4 / model_figure(CUDA_FIGURE_shared_passes) / clock);
    /* A block touches two sectors of the 32 that loads ask for: eight come from L2. What the lanes
     * store in 64 sectors fills 32. */
    ASSERT_NEAR(m->resources[MODEL_L2], 0.25 * (8 + 32) * 32 / model_figure(CUDA_FIGURE_l2_one_sm));
    ASSERT_NEAR(m->resources[MODEL_L1],
                0.25 * (32 + 64) * 32 / model_figure(CUDA_FIGURE_l1_wide) / clock);
    assert_true(m->resources[MODEL_ISSUE] > 0 && m->resources[MODEL_LATENCY] > 0);
    assert_true(m->low <= m->seconds && m->seconds <= m->high);
    assert_true(m->from_l1 == 32 && m->from_l2 == 8 && m->from_dram == 0);
    const ana_model *k = ana_model_of_kernel(&models, m->kernel);
    assert_int_equal(k->launches, 3);
    ASSERT_NEAR(k->seconds, m->seconds);
    assert_true(k->from_l1 == 32 && k->from_l2 == 8);
    assert_int_equal(k->bound, m->bound);
    assert_null(ana_model_of(&models, 7));
    assert_null(ana_model_of_kernel(&models, 7));
}

static obs_insn stores; /* the fields that tell how the eight requests of a store go */

static void launch_that_stores_so(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    obs_insn *c = &launch.launch.summary.insns[1];
    c->uniform = stores.uniform, c->contiguous = stores.contiguous;
    c->misaligned = stores.misaligned, c->strided = stores.strided;
    c->irregular = stores.irregular, c->stride = stores.stride;
    story_expect(prof_add(builder, &launch, &err), &err);
}

static model_traffic traffic_of(void (*tell)(prof_builder *), uint32_t launch)
{
    model_rows *rows;
    prof_launch_rows of;
    model_work work;
    const model_device device = {
        .sms = 132, .l1_bytes = 200000, .l2_bytes = 5e7, .of_sm = 4, .resident = 528};
    prof_db *db = model_profile("h200", tell);
    story_expect(model_rows_load(db, arena, &rows, &err), &err);
    story_expect(prof_load_launches(db, PROF_ALL, arena, &of, &err), &err);
    for (uint32_t i = 0; i <= launch; i++)
        assert_true(model_work_of(rows, &device, &of.rows[i], NULL, &work));
    prof_close(db);
    return work.traffic;
}

/* Eight requests move 64 sectors, four of which are a line. */
static void lines_of_a_profile(void **state)
{
    static const struct {
        obs_insn store;
        double lines;
    } cases[] = {
        {{.contiguous = 8}, 16},
        {{.misaligned = 8}, 16},
        {{.uniform = 8}, 16},
        {{.irregular = 8}, 64},
        {{.strided = 8, .stride = 8}, 16},
        {{.strided = 8, .stride = 32}, 16},
        {{.strided = 8, .stride = 64}, 32},
        {{.strided = 8, .stride = -64}, 32},
        {{.strided = 8, .stride = 100}, 50},
        {{.strided = 8, .stride = 128}, 64},
        {{.strided = 8, .stride = -4096}, 64},
        {{.contiguous = 4, .irregular = 4}, 8 + 32},
        {{.contiguous = 4, .strided = 4, .stride = 64}, 8 + 16},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        stores = cases[i].store;
        assert_true(traffic_of(launch_that_stores_so, 0).stored_lines == cases[i].lines);
    }
}

/* Eight atomic requests of floats. */
static cap_record launch_of_atomics(uint64_t slice_turns)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    obs_insn *c = &launch.launch.summary.insns[1];
    c->op = ACC_REDUCTION;
    c->turns = 1000000;
    c->sectors = 750000;
    c->slice_turns = slice_turns;
    return launch;
}

static void atomics_of_many_words(prof_builder *builder)
{
    cap_record launch = launch_of_atomics(125000);
    story_expect(prof_add(builder, &launch, &err), &err);
}

static void atomics_of_one_word(prof_builder *builder)
{
    cap_record launch = launch_of_atomics(1000000);
    obs_insn *c = &launch.launch.summary.insns[1];
    c->uniform = c->requests;
    c->contiguous = c->misaligned = c->strided = c->irregular = 0;
    story_expect(prof_add(builder, &launch, &err), &err);
}

static void turns_of_a_profile(void **state)
{
    (void)state;
    double rate = model_figure(CUDA_FIGURE_atomic_same_requests_f32);
    double sectors = model_figure(CUDA_FIGURE_atomic_same_row_f32) / 8;
    ana_models models = models_of("h200", atomics_of_many_words);
    ASSERT_NEAR(models.rows[0].resources[MODEL_ATOMICS], 31250 / rate + 93750 / sectors);
    models = models_of("h200", atomics_of_one_word);
    ASSERT_NEAR(models.rows[0].resources[MODEL_ATOMICS], 1e6 / rate);
}

static void block_runs_more_often(prof_builder *builder)
{
    static obs_block_count blocks[] = {{0, 7, 24, 750}, {7, 4, 8, 240}};
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.summary.blocks = blocks;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* The first block has seven instructions in four groups and waits for one load at a time; the
 * second one four in three, and loads nothing, so that it has no part in the mean of loads. */
static void parallelism_of_a_warp(void **state)
{
    (void)state;
    prof_wait_rows waits;
    prof_db *db = model_profile("h200", block_runs_more_often);
    story_expect(prof_load_waits(db, arena, &waits, &err), &err);
    prof_close(db);
    assert_int_equal(waits.count, 1);
    assert_within(waits.rows[0].ilp, (24 * 7 / 4.0 + 8 * 4 / 3.0) / 32, 1e-9);
    assert_within(waits.rows[0].mlp, 1, 1e-9);
}

/* What the paper's model makes of the counts, for model_launches and kernels. */
static void benefits_of_a_profile(void **state)
{
    (void)state;
    ana_models models = models_of("h200", model_launches);
    const model_benefits *b = &models.rows[0].benefits, *k = &models.kernels[0].benefits;
    double clock = model_figure(CUDA_FIGURE_clock);
    assert_true(b->computation > 0 && b->memory > 0 && b->overlap > 0);
    /* Two wavefronts more than the words need, of four blocks. */
    ASSERT_NEAR(b->serialisation, 0.25 * 2 / model_figure(CUDA_FIGURE_shared_passes) / clock);
    assert_true(b->least_computation > 0 && b->floating_point > 0 && b->parallelism > 0);
#define X(member, cost) ASSERT_NEAR(k->member, b->member);
#include "analysis/model/benefits.def"
#undef X
}

/* Of eight loads of sectors six, of sixteen stores eight come after `distance` other lines. */
static void add_uses_after(prof_builder *builder, uint32_t distance)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.summary.reuses[0].distance = distance;
    launch.launch.summary.reuses[0].stores = 8;
    launch.launch.summary.reuses[1].stores = 8;
    story_expect(prof_add(builder, &launch, &err), &err);
}

enum { LINES_OF_L1 = 256 * 1024 / 128, LINES_OF_L2 = 57671700 / 128 };

static void uses_that_l1_holds(prof_builder *builder)
{
    add_uses_after(builder, LINES_OF_L1 - 1);
}

static void uses_that_l1_lacks(prof_builder *builder)
{
    add_uses_after(builder, LINES_OF_L1);
}

static void uses_that_l2_holds(prof_builder *builder)
{
    add_uses_after(builder, LINES_OF_L2 / 4 - 1);
}

static void uses_that_l2_lacks(prof_builder *builder)
{
    add_uses_after(builder, LINES_OF_L2 / 4);
}

static uint64_t waits_again, waits_first;

static void launch_of_waits(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.summary.reuses[0].waits = waits_again;
    launch.launch.summary.reuses[1].waits = waits_first;
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* Of waits for loads so many for data that L1 has, and for data that it lacks. */
static double latency_of_waits(uint64_t again, uint64_t first)
{
    waits_again = again;
    waits_first = first;
    return models_of("h200", launch_of_waits).rows[0].resources[MODEL_LATENCY];
}

/* As many of a warp's waits are short as were counted, whatever part of the sectors L1 has: here three of four. */
static void waits_of_a_profile(void **state)
{
    (void)state;
    double one = (model_figure(CUDA_FIGURE_l2_latency) - model_figure(CUDA_FIGURE_l1_latency)) /
                 model_figure(CUDA_FIGURE_clock);
    double all = latency_of_waits(4, 0), none = latency_of_waits(0, 4);
    ASSERT_NEAR(none - all, 0.25 * one * round((none - all) / one / 0.25));
    assert_true(none - all > one / 8);
    ASSERT_NEAR(latency_of_waits(3, 1), all + (none - all) / 4);
    ASSERT_NEAR(latency_of_waits(2, 6), all + (none - all) * 6 / 8);
    double unknown = latency_of_waits(0, 0); /* by sectors, then: with one load at a time */
    ASSERT_NEAR(unknown, all + (none - all) / 4);
}

/* An L1 for each of the four blocks, one L2 for all of them. */
static void reuse_of_a_profile(void **state)
{
    (void)state;
    double l2 = 0.25 * 32 / model_figure(CUDA_FIGURE_l2_one_sm);
    ana_models models = models_of("h200", uses_that_l1_holds);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], (8 + 32) * l2);
    models = models_of("h200", uses_that_l1_lacks);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], (32 + 32) * l2);
    models = models_of("h200", uses_that_l2_holds);
    assert_true(models.rows[0].resources[MODEL_DRAM] == 0);
    models = models_of("h200", uses_that_l2_lacks);
    /* of 32 loaded sectors 24; of 64 stored ones, of which each is read for what is not stored, 32 */
    ASSERT_NEAR(models.rows[0].resources[MODEL_DRAM],
                (24 + 2 * 32) * 32 / model_figure(CUDA_FIGURE_dram_sectors));
    assert_true(models.rows[0].from_l2 == 32 && models.rows[0].from_dram == 24);
}

static void only_without_maps(prof_builder *builder)
{
    cap_record launch = model_launch_without_maps(1);
    story_expect(prof_add(builder, &launch, &err), &err);
}

/* Not every launch keeps heat maps: it is taken to do as the kernel's last one that did; without
 * any, no sector is found in L1. */
static void launches_without_maps(void **state)
{
    (void)state;
    double rate = model_figure(CUDA_FIGURE_l2_one_sm);
    ana_models models = models_of("h200", only_without_maps);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], 0.25 * (32 + 32) * 32 / rate);
    models = models_of("h200", model_second_without_maps);
    assert_int_equal(models.count, 2);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], 0.25 * (8 + 32) * 32 / rate);
    ASSERT_NEAR(models.rows[1].resources[MODEL_L2], 0.25 * (8 + 32) * 32 / rate);
    model_traffic alone = traffic_of(only_without_maps, 0),
                  like = traffic_of(model_second_without_maps, 1);
    assert_true(alone.first_loaded == 32 && alone.again_loaded == 0);
    ASSERT_NEAR(like.first_loaded, 8);
}

static void devices_without_figures(void **state)
{
    (void)state;
    static const char *const names[] = {"", "t4", "no such device",
                                        WL_SOURCE_DIR "/devices/h200.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ana_models models = models_of(names[i], model_launches);
        assert_int_equal(models.count, 3);
        assert_string_equal(models.rows[0].missing, "No figures were measured of its device.");
        assert_int_equal(models.nkernels, 0);
    }
}

static void launch_without_counts(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.summary.nblocks = 0;
    story_expect(prof_add(builder, &launch, &err), &err);
}

static void launches_without_a_model(void **state)
{
    (void)state;
    ana_models models = models_of("h200", launch_without_counts);
    assert_string_equal(models.rows[0].missing, "What its time follows from is not known in full.");
    models = models_of("h200", model_launch_too_large);
    assert_string_equal(models.rows[0].missing, "Its blocks do not fit on the device.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(counts_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(turns_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(parallelism_of_a_warp, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(benefits_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(reuse_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(waits_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_without_maps, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_without_figures, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_without_a_model, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
