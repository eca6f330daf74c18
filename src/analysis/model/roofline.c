/* Operations and bytes of a launch, and how fast its device does them at most. */
#include "analysis/model/work.h"

#define FIGURE_OF(d, key) cuda_figure_of((d), CUDA_FIGURE_##key)

enum { WAVEFRONT = 128 }; /* bytes: 32 banks of a word */

/* ---- names ---- */

const char *model_level_words(model_level level)
{
    static const char *const words[MODEL_LEVELS] = {
#define LEVEL(resource, text) [MODEL_LEVEL_##resource] = (text),
#include "analysis/model/roofline.def"
    };
    return words[level];
}

const char *model_arithmetic_words(model_arithmetic arithmetic)
{
    static const char *const words[MODEL_ARITHMETICS] = {
#define ARITHMETIC(resource, text, class, figure, of_lane) [MODEL_ARITHMETIC_##resource] = (text),
#include "analysis/model/roofline.def"
    };
    return words[arithmetic];
}

model_resource model_level_resource(model_level level)
{
    static const model_resource resources[MODEL_LEVELS] = {
#define LEVEL(resource, text) [MODEL_LEVEL_##resource] = MODEL_##resource,
#include "analysis/model/roofline.def"
    };
    return resources[level];
}

model_resource model_arithmetic_resource(model_arithmetic arithmetic)
{
    static const model_resource resources[MODEL_ARITHMETICS] = {
#define ARITHMETIC(resource, text, class, figure, of_lane) \
    [MODEL_ARITHMETIC_##resource] = MODEL_##resource,
#include "analysis/model/roofline.def"
    };
    return resources[arithmetic];
}

bool model_counts_arithmetic(const model_roofline *r, model_arithmetic arithmetic)
{
    double others = 0;
    for (uint32_t a = 0; a < MODEL_ARITHMETICS; a++)
        others += a == MODEL_ARITHMETIC_INTEGER ? 0 : r->arithmetic[a].amount;
    return r->arithmetic[arithmetic].amount > 0 &&
           (arithmetic != MODEL_ARITHMETIC_INTEGER || !(others > 0));
}

/* ---- amounts ---- */

static double lanes_of(uint64_t threads, uint64_t warps)
{
    return (double)threads / (double)warps;
}

/* Active in an instruction of the class, on average; those of all classes where the class comes
 * only from what ptxas makes of others. */
static double active_lanes(const prof_launch *l, ir_cost cost)
{
    const obs_mix *mix = l->mix;
    if (mix->warp_instructions[cost])
        return lanes_of(mix->thread_instructions[cost], mix->warp_instructions[cost]);
    return l->warp_instructions ? lanes_of(l->thread_instructions, l->warp_instructions) : 0;
}

/* `rate` 0: no figure tells. */
static model_roof roof_of(double amount, double rate)
{
    return rate > 0 ? (model_roof){amount, amount / rate} : (model_roof){0};
}

/* Loads and stores have rates of their own. */
static model_roof roof_of_l2(const cuda_device *d, const model_traffic *t)
{
    model_roof loads = roof_of(t->missed * MODEL_SECTOR, FIGURE_OF(d, l2_read));
    model_roof stores = roof_of(t->stored_bytes, FIGURE_OF(d, l2_write));
    return (model_roof){loads.amount + stores.amount, loads.seconds + stores.seconds};
}

static double bytes_of_memory(const cuda_device *d, const model_traffic *t)
{
    return (model_stays_in_l2(d, t) ? 0 : t->footprint) + t->moved_again * MODEL_SECTOR;
}

model_roofline model_roofline_of(const cuda_device *d, const model_work *w, const prof_launch *l)
{
    const model_traffic *t = &w->traffic;
    double clocks = model_sms(d) * FIGURE_OF(d, clock); /* of all multiprocessors, a second */
    return (model_roofline){
        .levels = {[MODEL_LEVEL_SHARED] = roof_of(w->shared_turns * WAVEFRONT,
                                                  FIGURE_OF(d, shared_passes) * WAVEFRONT * clocks),
                   [MODEL_LEVEL_L1] = roof_of(t->sectors * MODEL_SECTOR,
                                              FIGURE_OF(d, l1_wide) * clocks),
                   [MODEL_LEVEL_L2] = roof_of_l2(d, t),
                   [MODEL_LEVEL_DRAM] = roof_of(bytes_of_memory(d, t), FIGURE_OF(d, dram_read))},
        .arithmetic = {
#define ARITHMETIC(resource, text, class, figure, of_lane)                                    \
    [MODEL_ARITHMETIC_##resource] = roof_of(w->machine[IR_COST_##class] *                     \
                                                active_lanes(l, IR_COST_##class) * (of_lane), \
                                            FIGURE_OF(d, figure) * clocks),
#include "analysis/model/roofline.def"
        }};
}

void model_roofline_add(model_roofline *sum, const model_roofline *r, double times)
{
    for (uint32_t i = 0; i < MODEL_LEVELS; i++) {
        sum->levels[i].amount += times * r->levels[i].amount;
        sum->levels[i].seconds += times * r->levels[i].seconds;
    }
    for (uint32_t i = 0; i < MODEL_ARITHMETICS; i++) {
        sum->arithmetic[i].amount += times * r->arithmetic[i].amount;
        sum->arithmetic[i].seconds += times * r->arithmetic[i].seconds;
    }
}
