/* What must hold of a thread that makes an access, worked out by hand. */
#include "flow/premises.h"
#include "support.h"

#include <string.h>

enum { MOST = 4096 };

#define HEAD                                                                              \
    FLOW_HEADER ".visible .entry k(.param .u64 p, .param .u32 n)\n{\n"                    \
                ".shared .align 8 .b8 tile[1024];\n.reg .pred %p<9>;\n.reg .b16 %h<9>;\n" \
                ".reg .b32 %r<19>;\n.reg .b64 %d<5>;\nld.param.u64 %d1, [p];\n"           \
                "ld.param.u32 %r1, [n];\nmov.u32 %r2, %tid.x;\nmov.u32 %r3, %tid.y;\n"    \
                "mov.u32 %r4, %ntid.x;\n"
#define STORE "st.shared.u32 [tile], %r2;\n"

/* `expected`: of the accesses one after the other, each with a line's end; "-" where any thread may make it. */
static void expect(const char *body, const char *expected)
{
    subject s;
    flow_premises all;
    char text[MOST], got[MOST] = "";
    snprintf(text, sizeof text, "%s%sret;\n}\n", HEAD, body);
    subject_begin(&s, text, "k");
    assert_int_equal(flow_find_premises(s.kernel, s.arena, &all), WL_OK);
    uint32_t at = 0;
    for (uint32_t i = 0; i < s.kernel->funcs[0].func->ninsns; i++) {
        const char *op = ir_op_get(s.kernel->funcs[0].func->insns[i].op)->text;
        if (strcmp(op, "st") != 0)
            continue;
        bool has = at < all.count && all.rows[at].pc == i;
        strcat(got, has ? all.rows[at].text : "-");
        strcat(got, "\n");
        at += has;
    }
    assert_int_equal(at, all.count);
    assert_string_equal(got, expected);
    subject_end(&s);
}

static void of_guards(void **state)
{
    (void)state;
    expect(STORE, "-\n");
    expect("setp.lt.u32 %p1, %r2, 16;\n@%p1 " STORE STORE, "lt.u32(tid.x, 16)\n-\n");
    expect("setp.lt.s32 %p1, %r2, 16;\n@!%p1 " STORE, "ge.s32(tid.x, 16)\n");
    expect("setp.ne.b32 %p1, %r3, 0;\n@%p1 bra L;\n" STORE "L:\n", "eq.b32(tid.y, 0)\n");
    expect("setp.ne.s32 %p1, %r3, 0;\n@%p1 ret;\n" STORE, "eq.s32(tid.y, 0)\n");
    /* Of numbers that threads have in common nothing is known. */
    expect("setp.lt.u32 %p1, %r2, %r1;\n@%p1 " STORE, "-\n");
    expect("ld.global.u32 %r5, [%d1];\nsetp.lt.u32 %p1, %r5, %r1;\n@%p1 " STORE, "-\n");
    /* A register that is written under a guard may be what it was. */
    expect("setp.lt.u32 %p1, %r2, 16;\n@%p1 mov.u32 %r2, 0;\nsetp.eq.u32 %p2, %r2, 0;\n@%p2 " STORE,
           "-\n");
}

static void of_arithmetic(void **state)
{
    (void)state;
    expect("mad.lo.s32 %r5, %r3, %r4, %r2;\nand.b32 %r6, %r5, 31;\nsetp.eq.s32 %p1, %r6, "
           "0;\n@%p1 " STORE,
           "eq.s32(and.b32(add.s32(mul.s32(tid.y, ntid.x), tid.x), 31), 0)\n");
    expect("shr.u32 %r5, %r2, 5;\nsetp.gt.u32 %p1, %r5, 2;\n@!%p1 " STORE,
           "le.u32(shr.u32(tid.x, 5), 2)\n");
    expect("mov.u32 %r5, %laneid;\ncvt.u64.u32 %d2, %r5;\nsetp.lt.u64 %p1, %d2, 4;\n@%p1 " STORE,
           "lt.u64(low.u32(laneid), 4)\n");
    expect("cvt.s8.s32 %r5, %r2;\nsetp.lt.s32 %p1, %r5, 0;\n@%p1 " STORE,
           "lt.s32(widen.s8(widen.s32(tid.x)), 0)\n");
    expect("cvt.u8.u32 %r5, %r2;\nsetp.lt.u32 %p1, %r5, 9;\n@%p1 " STORE,
           "lt.u32(low.u8(low.u32(tid.x)), 9)\n");
    expect("mul.wide.s32 %d2, %r2, -4;\nsetp.lt.s64 %p1, %d2, 0;\n@%p1 " STORE,
           "lt.s64(mul.u64(widen.s32(tid.x), widen.s32(-4)), 0)\n");
    expect("bfe.u32 %r5, %r2, 2, 3;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 " STORE,
           "eq.u32(and.u32(shr.u32(tid.x, 2), 7), 1)\n");
    expect("mov.b32 {%h1, %h2}, %r2;\nsetp.eq.u16 %p1, %h2, 1;\n@%p1 " STORE, "-\n");
    expect("mul.hi.u32 %r5, %r2, 9;\nsetp.eq.u32 %p1, %r5, 1;\n@%p1 " STORE, "-\n");
    expect("setp.lt.u32 %p1, %r3, 2;\nselp.b32 %r5, %r2, 9, %p1;\nsetp.eq.u32 %p2, %r5, "
           "1;\n@%p2 " STORE,
           "eq.u32(select.b32(tid.x, 9, lt.u32(tid.y, 2)), 1)\n");
}

static void of_predicates(void **state)
{
    (void)state;
    expect("setp.lt.u32 %p1, %r2, 16;\nsetp.eq.u32 %p2, %r3, 0;\nand.pred %p3, %p1, "
           "!%p2;\n@%p3 " STORE,
           "and.pred(lt.u32(tid.x, 16), ne.u32(tid.y, 0))\n");
    expect("setp.lt.u32 %p1, %r1, 16;\nsetp.eq.or.u32 %p2, %r3, 0, %p1;\n@!%p2 " STORE,
           "not.pred(or.pred(eq.u32(tid.y, 0), ?))\n");
}

/* By one of two ways: what holds on the one, or on the other. */
static void of_ways(void **state)
{
    (void)state;
    expect(
        "setp.lt.u32 %p1, %r2, 16;\n@%p1 bra L;\nsetp.ne.u32 %p2, %r2, 40;\n@%p2 bra E;\nL:\n" STORE
        "E:\n",
        "or.pred(lt.u32(tid.x, 16), and.pred(eq.u32(tid.x, 40), ge.u32(tid.x, 16)))\n");
    expect("setp.lt.u32 %p1, %r2, 16;\n@%p1 bra L;\n" STORE "bra E;\nL:\n" STORE "E:\n" STORE,
           "ge.u32(tid.x, 16)\nlt.u32(tid.x, 16)\n-\n");
    expect("setp.ge.u32 %p1, %r2, 16;\n@%p1 bra E;\nsetp.eq.u32 %p2, %r3, 1;\n@%p2 bra L;\n" STORE
           "L:\n" STORE "E:\n",
           "and.pred(ne.u32(tid.y, 1), lt.u32(tid.x, 16))\nlt.u32(tid.x, 16)\n");
}

static void of_loops(void **state)
{
    (void)state;
    /* s = ntid.x / 2; do { if (t < s) store; s >>= 1 } while (s != 0) */
    expect("shr.u32 %r5, %r4, 1;\nL:\nsetp.ge.u32 %p1, %r2, %r5;\n@%p1 bra N;\n" STORE
           "N:\nshr.u32 %r6, %r5, 1;\nmov.u32 %r5, %r6;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\n",
           "lt.u32(tid.x, loop.b32(shr.u32(ntid.x, 1), shr.u32(self, 1), "
           "ne.u32(shr.u32(self, 1), 0)))\n");
    /* Where something else decides whether it goes on. */
    expect("mov.u32 %r5, 8;\nL:\nsetp.ge.u32 %p1, %r2, %r5;\n@%p1 bra N;\n" STORE
           "N:\nshr.u32 %r5, %r5, 1;\nld.global.u32 %r6, [%d1];\nsetp.ne.u32 %p2, %r6, 0;\n@%p2 "
           "bra L;\n",
           "lt.u32(tid.x, loop.b32(8, shr.u32(self, 1), ?))\n");
    /* Of a loop in a loop that goes on from it nothing is known. */
    expect(
        "mov.u32 %r5, 64;\nL:\nmov.u32 %r6, %r5;\nI:\nshr.u32 %r6, %r6, 1;\nsetp.gt.u32 %p3, %r6, "
        "9;\n@%p3 bra I;\nsetp.lt.u32 %p1, %r2, %r5;\n@%p1 " STORE
        "add.u32 %r5, %r6, 1;\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\n",
        "-\n");
    /* What loaded data brings in is anything. */
    expect("mov.u32 %r5, 8;\nL:\nsetp.ge.u32 %p1, %r2, %r5;\n@%p1 bra N;\n" STORE
           "N:\nld.global.u32 %r5, [%d1];\nsetp.ne.u32 %p2, %r5, 0;\n@%p2 bra L;\n",
           "-\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_guards),     cmocka_unit_test(of_arithmetic),
        cmocka_unit_test(of_predicates), cmocka_unit_test(of_ways),
        cmocka_unit_test(of_loops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
