/* Graphs of operations, their instances, and the capture of streams into graphs. Part of the device layer: the rules of
 * core.h hold. */
#ifndef WL_DEVICE_GRAPH_H
#define WL_DEVICE_GRAPH_H

#include "device/impl.h"

typedef enum dev_node_type { /* as CUgraphNodeType */
                             DEV_NODE_KERNEL,
                             DEV_NODE_COPY,
                             DEV_NODE_SET,
                             DEV_NODE_HOST,
                             DEV_NODE_CHILD,
                             DEV_NODE_EMPTY,
                             DEV_NODE_WAIT,
                             DEV_NODE_RECORD,
                             DEV_NODE_ALLOC = 10,
                             DEV_NODE_FREE = 11,
                             DEV_NODE_VALUES = 12 /* waits and writes of values */
} dev_node_type;

struct dev_node {
    dev_handle handle;
    dev_graph *graph;
    dev_node_type type;
    dev_op *op;
    dev_nodes needs;       /* nodes before this one */
    dev_graph *child;      /* CHILD: owned */
    const dev_node *clone; /* the node that this one is a copy of, or NULL */
    /* What the front end keeps to answer questions: the parameters as the application gave them. */
    void *stored;
    size_t stored_bytes;
    void **arguments; /* of a kernel node, pointing into op->launch.params */
};

struct dev_graph {
    dev_handle handle;
    dev_nodes nodes;              /* in order of creation */
    const dev_node *owner;        /* of a child graph, or NULL */
    wl_vec(dev_object *) objects; /* user objects held, one entry a reference */
    bool captured_into;           /* a capture adds to it */
};

typedef struct dev_step {   /* of an instance */
    const dev_node *origin; /* only compared, never followed: the node may be gone */
    dev_node_type type;
    dev_op *op;
    bool enabled;
} dev_step;

struct dev_exec {
    dev_handle handle;
    unsigned long long flags;
    wl_vec(dev_step) steps; /* in an order that respects all edges; children in place */
    wl_vec(dev_object *) objects;
};

struct dev_object {
    dev_handle handle;
    void *data;
    void (*destroy)(void *data);
    unsigned references;
};

/* ---- graphs ---- */

dev_result dev_graph_new(dev_graph **graph);
void dev_graph_destroy(dev_graph *graph);
dev_result dev_graph_clone(const dev_graph *graph, dev_graph **clone);
/* Takes over `op` (which may be NULL: EMPTY) even on failure. The needed nodes must be of this graph. */
dev_result dev_node_add(dev_graph *graph, dev_node *const *needs, size_t count, dev_node_type type,
                        dev_op *op, dev_node **node);
dev_result dev_node_add_child(dev_graph *graph, dev_node *const *needs, size_t count,
                              const dev_graph *child, dev_node **node);
/* Memory of `size` bytes whose address is known at once and valid while the graph runs. */
/* Whether a node allocates, whenever its graph runs, what the range lies in; and whether that is not there now. */
bool dev_graph_promised(uint64_t address, uint64_t bytes);
bool dev_graph_missing(uint64_t address, uint64_t bytes);
dev_result dev_node_add_alloc(dev_graph *graph, dev_node *const *needs, size_t count,
                              dev_context *context, uint64_t size, dev_pool *pool, dev_node **node,
                              uint64_t *address);
dev_result dev_node_add_free(dev_graph *graph, dev_node *const *needs, size_t count,
                             dev_context *context, uint64_t address, dev_node **node);
void dev_node_destroy(dev_node *node);
/* Replaces what the node does; takes over `op`. */
void dev_node_set(dev_node *node, dev_op *op);
dev_result dev_node_store(dev_node *node, const void *params, size_t bytes);
void **dev_node_arguments(dev_node *node); /* of a kernel; NULL when memory is exhausted */
bool dev_node_needs(const dev_node *node, const dev_node *other);
dev_result dev_edge_add(dev_node *from, dev_node *to);
dev_result dev_edge_remove(dev_node *from, dev_node *to);

/* ---- instances ---- */

dev_result dev_exec_new(const dev_graph *graph, unsigned long long flags, dev_exec **exec);
void dev_exec_destroy(dev_exec *exec);
dev_result dev_exec_launch(dev_call *call, dev_exec *exec, dev_stream *stream);
/* GRAPH_UPDATE_FAILURE (and the node that differs) where the graph has another shape. */
dev_result dev_exec_update(dev_exec *exec, const dev_graph *graph, const dev_node **differs);
/* The same for one node, which has a child graph: what the graph given here does takes its place. */
dev_result dev_exec_update_child(dev_exec *exec, const dev_node *node, const dev_graph *graph);
dev_step *dev_exec_step(dev_exec *exec, const dev_node *node); /* NULL: not there */
void dev_step_set(dev_step *step, dev_op *op);                 /* takes over `op` */

/* ---- user objects ---- */

dev_result dev_object_create(void *data, void (*destroy)(void *), unsigned references,
                             dev_object **object);
dev_result dev_object_retain(dev_object *object, unsigned count);
dev_result dev_object_release(dev_object *object, unsigned count);
/* `move`: the references are the caller's own; otherwise they are new ones. */
dev_result dev_graph_retain(dev_graph *graph, dev_object *object, unsigned count, bool move);
dev_result dev_graph_release(dev_graph *graph, dev_object *object, unsigned count);

/* ---- capture ---- */

typedef enum dev_capture_status { /* as CUstreamCaptureStatus */
                                  DEV_CAPTURE_NONE,
                                  DEV_CAPTURE_ACTIVE,
                                  DEV_CAPTURE_INVALID
} dev_capture_status;

typedef struct dev_capture_info {
    dev_capture_status status;
    uint64_t id;
    dev_graph *graph;
    dev_node *const *needs; /* what the next operation will depend on */
    size_t count;
} dev_capture_info;

/* `graph` NULL: a new one. `mode` as CUstreamCaptureMode. */
dev_result dev_capture_begin(dev_stream *stream, int mode, dev_graph *graph, dev_node *const *needs,
                             size_t count);
dev_result dev_capture_end(dev_stream *stream, dev_graph **graph);
void dev_capture_describe(const dev_stream *stream, dev_capture_info *info);
dev_result dev_capture_depend(dev_stream *stream, dev_node *const *needs, size_t count,
                              bool replace);

#endif
