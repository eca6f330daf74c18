/* Levels of operations, in one pass. */
#include "analysis/objects/order.h"

#include <stdlib.h>

/* All members say from which level on something can run: one more than what it waits for. */
typedef struct queue_state {
    uint32_t ready; /* the next operation of the queue */
    uint32_t run;   /* of the graph whose nodes come one after another; 0: none */
    uint32_t begin; /* then: any of them */
} queue_state;

typedef struct object_state {
    uint32_t read, write; /* the next operation that reads, that writes */
} object_state;

typedef struct context_state {
    uint32_t all;              /* what waits for the whole context */
    uint32_t legacy, blocking; /* what waits for the legacy stream; for it and the blocking ones */
} context_state;

typedef struct orderer {
    const obj_trace *trace;
    uint32_t *levels;
    queue_state *queues;
    object_state *objects;
    context_state *contexts;
    uint32_t *events;
    size_t node, edge; /* the next of trace->nodes and edges */
} orderer;

static uint32_t later(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static context_state *context_of_queue(orderer *o, uint32_t queue)
{
    return &o->contexts[o->trace->queues.data[queue].context];
}

/* What the queue's next operation waits for besides the one before it. */
static uint32_t streams_before(orderer *o, uint32_t queue)
{
    const context_state *c = context_of_queue(o, queue);
    switch (o->trace->queues.data[queue].kind) {
    case OBJ_QUEUE_LEGACY: return c->blocking;
    case OBJ_QUEUE_BLOCKING: return c->legacy;
    default: return 0;
    }
}

/* From when on something can follow all that is in the queue by now. */
static uint32_t end_of_queue(orderer *o, uint32_t queue)
{
    return later(o->queues[queue].ready, streams_before(o, queue));
}

static void pass_queue(orderer *o, uint32_t queue, uint32_t ready)
{
    context_state *c = context_of_queue(o, queue);
    uint32_t kind = o->trace->queues.data[queue].kind;
    o->queues[queue].ready = later(o->queues[queue].ready, ready);
    if (kind != OBJ_QUEUE_THREAD)
        c->all = later(c->all, ready);
    if (kind == OBJ_QUEUE_LEGACY)
        c->legacy = later(c->legacy, ready);
    if (kind == OBJ_QUEUE_LEGACY || kind == OBJ_QUEUE_BLOCKING)
        c->blocking = later(c->blocking, ready);
}

/* 0: it is no node of a graph. */
static uint32_t run_of_node(orderer *o, uint32_t at)
{
    const obj_node *nodes = o->trace->nodes.data;
    while (o->node < o->trace->nodes.count && nodes[o->node].op < at)
        o->node++;
    return o->node < o->trace->nodes.count && nodes[o->node].op == at ? nodes[o->node].run : 0;
}

/* Nodes of a graph wait for what was in the stream before it, and for the nodes that edges name. */
static uint32_t wait_in_queue(orderer *o, uint32_t at, const obj_op *op)
{
    queue_state *q = &o->queues[op->queue];
    uint32_t run = run_of_node(o, at);
    if (!run || run != q->run)
        q->begin = end_of_queue(o, op->queue);
    q->run = run;
    return q->begin;
}

static uint32_t wait_for_nodes(orderer *o, uint32_t at)
{
    uint32_t level = 0;
    for (; o->edge < o->trace->edges.count && o->trace->edges.data[o->edge].to <= at; o->edge++)
        if (o->trace->edges.data[o->edge].to == at)
            level = later(level, o->levels[o->trace->edges.data[o->edge].from] + 1);
    return level;
}

/* Does it wait for those that read the object, too? Of what is divided each part has an order of its
 * own. */
static bool writes_alone(const orderer *o, const obj_access *a)
{
    return (a->how & OBJ_WRITE) && !o->trace->objects.data[a->object].divided;
}

static uint32_t wait_for_data(const orderer *o, const obj_op *op)
{
    uint32_t count, level = 0;
    const obj_access *a = obj_accesses(o->trace, op, &count);
    for (uint32_t i = 0; i < count; i++) {
        const object_state *s = &o->objects[a[i].object];
        level = later(level, writes_alone(o, &a[i]) ? s->write : s->read);
    }
    return op->kind == OBJ_FREE ? later(level, o->objects[op->about].write) : level;
}

static void pass_data(orderer *o, const obj_op *op, uint32_t ready)
{
    uint32_t count;
    const obj_access *a = obj_accesses(o->trace, op, &count);
    for (uint32_t i = 0; i < count; i++) {
        object_state *s = &o->objects[a[i].object];
        s->write = later(s->write, ready);
        if (writes_alone(o, &a[i]))
            s->read = later(s->read, ready);
    }
    if (op->kind == OBJ_ALLOCATE || op->kind == OBJ_FREE) {
        object_state *s = &o->objects[op->about];
        s->read = s->write = later(s->write, ready);
    }
}

static bool frees_by_waiting(const obj_trace *trace, const obj_op *op)
{
    return op->kind == OBJ_FREE && trace->queues.data[op->queue].kind == OBJ_QUEUE_THREAD;
}

/* The program's own allocator does not wait, and nothing waits for it: a part is allocated at the
 * level of the last call before, and freed at that of the next after it. */
static uint32_t level_of_part(const orderer *o, const obj_op *op)
{
    const obj_object *part = &o->trace->objects.data[op->about];
    uint32_t next = later(o->queues[op->thread].ready, o->contexts[part->context].all);
    return op->kind == OBJ_ALLOCATE && next ? next - 1 : next;
}

static uint32_t order_work(orderer *o, uint32_t at, const obj_op *op)
{
    if (obj_concerns_part(o->trace, op))
        return level_of_part(o, op);
    uint32_t level = later(wait_in_queue(o, at, op), wait_for_nodes(o, at));
    level = later(level, later(o->queues[op->thread].ready, wait_for_data(o, op)));
    if (frees_by_waiting(o->trace, op))
        level = later(level, o->contexts[o->trace->objects.data[op->about].context].all);
    pass_queue(o, op->queue, level + 1);
    pass_data(o, op, level + 1);
    if (op->waits)
        pass_queue(o, op->thread, level + 1);
    return level;
}

/* What only orders others has the level from which on these can run. Nothing is put on a stream before
 * its thread has waited for what it waits for. */
static uint32_t order_others(orderer *o, const obj_op *op)
{
    uint32_t ready = o->queues[op->thread].ready, to = op->thread;
    switch (op->kind) {
    case OBJ_RECORD:
        o->events[op->about] = later(ready, end_of_queue(o, op->queue));
        return o->events[op->about];
    case OBJ_WAIT:
        ready = later(ready, o->events[op->about]);
        to = op->queue;
        break;
    case OBJ_SYNC_EVENT: ready = later(ready, o->events[op->about]); break;
    case OBJ_SYNC_STREAM: ready = later(ready, end_of_queue(o, op->queue)); break;
    default: ready = later(ready, o->contexts[op->about].all); break;
    }
    pass_queue(o, to, ready);
    return ready;
}

/* The objects of a long trace do not fit into caches: those that come soon are asked for. */
static void fetch_objects(const orderer *o, uint32_t at)
{
    enum { AHEAD = 8 };
    uint32_t count = 0;
    const obj_access *a = NULL;
    if (at + AHEAD < o->trace->ops.count)
        a = obj_accesses(o->trace, &o->trace->ops.data[at + AHEAD], &count);
    for (uint32_t i = 0; i < count; i++)
        __builtin_prefetch(&o->objects[a[i].object]);
}

static void order_all(orderer *o)
{
    for (uint32_t i = 0; i < o->trace->ops.count; i++) {
        const obj_op *op = &o->trace->ops.data[i];
        fetch_objects(o, i);
        o->levels[i] = obj_is_work(op->kind) ? order_work(o, i, op) : order_others(o, op);
    }
}

uint32_t *obj_order(const obj_trace *trace)
{
    orderer o = {.trace = trace,
                 .levels = malloc((trace->ops.count + 1) * sizeof(uint32_t)),
                 .queues = calloc(trace->queues.count + 1, sizeof(queue_state)),
                 .objects = calloc(trace->objects.count + 1, sizeof(object_state)),
                 .contexts = calloc((size_t)trace->ncontexts + 1, sizeof(context_state)),
                 .events = calloc((size_t)trace->nevents + 1, sizeof(uint32_t))};
    bool good = o.levels && o.queues && o.objects && o.contexts && o.events;
    if (good)
        order_all(&o);
    free(o.queues);
    free(o.objects);
    free(o.contexts);
    free(o.events);
    if (!good)
        free(o.levels);
    return good ? o.levels : NULL;
}
