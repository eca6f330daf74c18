/* Where accesses that the device recorded (probes) complete what replay works out.
 *
 * A kernel that is proven in part only is replayed in part: `facts` and `slice` say which instructions were shown
 * (emu_slice_shows), and probes stand at the others. The session asks its completer once for each noted launch that it works
 * out, after the slice has run and before the summary is made; the completer gives the recorded accesses of that launch to
 * the same obs_launch, block by block, with obs_worker_begin, obs_block_begin, obs_record and obs_block_end. Launches that
 * a completer adds to are never repeated from the memo: what is recorded depends on data. */
#ifndef WL_COLLECT_REPLAY_COMPLETE_H
#define WL_COLLECT_REPLAY_COMPLETE_H

#include "capture/capture.h"
#include "collect/replay/facts.h"
#include "observe/observe.h"

#include <stdbool.h>

typedef struct replay_part { /* a launch that is being worked out */
    const cap_note *note;
    const replay_facts *facts;
    const emu_kernel *slice;
    obs_launch *launch;
} replay_part;

typedef struct replay_completer {
    void *ctx;
    /* Whether anything was recorded of this launch. */
    bool (*has)(void *ctx, const cap_note *note);
    /* Adds what was recorded. `covered` has a byte for each static instruction: set to 1 where its accesses are complete now,
     * so that they are no gap. */
    wl_status (*add)(void *ctx, const replay_part *part, uint8_t *covered);
    /* Executions of basic blocks that probes counted; may be NULL. Called after add. */
    wl_status (*blocks)(void *ctx, const replay_part *part, obs_summary *summary, wl_arena *arena);
} replay_completer;

struct replay_session;
/* The completer must outlive the session; without one nothing is completed. */
void replay_set_completer(struct replay_session *session, const replay_completer *completer);

#endif
