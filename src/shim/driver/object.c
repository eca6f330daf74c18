/* Live memory, sorted by address. */
#include "shim/driver/impl.h"

#include "record/record.h"

static wl_vec(drv_object) live;
static uint64_t version;

/* The first object that starts after the address. */
static size_t first_after(uint64_t address)
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

drv_object *drv_object_find(uint64_t address)
{
    size_t i = first_after(address);
    if (!i)
        return NULL;
    drv_object *o = &live.data[i - 1];
    return address - o->base < o->bytes ? o : NULL;
}

const drv_object *drv_objects(size_t *count)
{
    *count = live.count;
    return live.data;
}

uint64_t drv_objects_version(void)
{
    return version;
}

bool drv_object_add(const drv_object *object)
{
    size_t at = first_after(object->base);
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

void drv_object_record(const drv_object *o, uint32_t call, const char *name)
{
    cap_object record = {.id = o->number,
                         .kind = o->kind,
                         .device = drv_current().device,
                         .base = o->base,
                         .bytes = o->bytes,
                         .call = call,
                         .module = o->module ? drv_module_use(o->module) : 0,
                         .name = name,
                         .pool = o->pool};
    REC_WRITE(object, &record);
}

bool drv_object_take(uint64_t base, drv_object *out)
{
    drv_object *o = drv_object_find(base);
    if (!o || o->base != base)
        return false;
    *out = *o;
    remove_live_object((size_t)(o - live.data));
    return true;
}

void drv_object_freed(const drv_object *object, uint32_t call, cap_freed_how how)
{
    rec_freed(object->number, call, how);
}

static void remove_live_objects(CUcontext context, const drv_module *module)
{
    for (size_t i = live.count; i-- > 0;) {
        const drv_object o = live.data[i];
        if ((context && o.context == context) || (module && o.module == module)) {
            remove_live_object(i);
            drv_object_freed(&o, 0, module ? CAP_FREED_MODULE : CAP_FREED_CONTEXT);
        }
    }
}

void drv_objects_gone(CUcontext context)
{
    remove_live_objects(context, NULL);
}

void drv_module_objects_gone(const drv_module *module)
{
    remove_live_objects(NULL, module);
}
