/* Summaries and remedies of the heat map's patterns. */
#include "analysis/heatmap/words.h"

#include <stdlib.h>
#include <string.h>

typedef struct texts {
    const ana_draft *draft;
    const ana_input *input;
    const words_facts *f;
    const char *what; /* the object in sentences */
} texts;

#define TEXT(t, ...) wl_arena_printf((t)->input->arena, __VA_ARGS__)

/* ---- summaries ---- */

static const char *hot_summary(const texts *t)
{
    return TEXT(t,
                "On average %.1f of the block's %u warps access each word of %s that is used, and "
                "each of them moves the sector again.",
                t->f->word_temperature, t->f->warps, t->what);
}

static const char *hot_random_summary(const texts *t)
{
    return TEXT(t,
                "Requests gather from %s at random: %.1f of the block's %u warps use each sector, "
                "%.1f each word, and a request moves %.1f sectors.",
                t->what, t->f->sector_temperature, t->f->warps, t->f->word_temperature,
                t->f->sectors_per_request);
}

/* One lane of each warp has something to store: what its warp worked out. */
static bool is_one_result(const texts *t)
{
    return t->f->stores && !t->f->loads && t->f->lanes < 2;
}

static const char *false_sharing_summary(const texts *t)
{
    const char *why = t->f->atomics      ? "Different warps update different words of one sector"
                      : is_one_result(t) ? "One lane of each warp stores, next to other warps"
                      : t->f->broadcast  ? "The lanes of a warp take one element, other warps its "
                                           "neighbours"
                      : t->f->irregular  ? "The lanes of a warp take elements here and there"
                                         : "The lanes of a warp take elements of different rows";
    return TEXT(t,
                "%s: on average %.1f warps use each sector of %s, but only %.1f use each word, and "
                "the sector moves again for each of them.",
                why, t->f->sector_temperature, t->what, t->f->word_temperature);
}

static const char *strided_summary(const texts *t)
{
    if (t->f->sampled) {
        return TEXT(t,
                    "The sampled blocks use only %.1f of the 8 words in each sector of %s, %lld "
                    "bytes apart; what other blocks use of them is not known.",
                    t->f->words_used, t->what, (long long)t->f->stride);
    }
    return TEXT(t,
                "Only %.1f of the 8 words in each sector of %s are ever used here, %lld bytes "
                "apart; the others move for nothing.",
                t->f->words_used, t->what, (long long)t->f->stride);
}

static const char *misaligned_summary(const texts *t)
{
    if (t->f->boxes) {
        return TEXT(t,
                    "Rows of boxes of %s do not start on a sector boundary: a box moves %.1f "
                    "sectors where %.1f would do.",
                    t->what, t->f->sectors_per_request, t->f->fewest_per_request);
    }
    return TEXT(t,
                "Contiguous requests to %s do not start on a sector boundary, so each moves one "
                "sector too many: %.2f where %.2f would do.",
                t->what, t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *uncoalesced_summary(const texts *t)
{
    if (t->f->boxes) {
        return TEXT(t, "A box of %s moves %.1f sectors where its data would fill %.1f.", t->what,
                    t->f->sectors_per_request, t->f->fewest_per_request);
    }
    if (t->f->stride) {
        return TEXT(t,
                    "Neighbouring lanes are %lld bytes apart in %s: a request moves %.1f sectors "
                    "where its data would fill %.1f.",
                    llabs(t->f->stride), t->what, t->f->sectors_per_request,
                    t->f->fewest_per_request);
    }
    return TEXT(t, "A request to %s%s moves %.1f sectors where its data would fill %.1f.", t->what,
                t->f->narrow ? " takes pieces of several rows, and" : "", t->f->sectors_per_request,
                t->f->fewest_per_request);
}

static const char *divergent_summary(const texts *t)
{
    return TEXT(t,
                "On average %.1f of a warp's 32 lanes take part in a request to %s, and each needs "
                "a sector of its own: %.1f where their data would fill %.1f.",
                t->f->lanes, t->what, t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *idle_lanes_summary(const texts *t)
{
    return TEXT(
        t,
        "Ever fewer lanes add up pairs of %s: on average %.1f of a warp's 32 take part in a "
        "request, and the others wait.",
        t->what, t->f->lanes);
}

static const char *same_address_summary(const texts *t)
{
    if (t->draft->unit == ANA_WAVEFRONTS) {
        return TEXT(t,
                    "The %.1f lanes of a request update one word of %s, one after the other: %.1f "
                    "wavefronts where %.1f would do.",
                    t->f->lanes, t->what, t->f->sectors_per_request, t->f->fewest_per_request);
    }
    static const char serial[] =
        "the L2 cache carries out one update of an address after the other.";
    if (t->f->lone) {
        return TEXT(t, "The blocks have one warp each, and %s of a request update%s %s of %s: %s",
                    t->f->lanes < 2 ? "the lane" : "the lanes", t->f->lanes < 2 ? "s" : "",
                    t->f->broadcast ? "one word" : "few words", t->what, serial);
    }
    if (t->f->lanes < 2) {
        return TEXT(t,
                    "%.1f of the block's %u warps update the same word of %s, a lane of each: %s",
                    t->f->sector_temperature, t->f->warps, t->what, serial);
    }
    return TEXT(t,
                "%s the %.1f lanes of a request update %s of %s, and %.1f of the block's %u warps "
                "come to a sector: %s",
                t->f->broadcast ? "All of" : "Several of", t->f->lanes,
                t->f->broadcast ? "one word" : "each word", t->what, t->f->sector_temperature,
                t->f->warps, serial);
}

static const char *scattered_atomics_summary(const texts *t)
{
    bool spread = t->f->sectors_per_request >= 1.5 * t->f->fewest_per_request;
    if (!spread && t->f->warps > 1) {
        return TEXT(t,
                    "%.1f of the block's %u warps update each sector of %s, each by itself: the L2 "
                    "cache carries out a request after the other.",
                    t->f->sector_temperature, t->f->warps, t->what);
    }
    if (!spread) {
        return TEXT(t,
                    "A warp updates the same sectors of %s again and again: the L2 cache carries "
                    "out a request after the other.",
                    t->what);
    }
    return TEXT(t,
                "The %.1f lanes of a request update words of %s in %.1f sectors, where their data "
                "would fill %.1f: the L2 cache updates one sector at a time.",
                t->f->lanes, t->what, t->f->sectors_per_request, t->f->fewest_per_request);
}

static const char *thread_local_summary(const texts *t)
{
    return TEXT(t, "Each word of %s is used by one thread only: nothing is shared through it.",
                t->what);
}

static const char *warp_local_summary(const texts *t)
{
    return t->f->warps == 1
               ? TEXT(t, "The blocks have one warp each, and no other sees what %s holds.", t->what)
               : TEXT(t, "Each word of %s is used within one warp only: no other warp touches it.",
                      t->what);
}

/* Of the 32 banks, how many the lanes of a strided request fall into; 0 where that says nothing. */
static uint32_t banks_used(int64_t stride)
{
    uint64_t words = (uint64_t)llabs(stride) / 4;
    uint32_t banks = 32;
    for (; words && words % 2 == 0 && banks > 1; words /= 2)
        banks /= 2;
    return stride % 4 == 0 && banks < 32 ? banks : 0;
}

static const char *bank_conflict_summary(const texts *t)
{
    uint32_t banks = banks_used(t->f->stride);
    const char *why = banks ? TEXT(t, "Lanes are %lld bytes apart and share %u of the 32 banks: a",
                                   llabs(t->f->stride), banks)
                            : "A";
    return why ? TEXT(t, "%s request to %s takes %.1f wavefronts where %.1f would do.", why,
                      t->what, t->f->sectors_per_request, t->f->fewest_per_request)
               : NULL;
}

/* ---- remedies: equal for findings that one change fixes, so without this case's numbers ---- */

/* One change: what else would do stands by itself, so that each has its own figures and condition. */
typedef struct advice {
    remedy_kind kind;
    const char *text; /* NULL: no memory for it */
    ana_other others[2];
} advice;

#define ADVICE(id, ...) ((advice){.kind = REMEDY_##id, .text = (__VA_ARGS__)})

/* The first with the second, and perhaps a third, as what may be done in its place. */
static advice advice_or(advice first, advice second)
{
    ana_other *other = first.others[0].remedy ? &first.others[1] : first.others;
    *other = (ana_other){second.kind, second.text};
    return first;
}

static advice narrow_remedy(const texts *t)
{
    return ADVICE(
        WIDEN,
        TEXT(t,
             "A warp takes pieces of several rows of " ANA_OBJECT ", since the block is less than "
             "32 threads wide. %s the block 32 wide or a multiple of that, and less high by as "
             "much, so that the lanes of a warp run along one row. The grid, and whatever else "
             "counts on the block's shape, has to change with it%s.",
             t->f->goes_on ? "Make" : "Where these rows go on in the next block, make",
             t->f->tiles ? ": __shared__ tiles of its size, too, and the loops over them (a tile "
                           "that must be square needs 32 x 32 threads)"
                         : ""));
}

/* What a copy that is staged already can do better. */
static advice copied_apart(void)
{
    return ADVICE(NEIGHBOURS, "The copies to shared memory take elements of " ANA_OBJECT
                              " one by one. Let neighbouring lanes copy neighbouring elements (16 "
                              "bytes a lane move best), and pick out of shared memory what each "
                              "thread needs.");
}

static advice boxes_of_short_rows(void)
{
    return ADVICE(WHOLE_SECTORS,
                  "The boxes of " ANA_OBJECT " have short rows, or rows that begin off 32-byte "
                  "boundaries. Make boxes longer along the first dimension of the tensor map, 32 "
                  "bytes at least, and the row pitch a multiple of 32 bytes.");
}

static advice hot_remedy(const texts *t)
{
    if (t->f->async) {
        return ADVICE(STAGE, "Each warp copies the same part of " ANA_OBJECT
                             " to shared memory. Let the warps of the block copy a part each, "
                             "once, and read each other's after a barrier.");
    }
    bool spread = t->f->sectors_per_request >= 2 * t->f->fewest_per_request;
    if (t->f->stores) {
        return ADVICE(STAGE, "Keep what the block writes to " ANA_OBJECT
                             " in registers or shared memory and store it once.");
    }
    if (t->f->broadcast) {
        return ADVICE(STAGE,
                      "All lanes of a warp read the same element of " ANA_OBJECT
                      ". Load the block's part into shared memory or registers once; small data "
                      "that is only read can go into constant memory.");
    }
    return spread ? ADVICE(STAGE, "Load the block's part of " ANA_OBJECT
                                  " into shared memory once, with the lanes of a warp running "
                                  "along its rows, and read it from there.")
                  : ADVICE(STAGE, "Load the block's part of " ANA_OBJECT
                                  " into shared memory once and read it from there.");
}

static advice hot_random_remedy(const texts *t)
{
    if (t->f->async)
        return copied_apart();
    if (t->f->sectors_per_request < 2) {
        return ADVICE(STAGE, "Load the part of " ANA_OBJECT
                             " that the block uses into shared memory once: a request needs only a "
                             "sector or two, but every warp fetches them again.");
    }
    return advice_or(ADVICE(RENUMBER,
                            "Sort or renumber the index so that neighbouring lanes gather "
                            "neighbouring elements of " ANA_OBJECT "."),
                     ADVICE(STAGE, "Keep what is gathered most often of " ANA_OBJECT
                                   " in shared memory."));
}

static advice tiles_of_rows(void)
{
    return ADVICE(TILES, "Load " ANA_OBJECT
                         " tile by tile into shared memory, lanes running along its rows, and read "
                         "the column from there.");
}

/* Lanes that put together what they took cannot change places with other threads. */
static advice keep_lanes(void)
{
    return advice_or(
        ADVICE(TRANSPOSE,
               "The lanes of a warp exchange what they work out (shuffles), so that they "
               "have to stay together. Store " ANA_OBJECT
               " transposed, so that they take neighbouring elements."),
        tiles_of_rows());
}

static advice false_sharing_remedy(const texts *t)
{
    if (t->f->atomics) {
        return ADVICE(SORT_UPDATES,
                      "Gather the block's updates of " ANA_OBJECT
                      " in shared memory first, or sort them by target, so that the lanes "
                      "of a warp update neighbours.");
    }
    if (is_one_result(t)) {
        return ADVICE(STAGE, "Each warp stores one result to " ANA_OBJECT
                             ". Collect those of the block in shared memory, and let neighbouring "
                             "lanes of one warp store them together.");
    }
    if (t->f->broadcast) {
        return ADVICE(STAGE,
                      "All lanes of a warp take one element of " ANA_OBJECT
                      ". Let neighbouring lanes load the block's elements at once, and hand them "
                      "on by shuffles or in shared memory.");
    }
    if (t->f->irregular) {
        return ADVICE(RENUMBER, "Sort or renumber the index so that the lanes of one warp take "
                                "neighbouring elements of " ANA_OBJECT
                                ", and other warps elements of other sectors.");
    }
    if (t->f->shuffles && !t->f->rows_elsewhere)
        return keep_lanes();
    return ADVICE(NEIGHBOURS, "Swap the roles of the indices of " ANA_OBJECT
                              ": threadIdx.x for the one that runs along memory, so that the lanes "
                              "of one warp take neighbouring words.");
}

static bool is_row(const texts *t)
{
    return (double)llabs(t->f->stride) >= t->input->program->thresholds->row_bytes;
}

static advice transposed(void)
{
    return ADVICE(TRANSPOSE, "Store " ANA_OBJECT
                             " transposed, so that neighbouring lanes take neighbouring elements.");
}

static advice strided_remedy(const texts *t)
{
    if (t->f->boxes)
        return boxes_of_short_rows();
    if (t->f->async)
        return copied_apart();
    if (t->f->sampled) {
        return advice_or(
            ADVICE(WHOLE_SECTORS,
                   "Where other blocks use the words between these, swap the indices, so that the "
                   "lanes of a warp take neighbouring words of " ANA_OBJECT
                   " and the blocks what is further apart. Where nobody uses them, store the used "
                   "words next to each other (one array per field)."),
            ADVICE(TRANSPOSE, "Transpose " ANA_OBJECT "."));
    }
    if (is_row(t) && t->f->rows_elsewhere) {
        return ADVICE(TILES, "Elsewhere lanes run along the rows of " ANA_OBJECT
                             ", so that transposing it would only move the cost there. Load a tile "
                             "row by row into shared memory and take the column from there, or "
                             "keep a copy of the columns that lanes take in an array of its "
                             "own.");
    }
    return is_row(t)
               ? advice_or(ADVICE(TRANSPOSE,
                                  "Transpose " ANA_OBJECT ", so that lanes run along its rows."),
                           tiles_of_rows())
               : ADVICE(SPLIT, "Store the words that are used next to each other: split structures "
                               "into one array per field, or pack the used elements of " ANA_OBJECT
                               " into an array without gaps.");
}

static advice misaligned_remedy(const texts *t)
{
    if (t->f->boxes) {
        return ADVICE(SPREAD,
                      "Rows of the boxes of " ANA_OBJECT
                      " begin off 32-byte boundaries: a tensor map only asks for multiples of 16. "
                      "Pad the row pitch to a multiple of 32 bytes, and let boxes begin at one.");
    }
    if (t->f->async) {
        return ADVICE(ALIGN, "The copies of " ANA_OBJECT
                             " to shared memory do not start on 32-byte boundaries. Let them begin "
                             "at the boundary before, and take what is needed from there, or pad "
                             "the row pitch to a multiple of 32 bytes.");
    }
    if (t->f->halo) {
        return ADVICE(STAGE,
                      "The loads of " ANA_OBJECT
                      " take neighbouring elements one after the other, as a stencil does, and no "
                      "alignment suits all of them. Load the block's part with its edges into "
                      "shared memory once, and take the neighbours from there; or let each lane "
                      "take them from the next lanes by shuffles.");
    }
    if (t->f->counted) {
        return ADVICE(STAGE, "An atomic update tells where these accesses to " ANA_OBJECT
                             " begin, so that no padding can align them. Collect the block's "
                             "elements in shared memory, and let its warps move them together: "
                             "those before the first 32-byte boundary by themselves, all others "
                             "from there on.");
    }
    if (t->f->shifted) {
        return ADVICE(ALIGN,
                      "All accesses to " ANA_OBJECT
                      " begin equally far after a 32-byte boundary. Leave so many elements free "
                      "before the data that they begin on one, or let a few threads take the "
                      "elements before the first boundary, and the others go on from there.");
    }
    return ADVICE(SPREAD,
                  TEXT(t,
                       "Let what a warp takes of each row of " ANA_OBJECT
                       " begin on a 32-byte boundary: pad the row pitch to a multiple of %u "
                       "elements (cudaMallocPitch does), with elements left free before the rows "
                       "where these are not taken from their begin on; or handle the first "
                       "elements separately.",
                       t->f->bytes && t->f->bytes <= 32 ? (unsigned)(32 / t->f->bytes) : 1));
}

static advice scattered_loads(const texts *t)
{
    if (t->f->loaded)
        return advice_or(ADVICE(RENUMBER,
                                "Sort or renumber the index so that neighbouring lanes take "
                                "neighbouring elements of " ANA_OBJECT "."),
                         ADVICE(SHARE, "Where each lane follows a row of its own, let a warp share "
                                       "one row of " ANA_OBJECT " and its lanes run along it."));
    return advice_or(
        ADVICE(NEIGHBOURS, "The lanes of a warp take elements of " ANA_OBJECT
                           " that lie apart, by what the kernel computes from its indices. Let "
                           "neighbouring lanes take neighbouring elements: give them the same step "
                           "of the work, with threadIdx.x running along memory."),
        ADVICE(TILES, "Stage " ANA_OBJECT
                      " through shared memory: load it in order, and read it from there."));
}

static advice shared_rows(void)
{
    return ADVICE(SHARE, "Let a warp share each row of " ANA_OBJECT
                         ", threadIdx.x running along it, in place of a row for each thread.");
}

/* A thread that goes through a row of its own has it to itself: another order of threads does not help. */
static advice across_rows(const texts *t)
{
    bool own = t->f->walks || t->f->own_rows;
    if (own && t->f->rows_elsewhere)
        return advice_or(ADVICE(TILES, "Each thread goes through a row of " ANA_OBJECT
                                       " of its own, and elsewhere lanes run along these rows. "
                                       "Load a tile row by row into shared memory, and let each "
                                       "thread read its row from there."),
                         shared_rows());
    if (own)
        return advice_or(advice_or(ADVICE(TRANSPOSE, "Each thread goes through a row of " ANA_OBJECT
                                                     " of its own. Store " ANA_OBJECT
                                                     " transposed, so that neighbouring lanes take "
                                                     "neighbouring elements."),
                                   tiles_of_rows()),
                         shared_rows());
    return advice_or(advice_or(ADVICE(ALONG, "The lanes of a warp take elements of different rows "
                                             "of " ANA_OBJECT ". Let threadIdx.x run along a row."),
                               tiles_of_rows()),
                     transposed());
}

/* May all that a lane goes through be loaded at once? */
static bool is_vector(const texts *t)
{
    uint64_t apart = (uint64_t)llabs(t->f->stride);
    return (apart == 8 || apart == 16) && t->f->bytes < apart;
}

static advice uncoalesced_remedy(const texts *t)
{
    if (t->f->boxes)
        return boxes_of_short_rows();
    if (t->f->counted) {
        return ADVICE(STAGE, "An atomic update tells where each of these elements of " ANA_OBJECT
                             " goes. Order the block's elements by target in shared memory first, "
                             "so that neighbouring lanes take neighbouring elements.");
    }
    if (t->f->narrow)
        return narrow_remedy(t);
    if (t->f->irregular)
        return scattered_loads(t);
    if (t->f->async)
        return copied_apart();
    if (t->f->shuffles && !t->f->rows_elsewhere && (t->f->crosses || is_row(t)))
        return keep_lanes();
    if (t->f->crosses) {
        return ADVICE(ALONG, "Neighbouring blocks take neighbouring elements of " ANA_OBJECT
                             ", and the lanes of a warp elements far apart. Swap the two in "
                             "the index: threadIdx.x for what runs along memory, blockIdx for "
                             "what is further apart.");
    }
    if (is_row(t))
        return across_rows(t);
    if (t->f->walks)
        return advice_or(
            advice_or(ADVICE(NEIGHBOURS,
                             "Each thread works through a chunk of " ANA_OBJECT
                             " of its own. Let neighbouring lanes take neighbouring elements and "
                             "step by the number of threads."),
                      ADVICE(TRANSPOSE, "Where a thread needs all of its chunk of " ANA_OBJECT
                                        ", store the first elements of all chunks side by side, "
                                        "then the second, and so on.")),
            ADVICE(TILES, "Stage the chunks of " ANA_OBJECT
                          " through shared memory: load them in order, and read them from there."));
    const advice told = advice_or(
        ADVICE(NEIGHBOURS, "Let neighbouring lanes take neighbouring elements of " ANA_OBJECT
                           ", with no chunk of its own for each thread."),
        ADVICE(SPLIT,
               "Where the elements of " ANA_OBJECT " are structures, keep one array per field."));
    return is_vector(t) ? advice_or(told, ADVICE(VECTORS, "Where the elements of " ANA_OBJECT
                                                          " are structures, load each as one "
                                                          "vector."))
                        : told;
}

static advice divergent_remedy(const texts *t)
{
    if (t->f->narrow) /* the edge of a tile: one lane of each row */
        return narrow_remedy(t);
    return ADVICE(TOGETHER, "The other lanes of the warp took another branch, or are done already. "
                            "Where each thread has a part of " ANA_OBJECT
                            " to itself, keep it in registers (by unrolled loops) or shared "
                            "memory; else sort the work, so that neighbouring lanes do the same, "
                            "or let a whole warp share the work of one of them.");
}

static advice sum_remedy(void)
{
    return ADVICE(REDUCE, "Let neighbouring threads add up " ANA_OBJECT
                          " (thread t the elements t and t + d, with d half as large in each "
                          "step), so that whole warps have nothing left to do, and the last 64 "
                          "values be added by the shuffles of one warp.");
}

static advice idle_lanes_remedy(const texts *t)
{
    (void)t;
    return sum_remedy();
}

/* Blocks of one warp have nobody in the block to combine with. */
static advice lone_warps_remedy(const texts *t)
{
    return t->f->lanes < 2 || t->f->combined
               ? ADVICE(COMBINE, "The blocks have one warp each, and each updates " ANA_OBJECT
                                 " by itself. Use blocks of several warps, combine their values in "
                                 "shared memory, and let one thread update it for all of them; or "
                                 "let each warp go through several parts of the data before it "
                                 "updates.")
               : ADVICE(COMBINE,
                        "Combine the values of a warp's lanes first (__reduce_add_sync, shuffles; "
                        "for places in a list __ballot_sync and __popc), and let one lane "
                        "update " ANA_OBJECT
                        " for all of them. Blocks of several warps could combine more.");
}

static advice same_address_remedy(const texts *t)
{
    if (!t->f->broadcast) {
        return ADVICE(COMBINE,
                      "Neighbouring lanes update the same elements of " ANA_OBJECT
                      ". Add up the values of equal targets in the warp first (__match_any_sync "
                      "finds them; where they are sorted, a segmented sum by shuffles), then those "
                      "of the block's warps in shared memory, and let one lane of each run "
                      "update " ANA_OBJECT ".");
    }
    if (t->draft->unit == ANA_WAVEFRONTS) {
        return ADVICE(COMBINE, "All lanes update the same word of " ANA_OBJECT
                               ", one after the other. Combine their values in the warp first "
                               "(__reduce_add_sync, shuffles), and let one lane update it for "
                               "all.");
    }
    if (t->f->lone)
        return lone_warps_remedy(t);
    if (t->f->combined) {
        return ADVICE(COMBINE, "The compiler lets one lane of each warp update " ANA_OBJECT
                               " for the others. Combine the values of the block's warps in shared "
                               "memory, and let one thread update " ANA_OBJECT " for all of them.");
    }
    if (t->f->lanes < 2) {
        return ADVICE(COMBINE, "Each warp updates " ANA_OBJECT
                               " by itself. Combine the values of the block's warps in shared "
                               "memory first, and let one thread update it for all of them.");
    }
    return ADVICE(COMBINE,
                  "Combine the values of a warp's lanes first (__reduce_add_sync, shuffles; for "
                  "places in a list __ballot_sync and __popc), then those of the block's warps in "
                  "shared memory, and let one thread update " ANA_OBJECT " for all of them.");
}

static advice scattered_atomics_remedy(const texts *t)
{
    const prof_object *o = t->draft->group->info;
    double most = t->input->program->thresholds->private_bytes;
    return o && o->bytes && (double)o->bytes <= most
               ? ADVICE(PRIVATE, "Give each block a copy of " ANA_OBJECT
                                 " in shared memory: update that, and add it to " ANA_OBJECT
                                 " once at the end.")
               : ADVICE(SORT_UPDATES,
                        "Sort the updates by target, so that the lanes of a warp update "
                        "neighbours and equal targets are added up first; or turn the "
                        "loop round, so that a thread collects what belongs to its "
                        "elements of " ANA_OBJECT ".");
}

/* Where the code does not prove that barriers order nothing, advice leaves them alone; where it proves it
 * of some, they have a finding of their own. */
static advice thread_local_remedy(const texts *t)
{
    if (t->f->irregular) {
        return ADVICE(REGISTERS,
                      "Each thread indexes a part of " ANA_OBJECT
                      " of its own. Where the index can be known to the compiler (by unrolling, or "
                      "a switch over a few values), registers can hold the values.");
    }
    switch (t->f->barriers) {
    case BARRIERS_ORDER_NOTHING:
        return ADVICE(REGISTERS, "Keep the values of " ANA_OBJECT
                                 " in registers. The kernel's barriers can go, too: its code shows "
                                 "that no thread takes what another one wrote.");
    case BARRIERS_ORDER_WARPS:
    case BARRIERS_MAY_ORDER:
        return ADVICE(REGISTERS, "Keep the values of " ANA_OBJECT
                                 " in registers, and the barriers where they are: other data may "
                                 "need them.");
    default: return ADVICE(REGISTERS, "Keep the values of " ANA_OBJECT " in registers.");
    }
}

static advice warp_local_remedy(const texts *t)
{
    switch (t->f->barriers) {
    case BARRIERS_ORDER_NOTHING:
    case BARRIERS_ORDER_WARPS:
        return ADVICE(SHUFFLES, "Exchange the values of " ANA_OBJECT
                                " with __shfl_sync. __syncwarp() can take the place of the "
                                "kernel's __syncthreads(): its code shows that no warp takes what "
                                "another one wrote.");
    case BARRIERS_MAY_ORDER:
        return ADVICE(SHUFFLES, "Exchange the values of " ANA_OBJECT
                                " with __shfl_sync, and leave the barriers where they are: other "
                                "data may need them.");
    default: return ADVICE(SHUFFLES, "Exchange the values of " ANA_OBJECT " with __shfl_sync.");
    }
}

static advice bank_conflict_remedy(const texts *t)
{
    enum {
        ROW_ELEMENTS = 16
    }; /* closer lanes take neighbours or structures rather than a column */
    uint64_t apart = t->f->bytes ? (uint64_t)llabs(t->f->stride) / t->f->bytes : 0;
    if (t->f->atomics) {
        return ADVICE(PRIVATE, "Give each warp, or a few lanes, a copy of " ANA_OBJECT
                               " of their own, or permute its index, so that lanes update "
                               "different banks.");
    }
    if (t->f->reduction)
        return sum_remedy();
    if (t->f->narrow)
        return narrow_remedy(t);
    if (t->f->boxes) {
        return ADVICE(
            SWIZZLE,
            "Copies of a tensor's boxes fill or take " ANA_OBJECT
            ", so that its rows cannot be padded. Let the tensor map swizzle them "
            "(CU_TENSOR_MAP_SWIZZLE_128B, with rows of 128 bytes at most), and take the "
            "pieces of 16 bytes by the permuted column: piece ^ (row % 8). Lanes that run along "
            "a column meet by fours then, and not at all where each takes 16 bytes.");
    }
    if (apart >= ROW_ELEMENTS) {
        return ADVICE(PAD, "Make each row of " ANA_OBJECT
                           " one element longer (where it has no rows, leave an element free after "
                           "every 128 bytes: index + index / 32 for words), or permute the column "
                           "index, so that the lanes fall into different banks.");
    }
    return ADVICE(NEIGHBOURS, "Let neighbouring lanes take neighbouring elements of " ANA_OBJECT
                              "; where they must stay apart, pad each row by one element, or leave "
                              "one element out in 32 (index + index / 32), so that the lanes fall "
                              "into different banks.");
}

/* Tables that nvcc adds for sin, cos and their like: the program does not index them itself. */
static bool is_library_table(const texts *t)
{
    return strncmp(t->what, "__cudart_", strlen("__cudart_")) == 0;
}

static advice library_remedy(void)
{
    return ADVICE(CHEAPER_CALL, ANA_OBJECT
                  " is a table of CUDA's mathematics library, read by a function that this line "
                  "calls. Call it less often (sincos gives both results at once), use its form for "
                  "multiples of pi (sinpi, cospi), or single precision where that is enough.");
}

struct words_kind {
    const char *(*summary)(const texts *t);
    advice (*remedy)(const texts *t);
};

const words_kind words_hot = {hot_summary, hot_remedy};
const words_kind words_hot_random = {hot_random_summary, hot_random_remedy};
const words_kind words_false_sharing = {false_sharing_summary, false_sharing_remedy};
const words_kind words_misaligned = {misaligned_summary, misaligned_remedy};
const words_kind words_strided = {strided_summary, strided_remedy};
const words_kind words_uncoalesced = {uncoalesced_summary, uncoalesced_remedy};
const words_kind words_divergent = {divergent_summary, divergent_remedy};
const words_kind words_idle_lanes = {idle_lanes_summary, idle_lanes_remedy};
const words_kind words_same_address = {same_address_summary, same_address_remedy};
const words_kind words_scattered_atomics = {scattered_atomics_summary, scattered_atomics_remedy};
const words_kind words_thread_local = {thread_local_summary, thread_local_remedy};
const words_kind words_warp_local = {warp_local_summary, warp_local_remedy};
const words_kind words_bank_conflict = {bank_conflict_summary, bank_conflict_remedy};

/* Whoever is told to go by way of shared memory is told of the barriers that this needs, where the
 * remedy's condition does not tell. */
static const char *with_barriers(const texts *t, remedy_kind kind, const char *text)
{
    bool told = strstr(remedy_condition(kind), "barrier") != NULL;
    if (!text || told || !strstr(text, "shared memory"))
        return text;
    return TEXT(t,
                "%s Shared memory needs a __syncthreads() after the block has filled it, and one "
                "before it fills it again.",
                text);
}

static void set_others(const advice *told, ana_draft *draft)
{
    enum { MOST = sizeof draft->others / sizeof *draft->others };
    for (draft->nothers = 0; draft->nothers < MOST && told->others[draft->nothers].remedy;
         draft->nothers++)
        draft->others[draft->nothers] = told->others[draft->nothers];
}

bool words_set(ana_draft *draft, const ana_input *input, const words_facts *facts,
               const words_kind *kind)
{
    texts t = {draft, input, facts, ana_object_text(draft->group->info)};
    advice told = is_library_table(&t) ? library_remedy() : kind->remedy(&t);
    draft->summary = kind->summary(&t);
    draft->kind = told.kind;
    draft->remedy = with_barriers(&t, told.kind, told.text);
    set_others(&told, draft);
    return draft->summary && draft->remedy;
}
