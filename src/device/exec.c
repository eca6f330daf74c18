/* Instances of graphs: the steps of a graph in an order that respects its edges, launched and
 * updated. */
#include "device/graph_impl.h"

#include <stdlib.h>

/* The nodes of a graph that have their steps. */
typedef struct placed {
    const dev_graph *graph;
    rec_nodes *nodes; /* by index in the graph; end 0: it has no step yet */
} placed;

enum { NO_STEP = UINT32_MAX };

static dev_result flatten(const dev_graph *graph, uint32_t parent, dev_exec *exec);

static bool needs_done(const placed *p, const dev_node *node)
{
    for (size_t i = 0; i < node->needs.count; i++)
        if (!p->nodes[dev_graph_index(p->graph, node->needs.data[i])].end)
            return false;
    return true;
}

/* `parent`: the step of the node that holds the graph, or NO_STEP. */
static void add_edges(const placed *p, const dev_node *node, uint32_t parent, uint32_t step,
                      rec_graph *recorded)
{
    for (size_t i = 0; i < node->needs.count; i++)
        rec_graph_wait(recorded, step, p->nodes[dev_graph_index(p->graph, node->needs.data[i])]);
    if (!node->needs.count && parent != NO_STEP)
        rec_graph_wait(recorded, step, (rec_nodes){parent, parent + 1});
}

static dev_result add_step(const placed *p, size_t index, uint32_t parent, dev_exec *exec)
{
    const dev_node *node = p->graph->nodes.data[index];
    uint32_t number = (uint32_t)exec->steps.count;
    dev_step step = {.origin = node, .type = node->type, .enabled = true};
    if (node->op)
        step.op = dev_op_ref(node->op);
    if (!wl_push(&exec->steps, step)) {
        dev_op_unref(step.op);
        return DEV_NOMEM;
    }
    rec_graph_add(&exec->recorded, node->type);
    add_edges(p, node, parent, number, &exec->recorded);
    dev_result r = node->child ? flatten(node->child, number, exec) : DEV_OK;
    p->nodes[index] = (rec_nodes){number, (uint32_t)exec->steps.count};
    return r;
}

/* Nodes in order of creation as far as edges allow: always the same order. A cycle gives
 * INVALID_VALUE. */
static dev_result flatten(const dev_graph *graph, uint32_t parent, dev_exec *exec)
{
    placed p = {graph, calloc(graph->nodes.count + 1, sizeof *p.nodes)};
    dev_result r = p.nodes ? DEV_OK : DEV_NOMEM;
    size_t left = graph->nodes.count;
    while (left && r == DEV_OK) {
        size_t before = left;
        for (size_t i = 0; i < graph->nodes.count && r == DEV_OK; i++) {
            if (p.nodes[i].end || !needs_done(&p, graph->nodes.data[i]))
                continue;
            r = add_step(&p, i, parent, exec);
            left--;
        }
        if (left == before)
            r = DEV_INVALID_VALUE;
    }
    free(p.nodes);
    return r;
}

dev_result dev_exec_new(const dev_graph *graph, unsigned long long flags, dev_exec **out)
{
    dev_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return DEV_NOMEM;
    exec->flags = flags;
    dev_handle_add(&exec->handle, DEV_EXEC, exec);
    dev_result r = flatten(graph, NO_STEP, exec);
    for (size_t i = 0; i < graph->objects.count && r == DEV_OK; i++)
        if (wl_push(&exec->objects, graph->objects.data[i]))
            graph->objects.data[i]->references++;
        else
            r = DEV_NOMEM;
    if (r) {
        dev_exec_destroy(exec);
        return r;
    }
    *out = exec;
    return DEV_OK;
}

void dev_exec_destroy(dev_exec *exec)
{
    for (size_t i = 0; i < exec->steps.count; i++)
        dev_op_unref(exec->steps.data[i].op);
    while (exec->objects.count)
        dev_object_drop(exec->objects.data[--exec->objects.count], 1);
    wl_vec_free(&exec->steps);
    wl_vec_free(&exec->objects);
    rec_graph_clear(&exec->recorded);
    dev_handle_remove(&exec->handle);
    free(exec);
}

/* Recordings of events count up with every launch of the graph; all other operations can be
 * shared. */
static dev_op *instance_of(dev_op *op)
{
    if (op->kind != OP_RECORD && op->kind != OP_WAIT)
        return dev_op_ref(op);
    dev_op *copy = dev_op_new(op->kind, op->context);
    if (!copy || !dev_is(op->event.event, DEV_EVENT))
        return copy;
    copy->event = op->event;
    copy->event.event->recorded += op->kind == OP_RECORD;
    copy->event.version = copy->event.event->recorded;
    return copy;
}

static void record_step(const dev_call *call, const dev_op *op, const dev_stream *stream)
{
    rec_call part;
    if (!call->rec.id || (op->kind != OP_COPY && op->kind != OP_SET))
        return;
    rec_call_begin_part(&part, &call->rec, op->kind == OP_COPY ? CAP_CALL_COPY : CAP_CALL_SET);
    part.record.stream = stream->number;
    if (op->kind == OP_COPY)
        dev_copy_describe(&op->copy, &part);
    else
        dev_set_describe(&op->set, &part);
    rec_call_write(&part, DEV_OK);
}

/* Carries a node out; *ordinal is that of the record that it leaves. */
static dev_result launch_step(dev_call *call, const dev_step *step, dev_stream *stream,
                              uint64_t *ordinal)
{
    if (!step->enabled || !step->op)
        return DEV_OK;
    dev_op *op = instance_of(step->op);
    if (!op)
        return DEV_NOMEM;
    if (op->kind == OP_COPY || op->kind == OP_SET || op->kind == OP_LAUNCH)
        *ordinal = rec_g.next_ordinal + 1;
    record_step(call, op, stream);
    return dev_submit(call, stream, op, false);
}

/* The lock may be open while a host function runs: the instance may then be destroyed, and another
 * one lie in its place. */
static dev_result launch_steps(dev_call *call, dev_exec *exec, dev_stream *stream,
                               uint64_t *ordinals, size_t count)
{
    dev_result r = DEV_OK;
    for (size_t i = 0; r == DEV_OK && i < count && dev_is(exec, DEV_EXEC) && i < exec->steps.count;
         i++)
        r = launch_step(call, &exec->steps.data[i], stream, &ordinals[i]);
    return r;
}

dev_result dev_exec_launch(dev_call *call, dev_exec *exec, dev_stream *stream)
{
    if (stream->context->error)
        return stream->context->error;
    if (stream->capturing)
        return dev_capture_invalidate(stream, DEV_CAPTURE_UNSUPPORTED);
    uint32_t count = (uint32_t)exec->steps.count;
    uint64_t *ordinals = calloc((size_t)count + 1, sizeof *ordinals);
    if (!ordinals)
        return DEV_NOMEM;
    call->rec.record.flags |= CAP_CALL_ASYNC;
    call->launches_graph = true;
    dev_call_write(call, DEV_OK);
    uint32_t number = call->rec.id ? rec_graph_number(&exec->recorded) : 0;
    dev_result r = launch_steps(call, exec, stream, ordinals, count);
    if (number)
        rec_graph_ran(number, call->rec.id, ordinals, count);
    free(ordinals);
    return r;
}

static const dev_step *first_difference(const dev_exec *a, const dev_exec *b)
{
    for (size_t i = 0; i < b->steps.count; i++)
        if (i >= a->steps.count || a->steps.data[i].type != b->steps.data[i].type)
            return &b->steps.data[i];
    return a->steps.count == b->steps.count ? NULL : &a->steps.data[b->steps.count];
}

/* Steps of one graph's shape, from the first on, do what those of the fresh instance do, which is
 * destroyed. */
static void take_steps(dev_step *steps, dev_exec *fresh)
{
    for (size_t i = 0; i < fresh->steps.count; i++) {
        dev_op *old = steps[i].op;
        steps[i].op = fresh->steps.data[i].op;
        fresh->steps.data[i].op = old;
    }
    dev_exec_destroy(fresh);
}

dev_result dev_exec_update(dev_exec *exec, const dev_graph *graph, const dev_node **differs)
{
    dev_exec *fresh;
    *differs = NULL;
    dev_result r = dev_exec_new(graph, exec->flags, &fresh);
    if (r)
        return r;
    const dev_step *difference = first_difference(exec, fresh);
    if (difference) {
        *differs = difference->origin;
        dev_exec_destroy(fresh);
        return DEV_GRAPH_UPDATE_FAILURE;
    }
    take_steps(exec->steps.data, fresh);
    return DEV_OK;
}

static dev_step *step_of_node(dev_exec *exec, const dev_node *node)
{
    for (size_t i = 0; i < exec->steps.count; i++)
        if (exec->steps.data[i].origin == node)
            return &exec->steps.data[i];
    return NULL;
}

dev_result dev_exec_update_child(dev_exec *exec, const dev_node *node, const dev_graph *graph)
{
    dev_exec *old, *fresh;
    dev_result r = dev_exec_new(node->child, exec->flags, &old);
    if (r)
        return r;
    r = dev_exec_new(graph, exec->flags, &fresh);
    if (r == DEV_OK) {
        dev_step *first = old->steps.count ? step_of_node(exec, old->steps.data[0].origin) : NULL;
        if (first_difference(old, fresh))
            r = DEV_GRAPH_UPDATE_FAILURE;
        else if (old->steps.count && !first)
            r = DEV_INVALID_VALUE;
        if (r == DEV_OK && first)
            take_steps(first, fresh);
        else
            dev_exec_destroy(fresh);
    }
    dev_exec_destroy(old);
    return r;
}

dev_result dev_exec_change(dev_call *call, dev_exec *exec, const dev_node *node,
                           const dev_work *work)
{
    dev_step *step = step_of_node(exec, node);
    dev_op *op;
    if (!step || step->type != work->type)
        return DEV_INVALID_VALUE;
    dev_result r = dev_work_op(call, work, &op);
    if (r)
        return r;
    dev_op_unref(step->op);
    step->op = op;
    return DEV_OK;
}

unsigned long long dev_exec_flags(const dev_exec *exec)
{
    return exec->flags;
}

bool *dev_exec_enabled(dev_exec *exec, const dev_node *node)
{
    dev_step *step = step_of_node(exec, node);
    return step && step->type <= DEV_NODE_SET ? &step->enabled : NULL;
}
