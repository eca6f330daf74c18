/* Barriers of warps, blocks, clusters and grids; instructions that need other lanes. */
#include "fixture.h"

#include <stdio.h>

#define BEGIN(name)                                                                           \
    HEADER ".visible .entry " name                                                            \
           "(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<12>;\n"      \
           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 " \
           "%rd3, %rd1, %rd2;\n"
#define END "}\n"

/* The last thread's value reaches all through shared memory. */
static void barriers_order_shared_memory(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") ".shared .align 4 .b8 box[4096];\n"
                                 "mov.u32 %r2, box; shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; "
                                 "mul.lo.u32 %r5, %r1, 3;\n"
                                 "st.shared.u32 [%r4], %r5; bar.sync 0; mov.u32 %r6, %ntid.x; "
                                 "sub.u32 %r6, %r6, %r1;\n"
                                 "shl.b32 %r6, %r6, 2; add.u32 %r6, %r6, %r2; ld.shared.u32 %r7, "
                                 "[%r6+-4]; barrier.sync 0;\n"
                                 "st.global.u32 [%rd3], %r7; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 1000);
    RUN(&f, "k", 1, 1000, P(out));
    for (uint32_t i = 0; i < 1000; i++)
        assert_int_equal(out[i], 3 * (999 - i));
    fixture_end(&f);
}

/* Half of a warp waits at one barrier instruction, half at another one; some threads have left
 * before. */
static void barriers_count_living_lanes_wherever_they_wait(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f,
                  BEGIN("k") ".shared .align 4 .u32 box;\n"
                             "setp.ge.u32 %p2, %r1, 90; @%p2 exit;\n"
                             "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; @%p1 bra A;\n"
                             "atom.shared.add.u32 %r4, [box], 1; barrier.sync 0; bra B;\n"
                             "A: atom.shared.add.u32 %r4, [box], 100; barrier.sync 0;\n"
                             "B: ld.shared.u32 %r3, [box]; st.global.u32 [%rd3], %r3; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 96);
    RUN(&f, "k", 1, 96, P(out));
    for (uint32_t i = 0; i < 90; i++)
        assert_int_equal(out[i], 45 * 100 + 45);
    fixture_end(&f);
}

static void barriers_reduce(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") "and.b32 %r2, %r1, 3; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r1, 64;\n"
                       "barrier.red.popc.u32 %r3, 1, %p1; bar.red.and.pred %p3, 2, %p2; "
                       "bar.red.or.pred %p4, 0, !%p2;\n"
                       "selp.u32 %r4, 1000, 0, %p3; selp.u32 %r5, 10000, 0, %p4; add.u32 %r3, %r3, "
                       "%r4; add.u32 %r3, %r3, %r5;\n"
                       "st.global.u32 [%rd3], %r3; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 128);
    RUN(&f, "k", 1, 128, P(out));
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(out[i], 32 + 10000);
    RUN(&f, "k", 1, 64, P(out));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], 16 + 1000);
    fixture_end(&f);
}

/* Producers arrive and end; consumers wait for them by count. */
static void producers_arrive_consumers_wait(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") ".shared .align 4 .u32 box[64];\n"
                                 "setp.lt.u32 %p1, %r1, 32; @%p1 bra C;\n"
                                 "sub.u32 %r2, %r1, 32; shl.b32 %r3, %r2, 2; mov.u32 %r4, box; "
                                 "add.u32 %r4, %r4, %r3;\n"
                                 "st.shared.u32 [%r4], %r1; barrier.arrive 3, 64; ret;\n"
                                 "C: barrier.sync 3, 64; shl.b32 %r3, %r1, 2; mov.u32 %r4, box; "
                                 "add.u32 %r4, %r4, %r3;\n"
                                 "ld.shared.u32 %r5, [%r4]; st.global.u32 [%rd3], %r5; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 64, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 32 + i);
    fixture_end(&f);
}

/* The two sides of a branch shuffle with one another. */
static void lanes_meet_at_different_shuffles(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mul.lo.u32 %r2, %r1, 5; setp.lt.u32 %p1, %r1, 16; @%p1 bra A;\n"
                                 "add.u32 %r3, %r2, 1; shfl.sync.bfly.b32 %r4|%p2, %r3, 16, 31, "
                                 "-1; vote.sync.ballot.b32 %r6, %p1, -1; bra B;\n"
                                 "A: add.u32 %r5, %r2, 2; shfl.sync.bfly.b32 %r4, %r5, 16, 31, "
                                 "0xffffffff; bar.warp.sync 0xffff;\n"
                                 "vote.sync.ballot.b32 %r6, %p1, 0xffffffff;\n"
                                 "B: add.u32 %r4, %r4, %r6; st.global.u32 [%rd3], %r4; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 5 * (i ^ 16) + (i < 16 ? 1 : 2) + 0xffff);
    fixture_end(&f);
}

/* Each lane names its own group, as tiles of cooperative groups do. */
static void groups_of_lanes_are_apart(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "rem.u32 %r2, %r1, 3; match.any.sync.b32 %r3, %r2, -1; "
                                 "redux.sync.add.u32 %r4, %r1, %r3;\n"
                                 "setp.lt.u32 %p1, %r1, 6; vote.sync.ballot.b32 %r5, %p1, %r3; "
                                 "popc.b32 %r5, %r5; mul.lo.u32 %r5, %r5, 1000;\n"
                                 "add.u32 %r4, %r4, %r5; st.global.u32 [%rd3], %r4; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t sum = 0;
        for (uint32_t k = i % 3; k < 32; k += 3)
            sum += k;
        assert_int_equal(out[i], sum + 2000);
    }
    fixture_end(&f);
}

static void deadlocks_are_reported(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "setp.lt.u32 %p1, %r1, 40; @%p1 bra A; bra B;\n"
                                 "A: bar.sync 1; ret;\nB: bar.sync 2; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    assert_int_equal(TRY(&f, "k", 2, 64, P(out)), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_DEADLOCK);
    assert_non_null(strstr(f.result.fault.text, "barrier 1"));
    assert_non_null(strstr(f.result.fault.text, "barrier 2"));
    fixture_end(&f);
}

/* Lanes 0 to 3 wait with lanes 4 to 7, which come to their instruction elsewhere; the others wait for
 * nobody. */
static void groups_of_lanes_wait_for_lanes_elsewhere(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, -256; setp.lt.u32 %p1, %r1, 8; @%p1 mov.u32 %r2, "
                                 "255;\n"
                                 "shr.u32 %r3, %r1, 2; setp.eq.u32 %p2, %r3, 1; @%p2 bra A;\n"
                                 "redux.sync.add.u32 %r4, %r1, %r2; bra B;\n"
                                 "A: add.u32 %r5, %r1, 100; redux.sync.add.u32 %r4, %r5, %r2;\n"
                                 "B: st.global.u32 [%rd3], %r4; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 8 ? 28 + 400 : 496 - 28);
    fixture_end(&f);
}

/* Each lane of the second warp names those before it, but not itself: lane 0 names none. */
static void lanes_have_to_name_themselves(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, -1; setp.ge.u32 %p1, %r1, 32; @%p1 mov.u32 %r2, "
                                 "%lanemask_lt;\n"
                                 "vote.sync.ballot.b32 %r3, %p1, %r2; st.global.u32 [%rd3], %r3; "
                                 "ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 64);
    assert_int_equal(TRY(&f, "k", 1, 64, P(out)), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_ILLEGAL_INSTRUCTION);
    assert_int_equal(f.result.fault.thread.x, 32);
    assert_non_null(strstr(f.result.fault.text, "lane 0 of warp 1 names the lanes 0x00000000"));
    fixture_end(&f);
}

/* Lane 0 waits for lane 1 to name the two of them; it names a third. */
static void masks_that_differ_are_a_deadlock(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, -1; setp.eq.u32 %p1, %r1, 0; @%p1 mov.u32 %r2, 3;\n"
                                 "bar.warp.sync %r2; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    assert_int_equal(TRY(&f, "k", 1, 32, P(out)), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_DEADLOCK);
    assert_non_null(strstr(f.result.fault.text, "lanes 0x00000001: other lanes of its warp"));
    fixture_end(&f);
}

static void endless_loops_reach_the_time_limit(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "L: add.u32 %r2, %r2, 1; bra L; ret;\n" END);
    f.time_limit = 0.2;
    for (f.threads = 1; f.threads <= 2; f.threads++) {
        assert_int_equal(TRY(&f, "k", 4, 64, 0), WL_FAULT);
        assert_int_equal(f.result.fault.kind, EMU_FAULT_TIMEOUT);
        assert_true(f.result.seconds < 2);
    }
    fixture_end(&f);
}

static void count_texts(void *count, const char *text, size_t length)
{
    (void)text, (void)length;
    ++*(uint64_t *)count;
}

/* One of the blocks sees that the time is over while the other is printing. */
static void endless_printing_reaches_the_time_limit(void **state)
{
    (void)state;
    fixture f;
    uint64_t printed = 0;
    fixture_begin(&f, HEADER
                  ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
                  ".global .align 1 .b8 fmt[2] = {46, 0};\n"
                  ".visible .entry k(.param .u64 p) {\n.reg .b32 %r<3>; .reg .b64 %rd<3>;\n"
                  "mov.u64 %rd1, fmt; mov.u64 %rd2, 0;\n"
                  "L: { .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd1;\n"
                  "st.param.b64 [b], %rd2; call.uni (c), vprintf, (a, b);\n"
                  "ld.param.b32 %r2, [c]; } bra L; ret;\n" END);
    f.time_limit = 0.2;
    f.threads = 2;
    f.print = count_texts;
    f.print_ctx = &printed;
    assert_int_equal(TRY(&f, "k", 4, 32, 0), WL_FAULT);
    assert_int_equal(f.result.fault.kind, EMU_FAULT_TIMEOUT);
    assert_int_equal(f.result.fault.cuda_error, 702);
    fixture_end(&f);
}

/* As cooperative groups do it: all blocks of the grid count themselves in and wait for the rest. */
static void grids_synchronise(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f,
        BEGIN(
            "k") "mov.u32 %r10, %envreg2; cvt.u64.u32 %rd4, %r10; mov.u32 %r11, %envreg1; "
                 "cvt.u64.u32 %rd5, %r11;\n"
                 "shl.b64 %rd5, %rd5, 32; or.b64 %rd4, %rd4, %rd5; mov.u32 %r2, %nctaid.x;\n"
                 "red.global.add.u32 [%rd1], 1; bar.sync 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra D;\n"
                 "membar.gl; atom.global.add.u32 %r3, [%rd4+4], 1;\n"
                 "W: ld.volatile.global.u32 %r4, [%rd4+4]; setp.lt.u32 %p2, %r4, %r2; @%p2 bra W; "
                 "membar.gl;\n"
                 "D: bar.sync 0; ld.volatile.global.u32 %r5, [%rd1]; mul.lo.u32 %r6, %r2, 64; "
                 "setp.eq.u32 %p3, %r5, %r6;\n"
                 "@%p3 red.global.add.u32 [%rd1+4], 1; ret;\n" END);
    f.cooperative = true;
    for (f.threads = 1; f.threads <= 2; f.threads++) {
        uint32_t *sum = fixture_alloc(&f, 8);
        RUN(&f, "k", 100, 64, P(sum));
        assert_int_equal(sum[0], 6400);
        assert_int_equal(sum[1], 6400);
    }
    fixture_end(&f);
}

/* Each block of a cluster writes into its neighbour's shared memory. */
static void clusters_share_memory(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") ".shared .align 4 .u32 box[32];\n"
                       "mov.u32 %r2, %cluster_ctarank; mov.u32 %r3, %cluster_nctarank; add.u32 "
                       "%r4, %r2, 1; rem.u32 %r4, %r4, %r3;\n"
                       "mov.u32 %r5, box; shl.b32 %r6, %r1, 2; add.u32 %r5, %r5, %r6; "
                       "mapa.shared::cluster.u32 %r7, %r5, %r4;\n"
                       "mov.u32 %r8, %ctaid.x; mul.lo.u32 %r9, %r8, 100; add.u32 %r9, %r9, %r1; "
                       "st.shared::cluster.u32 [%r7], %r9;\n"
                       "barrier.cluster.arrive; barrier.cluster.wait; ld.shared.u32 %r10, [%r5];\n"
                       "mad.lo.u32 %r11, %r8, 32, %r1; mul.wide.u32 %rd4, %r11, 4; add.u64 %rd4, "
                       "%rd4, %rd1;\n"
                       "st.global.u32 [%rd4], %r10; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 8 * 32);
    f.cluster = (emu_dim){4, 1, 1};
    for (f.threads = 1; f.threads <= 2; f.threads++) {
        memset(out, 0, 4 * 8 * 32);
        RUN(&f, "k", 8, 32, P(out));
        for (uint32_t b = 0; b < 8; b++)
            for (uint32_t i = 0; i < 32; i++)
                assert_int_equal(out[32 * b + i], 100 * (b / 4 * 4 + (b + 3) % 4) + i);
    }
    fixture_end(&f);
}

/* A register that gets a constant, then on one lane an atomic's result, is no name for the
 * constant. */
static void atomics_leave_constants_alone(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, 0; setp.ne.u32 %p1, %r1, 0; @%p1 bra A; "
                                 "atom.global.add.u32 %r2, [%rd1+128], 7;\n"
                                 "A: mov.u32 %r4, 0; mul.lo.u32 %r5, %r2, 10; add.u32 %r5, %r5, "
                                 "%r4; st.global.u32 [%rd3], %r5; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 33);
    out[32] = 5;
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i == 0 ? 50 : 0);
    assert_int_equal(out[32], 12);
    fixture_end(&f);
}

/* Eight lanes add up with the steps of a whole warp, as reductions of a block's warps do. */
static void absent_lanes_shuffle_zero(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f,
                  BEGIN("k") "add.u32 %r2, %r1, 1; setp.ge.u32 %p1, %r1, 8; @%p1 bra A;\n"
                             "shfl.sync.down.b32 %r3, %r2, 16, 31, 0xff; add.u32 %r2, %r2, %r3;\n"
                             "shfl.sync.down.b32 %r3, %r2, 8, 31, 0xff; add.u32 %r2, %r2, %r3;\n"
                             "shfl.sync.down.b32 %r3, %r2, 4, 31, 0xff; add.u32 %r2, %r2, %r3;\n"
                             "shfl.sync.down.b32 %r3, %r2, 2, 31, 0xff; add.u32 %r2, %r2, %r3;\n"
                             "shfl.sync.down.b32 %r3, %r2, 1, 31, 0xff; add.u32 %r2, %r2, %r3;\n"
                             "st.global.u32 [%rd3], %r2;\n"
                             "A: ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    assert_int_equal(out[0], 36);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(atomics_leave_constants_alone),
        cmocka_unit_test(absent_lanes_shuffle_zero),
        cmocka_unit_test(barriers_order_shared_memory),
        cmocka_unit_test(barriers_count_living_lanes_wherever_they_wait),
        cmocka_unit_test(barriers_reduce),
        cmocka_unit_test(producers_arrive_consumers_wait),
        cmocka_unit_test(lanes_meet_at_different_shuffles),
        cmocka_unit_test(groups_of_lanes_are_apart),
        cmocka_unit_test(deadlocks_are_reported),
        cmocka_unit_test(groups_of_lanes_wait_for_lanes_elsewhere),
        cmocka_unit_test(lanes_have_to_name_themselves),
        cmocka_unit_test(masks_that_differ_are_a_deadlock),
        cmocka_unit_test(endless_loops_reach_the_time_limit),
        cmocka_unit_test(endless_printing_reaches_the_time_limit),
        cmocka_unit_test(grids_synchronise),
        cmocka_unit_test(clusters_share_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
