/* Paths of lanes, as hashes of what a slice can know of them. */
#include "replay/paths.h"

#include "base/steps.h"
#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef struct placed { /* a warp, by the group that has it */
    uint32_t group;
    wl_warp warp;
} placed;

typedef wl_vec(placed) placed_list;

typedef struct path { /* of each lane */
    uint64_t hash[WL_STEP_LANES];
} path;

static int placed_ascend(const void *a, const void *b)
{
    const wl_warp *x = &((const placed *)a)->warp, *y = &((const placed *)b)->warp;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool list_warps(const obs_summary *s, placed_list *list)
{
    for (uint32_t g = 0; g < s->nwarps; g++)
        for (uint32_t p = 0; p < s->warps[g].npages; p++) {
            const obs_page *page = &s->warps[g].pages[p];
            wl_page_reader r = wl_page_read(page->data, page->length, s->warps[g].nslots);
            for (placed w = {.group = g}; wl_page_warp(&r, &w.warp);)
                if (!wl_push(list, w))
                    return false;
        }
    if (list->count)
        qsort(list->data, list->count, sizeof *list->data, placed_ascend);
    return true;
}

static uint64_t hash_with(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static void follow_step_entry(const emu_kernel *slice, const wl_step *step, path *out)
{
    if (!emu_slice_counts(slice, step->pc))
        return;
    for (uint32_t m = step->mask; m; m &= m - 1) {
        uint64_t *hash = &out->hash[__builtin_ctz(m)];
        *hash = hash_with(*hash, step->pc);
    }
}

static void follow_step_access(const emu_kernel *slice, const wl_step *step, const obs_warps *group,
                               const wl_warp *warp, path *out)
{
    const obs_step_object *object = &group->slots[step->slot];
    if (!emu_slice_shows(slice, step->pc))
        return;
    for (uint32_t m = step->mask; m; m &= m - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(m);
        uint64_t hash = hash_with(out->hash[lane], (uint64_t)step->pc << 8 | object->space);
        hash = hash_with(hash, object->object);
        out->hash[lane] = hash_with(hash, (uint64_t)(warp->begin[step->slot] + step->offset[lane]));
    }
}

static path path_of_warp(const emu_kernel *slice, const obs_summary *s, const placed *w)
{
    const obs_warps *group = &s->warps[w->group];
    const obs_sequence *sequence = &s->sequences[group->sequence];
    path out = {{0}};
    for (uint32_t p = 0; p < sequence->npages; p++) {
        const obs_page *page = &sequence->pages[p];
        wl_page_reader r = wl_page_read(page->data, page->length, sequence->nslots);
        for (wl_step step; wl_page_step(&r, &step);)
            if (step.slot == WL_STEP_ENTRY)
                follow_step_entry(slice, &step, &out);
            else if (wl_step_accesses(&step))
                follow_step_access(slice, &step, group, &w->warp, &out);
    }
    return out;
}

static void compare_placed(const emu_kernel *slice, const obs_summary *a, const placed *in_a,
                           const obs_summary *b, const placed *in_b, replay_paths_differ *out)
{
    path x = path_of_warp(slice, a, in_a), y = path_of_warp(slice, b, in_b);
    for (uint32_t lane = 0; lane < WL_STEP_LANES && !out->any; lane++)
        if (x.hash[lane] != y.hash[lane])
            *out = (replay_paths_differ){true, in_a->warp.block, in_a->warp.number, lane};
}

wl_status replay_compare_paths(const emu_kernel *slice, const obs_summary *a, const obs_summary *b,
                               replay_paths_differ *out)
{
    placed_list of_a = {0}, of_b = {0};
    *out = (replay_paths_differ){0};
    bool all = list_warps(a, &of_a) && list_warps(b, &of_b);
    for (size_t i = 0, k = 0; all && i < of_a.count && k < of_b.count && !out->any;) {
        int order = placed_ascend(&of_a.data[i], &of_b.data[k]);
        if (order == 0)
            compare_placed(slice, a, &of_a.data[i], b, &of_b.data[k], out);
        i += order <= 0;
        k += order >= 0;
    }
    wl_vec_free(&of_a);
    wl_vec_free(&of_b);
    return all ? WL_OK : WL_NOMEM;
}
