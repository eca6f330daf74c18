/* How far something long has come, on stderr: in a terminal one line that rewrites itself, else a
 * line now and then. What is over soon says nothing. */
#ifndef WL_BASE_PROGRESS_H
#define WL_BASE_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum wl_progress_kind {
    WL_PROGRESS_NONE,
    WL_PROGRESS_TERMINAL, /* after a second, then ten times a second */
    WL_PROGRESS_LINES     /* every ten seconds */
} wl_progress_kind;

/* "none", "terminal", "lines"; what is none of these is NONE. */
const char *wl_progress_name(wl_progress_kind kind);
wl_progress_kind wl_progress_named(const char *name);

typedef struct wl_progress { /* all zeroes but `kind`: nothing has begun */
    wl_progress_kind kind;
    bool begun, shown;
    double from, last; /* in wl_seconds: when it began, and when it was told last */
} wl_progress;

/* Whether it is time to tell. The first call begins it. */
bool wl_progress_due(wl_progress *progress);
/* Tells: "==WARPLENS== TEXT". */
void wl_progress_show(wl_progress *progress, const char *text);
/* Takes the line away; it may be told again. */
void wl_progress_clear(wl_progress *progress);
/* ", about 40 s left", where so many seconds went into `done` of `total`; "" where that says
 * nothing yet. */
void wl_progress_left(double seconds, uint64_t done, uint64_t total, char *text, size_t size);

#endif
