/* A test of replay inside the emulator (WARPLENS_CHECK_REPLAY): what a launch did is compared with what its slice shows on
 * memory that is not there. Each launch gets a line on stderr. */
#ifndef WL_COLLECT_CHECK_H
#define WL_COLLECT_CHECK_H

#include "collect/impl.h"
#include "observe/summary.h"

/* Of a launch that ran to its end, before anything else changes. */
void collect_check_replay(const collect_op *op, const obs_summary *whole);

#endif
