/* Completes the captures of processes that ran on a GPU: works out what each noted launch did,
 * and appends it. Runs when the application has ended. */
#ifndef WL_REPLAY_REPLAY_H
#define WL_REPLAY_REPLAY_H

#include "base/error.h"
#include "replay/settings.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct replay_progress {
    /* Now and then with the number of launches done and of all, also during a long launch; false
     * ends the replay: what is done is kept, and the launches left say so. */
    bool (*tell)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
} replay_progress;

/* Captures of other collectors are left as they are. A capture that cannot be read to its end is
 * completed as far as it can; one that cannot be written fails. The settings' budget is for all
 * captures together. `progress` may be NULL. */
wl_status replay_captures(const char *const *paths, uint32_t count, const replay_settings *settings,
                          const replay_progress *progress, wl_error *err);

#endif
