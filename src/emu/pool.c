/* The host threads that run blocks. */
#include "emu/pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

struct emu_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    pid_t process;
    uint64_t round;           /* counts calls of emu_pool_run */
    uint32_t wanted, running; /* threads below `wanted` may begin; those that have begun */
    void (*fn)(void *ctx, uint32_t index);
    void *ctx;
    bool end;
    uint32_t nthreads;
    struct emu_pool_thread {
        struct emu_pool *pool;
        uint32_t index;
        pthread_t thread;
    } *threads[256];
};

enum { STACK = 1 << 20, MOST = 256 };

static void *thread_main(void *arg)
{
    struct emu_pool_thread *self = arg;
    emu_pool *p = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&p->lock);
    for (;;) {
        while (!p->end && (p->round == seen || self->index >= p->wanted))
            pthread_cond_wait(&p->work, &p->lock);
        if (p->end)
            break;
        seen = p->round;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->fn(p->ctx, self->index);
        pthread_mutex_lock(&p->lock);
        if (--p->running == 0)
            pthread_cond_signal(&p->done);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

static emu_pool *pool_new(void)
{
    emu_pool *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->done, NULL);
    p->process = getpid();
    p->nthreads = 1; /* the caller's */
    return p;
}

/* Signals are the application's business: none is delivered to a thread of ours. */
static bool add_pool_thread(emu_pool *p)
{
    struct emu_pool_thread *t = calloc(1, sizeof *t);
    sigset_t all, before;
    pthread_attr_t attr;
    if (!t)
        return false;
    t->pool = p;
    t->index = p->nthreads;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, STACK);
    bool ok = pthread_create(&t->thread, &attr, thread_main, t) == 0;
    pthread_attr_destroy(&attr);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!ok) {
        free(t);
        return false;
    }
    p->threads[p->nthreads++] = t;
    return true;
}

void emu_pool_run(emu_pool **pool, uint32_t count, void (*fn)(void *ctx, uint32_t index), void *ctx)
{
    if (*pool && (*pool)->process != getpid())
        *pool = NULL; /* its threads are the parent's */
    if (count > 1 && !*pool)
        *pool = pool_new();
    emu_pool *p = *pool;
    if (count <= 1 || !p) {
        fn(ctx, 0);
        return;
    }
    pthread_mutex_lock(&p->lock);
    while (p->nthreads < count && p->nthreads < MOST && add_pool_thread(p)) {}
    p->wanted = count < p->nthreads ? count : p->nthreads;
    p->fn = fn;
    p->ctx = ctx;
    p->round++;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    fn(ctx, 0);
    pthread_mutex_lock(&p->lock);
    p->wanted = 0;
    while (p->running)
        pthread_cond_wait(&p->done, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

void emu_pool_free(emu_pool *p)
{
    if (!p || p->process != getpid())
        return;
    pthread_mutex_lock(&p->lock);
    p->end = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (uint32_t k = 1; k < p->nthreads; k++) {
        pthread_join(p->threads[k]->thread, NULL);
        free(p->threads[k]);
    }
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->done);
    free(p);
}
