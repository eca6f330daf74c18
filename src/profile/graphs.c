/* Graphs that were launched: their nodes, which of them wait for which, and what each did in a launch. */
#include "profile/builder.h"

/* Readers follow edges from node to node: they lead forward, or a damaged capture led in circles. */
static bool edges_lead_forward(const cap_graph *graph)
{
    for (uint32_t i = 0; i < graph->nedges; i++) {
        const cap_edge *e = &graph->edges[i];
        if (e->from >= e->to || e->to >= graph->nnodes) {
            return false;
        }
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
    wl_status status = b->nomem ? NOMEM(err)
                                : db_run(b->stmt[ST_GRAPH], err, db_int(id), db_int(b->process.id),
                                         db_int(graph->edges_known));
    for (uint32_t i = 0; i < graph->nnodes && status == WL_OK; i++) {
        status = db_run(b->stmt[ST_GRAPH_NODE], err, db_int(id), db_int(i),
                        db_int(graph->types[i]));
    }
    for (uint32_t i = 0; i < graph->nedges && status == WL_OK; i++) {
        status = db_run(b->stmt[ST_GRAPH_EDGE], err, db_int(id), db_int(graph->edges[i].from),
                        db_int(graph->edges[i].to));
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
    wl_status status = db_run(b->stmt[ST_GRAPH_RUN], err, db_int(call), db_int(id));
    for (uint32_t i = 0; i < run->nnodes && status == WL_OK; i++) {
        if (run->ordinals[i]) {
            status = db_run(b->stmt[ST_GRAPH_STEP], err, db_int(call), db_int(i),
                            db_int(run->ordinals[i]));
        }
    }
    return status;
}
