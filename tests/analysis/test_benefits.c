/* What the paper's parameters are taken to be on a device, worked by hand: on the paper's own, and
 * on one of round numbers that has what the paper's lacked. */
#include "support/test.h"

#include "analysis/model/work.h"

#define ASSERT_CYCLES(seconds, cycles, clock) \
    assert_within((seconds) * (clock), cycles, 1e-6 * ((cycles) + 1))

/* ---- the paper's device ---- */

static cuda_device c2050(void)
{
    cuda_device d;
    wl_error err = {0};
    if (cuda_device_load("c2050", &d, &err) != WL_OK)
        fail_msg("%s", err.text);
    return d;
}

/* The launch of test_paper.c: 84 blocks of eight warps, three resident on each of 14
 * multiprocessors. A warp has 600 instructions of FP32 and 400 of integers, and loads 20 times four
 * sectors of one line; every second misses. */
static model_work computing(void)
{
    model_work w = {.blocks = 84, .warps = 8, .ilp = 1, .mlp = -1};
    w.machine[IR_COST_FP32] = 600 * 672;
    w.machine[IR_COST_INT] = 400 * 672;
    w.traffic = (model_traffic){.requests = 13440,
                                .loads = 13440,
                                .lines = 13440,
                                .sectors = 53760,
                                .loaded = 53760,
                                .missed = 26880,
                                .footprint = 1612800};
    return w;
}

static void on_the_device_of_the_paper(void **state)
{
    (void)state;
    cuda_device d = c2050();
    model_work w = computing();
    model_benefits b = model_benefits_of(&d, &w, 3);
    ASSERT_CYCLES(b.computation, 48000, 1.15e9); /* as in test_paper.c */
    ASSERT_CYCLES(b.memory, 48000, 1.15e9);
    ASSERT_CYCLES(b.overlap, 46000, 1.15e9);
    ASSERT_CYCLES(b.least_computation, 28800, 1.15e9);
    ASSERT_CYCLES(b.least_memory, 12880, 1.15e9); /* 1612800 bytes at 144 GB/s */
    ASSERT_CYCLES(b.parallelism, 0, 1.15e9);
    ASSERT_CYCLES(b.serialisation, 0, 1.15e9);
    ASSERT_CYCLES(b.floating_point, 19200, 1.15e9);
    assert_true(b.memory_parallelism == 0);
}

/* Without a measured barrier, (8) with Gamma = 64: a barrier among 1001 instructions. */
static void barriers_by_gamma(void **state)
{
    (void)state;
    cuda_device d = c2050();
    model_work w = computing();
    w.machine[IR_COST_SYNC] = 672;
    double cycles = 48 * 64 * 440 * 20 / 1001.0;
    ASSERT_CYCLES(model_benefits_of(&d, &w, 3).serialisation, cycles, 1.15e9);
}

/* What fits into L2 has its latency: AMAT is 130 / 2 + 18. A.2: 20 * 83 / 1000 + 1. */
static void in_the_l2_of_the_paper(void **state)
{
    (void)state;
    cuda_device d = c2050();
    model_work w = computing();
    w.traffic.footprint = 786432;
    model_benefits b = model_benefits_of(&d, &w, 3);
    ASSERT_CYCLES(b.memory, 20 * 48 * 83 / 1.66, 1.15e9);
    ASSERT_CYCLES(b.least_memory, 786432 / 144e9 * 1.15e9, 1.15e9); /* nothing tells L2's */
}

/* (13): 440 + 20. With a tenth of the instructions 23 warps wait at once, both of the 24 that run
 * (15) and by the departures, 460 / 20 (A.5). */
static void lines_of_a_request_of_the_paper(void **state)
{
    (void)state;
    cuda_device d = c2050();
    model_work w = computing();
    w.traffic.lines *= 2;
    w.machine[IR_COST_FP32] = 60 * 672;
    w.machine[IR_COST_INT] = 40 * 672;
    ASSERT_CYCLES(model_benefits_of(&d, &w, 3).memory, 20 * 48 * (460 / 2 + 18) / 23.0, 1.15e9);
}

/* Four lanes for special functions beside 32: (9), (10) as in test_paper.c. */
static void special_functions_of_the_paper(void **state)
{
    (void)state;
    cuda_device d = c2050();
    model_work w = computing();
    w.machine[IR_COST_SFU] = 200 * 672;
    ASSERT_CYCLES(model_benefits_of(&d, &w, 3).serialisation, 5760, 1.15e9);
}

/* ---- a device of today ---- */

#define GHZ 1e9

static cuda_device device_of_ten(void)
{
    cuda_device d = {.l2_bytes = 1000000};
    d.attributes[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = 10;
    static const struct {
        cuda_figure_key key;
        double value;
    } figures[] = {
        {CUDA_FIGURE_clock, GHZ},
        {CUDA_FIGURE_issue, 128},
        {CUDA_FIGURE_sfu, 16},
        {CUDA_FIGURE_fp32_latency, 4},
        {CUDA_FIGURE_int32_latency, 5},
        {CUDA_FIGURE_fp64_latency, 8},
        {CUDA_FIGURE_shared_passes, 0.5},
        {CUDA_FIGURE_barrier_1, 13},
        {CUDA_FIGURE_barrier_8, 24},
        {CUDA_FIGURE_barrier_32, 72},
        {CUDA_FIGURE_l1_latency, 40},
        {CUDA_FIGURE_l2_latency, 240},
        {CUDA_FIGURE_dram_latency, 640},
        {CUDA_FIGURE_l1_lines, 2},
        {CUDA_FIGURE_l2_read, 1e12},
        {CUDA_FIGURE_dram_read, 0.25e12},
        {CUDA_FIGURE_l2_one_sm, 0.2e12},
        {CUDA_FIGURE_dram_one_sm, 0.004e12},
        {CUDA_FIGURE_atomic_same_requests, 1e9},
        {CUDA_FIGURE_atomic_same_requests_f32, 0.5e9},
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
        d.measured.figures[figures[i].key].value = figures[i].value;
    return d;
}

static model_benefits benefits_of(const model_work *w, uint32_t resident)
{
    cuda_device d = device_of_ten();
    return model_benefits_of(&d, w, resident);
}

/* A block of eight warps on each multiprocessor. */
static model_work ten_blocks(double fp32, double integer)
{
    model_work w = {.blocks = 10, .warps = 8, .ilp = 2, .mlp = -1};
    w.machine[IR_COST_FP32] = 80 * fp32;
    w.machine[IR_COST_INT] = 80 * integer;
    return w;
}

/* An instruction takes 4.5 cycles on average; four warps start in one, so that 18 are needed at
 * once (5) of which there are 8 * 2. */
static void instructions(void **state)
{
    (void)state;
    model_work w = ten_blocks(1000, 1000);
    model_benefits b = benefits_of(&w, 1);
    ASSERT_CYCLES(b.computation, 2000 * 8 * 4.5 / 16, GHZ);
    ASSERT_CYCLES(b.parallelism, 4500 - 4000, GHZ);
    ASSERT_CYCLES(b.least_computation, 1000 * 8 * 4 / 16, GHZ);
    ASSERT_CYCLES(b.floating_point, 4500 - 500 - 2000, GHZ);
    w.machine[IR_COST_FP64] = 80 * 1000; /* 3000 instructions of 17 / 3; 2000 of floats, of 6 */
    b = benefits_of(&w, 1);
    ASSERT_CYCLES(b.computation, 8 * 17000 / 16, GHZ);
    ASSERT_CYCLES(b.least_computation, 8 * 12000 / 16, GHZ);
}

/* All of FP32, and 8 at once where 16 are needed: (22) is below zero, which is no benefit. */
static void no_benefit_is_below_zero(void **state)
{
    (void)state;
    model_work w = ten_blocks(1000, 0);
    w.ilp = 1;
    model_benefits b = benefits_of(&w, 1);
    ASSERT_CYCLES(b.parallelism, 4000 - 2000, GHZ);
    assert_true(b.floating_point == 0);
}

/* Eleven blocks: one multiprocessor runs two. More blocks fit than there are: eight warps run. */
static void blocks_of_the_busiest(void **state)
{
    (void)state;
    model_work w = ten_blocks(1000, 1000);
    ASSERT_CYCLES(benefits_of(&w, 4).computation, 4500, GHZ);
    w.blocks = 11;
    w.machine[IR_COST_FP32] = w.machine[IR_COST_INT] = 88 * 1000;
    ASSERT_CYCLES(benefits_of(&w, 1).computation, 9000, GHZ);
    ASSERT_CYCLES(benefits_of(&w, 4).computation, 8000, GHZ); /* 32 at once, of which 18 count */
}

static void what_is_serial(void **state)
{
    (void)state;
    model_work w = ten_blocks(990, 0);
    /* A block's barrier takes 24 cycles: two for each of eight warps, and eight more. */
    w.machine[IR_COST_SYNC] = 80 * 10;
    ASSERT_CYCLES(benefits_of(&w, 1).serialisation, 10 * 24, GHZ);
    w.blocks = 20; /* two on each, of five barriers a warp: they share the eight */
    ASSERT_CYCLES(benefits_of(&w, 2).serialisation, 5 * (2 * 16 + 8), GHZ);
    w.blocks = 80; /* of one warp: 13 cycles, two of them its own; eight run at once */
    w.warps = 1;
    ASSERT_CYCLES(benefits_of(&w, 8).serialisation, 10 * (2 * 8 + 11), GHZ);
    w = ten_blocks(800, 0);
    w.machine[IR_COST_SFU] = 80 * 200; /* (10): 200 / 800 - 16 / 128 */
    ASSERT_CYCLES(benefits_of(&w, 1).serialisation, 200 * 8 * 32 / 16 * 0.125, GHZ);
    w = ten_blocks(800, 0);
    w.shared_extra = 1000; /* a hundred of each, of two cycles */
    ASSERT_CYCLES(benefits_of(&w, 1).serialisation, 200, GHZ);
    w.traffic.slice[MODEL_SUM_INTEGER].same = 1000;
    w.traffic.slice[MODEL_SUM_FLOAT].same = 500;
    ASSERT_CYCLES(benefits_of(&w, 1).serialisation, 200 + 1000 + 1000, GHZ);
}

/* A thousand requests of a warp, each of one line, from device memory: AMAT is 640 + 40; 8000
 * requests of a multiprocessor, of which (15) lets 7 wait at once. */
static model_work streaming(void)
{
    model_work w = ten_blocks(1000, 0);
    w.traffic = (model_traffic){.requests = 80000,
                                .loads = 80000,
                                .lines = 80000,
                                .sectors = 320000,
                                .loaded = 320000,
                                .missed = 320000,
                                .footprint = 10240000};
    return w;
}

static void memory(void **state)
{
    (void)state;
    model_work w = streaming();
    model_benefits b = benefits_of(&w, 1);
    ASSERT_CYCLES(b.memory, 8000 * 680 / 7.0, GHZ);
    ASSERT_CYCLES(b.overlap, 2000 * 7 / 8.0, GHZ);
    ASSERT_CYCLES(b.least_memory, 10240000 / 250.0, GHZ); /* bytes a cycle, of all */
    ASSERT_CYCLES(b.memory_parallelism, 8000 * 680 / 7.0 - 1750 - 40960, GHZ);
    w.mlp = 2;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * 680 / 14.0, GHZ);
}

/* Stores do not find their sectors in L1: of 400 thousand, 80 miss with the stores. */
static void memory_in_l2(void **state)
{
    (void)state;
    model_work w = streaming();
    w.traffic.footprint = 1000000;
    w.traffic.missed = 0;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * 40 / 7.0, GHZ);
    w.traffic.stored = 80000; /* AMAT: 240 / 5 + 40; of the requests, those that load wait */
    w.traffic.requests = w.traffic.lines = 100000;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * 88 / 7.0, GHZ);
    ASSERT_CYCLES(benefits_of(&w, 1).least_memory, 1000, GHZ);
}

static void nothing_but_stores(void **state)
{
    (void)state;
    model_work w = streaming();
    w.traffic.stored = w.traffic.loaded;
    w.traffic.loads = w.traffic.loaded = w.traffic.missed = 0;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * 680 / 7.0, GHZ);
}

/* Each lane has a line: 32 sectors leave one after the other, 8 cycles apart, as fast as a
 * multiprocessor alone takes them from device memory; two a cycle from L2, as L1 finds them. Whole
 * lines take 128 / 200 of a cycle from there. */
static void lanes_far_apart(void **state)
{
    (void)state;
    model_work w = streaming();
    w.traffic.lines = w.traffic.sectors = w.traffic.loaded = w.traffic.missed = 80000 * 32;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * (640 + 31 * 8 + 40) / 7.0, GHZ);
    w.traffic.footprint = 1000000;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * (240 + 31 * 0.5 + 40) / 7.0, GHZ);
    w.traffic.lines = 80000 * 2;
    w.traffic.sectors = w.traffic.loaded = w.traffic.missed = 80000 * 8;
    ASSERT_CYCLES(benefits_of(&w, 1).memory, 8000 * (240 + 0.64 + 40) / 7.0, GHZ);
}

/* Ten blocks of 32 warps on each: 320 warps would wait, more than the 187.5 that the bandwidth of L2
 * serves (A.6). All 409.6 MB take 409,600 cycles; and as AMAT is 40 more than the 240 that (A.7)
 * counts with, so many times longer. */
static void bandwidth_bounds_what_waits(void **state)
{
    (void)state;
    model_work w = streaming();
    w.blocks = 100;
    w.warps = 32;
    w.traffic.requests = w.traffic.loads = w.traffic.lines = 3200000;
    w.traffic.sectors = w.traffic.loaded = w.traffic.missed = 12800000;
    w.traffic.footprint = 1000000;
    ASSERT_CYCLES(benefits_of(&w, 10).memory, 409600 * 280 / 240.0, GHZ);
}

static void nothing_but_special_functions(void **state)
{
    (void)state;
    model_work w = {.blocks = 1, .warps = 1, .machine[IR_COST_SFU] = 10};
    model_benefits b = benefits_of(&w, 1);
    assert_true(b.computation == 0 && b.serialisation == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_the_device_of_the_paper),
        cmocka_unit_test(barriers_by_gamma),
        cmocka_unit_test(in_the_l2_of_the_paper),
        cmocka_unit_test(lines_of_a_request_of_the_paper),
        cmocka_unit_test(special_functions_of_the_paper),
        cmocka_unit_test(instructions),
        cmocka_unit_test(no_benefit_is_below_zero),
        cmocka_unit_test(blocks_of_the_busiest),
        cmocka_unit_test(what_is_serial),
        cmocka_unit_test(memory),
        cmocka_unit_test(memory_in_l2),
        cmocka_unit_test(nothing_but_stores),
        cmocka_unit_test(lanes_far_apart),
        cmocka_unit_test(bandwidth_bounds_what_waits),
        cmocka_unit_test(nothing_but_special_functions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
