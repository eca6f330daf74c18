/* Ranges of the program's own chosen by their names. */
#ifndef WL_PROGRAM_RANGE_NAME_H
#define WL_PROGRAM_RANGE_NAME_H

#include "base/arena.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

typedef struct prog_range { /* one that is open */
    const char *domain;     /* "": the default one */
    const char *name;
    bool pushed; /* on its thread's stack; else it was started, and is open for all threads */
} prog_range;

typedef struct prog_range_patterns { /* all zero: none */
    wl_arena *arena;
    struct prog_range_pattern *first; /* NULL: none */
} prog_range_patterns;

/* Reads patterns that are separated by semicolons. Each is [DOMAIN@]WHAT, and WHAT one of
 *
 *   NAME          a range of this name
 *   regex:TEXT    one of which the extended regular expression fits a part of the name
 *   A/B           the pushed range B directly within A; NAME/ is a pushed range
 *
 * Between slashes, * stands for any number of ranges, + for one, and ] behind the last says that it
 * is the innermost; a [ before the first that it is the outermost. A backslash takes such meanings
 * from the character after it. Without a domain it may be of any. WL_ARG for others, with the
 * reason; WL_NOMEM. *out is to be cleared in any case. */
wl_status prog_ranges_read(const char *patterns, prog_range_patterns *out, wl_error *err);
void prog_ranges_clear(prog_range_patterns *patterns);

/* True where one of the patterns fits; ranges are in the order in which they were opened. */
bool prog_ranges_fit(const prog_range_patterns *patterns, const prog_range *ranges, size_t count);

#endif
