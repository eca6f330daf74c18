#include "device/heap.h"

#include <stdlib.h>
#include <string.h>

typedef struct heap_object { /* that no kernel has freed */
    uint32_t number;         /* key */
    uint64_t address;
    dev_context *context;
    UT_hash_handle hh;
} heap_object;

/* What the launch that runs does; guarded by its lock while it runs. */
static struct {
    pthread_mutex_t lock;
    emu_heap_alloc
        made[DEV_HEAP_OF_LAUNCH]; /* a block's share one after the other; address 0: nothing */
    uint32_t counts[DEV_HEAP_OF_LAUNCH]; /* of the first blocks */
    uint32_t first;                      /* number of made[0] */
    uint32_t blocks, share;              /* blocks that may have so many objects each */
    uint64_t dropped;
    wl_vec(uint32_t) freed;
} launch = {.lock = PTHREAD_MUTEX_INITIALIZER};

static heap_object *objects;
static uint32_t nobjects; /* ever */

/* ---- while the kernel runs ---- */

static uint32_t note_made(void *ctx, const emu_heap_alloc *made)
{
    (void)ctx;
    uint32_t number = 0;
    pthread_mutex_lock(&launch.lock);
    if (made->block < launch.blocks && launch.counts[made->block] < launch.share) {
        uint32_t at = (uint32_t)made->block * launch.share + launch.counts[made->block]++;
        launch.made[at] = *made;
        number = launch.first + at;
    } else {
        launch.dropped++;
    }
    pthread_mutex_unlock(&launch.lock);
    return number;
}

static void note_freed(void *ctx, uint32_t id)
{
    (void)ctx;
    pthread_mutex_lock(&launch.lock);
    if (!wl_push(&launch.freed, id))
        launch.dropped++; /* it will seem to live on */
    pthread_mutex_unlock(&launch.lock);
}

/* ---- before and after ---- */

const emu_heap_observer *dev_heap_begin(const dev_op *op)
{
    static const emu_heap_observer observer = {.made = note_made, .freed = note_freed};
    const dev_op_launch *l = &op->launch;
    uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    uint32_t room = DEV_HEAP_OF_PROCESS - nobjects;
    if (room > DEV_HEAP_OF_LAUNCH)
        room = DEV_HEAP_OF_LAUNCH;
    launch.blocks = blocks < room ? (uint32_t)blocks : room;
    launch.share = launch.blocks ? room / launch.blocks : 0;
    launch.first = rec_g.next_object + 1;
    launch.dropped = 0;
    launch.freed.count = 0;
    memset(launch.counts, 0, sizeof launch.counts);
    return rec_g.writer ? &observer : NULL;
}

static void write_object(const dev_op *op, uint32_t call, const emu_heap_alloc *made,
                         uint32_t number)
{
    const dev_function *f = op->launch.function;
    cap_object record = {.id = number,
                         .kind = CAP_OBJECT_HEAP,
                         .device = (uint32_t)op->context->device->ordinal,
                         .base = made->address,
                         .bytes = made->bytes,
                         .call = call,
                         .module = f->module->id,
                         .name = "",
                         .kernel = f->name,
                         .pc = made->pc};
    heap_object *o = calloc(1, sizeof *o);
    REC_WRITE(object, &record);
    rec_g.next_object = number;
    nobjects++;
    if (!o)
        return;
    *o = (heap_object){.number = number, .address = made->address, .context = op->context};
    HASH_ADD(hh, objects, number, sizeof o->number, o);
}

void dev_heap_write_made(const dev_op *op, uint32_t call)
{
    for (uint32_t block = 0; block < launch.blocks; block++)
        for (uint32_t k = 0; k < launch.counts[block]; k++) {
            uint32_t at = block * launch.share + k;
            write_object(op, call, &launch.made[at], launch.first + at);
        }
    cap_left_out record = {.call = call, .objects = launch.dropped};
    if (launch.dropped)
        REC_WRITE(left_out, &record);
}

static int by_object_number(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static void end_heap_object(uint32_t number, uint32_t call, cap_freed_how how)
{
    heap_object *o = NULL;
    HASH_FIND(hh, objects, &number, sizeof number, o);
    if (!o)
        return;
    rec_freed(number, call, how);
    HASH_DEL(objects, o);
    free(o);
}

void dev_heap_write_freed(uint32_t call)
{
    if (launch.freed.count)
        qsort(launch.freed.data, launch.freed.count, sizeof *launch.freed.data, by_object_number);
    for (size_t i = 0; i < launch.freed.count; i++)
        end_heap_object(launch.freed.data[i], call, CAP_FREED_KERNEL);
    launch.freed.count = 0;
}

void dev_heap_release(const dev_context *context)
{
    heap_object *o, *next;
    HASH_ITER (hh, objects, o, next) {
        if (o->context != context)
            continue;
        emu_mem_free(context->device->machine, o->address);
        end_heap_object(o->number, 0, CAP_FREED_CONTEXT);
    }
}
