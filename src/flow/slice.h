/* The address slice: see flow_pass flags in flow.h. */
#ifndef WL_FLOW_SLICE_H
#define WL_FLOW_SLICE_H

#include "flow/taint.h"

/* Sets FLOW_PC_SLICE in flags[pc] for all instructions that replay executes. Needs: taint;
 * FLOW_PC_PROVEN in flags. */
void flow_slice(flow_kernel *kernel, uint8_t *flags);

#endif
