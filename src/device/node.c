/* What the nodes of graphs do: from what the front ends say (dev_work) to operations, and back.
 * Memory that graphs allocate. */
#include "device/graph_impl.h"

#include <stdlib.h>

/* ---- memory ---- */

/* An ALLOC node has its address from the time it is made; the memory is there after the node
 * ran. */
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
    return dev_node_add_op(graph, needs, count, DEV_NODE_ALLOC, op, out);
}

static dev_result add_free_node(dev_graph *graph, dev_node *const *needs, size_t count,
                                dev_context *context, uint64_t address, dev_node **out)
{
    dev_op *op = dev_op_new(OP_FREE, context);
    if (!op)
        return DEV_NOMEM;
    op->alloc.address = address;
    return dev_node_add_op(graph, needs, count, DEV_NODE_FREE, op, out);
}

static void run_alloc(dev_op *op, uint32_t call)
{
    dev_gpu *device = op->context->device;
    dev_block *old = dev_block_find(op->alloc.address);
    if (old)
        dev_block_release(old, call, CAP_FREED_PROGRAM);
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
        dev_block_release(block, call, CAP_FREED_PROGRAM);
}

uint64_t dev_graph_memory(const dev_gpu *device)
{
    uint64_t used = 0;
    for (const dev_block *b = dev_g.blocks; b; b = b->hh.next)
        if (b->device == device && b->mapped && !b->physical)
            used += b->size;
    return used;
}

/* ---- work to operations ---- */

static dev_result new_op(dev_call *call, dev_op_kind kind, dev_op **op)
{
    *op = dev_op_new(kind, call->context);
    return *op ? DEV_OK : DEV_NOMEM;
}

static dev_result copy_op(dev_call *call, const dev_copy *copy, dev_op **op)
{
    bool empty = !copy->width || !copy->height || !copy->depth;
    dev_result r = empty ? DEV_OK : dev_copy_check(copy);
    if (r == DEV_OK)
        r = new_op(call, empty ? OP_EMPTY : OP_COPY, op);
    if (r == DEV_OK)
        (*op)->copy = *copy;
    return r;
}

static dev_result set_op(dev_call *call, const dev_set *set, dev_op **op)
{
    dev_result r = set->width && set->height ? dev_set_check(set) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        r = new_op(call, OP_SET, op);
    if (r == DEV_OK)
        (*op)->set = *set;
    return r;
}

static dev_result host_op(dev_call *call, const dev_host *host, dev_op **op)
{
    dev_result r = host->function ? new_op(call, OP_HOST, op) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        (*op)->host = *host;
    return r;
}

static dev_result event_op(dev_call *call, dev_op_kind kind, void *event, dev_op **op)
{
    dev_result r = dev_is(event, DEV_EVENT) ? new_op(call, kind, op) : DEV_INVALID_HANDLE;
    if (r == DEV_OK)
        (*op)->event.event = event;
    return r;
}

dev_result dev_work_op(dev_call *call, const dev_work *work, dev_op **op)
{
    *op = NULL;
    switch (work->type) {
    case DEV_NODE_KERNEL: return dev_launch_prepare(call, call->context, &work->launch, op);
    case DEV_NODE_COPY: return copy_op(call, &work->copy, op);
    case DEV_NODE_SET: return set_op(call, &work->set, op);
    case DEV_NODE_HOST: return host_op(call, &work->host, op);
    case DEV_NODE_WAIT: return event_op(call, OP_WAIT, work->event, op);
    case DEV_NODE_RECORD: return event_op(call, OP_RECORD, work->event, op);
    case DEV_NODE_EMPTY: return DEV_OK;
    case DEV_NODE_CONDITIONAL: return dev_unsupported_part("conditional graph nodes");
    default: return DEV_INVALID_VALUE;
    }
}

/* ---- nodes ---- */

dev_result dev_node_add(dev_call *call, dev_graph *graph, dev_node *const *needs, size_t count,
                        dev_work *work, dev_node **node)
{
    dev_op *op;
    dev_context *context = work->type == DEV_NODE_ALLOC ? work->memory.context : call->context;
    if (work->type == DEV_NODE_ALLOC)
        return dev_node_add_alloc(graph, needs, count, context, work->memory.size,
                                  dev_pool_default(context->device), node, &work->memory.address);
    if (work->type == DEV_NODE_FREE)
        return add_free_node(graph, needs, count, context, work->memory.address, node);
    if (work->type == DEV_NODE_CHILD)
        return dev_is(work->child, DEV_GRAPH) && work->child != graph
                   ? dev_node_add_child(graph, needs, count, work->child, node)
                   : DEV_INVALID_VALUE;
    dev_result r = dev_work_op(call, work, &op);
    return r ? r : dev_node_add_op(graph, needs, count, work->type, op, node);
}

dev_result dev_node_change(dev_call *call, dev_node *node, const dev_work *work)
{
    dev_op *op;
    dev_result r = node->type == work->type ? dev_work_op(call, work, &op) : DEV_INVALID_VALUE;
    if (r)
        return r;
    dev_op_unref(node->op);
    node->op = op;
    free(node->arguments);
    node->arguments = NULL;
    return DEV_OK;
}

/* ---- operations to work ---- */

/* Pointers to the arguments of a kernel node; NULL when memory is exhausted. */
static void **arguments_of(dev_node *node)
{
    const emu_kernel_info *info = dev_function_info(node->op->launch.function, NULL);
    if (node->arguments || !info)
        return node->arguments;
    node->arguments = calloc((size_t)info->nparams + 1, sizeof *node->arguments);
    for (uint32_t i = 0; node->arguments && i < info->nparams; i++)
        node->arguments[i] = (char *)node->op->launch.params + info->param_offsets[i];
    return node->arguments;
}

static dev_launch launch_of(dev_node *node)
{
    const dev_op_launch *l = &node->op->launch;
    return (dev_launch){.function = l->function,
                        .grid = l->grid,
                        .block = l->block,
                        .cluster = l->cluster,
                        .shared = l->shared,
                        .cooperative = l->cooperative,
                        .params = arguments_of(node)};
}

void dev_node_work(dev_node *node, dev_work *work)
{
    const dev_op *op = node->op;
    *work = (dev_work){.type = node->type};
    if (node->type == DEV_NODE_CHILD)
        work->child = node->child;
    if (!op)
        return;
    switch (node->type) {
    case DEV_NODE_KERNEL: work->launch = launch_of(node); break;
    case DEV_NODE_COPY: work->copy = op->copy; break;
    case DEV_NODE_SET: work->set = op->set; break;
    case DEV_NODE_HOST: work->host = op->host; break;
    case DEV_NODE_WAIT:
    case DEV_NODE_RECORD: work->event = op->event.event; break;
    case DEV_NODE_ALLOC:
    case DEV_NODE_FREE:
        work->memory = (dev_node_memory){op->alloc.address, op->alloc.size, op->context};
        break;
    default: break;
    }
}
