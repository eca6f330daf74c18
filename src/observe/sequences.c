/* From the steps of warps to sequences that are kept once, and to groups of warps that took them.
 */
#include "base/steps.h"

#include "observe/steps.h"
#include "observe/table.h"

#include <string.h>
#include <xxhash.h>

enum {
    KEY_BYTES = 64,
    NUMBER_BYTES = 8
}; /* what a sequence, a group and a number of a warp count for */

typedef struct member {
    uint64_t block;
    uint32_t number;
    const obs_steps *steps;
} member;

typedef struct warp_group { /* warps of one sequence and the same objects */
    uint32_t sequence;
    wl_vec(member) members;
} warp_group;

typedef struct joining {
    wl_arena *arena;
    uint64_t room; /* bytes */
    obs_table by_steps, by_objects;
    wl_vec(const obs_steps *) sequences;
    wl_vec(warp_group) groups;
    uint64_t dropped;
    bool nomem;
} joining;

/* ---- equal sequences ---- */

static uint64_t bytes_of_steps(const obs_steps *s)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < s->npages; i++)
        bytes += s->pages[i].length;
    return bytes;
}

/* The pages of a sequence lie one after the other. */
static bool steps_are_equal(const obs_steps *a, const obs_steps *b)
{
    uint64_t bytes = bytes_of_steps(a);
    return a->nslots == b->nslots && a->npages == b->npages && bytes == bytes_of_steps(b) &&
           (!bytes || memcmp(a->pages[0].data, b->pages[0].data, bytes) == 0);
}

static uint64_t key_of_steps(const obs_steps *s)
{
    uint64_t bytes = bytes_of_steps(s);
    return XXH3_64bits_withSeed(bytes ? s->pages[0].data : "", bytes, s->nslots);
}

/* Its index + 1, or 0 where it is new; `key` is where it belongs then. */
static uint32_t sequence_of_steps(const joining *j, const obs_steps *s, uint64_t *key)
{
    uint32_t at;
    for (*key = key_of_steps(s); (at = obs_table_get(&j->by_steps, *key)); ++*key)
        if (steps_are_equal(j->sequences.data[at - 1], s))
            return at;
    return 0;
}

/* ---- groups ---- */

static bool is_of_warp_group(const warp_group *g, uint32_t sequence, const obs_steps *s)
{
    const obs_step_object *slots = g->members.data[0].steps->slots;
    bool same = g->sequence == sequence;
    for (uint32_t i = 0; same && i < s->nslots; i++)
        same = slots[i].space == s->slots[i].space && slots[i].object == s->slots[i].object;
    return same;
}

static uint64_t key_of_group(uint32_t sequence, const obs_steps *s)
{
    uint64_t key = sequence;
    for (uint32_t i = 0; i < s->nslots; i++)
        key = (key ^ s->slots[i].object ^ (uint64_t)s->slots[i].space << 32) * 0x9e3779b97f4a7c15u;
    return key;
}

static uint32_t group_of_steps(const joining *j, uint32_t sequence, const obs_steps *s,
                               uint64_t *key)
{
    uint32_t at;
    for (*key = key_of_group(sequence, s); (at = obs_table_get(&j->by_objects, *key)); ++*key)
        if (is_of_warp_group(&j->groups.data[at - 1], sequence, s))
            return at;
    return 0;
}

/* ---- joining ---- */

static uint64_t cost_of_member(const obs_steps *s, bool new_sequence, bool new_group)
{
    uint64_t bytes = (uint64_t)NUMBER_BYTES * (1 + s->nslots);
    bytes += new_sequence ? KEY_BYTES + bytes_of_steps(s) : 0;
    return bytes + (new_group ? KEY_BYTES : 0);
}

/* The index + 1 of the warp's sequence or group, made where it is not there. */
static uint32_t add_sequence(joining *j, const obs_steps *s, uint64_t key)
{
    bool added = wl_push(&j->sequences, s) &&
                 obs_table_put(&j->by_steps, key, (uint32_t)j->sequences.count);
    j->nomem = j->nomem || !added;
    return (uint32_t)j->sequences.count;
}

static uint32_t add_group(joining *j, uint32_t sequence, uint64_t key)
{
    bool added = wl_push(&j->groups, (warp_group){.sequence = sequence}) &&
                 obs_table_put(&j->by_objects, key, (uint32_t)j->groups.count);
    j->nomem = j->nomem || !added;
    return (uint32_t)j->groups.count;
}

static void join_warp(joining *j, const member *m)
{
    uint64_t key, group_key = 0;
    if (!m->steps->known) {
        j->dropped++;
        return;
    }
    uint32_t sequence = sequence_of_steps(j, m->steps, &key);
    uint32_t group = sequence ? group_of_steps(j, sequence - 1, m->steps, &group_key) : 0;
    uint64_t cost = cost_of_member(m->steps, !sequence, !group);
    if (cost > j->room) {
        j->dropped++;
        return;
    }
    j->room -= cost;
    if (!sequence) {
        sequence = add_sequence(j, m->steps, key);
        group_of_steps(j, sequence - 1, m->steps, &group_key);
    }
    if (!group && !j->nomem)
        group = add_group(j, sequence - 1, group_key);
    j->nomem = j->nomem || !wl_push(&j->groups.data[group - 1].members, *m);
}

static int block_steps_ascend(const void *a, const void *b)
{
    uint64_t x = ((const obs_block_steps *)a)->block, y = ((const obs_block_steps *)b)->block;
    return (x > y) - (x < y);
}

static void join_blocks(joining *j, obs_steps_list *blocks)
{
    if (blocks->count)
        qsort(blocks->data, blocks->count, sizeof *blocks->data, block_steps_ascend);
    for (size_t i = 0; i < blocks->count; i++)
        for (uint32_t k = 0; k < blocks->data[i].nwarps && !j->nomem; k++)
            join_warp(j, &(member){blocks->data[i].block, k, &blocks->data[i].warps[k]});
}

/* ---- the summary's ---- */

static bool copy_sequence(wl_arena *arena, const obs_steps *from, obs_sequence *to)
{
    uint64_t bytes = bytes_of_steps(from);
    const char *data = wl_arena_copy(arena, bytes ? from->pages[0].data : "", bytes);
    *to = (obs_sequence){from->nslots, from->npages,
                         wl_arena_copy(arena, from->pages, from->npages * sizeof *from->pages)};
    for (uint32_t i = 0; data && to->pages && i < to->npages; i++) {
        to->pages[i].data = data;
        data += to->pages[i].length;
    }
    return data && to->pages;
}

/* Members of one page, from `from`. */
static bool pack_members(wl_arena *arena, const warp_group *g, size_t from, wl_page_writer *page,
                         obs_page *out)
{
    wl_page_clear(page);
    for (size_t i = from; i < g->members.count && page->count < WL_PAGE_ITEMS; i++) {
        const member *m = &g->members.data[i];
        wl_warp warp = {.block = m->block, .number = m->number};
        if (m->steps->nslots)
            memcpy(warp.begin, m->steps->begins, m->steps->nslots * sizeof *warp.begin);
        if (!wl_page_put_warp(page, &warp, m->steps->nslots))
            return false;
    }
    *out = (obs_page){page->count, wl_arena_copy(arena, page->data, page->size), page->size};
    return out->data != NULL;
}

static bool copy_group(wl_arena *arena, const warp_group *g, wl_page_writer *page, obs_warps *to)
{
    const obs_steps *s = g->members.data[0].steps;
    size_t npages = (g->members.count + WL_PAGE_ITEMS - 1) / WL_PAGE_ITEMS;
    *to = (obs_warps){.sequence = g->sequence,
                      .nslots = s->nslots,
                      .slots = wl_arena_copy(arena, s->slots, s->nslots * sizeof *s->slots),
                      .npages = (uint32_t)npages,
                      .pages = wl_new_array(arena, obs_page, npages)};
    bool all = to->slots && to->pages;
    for (size_t i = 0; i < npages && all; i++)
        all = pack_members(arena, g, i * WL_PAGE_ITEMS, page, &to->pages[i]);
    return all;
}

static bool copy_joined(const joining *j, obs_summary *out)
{
    wl_page_writer page = {0};
    out->nsequences = (uint32_t)j->sequences.count;
    out->sequences = wl_new_array(j->arena, obs_sequence, j->sequences.count + 1);
    out->nwarps = (uint32_t)j->groups.count;
    out->warps = wl_new_array(j->arena, obs_warps, j->groups.count + 1);
    out->warps_dropped = j->dropped;
    bool all = !j->nomem && out->sequences && out->warps;
    for (uint32_t i = 0; all && i < out->nsequences; i++)
        all = copy_sequence(j->arena, j->sequences.data[i], &out->sequences[i]);
    for (uint32_t i = 0; all && i < out->nwarps; i++)
        all = copy_group(j->arena, &j->groups.data[i], &page, &out->warps[i]);
    free(page.data);
    return all;
}

wl_status obs_sequences_of(const obs_config *config, obs_steps_list *blocks, wl_arena *arena,
                           obs_summary *out)
{
    joining j = {.arena = arena, .room = config->sequence_limit};
    join_blocks(&j, blocks);
    bool all = copy_joined(&j, out);
    for (size_t i = 0; i < j.groups.count; i++)
        wl_vec_free(&j.groups.data[i].members);
    wl_vec_free(&j.groups);
    wl_vec_free(&j.sequences);
    obs_table_free(&j.by_steps);
    obs_table_free(&j.by_objects);
    return all ? WL_OK : WL_NOMEM;
}
