/* Captures into a profile: their order, records that are damaged, progress. */
#include "profile/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PROGRESS_RECORDS = 64 };

typedef struct capture {
    const char *path;
    int64_t start_ns;
    uint32_t pid;
    uint64_t bytes;
    bool running; /* its process still runs */
} capture;

/* A parent starts before its children; processes that start at once keep the order of their
 * names. */
static int by_process_start(const void *a, const void *b)
{
    const capture *x = a, *y = b;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

/* Reads the first record, which every capture has. */
static wl_status peek_process_record(capture *c, wl_error *err)
{
    cap_reader *reader;
    cap_record record;
    bool end = false;
    struct stat st;
    wl_status status = cap_open(c->path, &reader, err);
    if (status != WL_OK)
        return status;
    status = cap_read(reader, &record, &end, err);
    if (status == WL_OK && (end || record.type != CAP_PROCESS)) {
        status = wl_fail(err, WL_CORRUPT,
                         "%s is not a capture: it does not begin with its process.", c->path);
    } else if (status == WL_OK) {
        c->start_ns = record.process.start_ns;
        c->pid = record.process.pid;
        c->bytes = stat(c->path, &st) == 0 ? (uint64_t)st.st_size : 0;
    }
    cap_reader_free(reader);
    return status;
}

typedef struct progress {
    const prof_options *options;
    uint64_t done, total;
} progress;

static bool report_progress(const progress *p, uint64_t within)
{
    return !p->options || !p->options->progress ||
           p->options->progress(p->options->progress_ctx, p->done + within, p->total);
}

/* What is wrong with a capture, for the coverage. */
typedef struct damage {
    wl_error first;
    uint64_t count;
    bool unfinished; /* the process still runs and has more to say */
} damage;

static void note_damage(damage *d, const wl_error *err)
{
    if (d->count++ == 0)
        d->first = *err;
}

/* One record into the profile; a damaged one is left out and noted. */
static wl_status add_record(prof_builder *builder, cap_reader *reader, bool *end, damage *d,
                            wl_error *err)
{
    cap_record record;
    wl_error found = {0};
    wl_status status = cap_read(reader, &record, end, &found);
    if (status == WL_NOMEM)
        return wl_fail(err, status, "%s", found.text);
    if (status != WL_OK) {
        note_damage(d, &found);
        *end |= status != WL_CORRUPT;
    }
    if (status != WL_OK || *end)
        return WL_OK;
    d->unfinished &= record.type != CAP_END;
    status = prof_add(builder, &record, &found);
    if (status == WL_CORRUPT) {
        note_damage(d, &found);
        return WL_OK;
    }
    return status == WL_OK ? WL_OK : wl_fail(err, status, "%s", found.text);
}

static wl_status add_records(prof_builder *builder, cap_reader *reader, const progress *p,
                             damage *d, wl_error *err)
{
    wl_status status = WL_OK;
    bool end = false;
    for (uint64_t n = 1; status == WL_OK && !end; n++) {
        status = add_record(builder, reader, &end, d, err);
        if (status == WL_OK && n % PROGRESS_RECORDS == 0 &&
            !report_progress(p, cap_position(reader))) {
            status = wl_fail(err, WL_STATE, "The import was cancelled.");
        }
    }
    return status;
}

/* "..., and 3 more records are damaged." */
static const char *describe(damage *d)
{
    size_t n = strlen(d->first.text);
    if (d->unfinished)
        return "the process still ran when the profile was made; what it did later is not in it";
    if (d->count > 1) {
        snprintf(d->first.text + n, sizeof d->first.text - n, " (and %llu more)",
                 (unsigned long long)(d->count - 1));
    }
    return d->count ? d->first.text : NULL;
}

static wl_status add_capture(prof_builder *builder, const capture *c, progress *p, wl_error *err)
{
    cap_reader *reader;
    damage d = {.unfinished = c->running};
    wl_status status = cap_open(c->path, &reader, err);
    if (status != WL_OK)
        return status;
    cap_skip(reader, CAP_BIT(CAP_PROBE) | CAP_BIT(CAP_TABLES) | CAP_BIT(CAP_SYMBOL) |
                         CAP_BIT(CAP_TENSOR)); /* for the replay of notes */
    status = prof_begin_process(builder, err);
    status = status == WL_OK ? add_records(builder, reader, p, &d, err) : status;
    status = status == WL_OK ? prof_end_process(builder, describe(&d), err) : status;
    cap_reader_free(reader);
    p->done += c->bytes;
    return status;
}

static wl_status add_captures(prof_builder *builder, const capture *captures, size_t n, progress *p,
                              wl_error *err)
{
    wl_status status = WL_OK;
    for (size_t i = 0; i < n && status == WL_OK; i++) {
        status = add_capture(builder, &captures[i], p, err);
        if (status == WL_OK && !report_progress(p, 0))
            status = wl_fail(err, WL_STATE, "The import was cancelled.");
    }
    return status;
}

static wl_status look_all(const char *const *paths, capture *captures, size_t n, progress *p,
                          wl_error *err)
{
    for (size_t i = 0; i < n; i++) {
        captures[i] = (capture){.path = paths[i],
                                .running = p->options && p->options->running &&
                                           p->options->running[i]};
        wl_status status = peek_process_record(&captures[i], err);
        if (status != WL_OK)
            return status;
        p->total += captures[i].bytes;
    }
    qsort(captures, n, sizeof *captures, by_process_start);
    return WL_OK;
}

wl_status prof_import(const char *const *paths, size_t ncaptures, const char *path,
                      const prof_options *options, wl_error *err)
{
    progress p = {.options = options};
    prof_builder *builder = NULL;
    capture *captures = calloc(ncaptures + 1, sizeof *captures);
    if (!captures)
        return wl_fail(err, WL_NOMEM, "Cannot import: out of memory.");
    wl_status status = look_all(paths, captures, ncaptures, &p, err);
    status = status == WL_OK ? prof_create(path, options, &builder, err) : status;
    status = status == WL_OK ? add_captures(builder, captures, ncaptures, &p, err) : status;
    free(captures);
    if (status != WL_OK) {
        prof_discard(builder);
        return status;
    }
    return prof_finish(builder, err);
}
