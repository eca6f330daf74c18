/* A kernel in a module of its own: what is in its text, and which kernels cannot have one. */
#include "ptx/ptx.h"
#include "rewrite/rewrite.h"
#include "support/module.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

#define HEADER ".version 7.0\n.target sm_80, debug\n.address_size 64\n"

typedef struct alone {
    wl_arena *arena;
    ir_module *module, *own; /* own: the text, parsed */
    rewrite_alone out;
} alone;

static void begin(alone *a, const char *text, const char *probes)
{
    wl_error err = {0};
    rewrite_options options = {.everything = true};
    *a = (alone){.arena = wl_arena_new()};
    assert_true(rewrite_probes_parse(probes, &options.probes));
    assert_int_equal(ptx_parse(text, strlen(text), "case", &a->module, &err), WL_OK);
    const ir_func *kernel = ir_module_func(a->module, "k");
    assert_non_null(kernel);
    assert_int_equal(rewrite_kernel_alone(a->module, kernel, &options, a->arena, &a->out, &err),
                     WL_OK);
    if (!a->out.text)
        return;
    assert_int_equal(ptx_parse(a->out.text, a->out.length, "own", &a->own, &err), WL_OK);
    assert_int_equal(ptx_verify(a->own, "own", &err), WL_OK);
}

static void end(alone *a)
{
    if (a->own)
        ir_module_free(a->own);
    ir_module_free(a->module);
    free(a->out.text);
    wl_arena_free(a->arena);
}

/* Whether a name stands in the text, and not as a part of a longer one. */
static bool has_word(const char *text, const char *word)
{
    static const char part[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    size_t length = strlen(word);
    for (const char *at = text; (at = strstr(at, word)); at++)
        if ((at == text || !strchr(part, at[-1])) && !strchr(part, at[length]))
            return true;
    return false;
}

/* Two global variables by three addresses, one of them in the function; a constant with the address
 * of another variable in its initialiser; shared memory; and what the kernel does not name. */
static const char whole[] = HEADER
    ".global .align 4 .b8 cells[64];\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".global .align 4 .u32 unused;\n"
    ".const .align 8 .u64 where = cells;\n"
    ".const .align 4 .b8 unread[8];\n"
    ".shared .align 4 .b8 tile[128];\n"
    ".shared .align 4 .b8 other_tile[128];\n"
    ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
    ".func (.param .b32 r) step (.param .b32 a)\n{\n.reg .b32 %r<4>;\n"
    "ld.param.u32 %r1, [a];\nld.global.u32 %r2, [counter];\nadd.u32 %r3, %r1, %r2;\n"
    "st.param.b32 [r], %r3;\nret;\n}\n"
    ".func uncalled ()\n{\nret;\n}\n"
    ".visible .entry other(.param .u64 a)\n{\nret;\n}\n"
    ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %d<6>;\n.reg .b32 %r<6>;\n"
    "ld.param.u64 %d1, [a];\nld.global.u32 %r1, [%d1];\nmov.u64 %d2, cells;\n"
    "mov.u64 %d3, cells+16;\nst.global.u32 [cells+4], %r1;\nst.global.u32 [%d3], %r1;\n"
    "ld.const.u64 %d4, [where];\nst.global.u32 [%d4], 3;\nst.shared.u32 [tile], %r1;\n"
    "atom.global.add.u32 %r2, [counter], 1;\n"
    "{\n.param .b32 x;\nst.param.b32 [x], %r1;\n.param .b32 y;\ncall (y), step, (x);\n"
    "ld.param.b32 %r3, [y];\n}\nst.global.u32 [%d2], %r3;\nret;\n}\n";

static void check_names(const alone *a)
{
    static const char *const there[] = {"k", "step", "where", "tile", REWRITE_GLOBALS},
                             *const gone[] = {"cells",  "counter",    "unused",
                                              "unread", "other_tile", "uncalled",
                                              "other",  "vprintf",    "debug"};
    for (size_t i = 0; i < sizeof there / sizeof *there; i++)
        assert_true(has_word(a->out.text, there[i]));
    for (size_t i = 0; i < sizeof gone / sizeof *gone; i++)
        assert_false(has_word(a->out.text, gone[i]));
}

static void the_kernel_and_what_it_reaches_is_there(void **state)
{
    (void)state;
    alone a;
    begin(&a, whole, "trace,touch");
    assert_non_null(a.own);
    check_names(&a);
    assert_int_equal(a.out.nglobals, 2);
    assert_string_equal(a.out.globals[0]->name, "cells");
    assert_string_equal(a.out.globals[1]->name, "counter");
    assert_int_equal(a.out.nconstants, 1);
    assert_string_equal(a.out.constants[0]->name, "where");
    const ir_var *table = module_var(a.own, REWRITE_GLOBALS), *where = module_var(a.own, "where");
    assert_int_equal(ir_var_size(table), 16);
    assert_int_equal(ir_var_size(where), 8);
    assert_false(where->has_init); /* its contents are copied */
    assert_int_equal(ir_var_align(where), 8);
    end(&a);
}

/* After the name of the first variable stands its place in the table; an address with an offset has
 * a register of its own. */
static void variables_are_named_by_address(void **state)
{
    (void)state;
    alone a;
    begin(&a, whole, "trace");
    static const char *const lines[] = {
        "ld.const.u64 __wl_g0, [" REWRITE_GLOBALS "];",
        "ld.const.u64 __wl_g1, [" REWRITE_GLOBALS "];",
        "add.s64 __wl_g1, __wl_g1, 16;",
        "ld.const.u64 __wl_g2, [" REWRITE_GLOBALS "+8];",
        "ld.const.u64 __wl_g0, [" REWRITE_GLOBALS "+8];", /* in the function */
        "[__wl_g0+4]",
        "[__wl_g2]",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(a.out.text, lines[i]))
            fail_msg("%s is not there", lines[i]);
    end(&a);
}

/* The same text twice: the driver keeps what it compiled by its text. */
static void the_text_is_the_same_each_time(void **state)
{
    (void)state;
    alone a, b;
    begin(&a, whole, "all");
    begin(&b, whole, "all");
    assert_string_equal(a.out.text, b.out.text);
    end(&a);
    end(&b);
}

#define KERNEL(declared, code)                                                                  \
    HEADER declared ".visible .entry k(.param .u64 a)\n{\n.reg .b64 %d<6>;\n.reg .b32 %r<6>;\n" \
                    "ld.param.u64 %d1, [a];\nld.global.u32 %r1, [%d1];\n" code "ret;\n}\n"

static void check_refused(const char *text, const char *reason)
{
    alone a;
    begin(&a, text, "trace");
    assert_null(a.out.text);
    assert_int_equal(a.out.kernel.probes, 0);
    assert_non_null(a.out.kernel.refused);
    if (!strstr(a.out.kernel.refused, reason))
        fail_msg("%s, not: %s", a.out.kernel.refused, reason);
    end(&a);
}

static void kernels_that_cannot_stand_alone_say_why(void **state)
{
    (void)state;
    check_refused(KERNEL(".func f ()\n{\nret;\n}\n",
                         "mov.u64 %d2, f;\nP: .callprototype _ ();\ncall %d2, P;\n"),
                  "takes the address of a function");
    check_refused(KERNEL("", "ld.global.u64 %d2, [%d1+8];\nP: .callprototype _ ();\n"
                             "call %d2, P;\n"),
                  "through pointers");
    check_refused(KERNEL(".extern .func f ();\n", "call f;\n"), "without PTX");
    check_refused(KERNEL(".extern .const .align 4 .b8 c[];\n", "ld.const.u32 %r2, [c];\n"),
                  "without a size");
    check_refused(KERNEL(".global .texref t;\n", "mov.u64 %d2, t;\n"), "a texture");
    check_refused(KERNEL("", ".global .u32 own;\nld.global.u32 %r2, [own];\n"), "keeps its value");
}

static void calls_of_the_system_are_taken(void **state)
{
    (void)state;
    alone a;
    begin(&a,
          KERNEL(".extern .func (.param .b64 r) malloc (.param .b64 n);\n",
                 "{\n.param .b64 x;\nst.param.b64 [x], 8;\n.param .b64 y;\n"
                 "call (y), malloc, (x);\nld.param.b64 %d2, [y];\n}\nst.global.u32 [%d2], 1;\n"),
          "trace");
    assert_non_null(a.own);
    assert_non_null(ir_module_func(a.own, "malloc"));
    assert_int_equal(a.out.nglobals, 0);
    assert_null(module_var(a.own, REWRITE_GLOBALS));
    end(&a);
}

/* With the trace only, blocks that are not traced run the plain body; else they run what has the
 * other probes. */
static void there_is_no_body_that_never_runs(void **state)
{
    (void)state;
    alone a;
    begin(&a, whole, "trace");
    assert_non_null(strstr(a.out.text, "$__wl_plain:"));
    end(&a);
    begin(&a, whole, "trace,blocks");
    assert_null(strstr(a.out.text, "$__wl_plain"));
    end(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_kernel_and_what_it_reaches_is_there),
        cmocka_unit_test(variables_are_named_by_address),
        cmocka_unit_test(the_text_is_the_same_each_time),
        cmocka_unit_test(kernels_that_cannot_stand_alone_say_why),
        cmocka_unit_test(calls_of_the_system_are_taken),
        cmocka_unit_test(there_is_no_body_that_never_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
