/* Whether a slice showed what the kernel did: for tests, and for WARPLENS_CHECK_REPLAY. */
#ifndef WL_REPLAY_COMPARE_H
#define WL_REPLAY_COMPARE_H

#include "observe/summary.h"
#include "replay/facts.h"

#include <stddef.h>

/* `whole` is what all of the kernel did, `slice` what its slice showed, of the same blocks. Rows
 * of instructions that are shown must be equal, and no others be there; heat maps equal where
 * all instructions are shown, else the shown part of them; what warps did equal where all is known,
 * else what both know of each lane's path; counts of basic blocks equal where they are counted. False with the first difference in `text`. */
bool replay_agree(const replay_facts *facts, const emu_kernel *kernel, const obs_summary *whole,
                  const obs_summary *slice, char *text, size_t size);

#endif
