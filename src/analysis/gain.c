/* What fixing a finding is worth: whether its kernel matters, and whether that waits for memory. */
#include "analysis/gain.h"

#include <ctype.h>
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

static double seconds_of_all(const ana_model *m)
{
    return (double)m->launches * m->seconds;
}

/* Launches take as long whatever is in them. */
static double but_launch(const ana_model *m)
{
    return m->seconds - m->resources[MODEL_LAUNCH];
}

static double sum_of_kernels(const gain_input *in, double (*seconds)(const ana_model *))
{
    double all = 0;
    for (uint32_t i = 0; i < in->models->nkernels; i++)
        all += seconds(&in->models->kernels[i]);
    return all;
}

static double all_but_launch(const ana_model *m)
{
    return (double)m->launches * but_launch(m);
}

gain_kernel gain_of_kernel(const gain_input *in, uint32_t kernel, double traffic_share)
{
    effort own = {0}, all = {0};
    gain_kernel k = {.time_share = -1, .share = traffic_share, .seconds = -1};
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
    k.seconds = own.seconds;
    k.model = ana_model_of_kernel(in->models, kernel);
    if (k.model && k.time_share < 0)
        k.share = share_of_all(all_but_launch(k.model), sum_of_kernels(in, all_but_launch));
    return k;
}

/* ---- the finding's seconds ---- */

static double seconds_with(const gain_input *in, const gain_kernel *k, const model_change *change,
                           model_size size)
{
    ana_model m = model_try(in->lab, k->model->kernel, change, size);
    return but_launch(&m);
}

static model_resource longest_but_launch(const ana_model *m)
{
    model_resource order[MODEL_RESOURCES];
    uint32_t count = model_resources_by_time(m, order);
    for (uint32_t i = 0; i < count; i++)
        if (order[i] != MODEL_LAUNCH)
            return order[i];
    return MODEL_LAUNCH;
}

/* A kernel that ends before the host can launch the next one is of a small run, made to be looked
 * at: it is judged with a grid that fills the device. More blocks are a change of size themselves. */
static model_size size_to_judge(const gain_kernel *k, const model_change *change)
{
    bool small = k->model->resources[longest_but_launch(k->model)] < k->model->next_launch;
    return small && !model_changes_grid(change) ? MODEL_FULL : MODEL_AS_RUN;
}

double gain_part(const gain_input *in, const gain_kernel *k, const model_change *given,
                 const model_change *change)
{
    model_change both;
    if (!k->model || !remedy_join(in->arena, given, change, &both))
        return 0;
    model_size size = size_to_judge(k, change);
    double now = seconds_with(in, k, NULL, size),
           saved = seconds_with(in, k, given, size) - seconds_with(in, k, &both, size);
    return share_of_all(saved, now);
}

static bool judge_change(const gain_input *in, const gain_kernel *k, const gain_changes *c,
                         ana_worth *w)
{
    model_change all;
    model_size size = size_to_judge(k, &c->alike);
    w->small = size == MODEL_FULL;
    ana_model before = model_try(in->lab, k->model->kernel, NULL, size);
    if (!remedy_join(in->arena, &c->alike, &c->others, &all))
        return false;
    double now = but_launch(&before), alone = seconds_with(in, k, &c->alike, size);
    double last = seconds_with(in, k, &c->others, size) - seconds_with(in, k, &all, size);
    w->of_full = share_of_all(now - alone > last ? now - alone : last, now);
    w->bound = longest_but_launch(&before);
    return true;
}

/* The least that it takes: while warps wait for what is done in turn, others keep what is busy longest going. */
static double seconds_if_hidden(const ana_model *m)
{
    return m->resources[MODEL_LAUNCH] + m->resources[longest_but_launch(m)];
}

/* The model adds latency to what is busy longest. Warps hide some of it, how much is not known: so what is saved of
 * the shorter of the two may be hidden already. */
static void widen_if_hidden(const ana_model *before, const ana_model *after, double seconds,
                            ana_worth *w)
{
    double hidden = seconds * (1 - seconds_if_hidden(after) / seconds_if_hidden(before));
    w->low = hidden < w->low ? hidden : w->low;
    w->high = hidden > w->high ? hidden : w->high;
}

/* `least` and `most`: where the speed-up is expected of the kernel, which takes `seconds`. A time
 * that was not measured may itself be another than is predicted; both err by themselves. */
static void set_gain_range(const ana_model *m, bool measured, double least, double most,
                           double seconds, ana_worth *w)
{
    double shorter = measured ? 0 : 1 - m->low / m->seconds,
           longer = measured ? 0 : m->high / m->seconds - 1;
    w->low = w->seconds - hypot(seconds * (w->of_kernel - 1 + 1 / least), w->seconds * shorter);
    w->high = w->seconds + hypot(seconds * (1 - 1 / most - w->of_kernel), w->seconds * longer);
}

/* Measured time is divided as the prediction is. */
ana_worth gain_worth(const gain_input *in, const gain_kernel *k, const model_change *change)
{
    if (!k->model || !(k->model->seconds > 0))
        return (ana_worth){0};
    bool measured = k->time_share >= 0;
    double seconds = measured ? k->seconds : seconds_of_all(k->model), least, most;
    ana_worth w = {.known = true, .before = k->model->seconds};
    ana_model then = model_try(in->lab, k->model->kernel, change, MODEL_AS_RUN);
    w.after = then.seconds;
    w.after_low = then.low;
    w.after_high = then.high;
    model_speedup_range(w.before / w.after, &least, &most);
    w.of_kernel = 1 - w.after / w.before;
    double of_program = share_of_all(seconds, sum_of_kernels(in, seconds_of_all));
    w.of_program = w.of_kernel * (measured ? k->time_share : of_program);
    w.seconds = seconds * w.of_kernel;
    set_gain_range(k->model, measured, least, most, seconds, &w);
    widen_if_hidden(k->model, &then, seconds, &w);
    return w;
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
    if (f->covered_by)
        return ANA_GAIN_COVERED;
    if (f->worth.known && is_cached(in, f, object) && f->worth.bound != MODEL_L1)
        return ANA_GAIN_CACHED; /* what the model has it save is latency, which barriers add again */
    if (f->worth.known)
        return f->worth.of_full < in->thresholds->least_gain ? ANA_GAIN_HIDDEN : ANA_GAIN_FULL;
    if (f->pattern == ANA_TOO_FEW_BLOCKS) /* few warps are what it is about */
        return ANA_GAIN_FULL;
    if (waits_for_answers(in, k, f))
        return ANA_GAIN_LATENCY;
    if (spared_by_shuffles(f) < in->thresholds->exchange_share)
        return ANA_GAIN_SHUFFLES;
    return is_cached(in, f, object) ? ANA_GAIN_CACHED : ANA_GAIN_FULL;
}

static const char *saved_text(wl_arena *arena, double of_kernel)
{
    return of_kernel < 0.001
               ? "predicted to save nothing"
               : wl_arena_printf(arena, "predicted to save %.1f %% of its time", 100 * of_kernel);
}

const char *gain_when_judged(const ana_worth *w)
{
    const double written = 0.001;
    bool last = w->of_full >= written && w->of_full > w->of_kernel + written;
    return w->small ? " with a grid that fills the device"
           : last   ? " once the other changes are made"
                    : "";
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
    case ANA_GAIN_HIDDEN:
        return wl_arena_printf(in->arena, "%s%s; the kernel is bound by %s",
                               saved_text(in->arena, f->worth.of_full), gain_when_judged(&f->worth),
                               model_resource_words(f->worth.bound));
    case ANA_GAIN_COVERED:
        return wl_arena_printf(in->arena, "fixed by: %c%s", tolower((unsigned char)*f->covered_by),
                               f->covered_by + 1);
    case ANA_GAIN_TINY:
        return wl_arena_printf(in->arena, "%.2g %% of the program's %s", 100 * k->share,
                               k->time_share >= 0 ? "time"
                               : k->model         ? "predicted time"
                                                  : "work");
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

bool gain_set(const gain_input *in, const gain_kernel *k, const prof_object *object,
              const gain_changes *changes, ana_finding *f)
{
    f->worth = gain_worth(in, k, &f->change);
    if (f->worth.known && !judge_change(in, k, changes, &f->worth))
        return false;
    f->gain = judge_gain(in, k, f, object);
    f->kernel_share_of_time = k->time_share;
    f->gain_figures = figures(in, k, f, object);
    f->gain_note = note(in, f);
    return f->gain_note != NULL;
}
