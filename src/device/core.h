/* The device layer: what CUDA's runtime and driver interfaces share when the emulator stands in for the GPU.
 *
 * A front end (runtime_*.c, driver_*.c) converts arguments, calls here, and converts the result. The core owns devices,
 * contexts, memory, modules, streams, events, graphs, launches and the recording of calls.
 *
 * Results are numbers as in cudaError_t; those of CUresult are the same wherever both interfaces have the error. Results
 * that only the runtime has are listed at dev_result: the driver front end passes what it returns through
 * dev_driver_result().
 *
 * Work executes when it is enqueued, in program order, unless an earlier host function of the stream is still running
 * (see dev_enqueue): all that a program can observe is then legal CUDA.
 *
 * Locking: dev_begin() takes the one lock of this layer, dev_end() releases it. Every other function is called
 * in between, unless it says otherwise. Host functions of streams run without the lock, on a thread of their own.
 *
 * Ownership: all handles belong to the core. A handle that the application gives is checked with dev_is() before it
 * is used; destroyed or foreign handles give DEV_INVALID_HANDLE. */
#ifndef WL_DEVICE_CORE_H
#define WL_DEVICE_CORE_H

#include "base/error.h"
#include "cuda/device.h"
#include "emu/emu.h"
#include "record/record.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum dev_result {
    DEV_OK = 0,
    DEV_INVALID_VALUE = 1,
    DEV_NOMEM = 2,
    DEV_NOT_INITIALIZED = 3,
    DEV_DEINITIALIZED = 4,
    DEV_INVALID_CONFIGURATION = 9,    /* runtime only */
    DEV_INVALID_PITCH = 12,           /* runtime only */
    DEV_INVALID_SYMBOL = 13,          /* runtime only */
    DEV_INVALID_TEXTURE = 18,         /* runtime only */
    DEV_INVALID_CHANNEL = 20,         /* runtime only */
    DEV_INVALID_DIRECTION = 21,       /* runtime only */
    DEV_MISSING_CONFIGURATION = 52,   /* runtime only */
    DEV_INVALID_DEVICE_FUNCTION = 98, /* runtime only */
    DEV_NO_DEVICE = 100,
    DEV_INVALID_DEVICE = 101,
    DEV_INVALID_IMAGE = 200,
    DEV_INVALID_CONTEXT = 201,
    DEV_NO_BINARY_FOR_GPU = 209,
    DEV_PEER_UNSUPPORTED = 217,
    DEV_INVALID_PTX = 218,
    DEV_JIT_NOT_FOUND = 221,
    DEV_INVALID_SOURCE = 300,
    DEV_FILE_NOT_FOUND = 301,
    DEV_SYMBOL_NOT_FOUND = 302,
    DEV_OPERATING_SYSTEM = 304,
    DEV_INVALID_HANDLE = 400,
    DEV_ILLEGAL_STATE = 401,
    DEV_NOT_FOUND = 500,
    DEV_NOT_READY = 600,
    DEV_ILLEGAL_ADDRESS = 700,
    DEV_OUT_OF_RESOURCES = 701,
    DEV_PEER_ENABLED = 704,
    DEV_PEER_NOT_ENABLED = 705,
    DEV_CONTEXT_ACTIVE = 708,
    DEV_CONTEXT_DESTROYED = 709,
    DEV_HOST_REGISTERED = 712,
    DEV_HOST_NOT_REGISTERED = 713,
    DEV_LAUNCH_FAILED = 719,
    DEV_COOPERATIVE_TOO_LARGE = 720,
    DEV_NOT_PERMITTED = 800,
    DEV_NOT_SUPPORTED = 801,
    DEV_CAPTURE_UNSUPPORTED = 900,
    DEV_CAPTURE_INVALIDATED = 901,
    DEV_CAPTURE_MERGE = 902,
    DEV_CAPTURE_UNMATCHED = 903,
    DEV_CAPTURE_UNJOINED = 904,
    DEV_CAPTURE_ISOLATION = 905,
    DEV_CAPTURE_IMPLICIT = 906,
    DEV_CAPTURED_EVENT = 907,
    DEV_CAPTURE_WRONG_THREAD = 908,
    DEV_GRAPH_UPDATE_FAILURE = 910,
    DEV_INVALID_CLUSTER_SIZE = 912,
    DEV_UNKNOWN = 999
} dev_result;

/* What the driver interface returns in place of a result that only the runtime has; others unchanged. */
int dev_driver_result(dev_result result);

typedef struct dev_gpu dev_gpu;
typedef struct dev_context dev_context;
typedef struct dev_module dev_module;
typedef struct dev_function dev_function;
typedef struct dev_stream dev_stream;
typedef struct dev_event dev_event;
typedef struct dev_array dev_array;
typedef struct dev_pool dev_pool;
typedef struct dev_physical dev_physical; /* memory without an address: cuMemCreate */
typedef struct dev_graph dev_graph;
typedef struct dev_node dev_node;
typedef struct dev_exec dev_exec;     /* an instantiated graph */
typedef struct dev_object dev_object; /* user objects of graphs */

typedef enum dev_kind {
    DEV_CONTEXT,
    DEV_MODULE,
    DEV_FUNCTION,
    DEV_STREAM,
    DEV_EVENT,
    DEV_ARRAY,
    DEV_MIPMAP,
    DEV_TEXTURE,
    DEV_POOL,
    DEV_PHYSICAL,
    DEV_GRAPH,
    DEV_NODE,
    DEV_EXEC,
    DEV_OBJECT
} dev_kind;

/* True where the handle was given out and lives. */
bool dev_is(const void *handle, dev_kind kind);

/* ---- one API call ---- */

enum { /* dev_begin's `flags`: what the call needs, checked in this order */
       DEV_INIT =
           1, /* the interface is initialised: NOT_INITIALIZED otherwise (driver; the runtime does it itself) */
       DEV_CURRENT =
           2, /* a current context: INVALID_CONTEXT without; a context lost to a fault gives its error */
       DEV_PRIMARY =
           4, /* as CURRENT, but the primary context of the thread's device is made current (runtime) */
       DEV_QUIET = 8,    /* the call is not recorded */
       DEV_UNSTICKY = 16 /* works in a context lost to a fault (destroying, resetting) */
};

typedef struct dev_call {
    const char *api;
    dev_context *context; /* the current one, set by dev_begin for CURRENT and PRIMARY */
    uint32_t flags;
    bool locked;
    rec_call rec; /* its `id` is 0 where the call is not recorded */
} dev_call;

/* First thing in every entry point, after nothing but its argument's declaration. Notes time and call stack (unless
 * QUIET), takes the lock, checks `flags`. On a result other than OK go straight to dev_end. */
dev_result dev_begin(dev_call *call, const char *api, cap_call_kind kind, uint32_t flags);
/* Last thing: writes the CALL record, releases the lock, returns `result`. */
dev_result dev_end(dev_call *call, dev_result result);

/* A function of the interface that is not there: named once on stderr and in the capture. Needs no lock.
 * Returns NOT_SUPPORTED. */
dev_result dev_unsupported(const char *api);
/* Part of a function that is not there ("cudaMemcpy3D of layered arrays"); same treatment, within a call. */
dev_result dev_unsupported_part(const char *part);

/* ---- the process ---- */

/* Before the program's own constructors; then the clock starts. Of what libc sets up only the
 * environment is needed. */
void dev_process_begins(void);

/* ---- threads ---- */

enum { DEV_MAX_STACKED = 64, DEV_MAX_CONFIGS = 8 };

typedef struct dev_config { /* between <<<...>>> and the stub */
    emu_dim grid, block;
    size_t shared;
    void *stream;
} dev_config;

typedef struct dev_thread { /* of the application */
    uint32_t number;        /* from 1 in order of the first CUDA call */
    int device;             /* the runtime's current device */
    bool device_set;
    int last_error;        /* the runtime's */
    bool in_host_function; /* CUDA calls give NOT_PERMITTED */
    uint32_t depth;        /* driver: stack of contexts; [depth - 1] is current */
    dev_context *contexts[DEV_MAX_STACKED];
    uint32_t nconfigs;
    dev_config configs[DEV_MAX_CONFIGS];
    int capture_mode; /* cudaThreadExchangeStreamCaptureMode */
} dev_thread;

dev_thread *dev_self(void); /* needs no lock; NULL when memory is exhausted */

dev_context *dev_current(void);             /* NULL without */
void dev_set_current(dev_context *context); /* NULL pops the top */
dev_result dev_push_current(dev_context *context);
dev_result dev_pop_current(dev_context **context);

/* ---- devices and contexts ---- */

/* Reads the device description and the options; idempotent. NO_DEVICE where that fails. */
dev_result dev_initialize(void);
bool dev_initialized(void);
int dev_gpu_count(void);
dev_gpu *dev_gpu_get(int ordinal); /* NULL where there is none */
int dev_gpu_ordinal(const dev_gpu *device);
const cuda_device *dev_gpu_description(const dev_gpu *device);
void dev_gpu_memory(const dev_gpu *device, uint64_t *free, uint64_t *total);
dev_result dev_peer_enable(dev_context *context, dev_context *peer);
dev_result dev_peer_disable(dev_context *context, dev_context *peer);

dev_result dev_primary_retain(dev_gpu *device, dev_context **context);
dev_result dev_primary_release(dev_gpu *device);
dev_result dev_primary_reset(dev_gpu *device);
void dev_primary_state(dev_gpu *device, unsigned *flags, bool *active);
dev_result dev_primary_flags(dev_gpu *device, unsigned flags);
dev_result dev_context_new(dev_gpu *device, unsigned flags, dev_context **context);
dev_result dev_context_destroy(dev_context *context);
dev_gpu *dev_context_device(const dev_context *context);
unsigned dev_context_flags(const dev_context *context);
uint64_t dev_context_id(const dev_context *context);
dev_result dev_context_synchronize(dev_context *context);
/* The error that the context was lost to; OK while it is well. */
dev_result dev_context_error(const dev_context *context);
/* Limits and cache configuration are kept and given back; `limit` as cudaLimit. */
dev_result dev_limit_get(dev_context *context, int limit, size_t *value);
dev_result dev_limit_set(dev_context *context, int limit, size_t value);
dev_result dev_cache_config(dev_context *context, int *get, int set); /* get != NULL reads */

/* ---- memory ---- */

/* Fill the call's record and write OBJECT / FREE. Size 0 gives INVALID_VALUE: the runtime handles it before. */
dev_result dev_malloc(dev_call *call, uint64_t size, uint64_t *address);
dev_result dev_malloc_pinned(dev_call *call, uint64_t size, unsigned flags, void **data);
dev_result dev_malloc_managed(dev_call *call, uint64_t size, unsigned flags, uint64_t *address);
dev_result dev_malloc_pitch(dev_call *call, uint64_t width, uint64_t rows, uint64_t *address,
                            size_t *pitch);
dev_result dev_free(dev_call *call, uint64_t address); /* device and managed */
dev_result dev_free_pinned(dev_call *call, void *data);
dev_result dev_register(dev_call *call, void *data, uint64_t size, unsigned flags);
dev_result dev_unregister(dev_call *call, void *data);

typedef enum dev_memory_type { /* as cudaMemoryType */
                               DEV_MEMORY_UNREGISTERED,
                               DEV_MEMORY_HOST,
                               DEV_MEMORY_DEVICE,
                               DEV_MEMORY_MANAGED
} dev_memory_type;

typedef struct dev_memory {
    dev_memory_type type;
    uint64_t base, size;
    uint32_t object; /* number in the capture; also the buffer id */
    unsigned flags;  /* given at allocation */
    int device;
    dev_context *context;
    dev_pool *pool;  /* NULL for other memory */
    bool registered; /* host memory that the application owns */
    bool mapped;     /* through cuMemMap */
} dev_memory;

/* The live allocation, symbol or mapping that holds the address; false for plain host memory. */
bool dev_memory_find(uint64_t address, dev_memory *out);

/* Pools. The default pool of a device exists from the start. Attributes are numbered as cudaMemPoolAttr. */
dev_pool *dev_pool_default(dev_gpu *device);
dev_pool *dev_pool_current(dev_gpu *device);
dev_result dev_pool_set_current(dev_gpu *device, dev_pool *pool);
dev_result dev_pool_new(dev_gpu *device, uint64_t max_size, dev_pool **pool);
dev_result dev_pool_destroy(dev_pool *pool);
dev_result dev_pool_get(dev_pool *pool, int attribute, void *value);
dev_result dev_pool_set(dev_pool *pool, int attribute, const void *value);
dev_result dev_pool_access_set(dev_pool *pool, int device, int flags);
dev_result dev_pool_access_get(dev_pool *pool, int device, int *flags);
dev_result dev_pool_trim(dev_pool *pool, size_t keep);
/* pool NULL: the current one of the stream's device. Recorded into a graph while the stream is captured. */
dev_result dev_malloc_async(dev_call *call, uint64_t size, dev_pool *pool, dev_stream *stream,
                            uint64_t *address);
dev_result dev_free_async(dev_call *call, uint64_t address, dev_stream *stream);

/* Virtual memory management. The granularity is 2 MiB. */
enum { DEV_GRANULARITY = 2 << 20 };
dev_result dev_reserve(uint64_t size, uint64_t align, uint64_t *address);
dev_result dev_unreserve(uint64_t address, uint64_t size);
dev_result dev_physical_new(dev_gpu *device, uint64_t size, dev_physical **physical);
dev_result dev_physical_release(dev_physical *physical);
dev_result dev_physical_retain(uint64_t address, dev_physical **physical);
dev_gpu *dev_physical_device(const dev_physical *physical);
dev_result dev_map(dev_call *call, uint64_t address, uint64_t size, uint64_t offset,
                   dev_physical *physical);
dev_result dev_unmap(dev_call *call, uint64_t address, uint64_t size);
dev_result dev_access_set(uint64_t address, uint64_t size, int device, int flags);
dev_result dev_access_get(uint64_t address, int device, int *flags);

/* Arrays. Elements lie row by row in device memory; an array is an object of the capture. */
typedef struct dev_array_desc {
    size_t width, height, depth; /* in elements; 0 where the dimension is absent */
    unsigned channels;           /* 1, 2, 4 */
    int format;                  /* CUarray_format */
    unsigned flags;              /* as CUDA_ARRAY3D_* */
    unsigned levels;             /* of a mipmapped array, else 0 */
} dev_array_desc;

enum { DEV_ARRAY_LAYERED = 1, DEV_ARRAY_SURFACE = 2, DEV_ARRAY_CUBE = 4 }; /* flags */

unsigned dev_format_bytes(int format); /* of a channel; 0 where unknown */
dev_result dev_array_new(dev_call *call, const dev_array_desc *desc, dev_array **array);
dev_result dev_array_destroy(dev_call *call, dev_array *array);
/* An array made with desc.levels is a MIPMAP: it has levels, which are arrays and go with it. `mipmap` need not be one. */
dev_result dev_array_level(const void *mipmap, unsigned level, dev_array **array);
const dev_array_desc *dev_array_get(const dev_array *array);
uint64_t dev_array_address(const dev_array *array, size_t *pitch);

/* Texture and surface objects. */
typedef enum dev_resource_type { /* as CUresourcetype */
                                 DEV_RESOURCE_ARRAY,
                                 DEV_RESOURCE_MIPMAP,
                                 DEV_RESOURCE_LINEAR,
                                 DEV_RESOURCE_PITCH
} dev_resource_type;

typedef struct dev_resource {
    dev_resource_type type;
    dev_array *array; /* ARRAY, MIPMAP; not yet checked */
    uint64_t address; /* LINEAR, PITCH: */
    int format;
    unsigned channels;
    size_t bytes;                /* LINEAR */
    size_t width, height, pitch; /* PITCH, in elements, rows, bytes */
} dev_resource;

/* `sampling` without its image, which is made from the resource; NULL for a surface. `stored`: what the front end wants to
 * give back to questions, copied. INVALID_VALUE, INVALID_HANDLE, INVALID_CHANNEL. */
dev_result dev_texture_new(dev_call *call, const dev_resource *resource,
                           const emu_texture *sampling, const void *stored, size_t bytes,
                           uint64_t *handle);
dev_result dev_texture_destroy(uint64_t handle, bool surface);
/* What was stored with the object; NULL where there is none of this sort. */
const void *dev_texture_stored(uint64_t handle, bool surface);

/* ---- operations on streams ---- */

/* A stream argument as the application gave it. `per_thread`: what 0 means (the *_ptsz entry points and programs built
 * with a per-thread default stream). The values 1 and 2 are the two default streams. INVALID_HANDLE for the rest. */
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

/* Each checks its arguments at once, then executes, queues, or records into a graph where the stream is captured.
 * `blocking`: the call returns after the work (cudaMemcpy as against cudaMemcpyAsync). */
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

dev_result dev_event_new(dev_context *context, unsigned flags, dev_event **event);
dev_result dev_event_destroy(dev_event *event);
dev_result dev_event_query(dev_event *event);
dev_result dev_event_synchronize(dev_call *call, dev_event *event);
/* Milliseconds of host time between two recorded events. */
dev_result dev_event_elapsed(const dev_event *start, const dev_event *end, float *milliseconds);

/* ---- modules and kernels ---- */

/* `image`: fatbin, its wrapper, or PTX text. Takes the best PTX of it for the context's device. NO_BINARY_FOR_GPU where it has none, INVALID_PTX where it
 * does not parse (`log` then holds the text; may be NULL). The image must stay until the module is unloaded. */
dev_result dev_module_load(dev_context *context, const void *image, dev_module **module,
                           wl_error *log);
dev_result dev_module_unload(dev_module *module);
/* NOT_FOUND where there is none. A kernel that the emulator cannot run gives a function all the same: it fails when it
 * is launched, with a text that says why. */
dev_result dev_module_function(dev_module *module, const char *name, dev_function **function);
dev_result dev_module_global(dev_module *module, const char *name, uint64_t *address,
                             uint64_t *size);
unsigned dev_module_count(const dev_module *module);
dev_function *dev_module_at(dev_module *module, unsigned index);
dev_context *dev_module_context(const dev_module *module);

const char *dev_function_name(const dev_function *function);
dev_module *dev_function_module(const dev_function *function);
/* NULL (and `log` filled) where the emulator cannot run the kernel. */
const emu_kernel_info *dev_function_info(dev_function *function, wl_error *log);
dev_result dev_function_param(dev_function *function, size_t index, size_t *offset, size_t *size);

enum { /* the attributes that can be set, numbered as CUfunction_attribute; the others are read from the kernel */
       DEV_ATTRIBUTE_MAX = 16
};
dev_result dev_function_get(dev_function *function, int attribute, int *value);
dev_result dev_function_set(dev_function *function, int attribute, int value);
/* Blocks that fit on an SM at once. */
dev_result dev_occupancy(dev_function *function, int block, size_t shared, int *blocks);
dev_result dev_occupancy_shared(dev_function *function, int blocks, int block, size_t *shared);
dev_result dev_max_clusters(dev_function *function, const dev_launch *launch, int *clusters);

/* Stream capture and graphs: graph.h. */

#endif
