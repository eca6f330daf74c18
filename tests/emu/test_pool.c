/* The host threads that run blocks: every piece of work is done once, and nothing runs on when the
 * call has returned. */
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "emu/pool.h"
#include "support/test.h"

enum { THREADS = 4, PIECES = 8, ROUNDS = 2000 };

typedef struct job {
    atomic_uint next, inside, calls[THREADS];
    atomic_uint done[PIECES];
    atomic_bool returned, late;
} job;

static void take_pieces(void *ctx, uint32_t index)
{
    job *j = ctx;
    atomic_fetch_add(&j->inside, 1);
    atomic_fetch_add(&j->calls[index], 1);
    for (unsigned n; (n = atomic_fetch_add(&j->next, 1)) < PIECES;)
        atomic_fetch_add(&j->done[n], 1);
    if (atomic_load(&j->returned))
        atomic_store(&j->late, true);
    atomic_fetch_sub(&j->inside, 1);
}

static void work_is_done_once(void **state)
{
    static job jobs[ROUNDS];
    emu_pool *pool = NULL;
    (void)state;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        job *j = &jobs[round];
        emu_pool_run(&pool, 1 + round % THREADS, take_pieces, j);
        atomic_store(&j->returned, true);
        assert_int_equal(atomic_load(&j->inside), 0);
        assert_int_equal(atomic_load(&j->calls[0]), 1);
        for (uint32_t n = 0; n < PIECES; n++)
            assert_int_equal(atomic_load(&j->done[n]), 1);
    }
    emu_pool_free(pool);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        assert_false(atomic_load(&jobs[round].late));
        for (uint32_t k = 0; k < THREADS; k++)
            assert_true(atomic_load(&jobs[round].calls[k]) <= (k <= round % THREADS));
    }
}

typedef struct company {
    sem_t others; /* that have come */
} company;

/* Number 0 goes on only when another thread has come. */
static void wait_for_company(void *ctx, uint32_t index)
{
    company *c = ctx;
    if (index == 0)
        sem_wait(&c->others);
    else
        sem_post(&c->others);
}

static void threads_help(void **state)
{
    emu_pool *pool = NULL;
    (void)state;
    for (int round = 0; round < 3; round++) {
        company c;
        assert_int_equal(sem_init(&c.others, 0, 0), 0);
        emu_pool_run(&pool, THREADS, wait_for_company, &c);
        sem_destroy(&c.others);
    }
    emu_pool_free(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_is_done_once),
        cmocka_unit_test(threads_help),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
