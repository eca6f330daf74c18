/* What the driver interface and the runtime ask alike of streams, events and graphs. Handles come as the application gave
 * them, and are checked here; the front ends only begin and end the call, which holds the lock. Pointers to results that
 * the application need not give may be NULL where it says so. */
#ifndef WL_COLLECT_ASK_H
#define WL_COLLECT_ASK_H

#include "collect/graph.h"

/* NULL where the handle is not of that kind. */
collect_event *collect_event_of(void *handle);
collect_graph *collect_graph_of(void *handle);
collect_node *collect_node_of(void *handle);
collect_exec *collect_exec_of(void *handle);

/* ---- streams and events; `per_thread`: stream 0 is the thread's own ---- */

typedef enum collect_stream_fact {                          /* and the type of its value */
                                   COLLECT_STREAM_FLAGS,    /* unsigned */
                                   COLLECT_STREAM_PRIORITY, /* int */
                                   COLLECT_STREAM_ID,       /* unsigned long long; never 0 */
                                   COLLECT_STREAM_DEVICE,   /* int: ordinal */
                                   COLLECT_STREAM_CONTEXT   /* collect_context * */
} collect_stream_fact;

collect_result collect_ask_stream(collect_call *call, void *stream, bool per_thread,
                                  collect_stream_fact fact, void *value);
collect_result collect_ask_attribute(collect_call *call, void *stream, bool per_thread,
                                     int attribute, void *value);
collect_result collect_ask_set_attribute(collect_call *call, void *stream, bool per_thread,
                                         int attribute, const void *value);
collect_result collect_ask_copy_attributes(collect_call *call, void *to, void *from,
                                           bool per_thread);
collect_result collect_ask_synchronize(collect_call *call, void *stream, bool per_thread);
collect_result collect_ask_query(collect_call *call, void *stream, bool per_thread);
collect_result collect_ask_wait(collect_call *call, void *stream, bool per_thread, void *event,
                                unsigned flags);
collect_result collect_ask_record(collect_call *call, void *stream, bool per_thread, void *event,
                                  unsigned flags);
collect_result collect_ask_elapsed(void *start, void *end, float *milliseconds);
collect_result collect_ask_host(collect_call *call, void *stream, bool per_thread,
                                collect_host *work); /* fills in the stream */

/* ---- capture ---- */

typedef struct collect_capture_out { /* all but status may be NULL */
    int *status;
    unsigned long long *id;
    collect_graph **graph;
    collect_node *const **needs;
    const void **edges; /* their data: none */
    size_t *count;
} collect_capture_out;

collect_result collect_ask_begin_capture(collect_call *call, void *stream, bool per_thread,
                                         int mode);
collect_result collect_ask_capture_to(collect_call *call, void *stream, bool per_thread,
                                      void *graph, collect_node *const *needs, size_t count,
                                      int mode);
collect_result collect_ask_end_capture(collect_call *call, void *stream, bool per_thread,
                                       collect_graph **out);
collect_result collect_ask_capture(collect_call *call, void *stream, bool per_thread,
                                   const collect_capture_out *out);
/* flags: 0 adds to what the capture's next node needs, 1 replaces it. */
collect_result collect_ask_depend(collect_call *call, void *stream, bool per_thread,
                                  collect_node *const *needs, size_t count, unsigned flags);
collect_result collect_ask_capture_mode(int *mode); /* exchanged with the thread's */

/* ---- graphs ---- */

collect_result collect_ask_new_graph(collect_graph **out, unsigned flags);
collect_result collect_ask_destroy_graph(void *graph);
collect_result collect_ask_clone(collect_graph **out, void *graph);
collect_result collect_ask_destroy_node(void *node);
collect_result collect_ask_node_type(void *node, int *type);
collect_result collect_ask_child(void *node, collect_graph **out);
collect_result collect_ask_in_clone(collect_node **out, void *original, void *clone);

/* Fill `list` (NULL: only count) with as many as *room says; the rest of the room gets NULL. */
collect_result collect_ask_nodes(void *graph, collect_node **list, size_t *room);
collect_result collect_ask_roots(void *graph, collect_node **list, size_t *room);
collect_result collect_ask_before(void *node, collect_node **list, size_t *room);
collect_result collect_ask_after(void *node, collect_node **list, size_t *room);
collect_result collect_ask_edges(void *graph, collect_node **from, collect_node **to, size_t *room);
collect_result collect_ask_change_edges(void *graph, collect_node *const *from,
                                        collect_node *const *to, size_t count,
                                        collect_result (*change)(collect_node *, collect_node *));

/* Adding nodes. `needs`: unchecked nodes, as the application listed them. */
collect_result collect_ask_add_child(void *graph, collect_node *const *needs, size_t count,
                                     void *child, collect_node **node);
collect_result collect_ask_copy_op(collect_call *call, const collect_copy *copy, collect_op **op);
collect_result collect_ask_set_op(collect_call *call, const collect_set *set, collect_op **op);
collect_result collect_ask_host_op(collect_call *call, void (*function)(void *), void *data,
                                   collect_op **op);
collect_result collect_ask_event_op(collect_call *call, collect_op_kind kind, void *event,
                                    collect_op **op);

/* The node, or the step of an instance made from it, where it is of that type. */
collect_result collect_ask_node(void *handle, int type, collect_node **node);
collect_result collect_ask_step(void *exec, void *node, int type, collect_step **step);

/* ---- instances ---- */

collect_result collect_ask_instantiate(collect_exec **out, void *graph, unsigned long long flags);
collect_result collect_ask_destroy_exec(void *exec);
collect_result collect_ask_launch(collect_call *call, void *exec, void *stream, bool per_thread);
collect_result collect_ask_upload(collect_call *call, void *exec, void *stream, bool per_thread);
collect_result collect_ask_update(void *exec, void *graph, collect_node **differs);
collect_result collect_ask_update_child(void *exec, void *node, void *graph);
collect_result collect_ask_exec_flags(void *exec, unsigned long long *flags);
/* Whether the instance runs a kernel, copy or set. */
collect_result collect_ask_enabled(void *exec, void *node, unsigned *enabled);
collect_result collect_ask_enable(void *exec, void *node, bool enabled);

#endif
