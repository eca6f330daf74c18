/* Parts of allocations, as the program announces them. */
#include "record/parts.h"

#include "shim/hooks/hook.h"

static bool find_driver_memory(uint64_t address, rec_memory *out)
{
    const drv_object *o = drv_object_find(address);
    if (!o)
        return false;
    const drv_context current = drv_current();
    *out = (rec_memory){.base = o->base,
                        .bytes = o->bytes,
                        .object = o->number,
                        .kind = o->kind,
                        .device = current.device,
                        .context = current.id};
    return true;
}

void hook_parts_start(void)
{
    static const rec_part_hooks hooks = {.find = find_driver_memory};
    rec_parts_start(&hooks);
}
