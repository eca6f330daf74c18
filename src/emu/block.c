/* Blocks in flight: their memory, their warps in turn, deadlocks. */
#include "base/order.h"
#include "emu/ops.h"
#include "emu/printer.h"

#include <stdio.h>

/* ---- starting ---- */

static emu_cta *take_spare(emu_worker *worker)
{
    if (worker->spare.count)
        return worker->spare.data[--worker->spare.count];
    const emu_run_state *run = worker->run;
    emu_cta *cta = calloc(1, sizeof *cta);
    if (!cta)
        return NULL;
    cta->warps = aligned_alloc(64, (run->nwarps * sizeof *cta->warps + 63) & ~(size_t)63);
    cta->pool = aligned_alloc(64, EMU_B_COUNT * EMU_VECTOR32);
    cta->shared = aligned_alloc(256, (run->shared_bytes + 511) & ~(size_t)255);
    uint32_t stride = run->local_stride;
    if (stride)
        cta->local = aligned_alloc(256,
                                   ((size_t)stride * EMU_LANES * run->nwarps + 255) & ~(size_t)255);
    bool diverges = run->kernel->diverges;
    if (diverges)
        cta->meetings = calloc((size_t)run->nwarps * EMU_MEETINGS, sizeof *cta->meetings);
    if (!cta->warps || !cta->pool || !cta->shared || (stride && !cta->local) ||
        (diverges && !cta->meetings)) {
        emu_cta_free(cta);
        return NULL;
    }
    memset(cta->warps, 0, run->nwarps * sizeof *cta->warps);
    return cta;
}

void emu_cta_free(emu_cta *cta)
{
    if (!cta)
        return;
    free(cta->warps);
    free(cta->pool);
    free(cta->shared);
    free(cta->local);
    free(cta->meetings);
    emu_text_free(cta->text);
    free(cta);
}

static void broadcast(emu_cta *cta, uint32_t vector, uint32_t value)
{
    uint32_t *v = (uint32_t *)(void *)(cta->pool + vector * EMU_VECTOR32);
    for (int i = 0; i < EMU_LANES; i++)
        v[i] = value;
}

static void fill_block_pool(emu_cta *cta)
{
    const emu_run_state *run = cta->worker->run;
    const emu_launch *l = run->launch;
    emu_dim c = run->cluster, id = cta->id;
    broadcast(cta, EMU_B_CTAID_X, id.x);
    broadcast(cta, EMU_B_CTAID_Y, id.y);
    broadcast(cta, EMU_B_CTAID_Z, id.z);
    broadcast(cta, EMU_B_SMID, (uint32_t)(cta->index % run->machine->device.num_sms));
    if (!run->kernel->uses_cluster && !l->cluster.x)
        return;
    broadcast(cta, EMU_B_CLUSTERID_X, id.x / c.x);
    broadcast(cta, EMU_B_CLUSTERID_Y, id.y / c.y);
    broadcast(cta, EMU_B_CLUSTERID_Z, id.z / c.z);
    broadcast(cta, EMU_B_CLUSTER_CTAID_X, id.x % c.x);
    broadcast(cta, EMU_B_CLUSTER_CTAID_Y, id.y % c.y);
    broadcast(cta, EMU_B_CLUSTER_CTAID_Z, id.z % c.z);
    broadcast(cta, EMU_B_CLUSTER_CTARANK, cta->cluster_rank);
}

static void start_warps(emu_cta *cta)
{
    const emu_run_state *run = cta->worker->run;
    cta->nwarps = cta->warps_alive = run->nwarps;
    if (run->local_stride)
        memset(cta->local, 0, (size_t)run->local_stride * EMU_LANES * run->nwarps);
    for (uint32_t n = 0; n < run->nwarps; n++) {
        emu_warp *w = &cta->warps[n];
        uint32_t left = run->block_threads - n * EMU_LANES;
        w->index = n;
        w->cta = cta;
        w->worker = cta->worker;
        w->lanes = left >= EMU_LANES ? EMU_ALL : (1u << left) - 1;
        w->live = w->lanes;
        w->dead = ~w->live;
        w->nsplits = 0;
        w->taken_up = 0;
        w->meeting = cta->meetings ? cta->meetings + (size_t)n * EMU_MEETINGS : NULL;
        w->started = false;
        w->base[EMU_LAUNCH] = run->pool;
        w->base[EMU_BLOCK] = cta->pool;
        w->base[EMU_WARP] = run->warp_pool + (size_t)n * EMU_W_COUNT * EMU_VECTOR32;
        w->local = cta->local + (size_t)n * EMU_LANES * run->local_stride;
        w->local_stride = run->local_stride;
        w->cluster_phase = 0;
        w->instructions = 0;
    }
}

emu_cta *emu_cta_start(emu_worker *worker, uint64_t index, emu_cluster *cluster, uint32_t rank)
{
    emu_cta *cta = take_spare(worker);
    if (!cta)
        return NULL;
    const emu_run_state *run = worker->run;
    const emu_dim grid = run->launch->grid;
    const acc_observer *o = run->launch->observer;
    cta->worker = worker;
    cta->index = index;
    cta->id = (emu_dim){(uint32_t)(index % grid.x), (uint32_t)(index / grid.x % grid.y),
                        (uint32_t)(index / grid.x / grid.y)};
    cta->shared_bytes = run->shared_bytes;
    cta->cluster = cluster;
    cta->cluster_rank = rank;
    memset(cta->shared, 0, run->shared_bytes);
    memset(cta->barriers, 0, sizeof cta->barriers);
    fill_block_pool(cta);
    start_warps(cta);
    cta->observer_block = o && o->block_begin ? o->block_begin(worker->observer, index) : NULL;
    cta->observed = o && o->access ? cta->observer_block : NULL;
    cta->entered = o && o->enter ? cta->observer_block : NULL;
    return cta;
}

/* Instructions of all its warps. */
static uint64_t count_work(emu_cta *cta)
{
    uint64_t sum = 0, longest = 0;
    for (uint32_t n = 0; n < cta->nwarps; n++) {
        sum += cta->warps[n].instructions;
        wl_raise(&longest, cta->warps[n].instructions);
    }
    cta->worker->longest_warps += longest;
    wl_raise(&cta->worker->longest_warp, longest);
    wl_raise(&cta->worker->busiest_block, sum);
    return sum;
}

void emu_cta_end(emu_cta *cta)
{
    emu_worker *worker = cta->worker;
    const acc_observer *o = worker->run->launch->observer;
    uint64_t instructions = count_work(cta);
    for (uint32_t n = 0; n < cta->nwarps; n++)
        emu_warp_abandon(&cta->warps[n]);
    if (o && o->block_end && cta->observer_block)
        o->block_end(worker->observer, cta->observer_block, instructions);
    emu_text_done(worker->run, cta);
    if (!wl_push(&worker->spare, cta))
        emu_cta_free(cta);
}

/* ---- running ---- */

emu_progress emu_cta_run(emu_cta *cta)
{
    for (;;) {
        bool yielded = false, progressed = false;
        cta->moved = false;
        for (uint32_t n = 0; n < cta->nwarps; n++) {
            emu_warp *w = &cta->warps[n];
            if (!w->live)
                continue;
            if (!w->started) {
                w->started = true;
                emu_warp_start(w);
            }
            emu_progress p = emu_warp_run(w);
            yielded |= p == EMU_YIELDED;
            progressed |= p == EMU_DONE;
        }
        if (cta->warps_alive == 0)
            return EMU_DONE;
        if (yielded && !progressed)
            return EMU_YIELDED;
        if (!cta->moved)
            return EMU_BLOCKED;
    }
}

/* ---- deadlocks ---- */

static const char *place_name(const emu_kernel *k, const emu_split *s, char *buffer, size_t size)
{
    emu_source_line(k, k->bbs[s->bb].first_pc, buffer, size);
    return buffer;
}

static size_t describe_split(const emu_cta *cta, const emu_warp *w, const emu_split *s, char *to,
                             size_t size)
{
    char place[160], what[64];
    if (s->state == EMU_WAIT_BARRIER)
        snprintf(what, sizeof what, "barrier %u", s->barrier);
    else
        snprintf(what, sizeof what, "%s",
                 s->state == EMU_WAIT_CLUSTER ? "the cluster's barrier"
                                              : "other lanes of its warp");
    int n = snprintf(to, size, "; warp %u, lanes 0x%08x: %s at %s", w->index, s->mask, what,
                     place_name(cta->worker->run->kernel, s, place, sizeof place));
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

_Noreturn void emu_deadlock(emu_cta *cta)
{
    char text[600] = "";
    size_t at = 0;
    emu_warp *first = NULL;
    uint32_t shown = 0, waiting = 0;
    for (uint32_t n = 0; n < cta->nwarps; n++)
        for (uint32_t k = 0; k < cta->warps[n].nsplits; k++) {
            emu_warp *w = &cta->warps[n];
            waiting++;
            if (!first) {
                first = w;
                w->current = k;
            }
            if (shown < 6 && at + 1 < sizeof text) {
                at += describe_split(cta, w, &w->splits[k], text + at, sizeof text - at);
                shown++;
            }
        }
    if (!first)
        first = &cta->warps[0];
    const emu_kernel *k = cta->worker->run->kernel;
    uint32_t pc = first->nsplits ? k->bbs[first->splits[first->current].bb].first_pc : 0;
    uint32_t lane = first->nsplits ? (uint32_t)__builtin_ctz(first->splits[first->current].mask)
                                   : 0;
    emu_raise(first, pc, EMU_FAULT_DEADLOCK, lane, 0, 0,
              "waits for what never comes: %u of %u warps have ended%s%s",
              cta->nwarps - cta->warps_alive, cta->nwarps, text, waiting > shown ? "; ..." : "");
}
