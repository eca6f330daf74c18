/* Memory runs out anywhere while a module is loaded and its kernels are decoded: then that is said,
 * and with more memory the kernel is there after all. */
#include "fixture.h"

#include "support/scarce.h"

/* Instructions of each kind that decoding keeps something for. */
static const char many_kinds[] = HEADER
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
    ".global .align 4 .u32 counter = 7;\n"
    ".const .align 4 .u32 table[2] = {1, 2};\n"
    ".func (.param .b32 r) twice(.param .b32 n) { .reg .b32 %r<3>; ld.param.b32 %r1, [n]; add.u32 "
    "%r2, %r1, %r1; st.param.b32 [r], %r2; ret; }\n"
    ".global .align 8 .u64 functions[1] = {twice};\n"
    ".visible .entry k(.param .u64 p) {\n"
    ".local .align 8 .b8 depot[16]; .shared .align 128 .b8 box[1024]; .shared .align 8 .b64 bar;\n"
    ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<40>; .reg .b64 %rd<20>; .reg .f32 %f<40>; "
    ".reg .f64 %fd<9>;\n"
    "ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; mov.u32 %r2, box; mov.u32 %r3, bar;\n"
    "setp.lt.u32 %p1, %r1, 5; @%p1 add.u32 %r4, %r1, 9; add.rz.f32 %f1, %f2, 0f40000000;\n"
    "vadd.s32.s32.s32 %r4, %r1.b1, %r2.h1; vadd4.u32.u32.u32 %r4, %r1, %r2, %r3;\n"
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%r4,%r5}, {%r6}, "
    "{%f1,%f2,%f3,%f4};\n"
    "wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, [%rd1], "
    "16;\n"
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9}, "
    "{%r2,%r3,%r4,%r5,%r6,%r7,%r8,%r9}, {%r10,%r11,%r12,%r13,%r14,%r15,%r16,%r17}, "
    "{%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9};\n"
    "wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1], "
    "{%f2,%f3,%f4,%f5,%f6,%f7,%f8,%f9}, 20;\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r9, %r10}, [%r2]; "
    "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r2], {%r9};\n"
    "cp.async.ca.shared.global [%r2], [%rd1], 16, %r7; cp.async.commit_group; cp.async.wait_all;\n"
    "cp.async.mbarrier.arrive.noinc.shared.b64 [%r3];\n"
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%rd1], 256, "
    "[%r3];\n"
    "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd1], [%r2], 64;\n"
    "mbarrier.init.shared.b64 [%r3], 64; mbarrier.arrive.expect_tx.shared.b64 %rd6, [%r3], 256;\n"
    "mbarrier.test_wait.parity.shared.b64 %p3, [%r3], %r4; mbarrier.inval.shared.b64 [%r3];\n"
    "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd1, {%f5, %f6}]; tld4.r.2d.v4.f32.f32 {%f1, %f2, "
    "%f3, %f4}, [%rd1, {%f5, %f6}];\n"
    "suld.b.2d.b32.trap %r5, [%rd1, {%r2, %r3}]; sust.b.2d.b32.trap [%rd1, {%r2, %r3}], %r5; "
    "txq.width.b32 %r5, [%rd1]; suq.height.b32 %r5, [%rd1];\n"
    "shfl.sync.bfly.b32 %r4|%p2, %r3, 16, 31, -1; vote.sync.ballot.b32 %r6, %p1, -1; "
    "match.any.sync.b32 %r7, %r1, -1; redux.sync.add.u32 %r8, %r1, -1;\n"
    "bar.sync 0; bar.red.popc.u32 %r4, 0, %p1; bar.warp.sync -1; activemask.b32 %r4;\n"
    "atom.global.cas.b32 %r4, [%rd1], 0, 1; red.shared.add.u32 [%r2], 5; atom.add.f64 %fd1, "
    "[%rd1], %fd2;\n"
    "ld.global.v4.u32 {%r4, %r5, %r6, %r7}, [%rd1]; ld.const.u32 %r4, [table+4]; st.local.u64 "
    "[depot+8], 3; ld.u16 %h1, [%rd1]; prefetch.global.L2 [%rd1];\n"
    "isspacep.shared %p4, %rd1; alloca.u64 %rd4, 24; cvt.rzi.s32.f32 %r4, %f1; prmt.b32 %r4, %r5, "
    "%r6, 0x1234; lop3.b32 %r4, %r5, %r6, %r7, 0x96;\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1; call (b), twice, (a); ld.param.b32 "
    "%r4, [b]; }\n"
    "ld.global.u64 %rd7, [functions];\n"
    "{ .param .b32 a; .param .b32 b; st.param.b32 [a], %r1;\n"
    "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (b), %rd7, (a), proto; ld.param.b32 %r4, [b]; }\n"
    "{ .param .b64 a; .param .b64 b; .param .b32 c; st.param.b64 [a], %rd1; st.param.b64 [b], "
    "%rd1; call.uni (c), vprintf, (a, b); ld.param.b32 %r4, [c]; }\n"
    "{ .param .b64 a; .param .b64 b; st.param.b64 [a], 8; call.uni (b), malloc, (a); "
    "ld.param.b64 %rd3, [b]; }\n"
    "ts: .branchtargets A, B;\nbrx.idx %r4, ts;\nA: nanosleep.u32 5;\nB: @%p1 exit;\nret;\n}\n";

/* Fails request after request, until all are granted. */
static void decoding(void **state)
{
    (void)state;
    size_t refused = 0;
    for (bool failed = true; failed;) {
        emu_kernel *kernel = NULL;
        fixture f;
        fixture_begin(&f, many_kinds);
        scarce_fail(refused + 1);
        wl_status status = emu_module_kernel(f.module, "k", &kernel, &f.err);
        failed = scarce_failed();
        scarce_fail(0);
        if (status != (failed ? WL_NOMEM : WL_OK))
            fail_msg("request %zu: %s", refused + 1, f.err.text);
        refused += failed;
        assert_non_null(fixture_kernel(&f, "k"));
        fixture_end(&f);
    }
    assert_true(refused > 100);
}

static void loading(void **state)
{
    (void)state;
    size_t refused = 0;
    for (bool failed = true; failed;) {
        emu_module *module = NULL;
        fixture f;
        fixture_begin(&f, many_kinds);
        scarce_fail(refused + 1);
        wl_status status = emu_module_load(f.machine, f.ptx, NULL, NULL, &module, &f.err);
        failed = scarce_failed();
        scarce_fail(0);
        assert_int_equal(status, failed ? WL_NOMEM : WL_OK);
        refused += failed;
        if (status == WL_OK)
            emu_module_unload(module);
        fixture_end(&f);
    }
    assert_true(refused > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding),
        cmocka_unit_test(loading),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
