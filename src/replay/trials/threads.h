/* What decides whether a kernel's threads may be numbered otherwise, or make up blocks of another
 * shape. */
#ifndef WL_REPLAY_TRIALS_THREADS_H
#define WL_REPLAY_TRIALS_THREADS_H

#include "replay/trials/trial.h"

/* An instruction that reads the thread's index in x; IR_NONE where threads cannot be numbered
 * otherwise, since it matters which of them make up a warp. */
uint32_t trial_reads_x(const ir_kernel *code);

/* Does an instruction read that component (1 to 3) of the special register? */
bool trial_reads_sreg(const ir_kernel *code, ir_sreg sreg, uint8_t component);

/* May blocks have another shape? The kernel must ask for the shape, and have nothing else of it. */
bool trial_asks_for_shape(const replay_tried *launch);

#endif
