/* What a proof says about a kernel, as replay and the memo need it. */
#ifndef WL_REPLAY_FACTS_H
#define WL_REPLAY_FACTS_H

#include "base/arena.h"
#include "emu/emu.h"
#include "flow/flow.h"
#include "sass/body.h"

typedef struct replay_facts {
    ir_kernel code;
    flow_proof proof;
    /* Bytes of the parameters that addresses, masks or followed branches may depend on: 1, else
     * 0. */
    uint32_t param_bytes;
    uint8_t *param_used;
    /* Variables in constant memory that they may depend on. */
    uint32_t nconstants;
    const ir_var **constants;
    /* All that a launch does to memory, and how often it executes what, follows from the launch. */
    bool whole;
} replay_facts;

/* Everything lies in `arena`. `decided`: NULL, or what launches say of the kernel's guards
 * (flow/launch.h); then the facts are those launches', and live as long as it. Fails with WL_NOMEM
 * only. */
wl_status replay_facts_of(const ir_module *ptx, const ir_func *kernel, const uint8_t *decided,
                          wl_arena *arena, replay_facts *out);

/* Why the accesses of the instruction are not replayed, as a sentence's end, in `arena`: "its
 * address depends on data loaded from memory"; NULL where there is nothing to say: no access, or
 * one that `slice` shows. `machine`: what the code was lifted from, else NULL. */
const char *replay_gap(const replay_facts *facts, const emu_kernel *slice, const sass_body *machine,
                       uint32_t pc, wl_arena *arena);

#endif
