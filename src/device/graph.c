/* Graphs: nodes, edges, clones, and the user objects that a graph keeps alive. */
#include "device/graph_impl.h"

#include <stdlib.h>
#include <string.h>

/* ---- user objects ---- */

/* The application's function runs without the lock: it may well free memory of its own that others
 * wait for. */
void dev_object_drop(dev_object *object, unsigned count)
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
    dev_object_drop(object, count);
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
        dev_object_drop(object, 1);
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

dev_result dev_node_add_op(dev_graph *graph, dev_node *const *needs, size_t count,
                           dev_node_type type, dev_op *op, dev_node **out)
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

const void *dev_node_stored(const dev_node *node)
{
    return node->stored;
}

dev_node_type dev_node_type_of(const dev_node *node)
{
    return node->type;
}

dev_graph *dev_node_graph(const dev_node *node)
{
    return node->graph;
}

dev_graph *dev_node_child(const dev_node *node)
{
    return node->child;
}

const dev_node *dev_node_original(const dev_node *node)
{
    return node->clone;
}

size_t dev_node_need_count(const dev_node *node)
{
    return node->needs.count;
}

dev_node *dev_node_need(const dev_node *node, size_t index)
{
    return node->needs.data[index];
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
        dev_object_drop(graph->objects.data[--graph->objects.count], 1);
    wl_vec_free(&graph->nodes);
    wl_vec_free(&graph->objects);
    dev_handle_remove(&graph->handle);
    free(graph);
}

bool dev_graph_is_child(const dev_graph *graph)
{
    return graph->owner;
}

size_t dev_graph_count(const dev_graph *graph)
{
    return graph->nodes.count;
}

dev_node *dev_graph_node(const dev_graph *graph, size_t index)
{
    return graph->nodes.data[index];
}

size_t dev_graph_index(const dev_graph *graph, const dev_node *node)
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
        r = dev_node_add_op(copy, NULL, 0, node->type, node->op ? dev_op_ref(node->op) : NULL,
                            &twin);
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
            dev_node *need = copy->nodes.data[dev_graph_index(graph, needs->data[k])];
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
