/* What the files share that work out what a launch asks of a device. */
#ifndef WL_ANALYSIS_MODEL_PARTS_H
#define WL_ANALYSIS_MODEL_PARTS_H

#include "analysis/model/work.h"

typedef struct model_cursor { /* rows by kernel and launch */
    const void *rows;
    size_t size;
    uint32_t count, at; /* at: the first that no launch has taken */
} model_cursor;

typedef struct model_kept { /* of a kernel's last launch that has heat maps */
    uint32_t kernel;
    double missed;                     /* of the sectors that are loaded, the part that L1 lacks */
    double footprint;                  /* bytes that are touched, of all that is asked for */
    double again;                      /* sectors that device memory moves again, of the same */
    double first_loaded, again_loaded; /* of the sectors that are loaded */
    double short_waits;                /* model_traffic's; negative: not known */
} model_kept;

struct model_rows {
    model_kept last;
    prof_object_rows objects;
    prof_code_rows code;
    prof_form_rows forms;
    prof_static_block_rows blocks;
    prof_instruction_rows all; /* what the cursor `instructions` goes through */
    model_cursor instructions, touched, reuses, work, waits;
    prof_instruction *changed; /* room for a launch's, while a change is tried */
};

/* Of one launch. */
typedef struct model_launch_rows {
    const prof_instruction *insns;
    const prof_touched *touched;
    const prof_reuse *reuses;
    const prof_work *work;
    const prof_wait *waits;
    uint32_t ninsns, ntouched, nreuses, nwork, nwaits;
} model_launch_rows;

static inline double at_most(double value, double most)
{
    return value < most ? value : most;
}

static inline double at_least(double value, double least)
{
    return value > least ? value : least;
}

static inline double part_of(double some, double all)
{
    return all > 0 ? some / all : 0;
}

/* ---- rows.c ---- */

/* The rows of the launch. */
model_launch_rows model_take_launch(model_rows *rows, const prof_launch *launch);

/* ---- atomics.c ---- */

bool model_is_atomic(const obs_insn *insn);
/* Do most of its requests go to a single word? */
bool model_is_of_one_word(const obs_insn *insn);
/* Those of each slice become more or fewer in proportion. */
void model_set_turns(obs_insn *insn, uint64_t turns);
/* Of requests of warps that update shared memory. */
typedef struct model_updates {
    double requests;
    double turns, lanes; /* of each: lanes in the bank that has most of them; all */
    double words;        /* that all warps of a block update; 0: not known */
} model_updates;

/* Adds updates by such an instruction, where each takes a loop: sums of floating point. False elsewhere. */
bool model_add_spins(const model_rows *rows, const prof_instruction *insn,
                     const model_updates *updates, model_work *work);
void model_add_atomics(const model_rows *rows, const prof_instruction *insn,
                       model_traffic *traffic);

/* ---- retries.c ---- */

/* Is it a compare and swap of global memory that a loop repeats? */
bool model_is_retried(const model_rows *rows, const prof_instruction *insn);
/* As if each lane had its way the first time. */
prof_instruction model_without_retries(const prof_instruction *insn);
/* Adds what lanes take that are in each other's way, beside what each update takes by itself. */
void model_add_retries(const model_rows *rows, const model_device *device, const prof_launch *of,
                       const model_launch_rows *launch, const prof_instruction *now,
                       model_work *work);

/* ---- change.c ---- */

/* The launch's instructions as the change leaves them; what goes through shared memory or shuffles
 * in their place is added to the work. */
const prof_instruction *model_change_rows(const model_rows *rows, const model_launch_rows *launch,
                                          const model_change *change, model_work *work);
/* Takes the change's barriers away. */
void model_change_barriers(const model_change *change, model_work *work);
/* Of the sectors of an object that a block touches, the part that is left. */
double model_touched_after(const model_change *change, uint32_t object);
/* Does what it puts into shared memory come from further away than before? */
bool model_stages(const model_change *change);

/* ---- caches.c ---- */

/* Lines that its requests touch: where lanes are far apart, each sector has its own, as far as the
 * object has as many. `object` NULL: not known. */
double model_lines_of(const obs_insn *insn, const prof_object *object);
/* Adds what caches lack. `now`: the launch's instructions as a change leaves them, else its own. */
void model_add_objects(model_rows *rows, const model_device *device,
                       const model_launch_rows *launch, const prof_instruction *now,
                       const model_change *change, model_work *work);

#endif
