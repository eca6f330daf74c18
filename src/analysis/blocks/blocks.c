/* Launches whose blocks occupy few of the device's multiprocessors: the others have nothing to do,
 * whatever the accesses look like.
 *
 * The cost is what the idle multiprocessors had room for while the blocks ran, taking blocks to be
 * alike: instructions of a block times multiprocessors without one. */
#include "analysis/detect.h"

#include <math.h>

/* Of the launches that have too few blocks. */
typedef struct few_blocks {
    uint32_t launches;
    const prof_launch *worst;
    double idle, most; /* of all, and of the worst */
    uint32_t sms;      /* of the worst's device */
} few_blocks;

static double blocks_in(const prof_launch *l)
{
    return (double)l->grid[0] * l->grid[1] * l->grid[2];
}

/* Does each warp run for long, so that there is something to share out? */
static bool has_long_warps(const ana_thresholds *t, const prof_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    double warps = blocks_in(l) * ceil(threads / 32);
    return warps > 0 && (double)l->warp_instructions >= t->long_warp * warps;
}

static void add_few_blocks(const ana_program *program, few_blocks *few, const prof_launch *l)
{
    const ana_thresholds *t = program->thresholds;
    uint32_t sms = ana_multiprocessors(program, l);
    double idle = ana_room_of(program, l) - (double)l->warp_instructions;
    if (blocks_in(l) > t->few_blocks * sms || !has_long_warps(t, l))
        return;
    few->launches += (uint32_t)l->count;
    few->idle += (double)l->count * idle;
    if (idle > few->most) {
        few->most = idle;
        few->worst = l;
        few->sms = sms;
    }
}

static const char more_blocks[] =
    "Let more blocks do the work, at least one for each multiprocessor, better several, and each "
    "thread less of it. Where "
    "threads loop over elements, launch a larger grid, so that each takes fewer; split a sum into "
    "parts that a second "
    "kernel adds up.";

static const char smaller_blocks[] = "Start smaller blocks, and more of them: at least one for "
                                     "each multiprocessor. The grid has warps enough for that, and "
                                     "each thread does what it does now.";

/* One for each multiprocessor? */
static bool has_warps_enough(const few_blocks *few)
{
    const prof_launch *l = few->worst;
    double warps = ceil((double)l->block[0] * l->block[1] * l->block[2] / 32);
    return warps > 1 && blocks_in(l) * warps >= few->sms;
}

static bool draft_few_blocks(const ana_input *input, const few_blocks *few, ana_drafts *drafts)
{
    ana_draft *d = ana_draft_add(drafts, input, ANA_TOO_FEW_BLOCKS);
    double blocks = blocks_in(few->worst);
    if (!d)
        return false;
    d->excess = d->alone = few->idle;
    d->launches = few->launches;
    d->example_launch = few->worst->id;
    ana_add_evidence(d, "blocks", "blocks", blocks, "");
    ana_add_evidence(d, "multiprocessors", "multiprocessors", few->sms, "");
    ana_add_evidence(d, "launches", "launches", few->launches, "");
    d->summary = wl_arena_printf(input->arena,
                                 "%.0f %s on at most as many of the %u multiprocessors: the others "
                                 "have nothing to do while the kernel runs.",
                                 blocks, blocks == 1 ? "block runs" : "blocks run", few->sms);
    d->kind = REMEDY_BLOCKS;
    d->remedy = more_blocks;
    d->smaller_blocks = has_warps_enough(few) ? smaller_blocks : NULL;
    return d->summary != NULL;
}

wl_status ana_detect_blocks(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_launch_rows *launches = &input->program->launches;
    few_blocks few = {0};
    for (uint32_t i = 0; i < launches->count; i++)
        if (launches->rows[i].kernel == input->kernel->id)
            add_few_blocks(input->program, &few, &launches->rows[i]);
    return !few.worst || draft_few_blocks(input, &few, drafts) ? WL_OK : ana_nomem(err);
}
