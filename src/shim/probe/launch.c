/* Launches: which of them record, and what the driver gets for them. */
#include "cuda/args.h"
#include "record/ranges.h"
#include "shim/probe/recording_impl.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROWS = 2560 }; /* of a warp; a launch that needed more gives the next one more */

/* Launches that would have recorded: there was no memory left of what the options allow, or the
 * driver refused what recording takes. */
static uint32_t without_memory, refused;
/* Launches that recorded without the paths of their warps, for which there was no room. */
static uint32_t without_paths;

/* ---- which launches record ---- */

bool probe_sampled(uint64_t number)
{
    return prog_in_sample(number, prog_options_get()->probe_launches);
}

static uint64_t blocks_of(const drv_shape *s)
{
    return (uint64_t)s->grid[0] * s->grid[1] * s->grid[2];
}

static uint32_t named_blocks(const drv_shape *s, uint64_t *blocks)
{
    const prog_blocks *named = &prog_options_get()->blocks;
    uint32_t n = 0;
    for (uint32_t i = 0; i < named->count && n < REWRITE_MAX_BLOCKS; i++) {
        prog_block b = named->list[i];
        if (b.x < s->grid[0] && b.y < s->grid[1] && b.z < s->grid[2])
            blocks[n++] = ((uint64_t)b.z * s->grid[1] + b.y) * s->grid[0] + b.x;
    }
    return n;
}

/* Those that the user named, else the middles of equal parts of the grid: so the last ones, which
 * the launch waits for, are not among them where there are many. */
static uint32_t choose_blocks(const drv_shape *s, uint64_t *blocks)
{
    const prog_blocks *asked = &prog_options_get()->blocks;
    if (!asked->automatic && !asked->all)
        return named_blocks(s, blocks);
    uint64_t all = blocks_of(s);
    uint32_t n = all < REWRITE_MAX_BLOCKS ? (uint32_t)all : REWRITE_MAX_BLOCKS;
    for (uint32_t i = 0; i < n; i++) /* (2 * i + 1) * all / (2 * n) */
        blocks[i] = (2 * i + 1) * (all / (2 * n)) + (2 * i + 1) * (all % (2 * n)) / (2 * n);
    return n;
}

/* Of the pool; in half of the memory at most, and in half of a record: what finds no row is counted
 * as dropped. */
static uint32_t choose_rows(const probe_kernel *k, const drv_shape *s, uint32_t nblocks)
{
    uint64_t warps = ((uint64_t)s->block[0] * s->block[1] * s->block[2] + 31) / 32 * nblocks;
    uint64_t memory = probe_most_memory();
    uint64_t limit = (memory < CAP_MAX_PAYLOAD ? memory : CAP_MAX_PAYLOAD) / 2 / REWRITE_ROW;
    uint32_t rows = k->rows > FIRST_ROWS ? k->rows : FIRST_ROWS;
    return !warps || rows * warps <= limit ? rows : (uint32_t)(limit / warps);
}

/* ---- before the launch ---- */

/* The arguments of a launch as the driver gets them. */
typedef struct arguments {
    void **params, **extra;
} arguments;

/* The launch's buffer of parameters; NULL where it has an array of them. */
static const char *buffer_of(const arguments *a, size_t *length)
{
    const void *given = NULL;
    bool known = cuda_read_extra(a->params ? NULL : a->extra, &given, length);
    return known ? given : NULL;
}

/* What the pointers that the kernel's slots name lead to. */
static void find_pointers(const rewrite_kernel *k, const arguments *a, uint64_t *pointers)
{
    size_t length;
    const char *buffer = buffer_of(a, &length);
    for (uint32_t i = 0; i < k->nslots; i++) {
        const rewrite_pointer *slot = &k->slots[i];
        if (slot->at == IR_NONE)
            continue;
        if (buffer && slot->at + sizeof(uint64_t) <= length)
            memcpy(&pointers[i], buffer + slot->at, sizeof(uint64_t));
        else if (a->params && a->params[slot->param])
            memcpy(&pointers[i], (const char *)a->params[slot->param] + slot->offset,
                   sizeof(uint64_t));
    }
}

enum { SYSTEM_SHARED = 1024 }; /* that lies below the kernel's own, from sm_80 on */

static probe_need need_of(probe_kernel *k, const drv_function *f, const drv_shape *shape)
{
    const uint32_t *threads = shape->block;
    probe_need need = {
        .kernel = k, .blocks = blocks_of(shape), .threads = {threads[0], threads[1], threads[2]}};
    if (rewrite_has_probe(k->kernel, REWRITE_SHARED))
        need.shared_bytes = f->static_shared + shape->shared + SYSTEM_SHARED;
    return need;
}

static void take_recording(probe_launch *p, const drv_function *f, const probe_candidate *l,
                           const arguments *a)
{
    uint64_t pointers[REWRITE_SLOTS] = {0}, traced[REWRITE_MAX_BLOCKS];
    probe_need need = need_of(f->probe, f, l->shape);
    need.ntraced = choose_blocks(l->shape, traced);
    need.traced = traced;
    need.rows = choose_rows(f->probe, l->shape, need.ntraced);
    find_pointers(f->probe->kernel, a, pointers);
    need.pointers = pointers;
    p->recording = probe_recording_take(&need, l->stream, &p->without_memory);
    p->refused = !p->recording && !p->without_memory;
    if (!p->recording)
        return;
    without_paths += rewrite_has_probe(f->probe->kernel, REWRITE_PATH) &&
                     !p->recording->layout.paths_at;
    probe_recording_tell(p->recording, l->shape->grid[0], &p->hidden);
}

/* ---- parameters ---- */

static void add_hidden_param(probe_launch *p, const rewrite_kernel *k, void **params)
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

static void add_bytes(probe_launch *p, const rewrite_kernel *k, void **extra)
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

static void add_hidden(probe_launch *p, const rewrite_kernel *k, void **params, void **extra)
{
    if (!params && extra)
        add_bytes(p, k, extra);
    else
        add_hidden_param(p, k, params);
}

/* ---- the launch ---- */

/* Counts the launch, but for those that are captured. */
static bool is_to_record(probe_kernel *k, const probe_candidate *l)
{
    if (!probe_sampled(k->launches)) {
        k->launches++;
        return false;
    }
    return l->record && rec_g.writer && blocks_of(l->shape) && !drv_in_capture(l->stream) &&
           !rec_left_out(k->name, rec_ranges_asked()) && ++k->launches;
}

static void start_recording(probe_launch *p, const probe_candidate *l, void **params, void **extra)
{
    bool later;
    drv_function *f = l->function ? drv_function_of(l->function) : NULL;
    probe_kernel *k = f ? probe_kernel_of(f) : NULL;
    if (!k || (k->kernel && !k->kernel->probes) || !is_to_record(k, l))
        return;
    probe_own *own = probe_own_get(k, f, l->shape, &later);
    k->launches -= later;
    if (later)
        probe_own_unfit(k, "the device was busy, so that their code could not be loaded");
    if (!own || !probe_own_fits(own, k, f, l->shape))
        return;
    take_recording(p, f, l, &(arguments){params, extra});
    if (!p->recording)
        return;
    if (!probe_own_mirror(own, l->stream)) {
        probe_recording_give_back(p->recording);
        p->recording = NULL;
        p->refused = true;
        return;
    }
    add_hidden(p, k->kernel, params, extra);
    p->function = probe_own_function(own);
    p->kernel = k;
}

void probe_launch_begin(probe_launch *p, const probe_candidate *l, void **params, void **extra)
{
    memset(p, 0, offsetof(probe_launch, hidden));
    p->long_params = NULL;
    p->buffer = NULL;
    p->function = l->function;
    p->params = params;
    p->extra = extra;
    p->stream = l->stream;
    if (!l->record || !probe_on())
        return;
    pthread_mutex_lock(&rec_g.lock);
    start_recording(p, l, params, extra);
    pthread_mutex_unlock(&rec_g.lock);
}

bool probe_launch_refused(probe_launch *p, CUresult result)
{
    if (!p->recording || result == CUDA_SUCCESS)
        return false;
    pthread_mutex_lock(&rec_g.lock);
    probe_recording_give_back(p->recording);
    probe_own_unfit(p->kernel, "the driver refused them with probes");
    pthread_mutex_unlock(&rec_g.lock);
    p->recording = NULL;
    return true;
}

void probe_launch_free(probe_launch *p)
{
    free(p->long_params);
    free(p->buffer);
}

bool probe_launch_records(const probe_launch *p)
{
    return p->recording != NULL;
}

/* ---- after it ---- */

void probe_launch_keep(probe_launch *p, uint32_t note, CUresult result)
{
    without_memory += p->without_memory && result == CUDA_SUCCESS;
    refused += p->refused && result == CUDA_SUCCESS;
    if (p->recording && result == CUDA_SUCCESS)
        probe_recording_launched(p->recording, note, p->stream);
    else if (p->recording)
        probe_recording_give_back(p->recording);
    p->recording = NULL;
}

void probe_tell_missing(void)
{
    if (without_memory)
        rec_message(
            WL_LOG_INFO,
            "%u launches ran without probes, since recording would have taken more than %u MiB "
            "of the device's memory (--device-memory gives more).",
            without_memory, (unsigned)(probe_most_memory() >> 20));
    if (without_paths)
        rec_message(WL_LOG_INFO,
                    "Which path each warp took was not recorded of %u launches: 16 bytes for each "
                    "warp would have taken more than an eighth of --device-memory, or more than "
                    "128 MiB.",
                    without_paths);
    if (refused)
        rec_message(WL_LOG_INFO,
                    "%u launches ran without probes, since the driver refused the memory, the "
                    "copies or the events that recording takes.",
                    refused);
}
