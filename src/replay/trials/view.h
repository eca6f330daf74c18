/* Requests as they would be with a change of their addresses. */
#ifndef WL_REPLAY_TRIALS_VIEW_H
#define WL_REPLAY_TRIALS_VIEW_H

#include "access/access.h"

#include <stdbool.h>

/* Writes the addresses that the request's lanes have with the change; *mask comes with the lanes
 * that access, and may lose some. False where the change is not about the request, which is not
 * shown then. */
typedef bool trial_change(const void *how, const acc_request *request, uint64_t addr[ACC_LANES],
                          uint32_t *mask);

typedef struct trial_view {
    trial_change *change;
    const void *how;
    const acc_observer *inner;
} trial_view;

/* Shows `inner` the requests that the change is about, changed, and no others. Lives as long as the
 * view. */
acc_observer trial_view_observer(const trial_view *view);

#endif
