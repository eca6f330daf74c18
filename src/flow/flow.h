/* Analyses of code: what a kernel's accesses and control flow depend on.
 *
 * flow_prove() is the whole of what replay needs. Everything else (control flow, values,
 * uniformity, affine addresses, origins, loops, ILP) is reached through a flow_kernel, on which
 * passes run; see flow/kernel.h.
 *
 * Instructions are numbered by ir_kernel: the pc everywhere outside of src/ir. */
#ifndef WL_FLOW_FLOW_H
#define WL_FLOW_FLOW_H

#include "base/arena.h"
#include "base/error.h"
#include "ir/kernel.h"

#include <stdbool.h>
#include <stdint.h>

/* Where a value that does not follow from the launch comes from. */
typedef enum flow_reason {
    FLOW_CLEAN, /* nowhere: it does follow */
#define X(id, name, text) FLOW_##id,
#include "flow/reasons.def"
#undef X
    FLOW_REASON_COUNT
} flow_reason;

const char *flow_reason_name(flow_reason reason); /* "loaded"; "proven" for FLOW_CLEAN */
const char *flow_reason_text(flow_reason reason); /* "data loaded from memory" */

/* What of an access depends on it. */
typedef enum flow_through {
    FLOW_THROUGH_NONE,
    FLOW_THROUGH_ADDRESS, /* address, size or stride */
    FLOW_THROUGH_GUARD,   /* the instruction's own predicate */
    FLOW_THROUGH_BRANCH   /* a branch decides whether it runs, or how often */
} flow_through;

const char *flow_through_name(flow_through through); /* "address", "guard", "branch" */

enum {
    /* Accesses memory other than .param: loads, stores, atomics, copies, textures, surfaces.
     * Neither synchronisation (mbarrier) nor prefetches. */
    FLOW_PC_MEMORY = 1,
    /* With FLOW_PC_MEMORY: every launch with the same grid, block, shared size, parameter bytes and
     * constant memory makes the same requests here: masks, addresses, sizes, whatever the loaded
     * data is. */
    FLOW_PC_PROVEN = 2,
    /* In the address slice: replay executes it, with its true result. A load with this bit reads
     * shared, local, constant or parameter memory, a store writes shared or local memory that such
     * a load reads. Branches, calls, returns, exits and barriers whose condition is known have it
     * too. */
    FLOW_PC_SLICE = 4,
    /* A branch, guarded exit or return, or call whose outcome does not follow from the launch:
     * replay goes on at rejoin[pc] with all lanes that reach it. Everything that is skipped so is
     * unproven. */
    FLOW_PC_UNKNOWN = 8,
    /* Reached as often, and by as many lanes, in every such launch (perhaps never): no unknown
       branch decides about it. */
    FLOW_PC_COUNTED = 16
};
/* Without SLICE and without UNKNOWN an instruction is not executed: where it is PROVEN, replay
 * computes its addresses and mask and reports the access, and leaves destination and memory as they
 * are; else it does nothing at all. Where an instruction within reads a register that one outside
 * would have written, what it computes of that is undefined, and reaches neither an address nor a
 * mask, a branch or memory: it is needed only where a predicate holds under which the register was
 * written within (predicates.h). */

/* rejoin[]: not a pc but the end of the function: as `ret`, in the kernel as `exit`. */
#define FLOW_REJOIN_END UINT32_MAX

/* Why a memory instruction is not proven. */
typedef struct flow_verdict {
    flow_reason reason; /* FLOW_CLEAN: proven, or no memory instruction */
    flow_through through;
    uint32_t
        source; /* pc of the instruction that brought the value in, IR_NONE where there is none */
    uint32_t
        branch; /* FLOW_THROUGH_BRANCH: pc of the branch, call or exit that decides; else IR_NONE */
} flow_verdict;

typedef enum flow_class {
    FLOW_NO_MEMORY,   /* no memory instruction: nothing to prove */
    FLOW_INDEPENDENT, /* all memory instructions proven; an unknown branch then decides about none
                         of them */
    FLOW_PARTLY,      /* some proven */
    FLOW_DEPENDENT    /* none */
} flow_class;

const char *flow_class_name(
    flow_class class_); /* "no memory", "independent", "partly", "dependent" */

typedef struct flow_proof {
    uint32_t npcs;          /* the code's */
    uint8_t *flags;         /* [npcs] FLOW_PC_* */
    uint32_t *rejoin;       /* [npcs] of FLOW_PC_UNKNOWN; IR_NONE elsewhere */
    flow_verdict *verdicts; /* [npcs] */
    flow_class class_;
    /* Static memory instructions, and those proven. */
    uint32_t memory, proven;
    /* Words of 8 bytes of the parameters that go into one comparison of the slice, word w as bit
     * w % 64: where they point to two objects, it may matter which lies first. */
    const uint64_t *compared;
    uint32_t ncompared;
    uint32_t slice;   /* instructions in the slice */
    uint32_t unknown; /* unknown branches */
} flow_proof;

/* Proves what it can about a kernel; what it cannot prove is dependent.
 * Assumed of the program: it does not fault (paths that end in `trap` or __assertfail are not
 * taken); accesses stay in the object that their pointer was made from; plain (not volatile)
 * shared-memory accesses do not race; .const memory is written by the host only. All arrays lie in
 * `arena`; working memory is freed before return. Fails with WL_NOMEM only. */
wl_status flow_prove(const ir_kernel *code, wl_arena *arena, flow_proof *out);

#endif
