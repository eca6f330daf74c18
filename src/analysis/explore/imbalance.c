/* Launches some of whose warps run much longer than the others: a block keeps its place on a
 * multiprocessor until the longest of its warps ends, and a launch lasts as long as its busiest
 * block.
 *
 * How much longer is counted of all blocks. Which warps these are, and at which loop or branch they part
 * from the others, is told where the profile holds what warps did. */
#include "analysis/detect.h"
#include "analysis/explore/explore.h"

#include <ctype.h>
#include <math.h>

typedef struct uneven {
    uint32_t launches;
    double room, most; /* that is lost: of all launches; of the one that loses most */
    const prof_launch *worst;
} uneven;

static double warps_of_uneven(const prof_launch *l)
{
    double threads = (double)l->block[0] * l->block[1] * l->block[2];
    return (double)l->grid[0] * l->grid[1] * l->grid[2] * ceil(threads / 32);
}

static double mean_warp(const prof_launch *l)
{
    double warps = warps_of_uneven(l);
    return warps > 0 ? (double)l->warp_instructions / warps : 0;
}

static double mean_block(const prof_launch *l)
{
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    return blocks > 0 ? (double)l->warp_instructions / blocks : 0;
}

/* The longest warp of a block, on average. */
static double longest_of_block(const prof_launch *l)
{
    double blocks = (double)l->grid[0] * l->grid[1] * l->grid[2];
    return blocks > 0 ? (double)l->longest_warps / blocks : 0;
}

static bool is_uneven_launch(const ana_thresholds *t, const prof_launch *l)
{
    double mean = mean_warp(l);
    bool warps = longest_of_block(l) >= t->uneven_work * mean,
         blocks = (double)l->busiest_block >= t->uneven_work * mean_block(l);
    return mean > 0 && (warps || blocks) && (double)l->longest_warp >= mean + t->uneven_rest;
}

static void add_uneven(const ana_program *program, uneven *u, const prof_launch *l)
{
    double room = ana_uneven_room(program, l);
    if (!is_uneven_launch(program->thresholds, l))
        return;
    u->launches += (uint32_t)l->count;
    u->room += (double)l->count * room;
    if (!u->worst || room > u->most) {
        u->most = room;
        u->worst = l;
    }
}

/* ---- words ---- */

/* Of what stands out the first that does other rounds, or other branches; NULL: none. */
static const ana_warp_cluster *telling_cluster(const ana_explore *e)
{
    for (uint32_t i = 1; i < e->nclusters; i++) {
        const ana_warp_cluster *c = &e->clusters[i];
        uint64_t own = e->kinds[e->representative_kind].counts.operations;
        if (c->line && (c->most_operations > own || c->least_operations < own))
            return c;
    }
    return NULL;
}

/* " Warps 12 to 15 of every block leave the loop ..."; "" where that is not known. */
static wl_status which_warps(const ana_input *input, const prof_launch *l, const char **out,
                             wl_error *err)
{
    ana_explore e = {0};
    *out = "";
    if (l->warps_dropped == UINT64_MAX)
        return WL_OK;
    wl_status status = ana_explore_launch(input->program->db, l->rows_of, input->scratch, &e, err);
    const ana_warp_cluster *c = status == WL_OK && e.paths ? telling_cluster(&e) : NULL;
    if (c)
        *out = wl_arena_printf(input->arena, " %c%s %s.", toupper((unsigned char)c->which[0]),
                               c->which + 1, c->why);
    return status == WL_OK && !*out ? ana_nomem(err) : status;
}

static const char *summary_of(const ana_input *input, const prof_launch *l, const char *which)
{
    double mean = mean_warp(l), part = longest_of_block(l);
    bool blocks = (double)l->busiest_block / mean_block(l) > part / mean;
    return blocks
               ? wl_arena_printf(
                     input->arena,
                     "The busiest block executes %.1f times the instructions of the mean: the "
                     "launch waits for it.%s",
                     (double)l->busiest_block / mean_block(l), which)
               : wl_arena_printf(input->arena,
                                 "The longest warp of a block executes %.0f instructions on "
                                 "average, all warps %.0f: its block stays until that warp ends.%s",
                                 part, mean, which);
}

static const char balance[] = "Give warps, and blocks, work of the same length. Where items differ "
                              "in length, let each warp take "
                              "many, every n-th or from both ends of their order, and let its "
                              "lanes share each; or let warps take "
                              "the next item from a counter when they are done.";

static wl_status draft_uneven(const ana_input *input, const uneven *u, ana_drafts *drafts,
                              wl_error *err)
{
    const prof_launch *l = u->worst;
    const char *which;
    wl_status status = which_warps(input, l, &which, err);
    ana_draft *d = status == WL_OK ? ana_draft_add(drafts, input, ANA_IMBALANCE) : NULL;
    if (!d)
        return status == WL_OK ? ana_nomem(err) : status;
    d->excess = d->alone = u->room;
    d->launches = u->launches;
    d->example_launch = l->id;
    ana_add_evidence(d, "longest_warp", "longest warp", (double)l->longest_warp, "instructions");
    ana_add_evidence(d, "longest_of_block", "longest warp of a block, on average",
                     longest_of_block(l), "instructions");
    ana_add_evidence(d, "mean_warp", "all warps, on average", mean_warp(l), "instructions");
    ana_add_evidence(d, "busiest_block", "busiest block", (double)l->busiest_block, "instructions");
    ana_add_evidence(d, "mean_block", "all blocks, on average", mean_block(l), "instructions");
    d->summary = summary_of(input, l, which);
    d->kind = REMEDY_BALANCE;
    d->remedy = balance;
    return d->summary ? WL_OK : ana_nomem(err);
}

wl_status ana_detect_imbalance(const ana_input *input, ana_drafts *drafts, wl_error *err)
{
    const prof_launch_rows *launches = &input->program->launches;
    uneven u = {0};
    for (uint32_t i = 0; i < launches->count; i++)
        if (launches->rows[i].kernel == input->kernel->id)
            add_uneven(input->program, &u, &launches->rows[i]);
    return u.worst ? draft_uneven(input, &u, drafts, err) : WL_OK;
}
