/* Launches that do what an earlier one of this process did, asked for before they run: for the
 * emulating collector, which then need not observe them. What a launch accesses must follow from
 * it, all of it, and so must how often it executes what. Not safe for several threads at once. */
#ifndef WL_REPLAY_REPEATS_H
#define WL_REPLAY_REPEATS_H

#include "replay/memo.h"

/* What is known of a kernel; all zeroes at first. Belongs to whoever launches the kernel. */
typedef struct replay_proven {
    uint64_t launched;
    bool tried;
    uint64_t number;
    wl_arena *arena;
    replay_facts *facts; /* in `arena`; NULL: not proven, or not yet */
} replay_proven;

void replay_proven_clear(replay_proven *proven);

typedef struct replay_repeats replay_repeats;

replay_repeats *replay_repeats_new(void); /* NULL when out of memory */
void replay_repeats_free(replay_repeats *repeats);

/* The kernel is about to be launched. Its facts where all of its accesses and branches follow from
 * a launch, else NULL. It is proven when it is launched for the second time: one launch is not
 * worth it. */
const replay_facts *replay_repeats_prove(replay_repeats *repeats, replay_proven *proven,
                                         const ir_module *module, const emu_kernel *kernel);

typedef struct replay_repeat {
    const replay_facts *facts; /* NULL: the launch repeats none, and none will repeat it */
    bool known;                /* it repeats `launch` */
    bool renumbered; /* summaries have other numbers than the facts: those of machine code */
    replay_key key;
    replay_known launch;
} replay_repeat;

/* Of a launch of a proven kernel, whose `facts` and `kernel` this fills in; `renumbered` is the caller's to
 * set. */
void replay_repeats_find(replay_repeats *repeats, const replay_proven *proven,
                         replay_launch *launch, replay_find find, void *ctx, replay_repeat *out);
/* A launch that find looked for ran observed, and was recorded with this id: later ones may repeat
 * it. Not kept where it accessed what is not proven, or the memory for keys is used up. */
void replay_repeats_keep(replay_repeats *repeats, const replay_repeat *repeat, uint32_t launch,
                         const obs_summary *summary, replay_find_object find, void *ctx);
/* Whether a repeat executed as much as the launch that it was taken for. Where it did not, a proof
 * was wrong, and nothing is found any more. */
bool replay_repeats_confirm(replay_repeats *repeats, const replay_repeat *repeat,
                            const emu_result *result);

#endif
