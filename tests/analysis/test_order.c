/* What barriers are needed for, worked out by hand on kernels of a few instructions. */
#include "ordered.h"

#include "support/test.h"

#include <stdio.h>
#include <string.h>

#define HEAD                                                                                  \
    ".version 8.3\n.target sm_90\n.address_size 64\n.file 1 \"/src/kernel.cu\"\n"             \
    ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"             \
    ".shared .align 16 .b8 one[8192];\n.shared .align 16 .b8 two[8192];\n.reg .pred %p<5>;\n" \
    ".reg .b32 %r<20>;\n.reg .b64 %d<20>;\n"                                                  \
    "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nld.param.u32 %r9, [n];\n"             \
    "mov.u32 %r1, %tid.x;\nmov.u32 %r2, one;\nmov.u32 %r3, two;\n"                            \
    "mad.lo.u32 %r4, %r1, 4, %r2;\nmad.lo.u32 %r5, %r1, 4, %r3;\nmul.wide.u32 %d3, %r1, 4;\n" \
    "add.u64 %d4, %d1, %d3;\nadd.u64 %d5, %d2, %d3;\nmov.u32 %r6, 0;\n"

/* Each barrier on a line of its own. */
#define BAR(line) ".loc 1 " #line " 1\nbar.sync 0;\n.loc 1 1 1\n"
#define OWN_STORE "st.shared.u32 [%r4], %r1;\n"
#define OWN_LOAD "ld.shared.u32 %r7, [%r4];\n"
#define NEXT_LOAD "ld.shared.u32 %r7, [%r4+4];\n"
#define FAR_LOAD "ld.shared.u32 %r7, [%r4+128];\n"
#define TWO_LOAD "ld.shared.u32 %r7, [%r5+128];\n"

/* `expected`: a letter for each barrier: - it can go, w of warps, b stays; "?": not known. */
static void expect_all(const char *body, const uint32_t block[3], prof_access *accesses,
                       uint32_t count, const char *expected)
{
    char text[8192], got[32] = "";
    ordered o;
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, body);
    ordered_begin(&o, text, block, accesses, count);
    for (uint32_t i = 0; i < o.all.count; i++)
        got[i] = "-wb"[ordered_needs(&o, i)];
    assert_string_equal(o.all.known ? got : "?", expected);
    ordered_end(&o);
}

static void expect_of(const char *body, uint32_t threads, prof_access *accesses, uint32_t count,
                      const char *expected)
{
    expect_all(body, (uint32_t[]){threads, 1, 1}, accesses, count, expected);
}

static void expect(const char *body, uint32_t threads, const char *expected)
{
    expect_of(body, threads, NULL, 0, expected);
}

static void expect_in(const char *body, uint32_t x, uint32_t y, const char *expected)
{
    expect_all(body, (uint32_t[]){x, y, 1}, NULL, 0, expected);
}

static void of_own_words(void **state)
{
    (void)state;
    expect(OWN_STORE BAR(10) OWN_LOAD, 256, "-");
    expect(OWN_STORE BAR(10) NEXT_LOAD, 256, "b"); /* thread 31 takes what 32 stored */
    expect(OWN_STORE BAR(10) NEXT_LOAD, 32, "w");
    expect(NEXT_LOAD BAR(10) OWN_STORE, 256, "b"); /* and must have it before it is stored over */
    expect(OWN_STORE BAR(10) TWO_LOAD, 256, "-");  /* another array */
    expect(FAR_LOAD BAR(10) NEXT_LOAD, 256, "-");  /* nobody stores */
    expect(OWN_STORE BAR(10) "st.shared.u32 [%r4+4], %r1;\n", 256, "b");
    expect(OWN_STORE BAR(10), 256, "-"); /* nothing after it */
    expect(BAR(10) OWN_STORE, 256, "-");
}

/* Each is enough where the other one is gone. */
static void of_two_in_a_row(void **state)
{
    (void)state;
    expect(OWN_STORE BAR(10) BAR(11) NEXT_LOAD, 256, "-b");
    expect(OWN_STORE BAR(10) BAR(11) NEXT_LOAD, 32, "-w");
    expect(OWN_STORE BAR(10) TWO_LOAD BAR(11) NEXT_LOAD, 256, "-b");
    /* On one line they are one. */
    expect(OWN_STORE BAR(10) BAR(10) NEXT_LOAD, 256, "bb");
    expect(OWN_STORE BAR(10) OWN_LOAD OWN_STORE BAR(10) NEXT_LOAD, 256, "bb");
}

static void of_warps(void **state)
{
    (void)state;
    expect(OWN_STORE "bar.warp.sync -1;\n" BAR(10) NEXT_LOAD, 32, "-");
    expect(OWN_STORE BAR(10) "bar.warp.sync -1;\n" NEXT_LOAD, 32, "-");
    expect(OWN_STORE "bar.warp.sync -1;\n" BAR(10) NEXT_LOAD, 64, "b");
    expect(OWN_STORE "bar.red.popc.u32 %r7, 0, %p1;\n" BAR(10) NEXT_LOAD, 64, "-");
}

#define LOOP(body) "L:\n" body "add.u32 %r6, %r6, 1;\nsetp.lt.u32 %p1, %r6, 9;\n@%p1 bra L;\n"

static void of_loops(void **state)
{
    (void)state;
    expect(LOOP(OWN_STORE BAR(10) NEXT_LOAD BAR(11)), 256, "bb");
    expect(LOOP(OWN_STORE BAR(10) OWN_LOAD BAR(11)), 256, "--");
    /* The next iteration stores over what this one loads, and nothing else keeps them apart. */
    expect(LOOP(OWN_STORE BAR(10) OWN_LOAD BAR(11) FAR_LOAD), 256, "-b");
    /* Rows of 1 KiB, a row an iteration: the thread's own column. */
    expect(LOOP("mad.lo.u32 %r8, %r6, 1024, %r4;\nst.shared.u32 [%r8], %r1;\n" BAR(10)) OWN_LOAD,
           256, "-");
    expect(LOOP("mad.lo.u32 %r8, %r6, 1024, %r4;\nst.shared.u32 [%r8], %r1;\n" BAR(10)) NEXT_LOAD,
           256, "b");
    /* Rows of 1,020 bytes shift. */
    expect(LOOP("mad.lo.u32 %r8, %r6, 1020, %r4;\nst.shared.u32 [%r8], %r1;\n" BAR(10)), 256, "b");
}

static void of_ways(void **state)
{
    (void)state;
    /* By one of two ways another barrier stands before the load. */
    expect("setp.lt.u32 %p1, %r9, 9;\n" OWN_STORE BAR(10) "@%p1 bra L;\n" BAR(11) "L:\n" NEXT_LOAD,
           256, "b-");
    expect(OWN_STORE BAR(10) "setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n" NEXT_LOAD "L:\n", 256, "b");
    expect("setp.lt.u32 %p1, %r1, 9;\n@%p1 bra L;\n" BAR(10) "L:\n", 256, "?");
}

static void of_unknown_addresses(void **state)
{
    (void)state;
    expect(OWN_STORE BAR(10) "shr.u32 %r8, %r4, 1;\nld.shared.u32 %r7, [%r8];\n", 256, "b");
    expect(OWN_STORE BAR(10) "mad.lo.u32 %r8, %r9, 4, %r4;\nld.shared.u32 %r7, [%r8];\n", 256, "b");
    expect(OWN_STORE BAR(10) "mul.lo.u32 %r8, %r1, %r9;\nadd.u32 %r8, %r8, %r2;\n"
                             "ld.shared.u32 %r7, [%r8];\n",
           256, "b");
    expect(OWN_STORE BAR(10) "ld.shared.u32 %r7, [one];\n", 256, "b");
    expect(OWN_STORE BAR(10) "ld.shared.u32 %r7, [two];\n", 256, "-");
    expect(OWN_STORE BAR(10) "ld.u32 %r7, [%d4];\n", 256, "b"); /* perhaps shared */
}

static void of_global_memory(void **state)
{
    static const char kernel[] =
        "ld.global.u32 %r7, [%d4];\n" BAR(10) "st.global.u32 [%d5+8], %r1;\n";
    (void)state;
    /* 12: the load, 14: the store; the barrier is 13. */
    prof_access apart[] = {{1, 12, 1, 1}, {1, 12, 2, 2}, {1, 14, 1, 2}, {1, 14, 2, 1}},
                same[] = {{1, 12, 1, 1}, {1, 12, 2, 2}, {1, 14, 1, 2}, {1, 14, 2, 2}},
                unknown[] = {{1, 12, 1, 1}, {1, 14, 1, 0}};
    expect_of(kernel, 256, apart, 4, "-"); /* in each launch two objects */
    expect_of(kernel, 256, same, 4, "b");
    expect_of(kernel, 256, unknown, 2, "b");
    expect_of(kernel, 256, apart, 2, "b"); /* the store was never seen */
    /* Of one pointer the code tells, whatever was seen. */
    expect("ld.global.u32 %r7, [%d4];\n" BAR(10) "st.global.u32 [%d4], %r1;\n", 256, "-");
    expect("ld.global.u32 %r7, [%d4+4];\n" BAR(10) "st.global.u32 [%d4], %r1;\n", 256, "b");
    expect("st.global.u32 [%d4], %r1;\n" BAR(10) "st.global.u32 [%d4+1024], %r1;\n", 256, "-");
}

/* Sixteen bits hold 64 KiB: then words are the same again. */
static void of_narrow_numbers(void **state)
{
    (void)state;
    expect("mul.wide.u32 %d7, %r1, 1024;\nadd.u64 %d7, %d7, %d1;\nst.global.u32 [%d7], %r1;\n" BAR(
               10) "ld.global.u32 %r7, [%d7];\n",
           64, "-");
    expect("mul.lo.u32 %r8, %r1, 1024;\ncvt.u64.u32 %d7, %r8;\nadd.u64 %d7, %d7, %d1;\n"
           "st.global.u32 [%d7], %r1;\n" BAR(10) "ld.global.u32 %r7, [%d7];\n",
           128, "b");
}

/* What stands behind a guard. */
#define IF(compare, number, body) \
    "{\nsetp." compare ".u32 %p2, %r1, " #number ";\n@!%p2 bra END;\n" body "END:\n}\n"
/* one[t] += one[t + number] */
#define ADD(number)                                                                                \
    "ld.shared.u32 %r7, [%r4];\nld.shared.u32 %r8, [%r4+" #number "*4];\nadd.u32 %r7, %r7, %r8;\n" \
    "st.shared.u32 [%r4], %r7;\n"

static void of_guards(void **state)
{
    (void)state;
    expect(IF("lt", 16, OWN_STORE) BAR(10) IF("lt", 15, NEXT_LOAD), 256, "w");
    expect(IF("lt", 33, OWN_STORE) BAR(10) IF("lt", 32, NEXT_LOAD), 256, "b");
    expect(IF("lt", 16, OWN_STORE) BAR(10) IF("lt", 16, OWN_LOAD), 256, "-");
    expect(IF("ge", 32, OWN_STORE) BAR(10) IF("lt", 31, NEXT_LOAD), 256, "-");
    expect(IF("ge", 32, OWN_STORE) BAR(10) IF("lt", 32, NEXT_LOAD), 256, "b");
    /* A thread that gives to all others. */
    expect(IF("eq", 0, "st.shared.u32 [one], %r1;\n") BAR(10) "ld.shared.u32 %r7, [one];\n", 256,
           "b");
    expect(IF("eq", 0, "st.shared.u32 [one], %r1;\n") BAR(10)
               IF("lt", 32, "ld.shared.u32 %r7, [one];\n"),
           256, "w");
    expect(IF("eq", 0, "st.shared.u32 [one], %r1;\n") BAR(10)
               IF("eq", 0, "ld.shared.u32 %r7, [one];\n"),
           256, "-");
    expect(IF("eq", 0, "st.shared.u32 [one], %r1;\n") BAR(10)
               IF("ne", 0, "ld.shared.u32 %r7, [two];\n"),
           256, "-");
    /* Nobody knows for whom the launch's number lets it be. */
    expect("setp.lt.u32 %p2, %r1, %r9;\n@%p2 " OWN_STORE BAR(10) NEXT_LOAD, 256, "b");
}

/* An address that is not known, but by few threads. */
static void of_guards_of_unknown_addresses(void **state)
{
    (void)state;
    expect(IF("lt", 32, OWN_STORE) BAR(10) IF("lt", 9, "ld.shared.u32 %r7, [%r9];\n"), 256, "w");
    expect(IF("lt", 33, OWN_STORE) BAR(10) IF("lt", 9, "ld.shared.u32 %r7, [%r9];\n"), 256, "b");
    expect(IF("eq", 40, OWN_STORE) BAR(10) IF("eq", 40, "ld.shared.u32 %r7, [%r9];\n"), 256, "-");
    expect(IF("eq", 40, "st.global.u32 [%d4], %r1;\n") BAR(10)
               IF("eq", 40, "ld.global.u32 %r7, [%d5];\n"),
           256, "-");
    expect("st.global.u32 [%d4], %r1;\n" BAR(10) IF("eq", 40, "ld.global.u32 %r7, [%d5];\n"), 256,
           "b");
}

/* The tail of a sum: from 64 threads to one. */
static void of_sums(void **state)
{
    (void)state;
    static const char sum[] = OWN_STORE BAR(10) IF("lt", 64, ADD(64)) BAR(11) IF("lt", 32, ADD(32))
        BAR(12) IF("lt", 16, ADD(16)) BAR(13) IF("lt", 8, ADD(8)) BAR(14)
            IF("eq", 0, "ld.shared.u32 %r7, [one];\nst.global.u32 [%d2], %r7;\n");
    /* What thread 0 takes at last is its own. */
    expect(sum, 128, "bbww-");
    expect(sum, 256, "bbww-");
    /* Two rows of threads on one array: each warp of them. */
    expect_in(sum, 128, 2, "bbbbb");
    /* Threads 0 to 15 of each of two rows are one warp. */
    expect_in(sum, 16, 2, "wwwww");
}

/* Half as many threads in each iteration, and a barrier for all. */
#define HALVING(first)                                                                    \
    first "L:\nsetp.ge.u32 %p2, %r1, %r10;\n@%p2 bra N;\nmad.lo.u32 %r8, %r10, 4, %r4;\n" \
          "ld.shared.u32 %r7, [%r8];\nst.shared.u32 [%r4], %r7;\n"                        \
          "N:\n" BAR(10) "shr.u32 %r10, %r10, 1;\nsetp.ne.u32 %p3, %r10, 0;\n@%p3 bra L;\n"

static void of_guards_in_loops(void **state)
{
    (void)state;
    expect(HALVING("mov.u32 %r10, 32;\n"), 256, "w");
    expect(HALVING("mov.u32 %r10, 33;\n"), 256, "b");
    expect(HALVING("mov.u32 %r10, %ntid.x;\nshr.u32 %r10, %r10, 1;\n"), 64, "w");
    expect(HALVING("mov.u32 %r10, %ntid.x;\nshr.u32 %r10, %r10, 1;\n"), 128, "b");
    expect(HALVING("mov.u32 %r10, %r9;\n"), 64, "b"); /* as the launch says */
    expect(OWN_STORE BAR(9) HALVING("mov.u32 %r10, 32;\n"), 256, "bw");
}

static void of_rows(void **state)
{
    static const char row[] = "mov.u32 %r10, %tid.y;\nmov.u32 %r11, %ntid.x;\n"
                              "mad.lo.u32 %r12, %r10, %r11, %r1;\n"
                              "mad.lo.u32 %r13, %r12, 4, %r2;\nsetp.eq.u32 %p2, %r10, 1;\n"
                              "shr.u32 %r14, %r12, 5;\nsetp.eq.u32 %p3, %r14, 2;\n";
    static const char of_y[] =
        "@%p2 st.shared.u32 [%r13], %r1;\n" BAR(10) "@%p2 ld.shared.u32 %r7, [%r13+4];\n";
    static const char of_warp[] =
        "@%p3 st.shared.u32 [%r13], %r1;\n" BAR(10) "@%p3 ld.shared.u32 %r7, [%r13+4];\n";
    char text[2048];
    (void)state;
    snprintf(text, sizeof text, "%s%s", row, of_y);
    expect_in(text, 32, 4, "w");
    expect_in(text, 16, 4, "w");
    expect_in(text, 1, 64, "-"); /* it has no neighbour */
    expect_in(text, 33, 4, "b"); /* a row begins in one warp and ends in the next */
    expect_in(text, 64, 4, "b");
    snprintf(text, sizeof text, "%s%s", row, of_warp);
    expect_in(text, 64, 4, "w");
    expect_in(text, 20, 7, "w");
    expect_in(text, 32, 2, "-"); /* there is no third warp */
}

/* Of a barrier that did not run guards tell nothing. */
static void of_barriers_that_did_not_run(void **state)
{
    (void)state;
    const char *kernel =
        "mov.u32 %r10, %ntid.x;\nsetp.gt.u32 %p1, %r10, 512;\n@!%p1 bra E;\n" OWN_STORE BAR(10)
            NEXT_LOAD "E:\n";
    ordered o;
    char text[8192];
    wl_error err;
    expect(kernel, 1024, "b");
    expect(kernel, 256, "-");
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, kernel);
    ordered_begin(&o, text, (uint32_t[]){256, 1, 1}, NULL, 0);
    o.input.barriers.rows[0].executions = 0;
    assert_int_equal(order_of(&o.input, &o.all, &err), WL_OK);
    assert_int_equal(ordered_needs(&o, 0), FOOTPRINT_BLOCK);
    ordered_end(&o);
    /* Nor what was found of the same accesses for one that did. */
    kernel = IF("lt", 32, OWN_STORE)
        BAR(10) "setp.lt.u32 %p1, %r9, 9;\n@%p1 bra L;\n" BAR(11) "L:\n" IF("lt", 9, OWN_LOAD)
            IF("ge", 32, NEXT_LOAD);
    expect(kernel, 256, "--");
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, kernel);
    ordered_begin(&o, text, (uint32_t[]){256, 1, 1}, NULL, 0);
    o.input.barriers.rows[1].executions = 0;
    assert_int_equal(order_of(&o.input, &o.all, &err), WL_OK);
    assert_int_equal(ordered_needs(&o, 0), FOOTPRINT_APART);
    assert_int_equal(ordered_needs(&o, 1), FOOTPRINT_BLOCK);
    ordered_end(&o);
}

#define COUNT(where) "red." where ".add.u32 [%r5], 1;\n"

static void of_atomics(void **state)
{
    (void)state;
    expect(OWN_STORE BAR(10) COUNT("shared"), 256, "-"); /* of another array */
    expect("red.shared.add.u32 [%r4], 1;\n" BAR(10) OWN_LOAD, 256, "-");
    expect("red.shared.add.u32 [%r4], 1;\n" BAR(10) NEXT_LOAD, 256, "b");
    expect("red.shared.add.u32 [%r4], 1;\n" BAR(10) "red.shared.add.u32 [%r4+4], 1;\n", 256, "b");
    expect(NEXT_LOAD BAR(10) "atom.shared.add.u32 %r7, [%r4], 1;\n", 256, "b");
    /* Other blocks may act on what one in global memory tells. */
    expect(OWN_STORE BAR(10) "red.global.add.u32 [%d4], 1;\n", 256, "-");
    expect("st.global.u32 [%d4], %r1;\n" BAR(10) "red.global.add.u32 [%d5], 1;\n", 256, "b");
    expect("ld.global.u32 %r7, [%d4];\n" BAR(10) "red.global.add.u32 [%d5], 1;\n", 256, "b");
    expect("red.global.add.u32 [%d5], 1;\n" BAR(10) "ld.global.u32 %r7, [%d5];\n", 256, "b");
    expect(OWN_STORE BAR(10) "st.u32 [%d4], %r1;\n" BAR(11) "red.global.add.u32 [%d4], 1;\n", 256,
           "bb");
}

/* All that is declared without a size is one array. */
static void of_dynamic_memory(void **state)
{
    static const char head[] =
        ".version 8.3\n.target sm_90\n.address_size 64\n.file 1 \"/src/kernel.cu\"\n"
        ".extern .shared .align 16 .b8 room[];\n.extern .shared .align 16 .b8 same[];\n"
        ".visible .entry kernel(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"
        ".shared .align 16 .b8 one[64];\n"
        ".reg .b32 %r<9>;\nmov.u32 %r1, %tid.x;\nmov.u32 %r2, room;\nmov.u32 %r3, same;\n"
        "ld.param.u32 %r8, [n];\n"
        "mad.lo.u32 %r4, %r1, 4, %r2;\nmad.lo.u32 %r5, %r1, 4, %r3;\nst.shared.u32 [%r4], "
        "%r1;\n" BAR(10);
    static const struct {
        const char *then, *expected;
    } cases[] = {
        {OWN_LOAD, "-"},
        {NEXT_LOAD, "b"},
        {"ld.shared.u32 %r7, [%r5];\n", "-"},
        {"ld.shared.u32 %r7, [%r5+4];\n", "b"}, /* the same by another name */
        {"ld.shared.u32 %r7, [one];\n", "-"},
        {"mad.lo.u32 %r6, %r8, 4, %r4;\nld.shared.u32 %r7, [%r6];\n", "b"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096], got[2] = "";
        ordered o;
        snprintf(text, sizeof text, "%s%sret;\n}\n", head, cases[i].then);
        ordered_begin(&o, text, (uint32_t[]){256, 1, 1}, NULL, 0);
        *got = "-wb"[ordered_needs(&o, 0)];
        assert_string_equal(got, cases[i].expected);
        ordered_end(&o);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_own_words),     cmocka_unit_test(of_two_in_a_row),
        cmocka_unit_test(of_warps),         cmocka_unit_test(of_loops),
        cmocka_unit_test(of_ways),          cmocka_unit_test(of_unknown_addresses),
        cmocka_unit_test(of_global_memory), cmocka_unit_test(of_narrow_numbers),
        cmocka_unit_test(of_guards),        cmocka_unit_test(of_guards_of_unknown_addresses),
        cmocka_unit_test(of_sums),          cmocka_unit_test(of_guards_in_loops),
        cmocka_unit_test(of_rows),          cmocka_unit_test(of_barriers_that_did_not_run),
        cmocka_unit_test(of_atomics),       cmocka_unit_test(of_dynamic_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
