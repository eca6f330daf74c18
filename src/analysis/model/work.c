/* What a launch asks of a device: sums over the profile's rows of one launch. */
#include "analysis/model/parts.h"

#include <math.h>
#include <string.h>

/* ---- requests ---- */

static void add_global(const model_rows *rows, const obs_insn *c, model_traffic *t)
{
    bool known = c->space == ACC_GLOBAL;
    double lines = model_lines_of(c, known ? prof_find_object(&rows->objects, c->object) : NULL);
    t->requests += (double)c->requests;
    t->lines += lines;
    t->sectors += (double)c->sectors;
    if (c->op == ACC_STORE) {
        t->stored += (double)c->sectors;
        t->stored_lines += lines;
        t->stored_bytes += at_most((double)c->active_lanes * c->bytes,
                                   (double)c->sectors * MODEL_SECTOR);
    } else if (c->space == ACC_GLOBAL) {
        t->loads += (double)c->requests;
        t->loaded += (double)c->sectors;
        t->loaded_lines += lines;
    }
}

/* Lanes that change one word of shared memory wait for each other. */
static double turns_of_shared(const obs_insn *c)
{
    return (double)(model_is_atomic(c) && model_is_of_one_word(c) ? c->active_lanes
                                                                  : c->wavefronts);
}

static model_updates shared_updates_of(const model_rows *rows, const obs_insn *c)
{
    const prof_object *array = prof_find_object(&rows->objects, c->object);
    double requests = (double)c->requests,
           words = part_of(array ? (double)array->bytes : 0, c->bytes);
    return (model_updates){requests, part_of(turns_of_shared(c), requests),
                           part_of((double)c->active_lanes, requests),
                           model_is_of_one_word(c) ? 1 : words};
}

static void add_shared_requests(const model_rows *rows, const prof_instruction *i, model_work *w)
{
    const obs_insn *c = &i->c;
    model_updates updates = shared_updates_of(rows, c);
    if (model_is_atomic(c) && model_add_spins(rows, i, &updates, w))
        return;
    w->shared_turns += turns_of_shared(c);
    w->shared_extra += turns_of_shared(c) - (double)c->wavefronts_min;
    if (c->op == ACC_LOAD) {
        w->shared_loads += (double)c->requests;
        w->shared_load_turns += (double)c->wavefronts;
    }
}

static void add_atomics(const model_rows *rows, const prof_instruction *i, model_traffic *t)
{
    prof_instruction once;
    bool retried = model_is_retried(rows, i);
    if (retried)
        once = model_without_retries(i);
    model_add_atomics(rows, retried ? &once : i, t);
}

static void add_requests(model_rows *rows, const prof_instruction *insns, uint32_t ninsns,
                         model_work *w)
{
    for (uint32_t i = 0; i < ninsns; i++) {
        const obs_insn *c = &insns[i].c;
        if (c->space == ACC_SHARED)
            add_shared_requests(rows, &insns[i], w);
        else if (c->space == ACC_GLOBAL && model_is_atomic(c))
            add_atomics(rows, &insns[i], &w->traffic);
        else if (c->space == ACC_GLOBAL || c->space == ACC_LOCAL)
            add_global(rows, c, &w->traffic);
    }
}

static double hit_rate_of(const model_traffic *t)
{
    return t->loaded > 0 ? 1 - t->missed / t->loaded : 0;
}

static bool uses_managed(const model_rows *rows, const model_launch_rows *l)
{
    for (uint32_t i = 0; i < l->ninsns; i++) {
        const obs_insn *c = &l->insns[i].c;
        const prof_object *o = c->space == ACC_GLOBAL ? prof_find_object(&rows->objects, c->object)
                                                      : NULL;
        if (o && o->kind == CAP_OBJECT_MANAGED)
            return true;
    }
    return false;
}

/* ---- all together ---- */

static double blocks_of_grid(const prof_launch *l)
{
    return (double)l->grid[0] * l->grid[1] * l->grid[2];
}

static double warps_of_block(const prof_launch *l)
{
    return ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
}

/* How much more than the mean the one does that does most; 1 where that is not known. */
static double most_of_mean(uint64_t most, uint64_t all, double count)
{
    return all ? at_least((double)most * count / (double)all, 1) : 1;
}

static void add_balance(const prof_launch *l, model_work *w)
{
    w->longest = most_of_mean(l->longest_warp, l->warp_instructions, w->blocks * w->warps);
    w->longest_of_block = most_of_mean(l->longest_warps, l->warp_instructions, w->warps);
    w->busiest = most_of_mean(l->busiest_block, l->warp_instructions, w->blocks);
}

static void balance_work(model_work *w)
{
    w->longest = w->longest_of_block = w->busiest = 1;
}

static double active_part(uint64_t thread_instructions, uint64_t warp_instructions, double lanes)
{
    double part = (double)thread_instructions / ((double)warp_instructions * lanes);
    return at_most(part, 1);
}

/* Where their lanes make up full warps, so many instructions of a class remain; of one that the
 * machine code has and the PTX has not, as of all together. */
static void pack_work(const prof_launch *l, model_work *w)
{
    enum { CLASSES = sizeof l->mix->warp_instructions / sizeof *l->mix->warp_instructions };
    double lanes = (double)l->block[0] * l->block[1] * l->block[2] / w->warps;
    if (!l->warp_instructions)
        return;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++) {
        bool own = cost < CLASSES && l->mix->warp_instructions[cost];
        w->machine[cost] *= own ? active_part(l->mix->thread_instructions[cost],
                                              l->mix->warp_instructions[cost], lanes)
                                : active_part(l->thread_instructions, l->warp_instructions, lanes);
    }
}

static void add_work(const prof_work *rows, uint32_t count, model_work *w)
{
    for (uint32_t i = 0; i < count; i++) {
        w->machine[rows[i].cost] += rows[i].machine;
        w->chain[rows[i].cost] += rows[i].chain / (w->blocks * w->warps);
    }
}

/* Where there are fewer, so many blocks, each of which does that much less. */
static void spread_work(model_work *w, double blocks)
{
    double times = blocks / w->blocks;
    if (times <= 1)
        return;
    w->blocks = blocks;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        w->chain[cost] /= times;
    w->chain_loads /= times;
    w->chain_shared /= times;
    for (uint32_t sum = 0; sum < MODEL_SUMS; sum++) {
        w->spins[sum].waits /= times;
        w->spins[sum].others /= times;
    }
}

/* Each thread does as much as before, in blocks of fewer warps. */
static void cut_blocks(model_work *w, double blocks)
{
    double times = at_most(blocks / w->blocks, w->warps);
    if (times <= 1)
        return;
    w->blocks *= times;
    w->warps /= times;
}

/* How many sectors that L1 has or lacks independently of each other a wait for loads is like: so many that what
 * it lacks of sectors and of waits agree. Fewer than it takes where sectors are lacked together. */
static double alone_of_wait(const model_traffic *t)
{
    const double none = 0.001;
    double waits = at_most(at_least(t->short_waits, none), 1 - none);
    double sectors = at_most(at_least(t->hit_rate, none), 1 - none);
    return log(waits) / log(sectors);
}

/* Where it is not known which waits are short, sectors that lie closer together are found in L1 as well as before,
 * unless they are staged: then what is left to load comes from further away. */
static void set_hits_after(const model_change *change, const model_traffic *before,
                           model_traffic *t)
{
    double after = hit_rate_of(t);
    bool worse = after < before->hit_rate && !model_stages(change);
    t->hit_rate = !before->waits_known && worse ? before->hit_rate : after;
    t->waits_known = before->waits_known;
    t->short_waits = t->waits_known ? pow(after, alone_of_wait(before)) : 0;
}

static void try_change(model_rows *rows, const model_device *d, const prof_launch *launch,
                       const model_launch_rows *l, const model_change *change, model_work *w)
{
    model_traffic before = w->traffic;
    w->traffic = (model_traffic){0};
    w->shared_turns = w->shared_extra = w->shared_loads = w->shared_load_turns = 0;
    memset(w->spins, 0, sizeof w->spins);
    model_change_barriers(change, w);
    const prof_instruction *now = model_change_rows(rows, l, change, w);
    add_requests(rows, now, l->ninsns, w);
    model_add_objects(rows, d, l, now, change, w);
    model_add_retries(rows, d, launch, l, now, w);
    set_hits_after(change, &before, &w->traffic);
}

bool model_work_of(model_rows *rows, const model_device *device, const prof_launch *launch,
                   const model_change *change, model_work *out)
{
    model_launch_rows l = model_take_launch(rows, launch);
    *out = (model_work){.blocks = blocks_of_grid(launch), .warps = warps_of_block(launch)};
    if (!l.nwork || !l.nwaits || !launch->mix_whole || !(out->blocks * out->warps > 0))
        return false;
    add_balance(launch, out);
    add_work(l.work, l.nwork, out);
    out->chain_loads = l.waits->loads / (out->blocks * out->warps);
    out->chain_shared = l.waits->shared / (out->blocks * out->warps);
    out->managed = uses_managed(rows, &l);
    out->ilp = l.waits->ilp;
    out->mlp = l.waits->mlp;
    add_requests(rows, l.insns, l.ninsns, out);
    model_add_objects(rows, device, &l, l.insns, NULL, out);
    model_add_retries(rows, device, launch, &l, l.insns, out);
    out->traffic.hit_rate = hit_rate_of(&out->traffic);
    if (change)
        try_change(rows, device, launch, &l, change, out);
    if (change && change->fill)
        spread_work(out, device->sms);
    if (change && change->cut)
        cut_blocks(out, device->sms);
    if (change && change->even)
        balance_work(out);
    if (change && change->packed)
        pack_work(launch, out);
    return true;
}

static void fill_atomics(model_atomics *a, double times)
{
    a->same *= times;
    a->apart *= times;
}

static void fill_spins(model_spins *s, double times)
{
    s->tries *= times;
    s->passes *= times;
}

void model_work_fill(model_work *w, double blocks)
{
    model_traffic *t = &w->traffic;
    double *const counts[] = {&w->blocks,          &w->shared_turns, &w->shared_extra,
                              &t->requests,        &t->lines,        &t->sectors,
                              &t->loads,           &t->loaded,       &t->loaded_lines,
                              &t->missed,          &t->missed_lines, &t->moved_again,
                              &t->again_loaded,    &t->stored,       &t->stored_lines,
                              &t->stored_bytes,    &t->atomic_lanes, &t->atomic_turns,
                              &t->swaps.rounds,    &t->swaps.tries,  &t->swaps_most.rounds,
                              &t->swaps_most.tries};
    double times = blocks / w->blocks;
    if (times <= 1)
        return;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        *counts[i] *= times;
    for (uint32_t sum = 0; sum < MODEL_SUMS; sum++) {
        fill_atomics(&t->slice[sum], times);
        fill_spins(&w->spins[sum], times);
    }
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        w->machine[cost] *= times;
}
