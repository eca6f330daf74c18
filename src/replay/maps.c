#include "replay/maps.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

static const char unknown_map[] = "nobody saw its tensor map being made";

struct replay_map {
    uint8_t bytes[ACC_TENSOR_MAP_BYTES];
    acc_tensor tensor;
    UT_hash_handle hh;
};

/* False where a number is too large for what it stands for. */
static bool tensor_of_record(const cap_tensor *r, acc_tensor *t)
{
    if (!r->rank || r->rank > ACC_TENSOR_RANK || r->element >= ACC_ELEMENT_COUNT ||
        r->swizzle >= ACC_SWIZZLE_COUNT || r->interleave > UINT8_MAX || r->promotion > UINT8_MAX)
        return false;
    *t = (acc_tensor){.address = r->address,
                      .rank = (uint8_t)r->rank,
                      .element = (uint8_t)r->element,
                      .swizzle = (uint8_t)r->swizzle,
                      .interleave = (uint8_t)r->interleave,
                      .promotion = (uint8_t)r->promotion,
                      .nan = r->nan != 0};
    for (uint32_t i = 0; i < r->rank; i++) {
        if (r->box[i] > UINT16_MAX || r->step[i] > UINT8_MAX)
            return false;
        t->dim[i] = r->dim[i];
        t->stride[i] = i ? r->stride[i] : acc_element_bytes((acc_element)r->element);
        t->box[i] = (uint16_t)r->box[i];
        t->step[i] = (uint8_t)r->step[i];
    }
    return !acc_tensor_fault(t) && !t->interleave;
}

static replay_map *find(const replay_maps *maps, const void *bytes)
{
    replay_map *found = NULL;
    HASH_FIND(hh, maps->by_bytes, bytes, sizeof found->bytes, found);
    return found;
}

wl_status replay_maps_see(replay_maps *maps, const cap_tensor *record)
{
    acc_tensor tensor;
    replay_map *m = find(maps, record->map);
    bool good = tensor_of_record(record, &tensor);
    if (m && good) {
        m->tensor = tensor;
    } else if (m) { /* of something else than before */
        HASH_DEL(maps->by_bytes, m);
        free(m);
    } else if (good) {
        m = calloc(1, sizeof *m);
        if (!m)
            return WL_NOMEM;
        memcpy(m->bytes, record->map, sizeof m->bytes);
        m->tensor = tensor;
        HASH_ADD(hh, maps->by_bytes, bytes, sizeof m->bytes, m);
    }
    return WL_OK;
}

void replay_maps_clear(replay_maps *maps)
{
    replay_map *m, *next;
    HASH_ITER (hh, maps->by_bytes, m, next) {
        HASH_DEL(maps->by_bytes, m);
        free(m);
    }
}

bool replay_maps_find(void *ctx, uint32_t pc, const void *map, acc_tensor *out)
{
    const replay_maps_asked *asked = ctx;
    const replay_map *m = find(asked->maps, map);
    if (m)
        *out = m->tensor;
    else if (asked->unknown)
        __atomic_store_n(&asked->unknown[pc], 1, __ATOMIC_RELAXED);
    return m != NULL;
}

bool replay_maps_any(const uint8_t *unknown, uint32_t npcs)
{
    return unknown && memchr(unknown, 1, npcs);
}

cap_gap *replay_maps_gaps(const cap_gap *gaps, uint32_t ngaps, const uint8_t *unknown,
                          uint32_t npcs, wl_arena *arena, uint32_t *count)
{
    cap_gap *all = wl_new_array(arena, cap_gap, (size_t)npcs + ngaps + 1);
    uint32_t next = 0;
    *count = 0;
    for (uint32_t pc = 0; all && pc < npcs; pc++)
        if (next < ngaps && gaps[next].pc == pc)
            all[(*count)++] = gaps[next++];
        else if (unknown[pc])
            all[(*count)++] = (cap_gap){pc, (char *)unknown_map};
    return all;
}
