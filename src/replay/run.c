/* A slice run over as many blocks as the time allows, and the scaling of what it counted. */
#include "replay/run.h"

#include "base/clock.h"
#include "base/order.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 32,     /* blocks to judge the time by */
    SECOND = 256,   /* more of them, where by the first there is too little time */
    CHUNK = 1 << 16 /* blocks of one run */
};

typedef struct progress {
    const replay_run *run;
    const acc_observer *observer;
    emu_result *sum;
    uint64_t units;  /* blocks, or clusters where there are any */
    uint64_t *first; /* what is run first: ascending */
    uint32_t nfirst;
    double each; /* seconds that one takes */
    uint64_t *chunk;
    uint64_t done;
    double started;
} progress;

static bool may_go_on(void *ctx, uint64_t done, uint64_t total)
{
    const replay_run *run = ctx;
    (void)done;
    (void)total;
    bool late = run->end > 0 && wl_seconds() > run->end;
    return !late && (!run->go_on || run->go_on(run->ctx));
}

/* ---- one run ---- */

static wl_status add_result(emu_result *sum, emu_result *part)
{
    if (!sum->blocks) {
        *sum = *part;
        *part = (emu_result){0};
        return WL_OK;
    }
    for (uint32_t b = 0; b < sum->nblocks; b++) {
        sum->blocks[b].executions += part->blocks[b].executions;
        sum->blocks[b].lanes += part->blocks[b].lanes;
    }
    sum->warp_instructions += part->warp_instructions;
    sum->thread_instructions += part->thread_instructions;
    sum->longest_warps += part->longest_warps;
    wl_raise(&sum->longest_warp, part->longest_warp);
    wl_raise(&sum->busiest_block, part->busiest_block);
    sum->blocks_run += part->blocks_run;
    sum->seconds += part->seconds;
    emu_result_clear(part);
    return WL_OK;
}

static wl_status run_units(progress *p, const uint64_t *units, uint64_t count, wl_error *err)
{
    emu_result part = {0};
    emu_launch launch = p->run->launch;
    launch.only = units;
    launch.nonly = count;
    launch.observer = p->observer;
    launch.progress = may_go_on;
    launch.progress_ctx = (void *)(uintptr_t)p->run;
    if (!count)
        return WL_OK;
    wl_status status = emu_run(p->run->machine, p->run->slice, &launch, &part, err);
    if (status == WL_FAULT)
        wl_fail(err, status, "%s", part.fault.text);
    p->done += count;
    if (status == WL_OK)
        return add_result(p->sum, &part);
    emu_result_clear(&part);
    return status;
}

/* ---- which ---- */

static uint64_t sampling_unit_of(const progress *p, uint64_t block)
{
    const emu_dim g = p->run->launch.grid, c = p->run->launch.cluster;
    if (!c.x || (uint64_t)c.x * c.y * c.z == 1)
        return block;
    uint64_t x = block % g.x / c.x, y = block / g.x % g.y / c.y, z = block / g.x / g.y / c.z;
    return (z * (g.y / c.y) + y) * (g.x / c.x) + x;
}

static bool is_first(const progress *p, uint64_t unit)
{
    return bsearch(&unit, p->first, p->nfirst, sizeof *p->first, wl_by_number) != NULL;
}

static void sort_first(progress *p)
{
    qsort(p->first, p->nfirst, sizeof *p->first, wl_by_number);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < p->nfirst; i++)
        if (!kept || p->first[kept - 1] != p->first[i])
            p->first[kept++] = p->first[i];
    p->nfirst = kept;
}

static void choose_first(progress *p)
{
    uint64_t least = p->units < FIRST ? p->units : FIRST;
    for (uint64_t i = 0; i < least; i++)
        p->first[p->nfirst++] = (uint64_t)((double)i * (double)p->units / (double)least);
    for (uint32_t i = 0; i < p->run->nsampled; i++)
        p->first[p->nfirst++] = sampling_unit_of(p, p->run->sampled[i]);
    sort_first(p);
}

/* `total` units at equal distances, but for those that were run first. */
static wl_status run_spread(progress *p, uint64_t total, wl_error *err)
{
    wl_status status = WL_OK;
    uint64_t n = 0;
    for (uint64_t i = 0; i < total && status == WL_OK; i++) {
        uint64_t unit = total == p->units
                            ? i
                            : (uint64_t)((double)i * ((double)p->units / (double)total));
        if (!is_first(p, unit))
            p->chunk[n++] = unit;
        if (n == CHUNK) {
            status = run_units(p, p->chunk, n, err);
            n = 0;
        }
    }
    return status == WL_OK ? run_units(p, p->chunk, n, err) : status;
}

/* How many units fit into the time. */
static uint64_t affordable(const progress *p)
{
    double limit = p->run->seconds, left = p->started + limit - wl_seconds();
    double most = (double)p->done + (left > 0 ? left / p->each : 0);
    return limit <= 0 || most >= (double)p->units ? p->units : (uint64_t)most;
}

/* The first units get heat maps, and begin with nothing in caches: where it seems that not all fit into
 * the time, more of them tell better. They count among the first from then on. */
static wl_status judge_again(progress *p, wl_error *err)
{
    uint64_t n = 0, total = affordable(p);
    if (total == p->units || total < p->nfirst + SECOND)
        return WL_OK;
    for (uint64_t i = 0; i < SECOND; i++) {
        uint64_t unit = (uint64_t)(((double)i + 0.5) * ((double)p->units / SECOND));
        if (!is_first(p, unit))
            p->chunk[n++] = unit;
    }
    double begin = wl_seconds();
    wl_status status = run_units(p, p->chunk, n, err);
    p->each = n ? (wl_seconds() - begin) / (double)n : p->each;
    memcpy(&p->first[p->nfirst], p->chunk, n * sizeof *p->chunk);
    p->nfirst += (uint32_t)n;
    sort_first(p);
    return status;
}

static wl_status run_first(progress *p, wl_error *err)
{
    choose_first(p);
    wl_status status = run_units(p, p->first, p->nfirst, err);
    p->each = (wl_seconds() - p->started) / p->nfirst;
    return status == WL_OK ? judge_again(p, err) : status;
}

wl_status replay_run_blocks(const replay_run *run, const acc_observer *observer, emu_result *result,
                            double *share, wl_error *err)
{
    const emu_dim g = run->launch.grid, c = run->launch.cluster;
    progress p = {.run = run, .observer = observer, .sum = result, .started = wl_seconds()};
    uint64_t size = c.x ? (uint64_t)c.x * c.y * c.z : 1;
    p.units = (uint64_t)g.x * g.y * g.z / size;
    p.chunk = malloc(CHUNK * sizeof *p.chunk);
    p.first = malloc(((size_t)FIRST + SECOND + run->nsampled) * sizeof *p.first);
    wl_status status = p.chunk && p.first ? WL_OK : wl_fail(err, WL_NOMEM, "out of memory");
    if (status == WL_OK)
        status = run_first(&p, err);
    uint64_t total = status == WL_OK ? affordable(&p) : 0;
    if (status == WL_OK && total > p.nfirst)
        status = run_spread(&p, total, err);
    *share = (double)p.done / (double)p.units;
    free(p.chunk);
    free(p.first);
    return status;
}

/* ---- estimates ---- */

static uint64_t scaled_count(uint64_t count, double share)
{
    return (uint64_t)llround((double)count / share);
}

void replay_scale_row(obs_insn *c, double share)
{
    uint64_t *const counts[] = {&c->active_lanes,   &c->sectors,    &c->sectors_min, &c->wavefronts,
                                &c->wavefronts_min, &c->turns,      &c->slice_turns, &c->uniform,
                                &c->contiguous,     &c->misaligned, &c->strided,     &c->irregular};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] = scaled_count(*counts[i], share);
    c->requests = c->uniform + c->contiguous + c->misaligned + c->strided + c->irregular;
}

void replay_scale(obs_summary *s, double share, uint64_t blocks, const uint8_t *recorded)
{
    s->blocks_run = blocks;
    if (share >= 1)
        return;
    for (uint32_t i = 0; i < s->ninsns; i++)
        if (!recorded || !recorded[s->insns[i].pc])
            replay_scale_row(&s->insns[i], share);
    s->warp_instructions = s->thread_instructions = 0;
    for (uint32_t i = 0; i < s->nblocks; i++) {
        obs_block_count *b = &s->blocks[i];
        b->executions = scaled_count(b->executions, share);
        b->lanes = scaled_count(b->lanes, share);
        s->warp_instructions += b->executions * b->ninsns;
        s->thread_instructions += b->lanes * b->ninsns;
    }
    for (size_t i = 0; i < sizeof s->mix.warp_instructions / sizeof(uint64_t); i++) {
        s->mix.warp_instructions[i] = scaled_count(s->mix.warp_instructions[i], share);
        s->mix.thread_instructions[i] = scaled_count(s->mix.thread_instructions[i], share);
    }
}
