#include "flow/graph.h"

#include <string.h>

static void fill_adjacency(flow_mem *mem, uint32_t n, const flow_edge *edges, uint32_t count,
                           bool forward, uint32_t **first, uint32_t **item)
{
    *first = flow_new(mem, uint32_t, (size_t)n + 1);
    *item = flow_new(mem, uint32_t, count);
    for (uint32_t i = 0; i < count; i++)
        (*first)[(forward ? edges[i].from : edges[i].to) + 1]++;
    for (uint32_t v = 0; v < n; v++)
        (*first)[v + 1] += (*first)[v];
    uint32_t *next = flow_new(mem, uint32_t, n);
    memcpy(next, *first, n * sizeof *next);
    for (uint32_t i = 0; i < count; i++)
        (*item)[next[forward ? edges[i].from : edges[i].to]++] = forward ? edges[i].to
                                                                         : edges[i].from;
}

/* Removes what a row has twice; rows keep their order. */
static uint32_t unique(flow_mem *mem, uint32_t n, const flow_edge *edges, uint32_t count,
                       flow_edge *out)
{
    uint32_t *first, *item, kept = 0;
    fill_adjacency(mem, n, edges, count, true, &first, &item);
    uint32_t *seen = flow_words(mem, n, FLOW_NONE);
    for (uint32_t v = 0; v < n; v++)
        for (uint32_t i = first[v]; i < first[v + 1]; i++) {
            if (seen[item[i]] == v)
                continue;
            seen[item[i]] = v;
            out[kept++] = (flow_edge){v, item[i]};
        }
    return kept;
}

void flow_graph_make(flow_mem *mem, uint32_t n, const flow_edge *edges, uint32_t count,
                     flow_graph *out)
{
    flow_edge *once = flow_new(mem, flow_edge, count);
    uint32_t kept = unique(mem, n, edges, count, once);
    out->n = n;
    fill_adjacency(mem, n, once, kept, true, &out->succ_first, &out->succ);
    fill_adjacency(mem, n, once, kept, false, &out->pred_first, &out->pred);
}

flow_graph flow_graph_reverse(const flow_graph *g)
{
    return (flow_graph){.n = g->n,
                        .succ_first = g->pred_first,
                        .succ = g->pred,
                        .pred_first = g->succ_first,
                        .pred = g->succ};
}

uint32_t flow_graph_order(flow_mem *mem, const flow_graph *g, uint32_t root, uint32_t *order,
                          uint32_t *number)
{
    uint32_t *stack = flow_new(mem, uint32_t, g->n), *next = flow_new(mem, uint32_t, g->n);
    uint32_t depth = 0, finished = 0;
    for (uint32_t v = 0; v < g->n; v++)
        number[v] = FLOW_NONE;
    stack[depth++] = root;
    number[root] = 0;
    memcpy(next, g->succ_first, g->n * sizeof *next);
    while (depth) {
        uint32_t v = stack[depth - 1];
        if (next[v] == g->succ_first[v + 1]) {
            order[finished++] = v;
            depth--;
            continue;
        }
        uint32_t to = g->succ[next[v]++];
        if (number[to] == FLOW_NONE) {
            number[to] = 0;
            stack[depth++] = to;
        }
    }
    for (uint32_t i = 0; i < finished / 2; i++) {
        uint32_t other = order[i];
        order[i] = order[finished - 1 - i];
        order[finished - 1 - i] = other;
    }
    for (uint32_t i = 0; i < finished; i++)
        number[order[i]] = i;
    return finished;
}
