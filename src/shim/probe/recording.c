#include "shim/probe/pages_impl.h"
#include "shim/probe/recording_impl.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

enum { MIB = 1 << 20, LEAST_MEMORY = 1 << 30, PART_OF_DEVICE = 32 };

uint64_t probe_most_memory(void)
{
    uint64_t given = prog_options_get()->device_memory, part = drv_least_memory() / PART_OF_DEVICE;
    if (given != UINT64_MAX)
        return given * MIB;
    return part > LEAST_MEMORY ? part : LEAST_MEMORY;
}

typedef struct own_stream {
    CUcontext context;
    CUstream stream;
    UT_hash_handle hh;
} own_stream;

static probe_recording *idle, *ready; /* the earliest first */
static uint64_t taken;                /* bytes of all recordings */
static bool full; /* the latest that was asked for would have been more than the options allow */
static own_stream *own_streams, *latest_own; /* latest: that was asked for; NULL: none */

/* ---- lists ---- */

/* NOLINTBEGIN(clang-analyzer-core.NullDereference): in a list that is not empty all neighbours are
 * there */
void probe_list_append(probe_recording **list, probe_recording *r)
{
    DL_APPEND(*list, r);
}

void probe_list_take(probe_recording **list, probe_recording *r)
{
    DL_DELETE(*list, r);
}
/* NOLINTEND(clang-analyzer-core.NullDereference) */

/* ---- streams ---- */

bool probe_relax(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode,
                  (CUstreamCaptureMode *), mode) == CUDA_SUCCESS;
}

void probe_restore(bool relaxed, CUstreamCaptureMode mode)
{
    if (relaxed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *),
               &mode);
}

CUstream probe_own_stream(CUcontext context)
{
    own_stream *o = latest_own;
    if (o && o->context == context)
        return o->stream;
    HASH_FIND_PTR(own_streams, &context, o);
    if (!o && (o = calloc(1, sizeof *o))) {
        o->context = context;
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamCreate, (CUstream *, unsigned), &o->stream,
               CU_STREAM_NON_BLOCKING);
        HASH_ADD_PTR(own_streams, context, o);
    }
    latest_own = o;
    return o ? o->stream : NULL;
}

/* ---- memory ---- */

void probe_recording_free(probe_recording *r, bool in_driver)
{
    if (in_driver) {
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemFree_v2, (CUdeviceptr), r->address);
        if (r->prepared)
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), r->prepared);
        if (r->done)
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), r->done);
    }
    taken -= r->bytes;
    wl_vec_free(&r->objects);
    wl_vec_free(&r->numbers);
    wl_vec_free(&r->left_out);
    free(r);
}

static void put_idle(probe_recording *r)
{
    r->kernel = NULL;
    r->zeroed = 0;
    probe_list_append(&idle, r);
}

static void put_ready(probe_recording *r)
{
    r->sibling = r->kernel->ready;
    r->kernel->ready = r;
    r->kernel->nready++;
    probe_list_append(&ready, r);
}

static void take_ready(probe_recording *r)
{
    probe_recording **at = &r->kernel->ready;
    while (*at != r)
        at = &(*at)->sibling;
    *at = r->sibling;
    r->kernel->nready--;
    probe_list_take(&ready, r);
}

/* Gives memory back that other launches could use, but none of this size: idle first, then what was
 * prepared. */
static void trim_recordings(CUcontext context, uint64_t needed, uint64_t limit)
{
    probe_recording *r, *next;
    DL_FOREACH_SAFE(idle, r, next)
    {
        if (taken + needed > limit && r->context == context) {
            probe_list_take(&idle, r);
            probe_recording_free(r, true);
        }
    }
    DL_FOREACH_SAFE(ready, r, next)
    {
        if (taken + needed > limit && r->context == context) {
            take_ready(r);
            probe_recording_free(r, true);
        }
    }
}

static bool create_event(CUevent *event)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventCreate, (CUevent *, unsigned), event,
                  CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
}

static probe_recording *allocate_recording(CUcontext context, uint64_t bytes)
{
    uint64_t limit = probe_most_memory();
    probe_recording *r;
    trim_recordings(context, bytes, limit);
    full = taken + bytes > limit;
    if (full || !(r = calloc(1, sizeof *r)))
        return NULL;
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemAlloc_v2, (CUdeviceptr *, size_t), &r->address,
               bytes) != CUDA_SUCCESS) {
        free(r);
        return NULL;
    }
    r->context = context;
    r->bytes = bytes;
    taken += bytes;
    if (create_event(&r->prepared) && create_event(&r->done))
        return r;
    probe_recording_free(r, true);
    return NULL;
}

static probe_recording *find_memory(CUcontext context, uint64_t bytes)
{
    probe_recording *r;
    DL_FOREACH (idle, r) {
        if (r->context == context && r->bytes >= bytes && r->bytes / 2 <= bytes) {
            probe_list_take(&idle, r);
            return r;
        }
    }
    return allocate_recording(context, bytes);
}

static probe_recording *get_memory(CUcontext context, uint64_t bytes, uint64_t stream)
{
    probe_recording *r = find_memory(context, bytes);
    if (!r) { /* what is over makes room */
        probe_recordings_read(context, stream);
        r = find_memory(context, bytes);
    }
    return r;
}

/* ---- what is to be recorded ---- */

static bool knows_objects(const rewrite_kernel *k)
{
    return rewrite_has_probe(k, REWRITE_OBJECTS) || rewrite_has_probe(k, REWRITE_TOUCH) ||
           rewrite_has_probe(k, REWRITE_FREQUENCY);
}

static bool add_recorded_object(probe_recording *r, const drv_object *o)
{
    return wl_push(&r->objects, ((rewrite_object){o->base, o->bytes})) &&
           wl_push(&r->numbers, o->number);
}

/* Memory that kernels reach, without constants. */
static void list_objects(probe_recording *r)
{
    size_t count;
    const drv_object *live = drv_objects(&count);
    for (size_t i = 0; i < count; i++)
        if (live[i].kind != CAP_OBJECT_CONST && !add_recorded_object(r, &live[i]))
            return;
}

static void leave_out_largest(probe_recording *r)
{
    size_t largest = 0, n = r->objects.count;
    for (size_t i = 1; i < n; i++)
        if (r->objects.data[i].bytes > r->objects.data[largest].bytes)
            largest = i;
    wl_push(&r->left_out, r->objects.data[largest]);
    for (size_t i = largest + 1; i < n; i++) {
        r->objects.data[i - 1] = r->objects.data[i];
        r->numbers.data[i - 1] = r->numbers.data[i];
    }
    r->objects.count--;
    r->numbers.count--;
}

static void lay_out_recording(probe_recording *r)
{
    r->setup.pointers = r->pointers;
    r->setup.traced = r->blocks;
    r->setup.objects = r->objects.data;
    r->setup.nobjects = (uint32_t)r->objects.count;
    r->setup.left_out = r->left_out.data;
    r->setup.nleft_out = (uint32_t)r->left_out.count;
    rewrite_lay_out(r->kernel->kernel, &r->setup, &r->layout);
}

/* What is in use, or ready, without `own`. */
static uint64_t bytes_in_use(const probe_recording *own)
{
    const probe_recording *unused;
    uint64_t used = taken - (own ? own->bytes : 0);
    DL_FOREACH (idle, unused)
        used -= unused->bytes;
    return used;
}

/* A log may take a quarter of the memory, and all that is in use together half of it, so that the
 * rest is there for tables. `own` is the memory that the plan is for: it is not to grow for a longer
 * log. */
static void plan_log(probe_recording *r, const probe_recording *own)
{
    uint64_t limit = probe_most_memory() / 2, most = limit / 2,
             used = bytes_in_use(own) + r->layout.bytes;
    if (!r->kernel->kernel->logs || !probe_logs_count(r->context) || used >= limit)
        return;
    if (own && own->layout.log_rows && own->bytes > r->layout.bytes)
        most = own->bytes - r->layout.bytes;
    r->setup.log_bytes = most < limit - used ? most : limit - used;
    lay_out_recording(r);
}

enum { MOST_OF_PATHS = 128 << 20 /* bytes: they stand in one record */ };

static uint64_t most_for_paths(void)
{
    uint64_t part = probe_most_memory() / 8;
    return part < MOST_OF_PATHS ? part : MOST_OF_PATHS;
}

/* In half of the memory at most: tables of walks are left out, then the largest objects. */
static void plan(probe_recording *r, const probe_need *need, const probe_recording *own)
{
    uint64_t limit = probe_most_memory() / 2;
    r->kernel = need->kernel;
    r->setup = (rewrite_setup){.blocks = need->blocks,
                               .threads = {need->threads[0], need->threads[1], need->threads[2]},
                               .rows = need->rows,
                               .ntraced = need->ntraced,
                               .everywhere = need->kernel->everywhere,
                               .path_bytes = most_for_paths(),
                               .shared_bytes = need->shared_bytes};
    memcpy(r->pointers, need->pointers, sizeof r->pointers);
    memcpy(r->blocks, need->traced, need->ntraced * sizeof *r->blocks);
    r->objects_version = drv_objects_version();
    r->objects.count = r->numbers.count = r->left_out.count = 0;
    if (knows_objects(r->kernel->kernel))
        list_objects(r);
    lay_out_recording(r);
    if (r->layout.bytes > limit) {
        r->setup.no_walks = true;
        lay_out_recording(r);
    }
    while (r->layout.bytes > limit && r->objects.count) {
        leave_out_largest(r);
        lay_out_recording(r);
    }
    plan_log(r, own);
}

static bool same_threads(const probe_recording *r, const probe_need *need)
{
    return memcmp(r->setup.threads, need->threads, sizeof need->threads) == 0;
}

static bool serves_trace(const probe_recording *r, const probe_need *need)
{
    return r->setup.rows >= need->rows && r->setup.ntraced == need->ntraced &&
           same_threads(r, need) &&
           memcmp(r->blocks, need->traced, need->ntraced * sizeof *r->blocks) == 0;
}

static bool serves_objects(const probe_recording *r, const probe_need *need)
{
    return r->objects_version == drv_objects_version() &&
           r->setup.everywhere == need->kernel->everywhere &&
           memcmp(r->pointers, need->pointers,
                  need->kernel->kernel->nslots * sizeof *r->pointers) == 0;
}

/* The log has a place for each warp. */
static bool serves_log(const probe_recording *r, const probe_need *need)
{
    uint32_t regions = rewrite_log_regions(need->blocks, need->threads);
    return !r->layout.log_rows || (regions && regions <= r->layout.log_regions);
}

/* Slots of warps stand where they did, and there are as many. */
static bool serves_paths(const probe_recording *r, const probe_need *need)
{
    return r->setup.blocks == need->blocks && same_threads(r, need);
}

/* Whether it was prepared for just that. */
static bool serves(const probe_recording *r, const probe_need *need, CUcontext context)
{
    const rewrite_kernel *k = need->kernel->kernel;
    return r->context == context &&
           (!rewrite_has_probe(k, REWRITE_TRACE) || serves_trace(r, need)) &&
           (!rewrite_has_probe(k, REWRITE_SHARED) ||
            (r->setup.shared_bytes == need->shared_bytes && same_threads(r, need))) &&
           (!rewrite_has_probe(k, REWRITE_PATH) || serves_paths(r, need)) && serves_log(r, need) &&
           (!knows_objects(k) || serves_objects(r, need));
}

/* ---- preparing ---- */

static bool zero_bytes(const probe_recording *r, uint64_t at, uint64_t bytes)
{
    return !bytes || DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemsetD8Async,
                            (CUdeviceptr, unsigned char, size_t, CUstream), r->address + at, 0,
                            bytes, probe_own_stream(r->context)) == CUDA_SUCCESS;
}

/* The trace and the log may lie on anything. */
static bool zero(probe_recording *r)
{
    const rewrite_layout *l = &r->layout;
    r->zeroed = 0;
    if (!zero_bytes(r, 0, l->pool_at) || !zero_bytes(r, l->ends_at, l->log_at - l->ends_at))
        return false;
    r->zeroed = l->pool_at;
    return true;
}

/* What the copy reads may go when it returns: the driver has taken it from pageable memory by
 * then. */
static bool copy_in(const probe_recording *r, uint64_t at, const void *from, size_t bytes)
{
    return !bytes || DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyHtoDAsync_v2,
                            (CUdeviceptr, const void *, size_t, CUstream), r->address + at, from,
                            bytes, probe_own_stream(r->context)) == CUDA_SUCCESS;
}

static bool fill_head_and_ranges(probe_recording *r)
{
    size_t bytes = r->layout.nranges * sizeof(rewrite_range);
    rewrite_range *ranges = calloc(1, bytes + 1);
    if (!ranges)
        return false;
    rewrite_fill(r->kernel->kernel, &r->setup, &r->layout, r->address, &r->head, ranges);
    bool done = copy_in(r, 0, &r->head, sizeof r->head) &&
                copy_in(r, r->layout.ranges_at, ranges, bytes);
    free(ranges);
    return done;
}

/* `was`: the layout that `zeroed` goes by. Then r->prepared tells. */
static bool prepare_recording(probe_recording *r, const rewrite_layout *was)
{
    bool same = was->ranges_at == r->layout.ranges_at && was->nranges == r->layout.nranges &&
                was->ends_at == r->layout.ends_at && was->log_at == r->layout.log_at;
    if ((r->zeroed < r->layout.pool_at || !same) && !zero(r))
        return false;
    r->is_prepared = false;
    return fill_head_and_ranges(r) &&
           DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), r->prepared,
                  probe_own_stream(r->context)) == CUDA_SUCCESS;
}

static void move_plan(probe_recording *to, probe_recording *from)
{
    wl_vec_free(&to->objects);
    wl_vec_free(&to->numbers);
    wl_vec_free(&to->left_out);
    memcpy(&to->objects, &from->objects, sizeof to->objects);
    memcpy(&to->numbers, &from->numbers, sizeof to->numbers);
    memcpy(&to->left_out, &from->left_out, sizeof to->left_out);
    memcpy(to->pointers, from->pointers, sizeof to->pointers);
    to->kernel = from->kernel;
    to->objects_version = from->objects_version;
    memcpy(to->blocks, from->blocks, sizeof to->blocks);
    from->setup.pointers = to->pointers;
    from->setup.traced = to->blocks;
    to->setup = from->setup;
    to->layout = from->layout;
}

/* Prepares `r`, where that is large enough, else other memory; NULL where there is none. */
static probe_recording *make_recording(probe_recording *r, const probe_need *need,
                                       CUcontext context, uint64_t stream)
{
    probe_recording planned = {.context = context};
    plan(&planned, need, r);
    if (r && r->bytes < planned.layout.bytes) {
        put_idle(r);
        r = NULL;
    }
    if (!r)
        r = get_memory(context, planned.layout.bytes, stream);
    if (!r && planned.layout.log_rows) {
        planned.setup.log_bytes = 0;
        lay_out_recording(&planned);
        r = get_memory(context, planned.layout.bytes, stream);
    }
    if (!r) {
        wl_vec_free(&planned.objects);
        wl_vec_free(&planned.numbers);
        wl_vec_free(&planned.left_out);
        return NULL;
    }
    rewrite_layout was = r->layout;
    move_plan(r, &planned);
    if (probe_own_stream(context) && prepare_recording(r, &was))
        return r;
    put_idle(r);
    return NULL;
}

/* ---- for a launch ---- */

static bool ask_prepared(probe_recording *r)
{
    if (!r->is_prepared)
        r->is_prepared = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), r->prepared) ==
                         CUDA_SUCCESS;
    return r->is_prepared;
}

/* It will hardly serve any launch: it knows of other objects than there are now, or has less room
 * than the kernel takes. */
static bool is_stale(const probe_recording *r, const probe_kernel *k)
{
    return (knows_objects(k->kernel) && (r->objects_version != drv_objects_version() ||
                                         r->setup.everywhere != k->everywhere)) ||
           (rewrite_has_probe(k->kernel, REWRITE_TRACE) && r->setup.rows < k->rows);
}

/* The kernel's ready one that serves. Else one that is changed to: a stale one, or any where there
 * are many or half of the memory is taken. NULL: other memory is better, so that all shapes of a
 * kernel, and the buffers that it is given in turn, have theirs. */
static probe_recording *choose_recording(const probe_need *need, CUcontext context, bool *serving)
{
    enum { MANY = 32 };
    probe_recording *any = NULL;
    bool many = need->kernel->nready >= MANY || taken > probe_most_memory() / 2;
    for (probe_recording *r = need->kernel->ready; r; r = r->sibling) {
        *serving = serves(r, need, context);
        if (*serving)
            return r;
        if (r->context == context && (many || is_stale(r, need->kernel)))
            any = r;
    }
    return any;
}

static probe_recording *take_prepared(const probe_need *need, CUcontext context, uint64_t stream)
{
    bool serving = false;
    probe_recording *r = choose_recording(need, context, &serving);
    if (r)
        take_ready(r);
    if (!serving)
        r = make_recording(r, need, context, stream);
    if (!r || ask_prepared(r) ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamWaitEvent, (CUstream, CUevent, unsigned),
               drv_stream_handle(stream), r->prepared, 0) == CUDA_SUCCESS)
        return r;
    put_idle(r);
    return NULL;
}

probe_recording *probe_recording_take(const probe_need *need, uint64_t stream, bool *is_full)
{
    CUstreamCaptureMode mode;
    CUcontext context = drv_current().handle;
    *is_full = full = false;
    if (!context)
        return NULL;
    for (probe_recording *r = need->kernel->ready; r; r = r->sibling)
        if (r->is_prepared && serves(r, need, context)) { /* nothing is left to be done */
            take_ready(r);
            return r;
        }
    bool relaxed = probe_relax(&mode);
    probe_recording *r = take_prepared(need, context, stream);
    probe_restore(relaxed, mode);
    *is_full = !r && full;
    return r;
}

void probe_recording_tell(const probe_recording *r, uint32_t width, rewrite_param *out)
{
    rewrite_param_init(r->address, &r->head, width, out);
    rewrite_param_log(r->address, &r->layout, out);
}

void probe_recording_give_back(probe_recording *r)
{
    put_ready(r);
}

/* ---- after it ---- */

void probe_recording_renew(probe_recording *r)
{
    probe_kernel *k = r->kernel;
    uint64_t pointers[REWRITE_SLOTS], traced[REWRITE_MAX_BLOCKS];
    if (!k || !probe_sampled(k->launches + k->nready)) {
        put_idle(r);
        return;
    }
    const rewrite_setup *was = &r->setup;
    memcpy(pointers, r->pointers, sizeof pointers);
    memcpy(traced, r->blocks, sizeof traced);
    probe_need need = {.kernel = k,
                       .blocks = was->blocks,
                       .threads = {was->threads[0], was->threads[1], was->threads[2]},
                       .rows = was->rows > k->rows ? was->rows : k->rows,
                       .ntraced = was->ntraced,
                       .traced = traced,
                       .shared_bytes = was->shared_bytes,
                       .pointers = pointers};
    r->zeroed = 0;
    probe_recording *renewed = make_recording(r, &need, r->context, r->stream);
    if (renewed)
        put_ready(renewed);
}

void probe_recordings_settle(CUcontext context)
{
    enum { MOST_NS = 200000 };
    int64_t end = rec_now() + MOST_NS;
    probe_recording *r;
    DL_FOREACH (ready, r) {
        while (r->context == context && !ask_prepared(r)) {
            if (rec_now() > end)
                return;
            sched_yield();
        }
    }
}

/* ---- ends ---- */

void probe_recordings_gone(CUcontext context)
{
    probe_recording *r, *next;
    own_stream *o = NULL;
    DL_FOREACH_SAFE(ready, r, next)
    {
        if (r->context == context) {
            take_ready(r);
            probe_recording_free(r, false);
        }
    }
    DL_FOREACH_SAFE(idle, r, next)
    {
        if (r->context == context) {
            probe_list_take(&idle, r);
            probe_recording_free(r, false);
        }
    }
    HASH_FIND_PTR(own_streams, &context, o);
    if (o) {
        latest_own = NULL;
        HASH_DEL(own_streams, o);
        free(o);
    }
}

void probe_recordings_forget(const probe_module *probed)
{
    probe_recording *r, *next;
    DL_FOREACH_SAFE(ready, r, next)
    {
        if (r->kernel->owner == probed) {
            take_ready(r);
            put_idle(r);
        }
    }
}
