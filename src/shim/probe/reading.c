/* What launches recorded: knowing that they are over, and reading it.
 *
 * That a launch is over is known from the application's own waits: for its stream or its context,
 * begun after the launch, or for an event after it. As a rule nothing of ours has to lie on the
 * stream for that. An event of ours is put there where the stream goes, where memory is short, and
 * at the end. */
#include "shim/probe/pages_impl.h"
#include "shim/probe/recording_impl.h"
#include "shim/probe/same.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

static probe_recording *pending; /* the earliest first */
static uint64_t launched;        /* so far; read without the lock */
static uint32_t waiting;         /* pending ones; read without the lock as a hint */
static uint32_t uncovered;       /* of those: no event is after them */
static bool reading;
static uint32_t unread; /* launches whose recording the driver did not give */

uint64_t probe_launched(void)
{
    return __atomic_load_n(&launched, __ATOMIC_ACQUIRE);
}

static void add_to(uint32_t *hint, int32_t n)
{
    __atomic_add_fetch(hint, (uint32_t)n, __ATOMIC_RELAXED);
}

/* ---- events after launches ---- */

static bool is_on(const probe_recording *r, CUcontext context, uint64_t stream)
{
    return r->context == context && r->stream == stream;
}

static void cover(CUcontext context, uint64_t stream)
{
    probe_recording *r;
    DL_FOREACH (pending, r) {
        if (is_on(r, context, stream) && !r->covered) {
            r->covered = true;
            add_to(&uncovered, -1);
        }
    }
}

/* With the lock held: the latest launch of the stream gets the event, which says of all of them
 * that they are over. */
static void mark_latest_launch(CUcontext context, uint64_t stream)
{
    probe_recording *r, *last = NULL;
    DL_FOREACH (pending, r) {
        if (is_on(r, context, stream) && !r->covered)
            last = r;
    }
    if (!last || drv_in_capture(stream) ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), last->done,
               drv_stream_handle(stream)) != CUDA_SUCCESS)
        return;
    last->marked = true;
    cover(context, stream);
}

void probe_mark(uint64_t stream)
{
    if (!__atomic_load_n(&uncovered, __ATOMIC_RELAXED) || rec_g.forked)
        return;
    pthread_mutex_lock(&rec_g.lock);
    CUcontext context = drv_current().handle;
    if (context)
        mark_latest_launch(context, stream);
    pthread_mutex_unlock(&rec_g.lock);
}

void probe_recording_launched(probe_recording *r, uint32_t note, uint64_t stream)
{
    r->note = note;
    r->stream = stream;
    r->number = launched + 1;
    r->marked = r->covered = r->over = r->failed = false;
    probe_list_append(&pending, r);
    add_to(&waiting, 1);
    add_to(&uncovered, 1);
    __atomic_store_n(&launched, r->number, __ATOMIC_RELEASE);
    if (stream >> 48) /* a thread's own stream: no other thread could put an event there */
        mark_latest_launch(r->context, stream);
}

/* ---- what is over ---- */

static void earlier_are_over(const probe_recording *last, bool failed)
{
    probe_recording *r;
    DL_FOREACH (pending, r) {
        if (is_on(r, last->context, last->stream) && r->number <= last->number) {
            r->over = true;
            r->failed |= failed;
        }
    }
}

/* A failure that is not "not yet" ends the wait, too: nothing will come. */
static void ask_whether_over(const probe_recording *r)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), r->done);
    if (result != CUDA_ERROR_NOT_READY)
        earlier_are_over(r, result != CUDA_SUCCESS);
}

static bool is_awaited(const probe_recording *r, const probe_wait *wait)
{
    return r->number <= wait->launched &&
           (wait->over == PROBE_OVER_CONTEXT ||
            (wait->over == PROBE_OVER_STREAM && r->stream == wait->stream));
}

static void find_over(CUcontext context, const probe_wait *wait)
{
    probe_recording *r;
    DL_FOREACH (pending, r) {
        if (r->context != context)
            continue;
        r->over |= is_awaited(r, wait);
        if (!r->over && r->marked)
            ask_whether_over(r);
    }
}

/* ---- reading ---- */

static bool read_recorded_bytes(const probe_recording *r, uint64_t at, void *out, uint64_t bytes)
{
    CUstream stream = probe_own_stream(r->context);
    return stream && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyDtoHAsync_v2,
                            (void *, CUdeviceptr, size_t, CUstream), out, r->address + at, bytes,
                            stream) == CUDA_SUCCESS;
}

static bool wait_for_bytes(const probe_recording *r)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream),
                  probe_own_stream(r->context)) == CUDA_SUCCESS;
}

/* Room for the next launch of the kernel, where this one had too little; tables for all objects,
 * where it left those that its pointers lead to. */
static void learn_from_head(const probe_recording *r, const rewrite_state *head)
{
    if (head->room < 0)
        r->kernel->rows = head->rows + (uint32_t)-head->room;
    if (head->missed && !r->setup.nleft_out)
        r->kernel->everywhere = true;
}

enum {
    WORTH = 1 << 20,       /* bytes that are worth looking for empty pages in */
    NOWHERE = 4096,        /* where states lie in captures, so that what launches left compares */
    MOST_OF_RUN = 1 << 20, /* bytes, so that a large number makes few others large */
    GAP = 16,              /* pages: a shorter gap is not worth a copy of its own */
    MOST_OF_TABLES = CAP_MAX_PAYLOAD / 2 /* bytes in one record */
};

/* Runs of pages that are used, and the gaps between them that are too short, not much longer than
 * MOST_OF_RUN. */
static uint64_t join_used_pages(const uint8_t *used, uint64_t pages, uint64_t bytes,
                                rewrite_run *runs)
{
    uint64_t n = 0, end = 0;
    for (uint64_t i = 0; i < pages; i++) {
        if (!used[i])
            continue;
        if (!n || i > end + GAP || i * REWRITE_PAGE - runs[n - 1].at >= MOST_OF_RUN)
            runs[n++].at = i * REWRITE_PAGE;
        end = i + 1;
        uint64_t to = end * REWRITE_PAGE < bytes ? end * REWRITE_PAGE : bytes;
        runs[n - 1].bytes = to - runs[n - 1].at;
    }
    return n;
}

/* Of `bytes` from `from` on. The first page is used always, and the last, which may be part of
 * one. */
static uint64_t find_used_runs(const probe_recording *r, uint64_t from, uint64_t bytes,
                               rewrite_run *runs)
{
    uint64_t pages = (bytes + REWRITE_PAGE - 1) / REWRITE_PAGE, n = 0;
    uint8_t *used = malloc(pages);
    if (!used)
        return 0;
    if (bytes < WORTH ||
        !probe_pages_used(r->context, probe_own_stream(r->context), r->address + from,
                          (uint32_t)(bytes / REWRITE_PAGE), used))
        memset(used, 1, pages);
    used[0] = used[pages - 1] = 1;
    n = join_used_pages(used, pages, bytes, runs);
    for (uint64_t i = 0; i < n; i++)
        runs[i].at += from;
    free(used);
    return n;
}

/* A part of a state, packed as rewrite/layout.h says. */
typedef struct packed {
    rewrite_run *runs;
    uint64_t nruns, head, length;
    char *data, *own; /* own: on the heap, where staging memory does not suffice */
} packed;

static void packed_end(packed *p)
{
    free(p->runs);
    free(p->own);
}

static uint64_t most_runs(uint64_t bytes)
{
    return bytes / REWRITE_PAGE / (GAP + 1) + bytes / MOST_OF_RUN + 4;
}

/* The used pages of `bytes` from `from` on, and one more run after them; all but their content.
 * `size`: of the whole state. False without memory. */
static bool packed_begin(packed *p, const probe_recording *r, uint64_t from, uint64_t bytes,
                         rewrite_run more, uint64_t size)
{
    *p = (packed){.runs = calloc(most_runs(bytes), sizeof *p->runs)};
    p->nruns = p->runs ? find_used_runs(r, from, bytes, p->runs) : 0;
    if (!p->nruns)
        return false;
    if (more.bytes)
        p->runs[p->nruns++] = more;
    p->length = p->head = rewrite_pack_head(p->runs, p->nruns, size, NULL);
    for (uint64_t i = 0; i < p->nruns; i++)
        p->length += p->runs[i].bytes;
    p->data = probe_staging(r->context, p->length);
    if (!p->data)
        p->data = p->own = malloc(p->length);
    if (p->data)
        rewrite_pack_head(p->runs, p->nruns, size, p->data);
    return p->data != NULL;
}

/* The first `nruns` runs. */
static bool read_runs(const probe_recording *r, const packed *p, uint64_t nruns)
{
    char *at = p->data + p->head;
    for (uint64_t i = 0; i < nruns; at += p->runs[i++].bytes)
        if (!read_recorded_bytes(r, p->runs[i].at, at, p->runs[i].bytes))
            return false;
    return true;
}

/* Of each region of the trace, which has `all` rows, the first ones. */
static bool read_rows(const probe_recording *r, uint32_t all, uint32_t rows, void *out)
{
    CUDA_MEMCPY2D regions = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                             .srcDevice = r->address + r->layout.pool_at,
                             .srcPitch = (size_t)all * REWRITE_ROW,
                             .dstMemoryType = CU_MEMORYTYPE_HOST,
                             .dstHost = out,
                             .dstPitch = (size_t)rows * REWRITE_ROW,
                             .WidthInBytes = (size_t)rows * REWRITE_ROW,
                             .Height = r->layout.nregions};
    return !rows || !regions.Height ||
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *, CUstream),
                  &regions, probe_own_stream(r->context)) == CUDA_SUCCESS;
}

static void write_probe(const probe_recording *r, const char *data, uint64_t bytes)
{
    size_t count = r->objects.count;
    cap_probed *objects = calloc(count + 1, sizeof *objects);
    if (!objects)
        return;
    for (size_t i = 0; i < count; i++)
        objects[i] = (cap_probed){r->numbers.data[i], r->objects.data[i].base,
                                  r->objects.data[i].bytes};
    cap_probe record = {.note = r->note,
                        .probes = probe_asked(),
                        .everything = probe_everything(),
                        .nblocks = r->setup.ntraced,
                        .blocks = (uint64_t *)r->blocks,
                        .rows = r->setup.rows,
                        .shared_bytes = r->setup.shared_bytes,
                        .count = (uint32_t)count,
                        .objects = objects,
                        .data = data,
                        .length = bytes};
    REC_WRITE(probe, &record);
    free(objects);
}

/* Where the tables of elements start, or would. */
static uint64_t fixed_bytes(const probe_recording *r)
{
    return r->layout.tables_at ? r->layout.tables_at : r->layout.pool_at;
}

/* All but the tables, and rows of the trace that nobody wrote to. `head`: the state's begin, with
 * as many rows as are read. */
static bool read_probe(const probe_recording *r, const rewrite_state *head, uint32_t all)
{
    uint64_t pool = r->layout.pool_at;
    rewrite_run trace = {pool, (uint64_t)r->layout.nregions * head->rows * REWRITE_ROW};
    packed p;
    bool read = packed_begin(&p, r, 0, fixed_bytes(r), trace, pool + trace.bytes) &&
                read_runs(r, &p, p.nruns - (trace.bytes != 0)) &&
                read_rows(r, all, head->rows, p.data + p.length - trace.bytes) && wait_for_bytes(r);
    if (read) {
        memcpy(p.data + p.head, head, sizeof *head);
        rewrite_move(&r->layout, r->address, NOWHERE, p.data, p.length);
        write_probe(r, p.data, p.length);
    }
    packed_end(&p);
    return read;
}

/* Where what is worth a copy ends: after the tables, or before marks that their bitmaps say all
 * about now. */
static uint64_t end_of_tables(const probe_recording *r)
{
    const rewrite_layout *l = &r->layout;
    bool folded = l->nwords && l->nwords <= INT32_MAX &&
                  probe_pages_fold(r->context, probe_own_stream(r->context),
                                   r->address + l->bits_at, r->address + l->marks_at,
                                   (uint32_t)l->nwords);
    return folded ? l->marks_at : l->pool_at;
}

/* In parts that a record has room for; what an earlier launch has as well is not written again. */
static void write_tables(const probe_recording *r, const packed *p)
{
    XXH128_hash_t hash = XXH3_128bits(p->data, p->length);
    cap_same_tables same = {r->note, probe_tables_find(hash)};
    uint64_t parts = (p->length + MOST_OF_TABLES - 1) / MOST_OF_TABLES;
    if (same.same_as) {
        REC_WRITE(same_tables, &same);
        return;
    }
    uint64_t written = cap_written(rec_g.writer);
    for (uint64_t at = 0; at < p->length; at += MOST_OF_TABLES) {
        uint64_t left = p->length - at;
        cap_tables record = {.note = r->note,
                             .data = p->data + at,
                             .length = left < MOST_OF_TABLES ? left : MOST_OF_TABLES};
        REC_WRITE(tables, &record);
    }
    if (cap_written(rec_g.writer) - written == parts)
        probe_tables_keep(hash, r->note);
}

static void read_tables(const probe_recording *r)
{
    uint64_t from = fixed_bytes(r), pool = r->layout.pool_at;
    packed p = {0};
    if (from < pool &&
        packed_begin(&p, r, from, end_of_tables(r) - from, (rewrite_run){0, 0}, pool) &&
        read_runs(r, &p, p.nruns) && wait_for_bytes(r)) {
        p.length = rewrite_narrow(p.data, p.length);
        write_tables(r, &p);
    }
    packed_end(&p);
}

/* False where the device failed, or the driver. */
static bool read_recording(const probe_recording *r)
{
    rewrite_state head;
    if (r->failed || !read_recorded_bytes(r, 0, &head, sizeof head) || !wait_for_bytes(r))
        return false;
    learn_from_head(r, &head);
    uint32_t rows = head.rows;
    head.rows = rewrite_rows_used(&head);
    if (!r->note)
        return true;
    if (r->layout.log_rows &&
        !probe_log_count(r->context, probe_own_stream(r->context), r->address, &r->layout))
        return false;
    if (!read_probe(r, &head, rows))
        return false;
    read_tables(r);
    return true;
}

static void remove_pending(probe_recording *r)
{
    probe_list_take(&pending, r);
    add_to(&waiting, -1);
    add_to(&uncovered, r->covered ? 0 : -1);
}

/* With the context current. False where nothing was over. */
static bool read_over(CUcontext context, const probe_wait *wait)
{
    CUstreamCaptureMode mode;
    probe_recording *over = NULL, *r, *next;
    if (reading || !pending)
        return false;
    bool relaxed = probe_relax(&mode);
    reading = true;
    find_over(context, wait);
    DL_FOREACH_SAFE(pending, r, next)
    {
        if (r->over) {
            remove_pending(r);
            probe_list_append(&over, r);
        }
    }
    bool any = over != NULL;
    DL_FOREACH_SAFE(over, r, next)
    {
        probe_list_take(&over, r);
        unread += rec_g.writer && r->kernel && !read_recording(r);
        probe_recording_renew(r);
    }
    if (any)
        probe_recordings_settle(context);
    reading = false;
    probe_restore(relaxed, mode);
    return any;
}

static const probe_wait nothing_told = {.over = PROBE_OVER_NOTHING};

void probe_recordings_read(CUcontext context, uint64_t stream)
{
    if (!reading)
        mark_latest_launch(context, stream); /* for later */
    read_over(context, &nothing_told);
}

void probe_resolve(const probe_wait *wait)
{
    if (!__atomic_load_n(&waiting, __ATOMIC_RELAXED) || rec_g.forked)
        return;
    pthread_mutex_lock(&rec_g.lock);
    CUcontext context = drv_current().handle;
    if (context && (!wait->context || wait->context == context))
        read_over(context, wait);
    pthread_mutex_unlock(&rec_g.lock);
}

/* ---- ends ---- */

static bool of_context(const probe_recording *r, const void *context)
{
    return r->context == context;
}

static bool of_module(const probe_recording *r, const void *probed)
{
    return r->kernel && r->kernel->owner == probed;
}

typedef bool (*selector)(const probe_recording *r, const void *what);

static bool is_any_pending(selector which, const void *what)
{
    probe_recording *r;
    DL_FOREACH (pending, r) {
        if (which(r, what))
            return true;
    }
    return false;
}

/* The last chance to read them, with the context current: waits a little for those that are not
 * over. */
static void read_last(CUcontext context, selector which, const void *what)
{
    enum { MOST_NS = 50000000 };
    int64_t end = rec_now() + MOST_NS;
    probe_recording *r;
    DL_FOREACH (pending, r) {
        if (which(r, what) && !r->covered)
            mark_latest_launch(context, r->stream);
    }
    for (read_over(context, &nothing_told); is_any_pending(which, what) && rec_now() < end;) {
        sched_yield();
        read_over(context, &nothing_told);
    }
}

/* `keep`: the memory is used again when the launch is over. */
static void drop_pending(selector which, const void *what, bool keep)
{
    uint32_t dropped = 0;
    probe_recording *r, *next;
    DL_FOREACH_SAFE(pending, r, next)
    {
        if (!which(r, what))
            continue;
        dropped += r->kernel != NULL;
        r->kernel = NULL;
        if (!keep) {
            remove_pending(r);
            probe_recording_free(r, false);
        }
    }
    if (dropped)
        rec_message(
            WL_LOG_INFO,
            "What %u launches recorded is lost: they had not ended when the program unloaded "
            "their module or destroyed their context.",
            dropped);
}

void probe_context_gone(CUcontext context)
{
    drop_pending(of_context, context, false);
    probe_recordings_gone(context);
    probe_pages_gone(context);
    probe_logs_gone(context);
    probe_staging_gone(context);
}

void probe_recordings_last(const probe_module *probed)
{
    CUstreamCaptureMode mode;
    CUcontext context = drv_current().handle;
    bool relaxed = probe_relax(&mode);
    if (context && is_any_pending(of_module, probed))
        read_last(context, of_module, probed);
    probe_restore(relaxed, mode);
    drop_pending(of_module, probed, true);
    probe_recordings_forget(probed);
}

void probe_context_ends(void)
{
    if (!__atomic_load_n(&waiting, __ATOMIC_RELAXED) || rec_g.forked)
        return;
    pthread_mutex_lock(&rec_g.lock);
    CUcontext context = drv_current().handle;
    if (context)
        read_last(context, of_context, context);
    pthread_mutex_unlock(&rec_g.lock);
}

void probe_finish(void)
{
    while (pending) {
        CUcontext previous, context = pending->context;
        bool pushed = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext), context) ==
                      CUDA_SUCCESS;
        if (pushed)
            read_last(context, of_context, context);
        drop_pending(of_context, context, false);
        if (pushed)
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
    }
    probe_tell_missing();
    if (unread)
        rec_message(WL_LOG_INFO,
                    "What %u launches recorded is lost: it could not be read from the device.",
                    unread);
    probe_own_finish();
}
