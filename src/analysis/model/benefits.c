/* The paper's benefits of a launch: what its parameters are on the device at hand. docs/model.md has
 * the mapping as a table. */
#include "analysis/model/paper.h"
#include "analysis/model/work.h"

#include <math.h>

#define FIGURE_OF(d, key) cuda_figure_of((d), CUDA_FIGURE_##key)

enum { WARP = 32 };

/* The first that is known. */
static double figure_or(double value, double otherwise)
{
    return value > 0 ? value : otherwise;
}

static double sum_of_warp(const model_work *w, double of_all)
{
    return of_all / (w->blocks * w->warps);
}

/* ---- instructions ---- */

/* Where no figure tells a class apart, it takes as long as FP32, as in the paper. */
static double cycles_of_class(const cuda_device *d, ir_cost cost)
{
    return figure_or(model_latency_of(d, cost), FIGURE_OF(d, fp32_latency));
}

typedef struct class_sum {
    double count, cycles;
} class_sum;

static class_sum sum_of_classes(const cuda_device *d, const model_work *w, uint32_t classes)
{
    class_sum sum = {0};
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        if (classes >> cost & 1) {
            sum.count += w->machine[cost];
            sum.cycles += w->machine[cost] * cycles_of_class(d, cost);
        }
    return sum;
}

static const uint32_t special = 1u << IR_COST_SFU;
static const uint32_t of_floats = 1u << IR_COST_FP32 | 1u << IR_COST_FP64 | 1u << IR_COST_HALF |
                                  1u << IR_COST_TENSOR;

/* ---- the device ---- */

/* Two sectors, or lines, leave a multiprocessor one after the other as fast as it can take them
 * alone, and no faster than L1 looks up lines. */
static double departure_of(const cuda_device *d, const model_traffic *t, bool in_l2)
{
    double bytes = t->lines > 0 ? t->sectors * MODEL_SECTOR / t->lines : MODEL_LINE;
    double alone = in_l2 ? FIGURE_OF(d, l2_one_sm) : FIGURE_OF(d, dram_one_sm);
    return fmax(bytes * FIGURE_OF(d, clock) / alone, 1 / FIGURE_OF(d, l1_lines));
}

/* Of a barrier, by warp: warps come to it one by one, and what else it takes passes while other
 * resident warps come to theirs. 0 where no barrier was measured. */
static double barrier_of_warp(const cuda_device *d, double warps, double resident_warps)
{
    double one_by_one = (FIGURE_OF(d, barrier_32) - FIGURE_OF(d, barrier_8)) / (32 - 8);
    double others = model_barrier_clocks(d, warps) - warps * one_by_one;
    return one_by_one + others / resident_warps;
}

/* Memory instructions are those that wait: loads; stores only where there is nothing else. */
static double waiting_requests(const model_traffic *t)
{
    return t->loads > 0 ? t->loads : t->requests;
}

static paper_device device_of_launch(const cuda_device *d, const model_work *w,
                                     double resident_warps)
{
    const model_traffic *t = &w->traffic;
    bool in_l2 = model_stays_in_l2(d, t);
    double delay = FIGURE_OF(d, departure_delay), fp32 = FIGURE_OF(d, fp32_latency);
    class_sum floats = sum_of_classes(d, w, of_floats);
    return (paper_device){
        .clock = FIGURE_OF(d, clock),
        .bandwidth = in_l2 ? figure_or(FIGURE_OF(d, l2_read), FIGURE_OF(d, dram_read))
                           : FIGURE_OF(d, dram_read),
        .transaction_bytes = t->sectors > 0 ? t->sectors * MODEL_SECTOR / waiting_requests(t)
                                            : MODEL_LINE,
        .dram_latency = in_l2 ? FIGURE_OF(d, l2_latency) : FIGURE_OF(d, dram_latency),
        .departure_delay = delay > 0 ? delay : departure_of(d, t, in_l2),
        .hit_latency = FIGURE_OF(d, l1_latency),
        .float_latency = floats.count > 0 ? floats.cycles / floats.count : fp32,
        .warp_lanes = WARP,
        .simd_lanes = figure_or(FIGURE_OF(d, issue), d->model.fp32),
        .special_lanes = figure_or(FIGURE_OF(d, sfu), d->model.sfu),
        .wavefront_cycles = 1 / FIGURE_OF(d, shared_passes),
        .barrier_factor = 64,
        .barrier_cycles = barrier_of_warp(d, w->warps, resident_warps),
    };
}

/* ---- the launch ---- */

static double miss_ratio_of(const model_traffic *t)
{
    double all = t->loaded + t->stored;
    return all > 0 ? (t->missed + t->stored) / all : 0;
}

/* Its warps are spread as on the multiprocessor that runs most blocks. */
static void spread_warps(const cuda_device *d, const model_work *w, uint32_t resident,
                         paper_launch *l)
{
    double most = ceil(w->blocks / model_sms(d));
    l->warps = w->blocks * w->warps;
    l->multiprocessors = w->blocks / most;
    l->resident_warps = fmin(resident, most) * w->warps;
}

static paper_launch launch_of_work(const cuda_device *d, const model_work *w, uint32_t resident)
{
    const model_traffic *t = &w->traffic;
    class_sum plain = sum_of_classes(d, w, ~special);
    paper_launch l = {
        .instructions = sum_of_warp(w, plain.count),
        .memory_instructions = sum_of_warp(w, waiting_requests(t)),
        .barriers = sum_of_warp(w, w->machine[IR_COST_SYNC]),
        .special_instructions = sum_of_warp(w, w->machine[IR_COST_SFU]),
        .float_instructions = sum_of_warp(w, sum_of_classes(d, w, of_floats).count),
        .instruction_latency = plain.count > 0 ? plain.cycles / plain.count : 0,
        .transactions = t->requests > 0 ? fmax(t->lines / t->requests, 1) : 1,
        .miss_ratio = miss_ratio_of(t),
        .data_bytes = t->footprint,
        .ilp = fmax(w->ilp, 1),
        .mlp = fmax(w->mlp, 1),
        .extra_wavefronts = w->shared_extra,
        .contention = model_seconds_of_slice(d, t) * FIGURE_OF(d, clock),
    };
    spread_warps(d, w, resident, &l);
    return l;
}

/* Less than none, as (22) gives it where few warps run, is no benefit. */
static double seconds_of(const paper_device *d, double cycles)
{
    return fmax(cycles, 0) / d->clock;
}

model_benefits model_benefits_of(const cuda_device *device, const model_work *work,
                                 uint32_t resident)
{
    paper_launch l = launch_of_work(device, work, resident);
    if (!(l.instructions > 0))
        return (model_benefits){0};
    paper_device d = device_of_launch(device, work, l.resident_warps);
    paper_costs c = paper_costs_of(&d, &l);
    return (model_benefits){
#define X(member, cost) .member = seconds_of(&d, c.cost),
#include "analysis/model/benefits.def"
#undef X
    };
}
