/* Which pages of device memory hold anything but zeros. With rec_g.lock held and the context
 * current. */
#ifndef WL_SHIM_PROBE_PAGES_IMPL_H
#define WL_SHIM_PROBE_PAGES_IMPL_H

#include "rewrite/layout.h"
#include "shim/driver/driver.h"

/* Of `count` pages of REWRITE_PAGE bytes at `memory`, aligned to 256; used[i] is 0 or 1. Waits for
 * the stream. False where that cannot be found out. */
bool probe_pages_used(CUcontext context, CUstream stream, uint64_t memory, uint32_t count,
                      uint8_t *used);
/* Adds each of 32 * nwords bytes at `marks` that is 1 to the bitmap of nwords u32 at `bits`
 * (rewrite/layout.h). False where that cannot be done. */
bool probe_pages_fold(CUcontext context, CUstream stream, uint64_t bits, uint64_t marks,
                      uint32_t nwords);
/* ---- logs.c: what is counted after the kernel; with the lock held and the context current ---- */

/* Can logs of launches in the context be counted? */
bool probe_logs_count(CUcontext context);
/* Adds what the log of the state at that address says to its counters and marks, on the stream.
 * False where that cannot be done. */
bool probe_log_count(CUcontext context, CUstream stream, uint64_t state,
                     const rewrite_layout *layout);
void probe_logs_gone(CUcontext context);

void probe_pages_gone(CUcontext context); /* the context went, and all that is on its device */

/* ---- staging.c: host memory that the device writes to at full speed; with the lock held ---- */

/* At least that much, with the context current; valid until the next call for the context. NULL:
 * there is none, or it would be too much. */
char *probe_staging(CUcontext context, uint64_t bytes);
void probe_staging_gone(CUcontext context);

#endif
