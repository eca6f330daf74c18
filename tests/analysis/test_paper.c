/* The paper's equations on inputs that were worked out by hand, on both sides of each min and max;
 * and what must hold for all inputs. The device is the C2050 of the paper's Table 3. */
#include "support/random.h"
#include "support/test.h"

#include "analysis/model/paper.h"

#include <math.h>
#include <stdbool.h>

/* The equations print "transaction size 128 B" (A.7); two cycles for a wavefront. */
static const paper_device c2050 = {
    .clock = 1.15e9,
    .bandwidth = 144e9,
    .transaction_bytes = 128,
    .dram_latency = 440,
    .departure_delay = 20,
    .hit_latency = 18,
    .float_latency = 18,
    .warp_lanes = 32,
    .simd_lanes = 32,
    .special_lanes = 4,
    .wavefront_cycles = 2,
    .barrier_factor = 64,
};

/* 48 warps a multiprocessor, 24 of them at once. A thousand instructions of a warp, of which 20
 * load; every second of these misses. */
static const paper_launch computing = {
    .instructions = 1000,
    .memory_instructions = 20,
    .float_instructions = 600,
    .warps = 672,
    .multiprocessors = 14,
    .resident_warps = 24,
    .instruction_latency = 18,
    .transactions = 1,
    .miss_ratio = 0.5,
    .data_bytes = 161280, /* 90 transactions a multiprocessor: 90 * 128 * 14 */
    .ilp = 1,
    .mlp = 1,
};

static paper_costs costs_of(const paper_launch *l)
{
    return paper_costs_of(&c2050, l);
}

static void assert_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-9 * fabs(expected)))
        fail_msg("%.12g, not %.12g", value, expected);
}

/* (A.6): 144e9 / (1.15e9 * 128 / 440 * 14) = 63360 / 2060.8, about 30.75 */
#define PEAK_WARPS (63360 / 2060.8)

/* ---- hand-worked ---- */

static void latencies_and_warps(void **state)
{
    (void)state;
    paper_costs c = costs_of(&computing);
    assert_near(c.dram_latency, 440);                 /* (13): 440 + 0 * 20 */
    assert_near(c.access_latency, 238);               /* (12): 440 / 2 + 18 */
    assert_near(c.itilp_most, 18);                    /* (5): 18 / (32 / 32) */
    assert_near(c.itilp, 18);                         /* (4): of 24 */
    assert_near(c.bandwidth_of_warp, 1.472e11 / 440); /* A.7: 1.15e9 * 128 / 440 */
    assert_near(c.mwp_bandwidth, PEAK_WARPS);         /* A.6 */
    assert_near(c.mwp, 22);                           /* A.5: min(440 / 20, 30.75, 24) */
    assert_near(c.memory_period, 4760);               /* A.4: 20 * 238 / 1 */
    assert_near(c.computation_period, 1000);          /* A.3: 1000 * 18 / 18 */
    assert_near(c.cwp_full, 5.76);                    /* A.2: (4760 + 1000) / 1000 */
    assert_near(c.cwp, 5.76);                         /* A.1: below 24 */
}

/* CWP <= MWP: all but one of the 24 warps overlap. */
static void bound_by_computation(void **state)
{
    (void)state;
    paper_costs c = costs_of(&computing);
    assert_near(c.parallel, 48000);          /* (3): 1000 * 48 * 18 / 18 */
    assert_near(c.serial, 0);                /* (6) */
    assert_near(c.computation, 48000);       /* (2) */
    assert_near(c.mwp_cp, 4.76);             /* (15): min(max(1, 4.76), 22) */
    assert_near(c.itmlp, 4.76);              /* (14): min(4.76, 30.75) */
    assert_near(c.memory, 48000);            /* (11): 20 * 48 / 4.76 * 238 */
    assert_near(c.overlap_part, 23 / 24.0);  /* (17) */
    assert_near(c.overlap, 46000);           /* (16): min(48000 * 23 / 24, 48000) */
    assert_near(c.total, 50000);             /* (1) */
    assert_near(c.least_computation, 28800); /* (18): 600 * 48 * 18 / 18 */
    assert_near(c.least_memory, 1288);       /* (19): 90 * 440 * 2060.8 / 63360 */
    assert_near(c.benefit_parallelism, 0);   /* (20) */
    assert_near(c.benefit_serial, 0);        /* (21) */
    assert_near(c.benefit_float, 19200);     /* (22): 48000 - 28800 */
    assert_near(c.benefit_memory, 712);      /* (23): 48000 - 46000 - 1288 */
}

/* CWP > MWP: a tenth of the instructions, and all of computation is hidden. */
static void bound_by_memory(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.instructions = 100;
    l.float_instructions = 60;
    paper_costs c = costs_of(&l);
    assert_near(c.computation_period, 100);
    assert_near(c.cwp_full, 48.6); /* (4760 + 100) / 100 */
    assert_near(c.cwp, 24);        /* A.1: no more than N */
    assert_near(c.mwp_cp, 22);     /* (15): min(max(1, 23), 22) */
    assert_near(c.itmlp, 22);
    assert_near(c.memory, 20 * 48 * 238 / 22.0);
    assert_near(c.computation, 4800);
    assert_near(c.overlap_part, 1);
    assert_near(c.overlap, 4800);
    assert_near(c.total, 20 * 48 * 238 / 22.0);
    assert_near(c.benefit_memory, 20 * 48 * 238 / 22.0 - 4800 - 1288);
}

/* (17) where CWP equals MWP: both are N. */
static void as_many_warps_compute_as_wait(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.instructions = 100;
    l.resident_warps = 20; /* A.5: min(22, 30.75, 20); A.1: min(48.6, 20) */
    paper_costs c = costs_of(&l);
    assert_near(c.cwp, c.mwp);
    assert_near(c.overlap_part, 19 / 20.0);
}

static void what_limits_the_warps_that_wait(void **state)
{
    (void)state;
    paper_device narrow = c2050;
    paper_launch l = computing;
    narrow.bandwidth = 14.4e9; /* A.5: min(22, 3.075, 24) */
    assert_near(paper_costs_of(&narrow, &l).mwp, PEAK_WARPS / 10);
    l.resident_warps = 8; /* A.5: min(22, 30.75, 8) */
    assert_near(costs_of(&l).mwp, 8);
    l.transactions = 3; /* (13): 440 + 2 * 20 = 480; A.5: 480 / 20 */
    l.resident_warps = 48;
    paper_costs c = costs_of(&l);
    assert_near(c.dram_latency, 480);
    assert_near(c.access_latency, 258);
    assert_near(c.mwp, 24);
}

/* (15): at least one warp; (14): with and without the limit of bandwidth. */
static void memory_parallelism(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.memory_instructions = 2; /* A.4: 476; A.2: 1.476 */
    assert_near(costs_of(&l).cwp, 1.476);
    assert_near(costs_of(&l).mwp_cp, 1);
    l = computing;
    l.mlp = 2; /* A.4: 2380; A.2: 3.38 */
    assert_near(costs_of(&l).mwp_cp, 2.38);
    assert_near(costs_of(&l).itmlp, 4.76);
    l.instructions = 100; /* CWP: min(24.8, 24) */
    assert_near(costs_of(&l).mwp_cp, 22);
    assert_near(costs_of(&l).itmlp, PEAK_WARPS); /* of 44 */
    assert_near(costs_of(&l).memory, 20 * 48 * 238 / PEAK_WARPS);
}

/* (4) and (20): six warps of two instructions at once leave 12 of 18. */
static void too_few_instructions_at_once(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.resident_warps = 6;
    l.ilp = 2;
    paper_costs c = costs_of(&l);
    assert_near(c.itilp, 12);
    assert_near(c.parallel, 72000);            /* 1000 * 48 * 18 / 12 */
    assert_near(c.benefit_parallelism, 24000); /* 72000 - 48000 */
    assert_near(c.least_computation, 43200);   /* 600 * 48 * 18 / 12 */
    assert_near(c.benefit_float, 4800);        /* 72000 - 43200 - 24000 */
    l.float_instructions = 1000;               /* (22) is not clamped */
    assert_near(costs_of(&l).benefit_float, -24000);
}

/* Multiprocessors of today start several warps in a cycle. */
static void several_warps_a_cycle(void **state)
{
    (void)state;
    paper_device wide = c2050;
    wide.simd_lanes = 128;
    paper_costs c = paper_costs_of(&wide, &computing);
    assert_near(c.itilp_most, 72); /* 18 / (32 / 128) */
    assert_near(c.itilp, 24);
    assert_near(c.parallel, 36000);
    assert_near(c.benefit_parallelism, 24000); /* 36000 - 12000 */
}

/* (10): one in eight is hidden, as there are 4 lanes beside 32. */
static void special_functions(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.special_instructions = 100;
    assert_near(costs_of(&l).special_visible, 0);
    l.special_instructions = 125;
    assert_near(costs_of(&l).special, 0);
    l.special_instructions = 200;
    paper_costs c = costs_of(&l);
    assert_near(c.special_visible, 0.075); /* 0.2 - 0.125 */
    assert_near(c.special, 5760);          /* (9): 200 * 48 * 32 / 4 * 0.075 */
    assert_near(c.serial, 5760);
    assert_near(c.benefit_serial, 5760);
    assert_near(c.computation, 53760);
    assert_near(c.benefit_float, 19200); /* what is serial is no part of it */
    l.special_instructions = 1200;
    assert_near(costs_of(&l).special_visible, 1);
    assert_near(costs_of(&l).special, 460800); /* 1200 * 48 * 8 */
}

static void barriers(void **state)
{
    (void)state;
    paper_launch l = computing;
    paper_device measured = c2050;
    l.barriers = 10;
    assert_near(costs_of(&l).barrier_cycles, 563.2); /* (8): 64 * 440 * 20 / 1000 */
    assert_near(costs_of(&l).barriers, 270336);      /* (7): 10 * 48 * 563.2 */
    assert_near(costs_of(&l).serial, 270336);
    l.transactions = 3;
    assert_near(costs_of(&l).barrier_cycles, 614.4); /* 64 * 480 * 20 / 1000 */
    measured.barrier_cycles = 0.5;
    assert_near(paper_costs_of(&measured, &l).barriers, 240); /* 10 * 48 * 0.5 */
}

static void bank_conflicts(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.extra_wavefronts = 14000;
    assert_near(costs_of(&l).bank_conflicts, 2000); /* 14000 / 14 * 2 */
    assert_near(costs_of(&l).serial, 2000);
    l.barriers = 10;
    l.special_instructions = 200;
    l.contention = 300;
    assert_near(costs_of(&l).serial, 270336 + 5760 + 2000 + 300); /* (6) */
}

/* (19): of all that a launch moves at the bandwidth; 40320 bytes at 144 GB/s take 322 cycles. */
static void least_time_of_memory(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.data_bytes = 40320;
    assert_near(costs_of(&l).least_memory, 40320 / 144e9 * 1.15e9);
    l.data_bytes = 1612800; /* 12880 cycles, of which 2000 are not hidden */
    assert_near(costs_of(&l).least_memory, 12880);
    assert_true(costs_of(&l).benefit_memory == 0); /* (23) */
}

static void nothing_of_memory(void **state)
{
    (void)state;
    paper_launch l = computing;
    l.memory_instructions = l.data_bytes = 0;
    paper_costs c = costs_of(&l);
    assert_near(c.cwp, 1);
    assert_near(c.mwp_cp, 1);
    assert_true(c.memory == 0 && c.overlap == 0 && c.least_memory == 0 && c.benefit_memory == 0);
    assert_near(c.total, 48000);
}

/* ---- the paper's micro-benchmarks ---- */

/* Of N warps on each multiprocessor, which do nothing but 1000 FMA each. */
static paper_costs costs_of_chains(double ilp, double resident)
{
    paper_launch l = {.instructions = 1000,
                      .float_instructions = 1000,
                      .warps = 14 * resident,
                      .multiprocessors = 14,
                      .resident_warps = resident,
                      .instruction_latency = 18,
                      .transactions = 1,
                      .ilp = ilp,
                      .mlp = 1};
    return costs_of(&l);
}

/* Figures 6 and 7: warps take no more time together than one alone until 18 instructions are under
 * way: of 18 warps, or 9 with two each, or 6 with three. The benefit is what is missing of them. */
static void figures_of_parallelism(void **state)
{
    (void)state;
    for (int ilp = 1; ilp <= 3; ilp++)
        for (int warps = 1; warps <= 48; warps++) {
            paper_costs c = costs_of_chains(ilp, warps);
            int at_once = ilp * warps < 18 ? ilp * warps : 18;
            assert_near(c.total, 18000.0 * warps / at_once);
            assert_near(c.benefit_parallelism / c.total + 1, 2 - at_once / 18.0);
        }
}

/* Figure 8: with eight FMA, one special function is hidden; of more, a growing part is not. (9),
 * (10): s of them at (s / 8 - 1 / 8) * 8 cycles each. */
static void figure_of_special_functions(void **state)
{
    (void)state;
    for (int s = 0; s <= 8; s++) {
        paper_launch l = computing;
        l.instructions = l.float_instructions = 800;
        l.memory_instructions = 0;
        l.special_instructions = 100.0 * s;
        paper_costs c = costs_of(&l);
        double serial = s > 1 ? 100.0 * s * 48 * (s - 1) : 0;
        assert_near(c.benefit_serial, serial);
        assert_near(c.total, 800 * 48 + serial);
    }
}

/* ---- all inputs ---- */

enum { DRAWS = 20000 };

static double draw_between(uint64_t *seed, double low, double high)
{
    return low * pow(high / low, (double)random_below(seed, 1 << 20) / (1 << 20));
}

static double draw_or_none(uint64_t *seed, double low, double high)
{
    return random_below(seed, 3) ? draw_between(seed, low, high) : 0;
}

static paper_device draw_device(uint64_t *seed)
{
    return (paper_device){.clock = draw_between(seed, 1e9, 2e9),
                          .bandwidth = draw_between(seed, 1e10, 5e12),
                          .transaction_bytes = draw_between(seed, 32, 512),
                          .dram_latency = draw_between(seed, 100, 1000),
                          .departure_delay = draw_between(seed, 1, 50),
                          .hit_latency = draw_between(seed, 10, 100),
                          .float_latency = draw_between(seed, 4, 20),
                          .warp_lanes = 32,
                          .simd_lanes = draw_between(seed, 16, 128),
                          .special_lanes = draw_between(seed, 2, 16),
                          .wavefront_cycles = draw_between(seed, 1, 2),
                          .barrier_factor = draw_between(seed, 1, 64),
                          .barrier_cycles = draw_or_none(seed, 1, 10)};
}

static paper_launch draw_launch(uint64_t *seed)
{
    paper_launch l = {.instructions = draw_between(seed, 10, 1e5),
                      .warps = draw_between(seed, 1, 1e6),
                      .multiprocessors = draw_between(seed, 1, 150),
                      .resident_warps = 1 + (double)random_below(seed, 64),
                      .instruction_latency = draw_between(seed, 4, 30),
                      .transactions = draw_between(seed, 1, 32),
                      .miss_ratio = (double)random_below(seed, 101) / 100,
                      .data_bytes = draw_or_none(seed, 1e3, 1e9),
                      .ilp = draw_between(seed, 1, 4),
                      .mlp = draw_between(seed, 1, 8)};
    l.memory_instructions = draw_or_none(seed, 1, l.instructions);
    l.barriers = draw_or_none(seed, 1, 100);
    l.special_instructions = draw_or_none(seed, 1, 3 * l.instructions);
    l.float_instructions = draw_or_none(seed, 1, l.instructions);
    l.extra_wavefronts = draw_or_none(seed, 1, 1e6);
    l.contention = draw_or_none(seed, 1, 1e6);
    return l;
}

/* Not less than, but for rounding. */
static bool reaches(double value, double least)
{
    return value >= least - 1e-9 * fabs(least);
}

static void assert_parts_add_up(const paper_launch *l, const paper_costs *c)
{
    assert_near(c->total, c->computation + c->memory - c->overlap);
    assert_near(c->computation, c->parallel + c->serial);
    assert_near(c->serial, c->barriers + c->special + c->bank_conflicts + l->contention);
    assert_true(reaches(c->total, fmax(c->computation, c->memory)));
    assert_true(reaches(c->computation + c->memory, c->total));
    double computing_better = c->benefit_parallelism + c->benefit_serial + c->benefit_float;
    double size = c->computation + c->least_computation + fabs(c->benefit_float);
    assert_true(fabs(c->computation - c->least_computation - computing_better) <= 1e-9 * size);
}

static void assert_benefits_in_bounds(const paper_costs *c)
{
    assert_true(c->benefit_memory >= 0 && c->benefit_serial >= 0);
    assert_true(c->benefit_parallelism >= -1e-9 * c->parallel);
    assert_true(reaches(c->memory - c->overlap, c->benefit_memory) || c->benefit_memory == 0);
    assert_true(reaches(c->computation, c->benefit_parallelism + c->benefit_serial));
}

static void costs_and_benefits_of_any_launch(void **state)
{
    (void)state;
    uint64_t seed = 1;
    uint32_t hidden = 0, capped = 0, bandwidth = 0, nothing = 0, special = 0, all_special = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        paper_device d = draw_device(&seed);
        paper_launch l = draw_launch(&seed);
        paper_costs c = paper_costs_of(&d, &l);
        assert_parts_add_up(&l, &c);
        assert_benefits_in_bounds(&c);
        hidden += c.cwp > c.mwp;
        capped += c.itilp == c.itilp_most;
        bandwidth += c.itmlp == c.mwp_bandwidth;
        nothing += c.benefit_memory == 0;
        special += c.special_visible > 0 && c.special_visible < 1;
        all_special += c.special_visible == 1;
    }
    const uint32_t sides[] = {hidden, capped, bandwidth, nothing, special, all_special};
    for (size_t i = 0; i < sizeof sides / sizeof *sides; i++) /* the draws reach both */
        assert_true(sides[i] > DRAWS / 50 && sides[i] < DRAWS - DRAWS / 50);
}

typedef struct input {
    const char *name;
    bool of_device;
    size_t offset;
    bool raise; /* what makes it better: raising it, in place of lowering it */
    bool jumps; /* (17) may take up to T_comp / N more where CWP comes down to MWP */
} input;

#define OF_LAUNCH(field, ...) {#field, false, offsetof(paper_launch, field), __VA_ARGS__}
#define OF_DEVICE(field, ...) {#field, true, offsetof(paper_device, field), __VA_ARGS__}

/* All but those that the equations let cost or save, as it comes: more instructions make a smaller
 * part of them special or of memory, and a longer DRAM latency asks for less bandwidth (A.7). */
static const input inputs[] = {
    OF_LAUNCH(memory_instructions, .jumps = true),
    OF_LAUNCH(barriers, .raise = false),
    OF_LAUNCH(special_instructions, .raise = false),
    OF_LAUNCH(float_instructions, .raise = false),
    OF_LAUNCH(warps, .raise = false),
    OF_LAUNCH(instruction_latency, .raise = false),
    OF_LAUNCH(miss_ratio, .jumps = true),
    OF_LAUNCH(data_bytes, .raise = false),
    OF_LAUNCH(extra_wavefronts, .raise = false),
    OF_LAUNCH(contention, .raise = false),
    OF_LAUNCH(ilp, .raise = true),
    OF_LAUNCH(mlp, .raise = true, .jumps = true),
    OF_DEVICE(hit_latency, .jumps = true),
    OF_DEVICE(wavefront_cycles, .raise = false),
    OF_DEVICE(barrier_factor, .raise = false),
};

static void better_inputs_cost_no_more(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (uint32_t i = 0; i < DRAWS; i++) {
        const input *in = &inputs[i % (sizeof inputs / sizeof *inputs)];
        paper_device d = draw_device(&seed);
        paper_launch l = draw_launch(&seed);
        paper_costs before = paper_costs_of(&d, &l);
        char *field = (in->of_device ? (char *)&d : (char *)&l) + in->offset;
        *(double *)(void *)field *= in->raise ? draw_between(&seed, 1, 4)
                                              : draw_between(&seed, 0.1, 1);
        double after = paper_costs_of(&d, &l).total;
        double jump = in->jumps ? before.computation / l.resident_warps : 0;
        if (!reaches(before.total + jump, after))
            fail_msg("%s: %.12g after %.12g", in->name, after, before.total);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(latencies_and_warps),
        cmocka_unit_test(bound_by_computation),
        cmocka_unit_test(bound_by_memory),
        cmocka_unit_test(as_many_warps_compute_as_wait),
        cmocka_unit_test(what_limits_the_warps_that_wait),
        cmocka_unit_test(memory_parallelism),
        cmocka_unit_test(too_few_instructions_at_once),
        cmocka_unit_test(several_warps_a_cycle),
        cmocka_unit_test(special_functions),
        cmocka_unit_test(barriers),
        cmocka_unit_test(bank_conflicts),
        cmocka_unit_test(least_time_of_memory),
        cmocka_unit_test(nothing_of_memory),
        cmocka_unit_test(figures_of_parallelism),
        cmocka_unit_test(figure_of_special_functions),
        cmocka_unit_test(costs_and_benefits_of_any_launch),
        cmocka_unit_test(better_inputs_cost_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
