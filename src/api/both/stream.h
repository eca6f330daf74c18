/* Streams, events and their capture, as both interfaces ask for them: their handles are of the same
 * types. Handles come as the application gave them, and are checked here. The front ends only begin
 * and end the call, which holds the lock. `per_thread`: stream 0 is the thread's own. */
#ifndef WL_API_BOTH_STREAM_H
#define WL_API_BOTH_STREAM_H

#include "cuda/driver_types.h"
#include "device/device.h"

/* ---- streams ---- */

typedef enum api_stream_fact {                      /* and the type of its value */
                               API_STREAM_FLAGS,    /* unsigned */
                               API_STREAM_PRIORITY, /* int */
                               API_STREAM_ID,       /* unsigned long long; never 0 */
                               API_STREAM_DEVICE,   /* int: ordinal */
                               API_STREAM_CONTEXT   /* CUcontext */
} api_stream_fact;

dev_result api_new_stream(dev_call *call, CUstream *out, unsigned flags, int priority);
dev_result api_destroy_stream(CUstream stream);
dev_result api_stream(dev_call *call, CUstream stream, bool per_thread, api_stream_fact fact,
                      void *value);
/* Attributes are kept and given back: 64 bytes each. */
dev_result api_attribute(dev_call *call, CUstream stream, bool per_thread, int attribute,
                         void *value);
dev_result api_set_attribute(dev_call *call, CUstream stream, bool per_thread, int attribute,
                             const void *value);
dev_result api_copy_attributes(dev_call *call, CUstream to, CUstream from, bool per_thread);
dev_result api_synchronize(dev_call *call, CUstream stream, bool per_thread);
dev_result api_query(dev_call *call, CUstream stream, bool per_thread);
dev_result api_host(dev_call *call, CUstream stream, bool per_thread, CUhostFn function,
                    void *data);
/* `callback`: a CUstreamCallback or a cudaStreamCallback_t. */
dev_result api_callback(dev_call *call, CUstream stream, bool per_thread, void *callback,
                        void *data, unsigned flags);
/* The least urgent and the most urgent priority of streams; either pointer may be NULL. */
dev_result api_priorities(int *least, int *greatest);

/* ---- events ---- */

dev_result api_new_event(dev_call *call, CUevent *out, unsigned flags);
dev_result api_destroy_event(CUevent event);
dev_result api_query_event(CUevent event);
dev_result api_synchronize_event(dev_call *call, CUevent event);
dev_result api_wait(dev_call *call, CUstream stream, bool per_thread, CUevent event,
                    unsigned flags);
dev_result api_record(dev_call *call, CUstream stream, bool per_thread, CUevent event,
                      unsigned flags);
dev_result api_elapsed(CUevent start, CUevent end, float *milliseconds);

/* ---- capture ---- */

dev_result api_begin_capture(dev_call *call, CUstream stream, bool per_thread, int mode);
dev_result api_capture_to(dev_call *call, CUstream stream, bool per_thread, CUgraph graph,
                          const CUgraphNode *needs, size_t count, int mode);
dev_result api_end_capture(dev_call *call, CUstream stream, bool per_thread, CUgraph *out);
/* All but `status` may be NULL. `edges` receives NULL: no edge has data. */
dev_result api_capture_info(dev_call *call, CUstream stream, bool per_thread, int *status, void *id,
                            CUgraph *graph, const CUgraphNode **needs, const void **edges,
                            size_t *count);
/* flags: 0 adds to what the capture's next node needs, 1 replaces it. */
dev_result api_depend(dev_call *call, CUstream stream, bool per_thread, const CUgraphNode *needs,
                      size_t count, unsigned flags);
dev_result api_capture_mode(int *mode); /* exchanged with the thread's */

#endif
