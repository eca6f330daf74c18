/* Graphs of operations, their instances, and the capture of streams into graphs. The rules of
 * device.h hold. */
#ifndef WL_DEVICE_GRAPH_H
#define WL_DEVICE_GRAPH_H

#include "device/stream.h"

/* ---- what a node does ---- */

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
                             DEV_NODE_VALUES = 12, /* waits and writes of values: only by capture */
                             DEV_NODE_CONDITIONAL = 13 /* not there: NOT_SUPPORTED */
} dev_node_type;

typedef struct dev_node_memory {
    uint64_t address;     /* FREE, and what ALLOC gave */
    uint64_t size;        /* ALLOC: bytes */
    dev_context *context; /* ALLOC: whose device the memory is of */
} dev_node_memory;

typedef struct dev_work {
    dev_node_type type;
    union {
        dev_launch launch;      /* KERNEL */
        dev_copy copy;          /* COPY; of nothing where an extent is 0 */
        dev_set set;            /* SET */
        dev_host host;          /* HOST: a FUNCTION */
        void *event;            /* WAIT, RECORD; not yet checked */
        void *child;            /* CHILD: a graph, which is cloned; not yet checked */
        dev_node_memory memory; /* ALLOC, FREE */
    };
} dev_work;

/* ---- graphs ---- */

dev_result dev_graph_new(dev_graph **graph);
void dev_graph_destroy(dev_graph *graph);
dev_result dev_graph_clone(const dev_graph *graph, dev_graph **clone);
bool dev_graph_is_child(const dev_graph *graph); /* it belongs to a node of another */
size_t dev_graph_count(const dev_graph *graph);
dev_node *dev_graph_node(const dev_graph *graph, size_t index); /* in order of creation */
/* Bytes of the device that nodes of graphs hold now. */
uint64_t dev_graph_memory(const dev_gpu *device);

/* ---- nodes ---- */

/* `needs`: nodes that must be done before, of this graph: INVALID_VALUE otherwise. An ALLOC has its
 * address in `work` then, which is valid while the graph runs. */
dev_result dev_node_add(dev_call *call, dev_graph *graph, dev_node *const *needs, size_t count,
                        dev_work *work, dev_node **node);
/* Replaces what the node does; ALLOC, FREE and CHILD cannot change. */
dev_result dev_node_change(dev_call *call, dev_node *node, const dev_work *work);
/* What the node does. The parameters of a kernel are the node's own: valid until it changes. */
void dev_node_work(dev_node *node, dev_work *work);
void dev_node_destroy(dev_node *node);
dev_node_type dev_node_type_of(const dev_node *node);
dev_graph *dev_node_graph(const dev_node *node);
dev_graph *dev_node_child(const dev_node *node);         /* of a CHILD, else NULL */
const dev_node *dev_node_original(const dev_node *node); /* what it is a clone of, or NULL */
/* Nodes that must be done before this one. */
size_t dev_node_need_count(const dev_node *node);
dev_node *dev_node_need(const dev_node *node, size_t index);
bool dev_node_needs(const dev_node *node, const dev_node *other);
dev_result dev_edge_add(dev_node *from, dev_node *to);
dev_result dev_edge_remove(dev_node *from, dev_node *to);
/* What the front end keeps with a node to answer questions; copied. NULL where it kept nothing. */
dev_result dev_node_store(dev_node *node, const void *params, size_t bytes);
const void *dev_node_stored(const dev_node *node);

/* ---- instances ---- */

dev_result dev_exec_new(const dev_graph *graph, unsigned long long flags, dev_exec **exec);
void dev_exec_destroy(dev_exec *exec);
unsigned long long dev_exec_flags(const dev_exec *exec);
dev_result dev_exec_launch(dev_call *call, dev_exec *exec, dev_stream *stream);
/* GRAPH_UPDATE_FAILURE (and the node that differs) where the graph has another shape. */
dev_result dev_exec_update(dev_exec *exec, const dev_graph *graph, const dev_node **differs);
/* The same for one node, which has a child graph: what the graph given here does takes its
 * place. */
dev_result dev_exec_update_child(dev_exec *exec, const dev_node *node, const dev_graph *graph);
/* Replaces what the instance does for a node of its graph. INVALID_VALUE where it has no such node
 * of that type. */
dev_result dev_exec_change(dev_call *call, dev_exec *exec, const dev_node *node,
                           const dev_work *work);
/* Whether the instance carries out a kernel, copy or set; NULL for other nodes. The value may be
 * changed. */
bool *dev_exec_enabled(dev_exec *exec, const dev_node *node);

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
