/* What a shared array passes on: which loads from device memory bring what is stored to it. */
#ifndef WL_REPLAY_TRIALS_PASSED_H
#define WL_REPLAY_TRIALS_PASSED_H

#include "replay/trials/trial.h"

enum { TRIAL_MOST_LOADS = 8 };

typedef struct trial_fill { /* an instruction that stores to the array */
    uint32_t pc;
    uint32_t nloads, loads[TRIAL_MOST_LOADS]; /* pcs: it stores what one of them loaded, as it is */
    bool constant; /* or a number that stands in the code, such as the zeros beyond an edge */
} trial_fill;

/* False unless all that the instruction at `pc` stores was loaded from device memory by instructions
 * that are known, or is a constant. `asynchronous`: it copies what it loads itself. Needs
 * FLOW_PASS_affine. */
bool trial_fill_of(const flow_kernel *flow, uint32_t pc, bool asynchronous, trial_fill *out);

/* Whether nobody but the `count` instructions of `fills` uses what the instruction at `pc` loads. */
bool trial_feeds_only(const flow_kernel *flow, uint32_t pc, const trial_fill *fills,
                      uint32_t count);

#endif
