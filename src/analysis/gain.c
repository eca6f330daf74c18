/* What fixing a finding is worth: whether its kernel matters, and whether that waits for memory. */
#include "analysis/gain.h"

#include <math.h>
#include <string.h>

enum {
    PASS_SECTORS = 4,  /* that one pass through the L1 cache serves: 128 bytes a cycle */
    FEW_WAVEFRONTS = 4 /* which a request's own latency hides: two cycles each of some thirty */
};

/* ---- the kernel ---- */

static double share_of_all(double part, double all)
{
    return all > 0 ? part / all : 0;
}

/* Of launches that were observed; seconds are negative where those of one of them are not known. */
typedef struct effort {
    double seconds, instructions;
} effort;

static void add_effort(effort *e, const prof_launch *l, double seconds)
{
    e->seconds = e->seconds < 0 || seconds < 0 ? -1 : e->seconds + seconds;
    e->instructions += (double)l->count * (double)l->warp_instructions;
}

static uint32_t sms_of(const gain_input *in, const prof_launch *l)
{
    for (uint32_t i = 0; i < in->devices->count; i++)
        if (in->devices->rows[i].process == l->process)
            return in->devices->rows[i].num_sms;
    return 0;
}

static double warps_of(const prof_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    return ceil(threads / 32) * l->grid[0] * l->grid[1] * l->grid[2];
}

gain_kernel gain_of_kernel(const gain_input *in, uint32_t kernel, double traffic_share)
{
    effort own = {0}, all = {0};
    gain_kernel k = {.time_share = -1, .share = traffic_share};
    for (uint32_t i = 0; i < in->launches->count; i++) {
        const prof_launch *l = &in->launches->rows[i];
        if (!l->blocks_observed)
            continue;
        add_effort(&all, l, in->seconds[i]);
        if (l->kernel != kernel)
            continue;
        add_effort(&own, l, in->seconds[i]);
        uint32_t sms = sms_of(in, l);
        if (warps_of(l) * k.sms >= k.warps * sms) {
            k.warps = warps_of(l);
            k.sms = sms;
        }
    }
    double instructions = share_of_all(own.instructions, all.instructions);
    k.share = instructions > traffic_share ? instructions : traffic_share;
    if (own.seconds >= 0 && all.seconds > 0)
        k.time_share = k.share = share_of_all(own.seconds, all.seconds);
    return k;
}

/* ---- the finding ---- */

/* What a request takes beyond its need. */
typedef struct request_excess {
    double sectors, wavefronts;
} request_excess;

static request_excess excess_of_requests(const ana_finding *f)
{
    uint64_t requests = 0, sectors = 0, wavefronts = 0;
    for (uint32_t i = 0; i < f->nlines; i++) {
        const ana_line *l = &f->lines[i];
        if (l->inside)
            continue;
        requests += l->requests;
        sectors += l->sectors - l->sectors_min;
        wavefronts += l->wavefronts - l->wavefronts_min;
    }
    double n = requests ? (double)requests : 1;
    return (request_excess){(double)sectors / n, (double)wavefronts / n};
}

/* Does the kernel wait for the answers to its requests, whatever each of them moves? */
static bool waits_for_answers(const gain_input *in, const gain_kernel *k, const ana_finding *f)
{
    request_excess e = excess_of_requests(f);
    bool light = e.sectors < PASS_SECTORS && e.wavefronts < FEW_WAVEFRONTS;
    double warps = light ? in->thresholds->latency_warps : in->thresholds->lone_warps;
    return k->sms && k->warps < warps * k->sms;
}

static bool is_cached(const gain_input *in, const ana_finding *f, const prof_object *object)
{
    return f->cost.unit == ANA_SECTORS && f->access && f->access->space == ACC_GLOBAL &&
           !f->access->updates && object && object->bytes &&
           (double)object->bytes <= in->thresholds->cached_bytes &&
           excess_of_requests(f).sectors < PASS_SECTORS;
}

/* Of what the shared array takes, the part that shuffles would spare; 1 for other patterns. */
static double spared_by_shuffles(const ana_finding *f)
{
    for (uint32_t i = 0; f->pattern == ANA_SHARED_WARP_LOCAL && i < f->nevidence; i++)
        if (strcmp(f->evidence[i].name, "passes_spared") == 0)
            return f->evidence[i].value / 100;
    return 1;
}

static ana_gain judge_gain(const gain_input *in, const gain_kernel *k, const ana_finding *f,
                           const prof_object *object)
{
    if (k->share < in->thresholds->small_kernel)
        return ANA_GAIN_TINY;
    if (f->pattern == ANA_TOO_FEW_BLOCKS) /* few warps are what it is about */
        return ANA_GAIN_FULL;
    if (waits_for_answers(in, k, f))
        return ANA_GAIN_LATENCY;
    if (spared_by_shuffles(f) < in->thresholds->exchange_share)
        return ANA_GAIN_SHUFFLES;
    return is_cached(in, f, object) ? ANA_GAIN_CACHED : ANA_GAIN_FULL;
}

static const char *figures(const gain_input *in, const gain_kernel *k, const ana_finding *f,
                           const prof_object *object)
{
    switch (f->gain) {
    case ANA_GAIN_CACHED:
        return wl_arena_printf(in->arena, "%llu bytes of %s", (unsigned long long)object->bytes,
                               object->variable[0] ? object->variable : object->name);
    case ANA_GAIN_LATENCY:
        return wl_arena_printf(in->arena, "%.0f %s on %u multiprocessors", k->warps,
                               k->warps == 1 ? "warp" : "warps", k->sms);
    case ANA_GAIN_SHUFFLES:
        return wl_arena_printf(in->arena, "shuffles would save %.2g %% of its wavefronts",
                               100 * spared_by_shuffles(f));
    case ANA_GAIN_TINY:
        return wl_arena_printf(in->arena, "%.2g %% of the program's %s", 100 * k->share,
                               k->time_share >= 0 ? "time" : "work");
    default: return "";
    }
}

static const char *note(const gain_input *in, const ana_finding *f)
{
    if (f->gain == ANA_GAIN_FULL || !f->gain_figures)
        return f->gain_figures;
    return wl_arena_printf(in->arena, "Fixing this gains little (%s). %s", f->gain_figures,
                           ana_gain_reason(f->gain));
}

bool gain_set(const gain_input *in, const gain_kernel *k, const prof_object *object, ana_finding *f)
{
    f->gain = judge_gain(in, k, f, object);
    f->kernel_share_of_time = k->time_share;
    f->gain_figures = figures(in, k, f, object);
    f->gain_note = note(in, f);
    return f->gain_note != NULL;
}
