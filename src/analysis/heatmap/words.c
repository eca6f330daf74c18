#include "analysis/heatmap/words.h"

#include <stdio.h>
#include <string.h>

typedef struct texts {
    const ana_draft *draft;
    const ana_input *input;
    const words_facts *f;
    const char *what; /* the object's variable or name */
} texts;

static const char *object_text(const ana_draft *d)
{
    const prof_object *o = d->group->info;
    return !o ? "memory of no known allocation" : o->variable[0] ? o->variable : "this object";
}

#define TEXT(t, ...) wl_arena_printf((t)->input->arena, __VA_ARGS__)

/* ---- summaries ---- */

static const char *hot_summary(const texts *t)
{
    return TEXT(t,
                "On average %.1f of the block's %u warps touch each word of %s that is used: each "
                "sector moves once for every one "
                "of them.",
                t->f->word_temperature, t->f->warps, t->what);
}

static const char *hot_random_summary(const texts *t)
{
    return TEXT(t,
                "The requests gather from %s at random: %.1f of the block's %u warps touch a "
                "sector, %.1f a word, and a request "
                "moves %.1f sectors.",
                t->what, t->f->sector_temperature, t->f->warps, t->f->word_temperature,
                t->f->sectors_per_request);
}

static const char *false_sharing_summary(const texts *t)
{
    return TEXT(t,
                "A sector of %s is touched by %.1f warps on average, each of its words by %.1f: "
                "the sector moves once a warp for "
                "the sake of a few words.",
                t->what, t->f->sector_temperature, t->f->word_temperature);
}

static const char *strided_summary(const texts *t)
{
    return TEXT(t,
                "Only %.1f of the 8 words in a sector of %s are ever used, %lld bytes apart: the "
                "rest moves for nothing.",
                t->f->words_used, t->what, (long long)t->f->stride);
}

static const char *misaligned_summary(const texts *t)
{
    return TEXT(t,
                "Contiguous requests to %s start off the sector boundary and need one sector more: "
                "%.2f a request where %.2f would "
                "do.",
                t->what, t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *uncoalesced_summary(const texts *t)
{
    if (t->f->stride) {
        return TEXT(t,
                    "Neighbouring lanes are %lld bytes apart in %s: a request takes %.1f sectors "
                    "where its data would fill %.1f.",
                    (long long)t->f->stride, t->what, t->f->sectors_per_request,
                    t->f->fewest_per_request);
    }
    return TEXT(t, "A request to %s takes %.1f sectors where its data would fill %.1f.", t->what,
                t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *thread_local_summary(const texts *t)
{
    return TEXT(t, "Every word of %s is used by one thread only: nothing is shared through it.",
                t->what);
}

static const char *warp_local_summary(const texts *t)
{
    return TEXT(t,
                "Every word of %s is used inside one warp only: no other warp reads what it holds.",
                t->what);
}

static const char *bank_conflict_summary(const texts *t)
{
    const char *stride = t->f->stride
                             ? TEXT(t, ", with lanes %lld bytes apart", (long long)t->f->stride)
                             : "";
    return stride ? TEXT(t, "A request to %s takes %.1f wavefronts where %.1f would do%s.", t->what,
                         t->f->sectors_per_request, t->f->fewest_per_request, stride)
                  : NULL;
}

/* ---- advice ---- */

/* Data that every warp needs and whose requests are spread out besides. */
static const char *spread_advice(const texts *t)
{
    if (t->f->sectors_per_request < 2 * t->f->fewest_per_request) {
        return "";
    }
    return TEXT(
        t,
        " Let the lanes of a warp run along its rows as they load it: now a request takes %.1f "
        "sectors where %.1f would do.",
        t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *hot_advice(const texts *t)
{
    const char *spread = spread_advice(t);
    if (!spread) {
        return NULL;
    }
    if (t->f->atomics) {
        return TEXT(t,
                    "Combine the updates of %s inside the block first, in shared memory or with "
                    "warp reductions, and add the result once.",
                    t->what);
    }
    if (t->f->stores) {
        return TEXT(t,
                    "Keep what the block writes to %s in registers or shared memory and store it "
                    "once.%s",
                    t->what, spread);
    }
    if (t->f->broadcast) {
        return TEXT(t,
                    "All lanes read the same element of %s: load the block's part into shared "
                    "memory or registers once, or keep it in constant memory where it is small.",
                    t->what);
    }
    return TEXT(t, "Load the block's part of %s into shared memory once and read it from there.%s",
                t->what, spread);
}

static const char *hot_random_advice(const texts *t)
{
    if (!t->f->atomics && t->f->sectors_per_request < 2) {
        return TEXT(t,
                    "A request gathers within a sector or two, but every warp fetches them again: "
                    "load the part of %s that the block uses into shared memory once.",
                    t->what);
    }
    if (t->f->atomics) {
        return TEXT(t,
                    "Gather the block's updates of %s in shared memory first, or sort them by "
                    "target, so that a warp's lanes update "
                    "neighbours.",
                    t->what);
    }
    return TEXT(t,
                "Sort or renumber the index so that neighbouring lanes gather neighbouring "
                "elements of %s, or keep its hot range in "
                "shared memory.",
                t->what);
}

static const char *false_sharing_advice(const texts *t)
{
    const char *how = t->f->broadcast ? "The lanes of a warp all take one element"
                                      : "The lanes of a warp take elements of different rows";
    return TEXT(t,
                "%s of %s while other warps take its neighbours. Swap the roles of the indices "
                "(threadIdx.x for the one that runs "
                "along memory), so that the lanes of one warp take neighbouring words.",
                how, t->what);
}

static const char *strided_advice(const texts *t)
{
    if (t->f->stride >= 1024) {
        return TEXT(t,
                    "Transpose %s, or load it tile by tile through shared memory, so that lanes "
                    "run along its rows.",
                    t->what);
    }
    return TEXT(t,
                "Split the structures of %s into one array a field, or load whole elements through "
                "shared memory: then all words that "
                "move are used.",
                t->what);
}

static const char *misaligned_advice(const texts *t)
{
    if (t->f->halo) {
        return TEXT(t,
                    "Other loads of %s start on the boundary: these take their neighbours, as a "
                    "stencil does, and no alignment suits all of them. Load the tile with its "
                    "edges into shared memory once and take the neighbours from there, or from "
                    "the next lane by a shuffle.",
                    t->what);
    }
    return TEXT(t,
                "Start the rows of %s on 32-byte boundaries (pad the pitch to a multiple of %u "
                "elements, cudaMallocPitch does it), or "
                "peel the first elements.",
                t->what, t->f->bytes && t->f->bytes <= 32 ? (unsigned)(32 / t->f->bytes) : 1);
}

static const char *uncoalesced_advice(const texts *t)
{
    if (t->f->irregular) {
        return TEXT(t,
                    "Sort or renumber the index so that neighbouring lanes take neighbouring "
                    "elements of %s, or let a warp share one "
                    "row and its lanes run along it.",
                    t->what);
    }
    return TEXT(t,
                "Let neighbouring lanes take neighbouring elements of %s: an array a field in "
                "place of structures, vector loads of "
                "whole elements, or a tile staged through shared memory.",
                t->what);
}

static const char *thread_local_advice(const texts *t)
{
    if (t->f->irregular) {
        return TEXT(t,
                    "Each thread indexes a part of %s of its own: the barriers around it can go; "
                    "where the index can be made known to the compiler (by unrolling, or a switch "
                    "over a few values), registers can hold it.",
                    t->what);
    }
    return TEXT(t, "Keep the values of %s in registers; the barriers around it can go with it.",
                t->what);
}

static const char *warp_local_advice(const texts *t)
{
    return TEXT(t,
                "Exchange the values of %s with __shfl_sync; __syncthreads around it can go or "
                "become __syncwarp.",
                t->what);
}

static const char *bank_conflict_advice(const texts *t)
{
    if (t->f->atomics && t->f->broadcast) {
        return TEXT(t,
                    "All lanes update the same word of %s, one after the other: combine their "
                    "values in the warp first (__reduce_add_sync, shuffles), and let one lane "
                    "update it for all.",
                    t->what);
    }
    if (t->f->atomics) {
        return TEXT(t,
                    "Give each warp or a few lanes a copy of %s of their own, or permute its "
                    "index, so that lanes update different "
                    "banks.",
                    t->what);
    }
    return TEXT(t,
                "Pad the rows of %s by one element (tile[32][33]), or permute the column index, so "
                "that the lanes fall in different "
                "banks.",
                t->what);
}

/* Tables that nvcc adds for sin, cos and their like: the program does not index them itself. */
static bool is_library_table(const texts *t)
{
    return strncmp(t->what, "__cudart_", strlen("__cudart_")) == 0;
}

static const char *library_advice(const texts *t)
{
    return TEXT(t,
                "%s is a table of CUDA's mathematics library, read by a function that this line "
                "calls: call it less often (sincos gives both results at once), use its form for "
                "multiples of pi (sinpi, cospi), or single precision where that is enough.",
                t->what);
}

typedef const char *writer(const texts *t);

bool words_set(ana_draft *draft, const ana_input *input, const words_facts *facts)
{
    static writer *const summaries[ANA_PATTERN_COUNT] = {
        [ANA_HOT] = hot_summary,
        [ANA_HOT_RANDOM] = hot_random_summary,
        [ANA_FALSE_SHARING] = false_sharing_summary,
        [ANA_MISALIGNED] = misaligned_summary,
        [ANA_STRIDED] = strided_summary,
        [ANA_UNCOALESCED] = uncoalesced_summary,
        [ANA_SHARED_THREAD_LOCAL] = thread_local_summary,
        [ANA_SHARED_WARP_LOCAL] = warp_local_summary,
        [ANA_BANK_CONFLICT] = bank_conflict_summary,
    };
    static writer *const advice[ANA_PATTERN_COUNT] = {
        [ANA_HOT] = hot_advice,
        [ANA_HOT_RANDOM] = hot_random_advice,
        [ANA_FALSE_SHARING] = false_sharing_advice,
        [ANA_MISALIGNED] = misaligned_advice,
        [ANA_STRIDED] = strided_advice,
        [ANA_UNCOALESCED] = uncoalesced_advice,
        [ANA_SHARED_THREAD_LOCAL] = thread_local_advice,
        [ANA_SHARED_WARP_LOCAL] = warp_local_advice,
        [ANA_BANK_CONFLICT] = bank_conflict_advice,
    };
    texts t = {draft, input, facts, object_text(draft)};
    draft->summary = summaries[draft->pattern](&t);
    draft->advice = is_library_table(&t) ? library_advice(&t) : advice[draft->pattern](&t);
    return draft->summary && draft->advice;
}
