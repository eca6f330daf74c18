/* The requests of one block, kept until it is known what a change makes of all of them together. */
#ifndef WL_REPLAY_TRIALS_LOG_H
#define WL_REPLAY_TRIALS_LOG_H

#include "access/access.h"

#include <stdbool.h>

typedef struct trial_logged {
    acc_request request;
    uint64_t addr[ACC_LANES]; /* the request's, 0 for lanes that do not access */
} trial_logged;

typedef struct trial_log { /* all 0: empty */
    uint32_t count, room;
    trial_logged *rows; /* in the order in which they were shown */
    bool full;          /* some found no room */
} trial_log;

void trial_log_add(trial_log *log, const acc_request *request);
/* Valid until the next request is added. */
const acc_request *trial_log_at(const trial_log *log, uint32_t at);
void trial_log_clear(trial_log *log);

#endif
