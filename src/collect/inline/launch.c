/* Launches: noted as they ran. */
#include "collect/inline/shim.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARAMS = 32 << 10 };

typedef struct launch {
    shim_call call;
    shim_time time;
    void *function;
    uint32_t grid[3], block[3], cluster[3], shared, flags;
    void **params, **extra;
} launch;

/* ---- arguments ---- */

/* A list of tags with values. */
static bool read_extra(void **extra, const void **buffer, size_t *bytes)
{
    *buffer = NULL;
    *bytes = 0;
    for (; extra && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
        if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER)
            *buffer = extra[1];
        else if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *bytes = *(const size_t *)extra[1];
    }
    return *buffer && *bytes <= MAX_PARAMS;
}

/* The bytes as the kernel has them; valid until the next call. With the lock held. */
static const char *pack(const launch *l, const shim_function *f, uint64_t *bytes, bool *known)
{
    static char packed[MAX_PARAMS];
    const void *buffer;
    size_t length;
    *bytes = 0;
    *known = true;
    if (!l->params && l->extra) {
        *known = read_extra(l->extra, &buffer, &length);
        *bytes = *known ? length : 0;
        return *known ? buffer : "";
    }
    if (!f->params_known || f->param_bytes > MAX_PARAMS) {
        *known = false;
        return "";
    }
    memset(packed, 0, f->param_bytes);
    for (size_t i = 0; l->params && i < f->params.count; i++)
        memcpy(packed + f->params.data[i].offset, l->params[i], f->params.data[i].bytes);
    *bytes = f->param_bytes;
    return packed;
}

/* ---- records ---- */

/* NULL, or why the options leave the launch out. */
static const char *left_out(const char *kernel)
{
    const collect_options *options = collect_options_get();
    if (!collect_options_match(kernel))
        return "its name was not asked for (--kernel-name)";
    uint64_t number = shim_g.matched++;
    if (number < options->launch_skip)
        return "it came before the first launch asked for (--launch-skip)";
    if (options->launch_count && number - options->launch_skip >= options->launch_count)
        return "it came after the last launch asked for (--launch-count)";
    return NULL;
}

static void set_cluster(const launch *l, const shim_function *f, cap_note *note)
{
    for (int i = 0; i < 3; i++) {
        note->cluster[i] = l->cluster[i] ? l->cluster[i] : f->cluster[i];
        note->cluster[i] += note->cluster[i] == 0;
    }
}

/* Returns the note's number; 0 where the launch is left out. */
static uint32_t write_note(launch *l, const shim_function *f)
{
    shim_context context = shim_current();
    uint32_t module = f->module ? shim_module_use(f->module) : 0;
    bool known;
    shim_write_call(&l->call, CUDA_SUCCESS);
    const char *reason = left_out(f->name);
    if (reason) {
        shim_skipped(l->call.id, f->name, "%s", reason);
        return 0;
    }
    cap_note note = {.id = ++shim_g.next_note,
                     .call = l->call.id,
                     .module = module,
                     .kernel = f->name,
                     .dynamic_shared = l->shared,
                     .static_shared = f->static_shared,
                     .local_bytes = f->local_bytes,
                     .registers = f->registers,
                     .flags = l->flags,
                     .device = context.device,
                     .context = context.id,
                     .stream = l->call.record.stream};
    memcpy(note.grid, l->grid, sizeof note.grid);
    memcpy(note.block, l->block, sizeof note.block);
    set_cluster(l, f, &note);
    note.params = pack(l, f, &note.nparams, &known);
    note.flags |= known ? 0 : CAP_NOTE_NO_PARAMS;
    SHIM_WRITE(note, &note);
    return note.id;
}

static bool in_capture(uint64_t stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    enum { PER_THREAD = 2 };
    CUstream handle = (CUstream)(uintptr_t)(stream >> 48 ? PER_THREAD : stream);
    DRIVER(CUDA_SUCCESS, cuStreamIsCapturing, (CUstream, CUstreamCaptureStatus *), handle, &status);
    return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

/* ---- around the driver's function ---- */

static void before(launch *l, const char *api, CUstream stream, bool per_thread, bool timed)
{
    shim_begin(&l->call, api, CAP_CALL_LAUNCH);
    l->call.record.stream = shim_stream(stream, per_thread);
    l->time = (shim_time){0};
    if (l->call.active && timed)
        shim_time_begin(&l->time, l->call.record.stream);
}

static CUresult after(launch *l, CUresult result)
{
    if (!l->call.active)
        return shim_end(&l->call, result);
    shim_time_end(&l->time, result);
    bool captured = result == CUDA_SUCCESS && !l->time.taken && in_capture(l->call.record.stream);
    pthread_mutex_lock(&shim_g.lock);
    shim_function *f = l->function ? shim_function_of(l->function) : NULL;
    uint32_t note = 0;
    if (captured || !f || !shim_g.writer) { /* into a graph: it runs when that is launched */
        shim_write_call(&l->call, result);
    } else if (result != CUDA_SUCCESS) {
        shim_write_call(&l->call, result);
        shim_skipped(l->call.id, f->name, "its launch failed (error %d)", (int)result);
    } else {
        note = write_note(l, f);
    }
    shim_time_keep(&l->time, note);
    pthread_mutex_unlock(&shim_g.lock);
    return shim_end(&l->call, result);
}

/* ---- hooks ---- */

#define PLAIN(symbol, per_thread, of_flags)                                                        \
    HOOK(symbol,                                                                                   \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,        \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params,   \
          void **extra),                                                                           \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params, extra))                               \
    {                                                                                              \
        launch l = {.function = f,                                                                 \
                    .grid = {gx, gy, gz},                                                          \
                    .block = {bx, by, bz},                                                         \
                    .shared = shared,                                                              \
                    .flags = of_flags,                                                             \
                    .params = params,                                                              \
                    .extra = extra};                                                               \
        before(&l, #symbol, stream, per_thread, true);                                             \
        return after(&l, real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params, extra)); \
    }

PLAIN(cuLaunchKernel, false, 0)
PLAIN(cuLaunchKernel_ptsz, true, 0)

#define COOPERATIVE(symbol, per_thread)                                                           \
    HOOK(symbol,                                                                                  \
         (CUfunction f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,       \
          unsigned int by, unsigned int bz, unsigned int shared, CUstream stream, void **params), \
         (f, gx, gy, gz, bx, by, bz, shared, stream, params))                                     \
    {                                                                                             \
        launch l = {.function = f,                                                                \
                    .grid = {gx, gy, gz},                                                         \
                    .block = {bx, by, bz},                                                        \
                    .shared = shared,                                                             \
                    .flags = CAP_NOTE_COOPERATIVE,                                                \
                    .params = params};                                                            \
        before(&l, #symbol, stream, per_thread, true);                                            \
        return after(&l, real_##symbol(f, gx, gy, gz, bx, by, bz, shared, stream, params));       \
    }

COOPERATIVE(cuLaunchCooperativeKernel, false)
COOPERATIVE(cuLaunchCooperativeKernel_ptsz, true)

/* An event between two kernels that may overlap by programmatic launch would keep them apart: such a launch has no time. */
static bool read_attributes(const CUlaunchConfig *c, launch *l)
{
    bool timed = true;
    for (unsigned i = 0; c->attrs && i < c->numAttrs; i++) {
        const CUlaunchAttribute *a = &c->attrs[i];
        if (a->id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            l->cluster[0] = a->value.clusterDim.x;
            l->cluster[1] = a->value.clusterDim.y;
            l->cluster[2] = a->value.clusterDim.z;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE && a->value.cooperative) {
            l->flags |= CAP_NOTE_COOPERATIVE;
        } else if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION ||
                   a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT) {
            timed = false;
        }
    }
    return timed;
}

#define EXTENDED(symbol, per_thread)                                                   \
    HOOK(symbol, (const CUlaunchConfig *c, CUfunction f, void **params, void **extra), \
         (c, f, params, extra))                                                        \
    {                                                                                  \
        if (!c)                                                                        \
            return real_##symbol(c, f, params, extra);                                 \
        launch l = {.function = f,                                                     \
                    .grid = {c->gridDimX, c->gridDimY, c->gridDimZ},                   \
                    .block = {c->blockDimX, c->blockDimY, c->blockDimZ},               \
                    .shared = c->sharedMemBytes,                                       \
                    .params = params,                                                  \
                    .extra = extra};                                                   \
        bool timed = read_attributes(c, &l);                                           \
        before(&l, #symbol, c->hStream, per_thread, timed);                            \
        return after(&l, real_##symbol(c, f, params, extra));                          \
    }

EXTENDED(cuLaunchKernelEx, false)
EXTENDED(cuLaunchKernelEx_ptsz, true)

/* ---- graphs: their kernels are named when the graph is launched ---- */

typedef struct graph_kernel {
    char *name;
} graph_kernel;

typedef struct graph {
    void *handle; /* CUgraphExec */
    wl_vec(graph_kernel) kernels;
    UT_hash_handle hh;
} graph;

static graph *graphs;

static void forget_graph(void *handle)
{
    graph *g = NULL;
    HASH_FIND_PTR(graphs, &handle, g);
    if (!g)
        return;
    HASH_DEL(graphs, g);
    for (size_t i = 0; i < g->kernels.count; i++)
        free(g->kernels.data[i].name);
    wl_vec_free(&g->kernels);
    free(g);
}

static void add_node(graph *g, CUgraphNode node)
{
    CUgraphNodeType type;
    CUDA_KERNEL_NODE_PARAMS_v2 params = {0};
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphNodeGetType, (CUgraphNode, CUgraphNodeType *), node,
               &type) != CUDA_SUCCESS ||
        type != CU_GRAPH_NODE_TYPE_KERNEL)
        return;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphKernelNodeGetParams_v2,
               (CUgraphNode, CUDA_KERNEL_NODE_PARAMS_v2 *), node, &params) != CUDA_SUCCESS)
        return;
    void *handle = params.func ? (void *)params.func : (void *)params.kern;
    shim_function *f = handle ? shim_function_of(handle) : NULL;
    graph_kernel k = {strdup(f ? f->name : "(unknown kernel)")};
    if (!k.name || !wl_push(&g->kernels, k))
        free(k.name);
}

/* After the instantiation of `source`. */
static CUresult instantiated(CUresult result, CUgraphExec *exec, CUgraph source)
{
    size_t count = 0;
    graph *g;
    if (result != CUDA_SUCCESS || !shim_g.writer ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *),
               source, NULL, &count) != CUDA_SUCCESS)
        return result;
    CUgraphNode *nodes = calloc(count + 1, sizeof *nodes);
    pthread_mutex_lock(&shim_g.lock);
    forget_graph(*exec);
    if (nodes && (g = calloc(1, sizeof *g))) {
        g->handle = *exec;
        HASH_ADD_PTR(graphs, handle, g);
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuGraphGetNodes, (CUgraph, CUgraphNode *, size_t *),
               source, nodes, &count);
        for (size_t i = 0; i < count; i++)
            add_node(g, nodes[i]);
    }
    pthread_mutex_unlock(&shim_g.lock);
    free(nodes);
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
    pthread_mutex_lock(&shim_g.lock);
    forget_graph(exec);
    pthread_mutex_unlock(&shim_g.lock);
    return real_cuGraphExecDestroy(exec);
}

static CUresult graph_launched(launch *l, CUresult result, CUgraphExec exec)
{
    if (l->call.active && result == CUDA_SUCCESS && !in_capture(l->call.record.stream)) {
        graph *g = NULL;
        void *handle = exec;
        pthread_mutex_lock(&shim_g.lock);
        shim_write_call(&l->call, result);
        HASH_FIND_PTR(graphs, &handle, g);
        for (size_t i = 0; g && i < g->kernels.count; i++)
            shim_skipped(l->call.id, g->kernels.data[i].name,
                         "it ran in a graph, whose kernels are not yet observed on a GPU");
        pthread_mutex_unlock(&shim_g.lock);
    }
    return shim_end(&l->call, result);
}

#define GRAPH_LAUNCH(symbol, per_thread)                              \
    HOOK(symbol, (CUgraphExec exec, CUstream stream), (exec, stream)) \
    {                                                                 \
        launch l = {0};                                               \
        before(&l, #symbol, stream, per_thread, false);               \
        return graph_launched(&l, real_##symbol(exec, stream), exec); \
    }

GRAPH_LAUNCH(cuGraphLaunch, false)
GRAPH_LAUNCH(cuGraphLaunch_ptsz, true)
