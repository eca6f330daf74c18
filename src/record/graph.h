/* Graphs as the capture has them: nodes in an order in which they can run, and which of them wait
 * for which. A collector fills one of these where a graph is instantiated, and tells it whenever
 * the instance was launched. */
#ifndef WL_RECORD_GRAPH_H
#define WL_RECORD_GRAPH_H

#include "base/vec.h"
#include "capture/capture.h"

#include <stdbool.h>
#include <stdint.h>

/* A node, and behind it the nodes of the graph that it holds, if it is a child graph. */
typedef struct rec_nodes {
    uint32_t first, end;
} rec_nodes;

typedef struct rec_graph { /* all zero: without nodes, not written yet */
    uint32_t number;       /* in the capture */
    bool edges_unknown;
    bool lost; /* there was no memory for it: it is not written */
    wl_vec(uint32_t) types;
    wl_vec(uint32_t) nearest; /* by node: the first node that waits for it; UINT32_MAX: none */
    wl_vec(cap_edge) edges;
} rec_graph;

/* Another node; `type` as CUgraphNodeType. */
void rec_graph_add(rec_graph *graph, uint32_t type);
/* The node, which comes after them, waits for `before`: where that is a child graph, for the last
 * of its nodes. */
void rec_graph_wait(rec_graph *graph, uint32_t node, rec_nodes before);
void rec_graph_clear(rec_graph *graph);

/* Writes GRAPH, unless that happened; its number, or 0 where it is lost or nothing is recorded.
 * With rec_g.lock held, as the next. */
uint32_t rec_graph_number(rec_graph *graph);
/* Writes GRAPH_RUN: `call` launched it, and the ordinal of what each of the `count` nodes did is
 * this; 0: it left no record. */
void rec_graph_ran(uint32_t number, uint32_t call, uint64_t *ordinals, uint32_t count);

#endif
