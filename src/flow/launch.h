/* The proof for the launch at hand: what its parameters and its shape decide for all threads is
 * taken out of the kernel before it is proven. */
#ifndef WL_FLOW_LAUNCH_H
#define WL_FLOW_LAUNCH_H

#include "flow/kernel.h"

typedef struct flow_launch {
    const uint8_t *params; /* as PTX lays them out; those behind the end are not known */
    uint64_t nparams;
    uint32_t grid[3], block[3];
    bool clusters; /* of several blocks each */
} flow_launch;

enum {
    FLOW_DECIDED_OPEN,
    FLOW_DECIDED_RUNS, /* the guard lets every thread run it that gets there */
    FLOW_DECIDED_NEVER /* it lets none */
};

/* Fills decided[pc] with what the launch says of each guard of the kernel's own instructions: the
 * answers are all that flow_prove_decided() goes by, and so launches with equal ones have one
 * proof. The kernel is read only, once it has been asked about. Fails with WL_NOMEM only. */
wl_status flow_decide(flow_kernel *kernel, const flow_launch *launch, uint8_t *decided);

/* As flow_prove(), of launches of which `decided` was said. Instructions that no such launch gets
 * to are neither proven nor memory instructions. A branch whose guard cannot be computed but is
 * decided is FLOW_PC_UNKNOWN with the way that is taken as its rejoin. */
wl_status flow_prove_decided(const ir_kernel *code, const uint8_t *decided, wl_arena *arena,
                             flow_proof *out);

#endif
