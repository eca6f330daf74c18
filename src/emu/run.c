/* A launch: its vectors of constants, its workers, its result. */
#include "base/clock.h"
#include "base/order.h"
#include "emu/matrix.h"
#include "emu/ops.h"
#include "emu/pool.h"
#include "emu/printer.h"

#include <sched.h>
#include <stdio.h>

enum { RESERVED_BYTES = 1024 };

static uint64_t count_of_dim(emu_dim d)
{
    return (uint64_t)d.x * d.y * d.z;
}

/* ---- vectors ---- */

static void fill16(void *to, uint64_t value)
{
    for (int i = 0; i < EMU_LANES; i++)
        ((uint16_t *)to)[i] = (uint16_t)value;
}

static void fill32(void *to, uint64_t value)
{
    for (int i = 0; i < EMU_LANES; i++)
        ((uint32_t *)to)[i] = (uint32_t)value;
}

static void fill64(void *to, uint64_t value)
{
    for (int i = 0; i < EMU_LANES; i++)
        ((uint64_t *)to)[i] = value;
}

static void fill_vector(void *to, uint32_t bytes, uint64_t value, uint64_t high)
{
    switch (bytes) {
    case 0: memcpy(to, &(uint32_t){(uint32_t)value}, 4); break;
    case 2: fill16(to, value); break;
    case 4: fill32(to, value); break;
    case 8: fill64(to, value); break;
    default:
        for (int i = 0; i < EMU_LANES; i++) {
            ((uint64_t *)to)[2 * i] = value;
            ((uint64_t *)to)[2 * i + 1] = high;
        }
    }
}

static uint32_t lanemask(emu_uniform which, uint32_t lane)
{
    uint32_t bit = 1u << lane, below = bit - 1;
    switch (which) {
    case EMU_U_LANEMASK_EQ: return bit;
    case EMU_U_LANEMASK_LT: return below;
    case EMU_U_LANEMASK_LE: return below | bit;
    case EMU_U_LANEMASK_GE: return ~below;
    case EMU_U_LANEMASK_GT: return ~(below | bit);
    default: return lane;
    }
}

static uint64_t uniform_value(const emu_run_state *run, emu_uniform which)
{
    const emu_launch *l = run->launch;
    const emu_machine *m = run->machine;
    const emu_dim c = run->cluster;
    switch (which) {
    case EMU_U_NTID_X: return l->block.x;
    case EMU_U_NTID_Y: return l->block.y;
    case EMU_U_NTID_Z: return l->block.z;
    case EMU_U_NCTAID_X: return l->grid.x;
    case EMU_U_NCTAID_Y: return l->grid.y;
    case EMU_U_NCTAID_Z: return l->grid.z;
    case EMU_U_NWARPID: return m->device.max_threads_per_sm / EMU_LANES;
    case EMU_U_NSMID: return m->device.num_sms;
    case EMU_U_GRIDID: return m->launches;
    case EMU_U_TOTAL_SMEM: return run->shared_bytes;
    case EMU_U_RESERVED_SMEM: return run->reserved_at;
    case EMU_U_DYNAMIC_SMEM: return l->dynamic_shared;
    case EMU_U_ENVREG1: return l->cooperative ? m->grid_barrier >> 32 : 0;
    case EMU_U_ENVREG2: return l->cooperative ? m->grid_barrier & UINT32_MAX : 0;
    case EMU_U_CLUSTER_NCTAID_X: return c.x;
    case EMU_U_CLUSTER_NCTAID_Y: return c.y;
    case EMU_U_CLUSTER_NCTAID_Z: return c.z;
    case EMU_U_CLUSTER_NCTARANK: return count_of_dim(c);
    case EMU_U_NCLUSTERID_X: return l->grid.x / c.x;
    case EMU_U_NCLUSTERID_Y: return l->grid.y / c.y;
    case EMU_U_NCLUSTERID_Z: return l->grid.z / c.z;
    case EMU_U_IS_CLUSTER: return count_of_dim(l->cluster) > 1 ? EMU_ALL : 0;
    case EMU_U_ONE32: return 1;
    default: return 0;
    }
}

static void fill_uniform(const emu_run_state *run, const emu_pool_entry *e, uint8_t *to)
{
    emu_uniform which = (emu_uniform)e->value;
    if (which <= EMU_U_LANEMASK_GT)
        for (uint32_t i = 0; i < EMU_LANES; i++)
            ((uint32_t *)(void *)to)[i] = lanemask(which, i);
    else
        fill_vector(to, e->bytes, uniform_value(run, which), 0);
}

static void fill_param(const emu_run_state *run, const emu_pool_entry *e, uint8_t *to)
{
    uint64_t value[2] = {0};
    uint32_t n = e->memory_bytes;
    const uint32_t have = run->kernel->info.param_bytes;
    if (e->value < have && run->launch->params)
        memcpy(value, (const uint8_t *)run->launch->params + e->value,
               n <= have - e->value ? n : have - e->value);
    if (e->sign && n < 8 && value[0] >> (8 * n - 1) & 1)
        value[0] |= UINT64_MAX << 8 * n;
    fill_vector(to, e->bytes, value[0], value[1]);
}

static void fill_launch_pool(emu_run_state *run)
{
    const emu_kernel *k = run->kernel;
    for (uint32_t n = 0; n < k->npool; n++) {
        const emu_pool_entry *e = &k->pool[n];
        uint8_t *to = run->pool + e->offset;
        switch (e->kind) {
        case EMU_POOL_CONST: fill_vector(to, e->bytes, e->value, e->high); break;
        case EMU_POOL_PARAM: fill_param(run, e, to); break;
        case EMU_POOL_PARAM_ADDRESS:
            fill_vector(to, e->bytes, run->machine->params + e->value, 0);
            break;
        default: fill_uniform(run, e, to); break;
        }
    }
}

static void fill_warps(emu_run_state *run)
{
    const emu_dim b = run->launch->block;
    bool transposed = run->launch->transposed;
    uint32_t first = transposed ? b.y : b.x, second = transposed ? b.x : b.y;
    uint32_t along = transposed ? EMU_W_TID_Y : EMU_W_TID_X;
    uint32_t across = transposed ? EMU_W_TID_X : EMU_W_TID_Y;
    for (uint32_t t = 0; t < run->nwarps * EMU_LANES; t++) {
        uint32_t *v = (uint32_t *)(void *)(run->warp_pool +
                                           (size_t)(t / EMU_LANES) * EMU_W_COUNT * EMU_VECTOR32);
        uint32_t lane = t % EMU_LANES;
        v[along * EMU_LANES + lane] = t % first;
        v[across * EMU_LANES + lane] = t / first % second;
        v[EMU_W_TID_Z * EMU_LANES + lane] = t / first / second;
        v[EMU_W_WARPID * EMU_LANES + lane] = t / EMU_LANES;
    }
}

/* ---- workers ---- */

/* How often blocks that were started before one that failed may still look around. */
enum { POLLS_AFTER_FAULT = 32 };

void emu_end_from(emu_run_state *run, uint64_t turn)
{
    uint64_t end = atomic_load(&run->end);
    while (turn < end && !atomic_compare_exchange_weak(&run->end, &end, turn)) {}
}

bool emu_is_to_end(const emu_cta *cta)
{
    return cta->turn >= atomic_load_explicit(&cta->worker->run->end, memory_order_relaxed);
}

static bool is_ending(const emu_run_state *run)
{
    return atomic_load_explicit(&run->end, memory_order_relaxed) != UINT64_MAX;
}

static void tell_of_time(emu_run_state *run)
{
    const uint64_t total = run->units * count_of_dim(run->cluster);
    pthread_mutex_lock(&run->lock);
    if (run->fault.kind == EMU_FAULT_NONE) {
        run->fault.kind = EMU_FAULT_TIMEOUT;
        run->fault.cuda_error = 702;
        snprintf(run->fault.text, sizeof run->fault.text,
                 "the time limit of the launch was reached: kernel %s ran for %.1f s, %llu of "
                 "%llu blocks had ended",
                 run->kernel->func->name, run->launch->time_limit,
                 (unsigned long long)atomic_load(&run->blocks_done), (unsigned long long)total);
    }
    pthread_mutex_unlock(&run->lock);
}

void emu_poll(emu_worker *worker)
{
    emu_run_state *run = worker->run;
    const emu_launch *l = run->launch;
    const uint64_t total = run->units * count_of_dim(run->cluster);
    bool reports = worker->index == 0 && l->progress;
    if (is_ending(run) && atomic_fetch_add(&run->polls_after_fault, 1) >= POLLS_AFTER_FAULT)
        emu_end_from(run, 0);
    if (run->deadline == 0 && !reports)
        return;
    double t = wl_seconds();
    if (run->deadline != 0 && t > run->deadline) {
        tell_of_time(run);
        emu_end_from(run, 0);
    }
    if (reports && t - run->last_progress >= 0.1) {
        run->last_progress = t;
        if (!l->progress(l->progress_ctx, atomic_load(&run->blocks_done), total)) {
            run->stopped_by_caller = true;
            emu_end_from(run, 0);
        }
    }
}

/* Starts the next cluster of blocks on this worker; false when none is left. A cluster's blocks are
 * in flight together. */
static bool start_next(emu_worker *worker)
{
    emu_run_state *run = worker->run;
    const emu_dim grid = run->launch->grid, c = run->cluster;
    uint64_t n = atomic_fetch_add(&run->next_unit, 1);
    uint32_t size = (uint32_t)count_of_dim(c);
    const uint64_t turn = n * size;
    if (n >= run->units || turn >= atomic_load_explicit(&run->end, memory_order_relaxed))
        return false;
    if (run->launch->only)
        n = run->launch->only[n];
    emu_cluster *cluster = calloc(1, sizeof *cluster + size * sizeof *cluster->blocks);
    if (!cluster)
        return false;
    cluster->blocks = (emu_cta **)(cluster + 1);
    cluster->nblocks = cluster->left = size;
    cluster->threads = size * run->block_threads;
    uint64_t cx = grid.x / c.x, cy = grid.y / c.y;
    emu_dim at = {(uint32_t)(n % cx) * c.x, (uint32_t)(n / cx % cy) * c.y,
                  (uint32_t)(n / cx / cy) * c.z};
    for (uint32_t r = 0; r < size; r++) {
        emu_dim id = {at.x + r % c.x, at.y + r / c.x % c.y, at.z + r / c.x / c.y};
        uint64_t index = id.x + (uint64_t)grid.x * (id.y + (uint64_t)grid.y * id.z);
        emu_cta *cta = emu_cta_start(worker, index, cluster, r);
        if (!cta || !wl_push(&worker->resident, cta)) {
            run->out_of_memory = true;
            emu_end_from(run, 0);
            return false;
        }
        cta->turn = turn + r;
        cluster->blocks[r] = cta;
    }
    return true;
}

static void end_block(emu_worker *worker, size_t at)
{
    emu_cta *cta = worker->resident.data[at];
    emu_cluster *cluster = cta->cluster;
    worker->resident.count--;
    memmove(worker->resident.data + at, worker->resident.data + at + 1,
            (worker->resident.count - at) * sizeof *worker->resident.data);
    cta->cluster = NULL;
    worker->blocks_run++;
    atomic_fetch_add(&worker->run->blocks_done, 1);
    /* Blocks of a cluster may reach into each other's memory until the last one has ended. */
    if (--cluster->left == 0) {
        for (uint32_t r = 0; r < cluster->nblocks; r++)
            emu_cta_end(cluster->blocks[r]);
        free(cluster);
    }
}

/* Runs the blocks in flight once each, those that are to end left out. Where all wait or spin,
 * another one is started: they may wait for it. False where none goes on. */
static bool run_round(emu_worker *worker)
{
    emu_run_state *run = worker->run;
    bool moved = false, yielded = false;
    for (size_t k = 0; k < worker->resident.count;) {
        emu_cta *cta = worker->resident.data[k];
        emu_progress p = emu_is_to_end(cta) ? EMU_BLOCKED : emu_cta_run(cta);
        moved |= p == EMU_DONE || (p != EMU_BLOCKED && cta->moved);
        yielded |= p == EMU_YIELDED;
        if (p == EMU_DONE)
            end_block(worker, k);
        else
            k++;
    }
    if (worker->resident.count == 0)
        return true;
    bool more = worker->resident.count < run->resident_most && start_next(worker);
    if (is_ending(run))
        return moved || more; /* what waits may wait for a block that has failed */
    if (!moved && !yielded && !more)
        emu_deadlock(worker->resident.data[0]);
    if (yielded && !more)
        sched_yield();
    return true;
}

static void work(void *ctx, uint32_t index)
{
    emu_run_state *run = ctx;
    emu_worker *worker = &run->workers[index];
    const acc_observer *o = run->launch->observer;
    worker->observer = o && o->worker_begin ? o->worker_begin(o->ctx, index) : NULL;
    if (setjmp(worker->fault) == 0)
        while ((worker->resident.count || start_next(worker)) && run_round(worker))
            emu_poll(worker);
    while (worker->resident.count) { /* after a fault */
        emu_cta *cta = worker->resident.data[--worker->resident.count];
        emu_cluster *cluster = cta->cluster;
        if (cluster && --cluster->left == 0) {
            for (uint32_t r = 0; r < cluster->nblocks; r++)
                if (cluster->blocks[r])
                    emu_cta_end(cluster->blocks[r]);
            free(cluster);
        }
    }
    if (o && o->worker_end)
        o->worker_end(worker->observer);
}

/* ---- one launch ---- */

static uint32_t host_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

static uint32_t count_workers(const emu_run_state *run)
{
    uint32_t n = run->launch->threads ? run->launch->threads : host_cores();
    n = n > run->units ? (uint32_t)run->units : n;
    return n > 256 ? 256 : n ? n : 1;
}

static bool new_worker(emu_run_state *run, uint32_t index)
{
    emu_worker *w = &run->workers[index];
    const emu_kernel *k = run->kernel;
    w->run = run;
    w->index = index;
    w->caches = calloc(k->ncaches + 1, sizeof *w->caches);
    w->counts = calloc(k->nbbs, sizeof *w->counts);
    w->free_frames = calloc(k->nfunctions, sizeof *w->free_frames);
    w->matrices = k->uses_matrices ? malloc(EMU_MATRIX_BYTES) : NULL;
    return w->caches && w->counts && w->free_frames && (w->matrices || !k->uses_matrices);
}

static void free_worker(emu_worker *w)
{
    const emu_kernel *k = w->run ? w->run->kernel : NULL;
    for (uint32_t f = 0; k && w->free_frames && f < k->nfunctions; f++)
        while (w->free_frames[f]) {
            emu_frame *next = w->free_frames[f]->parent;
            free(w->free_frames[f]);
            w->free_frames[f] = next;
        }
    for (size_t c = 0; c < w->spare.count; c++)
        emu_cta_free(w->spare.data[c]);
    wl_vec_free(&w->spare);
    wl_vec_free(&w->resident);
    free(w->matrices);
    free(w->caches);
    free(w->counts);
    free(w->free_frames);
}

static wl_status refuse_launch(emu_run_state *run, const char *text)
{
    run->fault.kind = EMU_FAULT_OUT_OF_RESOURCES;
    run->fault.cuda_error = 701;
    snprintf(run->fault.text, sizeof run->fault.text, "kernel %s cannot be launched: %s",
             run->kernel->func->name, text);
    return WL_FAULT;
}

static wl_status check_launch(emu_run_state *run, wl_error *err)
{
    const emu_launch *l = run->launch;
    const emu_device *dev = &run->machine->device;
    const emu_dim c = run->cluster;
    char text[200];
    if (!count_of_dim(l->grid) || !count_of_dim(l->block))
        return wl_fail(err, WL_ARG, "the launch has an empty grid or block");
    if (l->grid.x % c.x || l->grid.y % c.y || l->grid.z % c.z)
        return wl_fail(err, WL_ARG, "the grid is not a multiple of the cluster");
    if (run->kernel->info.param_bytes && !l->params)
        return wl_fail(err, WL_ARG, "the launch has no parameters");
    for (uint64_t i = 0; l->only && i < l->nonly; i++)
        if (l->only[i] >= run->nblocks / count_of_dim(c))
            return wl_fail(err, WL_ARG, "the launch has no block %llu",
                           (unsigned long long)l->only[i]);
    uint32_t most = run->kernel->info.max_threads;
    if (count_of_dim(l->block) > most || count_of_dim(l->block) > EMU_MAX_WARPS * EMU_LANES) {
        snprintf(text, sizeof text, "a block of %llu threads; at most %u are possible",
                 (unsigned long long)count_of_dim(l->block), most);
        return refuse_launch(run, text);
    }
    uint64_t room = (uint64_t)dev->max_shared_per_block + l->reserved_shared;
    if (dev->max_shared_per_block && run->reserved_at > ((room + 15) & ~UINT64_C(15))) {
        snprintf(text, sizeof text, "%u bytes of shared memory a block; the device has %u",
                 run->shared_bytes, dev->max_shared_per_block);
        return refuse_launch(run, text);
    }
    if (count_of_dim(c) > 16)
        return refuse_launch(run, "a cluster of more than 16 blocks");
    return WL_OK;
}

static void set_sizes(emu_run_state *run)
{
    const emu_launch *l = run->launch;
    const emu_kernel *k = run->kernel;
    run->cluster = count_of_dim(l->cluster) ? l->cluster : (emu_dim){1, 1, 1};
    run->block_threads = (uint32_t)count_of_dim(l->block);
    run->nwarps = (run->block_threads + EMU_LANES - 1) / EMU_LANES;
    run->shared_bytes = (l->dynamic_shared ? k->dynamic_at : k->info.static_shared) +
                        l->dynamic_shared;
    run->reserved_at = (run->shared_bytes + 15) & ~15u;
    if (k->reserves_shared)
        run->shared_bytes = run->reserved_at + RESERVED_BYTES;
    run->local_stride = k->local_stack ? (k->local_stack + 63) & ~63u : 0;
    run->nblocks = count_of_dim(l->grid);
    run->units = l->only ? l->nonly : run->nblocks / count_of_dim(run->cluster);
    run->nworkers = count_workers(run);
    run->parallel = run->nworkers > 1;
    /* All of a cooperative grid is in flight at once; else what fits on the device, in case blocks
     * wait for others. */
    const emu_device *dev = &run->machine->device;
    uint64_t fits = (uint64_t)(dev->num_sms ? dev->num_sms : 1) *
                    (dev->max_blocks_per_sm ? dev->max_blocks_per_sm : 1);
    run->resident_most = l->cooperative ? run->nblocks : fits / run->nworkers + 1;
}

static bool allocate_run(emu_run_state *run)
{
    const emu_kernel *k = run->kernel;
    run->pool = aligned_alloc(64, (k->pool_bytes + 127) & ~(size_t)63);
    run->warp_pool = aligned_alloc(64, (size_t)run->nwarps * EMU_W_COUNT * EMU_VECTOR32);
    run->workers = calloc(run->nworkers, sizeof *run->workers);
    if (!run->pool || !run->warp_pool || !run->workers)
        return false;
    for (uint32_t n = 0; n < run->nworkers; n++)
        if (!new_worker(run, n))
            return false;
    return true;
}

static void release_run(emu_run_state *run)
{
    for (uint32_t n = 0; run->workers && n < run->nworkers; n++)
        free_worker(&run->workers[n]);
    free(run->workers);
    free(run->pool);
    free(run->warp_pool);
    pthread_mutex_destroy(&run->lock);
    pthread_mutex_destroy(&run->wide_atomics);
}

static bool sum_up(const emu_run_state *run, emu_result *result)
{
    const emu_kernel *k = run->kernel;
    result->blocks = calloc(k->nbbs, sizeof *result->blocks);
    if (!result->blocks)
        return false;
    result->nblocks = k->nbbs;
    for (uint32_t n = 0; n < run->nworkers; n++) {
        result->blocks_run += run->workers[n].blocks_run;
        result->longest_warps += run->workers[n].longest_warps;
        wl_raise(&result->longest_warp, run->workers[n].longest_warp);
        wl_raise(&result->busiest_block, run->workers[n].busiest_block);
        for (uint32_t b = 0; b < k->nbbs; b++) {
            result->blocks[b].executions += run->workers[n].counts[b].executions;
            result->blocks[b].lanes += run->workers[n].counts[b].lanes;
        }
    }
    for (uint32_t b = 0; b < k->nbbs; b++) {
        result->warp_instructions += result->blocks[b].executions * k->bbs[b].ninsns;
        result->thread_instructions += result->blocks[b].lanes * k->bbs[b].ninsns;
    }
    return true;
}

static wl_status execute_launch(emu_run_state *run, emu_result *result, wl_error *err)
{
    const emu_launch *l = run->launch;
    wl_status status = check_launch(run, err);
    if (status != WL_OK) {
        result->fault = run->fault;
        return status;
    }
    if (!allocate_run(run))
        return wl_fail(err, WL_NOMEM, "out of memory while launching kernel %s",
                       run->kernel->func->name);
    if (run->kernel->info.param_bytes)
        memcpy((void *)(uintptr_t)run->machine->params, l->params, run->kernel->info.param_bytes);
    if (l->cooperative)
        memset((void *)(uintptr_t)run->machine->grid_barrier, 0, 64);
    fill_launch_pool(run);
    fill_warps(run);
    double start = wl_seconds();
    run->deadline = l->time_limit > 0 ? start + l->time_limit : 0;
    run->last_progress = start;
    emu_pool_run(&run->machine->pool, run->nworkers, work, run);
    result->seconds = wl_seconds() - start;
    emu_text_flush(run);
    result->fault = run->fault;
    if (!sum_up(run, result) || run->out_of_memory)
        return wl_fail(err, WL_NOMEM, "the host has no memory left for kernel %s",
                       run->kernel->func->name);
    if (run->fault.kind != EMU_FAULT_NONE)
        return WL_FAULT;
    return run->stopped_by_caller ? wl_fail(err, WL_LIMIT, "the launch of kernel %s was stopped",
                                            run->kernel->func->name)
                                  : WL_OK;
}

wl_status emu_run(emu_machine *m, emu_kernel *kernel, const emu_launch *launch, emu_result *result,
                  wl_error *err)
{
    emu_run_state run = {.machine = m, .kernel = kernel, .launch = launch, .end = UINT64_MAX};
    memset(result, 0, sizeof *result);
    pthread_mutex_init(&run.lock, NULL);
    pthread_mutex_init(&run.wide_atomics, NULL);
    pthread_mutex_lock(&m->launching);
    m->launches++;
    set_sizes(&run);
    wl_status status = execute_launch(&run, result, err);
    pthread_mutex_unlock(&m->launching);
    release_run(&run);
    return status;
}

void emu_result_clear(emu_result *result)
{
    free(result->blocks);
    memset(result, 0, sizeof *result);
}
