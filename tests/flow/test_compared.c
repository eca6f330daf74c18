/* Which parameters comparisons go by, of kernels worked out by hand. */
#include "support.h"

#define ENTRY ".visible .entry k(.param .u64 a, .param .u64 b, .param .u64 n, .param .u32 m)\n{\n"
#define REGS ".reg .pred %p<9>;\n.reg .b32 %r<9>;\n.reg .b64 %d<19>;\n"
/* %d1: a + 4 * tid, %d2: b + 4 * tid, %d3: n */
#define LOADS                                                                    \
    "ld.param.u64 %d11, [a];\nld.param.u64 %d12, [b];\nld.param.u64 %d3, [n];\n" \
    "ld.param.u32 %r1, [m];\nmov.u32 %r2, %tid.x;\nmul.wide.u32 %d4, %r2, 4;\n"  \
    "add.u64 %d1, %d11, %d4;\nadd.u64 %d2, %d12, %d4;\n"
#define KERNEL(body) FLOW_HEADER ENTRY REGS LOADS body "\nEND: ret;\n}\n"

enum { A = 1, B = 2, N = 4 };

static void expect_sets(const char *ptx, uint32_t count, const uint64_t *sets)
{
    subject s;
    subject_begin(&s, ptx, "k");
    assert_int_equal(s.proof.ncompared, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(s.proof.compared[i], sets[i]);
    subject_end(&s);
}

#define CASE(name, body, ...)                                                \
    static void name(void **state)                                           \
    {                                                                        \
        (void)state;                                                         \
        const uint64_t sets[] = {0, __VA_ARGS__};                            \
        expect_sets(KERNEL(body), sizeof sets / sizeof *sets - 1, sets + 1); \
    }

CASE(of_one_parameter, "setp.lt.u32 %p1, %r2, %r1;\n@%p1 bra END;\nst.global.u32 [%d1], 0;")
CASE(of_two_pointers, "setp.lt.u64 %p1, %d1, %d2;\n@%p1 bra END;\nst.global.u32 [%d1], 0;", A | B)
CASE(of_a_difference,
     "sub.s64 %d5, %d1, %d2;\nsetp.lt.s64 %p1, %d5, 0;\n@%p1 bra END;\nst.global.u32 [%d1], 0;",
     A | B)
CASE(of_the_end_of_an_array,
     "mad.lo.u64 %d5, %d3, 4, %d11;\nsetp.ge.u64 %p1, %d1, %d5;\n@%p1 bra END;\n"
     "st.global.u32 [%d1], 0;",
     A | N)
CASE(of_the_lesser, "min.u64 %d5, %d1, %d2;\nst.global.u32 [%d5], 0;", A | B)
/* One or the other, by what comes before: then it is compared with a number. */
CASE(of_a_choice,
     "mov.u64 %d5, %d1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 bra NEXT;\nmov.u64 %d5, %d2;\n"
     "NEXT: setp.eq.u64 %p2, %d5, 0;\n@%p2 bra END;\nst.global.u32 [%d5], 0;",
     A | B)
CASE(of_a_guarded_choice,
     "mov.u64 %d5, %d1;\nsetp.eq.u32 %p1, %r1, 0;\n@%p1 mov.u64 %d5, %d2;\n"
     "setp.eq.u64 %p2, %d5, 0;\n@%p2 bra END;\nst.global.u32 [%d5], 0;",
     A | B)
/* The outcome of a comparison is no longer a pointer. */
CASE(of_outcomes,
     "setp.eq.u64 %p1, %d1, 0;\nselp.u32 %r3, 1, 0, %p1;\nsetp.eq.u64 %p2, %d2, 0;\n"
     "selp.u32 %r4, 1, 0, %p2;\nsetp.lt.u32 %p3, %r3, %r4;\n@%p3 bra END;\nst.global.u32 [%d1], 0;")
CASE(through_local_memory,
     ".local .align 8 .b8 kept[16];\nst.local.u64 [kept], %d1;\nst.local.u64 [kept+8], %d2;\n"
     "ld.local.u64 %d5, [kept];\nsetp.lt.u64 %p1, %d5, %d12;\n@%p1 bra END;\nst.global.u32 [%d1], "
     "0;",
     A | B)
/* Nothing that is accessed goes by it. */
CASE(without_consequence,
     "setp.lt.u64 %p1, %d1, %d2;\nselp.u32 %r3, 1, 2, %p1;\nst.global.u32 [%d1], %r3;")

static void of_what_is_called(void **state)
{
    (void)state;
    const uint64_t sets[] = {UINT64_MAX};
    expect_sets(FLOW_HEADER
                ".func f(.param .u64 x, .param .u64 y)\n{\n.reg .pred %p;\n.reg .b64 %d<3>;\n"
                "ld.param.u64 %d1, [x];\nld.param.u64 %d2, [y];\nsetp.lt.u64 %p, %d1, %d2;\n"
                "@%p bra END;\nst.global.u32 [%d1], 0;\nEND: ret;\n}\n" ENTRY REGS LOADS
                ".param .b64 to;\n.param .b64 from;\nst.param.b64 [to], %d1;\n"
                "st.param.b64 [from], %d2;\ncall f, (to, from);\nret;\n}\n",
                1, sets);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_one_parameter),     cmocka_unit_test(of_two_pointers),
        cmocka_unit_test(of_a_difference),      cmocka_unit_test(of_the_end_of_an_array),
        cmocka_unit_test(of_the_lesser),        cmocka_unit_test(of_a_choice),
        cmocka_unit_test(of_a_guarded_choice),  cmocka_unit_test(of_outcomes),
        cmocka_unit_test(through_local_memory), cmocka_unit_test(without_consequence),
        cmocka_unit_test(of_what_is_called),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
