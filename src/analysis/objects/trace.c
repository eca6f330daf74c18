/* Traces: their arrays. */
#include "analysis/objects/trace.h"

#include "analysis/hash.h"

bool obj_trace_init(obj_trace *trace)
{
    *trace = (obj_trace){0};
    return wl_push(&trace->sets, 0) && wl_push(&trace->ranges, (obj_range){0});
}

void obj_trace_free(obj_trace *trace)
{
    wl_vec_free(&trace->ops);
    wl_vec_free(&trace->sets);
    wl_vec_free(&trace->accesses);
    wl_vec_free(&trace->ranges);
    wl_vec_free(&trace->nodes);
    wl_vec_free(&trace->edges);
    wl_vec_free(&trace->objects);
    wl_vec_free(&trace->queues);
    wl_vec_free(&trace->refusals);
    wl_vec_free(&trace->pools);
}

uint32_t obj_trace_add_set(obj_trace *trace, const obj_access *accesses, uint32_t count)
{
    if (count == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++)
        if (!wl_push(&trace->accesses, accesses[i]))
            return OBJ_NONE;
    bool good = wl_push(&trace->sets, (uint32_t)trace->accesses.count);
    return good ? (uint32_t)trace->sets.count - 1 : OBJ_NONE;
}

static bool are_equal_ranges(const obj_range *a, const obj_range *b)
{
    return a->offset == b->offset && a->bytes == b->bytes && a->shape == b->shape &&
           a->apart == b->apart;
}

uint32_t obj_trace_add_range(obj_trace *trace, const obj_range *range)
{
    uint64_t hash = hash_number(hash_number(range->shape, range->offset), range->bytes);
    uint32_t *recent = &trace->recent[hash % OBJ_RECENT_RANGES];
    if (*recent && are_equal_ranges(&trace->ranges.data[*recent - 1], range))
        return *recent - 1;
    if (!wl_push(&trace->ranges, *range))
        return OBJ_NONE;
    *recent = (uint32_t)trace->ranges.count;
    return *recent - 1;
}
