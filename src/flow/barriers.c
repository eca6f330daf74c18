/* Barriers, and whether they alone order what a kernel does. */
#include "flow/barriers.h"

#include "flow/taint.h"

/* ---- instructions ---- */

static const ir_operand *operand_at(const ir_insn *insn, uint32_t n)
{
    return n < insn->noperands ? &insn->operands[n] : NULL;
}

static bool is_constant(const ir_operand *o, uint32_t number)
{
    return o && o->kind == IR_OPD_INT && (uint32_t)o->imm == number;
}

/* Barrier 0, of all threads. */
static bool meets_block(const ir_insn *insn)
{
    bool result = ir_has(insn, IR_S_red);
    if (ir_has(insn, IR_S_cluster) || ir_has(insn, IR_S_arrive))
        return false;
    return result ? insn->noperands == 3 && is_constant(operand_at(insn, 1), 0)
                  : insn->noperands == 1 && is_constant(operand_at(insn, 0), 0);
}

static bool has_any_of(const ir_insn *insn, const ir_suffix *suffixes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ir_has(insn, suffixes[i]))
            return true;
    return false;
}

static bool is_plain_access(const ir_insn *insn)
{
    static const ir_suffix others[] = {IR_S_volatile, IR_S_relaxed, IR_S_acquire, IR_S_release,
                                       IR_S_mmio,     IR_S_async,   IR_S_bulk};
    return (insn->op == IR_ld || insn->op == IR_ldu || insn->op == IR_st) &&
           !has_any_of(insn, others, sizeof others / sizeof *others);
}

/* It orders nothing but itself: relaxed, as atomics are that do not say otherwise. */
static bool is_plain_atomic(const ir_insn *insn)
{
    static const ir_suffix others[] = {IR_S_acquire, IR_S_release, IR_S_acq_rel, IR_S_async,
                                       IR_S_bulk};
    bool own = insn->space == IR_SPACE_SHARED || insn->space == IR_SPACE_GLOBAL;
    return (insn->op == IR_atom || insn->op == IR_red) && own &&
           !has_any_of(insn, others, sizeof others / sizeof *others);
}

/* It neither accesses memory nor waits, nor tells of other threads but by its own result. */
static bool acts_alone(const ir_insn *insn)
{
    switch (insn->op) {
    case IR_shfl:
    case IR_vote: return ir_has(insn, IR_S_sync);
    case IR_call:
    case IR_activemask:
    case IR_bget:
    case IR_elect:
    case IR_nanosleep:
    case IR_griddepcontrol:
    case IR_clusterlaunchcontrol:
    case IR_cp:
    case IR_mbarrier:
    case IR_wgmma:
    case IR_tcgen05:
    case IR_setmaxnreg:
    case IR_mapa:
    case IR_getctarank:
    case IR_istypep:
    case IR_brkpt: return false;
    default: return true;
    }
}

static bool reads_clock(const ir_operand *o)
{
    if (o->kind == IR_OPD_SREG && ir_sreg_get(o->sreg)->source == IR_SOURCE_CLOCK)
        return true;
    for (uint32_t i = 0; i < o->count; i++)
        if (reads_clock(&o->items[i]))
            return true;
    return false;
}

static const char *why_not_insn(const flow_function *f, const ir_insn *insn)
{
    for (uint32_t n = 0; n < insn->noperands; n++)
        if (reads_clock(&insn->operands[n]))
            return "it reads a clock";
    switch (f->effects[insn->pc]) {
    case IR_EFFECT_NONE: return acts_alone(insn) ? NULL : "it calls, waits or asks who is there";
    case IR_EFFECT_LOAD:
    case IR_EFFECT_STORE:
        return is_plain_access(insn) ? NULL : "it accesses memory otherwise than by plain loads";
    case IR_EFFECT_BARRIER:
        return flow_is_warp_barrier(insn) ? NULL
               : flow_is_barrier(insn)
                   ? meets_block(insn) ? NULL : "some threads meet by themselves"
                   : "it waits for more than threads";
    case IR_EFFECT_ATOMIC:
        return is_plain_atomic(insn) ? NULL : "its atomics order memory, or it is not known which";
    default: return "it copies or orders memory otherwise";
    }
}

/* ---- who comes to a barrier ---- */

static flow_level guard_level(const flow_function *f, const ir_insn *insn)
{
    flow_level level = FLOW_GRID;
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++) {
        flow_level one = flow_level_at(f, f->uses[u].value, f->block_of[insn->pc]);
        if (f->uses[u].role == FLOW_USE_GUARD && one > level)
            level = one;
    }
    return level;
}

/* Do all threads of the block, or warp, execute it equally often? */
static bool comes_together(const flow_function *f, const ir_insn *insn, flow_level most)
{
    uint32_t block = f->block_of[insn->pc];
    for (uint32_t l = f->loops.of[block]; l != FLOW_NONE; l = f->loops.loops[l].parent)
        if (f->loop_level[l] > most)
            return false;
    return f->control_level[block] <= most && guard_level(f, insn) <= most;
}

static bool names_whole_warp(const ir_insn *insn)
{
    return is_constant(operand_at(insn, 0), UINT32_MAX);
}

/* ---- the kernel ---- */

static const char *why_not_kernel(const flow_kernel *k)
{
    const flow_function *f = &k->funcs[0];
    if (k->code->count > 1 || k->calls_unknown)
        return "it calls functions";
    if (f->loops.irreducible)
        return "its loops cannot be told";
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        const char *why = why_not_insn(f, insn);
        if (!f->blocks[f->block_of[i]].reached)
            continue;
        if (f->unknown[i])
            return "it has instructions that are not known";
        if (!why && flow_is_barrier(insn) && !comes_together(f, insn, FLOW_BLOCK))
            why = "not all threads come to the same barriers";
        if (why)
            return why;
    }
    return NULL;
}

static bool is_known_barrier(const flow_function *f, const ir_insn *insn)
{
    if (!f->blocks[f->block_of[insn->pc]].reached)
        return false;
    return flow_is_barrier(insn) || (flow_is_warp_barrier(insn) && names_whole_warp(insn) &&
                                     comes_together(f, insn, FLOW_WARP));
}

wl_status flow_find_barriers(const flow_kernel *k, wl_arena *arena, flow_barriers *out)
{
    const flow_function *f = &k->funcs[0];
    *out = (flow_barriers){.why_not = why_not_kernel(k)};
    if (out->why_not)
        return WL_OK;
    out->rows = wl_new_array(arena, flow_barrier, (size_t)f->func->ninsns + 1);
    for (uint32_t i = 0; out->rows && i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        flow_meets meets = flow_is_warp_barrier(insn) ? FLOW_MEETS_WARP
                           : ir_has(insn, IR_S_red)   ? FLOW_MEETS_RESULT
                                                      : FLOW_MEETS_BLOCK;
        if (is_known_barrier(f, insn))
            out->rows[out->count++] = (flow_barrier){f->first_pc + i, (uint8_t)meets};
    }
    return out->rows ? WL_OK : WL_NOMEM;
}
