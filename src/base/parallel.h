/* Independent pieces of work on several host threads. */
#ifndef WL_BASE_PARALLEL_H
#define WL_BASE_PARALLEL_H

#include <stdint.h>

/* Calls piece(ctx, i) for each i below `count`, in any order, on at most `threads` threads (0: one
 * a core), of which the caller's is one; returns when all are done. Where no thread can be made the
 * caller does it all. They take no signals. What pieces write must be their own. */
void wl_parallel(uint32_t threads, uint64_t count, void (*piece)(void *ctx, uint64_t i), void *ctx);

#endif
