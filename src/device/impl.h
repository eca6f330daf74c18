/* The inside of the device layer: its structures and what its files share. device.h has the
 * rules. */
#ifndef WL_DEVICE_IMPL_H
#define WL_DEVICE_IMPL_H

#include "base/log.h"
#include "base/vec.h"
#include "cuda/cubin.h"
#include "device/device.h"
#include "ir/module.h"
#include "program/options.h"
#include "record/record.h"
#include "replay/fills.h"
#include "replay/followed.h"
#include "replay/repeats.h"
#include "replay/sampling.h"
#include "replay/settings.h"
#include "sass/body.h"

#include <pthread.h>
#include <uthash.h>

enum { DEV_MAX_DEVICES = 8 };

typedef wl_vec(dev_node *) dev_nodes;
typedef struct dev_capturing dev_capturing; /* one cudaStreamBeginCapture, until its end */

/* Given by the application's side of every object that it holds by pointer: first member of
 * each. */
typedef struct dev_handle {
    dev_kind kind;
    void *self; /* key */
    UT_hash_handle hh;
} dev_handle;

struct dev_gpu {
    int ordinal;
    cuda_device description;
    emu_machine *machine;
    dev_context *primary;
    unsigned primary_flags;
    uint32_t primary_references;
    dev_pool *default_pool, *current_pool;
};

struct dev_context {
    dev_handle handle;
    dev_gpu *device;
    uint64_t id;
    unsigned flags;
    bool is_primary;
    dev_result error; /* it was lost to */
    int cache_config;
    size_t limits[16];
    uint32_t peers; /* bit per ordinal */
    dev_stream *legacy, *per_thread;
    wl_vec(char) printed; /* by kernels, not yet on stdout */
};

typedef enum dev_op_kind {
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
} dev_op_kind;

typedef struct dev_op_launch {
    dev_function *function;
    emu_dim grid, block, cluster;
    uint32_t shared;
    bool cooperative;
    void *params; /* laid out as the kernel wants them, owned */
    size_t bytes;
} dev_op_launch;

typedef struct dev_op_event {
    dev_event *event;
    uint64_t version; /* of the event's recordings: the one that a wait waits for */
    unsigned flags;
} dev_op_event;

typedef struct dev_op_value {
    uint64_t address, value;
    unsigned bytes, flags;
} dev_op_value;

typedef struct dev_op_alloc {
    uint64_t address, size;
    dev_pool *pool;
} dev_op_alloc;

/* A unit of work. Shared by graphs, their instances and streams; freed with the last reference. */
typedef struct dev_op {
    dev_op_kind kind;
    uint32_t references;
    dev_context *context;
    union {
        dev_copy copy;
        dev_set set;
        dev_op_launch launch;
        dev_host host;
        dev_op_event event;
        dev_op_value value;
        dev_op_alloc alloc;
    };
} dev_op;

/* What asked for a unit of work, and where and when. */
typedef struct dev_turn {
    dev_stream *stream;
    uint32_t call;
    bool node;        /* of a graph that was launched */
    uint64_t ordinal; /* of a launch: from when it was submitted */
    bool in_ranges;   /* and rec_ranges_asked() then */
} dev_turn;

/* A unit of work that waits for its turn or runs on a thread of its own. */
typedef struct dev_pending {
    struct dev_pending *next;
    dev_op *op;
    dev_turn turn;
    uint64_t ticket;
    bool running;
} dev_pending;

struct dev_stream {
    dev_handle handle;
    dev_context *context;
    uint64_t id;     /* as the application may ask for it: 0 legacy, then ascending */
    uint64_t number; /* in the capture */
    unsigned flags;
    int priority;
    bool is_legacy, is_per_thread;
    dev_capturing *capturing; /* the capture that it belongs to, or NULL */
    dev_nodes tail;           /* nodes that the next operation depends on */
    uint64_t attributes[DEV_STREAM_ATTRIBUTES][DEV_STREAM_ATTRIBUTE_BYTES / sizeof(uint64_t)];
};

struct dev_event {
    dev_handle handle;
    dev_context *context;
    unsigned flags;
    uint64_t number;              /* in the capture */
    uint64_t recorded, completed; /* versions: number of recordings asked for, and done */
    int64_t time_ns;
    dev_capturing *capturing; /* the capture that it was last recorded in, or NULL */
    bool lost;                /* that capture was invalid when it ended */
    dev_nodes nodes;          /* what a wait then depends on */
};

struct dev_array {
    dev_handle handle;
    dev_context *context;
    dev_array_desc desc;
    uint64_t address;
    size_t pitch;
    dev_array *parent;  /* of a level */
    dev_array **levels; /* of a mipmapped array */
    unsigned nlevels;
};

struct dev_pool {
    dev_handle handle;
    dev_gpu *device;
    bool is_default;
    uint32_t number; /* in the capture; 0: nothing was taken from it */
    cap_pool_state told;
    uint64_t max_size, threshold;
    uint64_t used, used_high, reserved, reserved_high;
    int reuse[4];
    int access[DEV_MAX_DEVICES];
};

struct dev_physical {
    dev_handle handle;
    dev_gpu *device;
    uint64_t size;
    uint32_t references; /* the application's */
    uint32_t mappings;
    void *saved; /* content while it is not mapped */
};

/* Metadata of one allocation, by its base address. */
typedef struct dev_block {
    uint64_t base, size;
    emu_alloc_kind kind;
    uint32_t object;
    unsigned flags;
    dev_context *context; /* NULL for pools and mappings: they outlive a context */
    dev_gpu *device;
    dev_pool *pool;
    dev_physical *physical;
    dev_array *array;
    dev_module *module;
    bool mapped; /* part of a reservation */
    int access;
    UT_hash_handle hh;
} dev_block;

typedef struct dev_cubin { /* of a module, found when it is asked for */
    bool tried;
    wl_status status; /* WL_OK: there is one; else `error` says why not */
    wl_error error;
    unsigned char *bytes; /* owned */
    size_t size;
    uint32_t sm;
    cuda_variables variables;
    uint32_t id; /* in the capture; 0: not yet there */
} dev_cubin;

typedef struct dev_constant { /* a variable, copied into a constant bank */
    uint64_t from, to, bytes;
} dev_constant;

typedef struct dev_lifted { /* a kernel's machine code, ready to run */
    wl_arena *arena;
    sass_body body;
    emu_machine *machine;
    emu_module *loaded;
    emu_kernel *kernel;
    uint32_t number; /* of its module in the capture */
    bool told;       /* why another launch's PTX ran */
    bool alone;      /* not of launches whose blocks form clusters */
    wl_vec(uint64_t) banks;
    uint64_t program_bank, program_bytes; /* one of them; 0: it is not read */
    wl_vec(dev_constant) constants;
} dev_lifted;

struct dev_function {
    dev_handle handle;
    dev_module *module;
    const char *name;   /* in the PTX module's arena */
    emu_kernel *kernel; /* decoded on first use */
    bool decoded;
    wl_error error;      /* why it cannot run */
    bool refused;        /* and that was said */
    dev_lifted *machine; /* its machine code; NULL: there is none that may run */
    dev_lifted *lifted;  /* the same in a launch that runs it; NULL: the PTX runs (lifted.h) */
    bool sought_lifted;
    int attributes[DEV_ATTRIBUTE_MAX];
    replay_proven proven; /* same.h */
    replay_fills fills;
    replay_path path;
    replay_shapes *shapes; /* that it was launched with */
};

struct dev_module {
    dev_handle handle;
    dev_context *context;
    const void *image;
    uint32_t id; /* in the capture */
    char *text;  /* of the PTX, owned */
    size_t length;
    ir_module *ptx;
    emu_module *loaded;
    dev_cubin cubin;
    wl_vec(dev_function *) functions;
};

/* What the process has, once. rec_g.lock guards it. */
typedef struct dev_state {
    replay_settings settings; /* for what is observed and repeated */
    pthread_cond_t changed;   /* pending work has finished */
    bool initialized, failed;
    int ndevices;
    dev_gpu devices[DEV_MAX_DEVICES];
    dev_handle *handles;
    dev_block *blocks;
    dev_pending *pending; /* in program order */
    uint64_t next_capture, next_stream;
} dev_state;

extern dev_state dev_g;

void dev_handle_add(dev_handle *handle, dev_kind kind, void *self);
void dev_handle_remove(dev_handle *handle);

/* ---- recording ---- */

/* Writes the CALL record unless that happened: before any record that refers to it. */
void dev_call_write(dev_call *call, dev_result result);

/* ---- memory ---- */

dev_block *dev_block_find(uint64_t address);
cap_object_kind dev_object_kind(emu_alloc_kind kind);
dev_block *dev_block_add(dev_call *call, dev_gpu *device, uint64_t base, uint64_t size,
                         emu_alloc_kind kind, uint32_t object, dev_context *context);
void dev_object_write(const dev_block *block, uint32_t call, cap_object_kind kind, uint32_t module,
                      const char *name);
/* Forgets the block and frees its memory; writes FREE with `call` and `how`. */
void dev_block_release(dev_block *block, uint32_t call, cap_freed_how how);
dev_result dev_status(wl_status status); /* of an emulator's memory function */
dev_result dev_alloc_block(dev_call *call, dev_gpu *device, uint64_t size, emu_alloc_kind kind,
                           dev_context *context, dev_block **block);
/* False where part of the range is not mapped in this process. */
bool dev_host_readable(const void *data, uint64_t bytes);
uint32_t dev_pool_number(dev_pool *pool); /* in the capture; NULL: 0 */
/* The capture is told what the pool holds after the call; NULL: nothing. */
void dev_pool_record(dev_pool *pool, uint32_t call);
void dev_array_forget(dev_array *array); /* its memory went with its context */
void dev_textures_forget(const dev_context *context);
void dev_release_context_memory(dev_context *context);

void dev_parts_start(void); /* the program may announce parts of allocations */

/* ---- work ---- */

dev_op *dev_op_new(dev_op_kind kind, dev_context *context);
dev_op *dev_op_ref(dev_op *op);
void dev_op_unref(dev_op *op);
/* Executes, or queues behind work that is not done yet. Takes over the reference. `wait`: returns
 * only when it is done. */
dev_result dev_submit(dev_call *call, dev_stream *stream, dev_op *op, bool wait);
void dev_wait_idle(dev_stream *stream, dev_context *context); /* NULL: all */
bool dev_is_idle(const dev_stream *stream);
void dev_flush_printed(dev_context *context);
void dev_lose(dev_context *context, dev_result error);

dev_result dev_copy_check(const dev_copy *copy);
/* It reads or writes memory of a graph that is not there now; likewise for a set. */
bool dev_copy_missing(const dev_copy *copy);
bool dev_set_missing(const dev_set *set);
void dev_copy_run(const dev_copy *copy);
void dev_copy_describe(const dev_copy *copy, rec_call *call);
bool dev_copy_pageable(const dev_copy *copy);
dev_result dev_set_check(const dev_set *set);
void dev_set_run(const dev_set *set);
void dev_set_describe(const dev_set *set, rec_call *call);
dev_result dev_launch_prepare(dev_call *call, dev_context *context, const dev_launch *launch,
                              dev_op **op);
void dev_launch_run(dev_op *op, const dev_turn *turn);
void dev_graph_memory_run(dev_op *op, uint32_t call); /* OP_ALLOC, OP_FREE */
/* Bytes of dynamic shared memory that a launch may ask for. */
int dev_function_dynamic_limit(const dev_function *function, const emu_kernel_info *info);
void dev_context_modules_unload(dev_context *context);

void dev_stream_write(dev_stream *stream); /* STREAM: gives it its number */

/* ---- capture of streams ---- */

dev_result dev_capture_record(dev_stream *stream, dev_event *event);
/* A wait for an event that belongs to a capture draws the stream into it. */
dev_result dev_capture_wait(dev_stream *stream, dev_event *event);
/* Adds the operation to the graph that the stream is captured into. Takes over the reference. */
dev_result dev_capture_add(dev_call *call, dev_stream *stream, dev_op *op);
dev_result dev_capture_alloc(dev_call *call, dev_stream *stream, uint64_t size, dev_pool *pool,
                             uint64_t *address);
dev_result dev_capture_free(dev_call *call, dev_stream *stream, uint64_t address);
/* A call that may not happen while a stream is captured (cudaFree, cudaDeviceSynchronize):
 * invalidates the captures that forbid it. OK where there is none. */
dev_result dev_capture_forbid(void);
/* As above, whatever the mode: a call that waits for all of the context's streams. */
dev_result dev_capture_forbid_any(const dev_context *context);
/* Work on the legacy stream waits for blocking streams: true (and the capture is spoilt) while one
 * of them is captured. */
bool dev_capture_forbids_legacy(dev_stream *legacy);
/* Spoils the stream's capture; returns `result`. */
dev_result dev_capture_invalidate(dev_stream *stream, dev_result result);
bool dev_capturing_lost(const dev_capturing *c); /* it is invalid */
void dev_capturing_lose(dev_capturing *c);       /* from now on */
void dev_capture_leave(dev_stream *stream);      /* the stream is destroyed */

#endif
