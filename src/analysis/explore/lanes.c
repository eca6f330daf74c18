/* Kernels most of whose lanes are idle: those of a warp have parted, and it goes through what each of
 * them does, one after the other.
 *
 * Where that shows in requests of few lanes, it was told of the object before; where it comes of one
 * warp that goes on alone, as imbalance. */
#include "analysis/detect.h"

#include <math.h>

typedef struct idling {
    uint32_t launches;
    double idle, most; /* warp instructions that full warps would not need: of all; of one launch */
    const prof_launch *worst;
} idling;

/* Threads that a warp of the launch has, on average. */
static double threads_of_warp(const prof_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    return threads > 0 ? threads / ceil(threads / 32) : 32;
}

static double mean_active_lanes(const prof_launch *l)
{
    return (double)l->thread_instructions / (double)l->warp_instructions;
}

static void add_idling(const ana_program *program, idling *s, const prof_launch *l)
{
    double lanes = threads_of_warp(l), done = (double)l->warp_instructions;
    if (!l->warp_instructions || !l->mix_whole ||
        mean_active_lanes(l) > program->thresholds->idle_lanes * lanes)
        return;
    double idle = done * (1 - mean_active_lanes(l) / lanes);
    s->launches += (uint32_t)l->count;
    s->idle += (double)l->count * idle;
    if (idle > s->most) {
        s->most = idle;
        s->worst = l;
    }
}

static bool is_told_already(const ana_input *input, const ana_drafts *drafts)
{
    for (uint32_t i = 0; i < drafts->count; i++) {
        const ana_draft *d = &drafts->rows[i];
        if (d->kernel == input->kernel->id &&
            (d->pattern == ANA_DIVERGENT || d->pattern == ANA_IMBALANCE))
            return true;
    }
    return false;
}

static const char together[] = "Give the lanes of a warp work of the same kind and length: sort "
                               "items by these, let the lanes of a "
                               "warp share each item, or collect the items that have something to "
                               "do (a ballot tells which) before "
                               "whole warps do it.";

static bool draft_idling(const ana_input *input, const idling *s, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, input, ANA_DIVERGENT);
    double lanes = mean_active_lanes(s->worst), of = threads_of_warp(s->worst);
    if (!d)
        return false;
    d->unit = ANA_INSTRUCTIONS;
    d->told = ANA_CHANCE; /* branches are no fault in themselves */
    d->excess = d->alone = s->idle;
    d->launches = s->launches;
    d->example_launch = s->worst->id;
    ana_add_evidence(d, "lanes", "active lanes", lanes, "");
    ana_add_evidence(d, "warp_instructions", "executed by warps",
                     (double)s->worst->warp_instructions, "instructions");
    ana_add_evidence(d, "launches", "launches", s->launches, "");
    d->summary = wl_arena_printf(input->arena,
                                 "Of the %.3g threads of a warp, %.1f are active on average: the "
                                 "others wait, while the warp "
                                 "executes the instructions of these.",
                                 of, lanes);
    d->kind = REMEDY_TOGETHER;
    d->remedy = together;
    return d->summary != NULL;
}

wl_status ana_detect_idle_lanes(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_launch_rows *launches = &input->program->launches;
    idling s = {0};
    for (uint32_t i = 0; i < launches->count; i++)
        if (launches->rows[i].kernel == input->kernel->id)
            add_idling(input->program, &s, &launches->rows[i]);
    if (!s.worst || is_told_already(input, drafts))
        return WL_OK;
    return draft_idling(input, &s, drafts) ? WL_OK : ana_nomem(err);
}
