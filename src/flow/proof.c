/* From taint to what replay may rely on. */
#include "flow/compared.h"
#include "flow/parted.h"
#include "flow/slice.h"

#include <string.h>

typedef struct state {
    flow_kernel *k;
    flow_proof *proof;
    const uint32_t *parted; /* of the function at hand (parted.h) */
} state;

static bool is_memory(const flow_function *f, const ir_insn *insn)
{
    bool touches = false;
    for (uint32_t a = f->address_first[insn->pc]; a < f->address_first[insn->pc + 1]; a++)
        touches |= f->addresses[a].touch && f->addresses[a].space != IR_SPACE_PARAM;
    switch (f->effects[insn->pc]) {
    case IR_EFFECT_LOAD:
    case IR_EFFECT_STORE:
    case IR_EFFECT_ATOMIC:
    case IR_EFFECT_TEXTURE:
    case IR_EFFECT_SURFACE: return touches;
    case IR_EFFECT_COPY: return touches && insn->op != IR_clusterlaunchcontrol;
    default: return false;
    }
}

/* What a launch says of, and nothing writes to. */
static bool is_of_launch(const flow_kernel *k, uint32_t element)
{
    const flow_element *e = &k->elements[element];
    if (e->kind != FLOW_TO_OBJECT)
        return false;
    ir_space space = k->objects[e->object].space;
    return space == IR_SPACE_PARAM || space == IR_SPACE_CONST;
}

/* Does the value point to parameters and constants alone, for certain? */
static bool points_to_launch(const state *s, const flow_points *p)
{
    bool any = false;
    for (uint32_t e = 0; e < s->k->nelements; e++) {
        if (!flow_bit(p->set, e))
            continue;
        if (!is_of_launch(s->k, e))
            return false;
        any = true;
    }
    return any;
}

static bool handle_of_launch(const state *s, const flow_function *f, const ir_insn *insn,
                             const ir_operand *handle)
{
    if (handle->kind == IR_OPD_SYM)
        return handle->sym.kind == IR_SYM_VAR && handle->sym.var->space == IR_SPACE_CONST;
    for (uint32_t u = f->use_first[insn->pc];
         handle->kind == IR_OPD_REG && u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == handle->reg)
            return points_to_launch(s, &f->points[f->uses[u].value]);
    return false;
}

/* A tensor copy's addresses follow from the map that its handle points to: known where that is a
 * parameter or a constant. */
static bool handle_loaded(const state *s, const flow_function *f, const ir_insn *insn)
{
    for (uint32_t a = f->address_first[insn->pc]; a < f->address_first[insn->pc + 1]; a++) {
        const flow_address *at = &f->addresses[a];
        if (at->operand->kind == IR_OPD_TEX && f->effects[insn->pc] == IR_EFFECT_COPY &&
            !handle_of_launch(s, f, insn, &at->operand->items[0]))
            return true;
    }
    return false;
}

static uint32_t last_in_block(const flow_function *f, uint32_t block)
{
    return f->blocks[block].first + f->blocks[block].count - 1;
}

/* What decides which lanes come together. */
static flow_verdict verdict_of_parted(const state *s, const flow_function *f, uint32_t branch)
{
    flow_source source = flow_guard_source(f, &f->func->insns[last_in_block(f, branch)]);
    if (source.reason == FLOW_CLEAN)
        source = flow_branch_source(s->k, f, branch);
    return (flow_verdict){(flow_reason)source.reason, FLOW_THROUGH_BRANCH, source.pc,
                          f->first_pc + last_in_block(f, branch)};
}

static bool is_parted(const state *s, const ir_insn *insn)
{
    return s->parted && s->parted[insn->pc] != FLOW_NONE;
}

static flow_verdict verdict_of(const state *s, const flow_function *f, const ir_insn *insn)
{
    const flow_control *control = &f->guarded[f->block_of[insn->pc]];
    uint32_t pc = f->first_pc + insn->pc;
    if (control->source.reason != FLOW_CLEAN)
        return (flow_verdict){(flow_reason)control->source.reason, FLOW_THROUGH_BRANCH,
                              control->source.pc, control->branch};
    if (is_parted(s, insn))
        return verdict_of_parted(s, f, s->parted[insn->pc]);
    flow_source guard = flow_guard_source(f, insn);
    if (guard.reason != FLOW_CLEAN)
        return (flow_verdict){(flow_reason)guard.reason, FLOW_THROUGH_GUARD, guard.pc, IR_NONE};
    if (f->unknown[insn->pc])
        return (flow_verdict){FLOW_UNKNOWN_OP, FLOW_THROUGH_ADDRESS, pc, IR_NONE};
    flow_place block = flow_in_block(f->block_of[insn->pc]);
    if (flow_runs_where(f, insn, &block) == FLOW_RUNS_NEVER)
        return (flow_verdict){FLOW_CLEAN, FLOW_THROUGH_NONE, IR_NONE, IR_NONE};
    flow_place runs = flow_where(block, flow_guard_literal(f, insn));
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++) {
        flow_source source = flow_value_source(f, f->uses[u].value, &runs);
        if (f->uses[u].role == FLOW_USE_ADDRESS && source.reason != FLOW_CLEAN)
            return (flow_verdict){(flow_reason)source.reason, FLOW_THROUGH_ADDRESS, source.pc,
                                  IR_NONE};
    }
    if (handle_loaded(s, f, insn))
        return (flow_verdict){FLOW_LOADED, FLOW_THROUGH_ADDRESS, pc, IR_NONE};
    return (flow_verdict){FLOW_CLEAN, FLOW_THROUGH_NONE, IR_NONE, IR_NONE};
}

static void judge_access(state *s, const flow_function *f, const ir_insn *insn)
{
    uint32_t pc = f->first_pc + insn->pc;
    if (!is_memory(f, insn))
        return;
    s->proof->flags[pc] |= FLOW_PC_MEMORY;
    s->proof->memory++;
    s->proof->verdicts[pc] = verdict_of(s, f, insn);
    if (s->proof->verdicts[pc].reason != FLOW_CLEAN)
        return;
    s->proof->flags[pc] |= FLOW_PC_PROVEN;
    s->proof->proven++;
}

/* ---- branches whose outcome is not known ---- */

static uint32_t start_of(const flow_function *f, uint32_t block)
{
    return block < f->nblocks ? f->first_pc + f->blocks[block].first : FLOW_REJOIN_END;
}

static void mark_unknown(state *s, uint32_t pc, uint32_t rejoin)
{
    s->proof->flags[pc] |= FLOW_PC_UNKNOWN;
    s->proof->rejoin[pc] = rejoin;
    s->proof->unknown++;
}

static void judge_control(state *s, const flow_function *f, const ir_insn *insn)
{
    uint32_t block = f->block_of[insn->pc], pc = f->first_pc + insn->pc;
    bool reached = f->guarded[block].source.reason == FLOW_CLEAN;
    uint32_t next = insn->pc + 1 < f->func->ninsns ? pc + 1 : FLOW_REJOIN_END;
    bool guard = flow_guard_source(f, insn).reason != FLOW_CLEAN;
    switch (insn->op) {
    case IR_bra:
    case IR_brx:
    case IR_ret:
    case IR_exit:
        if (guard || !reached || flow_branch_source(s->k, f, block).reason != FLOW_CLEAN)
            mark_unknown(s, pc, start_of(f, f->post.parent[block]));
        break;
    case IR_call:
        if (flow_callee(s->k, insn) == FLOW_NONE
                ? flow_call_of(f->func, insn).target->kind == IR_OPD_REG
                : guard || !reached)
            mark_unknown(s, pc, next);
        break;
    default: break;
    }
}

static void judge_function(state *s, const flow_function *f)
{
    s->parted = flow_find_parted(s->k, f);
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        bool reached = f->blocks[f->block_of[i]].reached;
        bool clean = f->guarded[f->block_of[i]].source.reason == FLOW_CLEAN &&
                     !is_parted(s, &f->func->insns[i]);
        if (!reached || clean)
            s->proof->flags[f->first_pc + i] |= FLOW_PC_COUNTED;
        if (!reached)
            continue;
        judge_access(s, f, &f->func->insns[i]);
        judge_control(s, f, &f->func->insns[i]);
    }
}

static flow_class class_of(const flow_proof *p)
{
    if (!p->memory)
        return FLOW_NO_MEMORY;
    if (p->proven == p->memory)
        return FLOW_INDEPENDENT;
    return p->proven ? FLOW_PARTLY : FLOW_DEPENDENT;
}

static void prove_kernel(void *ctx)
{
    state *s = ctx;
    for (uint32_t i = 0; i < s->k->code->count; i++)
        judge_function(s, &s->k->funcs[i]);
    flow_slice(s->k, s->proof->flags);
    for (uint32_t pc = 0; pc < s->proof->npcs; pc++)
        s->proof->slice += s->proof->flags[pc] >> 2 & 1;
    s->proof->class_ = class_of(s->proof);
    flow_find_compared(s->k, s->proof->flags, &s->proof->compared, &s->proof->ncompared);
}

static wl_status allocate_proof(const ir_kernel *code, wl_arena *arena, flow_proof *out)
{
    uint32_t n = code->npcs;
    *out = (flow_proof){.npcs = n,
                        .flags = wl_new_array(arena, uint8_t, n ? n : 1),
                        .rejoin = wl_new_array(arena, uint32_t, n ? n : 1),
                        .verdicts = wl_new_array(arena, flow_verdict, n ? n : 1)};
    if (!out->flags || !out->rejoin || !out->verdicts)
        return WL_NOMEM;
    for (uint32_t i = 0; i < n; i++) {
        out->rejoin[i] = IR_NONE;
        out->verdicts[i] = (flow_verdict){FLOW_CLEAN, FLOW_THROUGH_NONE, IR_NONE, IR_NONE};
    }
    return WL_OK;
}

static wl_status keep_compared(wl_arena *arena, flow_proof *out)
{
    uint64_t *kept = wl_new_array(arena, uint64_t, out->ncompared + 1);
    if (kept && out->ncompared)
        memcpy(kept, out->compared, out->ncompared * sizeof *kept);
    out->compared = kept;
    return kept ? WL_OK : WL_NOMEM;
}

wl_status flow_prove_kernel(flow_kernel *kernel, wl_arena *arena, flow_proof *out)
{
    wl_status status = allocate_proof(kernel->code, arena, out);
    if (status == WL_OK)
        status = flow_run(kernel, FLOW_PASS_taint);
    state s = {.k = kernel, .proof = out};
    status = status == WL_OK ? flow_guard(&kernel->mem, prove_kernel, &s) : status;
    return status == WL_OK ? keep_compared(arena, out) : status;
}

wl_status flow_prove(const ir_kernel *code, wl_arena *arena, flow_proof *out)
{
    wl_arena *work = wl_arena_new();
    flow_kernel *kernel = work ? flow_kernel_new(code, work) : NULL;
    wl_status status = kernel ? flow_prove_kernel(kernel, arena, out) : WL_NOMEM;
    wl_arena_free(work);
    return status;
}
