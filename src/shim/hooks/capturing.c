/* Streams that are being captured: while there is one, most of what asks about a whole context is forbidden, and ends the
 * capture. Streams that join one later are not listed; the first of them is. */
#include "shim/hooks/shim.h"

static wl_vec(uint64_t) streams;

bool shim_capturing(void)
{
    return streams.count != 0;
}

bool shim_is_captured(uint64_t stream)
{
    pthread_mutex_lock(&rec_g.lock);
    bool any = streams.count != 0;
    pthread_mutex_unlock(&rec_g.lock);
    return any && shim_in_capture(stream);
}

static void remove_captured_stream(uint64_t stream, bool once)
{
    pthread_mutex_lock(&rec_g.lock);
    for (size_t i = streams.count; i-- > 0;)
        if (streams.data[i] == stream) {
            streams.data[i] = streams.data[--streams.count];
            if (once)
                break;
        }
    pthread_mutex_unlock(&rec_g.lock);
}

void shim_capture_ended(uint64_t stream)
{
    remove_captured_stream(stream, false);
}

/* Before the driver knows of it, so that nobody asks in between. */
static void add_captured_stream(uint64_t stream)
{
    pthread_mutex_lock(&rec_g.lock);
    (void)wl_push(&streams, stream);
    pthread_mutex_unlock(&rec_g.lock);
}

#define BEGIN(symbol, per_thread, params, args)                            \
    HOOK(symbol, params, args)                                             \
    {                                                                      \
        add_captured_stream(shim_stream(stream, per_thread));              \
        CUresult result = real_##symbol args;                              \
        if (result != CUDA_SUCCESS)                                        \
            remove_captured_stream(shim_stream(stream, per_thread), true); \
        return result;                                                     \
    }

BEGIN(cuStreamBeginCapture, false, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_ptsz, true, (CUstream stream), (stream))
BEGIN(cuStreamBeginCapture_v2, false, (CUstream stream, int mode), (stream, mode))
BEGIN(cuStreamBeginCapture_v2_ptsz, true, (CUstream stream, int mode), (stream, mode))
BEGIN(cuStreamBeginCaptureToGraph, false,
      (CUstream stream, CUgraph graph, const CUgraphNode *after, const void *edges, size_t count,
       int mode),
      (stream, graph, after, edges, count, mode))
BEGIN(cuStreamBeginCaptureToGraph_ptsz, true,
      (CUstream stream, CUgraph graph, const CUgraphNode *after, const void *edges, size_t count,
       int mode),
      (stream, graph, after, edges, count, mode))

#define END(symbol, per_thread)                                       \
    HOOK(symbol, (CUstream stream, CUgraph * graph), (stream, graph)) \
    {                                                                 \
        CUresult result = real_##symbol(stream, graph);               \
        shim_capture_ended(shim_stream(stream, per_thread));          \
        return result;                                                \
    }

END(cuStreamEndCapture, false)
END(cuStreamEndCapture_ptsz, true)
