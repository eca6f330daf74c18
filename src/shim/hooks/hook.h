/* The library that stands before NVIDIA's driver (SONAME libcuda.so.1). Every symbol that it
 * exports is one of front.S's jumps: to the driver's function, or to a hook of ours, which calls
 * the driver's and notes what happened. A hook never changes arguments or results.
 *
 * Locking: rec_g.lock guards what is noted. It is never held while a function of the application's
 * choice runs; the driver is asked only for what it knows (names, attributes, whether an event is
 * over) with the lock held.
 *
 * A hook:
 *     HOOK(cuMemFree_v2, (CUdeviceptr address), (address))
 *     {
 *         hook_call call;
 *         hook_begin(&call, "cuMemFree_v2", CAP_CALL_FREE);
 *         ...
 *         return hook_end(&call, real_cuMemFree_v2(address));
 *     }
 */
#ifndef WL_SHIM_HOOKS_HOOK_H
#define WL_SHIM_HOOKS_HOOK_H

#include "program/options.h"
#include "record/record.h"
#include "shim/patch/patch.h"
#include "shim/probe/probe.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

/* ---- table.c: hooks by symbol ---- */

typedef struct hook_entry {
    const char *symbol;
    void *code;
    void *real;       /* the driver's function of this name; NULL where it has none */
    void *proc;       /* what its cuGetProcAddress gives for the symbol */
    const char *base; /* the name that cuGetProcAddress knows it by; NULL: none */
    int64_t reserved;
} hook_entry;

#define HOOK(symbol, params, args)                                                               \
    static CUresult hook_##symbol params;                                                        \
    static hook_entry entry_hook_##symbol                                                        \
        __attribute__((section("wl_hooks"), used, aligned(16))) = {#symbol, hook_##symbol, NULL, \
                                                                   NULL,    NULL,          0};   \
    static inline CUresult real_##symbol params                                                  \
    {                                                                                            \
        return ((CUresult(*) params)entry_hook_##symbol.real)args;                               \
    }                                                                                            \
    static CUresult hook_##symbol params

/* ---- process.c: calls and the process ---- */

typedef struct hook_call {
    bool placed;       /* the record has its context and stream */
    uint64_t launched; /* probe_launched() */
    uint64_t stream;   /* as drv_stream gives it */
    rec_call rec;
} hook_call;

/* Notes time and call stack. A call from within another one of ours is not recorded. Every begin
 * has its end, on the same thread. */
void hook_begin(hook_call *call, const char *api, cap_call_kind kind);
/* The same for calls that put work on a stream and do not wait: their records may be held. */
void hook_begin_work(hook_call *call, const char *api, cap_call_kind kind);
/* A launch: the device may be waiting for it, so that only the time is noted. After the driver's
 * function, in the same hook and without the lock, hook_stack() notes the call stack. */
void hook_begin_launch(hook_call *call, const char *api);
void hook_stack(hook_call *call);
/* Writes the CALL record unless hook_write_call did; returns `result`. Takes the lock. */
CUresult hook_end(hook_call *call, CUresult result);
/* Like hook_end(), for a call that was begun with hook_begin_work() and after which the device may
 * be waiting for the next one, as after the event before a launch: its record is kept, and written
 * before the next one that anybody writes. */
CUresult hook_end_late(hook_call *call, CUresult result);
/* The call puts work on its stream and may return before that is done. */
void hook_async(hook_call *call);
/* With the lock held: writes CALL, so that records can refer to it. */
void hook_write_call(hook_call *call, CUresult result);

void hook_start(void); /* after cuInit: opens the capture, lists the devices */
/* Puts context and stream into the call's record, unless that happened; with the lock held. */
void hook_place(hook_call *call, drv_context current);

/* ---- object.c; with the lock held ---- */

/* Numbers what the call made, adds it to the live memory and writes CALL and OBJECT. */
void hook_object_add(hook_call *call, const drv_object *object);
/* The same for what has no address and so is not found by one. */
void hook_object_write(hook_call *call, drv_object *object);

/* ---- array.c; with the lock held ---- */

uint64_t hook_array_element(CUarray_format format); /* bytes of a channel */
uint32_t hook_array_object(const void *handle);     /* its number; 0: none */
void hook_arrays_gone(CUcontext context);

/* ---- module.c; with the lock held ---- */

void hook_modules_gone(CUcontext context); /* those that go with it, and what they recorded with */

/* ---- launch.c; with the lock held ---- */

/* The parameters as the kernel has them, from what the application gave; valid until the next
 * call. */
drv_param_bytes hook_pack_params(const drv_function *f, void **params, void **extra);
/* Writes NOTE for a launch that the driver accepted. Returns its number; 0 where the options leave
 * it out. */
uint32_t hook_note(hook_call *call, const drv_function *f, const drv_shape *shape,
                   drv_param_bytes params);
/* ---- order.c ---- */

typedef wl_vec(cap_edge) hook_edges; /* the caller's to free */

/* Brings the graph's nodes, in the order in which they were added, into one in which they run, and
 * adds its edges by places in that order, those that lead to one node together. False where the
 * driver does not tell them all. */
bool hook_sort_nodes(CUgraph source, CUgraphNode *nodes, size_t count, hook_edges *edges);

/* ---- parts.c ---- */

void hook_parts_start(void); /* the program may announce parts of allocations */

/* ---- times.c ---- */

typedef struct hook_time {  /* one launch's pair of events */
    struct hook_kind *kind; /* launches like it; NULL: none is timed */
    CUevent begin, end;
    CUcontext context;
    uint64_t stream;
    bool taken;
} hook_time;

/* Before anything else, once it is known what the program asks for. */
void hook_times_start(void);
/* Before and after the launch, without the lock. `stream` as drv_stream gives it, `records`: the
 * launch's probes are on. */
void hook_time_begin(hook_time *time, void *function, const drv_shape *shape, uint64_t stream,
                     bool records);
/* The same for a call that copies or sets; its name is a constant. */
void hook_time_call_begin(hook_time *time, const char *api, uint64_t stream);
void hook_time_end(hook_time *time, CUresult result);
/* With the lock held: the launch got this note, the call this number, or 0, and the pair belongs to
 * it. */
void hook_time_keep(const hook_time *time, uint32_t id);
/* Writes the times that are known by now: of one stream, or of the current context where `all`.
 * Takes the lock. */
void hook_times_resolve(uint64_t stream, bool all);
void hook_times_gone(CUcontext context); /* with the lock held */
void hook_times_finish(void);            /* at the end of the process */

/* ---- events.c; without the lock but for hook_events_unknown ---- */

typedef struct hook_event { /* what it stands after */
    CUcontext context;
    uint64_t stream, launched; /* launches of the stream before the `launched`-th */
    uint32_t begun;            /* counts its records */
} hook_event;

/* Around the driver's function that records an event; `launched` from before it. The call's record
 * gets the event. */
void hook_event_begin(hook_call *call, CUevent event);
void hook_event_end(CUevent event, uint64_t stream, uint64_t launched, CUresult result);
/* Before a wait for it: the call's record gets the event. */
void hook_event_wait(hook_call *call, CUevent event);
/* Before a wait for it, and once more after it: with the same `begun` it was for that. */
bool hook_event_find(CUevent event, hook_event *out);
/* Nothing is known of any event any more, until it is recorded again; those of the context are
 * gone. */
void hook_events_unknown(CUcontext context);

#endif
