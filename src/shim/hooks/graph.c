/* Graphs: what an instance holds is kept, and what it does is noted whenever it is launched:
 * kernels, copies and sets, memory that it allocates and frees. */
#include "record/graph.h"
#include "shim/hooks/copy.h"
#include "shim/hooks/hook.h"

#include <stdlib.h>
#include <string.h>

typedef struct node { /* of an instance */
    CUgraphNodeType type;
    CUgraphNode handle;
    CUgraphNode child; /* the outermost child graph's node that it is in; NULL: none */
    void *function;    /* of a kernel: CUfunction or CUkernel */
    drv_shape shape;
    drv_param_bytes params; /* data malloc'ed */
    hook_moved moved;       /* of a copy or set; what is allocated or freed: from `to` on */
    bool known;             /* what it does; else it is not noted */
    bool disabled;
} node;

typedef wl_vec(node) node_list;

typedef struct graph { /* a CUgraphExec */
    void *handle;
    node_list nodes; /* in the order in which they run, a child graph's after their node */
    rec_graph recorded;
    uint32_t conditional; /* nodes whose kernels the device decides on */
    uint32_t unread;      /* nodes, or graphs of them, with kernels perhaps that nobody told us */
    UT_hash_handle hh;
} graph;

enum { NO_NODE = UINT32_MAX };
enum { MAX_DEPTH = 64 }; /* of graphs within graphs */

static graph *graphs;

/* ---- reading; with the lock held ---- */

static void clear_nodes(node_list *nodes)
{
    for (size_t i = 0; i < nodes->count; i++)
        free((char *)nodes->data[i].params.data);
    wl_vec_free(nodes);
}

static void *node_function(const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    return p->func ? (void *)p->func : (void *)p->kern;
}

/* What the node runs from now on; false where that is not known. */
static bool set_kernel(node *n, const CUDA_KERNEL_NODE_PARAMS_v2 *p)
{
    void *handle = node_function(p);
    drv_function *f = handle ? drv_function_of(handle) : NULL;
    if (!f)
        return false;
    drv_param_bytes bytes = hook_pack_params(f, p->kernelParams, p->extra);
    char *copy = malloc(bytes.length + 1);
    if (!copy)
        return false;
    memcpy(copy, bytes.data, bytes.length);
    free((char *)n->params.data);
    n->params = (drv_param_bytes){copy, bytes.length, bytes.known};
    n->function = handle;
    n->shape = (drv_shape){
        .grid = {p->gridDimX, p->gridDimY, p->gridDimZ},
        .block = {p->blockDimX, p->blockDimY, p->blockDimZ},
        .cluster = {n->shape.cluster[0], n->shape.cluster[1], n->shape.cluster[2]},
        .shared = p->sharedMemBytes,
        .flags = n->shape.flags | CAP_NOTE_GRAPH,
    };
    return true;
}

static CUresult get_kernel(CUgraphNode handle, CUDA_KERNEL_NODE_PARAMS_v2 *out)
{
    *out = (CUDA_KERNEL_NODE_PARAMS_v2){0};
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphKernelNodeGetParams_v2,
                             (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2 *), handle, out);
    return result != CUDA_ERROR_NOT_SUPPORTED
               ? result
               : DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphKernelNodeGetParams,
                        (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v1 *), handle,
                        (CUDA_KERNEL_NODE_PARAMS_v1 *)out);
}

static bool get_attribute(CUgraphNode handle, CUlaunchAttributeID which,
                          CUlaunchAttributeValue *value)
{
    *value = (CUlaunchAttributeValue){0};
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphKernelNodeGetAttribute,
                  (CUgraphNode, CUlaunchAttributeID, CUlaunchAttributeValue *), handle, which,
                  value) == CUDA_SUCCESS;
}

static bool read_kernel_node(node *n)
{
    CUDA_KERNEL_NODE_PARAMS_v2 params;
    CUlaunchAttributeValue value;
    if (get_kernel(n->handle, &params) != CUDA_SUCCESS || !set_kernel(n, &params))
        return false;
    if (get_attribute(n->handle, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &value))
        memcpy(n->shape.cluster, &value.clusterDim, sizeof n->shape.cluster);
    if (get_attribute(n->handle, CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &value) && value.cooperative)
        n->shape.flags |= CAP_NOTE_COOPERATIVE;
    return true;
}

/* What a copy finds in host memory when it runs is not known here. */
static bool read_copy_node(node *n)
{
    CUDA_MEMCPY3D copy = {0};
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphMemcpyNodeGetParams, (CUgraphNode, CUDA_MEMCPY3D *),
               n->handle, &copy) != CUDA_SUCCESS)
        return false;
    n->moved = hook_moved_volume(&copy);
    return true;
}

static bool read_set_node(node *n)
{
    CUDA_MEMSET_NODE_PARAMS set = {0};
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphMemsetNodeGetParams,
               (CUgraphNode, CUDA_MEMSET_NODE_PARAMS *), n->handle, &set) != CUDA_SUCCESS)
        return false;
    n->moved = hook_moved_set(&set);
    return true;
}

static bool read_alloc_node(node *n)
{
    CUDA_MEM_ALLOC_NODE_PARAMS alloc = {0};
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphMemAllocNodeGetParams,
               (CUgraphNode, CUDA_MEM_ALLOC_NODE_PARAMS *), n->handle, &alloc) != CUDA_SUCCESS)
        return false;
    n->moved = (hook_moved){.to = alloc.dptr, .bytes = alloc.bytesize};
    return true;
}

static bool read_free_node(node *n)
{
    CUdeviceptr address;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphMemFreeNodeGetParams, (CUgraphNode, CUdeviceptr *),
               n->handle, &address) != CUDA_SUCCESS)
        return false;
    n->moved.to = address;
    return true;
}

static bool read_node_work(node *n)
{
    switch ((int)n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return read_kernel_node(n);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return read_copy_node(n);
    case CU_GRAPH_NODE_TYPE_MEMSET: return read_set_node(n);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return read_alloc_node(n);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return read_free_node(n);
    default: return false;
    }
}

/* The nodes in the order in which they were added; malloc'ed. NULL: they cannot be had. */
static CUgraphNode *list_nodes(CUgraph source, size_t *count)
{
    CUgraphNode *nodes;
    *count = 0;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *),
               source, NULL, count) != CUDA_SUCCESS ||
        !(nodes = calloc(*count + 1, sizeof *nodes)))
        return NULL;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *),
               source, nodes, count) == CUDA_SUCCESS)
        return nodes;
    free(nodes);
    return NULL;
}

typedef struct reading { /* of a graph, or of one within a graph */
    graph *into;
    CUgraphNode child;   /* as node's */
    uint32_t parent;     /* the node that holds it, or NO_NODE */
    int depth;           /* of graphs within graphs */
    CUgraphNode *nodes;  /* in the order in which they run */
    rec_nodes *numbered; /* where each of them lies in the whole */
    size_t count;
    hook_edges edges;
    size_t next_edge; /* the first that leads to the next node */
} reading;

static void read_graph(graph *g, CUgraph source, CUgraphNode child, uint32_t parent, int depth);

static void read_child(graph *g, const node *n, uint32_t number, int depth)
{
    CUgraph within = NULL;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphChildGraphNodeGetGraph, (CUgraphNode, CUgraph *),
               n->handle, &within) == CUDA_SUCCESS)
        read_graph(g, within, n->child ? n->child : n->handle, number, depth + 1);
}

/* Its edges, which lead to it from nodes before. */
static void read_waits(reading *r, size_t index, uint32_t number)
{
    rec_graph *recorded = &r->into->recorded;
    size_t first = r->next_edge;
    for (; r->next_edge < r->edges.count && r->edges.data[r->next_edge].to == index; r->next_edge++)
        rec_graph_wait(recorded, number, r->numbered[r->edges.data[r->next_edge].from]);
    if (r->next_edge == first && r->parent != NO_NODE)
        rec_graph_wait(recorded, number, (rec_nodes){r->parent, r->parent + 1});
}

static void read_node(reading *r, size_t index)
{
    graph *g = r->into;
    uint32_t number = (uint32_t)g->nodes.count;
    node n = {.type = CU_GRAPH_NODE_TYPE_EMPTY, .handle = r->nodes[index], .child = r->child};
    bool typed = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeGetType,
                        (CUgraphNode, CUgraphNodeType *), n.handle, &n.type) == CUDA_SUCCESS;
    n.known = read_node_work(&n);
    g->unread += !typed || (n.type == CU_GRAPH_NODE_TYPE_KERNEL && !n.known);
    if (!wl_push(&g->nodes, n)) {
        free((char *)n.params.data);
        g->recorded.lost = true;
        return;
    }
    rec_graph_add(&g->recorded, n.type);
    read_waits(r, index, number);
    g->conditional += (int)n.type == CU_GRAPH_NODE_TYPE_CONDITIONAL;
    if (n.type == CU_GRAPH_NODE_TYPE_GRAPH)
        read_child(g, &n, number, r->depth);
    r->numbered[index] = (rec_nodes){number, (uint32_t)g->nodes.count};
}

static void read_graph(graph *g, CUgraph source, CUgraphNode child, uint32_t parent, int depth)
{
    reading r = {.into = g, .child = child, .parent = parent, .depth = depth};
    r.nodes = depth < MAX_DEPTH ? list_nodes(source, &r.count) : NULL;
    r.numbered = r.nodes ? calloc(r.count + 1, sizeof *r.numbered) : NULL;
    if (!r.numbered || !hook_sort_nodes(source, r.nodes, r.count, &r.edges))
        g->recorded.edges_unknown = true;
    g->unread += !r.numbered;
    for (size_t i = 0; r.numbered && i < r.count; i++)
        read_node(&r, i);
    wl_vec_free(&r.edges);
    free(r.numbered);
    free(r.nodes);
}

/* ---- the instances ---- */

static graph *find_graph(CUgraphExec exec)
{
    graph *g = NULL;
    void *handle = exec;
    HASH_FIND_PTR(graphs, &handle, g);
    return g;
}

static node *find_node(CUgraphExec exec, CUgraphNode handle)
{
    graph *g = find_graph(exec);
    for (size_t i = 0; g && i < g->nodes.count; i++)
        if (g->nodes.data[i].handle == handle)
            return &g->nodes.data[i];
    return NULL;
}

static void forget_graph(CUgraphExec exec)
{
    graph *g = find_graph(exec);
    if (!g)
        return;
    HASH_DEL(graphs, g);
    clear_nodes(&g->nodes);
    rec_graph_clear(&g->recorded);
    free(g);
}

/* After the instantiation of `source`. */
static CUresult instantiated(CUresult result, CUgraphExec *exec, CUgraph source)
{
    graph *g;
    if (result != CUDA_SUCCESS || !rec_g.writer)
        return result;
    pthread_mutex_lock(&rec_g.lock);
    forget_graph(*exec);
    if ((g = calloc(1, sizeof *g))) {
        g->handle = *exec;
        HASH_ADD_PTR(graphs, handle, g);
        read_graph(g, source, NULL, NO_NODE, 0);
    }
    pthread_mutex_unlock(&rec_g.lock);
    return result;
}

#define INSTANTIATE(symbol, params, args)                      \
    HOOK(symbol, params, args)                                 \
    {                                                          \
        return instantiated(real_##symbol args, exec, source); \
    }

INSTANTIATE(cuGraphInstantiate,
            (CUgraphExec * exec, CUgraph source, CUgraphNode *bad, char *log, size_t bytes),
            (exec, source, bad, log, bytes))
INSTANTIATE(cuGraphInstantiate_v2,
            (CUgraphExec * exec, CUgraph source, CUgraphNode *bad, char *log, size_t bytes),
            (exec, source, bad, log, bytes))
INSTANTIATE(cuGraphInstantiateWithFlags,
            (CUgraphExec * exec, CUgraph source, unsigned long long flags), (exec, source, flags))
INSTANTIATE(cuGraphInstantiateWithParams,
            (CUgraphExec * exec, CUgraph source, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, source, params))
INSTANTIATE(cuGraphInstantiateWithParams_ptsz,
            (CUgraphExec * exec, CUgraph source, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
            (exec, source, params))

HOOK(cuGraphExecDestroy, (CUgraphExec exec), (exec))
{
    pthread_mutex_lock(&rec_g.lock);
    forget_graph(exec);
    pthread_mutex_unlock(&rec_g.lock);
    return real_cuGraphExecDestroy(exec);
}

/* ---- changes of an instance ---- */

/* The kernels of `source` take the place of the instance's, of those in one child graph where
 * `child` is set. The driver accepts only what has the same shape, so that they correspond in
 * order; the handles stay those of the first graph. */
static void take_over(CUgraphExec exec, CUgraph source, CUgraphNode child)
{
    graph *g = find_graph(exec), now = {0};
    size_t taken = 0;
    if (!g)
        return;
    read_graph(&now, source, child, NO_NODE, 0);
    for (size_t i = 0; i < g->nodes.count && taken < now.nodes.count; i++) {
        node *old = &g->nodes.data[i], *new = &now.nodes.data[taken];
        if (child && old->child != child)
            continue;
        node merged = *new;
        merged.handle = old->handle;
        merged.child = old->child;
        merged.disabled = old->disabled;
        new->params = old->params; /* goes with the list */
        *old = merged;
        taken++;
    }
    clear_nodes(&now.nodes);
    rec_graph_clear(&now.recorded);
}

static CUresult updated(CUresult result, CUgraphExec exec, CUgraph source, CUgraphNode child)
{
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        take_over(exec, source, child);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuGraphExecUpdate, (CUgraphExec exec, CUgraph source, CUgraphNode *differs, int *why),
     (exec, source, differs, why))
{
    return updated(real_cuGraphExecUpdate(exec, source, differs, why), exec, source, NULL);
}

HOOK(cuGraphExecUpdate_v2, (CUgraphExec exec, CUgraph source, CUgraphExecUpdateResultInfo *info),
     (exec, source, info))
{
    return updated(real_cuGraphExecUpdate_v2(exec, source, info), exec, source, NULL);
}

HOOK(cuGraphExecChildGraphNodeSetParams, (CUgraphExec exec, CUgraphNode handle, CUgraph source),
     (exec, handle, source))
{
    return updated(real_cuGraphExecChildGraphNodeSetParams(exec, handle, source), exec, source,
                   handle);
}

static void set_work(node *n, hook_moved moved)
{
    n->moved = moved;
    n->known = true;
}

static CUresult copy_set(CUresult result, CUgraphExec exec, CUgraphNode handle,
                         const CUDA_MEMCPY3D *copy)
{
    if (result == CUDA_SUCCESS && rec_g.writer && copy) {
        pthread_mutex_lock(&rec_g.lock);
        node *n = find_node(exec, handle);
        if (n)
            set_work(n, hook_moved_volume(copy));
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

static CUresult set_set(CUresult result, CUgraphExec exec, CUgraphNode handle,
                        const CUDA_MEMSET_NODE_PARAMS *set)
{
    if (result == CUDA_SUCCESS && rec_g.writer && set) {
        pthread_mutex_lock(&rec_g.lock);
        node *n = find_node(exec, handle);
        if (n)
            set_work(n, hook_moved_set(set));
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuGraphExecMemcpyNodeSetParams,
     (CUgraphExec exec, CUgraphNode handle, const CUDA_MEMCPY3D *copy, CUcontext context),
     (exec, handle, copy, context))
{
    return copy_set(real_cuGraphExecMemcpyNodeSetParams(exec, handle, copy, context), exec, handle,
                    copy);
}

HOOK(cuGraphExecMemsetNodeSetParams,
     (CUgraphExec exec, CUgraphNode handle, const CUDA_MEMSET_NODE_PARAMS *set, CUcontext context),
     (exec, handle, set, context))
{
    return set_set(real_cuGraphExecMemsetNodeSetParams(exec, handle, set, context), exec, handle,
                   set);
}

static CUresult kernel_set(CUresult result, CUgraphExec exec, CUgraphNode handle,
                           const CUDA_KERNEL_NODE_PARAMS_v2 *params)
{
    if (result == CUDA_SUCCESS && params && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        node *n = find_node(exec, handle);
        if (n)
            n->known |= set_kernel(n, params);
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

HOOK(cuGraphExecKernelNodeSetParams,
     (CUgraphExec exec, CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v1 *params),
     (exec, handle, params))
{
    CUDA_KERNEL_NODE_PARAMS_v2 newer = {0};
    CUresult result = real_cuGraphExecKernelNodeSetParams(exec, handle, params);
    if (params)
        memcpy(&newer, params, sizeof *params);
    return kernel_set(result, exec, handle, &newer);
}

HOOK(cuGraphExecKernelNodeSetParams_v2,
     (CUgraphExec exec, CUgraphNode handle, const CUDA_KERNEL_NODE_PARAMS_v2 *params),
     (exec, handle, params))
{
    return kernel_set(real_cuGraphExecKernelNodeSetParams_v2(exec, handle, params), exec, handle,
                      params);
}

HOOK(cuGraphExecNodeSetParams, (CUgraphExec exec, CUgraphNode handle, CUgraphNodeParams *params),
     (exec, handle, params))
{
    CUresult result = real_cuGraphExecNodeSetParams(exec, handle, params);
    if (result != CUDA_SUCCESS || !params)
        return result;
    switch ((int)params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return kernel_set(result, exec, handle, &params->kernel);
    case CU_GRAPH_NODE_TYPE_GRAPH: return updated(result, exec, params->graph.graph, handle);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return copy_set(result, exec, handle, &params->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET:
        return set_set(result, exec, handle, (const CUDA_MEMSET_NODE_PARAMS *)&params->memset);
    default: return result;
    }
}

HOOK(cuGraphNodeSetEnabled, (CUgraphExec exec, CUgraphNode handle, unsigned int enabled),
     (exec, handle, enabled))
{
    CUresult result = real_cuGraphNodeSetEnabled(exec, handle, enabled);
    if (result == CUDA_SUCCESS && rec_g.writer) {
        pthread_mutex_lock(&rec_g.lock);
        node *n = find_node(exec, handle);
        if (n)
            n->disabled = !enabled;
        pthread_mutex_unlock(&rec_g.lock);
    }
    return result;
}

/* ---- launches ---- */

/* Memory has the same address in every launch; what an earlier one left there is gone. */
static void freed(const hook_call *call, uint64_t address)
{
    drv_object o;
    if (drv_object_take(address, &o))
        drv_object_freed(&o, call->rec.id, CAP_FREED_PROGRAM);
}

static void allocated(hook_call *call, const hook_moved *memory)
{
    freed(call, memory->to);
    drv_object object = {.base = memory->to,
                         .bytes = memory->bytes,
                         .kind = CAP_OBJECT_DEVICE,
                         .context = drv_current().handle};
    hook_object_add(call, &object);
}

static void note_kernel(hook_call *call, const node *n)
{
    drv_function *f = drv_function_of(n->function);
    if (f)
        hook_note(call, f, &n->shape, n->params);
}

static void note_node(hook_call *call, const node *n)
{
    switch ((int)n->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: note_kernel(call, n); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: hook_moved_write(call, CAP_CALL_COPY, &n->moved); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: hook_moved_write(call, CAP_CALL_SET, &n->moved); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: allocated(call, &n->moved); break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: freed(call, n->moved.to); break;
    default: break;
    }
}

/* The place that the node has in the order of calls and launches; 0: it left no record that has
 * one. */
static uint64_t note_in_order(hook_call *call, const node *n)
{
    uint64_t before = rec_g.next_ordinal;
    if (n->known && !n->disabled)
        note_node(call, n);
    return rec_g.next_ordinal > before ? rec_g.next_ordinal : 0;
}

static void note_nodes(hook_call *call, graph *g)
{
    uint32_t count = (uint32_t)g->nodes.count, number = rec_graph_number(&g->recorded);
    uint64_t *ordinals = calloc((size_t)count + 1, sizeof *ordinals);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t ordinal = note_in_order(call, &g->nodes.data[i]);
        if (ordinals)
            ordinals[i] = ordinal;
    }
    if (number && ordinals)
        rec_graph_ran(number, call->rec.id, ordinals, count);
    free(ordinals);
    for (uint32_t i = 0; i < g->unread; i++)
        rec_skipped(call->rec.id, "(kernels of a graph)", "the driver did not tell them");
    for (uint32_t i = 0; i < g->conditional; i++)
        rec_skipped(call->rec.id, "(kernels of a conditional node)",
                    "the device decided how often they ran");
}

#define LAUNCH(symbol, per_thread)                                      \
    HOOK(symbol, (CUgraphExec exec, CUstream stream), (exec, stream))   \
    {                                                                   \
        hook_call call;                                                 \
        hook_begin_launch(&call, #symbol);                              \
        call.stream = drv_stream(stream, per_thread);                   \
        CUresult result = real_##symbol(exec, stream);                  \
        bool captured = call.rec.active && drv_in_capture(call.stream); \
        if (captured)                                                   \
            call.rec.record.flags |= CAP_CALL_CAPTURED;                 \
        else if (call.rec.active && result == CUDA_SUCCESS)             \
            graph_launched(&call, exec);                                \
        return hook_end(&call, result);                                 \
    }

static void graph_launched(hook_call *call, CUgraphExec exec)
{
    hook_stack(call);
    pthread_mutex_lock(&rec_g.lock);
    hook_events_unknown(NULL); /* it may record any */
    probe_constants_changed(); /* and copy to any constant */
    hook_write_call(call, CUDA_SUCCESS);
    graph *g = find_graph(exec);
    if (g)
        note_nodes(call, g);
    pthread_mutex_unlock(&rec_g.lock);
}

LAUNCH(cuGraphLaunch, false)
LAUNCH(cuGraphLaunch_ptsz, true)
