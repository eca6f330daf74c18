/* The device layer under the runtime's functions: order of work, capture, graphs, memory, threads.
 * Runs in the test's own process, so that sanitizers see it. */
#include "api.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char kernels[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 40;\n"
    ".visible .entry add(.param .u64 p, .param .u32 v)\n{\n"
    "  .reg .u32 %r<8>; .reg .u64 %d<4>;\n"
    "  ld.param.u64 %d0, [p]; ld.param.u32 %r0, [v];\n"
    "  mov.u32 %r1, %tid.x; mul.wide.u32 %d1, %r1, 4; add.u64 %d2, %d0, %d1;\n"
    "  ld.global.u32 %r2, [%d2]; add.u32 %r3, %r2, %r0; st.global.u32 [%d2], %r3;\n"
    "  ret;\n}\n";

static CUfunction add;

static void launch(int *data, int value, int threads, cudaStream_t stream)
{
    void *args[] = {&data, &value};
    OK(cuLaunchKernel(add, 1, 1, 1, (unsigned)threads, 1, 1, 0, stream, args, NULL));
}

static int setup(void **state)
{
    static CUmodule module;
    (void)state;
    void *p = NULL;
    OK(cudaMalloc(&p, 16));
    OK(cudaFree(p));
    OK(cuModuleLoadData(&module, kernels));
    OK(cuModuleGetFunction(&add, module, "add"));
    return 0;
}

/* ---- order ---- */

typedef struct gate { /* a host function that waits until it is let go */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool entered, open;
} gate;

#define GATE {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false, false}

static void wait_at(void *data)
{
    gate *g = data;
    pthread_mutex_lock(&g->lock);
    g->entered = true;
    while (!g->open)
        pthread_cond_wait(&g->changed, &g->lock);
    pthread_mutex_unlock(&g->lock);
}

static void let_go(gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = true;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

/* A host function that waits for the host must not stop it, and what follows it in its stream must
 * wait. */
static void test_blocked_stream(void **state)
{
    gate g = GATE;
    cudaStream_t s, t;
    int *d, *pinned;
    (void)state;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaMalloc((void **)&d, 128));
    OK(cudaMallocHost((void **)&pinned, 128));
    OK(cudaMemset(d, 0, 128));
    memset(pinned, 0xff, 128);
    OK(cudaLaunchHostFunc(s, wait_at, &g));
    launch(d, 7, 32, s);
    OK(cudaMemcpyAsync(pinned, d, 128, cudaMemcpyDefault, s));
    assert_int_equal(cudaStreamQuery(s), cudaErrorNotReady);
    launch(d, 1, 32, t); /* another stream goes on */
    OK(cudaStreamSynchronize(t));
    assert_int_equal(pinned[3], -1);
    let_go(&g);
    OK(cudaStreamSynchronize(s));
    assert_int_equal(pinned[3], 8);
    OK(cudaStreamQuery(s));
    OK(cudaFree(d));
    OK(cudaFreeHost(pinned));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

/* Blocking streams and the legacy stream wait for one another; non-blocking ones do not. */
static void test_legacy_order(void **state)
{
    gate g = GATE;
    cudaStream_t s;
    int *d, h[32];
    (void)state;
    OK(cudaStreamCreate(&s));
    OK(cudaMalloc((void **)&d, 128));
    OK(cudaMemset(d, 0, 128));
    OK(cudaLaunchHostFunc(s, wait_at, &g));
    launch(d, 5, 32, s);
    launch(d, 1, 32, 0); /* legacy: behind s */
    assert_int_equal(cudaStreamQuery(0), cudaErrorNotReady);
    let_go(&g);
    OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    assert_int_equal(h[31], 6);
    OK(cudaFree(d));
    OK(cudaStreamDestroy(s));
}

static void test_events(void **state)
{
    gate g = GATE;
    cudaStream_t s, t;
    cudaEvent_t e, f;
    int *d, h[32];
    float ms = -1;
    (void)state;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    OK(cudaEventCreate(&f));
    OK(cudaMalloc((void **)&d, 128));
    OK(cudaMemset(d, 0, 128));
    OK(cudaEventRecord(f, t));
    OK(cudaLaunchHostFunc(s, wait_at, &g));
    launch(d, 2, 32, s);
    OK(cudaEventRecord(e, s));
    OK(cudaStreamWaitEvent(t, e, 0));
    launch(d, 3, 32, t);
    assert_int_equal(cudaEventQuery(e), cudaErrorNotReady);
    assert_int_equal(cudaEventElapsedTime(&ms, f, e), cudaErrorNotReady);
    assert_int_equal(cudaStreamQuery(t), cudaErrorNotReady);
    let_go(&g);
    OK(cudaEventSynchronize(e));
    OK(cudaStreamSynchronize(t));
    OK(cudaEventElapsedTime(&ms, f, e));
    assert_true(ms > 0);
    OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    assert_int_equal(h[0], 5);
    OK(cudaEventDestroy(e));
    OK(cudaEventDestroy(f));
    OK(cudaFree(d));
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

/* ---- graphs ---- */

static void count_up(void *data)
{
    ++*(int *)data;
}

static void test_capture_and_replay(void **state)
{
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    int *d, h[32], called = 0;
    size_t nodes = 0;
    (void)state;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMalloc((void **)&d, 128));
    OK(cudaMemset(d, 0, 128));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    launch(d, 4, 32, s);
    OK(cudaLaunchHostFunc(s, count_up, &called));
    launch(d, 2, 16, s);
    OK(cudaStreamEndCapture(s, &graph));
    assert_int_equal(called, 0); /* recorded, not run */
    OK(cudaGraphGetNodes(graph, NULL, &nodes));
    assert_int_equal(nodes, 3);
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphDestroy(graph));
    for (int i = 0; i < 3; i++)
        OK(cudaGraphLaunch(exec, s));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(called, 3);
    OK(cudaMemcpy(h, d, 128, cudaMemcpyDeviceToHost));
    assert_int_equal(h[15], 18);
    assert_int_equal(h[16], 12);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaFree(d));
    OK(cudaStreamDestroy(s));
}

/* How many nodes the next one in the stream will need. */
static size_t needed_by_next(cudaStream_t s, cudaGraph_t *graph)
{
    int status;
    unsigned long long id;
    const cudaGraphNode_t *needs;
    const cudaGraphEdgeData *edges;
    size_t count = 0;
    OK(cudaStreamGetCaptureInfo(s, &status, &id, graph, &needs, &edges, &count));
    return count;
}

static void test_what_a_capture_depends_on_can_be_changed(void **state)
{
    enum { ADDED, REPLACED };
    cudaStream_t s;
    cudaGraph_t graph;
    cudaGraphNode_t nodes[2];
    size_t count = 2;
    int *d, called = 0;
    (void)state;
    OK(cudaMalloc((void **)&d, 128));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    assert_int_equal(cudaStreamUpdateCaptureDependencies(s, nodes, NULL, 0, ADDED),
                     cudaErrorIllegalState);
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    assert_int_equal(needed_by_next(s, &graph), 0);
    launch(d, 4, 32, s);
    OK(cudaLaunchHostFunc(s, count_up, &called));
    assert_int_equal(needed_by_next(s, &graph), 1);
    OK(cudaGraphGetNodes(graph, nodes, &count));
    OK(cudaStreamUpdateCaptureDependencies(s, nodes, NULL, 1, ADDED));
    assert_int_equal(needed_by_next(s, &graph), 2);
    OK(cudaStreamUpdateCaptureDependencies(s, nodes, NULL, 1, REPLACED));
    assert_int_equal(needed_by_next(s, &graph), 1);
    OK(cudaStreamUpdateCaptureDependencies(s, nodes, NULL, 0, REPLACED));
    assert_int_equal(needed_by_next(s, &graph), 0);
    OK(cudaStreamEndCapture(s, &graph));
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(s));
    OK(cudaFree(d));
    cudaGetLastError();
}

static struct cudaMemsetParams set_of(int *d, unsigned value)
{
    return (struct cudaMemsetParams){
        .dst = d, .value = value, .elementSize = 4, .width = 4, .height = 1};
}

static void test_graph_nodes(void **state)
{
    cudaGraph_t graph, outer, clone;
    cudaGraphExec_t exec;
    cudaGraphNode_t set, copy, child;
    cudaGraphExecUpdateResultInfo info;
    int *d, h[8] = {0};
    (void)state;
    OK(cudaMalloc((void **)&d, 32));
    OK(cudaMemset(d, 0, 32));
    struct cudaMemsetParams first = set_of(d, 11), second = set_of(d, 12), got;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddMemsetNode(&set, graph, NULL, 0, &first));
    OK(cudaGraphAddMemcpyNode1D(&copy, graph, &set, 1, d + 4, d, 16, cudaMemcpyDeviceToDevice));
    OK(cudaGraphMemsetNodeGetParams(set, &got));
    assert_int_equal(got.value, 11);
    OK(cudaGraphCreate(&outer, 0));
    OK(cudaGraphAddChildGraphNode(&child, outer, NULL, 0, graph));
    OK(cudaGraphClone(&clone, outer));
    OK(cudaGraphInstantiate(&exec, clone, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(h, d, 32, cudaMemcpyDefault));
    assert_int_equal(h[7], 11);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphExecMemsetNodeSetParams(exec, set, &second));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(h, d, 32, cudaMemcpyDefault));
    assert_int_equal(h[7], 12);
    OK(cudaGraphExecUpdate(exec, graph, &info));
    assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaMemcpy(h, d, 32, cudaMemcpyDefault));
    assert_int_equal(h[7], 11);
    OK(cudaGraphAddMemsetNode(&set, graph, &copy, 1, &second));
    assert_int_equal(cudaGraphExecUpdate(exec, graph, &info), cudaErrorGraphExecUpdateFailure);
    assert_int_not_equal(info.result, cudaGraphExecUpdateSuccess);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaGraphDestroy(outer));
    OK(cudaGraphDestroy(clone));
    OK(cudaFree(d));
}

static void test_graph_memory_and_objects(void **state)
{
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    cudaGraphNode_t alloc, set, release;
    cudaUserObject_t object;
    struct cudaMemAllocNodeParams params = {
        .poolProps = {.allocType = 1, .location = {cudaMemLocationTypeDevice, 0}}, .bytesize = 64};
    int destroyed = 0;
    unsigned char value = 0;
    uint64_t of_graphs;
    size_t before, during, total;
    (void)state;
    OK(cudaMemGetInfo(&before, &total));
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaUserObjectCreate(&object, &destroyed, count_up, 1, 1));
    OK(cudaGraphRetainUserObject(graph, object, 1, 1));
    OK(cudaGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    assert_non_null(params.dptr);
    assert_int_equal(cudaMemset(params.dptr, 0, 64), cudaErrorInvalidValue); /* not there yet */
    cudaGetLastError();
    struct cudaMemsetParams fill = set_of(params.dptr, 3);
    OK(cudaGraphAddMemsetNode(&set, graph, &alloc, 1, &fill));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(&value, params.dptr, 1, cudaMemcpyDeviceToHost)); /* there now */
    assert_int_equal(value, 3);
    OK(cudaMemGetInfo(&during, &total));
    assert_true(during < before);
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &of_graphs));
    assert_int_equal(of_graphs, 64);
    OK(cudaFree(params.dptr));
    OK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &of_graphs));
    assert_int_equal(of_graphs, 0);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphAddMemFreeNode(&release, graph, &set, 1, params.dptr));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, 0));
    OK(cudaDeviceSynchronize());
    OK(cudaMemGetInfo(&during, &total));
    assert_int_equal(during, before);
    OK(cudaGraphDestroy(graph));
    assert_int_equal(destroyed, 0); /* the instance still holds it */
    OK(cudaGraphExecDestroy(exec));
    assert_int_equal(destroyed, 1);
}

/* ---- memory ---- */

static void test_pitch_and_arrays(void **state)
{
    enum { W = 10, H = 6 };
    unsigned char image[H][W], back[H][W], linear[W * H];
    struct cudaChannelFormatDesc bytes = {.x = 8, .f = cudaChannelFormatKindUnsigned};
    cudaArray_t array, volume;
    void *d;
    size_t pitch;
    (void)state;
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++)
            image[y][x] = (unsigned char)(y * 16 + x);
    OK(cudaMallocPitch(&d, &pitch, W, H));
    assert_true(pitch >= W);
    OK(cudaMemset2D(d, pitch, 0xee, W, H));
    OK(cudaMemcpy2D(d, pitch, &image[1][2], W, 5, 3, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(back, W, d, pitch, W, H, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0][0], 0x12);
    assert_int_equal(back[2][4], 0x36);
    assert_int_equal(back[2][5], 0xee);
    OK(cudaMallocArray(&array, &bytes, W, H, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, image, W, W, H, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromArray(linear, array, 0, 0, W * H, cudaMemcpyDeviceToHost));
    assert_memory_equal(linear, image, sizeof linear);
    memset(back, 0, sizeof back);
    OK(cudaMemcpy2DFromArrayAsync(back, W, array, 3, 2, 4, 2, cudaMemcpyDeviceToHost, NULL));
    OK(cudaStreamSynchronize(NULL));
    assert_int_equal(back[0][0], 0x23);
    assert_int_equal(back[1][3], 0x36);
    assert_int_equal(back[1][4], 0);
    assert_int_equal(cudaMemcpy2DToArray(array, 1, 0, image, W, W, H, cudaMemcpyHostToDevice),
                     cudaErrorInvalidValue);
    OK(cudaMalloc3DArray(&volume, &bytes, (struct cudaExtent){W, 3, 2}, 0));
    struct cudaMemcpy3DParms p = {.srcPtr = {image, W, W, 3},
                                  .dstArray = volume,
                                  .extent = {W, 3, 2},
                                  .kind = cudaMemcpyHostToDevice};
    OK(cudaMemcpy3D(&p));
    memset(back, 0, sizeof back);
    struct cudaMemcpy3DParms q = {.srcArray = volume,
                                  .srcPos = {1, 1, 1},
                                  .dstPtr = {back, W, W, H},
                                  .extent = {4, 2, 1},
                                  .kind = cudaMemcpyDeviceToHost};
    OK(cudaMemcpy3D(&q));
    assert_int_equal(back[0][0], 0x41);
    assert_int_equal(back[1][3], 0x54);
    OK(cudaFreeArray(array));
    OK(cudaFreeArray(volume));
    OK(cudaFree(d));
    assert_int_equal(cudaGetLastError(), cudaErrorInvalidValue);
}

static void test_bad_ranges(void **state)
{
    char *d, *h = malloc(4096);
    (void)state;
    OK(cudaMalloc((void **)&d, 100));
    assert_int_equal(cudaMemcpy(d, h, 101, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(h, d + 60, 41, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy((void *)0x10, d, 4, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
    assert_int_equal(cudaMemset(d + 99, 0, 2), cudaErrorInvalidValue);
    assert_int_equal(cudaMemcpy(d, h, SIZE_MAX, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    OK(cudaMemcpy(d + 50, d, 50, cudaMemcpyDeviceToDevice));
    OK(cudaFree(d));
    assert_int_equal(cudaMemcpy(d, h, 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
    assert_int_equal(cudaFree(d), cudaErrorInvalidValue);
    free(h);
    cudaGetLastError();
}

static void test_pool(void **state)
{
    cudaStream_t s;
    cudaMemPool_t pool;
    uint64_t used = 1, high = 0;
    void *p, *q;
    (void)state;
    OK(cudaStreamCreate(&s));
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMallocAsync(&p, 1 << 20, s));
    OK(cudaMallocAsync(&q, 1 << 10, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaFreeAsync(q, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &high));
    assert_int_equal(used, 0);
    assert_int_equal(high, (1 << 20) + (1 << 10));
    OK(cudaStreamDestroy(s));
}

static void test_access_to_pools(void **state)
{
    cudaMemPool_t pool;
    CUmemAccessDesc both = {.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}, .flags = 3};
    (void)state;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    OK(cudaMemPoolSetAccess(pool, &both, 1));
    both.flags = 1; /* a device cannot lose access to its own */
    assert_int_equal(cudaMemPoolSetAccess(pool, &both, 1), cudaErrorInvalidValue);
    both = (CUmemAccessDesc){.location = {CU_MEM_LOCATION_TYPE_DEVICE, 99}, .flags = 3};
    assert_int_equal(cudaMemPoolSetAccess(pool, &both, 1), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemPoolSetAccess(pool, NULL, 1), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void test_copies_between_devices(void **state)
{
    int *d, h = 0;
    (void)state;
    OK(cudaMalloc((void **)&d, 8));
    OK(cudaMemset(d, 7, 4));
    OK(cudaMemset(d + 1, 8, 4));
    OK(cudaMemcpyPeer(d + 1, 0, d, 0, 4));
    OK(cudaMemcpy(&h, d + 1, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(h, 0x07070707);
    assert_int_equal(cudaMemcpyPeer(d + 1, 99, d, 0, 4), cudaErrorInvalidDevice);
    assert_int_equal(cudaMemcpyPeer(d + 1, 0, d, 99, 4), cudaErrorInvalidDevice);
    OK(cudaFree(d));
    cudaGetLastError();
}

static void test_facts_of_streams(void **state)
{
    cudaStream_t stream;
    unsigned flags = 9;
    int priority = 9;
    (void)state;
    OK(cudaStreamCreateWithFlags(&stream, 1));
    OK(cudaStreamGetFlags(stream, &flags));
    assert_int_equal(flags, 1);
    OK(cudaStreamGetPriority(stream, &priority));
    assert_int_equal(priority, 0);
    OK(cudaStreamDestroy(stream));
    OK(cudaStreamGetFlags(NULL, &flags));
    assert_int_equal(flags, 0);
    assert_int_equal(cudaStreamGetFlags(NULL, NULL), cudaErrorInvalidValue);
    cudaGetLastError();
}

static void test_registered(void **state)
{
    int *own = aligned_alloc(4096, 4096);
    (void)state;
    memset(own, 0, 4096);
    OK(cudaHostRegister(own, 4096, 2));
    launch(own, 9, 32, 0);
    OK(cudaDeviceSynchronize());
    assert_int_equal(own[31], 9);
    OK(cudaHostUnregister(own));
    free(own);
}

/* The default stream waits for what others capture, which would be for ever. */
static void test_what_waits_is_refused_while_a_stream_captures(void **state)
{
    int *d;
    cudaStream_t stream;
    cudaGraph_t graph;
    (void)state;
    OK(cudaMalloc((void **)&d, 64));
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    assert_int_equal(cudaMemset(d, 0, 64), cudaErrorStreamCaptureImplicit);
    assert_int_equal(cudaStreamEndCapture(stream, &graph), cudaErrorStreamCaptureInvalidated);
    OK(cudaMemset(d, 0, 64));
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(d));
}

/* ---- faults ---- */

static void test_fault_and_reset(void **state)
{
    int *d;
    (void)state;
    OK(cudaMalloc((void **)&d, 64));
    launch(d, 1, 32, 0); /* 16 elements too many */
    assert_int_equal(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    assert_int_equal(cudaFree(d), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemset(d, 0, 4), cudaErrorIllegalAddress);
    assert_int_equal(cudaMemsetAsync(d, 0, 4, NULL), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaErrorIllegalAddress);
    assert_int_equal(cudaGetLastError(), cudaSuccess);
    OK(cudaDeviceReset());
    OK(setup(NULL));
    OK(cudaMalloc((void **)&d, 128));
    launch(d, 1, 32, 0);
    OK(cudaDeviceSynchronize());
    OK(cudaFree(d));
}

static void test_unsupported(void **state)
{
    (void)state;
    assert_int_equal(cudaIpcGetMemHandle(NULL, NULL), cudaErrorNotSupported);
    assert_int_equal(cudaGetLastError(), cudaErrorNotSupported);
    assert_null(api_entry_find("cudaNoSuchFunction", 13, NULL));
    assert_null(api_entry_find("cudaBindTexture", 13, NULL)); /* gone since 12 */
    assert_non_null(api_entry_find("cudaBindTexture", 11, NULL));
    bool implemented = true;
    assert_non_null(api_entry_find("cudaIpcGetMemHandle", 13, &implemented));
    assert_false(implemented);
}

/* ---- threads ---- */

enum { THREADS = 4, ROUNDS = 30 };

static void *work(void *data)
{
    int *sum = data, h[32];
    cudaStream_t s;
    if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking))
        return NULL;
    for (int i = 0; i < ROUNDS; i++) {
        int *d, value = 3;
        void *args[] = {&d, &value};
        if (cudaMalloc((void **)&d, 128) || cudaMemsetAsync(d, 0, 128, s) ||
            cuLaunchKernel(add, 1, 1, 1, 32, 1, 1, 0, s, args, NULL) ||
            cudaMemcpyAsync(h, d, 128, cudaMemcpyDefault, s) || cudaStreamSynchronize(s) ||
            cudaFree(d))
            break;
        *sum += h[i % 32];
    }
    cudaStreamDestroy(s);
    return NULL;
}

static void test_threads(void **state)
{
    pthread_t threads[THREADS];
    int sums[THREADS] = {0};
    (void)state;
    for (int i = 0; i < THREADS; i++)
        OK(pthread_create(&threads[i], NULL, work, &sums[i]));
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(sums[i], 3 * ROUNDS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocked_stream),
        cmocka_unit_test(test_legacy_order),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_capture_and_replay),
        cmocka_unit_test(test_what_a_capture_depends_on_can_be_changed),
        cmocka_unit_test(test_graph_nodes),
        cmocka_unit_test(test_graph_memory_and_objects),
        cmocka_unit_test(test_pitch_and_arrays),
        cmocka_unit_test(test_bad_ranges),
        cmocka_unit_test(test_pool),
        cmocka_unit_test(test_access_to_pools),
        cmocka_unit_test(test_copies_between_devices),
        cmocka_unit_test(test_facts_of_streams),
        cmocka_unit_test(test_registered),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_what_waits_is_refused_while_a_stream_captures),
        cmocka_unit_test(test_fault_and_reset),
    };
    api_load();
    return cmocka_run_group_tests(tests, setup, NULL);
}
