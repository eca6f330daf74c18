/* The model's formulas: from what a launch asks of a device to seconds. */
#include "analysis/model/parts.h"

#include <math.h>

/* ---- the device ---- */

static double figure(const cuda_device *d, cuda_figure_key key)
{
    return d->measured.figures[key].value;
}

#define FIGURE_OF(d, key) figure((d), CUDA_FIGURE_##key)

double model_sms(const cuda_device *d)
{
    return cuda_attribute_of(d, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
}

/* ---- resources of a multiprocessor, in clocks ---- */

enum {
    LANES = 32,
    TENSOR_STEP = 16 * 8 * 16 /* multiply-adds of the instruction that was measured */
};

/* A warp issues to one of the schedulers of its multiprocessor, which have a part of each pipe each:
 * how much longer they take where the resident warps keep not all of them equally busy. */
static double crowding(const cuda_device *d, double warps)
{
    double parts = d->model.schedulers ? d->model.schedulers : 1;
    return parts * ceil(warps / parts) / warps;
}

/* Of all blocks that a multiprocessor runs, it lets one warp after the other come to its barrier: what
 * a further warp of a block adds to the time of one. */
static double barrier_of_further_warp(const cuda_device *d)
{
    return at_least(0, (FIGURE_OF(d, barrier_32) - FIGURE_OF(d, barrier_8)) / (32 - 8));
}

/* `share`: of the launch's blocks, those that the busiest multiprocessor runs. */
static void add_pipes(const cuda_device *d, const model_work *w, double share, double *clocks)
{
    double issued = 0;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        issued += w->machine[cost];
    clocks[MODEL_ISSUE] = share * issued * LANES / FIGURE_OF(d, issue);
#define X(id, name, words)
#define PIPE(id, name, words, class, key) \
    clocks[MODEL_##id] = share * w->machine[IR_COST_##class] * LANES / FIGURE_OF(d, key);
#include "analysis/model/resources.def"
#undef X
    clocks[MODEL_BARRIERS] = share * w->machine[IR_COST_SYNC] * barrier_of_further_warp(d);
    clocks[MODEL_TENSOR] = share * w->machine[IR_COST_TENSOR] * TENSOR_STEP /
                           FIGURE_OF(d, tensor_fp16);
}

static double time_of(double turns, double rate)
{
    return rate > 0 ? turns / rate : 0;
}

/* Loops of compare and swap. What a try takes and what a pass of it takes follow from two measured rates: of warps
 * that have `turns` tries each, and of those that have as many as lanes. */
static double clocks_of_tries(const model_spins *s, double turns, double apart, double one_bank)
{
    double of_apart = time_of(LANES, apart), of_bank = time_of(LANES, one_bank);
    double pass = at_least(0, (of_bank / LANES - of_apart / turns) / (LANES - turns));
    return s->tries * (of_apart / turns - pass * turns) + s->passes * pass;
}

static double clocks_of_spins(const cuda_device *d, const model_work *w)
{
    double clocks = 0;
#define X(id, same, row, words)
#define SPIN(id, same, apart, turns, bank, latency)                                  \
    clocks += clocks_of_tries(&w->spins[MODEL_SUM_##id], turns, FIGURE_OF(d, apart), \
                              FIGURE_OF(d, bank));
#include "analysis/model/atomics.def"
#undef X
    return clocks;
}

/* A warp waits for each of its tries, and while other warps have their way with its words. */
static double clocks_of_spinning(const cuda_device *d, const model_work *w)
{
    double clocks = 0;
#define X(id, same_word, row, words)
#define SPIN(id, same, apart, turns, bank, latency)                    \
    clocks += w->spins[MODEL_SUM_##id].waits * FIGURE_OF(d, latency) + \
              time_of(w->spins[MODEL_SUM_##id].others, FIGURE_OF(d, same));
#include "analysis/model/atomics.def"
#undef X
    return clocks;
}

static void add_caches(const cuda_device *d, const model_work *w, double share, double *clocks)
{
    const model_traffic *t = &w->traffic;
    double bytes = t->sectors * MODEL_SECTOR;
    clocks[MODEL_L1] = share *
                       at_least(t->lines / FIGURE_OF(d, l1_lines), bytes / FIGURE_OF(d, l1_wide));
    clocks[MODEL_SHARED] = share *
                           (w->shared_turns / FIGURE_OF(d, shared_passes) + clocks_of_spins(d, w));
}

/* ---- resources of the whole device, in seconds ---- */

/* L2 serves whole lines faster than single sectors of many. */
static double seconds_in_l2(const cuda_device *d, double bytes, double lines,
                            cuda_figure_key bandwidth)
{
    return at_least(bytes / figure(d, bandwidth), lines * MODEL_SECTOR / FIGURE_OF(d, l2_sectors));
}

double model_seconds_of_slice(const cuda_device *d, const model_traffic *t)
{
    double seconds = 0;
#define X(id, same_figure, row_figure, words)                                      \
    seconds += time_of(t->slice[MODEL_SUM_##id].same, FIGURE_OF(d, same_figure)) + \
               time_of(t->slice[MODEL_SUM_##id].apart * (words), FIGURE_OF(d, row_figure));
#include "analysis/model/atomics.def"
#undef X
    return seconds;
}

/* Each round waits for the one before; and L2 serves all that try, though they fail. */
static double seconds_of_swaps(const cuda_device *d, const model_swaps *s)
{
    return s->rounds * FIGURE_OF(d, cas_latency) / FIGURE_OF(d, clock) +
           time_of(s->tries, FIGURE_OF(d, cas_lanes));
}

static double seconds_of_atomics(const cuda_device *d, const model_traffic *t)
{
    double throughput = at_least(t->atomic_lanes / FIGURE_OF(d, atomic_lanes),
                                 t->atomic_turns / FIGURE_OF(d, atomic_sectors));
    return at_least(throughput, model_seconds_of_slice(d, t)) + seconds_of_swaps(d, &t->swaps);
}

double model_l2_bytes(const cuda_device *d)
{
    double holds = FIGURE_OF(d, l2_holds);
    return holds > 0 ? holds : (double)d->l2_bytes;
}

bool model_stays_in_l2(const cuda_device *d, const model_traffic *t)
{
    return t->footprint <= model_l2_bytes(d);
}

/* What is stored last has to arrive in L2, which nothing hides. */
static double clocks_of_last_store(const cuda_device *d, const model_traffic *t)
{
    return t->stored > 0 ? FIGURE_OF(d, l2_latency) : 0;
}

static void add_device(const cuda_device *d, const model_work *w, double share, double *seconds)
{
    const model_traffic *t = &w->traffic;
    double loaded = t->missed * MODEL_SECTOR;
    double l2 = seconds_in_l2(d, loaded, t->missed_lines, CUDA_FIGURE_l2_read) +
                seconds_in_l2(d, t->stored_bytes, t->stored_lines, CUDA_FIGURE_l2_write);
    double of_one = share * (loaded + t->stored_bytes) / FIGURE_OF(d, l2_one_sm);
    seconds[MODEL_L2] = at_least(l2, of_one);
    double again = t->moved_again * MODEL_SECTOR;
    if (!model_stays_in_l2(d, t))
        seconds[MODEL_DRAM] = at_least(t->footprint / FIGURE_OF(d, dram_read),
                                       share * t->footprint / FIGURE_OF(d, dram_one_sm));
    seconds[MODEL_DRAM] += again / FIGURE_OF(d, dram_sectors);
    seconds[MODEL_ATOMICS] = seconds_of_atomics(d, t);
    seconds[MODEL_BLOCKS] = w->blocks / (w->warps <= 1    ? FIGURE_OF(d, blocks_32)
                                         : w->warps <= 16 ? FIGURE_OF(d, blocks_256)
                                                          : FIGURE_OF(d, blocks_1024));
    seconds[MODEL_LAUNCH] = FIGURE_OF(d, launch_by_itself) +
                            clocks_of_last_store(d, t) / FIGURE_OF(d, clock);
}

/* ---- latency ---- */

static double on_line(double x, double x0, double y0, double x1, double y1)
{
    double part = (x - x0) / (x1 - x0);
    return y0 + (y1 - y0) * (part < 0 ? 0 : part > 1 ? 1 : part);
}

double model_barrier_clocks(const cuda_device *d, double warps)
{
    return warps <= 8 ? on_line(warps, 1, FIGURE_OF(d, barrier_1), 8, FIGURE_OF(d, barrier_8))
                      : on_line(warps, 8, FIGURE_OF(d, barrier_8), 32, FIGURE_OF(d, barrier_32));
}

double model_latency_of(const cuda_device *d, ir_cost cost)
{
    switch (cost) {
    case IR_COST_INT:
    case IR_COST_COMPARE: return FIGURE_OF(d, int32_latency);
    case IR_COST_FP32: return FIGURE_OF(d, fp32_latency);
    case IR_COST_FP64: return FIGURE_OF(d, fp64_latency);
    case IR_COST_HALF: return FIGURE_OF(d, half2_latency);
    case IR_COST_SFU: return FIGURE_OF(d, sfu_latency);
    case IR_COST_CONVERT: return FIGURE_OF(d, convert_latency);
    case IR_COST_WARP: return FIGURE_OF(d, shuffle_latency);
    case IR_COST_TENSOR: return FIGURE_OF(d, tensor_fp16_latency);
    default: return 0;
    }
}

/* Of a load that L1 lacks. Each half of L2 keeps a copy of what it is asked for, so that what is more
 * than a half holds has to come from the other one. */
static double clocks_beyond_l1(const cuda_device *d, const model_traffic *t)
{
    double far = FIGURE_OF(d, l2_far_latency);
    if (!model_stays_in_l2(d, t))
        return FIGURE_OF(d, dram_latency);
    return far > 0 && t->footprint > model_l2_bytes(d) / 2 ? far : FIGURE_OF(d, l2_latency);
}

/* Of the loads that a warp waits for at once, on average; one that L1 lacks holds up all. L1 looks up
 * one line after the other. */
static double load_clocks(const cuda_device *d, const model_work *w)
{
    const model_traffic *t = &w->traffic;
    double of_warp = t->loads / (w->blocks * w->warps);
    double at_once = w->chain_loads > 0 ? at_least(1, of_warp / w->chain_loads) : 1;
    double all_hit = t->waits_known ? t->short_waits : pow(t->hit_rate, at_once);
    double lines = t->loads > 0 ? at_once * t->loaded_lines / t->loads : 1;
    return all_hit * FIGURE_OF(d, l1_latency) + (1 - all_hit) * clocks_beyond_l1(d, t) +
           time_of(at_least(0, lines - 1), FIGURE_OF(d, l1_lines));
}

/* With the further passes of its bank conflicts. */
static double shared_load_clocks(const cuda_device *d, const model_work *w)
{
    double passes = w->shared_loads > 0 ? w->shared_load_turns / w->shared_loads : 1;
    return FIGURE_OF(d, shared_latency) +
           time_of(at_least(0, passes - 1), FIGURE_OF(d, shared_passes));
}

/* Of a warp from its begin to its end, were it alone. */
static double chain_clocks(const cuda_device *d, const model_work *w)
{
    double clocks = 0;
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        clocks += w->chain[cost] * model_latency_of(d, cost);
    double barriers = w->machine[IR_COST_SYNC] / (w->blocks * w->warps);
    return clocks + barriers * model_barrier_clocks(d, w->warps) +
           w->chain_shared * shared_load_clocks(d, w) + w->chain_loads * load_clocks(d, w) +
           clocks_of_spinning(d, w);
}

/* ---- hits ---- */

static void count_hits(const cuda_device *d, const model_traffic *t, ana_model *m)
{
    double first = model_stays_in_l2(d, t) ? 0 : t->first_loaded;
    m->from_l1 = t->loaded;
    m->from_l2 = t->missed;
    m->from_dram = fmin(t->missed, first + t->again_loaded);
}

/* ---- all together ---- */

uint32_t model_resources_by_time(const ana_model *model, model_resource order[MODEL_RESOURCES])
{
    uint32_t count = 0;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++) {
        uint32_t at = count;
        if (!(model->resources[r] > 0))
            continue;
        for (; at > 0 && model->resources[order[at - 1]] < model->resources[r]; at--)
            order[at] = order[at - 1];
        order[at] = r;
        count++;
    }
    return count;
}

model_resource model_longest(const ana_model *model)
{
    model_resource order[MODEL_RESOURCES];
    return model_resources_by_time(model, order) ? order[0] : MODEL_LAUNCH;
}

static void set_range(ana_model *m)
{
    static const struct {
        double low, high;
    } residuals[MODEL_RESOURCES] = {
#define X(id, low, high, launches) [MODEL_##id] = {low, high},
#include "analysis/model/residuals.def"
#undef X
    };
    m->low = m->seconds * residuals[m->bound].low;
    m->high = m->seconds * residuals[m->bound].high;
}

void model_speedup_range(double predicted, double *low, double *high)
{
#define X(id, low, high, launches)
#define CHANGES(least, most, count) \
    *low = predicted * (least);     \
    *high = predicted * (most);
#include "analysis/model/residuals.def"
#undef X
}

static void add_up(ana_model *m)
{
    double busiest = 0;
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        if (r != MODEL_LATENCY && r != MODEL_LAUNCH)
            busiest = at_least(busiest, m->resources[r]);
    m->bound = model_longest(m);
    m->seconds = busiest + m->resources[MODEL_LATENCY] + m->resources[MODEL_LAUNCH];
    set_range(m);
}

/* What the order of threads decides may take none of its time, or all. */
static void widen_range(const cuda_device *d, const model_work *w, ana_model *m)
{
    const model_traffic *t = &w->traffic;
    double now = seconds_of_swaps(d, &t->swaps), most = seconds_of_swaps(d, &t->swaps_most);
    if (most > 0)
        m->unsure |= 1u << MODEL_SWAPS;
    if (w->managed)
        m->unsure |= 1u << MODEL_PAGES;
    m->low = at_most(m->low, at_least(m->seconds - now, 0));
    m->high = at_least(m->high, m->seconds - now + most);
}

void model_predict(const cuda_device *d, const model_work *w, uint32_t resident, ana_model *m)
{
    double clock = FIGURE_OF(d, clock), blocks_of_sm = ceil(w->blocks / model_sms(d));
    double share = (blocks_of_sm - 1 + w->busiest) / w->blocks;
    double turns = (at_least(1, blocks_of_sm / resident) - 1) * w->longest_of_block + w->longest;
    double warps = fmin(blocks_of_sm, resident) * w->warps;
    add_pipes(d, w, share * crowding(d, warps), m->resources);
    add_caches(d, w, share, m->resources);
    m->resources[MODEL_LATENCY] = turns * chain_clocks(d, w);
    for (uint32_t r = 0; r < MODEL_RESOURCES; r++)
        m->resources[r] /= clock;
    add_device(d, w, share, m->resources);
    m->next_launch = FIGURE_OF(d, launch_host);
    count_hits(d, &w->traffic, m);
    add_up(m);
    widen_range(d, w, m);
}
