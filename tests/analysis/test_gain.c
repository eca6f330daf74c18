/* What mending is worth: hand-worked launches and findings, each side of every threshold. */
#include "analysis/gain.h"
#include "analysis/times.h"
#include "support/test.h"

#include <string.h>

static prof_device devices[] = {{.id = 1, .process = 1, .num_sms = 100}};
static const prof_device_rows device_rows = {1, devices};

/* 1,000 warps of 8 a block: ten on each multiprocessor. */
static prof_launch launch(uint32_t kernel, uint64_t instructions, double seconds)
{
    return (prof_launch){.count = 1,
                         .process = 1,
                         .kernel = kernel,
                         .grid = {125, 1, 1},
                         .block = {256, 1, 1},
                         .warp_instructions = instructions,
                         .device_seconds = seconds,
                         .blocks_observed = 125};
}

static void set_time(prof_launch *l, double seconds)
{
    l->device_seconds = l->device_least = l->device_most = seconds;
    l->timed = seconds >= 0;
}

typedef struct fixture {
    wl_arena *arena;
    ana_thresholds thresholds;
    gain_input in;
    prof_launch launches[2];
    prof_launch_rows rows;
    prof_object object;
    ana_line line;
    ana_evidence evidence;
    ana_access access;
    ana_finding finding;
} fixture;

static int set_up(void **state)
{
    static fixture f;
    f = (fixture){.arena = wl_arena_new(), .thresholds = ana_thresholds_default()};
    f.launches[0] = launch(1, 1000, -1);
    f.launches[1] = launch(2, 1000, -1);
    f.rows = (prof_launch_rows){2, f.launches};
    static const ana_models none = {0};
    f.in = (gain_input){.thresholds = &f.thresholds,
                        .launches = &f.rows,
                        .devices = &device_rows,
                        .models = &none,
                        .arena = f.arena};
    f.object = (prof_object){.id = 1, .bytes = 1 << 20, .variable = "d_A", .name = "d_A (a.cu:1)"};
    f.line = (ana_line){.requests = 100, .sectors = 400, .sectors_min = 400};
    f.access = (ana_access){.space = ACC_GLOBAL};
    f.finding = (ana_finding){
        .pattern = ANA_HOT, .kernel = 1, .access = &f.access, .nlines = 1, .lines = &f.line};
    *state = &f;
    return 0;
}

static int tear_down(void **state)
{
    wl_arena_free(((fixture *)*state)->arena);
    return 0;
}

static ana_gain judge(fixture *f, double traffic)
{
    f->in.seconds = ana_launch_seconds(&f->rows, f->arena);
    assert_non_null(f->in.seconds);
    gain_kernel k = gain_of_kernel(&f->in, 1, traffic);
    assert_true(gain_set(&f->in, &k, &f->object, &(gain_changes){0}, &f->finding));
    assert_int_equal(f->finding.gain == ANA_GAIN_FULL, f->finding.gain_note[0] == '\0');
    return f->finding.gain;
}

static void full(void **state)
{
    assert_int_equal(judge(*state, 0.5), ANA_GAIN_FULL);
    assert_true(((fixture *)*state)->finding.kernel_share_of_time < 0);
}

static void tiny(void **state)
{
    fixture *f = *state;
    f->launches[1].warp_instructions =
        1000000; /* kernel 1 makes a thousandth of the instructions */
    assert_int_equal(judge(f, 0.02), ANA_GAIN_FULL); /* but not of the traffic */
    assert_int_equal(judge(f, 0.01), ANA_GAIN_FULL);
    assert_int_equal(judge(f, 0.0099), ANA_GAIN_TINY);
    set_time(&f->launches[0], 0.5); /* one time alone says nothing */
    assert_int_equal(judge(f, 0.02), ANA_GAIN_FULL);
    set_time(&f->launches[1], 1.5); /* both: the time counts */
    assert_int_equal(judge(f, 0.001), ANA_GAIN_FULL);
    assert_true(f->finding.kernel_share_of_time == 0.25);
    set_time(&f->launches[0], 0.01);
    assert_int_equal(judge(f, 0.5), ANA_GAIN_TINY);
    assert_non_null(strstr(f->finding.gain_note, "time"));
}

static void unobserved_launches_do_not_count(void **state)
{
    fixture *f = *state;
    f->launches[1].warp_instructions = 1000000;
    f->launches[1].blocks_observed = 0;
    assert_int_equal(judge(f, 0.001), ANA_GAIN_FULL);
}

static void latency(void **state)
{
    fixture *f = *state;
    f->launches[0].grid[0] = 50; /* 400 warps on 100 multiprocessors */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->launches[0].grid[0] = 49;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_LATENCY);
    f->finding.pattern = ANA_TOO_FEW_BLOCKS; /* that is what it is about */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->finding.pattern = ANA_HOT;
    f->launches[1].kernel = 1; /* its largest launch decides */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->launches[1].kernel = 2;
    f->launches[0].process = 2; /* on an unknown device */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
}

/* What requests are worth that move many sectors, or take many wavefronts, is known only of
 * warps that are all alone. */
static void latency_of_heavy_requests(void **state)
{
    fixture *f = *state;
    f->launches[0].grid[0] = 7; /* 56 warps on 100 multiprocessors */
    f->line.sectors = f->line.sectors_min + 399;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_LATENCY);
    f->line.sectors++;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->line.sectors = f->line.sectors_min;
    f->line.wavefronts = 399;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_LATENCY);
    f->line.wavefronts = 400;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->launches[0].block[0] = 32;
    f->launches[0].grid[0] = 50; /* half a warp each */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->launches[0].grid[0] = 49;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_LATENCY);
}

static void cached(void **state)
{
    fixture *f = *state;
    f->object.bytes = 16384;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_CACHED);
    f->access.updates = true; /* of atomics: they never stay in L1 */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->access.updates = false;
    f->line.sectors = 799; /* not quite one more pass a request */
    assert_int_equal(judge(f, 0.5), ANA_GAIN_CACHED);
    f->line.sectors = 800;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->line.sectors = 400;
    f->object.bytes = 16385;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
    f->object.bytes = 1024;
    f->finding.pattern = ANA_BANK_CONFLICT; /* no matter of the L1 cache */
    f->access.space = ACC_SHARED;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
}

/* A tile of 32 x 32 whose rows each warp reads 32 times; and a single broadcast. */
static void shuffles(void **state)
{
    fixture *f = *state;
    f->evidence = (ana_evidence){"passes_spared", "of its wavefronts", 100.0 / 33, "%"};
    f->finding.evidence = &f->evidence;
    f->finding.nevidence = 1;
    f->finding.pattern = ANA_SHARED_WARP_LOCAL;
    f->access.space = ACC_SHARED;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_SHUFFLES);
    f->evidence.value = 9.9;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_SHUFFLES);
    f->evidence.value = 10;
    assert_int_equal(judge(f, 0.5), ANA_GAIN_FULL);
}

static void when_it_is_judged(void **state)
{
    (void)state;
    assert_string_equal(gain_when_judged(&(ana_worth){.small = true}),
                        " with a grid that fills the device");
    assert_string_equal(gain_when_judged(&(ana_worth){.of_full = 0.018, .of_kernel = -0.01}),
                        " once the other changes are made");
    assert_string_equal(gain_when_judged(&(ana_worth){.of_full = 0.018, .of_kernel = 0.018}), "");
    assert_string_equal(gain_when_judged(&(ana_worth){.of_full = 0.0005, .of_kernel = -1}), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(full, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tiny, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unobserved_launches_do_not_count, set_up, tear_down),
        cmocka_unit_test_setup_teardown(latency, set_up, tear_down),
        cmocka_unit_test_setup_teardown(latency_of_heavy_requests, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(shuffles, set_up, tear_down),
        cmocka_unit_test(when_it_is_judged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
