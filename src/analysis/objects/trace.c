/* Traces: their arrays. */
#include "analysis/objects/trace.h"

bool obj_trace_init(obj_trace *trace)
{
    *trace = (obj_trace){0};
    return wl_push(&trace->sets, (obj_set){0});
}

void obj_trace_free(obj_trace *trace)
{
    wl_vec_free(&trace->ops);
    wl_vec_free(&trace->sets);
    wl_vec_free(&trace->accesses);
    wl_vec_free(&trace->edges);
    wl_vec_free(&trace->objects);
    wl_vec_free(&trace->queues);
    wl_vec_free(&trace->refusals);
}

uint32_t obj_trace_add_set(obj_trace *trace, const obj_access *accesses, uint32_t count)
{
    if (count == 0)
        return 0;
    obj_set set = {(uint32_t)trace->accesses.count, count};
    for (uint32_t i = 0; i < count; i++)
        if (!wl_push(&trace->accesses, accesses[i]))
            return OBJ_NONE;
    return wl_push(&trace->sets, set) ? (uint32_t)trace->sets.count - 1 : OBJ_NONE;
}
