/* Captures, one after another: their records walked in order, outcomes appended. */
#include "replay/replay.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/vec.h"
#include "replay/expected.h"
#include "replay/session.h"

#include <stdlib.h>
#include <string.h>

enum { STEP = 256 }; /* records between two looks at the progress, where no launch is */

static const char too_large[] = "what it accessed is too large to be recorded";

typedef struct run {
    const replay_settings *settings;
    const replay_progress *progress;
    replay_session *session;
    cap_reader *reader;
    cap_writer *writer;
    replay_recorded *recorded;
    uint64_t launches, total; /* done, and of all captures */
    replay_expected expected;
    uint32_t capture;             /* its number */
    bool emulated;                /* this capture is of a process that the emulator ran */
    wl_vec(uint32_t) not_written; /* launches of this capture that no record holds, ascending */
    bool stopped;
} run;

/* ---- one capture ---- */

static bool go_on(void *ctx)
{
    run *r = ctx;
    const replay_progress *p = r->progress;
    if (!r->stopped && p)
        r->stopped = !p->tell(p->ctx, r->launches, r->total);
    return !r->stopped;
}

static wl_status write_outcome(run *r, const replay_outcome *outcome)
{
    wl_status status = WL_OK;
    if (outcome->kind != REPLAY_REPEAT || outcome->way.estimated)
        status = cap_write_way(r->writer, &outcome->way);
    if (status == WL_OK && outcome->kind == REPLAY_LAUNCH)
        status = cap_write_observed(r->writer, &outcome->launch);
    if (status == WL_OK && outcome->kind == REPLAY_LAUNCH && outcome->indirect.launch)
        status = cap_write_indirect(r->writer, &outcome->indirect);
    if (status == WL_OK && outcome->kind == REPLAY_REPEAT)
        status = cap_write_repeat(r->writer, &outcome->repeat);
    return status;
}

static wl_status write_remark(run *r, const replay_outcome *outcome)
{
    const cap_message message = {.level = WL_LOG_INFO, .text = outcome->remark};
    return outcome->remark ? cap_write_message(r->writer, &message) : WL_OK;
}

/* A launch that was written, with its parameters. What changes would save is told where the disk and
 * the memory have room for it. */
static wl_status write_trials(run *r, const cap_launch *launch, wl_error *err)
{
    cap_trials trials;
    wl_error why = {0};
    wl_status status = r->stopped ? WL_OK : replay_trials(r->session, launch, &trials, err);
    if (r->stopped || status != WL_OK || !trials.count)
        return status;
    status = cap_write_trials(r->writer, &trials);
    if (status == WL_OK || status == WL_LIMIT)
        return WL_OK;
    cap_state(r->writer, &why);
    return wl_fail(err, status, "%s", *why.text ? why.text : wl_status_text(status));
}

static wl_status write_unknown(run *r, const cap_note *note, const char *reason)
{
    const replay_outcome outcome = {.way = {.note = note->id, .reason = reason}};
    return write_outcome(r, &outcome);
}

static int by_id(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Whether it repeats a launch that could not be recorded: then it is too large as well. */
static bool repeats_unwritten(const run *r, const replay_outcome *outcome)
{
    return outcome->kind == REPLAY_REPEAT && r->not_written.count &&
           bsearch(&outcome->repeat.same_as, r->not_written.data, r->not_written.count,
                   sizeof *r->not_written.data, by_id);
}

static wl_status write_too_large(run *r, const cap_note *note, const replay_outcome *outcome)
{
    if (outcome->kind == REPLAY_LAUNCH && !wl_push(&r->not_written, note->id))
        return WL_NOMEM;
    return write_unknown(r, note, too_large);
}

/* What the import takes for a launch with rows of its own, and what the analysis after it does:
 * 0.2 ms, and a second for 150 MB of elements (bench/overhead/results/README.md). */
static double seconds_of_import(const replay_outcome *outcome)
{
    const obs_summary *s = &outcome->launch.summary;
    uint64_t bytes = 0;
    if (outcome->kind != REPLAY_LAUNCH)
        return 0;
    for (uint32_t i = 0; i < s->nuses; i++)
        bytes += s->uses[i].length;
    return 2e-4 + (double)bytes / 150e6;
}

/* A launch that is too large for memory or for a record costs itself and those that repeat it, not
 * the others. */
static wl_status write_completed(run *r, const cap_note *note, wl_status status,
                                 const replay_outcome *outcome)
{
    if (status == WL_NOMEM)
        status = write_unknown(r, note, "there was not enough memory to replay it");
    else if (repeats_unwritten(r, outcome))
        status = write_unknown(r, note, too_large);
    else
        status = write_outcome(r, outcome);
    return status == WL_LIMIT || status == WL_NOMEM ? write_too_large(r, note, outcome) : status;
}

static wl_status try_completed(run *r, const cap_note *note, const replay_outcome *outcome,
                               wl_error *err)
{
    cap_launch tried = outcome->launch;
    if (outcome->kind != REPLAY_LAUNCH || outcome->way.estimated)
        return WL_OK;
    tried.params = note->params;
    tried.nparams = note->nparams;
    return write_trials(r, &tried, err);
}

/* Launches of kinds that were met before mostly repeat what is known, and share evenly what the last of them
 * leave. */
static replay_turn turn_of(run *r, const cap_note *note)
{
    enum { FEW = 4 };
    double part = replay_expected_meet(&r->expected, r->capture, note);
    uint64_t left = r->total - r->launches;
    if (part > 0)
        return (replay_turn){.part = part};
    return (replay_turn){.part = 1.0 / (double)(left && left < FEW ? left : FEW),
                         .again = r->expected.left > 0};
}

/* Writing it counts towards the budget, too, and so does what comes of it. */
static wl_status complete(run *r, const cap_note *note, wl_error *err)
{
    replay_outcome outcome = {
        .way = {.note = note->id, .reason = "computing accesses was interrupted"}};
    replay_expect(r->session, turn_of(r, note));
    wl_status status = r->stopped ? WL_OK : replay_note(r->session, note, &outcome, err);
    if (status != WL_OK && status != WL_NOMEM)
        return status;
    double started = wl_seconds();
    status = write_completed(r, note, status, &outcome);
    if (status == WL_OK)
        status = write_remark(r, &outcome);
    replay_spend(r->session, wl_seconds() - started + seconds_of_import(&outcome));
    if (status == WL_OK)
        return try_completed(r, note, &outcome, err);
    wl_error why = {0};
    cap_state(r->writer, &why);
    return wl_fail(err, status, "%s", *why.text ? why.text : wl_status_text(status));
}

static wl_status take_in(run *r, const cap_record *record, wl_error *err)
{
    if (record->type == CAP_LAUNCH && r->emulated)
        return write_trials(r, &record->launch, err);
    if (record->type == CAP_NOTE)
        return r->emulated ? WL_OK : complete(r, &record->note, err);
    return replay_see(r->session, record, err);
}

/* Damaged records are left out; the import says so. */
static wl_status walk(run *r, uint64_t size, wl_error *err)
{
    cap_record record;
    wl_error damage;
    bool end = false;
    for (uint64_t n = 1;; n++) {
        wl_status status = cap_read(r->reader, &record, &end, &damage);
        if (end || cap_position(r->reader) > size)
            return WL_OK;
        if (status == WL_NOMEM)
            return wl_fail(err, status, "%s", damage.text);
        if (status != WL_OK)
            continue;
        bool note = record.type == CAP_NOTE;
        if (note || n % STEP == 0)
            go_on(r);
        status = take_in(r, &record, err);
        if (status != WL_OK)
            return status;
        r->launches += note && !r->emulated;
    }
}

typedef struct measure { /* of a capture; zero where the process needs no replay, or had it */
    uint64_t bytes;      /* of whole records */
    uint64_t launches;   /* noted, and not worked out by the process itself */
    bool emulated;
    int64_t begin_ns, end_ns; /* of the process, since the epoch; 0: not known */
} measure;

static wl_status measure_capture(run *r, const char *path, measure *out, wl_error *err)
{
    cap_reader *reader;
    cap_record record;
    wl_error damage;
    bool end = false, emulated = false, inside = false, done = false;
    uint64_t notes = 0, launches = 0;
    int64_t begin_ns = 0, end_ns = 0;
    wl_status counted = WL_OK;
    wl_status status = cap_open(path, &reader, err);
    *out = (measure){0};
    if (status != WL_OK)
        return status;
    cap_skip(reader, ~(CAP_BIT(CAP_PROCESS) | CAP_BIT(CAP_END) | CAP_BIT(CAP_NOTE)));
    while (!end) {
        status = cap_read(reader, &record, &end, &damage);
        if (status == WL_OK && !end) {
            inside |= record.type == CAP_PROCESS && !strcmp(record.process.collector, "inline");
            emulated |= record.type == CAP_PROCESS && !strcmp(record.process.collector, "emulate");
            begin_ns = record.type == CAP_PROCESS ? record.process.start_ns : begin_ns;
            end_ns = record.type == CAP_END ? begin_ns + record.end.end_ns : end_ns;
            notes += record.type == CAP_NOTE;
            launches += record.type == CAP_LAUNCH;
            done |= record.type == CAP_TRIALS ||
                    (inside && (record.type == CAP_WAY || record.type == CAP_REPEAT));
        }
        if (status == WL_OK && !end && inside && record.type == CAP_NOTE)
            counted = replay_expected_count(&r->expected, r->capture, &record.note);
        if ((!inside && !emulated) || counted != WL_OK)
            break;
    }
    if (!done && (emulated ? launches : notes))
        *out = (measure){cap_position(reader), emulated ? 0 : notes, emulated, begin_ns, end_ns};
    cap_reader_free(reader);
    return counted == WL_OK ? WL_OK : wl_fail(err, counted, "out of memory");
}

/* Of a process that the emulator ran: all that its trials need. */
static const uint64_t of_emulated = CAP_BIT(CAP_DEVICE) | CAP_BIT(CAP_MODULE) |
                                    CAP_BIT(CAP_OBJECT) | CAP_BIT(CAP_FREE) | CAP_BIT(CAP_LAUNCH);
static const uint64_t read_elsewhere = CAP_BIT(CAP_PROBE) | CAP_BIT(CAP_TABLES) |
                                       CAP_BIT(CAP_PATCHED); /* recorded_read.c */

static wl_status replay_one(run *r, const char *path, uint64_t size, double seconds, wl_error *err)
{
    replay_settings settings = *r->settings;
    settings.budget.seconds = seconds;
    wl_status status = cap_append(path, size, &r->writer, err);
    if (status == WL_OK)
        status = cap_open(path, &r->reader, err);
    if (status == WL_OK) {
        cap_skip(r->reader, r->emulated ? ~of_emulated : read_elsewhere);
        status = replay_session_new(&settings, go_on, r, &r->session, err);
    }
    if (status == WL_OK)
        status = replay_recorded_read(path, size, settings.budget.bytes / 2, &r->recorded, err);
    if (status == WL_OK)
        replay_use(r->session, r->recorded);
    if (status == WL_OK)
        status = walk(r, size, err);
    replay_session_free(r->session);
    replay_recorded_free(r->recorded);
    cap_reader_free(r->reader);
    cap_close(r->writer);
    wl_vec_free(&r->not_written);
    r->session = NULL;
    r->recorded = NULL;
    r->reader = NULL;
    r->writer = NULL;
    return status;
}

/* ---- all of them ---- */

/* From when the first process began until the last one ended; 0 where that is not known. */
static double seconds_of_run(const measure *measures, uint32_t count)
{
    int64_t begin = INT64_MAX, end = 0;
    for (uint32_t i = 0; i < count; i++) {
        const measure *m = &measures[i];
        begin = m->end_ns && m->begin_ns < begin ? m->begin_ns : begin;
        end = m->end_ns > end ? m->end_ns : end;
    }
    return end > begin ? 1e-9 * (double)(end - begin) : 0;
}

/* Whoever ran a program for so long waits about as long for its profile. */
static double seconds_allowed(const prog_budget *budget, const measure *measures, uint32_t count)
{
    enum { LEAST = 2, TIMES = 2 };
    double long_enough = TIMES * seconds_of_run(measures, count);
    return !budget->by_run ? budget->seconds : long_enough > LEAST ? long_enough : LEAST;
}

wl_status replay_captures(const char *const *paths, uint32_t count, const replay_settings *settings,
                          const replay_progress *progress, wl_error *err)
{
    run r = {.settings = settings, .progress = progress};
    double begin = wl_seconds();
    measure *measures = calloc((size_t)count + 1, sizeof *measures);
    wl_status status = measures ? WL_OK : wl_fail(err, WL_NOMEM, "out of memory");
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        r.capture = i;
        status = measure_capture(&r, paths[i], &measures[i], err);
        r.total += status == WL_OK ? measures[i].launches : 0;
    }
    double all = status == WL_OK ? seconds_allowed(&settings->budget, measures, count) : 0;
    for (uint32_t i = 0; i < count && status == WL_OK; i++) {
        double left = begin + all - wl_seconds();
        r.emulated = measures[i].emulated;
        r.capture = i;
        if (measures[i].bytes)
            status = replay_one(&r, paths[i], measures[i].bytes,
                                all <= 0   ? 0
                                : left > 0 ? left
                                           : 1e-9,
                                err);
    }
    free(measures);
    replay_expected_free(&r.expected);
    return status;
}
