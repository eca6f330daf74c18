/* Products that ptxas contracts with a sum to fma.
 *
 * It does so for a product without a rounding of its own that has one use, within a basic block.
 * Code of ours between the two may hold branches, which end the block; then the sum would be
 * rounded twice, and the kernel's results would not be those that it has without probes. So such a
 * product is computed once more, right before the sum; the first one is dead. */
#include "rewrite/code/body.h"

static bool rounds_as_it_likes(const ir_insn *insn)
{
    return ir_type_get(insn->types[0])->kind == IR_KIND_F && !ir_has(insn, IR_S_rn) &&
           !ir_has(insn, IR_S_rz) && !ir_has(insn, IR_S_rm) && !ir_has(insn, IR_S_rp);
}

static bool is_sum(const ir_insn *insn)
{
    return (insn->op == IR_add || insn->op == IR_sub) && rounds_as_it_likes(insn);
}

static bool is_product(const flow_function *f, uint32_t value)
{
    const flow_value *v = &f->values[value];
    if (v->kind != FLOW_VALUE_INSN || f->user_first[value + 1] - f->user_first[value] != 1)
        return false;
    const ir_insn *insn = &f->func->insns[v->insn];
    return insn->op == IR_mul && insn->guard == IR_NONE && rounds_as_it_likes(insn);
}

/* Does an instruction in (from, to) write to a register that `from` reads? */
static bool changes(const flow_function *f, uint32_t from, uint32_t to)
{
    for (uint32_t u = f->use_first[from]; u < f->use_first[from + 1]; u++)
        for (uint32_t d = f->def_first[from + 1]; d < f->def_first[to]; d++)
            if (f->values[f->defs[d]].reg == f->values[f->uses[u].value].reg)
                return true;
    return false;
}

/* Is there something between the two that may carry code of ours? */
static bool are_apart(const rw_body *b, uint32_t from, uint32_t to)
{
    uint32_t pc = b->f->first_pc;
    for (uint32_t i = from + 1; i <= to; i++)
        if (b->plan->site_first[pc + i + 1] > b->plan->site_first[pc + i] ||
            b->plan->code.leader[pc + b->index + i])
            return true;
    return false;
}

void rw_print_products(rw_body *b, uint32_t i)
{
    const flow_function *f = b->f;
    const ir_insn *insn = &f->func->insns[i];
    if (!is_sum(insn) || insn->guard != IR_NONE)
        return;
    for (uint32_t u = f->use_first[i]; u < f->use_first[i + 1]; u++) {
        uint32_t value = f->uses[u].value, from = f->values[value].insn;
        if (!is_product(f, value) || f->block_of[from] != f->block_of[i] || from >= i ||
            !are_apart(b, from, i) || changes(f, from, i))
            continue;
        ptx_stmt stmt = {.kind = PTX_STMT_INSN, .index = from};
        ptx_print_stmt(b->out, b->plan->module, b->func, &stmt);
    }
}
