#include "collect/graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- user objects ---- */

/* The application's function runs without the lock: it may well free memory of its own that others wait for. */
static void drop_references(collect_object *object, unsigned count)
{
    object->references -= count;
    if (object->references)
        return;
    collect_handle_remove(&object->handle);
    pthread_mutex_unlock(&collect_g.lock);
    object->destroy(object->data);
    pthread_mutex_lock(&collect_g.lock);
    free(object);
}

collect_result collect_object_create(void *data, void (*destroy)(void *), unsigned references,
                                     collect_object **out)
{
    if (!destroy || !references)
        return COLLECT_INVALID_VALUE;
    collect_object *object = calloc(1, sizeof *object);
    if (!object)
        return COLLECT_NOMEM;
    object->data = data;
    object->destroy = destroy;
    object->references = references;
    collect_handle_add(&object->handle, COLLECT_OBJECT, object);
    *out = object;
    return COLLECT_OK;
}

collect_result collect_object_retain(collect_object *object, unsigned count)
{
    object->references += count;
    return COLLECT_OK;
}

collect_result collect_object_release(collect_object *object, unsigned count)
{
    if (!count || count > object->references)
        return COLLECT_INVALID_VALUE;
    drop_references(object, count);
    return COLLECT_OK;
}

collect_result collect_graph_retain(collect_graph *graph, collect_object *object, unsigned count,
                                    bool move)
{
    for (unsigned i = 0; i < count; i++)
        if (!wl_push(&graph->objects, object))
            return COLLECT_NOMEM;
    if (!move)
        object->references += count;
    return COLLECT_OK;
}

collect_result collect_graph_release(collect_graph *graph, collect_object *object, unsigned count)
{
    for (size_t i = graph->objects.count; i-- > 0 && count;) {
        if (graph->objects.data[i] != object)
            continue;
        graph->objects.data[i] = graph->objects.data[--graph->objects.count];
        count--;
        drop_references(object, 1);
    }
    return count ? COLLECT_INVALID_VALUE : COLLECT_OK;
}

/* ---- nodes ---- */

static void free_node(collect_node *node)
{
    collect_handle_remove(&node->handle);
    collect_op_unref(node->op);
    if (node->child)
        collect_graph_destroy(node->child);
    wl_vec_free(&node->needs);
    free(node->stored);
    free(node->arguments);
    free(node);
}

static collect_result add_need(collect_node *node, collect_node *need)
{
    if (collect_node_needs(node, need))
        return COLLECT_OK;
    return wl_push(&node->needs, need) ? COLLECT_OK : COLLECT_NOMEM;
}

static bool all_of(const collect_graph *graph, collect_node *const *nodes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!collect_is(nodes[i], COLLECT_NODE) || nodes[i]->graph != graph)
            return false;
    return true;
}

static collect_result new_node(collect_graph *graph, collect_node *const *needs, size_t count,
                               collect_node_type type, collect_node **out)
{
    if (count && (!needs || !all_of(graph, needs, count)))
        return COLLECT_INVALID_VALUE;
    collect_node *node = calloc(1, sizeof *node);
    if (!node)
        return COLLECT_NOMEM;
    node->graph = graph;
    node->type = type;
    collect_handle_add(&node->handle, COLLECT_NODE, node);
    collect_result r = COLLECT_OK;
    for (size_t i = 0; i < count && r == COLLECT_OK; i++)
        r = add_need(node, needs[i]);
    if (r == COLLECT_OK && !wl_push(&graph->nodes, node))
        r = COLLECT_NOMEM;
    if (r) {
        free_node(node);
        return r;
    }
    *out = node;
    return COLLECT_OK;
}

collect_result collect_node_add(collect_graph *graph, collect_node *const *needs, size_t count,
                                collect_node_type type, collect_op *op, collect_node **out)
{
    collect_result r = new_node(graph, needs, count, type, out);
    if (r == COLLECT_OK)
        (*out)->op = op;
    else
        collect_op_unref(op);
    return r;
}

collect_result collect_node_add_child(collect_graph *graph, collect_node *const *needs,
                                      size_t count, const collect_graph *child, collect_node **out)
{
    collect_graph *copy;
    collect_result r = collect_graph_clone(child, &copy);
    if (r)
        return r;
    r = new_node(graph, needs, count, COLLECT_NODE_CHILD, out);
    if (r) {
        collect_graph_destroy(copy);
        return r;
    }
    (*out)->child = copy;
    copy->owner = *out;
    return COLLECT_OK;
}

/* Memory of graphs has its addresses from then on; it is there from the node's run on. */
typedef struct promise {
    uint64_t address, bytes;
} promise;

static wl_vec(promise) promises;

bool collect_graph_promised(uint64_t address, uint64_t bytes)
{
    for (size_t i = 0; i < promises.count; i++) {
        const promise *p = &promises.data[i];
        if (address >= p->address && bytes <= p->bytes && address - p->address <= p->bytes - bytes)
            return true;
    }
    return false;
}

bool collect_graph_missing(uint64_t address, uint64_t bytes)
{
    return collect_graph_promised(address, bytes) && !collect_range_valid(address, bytes);
}

collect_result collect_node_add_alloc(collect_graph *graph, collect_node *const *needs,
                                      size_t count, collect_context *context, uint64_t size,
                                      collect_pool *pool, collect_node **out, uint64_t *address)
{
    uint64_t whole = (size + COLLECT_GRANULARITY - 1) / COLLECT_GRANULARITY * COLLECT_GRANULARITY;
    if (!size || whole < size)
        return COLLECT_INVALID_VALUE;
    collect_op *op = collect_op_new(OP_ALLOC, context);
    if (!op)
        return COLLECT_NOMEM;
    op->alloc = (collect_op_alloc){.size = size, .pool = pool};
    wl_status status = emu_mem_reserve(context->device->machine, whole, COLLECT_GRANULARITY,
                                       &op->alloc.address);
    if (status == WL_OK && !wl_push(&promises, ((promise){op->alloc.address, size})))
        status = WL_NOMEM;
    if (status != WL_OK) {
        collect_op_unref(op);
        return collect_status(status);
    }
    *address = op->alloc.address;
    return collect_node_add(graph, needs, count, COLLECT_NODE_ALLOC, op, out);
}

collect_result collect_node_add_free(collect_graph *graph, collect_node *const *needs, size_t count,
                                     collect_context *context, uint64_t address, collect_node **out)
{
    collect_op *op = collect_op_new(OP_FREE, context);
    if (!op)
        return COLLECT_NOMEM;
    op->alloc.address = address;
    return collect_node_add(graph, needs, count, COLLECT_NODE_FREE, op, out);
}

static void forget_need(collect_node *node, const collect_node *need)
{
    size_t kept = 0;
    for (size_t i = 0; i < node->needs.count; i++)
        if (node->needs.data[i] != need)
            node->needs.data[kept++] = node->needs.data[i];
    node->needs.count = kept;
}

void collect_node_destroy(collect_node *node)
{
    collect_graph *graph = node->graph;
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

void collect_node_set(collect_node *node, collect_op *op)
{
    collect_op_unref(node->op);
    node->op = op;
    free(node->arguments);
    node->arguments = NULL;
}

collect_result collect_node_store(collect_node *node, const void *params, size_t bytes)
{
    void *copy = malloc(bytes);
    if (!copy)
        return COLLECT_NOMEM;
    memcpy(copy, params, bytes);
    free(node->stored);
    node->stored = copy;
    node->stored_bytes = bytes;
    return COLLECT_OK;
}

void **collect_node_arguments(collect_node *node)
{
    const emu_kernel_info *info = collect_function_info(node->op->launch.function, NULL);
    if (node->arguments || !info)
        return node->arguments;
    node->arguments = calloc((size_t)info->nparams + 1, sizeof *node->arguments);
    for (uint32_t i = 0; node->arguments && i < info->nparams; i++)
        node->arguments[i] = (char *)node->op->launch.params + info->param_offsets[i];
    return node->arguments;
}

bool collect_node_needs(const collect_node *node, const collect_node *other)
{
    for (size_t i = 0; i < node->needs.count; i++)
        if (node->needs.data[i] == other)
            return true;
    return false;
}

collect_result collect_edge_add(collect_node *from, collect_node *to)
{
    if (from->graph != to->graph || from == to || collect_node_needs(to, from))
        return COLLECT_INVALID_VALUE;
    return add_need(to, from);
}

collect_result collect_edge_remove(collect_node *from, collect_node *to)
{
    if (!collect_node_needs(to, from))
        return COLLECT_INVALID_VALUE;
    forget_need(to, from);
    return COLLECT_OK;
}

/* ---- graphs ---- */

collect_result collect_graph_new(collect_graph **out)
{
    collect_graph *graph = calloc(1, sizeof *graph);
    if (!graph)
        return COLLECT_NOMEM;
    collect_handle_add(&graph->handle, COLLECT_GRAPH, graph);
    *out = graph;
    return COLLECT_OK;
}

void collect_graph_destroy(collect_graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.data[i]);
    while (graph->objects.count)
        drop_references(graph->objects.data[--graph->objects.count], 1);
    wl_vec_free(&graph->nodes);
    wl_vec_free(&graph->objects);
    collect_handle_remove(&graph->handle);
    free(graph);
}

static size_t index_of(const collect_graph *graph, const collect_node *node)
{
    size_t i = 0;
    while (graph->nodes.data[i] != node)
        i++;
    return i;
}

static collect_result clone_node(collect_graph *copy, const collect_node *node)
{
    collect_node *twin;
    collect_result r;
    if (node->child)
        r = collect_node_add_child(copy, NULL, 0, node->child, &twin);
    else
        r = collect_node_add(copy, NULL, 0, node->type, node->op ? collect_op_ref(node->op) : NULL,
                             &twin);
    if (r)
        return r;
    twin->clone = node;
    return node->stored ? collect_node_store(twin, node->stored, node->stored_bytes) : COLLECT_OK;
}

static collect_result clone_edges(const collect_graph *graph, collect_graph *copy)
{
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const collect_nodes *needs = &graph->nodes.data[i]->needs;
        for (size_t k = 0; k < needs->count; k++) {
            collect_node *need = copy->nodes.data[index_of(graph, needs->data[k])];
            if (add_need(copy->nodes.data[i], need) != COLLECT_OK)
                return COLLECT_NOMEM;
        }
    }
    return COLLECT_OK;
}

collect_result collect_graph_clone(const collect_graph *graph, collect_graph **out)
{
    collect_graph *copy;
    collect_result r = collect_graph_new(&copy);
    if (r)
        return r;
    for (size_t i = 0; i < graph->nodes.count && r == COLLECT_OK; i++)
        r = clone_node(copy, graph->nodes.data[i]);
    if (r == COLLECT_OK)
        r = clone_edges(graph, copy);
    for (size_t i = 0; i < graph->objects.count && r == COLLECT_OK; i++)
        r = collect_graph_retain(copy, graph->objects.data[i], 1, false);
    if (r) {
        collect_graph_destroy(copy);
        return r;
    }
    *out = copy;
    return COLLECT_OK;
}

/* ---- instances ---- */

static collect_result flatten(const collect_graph *graph, collect_exec *exec);

static collect_result add_step(collect_exec *exec, const collect_node *node)
{
    if (node->child)
        return flatten(node->child, exec);
    collect_step step = {.origin = node, .type = node->type, .enabled = true};
    if (node->op)
        step.op = collect_op_ref(node->op);
    return wl_push(&exec->steps, step) ? COLLECT_OK : COLLECT_NOMEM;
}

static bool needs_done(const collect_graph *graph, const collect_node *node, const bool *done)
{
    for (size_t i = 0; i < node->needs.count; i++)
        if (!done[index_of(graph, node->needs.data[i])])
            return false;
    return true;
}

/* Nodes in order of creation as far as edges allow: always the same order. A cycle gives INVALID_VALUE. */
static collect_result flatten(const collect_graph *graph, collect_exec *exec)
{
    bool *done = calloc(graph->nodes.count + 1, sizeof *done);
    collect_result r = done ? COLLECT_OK : COLLECT_NOMEM;
    size_t left = graph->nodes.count;
    while (left && r == COLLECT_OK) {
        size_t before = left;
        for (size_t i = 0; i < graph->nodes.count && r == COLLECT_OK; i++) {
            if (done[i] || !needs_done(graph, graph->nodes.data[i], done))
                continue;
            r = add_step(exec, graph->nodes.data[i]);
            done[i] = true;
            left--;
        }
        if (left == before)
            r = COLLECT_INVALID_VALUE;
    }
    free(done);
    return r;
}

collect_result collect_exec_new(const collect_graph *graph, unsigned long long flags,
                                collect_exec **out)
{
    collect_exec *exec = calloc(1, sizeof *exec);
    if (!exec)
        return COLLECT_NOMEM;
    exec->flags = flags;
    collect_handle_add(&exec->handle, COLLECT_EXEC, exec);
    collect_result r = flatten(graph, exec);
    for (size_t i = 0; i < graph->objects.count && r == COLLECT_OK; i++) {
        if (wl_push(&exec->objects, graph->objects.data[i]))
            graph->objects.data[i]->references++;
        else
            r = COLLECT_NOMEM;
    }
    if (r) {
        collect_exec_destroy(exec);
        return r;
    }
    *out = exec;
    return COLLECT_OK;
}

void collect_exec_destroy(collect_exec *exec)
{
    for (size_t i = 0; i < exec->steps.count; i++)
        collect_op_unref(exec->steps.data[i].op);
    while (exec->objects.count)
        drop_references(exec->objects.data[--exec->objects.count], 1);
    wl_vec_free(&exec->steps);
    wl_vec_free(&exec->objects);
    collect_handle_remove(&exec->handle);
    free(exec);
}

/* Recordings of events count up with every launch of the graph; all other operations can be shared. */
static collect_op *instance_of(collect_op *op)
{
    if (op->kind != OP_RECORD && op->kind != OP_WAIT)
        return collect_op_ref(op);
    collect_op *copy = collect_op_new(op->kind, op->context);
    if (!copy || !collect_is(op->event.event, COLLECT_EVENT))
        return copy;
    copy->event = op->event;
    copy->event.event->recorded += op->kind == OP_RECORD;
    copy->event.version = copy->event.event->recorded;
    return copy;
}

static void record_step(collect_call *call, const collect_op *op, const collect_stream *stream)
{
    cap_call fields = {.stream = stream->id, .start_ns = collect_since_start()};
    fields.stack = call->record.stack;
    if (op->kind == OP_COPY)
        collect_copy_describe(&op->copy, &fields);
    else if (op->kind == OP_SET)
        collect_set_describe(&op->set, &fields);
    else
        return;
    collect_call_node(call->id, call->api, op->kind == OP_COPY ? CAP_CALL_COPY : CAP_CALL_SET,
                      &fields);
}

collect_result collect_exec_launch(collect_call *call, collect_exec *exec, collect_stream *stream)
{
    if (stream->context->error)
        return stream->context->error;
    if (stream->capturing)
        return collect_capture_invalidate(stream, COLLECT_CAPTURE_UNSUPPORTED);
    collect_call_write(call, COLLECT_OK);
    /* The lock may be open while a host function runs: the instance may then be destroyed. */
    for (size_t i = 0; collect_is(exec, COLLECT_EXEC) && i < exec->steps.count; i++) {
        const collect_step *step = &exec->steps.data[i];
        if (!step->enabled || !step->op)
            continue;
        collect_op *op = instance_of(step->op);
        if (!op)
            return COLLECT_NOMEM;
        record_step(call, op, stream);
        collect_result r = collect_submit(call, stream, op, false);
        if (r)
            return r;
    }
    return COLLECT_OK;
}

static const collect_step *first_difference(const collect_exec *a, const collect_exec *b)
{
    for (size_t i = 0; i < b->steps.count; i++)
        if (i >= a->steps.count || a->steps.data[i].type != b->steps.data[i].type)
            return &b->steps.data[i];
    return a->steps.count == b->steps.count ? NULL : &a->steps.data[b->steps.count];
}

/* Steps of one graph's shape, from the first on, do what those of the fresh instance do, which is destroyed. */
static void take_steps(collect_step *steps, collect_exec *fresh)
{
    for (size_t i = 0; i < fresh->steps.count; i++) {
        collect_op *old = steps[i].op;
        steps[i].op = fresh->steps.data[i].op;
        fresh->steps.data[i].op = old;
    }
    collect_exec_destroy(fresh);
}

collect_result collect_exec_update(collect_exec *exec, const collect_graph *graph,
                                   const collect_node **differs)
{
    collect_exec *fresh;
    *differs = NULL;
    collect_result r = collect_exec_new(graph, exec->flags, &fresh);
    if (r)
        return r;
    const collect_step *difference = first_difference(exec, fresh);
    if (difference) {
        *differs = difference->origin;
        collect_exec_destroy(fresh);
        return COLLECT_GRAPH_UPDATE_FAILURE;
    }
    take_steps(exec->steps.data, fresh);
    return COLLECT_OK;
}

collect_result collect_exec_update_child(collect_exec *exec, const collect_node *node,
                                         const collect_graph *graph)
{
    collect_exec *old, *fresh;
    collect_result r = collect_exec_new(node->child, exec->flags, &old);
    if (r)
        return r;
    r = collect_exec_new(graph, exec->flags, &fresh);
    if (r == COLLECT_OK) {
        collect_step *first = old->steps.count ? collect_exec_step(exec, old->steps.data[0].origin)
                                               : NULL;
        if (first_difference(old, fresh))
            r = COLLECT_GRAPH_UPDATE_FAILURE;
        else if (old->steps.count && !first)
            r = COLLECT_INVALID_VALUE;
        if (r == COLLECT_OK && first)
            take_steps(first, fresh);
        else
            collect_exec_destroy(fresh);
    }
    collect_exec_destroy(old);
    return r;
}

collect_step *collect_exec_step(collect_exec *exec, const collect_node *node)
{
    for (size_t i = 0; i < exec->steps.count; i++)
        if (exec->steps.data[i].origin == node)
            return &exec->steps.data[i];
    return NULL;
}

void collect_step_set(collect_step *step, collect_op *op)
{
    collect_op_unref(step->op);
    step->op = op;
}

/* ---- memory of graphs ---- */

static void run_alloc(collect_op *op, uint32_t call)
{
    collect_device *device = op->context->device;
    collect_block *old = collect_block_find(op->alloc.address);
    if (old)
        collect_block_release(old, call);
    uint32_t object = collect_object_new();
    if (emu_mem_map(device->machine, op->alloc.address, op->alloc.size, object) != WL_OK) {
        collect_lose(op->context, COLLECT_NOMEM);
        return;
    }
    collect_block *block = collect_block_add(NULL, device, op->alloc.address, op->alloc.size,
                                             EMU_ALLOC_DEVICE, object, NULL);
    if (!block)
        return;
    block->mapped = true;
    collect_object_write(block, call, CAP_OBJECT_DEVICE, 0, "");
}

void collect_graph_memory_run(collect_op *op, uint32_t call)
{
    if (op->kind == OP_ALLOC) {
        run_alloc(op, call);
        return;
    }
    collect_block *block = collect_block_find(op->alloc.address);
    if (block && block->base == op->alloc.address)
        collect_block_release(block, call);
}
