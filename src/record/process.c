/* The process's life: its clock, its start, fork and end. */
#include "base/log.h"
#include "inject/stack.h"
#include "program/attached.h"
#include "program/options.h"
#include "record/open.h"
#include "record/parts.h"
#include "record/record.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

rec_state rec_g = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const rec_collector *collector;
static bool is_wanted; /* rec_start()'s */

int64_t rec_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int64_t rec_since_start(void)
{
    return rec_now() - rec_g.start_ns;
}

static void open_capture(void)
{
    if (is_wanted)
        rec_g.writer = rec_open_capture(collector->name, rec_g.start_ns);
    rec_g.observe = rec_g.writer != NULL;
}

void rec_start(bool wanted)
{
    is_wanted = wanted;
    wl_log_set_level((wl_log_level)prog_options_get()->verbosity);
    open_capture();
    __atomic_store_n(&rec_g.started, true, __ATOMIC_RELEASE);
}

/* The child has the parent's memory but none of its threads: what the parent did with CUDA is lost
 * to it, as the driver has it. A child of a parent that had not yet used CUDA starts afresh. */
static void start_afresh_in_child(void)
{
    pthread_mutex_init(&rec_g.lock, NULL);
    rec_parts_forget();
    rec_call_after_fork();
    if (rec_g.started) {
        cap_abandon(rec_g.writer);
        rec_g.writer = NULL;
        rec_g.observe = rec_g.kept = false;
        rec_g.forked = true;
    }
    if (collector->in_child)
        collector->in_child();
}

void rec_mark_forked(void)
{
    static bool marked;
    if (__atomic_exchange_n(&marked, true, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&rec_g.lock);
    open_capture();
    rec_message(WL_LOG_WARN,
                "Process %ld was forked by one that had used CUDA: as with a GPU, its own CUDA "
                "calls fail with cudaErrorInitializationError.",
                (long)getpid());
    rec_g.observe = false;
    cap_close(rec_g.writer);
    rec_g.writer = NULL;
    pthread_mutex_unlock(&rec_g.lock);
}

static void write_end(void)
{
    if (rec_g.kept)
        rec_call_write_kept();
    if (collector->last)
        collector->last();
    cap_end end = {.end_ns = rec_since_start(), .records = cap_written(rec_g.writer)};
    REC_WRITE(end, &end);
    cap_close(rec_g.writer);
    rec_g.writer = NULL;
    rec_g.observe = false;
}

void rec_process_ends(void)
{
    bool locked = pthread_mutex_trylock(&rec_g.lock) == 0;
    if (rec_g.writer && !rec_g.forked)
        write_end();
    if (locked)
        pthread_mutex_unlock(&rec_g.lock);
}

void rec_process_begins(const rec_collector *which)
{
    collector = which;
    rec_g.start_ns = rec_now();
    pthread_atfork(NULL, NULL, start_afresh_in_child);
    at_quick_exit(rec_process_ends);
    inj_stack_start();
    prog_tell_attached();
}
