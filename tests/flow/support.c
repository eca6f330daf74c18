#include "support.h"

void subject_begin(subject *s, const char *ptx, const char *kernel)
{
    wl_error err = {0};
    *s = (subject){.arena = wl_arena_new()};
    if (ptx_parse(ptx, strlen(ptx), "test", &s->module, &err) != WL_OK)
        fail_msg("%s", err.text);
    ir_func *func = ir_module_func(s->module, kernel);
    assert_non_null(func);
    assert_int_equal(ir_kernel_of(s->module, func, s->arena, &s->code), WL_OK);
    s->kernel = flow_kernel_new(&s->code, s->arena);
    assert_non_null(s->kernel);
    assert_int_equal(flow_prove_kernel(s->kernel, s->arena, &s->proof), WL_OK);
    assert_int_equal(flow_run(s->kernel, FLOW_PASS_ilp), WL_OK);
    s->f = &s->kernel->funcs[0];
}

void subject_end(subject *s)
{
    wl_arena_free(s->arena);
    ir_module_free(s->module);
}

uint32_t pc_of(const subject *s, const char *text, unsigned n)
{
    for (uint32_t k = 0; k < s->code.count; k++)
        for (uint32_t i = 0; i < s->code.funcs[k]->ninsns; i++) {
            char line[512];
            ptx_print_insn(s->module, s->code.funcs[k], &s->code.funcs[k]->insns[i], line,
                           sizeof line);
            if (strstr(line, text) && n-- == 0)
                return s->code.first_pc[k] + i;
        }
    fail_msg("no instruction '%s'", text);
    return 0;
}

uint32_t rnd(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*state >> 33) % below);
}

uint64_t insn_computes(const ir_insn *insn, uint64_t a, uint64_t b, uint64_t c)
{
    switch (insn->op) {
    case IR_mov: return a;
    case IR_add: return a + b;
    case IR_sub: return a - b;
    case IR_xor: return a ^ b;
    case IR_and: return a & b;
    case IR_or: return a | b;
    case IR_not: return !a; /* of predicates */
    case IR_min: return a < b ? a : b;
    case IR_mul: return a * b;
    case IR_mad: return a * b + c;
    case IR_shl: return a << b;
    case IR_shr: return a >> b;
    case IR_selp: return c ? a : b;
    default: fail_msg("unexpected instruction %u", (unsigned)insn->op); return 0;
    }
}

bool insn_compares(const ir_insn *insn, uint32_t a, uint32_t b)
{
    bool is_signed = ir_type_get(insn->types[0])->kind == IR_KIND_S;
    int64_t x = is_signed ? (int32_t)a : (int64_t)a, y = is_signed ? (int32_t)b : (int64_t)b;
    switch (ir_first_of(insn, IR_SC_CMP)) {
    case IR_S_lt: return x < y;
    case IR_S_le: return x <= y;
    case IR_S_gt: return x > y;
    case IR_S_ge: return x >= y;
    case IR_S_eq: return x == y;
    default: return x != y;
    }
}
