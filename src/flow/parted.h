/* Where lanes of machine code come by themselves that a branch may have parted, of which it is not known
 * how lanes take it.
 *
 * In PTX nothing says where lanes meet again, and the emulator lets them where the branch's sides join.
 * Machine code (`diverge`) says it: at the bsync of a bssy that was passed before the branch, or at a
 * bar.warp.sync for all lanes. Up to there requests are of some lanes each, and nobody knows which. */
#ifndef WL_FLOW_PARTED_H
#define WL_FLOW_PARTED_H

#include "flow/taint.h"

/* [ninsns]: a block whose branch may have parted the lanes that come to the instruction; FLOW_NONE: there is
 * none. NULL: the function is no machine code. Needs: taint. */
const uint32_t *flow_find_parted(flow_kernel *kernel, const flow_function *f);

#endif
