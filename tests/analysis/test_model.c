/* The performance model: its formulas on a device of round numbers, worked by hand, and what it
 * reads from a profile. */
#include "../profile/story.h"
#include "support/arena.h"
#include "support/test.h"

#include "analysis/model/parts.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

static prof_db *of_lab; /* the open profile of a test's lab, whose rows that has; or NULL */

static int tear_down(void **state)
{
    arena_tear_down(state);
    unlink(story_path("model.wlprof"));
    prof_close(of_lab);
    of_lab = NULL;
    return 0;
}

/* ---- the formulas ---- */

/* Ten multiprocessors of 1 GHz. */
static cuda_device device_of_ten(void)
{
    cuda_device d = {.l2_bytes = 1000000};
    d.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 10;
    d.measured.processes = 1;
    d.model.schedulers = 4;
    static const struct {
        cuda_figure_key key;
        double value;
    } figures[] = {
        {CUDA_FIGURE_issue, 128},
        {CUDA_FIGURE_fp32, 128},
        {CUDA_FIGURE_int32, 64},
        {CUDA_FIGURE_fp64, 2},
        {CUDA_FIGURE_half2, 256},
        {CUDA_FIGURE_sfu, 16},
        {CUDA_FIGURE_convert, 32},
        {CUDA_FIGURE_compare, 64},
        {CUDA_FIGURE_shuffle, 32},
        {CUDA_FIGURE_tensor_fp16, 1024},
        {CUDA_FIGURE_l1_lines, 1},
        {CUDA_FIGURE_l1_wide, 128},
        {CUDA_FIGURE_shared_passes, 0.5},
        {CUDA_FIGURE_l2_read, 1e12},
        {CUDA_FIGURE_l2_write, 0.5e12},
        {CUDA_FIGURE_l2_sectors, 0.32e12}, /* 1e10 sectors */
        {CUDA_FIGURE_l2_one_sm, 0.2e12},
        {CUDA_FIGURE_dram_read, 0.25e12},
        {CUDA_FIGURE_dram_one_sm, 0.05e12},
        {CUDA_FIGURE_dram_sectors, 0.16e12}, /* 5e9 sectors */
        {CUDA_FIGURE_atomic_lanes, 1e11},
        {CUDA_FIGURE_atomic_sectors, 2e10},
        {CUDA_FIGURE_atomic_same_requests, 1e9},
        {CUDA_FIGURE_atomic_same_requests_f32, 0.5e9},
        {CUDA_FIGURE_atomic_same_requests_f64, 0.25e9},
        {CUDA_FIGURE_cas_latency, 500},
        {CUDA_FIGURE_cas_lanes, 4e9},
        {CUDA_FIGURE_atomic_same_row, 16e9}, /* 2e9 sectors */
        {CUDA_FIGURE_atomic_same_row_f32, 8e9},
        {CUDA_FIGURE_atomic_same_row_f64, 2e9}, /* 0.5e9 sectors */
        {CUDA_FIGURE_shared_atomic_same_f32, 0.025},
        {CUDA_FIGURE_shared_atomic_same_f64, 0.02},
        {CUDA_FIGURE_shared_atomic_lanes_f32, 8},
        {CUDA_FIGURE_shared_atomic_lanes_f64, 4},
        {CUDA_FIGURE_blocks_32, 1e9},
        {CUDA_FIGURE_blocks_256, 0.5e9},
        {CUDA_FIGURE_blocks_1024, 0.25e9},
        {CUDA_FIGURE_launch_by_itself, 3e-6},
        {CUDA_FIGURE_barrier_1, 10},
        {CUDA_FIGURE_barrier_8, 24},
        {CUDA_FIGURE_barrier_32, 72},
        {CUDA_FIGURE_int32_latency, 5},
        {CUDA_FIGURE_fp32_latency, 4},
        {CUDA_FIGURE_fp64_latency, 8},
        {CUDA_FIGURE_half2_latency, 6},
        {CUDA_FIGURE_sfu_latency, 20},
        {CUDA_FIGURE_convert_latency, 7},
        {CUDA_FIGURE_shuffle_latency, 25},
        {CUDA_FIGURE_tensor_fp16_latency, 30},
        {CUDA_FIGURE_shared_latency, 23},
        {CUDA_FIGURE_l1_latency, 40},
        {CUDA_FIGURE_l2_latency, 240},
        {CUDA_FIGURE_dram_latency, 640},
        {CUDA_FIGURE_clock, 1e9},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        d.measured.figures[figures[i].key].value = figures[i].value;
    return d;
}

static ana_model predict(const model_work *w, uint32_t resident)
{
    cuda_device d = device_of_ten();
    ana_model m = {0};
    model_work even = *w; /* unless the case says otherwise */
    even.longest = w->longest > 0 ? w->longest : 1;
    even.longest_of_block = w->longest_of_block > 0 ? w->longest_of_block : 1;
    even.busiest = w->busiest > 0 ? w->busiest : 1;
    model_predict(&d, &even, resident, &m);
    return m;
}

#define ASSERT_NEAR(value, expected) assert_within(value, expected, 1e-12)

static void pipes(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8};
    for (uint32_t c = 0; c < IR_COST_COUNT; c++)
        w.machine[c] = 1000 * (c + 1.0); /* a tenth of them on each multiprocessor */
    ana_model m = predict(&w, 8);
    ASSERT_NEAR(m.resources[MODEL_ISSUE], 10500 * 32 / 128 * 1e-9); /* 14 * 15 / 2 * 100 */
    ASSERT_NEAR(m.resources[MODEL_INTEGER], 100 * 32 / 64.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_FP32], 200 * 32 / 128.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_FP64], 300 * 32 / 2.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_HALF], 400 * 32 / 256.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_SFU], 500 * 32 / 16.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_CONVERT], 600 * 32 / 32.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_COMPARE], 800 * 32 / 64.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_TENSOR], 1300 * 2048 / 1024.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_SHUFFLE], 1400 * 32 / 32.0 * 1e-9);
    assert_int_equal(m.bound, MODEL_FP64);
    ASSERT_NEAR(m.resources[MODEL_LATENCY], 12000 / 80.0 * 24 * 1e-9); /* barriers */
    ASSERT_NEAR(m.seconds, 4.8e-6 + 3.6e-6 + 3e-6);
}

/* The multiprocessor with most blocks is the last to end. */
static void blocks_that_do_not_come_out_even(void **state)
{
    (void)state;
    model_work w = {.blocks = 11, .warps = 8, .machine[IR_COST_FP32] = 1100};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_FP32], 200 * 32 / 128.0 * 1e-9);
    w.blocks = 1;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_FP32], 1100 * 32 / 128.0 * 1e-9);
}

static void shared_memory_and_l1(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .shared_turns = 5000};
    w.traffic = (model_traffic){.lines = 1000, .sectors = 8000};
    ana_model m = predict(&w, 8);
    ASSERT_NEAR(m.resources[MODEL_SHARED], 500 / 0.5 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_L1], 800 * 32 / 128.0 * 1e-9); /* bytes */
    w.traffic.sectors = 3999;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_L1], 100 * 1e-9); /* lines */
}

static void l2(void **state)
{
    (void)state;
    model_work w = {.blocks = 1000, .warps = 8};
    w.traffic = (model_traffic){
        .missed = 1e6, .missed_lines = 2.5e5, .stored_bytes = 32e5, .stored_lines = 1e5};
    ana_model m = predict(&w, 8);
    /* bytes of loads, lines of stores */
    ASSERT_NEAR(m.resources[MODEL_L2], 32e6 / 1e12 + 1e5 / 1e10);
    assert_true(m.resources[MODEL_DRAM] == 0);
    w.blocks = 1; /* one multiprocessor does not reach the bandwidth of all */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_L2], 1.1e6 * 32 / 0.2e12);
}

static void device_memory(void **state)
{
    (void)state;
    model_work w = {.blocks = 1000, .warps = 8, .traffic = {.footprint = 1000000}};
    assert_true(predict(&w, 8).resources[MODEL_DRAM] == 0); /* just fits into L2 */
    w.traffic.footprint = 1000001;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_DRAM], 1000001 / 0.25e12);
    w.blocks = 2;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_DRAM], 500000.5 / 0.05e12);
    w.traffic.footprint = 0;
    w.traffic.moved_again = 1000; /* single sectors */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_DRAM], 1000 / 5e9);
}

static void hit_rates(void **state)
{
    (void)state;
    model_work w = {.blocks = 1000, .warps = 8};
    w.traffic = (model_traffic){
        .footprint = 1000000, .loaded = 4000, .missed = 1000, .first_loaded = 600};
    ana_model m = predict(&w, 8);
    assert_true(m.from_l1 == 4000 && m.from_l2 == 1000 && m.from_dram == 0);
    w.traffic.again_loaded = 250;
    assert_true(predict(&w, 8).from_dram == 250);
    w.traffic.footprint = 1000001; /* more than L2 holds */
    assert_true(predict(&w, 8).from_dram == 850);
    w.traffic.again_loaded = 401; /* no more than L2 is asked for */
    assert_true(predict(&w, 8).from_dram == 1000);
    ASSERT_NEAR(model_hit_rate(4000, 1000), 0.75);
    assert_true(model_hit_rate(0, 0) < 0);
}

static void atomics(void **state)
{
    (void)state;
    model_work w = {
        .blocks = 1000, .warps = 8, .traffic = {.atomic_lanes = 1e6, .atomic_turns = 1e5}};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_ATOMICS], 1e6 / 1e11);
    w.traffic.atomic_turns = 1e6;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_ATOMICS], 1e6 / 2e10);
    w.traffic.slice[MODEL_SUM_INTEGER].same = 3e5;
    w.traffic.slice[MODEL_SUM_FLOAT].same = 2e5;
    w.traffic.slice[MODEL_SUM_DOUBLE].same = 1e5;
    double same = 3e5 / 1e9 + 2e5 / 0.5e9 + 1e5 / 0.25e9;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_ATOMICS], same);
    w.traffic.slice[MODEL_SUM_INTEGER].apart = 6e5;
    w.traffic.slice[MODEL_SUM_FLOAT].apart = 3e5;
    w.traffic.slice[MODEL_SUM_DOUBLE].apart = 2e5;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_ATOMICS],
                same + 6e5 / 2e9 + 3e5 / 1e9 + 2e5 / 0.5e9);
}

/* Each round waits for the last; and all that try are served. */
static void loops_of_compare_and_swap(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .traffic = {.swaps = {200, 6400}}};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_ATOMICS], 200 * 500e-9 + 6400 / 4e9);
    assert_int_equal(predict(&w, 8).unsure, 0);
    w.traffic.swaps_most = (model_swaps){400, 12800};
    ana_model m = predict(&w, 8);
    assert_int_equal(m.unsure, 1 << MODEL_SWAPS);
    double swaps = 200 * 500e-9 + 6400 / 4e9;
    assert_true(m.low <= m.seconds - swaps + 1e-12 && m.high >= m.seconds + swaps - 1e-12);
    w.traffic = (model_traffic){0};
    w.managed = true;
    assert_int_equal(predict(&w, 8).unsure, 1 << MODEL_PAGES);
}

/* Integers have none: they take turns of shared memory. */
static void atomics_that_are_loops(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8};
    w.spins[MODEL_SUM_FLOAT] = (model_atomics){.same = 100, .apart = 800};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_SHARED],
                (10 / 0.025 * 8 / 32 + 80 / 8.0) * 1e-9); /* on each multiprocessor */
    w.spins[MODEL_SUM_DOUBLE] = (model_atomics){.same = 50, .apart = 400};
    w.spins[MODEL_SUM_FLOAT] = (model_atomics){0};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_SHARED], (5 / 0.02 * 8 / 32 + 40 / 4.0) * 1e-9);
}

static void starting_blocks(void **state)
{
    (void)state;
    static const struct {
        double warps, rate;
    } cases[] = {{1, 1e9}, {2, 0.5e9}, {16, 0.5e9}, {17, 0.25e9}, {32, 0.25e9}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_work w = {.blocks = 5000, .warps = cases[i].warps};
        ASSERT_NEAR(predict(&w, 8).resources[MODEL_BLOCKS], 5000 / cases[i].rate);
    }
}

static void latency(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .chain_shared = 2};
    static const double clocks[IR_COST_COUNT] = {
        [IR_COST_INT] = 5,     [IR_COST_FP32] = 4,    [IR_COST_FP64] = 8,
        [IR_COST_HALF] = 6,    [IR_COST_SFU] = 20,    [IR_COST_CONVERT] = 7,
        [IR_COST_COMPARE] = 5, [IR_COST_TENSOR] = 30, [IR_COST_WARP] = 25};
    double sum = 2 * 23;
    for (uint32_t c = 0; c < IR_COST_COUNT; c++) {
        w.chain[c] = c + 1.0;
        sum += (c + 1.0) * clocks[c];
    }
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], sum * 1e-9);
    w.blocks = 170; /* 17 on each, 8 at once */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], sum * 17 / 8 * 1e-9);
}

/* Of the barriers a quarter goes, and a half is kept by warps, which takes an instruction. */
static void barriers_that_go(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8};
    w.machine[IR_COST_SYNC] = 800;
    w.chain[IR_COST_SYNC] = 8;
    model_change_barriers(&(model_change){.barriers = 0.25, .warp_barriers = 0.5}, &w);
    assert_true(w.machine[IR_COST_SYNC] == 200 && w.machine[IR_COST_CONTROL] == 400);
    assert_true(w.chain[IR_COST_SYNC] == 2 && w.chain[IR_COST_CONTROL] == 4);
    model_change_barriers(&(model_change){.barriers = 1, .warp_barriers = 0.5}, &w);
    assert_true(w.machine[IR_COST_SYNC] == 0 && w.machine[IR_COST_CONTROL] == 400);
    model_change_barriers(&(model_change){.shared = 4}, &w);
    assert_true(w.machine[IR_COST_CONTROL] == 400);
}

/* 64 loads are staged by 16, and 16 loads take the place of 16 of shared memory and of the 16 that filled
 * it. Of 20 waits for 80 loads a fifth is of others, 16 loads take 4 to bring the part, the 8 for shared
 * memory become such; three fifths wait for shared memory. Two barriers for each of 4 warps. */
static void arrays_that_change_places(void **state)
{
    (void)state;
    const prof_instruction insns[] = {
        {.c = {.pc = 1, .space = ACC_GLOBAL, .object = 1, .op = ACC_LOAD, .requests = 64}},
        {.c = {.pc = 2, .space = ACC_GLOBAL, .object = 2, .op = ACC_LOAD, .requests = 16}},
        {.c = {.pc = 3, .space = ACC_SHARED, .object = 3, .op = ACC_STORE, .requests = 16}},
        {.c = {.pc = 4, .space = ACC_SHARED, .object = 3, .op = ACC_LOAD, .requests = 16}}};
    model_edit edits[] = {
        MODEL_EDIT_NOTHING(1, 1, ACC_GLOBAL), MODEL_EDIT_NOTHING(2, 2, ACC_GLOBAL),
        MODEL_EDIT_NOTHING(3, 3, ACC_SHARED), MODEL_EDIT_NOTHING(4, 3, ACC_SHARED)};
    prof_instruction room[4];
    const model_rows rows = {.changed = room};
    const model_launch_rows launch = {.insns = insns, .ninsns = 4};
    model_work w = {.blocks = 1, .warps = 4, .chain_loads = 20, .chain_shared = 8};
    w.machine[IR_COST_INT] = 100;
    edits[0].requests = 0.25;
    edits[0].staged = 1;
    edits[1].direct = true;
    edits[2].requests = edits[3].requests = 0;
    model_change_rows(&rows, &launch, &(model_change){.nedits = 4, .edits = edits}, &w);
    ASSERT_NEAR(w.chain_loads, 4 + 4 + 8);
    ASSERT_NEAR(w.chain_shared, 12);
    assert_true(w.machine[IR_COST_SYNC] == 8 && w.machine[IR_COST_INT] == 52);
    assert_true(room[0].c.requests == 16 && room[3].c.requests == 0);
}

static void latency_of_barriers(void **state)
{
    (void)state;
    static const struct {
        double warps, clocks;
    } cases[] = {{1, 10}, {4.5, 17}, {8, 24}, {20, 48}, {32, 72}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_work w = {
            .blocks = 10, .warps = cases[i].warps, .machine[IR_COST_SYNC] = 1000 * cases[i].warps};
        ASSERT_NEAR(predict(&w, 1).resources[MODEL_LATENCY], 100 * cases[i].clocks * 1e-9);
    }
}

static void latency_of_loads(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .chain_loads = 3};
    w.traffic = (model_traffic){.loads = 240, .hit_rate = 0.75};
    /* one load at a time, of four that hit three times */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 3 * (0.75 * 40 + 0.25 * 240) * 1e-9);
    w.traffic.loads = 480; /* two at a time: both must hit */
    double hit = 0.75 * 0.75;
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 3 * (hit * 40 + (1 - hit) * 240) * 1e-9);
    w.traffic.footprint = 2000000; /* more than L2 holds */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 3 * (hit * 40 + (1 - hit) * 640) * 1e-9);
}

/* Half of L2 has a copy of half of what it holds; what is more comes from the other half. */
static void latency_of_far_l2(void **state)
{
    (void)state;
    cuda_device d = device_of_ten();
    model_work w = {.blocks = 10, .warps = 8, .longest = 1, .busiest = 1, .chain_loads = 1};
    static const struct {
        double footprint, clocks;
    } cases[] = {{400000, 240}, {400001, 500}, {800000, 500}, {800001, 640}};
    d.measured.figures[CUDA_FIGURE_l2_far_latency].value = 500;
    d.measured.figures[CUDA_FIGURE_l2_holds].value = 800000; /* of the 1,000,000 that it tells */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ana_model m = {0};
        w.traffic = (model_traffic){.loads = 80, .footprint = cases[i].footprint};
        model_predict(&d, &w, 8, &m);
        ASSERT_NEAR(m.resources[MODEL_LATENCY], cases[i].clocks * 1e-9);
    }
}

/* Of the ten multiprocessors each runs two blocks of 100 instructions, one of them one of 250 and
 * another. A turn takes as long as its block's longest warp, and the last one as long as that of all. */
static void work_that_is_not_even(void **state)
{
    (void)state;
    model_work w = {
        .blocks = 20, .warps = 8, .busiest = 2.5, .longest = 3, .longest_of_block = 1.5};
    w.machine[IR_COST_FP32] = 2000, w.chain[IR_COST_FP32] = 50;
    ana_model m = predict(&w, 8);
    ASSERT_NEAR(m.resources[MODEL_FP32], (250 + 100) * 32 / 128.0 * 1e-9);
    ASSERT_NEAR(m.resources[MODEL_LATENCY], 3 * 50 * 4 * 1e-9);
    ASSERT_NEAR(predict(&w, 1).resources[MODEL_LATENCY], (1.5 + 3) * 50 * 4 * 1e-9); /* two turns */
}

/* Each of four schedulers has a quarter of the pipes: a warp alone has no more than that, and of five
 * two share one. */
static void few_warps(void **state)
{
    (void)state;
    static const struct {
        double warps, times;
    } cases[] = {{1, 4}, {2, 2}, {4, 1}, {5, 8 / 5.0}, {32, 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        model_work w = {.blocks = 10, .warps = cases[i].warps, .machine[IR_COST_FP32] = 1000};
        ASSERT_NEAR(predict(&w, 8).resources[MODEL_FP32], cases[i].times * 100 * 32 / 128.0 * 1e-9);
    }
    model_work two = {.blocks = 20, .warps = 2, .machine[IR_COST_FP32] = 1000}; /* of a block */
    ASSERT_NEAR(predict(&two, 8).resources[MODEL_FP32], 100 * 32 / 128.0 * 1e-9);
    ASSERT_NEAR(predict(&two, 1).resources[MODEL_FP32], 2 * 100 * 32 / 128.0 * 1e-9);
}

/* A load waits for what it has to look up, and for the passes of its conflicts. */
static void latency_of_scattered_loads(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8, .chain_loads = 2};
    w.traffic = (model_traffic){.loads = 160, .loaded_lines = 5 * 160, .hit_rate = 1};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 2 * (40 + 4) * 1e-9);
    w.traffic = (model_traffic){.loads = 480, .loaded_lines = 5 * 480, .hit_rate = 1};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 2 * (40 + 3 * 5 - 1) * 1e-9); /* at once */
    w = (model_work){.blocks = 10, .warps = 8, .chain_shared = 3, .shared_loads = 100};
    w.shared_load_turns = 400; /* each two clocks */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], 3 * (23 + 3 / 0.5) * 1e-9);
}

/* What is stored last has to arrive in L2, after 240 clocks. */
static void ends_of_launches(void **state)
{
    (void)state;
    model_work w = {.blocks = 10, .warps = 8};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LAUNCH], 3e-6);
    w.traffic = (model_traffic){.requests = 10, .loads = 10};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LAUNCH], 3e-6);
    w.traffic = (model_traffic){.requests = 10, .stored = 10};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LAUNCH], 3e-6 + 240e-9);
}

/* What is busy longest, latency and the launch add up. */
static void all_together(void **state)
{
    (void)state;
    model_work w = {
        .blocks = 10, .warps = 8, .chain[IR_COST_FP32] = 500, .machine[IR_COST_FP32] = 40000};
    ana_model m = predict(&w, 8);
    ASSERT_NEAR(m.seconds, 1e-6 + 2e-6 + 3e-6);
    assert_int_equal(m.bound, MODEL_LAUNCH);
    model_resource order[MODEL_RESOURCES];
    assert_int_equal(model_resources_by_time(&m, order), 5);
    assert_int_equal(order[0], MODEL_LAUNCH);
    assert_int_equal(order[1], MODEL_LATENCY);
    assert_int_equal(order[2], MODEL_ISSUE); /* as long as FP32, which comes after it */
    assert_int_equal(order[3], MODEL_FP32);
    assert_int_equal(order[4], MODEL_BLOCKS);
}

/* ---- what is read from a profile ---- */

static prof_db *profile_of(const char *device, void (*tell)(prof_builder *))
{
    prof_db *db;
    prof_builder *builder;
    prof_options options = {.force = true};
    story_expect(prof_create(story_path("model.wlprof"), &options, &builder, &err), &err);
    story_expect(prof_begin_process(builder, &err), &err);
    cap_record on = story_device();
    on.device.file = device;
    const cap_record head[] = {story_process("/src/app"), on, story_module(1),
                               story_call(1, "cudaMalloc", CAP_CALL_ALLOC),
                               story_object(1, 1, 0x7f0000000000, 4096)};
    for (size_t i = 0; i < sizeof head / sizeof *head; i++)
        story_expect(prof_add(builder, &head[i], &err), &err);
    tell(builder);
    story_expect(prof_end_process(builder, NULL, &err), &err);
    story_expect(prof_finish(builder, &err), &err);
    story_expect(prof_open(story_path("model.wlprof"), &db, &err), &err);
    return db;
}

static ana_models models_of(const char *device, void (*tell)(prof_builder *))
{
    ana_models models;
    prof_db *db = profile_of(device, tell);
    story_expect(ana_model_table(db, arena, &models, &err), &err);
    prof_close(db);
    return models;
}

static void launches(prof_builder *builder)
{
    for (uint32_t i = 1; i <= 3; i++) {
        cap_record launch = story_launch(i, 0, 0x7f0000000000);
        story_expect(prof_add(builder, &launch, &err), &err);
    }
}

static double figure_of_h200(cuda_figure_key key)
{
    static cuda_device d;
    if (!d.id[0])
        assert_int_equal(cuda_device_load("h200", &d, &err), WL_OK);
    return d.measured.figures[key].value;
}

/* Four blocks, each on a multiprocessor of its own; the numbers of story_launch. */
static void counts_of_a_profile(void **state)
{
    (void)state;
    ana_models models = models_of("h200", launches);
    assert_int_equal(models.count, 3);
    assert_int_equal(models.nkernels, 1);
    const ana_model *m = ana_model_of(&models, models.rows[0].kind);
    assert_null(m->missing);
    assert_int_equal(m->launches, 1);
    double clock = figure_of_h200(CUDA_FIGURE_clock);
    ASSERT_NEAR(m->resources[MODEL_SHARED],
                0.25 * 4 / figure_of_h200(CUDA_FIGURE_shared_passes) / clock);
    /* A block touches two sectors of the 32 that loads ask for: eight come from L2. What the lanes
     * store in 64 sectors fills 32. */
    ASSERT_NEAR(m->resources[MODEL_L2],
                0.25 * (8 + 32) * 32 / figure_of_h200(CUDA_FIGURE_l2_one_sm));
    ASSERT_NEAR(m->resources[MODEL_L1],
                0.25 * (32 + 64) * 32 / figure_of_h200(CUDA_FIGURE_l1_wide) / clock);
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
    prof_db *db = profile_of("h200", tell);
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
    double rate = figure_of_h200(CUDA_FIGURE_atomic_same_requests_f32);
    double sectors = figure_of_h200(CUDA_FIGURE_atomic_same_row_f32) / 8;
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
    prof_db *db = profile_of("h200", block_runs_more_often);
    story_expect(prof_load_waits(db, arena, &waits, &err), &err);
    prof_close(db);
    assert_int_equal(waits.count, 1);
    assert_within(waits.rows[0].ilp, (24 * 7 / 4.0 + 8 * 4 / 3.0) / 32, 1e-9);
    assert_within(waits.rows[0].mlp, 1, 1e-9);
}

/* What the paper's model makes of the counts, for launches and kernels. */
static void benefits_of_a_profile(void **state)
{
    (void)state;
    ana_models models = models_of("h200", launches);
    const model_benefits *b = &models.rows[0].benefits, *k = &models.kernels[0].benefits;
    double clock = figure_of_h200(CUDA_FIGURE_clock);
    assert_true(b->computation > 0 && b->memory > 0 && b->overlap > 0);
    /* Two wavefronts more than the words need, of four blocks. */
    ASSERT_NEAR(b->serialisation, 0.25 * 2 / figure_of_h200(CUDA_FIGURE_shared_passes) / clock);
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

/* An L1 for each of the four blocks, one L2 for all of them. */
static void reuse_of_a_profile(void **state)
{
    (void)state;
    double l2 = 0.25 * 32 / figure_of_h200(CUDA_FIGURE_l2_one_sm);
    ana_models models = models_of("h200", uses_that_l1_holds);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], (8 + 32) * l2);
    models = models_of("h200", uses_that_l1_lacks);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], (32 + 32) * l2);
    models = models_of("h200", uses_that_l2_holds);
    assert_true(models.rows[0].resources[MODEL_DRAM] == 0);
    models = models_of("h200", uses_that_l2_lacks);
    /* of 32 loaded sectors 24; of 64 stored ones, of which each is read for what is not stored, 32 */
    ASSERT_NEAR(models.rows[0].resources[MODEL_DRAM],
                (24 + 2 * 32) * 32 / figure_of_h200(CUDA_FIGURE_dram_sectors));
    assert_true(models.rows[0].from_l2 == 32 && models.rows[0].from_dram == 24);
}

static cap_record launch_without_maps(uint32_t id)
{
    cap_record launch = story_launch(id, 0, 0x7f0000000000);
    launch.launch.summary.nheats = launch.launch.summary.nsamples = 0;
    return launch;
}

static void only_without_maps(prof_builder *builder)
{
    cap_record launch = launch_without_maps(1);
    story_expect(prof_add(builder, &launch, &err), &err);
}

static void second_without_maps(prof_builder *builder)
{
    cap_record first = story_launch(1, 0, 0x7f0000000000), second = launch_without_maps(2);
    story_expect(prof_add(builder, &first, &err), &err);
    story_expect(prof_add(builder, &second, &err), &err);
}

/* Not every launch keeps heat maps: it is taken to do as the kernel's last one that did; without
 * any, no sector is found in L1. */
static void launches_without_maps(void **state)
{
    (void)state;
    double rate = figure_of_h200(CUDA_FIGURE_l2_one_sm);
    ana_models models = models_of("h200", only_without_maps);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], 0.25 * (32 + 32) * 32 / rate);
    models = models_of("h200", second_without_maps);
    assert_int_equal(models.count, 2);
    ASSERT_NEAR(models.rows[0].resources[MODEL_L2], 0.25 * (8 + 32) * 32 / rate);
    ASSERT_NEAR(models.rows[1].resources[MODEL_L2], 0.25 * (8 + 32) * 32 / rate);
    model_traffic alone = traffic_of(only_without_maps, 0),
                  like = traffic_of(second_without_maps, 1);
    assert_true(alone.first_loaded == 32 && alone.again_loaded == 0);
    ASSERT_NEAR(like.first_loaded, 8);
}

static void devices_without_figures(void **state)
{
    (void)state;
    static const char *const names[] = {"", "t4", "no such device",
                                        WL_SOURCE_DIR "/devices/h200.json"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        ana_models models = models_of(names[i], launches);
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

static void launch_too_large(prof_builder *builder)
{
    cap_record launch = story_launch(1, 0, 0x7f0000000000);
    launch.launch.dynamic_shared = 1 << 20;
    story_expect(prof_add(builder, &launch, &err), &err);
}

static void launches_without_a_model(void **state)
{
    (void)state;
    ana_models models = models_of("h200", launch_without_counts);
    assert_string_equal(models.rows[0].missing, "Not all of its instructions were counted.");
    models = models_of("h200", launch_too_large);
    assert_string_equal(models.rows[0].missing, "Its blocks do not fit on the device.");
}

/* ---- trials ---- */

static prof_instruction_rows instructions;

static model_lab *lab_of(void (*tell)(prof_builder *))
{
    model_lab *lab;
    prof_close(of_lab);
    of_lab = profile_of("h200", tell);
    story_expect(model_lab_open(of_lab, arena, &lab, &err), &err);
    story_expect(prof_load_kind_instructions(of_lab, arena, &instructions, &err), &err);
    return lab;
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
    model_lab *lab = lab_of(second_without_maps);
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
    assert_string_equal(model_try(lab_of(launch_too_large), 1, NULL, MODEL_AS_RUN).missing,
                        "Its blocks do not fit on the device.");
}

/* The store's 64 sectors, half full, the 32 that are loaded (8 of them from L2), the array's 4 wavefronts. */
static void trials_of_edits(void **state)
{
    (void)state;
    model_lab *lab = lab_of(launches);
    double l2 = 0.25 * 32 / figure_of_h200(CUDA_FIGURE_l2_one_sm);
    double clock = figure_of_h200(CUDA_FIGURE_clock);
    double l1 = 0.25 * 32 / figure_of_h200(CUDA_FIGURE_l1_wide) / clock;
    double pass = 0.25 / figure_of_h200(CUDA_FIGURE_shared_passes) / clock;
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
    ASSERT_NEAR(shuffles, 0.25 * 6 * 32 / figure_of_h200(CUDA_FIGURE_shuffle) / clock);
}

/* What is staged is loaded once, and read from shared memory as often as it was loaded. */
static void trials_of_staging(void **state)
{
    (void)state;
    model_lab *lab = lab_of(launches);
    double clock = figure_of_h200(CUDA_FIGURE_clock);
    model_edit load = edit_of(1, ACC_GLOBAL);
    load.requests = load.sectors = 0.25;
    load.staged = 1;
    ana_model m = try_edit(lab, load);
    double pass = 0.25 / figure_of_h200(CUDA_FIGURE_shared_passes) / clock;
    ASSERT_NEAR(m.resources[MODEL_SHARED], (4 + 8) * pass);
    ASSERT_NEAR(m.resources[MODEL_L1],
                0.25 * (8 + 64) * 32 / figure_of_h200(CUDA_FIGURE_l1_wide) / clock);
    /* it has to come from L2 once, between two barriers */
    double least = figure_of_h200(CUDA_FIGURE_l2_latency) +
                   2 * figure_of_h200(CUDA_FIGURE_barrier_1);
    assert_true(m.resources[MODEL_LATENCY] >= least / clock);
}

/* Three lanes for each of eight requests of an instruction of floats: they go round their loop beside
 * the array's 4 passes. */
static void trials_of_updates(void **state)
{
    (void)state;
    model_lab *lab = lab_of(launches);
    model_edit store = edit_of(5, ACC_GLOBAL);
    store.updates = 3;
    ana_model m = try_edit(lab, store);
    double spins = 3 * 8 / figure_of_h200(CUDA_FIGURE_shared_atomic_lanes_f32);
    double passes = 4 / figure_of_h200(CUDA_FIGURE_shared_passes);
    ASSERT_NEAR(m.resources[MODEL_SHARED],
                0.25 * (spins + passes) / figure_of_h200(CUDA_FIGURE_clock));
}

/* Two blocks of 256 threads fit where eight did: as many take turns. */
static void trials_that_take_shared_memory(void **state)
{
    (void)state;
    model_lab *lab = lab_of(launches);
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
    model_lab *lab = lab_of(launches);
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
    lab = lab_of(launches);
    before = model_try(lab, 1, NULL, MODEL_AS_RUN);
    ASSERT_NEAR(before.seconds, m.seconds);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pipes),
        cmocka_unit_test(blocks_that_do_not_come_out_even),
        cmocka_unit_test(shared_memory_and_l1),
        cmocka_unit_test(l2),
        cmocka_unit_test(device_memory),
        cmocka_unit_test(hit_rates),
        cmocka_unit_test(atomics),
        cmocka_unit_test(loops_of_compare_and_swap),
        cmocka_unit_test(atomics_that_are_loops),
        cmocka_unit_test(starting_blocks),
        cmocka_unit_test(latency),
        cmocka_unit_test(latency_of_barriers),
        cmocka_unit_test(barriers_that_go),
        cmocka_unit_test(arrays_that_change_places),
        cmocka_unit_test(latency_of_loads),
        cmocka_unit_test(ends_of_launches),
        cmocka_unit_test(latency_of_far_l2),
        cmocka_unit_test(work_that_is_not_even),
        cmocka_unit_test(latency_of_scattered_loads),
        cmocka_unit_test(few_warps),
        cmocka_unit_test(all_together),
        cmocka_unit_test_setup_teardown(counts_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(lines_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(turns_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(parallelism_of_a_warp, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(benefits_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(reuse_of_a_profile, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_without_maps, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(devices_without_figures, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(launches_without_a_model, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_that_change_nothing, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_edits, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_staging, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_updates, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_that_take_shared_memory, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_more_blocks, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_even_work, arena_set_up, tear_down),
        cmocka_unit_test_setup_teardown(trials_of_full_warps, arena_set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
