/* Graphs that were launched: their nodes, which of them wait for which, and what each did in a
 * launch. */
#include "profile/builder.h"

/* Readers follow edges from node to node: they lead forward, or a damaged capture led in circles.
 */
static bool edges_lead_forward(const cap_graph *graph)
{
    for (uint32_t i = 0; i < graph->nedges; i++) {
        const cap_edge *e = &graph->edges[i];
        if (e->from >= e->to || e->to >= graph->nnodes)
            return false;
    }
    return true;
}

wl_status builder_graph(prof_builder *b, const cap_graph *graph, wl_error *err)
{
    if (!graph->id || !edges_lead_forward(graph)) {
        return wl_fail(err, WL_CORRUPT, "The capture's graph %u does not hold together.",
                       graph->id);
    }
    uint32_t id = builder_id(b, &b->process.graphs, graph->id, &b->ngraphs);
    const row_graph row = {id, b->process.id, graph->edges_known};
    wl_status status = b->nomem ? NOMEM(err)
                                : table_insert_graphs(b->insert[TABLE_graphs], &row, err);
    for (uint32_t i = 0; i < graph->nnodes && status == WL_OK; i++) {
        const row_graph_node node = {id, i, graph->types[i]};
        status = table_insert_graph_nodes(b->insert[TABLE_graph_nodes], &node, err);
    }
    for (uint32_t i = 0; i < graph->nedges && status == WL_OK; i++) {
        const row_graph_edge edge = {id, graph->edges[i].from, graph->edges[i].to};
        status = table_insert_graph_edges(b->insert[TABLE_graph_edges], &edge, err);
    }
    return status;
}

wl_status builder_graph_run(prof_builder *b, const cap_graph_run *run, wl_error *err)
{
    uint32_t id = builder_id(b, &b->process.graphs, run->graph, &b->ngraphs);
    uint32_t call = builder_call(b, run->call);
    if (!id || !call) {
        return b->nomem
                   ? NOMEM(err)
                   : wl_fail(err, WL_CORRUPT, "The capture launches a graph without a number.");
    }
    const row_graph_run row = {call, id};
    wl_status status = table_insert_graph_runs(b->insert[TABLE_graph_runs], &row, err);
    for (uint32_t i = 0; i < run->nnodes && status == WL_OK; i++) {
        if (run->ordinals[i]) {
            const row_graph_step step = {call, i, run->ordinals[i]};
            status = table_insert_graph_steps(b->insert[TABLE_graph_steps], &step, err);
        }
    }
    return status;
}
