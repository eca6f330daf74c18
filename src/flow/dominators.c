/* Dominators, dominance frontiers and control dependence. */
#include "flow/graph.h"

static uint32_t nearest_dominator(const uint32_t *parent, const uint32_t *number, uint32_t a,
                                  uint32_t b)
{
    while (a != b) {
        while (number[a] > number[b])
            a = parent[a];
        while (number[b] > number[a])
            b = parent[b];
    }
    return a;
}

static bool improve(const flow_graph *g, const uint32_t *number, uint32_t v, uint32_t *parent)
{
    uint32_t best = FLOW_NONE;
    for (uint32_t i = g->pred_first[v]; i < g->pred_first[v + 1]; i++) {
        uint32_t p = g->pred[i];
        if (number[p] == FLOW_NONE || parent[p] == FLOW_NONE)
            continue;
        best = best == FLOW_NONE ? p : nearest_dominator(parent, number, best, p);
    }
    bool changed = parent[v] != best;
    parent[v] = best;
    return changed;
}

/* Numbers the tree's walk. Children are linked through `child` and `sibling`. */
static void number_tree(flow_mem *mem, const uint32_t *order, uint32_t count, uint32_t n,
                        flow_tree *tree)
{
    uint32_t *child = flow_words(mem, n, FLOW_NONE), *sibling = flow_words(mem, n, FLOW_NONE);
    for (uint32_t i = count; i-- > 1;) {
        uint32_t v = order[i], parent = tree->parent[v];
        sibling[v] = child[parent];
        child[parent] = v;
    }
    uint32_t clock = 0;
    for (uint32_t v = tree->root; v != FLOW_NONE;) {
        tree->in[v] = ++clock;
        if (child[v] != FLOW_NONE) {
            v = child[v];
            continue;
        }
        tree->out[v] = clock;
        while (v != tree->root && sibling[v] == FLOW_NONE) {
            v = tree->parent[v];
            tree->out[v] = clock;
        }
        v = v == tree->root ? FLOW_NONE : sibling[v];
    }
}

void flow_dominators(flow_mem *mem, const flow_graph *g, uint32_t root, flow_tree *out)
{
    uint32_t *order = flow_new(mem, uint32_t, g->n), *number = flow_new(mem, uint32_t, g->n);
    uint32_t count = flow_graph_order(mem, g, root, order, number);
    *out = (flow_tree){.root = root,
                       .parent = flow_words(mem, g->n, FLOW_NONE),
                       .in = flow_new(mem, uint32_t, g->n),
                       .out = flow_new(mem, uint32_t, g->n)};
    out->parent[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < count; i++)
            changed |= improve(g, number, order[i], out->parent);
    }
    out->parent[root] = FLOW_NONE;
    number_tree(mem, order, count, g->n, out);
}

bool flow_dominates(const flow_tree *tree, uint32_t a, uint32_t b)
{
    return tree->in[a] && tree->in[b] && tree->in[a] <= tree->in[b] && tree->in[b] <= tree->out[a];
}

typedef flow_list(flow_edge) edge_list;

static void rows_of_edges(flow_mem *mem, uint32_t n, const edge_list *pairs, flow_rows *out)
{
    flow_graph g;
    flow_graph_make(mem, n, pairs->data, pairs->count, &g);
    *out = (flow_rows){g.succ_first, g.succ};
}

void flow_frontiers(flow_mem *mem, const flow_graph *g, const flow_tree *tree, flow_rows *out)
{
    edge_list pairs = {0};
    for (uint32_t v = 0; v < g->n; v++) {
        if (!tree->in[v])
            continue;
        for (uint32_t i = g->pred_first[v]; i < g->pred_first[v + 1]; i++)
            for (uint32_t u = g->pred[i]; tree->in[u] && u != tree->parent[v];
                 u = tree->parent[u]) {
                flow_push(mem, &pairs, (flow_edge){u, v});
                if (u == tree->root)
                    break;
            }
    }
    rows_of_edges(mem, g->n, &pairs, out);
}

void flow_control_dependence(flow_mem *mem, const flow_graph *g, const flow_tree *post,
                             flow_rows *out)
{
    edge_list pairs = {0};
    for (uint32_t c = 0; c < g->n; c++) {
        if (!post->in[c] || flow_nsucc(g, c) < 2)
            continue;
        for (uint32_t i = g->succ_first[c]; i < g->succ_first[c + 1]; i++)
            for (uint32_t v = g->succ[i]; v != FLOW_NONE && post->in[v] && v != post->parent[c];
                 v = post->parent[v])
                flow_push(mem, &pairs, (flow_edge){v, c});
    }
    rows_of_edges(mem, g->n, &pairs, out);
}
