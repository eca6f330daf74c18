/* Calls: begun, numbered, written at once, held for a while or kept until the next record. */
#include "inject/python.h"
#include "inject/stack.h"
#include "record/cupy.h"
#include "record/ranges.h"
#include "record/record.h"

#include <stddef.h>
#include <string.h>

/* ---- holding ----
 *
 * A launch costs the application two records, an event of its own one, and what we do between the
 * two passes on the device's time line while it waits. As long as the application does nothing but
 * put work on streams, records gather in memory; the next call of another kind, and so any that
 * waits for the device, first writes them. A process that dies without one loses those of HOLD_NS
 * at most. */

enum { HOLD_NS = 50000000 };

static int64_t held_since; /* rec_since_start(); 0: nothing is held */

static void release_held(void)
{
    if (!__atomic_load_n(&held_since, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&rec_g.kept, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&rec_g.lock);
    if (rec_g.kept)
        rec_call_write_kept();
    if (held_since && rec_g.writer)
        rec_written(cap_hold(rec_g.writer, false));
    __atomic_store_n(&held_since, 0, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&rec_g.lock);
}

/* Before the records of a launch. `now`: rec_since_start(). */
static void hold_writer(int64_t now)
{
    if (held_since && now - held_since > HOLD_NS)
        rec_written(cap_hold(rec_g.writer, false));
    else if (held_since)
        return;
    cap_hold(rec_g.writer, true);
    __atomic_store_n(&held_since, now, __ATOMIC_RELAXED);
}

/* ---- begin ---- */

static uint32_t nthreads;
/* Aligned, since LeakSanitizer takes thread-local memory that begins 16 bytes into a page for a
 * block of another kind, and crashes on it. */
static __thread struct {
    uint32_t number, depth; /* depth: of calls within calls */
} thread __attribute__((aligned(64)));

uint32_t rec_thread(void)
{
    if (!thread.number)
        thread.number = __atomic_add_fetch(&nthreads, 1, __ATOMIC_RELAXED);
    return thread.number;
}

void rec_call_begin(rec_call *call, const char *api, cap_call_kind kind, rec_when when)
{
    memset(call, 0, offsetof(rec_call, pcs));
    call->active = true;
    call->held = when == REC_HELD;
    call->record.api = api;
    call->record.kind = kind;
    call->record.thread = rec_thread();
    call->record.start_ns = rec_since_start();
    if (when == REC_NOW)
        release_held();
}

void rec_call_begin_part(rec_call *part, const rec_call *call, cap_call_kind kind)
{
    memset(part, 0, offsetof(rec_call, pcs));
    part->held = call->held;
    part->record.api = call->record.api;
    part->record.kind = kind;
    part->record.thread = call->record.thread;
    part->record.device = call->record.device;
    part->record.context = call->record.context;
    part->record.flags = CAP_CALL_GRAPH_NODE | CAP_CALL_ASYNC;
    part->record.parent = call->id;
    part->record.stream = call->record.stream;
    part->record.start_ns = rec_since_start();
    part->record.stack = call->record.stack;
    part->record.ranges = call->record.ranges;
}

/* Kept out of line: its frame is this library's, which the stack leaves out. */
static __attribute__((noinline)) void walk(rec_call *call)
{
    call->record.stack.pcs = call->pcs;
    call->record.stack.count = inj_python_frames(call->pcs, inj_stack(call->pcs, CAP_MAX_STACK),
                                                 CAP_MAX_STACK);
}

void rec_call_stack(rec_call *call)
{
    if (!call->record.stack.pcs)
        walk(call);
}

uint64_t rec_ordinal(void)
{
    return ++rec_g.next_ordinal;
}

void rec_call_number(rec_call *call)
{
    if (call->id || !rec_g.writer)
        return;
    call->id = ++rec_g.next_call;
    call->record.ordinal = rec_ordinal();
}

void rec_call_shape(rec_call *call)
{
    call->record.nshapes = 1;
    call->record.shape = &call->shape;
}

void rec_call_again(rec_call *call)
{
    call->id = 0;
    call->written = false;
}

/* ---- writing ---- */

static void write_maps(void)
{
    cap_maps maps;
    if (!inj_maps_changed() || inj_maps_read(&maps) != WL_OK)
        return;
    REC_WRITE(maps, &maps);
    inj_maps_free(&maps);
}

static uint32_t places_written;

static void write_places(void)
{
    for (inj_place p; inj_python_place(places_written, &p); places_written = p.number) {
        const cap_place record = {
            .number = p.number, .line = p.line, .file = p.file, .function = p.function};
        REC_WRITE(place, &record);
    }
}

void rec_call_after_fork(void)
{
    places_written = 0;
    inj_python_after_fork();
    rec_ranges_after_fork();
}

/* As it is, with its end and result. */
static void write_call(rec_call *call)
{
    call->written = true;
    write_maps();
    write_places();
    if (call->held)
        hold_writer(call->record.end_ns);
    rec_call_number(call);
    call->record.id = call->id;
    if (call->record.kind == CAP_CALL_ALLOC)
        rec_cupy_look();
    if (call->record.result)
        call->record.flags |= CAP_CALL_FAILED;
    REC_WRITE(call, &call->record);
}

void rec_call_write(rec_call *call, int32_t result)
{
    if (call->written || !rec_g.writer)
        return;
    rec_call_stack(call);
    if (rec_g.kept)
        rec_call_write_kept();
    call->record.end_ns = rec_since_start();
    call->record.result = result;
    if (!call->record.parent)
        call->record.ranges = rec_ranges();
    write_call(call);
}

/* ---- the call that is kept ---- */

static rec_call kept;

void rec_call_write_kept(void)
{
    __atomic_store_n(&rec_g.kept, false, __ATOMIC_RELAXED);
    if (rec_g.writer)
        write_call(&kept);
}

static void keep_call_record(const rec_call *call, int32_t result)
{
    memcpy(&kept, call, offsetof(rec_call, pcs));
    memcpy(kept.pcs, call->pcs, call->record.stack.count * sizeof *kept.pcs);
    kept.held = true;
    kept.record.end_ns = rec_since_start();
    kept.record.result = result;
    kept.record.stack.pcs = kept.pcs;
    kept.record.ranges = rec_ranges();
    __atomic_store_n(&rec_g.kept, true, __ATOMIC_RELAXED);
}

/* ---- calls within calls ---- */

void rec_call_enter(rec_call *call, const char *api, cap_call_kind kind, rec_when when)
{
    bool active = thread.depth++ == 0 && rec_g.writer && !rec_g.forked;
    call->active = false;
    if (active)
        rec_call_begin(call, api, kind, when);
}

void rec_call_leave(rec_call *call, int32_t result)
{
    thread.depth--;
    if (!call->active || call->written)
        return;
    rec_call_stack(call);
    pthread_mutex_lock(&rec_g.lock);
    rec_call_write(call, result);
    pthread_mutex_unlock(&rec_g.lock);
}

void rec_call_leave_late(rec_call *call, int32_t result)
{
    thread.depth--;
    if (!call->active)
        return;
    pthread_mutex_lock(&rec_g.lock);
    if (rec_g.kept)
        rec_call_write_kept();
    keep_call_record(call, result);
    pthread_mutex_unlock(&rec_g.lock);
}
