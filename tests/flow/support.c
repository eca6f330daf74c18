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
