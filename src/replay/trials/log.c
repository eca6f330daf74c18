#include "replay/trials/log.h"

#include <stdlib.h>

enum { FIRST_ROOM = 256, MOST_REQUESTS = 1 << 16 /* some 20 MiB */ };

static bool make_room(trial_log *log)
{
    if (log->count < log->room)
        return true;
    uint32_t room = log->room ? 2 * log->room : FIRST_ROOM;
    trial_logged *rows = room > MOST_REQUESTS ? NULL : realloc(log->rows, room * sizeof *rows);
    if (!rows)
        return false;
    log->rows = rows;
    log->room = room;
    return true;
}

void trial_log_add(trial_log *log, const acc_request *request)
{
    log->full |= !make_room(log);
    if (log->full)
        return;
    trial_logged *row = &log->rows[log->count++];
    row->request = *request;
    for (uint32_t lane = 0; lane < ACC_LANES; lane++)
        row->addr[lane] = request->mask >> lane & 1 ? request->addr[lane] : 0;
}

const acc_request *trial_log_at(const trial_log *log, uint32_t at)
{
    trial_logged *row = &log->rows[at];
    row->request.addr = row->addr;
    return &row->request;
}

void trial_log_clear(trial_log *log)
{
    free(log->rows);
    *log = (trial_log){0};
}
