#include "device/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- user objects ---- */

/* The application's function runs without the lock: it may well free memory of its own that others wait for. */
static void drop_references(dev_object *object, unsigned count)
{
    object->references -= count;
    if (object->references)
        return;
    dev_handle_remove(&object->handle);
    pthread_mutex_unlock(&rec_g.lock);
    object->destroy(object->data);
    pthread_mutex_lock(&rec_g.lock);
    free(object);
}

dev_result dev_object_create(void *data, void (*destroy)(void *), unsigned references,
                             dev_object **out)
{
    if (!destroy || !references)
        return DEV_INVALID_VALUE;
    dev_object *object = calloc(1, sizeof *object);
    if (!object)
        return DEV_NOMEM;
    object->data = data;
    object->destroy = destroy;
    object->references = references;
    dev_handle_add(&object->handle, DEV_OBJECT, object);
    *out = object;
    return DEV_OK;
}

dev_result dev_object_retain(dev_object *object, unsigned count)
{
    object->references += count;
    return DEV_OK;
}

dev_result dev_object_release(dev_object *object, unsigned count)
{
    if (!count || count > object->references)
        return DEV_INVALID_VALUE;
    drop_references(object, count);
    return DEV_OK;
}

dev_result dev_graph_retain(dev_graph *graph, dev_object *object, unsigned count, bool move)
{
    for (unsigned i = 0; i < count; i++)
        if (!wl_push(&graph->objects, object))
            return DEV_NOMEM;
    if (!move)
        object->references += count;
    return DEV_OK;
}

dev_result dev_graph_release(dev_graph *graph, dev_object *object, unsigned count)
{
    for (size_t i = graph->objects.count; i-- > 0 && count;) {
        if (graph->objects.data[i] != object)
            continue;
        graph->objects.data[i] = graph->objects.data[--graph->objects.count];
        count--;
        drop_references(object, 1);
    }
    return count ? DEV_INVALID_VALUE : DEV_OK;
}

/* ---- nodes ---- */

static void free_node(dev_node *node)
{
    dev_handle_remove(&node->handle);
    dev_op_unref(node->op);
    if (node->child)
        dev_graph_destroy(node->child);
    wl_vec_free(&node->needs);
    free(node->stored);
    free(node->arguments);
    free(node);
}

static dev_result add_need(dev_node *node, dev_node *need)
{
    if (dev_node_needs(node, need))
        return DEV_OK;
    return wl_push(&node->needs, need) ? DEV_OK : DEV_NOMEM;
}

static bool all_of(const dev_graph *graph, dev_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!dev_is(nodes[i], DEV_NODE) || nodes[i]->graph != graph)
            return false;
    return true;
}

static dev_result new_node(dev_graph *graph, dev_node *const *needs, size_t count,
                           dev_node_type type, dev_node **out)
{
    if (count && (!needs || !all_of(graph, needs, count)))
        return DEV_INVALID_VALUE;
    dev_node *node = calloc(1, sizeof *node);
    if (!node)
        return DEV_NOMEM;
    node->graph = graph;
    node->type = type;
    dev_handle_add(&node->handle, DEV_NODE, node);
    dev_result r = DEV_OK;
    for (size_t i = 0; i < count && r == DEV_OK; i++)
        r = add_need(node, needs[i]);
    if (r == DEV_OK && !wl_push(&graph->nodes, node))
        r = DEV_NOMEM;
    if (r) {
        free_node(node);
        return r;
    }
    *out = node;
    return DEV_OK;
}

dev_result dev_node_add(dev_graph *graph, dev_node *const *needs, size_t count, dev_node_type type,
                        dev_op *op, dev_node **out)
{
    dev_result r = new_node(graph, needs, count, type, out);
    if (r == DEV_OK)
        (*out)->op = op;
    else
        dev_op_unref(op);
    return r;
}

dev_result dev_node_add_child(dev_graph *graph, dev_node *const *needs, size_t count,
                              const dev_graph *child, dev_node **out)
{
    dev_graph *copy;
    dev_result r = dev_graph_clone(child, &copy);
    if (r)
        return r;
    r = new_node(graph, needs, count, DEV_NODE_CHILD, out);
    if (r) {
        dev_graph_destroy(copy);
        return r;
    }
    (*out)->child = copy;
    copy->owner = *out;
    return DEV_OK;
}

/* Memory of graphs has its addresses from then on; it is there from the node's run on. */
typedef struct promise {
    uint64_t address, bytes;
} promise;

static wl_vec(promise) promises;

bool dev_graph_promised(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < promises.count; i++) {
        const promise *p = &promises.data[i];
        if (address >= p->address && bytes <= p->bytes && address - p->address <= p->bytes - bytes)
            return true;
    }
    return false;
}

bool dev_graph_missing(uint64_t address, uint64_t bytes)
{
    return dev_graph_promised(address, bytes) && !dev_range_valid(address, bytes);
}

dev_result dev_node_add_alloc(dev_graph *graph, dev_node *const *needs, size_t count,
                              dev_context *context, uint64_t size, dev_pool *pool, dev_node **out,
                              uint64_t *address)
{
    uint64_t whole = (size + DEV_GRANULARITY - 1) / DEV_GRANULARITY * DEV_GRANULARITY;
    if (!size || whole < size)
        return DEV_INVALID_VALUE;
    dev_op *op = dev_op_new(OP_ALLOC, context);
    if (!op)
        return DEV_NOMEM;
    op->alloc = (dev_op_alloc){.size = size, .pool = pool};
    wl_status status = emu_mem_reserve(context->device->machine, whole, DEV_GRANULARITY,
                                       &op->alloc.address);
    if (status == WL_OK && !wl_push(&promises, ((promise){op->alloc.address, size})))
        status = WL_NOMEM;
    if (status != WL_OK) {
        dev_op_unref(op);
        return dev_status(status);
    }
    *address = op->alloc.address;
    return dev_node_add(graph, needs, count, DEV_NODE_ALLOC, op, out);
}

dev_result dev_node_add_free(dev_graph *graph, dev_node *const *needs, size_t count,
                             dev_context *context, uint64_t address, dev_node **out)
{
    dev_op *op = dev_op_new(OP_FREE, context);
    if (!op)
        return DEV_NOMEM;
    op->alloc.address = address;
    return dev_node_add(graph, needs, count, DEV_NODE_FREE, op, out);
}

static void forget_need(dev_node *node, const dev_node *need)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->needs.count; i++)
        if (node->needs.data[i] != need)
            node->needs.data[kept++] = node->needs.data[i];
    node->needs.count = kept;
}

void dev_node_destroy(dev_node *node)
{
    dev_graph *graph = node->graph;
    size_t kept = 0;
    for (size_t i = 0; i < graph->nodes.count; i++) {
        if (graph->nodes.data[i] == node)
            continue;
        forget_need(graph->nodes.data[i], node);
        graph->nodes.data[kept++] = graph->nodes.data[i];
    }
    graph->nodes.count = kept;
    free_node(node);
}

void dev_node_set(dev_node *node, dev_op *op)
{
    dev_op_unref(node->op);
    node->op = op;
    free(node->arguments);
    node->arguments = NULL;
}

dev_result dev_node_store(dev_node *node, const void *params, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy)
        return DEV_NOMEM;
    memcpy(copy, params, bytes);
    free(node->stored);
    node->stored = copy;
    node->stored_bytes = bytes;
    return DEV_OK;
}

void **dev_node_arguments(dev_node *node)
{
    const emu_kernel_info *info = dev_function_info(node->op->launch.function, NULL);
    if (node->arguments || !info)
        return node->arguments;
    node->arguments = calloc((size_t)info->nparams + 1, sizeof *node->arguments);
    for (uint32_t i = 0; node->arguments && i < info->nparams; i++)
        node->arguments[i] = (char *)node->op->launch.params + info->param_offsets[i];
    return node->arguments;
}

bool dev_node_needs(const dev_node *node, const dev_node *other)
{
    for (size_t i = 0; i < node->needs.count; i++)
        if (node->needs.data[i] == other)
            return true;
    return false;
}

dev_result dev_edge_add(dev_node *from, dev_node *to)
{
    if (from->graph != to->graph || from == to || dev_node_needs(to, from))
        return DEV_INVALID_VALUE;
    return add_need(to, from);
}

dev_result dev_edge_remove(dev_node *from, dev_node *to)
{
    if (!dev_node_needs(to, from))
        return DEV_INVALID_VALUE;
    forget_need(to, from);
    return DEV_OK;
}

/* ---- graphs ---- */

dev_result dev_graph_new(dev_graph **out)
{
    dev_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return DEV_NOMEM;
    dev_handle_add(&graph->handle, DEV_GRAPH, graph);
    *out = graph;
    return DEV_OK;
}

void dev_graph_destroy(dev_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.data[i]);
    while (graph->objects.count)
        drop_references(graph->objects.data[--graph->objects.count], 1);
    wl_vec_free(&graph->nodes);
    wl_vec_free(&graph->objects);
    dev_handle_remove(&graph->handle);
    free(graph);
}

static size_t index_of(const dev_graph *graph, const dev_node *node)
{
    size_t i = 0;
    while (graph->nodes.data[i] != node)
        i++;
    return i;
}

static dev_result clone_node(dev_graph *copy, const dev_node *node)
{
    dev_node *twin;
    dev_result r;
    if (node->child)
        r = dev_node_add_child(copy, NULL, 0, node->child, &twin);
    else
        r = dev_node_add(copy, NULL, 0, node->type, node->op ? dev_op_ref(node->op) : NULL, &twin);
    if (r)
        return r;
    twin->clone = node;
    return node->stored ? dev_node_store(twin, node->stored, node->stored_bytes) : DEV_OK;
}

static dev_result clone_edges(const dev_graph *graph, dev_graph *copy)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const dev_nodes *needs = &graph->nodes.data[i]->needs;
        for (size_t k = 0; k < needs->count; k++) {
            dev_node *need = copy->nodes.data[index_of(graph, needs->data[k])];
            if (add_need(copy->nodes.data[i], need) != DEV_OK)
                return DEV_NOMEM;
        }
    }
    return DEV_OK;
}

dev_result dev_graph_clone(const dev_graph *graph, dev_graph **out)
{
    dev_graph *copy;
    dev_result r = dev_graph_new(&copy);
    if (r)
        return r;
    for (size_t i = 0; i < graph->nodes.count && r == DEV_OK; i++)
        r = clone_node(copy, graph->nodes.data[i]);
    if (r == DEV_OK)
        r = clone_edges(graph, copy);
    for (size_t i = 0; i < graph->objects.count && r == DEV_OK; i++)
        r = dev_graph_retain(copy, graph->objects.data[i], 1, false);
    if (r) {
        dev_graph_destroy(copy);
        return r;
    }
    *out = copy;
    return DEV_OK;
}

/* ---- instances ---- */

static dev_result flatten(const dev_graph *graph, dev_exec *exec);

static dev_result add_step(dev_exec *exec, const dev_node *node)
{
    if (node->child)
        return flatten(node->child, exec);
    dev_step step = {.origin = node, .type = node->type, .enabled = true};
    if (node->op)
        step.op = dev_op_ref(node->op);
    return wl_push(&exec->steps, step) ? DEV_OK : DEV_NOMEM;
}

static bool needs_done(const dev_graph *graph, const dev_node *node, const bool *done)
{
    for (size_t i = 0; i < node->needs.count; i++)
        if (!done[index_of(graph, node->needs.data[i])])
            return false;
    return true;
}

/* Nodes in order of creation as far as edges allow: always the same order. A cycle gives INVALID_VALUE. */
static dev_result flatten(const dev_graph *graph, dev_exec *exec)
{
    bool *done = calloc(graph->nodes.count + 1, sizeof *done);
    dev_result r = done ? DEV_OK : DEV_NOMEM;
    size_t left = graph->nodes.count;
    while (left && r == DEV_OK) {
        size_t before = left;
        for (size_t i = 0; i < graph->nodes.count && r == DEV_OK; i++) {
            if (done[i] || !needs_done(graph, graph->nodes.data[i], done))
                continue;
            r = add_step(exec, graph->nodes.data[i]);
            done[i] = true;
            left--;
        }
        if (left == before)
            r = DEV_INVALID_VALUE;
    }
    free(done);
    return r;
}

dev_result dev_exec_new(const dev_graph *graph, unsigned long long flags, dev_exec **out)
{
    dev_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return DEV_NOMEM;
    exec->flags = flags;
    dev_handle_add(&exec->handle, DEV_EXEC, exec);
    dev_result r = flatten(graph, exec);
    for (size_t i = 0; i < graph->objects.count && r == DEV_OK; i++) {
        if (wl_push(&exec->objects, graph->objects.data[i]))
            graph->objects.data[i]->references++;
        else
            r = DEV_NOMEM;
    }
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
        drop_references(exec->objects.data[--exec->objects.count], 1);
    wl_vec_free(&exec->steps);
    wl_vec_free(&exec->objects);
    dev_handle_remove(&exec->handle);
    free(exec);
}

/* Recordings of events count up with every launch of the graph; all other operations can be shared. */
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
    part.record.stream = stream->id;
    if (op->kind == OP_COPY)
        dev_copy_describe(&op->copy, &part.record);
    else
        dev_set_describe(&op->set, &part.record);
    rec_call_write(&part, DEV_OK);
}

dev_result dev_exec_launch(dev_call *call, dev_exec *exec, dev_stream *stream)
{
    if (stream->context->error)
        return stream->context->error;
    if (stream->capturing)
        return dev_capture_invalidate(stream, DEV_CAPTURE_UNSUPPORTED);
    dev_call_write(call, DEV_OK);
    /* The lock may be open while a host function runs: the instance may then be destroyed. */
    for (size_t i = 0; dev_is(exec, DEV_EXEC) && i < exec->steps.count; i++) {
        const dev_step *step = &exec->steps.data[i];
        if (!step->enabled || !step->op)
            continue;
        dev_op *op = instance_of(step->op);
        if (!op)
            return DEV_NOMEM;
        record_step(call, op, stream);
        dev_result r = dev_submit(call, stream, op, false);
        if (r)
            return r;
    }
    return DEV_OK;
}

static const dev_step *first_difference(const dev_exec *a, const dev_exec *b)
{
    for (size_t i = 0; i < b->steps.count; i++)
        if (i >= a->steps.count || a->steps.data[i].type != b->steps.data[i].type)
            return &b->steps.data[i];
    return a->steps.count == b->steps.count ? NULL : &a->steps.data[b->steps.count];
}

/* Steps of one graph's shape, from the first on, do what those of the fresh instance do, which is destroyed. */
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

dev_result dev_exec_update_child(dev_exec *exec, const dev_node *node, const dev_graph *graph)
{
    dev_exec *old, *fresh;
    dev_result r = dev_exec_new(node->child, exec->flags, &old);
    if (r)
        return r;
    r = dev_exec_new(graph, exec->flags, &fresh);
    if (r == DEV_OK) {
        dev_step *first = old->steps.count ? dev_exec_step(exec, old->steps.data[0].origin) : NULL;
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

dev_step *dev_exec_step(dev_exec *exec, const dev_node *node)
{
    for (size_t i = 0; i < exec->steps.count; i++)
        if (exec->steps.data[i].origin == node)
            return &exec->steps.data[i];
    return NULL;
}

void dev_step_set(dev_step *step, dev_op *op)
{
    dev_op_unref(step->op);
    step->op = op;
}

/* ---- memory of graphs ---- */

static void run_alloc(dev_op *op, uint32_t call)
{
    dev_gpu *device = op->context->device;
    dev_block *old = dev_block_find(op->alloc.address);
    if (old)
        dev_block_release(old, call);
    uint32_t object = rec_object_new();
    if (emu_mem_map(device->machine, op->alloc.address, op->alloc.size, object) != WL_OK) {
        dev_lose(op->context, DEV_NOMEM);
        return;
    }
    dev_block *block = dev_block_add(NULL, device, op->alloc.address, op->alloc.size,
                                     EMU_ALLOC_DEVICE, object, NULL);
    if (!block)
        return;
    block->mapped = true;
    dev_object_write(block, call, CAP_OBJECT_DEVICE, 0, "");
}

void dev_graph_memory_run(dev_op *op, uint32_t call)
{
    if (op->kind == OP_ALLOC) {
        run_alloc(op, call);
        return;
    }
    dev_block *block = dev_block_find(op->alloc.address);
    if (block && block->base == op->alloc.address)
        dev_block_release(block, call);
}
