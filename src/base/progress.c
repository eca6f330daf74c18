#include "base/progress.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

enum { KINDS = WL_PROGRESS_LINES + 1 };

static const char *const names[KINDS] = {"none", "terminal", "lines"};

/* Seconds before the first time, and from then on. */
static const double waits[KINDS][2] = {
    [WL_PROGRESS_TERMINAL] = {1, 0.1},
    [WL_PROGRESS_LINES] = {10, 10},
};

const char *wl_progress_name(wl_progress_kind kind)
{
    return names[kind];
}

wl_progress_kind wl_progress_named(const char *name)
{
    int kind = KINDS - 1;
    while (kind > 0 && strcmp(name, names[kind]) != 0)
        kind--;
    return (wl_progress_kind)kind;
}

bool wl_progress_due(wl_progress *p)
{
    if (p->kind == WL_PROGRESS_NONE)
        return false;
    double now = wl_seconds();
    if (!p->begun) {
        p->begun = true;
        p->from = p->last = now;
    }
    bool first = p->last <= p->from;
    if (now - p->last < waits[p->kind][first ? 0 : 1])
        return false;
    p->last = now;
    return true;
}

void wl_progress_show(wl_progress *p, const char *text)
{
    if (p->kind == WL_PROGRESS_LINES) {
        wl_log(WL_LOG_INFO, "%s", text);
        return;
    }
    p->shown = true;
    fprintf(stderr, "\r==WARPLENS== %s\033[K", text);
    fflush(stderr);
}

void wl_progress_clear(wl_progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = false;
}

void wl_progress_left(double seconds, uint64_t done, uint64_t total, char *text, size_t size)
{
    enum { SOON = 2, MINUTES = 120, HOURS = 7200 }; /* seconds: too few to tell, told in these */
    text[0] = '\0';
    if (seconds < SOON || !done || done > total)
        return;
    double left = seconds / (double)done * (double)(total - done);
    if (left < MINUTES)
        snprintf(text, size, ", about %.0f s left", left);
    else if (left < HOURS)
        snprintf(text, size, ", about %.0f min left", left / 60);
    else
        snprintf(text, size, ", about %.0f h left", left / 3600);
}
