/* What the passes that plan probes found, for people. */
#ifndef WL_REWRITE_DUMP_H
#define WL_REWRITE_DUMP_H

#include "rewrite/rewrite.h"

#include <stdio.h>

/* Is there a pass of that name (passes.def)? */
bool rewrite_has_pass(const char *name);
/* Plans the probes of a kernel as rewrite_module() does, in `arena`, and prints the kernel's
 * instructions with what the pass found about each. WL_NOMEM is the only failure. */
wl_status rewrite_dump(const ir_module *module, const ir_func *kernel,
                       const rewrite_options *options, const char *pass, wl_arena *arena,
                       FILE *out);

#endif
