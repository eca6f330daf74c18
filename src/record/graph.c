/* Graphs and their edges, flattened: child graphs lie in the graph that holds them. */
#include "record/graph.h"

#include "record/record.h"

void rec_graph_add(rec_graph *graph, uint32_t type)
{
    graph->lost |= !wl_push(&graph->types, type) || !wl_push(&graph->nearest, UINT32_MAX);
}

static void add_graph_edge(rec_graph *graph, uint32_t from, uint32_t to)
{
    graph->lost |= !wl_push(&graph->edges, (cap_edge){from, to});
    if (to < graph->nearest.data[from])
        graph->nearest.data[from] = to;
}

void rec_graph_wait(rec_graph *graph, uint32_t node, rec_nodes before)
{
    for (uint32_t i = before.first; i < before.end && !graph->lost; i++)
        if (graph->nearest.data[i] >= before.end) /* a last one: none in there waits for it */
            add_graph_edge(graph, i, node);
}

void rec_graph_clear(rec_graph *graph)
{
    wl_vec_free(&graph->types);
    wl_vec_free(&graph->nearest);
    wl_vec_free(&graph->edges);
    *graph = (rec_graph){0};
}

uint32_t rec_graph_number(rec_graph *graph)
{
    if (graph->lost || !rec_g.writer)
        return 0;
    if (graph->number)
        return graph->number;
    graph->number = ++rec_g.next_graph;
    cap_graph record = {.id = graph->number,
                        .edges_known = !graph->edges_unknown,
                        .nnodes = (uint32_t)graph->types.count,
                        .types = graph->types.data,
                        .nedges = graph->edges_unknown ? 0 : (uint32_t)graph->edges.count,
                        .edges = graph->edges.data};
    REC_WRITE(graph, &record);
    return graph->number;
}

void rec_graph_ran(uint32_t number, uint32_t call, uint64_t *ordinals, uint32_t count)
{
    cap_graph_run record = {.call = call, .graph = number, .nnodes = count, .ordinals = ordinals};
    REC_WRITE(graph_run, &record);
}
