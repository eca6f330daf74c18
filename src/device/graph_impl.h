/* The inside of graphs: their structures and what the files that make, run and capture them
 * share. */
#ifndef WL_DEVICE_GRAPH_IMPL_H
#define WL_DEVICE_GRAPH_IMPL_H

#include "device/impl.h"
#include "record/graph.h"

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
    wl_vec(dev_step) steps; /* in an order that respects all edges; children behind their node */
    rec_graph recorded;     /* a node for each step */
    wl_vec(dev_object *) objects;
};

struct dev_object {
    dev_handle handle;
    void *data;
    void (*destroy)(void *data);
    unsigned references;
};

/* Takes over `op` (which may be NULL: EMPTY) even on failure. The needed nodes must be of this
 * graph. */
dev_result dev_node_add_op(dev_graph *graph, dev_node *const *needs, size_t count,
                           dev_node_type type, dev_op *op, dev_node **node);
dev_result dev_node_add_child(dev_graph *graph, dev_node *const *needs, size_t count,
                              const dev_graph *child, dev_node **node);
/* Memory of `size` bytes whose address is known at once and valid while the graph runs. */
dev_result dev_node_add_alloc(dev_graph *graph, dev_node *const *needs, size_t count,
                              dev_context *context, uint64_t size, dev_pool *pool, dev_node **node,
                              uint64_t *address);
/* Whether a node allocates, whenever its graph runs, what the range lies in; and whether that is
 * not there now. */
bool dev_graph_promised(uint64_t address, uint64_t bytes);
bool dev_graph_missing(uint64_t address, uint64_t bytes);
/* The operation for what a node is to do; ALLOC, FREE and CHILD have none. */
dev_result dev_work_op(dev_call *call, const dev_work *work, dev_op **op);
size_t dev_graph_index(const dev_graph *graph, const dev_node *node); /* of its own node */
/* The application's function, where it was the last reference, runs without the lock. */
void dev_object_drop(dev_object *object, unsigned count);

#endif
