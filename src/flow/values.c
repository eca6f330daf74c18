/* Static single assignment form (Cytron et al., 1991) over the registers of a function, pruned by
 * liveness. The PTX is left alone: each operand gets the number of the value that it reads. */
#include "flow/operands.h"

#include <string.h>

typedef flow_list(flow_value) value_list;
typedef flow_list(uint32_t) word_list;

typedef struct undo {
    uint32_t reg, value;
} undo;

typedef struct builder {
    flow_kernel *k;
    flow_function *f;
    flow_raws raws;
    value_list values;
    uint32_t *current; /* [nregs + 1] value that a register holds, or FLOW_NONE */
    uint32_t *entry;   /* [nregs + 1] */
    flow_list(undo) log;
    flow_list(uint32_t) args;
} builder;

/* ---- phis ---- */

/* Blocks that write a register which lives across blocks, as rows by its number. */
static flow_rows writers(builder *b, uint32_t count)
{
    flow_function *f = b->f;
    flow_list(flow_edge) pairs = {0};
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        for (uint32_t r = b->raws.first[i]; r < b->raws.first[i + 1]; r++) {
            uint32_t n = f->live_reg[b->raws.item[r].reg];
            if (b->raws.item[r].def && n != FLOW_NONE && f->blocks[f->block_of[i]].reached)
                flow_push(&b->k->mem, &pairs, (flow_edge){n, f->block_of[i]});
        }
    uint32_t n = count > f->nblocks ? count : f->nblocks;
    flow_graph g;
    flow_graph_make(&b->k->mem, n + 1, pairs.data, pairs.count, &g);
    return (flow_rows){g.succ_first, g.succ};
}

/* Pairs of block and register: where paths with different values meet. */
static void place_phis(builder *b, const flow_rows *frontier)
{
    flow_function *f = b->f;
    uint32_t nregs = f->func->nregs + 1, count = f->live_words * 64;
    uint32_t *reg_of = flow_words(&b->k->mem, count, FLOW_NONE);
    for (uint32_t r = 0; r < nregs; r++)
        if (f->live_reg[r] != FLOW_NONE)
            reg_of[f->live_reg[r]] = r;
    flow_rows rows = writers(b, count);
    uint32_t *work = flow_new(&b->k->mem, uint32_t, (size_t)f->nblocks + 1);
    uint32_t *queued = flow_words(&b->k->mem, (size_t)f->nblocks + 1, FLOW_NONE);
    uint32_t *placed = flow_words(&b->k->mem, (size_t)f->nblocks + 1, FLOW_NONE);
    flow_list(flow_edge) phis = {0};
    for (uint32_t n = 0; n < count; n++) {
        uint32_t depth = 0;
        for (uint32_t i = rows.first[n]; i < rows.first[n + 1]; i++)
            queued[rows.item[i]] = n, work[depth++] = rows.item[i];
        while (depth) {
            uint32_t v = work[--depth];
            for (uint32_t i = frontier->first[v]; i < frontier->first[v + 1]; i++) {
                uint32_t join = frontier->item[i];
                if (join == f->nblocks || placed[join] == n ||
                    !flow_bit(f->live_in + (size_t)join * f->live_words, n))
                    continue;
                placed[join] = n;
                flow_push(&b->k->mem, &phis, (flow_edge){join, reg_of[n]});
                if (queued[join] != n)
                    queued[join] = n, work[depth++] = join;
            }
        }
    }
    uint32_t rows_of = f->nblocks + 1 > nregs ? f->nblocks + 1 : nregs;
    flow_graph g;
    flow_graph_make(&b->k->mem, rows_of, phis.data, phis.count, &g);
    f->phi_first = g.succ_first;
    f->phis = g.succ; /* registers for now */
}

static uint32_t new_value(builder *b, flow_value value)
{
    flow_push(&b->k->mem, &b->values, value);
    return b->values.count - 1;
}

static void make_phis(builder *b)
{
    flow_function *f = b->f;
    for (uint32_t v = 0; v < f->nblocks; v++)
        for (uint32_t i = f->phi_first[v]; i < f->phi_first[v + 1]; i++) {
            uint32_t npreds = f->graph.pred_first[v + 1] - f->graph.pred_first[v];
            f->phis[i] = new_value(b, (flow_value){.kind = FLOW_VALUE_PHI,
                                                   .reg = f->phis[i],
                                                   .block = v,
                                                   .insn = FLOW_NONE,
                                                   .old = FLOW_NONE,
                                                   .first_arg = b->args.count});
            for (uint32_t p = 0; p < npreds; p++)
                flow_push(&b->k->mem, &b->args, FLOW_NONE);
        }
}

/* ---- renaming ---- */

static uint32_t current_value(builder *b, uint32_t reg)
{
    if (b->current[reg] != FLOW_NONE)
        return b->current[reg];
    if (b->entry[reg] == FLOW_NONE)
        b->entry[reg] = new_value(b, (flow_value){.kind = FLOW_VALUE_ENTRY,
                                                  .reg = reg,
                                                  .insn = FLOW_NONE,
                                                  .old = FLOW_NONE});
    return b->entry[reg];
}

static void set_current_value(builder *b, uint32_t reg, uint32_t value)
{
    flow_push(&b->k->mem, &b->log, (undo){reg, b->current[reg]});
    b->current[reg] = value;
}

/* Uses and defs stand where the raw operands stand; `uses` and `defs` are packed afterwards. */
static void rename_insn(builder *b, uint32_t i, uint32_t *value_of_raw)
{
    flow_function *f = b->f;
    const ir_insn *insn = &f->func->insns[i];
    for (uint32_t r = b->raws.first[i]; r < b->raws.first[i + 1]; r++)
        if (!b->raws.item[r].def)
            value_of_raw[r] = current_value(b, b->raws.item[r].reg);
    for (uint32_t a = f->address_first[i]; a < f->address_first[i + 1]; a++)
        if (f->addresses[a].value != IR_NONE)
            f->addresses[a].value = current_value(b, f->addresses[a].value);
    for (uint32_t r = b->raws.first[i]; r < b->raws.first[i + 1]; r++) {
        const flow_raw *raw = &b->raws.item[r];
        if (!raw->def)
            continue;
        bool keeps = raw->partial || insn->guard != IR_NONE;
        value_of_raw[r] = new_value(b, (flow_value){.kind = FLOW_VALUE_INSN,
                                                    .reg = raw->reg,
                                                    .block = f->block_of[i],
                                                    .insn = i,
                                                    .partial = raw->partial,
                                                    .old = keeps ? current_value(b, raw->reg)
                                                                 : FLOW_NONE});
        set_current_value(b, raw->reg, value_of_raw[r]);
    }
}

static void rename_block(builder *b, uint32_t block, uint32_t *value_of_raw)
{
    flow_function *f = b->f;
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
        set_current_value(b, b->values.data[f->phis[i]].reg, f->phis[i]);
    const flow_block *bb = &f->blocks[block];
    for (uint32_t i = bb->first; i < bb->first + bb->count; i++)
        rename_insn(b, i, value_of_raw);
    for (uint32_t s = f->graph.succ_first[block]; s < f->graph.succ_first[block + 1]; s++) {
        uint32_t to = f->graph.succ[s], pred = f->graph.pred_first[to];
        while (f->graph.pred[pred] != block)
            pred++;
        for (uint32_t i = f->phi_first[to]; to < f->nblocks && i < f->phi_first[to + 1]; i++) {
            uint32_t phi = f->phis[i], arg = current_value(b, b->values.data[phi].reg);
            b->args.data[b->values.data[phi].first_arg + pred - f->graph.pred_first[to]] = arg;
        }
    }
}

/* Blocks in order of the dominator tree's walk; what a block wrote is undone when its subtree ends.
 */
static void rename_all(builder *b, uint32_t *value_of_raw)
{
    flow_function *f = b->f;
    uint32_t n = f->nblocks + 1;
    uint32_t *by_in = flow_words(&b->k->mem, (size_t)n + 2, FLOW_NONE);
    uint32_t *marks = flow_new(&b->k->mem, uint32_t, n), *open = flow_new(&b->k->mem, uint32_t, n),
             depth = 0;
    for (uint32_t v = 0; v < n; v++)
        if (f->dom.in[v])
            by_in[f->dom.in[v]] = v;
    for (uint32_t at = 1; at <= n && by_in[at] != FLOW_NONE; at++) {
        uint32_t v = by_in[at];
        while (depth && !flow_dominates(&f->dom, open[depth - 1], v)) {
            for (uint32_t down = marks[open[--depth]]; b->log.count > down;) {
                undo u = b->log.data[--b->log.count];
                b->current[u.reg] = u.value;
            }
        }
        marks[v] = b->log.count;
        open[depth++] = v;
        if (v < f->nblocks)
            rename_block(b, v, value_of_raw);
    }
}

/* ---- tables ---- */

static void pack_values(builder *b, const uint32_t *value_of_raw)
{
    flow_function *f = b->f;
    uint32_t n = f->func->ninsns, total = b->raws.first[n];
    f->def_first = flow_new(&b->k->mem, uint32_t, (size_t)n + 1);
    f->use_first = flow_new(&b->k->mem, uint32_t, (size_t)n + 1);
    f->defs = flow_new(&b->k->mem, uint32_t, total);
    f->uses = flow_new(&b->k->mem, flow_use, total);
    uint32_t ndefs = 0, nuses = 0;
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t r = b->raws.first[i]; r < b->raws.first[i + 1]; r++)
            if (value_of_raw[r] != FLOW_NONE && b->raws.item[r].def)
                f->defs[ndefs++] = value_of_raw[r];
            else if (value_of_raw[r] != FLOW_NONE)
                f->uses[nuses++] = (flow_use){value_of_raw[r], b->raws.item[r].role};
        f->def_first[i + 1] = ndefs;
        f->use_first[i + 1] = nuses;
    }
    for (uint32_t a = 0; a < f->address_first[n]; a++)
        if (!f->blocks[f->block_of[f->addresses[a].insn]].reached)
            f->addresses[a].value = FLOW_NONE;
}

static void find_users(builder *b)
{
    flow_function *f = b->f;
    uint32_t n = f->func->ninsns;
    f->user_first = flow_new(&b->k->mem, uint32_t, (size_t)f->nvalues + 2);
    uint32_t *count = f->user_first + 1;
    for (int pass = 0; pass < 2; pass++) {
#define USER(value, user)                              \
    do {                                               \
        if (pass)                                      \
            f->users[f->user_first[value]++] = (user); \
        else                                           \
            count[value]++;                            \
    } while (0)
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t u = f->use_first[i]; u < f->use_first[i + 1]; u++)
                USER(f->uses[u].value, i);
        for (uint32_t v = 0; v < f->nvalues; v++) {
            const flow_value *value = &f->values[v];
            if (value->old != FLOW_NONE)
                USER(value->old, n + v);
            uint32_t nargs = value->kind == FLOW_VALUE_PHI ? f->graph.pred_first[value->block + 1] -
                                                                 f->graph.pred_first[value->block]
                                                           : 0;
            for (uint32_t a = 0; a < nargs; a++)
                USER(f->args[value->first_arg + a], n + v);
        }
#undef USER
        if (pass)
            break;
        for (uint32_t v = 0; v < f->nvalues; v++)
            count[v] += v ? count[v - 1] : 0;
        f->users = flow_new(&b->k->mem, uint32_t, f->nvalues ? count[f->nvalues - 1] : 0);
    }
    memmove(f->user_first + 1, f->user_first, f->nvalues * sizeof *f->user_first);
    f->user_first[0] = 0;
}

static void build(flow_kernel *k, flow_function *f)
{
    builder b = {.k = k, .f = f};
    flow_read_operands(k, f, &b.raws);
    flow_find_liveness(k, f, &b.raws);
    flow_rows frontier;
    flow_frontiers(&k->mem, &f->graph, &f->dom, &frontier);
    place_phis(&b, &frontier);
    make_phis(&b);
    b.current = flow_words(&k->mem, (size_t)f->func->nregs + 1, FLOW_NONE);
    b.entry = flow_words(&k->mem, (size_t)f->func->nregs + 1, FLOW_NONE);
    uint32_t *value_of_raw = flow_words(&k->mem, b.raws.first[f->func->ninsns], FLOW_NONE);
    rename_all(&b, value_of_raw);
    f->values = b.values.data;
    f->nvalues = b.values.count;
    f->args = b.args.data;
    pack_values(&b, value_of_raw);
    find_users(&b);
}

/* Needs: cfg. Fills: values, args, defs, uses, phis, users, addresses, effects, unknown, live_reg,
 * live_in. Only reached instructions have values. Every argument of a phi is set, since edges come
 * from reached blocks only. */
void flow_pass_values(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++)
        build(k, &k->funcs[i]);
}
