/* From what a block did to the steps of its warps. */
#include "observe/steps.h"

#include <string.h>

/* ---- beginning and ending ---- */

obs_walks *obs_walks_new(const obs_config *config)
{
    const uint32_t *dim = config->block;
    uint32_t nwarps = (uint32_t)(((uint64_t)dim[0] * dim[1] * dim[2] + OBS_LANES - 1) / OBS_LANES);
    obs_walks *walks = calloc(1, sizeof *walks + nwarps * sizeof *walks->warps);
    if (!walks)
        return NULL;
    walks->config = config;
    walks->nwarps = nwarps;
    return walks;
}

void obs_walks_clear(obs_walks *walks)
{
    for (uint32_t i = 0; i < walks->nwarps; i++) {
        obs_walk *w = &walks->warps[i];
        wl_page_clear(&w->page);
        w->ends.count = 0;
        w->nslots = w->last = 0;
        w->lost = false;
    }
    walks->bytes = 0;
}

static void free_walk(obs_walk *w)
{
    free(w->page.data);
    wl_vec_free(&w->ends);
}

void obs_walks_free(obs_walks *walks)
{
    for (uint32_t i = 0; walks && i < walks->nwarps; i++)
        free_walk(&walks->warps[i]);
    free(walks);
}

/* The warp's steps find no room; those of others may have what it took. */
static void lose_walk(obs_walks *walks, obs_walk *w)
{
    walks->bytes -= w->lost ? 0 : w->page.size;
    free_walk(w);
    *w = (obs_walk){.lost = true};
}

void obs_walks_lose(obs_walks *walks, uint32_t warp)
{
    lose_walk(walks, &walks->warps[warp]);
}

/* ---- slots ---- */

static bool lies_in(const obs_range *range, uint32_t object, uint64_t address)
{
    return range->object == object && address - range->base < range->bytes;
}

static uint64_t base_of_global(obs_walks *walks, uint64_t address, uint32_t *object)
{
    const obs_config *config = walks->config;
    obs_range *known = &walks->known[*object % (sizeof walks->known / sizeof *walks->known)], range;
    if (*object && lies_in(known, *object, address))
        return known->base;
    if (*object && config->range_at && config->range_at(config->object_ctx, address, &range) &&
        range.object == *object) {
        *known = range;
        return range.base;
    }
    *object = 0;
    return 0;
}

static uint64_t base_of_object(obs_walks *walks, const acc_request *access, uint64_t address,
                               uint32_t *object)
{
    const obs_config *config = walks->config;
    if (access->space == ACC_LOCAL)
        return 0;
    if (access->space == ACC_SHARED)
        return config->shared && *object < config->nshared ? config->shared[*object].offset : 0;
    return base_of_global(walks, address, object);
}

static bool is_walk_slot(const obs_walk *w, uint32_t slot, const acc_request *access)
{
    return slot < w->nslots && w->key[slot].object == access->object &&
           w->key[slot].space == access->space;
}

/* WL_MOST_SLOTS: the warp accesses too many objects. */
static uint32_t slot_of_access(obs_walks *walks, obs_walk *w, const acc_request *access,
                               uint64_t address)
{
    uint32_t object = access->object, slot = 0;
    if (is_walk_slot(w, w->last, access))
        return w->last;
    while (slot < w->nslots && !is_walk_slot(w, slot, access))
        slot++;
    w->last = slot;
    if (slot < w->nslots || slot == WL_MOST_SLOTS)
        return slot;
    w->nslots++;
    w->key[slot] = (obs_step_object){(uint8_t)access->space, object};
    w->first[slot] = address;
    w->begins[slot] = (int64_t)(address - base_of_object(walks, access, address, &object));
    w->slots[slot] = (obs_step_object){(uint8_t)access->space, object};
    return slot;
}

/* ---- steps ---- */

static bool make_walk_page(obs_walk *w)
{
    if (w->page.count < WL_PAGE_ITEMS)
        return true;
    if (!wl_push(&w->ends, (obs_page_end){w->page.count, w->page.size}))
        return false;
    w->page = (wl_page_writer){
        .data = w->page.data, .size = w->page.size, .capacity = w->page.capacity};
    return true;
}

/* Counts the bytes that a step took; `put` says whether it found room. */
static void end_step(obs_walks *walks, obs_walk *w, size_t before, bool put)
{
    walks->bytes += w->page.size - before;
    if (!put || walks->bytes > walks->config->step_limit)
        lose_walk(walks, w);
}

/* A step without an access. */
static void put_mark(obs_walks *walks, obs_walk *w, uint32_t pc, uint32_t mask, uint32_t kind)
{
    size_t before = w->page.size;
    if (!w->lost)
        end_step(walks, w, before,
                 make_walk_page(w) && wl_page_put_run(&w->page, pc, mask, kind, 0, 0));
}

static bool put_irregular(obs_walk *w, const acc_request *access, uint32_t slot, wl_lanes *lanes)
{
    wl_step step = {.pc = access->pc, .mask = access->mask, .slot = slot};
    for (uint32_t lane = 0; lane < WL_STEP_LANES; lane++)
        step.offset[lane] = (int64_t)(access->addr[lane] - w->first[slot]);
    return lanes ? wl_page_put_lanes(&w->page, &step, lanes) : wl_page_put_step(&w->page, &step);
}

static bool put_access(obs_walk *w, const acc_request *access, const obs_run *run, uint32_t slot,
                       wl_lanes *lanes)
{
    int64_t offset = (int64_t)(access->addr[__builtin_ctz(access->mask)] - w->first[slot]);
    if (run && run->stride != INT64_MIN)
        return wl_page_put_run(&w->page, access->pc, access->mask, slot, offset,
                               run->count > 1 ? run->stride : 0);
    if (lanes && lanes->size)
        return wl_page_put_same(&w->page, access->pc, access->mask, slot, offset, lanes);
    return put_irregular(w, access, slot, lanes);
}

void obs_walks_access(obs_walks *walks, const acc_request *access, const obs_run *run,
                      wl_lanes *lanes)
{
    obs_walk *w = &walks->warps[access->warp];
    if (access->warp >= walks->nwarps || w->lost)
        return;
    uint32_t slot = slot_of_access(walks, w, access, access->addr[__builtin_ctz(access->mask)]);
    size_t before = w->page.size;
    bool put = slot != WL_MOST_SLOTS && make_walk_page(w);
    end_step(walks, w, before, put && put_access(w, access, run, slot, lanes));
}

void obs_walks_entry(obs_walks *walks, uint32_t warp, uint32_t pc, uint32_t mask)
{
    if (warp < walks->nwarps)
        put_mark(walks, &walks->warps[warp], pc, mask, WL_STEP_ENTRY);
}

void obs_walks_barrier(obs_walks *walks, uint32_t pc)
{
    for (uint32_t i = 0; i < walks->nwarps; i++)
        put_mark(walks, &walks->warps[i], pc, UINT32_MAX, WL_STEP_BARRIER);
}

/* ---- from a log ---- */

void obs_walks_play(obs_walks *walks, const obs_log *log)
{
    uint64_t addr[OBS_LANES];
    acc_request access;
    bool known = log && !log->partial;
    for (uint32_t i = 0; !known && i < walks->nwarps; i++)
        lose_walk(walks, &walks->warps[i]);
    for (size_t at = 0; known && obs_log_next(log, &at, &access, addr);)
        if (access.mask)
            obs_walks_access(walks, &access, NULL, NULL);
        else
            obs_walks_barrier(walks, access.pc);
}
