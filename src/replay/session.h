/* Replay of one process's launches: it is told, record by record, what the process did, and works
 * out what each noted launch did to memory. Not safe for several threads at once; runs use threads
 * of their own.
 *
 * What probes recorded on the device joins in by recorded.h. */
#ifndef WL_REPLAY_SESSION_H
#define WL_REPLAY_SESSION_H

#include "capture/capture.h"
#include "replay/recorded.h"
#include "replay/settings.h"
#include "replay/watch.h"

typedef struct replay_session replay_session;

/* What probes recorded of the process's launches; must outlive the session. */
void replay_use(replay_session *session, replay_recorded *device);

/* `go_on` is asked now and then during a run; false ends the run, and the launch is left out. It
 * may be NULL. */
wl_status replay_session_new(const replay_settings *settings, bool (*go_on)(void *ctx), void *ctx,
                             replay_session **out, wl_error *err);
void replay_session_free(replay_session *session);

/* Takes in DEVICE, MODULE, OBJECT, FREE and SYMBOL; ignores all others. WL_NOMEM is the only
 * failure. */
wl_status replay_see(replay_session *session, const cap_record *record, wl_error *err);

typedef enum replay_kind {
    REPLAY_NOTHING, /* way.reason says why */
    REPLAY_LAUNCH,
    REPLAY_REPEAT
} replay_kind;

typedef struct replay_outcome {
    replay_kind kind;
    cap_way way; /* of NOTHING and LAUNCH, and of a REPEAT that is an estimate (way.estimated) */
    cap_launch launch;     /* of LAUNCH */
    cap_indirect indirect; /* of LAUNCH; launch 0: nobody looked */
    cap_repeat repeat;     /* of REPEAT */
    const char *remark; /* of a kernel what the report shall say; NULL: nothing, or it was said */
} replay_outcome;

/* What of the time the next note's launch may take; where nobody says it, a quarter of what is left. */
typedef struct replay_turn {
    double part; /* of what is left, more than 0 */
    bool again; /* its kind was met before, and others are still to come: all such launches together
                    leave most of the time to those */
} replay_turn;

void replay_expect(replay_session *session, replay_turn turn);

/* Takes as much from the budget: what others take for the last outcome. */
void replay_spend(replay_session *session, double seconds);

/* What the note's launch did. All that *out points to lives until the next call. A LAUNCH counts
 * as written from then on: later notes may repeat it. WL_NOMEM is the only failure. */
wl_status replay_note(replay_session *session, const cap_note *note, replay_outcome *out,
                      wl_error *err);

/* What trials tell of a launch that is known, with the bytes of its parameters: of the first launch
 * of each shape of a kernel, whose changes are worth trying; else none. Between two of the calls
 * above; lives until the next call of any. */
wl_status replay_trials(replay_session *session, const cap_launch *launch, cap_trials *out,
                        wl_error *err);

#endif
