/* When things happened, on one clock: nanoseconds since the first process began. Internal to
 * src/report. */
#ifndef WL_REPORT_TIMELINE_H
#define WL_REPORT_TIMELINE_H

#include "report/report.h"

/* What a stream did: a launch, or a copy or set. Times on the device where they were measured, moved
 * so that nothing begins before the host asked for it. The others take the time of the host's call,
 * which they share where it asked for several: their order is right, how long they took is not
 * known. In a stream nothing overlaps. */
typedef struct rep_work {
    uint32_t process, device, stream;
    uint64_t context, ordinal;
    const prof_launch *launch; /* NULL: a copy or set */
    const prof_call *call; /* of the host; of what a graph's node did, that launched the graph */
    const prof_call *own;  /* of a copy or set */
    bool measured;
    double seconds, device_start; /* where it was measured */
    double start, end;            /* nanoseconds */
} rep_work;

typedef struct rep_timeline {
    int64_t origin; /* ns since the epoch: the first process's start */
    uint32_t count; /* by process, device, context, stream, then in order */
    rep_work *work;
} rep_timeline;

/* Of d->every_call and d->every_launch. WL_NOMEM. */
wl_status rep_timeline_of(const rep_data *data, wl_arena *arena, rep_timeline *out, wl_error *err);

/* When a process's own clock showed `ns`. */
double rep_moment(const rep_data *data, const rep_timeline *timeline, uint32_t process, int64_t ns);
/* The call on the host that is behind one of a graph's nodes; the call itself else; NULL for 0. */
const prof_call *rep_host_call(const rep_data *data, uint32_t call);
bool rep_same_stream(const rep_work *a, const rep_work *b);

#endif
