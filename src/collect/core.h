/* The device layer: what CUDA's runtime and driver interfaces share when the emulator stands in for the GPU.
 *
 * A front end (runtime_*.c, driver_*.c) converts arguments, calls here, and converts the result. The core owns devices,
 * contexts, memory, modules, streams, events, graphs, launches and the recording of calls.
 *
 * Results are numbers as in cudaError_t; those of CUresult are the same wherever both interfaces have the error. Results
 * that only the runtime has are listed at collect_result: the driver front end passes what it returns through
 * collect_driver_result().
 *
 * Work executes when it is enqueued, in program order, unless an earlier host function of the stream is still running
 * (see collect_enqueue): all that a program can observe is then legal CUDA.
 *
 * Locking: collect_begin() takes the one lock of this layer, collect_end() releases it. Every other function is called
 * in between, unless it says otherwise. Host functions of streams run without the lock, on a thread of their own.
 *
 * Ownership: all handles belong to the core. A handle that the application gives is checked with collect_is() before it
 * is used; destroyed or foreign handles give COLLECT_INVALID_HANDLE. */
#ifndef WL_COLLECT_CORE_H
#define WL_COLLECT_CORE_H

#include "base/error.h"
#include "capture/capture.h"
#include "cuda/device.h"
#include "emu/emu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum collect_result {
    COLLECT_OK = 0,
    COLLECT_INVALID_VALUE = 1,
    COLLECT_NOMEM = 2,
    COLLECT_NOT_INITIALIZED = 3,
    COLLECT_DEINITIALIZED = 4,
    COLLECT_INVALID_CONFIGURATION = 9,    /* runtime only */
    COLLECT_INVALID_PITCH = 12,           /* runtime only */
    COLLECT_INVALID_SYMBOL = 13,          /* runtime only */
    COLLECT_INVALID_TEXTURE = 18,         /* runtime only */
    COLLECT_INVALID_CHANNEL = 20,         /* runtime only */
    COLLECT_INVALID_DIRECTION = 21,       /* runtime only */
    COLLECT_MISSING_CONFIGURATION = 52,   /* runtime only */
    COLLECT_INVALID_DEVICE_FUNCTION = 98, /* runtime only */
    COLLECT_NO_DEVICE = 100,
    COLLECT_INVALID_DEVICE = 101,
    COLLECT_INVALID_IMAGE = 200,
    COLLECT_INVALID_CONTEXT = 201,
    COLLECT_NO_BINARY_FOR_GPU = 209,
    COLLECT_PEER_UNSUPPORTED = 217,
    COLLECT_INVALID_PTX = 218,
    COLLECT_JIT_NOT_FOUND = 221,
    COLLECT_INVALID_SOURCE = 300,
    COLLECT_FILE_NOT_FOUND = 301,
    COLLECT_SYMBOL_NOT_FOUND = 302,
    COLLECT_OPERATING_SYSTEM = 304,
    COLLECT_INVALID_HANDLE = 400,
    COLLECT_ILLEGAL_STATE = 401,
    COLLECT_NOT_FOUND = 500,
    COLLECT_NOT_READY = 600,
    COLLECT_ILLEGAL_ADDRESS = 700,
    COLLECT_OUT_OF_RESOURCES = 701,
    COLLECT_PEER_ENABLED = 704,
    COLLECT_PEER_NOT_ENABLED = 705,
    COLLECT_CONTEXT_ACTIVE = 708,
    COLLECT_CONTEXT_DESTROYED = 709,
    COLLECT_HOST_REGISTERED = 712,
    COLLECT_HOST_NOT_REGISTERED = 713,
    COLLECT_LAUNCH_FAILED = 719,
    COLLECT_COOPERATIVE_TOO_LARGE = 720,
    COLLECT_NOT_PERMITTED = 800,
    COLLECT_NOT_SUPPORTED = 801,
    COLLECT_CAPTURE_UNSUPPORTED = 900,
    COLLECT_CAPTURE_INVALIDATED = 901,
    COLLECT_CAPTURE_MERGE = 902,
    COLLECT_CAPTURE_UNMATCHED = 903,
    COLLECT_CAPTURE_UNJOINED = 904,
    COLLECT_CAPTURE_ISOLATION = 905,
    COLLECT_CAPTURE_IMPLICIT = 906,
    COLLECT_CAPTURED_EVENT = 907,
    COLLECT_CAPTURE_WRONG_THREAD = 908,
    COLLECT_GRAPH_UPDATE_FAILURE = 910,
    COLLECT_INVALID_CLUSTER_SIZE = 912,
    COLLECT_UNKNOWN = 999
} collect_result;

/* What the driver interface returns in place of a result that only the runtime has; others unchanged. */
int collect_driver_result(collect_result result);

typedef struct collect_device collect_device;
typedef struct collect_context collect_context;
typedef struct collect_module collect_module;
typedef struct collect_function collect_function;
typedef struct collect_stream collect_stream;
typedef struct collect_event collect_event;
typedef struct collect_array collect_array;
typedef struct collect_pool collect_pool;
typedef struct collect_physical collect_physical; /* memory without an address: cuMemCreate */
typedef struct collect_graph collect_graph;
typedef struct collect_node collect_node;
typedef struct collect_exec collect_exec;     /* an instantiated graph */
typedef struct collect_object collect_object; /* user objects of graphs */

typedef enum collect_kind {
    COLLECT_CONTEXT,
    COLLECT_MODULE,
    COLLECT_FUNCTION,
    COLLECT_STREAM,
    COLLECT_EVENT,
    COLLECT_ARRAY,
    COLLECT_MIPMAP,
    COLLECT_TEXTURE,
    COLLECT_POOL,
    COLLECT_PHYSICAL,
    COLLECT_GRAPH,
    COLLECT_NODE,
    COLLECT_EXEC,
    COLLECT_OBJECT
} collect_kind;

/* True where the handle was given out and lives. */
bool collect_is(const void *handle, collect_kind kind);

/* ---- one API call ---- */

enum { /* collect_begin's `flags`: what the call needs, checked in this order */
       COLLECT_INIT =
           1, /* the interface is initialised: NOT_INITIALIZED otherwise (driver; the runtime does it itself) */
       COLLECT_CURRENT =
           2, /* a current context: INVALID_CONTEXT without; a context lost to a fault gives its error */
       COLLECT_PRIMARY =
           4, /* as CURRENT, but the primary context of the thread's device is made current (runtime) */
       COLLECT_QUIET = 8,    /* the call is not recorded */
       COLLECT_UNSTICKY = 16 /* works in a context lost to a fault (destroying, resetting) */
};

typedef struct collect_call {
    const char *api;
    collect_context *context; /* the current one, set by collect_begin for CURRENT and PRIMARY */
    uint32_t flags;
    uint32_t id; /* number of the CALL record; 0 where it is not recorded */
    bool locked, written;
    cap_call record; /* fields that the core functions fill in: stream, objects, offsets, bytes */
    uint64_t pcs[CAP_MAX_STACK];
} collect_call;

/* First thing in every entry point, after nothing but its argument's declaration. Notes time and call stack (unless
 * QUIET), takes the lock, checks `flags`. On a result other than OK go straight to collect_end. */
collect_result collect_begin(collect_call *call, const char *api, cap_call_kind kind,
                             uint32_t flags);
/* Last thing: writes the CALL record, releases the lock, returns `result`. */
collect_result collect_end(collect_call *call, collect_result result);

/* A function of the interface that is not there: named once on stderr and in the capture. Needs no lock.
 * Returns NOT_SUPPORTED. */
collect_result collect_unsupported(const char *api);
/* Part of a function that is not there ("cudaMemcpy3D of layered arrays"); same treatment, within a call. */
collect_result collect_unsupported_part(const char *part);

/* ---- threads ---- */

enum { COLLECT_MAX_STACKED = 64, COLLECT_MAX_CONFIGS = 8 };

typedef struct collect_config { /* between <<<...>>> and the stub */
    emu_dim grid, block;
    size_t shared;
    void *stream;
} collect_config;

typedef struct collect_thread { /* of the application */
    uint32_t number;            /* from 1 in order of the first CUDA call */
    int device;                 /* the runtime's current device */
    bool device_set;
    int last_error;        /* the runtime's */
    bool in_host_function; /* CUDA calls give NOT_PERMITTED */
    uint32_t depth;        /* driver: stack of contexts; [depth - 1] is current */
    collect_context *contexts[COLLECT_MAX_STACKED];
    uint32_t nconfigs;
    collect_config configs[COLLECT_MAX_CONFIGS];
    int capture_mode; /* cudaThreadExchangeStreamCaptureMode */
} collect_thread;

collect_thread *collect_self(void); /* needs no lock; NULL when memory is exhausted */

collect_context *collect_current(void);             /* NULL without */
void collect_set_current(collect_context *context); /* NULL pops the top */
collect_result collect_push_current(collect_context *context);
collect_result collect_pop_current(collect_context **context);

/* ---- devices and contexts ---- */

/* Reads the device description and the options; idempotent. NO_DEVICE where that fails. */
collect_result collect_initialize(void);
bool collect_initialized(void);
int collect_device_count(void);
collect_device *collect_device_get(int ordinal); /* NULL where there is none */
int collect_device_ordinal(const collect_device *device);
const cuda_device *collect_device_description(const collect_device *device);
void collect_device_memory(const collect_device *device, uint64_t *free, uint64_t *total);
collect_result collect_peer_enable(collect_context *context, collect_context *peer);
collect_result collect_peer_disable(collect_context *context, collect_context *peer);

collect_result collect_primary_retain(collect_device *device, collect_context **context);
collect_result collect_primary_release(collect_device *device);
collect_result collect_primary_reset(collect_device *device);
void collect_primary_state(collect_device *device, unsigned *flags, bool *active);
collect_result collect_primary_flags(collect_device *device, unsigned flags);
collect_result collect_context_new(collect_device *device, unsigned flags,
                                   collect_context **context);
collect_result collect_context_destroy(collect_context *context);
collect_device *collect_context_device(const collect_context *context);
unsigned collect_context_flags(const collect_context *context);
uint64_t collect_context_id(const collect_context *context);
collect_result collect_context_synchronize(collect_context *context);
/* The error that the context was lost to; OK while it is well. */
collect_result collect_context_error(const collect_context *context);
/* Limits and cache configuration are kept and given back; `limit` as cudaLimit. */
collect_result collect_limit_get(collect_context *context, int limit, size_t *value);
collect_result collect_limit_set(collect_context *context, int limit, size_t value);
collect_result collect_cache_config(collect_context *context, int *get,
                                    int set); /* get != NULL reads */

/* ---- memory ---- */

/* Fill the call's record and write OBJECT / FREE. Size 0 gives INVALID_VALUE: the runtime handles it before. */
collect_result collect_malloc(collect_call *call, uint64_t size, uint64_t *address);
collect_result collect_malloc_pinned(collect_call *call, uint64_t size, unsigned flags,
                                     void **data);
collect_result collect_malloc_managed(collect_call *call, uint64_t size, unsigned flags,
                                      uint64_t *address);
collect_result collect_malloc_pitch(collect_call *call, uint64_t width, uint64_t rows,
                                    uint64_t *address, size_t *pitch);
collect_result collect_free(collect_call *call, uint64_t address); /* device and managed */
collect_result collect_free_pinned(collect_call *call, void *data);
collect_result collect_register(collect_call *call, void *data, uint64_t size, unsigned flags);
collect_result collect_unregister(collect_call *call, void *data);

typedef enum collect_memory_type { /* as cudaMemoryType */
                                   COLLECT_MEMORY_UNREGISTERED,
                                   COLLECT_MEMORY_HOST,
                                   COLLECT_MEMORY_DEVICE,
                                   COLLECT_MEMORY_MANAGED
} collect_memory_type;

typedef struct collect_memory {
    collect_memory_type type;
    uint64_t base, size;
    uint32_t object; /* number in the capture; also the buffer id */
    unsigned flags;  /* given at allocation */
    int device;
    collect_context *context;
    collect_pool *pool; /* NULL for other memory */
    bool registered;    /* host memory that the application owns */
    bool mapped;        /* through cuMemMap */
} collect_memory;

/* The live allocation, symbol or mapping that holds the address; false for plain host memory. */
bool collect_memory_find(uint64_t address, collect_memory *out);

/* Pools. The default pool of a device exists from the start. Attributes are numbered as cudaMemPoolAttr. */
collect_pool *collect_pool_default(collect_device *device);
collect_pool *collect_pool_current(collect_device *device);
collect_result collect_pool_set_current(collect_device *device, collect_pool *pool);
collect_result collect_pool_new(collect_device *device, uint64_t max_size, collect_pool **pool);
collect_result collect_pool_destroy(collect_pool *pool);
collect_result collect_pool_get(collect_pool *pool, int attribute, void *value);
collect_result collect_pool_set(collect_pool *pool, int attribute, const void *value);
collect_result collect_pool_access_set(collect_pool *pool, int device, int flags);
collect_result collect_pool_access_get(collect_pool *pool, int device, int *flags);
collect_result collect_pool_trim(collect_pool *pool, size_t keep);
/* pool NULL: the current one of the stream's device. Recorded into a graph while the stream is captured. */
collect_result collect_malloc_async(collect_call *call, uint64_t size, collect_pool *pool,
                                    collect_stream *stream, uint64_t *address);
collect_result collect_free_async(collect_call *call, uint64_t address, collect_stream *stream);

/* Virtual memory management. The granularity is 2 MiB. */
enum { COLLECT_GRANULARITY = 2 << 20 };
collect_result collect_reserve(uint64_t size, uint64_t align, uint64_t *address);
collect_result collect_unreserve(uint64_t address, uint64_t size);
collect_result collect_physical_new(collect_device *device, uint64_t size,
                                    collect_physical **physical);
collect_result collect_physical_release(collect_physical *physical);
collect_result collect_physical_retain(uint64_t address, collect_physical **physical);
collect_device *collect_physical_device(const collect_physical *physical);
collect_result collect_map(collect_call *call, uint64_t address, uint64_t size, uint64_t offset,
                           collect_physical *physical);
collect_result collect_unmap(collect_call *call, uint64_t address, uint64_t size);
collect_result collect_access_set(uint64_t address, uint64_t size, int device, int flags);
collect_result collect_access_get(uint64_t address, int device, int *flags);

/* Arrays. Elements lie row by row in device memory; an array is an object of the capture. */
typedef struct collect_array_desc {
    size_t width, height, depth; /* in elements; 0 where the dimension is absent */
    unsigned channels;           /* 1, 2, 4 */
    int format;                  /* CUarray_format */
    unsigned flags;              /* as CUDA_ARRAY3D_* */
    unsigned levels;             /* of a mipmapped array, else 0 */
} collect_array_desc;

enum { COLLECT_ARRAY_LAYERED = 1, COLLECT_ARRAY_SURFACE = 2, COLLECT_ARRAY_CUBE = 4 }; /* flags */

unsigned collect_format_bytes(int format); /* of a channel; 0 where unknown */
collect_result collect_array_new(collect_call *call, const collect_array_desc *desc,
                                 collect_array **array);
collect_result collect_array_destroy(collect_call *call, collect_array *array);
/* An array made with desc.levels is a MIPMAP: it has levels, which are arrays and go with it. `mipmap` need not be one. */
collect_result collect_array_level(const void *mipmap, unsigned level, collect_array **array);
const collect_array_desc *collect_array_get(const collect_array *array);
uint64_t collect_array_address(const collect_array *array, size_t *pitch);

/* Texture and surface objects. */
typedef enum collect_resource_type { /* as CUresourcetype */
                                     COLLECT_RESOURCE_ARRAY,
                                     COLLECT_RESOURCE_MIPMAP,
                                     COLLECT_RESOURCE_LINEAR,
                                     COLLECT_RESOURCE_PITCH
} collect_resource_type;

typedef struct collect_resource {
    collect_resource_type type;
    collect_array *array; /* ARRAY, MIPMAP; not yet checked */
    uint64_t address;     /* LINEAR, PITCH: */
    int format;
    unsigned channels;
    size_t bytes;                /* LINEAR */
    size_t width, height, pitch; /* PITCH, in elements, rows, bytes */
} collect_resource;

/* `sampling` without its image, which is made from the resource; NULL for a surface. `stored`: what the front end wants to
 * give back to questions, copied. INVALID_VALUE, INVALID_HANDLE, INVALID_CHANNEL. */
collect_result collect_texture_new(collect_call *call, const collect_resource *resource,
                                   const emu_texture *sampling, const void *stored, size_t bytes,
                                   uint64_t *handle);
collect_result collect_texture_destroy(uint64_t handle, bool surface);
/* What was stored with the object; NULL where there is none of this sort. */
const void *collect_texture_stored(uint64_t handle, bool surface);

/* ---- operations on streams ---- */

/* A stream argument as the application gave it. `per_thread`: what 0 means (the *_ptsz entry points and programs built
 * with a per-thread default stream). The values 1 and 2 are the two default streams. INVALID_HANDLE for the rest. */
collect_result collect_stream_get(collect_call *call, void *handle, bool per_thread,
                                  collect_stream **stream);

typedef struct collect_place { /* one side of a copy */
    uint64_t address;          /* or an array: */
    collect_array *array;
    size_t pitch, height; /* bytes between rows, rows between slices; 0: tight */
    size_t x, y, z;       /* x in bytes */
    collect_memory_type
        expect; /* what the caller said it is; UNREGISTERED: find out (unified addressing) */
    bool given; /* expect holds */
} collect_place;

typedef struct collect_copy {
    collect_place from, to;
    size_t width, height, depth; /* bytes, rows, slices; all at least 1 */
} collect_copy;

typedef struct collect_set {
    uint64_t address;
    size_t pitch;
    unsigned value, element; /* element: 1, 2 or 4 bytes */
    size_t width, height;    /* elements, rows */
    size_t depth, slice;     /* slices (at least 1) and bytes between them */
} collect_set;

typedef struct collect_launch {
    collect_function *function;
    emu_dim grid, block, cluster;
    uint32_t shared;
    bool cooperative;
    bool old_runtime; /* refuses a bad shape with INVALID_CONFIGURATION; 13 and the driver: VALUE */
    void **params;    /* pointers to the arguments, or NULL where */
    const void *packed;  /* ... the arguments lie packed, */
    size_t packed_bytes; /* this many bytes */
} collect_launch;

typedef enum collect_host_kind { COLLECT_HOST_FUNCTION, COLLECT_HOST_CALLBACK } collect_host_kind;

typedef struct collect_host {
    collect_host_kind kind;
    void (*function)(void *data);                           /* FUNCTION */
    void (*callback)(void *stream, int status, void *data); /* CALLBACK */
    void *stream, *data;
} collect_host;

/* Each checks its arguments at once, then executes, queues, or records into a graph where the stream is captured.
 * `blocking`: the call returns after the work (cudaMemcpy as against cudaMemcpyAsync). */
collect_result collect_do_copy(collect_call *call, collect_stream *stream, const collect_copy *copy,
                               bool blocking);
collect_result collect_do_set(collect_call *call, collect_stream *stream, const collect_set *set,
                              bool blocking);
collect_result collect_do_launch(collect_call *call, collect_stream *stream,
                                 const collect_launch *launch);
collect_result collect_do_host(collect_call *call, collect_stream *stream,
                               const collect_host *host);
collect_result collect_do_record(collect_call *call, collect_stream *stream, collect_event *event,
                                 unsigned flags);
collect_result collect_do_wait(collect_call *call, collect_stream *stream, collect_event *event,
                               unsigned flags);
/* cuStreamWriteValue, cuStreamWaitValue: 4 or 8 bytes; `flags` as CUstreamWaitValue_flags. */
collect_result collect_do_write_value(collect_call *call, collect_stream *stream, uint64_t address,
                                      uint64_t value, unsigned bytes);
collect_result collect_do_wait_value(collect_call *call, collect_stream *stream, uint64_t address,
                                     uint64_t value, unsigned bytes, unsigned flags);

collect_result collect_stream_new(collect_context *context, unsigned flags, int priority,
                                  collect_stream **stream);
collect_result collect_stream_destroy(collect_stream *stream);
collect_result collect_stream_synchronize(collect_call *call, collect_stream *stream);
collect_result collect_stream_query(collect_stream *stream); /* OK or NOT_READY */
unsigned collect_stream_flags(const collect_stream *stream);
int collect_stream_priority(const collect_stream *stream);
uint64_t collect_stream_id(const collect_stream *stream);
collect_context *collect_stream_context(const collect_stream *stream);

collect_result collect_event_new(collect_context *context, unsigned flags, collect_event **event);
collect_result collect_event_destroy(collect_event *event);
collect_result collect_event_query(collect_event *event);
collect_result collect_event_synchronize(collect_call *call, collect_event *event);
/* Milliseconds of host time between two recorded events. */
collect_result collect_event_elapsed(const collect_event *start, const collect_event *end,
                                     float *milliseconds);

/* ---- modules and kernels ---- */

/* `image`: fatbin, its wrapper, or PTX text. Takes the best PTX of it for the context's device. NO_BINARY_FOR_GPU where it has none, INVALID_PTX where it
 * does not parse (`log` then holds the text; may be NULL). The image must stay until the module is unloaded. */
collect_result collect_module_load(collect_context *context, const void *image,
                                   collect_module **module, wl_error *log);
collect_result collect_module_unload(collect_module *module);
/* NOT_FOUND where there is none. A kernel that the emulator cannot run gives a function all the same: it fails when it
 * is launched, with a text that says why. */
collect_result collect_module_function(collect_module *module, const char *name,
                                       collect_function **function);
collect_result collect_module_global(collect_module *module, const char *name, uint64_t *address,
                                     uint64_t *size);
unsigned collect_module_count(const collect_module *module);
collect_function *collect_module_at(collect_module *module, unsigned index);
collect_context *collect_module_context(const collect_module *module);

const char *collect_function_name(const collect_function *function);
collect_module *collect_function_module(const collect_function *function);
/* NULL (and `log` filled) where the emulator cannot run the kernel. */
const emu_kernel_info *collect_function_info(collect_function *function, wl_error *log);
collect_result collect_function_param(collect_function *function, size_t index, size_t *offset,
                                      size_t *size);

enum { /* the attributes that can be set, numbered as CUfunction_attribute; the others are read from the kernel */
       COLLECT_ATTRIBUTE_MAX = 16
};
collect_result collect_function_get(collect_function *function, int attribute, int *value);
collect_result collect_function_set(collect_function *function, int attribute, int value);
/* Blocks that fit on an SM at once. */
collect_result collect_occupancy(collect_function *function, int block, size_t shared, int *blocks);
collect_result collect_occupancy_shared(collect_function *function, int blocks, int block,
                                        size_t *shared);
collect_result collect_max_clusters(collect_function *function, const collect_launch *launch,
                                    int *clusters);

/* Stream capture and graphs: graph.h. */

#endif
