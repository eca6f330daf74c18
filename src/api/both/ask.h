/* What the driver interface and the runtime ask alike of streams, events and graphs. Handles come as the application gave
 * them, and are checked here; the front ends only begin and end the call, which holds the lock. Pointers to results that
 * the application need not give may be NULL where it says so. */
#ifndef WL_API_BOTH_ASK_H
#define WL_API_BOTH_ASK_H

#include "device/graph.h"

/* NULL where the handle is not of that kind. */
dev_event *api_event_of(void *handle);
dev_graph *api_graph_of(void *handle);
dev_node *api_node_of(void *handle);
dev_exec *api_exec_of(void *handle);

/* ---- streams and events; `per_thread`: stream 0 is the thread's own ---- */

typedef enum api_stream_fact {                      /* and the type of its value */
                               API_STREAM_FLAGS,    /* unsigned */
                               API_STREAM_PRIORITY, /* int */
                               API_STREAM_ID,       /* unsigned long long; never 0 */
                               API_STREAM_DEVICE,   /* int: ordinal */
                               API_STREAM_CONTEXT   /* dev_context * */
} api_stream_fact;

dev_result api_stream(dev_call *call, void *stream, bool per_thread, api_stream_fact fact,
                      void *value);
dev_result api_attribute(dev_call *call, void *stream, bool per_thread, int attribute, void *value);
dev_result api_set_attribute(dev_call *call, void *stream, bool per_thread, int attribute,
                             const void *value);
dev_result api_copy_attributes(dev_call *call, void *to, void *from, bool per_thread);
dev_result api_synchronize(dev_call *call, void *stream, bool per_thread);
dev_result api_query(dev_call *call, void *stream, bool per_thread);
dev_result api_wait(dev_call *call, void *stream, bool per_thread, void *event, unsigned flags);
dev_result api_record(dev_call *call, void *stream, bool per_thread, void *event, unsigned flags);
dev_result api_elapsed(void *start, void *end, float *milliseconds);
dev_result api_host(dev_call *call, void *stream, bool per_thread,
                    dev_host *work); /* fills in the stream */

/* ---- capture ---- */

typedef struct api_capture_out { /* all but status may be NULL */
    int *status;
    unsigned long long *id;
    dev_graph **graph;
    dev_node *const **needs;
    const void **edges; /* their data: none */
    size_t *count;
} api_capture_out;

dev_result api_begin_capture(dev_call *call, void *stream, bool per_thread, int mode);
dev_result api_capture_to(dev_call *call, void *stream, bool per_thread, void *graph,
                          dev_node *const *needs, size_t count, int mode);
dev_result api_end_capture(dev_call *call, void *stream, bool per_thread, dev_graph **out);
dev_result api_capture(dev_call *call, void *stream, bool per_thread, const api_capture_out *out);
/* flags: 0 adds to what the capture's next node needs, 1 replaces it. */
dev_result api_depend(dev_call *call, void *stream, bool per_thread, dev_node *const *needs,
                      size_t count, unsigned flags);
dev_result api_capture_mode(int *mode); /* exchanged with the thread's */

/* ---- graphs ---- */

dev_result api_new_graph(dev_graph **out, unsigned flags);
dev_result api_destroy_graph(void *graph);
dev_result api_clone(dev_graph **out, void *graph);
dev_result api_destroy_node(void *node);
dev_result api_node_type(void *node, int *type);
dev_result api_child(void *node, dev_graph **out);
dev_result api_in_clone(dev_node **out, void *original, void *clone);

/* Fill `list` (NULL: only count) with as many as *room says; the rest of the room gets NULL. */
dev_result api_nodes(void *graph, dev_node **list, size_t *room);
dev_result api_roots(void *graph, dev_node **list, size_t *room);
dev_result api_before(void *node, dev_node **list, size_t *room);
dev_result api_after(void *node, dev_node **list, size_t *room);
dev_result api_edges(void *graph, dev_node **from, dev_node **to, size_t *room);
dev_result api_change_edges(void *graph, dev_node *const *from, dev_node *const *to, size_t count,
                            dev_result (*change)(dev_node *, dev_node *));

/* Adding nodes. `needs`: unchecked nodes, as the application listed them. */
dev_result api_add_child(void *graph, dev_node *const *needs, size_t count, void *child,
                         dev_node **node);
dev_result api_copy_op(dev_call *call, const dev_copy *copy, dev_op **op);
dev_result api_set_op(dev_call *call, const dev_set *set, dev_op **op);
dev_result api_host_op(dev_call *call, void (*function)(void *), void *data, dev_op **op);
dev_result api_event_op(dev_call *call, dev_op_kind kind, void *event, dev_op **op);

/* The node, or the step of an instance made from it, where it is of that type. */
dev_result api_node(void *handle, int type, dev_node **node);
dev_result api_exec_step(void *exec, void *node, int type, dev_step **step);

/* ---- instances ---- */

dev_result api_instantiate(dev_exec **out, void *graph, unsigned long long flags);
dev_result api_destroy_exec(void *exec);
dev_result api_launch(dev_call *call, void *exec, void *stream, bool per_thread);
dev_result api_upload(dev_call *call, void *exec, void *stream, bool per_thread);
dev_result api_update(void *exec, void *graph, dev_node **differs);
dev_result api_update_child(void *exec, void *node, void *graph);
dev_result api_exec_flags(void *exec, unsigned long long *flags);
/* Whether the instance runs a kernel, copy or set. */
dev_result api_enabled(void *exec, void *node, unsigned *enabled);
dev_result api_enable(void *exec, void *node, bool enabled);

#endif
