/* Instruction- and memory-level parallelism of basic blocks, read off the PTX. */
#include "flow/kernel.h"

/* Does the instruction read what one of [first, itself) writes? */
static bool depends(const flow_function *f, uint32_t insn, uint32_t first)
{
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++) {
        const flow_value *v = &f->values[f->uses[u].value];
        if (v->kind == FLOW_VALUE_INSN && v->insn >= first && v->insn < insn)
            return true;
    }
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++) {
        uint32_t old = f->values[f->defs[d]].old;
        if (old != FLOW_NONE && f->values[old].kind == FLOW_VALUE_INSN &&
            f->values[old].insn >= first && f->values[old].insn < insn)
            return true;
    }
    return false;
}

static bool reads_off_chip(const flow_function *f, uint32_t insn)
{
    ir_effect effect = f->effects[insn];
    if (f->def_first[insn] == f->def_first[insn + 1] ||
        (effect != IR_EFFECT_LOAD && effect != IR_EFFECT_ATOMIC && effect != IR_EFFECT_TEXTURE &&
         effect != IR_EFFECT_SURFACE))
        return false;
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++)
        switch (f->addresses[a].space) {
        case IR_SPACE_GLOBAL:
        case IR_SPACE_GENERIC:
        case IR_SPACE_LOCAL:
        case IR_SPACE_TEX: return f->addresses[a].touch & FLOW_READ;
        default: break;
        }
    return false;
}

/* The instruction of the block that first reads a result of `insn`, or the block's end. */
static uint32_t first_use_in_block(const flow_function *f, uint32_t insn, uint32_t end)
{
    uint32_t first = end;
    for (uint32_t d = f->def_first[insn]; d < f->def_first[insn + 1]; d++)
        for (uint32_t u = f->user_first[f->defs[d]]; u < f->user_first[f->defs[d] + 1]; u++)
            if (f->users[u] > insn && f->users[u] < first)
                first = f->users[u];
    return first;
}

static flow_ilp measure_block(const flow_function *f, const flow_block *b)
{
    flow_ilp ilp = {.insns = b->count};
    uint32_t end = b->first + b->count, group = b->first;
    for (uint32_t i = b->first; i < end; i++) {
        if (i == b->first || depends(f, i, group)) {
            group = i;
            ilp.groups++;
        }
        if (!reads_off_chip(f, i))
            continue;
        ilp.loads++;
        uint32_t use = first_use_in_block(f, i, end);
        for (uint32_t k = i; k < use; k++)
            ilp.overlap += reads_off_chip(f, k);
    }
    return ilp;
}

/* Needs: cfg, values. Fills: ilp. */
void flow_pass_ilp(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++) {
        flow_function *f = &k->funcs[i];
        f->ilp = flow_new(&k->mem, flow_ilp, f->nblocks);
        for (uint32_t b = 0; b < f->nblocks; b++)
            f->ilp[b] = measure_block(f, &f->blocks[b]);
    }
}
