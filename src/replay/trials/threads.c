/* Reads from a kernel's code what it counts on of its threads. */
#include "replay/trials/threads.h"

static bool reads_lanes(const ir_operand *o)
{
    if (o->kind != IR_OPD_SREG)
        return false;
    switch (o->sreg) {
    case IR_SR_laneid:
    case IR_SR_warpid:
    case IR_SR_lanemask_eq:
    case IR_SR_lanemask_le:
    case IR_SR_lanemask_lt:
    case IR_SR_lanemask_ge:
    case IR_SR_lanemask_gt: return true;
    default: return false;
    }
}

/* Does it matter to the instruction which threads make up a warp? */
static bool is_of_warps(const ir_insn *insn)
{
    ir_cost cost = ir_op_get(insn->op)->cost;
    bool warps = cost == IR_COST_WARP || cost == IR_COST_TENSOR ||
                 (insn->op == IR_bar && ir_has(insn, IR_S_warp));
    for (uint32_t i = 0; i < insn->noperands && !warps; i++)
        warps = reads_lanes(&insn->operands[i]);
    return warps;
}

uint32_t trial_reads_x(const ir_kernel *code)
{
    uint32_t found = IR_NONE;
    for (uint32_t pc = 0; pc < code->npcs; pc++) {
        const ir_insn *insn = ir_kernel_at(code, pc).insn;
        if (is_of_warps(insn))
            return IR_NONE;
        for (uint32_t i = 0; i < insn->noperands && found == IR_NONE; i++) {
            const ir_operand *o = &insn->operands[i];
            found = o->kind == IR_OPD_SREG && o->sreg == IR_SR_tid && o->component == 1 ? pc
                                                                                        : found;
        }
    }
    return found;
}

/* Do requests move so many sectors beyond those that they need that another order may save some? */
bool trial_wastes_sectors(const obs_summary *s)
{
    double moved = 0, needed = 0;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (s->insns[i].space == ACC_GLOBAL) {
            moved += (double)s->insns[i].sectors;
            needed += (double)s->insns[i].sectors_min;
        }
    return moved > 1.25 * needed;
}

bool trial_reads_sreg(const ir_kernel *code, ir_sreg sreg, uint8_t component)
{
    for (uint32_t pc = 0; pc < code->npcs; pc++) {
        const ir_insn *insn = ir_kernel_at(code, pc).insn;
        for (uint32_t i = 0; i < insn->noperands; i++) {
            const ir_operand *o = &insn->operands[i];
            if (o->kind == IR_OPD_SREG && o->sreg == sreg && o->component == component)
                return true;
        }
    }
    return false;
}

bool trial_asks_for_shape(const replay_tried *l)
{
    enum { IN_X = 1, IN_Y = 2 };
    return l->summary->nshared <= 1 && !l->run.launch.dynamic_shared &&
           trial_reads_sreg(&l->facts->code, IR_SR_ntid, IN_X) &&
           trial_reads_sreg(&l->facts->code, IR_SR_ntid, IN_Y);
}
