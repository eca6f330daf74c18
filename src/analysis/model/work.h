/* What a launch asks of a device, counted: the input of the model's formulas. */
#ifndef WL_ANALYSIS_MODEL_WORK_H
#define WL_ANALYSIS_MODEL_WORK_H

#include "analysis/model/model.h"
#include "ir/ops.h"

enum { MODEL_SECTOR = 32, MODEL_LINE = 128 }; /* bytes */

typedef enum model_sum { /* what an atomic adds up */
#define X(id, same, row, words) MODEL_SUM_##id,
#include "analysis/model/atomics.def"
#undef X
                         MODEL_SUMS
} model_sum;

/* Atomics of one type in global memory: turns of the busiest slice of L2 for lanes that change the word
 * that others change, too, and for those that change another. */
typedef struct model_atomics {
    double same, apart;
} model_atomics;

/* Atomics of one type in shared memory that are loops of compare and swap: of the lanes that want words in
 * one bank one has its way each turn, and the others try again. */
typedef struct model_spins {
    double tries;  /* of warps */
    double passes; /* through shared memory that these make */
    double waits;  /* of a warp, on average, one after the other: its own tries, */
    double others; /* and lanes of other warps that have their way with its words */
} model_spins;

/* Loops of compare and swap: updates of a word one after the other, and lanes that try meanwhile. */
typedef struct model_swaps {
    double rounds, tries;
} model_swaps;

/* Of global memory, by all blocks of a launch. */
typedef struct model_traffic {
    double requests;             /* loads and stores */
    double lines, sectors;       /* that they ask L1 for */
    double loads;                /* requests that load from global memory */
    double loaded, loaded_lines; /* what they ask for */
    double missed, missed_lines; /* of these, those that L1 asks L2 for */
    double hit_rate;             /* of loads, in sectors */
    bool waits_known;            /* else the next is 0 */
    /* Of the times that a warp waits for loads that go out together, the part in which L1 has all of them. */
    double short_waits;
    double stored, stored_lines; /* that are written to L2 */
    double stored_bytes;         /* by lanes: of a sector only what is written is sent */
    double footprint;            /* bytes that are touched */
    double moved_again;          /* sectors that device memory moves beside them */
    /* Sectors of these that loads ask for: of `footprint`, the first time; and again. */
    double first_loaded, again_loaded;
    double atomic_lanes, atomic_turns;
    model_swaps swaps, swaps_most; /* as expected, and if all lanes were in each other's way */
    model_atomics slice[MODEL_SUMS];
} model_traffic;

typedef struct model_device { /* as a launch has it */
    double sms;
    double l1_bytes; /* of an L1, beside the shared memory of the blocks there */
    double l2_bytes;
    double of_sm, resident; /* blocks that run at once: on a multiprocessor, on all */
} model_device;

typedef struct model_work {
    double blocks, warps; /* warps: of a block */
    /* Of the mean of all warps the longest warp, and a block's longest, on average; of the mean of
     * all blocks the busiest. */
    double longest, longest_of_block, busiest;
    double machine[IR_COST_COUNT]; /* warp instructions of all blocks */
    double chain[IR_COST_COUNT];   /* of a warp, on average, that wait for each other */
    double chain_loads, chain_shared;
    double shared_turns;                    /* passes through shared memory, of all blocks */
    double shared_loads, shared_load_turns; /* requests that load from there, and their passes */
    double shared_extra; /* of these, those beyond the fewest that the words need */
    model_spins spins[MODEL_SUMS];
    bool managed;    /* it accesses managed memory */
    double ilp, mlp; /* of a warp, the mean of the basic blocks; mlp -1: it loads nothing */
    model_traffic traffic;
} model_work;

typedef struct model_rows model_rows;

/* Of all launches, in the arena. */
wl_status model_rows_load(prof_db *profile, wl_arena *arena, model_rows **out, wl_error *err);

/* Once, before launches are asked for: atomics that the compiler combines have one lane a request. */
void model_rows_combine(model_rows *rows, const prof_launch_rows *launches);

/* The next launch asked for is the kernel's first. */
void model_rows_rewind(model_rows *rows, uint32_t kernel);
/* Launches are asked for once each, by kernel and id; `change` NULL: as they are. False where the
 * counts of its basic blocks are missing, so that nothing can be said. */
bool model_work_of(model_rows *rows, const model_device *device, const prof_launch *launch,
                   const model_change *change, model_work *out);

/* At least so many blocks, that do what those of the launch do, to the same memory. */
void model_work_fill(model_work *work, double blocks);

/* Its time on the device, where so many blocks are resident on a multiprocessor at once. */
void model_predict(const cuda_device *device, const model_work *work, uint32_t resident,
                   ana_model *out);
model_benefits model_benefits_of(const cuda_device *device, const model_work *work,
                                 uint32_t resident);
model_roofline model_roofline_of(const cuda_device *device, const model_work *work,
                                 const prof_launch *launch);
void model_roofline_add(model_roofline *sum, const model_roofline *of, double times);
double model_sms(const cuda_device *device); /* multiprocessors */
/* Seconds for which the busiest slice of L2 changes words, one after the other. */
double model_seconds_of_slice(const cuda_device *device, const model_traffic *traffic);
/* What L2 keeps, as measured, else as the device tells. */
double model_l2_bytes(const cuda_device *device);
/* Does all that the launch touches fit into L2? */
bool model_stays_in_l2(const cuda_device *device, const model_traffic *traffic);
/* Clocks from an instruction of the class to one that waits for it; 0 where no figure tells, and for
 * loads and barriers, which are counted apart. */
double model_latency_of(const cuda_device *device, ir_cost cost);
double model_barrier_clocks(const cuda_device *device, double warps); /* of a block */
model_resource model_longest(const ana_model *model);

#endif
