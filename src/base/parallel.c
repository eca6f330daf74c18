#include "base/parallel.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>

enum { MOST_THREADS = 64 };

typedef struct crew {
    void (*piece)(void *ctx, uint64_t i);
    void *ctx;
    uint64_t count, next; /* next: atomic */
} crew;

static void *take_pieces(void *arg)
{
    crew *c = arg;
    for (uint64_t i; (i = __atomic_fetch_add(&c->next, 1, __ATOMIC_RELAXED)) < c->count;)
        c->piece(c->ctx, i);
    return NULL;
}

static uint32_t usable_cores(void)
{
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* They take no signals of the program's. */
static uint32_t make_crew(crew *c, pthread_t *others, uint32_t most)
{
    sigset_t all, before;
    uint32_t made = 0;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (made < most && pthread_create(&others[made], NULL, take_pieces, c) == 0)
        made++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return made;
}

void wl_parallel(uint32_t threads, uint64_t count, void (*piece)(void *ctx, uint64_t i), void *ctx)
{
    crew c = {.piece = piece, .ctx = ctx, .count = count};
    pthread_t others[MOST_THREADS];
    uint32_t most = threads ? threads : usable_cores();
    most = most > MOST_THREADS ? MOST_THREADS : most;
    most = most > count ? (uint32_t)count : most;
    uint32_t made = most > 1 ? make_crew(&c, others, most - 1) : 0;
    take_pieces(&c);
    for (uint32_t i = 0; i < made; i++)
        pthread_join(others[i], NULL);
}
