/* Seconds and memory of what src/analysis/objects makes of long traces, step by step.
 *
 *   ninja bench_traces && bin/bench_traces [OPERATIONS [SHAPE]]
 *
 * OPERATIONS are 10,000,000, and all shapes are run, where none are named. Each shape runs in a
 * process of its own: its memory is the peak of that one's resident set, which holds the trace and
 * all that is made of it, as the analysis of a profile does. */
#include "analysis/objects/order.h"
#include "analysis/objects/savings.h"

#include "../clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HOST, STREAM, STREAMS = 8, EVENTS = 16, SITES = 1000 };

typedef struct maker { /* of a trace */
    obj_trace trace;
    uint64_t state; /* of the numbers that are drawn */
    wl_vec(uint32_t) alive;
    wl_vec(uint32_t) sets; /* of launches: by object */
} maker;

typedef struct shape {
    const char *name, *what;
    void (*make)(maker *m, uint32_t operations);
} shape;

static void check_made(bool made)
{
    if (made)
        return;
    fputs("bench_traces: out of memory\n", stderr);
    exit(1);
}

static uint32_t draw_below(maker *m, uint32_t n)
{
    m->state = m->state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)((m->state >> 33) * n >> 31);
}

/* ---- operations ---- */

static void add_op(maker *m, obj_op op)
{
    op.seconds = obj_is_work(op.kind) ? 1e-5F : -1;
    check_made(wl_push(&m->trace.ops, op));
}

static uint32_t add_allocation(maker *m, uint64_t bytes, uint32_t site)
{
    uint32_t number = (uint32_t)m->trace.objects.count, at = (uint32_t)m->trace.ops.count;
    obj_object made = {.id = number + 1,
                       .bytes = bytes,
                       .allocate = at,
                       .free = OBJ_NONE,
                       .begin = at,
                       .end = OBJ_NONE,
                       .site = site,
                       .ended = OBJ_LEAKED,
                       .counted = true};
    check_made(wl_push(&m->trace.objects, made));
    add_op(m, (obj_op){.kind = OBJ_ALLOCATE, .waits = true, .queue = HOST, .about = number});
    return number;
}

static void add_free(maker *m, uint32_t object)
{
    obj_object *o = &m->trace.objects.data[object];
    o->free = o->end = (uint32_t)m->trace.ops.count;
    o->ended = OBJ_FREED;
    add_op(m, (obj_op){.kind = OBJ_FREE, .waits = true, .queue = HOST, .about = object});
}

static uint32_t add_set_of(maker *m, const obj_access *accesses, uint32_t count)
{
    uint32_t set = obj_trace_add_set(&m->trace, accesses, count);
    check_made(set != OBJ_NONE);
    return set;
}

static void add_copy(maker *m, uint32_t queue, uint32_t object, unsigned how)
{
    uint64_t bytes = m->trace.objects.data[object].bytes;
    uint32_t range = obj_trace_add_range(&m->trace, &(obj_range){.bytes = bytes});
    check_made(range != OBJ_NONE);
    obj_access access = {.object = object, .how = how, .part = range};
    uint32_t set = add_set_of(m, &access, 1);
    add_op(m, (obj_op){.kind = OBJ_COPY, .waits = true, .queue = queue, .accesses = set});
}

static uint32_t set_of_launch(maker *m, uint32_t reads, uint32_t writes)
{
    obj_access both[] = {{.object = reads, .how = OBJ_READ}, {.object = writes, .how = OBJ_WRITE}};
    return add_set_of(m, both, reads == writes ? 1 : 2);
}

static void add_launch(maker *m, uint32_t queue, uint32_t set)
{
    add_op(m, (obj_op){.kind = OBJ_LAUNCH, .queue = queue, .accesses = set});
}

/* ---- shapes ---- */

/* Each round allocates a buffer, fills it, works with it and the one before, and frees the third
 * last: buffers could take over each other's memory, one after another. */
static void make_loop(maker *m, uint32_t operations)
{
    for (uint32_t round = 0; m->trace.ops.count < operations; round++) {
        uint32_t buffer = add_allocation(m, 1 << 20, round % 2);
        add_copy(m, STREAM, buffer, OBJ_WRITE);
        add_launch(m, STREAM, set_of_launch(m, round ? buffer - 1 : buffer, buffer));
        add_copy(m, STREAM, buffer, OBJ_READ);
        if (round >= 3)
            add_free(m, buffer - 3);
    }
}

static void make_long(maker *m, uint32_t operations)
{
    enum { OBJECTS = 1000, KINDS = 4096 };
    for (uint32_t i = 0; i < OBJECTS; i++)
        add_allocation(m, (uint64_t)(1 + draw_below(m, 1000)) << 16, i);
    for (uint32_t k = 0; k < KINDS; k++)
        check_made(wl_push(&m->sets,
                           set_of_launch(m, draw_below(m, OBJECTS), draw_below(m, OBJECTS))));
    while (m->trace.ops.count + OBJECTS < operations)
        add_launch(m, STREAM, m->sets.data[draw_below(m, KINDS)]);
    for (uint32_t i = 0; i < OBJECTS; i++)
        add_free(m, i);
}

static uint32_t take_alive(maker *m)
{
    uint32_t at = draw_below(m, (uint32_t)m->alive.count), object = m->alive.data[at];
    m->alive.data[at] = m->alive.data[--m->alive.count];
    return object;
}

/* Each object has a kernel's launch of its own, which comes again and again. */
static void add_alive(maker *m)
{
    uint32_t site = draw_below(m, SITES);
    uint32_t object = add_allocation(m, (uint64_t)(1 + site % 100) << 12, site);
    check_made(wl_push(&m->alive, object));
    check_made(wl_push(&m->sets, set_of_launch(m, object, object)));
}

static void add_launch_of_alive(maker *m, uint32_t queue)
{
    uint32_t object = m->alive.data[draw_below(m, (uint32_t)m->alive.count)];
    add_launch(m, queue, m->sets.data[object]);
}

static void add_mixed(maker *m)
{
    uint32_t stream = STREAM + draw_below(m, STREAMS), event = draw_below(m, EVENTS);
    uint32_t kind = draw_below(m, 16), n = (uint32_t)m->alive.count;
    if (kind == 0 || n < 100)
        add_alive(m);
    else if (kind == 1 && n > 200)
        add_free(m, take_alive(m));
    else if (kind < 4)
        add_copy(m, stream, m->alive.data[draw_below(m, n)], kind - 1);
    else if (kind == 4)
        add_op(m, (obj_op){.kind = OBJ_RECORD, .queue = stream, .about = event});
    else if (kind == 5)
        add_op(m, (obj_op){.kind = OBJ_WAIT, .queue = stream, .about = event});
    else if (kind == 6)
        add_op(m, (obj_op){.kind = OBJ_SYNC_STREAM, .queue = stream});
    else
        add_launch_of_alive(m, stream);
}

static void make_mixed(maker *m, uint32_t operations)
{
    while (m->trace.ops.count < operations)
        add_mixed(m);
}

/* Of ten operations one allocates, one frees: all objects are alive in the middle. */
static void make_million(maker *m, uint32_t operations)
{
    uint32_t objects = operations / 10;
    while (m->trace.objects.count < objects) {
        add_alive(m);
        for (int i = 0; i < 4; i++)
            add_launch_of_alive(m, STREAM);
    }
    while (m->alive.count) {
        for (int i = 0; i < 4; i++)
            add_launch_of_alive(m, STREAM);
        add_free(m, take_alive(m));
    }
}

static const shape shapes[] = {
    {"loop", "allocates, fills, uses, frees", make_loop},
    {"long", "1,000 objects that stay", make_long},
    {"mixed", "streams, events, some 200 objects at a time", make_mixed},
    {"million", "a tenth as many objects, in the middle all alive", make_million},
};

static void begin_trace(maker *m)
{
    check_made(obj_trace_init(&m->trace) &&
               wl_push(&m->trace.queues, (obj_queue){.kind = OBJ_QUEUE_THREAD}));
    for (uint32_t i = 0; i < STREAMS; i++) {
        uint32_t kind = i ? OBJ_QUEUE_BLOCKING + i % 2 : OBJ_QUEUE_LEGACY;
        check_made(wl_push(&m->trace.queues, (obj_queue){.kind = kind}));
    }
    m->trace.nevents = EVENTS;
    m->trace.ncontexts = m->trace.ndevices = 1;
}

/* ---- what is measured ---- */

static double since(double *begin)
{
    double now = clock_seconds(CLOCK_PROCESS_CPUTIME_ID), passed = now - *begin;
    *begin = now;
    return passed;
}

static void measure_shape(const shape *s, uint32_t operations)
{
    maker m = {.state = 1};
    ana_thresholds thresholds = ana_thresholds_default();
    obj_lives lives;
    obj_hits hits = {0};
    obj_plan plan;
    struct rusage usage;
    begin_trace(&m);
    s->make(&m, operations);
    double at = clock_seconds(CLOCK_PROCESS_CPUTIME_ID), begin = at, seconds[4];
    uint32_t *levels = obj_order(&m.trace);
    check_made(levels != NULL);
    seconds[0] = since(&at);
    check_made(obj_lives_of(&m.trace, levels, &thresholds, &lives));
    seconds[1] = since(&at);
    check_made(obj_find_patterns(&m.trace, levels, &lives, NULL, &thresholds, &hits));
    obj_lives_forget_gaps(&lives);
    seconds[2] = since(&at);
    check_made(obj_plan_savings(&m.trace, thresholds.min_share, &hits, &plan));
    seconds[3] = since(&at);
    getrusage(RUSAGE_SELF, &usage);
    printf("| %s: %s | %zu | %zu | %zu | %.2f | %.2f | %.2f | %.2f | %.2f | %.0f | %zu |\n",
           s->name, s->what, m.trace.ops.count, m.trace.objects.count, hits.count, seconds[0],
           seconds[1], seconds[2], seconds[3], at - begin, (double)usage.ru_maxrss / 1024,
           plan.steps.count);
}

/* Processes start small and give back all that they took. */
static int measure_apart(const shape *s, uint32_t operations)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        measure_shape(s, operations);
        exit(0);
    }
    bool ended = child > 0 && waitpid(child, &status, 0) == child;
    return ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    uint32_t operations = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 10000000;
    int failed = 0;
    puts("| trace | operations | objects | hits | order, CPU s | lives | patterns | plan | all "
         "| MB | steps |\n|---|---|---|---|---|---|---|---|---|---|---|");
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        if (argc < 3 || strcmp(argv[2], shapes[i].name) == 0)
            failed |= measure_apart(&shapes[i], operations);
    return failed;
}
