/* Graphs and their instances, as both interfaces ask for them: their handles are of the same types.
 * Handles come as the application gave them, and are checked here. What nodes do: node.h. */
#ifndef WL_API_BOTH_GRAPH_H
#define WL_API_BOTH_GRAPH_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* NULL where the handle is not of that kind. */
dev_graph *api_graph_of(CUgraph handle);
dev_node *api_node_of(CUgraphNode handle);
dev_exec *api_exec_of(CUgraphExec handle);

/* ---- graphs ---- */

dev_result api_new_graph(CUgraph *out, unsigned flags);
dev_result api_destroy_graph(CUgraph graph);
dev_result api_clone(CUgraph *out, CUgraph graph);
dev_result api_destroy_node(CUgraphNode node);
dev_result api_node_type(CUgraphNode node, void *type);
dev_result api_child(CUgraphNode node, CUgraph *out);
dev_result api_in_clone(CUgraphNode *out, CUgraphNode original, CUgraph clone);

/* These fill `list` (NULL: they only count) with as many as *room says; the rest of the room gets
 * NULL. */
dev_result api_nodes(CUgraph graph, CUgraphNode *list, size_t *room);
dev_result api_roots(CUgraph graph, CUgraphNode *list, size_t *room);
/* `edges` (may be NULL): the data of edges, which concern programmatic launches only and are 0. */
dev_result api_before(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *edges, size_t *room);
dev_result api_after(CUgraphNode node, CUgraphNode *list, CUgraphEdgeData *edges, size_t *room);
dev_result api_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges,
                     size_t *room);
/* `change`: dev_edge_add or dev_edge_remove. */
dev_result api_change_edges(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,
                            size_t count, dev_result (*change)(dev_node *, dev_node *));

/* ---- instances ---- */

dev_result api_instantiate(CUgraphExec *out, CUgraph graph, unsigned long long flags);
/* With what older interfaces say of an error, which has no node and no text here; both may be
 * NULL. */
dev_result api_instantiate_logged(CUgraphExec *out, CUgraph graph, CUgraphNode *node, char *log,
                                  size_t size);
/* cudaGraphInstantiateParams has the same layout. */
dev_result api_instantiate_with(CUgraphExec *out, CUgraph graph,
                                CUDA_GRAPH_INSTANTIATE_PARAMS *params);
dev_result api_destroy_exec(CUgraphExec exec);
dev_result api_launch(dev_call *call, CUgraphExec exec, CUstream stream, bool per_thread);
dev_result api_upload(dev_call *call, CUgraphExec exec, CUstream stream, bool per_thread);
/* `differs`, `why` (a CUgraphExecUpdateResult): may be NULL. */
dev_result api_update(CUgraphExec exec, CUgraph graph, CUgraphNode *differs, int *why);
dev_result api_update_info(CUgraphExec exec, CUgraph graph, CUgraphExecUpdateResultInfo *info);
dev_result api_update_child(CUgraphExec exec, CUgraphNode node, CUgraph graph);
dev_result api_exec_flags(CUgraphExec exec, void *flags);
/* Whether the instance carries out a kernel, copy or set. */
dev_result api_enabled(CUgraphExec exec, CUgraphNode node, unsigned *enabled);
dev_result api_enable(CUgraphExec exec, CUgraphNode node, bool enabled);

#endif
