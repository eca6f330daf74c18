/* Which launches are still to come: those of one kernel and shape are one kind, as the first of them mostly
 * does what the others do. The time that there is for computing accesses is shared out by that. */
#ifndef WL_REPLAY_EXPECTED_H
#define WL_REPLAY_EXPECTED_H

#include "base/error.h"
#include "capture/capture.h"

#include <stdbool.h>

typedef struct expected_kind expected_kind;

typedef struct replay_expected {
    expected_kind *kinds; /* of all captures */
    uint64_t left;        /* kinds that no launch was met of */
    double weight;        /* of these */
} replay_expected;

/* Notes come twice: first all are counted, then they are met one after another. `capture`: tells apart
 * captures, whose modules have numbers of their own. */
wl_status replay_expected_count(replay_expected *expected, uint32_t capture, const cap_note *note);

/* The note's part of the time that is left for kinds that are still to come, 0 to 1: by its threads, since a
 * large launch takes longer than a small one. 0: it is of a kind that was met before, or not counted. */
double replay_expected_meet(replay_expected *expected, uint32_t capture, const cap_note *note);

void replay_expected_free(replay_expected *expected);

#endif
