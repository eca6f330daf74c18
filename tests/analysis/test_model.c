/* The performance model's formulas, on a device of round numbers, worked by hand. */
#include "support/test.h"

#include "analysis/model/parts.h"

#include <math.h>
#include <string.h>

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
        {CUDA_FIGURE_shared_atomic_bank_f32, 32 / 624.0},
        {CUDA_FIGURE_shared_atomic_bank_f64, 32 / 608.0},
        {CUDA_FIGURE_shared_atomic_latency_f32, 100},
        {CUDA_FIGURE_shared_atomic_latency_f64, 120},
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
    /* A try takes 3.5 clocks, and half a clock for each pass: 4 clocks for 32 lanes in banks of their own, 624
     * in one bank. */
    w.spins[MODEL_SUM_FLOAT] = (model_spins){100, 800, .waits = 3, .others = 2};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_SHARED],
                (10 * 3.5 + 80 * 0.5) * 1e-9); /* on each multiprocessor */
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], (3 * 100 + 2 / 0.025) * 1e-9);
    /* 3 clocks, and half a clock: 8 for 32 lanes side by side, which take two turns, 608 in one bank. */
    w.spins[MODEL_SUM_DOUBLE] = (model_spins){50, 400, .waits = 1, .others = 1};
    w.spins[MODEL_SUM_FLOAT] = (model_spins){0};
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_SHARED], (5 * 3 + 40 * 0.5) * 1e-9);
    ASSERT_NEAR(predict(&w, 8).resources[MODEL_LATENCY], (120 + 1 / 0.02) * 1e-9);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
