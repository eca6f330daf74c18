/* Paths of warps: what slots hold, and the same from basic blocks that lanes begin. */
#include "rewrite/path/lanes.h"

#include "rewrite/path/path.h"

#include <string.h>

/* ---- a lane ---- */

static uint32_t first_step_at(const rewrite_path *path, uint32_t pc)
{
    uint32_t low = 0, high = path->nsteps;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (path->steps[middle].pc < pc)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void take_path_step(const rewrite_path_step *s, rewrite_path_lanes *l, uint32_t lane)
{
    uint32_t none = 0, *turns = l->turns ? &l->turns[s->loop * REWRITE_LANES + lane] : &none;
    if (s->kind == REWRITE_PATH_TURN) {
        ++*turns;
        return;
    }
    if (s->kind == REWRITE_PATH_FOLD) {
        l->count[lane] += *turns * s->add - s->less;
        *turns = 0;
    } else {
        l->count[lane] += s->add;
    }
    if (s->kind != REWRITE_PATH_COUNT)
        l->hash[lane] = l->hash[lane] * s->factor + l->count[lane];
}

void rewrite_path_enter(const rewrite_path *path, rewrite_path_lanes *l, uint32_t pc, uint32_t mask)
{
    for (uint32_t i = first_step_at(path, pc); i < path->nsteps && path->steps[i].pc == pc; i++)
        for (uint32_t m = mask; m; m &= m - 1)
            take_path_step(&path->steps[i], l, (uint32_t)__builtin_ctz(m));
}

/* ---- a warp ---- */

/* One to one for each lane. The kernel does the same (path_code.c). */
static uint64_t mix_lane(uint32_t hash, uint32_t count, uint32_t lane)
{
    uint32_t a = hash + lane * RW_MIX_LANE, b = count;
    a = (a ^ a >> RW_MIX_SHIFT_1) * RW_MIX_1;
    b = b + a;
    b = (b ^ b >> RW_MIX_SHIFT_2) * RW_MIX_2;
    a = a + b;
    a = (a ^ a >> RW_MIX_SHIFT_3) * RW_MIX_3;
    b = b + a;
    b = b ^ b >> RW_MIX_SHIFT_4;
    return (uint64_t)b << 32 | a;
}

enum { FEW = 1 << 27 /* instructions of a lane whose sum over a warp is known modulo 2^32 */ };

rewrite_warp_path rewrite_path_end(const rewrite_path_lanes *l)
{
    rewrite_warp_path out = {0};
    for (uint32_t lane = 0; lane < REWRITE_LANES; lane++) {
        if (!l->count[lane])
            continue;
        out.hash ^= mix_lane(l->hash[lane], l->count[lane], lane);
        out.lane_instructions += l->count[lane];
        if (l->count[lane] > out.instructions)
            out.instructions = l->count[lane];
    }
    if (out.instructions >= FEW)
        out.lane_instructions = UINT64_MAX;
    return out;
}

/* ---- reading ---- */

uint64_t rewrite_npaths(const rewrite_copy *c)
{
    const rewrite_layout *l = c->layout;
    uint64_t bytes = l->paths_at ? rewrite_path_bytes(l->blocks, l->threads) : 0;
    bool there = l->paths_at <= c->size && c->size - l->paths_at >= bytes;
    return there ? bytes / sizeof(rewrite_warp_slot) : 0;
}

bool rewrite_read_path(const rewrite_copy *c, uint64_t warp, rewrite_warp_path *out)
{
    rewrite_warp_slot slot;
    uint64_t at = c->layout->paths_at + sizeof slot * warp;
    *out = (rewrite_warp_path){0};
    if (warp >= rewrite_npaths(c))
        return false;
    memcpy(&slot, (const char *)c->state + at, sizeof slot);
    *out = (rewrite_warp_path){slot.hash, slot.most, slot.most < FEW ? slot.sum : UINT64_MAX};
    return slot.hash || slot.most || slot.sum;
}

/* ---- without a rewritten kernel ---- */

wl_status rewrite_path_of(const ir_module *module, const ir_func *kernel, wl_arena *arena,
                          rewrite_path *out)
{
    const rewrite_options options = {.probes = 1u << REWRITE_PATH, .everything = true};
    rewrite_kernel *planned = wl_new(arena, rewrite_kernel);
    rw_plan *plan = wl_new(arena, rw_plan);
    *out = (rewrite_path){0};
    if (!planned || !plan)
        return WL_NOMEM;
    *planned = (rewrite_kernel){.func = kernel};
    *plan = (rw_plan){.module = module,
                      .options = &options,
                      .arena = arena,
                      .out = planned,
                      .number = kernel->index};
    wl_status status = rw_plan_kernel(plan);
    if (status == WL_OK && rewrite_has_probe(planned, REWRITE_PATH))
        *out = planned->path;
    return status;
}
