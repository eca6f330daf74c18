/* Live memory that a call made. */
#include "shim/hooks/hook.h"

static void record_object_of_call(hook_call *call, const drv_object *o)
{
    call->rec.record.target_object = o->number;
    call->rec.record.bytes = o->bytes;
    hook_write_call(call, CUDA_SUCCESS);
    drv_object_record(o, call->rec.id, "");
}

void hook_object_write(hook_call *call, drv_object *object)
{
    object->number = rec_object_new();
    record_object_of_call(call, object);
}

void hook_object_add(hook_call *call, const drv_object *object)
{
    drv_object o = *object;
    o.number = rec_object_new();
    if (drv_object_add(&o))
        record_object_of_call(call, &o);
}
