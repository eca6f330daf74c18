/* Ranges that the program opens and closes by NVTX or warplens/annotate.h, and which of them a call
 * was made in.
 *
 * Pushed ranges are their thread's; started ones are open for all threads. A range is written when a
 * call is first made in it, and so costs nothing where the program makes none: RANGE before RANGES,
 * the list that a call's record names, before the CALL. */
#ifndef WL_RECORD_RANGES_H
#define WL_RECORD_RANGES_H

#include <stdbool.h>
#include <stdint.h>

/* Texts are copied; NULL is "", and as a domain the default one. These need no lock. */

/* The level of the range, from 0, in its domain; -1: without memory. */
int rec_range_push(const char *domain, const char *name);
/* The level of the range that ended; -1: none was open. */
int rec_range_pop(const char *domain);
uint64_t rec_range_start(const char *domain, const char *name); /* 0: without memory */
void rec_range_end(uint64_t started);

/* Of the calling thread, with rec_g.lock held: */

/* The number of the RANGES that are open, which has been written; 0: none are. */
uint32_t rec_ranges(void);
/* Do --nvtx-include and --nvtx-exclude let a launch within them pass? */
bool rec_ranges_asked(void);

void rec_ranges_after_fork(void); /* in the child */

#endif
