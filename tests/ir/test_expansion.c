/* What instructions become in machine code: single ones worked out from the table, and that no row
 * of the table is written in vain. */
#include "ir/expansion.h"
#include "ir/lookup.h"
#include "ptx/ptx.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

static const char *const class_names[IR_COST_COUNT] = {
    "int",     "fp32",    "fp64",   "half",   "sfu",  "convert", "move",
    "compare", "control", "memory", "atomic", "sync", "tensor",  "warp"};

/* "fp32 5, sfu 1": the classes that are not 0. */
static void describe(const double *machine, char *text, size_t size)
{
    size_t at = 0;
    text[0] = 0;
    for (unsigned cost = 0; cost < IR_COST_COUNT; cost++)
        if (machine[cost] != 0)
            at += (size_t)snprintf(text + at, size - at, "%s%s %g", at ? ", " : "",
                                   class_names[cost], machine[cost]);
}

static void expect_expansion(const char *insn, const char *expected)
{
    char ptx[1024], text[256];
    snprintf(ptx, sizeof ptx,
             ".version 8.0\n.target sm_90\n.address_size 64\n.const .f32 c[4];\n"
             ".entry k(.param .u64 p){.reg .b16 h<9>; .reg .b32 r<9>; .reg .b64 d<9>;"
             ".reg .f32 f<9>; .reg .f64 g<9>; .reg .pred p<9>;\n%s\nret;}",
             insn);
    ir_module *module;
    wl_error err;
    if (ptx_parse(ptx, strlen(ptx), "x", &module, &err) != WL_OK ||
        ptx_verify(module, "x", &err) != WL_OK)
        fail_msg("%s", err.text);
    double machine[IR_COST_COUNT] = {0};
    ir_add_expansion(&ir_module_func(module, "k")->insns[0], machine);
    describe(machine, text, sizeof text);
    if (strcmp(text, expected) != 0)
        fail_msg("%s becomes %s, expected %s", insn, text, expected);
    ir_module_free(module);
}

/* Without a row: one of the instruction's own class. */
static void one_becomes_one(void **state)
{
    (void)state;
    expect_expansion("add.s32 r0, r1, r2;", "int 1");
    expect_expansion("fma.rn.f32 f0, f1, f2, f3;", "fp32 1");
    expect_expansion("fma.rn.f64 g0, g1, g2, g3;", "fp64 1");
    expect_expansion("st.global.f32 [d0], f0;", "memory 1");
    expect_expansion("bra L; L:", "control 1");
}

static void some_become_several(void **state)
{
    (void)state;
    expect_expansion("div.rn.f32 f0, f1, f2;", "fp32 5, sfu 1, compare 1, control 3");
    expect_expansion("add.s64 d0, d1, d2;", "int 2");
    expect_expansion("setp.ge.u64 p0, d1, d2;", "compare 2");
    expect_expansion("sin.approx.f32 f0, f1;", "fp32 1, sfu 1");
    expect_expansion("atom.acq_rel.gpu.shared.add.f32 f0, [d0], f1;",
                     "fp32 1, compare 1, control 3, memory 1, atomic 1");
}

static void some_vanish(void **state)
{
    (void)state;
    expect_expansion("mov.u32 r0, r1;", "");
    expect_expansion("mov.f32 f0, 0f3F800000;", "");
    expect_expansion("cvta.to.global.u64 d0, d1;", "");
    expect_expansion("cvt.u64.u32 d0, r1;", "");
    expect_expansion("and.pred p0, p1, p2;", "");
}

/* ftz is another suffix than none; s32 from f32 is another pair than f32 from s32. */
static void suffixes_tell_apart(void **state)
{
    (void)state;
    expect_expansion("ex2.approx.f32 f0, f1;", "fp32 2, sfu 1, compare 1");
    expect_expansion("ex2.approx.ftz.f32 f0, f1;", "sfu 1");
    expect_expansion("cvt.rzi.s32.f32 r0, f1;", "convert 1");
    expect_expansion("cvt.s32.s64 r0, d1;", "");
}

static void last_operands_tell_apart(void **state)
{
    (void)state;
    expect_expansion("bfe.u32 r0, r1, r2, r3;", "int 5");
    expect_expansion("bfe.u32 r0, r1, 4, 8;", "int 2");
    expect_expansion("mov.u32 r0, %tid.x;", "move 1");
    expect_expansion("mov.b32 r0, {h0, h1};", "int 1");
    expect_expansion("ld.const.f32 f0, [d0];", "memory 1");
    expect_expansion("ld.const.f32 f0, [c+4];", "move 1");
}

/* ---- the table ---- */

static const struct {
    ir_op op;
    const char *suffixes, *last;
} rows[] = {
#define X(op, suffixes, last, ...) {IR_##op, suffixes, #last},
#include "ir/expansions.def"
#undef X
};

enum { ROWS = sizeof rows / sizeof *rows };

static void words_are_suffixes(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (const char *at = rows[i].suffixes; *at;) {
            size_t length = strcspn(at, " |");
            if (!ir_find_suffix(at, length, ir_hash(at, length)))
                fail_msg("%.*s is no suffix", (int)length, at);
            at += length + (at[length] != 0);
        }
}

static void no_row_is_there_twice(void **state)
{
    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        for (size_t k = 0; k < i; k++)
            if (rows[i].op == rows[k].op && strcmp(rows[i].suffixes, rows[k].suffixes) == 0 &&
                strcmp(rows[i].last, rows[k].last) == 0)
                fail_msg("%s %s", ir_op_get(rows[i].op)->text, rows[i].suffixes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_becomes_one),
        cmocka_unit_test(some_become_several),
        cmocka_unit_test(some_vanish),
        cmocka_unit_test(suffixes_tell_apart),
        cmocka_unit_test(last_operands_tell_apart),
        cmocka_unit_test(words_are_suffixes),
        cmocka_unit_test(no_row_is_there_twice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
