/* What the parser makes of PTX: the fields that later folders rely on. */
#include "equal.h"
#include "support.h"
#include "support/module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 8.7\n.target sm_90a, debug\n.address_size 64\n"
#define KERNEL                              \
    ".visible .entry k(.param .u64 p)\n{\n" \
    ".reg .pred %p<3>; .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %rd<5>;\n"

static ir_module *module;

static const ir_func *parse_kernel(const char *body)
{
    char text[4000];
    snprintf(text, sizeof text, "%s%s%s}\n", HEAD, KERNEL, body);
    module = parse_ok(text, "x");
    ir_func *k = ir_module_func(module, "k");
    assert_non_null(k);
    return k;
}

static void test_module(void **state)
{
    (void)state;
    module = parse_ok(
        HEAD ".file 3 \"a.cu\"\n.extern .global .u32 x; .global .align 16 .v2 .f32 y[3][2];\n"
             ".func f(); .func f() { ret; } .global .u32 x = 7;\n"
             ".entry k() { .reg .b64 a; mov.u64 a, x; call f; } .func f();\n"
             ".func g(.param .b32 first); .func g(.param .b32 last);\n"
             ".entry l() { .reg .b64 a; mov.u64 a, f; mov.u64 a, g; }",
        "x");
    assert_int_equal(module->written->version_major, 8);
    assert_int_equal(module->written->version_minor, 7);
    assert_string_equal(module->written->target, "sm_90a, debug");
    assert_int_equal(module->sm, 90);
    assert_int_equal(module->address_size, 64);
    assert_string_equal(ir_module_file(module, 3), "a.cu");
    assert_null(ir_module_file(module, 4));
    const ir_var *y = module_var(module, "y");
    assert_int_equal(ir_var_size(y), 48);
    assert_int_equal(ir_var_align(y), 16);
    const ir_var *x = module_var(module, "x");
    assert_true(x->has_init);
    assert_int_equal(ir_var_align(x), 4);
    ir_func *f = ir_module_func(module, "f"), *k = ir_module_func(module, "k");
    assert_true(f->has_body);
    assert_int_equal(f->index, 1);
    assert_int_equal(module->nfuncs, 7);
    /* names mean the definition, wherever it stands; without one, the last declaration */
    const ir_func *l = ir_module_func(module, "l");
    assert_ptr_equal(l->insns[0].operands[1].sym.func, f);
    assert_string_equal(l->insns[1].operands[1].sym.func->params[0]->name, "last");
    assert_ptr_equal(k->insns[0].operands[1].sym.var, x);
    assert_ptr_equal(k->insns[1].operands[0].sym.func, f);
    assert_null(ir_module_func(module, "h"));
    ir_module_free(module);
}

static void test_instruction(void **state)
{
    (void)state;
    const ir_func *k = parse_kernel("@!%p1 ld.volatile.global.v2.u32 {%r1, _}, [%rd1+-8];\n"
                                    "cvt.rzi.s32.f32 %r1, %f2;\nadd.s32 %r1, %r2, 0xFFFFFFFF;\n");
    const ir_insn *ld = &k->insns[0], *cvt = &k->insns[1], *add = &k->insns[2];
    assert_int_equal(ld->op, IR_ld);
    assert_int_equal(ld->nsuffixes, 4);
    assert_int_equal(ld->suffixes[0], IR_S_volatile);
    assert_int_equal(ld->space, IR_SPACE_GLOBAL);
    assert_int_equal(ld->vector, 2);
    assert_int_equal(ld->types[0], IR_T_u32);
    assert_int_equal(ld->types[1], IR_T_none);
    assert_string_equal(k->regs[ld->guard].name, "%p1");
    assert_true(ld->guard_neg);
    assert_true(ir_has(ld, IR_S_v2));
    assert_false(ir_has(ld, IR_S_v4));
    assert_int_equal(ir_first_of(ld, IR_SC_SEM), IR_S_volatile);
    assert_int_equal(ir_first_of(ld, IR_SC_ROUND), IR_S_none);
    assert_int_equal(ld->operands[0].kind, IR_OPD_VEC);
    assert_int_equal(ld->operands[0].items[1].kind, IR_OPD_SINK);
    assert_int_equal(ld->operands[1].kind, IR_OPD_ADDR);
    assert_string_equal(k->regs[ld->operands[1].reg].name, "%rd1");
    assert_int_equal((int64_t)ld->operands[1].imm, -8);
    assert_int_equal(ld->pos.line, 7);
    assert_int_equal(ld->pos.column, 1);
    assert_int_equal(cvt->types[0], IR_T_s32);
    assert_int_equal(cvt->types[1], IR_T_f32);
    assert_int_equal(cvt->guard, IR_NONE);
    assert_int_equal(cvt->pc, 1);
    assert_int_equal(add->operands[2].imm, 0xFFFFFFFF);
    assert_true(add->operands[2].imm_hex);
    ir_module_free(module);
}

static void test_costs_and_effects(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ir_cost cost;
        ir_effect effect;
    } samples[] = {
        {"add.s32 %r1, %r2, %r3;", IR_COST_INT, IR_EFFECT_NONE},
        {"add.f32 %f1, %f2, %f3;", IR_COST_FP32, IR_EFFECT_NONE},
        {"add.f16x2 %r1, %r2, %r3;", IR_COST_HALF, IR_EFFECT_NONE},
        {"fma.rn.f64 %rd1, %rd2, %rd3, %rd4;", IR_COST_FP64, IR_EFFECT_NONE},
        {"sin.approx.f32 %f1, %f2;", IR_COST_SFU, IR_EFFECT_NONE},
        {"ld.global.u32 %r1, [%rd1];", IR_COST_MEMORY, IR_EFFECT_LOAD},
        {"st.shared.u32 [%rd1], %r1;", IR_COST_MEMORY, IR_EFFECT_STORE},
        {"red.global.add.u32 [%rd1], %r1;", IR_COST_ATOMIC, IR_EFFECT_ATOMIC},
        {"cp.async.ca.shared.global [%r1], [%rd1], 4;", IR_COST_MEMORY, IR_EFFECT_COPY},
        {"cp.async.wait_all;", IR_COST_SYNC, IR_EFFECT_NONE},
        {"bar.sync 0;", IR_COST_SYNC, IR_EFFECT_BARRIER},
        {"fence.acq_rel.gpu;", IR_COST_SYNC, IR_EFFECT_FENCE},
        {"wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1}, [%rd1];", IR_COST_TENSOR,
         IR_EFFECT_LOAD},
        {"shfl.sync.up.b32 %r1, %r2, 1, 0, -1;", IR_COST_WARP, IR_EFFECT_NONE},
        {"bra L; L:", IR_COST_CONTROL, IR_EFFECT_NONE},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        const ir_func *k = parse_kernel(samples[i].text);
        assert_non_null(ir_insn_form(k->insns));
        assert_int_equal(ir_insn_cost(k->insns), samples[i].cost);
        assert_int_equal(ir_insn_effect(k->insns), samples[i].effect);
        ir_module_free(module);
    }
}

static void test_scopes_and_labels(void **state)
{
    (void)state;
    const ir_func *k =
        parse_kernel("mov.u32 %r1, 0;\nL: { .reg .b32 %r1; mov.u32 %r1, 1; bra L; L: bra M; }\n"
                     "mov.u32 %r1, 2; M:\n");
    assert_int_equal(k->written->nscopes, 2);
    assert_int_equal(k->written->scopes[0].parent, IR_NONE);
    assert_int_equal(k->written->scopes[1].parent, 0);
    uint32_t outer = k->insns[0].operands[0].reg, inner = k->insns[1].operands[0].reg;
    assert_int_not_equal(outer, inner);
    assert_int_equal(k->regs[inner].scope, 1);
    assert_int_equal(k->insns[4].operands[0].reg, outer);
    assert_int_equal(k->nlabels, 3);
    assert_int_equal(k->insns[2].operands[0].label, 1); /* the L of its own scope */
    assert_int_equal(k->labels[1].pc, 3);
    assert_int_equal(k->labels[k->insns[3].operands[0].label].pc, 5); /* M, at the end */
    ir_module_free(module);
}

static void test_locations(void **state)
{
    (void)state;
    const ir_func *k = parse_kernel(
        "exit;\n.loc 1 10 2\nexit;\n.loc 2 5 7, function_name $str, inlined_at 1 10 2\nexit;\n"
        ".loc 2 6 1, function_name $str+8, inlined_at 9 9 9\nexit;");
    assert_int_equal(k->insns[0].loc, IR_NONE);
    const ir_loc *first = &module->locs[k->insns[1].loc], *second = &module->locs[k->insns[2].loc];
    assert_int_equal(first->line, 10);
    assert_int_equal(first->inlined_at, IR_NONE);
    assert_ptr_equal(&module->locs[second->inlined_at], first);
    assert_string_equal(second->function, "$str");
    const ir_loc *third = &module->locs[k->insns[3].loc];
    assert_int_equal(third->function_offset, 8);
    assert_int_equal(module->locs[third->inlined_at].line,
                     9); /* a place that no .loc named before */
    ir_module_free(module);
}

static void test_calls(void **state)
{
    (void)state;
    module = parse_ok(HEAD
                      ".func (.param .b32 r) f(.param .b32 a);\n"
                      ".func g() { ret; } .func h(); .alias h, g;\n" KERNEL
                      "P: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                      "T: .calltargets f, g;\n"
                      ".param .b32 x; .param .b32 y; call (x), f, (y); call (x), %rd1, (y), P;\n"
                      "B: .branchtargets E, D; brx.idx %r1, B; D: E: }",
                      "x");
    const ir_func *k = ir_module_func(module, "k");
    const ir_insn *call = &k->insns[0], *indirect = &k->insns[1];
    assert_int_equal(call->noperands, 3);
    assert_int_equal(call->operands[0].kind, IR_OPD_LIST);
    assert_int_equal(call->operands[0].items[0].kind, IR_OPD_SYM);
    assert_string_equal(call->operands[0].items[0].sym.var->name, "x");
    assert_int_equal(call->operands[1].sym.kind, IR_SYM_FUNC);
    const ir_label *proto = &k->labels[indirect->operands[3].label];
    assert_int_equal(proto->kind, IR_LABEL_PROTOTYPE);
    assert_int_equal(proto->prototype->nparams, 1);
    assert_int_equal(proto->pc, IR_NONE);
    assert_int_equal(k->labels[1].kind, IR_LABEL_CALLTARGETS);
    assert_string_equal(k->labels[1].callees[1].func->name, "g");
    const ir_label *table = &k->labels[k->insns[2].operands[1].label];
    assert_int_equal(table->count, 2);
    assert_string_equal(k->labels[table->targets[0]].name, "E");
    assert_ptr_equal(ir_module_func(module, "h")->alias, ir_module_func(module, "g"));
    ir_module_free(module);
}

static void test_initialisers(void **state)
{
    (void)state;
    module = parse_ok(
        HEAD
        ".global .u32 y; .global .u64 x[3] = {generic(y)+8, y, -1}; .global .b8 s[] = {1, 2, 3};"
        ".global .u8 m[2] = {0xFF(y), 0xFF00(y+2)};",
        "x");
    const ir_var *x = module_var(module, "x"), *m = module_var(module, "m");
    assert_int_equal(x->init.kind, IR_INIT_LIST);
    assert_int_equal(x->init.count, 3);
    assert_true(x->init.items[0].generic);
    assert_int_equal(x->init.items[0].bits, 8);
    assert_ptr_equal(x->init.items[0].sym.var, module_var(module, "y"));
    assert_int_equal(x->init.items[1].kind, IR_INIT_ADDRESS);
    assert_int_equal((int64_t)x->init.items[2].bits, -1);
    assert_int_equal(ir_var_size(module_var(module, "s")), 3);
    assert_int_equal(m->init.items[1].mask, 2);
    assert_int_equal(m->init.items[1].bits, 2);
    ir_module_free(module);
}

static void test_inequality(void **state)
{
    (void)state;
    static const char *const variants[] = {
        "add.s32 %r1, %r2, 1;",
        "add.s32 %r1, %r2, 2;",
        "add.u32 %r1, %r2, 1;",
        "add.s32 %r1, %r3, 1;",
        "@%p1 add.s32 %r1, %r2, 1;",
        "@!%p1 add.s32 %r1, %r2, 1;",
        "L: add.s32 %r1, %r2, 1;",
        "add.s32 %r1, %r2, 0x1;",
        "{ add.s32 %r1, %r2, 1; }",
        ".loc 1 1 1 add.s32 %r1, %r2, 1;",
        ".pragma \"x\"; add.s32 %r1, %r2, 1;",
        ".reg .b32 z; add.s32 %r1, %r2, 1;",
        "add.s32 %r1, %r2, 1; ret;",
        "mov.u64 %rd1, p;",
        "mov.u64 %rd1, p+8;",
    };
    enum { N = sizeof variants / sizeof *variants };
    ir_module *modules[N];
    for (size_t i = 0; i < N; i++) {
        parse_kernel(variants[i]);
        modules[i] = module;
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < N; j++)
            assert_int_equal(modules_equal(modules[i], modules[j]), i == j);
    for (size_t i = 0; i < N; i++)
        ir_module_free(modules[i]);
}

/* Operators over integers of either sign, and over floating-point numbers. */
static void test_constant_expressions(void **state)
{
    static const struct {
        const char *text;
        int64_t value;
    } cases[] = {
        {"7 / 2 * 2 + 7 % 2", 7},
        {"-7 / 2", -3},
        {"1 << 4 | 0xf0 >> 4", 0x1f},
        {"6 & 3 ^ 1", 3},
        {"!0 + !7", 1},
        {"~0", -1},
        {"WARP_SZ - 1", 31},
        {"1 == 1", 1},
        {"1 == 2", 0},
        {"1 != 1", 0},
        {"1 != 2", 1},
        {"1 < 2", 1},
        {"2 < 2", 0},
        {"2 <= 2", 1},
        {"3 <= 2", 0},
        {"2 > 1", 1},
        {"2 > 2", 0},
        {"2 >= 2", 1},
        {"2 >= 3", 0},
        {"-1 < 1", 1},
        {"-1 < 1U", 0},
        {"2 && 1", 1},
        {"2 && 0", 0},
        {"0 || 2", 1},
        {"0 || 0", 0},
        {"1.5 == 1.5", 1},
        {"1.5 == 2.5", 0},
        {"1.5 != 1.5", 0},
        {"1.5 != 2.5", 1},
        {"1.5 < 2.5", 1},
        {"2.5 < 2.5", 0},
        {"2.5 <= 2.5", 1},
        {"3.5 <= 2.5", 0},
        {"2.5 > 1.5", 1},
        {"2.5 > 2.5", 0},
        {"2.5 >= 2.5", 1},
        {"2.5 >= 3.5", 0},
        {"0.5 && 1", 1},
        {"0.5 && 0.0", 0},
        {"0.0 || 0.5", 1},
        {"0.0 || 0", 0},
        {"1.5 + 2.0 == 3.5", 1},
        {"1.5 - 2.0 == -0.5", 1},
        {"1.5 * 2.0 == 3.0", 1},
        {"1.5 / 2.0 == 0.75", 1},
        {"0f3F800000 == 1.0", 1},
        {"!0.5", 0},
        {"!0.0", 1},
        {"0.0 ? 3 : 4", 4},
        {"0.5 ? 3 : 4", 3},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[128];
        snprintf(text, sizeof text, "mov.u64 %%rd1, %s;", cases[i].text);
        const ir_func *k = parse_kernel(text);
        if ((int64_t)k->insns[0].operands[1].imm != cases[i].value)
            fail_msg("%s is %lld", cases[i].text, (long long)k->insns[0].operands[1].imm);
        ir_module_free(module);
    }
}

/* Passes build operands by hand: numbers that stand for nothing are refused, not followed. */
static void test_verify_numbers(void **state)
{
    (void)state;
    wl_error err = {0};
    const ir_func *k = parse_kernel("add.s32 %r1, %r2, 1; bra L; L:");
    assert_int_equal(ptx_verify(module, "x", &err), WL_OK);
    uint32_t reg = k->insns[0].operands[1].reg;
    k->insns[0].operands[1].reg = k->nregs;
    assert_int_equal(ptx_verify(module, "x", &err), WL_PARSE);
    k->insns[0].operands[1].reg = reg;
    k->insns[1].operands[0].label = k->nlabels;
    assert_int_equal(ptx_verify(module, "x", &err), WL_PARSE);
    k->insns[1].operands[0].label = 0;
    k->insns[1].guard = reg;
    assert_int_equal(ptx_verify(module, "x", &err), WL_PARSE);
    ir_module_free(module);
}

static void test_verify_messages(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message;
    } samples[] = {
        {"add.s32 %r1, %r2;", "x:7:1: 'add' takes 3 operands here, not 2\n\tadd.s32 %r1, %r2;"},
        {"setp.lt.s32 %p1, %r1;",
         "x:7:1: 'setp' takes at least 3 operands here, not 2\n\tsetp.lt.s32 %p1, %r1;"},
        {"add.s32 [%rd1], %r2, 1;",
         "x:7:9: operand 1 of 'add' must be a register\n\tadd.s32 [%rd1], %r2, 1;"},
        {"add.s32 %r1, %f2, 1;",
         "x:7:14: '%f2' is a register .f32, this operand is .s32\n\tadd.s32 %r1, %f2, 1;"},
        {"add.s32 %r1, %r2, 0f00000000;", "x:7:19: a floating-point number does not fit an operand "
                                          ".s32\n\tadd.s32 %r1, %r2, 0f00000000;"},
        {"add.sat.u32 %r1, %r2, 1;",
         "x:7:1: '.u32' does not fit here in an instruction 'add'\n\tadd.sat.u32 %r1, %r2, 1;"},
        {"fma.f32 %f1, %f2, %f3, %f4;",
         "x:7:1: 'fma' lacks a suffix: one of rn|rz|rm|rp\n\tfma.f32 %f1, %f2, %f3, %f4;"},
        {"elect.sync %r1, -1;", "x:7:12: operand 1 of 'elect' must be a register or '_' and a "
                                "predicate after '|'\n\telect.sync %r1, -1;"},
        {"add.s32 %r1, [%rd1], 1;",
         "x:7:14: operand 2 of 'add' must be a register or a number\n\tadd.s32 %r1, [%rd1], 1;"},
        {"mov.u32 %r1, [%rd1];", "x:7:14: operand 2 of 'mov' must be a register, a number, a "
                                 "special register or a symbol\n\tmov.u32 %r1, [%rd1];"},
        {"ld.global.u32 %r1, %rd1;",
         "x:7:20: operand 2 of 'ld' must be an address in brackets\n\tld.global.u32 %r1, %rd1;"},
        {"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, %r1;",
         "x:7:41: operand 2 of 'tex' must be a handle and coordinates in "
         "brackets\n\ttex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, %r1;"},
        {"bra 5;", "x:7:5: operand 1 of 'bra' must be a label\n\tbra 5;"},
        {"call 5;", "x:7:1: the operands of 'call' do not fit together\n\tcall 5;"},
        {"ldmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd1], [%rd1];",
         "x:7:42: operand 1 of 'ldmatrix' must be a register or a "
         "vector\n\tldmatrix.sync.aligned.m8n8.x1.shared.b16 [%rd1], [%rd1];"},
        {"mov.u32 %r1, %tid;", "x:7:14: '%tid' needs a component\n\tmov.u32 %r1, %tid;"},
        {"ld.global.u32 %r1, [%p1];",
         "x:7:20: '%p1' cannot hold an address\n\tld.global.u32 %r1, [%p1];"},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        wl_error err = {0};
        parse_kernel(samples[i].text);
        assert_int_equal(ptx_verify(module, "x", &err), WL_PARSE);
        assert_string_equal(err.text, samples[i].message);
        ir_module_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_module),
                                       cmocka_unit_test(test_instruction),
                                       cmocka_unit_test(test_costs_and_effects),
                                       cmocka_unit_test(test_scopes_and_labels),
                                       cmocka_unit_test(test_locations),
                                       cmocka_unit_test(test_calls),
                                       cmocka_unit_test(test_initialisers),
                                       cmocka_unit_test(test_inequality),
                                       cmocka_unit_test(test_constant_expressions),
                                       cmocka_unit_test(test_verify_numbers),
                                       cmocka_unit_test(test_verify_messages)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
