/* Goes back from all that lasts (memory, control, what other threads get) to what it is computed
 * from: values that nobody knows may be computed, as long as nothing of that needs them. Descriptors of
 * memory, which every access of sm_90 names, are such values. */
#include "replay/runnable.h"

#include "base/vec.h"
#include "flow/kernel.h"
#include "flow/taint.h"
#include "replay/elements.h"

#include <string.h>

typedef struct needing {
    const sass_body *body;
    const flow_function *f;
    bool *needed;            /* [values] */
    wl_vec(uint32_t) values; /* needed, and not yet gone back from */
    bool alone;
    const ir_insn *unknown; /* a needed value is what nobody knows, or what it does is not known */
    bool nomem;
} needing;

static bool reads_sreg(const ir_insn *insn, ir_sreg sreg)
{
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (insn->operands[i].kind == IR_OPD_SREG && insn->operands[i].sreg == sreg)
            return true;
    return false;
}

/* The instruction runs where the launch's blocks form clusters: its guard is a copy of that. */
static bool is_of_clusters(const flow_function *f, const ir_insn *insn)
{
    for (uint32_t i = f->use_first[insn->pc]; i < f->use_first[insn->pc + 1]; i++) {
        const flow_value *v = &f->values[f->uses[i].value];
        if (f->uses[i].role == FLOW_USE_GUARD && !insn->guard_neg)
            return v->kind == FLOW_VALUE_INSN && v->old == FLOW_NONE &&
                   f->func->insns[v->insn].op == IR_mov &&
                   reads_sreg(&f->func->insns[v->insn], IR_SR_is_explicit_cluster);
    }
    return false;
}

static void need_value(needing *n, uint32_t value)
{
    if (value == FLOW_NONE || n->needed[value])
        return;
    n->needed[value] = true;
    n->nomem |= !wl_push(&n->values, value);
}

static void need_operands(needing *n, const ir_insn *insn)
{
    const flow_function *f = n->f;
    if (reads_sreg(insn, IR_SR_unknown) && is_of_clusters(f, insn))
        n->alone = true;
    else if (reads_sreg(insn, IR_SR_unknown) || f->unknown[insn->pc])
        n->unknown = insn;
    for (uint32_t i = f->use_first[insn->pc]; i < f->use_first[insn->pc + 1]; i++)
        need_value(n, f->uses[i].value);
}

static bool lasts(const flow_function *f, const ir_insn *insn)
{
    bool computes = f->def_first[insn->pc] < f->def_first[insn->pc + 1];
    return !computes || !flow_is_pure(f, insn);
}

static void need_what_lasts(needing *n)
{
    const flow_function *f = n->f;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (f->blocks[f->block_of[i]].reached && lasts(f, &f->func->insns[i]))
            need_operands(n, &f->func->insns[i]);
}

static void go_back_from(needing *n, uint32_t number)
{
    const flow_function *f = n->f;
    const flow_value *v = &f->values[number];
    need_value(n, v->old);
    if (v->kind == FLOW_VALUE_INSN)
        need_operands(n, &f->func->insns[v->insn]);
    if (v->kind != FLOW_VALUE_PHI)
        return;
    uint32_t first = f->graph.pred_first[v->block], end = f->graph.pred_first[v->block + 1];
    for (uint32_t i = 0; i < end - first; i++)
        need_value(n, f->args[v->first_arg + i]);
}

static wl_status find_needed(needing *n, wl_arena *arena)
{
    n->needed = wl_new_array(arena, bool, n->f->nvalues + 1);
    if (!n->needed)
        return WL_NOMEM;
    need_what_lasts(n);
    while (n->values.count && !n->unknown && !n->nomem)
        go_back_from(n, n->values.data[--n->values.count]);
    wl_vec_free(&n->values);
    return n->nomem ? WL_NOMEM : WL_OK;
}

static wl_status look_for_needed(const sass_body *body, const char *kernel, wl_arena *arena,
                                 bool *alone, const ir_insn **unknown)
{
    ir_kernel code;
    const ir_func *func = ir_module_kernel(body->module, kernel);
    if (!func || ir_kernel_of(body->module, func, arena, &code) != WL_OK)
        return WL_NOMEM;
    flow_kernel *flow = flow_kernel_new(&code, arena);
    if (!flow || flow_run(flow, FLOW_PASS_values) != WL_OK)
        return WL_NOMEM;
    needing n = {.body = body, .f = &flow->funcs[0]};
    wl_status status = find_needed(&n, arena);
    *unknown = n.unknown;
    *alone = n.alone;
    return status;
}

static wl_status check_needed(const sass_body *body, const char *kernel, bool *alone, wl_error *err)
{
    char text[200];
    const ir_insn *unknown = NULL;
    wl_arena *arena = wl_arena_new();
    wl_status status = arena ? look_for_needed(body, kernel, arena, alone, &unknown) : WL_NOMEM;
    uint32_t insn = status == WL_OK && unknown ? body->insn_of[unknown->pc] : SASS_NOWHERE;
    wl_arena_free(arena);
    if (status != WL_OK)
        return wl_fail(err, status, "out of memory");
    if (insn == SASS_NOWHERE)
        return WL_OK;
    return wl_fail(err, WL_UNSUPPORTED, "its machine code needs a value that is not known, of %s",
                   sass_body_text(body, insn, text, sizeof text));
}

const char *replay_what_needs_ptx(uint32_t probes)
{
    if (replay_elements_of_arrays(probes))
        return "the probe `shared` needs it";
    return probes >> REWRITE_PATH & 1 ? "the probe `path` needs it" : NULL;
}

wl_status replay_runnable(const sass_body *body, const char *kernel, bool *alone, wl_error *err)
{
    char text[200];
    if (body->undone)
        return wl_fail(err, WL_UNSUPPORTED, "it calls %s, which only its PTX is emulated with",
                       body->undone);
    if (body->lost != SASS_NOWHERE)
        return wl_fail(err, WL_UNSUPPORTED,
                       "its machine code has an instruction that is not known, %s",
                       sass_body_text(body, body->lost, text, sizeof text));
    return check_needed(body, kernel, alone, err);
}
