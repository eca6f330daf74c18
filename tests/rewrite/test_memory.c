/* Memory runs out anywhere while a module is rewritten: then that is said, since whoever reads what
 * was recorded counts on the same probes. */
#include "probed.h"
#include "support/scarce.h"

#include "ptx/ptx.h"

#include <stdlib.h>

/* Something for every probe: an array in shared memory that is counted by place and by address, a
 * walk, neighbours, a store where data says, a function, a branch. */
static const char text[] = HEADER
    ".global .align 4 .u32 total;\n"
    ".func add(.param .b64 at)\n{\n.reg .b64 %d<2>;\n.reg .b32 %r<2>;\nld.param.u64 %d1, [at];\n"
    "ld.u32 %r1, [%d1];\nst.u32 [%d1+4], %r1;\nret;\n}\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.shared .align 4 .b8 tile[256];\n"
    ".reg .pred %p<3>;\n.reg .b32 %r<9>;\n.reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nmov.u32 %r1, %tid.x;\n"
    "mad.wide.u32 %d3, %r1, 16, %d1;\nld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d3];\n"
    "shl.b32 %r6, %r1, 2;\nmov.u32 %r7, tile;\nadd.u32 %r6, %r6, %r7;\nst.shared.u32 [%r6], %r2;\n"
    "bar.sync 0;\nand.b32 %r3, %r3, 63;\nshl.b32 %r3, %r3, 2;\nadd.u32 %r3, %r3, %r7;\n"
    "atom.shared.add.u32 %r4, [%r3], 1;\nmov.u32 %r8, 0;\nmad.wide.u32 %d4, %r1, 4, %d2;\n"
    "A:\nst.global.u32 [%d4], %r4;\nadd.s64 %d4, %d4, 256;\nadd.u32 %r8, %r8, 1;\n"
    "setp.lt.u32 %p1, %r8, 9;\n@%p1 bra A;\n"
    "setp.gt.u32 %p2, %r5, 7;\n@%p2 bra B;\nmad.wide.u32 %d5, %r5, 4, %d2;\n"
    "red.global.add.u32 [%d5], 1;\nst.global.u32 [total], %r5;\n"
    "{\n.param .b64 p;\nst.param.b64 [p], %d3;\ncall add, (p);\n}\n"
    "B:\nret;\n}\n";

/* Of the module, or of its kernel alone; *out is the text. */
static wl_status rewrite_text(const ir_module *module, bool alone, wl_arena *arena, char **out)
{
    const rewrite_options options = {.probes = (1u << REWRITE_PROBE_COUNT) - 1, .everything = true};
    wl_error err = {0};
    rewrite_result all = {0};
    rewrite_alone one = {0};
    wl_status status = alone ? rewrite_kernel_alone(module, ir_module_func(module, "k"), &options,
                                                    arena, &one, &err)
                             : rewrite_module(module, &options, arena, &all, &err);
    *out = alone ? one.text : all.text;
    return status;
}

static void expect_said(const ir_module *module, bool alone)
{
    wl_arena *arena = wl_arena_new();
    char *whole;
    size_t refused = 0;
    assert_int_equal(rewrite_text(module, alone, arena, &whole), WL_OK);
    assert_non_null(whole);
    for (bool failed = true; failed;) {
        wl_arena *own = wl_arena_new();
        char *some;
        scarce_fail(refused + 1);
        wl_status status = rewrite_text(module, alone, own, &some);
        failed = scarce_failed();
        scarce_fail(0);
        if (status != (failed ? WL_NOMEM : WL_OK))
            fail_msg("without request %zu: %s", refused + 1, wl_status_text(status));
        if (failed)
            assert_null(some);
        else
            assert_string_equal(some, whole);
        refused += failed;
        free(some);
        wl_arena_free(own);
    }
    assert_true(refused > 100);
    free(whole);
    wl_arena_free(arena);
}

static void rewriting(void **state)
{
    (void)state;
    ir_module *module;
    wl_error err = {0};
    assert_int_equal(ptx_parse(text, strlen(text), "case", &module, &err), WL_OK);
    expect_said(module, false);
    expect_said(module, true);
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rewriting)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
