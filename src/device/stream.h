/* Streams and events, and the operations that a program puts on streams. */
#ifndef WL_DEVICE_STREAM_H
#define WL_DEVICE_STREAM_H

#include "device/memory.h"

/* A stream argument as the application gave it. `per_thread`: what 0 means (the *_ptsz entry points
 * and programs built with a per-thread default stream). The values 1 and 2 are the two default
 * streams. INVALID_HANDLE for the rest. */
dev_result dev_stream_get(dev_call *call, void *handle, bool per_thread, dev_stream **stream);

typedef struct dev_place { /* one side of a copy */
    uint64_t address;      /* or an array: */
    dev_array *array;
    size_t pitch, height; /* bytes between rows, rows between slices; 0: tight */
    size_t x, y, z;       /* x in bytes */
    dev_memory_type
        expect; /* what the caller said it is; UNREGISTERED: find out (unified addressing) */
    bool given; /* expect holds */
} dev_place;

typedef struct dev_copy {
    dev_place from, to;
    size_t width, height, depth; /* bytes, rows, slices; all at least 1 */
} dev_copy;

typedef struct dev_set {
    uint64_t address;
    size_t pitch;
    unsigned value, element; /* element: 1, 2 or 4 bytes */
    size_t width, height;    /* elements, rows */
    size_t depth, slice;     /* slices (at least 1) and bytes between them */
} dev_set;

typedef struct dev_launch {
    dev_function *function;
    emu_dim grid, block, cluster;
    uint32_t shared;
    bool cooperative;
    bool old_runtime; /* refuses a bad shape with INVALID_CONFIGURATION; 13 and the driver: VALUE */
    void **params;    /* pointers to the arguments, or NULL where */
    const void *packed;  /* ... the arguments lie packed, */
    size_t packed_bytes; /* this many bytes */
} dev_launch;

typedef enum dev_host_kind { DEV_HOST_FUNCTION, DEV_HOST_CALLBACK } dev_host_kind;

typedef struct dev_host {
    dev_host_kind kind;
    void (*function)(void *data);                           /* FUNCTION */
    void (*callback)(void *stream, int status, void *data); /* CALLBACK */
    void *stream, *data;
} dev_host;

/* Each checks its arguments at once, then executes, queues, or records into a graph where the
 * stream is captured. `blocking`: the call returns after the work (cudaMemcpy as against
 * cudaMemcpyAsync). */
dev_result dev_do_copy(dev_call *call, dev_stream *stream, const dev_copy *copy, bool blocking);
dev_result dev_do_set(dev_call *call, dev_stream *stream, const dev_set *set, bool blocking);
dev_result dev_do_launch(dev_call *call, dev_stream *stream, const dev_launch *launch);
dev_result dev_do_host(dev_call *call, dev_stream *stream, const dev_host *host);
dev_result dev_do_record(dev_call *call, dev_stream *stream, dev_event *event, unsigned flags);
dev_result dev_do_wait(dev_call *call, dev_stream *stream, dev_event *event, unsigned flags);
/* cuStreamWriteValue, cuStreamWaitValue: 4 or 8 bytes; `flags` as CUstreamWaitValue_flags. */
dev_result dev_do_write_value(dev_call *call, dev_stream *stream, uint64_t address, uint64_t value,
                              unsigned bytes);
dev_result dev_do_wait_value(dev_call *call, dev_stream *stream, uint64_t address, uint64_t value,
                             unsigned bytes, unsigned flags);

dev_result dev_stream_new(dev_context *context, unsigned flags, int priority, dev_stream **stream);
dev_result dev_stream_destroy(dev_stream *stream);
dev_result dev_stream_synchronize(dev_call *call, dev_stream *stream);
dev_result dev_stream_query(dev_stream *stream); /* OK or NOT_READY */
unsigned dev_stream_flags(const dev_stream *stream);
int dev_stream_priority(const dev_stream *stream);
uint64_t dev_stream_id(const dev_stream *stream);
dev_context *dev_stream_context(const dev_stream *stream);
/* What cudaStreamSetAttribute keeps: so many bytes; NULL where there is no such attribute. */
enum { DEV_STREAM_ATTRIBUTES = 8, DEV_STREAM_ATTRIBUTE_BYTES = 64 };
void *dev_stream_attribute(dev_stream *stream, int attribute);

dev_result dev_event_new(dev_context *context, unsigned flags, dev_event **event);
dev_result dev_event_destroy(dev_event *event);
dev_result dev_event_query(dev_event *event);
dev_result dev_event_synchronize(dev_call *call, dev_event *event);
/* Milliseconds of host time between two recorded events. */
dev_result dev_event_elapsed(const dev_event *start, const dev_event *end, float *milliseconds);

#endif
