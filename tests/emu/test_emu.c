/* Whole kernels, from launch to result. */
#include "fixture.h"

#define ENTRY(name, params) ".visible .entry " name "(" params ")\n"

static const char vector_add[] =
    HEADER ENTRY("add", ".param .u64 pa, .param .u64 pb, .param .u64 pc, .param "
                        ".u32 pn") "{\n"
                                   ".reg .pred %p<2>; .reg .f32 %f<4>; .reg .b32 "
                                   "%r<6>; .reg .b64 %rd<11>;\n"
                                   "ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, "
                                   "[pb]; ld.param.u64 %rd3, [pc]; ld.param.u32 "
                                   "%r2, [pn];\n"
                                   "mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; "
                                   "mov.u32 %r5, %tid.x;\n"
                                   "mad.lo.s32 %r1, %r3, %r4, %r5;\n"
                                   "setp.ge.s32 %p1, %r1, %r2;\n"
                                   "@%p1 bra $L__BB0_2;\n"
                                   "cvta.to.global.u64 %rd4, %rd1; mul.wide.s32 "
                                   "%rd5, %r1, 4; add.s64 %rd6, %rd4, %rd5;\n"
                                   "cvta.to.global.u64 %rd7, %rd2; add.s64 %rd8, "
                                   "%rd7, %rd5;\n"
                                   "ld.global.f32 %f1, [%rd8]; ld.global.f32 %f2, "
                                   "[%rd6]; add.f32 %f3, %f2, %f1;\n"
                                   "cvta.to.global.u64 %rd9, %rd3; add.s64 %rd10, "
                                   "%rd9, %rd5; st.global.f32 [%rd10], %f3;\n"
                                   "$L__BB0_2: ret;\n}\n";

static void adds_vectors(void **state)
{
    (void)state;
    fixture f;
    enum { N = 1000 };
    fixture_begin(&f, vector_add);
    float *a = fixture_alloc(&f, 4 * N), *b = fixture_alloc(&f, 4 * N),
          *c = fixture_alloc(&f, 4 * N);
    for (int i = 0; i < N; i++) {
        a[i] = (float)i;
        b[i] = 0.5f * (float)i;
    }
    RUN(&f, "add", 4, 256, P(a), P(b), P(c), N);
    for (int i = 0; i < N; i++)
        assert_true(c[i] == 1.5f * (float)i);
    assert_int_equal(f.result.blocks_run, 4);
    assert_int_equal(f.result.warp_instructions, 32 * 10 + 32 * 11 + 32 * 1);
    assert_int_equal(f.result.thread_instructions, 1024 * 10 + 1000 * 11 + 1024 * 1);
    fixture_end(&f);
}

/* Warp w of block b goes 3b + w times through four instructions, and through seven once. */
static const char uneven[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                             ".visible .entry uneven(.param .u32 n) {\n"
                             ".reg .pred %p1; .reg .u32 %r<4>;\n"
                             "mov.u32 %r1, %tid.x; shr.u32 %r1, %r1, 5;\n"
                             "mov.u32 %r2, %ctaid.x; mad.lo.u32 %r3, %r2, 3, %r1;\n"
                             "LOOP: setp.eq.u32 %p1, %r3, 0; @%p1 bra END;\n"
                             "sub.u32 %r3, %r3, 1; bra LOOP;\n"
                             "END: ret;\n}\n";

static void tells_the_longest(void **state)
{
    (void)state;
    fixture f;
    fixture_begin(&f, uneven);
    RUN(&f, "uneven", 2, 96, 0);
    assert_int_equal(f.result.warp_instructions, (7 + 11 + 15) + (19 + 23 + 27));
    assert_int_equal(f.result.longest_warp, 27);
    assert_int_equal(f.result.busiest_block, 19 + 23 + 27);
    assert_int_equal(f.result.longest_warps, 15 + 27);
    fixture_end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_vectors),
        cmocka_unit_test(tells_the_longest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
