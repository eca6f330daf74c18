/* Which lifted code may run in place of its kernel: what ptxas makes of a few lines of PTX. */
#include "replay/runnable.h"

#include "../sass/lifting.h"
#include "cuda/cubin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool alone; /* of the kernel that was asked for last */

static const char head[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                           ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                           ".visible .entry k(.param .u64 out, .param .u64 in)\n{\n"
                           ".reg .b32 %r<8>; .reg .b64 %d<8>; .reg .f32 %f<8>; .reg .pred %p<4>;\n"
                           "ld.param.u64 %d1, [out];\nld.param.u64 %d2, [in];\n";

/* Why the code that ptxas makes of these lines may not run; "": it may. */
static const char *why_not(const char *lines)
{
    static wl_error why;
    char ptx[4000];
    size_t size;
    sass_body body;
    alone = false;
    why = (wl_error){0};
    snprintf(ptx, sizeof ptx, "%s%sret;\n}\n", head, lines);
    char *cubin = lifting_assemble(ptx, "-arch=sm_90", false, &size);
    wl_arena *arena = wl_arena_new();
    assert_non_null(arena);
    if (sass_body_read(cubin, size, cuda_cubin_sm(cubin, size), "k", arena, &body, &why) != WL_OK)
        fail_msg("%s", why.text);
    wl_status status = replay_runnable(&body, "k", &alone, &why);
    assert_int_equal(status, why.text[0] ? WL_UNSUPPORTED : WL_OK);
    sass_body_clear(&body);
    wl_arena_free(arena);
    free(cubin);
    return why.text;
}

static void assert_refused(const char *lines, const char *reason)
{
    const char *why = why_not(lines);
    if (!strstr(why, reason))
        fail_msg("\"%s\" does not say \"%s\"", why, reason);
}

/* The descriptor of each access lies in constant bank 0, where the lifter does not know it; no access
 * depends on it. */
static void unknown_values_that_nothing_needs(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_string_equal(why_not("ld.global.u32 %r1, [%d2];\nst.global.u32 [%d1], %r1;\n"), "");
    assert_string_equal(why_not("mov.u32 %r1, %tid.x;\nsetp.gt.u32 %p1, %r1, 7;\n@%p1 ret;\n"
                                "atom.global.add.u32 %r2, [%d1], %r1;\n"
                                "st.global.u32 [%d2], %r2;\n"),
                        "");
}

/* A block's rank in its cluster is added to addresses of its own shared memory, and means nothing there; what else is made of
 * it is known of launches without clusters. */
static void ranks(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_string_equal(why_not("mov.u32 %r1, %cluster_ctarank;\nst.global.u32 [%d1], %r1;\n"), "");
    assert_true(alone);
    assert_string_equal(
        why_not(".shared .b32 s[32];\nmov.u32 %r1, %tid.x;\nshl.b32 %r2, %r1, 2;\n"
                "mov.u32 %r3, s;\nadd.u32 %r3, %r3, %r2;\nst.shared.u32 [%r3], %r1;\n"
                "bar.sync 0;\nxor.b32 %r3, %r3, 4;\nld.shared.u32 %r4, [%r3];\n"
                "st.global.u32 [%d1], %r4;\n"),
        "");
    assert_false(alone);
}

#define ENVIRONMENT "mov.u32 %r1, %envreg0;\n"

static void unknown_values_that_are_stored(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_refused(ENVIRONMENT "st.global.u32 [%d1], %r1;\n",
                   "needs a value that is not known, of LDC");
    assert_refused(ENVIRONMENT "mul.lo.u32 %r2, %r1, 5;\nxor.b32 %r2, %r2, 3;\n"
                               "st.global.u32 [%d1], %r2;\n",
                   "needs a value that is not known");
}

static void unknown_values_that_decide(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_refused(ENVIRONMENT "setp.eq.u32 %p1, %r1, 7;\n@%p1 st.global.u32 [%d1], 1;\n",
                   "needs a value that is not known");
    assert_refused(ENVIRONMENT "and.b32 %r1, %r1, 15;\nmul.wide.u32 %d3, %r1, 4;\n"
                               "add.u64 %d3, %d3, %d1;\nst.global.u32 [%d3], 1;\n",
                   "needs a value that is not known");
    /* Through a loop's phi: the value is new in the second round only. */
    assert_refused("mov.u32 %r2, 0;\nmov.u32 %r3, 0;\n"
                   "again: st.global.u32 [%d1], %r2;\n" ENVIRONMENT "add.u32 %r2, %r2, %r1;\n"
                   "add.u32 %r3, %r3, 1;\nld.volatile.global.u32 %r4, [%d2];\n"
                   "setp.lt.u32 %p1, %r3, %r4;\n@%p1 bra again;\n",
                   "needs a value that is not known");
}

static void instructions_that_nobody_knows(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_refused("mov.u32 %r1, 0;\ntex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%d2, {%r1}];\n"
                   "st.global.f32 [%d1], %f1;\n",
                   "has an instruction that is not known");
}

static void what_says_something(void **state)
{
    (void)state;
    lifting_need_ptxas();
    assert_refused("{ .param .b64 a; .param .b64 b; .param .b32 c;\n"
                   "st.param.b64 [a], %d1; st.param.b64 [b], %d2;\n"
                   "call (c), vprintf, (a, b); }\n",
                   "calls vprintf");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(unknown_values_that_nothing_needs),
                                       cmocka_unit_test(ranks),
                                       cmocka_unit_test(unknown_values_that_are_stored),
                                       cmocka_unit_test(unknown_values_that_decide),
                                       cmocka_unit_test(instructions_that_nobody_knows),
                                       cmocka_unit_test(what_says_something)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
