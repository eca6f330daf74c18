/* Requests as they would be with a change, one by one or all of a block together. */
#ifndef WL_REPLAY_TRIALS_VIEW_H
#define WL_REPLAY_TRIALS_VIEW_H

#include "replay/trials/log.h"

/* Writes the addresses that the request's lanes have with the change; *mask comes with the lanes
 * that access, and may lose some. False where the change is not about the request, which is not
 * shown then. */
typedef bool trial_change(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                          uint32_t *mask);

typedef struct trial_shown { /* who sees a block */
    const acc_observer *inner;
    void *block;
} trial_shown;

/* Is the change about the request? */
typedef bool trial_choice(const void *how, const acc_request *request);
/* Shows what stands in the place of the requests of a block that were chosen; called on several
 * threads at once. */
typedef void trial_redo(const void *how, const trial_log *log, const trial_shown *to);

typedef struct trial_view {
    trial_change *change;
    trial_choice *choose; /* in place of `change`, with `redo` */
    trial_redo *redo;
    const void *how;
    const acc_observer *inner;
} trial_view;

/* Shows `inner` the requests that the change is about, changed, and no others. Lives as long as the
 * view. */
acc_observer trial_view_observer(const trial_view *view);

/* Shows a request whose stride nobody has worked out. */
void trial_show(const trial_shown *to, const acc_request *request);

#endif
