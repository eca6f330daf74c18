/* What the passes found, for people. */
#ifndef WL_FLOW_DUMP_H
#define WL_FLOW_DUMP_H

#include "flow/kernel.h"

#include <stdio.h>

/* The pass of that name; false without one. */
bool flow_pass_find(const char *name, flow_pass *out);
/* The kernel's instructions with what the pass found about each; the pass has run. */
void flow_dump(const flow_kernel *kernel, flow_pass pass, FILE *out);

#endif
