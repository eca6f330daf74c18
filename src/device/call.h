/* What every call of the device layer needs: results, handles, the beginning and end of a call,
 * threads, the process. device.h has the rules. */
#ifndef WL_DEVICE_CALL_H
#define WL_DEVICE_CALL_H

#include "base/error.h"
#include "base/log.h"
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

/* What the driver interface returns in place of a result that only the runtime has; others
 * unchanged. */
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

/* dev_begin's `flags`: what the call needs, checked in this order.
 * INIT: the interface is initialised, NOT_INITIALIZED otherwise (the runtime initialises it
 * itself). CURRENT: a current context, INVALID_CONTEXT without; a context lost to a fault gives its
 * error. PRIMARY: as CURRENT, but without one the primary context of the thread's device is made
 * current. QUIET: the call is not recorded. UNSTICKY: it works in a context lost to a fault
 * (destroying, resetting). */
enum { DEV_INIT = 1, DEV_CURRENT = 2, DEV_PRIMARY = 4, DEV_QUIET = 8, DEV_UNSTICKY = 16 };

typedef struct dev_call {
    const char *api;
    dev_context *context; /* the current one, set by dev_begin for CURRENT and PRIMARY */
    uint32_t flags;
    bool locked;
    bool launches_graph; /* what it submits are nodes */
    rec_call rec;        /* its `id` is 0 where the call is not recorded */
} dev_call;

/* First thing in every entry point, after nothing but its argument's declaration. Notes time and
 * call stack (unless QUIET), takes the lock, checks `flags`. On a result other than OK go straight
 * to dev_end. */
dev_result dev_begin(dev_call *call, const char *api, cap_call_kind kind, uint32_t flags);
/* Last thing: writes the CALL record, releases the lock, returns `result`. */
dev_result dev_end(dev_call *call, dev_result result);

/* A function of the interface that is not there: named once on stderr and in the capture. Needs no
 * lock. Returns NOT_SUPPORTED. */
dev_result dev_unsupported(const char *api);
/* Part of a function that is not there ("cudaMemcpy3D of layered arrays"); the same treatment,
 * within a call. */
dev_result dev_unsupported_part(const char *part);

/* The lock for those who are in no call. False where nothing works: in a child of fork whose parent
 * used CUDA. */
bool dev_lock(void);
void dev_unlock(void);

/* ---- the process ---- */

/* False in a child of fork whose parent used CUDA. */
bool dev_works(void);

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

#endif
