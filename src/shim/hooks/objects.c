/* Live memory, sorted by address. */
#include "shim/hooks/shim.h"

static wl_vec(shim_object) live;
static uint64_t version;

/* The first object that starts behind the address. */
static size_t behind(uint64_t address)
{
    size_t low = 0, high = live.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (live.data[middle].base <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

shim_object *shim_object_find(uint64_t address)
{
    size_t i = behind(address);
    if (!i)
        return NULL;
    shim_object *o = &live.data[i - 1];
    return address - o->base < o->bytes ? o : NULL;
}

const shim_object *shim_objects(size_t *count)
{
    *count = live.count;
    return live.data;
}

uint64_t shim_objects_version(void)
{
    return version;
}

static bool insert_live_object(const shim_object *object)
{
    size_t at = behind(object->base);
    if (!wl_push(&live, *object))
        return false;
    version++;
    for (size_t i = live.count - 1; i > at; i--)
        live.data[i] = live.data[i - 1];
    live.data[at] = *object;
    return true;
}

static void remove_live_object(size_t at)
{
    version++;
    for (size_t i = at + 1; i < live.count; i++)
        live.data[i - 1] = live.data[i];
    live.count--;
}

static void record_live_object(shim_call *call, const shim_object *o, const char *name)
{
    if (call) {
        call->rec.record.target_object = o->number;
        call->rec.record.bytes = o->bytes;
        shim_write_call(call, CUDA_SUCCESS);
    }
    cap_object record = {.id = o->number,
                         .kind = o->kind,
                         .device = shim_current().device,
                         .base = o->base,
                         .bytes = o->bytes,
                         .call = call ? call->rec.id : 0,
                         .module = o->module ? shim_module_use(o->module) : 0,
                         .name = name};
    REC_WRITE(object, &record);
}

void shim_object_write(shim_call *call, shim_object *object, const char *name)
{
    object->number = rec_object_new();
    record_live_object(call, object, name);
}

uint32_t shim_object_add(shim_call *call, const shim_object *object, const char *name)
{
    shim_object o = *object;
    o.number = rec_object_new();
    if (!insert_live_object(&o))
        return 0;
    record_live_object(call, &o, name);
    return o.number;
}

bool shim_object_take(uint64_t base, shim_object *out)
{
    shim_object *o = shim_object_find(base);
    if (!o || o->base != base)
        return false;
    *out = *o;
    remove_live_object((size_t)(o - live.data));
    return true;
}

void shim_object_put_back(const shim_object *object)
{
    insert_live_object(object);
}

void shim_object_freed(const shim_object *object, uint32_t call)
{
    rec_freed(object->number, call);
}

void shim_objects_gone(CUcontext context, const struct shim_module *module)
{
    for (size_t i = live.count; i-- > 0;) {
        const shim_object o = live.data[i];
        if ((context && o.context == context) || (module && o.module == module)) {
            remove_live_object(i);
            shim_object_freed(&o, 0);
        }
    }
}
