/* Whether lifted code can run in place of its kernel: it does all that the machine code does, and nothing
 * that it does depends on a value that the lifter does not know. */
#ifndef WL_REPLAY_RUNNABLE_H
#define WL_REPLAY_RUNNABLE_H

#include "sass/body.h"

/* WL_UNSUPPORTED: it cannot, and err says why, as the end of a sentence; WL_NOMEM. *alone: it can in launches whose
 * blocks form no clusters, and in no others. */
wl_status replay_runnable(const sass_body *body, const char *kernel, bool *alone, wl_error *err);

/* Which of the probes only PTX can serve, as the end of a sentence; NULL: none of those asked for (bits). */
const char *replay_what_needs_ptx(uint32_t probes);

#endif
