/* Graphs of operations, their instances, and the capture of streams into graphs. Part of the device layer: the rules of
 * core.h hold. */
#ifndef WL_COLLECT_GRAPH_H
#define WL_COLLECT_GRAPH_H

#include "collect/impl.h"

typedef enum collect_node_type { /* as CUgraphNodeType */
                                 COLLECT_NODE_KERNEL,
                                 COLLECT_NODE_COPY,
                                 COLLECT_NODE_SET,
                                 COLLECT_NODE_HOST,
                                 COLLECT_NODE_CHILD,
                                 COLLECT_NODE_EMPTY,
                                 COLLECT_NODE_WAIT,
                                 COLLECT_NODE_RECORD,
                                 COLLECT_NODE_ALLOC = 10,
                                 COLLECT_NODE_FREE = 11,
                                 COLLECT_NODE_VALUES = 12 /* waits and writes of values */
} collect_node_type;

struct collect_node {
    collect_handle handle;
    collect_graph *graph;
    collect_node_type type;
    collect_op *op;
    collect_nodes needs;       /* nodes before this one */
    collect_graph *child;      /* CHILD: owned */
    const collect_node *clone; /* the node that this one is a copy of, or NULL */
    /* What the front end keeps to answer questions: the parameters as the application gave them. */
    void *stored;
    size_t stored_bytes;
    void **arguments; /* of a kernel node, pointing into op->launch.params */
};

struct collect_graph {
    collect_handle handle;
    collect_nodes nodes;              /* in order of creation */
    const collect_node *owner;        /* of a child graph, or NULL */
    wl_vec(collect_object *) objects; /* user objects held, one entry a reference */
    bool captured_into;               /* a capture adds to it */
};

typedef struct collect_step {   /* of an instance */
    const collect_node *origin; /* only compared, never followed: the node may be gone */
    collect_node_type type;
    collect_op *op;
    bool enabled;
} collect_step;

struct collect_exec {
    collect_handle handle;
    unsigned long long flags;
    wl_vec(collect_step) steps; /* in an order that respects all edges; children in place */
    wl_vec(collect_object *) objects;
};

struct collect_object {
    collect_handle handle;
    void *data;
    void (*destroy)(void *data);
    unsigned references;
};

/* ---- graphs ---- */

collect_result collect_graph_new(collect_graph **graph);
void collect_graph_destroy(collect_graph *graph);
collect_result collect_graph_clone(const collect_graph *graph, collect_graph **clone);
/* Takes over `op` (which may be NULL: EMPTY) even on failure. The needed nodes must be of this graph. */
collect_result collect_node_add(collect_graph *graph, collect_node *const *needs, size_t count,
                                collect_node_type type, collect_op *op, collect_node **node);
collect_result collect_node_add_child(collect_graph *graph, collect_node *const *needs,
                                      size_t count, const collect_graph *child,
                                      collect_node **node);
/* Memory of `size` bytes whose address is known at once and valid while the graph runs. */
/* Whether a node allocates, whenever its graph runs, what the range lies in; and whether that is not there now. */
bool collect_graph_promised(uint64_t address, uint64_t bytes);
bool collect_graph_missing(uint64_t address, uint64_t bytes);
collect_result collect_node_add_alloc(collect_graph *graph, collect_node *const *needs,
                                      size_t count, collect_context *context, uint64_t size,
                                      collect_pool *pool, collect_node **node, uint64_t *address);
collect_result collect_node_add_free(collect_graph *graph, collect_node *const *needs, size_t count,
                                     collect_context *context, uint64_t address,
                                     collect_node **node);
void collect_node_destroy(collect_node *node);
/* Replaces what the node does; takes over `op`. */
void collect_node_set(collect_node *node, collect_op *op);
collect_result collect_node_store(collect_node *node, const void *params, size_t bytes);
void **collect_node_arguments(collect_node *node); /* of a kernel; NULL when memory is exhausted */
bool collect_node_needs(const collect_node *node, const collect_node *other);
collect_result collect_edge_add(collect_node *from, collect_node *to);
collect_result collect_edge_remove(collect_node *from, collect_node *to);

/* ---- instances ---- */

collect_result collect_exec_new(const collect_graph *graph, unsigned long long flags,
                                collect_exec **exec);
void collect_exec_destroy(collect_exec *exec);
collect_result collect_exec_launch(collect_call *call, collect_exec *exec, collect_stream *stream);
/* GRAPH_UPDATE_FAILURE (and the node that differs) where the graph has another shape. */
collect_result collect_exec_update(collect_exec *exec, const collect_graph *graph,
                                   const collect_node **differs);
/* The same for one node, which has a child graph: what the graph given here does takes its place. */
collect_result collect_exec_update_child(collect_exec *exec, const collect_node *node,
                                         const collect_graph *graph);
collect_step *collect_exec_step(collect_exec *exec, const collect_node *node); /* NULL: not there */
void collect_step_set(collect_step *step, collect_op *op);                     /* takes over `op` */

/* ---- user objects ---- */

collect_result collect_object_create(void *data, void (*destroy)(void *), unsigned references,
                                     collect_object **object);
collect_result collect_object_retain(collect_object *object, unsigned count);
collect_result collect_object_release(collect_object *object, unsigned count);
/* `move`: the references are the caller's own; otherwise they are new ones. */
collect_result collect_graph_retain(collect_graph *graph, collect_object *object, unsigned count,
                                    bool move);
collect_result collect_graph_release(collect_graph *graph, collect_object *object, unsigned count);

/* ---- capture ---- */

typedef enum collect_capture_status { /* as CUstreamCaptureStatus */
                                      COLLECT_CAPTURE_NONE,
                                      COLLECT_CAPTURE_ACTIVE,
                                      COLLECT_CAPTURE_INVALID
} collect_capture_status;

typedef struct collect_capture_info {
    collect_capture_status status;
    uint64_t id;
    collect_graph *graph;
    collect_node *const *needs; /* what the next operation will depend on */
    size_t count;
} collect_capture_info;

/* `graph` NULL: a new one. `mode` as CUstreamCaptureMode. */
collect_result collect_capture_begin(collect_stream *stream, int mode, collect_graph *graph,
                                     collect_node *const *needs, size_t count);
collect_result collect_capture_end(collect_stream *stream, collect_graph **graph);
void collect_capture_describe(const collect_stream *stream, collect_capture_info *info);
collect_result collect_capture_depend(collect_stream *stream, collect_node *const *needs,
                                      size_t count, bool replace);

#endif
