/* A launch's blocks as a run shows them to the observer: begun and ended through obs_observer(). */
#ifndef TESTS_SUPPORT_DRIVE_H
#define TESTS_SUPPORT_DRIVE_H

#include "access/access.h"
#include "observe/observe.h"

typedef struct drive { /* a host thread's part of a launch */
    acc_observer observer;
    void *worker;
} drive;

static inline drive drive_begin(obs_launch *launch, uint32_t number)
{
    drive d = {.observer = obs_observer(launch)};
    d.worker = d.observer.worker_begin(d.observer.ctx, number);
    return d;
}

static inline obs_block *drive_block(const drive *d, uint64_t index)
{
    return d->observer.block_begin(d->worker, index);
}

/* `instructions`: how many the block's warps executed, 0 where that is not told. */
static inline void drive_end(const drive *d, obs_block *block, uint64_t instructions)
{
    d->observer.block_end(d->worker, block, instructions);
}

#endif
