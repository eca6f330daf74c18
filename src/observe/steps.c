/* From the log of a block to the steps of its warps. */
#include "observe/steps.h"

#include "base/steps.h"

#include <string.h>

typedef struct page_end {
    uint32_t count;
    size_t end;
} page_end;

typedef struct walk { /* a warp's */
    wl_page_writer page;
    wl_vec(page_end) ends; /* of the pages that are full; they lie before `page` in its bytes */
    uint32_t nslots;
    obs_step_object key[WL_MOST_SLOTS], slots[WL_MOST_SLOTS];
    uint64_t first[WL_MOST_SLOTS]; /* address */
    int64_t begins[WL_MOST_SLOTS];
    bool lost;
} walk;

/* ---- slots ---- */

static uint64_t begin_of_object(const obs_config *config, const acc_request *access,
                                uint64_t address, uint32_t *object)
{
    obs_range range;
    if (access->space == ACC_LOCAL)
        return 0;
    if (access->space == ACC_SHARED)
        return config->shared && *object < config->nshared ? config->shared[*object].offset : 0;
    if (*object && config->range_at && config->range_at(config->object_ctx, address, &range) &&
        range.object == *object)
        return range.base;
    *object = 0;
    return 0;
}

/* WL_MOST_SLOTS: the warp accesses too many objects. */
static uint32_t slot_of_access(walk *w, const obs_config *config, const acc_request *access,
                               uint64_t address)
{
    uint32_t object = access->object, slot = 0;
    while (slot < w->nslots &&
           (w->key[slot].object != object || w->key[slot].space != access->space))
        slot++;
    if (slot < w->nslots || slot == WL_MOST_SLOTS)
        return slot;
    w->nslots++;
    w->key[slot] = (obs_step_object){(uint8_t)access->space, object};
    w->first[slot] = address;
    w->begins[slot] = (int64_t)(address - begin_of_object(config, access, address, &object));
    w->slots[slot] = (obs_step_object){(uint8_t)access->space, object};
    return slot;
}

/* ---- pages ---- */

static bool next_page_of_walk(walk *w)
{
    if (w->page.count < WL_PAGE_ITEMS)
        return true;
    if (!wl_push(&w->ends, (page_end){w->page.count, w->page.size}))
        return false;
    w->page = (wl_page_writer){
        .data = w->page.data, .size = w->page.size, .capacity = w->page.capacity};
    return true;
}

static void take_step(walk *w, const obs_config *config, const acc_request *access)
{
    uint64_t address = access->addr[__builtin_ctz(access->mask)];
    wl_step step = {.pc = access->pc, .mask = access->mask};
    if (w->lost)
        return;
    step.slot = slot_of_access(w, config, access, address);
    w->lost = step.slot == WL_MOST_SLOTS;
    for (uint32_t lane = 0; lane < WL_STEP_LANES && !w->lost; lane++)
        step.offset[lane] = (int64_t)(access->addr[lane] - w->first[step.slot]);
    w->lost = w->lost || !next_page_of_walk(w) || !wl_page_put_step(&w->page, &step);
}

static bool keep_pages(walk *w, wl_arena *arena, obs_steps *out)
{
    if (w->page.count && !wl_push(&w->ends, (page_end){w->page.count, w->page.size}))
        return false;
    const char *data = wl_arena_copy(arena, w->page.data, w->page.size);
    out->npages = (uint32_t)w->ends.count;
    out->pages = wl_new_array(arena, obs_page, w->ends.count + 1);
    for (size_t i = 0, from = 0; data && out->pages && i < w->ends.count; i++) {
        const page_end *end = &w->ends.data[i];
        out->pages[i] = (obs_page){end->count, data + from, end->end - from};
        from = end->end;
    }
    return data && out->pages;
}

static bool keep_walk(walk *w, wl_arena *arena, obs_steps *out)
{
    *out = (obs_steps){.known = !w->lost};
    if (w->lost)
        return true;
    out->nslots = w->nslots;
    out->slots = wl_arena_copy(arena, w->slots, w->nslots * sizeof *w->slots);
    out->begins = wl_arena_copy(arena, w->begins, w->nslots * sizeof *w->begins);
    return out->slots && out->begins && keep_pages(w, arena, out);
}

/* ---- a block ---- */

/* A step of all warps, so that those before it and those after it are told apart. */
static void take_barrier(walk *walks, uint32_t nwarps, uint32_t pc)
{
    const wl_step step = {.pc = pc, .mask = UINT32_MAX, .slot = WL_STEP_BARRIER};
    for (uint32_t i = 0; i < nwarps; i++) {
        walk *w = &walks[i];
        w->lost = w->lost || !next_page_of_walk(w) || !wl_page_put_step(&w->page, &step);
    }
}

static void take_all_steps(walk *walks, uint32_t nwarps, const obs_config *config,
                           const obs_log *log)
{
    uint64_t addr[OBS_LANES];
    acc_request access;
    for (size_t at = 0; obs_log_next(log, &at, &access, addr);)
        if (!access.mask)
            take_barrier(walks, nwarps, access.pc);
        else if (access.warp < nwarps)
            take_step(&walks[access.warp], config, &access);
}

bool obs_steps_of(const obs_config *config, uint64_t block, const obs_log *log, wl_arena *arena,
                  obs_block_steps *out)
{
    const uint32_t *dim = config->block;
    uint32_t nwarps = (uint32_t)(((uint64_t)dim[0] * dim[1] * dim[2] + OBS_LANES - 1) / OBS_LANES);
    walk *walks = log && !log->partial ? calloc(nwarps + 1u, sizeof *walks) : NULL;
    *out = (obs_block_steps){block, nwarps, wl_new_array(arena, obs_steps, nwarps + 1u)};
    bool all = out->warps != NULL;
    if (walks && all)
        take_all_steps(walks, nwarps, config, log);
    for (uint32_t i = 0; walks && i < nwarps; i++) {
        all = all && keep_walk(&walks[i], arena, &out->warps[i]);
        free(walks[i].page.data);
        wl_vec_free(&walks[i].ends);
    }
    free(walks);
    return all;
}
