/* Registers that are live at the start of blocks. */
#include "flow/operands.h"

typedef struct live {
    flow_function *f;
    const flow_raws *raws;
    uint64_t *gen, *kill; /* [nblocks][words] */
} live;

/* Calls what the instruction reads, then what it writes for good. A guarded or partial write keeps
 * the register alive. */
static bool kills(const ir_insn *insn, const flow_raw *raw)
{
    return raw->def && !raw->partial && insn->guard == IR_NONE;
}

static bool reads(const ir_insn *insn, const flow_raw *raw)
{
    return !raw->def || !kills(insn, raw);
}

/* Registers that some block reads before it writes them. `written` holds the last block that wrote
 * each. */
static void number_registers(flow_kernel *k, flow_function *f, const flow_raws *raws)
{
    uint32_t nregs = f->func->nregs + 1, count = 0;
    uint32_t *written = flow_words(&k->mem, nregs, FLOW_NONE);
    f->live_reg = flow_words(&k->mem, nregs, FLOW_NONE);
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        const ir_insn *insn = &f->func->insns[i];
        uint32_t block = f->block_of[i];
        for (uint32_t r = raws->first[i]; r < raws->first[i + 1]; r++)
            if (reads(insn, &raws->item[r]) && written[raws->item[r].reg] != block &&
                f->live_reg[raws->item[r].reg] == FLOW_NONE)
                f->live_reg[raws->item[r].reg] = count++;
        for (uint32_t r = raws->first[i]; r < raws->first[i + 1]; r++)
            if (kills(insn, &raws->item[r]))
                written[raws->item[r].reg] = block;
    }
    f->live_words = (count + 63) / 64;
}

static void summarise_block(live *l, uint32_t block)
{
    const flow_function *f = l->f;
    uint64_t *gen = l->gen + (size_t)block * f->live_words,
             *kill = l->kill + (size_t)block * f->live_words;
    const flow_block *b = &f->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ir_insn *insn = &f->func->insns[i];
        for (uint32_t pass = 0; pass < 2; pass++)
            for (uint32_t r = l->raws->first[i]; r < l->raws->first[i + 1]; r++) {
                const flow_raw *raw = &l->raws->item[r];
                uint32_t n = f->live_reg[raw->reg];
                if (n == FLOW_NONE)
                    continue;
                if (pass == 0 && reads(insn, raw) && !flow_bit(kill, n))
                    flow_set(gen, n);
                if (pass == 1 && kills(insn, raw))
                    flow_set(kill, n);
            }
    }
}

static bool update_live_out(live *l, uint32_t block)
{
    const flow_function *f = l->f;
    size_t words = f->live_words, at = block * words;
    bool changed = false;
    for (size_t w = 0; w < words; w++) {
        uint64_t out = 0;
        for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
            out |= f->live_in[f->graph.succ[i] * words + w];
        uint64_t in = l->gen[at + w] | (out & ~l->kill[at + w]);
        changed |= in != f->live_in[at + w];
        f->live_in[at + w] = in;
    }
    return changed;
}

void flow_find_liveness(flow_kernel *k, flow_function *f, const flow_raws *raws)
{
    number_registers(k, f, raws);
    size_t words = ((size_t)f->nblocks + 1) * f->live_words;
    live l = {f, raws, flow_new(&k->mem, uint64_t, words), flow_new(&k->mem, uint64_t, words)};
    f->live_in = flow_new(&k->mem, uint64_t, words);
    for (uint32_t b = 0; b < f->nblocks; b++)
        summarise_block(&l, b);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = f->norder; i-- > 0;)
            if (f->order[i] < f->nblocks)
                changed |= update_live_out(&l, f->order[i]);
    }
}
