/* The inside of the device layer: its structures and what its files share. See core.h for the rules. */
#ifndef WL_COLLECT_IMPL_H
#define WL_COLLECT_IMPL_H

#include "base/log.h"
#include "base/vec.h"
#include "collect/core.h"
#include "collect/options.h"
#include "collect/process.h"
#include "ptx/ptx.h"

#include <pthread.h>
#include <uthash.h>

enum { COLLECT_MAX_DEVICES = 8 };

typedef wl_vec(collect_node *) collect_nodes;
typedef struct collect_capturing collect_capturing; /* one cudaStreamBeginCapture, until its end */

/* Given by the application's side of every object that it holds by pointer: first member of each. */
typedef struct collect_handle {
    collect_kind kind;
    void *self; /* key */
    UT_hash_handle hh;
} collect_handle;

struct collect_device {
    int ordinal;
    cuda_device description;
    emu_machine *machine;
    collect_context *primary;
    unsigned primary_flags;
    uint32_t primary_references;
    collect_pool *default_pool, *current_pool;
};

struct collect_context {
    collect_handle handle;
    collect_device *device;
    uint64_t id;
    unsigned flags;
    bool is_primary;
    collect_result error; /* it was lost to */
    int cache_config;
    size_t limits[16];
    uint32_t peers; /* bit per ordinal */
    collect_stream *legacy, *per_thread;
    wl_vec(char) printed; /* by kernels, not yet on stdout */
};

typedef enum collect_op_kind {
    OP_EMPTY,
    OP_COPY,
    OP_SET,
    OP_LAUNCH,
    OP_HOST,
    OP_RECORD,
    OP_WAIT,
    OP_ALLOC, /* of a graph */
    OP_FREE,
    OP_WRITE_VALUE,
    OP_WAIT_VALUE
} collect_op_kind;

typedef struct collect_op_launch {
    collect_function *function;
    emu_dim grid, block, cluster;
    uint32_t shared;
    bool cooperative;
    void *params; /* laid out as the kernel wants them, owned */
    size_t bytes;
} collect_op_launch;

typedef struct collect_op_event {
    collect_event *event;
    uint64_t version; /* of the event's recordings: the one that a wait waits for */
    unsigned flags;
} collect_op_event;

typedef struct collect_op_value {
    uint64_t address, value;
    unsigned bytes, flags;
} collect_op_value;

typedef struct collect_op_alloc {
    uint64_t address, size;
    collect_pool *pool;
} collect_op_alloc;

/* A unit of work. Shared by graphs, their instances and streams; freed with the last reference. */
typedef struct collect_op {
    collect_op_kind kind;
    uint32_t references;
    collect_context *context;
    union {
        collect_copy copy;
        collect_set set;
        collect_op_launch launch;
        collect_host host;
        collect_op_event event;
        collect_op_value value;
        collect_op_alloc alloc;
    };
} collect_op;

/* A unit of work that waits for its turn or runs on a thread of its own. */
typedef struct collect_pending {
    struct collect_pending *next;
    collect_op *op;
    collect_stream *stream;
    uint32_t call;
    uint64_t ticket;
    bool running;
} collect_pending;

struct collect_stream {
    collect_handle handle;
    collect_context *context;
    uint64_t id; /* in the capture: 0 legacy, then ascending */
    unsigned flags;
    int priority;
    bool is_legacy, is_per_thread;
    collect_capturing *capturing; /* the capture that it belongs to, or NULL */
    collect_nodes tail;           /* nodes that the next operation depends on */
    uint64_t attributes[8][8];    /* cudaStreamSetAttribute: kept and given back */
};

struct collect_event {
    collect_handle handle;
    collect_context *context;
    unsigned flags;
    uint64_t recorded, completed; /* versions: number of recordings asked for, and done */
    int64_t time_ns;
    collect_capturing *capturing; /* the capture that it was last recorded in, or NULL */
    bool lost;                    /* that capture was invalid when it ended */
    collect_nodes nodes;          /* what a wait then depends on */
};

struct collect_array {
    collect_handle handle;
    collect_context *context;
    collect_array_desc desc;
    uint64_t address;
    size_t pitch;
    collect_array *parent;  /* of a level */
    collect_array **levels; /* of a mipmapped array */
    unsigned nlevels;
};

struct collect_pool {
    collect_handle handle;
    collect_device *device;
    bool is_default;
    uint64_t max_size, threshold;
    uint64_t used, used_high, reserved, reserved_high;
    int reuse[4];
    int access[COLLECT_MAX_DEVICES];
};

struct collect_physical {
    collect_handle handle;
    collect_device *device;
    uint64_t size;
    uint32_t references; /* the application's */
    uint32_t mappings;
    void *saved; /* content while it is not mapped */
};

/* Metadata of one allocation, by its base address. */
typedef struct collect_block {
    uint64_t base, size;
    emu_alloc_kind kind;
    uint32_t object;
    unsigned flags;
    collect_context *context; /* NULL for pools and mappings: they outlive a context */
    collect_device *device;
    collect_pool *pool;
    collect_physical *physical;
    collect_array *array;
    collect_module *module;
    bool mapped; /* part of a reservation */
    int access;
    UT_hash_handle hh;
} collect_block;

struct collect_function {
    collect_handle handle;
    collect_module *module;
    const char *name;   /* in the PTX module's arena */
    emu_kernel *kernel; /* decoded on first use */
    bool decoded;
    wl_error error; /* why it cannot run */
    bool refused;   /* and that was said */
    int attributes[COLLECT_ATTRIBUTE_MAX];
    uint64_t launched;
    bool facts_tried;
    struct collect_facts *facts; /* what its proof says; same.h */
};

struct collect_module {
    collect_handle handle;
    collect_context *context;
    const void *image;
    uint32_t id; /* in the capture */
    char *text;  /* of the PTX, owned */
    size_t length;
    ptx_module *ptx;
    emu_module *loaded;
    wl_vec(collect_function *) functions;
};

/* What the process has, once. */
typedef struct collect_state {
    pthread_mutex_t lock;
    pthread_cond_t changed; /* pending work has finished */
    bool initialized, failed;
    bool forked; /* a child whose parent used CUDA: nothing works */
    int ndevices;
    collect_device devices[COLLECT_MAX_DEVICES];
    collect_handle *handles;
    collect_block *blocks;
    collect_pending *pending; /* in program order */
    cap_writer *writer;       /* NULL: nothing is recorded */
    bool observe;             /* launches are observed */
    int64_t start_ns;         /* monotonic */
    uint32_t next_call, next_object, next_module, next_launch, next_thread;
    uint64_t next_stream, next_context, next_capture;
    uint64_t matched; /* launches whose kernel passes the name filters */
    pid_t pid;
} collect_state;

extern collect_state collect_g;

int64_t collect_since_start(void);

void collect_handle_add(collect_handle *handle, collect_kind kind, void *self);
void collect_handle_remove(collect_handle *handle);

/* ---- recording ---- */

/* Writes the CALL record unless that happened: before any record that refers to it. */
void collect_call_write(collect_call *call, collect_result result);
/* A CALL without an entry point of its own: a node of a graph that runs. Returns its number. */
uint32_t collect_call_node(uint32_t parent, const char *api, cap_call_kind kind,
                           const cap_call *fields);
/* Every write to the capture goes through this: a failure is said once and ends recording. */
void collect_recorded(wl_status status);
#define COLLECT_WRITE(type, record)                                         \
    do {                                                                    \
        if (collect_g.writer)                                               \
            collect_recorded(cap_write_##type(collect_g.writer, (record))); \
    } while (0)
/* To the user only; with C++ names as people write them. */
void collect_say(wl_log_level level, const char *text);
void collect_message(wl_log_level level, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* In a child that cannot use CUDA: a capture that says so. */
void collect_mark_forked(void);
/* Something of ours failed: launches run on, unobserved. */
void collect_stop_observing(const char *format, ...) __attribute__((format(printf, 1, 2)));
void collect_skipped(uint32_t call, const char *kernel, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* ---- memory ---- */

collect_block *collect_block_find(uint64_t address);
collect_block *collect_block_add(collect_call *call, collect_device *device, uint64_t base,
                                 uint64_t size, emu_alloc_kind kind, uint32_t object,
                                 collect_context *context);
uint32_t collect_object_new(void);
void collect_object_write(const collect_block *block, uint32_t call, cap_object_kind kind,
                          uint32_t module, const char *name);
/* Forgets the block and frees its memory; writes FREE for `call`. */
void collect_block_release(collect_block *block, uint32_t call);
collect_result collect_status(wl_status status); /* of an emulator's memory function */
collect_result collect_alloc_block(collect_call *call, collect_device *device, uint64_t size,
                                   emu_alloc_kind kind, collect_context *context,
                                   collect_block **block);
/* True where `bytes` from `address` lie in live memory of the emulator. */
bool collect_range_valid(uint64_t address, uint64_t bytes);
/* False where part of the range is not mapped in this process. */
bool collect_host_readable(const void *data, uint64_t bytes);
collect_result collect_pool_alloc(collect_call *call, uint64_t size, collect_pool *pool,
                                  collect_block **out);
void collect_array_forget(collect_array *array); /* its memory went with its context */
void collect_textures_forget(const collect_context *context);
void collect_release_context_memory(collect_context *context);

/* ---- work ---- */

collect_op *collect_op_new(collect_op_kind kind, collect_context *context);
collect_op *collect_op_ref(collect_op *op);
void collect_op_unref(collect_op *op);
/* Executes, or queues behind work that is not done yet. Takes over the reference. `wait`: returns only
 * when it is done. */
collect_result collect_submit(collect_call *call, collect_stream *stream, collect_op *op,
                              bool wait);
/* Runs it now, on this thread, with the lock. */
void collect_op_run(collect_op *op, collect_stream *stream, uint32_t call);
void collect_wait_idle(collect_stream *stream, collect_context *context); /* NULL: all */
bool collect_is_idle(const collect_stream *stream);
void collect_flush_printed(collect_context *context);
void collect_lose(collect_context *context, collect_result error);

collect_result collect_copy_check(const collect_copy *copy);
/* It reads or writes memory of a graph that is not there now; likewise for a set. */
bool collect_copy_missing(const collect_copy *copy);
bool collect_set_missing(const collect_set *set);
void collect_copy_run(const collect_copy *copy);
void collect_copy_describe(const collect_copy *copy, cap_call *record);
bool collect_copy_pageable(const collect_copy *copy);
collect_result collect_set_check(const collect_set *set);
void collect_set_run(const collect_set *set);
void collect_set_describe(const collect_set *set, cap_call *record);
collect_result collect_launch_prepare(collect_call *call, collect_context *context,
                                      const collect_launch *launch, collect_op **op);
void collect_launch_run(collect_op *op, collect_stream *stream, uint32_t call);
void collect_graph_memory_run(collect_op *op, uint32_t call); /* OP_ALLOC, OP_FREE */
/* Bytes of dynamic shared memory that a launch may ask for. */
int collect_function_dynamic_limit(const collect_function *function, const emu_kernel_info *info);
void collect_context_modules_unload(collect_context *context);

/* ---- capture of streams ---- */

collect_result collect_capture_record(collect_stream *stream, collect_event *event);
/* A wait for an event that belongs to a capture draws the stream into it. */
collect_result collect_capture_wait(collect_stream *stream, collect_event *event);
/* Adds the operation to the graph that the stream is captured into. Takes over the reference. */
collect_result collect_capture_add(collect_call *call, collect_stream *stream, collect_op *op);
collect_result collect_capture_alloc(collect_call *call, collect_stream *stream, uint64_t size,
                                     collect_pool *pool, uint64_t *address);
collect_result collect_capture_free(collect_call *call, collect_stream *stream, uint64_t address);
/* A call that may not happen while a stream is captured (cudaFree, cudaDeviceSynchronize): invalidates the
 * captures that forbid it. OK where there is none. */
collect_result collect_capture_forbid(void);
/* As above, whatever the mode: a call that waits for all of the context's streams. */
collect_result collect_capture_forbid_any(const collect_context *context);
/* Work on the legacy stream waits for blocking streams: true (and the capture is spoilt) while one of them is captured. */
bool collect_capture_forbids_legacy(collect_stream *legacy);
/* Spoils the stream's capture; returns `result`. */
collect_result collect_capture_invalidate(collect_stream *stream, collect_result result);
bool collect_capturing_lost(const collect_capturing *c); /* it is invalid */
void collect_capturing_lose(collect_capturing *c);       /* from now on */
void collect_capture_leave(collect_stream *stream);      /* the stream is destroyed */

#endif
