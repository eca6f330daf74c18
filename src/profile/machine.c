/* Relates machine code to the basic blocks of the PTX that it was made from. */
#include "profile/machine.h"

#include "ir/expansion.h"
#include "ir/kernel.h"

#include <stdlib.h>
#include <string.h>

#define LEAST_MEMORY 0.25 /* of a loop's memory instructions, machine code to PTX */
#define MOST_MEMORY 1.5
#define MOST_UNKNOWN 0.1 /* of its instructions */

typedef struct origin { /* of a machine instruction: one of the PTX */
    uint32_t func;      /* FLOW_NONE: not known */
    uint32_t insn;
} origin;

typedef struct machine_block {
    uint32_t first, count;
    bool slow;            /* for rare operands only, or what is left over of an unrolled loop */
    uint32_t func, block; /* of the PTX, that it runs as often as; FLOW_NONE: not known */
    double times;         /* a run of that block */
} machine_block;

typedef struct machine_loop {
    uint32_t func, loop; /* of the PTX; FLOW_NONE: ptxas made it */
    double copies;       /* of the body */
    double share;        /* of the runs of the PTX's loop */
} machine_loop;

typedef struct region { /* the kernel, or a subroutine */
    uint32_t entry, func;
    uint32_t *caller; /* blocks that call it */
} region;

typedef struct machine {
    flow_mem mem;
    const flow_kernel *flow;
    const sass_code *code;
    const char *text;
    machine_counts *out;
    origin *origins; /* [code->count] */
    machine_block *blocks;
    uint32_t nblocks;
    uint32_t *block_of;
    flow_graph graph;
    flow_tree dom;
    flow_loops loops;
    machine_loop *made; /* [loops.count] */
    uint8_t *seen;      /* [nblocks] in a region that was counted */
} machine;

/* ---- the same text ---- */

static bool is_blank_char(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Whether two lines differ in blanks only; what ptxas left empty says nothing. */
static bool same_line(const char *kept, const char *kept_end, const char *text,
                      const char *text_end)
{
    bool empty = true;
    for (;;) {
        while (kept < kept_end && is_blank_char(*kept))
            kept++;
        while (text < text_end && is_blank_char(*text))
            text++;
        if (kept == kept_end)
            return empty || text == text_end ||
                   (text + 1 < text_end && text[0] == '/' && text[1] == '/');
        if (text == text_end || *kept != *text)
            return false;
        empty = false;
        kept++;
        text++;
    }
}

static bool same_ptx_text(const sass_code *code, const char *text)
{
    const char *kept = code->ptx, *end = kept + code->ptx_bytes;
    while (kept < end && *text) {
        const char *kept_end = memchr(kept, '\0', (size_t)(end - kept));
        const char *text_end = strchrnul(text, '\n');
        if (!kept_end)
            kept_end = end;
        if (!same_line(kept, kept_end, text, text_end))
            return false;
        kept = kept_end + 1;
        text = *text_end ? text_end + 1 : text_end;
    }
    return true;
}

/* ---- where instructions come from ---- */

static origin *origins_by_line(machine *m, uint32_t *count)
{
    const ir_kernel *code = m->flow->code;
    uint32_t last = 0;
    for (uint32_t f = 0; f < code->count; f++)
        for (uint32_t i = 0; i < code->funcs[f]->ninsns; i++)
            last = code->funcs[f]->insns[i].pos.line > last ? code->funcs[f]->insns[i].pos.line
                                                            : last;
    origin *by_line = flow_new(&m->mem, origin, (size_t)last + 1);
    for (uint32_t line = 0; line <= last; line++)
        by_line[line].func = FLOW_NONE;
    for (uint32_t f = code->count; f-- > 0;)
        for (uint32_t i = 0; i < code->funcs[f]->ninsns; i++)
            by_line[code->funcs[f]->insns[i].pos.line] = (origin){f, i};
    *count = last + 1;
    return by_line;
}

static void find_origins(machine *m)
{
    uint32_t count;
    origin *by_line = origins_by_line(m, &count), none = {FLOW_NONE, 0};
    m->origins = flow_new(&m->mem, origin, m->code->count);
    for (uint32_t i = 0; i < m->code->count; i++) {
        uint32_t line = m->code->insns[i].line;
        m->origins[i] = line && line < count ? by_line[line] : none;
    }
}

static const ir_insn *insn_of(const machine *m, origin from)
{
    return from.func == FLOW_NONE ? NULL : &m->flow->code->funcs[from.func]->insns[from.insn];
}

static uint32_t block_of_origin(const machine *m, origin from)
{
    return m->flow->funcs[from.func].block_of[from.insn];
}

static uint32_t loop_of_origin(const machine *m, origin from)
{
    return m->flow->funcs[from.func].loops.of[block_of_origin(m, from)];
}

/* ---- basic blocks ---- */

static bool ends_machine_block(const sass_insn *insn)
{
    return insn->flow == SASS_BRANCH || insn->flow == SASS_EXIT || insn->flow == SASS_RETURN;
}

static void find_machine_blocks(machine *m)
{
    uint32_t n = m->code->count;
    uint8_t *leads = flow_new(&m->mem, uint8_t, (size_t)n + 1);
    leads[0] = 1;
    for (uint32_t i = 0; i < n; i++) {
        const sass_insn *insn = &m->code->insns[i];
        if (insn->target < n)
            leads[insn->target] = 1;
        leads[i + 1] |= ends_machine_block(insn);
    }
    m->blocks = flow_new(&m->mem, machine_block, n);
    m->block_of = flow_new(&m->mem, uint32_t, n);
    for (uint32_t i = 0; i < n; i++) {
        if (leads[i])
            m->blocks[m->nblocks++] = (machine_block){.first = i, .func = FLOW_NONE};
        m->blocks[m->nblocks - 1].count++;
        m->block_of[i] = m->nblocks - 1;
    }
}

static const sass_insn *last_of(const machine *m, uint32_t block)
{
    return &m->code->insns[m->blocks[block].first + m->blocks[block].count - 1];
}

static origin last_origin(const machine *m, uint32_t block)
{
    return m->origins[m->blocks[block].first + m->blocks[block].count - 1];
}

/* Node nblocks leads to the entry of every region, so that one walk reaches all. */
static void make_machine_graph(machine *m, const region *regions, uint32_t nregions)
{
    flow_edge *edges = flow_new(&m->mem, flow_edge, (size_t)m->nblocks * 2 + nregions);
    uint32_t count = 0;
    for (uint32_t b = 0; b < m->nblocks; b++) {
        const sass_insn *last = last_of(m, b);
        bool ends = ends_machine_block(last) && !last->conditional;
        if (last->flow == SASS_BRANCH && last->target < m->code->count)
            edges[count++] = (flow_edge){b, m->block_of[last->target]};
        if (!ends && b + 1 < m->nblocks)
            edges[count++] = (flow_edge){b, b + 1};
    }
    for (uint32_t r = 0; r < nregions; r++)
        edges[count++] = (flow_edge){m->nblocks, regions[r].entry};
    flow_graph_make(&m->mem, m->nblocks + 1, edges, count, &m->graph);
    flow_dominators(&m->mem, &m->graph, m->nblocks, &m->dom);
    flow_find_loops(&m->mem, &m->graph, &m->dom, m->nblocks, &m->loops);
}

static bool is_ptx_branch(const machine *m, origin from)
{
    const ir_insn *insn = insn_of(m, from);
    return insn &&
           (insn->op == IR_bra || insn->op == IR_brx || insn->op == IR_ret || insn->op == IR_exit);
}

/* ptxas's own branch: no branch of the PTX became it. */
static bool is_inner_branch(const machine *m, uint32_t block)
{
    const sass_insn *last = last_of(m, block);
    origin from = last_origin(m, block);
    return last->flow == SASS_BRANCH && last->conditional && from.func != FLOW_NONE &&
           !is_ptx_branch(m, from);
}

static uint32_t call_in(const machine *m, uint32_t block)
{
    const machine_block *b = &m->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (m->code->insns[i].flow == SASS_CALL)
            return i;
    return FLOW_NONE;
}

/* What a branch of ptxas's own leads to and calls a subroutine is the way of rare operands, as in
 * divisions. */
static void mark_slow_ways(machine *m)
{
    for (uint32_t b = 0; b < m->nblocks; b++) {
        uint32_t first = m->graph.pred_first[b];
        if (call_in(m, b) == FLOW_NONE || m->graph.pred_first[b + 1] != first + 1)
            continue;
        uint32_t pred = m->graph.pred[first];
        m->blocks[b].slow = pred < m->nblocks && is_inner_branch(m, pred);
    }
    for (uint32_t b = 0; b < m->nblocks; b++)
        for (uint32_t s = 0; s < m->nblocks && !m->blocks[b].slow; s++)
            if (m->blocks[s].slow && s != b && flow_dominates(&m->dom, s, b))
                m->blocks[b].slow = true;
}

/* ---- loops ---- */

/* Takes the loop of the PTX whose branch ends the block; false where none does. */
static bool relate_by_branch(machine *m, uint32_t loop, uint32_t block)
{
    origin from = last_origin(m, block);
    if (!is_ptx_branch(m, from) || loop_of_origin(m, from) == FLOW_NONE)
        return false;
    m->made[loop].func = from.func;
    m->made[loop].loop = loop_of_origin(m, from);
    return true;
}

static bool leads_out_of_loop(const machine *m, uint32_t loop, uint32_t block)
{
    for (uint32_t s = m->graph.succ_first[block]; s < m->graph.succ_first[block + 1]; s++)
        if (!flow_in_loop(&m->loops, loop, m->graph.succ[s]))
            return true;
    return false;
}

/* The loop of the PTX whose branch leads back; where ptxas turned the loop so that a branch of its own
 * does, the loop whose branch leads out of it. */
static void relate_loop(machine *m, uint32_t loop)
{
    uint32_t header = m->loops.loops[loop].header;
    m->made[loop] = (machine_loop){FLOW_NONE, FLOW_NONE, 1, 1};
    for (uint32_t p = m->graph.pred_first[header]; p < m->graph.pred_first[header + 1]; p++) {
        uint32_t latch = m->graph.pred[p];
        if (latch < m->nblocks && flow_in_loop(&m->loops, loop, latch) &&
            relate_by_branch(m, loop, latch))
            return;
    }
    for (uint32_t b = 0; b < m->nblocks; b++)
        if (flow_in_loop(&m->loops, loop, b) && leads_out_of_loop(m, loop, b) &&
            relate_by_branch(m, loop, b))
            return;
}

/* The innermost loop around a block that is one of the PTX; FLOW_NONE: there is none. */
static uint32_t related_loop(const machine *m, uint32_t block)
{
    uint32_t loop = m->loops.of[block];
    while (loop != FLOW_NONE && m->made[loop].loop == FLOW_NONE)
        loop = m->loops.loops[loop].parent;
    return loop;
}

/* A class whose single instruction the PTX instruction becomes, that ptxas does not merge with
 * others; IR_COST_COUNT: none. `only_fixed`: one that accesses memory or waits. */
static ir_cost sure_class(const ir_insn *insn, bool only_fixed)
{
    double made[IR_COST_COUNT] = {0}, sum = 0;
    ir_cost cost = IR_COST_COUNT;
    ir_add_expansion(insn, made);
    for (unsigned c = 0; c < IR_COST_COUNT; c++) {
        sum += made[c];
        if (made[c] == 1)
            cost = c;
    }
    bool fixed = cost == IR_COST_MEMORY || cost == IR_COST_ATOMIC || cost == IR_COST_SYNC ||
                 cost == IR_COST_WARP || cost == IR_COST_TENSOR;
    bool sure = fixed || cost == IR_COST_FP32 || cost == IR_COST_FP64 || cost == IR_COST_HALF ||
                cost == IR_COST_SFU || cost == IR_COST_INT;
    return sum == 1 && sure && (fixed || !only_fixed) ? cost : IR_COST_COUNT;
}

static int ascending(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* How often the instructions of a function stand in a loop of the machine code. */
static uint32_t *copies_in_loop(machine *m, uint32_t loop, bool only_fixed)
{
    uint32_t func = m->made[loop].func;
    uint32_t *copies = flow_new(&m->mem, uint32_t, m->flow->funcs[func].func->ninsns);
    for (uint32_t b = 0; b < m->nblocks; b++) {
        if (m->blocks[b].slow || related_loop(m, b) != loop)
            continue;
        for (uint32_t i = m->blocks[b].first; i < m->blocks[b].first + m->blocks[b].count; i++) {
            origin from = m->origins[i];
            if (from.func == func && loop_of_origin(m, from) == m->made[loop].loop &&
                sure_class(insn_of(m, from), only_fixed) == m->code->insns[i].cost)
                copies[from.insn]++;
        }
    }
    return copies;
}

static void measure_unrolling(machine *m, uint32_t loop)
{
    uint32_t n = m->flow->funcs[m->made[loop].func].func->ninsns;
    for (int only_fixed = 1; only_fixed >= 0; only_fixed--) {
        uint32_t *copies = copies_in_loop(m, loop, only_fixed), count = 0;
        for (uint32_t i = 0; i < n; i++)
            if (copies[i])
                copies[count++] = copies[i];
        qsort(copies, count, sizeof *copies, ascending);
        if (count) {
            uint32_t middle = count / 2;
            m->made[loop].copies = copies[middle];
            return;
        }
    }
}

static bool same_ptx_loop(const machine_loop *a, const machine_loop *b)
{
    return a->loop != FLOW_NONE && a->func == b->func && a->loop == b->loop;
}

/* Of several loops that one became, those with most copies of the body do the work; the others are
 * for what is left over. */
static void share_runs(machine *m, uint32_t loop)
{
    double most = 0;
    uint32_t count = 0;
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (same_ptx_loop(&m->made[l], &m->made[loop])) {
            count = m->made[l].copies > most ? 0 : count;
            most = m->made[l].copies > most ? m->made[l].copies : most;
            count += m->made[l].copies == most;
        }
    m->made[loop].share = m->made[loop].copies == most ? 1.0 / count : 0;
}

static void relate_loops(machine *m)
{
    m->made = flow_new(&m->mem, machine_loop, m->loops.count);
    for (uint32_t l = 0; l < m->loops.count; l++)
        relate_loop(m, l);
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (m->made[l].loop != FLOW_NONE)
            measure_unrolling(m, l);
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (m->made[l].loop != FLOW_NONE)
            share_runs(m, l);
}

static bool is_related(const machine *m, uint32_t func, uint32_t loop)
{
    for (uint32_t l = 0; l < m->loops.count; l++)
        if (m->made[l].func == func && m->made[l].loop == loop)
            return true;
    return false;
}

/* ---- how often blocks run ---- */

typedef struct ballot { /* of the PTX's blocks that a machine block's instructions come from */
    uint32_t func, loop;
    uint32_t *fixed, *moving, *guarded; /* [blocks of the function] */
    /* It has stores and the like, or loads and branches, of a loop within, which the machine code has
     * elsewhere, too. */
    bool left_over, perhaps_left_over;
} ballot;

static bool stays_in_place(ir_cost cost)
{
    return cost == IR_COST_ATOMIC || cost == IR_COST_SYNC || cost == IR_COST_WARP;
}

static bool is_made_of_store(const machine *m, uint32_t i)
{
    return m->code->insns[i].cost == IR_COST_MEMORY &&
           ir_insn_form(insn_of(m, m->origins[i]))->effect == IR_EFFECT_STORE;
}

static bool is_made_of_branch(const machine *m, uint32_t i)
{
    return m->code->insns[i].flow == SASS_BRANCH && is_ptx_branch(m, m->origins[i]);
}

static void cast_vote(const machine *m, uint32_t i, ballot *v)
{
    const sass_insn *made = &m->code->insns[i];
    origin from = m->origins[i];
    if (from.func != v->func || made->cost == SASS_PADDING)
        return;
    bool stays = stays_in_place(made->cost) || is_made_of_store(m, i);
    bool fixed = stays || is_made_of_branch(m, i);
    bool guarded = made->conditional && made->flow != SASS_BRANCH;
    uint32_t block = block_of_origin(m, from), loop = loop_of_origin(m, from);
    if (loop == v->loop)
        (guarded ? v->guarded : fixed ? v->fixed : v->moving)[block]++;
    else if (loop != FLOW_NONE && is_related(m, v->func, loop)) {
        v->left_over |= stays;
        v->perhaps_left_over |= fixed || made->cost == IR_COST_MEMORY;
    }
}

/* The block with most votes, the first in order of the code among equals; FLOW_NONE: none has any. */
static uint32_t elected(const uint32_t *votes, uint32_t n)
{
    uint32_t best = FLOW_NONE;
    for (uint32_t b = 0; b < n; b++)
        if (votes[b] && (best == FLOW_NONE || votes[b] > votes[best]))
            best = b;
    return best;
}

/* The block of the PTX that a machine block runs as often as, among those directly in its loop. */
static uint32_t elect_ptx_block(machine *m, uint32_t block, uint32_t func, uint32_t loop)
{
    const flow_function *f = &m->flow->funcs[func];
    ballot v = {func,
                loop,
                flow_new(&m->mem, uint32_t, f->nblocks),
                flow_new(&m->mem, uint32_t, f->nblocks),
                flow_new(&m->mem, uint32_t, f->nblocks),
                false,
                false};
    const machine_block *b = &m->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        cast_vote(m, i, &v);
    uint32_t found = elected(v.fixed, f->nblocks);
    if (found == FLOW_NONE && !v.left_over)
        found = elected(v.moving, f->nblocks);
    if (found == FLOW_NONE && (v.left_over || v.perhaps_left_over)) {
        m->blocks[block].slow = true;
        return FLOW_NONE;
    }
    if (found == FLOW_NONE && (found = elected(v.guarded, f->nblocks)) != FLOW_NONE &&
        f->dom.parent[found] < f->nblocks && f->loops.of[f->dom.parent[found]] == loop)
        found = f->dom.parent[found];
    return found;
}

/* As often as the block that leads to it without a choice, else as its loop or function begins. */
static void inherit_runs(machine *m, uint32_t block, uint32_t func, uint32_t loop)
{
    machine_block *b = &m->blocks[block];
    uint32_t parent = m->dom.parent[block];
    if (parent < m->nblocks && related_loop(m, parent) == related_loop(m, block) &&
        m->blocks[parent].func == func) {
        b->block = m->blocks[parent].block;
        b->slow |= m->blocks[parent].slow;
    } else {
        b->block = loop == FLOW_NONE ? 0 : m->flow->funcs[func].loops.loops[loop].header;
    }
}

static void find_runs(machine *m, uint32_t block, uint32_t func)
{
    machine_block *b = &m->blocks[block];
    uint32_t loop = related_loop(m, block), ptx_loop = FLOW_NONE;
    b->times = 1;
    if (loop != FLOW_NONE && m->made[loop].func == func) {
        ptx_loop = m->made[loop].loop;
        b->times = m->made[loop].share / m->made[loop].copies;
    }
    b->func = func;
    if (b->slow)
        return;
    b->block = elect_ptx_block(m, block, func, ptx_loop);
    if (b->block == FLOW_NONE && !b->slow)
        inherit_runs(m, block, func, ptx_loop);
}

/* ---- subroutines ---- */

/* The function that most instructions from here on come from. */
static uint32_t func_from(const machine *m, uint32_t entry, uint32_t otherwise)
{
    for (uint32_t i = m->blocks[entry].first; i < m->code->count; i++) {
        if (m->origins[i].func != FLOW_NONE)
            return m->origins[i].func;
        if (m->code->insns[i].flow == SASS_RETURN)
            break;
    }
    return otherwise;
}

static uint32_t find_regions(machine *m, region *regions)
{
    uint32_t count = 1;
    regions[0] = (region){0, 0, NULL};
    for (uint32_t i = 0; i < m->code->count; i++) {
        const sass_insn *insn = &m->code->insns[i];
        if (insn->flow != SASS_CALL || insn->target >= m->code->count)
            continue;
        uint32_t entry = m->block_of[insn->target], r = 0;
        while (r < count && regions[r].entry != entry)
            r++;
        if (r == count)
            regions[count++] = (region){entry, func_from(m, entry, 0), NULL};
    }
    return count;
}

/* ---- the sum ---- */

static void add_machine_block(machine *m, const machine_block *b, uint32_t func, uint32_t block,
                              double times)
{
    double (*counts)[IR_COST_COUNT] = m->out->by_block[func];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        uint8_t cost = m->code->insns[i].cost;
        if (cost < IR_COST_COUNT)
            counts[block][cost] += times;
    }
}

static void count_region(machine *m, const region *r)
{
    const flow_function *f = &m->flow->funcs[r->func];
    if (!m->out->by_block[r->func])
        m->out->by_block[r->func] = flow_alloc(&m->mem, f->nblocks + 1,
                                               sizeof(double[IR_COST_COUNT]));
    uint32_t *order = flow_new(&m->mem, uint32_t, m->graph.n),
             *number = flow_new(&m->mem, uint32_t, m->graph.n);
    uint32_t n = flow_graph_order(&m->mem, &m->graph, r->entry, order, number);
    for (uint32_t i = 0; i < n; i++) {
        if (order[i] >= m->nblocks || m->seen[order[i]])
            continue;
        m->seen[order[i]] = 1;
        find_runs(m, order[i], r->func);
        const machine_block *b = &m->blocks[order[i]];
        if (!b->slow)
            add_machine_block(m, b, b->func, b->block, b->times);
    }
}

/* Subroutines that ptxas adds run where they are called; each of the program's own is a function. */
static bool is_ptxas_helper(const machine *m, const region *r)
{
    return r->entry != 0 && r->func == 0 && m->flow->code->count >= 1;
}

static void count_helper(machine *m, const region *r)
{
    uint32_t *order = flow_new(&m->mem, uint32_t, m->graph.n),
             *number = flow_new(&m->mem, uint32_t, m->graph.n);
    uint32_t n = flow_graph_order(&m->mem, &m->graph, r->entry, order, number);
    for (uint32_t i = 0; i < m->code->count; i++) {
        const sass_insn *call = &m->code->insns[i];
        const machine_block *at = &m->blocks[m->block_of[i]];
        if (call->flow != SASS_CALL || call->target >= m->code->count ||
            m->block_of[call->target] != r->entry || at->slow || at->func == FLOW_NONE)
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (order[k] < m->nblocks)
                add_machine_block(m, &m->blocks[order[k]], at->func, at->block, at->times);
    }
}

/* ---- whether it can be trusted ---- */

static double memory_of(const double counts[IR_COST_COUNT])
{
    return counts[IR_COST_MEMORY] + counts[IR_COST_ATOMIC];
}

/* A loop within this one was unrolled whole: its instructions count in this one. */
static bool holds_unrolled(const machine *m, uint32_t func, uint32_t loop)
{
    const flow_loops *loops = &m->flow->funcs[func].loops;
    for (uint32_t l = 0; l < loops->count; l++)
        if (loops->loops[l].parent == loop &&
            (!is_related(m, func, l) || holds_unrolled(m, func, l)))
            return true;
    return false;
}

/* Parameters of functions are passed in registers. */
static bool accesses_parameter(const flow_function *f, uint32_t insn)
{
    uint32_t first = f->address_first[insn];
    return first < f->address_first[insn + 1] && f->addresses[first].space == IR_SPACE_PARAM;
}

static double memory_of_ptx(const flow_function *f, uint32_t block)
{
    double expected[IR_COST_COUNT] = {0};
    uint32_t first = f->blocks[block].first;
    for (uint32_t i = first; i < first + f->blocks[block].count; i++)
        if (!accesses_parameter(f, i))
            ir_add_expansion(&f->func->insns[i], expected);
    return memory_of(expected);
}

/* ptxas adds no accesses to memory, moves some out of loops, and merges or leaves out others: what a
 * loop of the machine code has is no more than its PTX has with the loops within, and not far less
 * than that without them. */
static bool keeps_memory(const machine *m, uint32_t func, uint32_t loop)
{
    const flow_function *f = &m->flow->funcs[func];
    double own = 0, within = 0, made = 0;
    for (uint32_t b = 0; b < f->nblocks; b++) {
        if (loop != FLOW_NONE && !flow_in_loop(&f->loops, loop, b))
            continue;
        if (f->loops.of[b] == loop) {
            own += memory_of_ptx(f, b);
            made += memory_of(m->out->by_block[func][b]);
        } else {
            within += memory_of_ptx(f, b);
        }
    }
    bool too_many = made > MOST_MEMORY * (own + within) + 0.5 && !holds_unrolled(m, func, loop);
    return made >= LEAST_MEMORY * own && !too_many;
}

static bool is_trusted(const machine *m)
{
    for (uint32_t f = 0; f < m->flow->code->count; f++) {
        const flow_loops *loops = &m->flow->funcs[f].loops;
        if (!m->out->by_block[f])
            continue;
        for (uint32_t l = 0; l < loops->count; l++)
            if (is_related(m, f, l) && !keeps_memory(m, f, l))
                return false;
        if (!keeps_memory(m, f, FLOW_NONE))
            return false;
    }
    return true;
}

static uint32_t unknown_opcodes(const sass_code *code)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < code->count; i++)
        count += code->insns[i].cost == SASS_UNKNOWN;
    return count;
}

const char *machine_apart(const sass_code *code, const char *text)
{
    if (!code->lines || !code->ptx)
        return "its machine code has no line information (nvcc -lineinfo)";
    return !text || same_ptx_text(code, text) ? "" : "its machine code was made from other PTX";
}

static const char *refusal(const machine *m)
{
    const char *apart = machine_apart(m->code, m->text);
    if (*apart)
        return apart;
    for (uint32_t i = 0; i < m->code->count; i++)
        if (m->code->insns[i].flow == SASS_TABLE)
            return "its machine code branches through a table";
    if (unknown_opcodes(m->code) > MOST_UNKNOWN * m->code->count)
        return "its machine code has opcodes that are not known";
    return NULL;
}

static void relate(void *ctx)
{
    machine *m = ctx;
    find_origins(m);
    find_machine_blocks(m);
    region *regions = flow_new(&m->mem, region, (size_t)m->nblocks + 1);
    uint32_t nregions = find_regions(m, regions);
    make_machine_graph(m, regions, nregions);
    mark_slow_ways(m);
    relate_loops(m);
    m->seen = flow_new(&m->mem, uint8_t, m->nblocks);
    m->out->by_block = flow_alloc(&m->mem, m->flow->code->count, sizeof *m->out->by_block);
    for (uint32_t r = 0; r < nregions; r++)
        if (!is_ptxas_helper(m, &regions[r]))
            count_region(m, &regions[r]);
    for (uint32_t r = 0; r < nregions; r++)
        if (is_ptxas_helper(m, &regions[r]))
            count_helper(m, &regions[r]);
    if (!is_trusted(m))
        *m->out = (machine_counts){.why_not = "its machine code does not go with its PTX"};
}

wl_status machine_count(const flow_kernel *flow, const sass_code *code, const char *text,
                        wl_arena *arena, machine_counts *out)
{
    machine m = {.mem = {.arena = arena}, .flow = flow, .code = code, .text = text, .out = out};
    *out = (machine_counts){.why_not = refusal(&m), .unknown = unknown_opcodes(code)};
    return out->why_not ? WL_OK : flow_guard(&m.mem, relate, &m);
}
