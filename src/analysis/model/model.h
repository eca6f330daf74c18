/* The performance model: how long launches take, and what bounds them.
 *
 * The time of a launch is that of the resource that it keeps busy longest, on the multiprocessor
 * with most blocks, and of what no other warp hides: the chain of instructions that wait for each
 * other, as often as blocks take turns on a multiprocessor; and the launch itself. Counts come from
 * the profile; rates from the device's figures (cuda/figures.def), so that a device that was never
 * measured has no model. docs/model.md derives it, and says how it differs from Sim et al., "A
 * Performance Analysis Framework for Identifying Potential Benefits in GPGPU Applications" (PPoPP
 * 2012), equations (1) to (17). */
#ifndef WL_ANALYSIS_MODEL_MODEL_H
#define WL_ANALYSIS_MODEL_MODEL_H

#include "analysis/model/occupancy.h"
#include "analysis/model/roofline.h"
#include "base/arena.h"
#include "cuda/device.h"
#include "profile/profile.h"

typedef enum model_resource {
#define X(id, name, words) MODEL_##id,
#include "analysis/model/resources.def"
#undef X
    MODEL_RESOURCES
} model_resource;

const char *model_resource_name(model_resource resource);  /* "fp32" */
const char *model_resource_words(model_resource resource); /* "FP32 arithmetic" */

/* What of a launch's time cannot be known from its counts. */
typedef enum model_unsure {
#define X(id, name, words) MODEL_##id,
#include "analysis/model/unsure.def"
#undef X
    MODEL_UNSURE_COUNT
} model_unsure;

const char *model_unsure_name(model_unsure what);  /* "compare-and-swap" */
const char *model_unsure_words(model_unsure what); /* as a sentence */

/* The resource that is busy with it. */
model_resource model_level_resource(model_level level);
model_resource model_arithmetic_resource(model_arithmetic arithmetic);

/* The four benefits of the paper's model, and the costs that its chart is drawn from: seconds of a
 * launch, 0 or more. By the paper's equations (paper.h), so that they tell what to look at first;
 * the time itself is predicted by ana_model's resources. */
typedef struct model_benefits {
#define X(member, cost) double member;
#include "analysis/model/benefits.def"
#undef X
} model_benefits;

/* A launch of a kind; or the mean of all launches of a kernel that have a model. */
typedef struct ana_model {
    uint32_t kernel, kind; /* prof_launch's; kind 0: all of the kernel */
    uint64_t launches;     /* that this is of */
    const char *missing;   /* why there is no model, as a sentence; NULL: there is one */
    double seconds;        /* predicted, launch included */
    double next_launch;    /* what the host takes to launch the next one */
    double low, high;      /* where eight of ten launches lie that were measured (residuals.def) */
    uint32_t unsure;       /* bits by model_unsure: what no range of theirs covers */
    model_resource bound;  /* which takes longest */
    double resources[MODEL_RESOURCES]; /* seconds that each takes by itself */
    /* Sectors that loads of global memory ask for: of L1, of L2 for want of L1, of device memory. */
    double from_l1, from_l2, from_dram;
    model_benefits benefits;
    model_roofline roofline;
    model_occupancy occupancy; /* of a launch, also of one without a model; not of a kernel */
} ana_model;

typedef struct ana_models {
    uint32_t count;
    ana_model *rows; /* by kind */
    uint32_t nkernels;
    ana_model *kernels; /* the longest of all their launches first; none without a model */
} ana_models;

wl_status ana_model_table(prof_db *profile, wl_arena *arena, ana_models *out, wl_error *err);

/* ---- trials: what a change would do to a kernel's time ---- */

/* An instruction as a change leaves it: the part that remains of what it did, 1 where all does. An
 * edited instruction's sectors lie side by side, unless `like` tells. */
typedef struct model_edit {
    uint32_t pc, object, space; /* prof_instruction's */
    double requests, sectors, wavefronts, lanes;
    double touched; /* of the sectors of its object that a block touches */
    double staged;  /* wavefronts of shared memory in place of each request of before */
    /* Requests that update shared memory likewise, the turns and the lanes of each, and the words that a block
     * updates so; 0: not known. */
    double updates, update_turns, update_lanes, update_words;
    double shuffles; /* instructions likewise */
    double integers; /* the same, beside each request of before: its index takes them */
    /* How the addresses of its requests look then, as these do; NULL: by the counts, side by side
     * where there are fewer sectors. */
    const obs_insn *like;
    bool direct; /* a load that filled a shared array takes the place of the loads from that */
} model_edit;

/* Of whatever object. */
#define MODEL_ANY_OBJECT UINT32_MAX
/* An edit that leaves all as it is. */
#define MODEL_EDIT_NOTHING(at, of, in) \
    (model_edit){.pc = (at),           \
                 .object = (of),       \
                 .space = (in),        \
                 .requests = 1,        \
                 .sectors = 1,         \
                 .wavefronts = 1,      \
                 .lanes = 1,           \
                 .touched = 1}

/* Passes through shared memory in place of each request of before. */
static inline double model_edit_passes(const model_edit *e)
{
    return e->staged + e->updates * e->update_turns;
}

/* Are they of one instruction? */
static inline bool model_edits_same(const model_edit *a, const model_edit *b)
{
    return a->pc == b->pc && a->space == b->space &&
           (a->object == b->object || a->object == MODEL_ANY_OBJECT ||
            b->object == MODEL_ANY_OBJECT);
}

typedef struct model_change {
    uint32_t nedits;
    const model_edit *edits; /* by pc, object and space */
    bool fill;      /* the work is shared out over at least as many blocks as multiprocessors */
    bool cut;       /* the same threads are, in smaller blocks, as far as there are warps */
    int64_t shared; /* bytes of shared memory that a block takes beside its own; fewer: negative */
    bool even;      /* all warps and blocks do as much as the mean */
    bool packed; /* the lanes that are active make up full warps, as far as blocks have threads */
    /* Of the barriers: the part that goes, and the part in the place of which lanes of a warp wait for
     * each other alone. */
    double barriers, warp_barriers;
} model_change;

/* Is it one of how many blocks there are? */
static inline bool model_changes_grid(const model_change *change)
{
    return change->fill || change->cut;
}

/* What the change does to the instruction; NULL: nothing. `change` may be NULL. */
const model_edit *model_edit_of(const model_change *change, const obs_insn *insn);

/* Launches, rows and devices of a profile, for as many trials as are wanted. */
typedef struct model_lab model_lab;

/* In the arena. */
wl_status model_lab_open(prof_db *profile, wl_arena *arena, model_lab **out, wl_error *err);
typedef enum model_size {
    MODEL_AS_RUN,
    /* With as many times as many blocks as fill the device, all doing alike, where a launch has
     * fewer; what they touch together stays. */
    MODEL_FULL
} model_size;

/* The mean of the kernel's launches that have a model, changed; NULL: as they are. Where there is
 * none, `missing` says why. */
ana_model model_try(model_lab *lab, uint32_t kernel, const model_change *change, model_size size);
/* All as they are: what ana_model_table() gives. */
wl_status model_of_all(model_lab *lab, wl_arena *arena, ana_models *out, wl_error *err);
/* The smallest and largest speed-up for a predicted one, as eight of ten measured changes lie
 * (residuals.def). */
void model_speedup_range(double predicted, double *low, double *high);

/* Of the launches of a kind; of all of a kernel. NULL: none. */
const ana_model *ana_model_of(const ana_models *models, uint32_t kind);
const ana_model *ana_model_of_kernel(const ana_models *models, uint32_t kernel);

/* The part of sectors that a cache has, of those that it is asked for; -1: it is asked for none. */
double model_hit_rate(double asked, double lacked);

/* The part of the measured seconds for which what bounds it is busy, by the model; negative where
 * that is not known, or nothing but the start of the launch bounds it. More than 1: it ran faster
 * than the model has it. */
double ana_efficiency(const ana_model *model, double measured);

/* The resources that take any time, longest first; returns how many. */
uint32_t model_resources_by_time(const ana_model *model, model_resource order[MODEL_RESOURCES]);

#endif
