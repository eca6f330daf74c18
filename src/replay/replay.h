/* Completes the captures of processes that ran on a GPU: works out what each noted launch did, and appends it. Runs when the
 * application has ended. */
#ifndef WL_REPLAY_REPLAY_H
#define WL_REPLAY_REPLAY_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

/* Threads, sampled blocks and the memo are the collector's options (program/options.h). */
typedef struct replay_options {
    double seconds; /* for all captures together; 0: no limit */
    uint64_t bytes; /* that this process may take meanwhile; 0: no limit */
    /* Now and then with bytes of captures read and in all, also during a long launch; false ends the replay: what is done is
     * kept, and the launches left say so. May be NULL. */
    bool (*progress)(void *ctx, uint64_t done, uint64_t total);
    void *ctx;
} replay_options;

/* "60", "90s", "2m", "1h", and behind a comma or alone memory, "4G" or "512M"; "none": no limits. False where the text is
 * none of that. What it does not name stays. */
bool replay_budget(const char *text, double *seconds, uint64_t *bytes);

/* Captures of other collectors are left as they are. A capture that cannot be read to its end is completed as far as it can;
 * one that cannot be written fails. */
wl_status replay_captures(const char *const *paths, uint32_t count, const replay_options *options,
                          wl_error *err);

#endif
