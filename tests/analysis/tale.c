#include "tale.h"

#include "support/test.h"

static uint32_t add(obj_trace *t, obj_op op)
{
    op.seconds = -1;
    assert_true(wl_push(&t->ops, op));
    return (uint32_t)t->ops.count - 1;
}

void tale_begin(obj_trace *t)
{
    assert_true(obj_trace_init(t));
    t->ncontexts = t->ndevices = 1;
    tale_queue(t, OBJ_QUEUE_THREAD);
    tale_queue(t, OBJ_QUEUE_LEGACY);
}

uint32_t tale_queue(obj_trace *t, obj_queue_kind kind)
{
    assert_true(wl_push(&t->queues, (obj_queue){.kind = kind}));
    return (uint32_t)t->queues.count - 1;
}

static bool is_host(const obj_trace *t, uint32_t queue)
{
    return t->queues.data[queue].kind == OBJ_QUEUE_THREAD;
}

uint32_t tale_allocate(obj_trace *t, uint32_t queue, uint64_t bytes, uint32_t *object)
{
    uint32_t op = (uint32_t)t->ops.count, made = (uint32_t)t->objects.count;
    obj_object o = {.id = made + 1,
                    .bytes = bytes,
                    .allocate = op,
                    .free = OBJ_NONE,
                    .begin = op,
                    .end = OBJ_NONE,
                    .site = made,
                    .ended = OBJ_LEAKED,
                    .counted = true,
                    .pooled = !is_host(t, queue)};
    assert_true(wl_push(&t->objects, o));
    if (object)
        *object = made;
    return add(t, (obj_op){.kind = OBJ_ALLOCATE,
                           .queue = queue,
                           .about = made,
                           .waits = is_host(t, queue)});
}

/* The device that stands for what is divided. */
static uint32_t pool_of(obj_trace *t, uint32_t whole)
{
    uint32_t machine = t->ndevices - (uint32_t)t->pools.count, i = 0;
    while (i < t->pools.count && t->pools.data[i] != whole)
        i++;
    if (i == t->pools.count) {
        assert_true(wl_push(&t->pools, whole));
        t->ndevices++;
    }
    t->objects.data[whole].divided = true;
    return machine + i;
}

uint32_t tale_part(obj_trace *t, uint32_t whole, uint64_t bytes, uint32_t *part)
{
    uint32_t made = (uint32_t)t->objects.count, op = tale_allocate(t, TALE_HOST, bytes, part);
    obj_object *o = &t->objects.data[made];
    o->part = true;
    o->whole = whole;
    o->context = t->objects.data[whole].context;
    o->device = pool_of(t, whole);
    t->ops.data[op].waits = false;
    return op;
}

uint32_t tale_free(obj_trace *t, uint32_t queue, uint32_t object)
{
    obj_object *o = &t->objects.data[object];
    queue = o->part ? TALE_HOST : queue;
    uint32_t op = add(t, (obj_op){.kind = OBJ_FREE,
                                  .queue = queue,
                                  .about = object,
                                  .waits = is_host(t, queue) && !o->part});
    o->free = o->end = op;
    o->ended = OBJ_FREED;
    return op;
}

obj_access tale_access(obj_trace *t, uint32_t object, unsigned how)
{
    uint32_t range = obj_trace_add_range(t, &(obj_range){.bytes = t->objects.data[object].bytes});
    assert_int_not_equal(range, OBJ_NONE);
    return (obj_access){.object = object, .how = how, .part = range};
}

static uint32_t set_of(obj_trace *t, uint32_t object, unsigned how)
{
    obj_access a = tale_access(t, object, how);
    return obj_trace_add_set(t, &a, 1);
}

uint32_t tale_set(obj_trace *t, uint32_t queue, uint32_t object)
{
    return add(t,
               (obj_op){.kind = OBJ_SET, .queue = queue, .accesses = set_of(t, object, OBJ_WRITE)});
}

uint32_t tale_copy_in(obj_trace *t, uint32_t queue, uint32_t object)
{
    uint32_t set = set_of(t, object, OBJ_WRITE);
    return add(t, (obj_op){.kind = OBJ_COPY, .queue = queue, .waits = true, .accesses = set});
}

uint32_t tale_copy_out(obj_trace *t, uint32_t queue, uint32_t object)
{
    uint32_t set = set_of(t, object, OBJ_READ);
    return add(t, (obj_op){.kind = OBJ_COPY, .queue = queue, .waits = true, .accesses = set});
}

uint32_t tale_launch(obj_trace *t, uint32_t queue, uint32_t reads, uint32_t writes)
{
    obj_access both[2];
    uint32_t n = 0;
    if (reads != OBJ_NONE)
        both[n++] = (obj_access){.object = reads, .how = OBJ_READ};
    if (writes != OBJ_NONE)
        both[n++] = (obj_access){.object = writes, .how = OBJ_WRITE};
    uint32_t set = obj_trace_add_set(t, both, n);
    return add(t, (obj_op){.kind = OBJ_LAUNCH, .queue = queue, .accesses = set});
}

uint32_t tale_launch_around(obj_trace *t, uint32_t queue, uint32_t part)
{
    obj_access both[] = {{.object = t->objects.data[part].whole, .how = OBJ_READ},
                         {.object = part, .how = OBJ_READ, .possible = true}};
    uint32_t set = obj_trace_add_set(t, both, 2);
    return add(t, (obj_op){.kind = OBJ_LAUNCH, .queue = queue, .accesses = set});
}

uint32_t tale_launch_unknown(obj_trace *t, uint32_t queue)
{
    return add(t, (obj_op){.kind = OBJ_LAUNCH, .queue = queue, .unknown = true});
}

uint32_t tale_order(obj_trace *t, obj_op_kind kind, uint32_t queue, uint32_t about)
{
    if (kind != OBJ_SYNC_CONTEXT && kind != OBJ_SYNC_STREAM && about >= t->nevents)
        t->nevents = about + 1;
    return add(t, (obj_op){.kind = (uint8_t)kind, .queue = queue, .about = about});
}

void tale_end(obj_trace *t)
{
    obj_trace_free(t);
}
