/* Resident warps, by the rules of cuda/occupancy.c and the launch's grid. */
#include "analysis/model/occupancy.h"

static const struct {
    const char *name, *words;
} limits[MODEL_LIMITS] = {
#define X(id, name, words) [MODEL_LIMIT_##id] = {name, words},
#include "analysis/model/limits.def"
#undef X
};

const char *model_limit_name(model_limit limit)
{
    return limits[limit].name;
}

const char *model_limit_words(model_limit limit)
{
    return limits[limit].words;
}

cuda_footprint model_footprint_of(const prof_launch *l)
{
    return (cuda_footprint){.threads = l->block[0] * l->block[1] * l->block[2],
                            .registers = l->registers,
                            .static_shared = l->static_shared,
                            .dynamic_shared = l->dynamic_shared,
                            .carveout = -1};
}

/* ---- steps: each tries footprints until one lets more warps in ---- */

typedef struct trial {
    const cuda_device *device;
    cuda_footprint block;
    uint32_t warps; /* resident as it is */
} trial;

static bool lets_more_in(const trial *t, const cuda_footprint *block, model_step *step)
{
    cuda_occupancy o = cuda_occupancy_of(t->device, block);
    step->blocks = o.blocks;
    step->warps = o.warps;
    return o.warps > t->warps;
}

static bool try_fewer_registers(const trial *t, model_step *step)
{
    cuda_footprint block = t->block;
    step->now = block.registers;
    while (--block.registers > 0)
        if (lets_more_in(t, &block, step)) {
            step->wanted = block.registers;
            return true;
        }
    return false;
}

/* The shared memory that is given out comes in units, and some of it is reserved. */
static bool try_less_shared(const trial *t, model_step *step)
{
    cuda_footprint block = t->block;
    uint32_t unit = t->device->limits.shared_unit,
             fit = cuda_occupancy_of(t->device, &block).blocks;
    uint32_t own = block.static_shared + block.dynamic_shared;
    block.static_shared = 0;
    step->now = own;
    step->wanted = block.dynamic_shared = cuda_occupancy_shared(t->device, &block, fit + 1);
    if (!step->wanted)
        return false;
    while (block.dynamic_shared >= unit && !lets_more_in(t, &block, step))
        step->wanted = block.dynamic_shared -= unit; /* beyond what the driver reserves */
    return lets_more_in(t, &block, step) && step->wanted < own;
}

/* Blocks of another size, each with the shared memory that it has now. */
static bool try_block_sizes(const trial *t, int direction, model_step *step)
{
    cuda_footprint block = t->block;
    uint32_t warps = (block.threads + 31) / 32;
    step->now = block.threads;
    while ((warps += (uint32_t)direction) > 0 && warps <= 32) {
        step->wanted = block.threads = warps * 32;
        if (lets_more_in(t, &block, step))
            return true;
    }
    return false;
}

static bool find_step(const trial *t, model_limit limit, model_step *step)
{
    *step = (model_step){.of = limit};
    switch (limit) {
    case MODEL_LIMIT_REGISTERS: return try_fewer_registers(t, step);
    case MODEL_LIMIT_SHARED: return try_less_shared(t, step);
    case MODEL_LIMIT_THREADS: return try_block_sizes(t, -1, step);
    case MODEL_LIMIT_BLOCKS: return try_block_sizes(t, 1, step);
    default: return false;
    }
}

/* ---- the launch ---- */

static uint32_t limits_of(const cuda_occupancy *o)
{
    static const struct {
        cuda_limiter from;
        model_limit to;
    } names[] = {{CUDA_LIMIT_REGISTERS, MODEL_LIMIT_REGISTERS},
                 {CUDA_LIMIT_SHARED, MODEL_LIMIT_SHARED},
                 {CUDA_LIMIT_WARPS, MODEL_LIMIT_THREADS},
                 {CUDA_LIMIT_BLOCKS, MODEL_LIMIT_BLOCKS}};
    uint32_t all = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        all |= o->limiters & names[i].from ? 1u << names[i].to : 0;
    return all;
}

/* Too few blocks for as many as would fit on each multiprocessor. */
static void limit_by_grid(model_occupancy *out, const cuda_occupancy *fit, uint32_t of_sm,
                          uint64_t blocks)
{
    out->limits = 1u << MODEL_LIMIT_GRID;
    out->warps = fit->warps / fit->blocks * of_sm;
    out->blocks = of_sm;
    out->has_step = true;
    out->step = (model_step){.of = MODEL_LIMIT_GRID,
                             .now = (uint32_t)blocks,
                             .wanted = fit->blocks * out->sms,
                             .blocks = fit->blocks,
                             .warps = fit->warps};
}

static void limit_by_block(model_occupancy *out, const trial *t, const cuda_occupancy *fit)
{
    out->warps = fit->warps;
    out->blocks = fit->blocks;
    if (fit->warps == out->most)
        return;
    out->limits = limits_of(fit);
    for (uint32_t limit = 0; limit < MODEL_LIMITS && !out->has_step; limit++)
        out->has_step = out->limits >> limit & 1 && find_step(t, limit, &out->step);
}

model_occupancy model_occupancy_of(const cuda_device *d, const prof_launch *l)
{
    trial t = {.device = d, .block = model_footprint_of(l)};
    cuda_occupancy fit = cuda_occupancy_of(d, &t.block);
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2];
    uint32_t sms = (uint32_t)cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    if (!fit.blocks || !blocks || !sms)
        return (model_occupancy){0};
    uint64_t of_sm = (blocks + sms - 1) / sms;
    model_occupancy out = {.most = d->limits.warps,
                           .sms = sms,
                           .used = blocks < sms ? (uint32_t)blocks : sms,
                           .estimated = fit.limiters & CUDA_LIMIT_REGISTERS &&
                                        l->registers_by == PROF_REGISTERS_ESTIMATE};
    t.warps = fit.warps;
    if (of_sm < fit.blocks)
        limit_by_grid(&out, &fit, (uint32_t)of_sm, blocks);
    else
        limit_by_block(&out, &t, &fit);
    out.estimated &= (out.limits >> MODEL_LIMIT_REGISTERS & 1);
    return out;
}
