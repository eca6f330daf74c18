#include "observe/pcset.h"

#include <string.h>

const uint32_t *obs_pcset_get(const obs_pcsets *sets, uint32_t set, uint32_t *count)
{
    uint32_t start = set > 1 ? sets->ends.data[set - 2] : 0;
    *count = set ? sets->ends.data[set - 1] - start : 0;
    return set ? sets->pcs.data + start : NULL;
}

static uint64_t pcset_hash(const uint32_t *pcs, uint32_t count)
{
    uint64_t h = count;
    for (uint32_t i = 0; i < count; i++)
        h = (h ^ pcs[i]) * 0x9e3779b97f4a7c15u, h ^= h >> 29;
    return h;
}

/* Makes the last `count` members of pcs a set, or drops them for the equal set that is there. */
static uint32_t intern_last(obs_pcsets *sets, uint32_t count)
{
    const uint32_t *last = sets->pcs.data + sets->pcs.count - count;
    uint64_t key = pcset_hash(last, count);
    for (uint32_t set; (set = obs_table_get(&sets->by_content, key)); key++) {
        uint32_t n;
        const uint32_t *members = obs_pcset_get(sets, set, &n);
        if (n == count && memcmp(members, last, count * sizeof *last) == 0) {
            sets->pcs.count -= count;
            return set;
        }
    }
    uint32_t set = (uint32_t)sets->ends.count + 1;
    if (wl_push(&sets->ends, (uint32_t)sets->pcs.count)) {
        if (obs_table_put(&sets->by_content, key, set))
            return set;
        sets->ends.count--;
    }
    sets->pcs.count -= count;
    return UINT32_MAX;
}

static uint32_t insert_pc(obs_pcsets *sets, uint32_t set, uint32_t pc)
{
    uint32_t count, below = 0;
    obs_pcset_get(sets, set, &count);
    if (sets->pcs.count + count + 1 > UINT32_MAX || !wl_reserve(&sets->pcs, count + 1))
        return UINT32_MAX;
    const uint32_t *members = obs_pcset_get(sets, set, &count);
    uint32_t *grown = sets->pcs.data + sets->pcs.count;
    while (below < count && members[below] < pc)
        below++;
    if (count) {
        memcpy(grown, members, below * sizeof *grown);
        memcpy(grown + below + 1, members + below, (count - below) * sizeof *grown);
    }
    grown[below] = pc;
    sets->pcs.count += count + 1;
    return intern_last(sets, count + 1);
}

uint32_t obs_pcset_add(obs_pcsets *sets, uint32_t set, uint32_t pc)
{
    uint32_t count;
    const uint32_t *members = obs_pcset_get(sets, set, &count);
    for (uint32_t i = 0; i < count && members[i] <= pc; i++)
        if (members[i] == pc)
            return set;
    uint64_t key = (uint64_t)set << 32 | pc;
    uint32_t with = obs_table_get(&sets->additions, key);
    if (!with) {
        with = insert_pc(sets, set, pc);
        if (with == UINT32_MAX || !obs_table_put(&sets->additions, key, with))
            return UINT32_MAX;
    }
    return with;
}

void obs_pcsets_free(obs_pcsets *sets)
{
    wl_vec_free(&sets->pcs);
    wl_vec_free(&sets->ends);
    obs_table_free(&sets->by_content);
    obs_table_free(&sets->additions);
}
