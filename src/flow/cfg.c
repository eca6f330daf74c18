/* Basic blocks and what follows from their graph. */
#include "flow/launch.h"

#include "ir/module.h"

typedef flow_list(flow_edge) edge_list;

/* ---- where control leaves ---- */

static bool is_guarded(const ir_insn *insn)
{
    return insn->guard != IR_NONE;
}

/* A direct call of a function that never returns: the launch fails there. */
static bool calls_noreturn(const flow_kernel *k, const ir_func *func, const ir_insn *insn)
{
    flow_call call = flow_call_of(func, insn);
    return call.target && call.target->kind == IR_OPD_SYM && call.target->sym.kind == IR_SYM_FUNC &&
           flow_callee(k, insn) == FLOW_NONE &&
           flow_extern_of(call.target->sym.func) == FLOW_EXTERN_NORETURN;
}

static bool never_returns(const flow_kernel *k, const ir_func *func, const ir_insn *insn)
{
    return insn->op == IR_trap || (insn->op == IR_call && calls_noreturn(k, func, insn));
}

/* A call in which the thread may end. */
static bool may_end(const flow_kernel *k, const ir_func *func, const ir_insn *insn)
{
    if (insn->op != IR_call)
        return false;
    uint32_t callee = flow_callee(k, insn);
    if (callee != FLOW_NONE)
        return k->funcs[callee].may_exit;
    if (flow_call_of(func, insn).target->kind != IR_OPD_REG)
        return false;
    for (uint32_t f = 0; f < k->code->count; f++)
        if (k->funcs[f].pointed && k->funcs[f].may_exit)
            return true;
    return false;
}

static bool closes_basic_block(const flow_kernel *k, const ir_func *func, const ir_insn *insn)
{
    switch (insn->op) {
    case IR_bra:
    case IR_brx:
    case IR_ret:
    case IR_exit: return true;
    default: return (never_returns(k, func, insn) && !is_guarded(insn)) || may_end(k, func, insn);
    }
}

/* A fixpoint, since functions may call each other. */
static void find_exits(flow_kernel *k)
{
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t f = 0; f < k->code->count; f++) {
            const ir_func *func = k->code->funcs[f];
            bool exits = false;
            for (uint32_t i = 0; i < func->ninsns; i++)
                exits |= func->insns[i].op == IR_exit || may_end(k, func, &func->insns[i]);
            changed |= exits != k->funcs[f].may_exit;
            k->funcs[f].may_exit = exits;
        }
    }
}

/* ---- blocks ---- */

static void find_blocks(flow_kernel *k, flow_function *f)
{
    const ir_func *func = f->func;
    bool *leads = flow_new(&k->mem, bool, (size_t)func->ninsns + 1);
    leads[0] = true;
    for (uint32_t l = 0; l < func->nlabels; l++)
        if (func->labels[l].kind == IR_LABEL_CODE && func->labels[l].pc <= func->ninsns)
            leads[func->labels[l].pc] = true;
    for (uint32_t i = 0; i < func->ninsns; i++)
        if (closes_basic_block(k, func, &func->insns[i]))
            leads[i + 1] = true;
    f->blocks = flow_new(&k->mem, flow_block, (size_t)func->ninsns + 1);
    f->block_of = flow_new(&k->mem, uint32_t, (size_t)func->ninsns + 1);
    for (uint32_t i = 0; i < func->ninsns; i++) {
        if (leads[i])
            f->blocks[f->nblocks++].first = i;
        f->blocks[f->nblocks - 1].count++;
        f->block_of[i] = f->nblocks - 1;
    }
    f->block_of[func->ninsns] = f->nblocks; /* behind the last instruction is the exit */
}

/* ---- edges ---- */

typedef struct builder {
    flow_kernel *k;
    flow_function *f;
    edge_list edges;
} builder;

static void edge(builder *b, uint32_t from, uint32_t to)
{
    flow_push(&b->k->mem, &b->edges, (flow_edge){from, to});
}

static void edge_to_label(builder *b, uint32_t from, uint32_t label)
{
    uint32_t pc = b->f->func->labels[label].pc;
    edge(b, from, pc <= b->f->func->ninsns ? b->f->block_of[pc] : b->f->nblocks);
}

static void edges_of_branch(builder *b, uint32_t from, const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->noperands; i++) {
        const ir_operand *o = &insn->operands[i];
        if (o->kind != IR_OPD_LABEL)
            continue;
        const ir_label *label = &b->f->func->labels[o->label];
        if (label->kind == IR_LABEL_CODE)
            edge_to_label(b, from, o->label);
        for (uint32_t t = 0; label->kind == IR_LABEL_BRANCHTARGETS && t < label->count; t++)
            edge_to_label(b, from, label->targets[t]);
    }
}

static void edges_of(builder *b, uint32_t block)
{
    const ir_func *func = b->f->func;
    uint32_t last = b->f->blocks[block].first + b->f->blocks[block].count - 1;
    const ir_insn *insn = &func->insns[last];
    uint32_t next = b->f->block_of[last + 1];
    uint8_t decided = b->f->decided ? b->f->decided[last] : FLOW_DECIDED_OPEN;
    bool falls = is_guarded(insn) && decided != FLOW_DECIDED_RUNS;
    bool ends = insn->op == IR_bra || insn->op == IR_ret || insn->op == IR_exit;
    if (ends && decided == FLOW_DECIDED_NEVER) {
        edge(b, block, next);
        return;
    }
    switch (insn->op) {
    case IR_bra:
    case IR_brx: edges_of_branch(b, block, insn); break;
    case IR_ret:
    case IR_exit: edge(b, block, b->f->nblocks); break;
    default:
        if (never_returns(b->k, func, insn))
            break;
        falls = true;
        if (may_end(b->k, func, insn))
            edge(b, block, b->f->nblocks);
    }
    if (falls)
        edge(b, block, next);
}

/* A block is doomed where it faults, or all that follow it are. */
static void find_doomed(builder *b, const flow_graph *g)
{
    flow_function *f = b->f;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t v = f->nblocks; v-- > 0;) {
            bool doomed = true;
            for (uint32_t i = g->succ_first[v]; i < g->succ_first[v + 1]; i++)
                doomed &= g->succ[i] != f->nblocks && f->blocks[g->succ[i]].doomed;
            changed |= doomed && !f->blocks[v].doomed;
            f->blocks[v].doomed |= doomed;
        }
    }
}

/* Keeps the edges between reached blocks that are not doomed. */
static void prune(builder *b, const flow_graph *g)
{
    flow_function *f = b->f;
    uint32_t *order = flow_new(&b->k->mem, uint32_t, g->n);
    uint32_t *number = flow_new(&b->k->mem, uint32_t, g->n);
    if (f->nblocks)
        f->blocks[0].doomed = false; /* a kernel that always fails is analysed all the same */
    edge_list kept = {0};
    for (uint32_t i = 0; i < b->edges.count; i++) {
        flow_edge e = b->edges.data[i];
        if (e.to == f->nblocks || !f->blocks[e.to].doomed)
            flow_push(&b->k->mem, &kept, e);
    }
    flow_graph rest;
    flow_graph_make(&b->k->mem, g->n, kept.data, kept.count, &rest);
    flow_graph_order(&b->k->mem, &rest, 0, order, number);
    b->edges.count = 0;
    for (uint32_t i = 0; i < kept.count; i++)
        if (number[kept.data[i].from] != FLOW_NONE)
            flow_push(&b->k->mem, &b->edges, kept.data[i]);
    for (uint32_t v = 0; v < f->nblocks; v++)
        f->blocks[v].reached = number[v] != FLOW_NONE;
}

/* Blocks that never reach the exit (endless loops) get an edge there, the last of them in program
 * order first. */
static void connect_endless(builder *b)
{
    flow_function *f = b->f;
    uint32_t n = f->nblocks + 1, *stack = flow_new(&b->k->mem, uint32_t, n), depth = 0;
    bool *leaves = flow_new(&b->k->mem, bool, n);
    flow_graph g;
    flow_graph_make(&b->k->mem, n, b->edges.data, b->edges.count, &g);
    for (uint32_t next = n; next-- > 0;) {
        if (next < f->nblocks && (leaves[next] || !f->blocks[next].reached))
            continue;
        if (next < f->nblocks)
            edge(b, next, f->nblocks);
        leaves[next] = true;
        stack[depth++] = next;
        while (depth) {
            uint32_t v = stack[--depth];
            for (uint32_t i = g.pred_first[v]; i < g.pred_first[v + 1]; i++)
                if (!leaves[g.pred[i]])
                    leaves[g.pred[i]] = true, stack[depth++] = g.pred[i];
        }
    }
}

static void analyse_function(flow_kernel *k, flow_function *f)
{
    builder b = {.k = k, .f = f};
    flow_graph g;
    uint32_t n = f->nblocks + 1;
    for (uint32_t v = 0; v < f->nblocks; v++)
        edges_of(&b, v);
    flow_graph_make(&k->mem, n, b.edges.data, b.edges.count, &g);
    find_doomed(&b, &g);
    prune(&b, &g);
    connect_endless(&b);
    flow_graph_make(&k->mem, n, b.edges.data, b.edges.count, &f->graph);
    f->order = flow_new(&k->mem, uint32_t, n);
    f->number = flow_new(&k->mem, uint32_t, n);
    f->norder = flow_graph_order(&k->mem, &f->graph, 0, f->order, f->number);
    flow_graph back = flow_graph_reverse(&f->graph);
    flow_dominators(&k->mem, &f->graph, 0, &f->dom);
    flow_dominators(&k->mem, &back, f->nblocks, &f->post);
    flow_control_dependence(&k->mem, &f->graph, &f->post, &f->control);
    flow_find_loops(&k->mem, &f->graph, &f->dom, 0, &f->loops);
}

/* Needs: objects (pointed). Fills: may_exit, blocks, block_of, graph, order, dom, post, control,
 * loops. Node nblocks is the exit. A launch that faults is of no interest: edges to blocks from
 * which every path ends in `trap` or a function that does not return are left out, and a guarded
 * trap is taken for one that does not happen. */
void flow_pass_cfg(flow_kernel *k)
{
    find_exits(k);
    for (uint32_t i = 0; i < k->code->count; i++) {
        find_blocks(k, &k->funcs[i]);
        analyse_function(k, &k->funcs[i]);
    }
}
