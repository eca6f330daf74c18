/* The host threads that run blocks. They are started once and sleep between launches. */
#ifndef WL_EMU_POOL_H
#define WL_EMU_POOL_H

#include <stdint.h>

typedef struct emu_pool emu_pool;

/* Calls fn(ctx, 0 .. count - 1), each on a thread of its own, number 0 on the caller's; returns
 * when all have returned. Where threads cannot be had, or have not begun when number 0 returns,
 * fewer run and the numbers left out are not called: the work must not need them all, and number 0
 * returns when none of it is left to begin. *pool is NULL before the first call, and again where
 * the process has forked. */
void emu_pool_run(emu_pool **pool, uint32_t count, void (*fn)(void *ctx, uint32_t index),
                  void *ctx);
void emu_pool_free(emu_pool *pool);

#endif
