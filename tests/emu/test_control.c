/* Divergence, loops, calls, and how lanes part and meet. */
#include "fixture.h"

#include "emu/internal.h"

#include <stdio.h>

#define BEGIN(name)                                                                           \
    HEADER ".visible .entry " name                                                            \
           "(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<12>;\n"      \
           "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 " \
           "%rd3, %rd1, %rd2;\n"
#define END "}\n"

static uint64_t executions(const fixture *f, uint32_t pc, emu_kernel *k)
{
    return f->result.blocks[emu_kernel_code(k, pc).block].executions;
}

/* Lanes below 8 take one side, the others the other; both meet again, and run what follows
 * together. */
static void branches_part_and_meet(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "setp.lt.u32 %p1, %r1, 8;\n"              /* 4 */
                                 "@%p1 bra A;\n"                           /* 5 */
                                 "mov.u32 %r2, 100; bra B;\n"              /* 6 7 */
                                 "A: mov.u32 %r2, 200;\n"                  /* 8 */
                                 "B: add.u32 %r3, %r2, %r1;\n"             /* 9 */
                                 "st.global.u32 [%rd3], %r3; ret;\n" END); /* 10 11 */
    uint32_t *out = fixture_alloc(&f, 4 * 64);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 64, P(out));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(out[i], i + (i < 8 ? 200 : 100));
    assert_int_equal(executions(&f, 0, k), 2);
    assert_int_equal(executions(&f, 8, k), 1); /* the second warp does not go there */
    assert_int_equal(executions(&f, 9, k), 2);
    fixture_end(&f);
}

/* Machine code: how often a warp runs what follows two sides, `meeting` before it; and what follows a loop
 * whose lanes leave it four by four. */
static void expect_runs(const char *begin, const char *meeting, uint32_t both, uint32_t loop)
{
    char text[2048];
    fixture f;
    snprintf(text, sizeof text, "%s%s%s%s%s",
             BEGIN("k") "diverge; setp.lt.u32 %p1, %r1, 8; shr.u32 %r4, %r1, 2;\n", begin,
             "@%p1 bra A; mov.u32 %r2, 100; bra B;\n"
             "A: mov.u32 %r2, 200;\nB:\n",
             meeting,
             "add.u32 %r3, %r2, %r1; mov.u32 %r5, 0; bssy 1;\n"
             "LOOP: setp.ge.u32 %p2, %r5, %r4; @%p2 bbreak 1; @%p2 bra C;\n"
             "add.u32 %r5, %r5, 1; bra LOOP;\n"
             "C: st.global.u32 [%rd3], %r3; ret;\n" END);
    fixture_begin(&f, text);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i + (i < 8 ? 200 : 100));
    assert_int_equal(executions(&f, k->code.npcs - 10, k), both); /* what adds */
    assert_int_equal(executions(&f, k->code.npcs - 2, k), loop);  /* what stores */
    fixture_end(&f);
}

static void machine_code_says_where_lanes_meet(void **state)
{
    (void)state;
    expect_runs("bssy 0;", "bsync 0;", 1, 8);
    expect_runs("pmevent 1;", "pmevent 1;", 2, 8);
    expect_runs("pmevent 1;", "bar.warp.sync 0xffffffff;", 1, 8);
    /* Lanes that left wait for nobody, and nobody for them. */
    expect_runs("mov.u32 %r2, 200; bssy 0;\n@%p1 bbreak 0;\n@%p1 bra LEFT;\n", "bsync 0;\nLEFT:\n",
                2, 8);
    /* Kept in a register meanwhile. */
    expect_runs("bssy 0; bget.b32 %r9, 0; bssy 0;\n@%p1 bssy 0;", "bput.b32 0, %r9; bsync 0;", 1,
                8);
}

/* Lanes from `first` on leave for a bsync by one branch, of the others those from `second` on by another one: how often
 * a warp comes there. */
static void expect_arrivals(uint32_t first, uint32_t second, uint32_t arrivals)
{
    char text[2048];
    fixture f;
    snprintf(text, sizeof text, "%s%u; setp.ge.u32 %%p2, %%r1, %u;%s",
             BEGIN("k") "diverge; setp.ge.u32 %p1, %r1, ", first, second,
             " bssy 0;\n@%p1 bra MEET; add.u32 %r2, %r1, 1;\n"
             "@%p2 bra MEET; add.u32 %r2, %r1, 2;\n"
             "MEET: mov.u32 %r3, 0;\nbsync 0;\n"
             "st.global.u32 [%rd3], %r3; ret;\n" END);
    fixture_begin(&f, text);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    assert_int_equal(executions(&f, k->code.npcs - 4, k), arrivals);
    assert_int_equal(executions(&f, k->code.npcs - 2, k), 1);
    fixture_end(&f);
}

/* As Nsight Compute counted on an H200: where a branch parts lanes the fewer go on, of two halves those that do not take it;
 * and those that were left at one place are taken up together. */
static void lanes_that_were_left_come_together(void **state)
{
    (void)state;
    expect_arrivals(16, 4, 2);  /* 16 are left, then 12 */
    expect_arrivals(16, 15, 3); /* 16 are left, then one goes on */
    expect_arrivals(20, 4, 3);  /* 12 go on, then 16 are left */
    expect_arrivals(20, 8, 3);
    expect_arrivals(16, 16, 2);
    expect_arrivals(32, 4, 2);
    expect_arrivals(32, 32, 1);
}

/* One side of the branch stands behind the end of the kernel, as compilers lay out what is rare. */
static void sides_meet_wherever_they_stand(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") "mov.u32 %r2, 1; setp.eq.u32 %p1, %r1, 5; @%p1 bra RARE;\n"    /* 4 5 6 */
                       "BACK: add.u32 %r2, %r2, 1; st.global.u32 [%rd3], %r2; ret;\n" /* 7 8 9 */
                       "RARE: mov.u32 %r2, 50; bra BACK;\n" END);                     /* 10 11 */
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i == 5 ? 51 : 2);
    assert_int_equal(executions(&f, 7, k), 1);
    assert_int_equal(executions(&f, 10, k), 1);
    fixture_end(&f);
}

/* Loops in a loop, with blocks after them that stand in front of their heads: what a loop leads to
 * stands together, and comes before what follows the loop. */
static void blocks_have_an_order(void **state)
{
    (void)state;
    static const struct {
        uint32_t pc, order;
    } want[] = {
        {0, 0},           /* before the loops */
        {6, 1},           /* OUTER */
        {7, 8},           /* AFTER */
        {9, 6},           /* LAST */
        {11, 7},          /* on the way from it to AFTER */
        {12, 2},          /* FIRST */
        {15, 3},          /* MIDDLE */
        {16, 4},          /* SECOND */
        {19, 5},          /* on the way from it to LAST */
        {20, UINT32_MAX}, /* the kernel's end cannot be reached */
    };
    fixture f;
    fixture_begin(&f,
                  BEGIN("k") "mov.u32 %r2, 0; bra OUTER;\n"                             /* 4 5 */
                             "OUTER: bra FIRST;\n"                                      /* 6 */
                             "AFTER: st.global.u32 [%rd3], %r2; ret;\n"                 /* 7 8 */
                             "LAST: setp.lt.u32 %p3, %r2, 9; @%p3 bra OUTER;\n"         /* 9 10 */
                             "bra AFTER;\n"                                             /* 11 */
                             "FIRST: add.u32 %r2, %r2, 1; setp.lt.u32 %p1, %r2, %r1;\n" /* 12 */
                             "@%p1 bra FIRST;\n"
                             "MIDDLE: add.u32 %r2, %r2, 1;\n"                            /* 15 */
                             "SECOND: add.u32 %r2, %r2, 1; setp.lt.u32 %p2, %r2, %r1;\n" /* 16 */
                             "@%p2 bra SECOND; bra LAST;\n" END);
    const emu_kernel *k = fixture_kernel(&f, "k");
    assert_int_equal(k->nbbs, sizeof want / sizeof *want);
    for (uint32_t b = 0; b < k->nbbs; b++) {
        assert_int_equal(k->bbs[b].first_pc, want[b].pc);
        assert_int_equal(k->bbs[b].order, want[b].order);
    }
    fixture_end(&f);
}

/* Lane i goes round i + 1 times; lanes that are done wait for the rest. */
static void loops_keep_lanes_together(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"                /* 4 5 */
                                 "L: add.u32 %r2, %r2, %r1; add.u32 %r3, %r3, 1;\n" /* 6 7 */
                                 "setp.le.u32 %p1, %r3, %r1; @%p1 bra L;\n"         /* 8 9 */
                                 "st.global.u32 [%rd3], %r2; ret;\n" END);          /* 10 11 */
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i * (i + 1));
    assert_int_equal(executions(&f, 6, k), 32);
    assert_int_equal(executions(&f, 10, k), 1);
    assert_int_equal(f.result.blocks[emu_kernel_code(k, 6).block].lanes, 32 * 33 / 2);
    fixture_end(&f);
}

/* As above, tested at its top: the way out stands beside the loop's inside, and still waits for it. */
static void loops_tested_at_their_top_keep_lanes_together(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, BEGIN("k") "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"             /* 4 5 */
                                 "L: setp.ge.u32 %p1, %r3, %r1; @%p1 bra OUT;\n" /* 6 7 */
                                 "add.u32 %r2, %r2, %r1; add.u32 %r3, %r3, 1;\n" /* 8 9 */
                                 "bra L;\n"                                      /* 10 */
                                 "OUT: st.global.u32 [%rd3], %r2; ret;\n" END);  /* 11 12 */
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i * i);
    assert_int_equal(executions(&f, 6, k), 32);
    assert_int_equal(executions(&f, 8, k), 31);
    assert_int_equal(executions(&f, 11, k), 1);
    fixture_end(&f);
}

/* Of the innermost loop below, in all rounds of the outer ones: as many as the lane needs that goes
 * round most often. */
static uint32_t most_rounds(void)
{
    uint32_t rounds = 0;
    for (uint32_t outer = 0; outer < 3; outer++)
        for (uint32_t middle = 0; middle < 4; middle++) {
            uint32_t most = 0;
            for (uint32_t i = 0; i < 31; i++)
                if (i % 3 >= outer && i % 4 >= middle && i % 5 + 1 > most)
                    most = i % 5 + 1;
            rounds += most;
        }
    return rounds;
}

/* Three loops in one another; lane i goes round them i % 3 + 1, i % 4 + 1 and i % 5 + 1 times, and
 * lane 31 leaves all three at once, halfway. The lanes meet after each of the loops. */
static void nested_loops_keep_lanes_together(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") "rem.u32 %r10, %r1, 3; rem.u32 %r11, %r1, 4; rem.u32 %r12, %r1, 5;\n" /* 4 */
                       "mov.u32 %r2, 0; mov.u32 %r3, 0;\n"                                   /* 7 */
                       "L1: mov.u32 %r4, 0;\n"                                               /* 9 */
                       "L2: mov.u32 %r5, 0;\n"      /* 10 */
                       "L3: add.u32 %r2, %r2, 1;\n" /* 11 */
                       "setp.eq.u32 %p4, %r1, 31; setp.eq.u32 %p5, %r4, 1;\n"
                       "and.pred %p4, %p4, %p5; @%p4 bra OUT;\n"
                       "add.u32 %r5, %r5, 1; setp.le.u32 %p3, %r5, %r12; @%p3 bra L3;\n"
                       "add.u32 %r4, %r4, 1; setp.le.u32 %p2, %r4, %r11; @%p2 bra L2;\n" /* 19 */
                       "add.u32 %r3, %r3, 1; setp.le.u32 %p1, %r3, %r10; @%p1 bra L1;\n" /* 22 */
                       "OUT: st.global.u32 [%rd3], %r2; ret;\n" END);                    /* 25 */
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_kernel *k = fixture_kernel(&f, "k");
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 31; i++)
        assert_int_equal(out[i], (i % 3 + 1) * (i % 4 + 1) * (i % 5 + 1));
    assert_int_equal(out[31], 31 % 5 + 2); /* the first round of the innermost, and one more */
    assert_int_equal(executions(&f, 9, k), 3);
    assert_int_equal(executions(&f, 10, k), 3 * 4);
    assert_int_equal(executions(&f, 11, k), most_rounds());
    assert_int_equal(executions(&f, 19, k), 3 * 4);
    assert_int_equal(executions(&f, 22, k), 3);
    assert_int_equal(executions(&f, 25, k), 1);
    fixture_end(&f);
}

/* The lane that takes the lock stands behind the loop in which the others spin for it. */
static void a_lock_among_lanes_is_released(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, HEADER
        ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 "
        "%rd<12>;\n"
        "ld.param.u64 %rd1, [p];\n"
        "SPIN: atom.global.cas.b32 %r1, [%rd1], 0, 1; setp.ne.u32 %p1, %r1, 0; @%p1 bra SPIN;\n"
        "ld.volatile.global.u32 %r2, [%rd1+4]; add.u32 %r2, %r2, 1; st.volatile.global.u32 "
        "[%rd1+4], %r2;\n"
        "membar.gl; atom.global.exch.b32 %r3, [%rd1], 0; ret;\n" END);
    for (uint32_t threads = 1; threads <= 2; threads++) {
        f.threads = threads;
        uint32_t *lock = fixture_alloc(&f, 8);
        RUN(&f, "k", 8, 96, P(lock));
        assert_int_equal(lock[0], 0);
        assert_int_equal(lock[1], 8 * 96);
    }
    fixture_end(&f);
}

/* A warp waits for a flag that another warp, or a later block, sets, whether it sleeps meanwhile or
 * not. */
static void waiting_threads_let_others_run(void **state)
{
    static const char *const waiting[] = {"", "nanosleep.u32 50;", "@%p2 nanosleep.u32 50;"};
    (void)state;
    for (size_t n = 0; n < sizeof waiting / sizeof *waiting; n++) {
        char text[2048] = HEADER
            ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg "
            ".b64 %rd<12>;\n"
            "ld.param.u64 %rd1, [p]; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %tid.x; mad.lo.u32 "
            "%r1, %r1, 64, %r2;\n"
            "setp.ne.u32 %p1, %r1, 191; @%p1 bra W; st.volatile.global.u32 [%rd1], 1; "
            "ret;\n"
            "W: ld.volatile.global.u32 %r3, [%rd1]; setp.eq.u32 %p2, %r3, 0;\n";
        fixture f;
        strcat(text, waiting[n]);
        strcat(text, "@%p2 bra W; red.global.add.u32 [%rd1+4], 1; ret;\n" END);
        fixture_begin(&f, text);
        uint32_t *flag = fixture_alloc(&f, 8);
        RUN(&f, "k", 3, 64, P(flag));
        assert_int_equal(flag[1], 191);
        fixture_end(&f);
    }
}

static void exits_and_guards(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f, BEGIN("k") "and.b32 %r2, %r1, 1; setp.eq.u32 %p1, %r2, 0; setp.lt.u32 %p2, %r1, 4;\n"
                       "@%p2 exit;\n"
                       "@%p1 mov.u32 %r3, 7; @!%p1 mov.u32 %r3, 9; @%p1 add.u32 %r3, %r3, %r1;\n"
                       "st.global.u32 [%rd3], %r3; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 4 ? 0 : i % 2 ? 9 : 7 + i);
    fixture_end(&f);
}

static void jumps_through_tables(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(
        &f,
        BEGIN("k") "T: .branchtargets A, B, C;\n"
                   "rem.u32 %r2, %r1, 3; brx.idx %r2, T;\n"
                   "A: mov.u32 %r3, 10; bra E;\nB: mov.u32 %r3, 20; bra E;\nC: mov.u32 %r3, 30;\n"
                   "E: st.global.u32 [%rd3], %r3; ret;\n" END);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 10 + 10 * (i % 3));
    fixture_end(&f);
}

/* Factorial by recursion, with a local variable that every depth has for itself; half of the lanes
 * call. */
static const char recursion[] = HEADER
    ".func (.param .b32 r) fact(.param .b32 n) {\n"
    ".local .align 4 .b8 depot[8]; .reg .pred %p<3>; .reg .b32 %r<8>; .reg .b64 %rd<4>;\n"
    "ld.param.b32 %r1, [n]; mov.u64 %rd1, depot; st.local.u32 [%rd1+4], %r1;\n"
    "setp.gt.u32 %p1, %r1, 1; @%p1 bra REC; st.param.b32 [r], 1; ret;\n"
    "REC: sub.u32 %r2, %r1, 1;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r2; call.uni (b), fact, (a); ld.param.b32 "
    "%r3, [b]; }\n"
    "ld.local.u32 %r4, [%rd1+4]; mul.lo.u32 %r5, %r3, %r4; st.param.b32 [r], %r5; ret;\n}\n"
    ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg .b64 %rd<12>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd3, %rd1, "
    "%rd2;\n"
    "mov.u32 %r4, 77; setp.ge.u32 %p1, %r1, 10; @%p1 bra OUT;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), fact, (a); ld.param.b32 %r4, "
    "[b]; }\n"
    "OUT: st.global.u32 [%rd3], %r4; ret;\n}\n";

static void calls_recurse(void **state)
{
    (void)state;
    static const uint32_t factorial[] = {1, 1, 2, 6, 24, 120, 720, 5040, 40320, 362880};
    fixture f;
    fixture_begin(&f, recursion);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i < 10 ? factorial[i] : 77);
    fixture_end(&f);
}

static void calls_through_pointers(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER ".func (.param .b32 r) twice(.param .b32 n);\n.func (.param .b32 r) "
                             "square(.param .b32 n);\n"
                             ".global .align 8 .u64 table[2] = {twice, square};\n"
                             ".func (.param .b32 r) twice(.param .b32 n) {.reg .b32 %r<3>; "
                             "ld.param.b32 %r1, [n]; add.u32 %r2, %r1, %r1;"
                             "st.param.b32 [r], %r2; ret;}\n"
                             ".func (.param .b32 r) square(.param .b32 n) {.reg .b32 %r<3>; "
                             "ld.param.b32 %r1, [n]; mul.lo.u32 %r2, %r1, %r1;"
                             "st.param.b32 [r], %r2; ret;}\n"
                             ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 "
                             "%r<30>; .reg .b64 %rd<12>;\n"
                             "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, "
                             "4; add.u64 %rd3, %rd1, %rd2;\n"
                             "and.b32 %r2, %r1, 1; mul.wide.u32 %rd4, %r2, 8; mov.u64 %rd5, table; "
                             "add.u64 %rd6, %rd5, %rd4;\n"
                             "ld.global.u64 %rd7, [%rd6];\n"
                             "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
                             "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                             "call (b), %rd7, (a), proto; ld.param.b32 %r4, [b]; }\n"
                             "st.global.u32 [%rd3], %r4; ret;\n}\n");
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], i % 2 ? i * i : 2 * i);
    fixture_end(&f);
}

/* A structure passed by value, read piece by piece. */
static void structures_are_passed(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, HEADER
                  ".func (.param .b64 r) sum(.param .align 8 .b8 s[16]) {.reg .b32 %r<4>; .reg "
                  ".b16 %h<3>; .reg .b64 %rd<4>;\n"
                  "ld.param.u32 %r1, [s]; ld.param.s8 %r2, [s+4]; ld.param.u64 %rd1, [s+8]; "
                  "add.u32 %r3, %r1, %r2;\n"
                  "cvt.u64.u32 %rd2, %r3; add.u64 %rd3, %rd1, %rd2; st.param.b64 [r], %rd3; ret;}\n"
                  ".visible .entry k(.param .u64 p) {\n.reg .pred %p<9>; .reg .b32 %r<30>; .reg "
                  ".b64 %rd<12>;\n"
                  "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.u64 "
                  "%rd3, %rd1, %rd2;\n"
                  "{ .param .align 8 .b8 a[16]; .param .b64 b; st.param.u32 [a], %r1; mov.u32 %r2, "
                  "-1; st.param.b8 [a+4], %r2;\n"
                  "st.param.u64 [a+8], 1000; call (b), sum, (a); ld.param.b64 %rd4, [b]; }\n"
                  "st.global.u64 [%rd3], %rd4; ret;\n}\n");
    uint64_t *out = fixture_alloc(&f, 8 * 32);
    RUN(&f, "k", 1, 32, P(out));
    for (uint32_t i = 1; i < 32; i++)
        assert_int_equal(out[i], 1000 + i - 1);
    fixture_end(&f);
}

static void blocks_do_not_depend_on_threads(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, recursion);
    uint32_t *out = fixture_alloc(&f, 4 * 32);
    emu_block_count counts[2][64];
    uint32_t n = 0;
    for (uint32_t t = 1; t <= 2; t++) {
        f.threads = t;
        RUN(&f, "k", 200, 32, P(out));
        n = f.result.nblocks;
        memcpy(counts[t - 1], f.result.blocks, n * sizeof *counts[0]);
        assert_int_equal(f.result.blocks_run, 200);
    }
    assert_memory_equal(counts[0], counts[1], n * sizeof *counts[0]);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(branches_part_and_meet),
        cmocka_unit_test(machine_code_says_where_lanes_meet),
        cmocka_unit_test(lanes_that_were_left_come_together),
        cmocka_unit_test(sides_meet_wherever_they_stand),
        cmocka_unit_test(blocks_have_an_order),
        cmocka_unit_test(loops_keep_lanes_together),
        cmocka_unit_test(loops_tested_at_their_top_keep_lanes_together),
        cmocka_unit_test(nested_loops_keep_lanes_together),
        cmocka_unit_test(a_lock_among_lanes_is_released),
        cmocka_unit_test(waiting_threads_let_others_run),
        cmocka_unit_test(exits_and_guards),
        cmocka_unit_test(jumps_through_tables),
        cmocka_unit_test(calls_recurse),
        cmocka_unit_test(calls_through_pointers),
        cmocka_unit_test(structures_are_passed),
        cmocka_unit_test(blocks_do_not_depend_on_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
