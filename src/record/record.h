/* The recorder: what every collector notes alike. The emulator (src/device) and the library before
 * NVIDIA's driver (src/shim) link it, one copy each, and one copy records one process.
 *
 * It has the capture's writer and clock, the numbers of calls, objects, modules, launches and
 * threads, the choice of launches, what is said when recording fails, and the process's life: its
 * start, fork and end.
 *
 * Locking: rec_g.lock guards all that is noted, and whatever else a collector keeps behind it.
 * Every function here is called with it held, unless it says otherwise.
 *
 * Ownership: texts, stacks and arrays of records are the caller's and are read within the call.
 * Names of interfaces
 * (`api`) are constants.
 *
 * Errors: nothing here fails towards the application. A record that cannot be written alone is
 * lost, which is said once; a writer that is switched off (full disk) ends the recording, which is
 * said once, whatever was lost before. */
#ifndef WL_RECORD_RECORD_H
#define WL_RECORD_RECORD_H

#include "base/log.h"
#include "capture/capture.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* What the recorder asks of a collector. Functions may be NULL. */
typedef struct rec_collector {
    const char *name; /* as PROCESS has it: "emulate", "inline" */
    void (*in_child)(
        void); /* after a fork, in the child; rec_g.forked tells whether CUDA is lost to it */
    void (*last)(void); /* before END; the lock is held if it could be had */
} rec_collector;

typedef struct rec_state {
    pthread_mutex_t lock;
    cap_writer *writer; /* NULL: nothing is recorded */
    bool started;       /* rec_start() was called */
    bool forked;        /* a child whose parent used CUDA: CUDA is lost to it */
    bool kept;          /* rec_call_leave_late() left a call to be written */
    bool observe;       /* launches are observed; false where nothing is recorded */
    int64_t start_ns;   /* by rec_now() */
    uint64_t next_stream, next_context,
        next_event; /* numbers of the collector's that the capture shows */
    uint64_t next_ordinal;
    uint32_t next_call, next_object, next_module, next_launch, next_graph, next_pool;
    uint64_t matched; /* launches whose kernel passes the name filters */
} rec_state;

extern rec_state rec_g;

/* ---- the process (process.c) ---- */

int64_t rec_now(void);         /* nanoseconds, monotonic; needs no lock */
int64_t rec_since_start(void); /* needs no lock */
/* From 1 in the order in which threads first asked; needs no lock. */
uint32_t rec_thread(void);

/* Once, without the lock, before the program uses CUDA: starts the clock, and asks to be told of
 * forks. */
void rec_process_begins(const rec_collector *collector);
/* The program uses CUDA from now on: opens the capture. `wanted` false: another library in this
 * process records. */
void rec_start(bool wanted);
/* The process ends: writes END and closes the capture. Without the lock, which is not waited for: a
 * thread that still runs may hold it, and the process must end. Further calls do nothing. */
void rec_process_ends(void);
/* In a child that cannot use CUDA, without the lock: a capture that says so, once. */
void rec_mark_forked(void);

/* ---- writing (write.c) ---- */

/* Says that a write to the capture failed, once a kind. */
void rec_not_written(wl_status status);
/* What a write to the capture gave. */
static inline void rec_written(wl_status status)
{
    if (status != WL_OK)
        rec_not_written(status);
}
/* Writes the record, after the call that was kept for later. */
#define REC_WRITE(type, record)                                    \
    do {                                                           \
        if (rec_g.kept)                                            \
            rec_call_write_kept();                                 \
        if (rec_g.writer)                                          \
            rec_written(cap_write_##type(rec_g.writer, (record))); \
    } while (0)

/* To the user only, and with C++ names as people write them; needs no lock. */
void rec_say(wl_log_level level, const char *text);
/* To the user and in the report. */
void rec_message(wl_log_level level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* In the report only. */
void rec_remark(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A launch that is not observed, and why. */
void rec_skipped(uint32_t call, const char *kernel, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Something of ours failed: launches run on, unobserved. Said once. */
void rec_stop_observing(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- calls (call.c) ---- */

typedef enum rec_when {
    REC_NOW, /* what is held in memory is written before the call, and its own record with it */
    REC_HELD /* the call puts work on a stream and waits for nothing: its record may stay in memory
                for 50 ms */
} rec_when;

typedef struct rec_call {
    uint32_t id; /* 0: it has none yet */
    bool active; /* rec_call_enter(): it is recorded; else no other field is set */
    bool held, written;
    cap_call record; /* what the collector knows of it goes here: stream, objects, offsets, bytes */
    uint64_t pcs[CAP_MAX_STACK];
    cap_shape shape; /* memory for record.shape */
} rec_call;

/* Notes thread and time. Needs no lock; with REC_NOW it must not be held. */
void rec_call_begin(rec_call *call, const char *api, cap_call_kind kind, rec_when when);
/* Notes the call stack, unless that happened; on the same thread, in a function that the
 * application called. Needs no lock. */
void rec_call_stack(rec_call *call);
/* The next place in the order of calls, nodes of graphs and launches. */
uint64_t rec_ordinal(void);
/* Gives it the next number and place, unless it has one: calls without are numbered as they are
 * written. */
void rec_call_number(rec_call *call);
/* Its record gets the shape that call->shape has been set to. */
void rec_call_shape(rec_call *call);
/* Writes CALL, unless that happened: before any record that refers to it. */
void rec_call_write(rec_call *call, int32_t result);
/* The next rec_call_write() writes one more record of the call: it is one of several that one
 * function made. */
void rec_call_again(rec_call *call);
/* Begins what a call that is written makes the device do, a node of a graph: it has the call's
 * name, thread, context, stream and stack, whose memory must last. */
void rec_call_begin_part(rec_call *part, const rec_call *call, cap_call_kind kind);
void rec_call_write_kept(void);
void rec_call_after_fork(void); /* in the child */

/* The same for a collector that does not hold the lock during a call, and whose functions may come
 * to be called by one another: a call within another one of the thread is not recorded. Every
 * rec_call_enter() has its rec_call_leave(), on the same thread; all take the lock where they need
 * it. Leaving writes the call, unless that happened. */
void rec_call_enter(rec_call *call, const char *api, cap_call_kind kind, rec_when when);
void rec_call_leave(rec_call *call, int32_t result);
/* Leaves a call after which the device may be waiting for the next one, as after the event before a
 * launch: it is kept, and written before the next record that anybody writes. */
void rec_call_leave_late(rec_call *call, int32_t result);

/* ---- objects, streams and modules (write.c) ---- */

uint32_t rec_object_new(void); /* the next number */
void rec_object_unused(void);  /* the latest number is free again: the allocation failed */
/* Writes FREE, and those of its parts before it; call 0: the program did not ask for it. */
void rec_freed(uint32_t object, uint32_t call, cap_freed_how how);
/* Writes STREAM with a number of its own, which is returned; stream->id is set. */
uint64_t rec_stream(cap_stream *stream);
/* Writes REFUSAL, after the CALL. */
void rec_refused(uint32_t call, uint64_t free_bytes, uint64_t total);
/* Writes POOL with a number of its own, which is returned. */
uint32_t rec_pool(cap_pool_kind kind, uint32_t device);
/* Writes POOL_STATE where the pool, which has a number, does not hold what was `told` of it last. */
void rec_pool_state(cap_pool_state *told, const cap_pool_state *now);
/* Writes MODULE with the code's hash; returns its number. `beside`: of the PTX that a cubin came with,
 * else 0. */
uint32_t rec_module(cap_module_kind kind, const char *name, const char *code, uint64_t length,
                    uint32_t beside);

/* ---- launches (write.c) ---- */

/* Why the next launch of the kernel is not observed: as the options say, or since observation
 * ended. NULL: it is. `in_ranges`: what rec_ranges_asked() said where it was asked for. */
const char *rec_left_out(const char *kernel, bool in_ranges);
/* The same, and the launch counts. */
const char *rec_choose(const char *kernel, bool in_ranges);
/* The program called cudaProfilerStart or cuProfilerStart (else Stop): with --profile-from-start
 * off launches are observed from here on, or no longer. Needs no lock. */
void rec_profiler(bool on);

#endif
