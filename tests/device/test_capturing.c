/* Capture of streams into graphs: what depends on what, what may happen meanwhile and what ends the
 * capture; memory that graphs allocate. */
#include "api/answers.h"

#include <pthread.h>
#include <string.h>

enum { GLOBAL, THREAD_LOCAL, RELAXED };
enum { NONE, ACTIVE, INVALIDATED };
enum { ADD, SET };

static cudaStream_t s, t;
static cudaEvent_t event;
static unsigned *data;

#define BEGIN(...) CALL(cudaStreamBeginCapture, (cudaStream_t, int), __VA_ARGS__)
#define END(...) CALL(cudaStreamEndCapture, (cudaStream_t, cudaGraph_t *), __VA_ARGS__)
#define RECORD(...) CALL(cudaEventRecord, (cudaEvent_t, cudaStream_t), __VA_ARGS__)
#define WAIT(stream) \
    CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), stream, event, 0)
#define MEMSET(stream) \
    CALL(cudaMemsetAsync, (void *, int, size_t, cudaStream_t), data, 1, 4, stream)
#define DEPEND(...)                                                                      \
    CALL(cudaStreamUpdateCaptureDependencies,                                            \
         (cudaStream_t, cudaGraphNode_t *, const cudaGraphEdgeData *, size_t, unsigned), \
         __VA_ARGS__)
#define NODES(...) CALL(cudaGraphGetNodes, (cudaGraph_t, cudaGraphNode_t *, size_t *), __VA_ARGS__)

static int make_streams(void **state)
{
    (void)state;
    OK(CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &s, 1));
    OK(CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &t, 1));
    OK(CALL(cudaEventCreate, (cudaEvent_t *), &event));
    OK(CALL(cudaMalloc, (void **, size_t), (void **)&data, 64));
    return 0;
}

static int end_streams(void **state)
{
    (void)state;
    OK(CALL(cudaStreamDestroy, (cudaStream_t), s));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), t));
    OK(CALL(cudaEventDestroy, (cudaEvent_t), event));
    OK(CALL(cudaFree, (void *), data));
    return 0;
}

typedef struct info {
    int status;
    unsigned long long id;
    cudaGraph_t graph;
    const cudaGraphNode_t *needs;
    size_t count;
} info;

static info info_of(cudaStream_t stream)
{
    info i;
    const void *edges = &i;
    OK(CALL(cudaStreamGetCaptureInfo,
            (cudaStream_t, int *, unsigned long long *, cudaGraph_t *, const cudaGraphNode_t **,
             const void **, size_t *),
            stream, &i.status, &i.id, &i.graph, &i.needs, &edges, &i.count));
    assert_null(edges);
    return i;
}

static void expect_status(cudaStream_t stream, int status)
{
    int is;
    OK(CALL(cudaStreamIsCapturing, (cudaStream_t, int *), stream, &is));
    assert_int_equal(is, status);
    assert_int_equal(info_of(stream).status, status);
}

/* The node that the stream's next one will follow, which must be one. */
static cudaGraphNode_t last_node(cudaStream_t stream)
{
    info i = info_of(stream);
    assert_int_equal(i.count, 1);
    return i.needs[0];
}

static size_t count_nodes(cudaGraph_t graph)
{
    size_t count;
    OK(NODES(graph, NULL, &count));
    return count;
}

static void destroy_graph(cudaGraph_t graph)
{
    OK(CALL(cudaGraphDestroy, (cudaGraph_t), graph));
}

/* ---- dependencies ---- */

static void dependencies_are_added_and_replaced(void **state)
{
    cudaGraph_t graph, other;
    cudaGraphNode_t foreign, both[2];
    size_t count;
    (void)state;
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &other, 0));
    OK(CALL(cudaGraphAddEmptyNode,
            (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t), &foreign, other,
            NULL, 0));
    EXPECT(401, DEPEND(s, NULL, NULL, 0, SET));
    OK(BEGIN(s, RELAXED));
    OK(MEMSET(s));
    both[0] = last_node(s);
    OK(DEPEND(s, NULL, NULL, 0, SET)); /* on nothing: the next node is a root */
    assert_int_equal(info_of(s).count, 0);
    OK(MEMSET(s));
    both[1] = last_node(s);
    OK(DEPEND(s, both, NULL, 1, ADD));
    assert_int_equal(info_of(s).count, 2);
    OK(DEPEND(s, both, NULL, 2, ADD)); /* each once */
    assert_int_equal(info_of(s).count, 2);
    OK(DEPEND(s, both, NULL, 1, SET));
    assert_ptr_equal(last_node(s), both[0]);
    OK(DEPEND(s, both, NULL, 2, SET));
    EXPECT(1, DEPEND(s, &foreign, NULL, 1, ADD));
    EXPECT(1, DEPEND(s, &foreign, NULL, 1, SET));
    EXPECT(1, DEPEND(s, NULL, NULL, 1, SET));
    EXPECT(1, DEPEND(s, both, NULL, 1, 2));
    assert_int_equal(info_of(s).count, 2);
    OK(MEMSET(s));
    OK(END(s, &graph));
    assert_int_equal(count_nodes(graph), 3);
    OK(CALL(cudaGraphGetRootNodes, (cudaGraph_t, cudaGraphNode_t *, size_t *), graph, NULL,
            &count));
    assert_int_equal(count, 2);
    OK(CALL(cudaGraphGetEdges,
            (cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *), graph, NULL,
            NULL, NULL, &count));
    assert_int_equal(count, 2);
    destroy_graph(graph);
    destroy_graph(other);
}

static void streams_join_by_events(void **state)
{
    cudaGraph_t graph;
    cudaGraphNode_t first, from[4], to[4];
    size_t count = 4;
    (void)state;
    OK(BEGIN(s, RELAXED));
    OK(MEMSET(s));
    first = last_node(s);
    OK(RECORD(event, s));
    OK(WAIT(t));
    expect_status(t, ACTIVE);
    assert_ptr_equal(last_node(t), first);
    assert_int_equal(info_of(t).id, info_of(s).id);
    assert_ptr_equal(info_of(t).graph, info_of(s).graph);
    OK(MEMSET(t));
    EXPECT(903, END(t, &graph)); /* begun on the other stream, and lost by that */
    assert_null(graph);
    expect_status(s, INVALIDATED);
    EXPECT(901, MEMSET(s));
    EXPECT(901, RECORD(event, s));
    EXPECT(901, WAIT(t));
    EXPECT(901, END(s, &graph));
    assert_null(graph);
    expect_status(s, NONE);
    expect_status(t, NONE);
    OK(BEGIN(s, RELAXED));
    OK(MEMSET(s));
    OK(RECORD(event, s));
    OK(WAIT(t));
    OK(MEMSET(t));
    OK(RECORD(event, t));
    OK(MEMSET(s));
    OK(WAIT(s));
    assert_int_equal(info_of(s).count, 2);
    OK(MEMSET(s));
    OK(END(s, &graph));
    OK(CALL(cudaGraphGetEdges,
            (cudaGraph_t, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *), graph, from, to,
            NULL, &count));
    assert_int_equal(count, 4);
    assert_ptr_equal(to[2], to[3]); /* the last one waits for both sides */
    assert_ptr_not_equal(from[2], from[3]);
    destroy_graph(graph);
}

static void unjoined_streams_fail_the_capture(void **state)
{
    cudaGraph_t graph;
    (void)state;
    OK(BEGIN(s, RELAXED));
    OK(MEMSET(s));
    OK(RECORD(event, s));
    OK(WAIT(t));
    OK(MEMSET(t));
    EXPECT(904, END(s, &graph));
    expect_status(t, NONE);
    OK(MEMSET(t));
}

/* Two captures at once: one ends, and the other goes on with all it has. */
static void captures_do_not_touch_each_other(void **state)
{
    cudaGraph_t one, two;
    (void)state;
    OK(BEGIN(s, RELAXED));
    OK(BEGIN(t, RELAXED));
    EXPECT(401, BEGIN(t, RELAXED));
    assert_int_not_equal(info_of(s).id, info_of(t).id);
    OK(MEMSET(s));
    OK(MEMSET(t));
    OK(MEMSET(t));
    OK(END(s, &one));
    expect_status(s, NONE);
    expect_status(t, ACTIVE);
    assert_int_equal(info_of(t).count, 1);
    OK(END(t, &two));
    assert_int_equal(count_nodes(one), 1);
    assert_int_equal(count_nodes(two), 2);
    destroy_graph(one);
    destroy_graph(two);
    OK(BEGIN(s, RELAXED));
    OK(BEGIN(t, RELAXED));
    OK(RECORD(event, s));
    EXPECT(902, WAIT(t)); /* two captures cannot become one */
    expect_status(s, INVALIDATED);
    expect_status(t, INVALIDATED);
    EXPECT(901, END(s, &one));
    EXPECT(901, END(t, &two));
}

static void a_capture_extends_a_graph(void **state)
{
    cudaGraph_t graph, got;
    cudaGraphNode_t root, foreign = (cudaGraphNode_t)state;
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &graph, 0));
    OK(CALL(cudaGraphAddEmptyNode,
            (cudaGraphNode_t *, cudaGraph_t, const cudaGraphNode_t *, size_t), &root, graph, NULL,
            0));
#define CAPTURE_TO(...)                                                                   \
    CALL(cudaStreamBeginCaptureToGraph,                                                   \
         (cudaStream_t, cudaGraph_t, const cudaGraphNode_t *, const void *, size_t, int), \
         __VA_ARGS__)
    EXPECT(1, CAPTURE_TO(s, (cudaGraph_t)foreign, NULL, NULL, 0, RELAXED));
    EXPECT(1, CAPTURE_TO(s, graph, NULL, NULL, 1, RELAXED));
    EXPECT(1, CAPTURE_TO(s, graph, &root, NULL, 1, 3));
    EXPECT(1, BEGIN(s, -1));
    EXPECT(900, BEGIN(NULL, RELAXED)); /* the legacy stream */
    OK(CAPTURE_TO(s, graph, &root, NULL, 1, RELAXED));
    assert_ptr_equal(last_node(s), root);
    OK(MEMSET(s));
    EXPECT(1, END(s, NULL));
    OK(END(s, &got));
    assert_ptr_equal(got, graph);
    assert_int_equal(count_nodes(graph), 2);
    OK(CAPTURE_TO(s, graph, NULL, NULL, 0, RELAXED));
    EXPECT(900, CALL(cudaStreamSynchronize, (cudaStream_t), s));
    EXPECT(901, END(s, &got));
    assert_int_equal(count_nodes(graph), 2); /* the program's own graph outlives it */
    destroy_graph(graph);
}

/* ---- what ends a capture ---- */

static void waiting_calls_end_the_capture(void **state)
{
    cudaGraph_t graph;
    (void)state;
#define ENDS_IT(code, call)        \
    OK(BEGIN(s, RELAXED));         \
    OK(RECORD(event, s));          \
    EXPECT(code, call);            \
    expect_status(s, INVALIDATED); \
    EXPECT(901, END(s, &graph))
    ENDS_IT(900, CALL(cudaStreamSynchronize, (cudaStream_t), s));
    ENDS_IT(900, CALL(cudaStreamQuery, (cudaStream_t), s));
    ENDS_IT(900, CALL(cudaDeviceSynchronize, (void)));
    ENDS_IT(907, CALL(cudaEventQuery, (cudaEvent_t), event));
    ENDS_IT(907, CALL(cudaEventSynchronize, (cudaEvent_t), event));
    EXPECT(1, CALL(cudaEventQuery, (cudaEvent_t), event)); /* it went with the capture */
    OK(RECORD(event, t));
    OK(CALL(cudaEventSynchronize, (cudaEvent_t), event));
    ENDS_IT(905, (RECORD(event, t), WAIT(s))); /* recorded outside of the capture */
    expect_status(t, NONE);
}

static void a_stream_that_goes_ends_the_capture(void **state)
{
    cudaGraph_t graph;
    cudaStream_t gone;
    (void)state;
    OK(CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &gone, 1));
    OK(BEGIN(gone, RELAXED));
    OK(RECORD(event, gone));
    OK(WAIT(s));
    expect_status(s, ACTIVE);
    OK(CALL(cudaStreamDestroy, (cudaStream_t), gone)); /* where it began */
    expect_status(s, NONE);
    OK(CALL(cudaStreamCreateWithFlags, (cudaStream_t *, unsigned), &gone, 1));
    OK(BEGIN(s, RELAXED));
    OK(RECORD(event, s));
    OK(CALL(cudaStreamWaitEvent, (cudaStream_t, cudaEvent_t, unsigned), gone, event, 0));
    OK(CALL(cudaStreamDestroy, (cudaStream_t), gone));
    expect_status(s, INVALIDATED);
    EXPECT(901, END(s, &graph));
}

static int exchanged(int mode)
{
    OK(CALL(cudaThreadExchangeStreamCaptureMode, (int *), &mode));
    return mode;
}

static void *allocate_elsewhere(void *result)
{
    void *p;
    *(int *)result = CALL(cudaMalloc, (void **, size_t), &p, 16);
    if (!*(int *)result)
        CALL(cudaFree, (void *), p);
    return NULL;
}

static void *end_elsewhere(void *result)
{
    cudaGraph_t graph;
    *(int *)result = END(s, &graph);
    return NULL;
}

static int elsewhere(void *(*act)(void *))
{
    pthread_t thread;
    int result;
    assert_int_equal(pthread_create(&thread, NULL, act, &result), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    return result;
}

/* Whether an allocation is refused, by the mode of the capture and of the thread that asks. */
static void modes_forbid_allocations(void **state)
{
    static const struct {
        int capture, thread, here, other;
    } cases[] = {
        {GLOBAL, GLOBAL, 900, 900},     {GLOBAL, THREAD_LOCAL, 900, 900}, {GLOBAL, RELAXED, 0, 900},
        {THREAD_LOCAL, GLOBAL, 900, 0}, {THREAD_LOCAL, RELAXED, 0, 0},    {RELAXED, GLOBAL, 0, 0},
    };
    cudaGraph_t graph;
    int result;
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int old = exchanged(cases[i].thread);
        OK(BEGIN(s, cases[i].capture));
        allocate_elsewhere(&result);
        assert_int_equal(result, cases[i].here);
        EXPECT(result ? 901 : 0, END(s, &graph));
        if (graph)
            destroy_graph(graph);
        OK(BEGIN(s, cases[i].capture));
        result = elsewhere(allocate_elsewhere); /* by a thread of the mode "global" */
        assert_int_equal(result, cases[i].other);
        EXPECT(result ? 901 : 0, END(s, &graph));
        if (graph)
            destroy_graph(graph);
        assert_int_equal(exchanged(old), cases[i].thread);
    }
    EXPECT(1, CALL(cudaThreadExchangeStreamCaptureMode, (int *), NULL));
    EXPECT(1, CALL(cudaThreadExchangeStreamCaptureMode, (int *), &(int){3}));
    EXPECT(1, CALL(cudaThreadExchangeStreamCaptureMode, (int *), &(int){-1}));
}

static void captures_end_on_their_thread(void **state)
{
    cudaGraph_t graph;
    (void)state;
    OK(BEGIN(s, THREAD_LOCAL));
    assert_int_equal(elsewhere(end_elsewhere), 908);
    OK(END(s, &graph));
    destroy_graph(graph);
    OK(BEGIN(s, RELAXED));
    assert_int_equal(elsewhere(end_elsewhere), 0);
}

/* ---- memory of graphs ---- */

static uint64_t graph_memory(void)
{
    uint64_t bytes;
    OK(CALL(cudaDeviceGetGraphMemAttribute, (int, int, void *), 0, 0, &bytes));
    return bytes;
}

/* Allocated in one launch and freed in another, again and again at the same place. */
static void memory_of_graphs_comes_and_goes(void **state)
{
    cudaGraph_t with, without;
    cudaGraphExec_t take, give;
    unsigned char *p, value;
    size_t before, during, after, total;
    (void)state;
#define INSTANTIATE(...) \
    CALL(cudaGraphInstantiate, (cudaGraphExec_t *, cudaGraph_t, unsigned long long), __VA_ARGS__)
#define LAUNCH(exec)                                                     \
    OK(CALL(cudaGraphLaunch, (cudaGraphExec_t, cudaStream_t), exec, s)); \
    OK(CALL(cudaStreamSynchronize, (cudaStream_t), s))
    OK(BEGIN(s, RELAXED));
    OK(CALL(cudaMallocAsync, (void **, size_t, cudaStream_t), (void **)&p, 3000, s));
    OK(CALL(cudaMemsetAsync, (void *, int, size_t, cudaStream_t), p, 9, 3000, s));
    OK(END(s, &with));
    OK(BEGIN(s, RELAXED));
    OK(CALL(cudaFreeAsync, (void *, cudaStream_t), p, s));
    OK(END(s, &without));
    OK(INSTANTIATE(&take, with, 0));
    OK(INSTANTIATE(&give, without, 0));
    OK(CALL(cudaMemGetInfo, (size_t *, size_t *), &before, &total));
    assert_int_equal(graph_memory(), 0);
    for (int round = 0; round < 3; round++) {
        LAUNCH(take);
        assert_int_equal(graph_memory(), 3000);
        OK(CALL(cudaMemcpy, (void *, const void *, size_t, int), &value, p + 2999, 1, 2));
        assert_int_equal(value, 9);
        OK(CALL(cudaMemGetInfo, (size_t *, size_t *), &during, &total));
        assert_true(during < before);
        LAUNCH(give);
        assert_int_equal(graph_memory(), 0);
        EXPECT(1, CALL(cudaMemcpy, (void *, const void *, size_t, int), &value, p, 1, 2));
        OK(CALL(cudaMemGetInfo, (size_t *, size_t *), &after, &total));
        assert_int_equal(after, before);
    }
    EXPECT(101, CALL(cudaDeviceGetGraphMemAttribute, (int, int, void *), 9, 0, &total));
    EXPECT(1, CALL(cudaDeviceGetGraphMemAttribute, (int, int, void *), 0, 4, &total));
    EXPECT(1, CALL(cudaDeviceGetGraphMemAttribute, (int, int, void *), 0, -1, &total));
    EXPECT(1, CALL(cudaDeviceGetGraphMemAttribute, (int, int, void *), 0, 0, NULL));
    EXPECT(101, CALL(cudaDeviceGraphMemTrim, (int), 9));
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), take));
    OK(CALL(cudaGraphExecDestroy, (cudaGraphExec_t), give));
    destroy_graph(with);
    destroy_graph(without);
}

static void count_calls(void *count)
{
    ++*(int *)count;
}

static void objects_live_as_long_as_they_are_held(void **state)
{
    cudaUserObject_t object;
    cudaGraph_t graph;
    int gone = 0;
    (void)state;
#define OBJECT(...)                                                                      \
    CALL(cudaUserObjectCreate, (cudaUserObject_t *, void *, void *, unsigned, unsigned), \
         __VA_ARGS__)
#define RELEASE(...) CALL(cudaUserObjectRelease, (cudaUserObject_t, unsigned), __VA_ARGS__)
#define GRAPH_RETAIN(...)                                                                \
    CALL(cudaGraphRetainUserObject, (cudaGraph_t, cudaUserObject_t, unsigned, unsigned), \
         __VA_ARGS__)
#define GRAPH_RELEASE(...) \
    CALL(cudaGraphReleaseUserObject, (cudaGraph_t, cudaUserObject_t, unsigned), __VA_ARGS__)
    OK(CALL(cudaGraphCreate, (cudaGraph_t *, unsigned), &graph, 0));
    EXPECT(1, OBJECT(NULL, &gone, (void *)count_calls, 1, 1));
    EXPECT(1, OBJECT(&object, &gone, NULL, 1, 1));
    EXPECT(1, OBJECT(&object, &gone, (void *)count_calls, 0, 1));
    EXPECT(1, OBJECT(&object, &gone, (void *)count_calls, 1, 0));
    OK(OBJECT(&object, &gone, (void *)count_calls, 2, 1));
    OK(CALL(cudaUserObjectRetain, (cudaUserObject_t, unsigned), object, 1));
    EXPECT(1, RELEASE(object, 0));
    EXPECT(1, RELEASE(object, 4));
    OK(RELEASE(object, 2));
    EXPECT(1, GRAPH_RETAIN(graph, object, 0, 0));
    EXPECT(1, GRAPH_RETAIN(graph, object, 1, 2));
    EXPECT(1, GRAPH_RETAIN(NULL, object, 1, 0));
    OK(GRAPH_RETAIN(graph, object, 2, 0));
    OK(RELEASE(object, 1));
    assert_int_equal(gone, 0); /* the graph has two */
    EXPECT(1, GRAPH_RELEASE(graph, object, 0));
    OK(GRAPH_RELEASE(graph, object, 1));
    assert_int_equal(gone, 0);
    OK(GRAPH_RELEASE(graph, object, 1));
    assert_int_equal(gone, 1);
    EXPECT(1, GRAPH_RELEASE(graph, object, 1));
    EXPECT(1, RELEASE(object, 1));
    OK(OBJECT(&object, &gone, (void *)count_calls, 1, 1));
    OK(GRAPH_RETAIN(graph, object, 1, 1)); /* moved: the program has it no more */
    destroy_graph(graph);
    assert_int_equal(gone, 2);
}

int main(void)
{
#define WITH_STREAMS(test) cmocka_unit_test_setup_teardown(test, make_streams, end_streams)
    const struct CMUnitTest tests[] = {
        WITH_STREAMS(dependencies_are_added_and_replaced),
        WITH_STREAMS(streams_join_by_events),
        WITH_STREAMS(unjoined_streams_fail_the_capture),
        WITH_STREAMS(captures_do_not_touch_each_other),
        WITH_STREAMS(a_capture_extends_a_graph),
        WITH_STREAMS(waiting_calls_end_the_capture),
        WITH_STREAMS(a_stream_that_goes_ends_the_capture),
        WITH_STREAMS(modes_forbid_allocations),
        WITH_STREAMS(captures_end_on_their_thread),
        WITH_STREAMS(memory_of_graphs_comes_and_goes),
        WITH_STREAMS(objects_live_as_long_as_they_are_held),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
