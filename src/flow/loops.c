/* Natural loops and the joins of a branch. */
#include "flow/graph.h"

typedef flow_list(uint32_t) node_list;

typedef struct finder {
    flow_mem *mem;
    const flow_graph *g;
    const flow_tree *dom;
    const uint32_t *number;
    flow_loops *out;
    node_list nodes;
    uint32_t *seen, *stack;
} finder;

static bool is_back_edge(const finder *f, uint32_t from, uint32_t header)
{
    return f->number[from] != FLOW_NONE && flow_dominates(f->dom, header, from);
}

/* All nodes that reach a back edge to the header without passing it. */
static void collect_loop_nodes(finder *f, uint32_t header, flow_loop *loop)
{
    uint32_t depth = 0, mark = f->out->count;
    loop->first = f->nodes.count;
    f->seen[header] = mark;
    flow_push(f->mem, &f->nodes, header);
    for (uint32_t i = f->g->pred_first[header]; i < f->g->pred_first[header + 1]; i++) {
        uint32_t p = f->g->pred[i];
        if (is_back_edge(f, p, header) && f->seen[p] != mark)
            f->seen[p] = mark, f->stack[depth++] = p;
    }
    while (depth) {
        uint32_t v = f->stack[--depth];
        flow_push(f->mem, &f->nodes, v);
        for (uint32_t i = f->g->pred_first[v]; i < f->g->pred_first[v + 1]; i++) {
            uint32_t p = f->g->pred[i];
            if (f->number[p] != FLOW_NONE && f->seen[p] != mark)
                f->seen[p] = mark, f->stack[depth++] = p;
        }
    }
    loop->count = f->nodes.count - loop->first;
}

static void add_loop(finder *f, uint32_t header)
{
    flow_loops *out = f->out;
    flow_loop *loop = &out->loops[out->count];
    collect_loop_nodes(f, header, loop);
    loop->header = header;
    loop->parent = out->of[header];
    loop->depth = loop->parent == FLOW_NONE ? 1 : out->loops[loop->parent].depth + 1;
    for (uint32_t i = 0; i < loop->count; i++)
        out->of[f->nodes.data[loop->first + i]] = out->count;
    out->count++;
}

void flow_find_loops(flow_mem *mem, const flow_graph *g, const flow_tree *dom, uint32_t root,
                     flow_loops *out)
{
    uint32_t *order = flow_new(mem, uint32_t, g->n), *number = flow_new(mem, uint32_t, g->n);
    uint32_t count = flow_graph_order(mem, g, root, order, number);
    *out = (flow_loops){.loops = flow_new(mem, flow_loop, g->n),
                        .of = flow_words(mem, g->n, FLOW_NONE)};
    finder f = {.mem = mem,
                .g = g,
                .dom = dom,
                .number = number,
                .out = out,
                .seen = flow_words(mem, g->n, FLOW_NONE),
                .stack = flow_new(mem, uint32_t, g->n)};
    /* In reverse postorder a header comes before the headers of the loops in its own. */
    for (uint32_t i = 0; i < count; i++) {
        uint32_t v = order[i];
        bool header = false;
        for (uint32_t k = g->pred_first[v]; k < g->pred_first[v + 1]; k++) {
            uint32_t p = g->pred[k];
            header |= is_back_edge(&f, p, v);
            out->irreducible |= number[p] != FLOW_NONE && number[p] >= i && !is_back_edge(&f, p, v);
        }
        if (header)
            add_loop(&f, v);
    }
    out->nodes = f.nodes.data;
}

bool flow_in_loop(const flow_loops *loops, uint32_t loop, uint32_t node)
{
    for (uint32_t l = loops->of[node]; l != FLOW_NONE; l = loops->loops[l].parent)
        if (l == loop)
            return true;
    return false;
}

/* Each successor starts a label of its own name; a node that two labels reach is a join and starts
 * one itself. Labels spread until nothing changes, and not past `stop` nor through the branch. */
uint32_t flow_joins(const flow_graph *g, const uint32_t *number, const uint32_t *order,
                    uint32_t branch, uint32_t stop, uint32_t *scratch, uint32_t *out)
{
    uint32_t low = FLOW_NONE, high = 0, found = 0;
    for (uint32_t i = g->succ_first[branch]; i < g->succ_first[branch + 1]; i++) {
        uint32_t s = g->succ[i];
        scratch[s] = s;
        low = number[s] < low ? number[s] : low;
        high = number[s] > high ? number[s] : high;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = low; i <= high && i != FLOW_NONE; i++) {
            uint32_t v = order[i], label = scratch[v];
            if (label == FLOW_NONE || v == stop || v == branch)
                continue;
            for (uint32_t k = g->succ_first[v]; k < g->succ_first[v + 1]; k++) {
                uint32_t s = g->succ[k], now = scratch[s];
                if (now == label || now == s)
                    continue;
                scratch[s] = now == FLOW_NONE ? label : s;
                changed = true;
                low = number[s] < low ? number[s] : low;
                high = number[s] > high ? number[s] : high;
            }
        }
    }
    for (uint32_t i = low; i <= high && i != FLOW_NONE; i++) {
        uint32_t v = order[i];
        bool start = false;
        for (uint32_t k = g->succ_first[branch]; k < g->succ_first[branch + 1]; k++)
            start |= g->succ[k] == v;
        bool join = scratch[v] == v && !start;
        /* A successor is a join too where the other side leads to it. */
        for (uint32_t k = g->pred_first[v]; start && k < g->pred_first[v + 1]; k++) {
            uint32_t p = g->pred[k];
            join |= p != branch && p != stop && scratch[p] != FLOW_NONE && scratch[p] != v;
        }
        if (join)
            out[found++] = v;
    }
    for (uint32_t i = low; i <= high && i != FLOW_NONE; i++)
        scratch[order[i]] = FLOW_NONE;
    return found;
}
