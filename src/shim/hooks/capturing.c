/* The begin and the end of captures of streams. */
#include "shim/hooks/hook.h"

#define BEGIN(symbol, per_thread, params, args)                  \
    HOOK(symbol, params, args)                                   \
    {                                                            \
        drv_capture_begins(drv_stream(stream, per_thread));      \
        CUresult result = real_##symbol args;                    \
        if (result != CUDA_SUCCESS)                              \
            drv_capture_refused(drv_stream(stream, per_thread)); \
        return result;                                           \
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
        drv_capture_ended(drv_stream(stream, per_thread));            \
        return result;                                                \
    }

END(cuStreamEndCapture, false)
END(cuStreamEndCapture_ptsz, true)
