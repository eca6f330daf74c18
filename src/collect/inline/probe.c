/* Launches of kernels with probes: the hidden parameter, memory of the device that they write to, and reading it when the
 * application waits anyway. Nothing here waits for a kernel. */
#include "collect/inline/probe.h"

#include <stdlib.h>
#include <string.h>

enum {
    MIB = 1 << 20,
    PER_THREAD = 2,    /* CU_STREAM_PER_THREAD */
    FIRST_ROWS = 1024, /* of a warp; a launch that needed more gives the next one more */
};

typedef struct probe_state { /* memory for one launch at a time */
    CUcontext context;
    CUdeviceptr address;
    uint64_t bytes;
    CUevent done;
    shim_probed_kernel *kernel; /* of the launch that has it */
    rewrite_setup setup;
    rewrite_layout layout;
    wl_vec(rewrite_object) objects;  /* of the setup */
    wl_vec(uint32_t) numbers;        /* of the objects in the capture */
    wl_vec(rewrite_object) left_out; /* of the setup */
    uint64_t pointers[REWRITE_SLOTS];
    uint64_t blocks[REWRITE_MAX_BLOCKS];
    uint32_t note; /* 0: not known yet */
    uint64_t stream;
    struct probe_state *next;
} probe_state;

typedef struct reader { /* a context's own stream, for reading */
    CUcontext context;
    CUstream stream;
    UT_hash_handle hh;
} reader;

static probe_state *idle, *pending; /* the latest first */
static uint64_t taken;              /* bytes of all states */
static reader *readers;
static uint32_t waiting;        /* pending; read without the lock as a hint */
static uint32_t without_memory; /* launches that would have recorded */

/* ---- memory ---- */

/* Our calls must not break a graph that any thread captures. */
static bool relax(CUstreamCaptureMode *mode)
{
    *mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode,
                  (CUstreamCaptureMode *), mode) == CUDA_SUCCESS;
}

static void restore(bool relaxed, CUstreamCaptureMode mode)
{
    if (relaxed)
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuThreadExchangeStreamCaptureMode, (CUstreamCaptureMode *),
               &mode);
}

static void free_state(probe_state *s, bool in_driver)
{
    if (in_driver) {
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemFree_v2, (CUdeviceptr), s->address);
        if (s->done)
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventDestroy_v2, (CUevent), s->done);
    }
    taken -= s->bytes;
    wl_vec_free(&s->objects);
    wl_vec_free(&s->numbers);
    wl_vec_free(&s->left_out);
    free(s);
}

/* Gives memory back that other launches could use, but none of this size. */
static void trim(CUcontext context, uint64_t needed, uint64_t limit)
{
    for (probe_state **at = &idle; *at && taken + needed > limit;) {
        probe_state *s = *at;
        if (s->context != context) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        free_state(s, true);
    }
}

static probe_state *allocate(CUcontext context, uint64_t bytes)
{
    uint64_t limit = collect_options_get()->device_memory * MIB;
    probe_state *s;
    trim(context, bytes, limit);
    if (taken + bytes > limit || !(s = calloc(1, sizeof *s)))
        return NULL;
    *s = (probe_state){.context = context, .bytes = bytes};
    if (DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemAlloc_v2, (CUdeviceptr *, size_t), &s->address,
               bytes) != CUDA_SUCCESS) {
        free(s);
        return NULL;
    }
    taken += bytes;
    DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventCreate, (CUevent *, unsigned), &s->done,
           CU_EVENT_DISABLE_TIMING);
    return s;
}

static probe_state *get_state(CUcontext context, uint64_t bytes)
{
    for (probe_state **at = &idle; *at; at = &(*at)->next) {
        probe_state *s = *at;
        if (s->context == context && s->bytes >= bytes && s->bytes / 2 <= bytes) {
            *at = s->next;
            return s;
        }
    }
    return allocate(context, bytes);
}

static void put_state(probe_state *s)
{
    s->kernel = NULL;
    s->objects.count = 0;
    s->numbers.count = 0;
    s->left_out.count = 0;
    s->note = 0;
    s->next = idle;
    idle = s;
}

/* ---- which launches record ---- */

/* The first ones, then every power of two: what a kernel does seldom changes with each launch. */
static bool is_sampled(uint64_t number)
{
    uint64_t all = collect_options_get()->probe_launches;
    return !all || number < all || (number & (number - 1)) == 0;
}

static uint64_t blocks_of(const shim_shape *s)
{
    return (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
}

static uint32_t named_blocks(const shim_shape *s, uint64_t *blocks)
{
    const collect_options *o = collect_options_get();
    uint32_t n = 0;
    for (uint32_t i = 0; i < o->nblocks && n < REWRITE_MAX_BLOCKS; i++)
        if (o->block[i].x < s->grid[0] && o->block[i].y < s->grid[1] && o->block[i].z < s->grid[2])
            blocks[n++] = ((uint64_t)o->block[i].z * s->grid[1] + o->block[i].y) * s->grid[0] +
                          o->block[i].x;
    return n;
}

/* Those that the user named, else evenly spread ones with the first and the last. */
static uint32_t choose_blocks(const shim_shape *s, uint64_t *blocks)
{
    const collect_options *o = collect_options_get();
    if (!o->automatic && !o->all_blocks)
        return named_blocks(s, blocks);
    uint64_t all = blocks_of(s);
    uint32_t n = all < REWRITE_MAX_BLOCKS ? (uint32_t)all : REWRITE_MAX_BLOCKS;
    for (uint32_t i = 0; i < n; i++)
        blocks[i] = n > 1 ? (uint64_t)((__uint128_t)i * (all - 1) / (n - 1)) : 0;
    return n;
}

/* Of the pool; in half of the memory at most. */
static uint32_t choose_rows(const shim_probed_kernel *k, const shim_shape *s, uint32_t nblocks)
{
    uint64_t warps = ((uint64_t)s->block[0] * s->block[1] * s->block[2] + 31) / 32 * nblocks;
    uint64_t limit = collect_options_get()->device_memory * MIB / 2 / REWRITE_ROW;
    uint32_t rows = k->rows > FIRST_ROWS ? k->rows : FIRST_ROWS;
    return !warps || rows * warps <= limit ? rows : (uint32_t)(limit / warps);
}

/* ---- before the launch ---- */

static CUstream handle_of(uint64_t stream)
{
    return (CUstream)(uintptr_t)(stream >> 48 ? PER_THREAD : stream);
}

static bool copy_in(uint64_t to, const void *from, size_t bytes, uint64_t stream)
{
    return !bytes || DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyHtoDAsync_v2,
                            (CUdeviceptr, const void *, size_t, CUstream), to, from, bytes,
                            handle_of(stream)) == CUDA_SUCCESS;
}

/* What the copies read may go when they return: the driver has taken it from pageable memory by then. */
static bool prepare(const probe_state *s, uint64_t stream, rewrite_state *head)
{
    size_t bytes = s->layout.nranges * sizeof(rewrite_range);
    rewrite_range *ranges = calloc(1, bytes + 1);
    if (!ranges)
        return false;
    rewrite_fill(s->kernel->kernel, &s->setup, &s->layout, s->address, head, ranges);
    bool done = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemsetD8Async,
                       (CUdeviceptr, unsigned char, size_t, CUstream), s->address, 0,
                       s->layout.pool_at, handle_of(stream)) == CUDA_SUCCESS &&
                copy_in(s->address, head, sizeof *head, stream) &&
                copy_in(s->address + s->layout.ranges_at, ranges, bytes, stream);
    free(ranges);
    return done;
}

static bool has(const rewrite_kernel *k, rewrite_probe probe)
{
    return k->probes >> probe & 1;
}

static bool add_object(probe_state *s, const shim_object *o)
{
    return wl_push(&s->objects, ((rewrite_object){o->base, o->bytes})) &&
           wl_push(&s->numbers, o->number);
}

/* Memory that kernels reach, without constants. */
static void list_objects(probe_state *s)
{
    size_t count;
    const shim_object *live = shim_objects(&count);
    for (size_t i = 0; i < count; i++)
        if (live[i].kind != CAP_OBJECT_CONST && !add_object(s, &live[i]))
            return;
}

static void leave_out_largest(probe_state *s)
{
    size_t largest = 0, n = s->objects.count;
    for (size_t i = 1; i < n; i++)
        if (s->objects.data[i].bytes > s->objects.data[largest].bytes)
            largest = i;
    wl_push(&s->left_out, s->objects.data[largest]);
    for (size_t i = largest + 1; i < n; i++) {
        s->objects.data[i - 1] = s->objects.data[i];
        s->numbers.data[i - 1] = s->numbers.data[i];
    }
    s->objects.count--;
    s->numbers.count--;
}

static void lay_out(const rewrite_kernel *k, probe_state *s)
{
    s->setup.objects = s->objects.data;
    s->setup.nobjects = (uint32_t)s->objects.count;
    s->setup.left_out = s->left_out.data;
    s->setup.nleft_out = (uint32_t)s->left_out.count;
    rewrite_lay_out(k, &s->setup, &s->layout);
}

enum { SYSTEM_SHARED = 1024 }; /* that lies below the kernel's own, from sm_80 on */

/* What is to be recorded, in half of the memory at most: the largest objects are left out. */
static void plan(probe_state *s, shim_probed_kernel *k, const shim_probe_launch *l,
                 const uint64_t *traced, uint32_t ntraced)
{
    uint64_t limit = collect_options_get()->device_memory * MIB / 2;
    shim_function *f = shim_function_of(l->function);
    const uint32_t *threads = l->shape->block;
    s->setup = (rewrite_setup){.blocks = blocks_of(l->shape),
                               .threads = {threads[0], threads[1], threads[2]},
                               .rows = choose_rows(k, l->shape, ntraced),
                               .ntraced = ntraced,
                               .traced = traced,
                               .pointers = s->pointers,
                               .everywhere = k->everywhere};
    if (has(k->kernel, REWRITE_SHARED) && f)
        s->setup.shared_bytes = f->static_shared + l->shape->shared + SYSTEM_SHARED;
    if (has(k->kernel, REWRITE_OBJECTS) || has(k->kernel, REWRITE_TOUCH) ||
        has(k->kernel, REWRITE_FREQUENCY))
        list_objects(s);
    lay_out(k->kernel, s);
    while (s->layout.bytes > limit && s->objects.count) {
        leave_out_largest(s);
        lay_out(k->kernel, s);
    }
}

static void resolve(CUcontext context, uint64_t stream, bool all);

/* Moves the plan to memory that suffices for it; NULL where there is none. */
static probe_state *place(probe_state *planned, CUcontext context)
{
    probe_state *s = get_state(context, planned->layout.bytes);
    if (!s) { /* what is over makes room */
        resolve(context, 0, true);
        s = get_state(context, planned->layout.bytes);
    }
    if (s) {
        wl_vec_free(&s->objects);
        wl_vec_free(&s->numbers);
        wl_vec_free(&s->left_out);
        s->setup = planned->setup;
        s->layout = planned->layout;
        memcpy(&s->objects, &planned->objects, sizeof s->objects);
        memcpy(&s->numbers, &planned->numbers, sizeof s->numbers);
        memcpy(&s->left_out, &planned->left_out, sizeof s->left_out);
        memcpy(s->pointers, planned->pointers, sizeof s->pointers);
        s->setup.pointers = s->pointers;
    } else {
        wl_vec_free(&planned->objects);
        wl_vec_free(&planned->numbers);
        wl_vec_free(&planned->left_out);
    }
    return s;
}

/* The arguments of a launch as the driver gets them. */
typedef struct arguments {
    void **params, **extra;
} arguments;

/* The launch's buffer of parameters; NULL where it has an array of them. */
static const char *buffer_of(const arguments *a, size_t *length)
{
    const char *given = NULL;
    *length = 0;
    for (void **e = a->params ? NULL : a->extra; e && *e != CU_LAUNCH_PARAM_END; e += 2) {
        if (*e == CU_LAUNCH_PARAM_BUFFER_POINTER)
            given = e[1];
        else if (*e == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *length = *(const size_t *)e[1];
    }
    return given;
}

/* What the pointers that the kernel's slots name lead to. */
static void find_pointers(probe_state *s, const rewrite_kernel *k, const arguments *a)
{
    size_t length;
    const char *buffer = buffer_of(a, &length);
    for (uint32_t i = 0; i < k->nslots; i++) {
        const rewrite_pointer *slot = &k->slots[i];
        s->pointers[i] = 0;
        if (slot->at == PTX_NONE)
            continue;
        if (buffer && slot->at + sizeof(uint64_t) <= length)
            memcpy(&s->pointers[i], buffer + slot->at, sizeof(uint64_t));
        else if (a->params && a->params[slot->param])
            memcpy(&s->pointers[i], (const char *)a->params[slot->param] + slot->offset,
                   sizeof(uint64_t));
    }
}

/* With *head as it was filled. */
static probe_state *state_for(shim_probed_kernel *k, const shim_probe_launch *l, const arguments *a,
                              const uint64_t *blocks, uint32_t nblocks, rewrite_state *head)
{
    CUcontext context = shim_current().handle;
    probe_state planned = {0};
    if (!context)
        return NULL;
    find_pointers(&planned, k->kernel, a);
    plan(&planned, k, l, blocks, nblocks);
    probe_state *s = place(&planned, context);
    if (!s)
        return NULL;
    s->kernel = k;
    s->stream = l->stream;
    if (prepare(s, l->stream, head))
        return s;
    put_state(s);
    return NULL;
}

static void start_recording(shim_probe *p, shim_probed_kernel *k, const shim_probe_launch *l,
                            const arguments *a)
{
    rewrite_state head;
    uint64_t blocks[REWRITE_MAX_BLOCKS];
    CUstreamCaptureMode mode;
    uint32_t nblocks = choose_blocks(l->shape, blocks);
    bool relaxed = relax(&mode);
    p->state = state_for(k, l, a, blocks, nblocks, &head);
    restore(relaxed, mode);
    p->without_memory = !p->state;
    if (!p->state)
        return;
    rewrite_param_init(p->state->address, &head, &p->hidden);
    memcpy(p->state->blocks, blocks, nblocks * sizeof *blocks);
    p->state->setup.traced = p->state->blocks;
}

/* ---- parameters ---- */

static void add_pointer(shim_probe *p, const rewrite_kernel *k, void **params)
{
    uint32_t n = k->param_index;
    void **all = p->own_params;
    if (n + 1 > sizeof p->own_params / sizeof *p->own_params)
        all = p->long_params = calloc(n + 1, sizeof *all);
    if (!all)
        return;
    for (uint32_t i = 0; params && i < n; i++)
        all[i] = params[i];
    all[n] = &p->hidden;
    p->params = all;
}

static void add_bytes(shim_probe *p, const rewrite_kernel *k, void **extra)
{
    size_t length;
    const char *given = buffer_of(&(arguments){NULL, extra}, &length);
    p->bytes = k->param_offset + sizeof p->hidden;
    p->buffer = given ? calloc(1, p->bytes) : NULL;
    if (!p->buffer)
        return;
    memcpy(p->buffer, given, length < k->param_offset ? length : k->param_offset);
    memcpy(p->buffer + k->param_offset, &p->hidden, sizeof p->hidden);
    void *own[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, p->buffer, CU_LAUNCH_PARAM_BUFFER_SIZE,
                   &p->bytes, CU_LAUNCH_PARAM_END};
    memcpy(p->own_extra, own, sizeof own);
    p->extra = p->own_extra;
}

static void add_hidden(shim_probe *p, const rewrite_kernel *k, void **params, void **extra)
{
    if (!params && extra)
        add_bytes(p, k, extra);
    else
        add_pointer(p, k, params);
}

static shim_probed_kernel *kernel_of(void *function)
{
    shim_function *f = function ? shim_function_of(function) : NULL;
    return f ? f->probe : NULL;
}

void shim_probe_begin(shim_probe *p, const shim_probe_launch *l, void **params, void **extra)
{
    memset(p, 0, offsetof(shim_probe, own_params));
    p->long_params = NULL;
    p->buffer = NULL;
    p->params = params;
    p->extra = extra;
    if (!__atomic_load_n(&shim_g.probing, __ATOMIC_RELAXED))
        return;
    bool captured = l->record && shim_in_capture(l->stream);
    pthread_mutex_lock(&shim_g.lock);
    shim_probed_kernel *k = kernel_of(l->function);
    if (k) {
        rewrite_param_init(0, NULL, &p->hidden);
        if (l->record && !captured && shim_g.writer && blocks_of(l->shape) &&
            shim_launch_wanted(k->kernel->func->name) && is_sampled(k->launches++))
            start_recording(p, k, l, &(arguments){params, extra});
        add_hidden(p, k->kernel, params, extra);
    }
    pthread_mutex_unlock(&shim_g.lock);
}

void shim_probe_off(shim_probe *p, void *function, void **params, void **extra)
{
    static const shim_shape none;
    shim_probe_launch l = {.function = function, .shape = &none};
    shim_probe_begin(p, &l, params, extra);
}

void shim_probe_free(shim_probe *p)
{
    free(p->long_params);
    free(p->buffer);
    p->long_params = NULL;
    p->buffer = NULL;
}

bool shim_probe_records(const shim_probe *p)
{
    return p->state != NULL;
}

/* ---- after it ---- */

void shim_probe_keep(shim_probe *p, uint32_t note, CUresult result)
{
    probe_state *s = p->state;
    without_memory += p->without_memory && result == CUDA_SUCCESS;
    if (!s)
        return;
    p->state = NULL;
    if (result != CUDA_SUCCESS || !s->done ||
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventRecord, (CUevent, CUstream), s->done,
               handle_of(s->stream)) != CUDA_SUCCESS) {
        put_state(s);
        return;
    }
    s->note = note;
    s->next = pending;
    pending = s;
    __atomic_add_fetch(&waiting, 1, __ATOMIC_RELAXED);
}

/* ---- reading ---- */

static CUstream reader_of(CUcontext context)
{
    reader *r = NULL;
    HASH_FIND_PTR(readers, &context, r);
    if (!r && (r = calloc(1, sizeof *r))) {
        r->context = context;
        DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamCreate, (CUstream *, unsigned), &r->stream,
               CU_STREAM_NON_BLOCKING);
        HASH_ADD_PTR(readers, context, r);
    }
    return r ? r->stream : NULL;
}

static bool read_bytes(const probe_state *s, uint64_t at, void *out, uint64_t bytes)
{
    CUstream stream = reader_of(s->context);
    return stream && DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuMemcpyDtoHAsync_v2,
                            (void *, CUdeviceptr, size_t, CUstream), out, s->address + at, bytes,
                            stream) == CUDA_SUCCESS;
}

static bool wait_for_bytes(const probe_state *s)
{
    return DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuStreamSynchronize, (CUstream),
                  reader_of(s->context)) == CUDA_SUCCESS;
}

/* Room for the next launch of the kernel, where this one had too little; tables for all objects, where it left those that its
 * pointers lead to. */
static void learn(const probe_state *s, const rewrite_state *head)
{
    if (head->room < 0)
        s->kernel->rows = head->rows + (uint32_t)-head->room;
    if (head->missed && !s->setup.nleft_out)
        s->kernel->everywhere = true;
}

/* The state but for the rows of the trace that nobody wrote to. */
static bool read_used(const probe_state *s, uint32_t all, uint32_t rows, char *data)
{
    uint64_t pool = s->layout.pool_at, whole = (uint64_t)all * REWRITE_ROW,
             used = (uint64_t)rows * REWRITE_ROW;
    if (!read_bytes(s, 0, data, pool))
        return false;
    for (uint32_t i = 0; i < s->layout.nregions; i++)
        if (!read_bytes(s, pool + i * whole, data + pool + i * used, used))
            return false;
    return wait_for_bytes(s);
}

static void write_probe(const probe_state *s, const char *data, uint64_t bytes)
{
    size_t count = s->objects.count;
    cap_probed *objects = calloc(count + 1, sizeof *objects);
    if (!objects)
        return;
    for (size_t i = 0; i < count; i++)
        objects[i] = (cap_probed){s->numbers.data[i], s->objects.data[i].base,
                                  s->objects.data[i].bytes};
    cap_probe record = {.note = s->note,
                        .probes = shim_probes_asked(),
                        .everything = shim_probes_everything(),
                        .nblocks = s->setup.ntraced,
                        .blocks = (uint64_t *)s->blocks,
                        .rows = s->setup.rows,
                        .shared_bytes = s->setup.shared_bytes,
                        .count = (uint32_t)count,
                        .objects = objects,
                        .data = data,
                        .length = bytes};
    SHIM_WRITE(probe, &record);
    free(objects);
}

static void read_state(const probe_state *s)
{
    rewrite_state head;
    if (!s->note || !shim_g.writer || !read_bytes(s, 0, &head, sizeof head) || !wait_for_bytes(s))
        return;
    learn(s, &head);
    uint32_t rows = head.rows;
    head.rows = rewrite_rows_used(&head);
    uint64_t bytes = s->layout.pool_at + (uint64_t)s->layout.nregions * head.rows * REWRITE_ROW;
    char *data = malloc(bytes);
    if (data && read_used(s, rows, head.rows, data)) {
        memcpy(data, &head, sizeof head);
        write_probe(s, data, bytes);
    }
    free(data);
}

/* `over`: a failure that is not "not yet" ends the wait, too: nothing will come. */
static bool is_over(const probe_state *s, bool *good)
{
    CUresult result = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuEventQuery, (CUevent), s->done);
    *good = result == CUDA_SUCCESS;
    return result != CUDA_ERROR_NOT_READY;
}

/* Reads the launches in `which` that are over, the earliest first, which are the last of the list. */
static void read_list(probe_state *which)
{
    probe_state *earliest = NULL;
    while (which) {
        probe_state *next = which->next;
        which->next = earliest;
        earliest = which;
        which = next;
    }
    while (earliest) {
        probe_state *s = earliest;
        earliest = s->next;
        read_state(s);
        put_state(s);
    }
}

/* With the context current. */
static void resolve(CUcontext context, uint64_t stream, bool all)
{
    probe_state *over = NULL, **last = &over;
    for (probe_state **at = &pending; *at;) {
        probe_state *s = *at;
        bool good;
        if (s->context != context || (!all && s->stream != stream) || !is_over(s, &good)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        s->next = NULL;
        __atomic_sub_fetch(&waiting, 1, __ATOMIC_RELAXED);
        if (!good)
            s->note = 0;
        *last = s;
        last = &s->next;
    }
    read_list(over);
}

void shim_probes_resolve(uint64_t stream, bool all)
{
    CUstreamCaptureMode mode;
    if (!__atomic_load_n(&waiting, __ATOMIC_RELAXED) || shim_g.forked)
        return;
    pthread_mutex_lock(&shim_g.lock);
    CUcontext context = shim_current().handle;
    if (context) {
        bool relaxed = relax(&mode);
        resolve(context, stream, all);
        restore(relaxed, mode);
    }
    pthread_mutex_unlock(&shim_g.lock);
}

/* ---- ends ---- */

static bool of_context(const probe_state *s, const void *context)
{
    return s->context == context;
}

static bool of_module(const probe_state *s, const void *probed)
{
    return s->kernel && s->kernel->owner == probed;
}

static uint32_t drop(probe_state **list, bool (*which)(const probe_state *, const void *),
                     const void *what, bool in_driver)
{
    uint32_t dropped = 0;
    for (probe_state **at = list; *at;) {
        probe_state *s = *at;
        if (!which(s, what)) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        dropped++;
        if (in_driver)
            put_state(s);
        else
            free_state(s, false);
    }
    return dropped;
}

static void drop_pending(bool (*which)(const probe_state *, const void *), const void *what,
                         bool in_driver)
{
    uint32_t dropped = drop(&pending, which, what, in_driver);
    __atomic_sub_fetch(&waiting, dropped, __ATOMIC_RELAXED);
    if (dropped)
        shim_message(WL_LOG_INFO,
                     "What %u launches recorded is lost: they were not over when "
                     "their module or context went.",
                     dropped);
}

void shim_probes_gone(CUcontext context)
{
    reader *r = NULL;
    drop_pending(of_context, context, false);
    drop(&idle, of_context, context, false);
    HASH_FIND_PTR(readers, &context, r);
    if (r) {
        HASH_DEL(readers, r);
        free(r);
    }
}

void shim_probe_module_gone(const shim_probed *probed)
{
    CUcontext context = shim_current().handle;
    if (!probed)
        return;
    if (context)
        resolve(context, 0, true);
    drop_pending(of_module, probed, true);
}

void shim_probes_finish(void)
{
    while (pending) {
        CUcontext previous, context = pending->context;
        bool pushed = DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPushCurrent_v2, (CUcontext), context) ==
                      CUDA_SUCCESS;
        if (pushed)
            resolve(context, 0, true);
        drop_pending(of_context, context, pushed);
        if (pushed)
            DRIVER(CUDA_ERROR_NOT_SUPPORTED, cuCtxPopCurrent_v2, (CUcontext *), &previous);
    }
    if (without_memory)
        shim_message(WL_LOG_INFO,
                     "%u launches ran without probes, since what launches record would have taken "
                     "more than %u MiB of the device's memory (--device-memory).",
                     without_memory, (unsigned)collect_options_get()->device_memory);
}
