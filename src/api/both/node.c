/* What the nodes of graphs do: parameters in, work for the core out, and back. */
#include "api/both/node.h"

#include "api/both/copy.h"
#include "api/both/function.h"
#include "api/both/graph.h"
#include "cuda/types.h"

#include <string.h>

/* What both interfaces lay out alike. */
#define ALIKE(driver, runtime)                                        \
    _Static_assert(offsetof(CUgraphNodeParams, driver) ==             \
                       offsetof(struct cudaGraphNodeParams, runtime), \
                   #driver " lies elsewhere in the runtime's parameters");
ALIKE(kernel.gridDimX, kernel.gridDim)
ALIKE(kernel.blockDimX, kernel.blockDim)
ALIKE(kernel.sharedMemBytes, kernel.sharedMemBytes)
ALIKE(kernel.kernelParams, kernel.kernelParams)
ALIKE(kernel.extra, kernel.extra)
ALIKE(memcpy.copyParams, memcpy.copyParams)
ALIKE(memset.dst, memset.dst)
ALIKE(memset.value, memset.value)
ALIKE(memset.elementSize, memset.elementSize)
ALIKE(memset.width, memset.width)
ALIKE(memset.height, memset.height)
ALIKE(host.fn, host.fn)
ALIKE(host.userData, host.userData)
ALIKE(graph.graph, graph.graph)
ALIKE(eventWait.event, eventWait.event)
ALIKE(eventRecord.event, eventRecord.event)
ALIKE(alloc.poolProps.location, alloc.poolProps.location)
ALIKE(alloc.bytesize, alloc.bytesize)
ALIKE(alloc.dptr, alloc.dptr)
ALIKE(free.dptr, free.dptr)
_Static_assert(sizeof(CUgraphNodeParams) == sizeof(struct cudaGraphNodeParams),
               "parameters of nodes differ in size");

/* ---- parameters to work ---- */

static dev_result read_kernel_params(dev_call *call, const api_side *side,
                                     const CUDA_KERNEL_NODE_PARAMS_v2 *k, dev_launch *launch)
{
    static void *none[1]; /* the list of a kernel without parameters */
    *launch = (dev_launch){.grid = {k->gridDimX, k->gridDimY, k->gridDimZ},
                           .block = {k->blockDimX, k->blockDimY, k->blockDimZ},
                           .shared = k->sharedMemBytes};
    dev_result r = side->function(call, k, launch);
    if (r == DEV_OK)
        r = api_arguments(k->kernelParams, k->extra, launch);
    if (r == DEV_OK && !launch->params && !launch->packed)
        launch->params = none;
    return r;
}

static dev_set read_set_params(const CUDA_MEMSET_NODE_PARAMS_v2 *p)
{
    return api_rows(p->dst, p->pitch, p->value, p->elementSize, p->width, p->height);
}

static dev_result read_work(dev_call *call, const api_side *side, const CUgraphNodeParams *p,
                            dev_work *work)
{
    *work = (dev_work){.type = (dev_node_type)p->type};
    switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        return read_kernel_params(call, side, &p->kernel, &work->launch);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return side->read_copy(&p->memcpy.copyParams, &work->copy);
    case CU_GRAPH_NODE_TYPE_MEMSET: work->set = read_set_params(&p->memset); break;
    case CU_GRAPH_NODE_TYPE_HOST:
        work->host = (dev_host){
            .kind = DEV_HOST_FUNCTION, .function = p->host.fn, .data = p->host.userData};
        break;
    case CU_GRAPH_NODE_TYPE_GRAPH: work->child = p->graph.graph; break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: work->event = p->eventWait.event; break;
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: work->event = p->eventRecord.event; break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
        work->memory.size = p->alloc.bytesize;
        return side->context(call, p->alloc.poolProps.location.id, &work->memory.context);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: work->memory.address = p->free.dptr; break;
    default: break; /* the core knows which others there are */
    }
    return DEV_OK;
}

/* ---- work to parameters ---- */

static void write_kernel_params(const dev_launch *l, CUDA_KERNEL_NODE_PARAMS_v2 *k)
{
    *k = (CUDA_KERNEL_NODE_PARAMS_v2){.func = (CUfunction)l->function,
                                      .gridDimX = l->grid.x,
                                      .gridDimY = l->grid.y,
                                      .gridDimZ = l->grid.z,
                                      .blockDimX = l->block.x,
                                      .blockDimY = l->block.y,
                                      .blockDimZ = l->block.z,
                                      .sharedMemBytes = l->shared,
                                      .kernelParams = l->params};
}

static CUDA_MEM_ALLOC_NODE_PARAMS alloc_params(const dev_node_memory *memory)
{
    CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE,
                          dev_gpu_ordinal(dev_context_device(memory->context))};
    return (CUDA_MEM_ALLOC_NODE_PARAMS){
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = here},
        .bytesize = memory->size,
        .dptr = memory->address};
}

static void write_work(const api_side *side, const dev_work *work, CUgraphNodeParams *p)
{
    const dev_set *set = &work->set;
    switch (work->type) {
    case DEV_NODE_KERNEL: write_kernel_params(&work->launch, &p->kernel); break;
    case DEV_NODE_COPY: side->write_copy(&work->copy, &p->memcpy.copyParams); break;
    case DEV_NODE_SET:
        p->memset = (CUDA_MEMSET_NODE_PARAMS_v2){
            set->address, set->pitch, set->value, set->element, set->width, set->height, NULL};
        break;
    case DEV_NODE_HOST:
        p->host = (CUDA_HOST_NODE_PARAMS){work->host.function, work->host.data};
        break;
    case DEV_NODE_CHILD: p->graph.graph = work->child; break;
    case DEV_NODE_WAIT: p->eventWait.event = work->event; break;
    case DEV_NODE_RECORD: p->eventRecord.event = work->event; break;
    case DEV_NODE_ALLOC: p->alloc = alloc_params(&work->memory); break;
    case DEV_NODE_FREE: p->free.dptr = work->memory.address; break;
    default: break;
    }
}

static void params_of(const api_side *side, dev_node *node, CUgraphNodeParams *p)
{
    dev_work work;
    dev_node_work(node, &work);
    *p = (CUgraphNodeParams){.type = (CUgraphNodeType)work.type};
    if (!side->gives_back || !dev_node_stored(node)) {
        write_work(side, &work, p);
        return;
    }
    memcpy(p, dev_node_stored(node), sizeof *p);
    if (work.type != DEV_NODE_KERNEL)
        return;
    p->kernel.kernelParams = work.launch.params; /* the application's list may be gone */
    p->kernel.extra = NULL;
}

/* ---- nodes ---- */

dev_result api_add_node(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph handle,
                        const CUgraphNode *needs, size_t count, CUgraphNodeParams *p)
{
    dev_graph *graph = api_graph_of(handle);
    dev_node *node;
    dev_work work;
    if (!out || !p || !graph || (count && !needs))
        return DEV_INVALID_VALUE;
    dev_result r = read_work(call, side, p, &work);
    if (r == DEV_OK)
        r = dev_node_add(call, graph, (dev_node *const *)needs, count, &work, &node);
    if (r)
        return r;
    if (work.type == DEV_NODE_ALLOC)
        p->alloc.dptr = work.memory.address;
    *out = (CUgraphNode)node;
    return side->gives_back ? dev_node_store(node, p, sizeof *p) : DEV_OK;
}

dev_result api_set_node(dev_call *call, const api_side *side, CUgraphNode handle,
                        const CUgraphNodeParams *p)
{
    dev_node *node = api_node_of(handle);
    dev_work work;
    bool same = node && p && (CUgraphNodeType)dev_node_type_of(node) == p->type;
    dev_result r = same ? read_work(call, side, p, &work) : DEV_INVALID_VALUE;
    if (r == DEV_OK)
        r = dev_node_change(call, node, &work);
    if (r == DEV_OK && side->gives_back)
        r = dev_node_store(node, p, sizeof *p);
    return r;
}

dev_result api_set_step(dev_call *call, const api_side *side, CUgraphExec exec, CUgraphNode node,
                        const CUgraphNodeParams *p)
{
    dev_work work;
    dev_result r = api_exec_of(exec) && p ? read_work(call, side, p, &work) : DEV_INVALID_VALUE;
    return r ? r : dev_exec_change(call, api_exec_of(exec), (const dev_node *)node, &work);
}

/* ---- parts ---- */

static void *node_params_part(CUgraphNodeParams *p, CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_MEMCPY ? (void *)&p->memcpy.copyParams : (void *)&p->kernel;
}

/* False where no part is given. */
static bool whole(CUgraphNodeParams *p, CUgraphNodeType type, const void *part, size_t bytes)
{
    *p = (CUgraphNodeParams){.type = type};
    if (part)
        memcpy(node_params_part(p, type), part, bytes);
    return part;
}

dev_result api_add_part(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph graph,
                        const CUgraphNode *needs, size_t count, CUgraphNodeType type,
                        const void *part, size_t bytes)
{
    CUgraphNodeParams p;
    return whole(&p, type, part, bytes) ? api_add_node(call, side, out, graph, needs, count, &p)
                                        : DEV_INVALID_VALUE;
}

dev_result api_add_alloc(dev_call *call, const api_side *side, CUgraphNode *out, CUgraph graph,
                         const CUgraphNode *needs, size_t count, CUDA_MEM_ALLOC_NODE_PARAMS *part)
{
    CUgraphNodeParams p;
    if (!whole(&p, CU_GRAPH_NODE_TYPE_MEM_ALLOC, part, sizeof *part))
        return DEV_INVALID_VALUE;
    dev_result r = api_add_node(call, side, out, graph, needs, count, &p);
    part->dptr = p.alloc.dptr;
    return r;
}

dev_result api_get_part(dev_call *call, const api_side *side, CUgraphNode handle,
                        CUgraphNodeType type, void *part, size_t bytes)
{
    CUgraphNodeParams p;
    dev_node *node = api_node_of(handle);
    (void)call;
    if (!part || !node || (CUgraphNodeType)dev_node_type_of(node) != type)
        return DEV_INVALID_VALUE;
    params_of(side, node, &p);
    memcpy(part, node_params_part(&p, type), bytes);
    return DEV_OK;
}

dev_result api_set_part(dev_call *call, const api_side *side, CUgraphNode node,
                        CUgraphNodeType type, const void *part, size_t bytes)
{
    CUgraphNodeParams p;
    return whole(&p, type, part, bytes) ? api_set_node(call, side, node, &p) : DEV_INVALID_VALUE;
}

dev_result api_set_step_part(dev_call *call, const api_side *side, CUgraphExec exec,
                             CUgraphNode node, CUgraphNodeType type, const void *part, size_t bytes)
{
    CUgraphNodeParams p;
    return whole(&p, type, part, bytes) ? api_set_step(call, side, exec, node, &p)
                                        : DEV_INVALID_VALUE;
}
