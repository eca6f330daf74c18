/* The instruction mix of a launch of mixed precision, counted by hand: an instruction counts by its
 * own types, not by its opcode (add is integer, fp32, fp64 or half). */
#include "../emu/fixture.h"

#include "replay/watch.h"

/* Two warps; the second runs the body of the loop with 8 of its lanes. */
enum { THREADS = 40, TRIPS = 3 };

static const char *const text = HEADER
    ".visible .entry k(.param .u64 out)\n{\n"
    ".reg .b64 %rd<4>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .f64 %d<4>; .reg .b16 %h<4>;\n"
    ".reg .b32 %q<4>; .reg .pred %p;\n"
    "ld.param.u64 %rd1, [out];\n"        /* memory  1 */
    "mov.u32 %r1, 0;\n"                  /* move    1 */
    "mov.f32 %f1, 0f3F800000;\n"         /* move    2 */
    "mov.f64 %d1, 0d3FF0000000000000;\n" /* move    3 */
    "mov.b16 %h1, 0x3C00;\n"             /* move    4 */
    "mov.b32 %q1, 0x3C003C00;\n"         /* move    5 */
    "loop:\n"                            /* each trip: */
    "add.f32 %f1, %f1, %f1;\n"           /* fp32    1 */
    "fma.rn.f32 %f2, %f1, %f1, %f1;\n"   /* fp32    2 */
    "mul.f64 %d1, %d1, %d1;\n"           /* fp64    1 */
    "add.f64 %d1, %d1, %d1;\n"           /* fp64    2 */
    "min.f64 %d2, %d1, %d1;\n"           /* fp64    3 */
    "add.f16 %h1, %h1, %h1;\n"           /* half    1 */
    "fma.rn.f16x2 %q1, %q1, %q1, %q1;\n" /* half    2 */
    "neg.f32 %f3, %f1;\n"                /* fp32    3 */
    "sqrt.approx.f32 %f2, %f1;\n"        /* sfu     1 */
    "sqrt.rn.f64 %d3, %d1;\n"            /* fp64    4 */
    "cvt.f64.f32 %d3, %f1;\n"            /* convert 1 */
    "mul.lo.s32 %r2, %r1, 4;\n"          /* int     1 */
    "add.s32 %r1, %r1, 1;\n"             /* int     2 */
    "setp.lt.s32 %p, %r1, 3;\n"          /* compare 1 */
    "@%p bra loop;\n"                    /* control 1 */
    "st.global.f64 [%rd1], %d1;\n"       /* memory  2 */
    "ret;\n}\n";                         /* control 2, once */

typedef struct expected {
    ir_cost cost;
    uint64_t once, each_trip;
} expected;

static const expected rows[] = {
    {IR_COST_INT, 0, 2},     {IR_COST_FP32, 0, 3},    {IR_COST_FP64, 0, 4}, {IR_COST_HALF, 0, 2},
    {IR_COST_SFU, 0, 1},     {IR_COST_CONVERT, 0, 1}, {IR_COST_MOVE, 5, 0}, {IR_COST_COMPARE, 0, 1},
    {IR_COST_CONTROL, 1, 1}, {IR_COST_MEMORY, 2, 0},
};

static void run_watched(fixture *f, obs_summary *out, replay_watch *watch)
{
    uint64_t address = P(fixture_alloc(f, 8));
    replay_settings settings = {.threads = 1, .blocks = {.automatic = true}};
    replay_watched what = {.settings = &settings,
                           .machine = f->machine,
                           .kernel = fixture_kernel(f, "k"),
                           .grid = {1, 1, 1},
                           .block = {THREADS, 1, 1}};
    assert_int_equal(replay_watch_begin(&what, NULL, watch), WL_OK);
    f->observer = &watch->observer;
    RUN(f, "k", 1, THREADS, address);
    assert_int_equal(replay_watch_finish(watch, &f->result, out), WL_OK);
}

static void test_mix_counts_types(void **state)
{
    (void)state;
    fixture f;
    replay_watch watch;
    obs_summary summary;
    uint64_t warps = 0, threads = 0;
    fixture_begin(&f, text);
    run_watched(&f, &summary, &watch);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint64_t each = rows[i].once + TRIPS * rows[i].each_trip;
        assert_int_equal(summary.mix.warp_instructions[rows[i].cost], 2 * each);
        assert_int_equal(summary.mix.thread_instructions[rows[i].cost], THREADS * each);
        warps += 2 * each;
        threads += THREADS * each;
    }
    assert_int_equal(summary.warp_instructions, warps);
    assert_int_equal(summary.thread_instructions, threads);
    replay_watch_end(&watch);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_mix_counts_types)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
