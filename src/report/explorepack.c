/* What the warps of a launch did, step by step, for the HTML report: pages as the profile has them,
 * and columns that say what they are. */
#include "report/impl.h"
#include "report/keys.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>

enum { PART_BYTES = 256 << 10 /* of pages in a part, not compressed: soon unpacked */ };

typedef struct page_place {
    uint32_t bytes, part; /* part: index in the row's `pages` */
} page_place;

typedef struct warps_group {   /* warps of one sequence over the same objects */
    const prof_warp *first;    /* whose slots are those of all */
    uint32_t sequence, npages; /* npages: of warps */
    uint32_t count, begin;     /* its warps: places in `order` */
} warps_group;

typedef struct seen_pointer { /* what warps of a launch share is told apart by its address */
    const void *key;
    uint32_t index;
    UT_hash_handle hh;
} seen_pointer;

typedef struct explore_packing {
    const rep_data *data;
    const ana_explore *of;
    wl_arena *arena;
    seen_pointer *seen_sequences, *seen_groups;
    wl_vec(const prof_warp *) sequences; /* a warp that took it */
    wl_vec(page_place) pages;            /* of sequences */
    wl_vec(warps_group) groups;
    wl_vec(uint32_t) warp_pages; /* bytes of each, group after group */
    uint32_t *group_of, *order;  /* of each warp; the warps by group */
    wl_vec(uint8_t) bytes;       /* of the part that is being filled */
    wl_vec(rep_part) parts;      /* of steps; then of warps, then of columns */
    uint32_t npages;             /* parts of steps */
    uint64_t size;               /* of the parts */
    json_t *columns;
    bool failed;
} explore_packing;

/* ---- parts ---- */

static void end_explore_part(explore_packing *p)
{
    rep_part part = {0};
    if (!rep_gzip(p->bytes.count ? p->bytes.data : (const uint8_t *)"", p->bytes.count, &part) ||
        !wl_push(&p->parts, part)) {
        free(part.data);
        p->failed = true;
        return;
    }
    p->size += part.size;
    p->bytes.count = 0;
}

static void put_page_bytes(explore_packing *p, const uint8_t *data, size_t size)
{
    if (p->failed || !wl_reserve(&p->bytes, size)) {
        p->failed = true;
        return;
    }
    if (size)
        memcpy(p->bytes.data + p->bytes.count, data, size);
    p->bytes.count += size;
}

/* ---- what warps share, numbered as it comes ---- */

/* The index of what was seen before; else `next`, and *is_new. */
static uint32_t index_of_pointer(explore_packing *p, seen_pointer **seen, const void *key,
                                 size_t next, bool *is_new)
{
    seen_pointer *found = NULL;
    HASH_FIND_PTR(*seen, &key, found);
    *is_new = !found;
    if (found)
        return found->index;
    found = wl_new(p->arena, seen_pointer);
    if (!found) {
        p->failed = true;
        return 0;
    }
    found->key = key;
    found->index = (uint32_t)next;
    HASH_ADD_PTR(*seen, key, found);
    return found->index;
}

static uint32_t put_sequence(explore_packing *p, const prof_warp *warp)
{
    bool is_new;
    uint32_t index = index_of_pointer(p, &p->seen_sequences, warp->pages, p->sequences.count,
                                      &is_new);
    if (!is_new || p->failed)
        return index;
    p->failed |= !wl_push(&p->sequences, warp);
    for (uint32_t i = 0; i < warp->npages && !p->failed; i++) {
        size_t size = warp->pages[i].size;
        if (p->bytes.count && p->bytes.count + size > PART_BYTES)
            end_explore_part(p);
        p->failed |= !wl_push(&p->pages, (page_place){(uint32_t)size, (uint32_t)p->parts.count});
        put_page_bytes(p, warp->pages[i].data, size);
    }
    return index;
}

static void put_warp_to_group(explore_packing *p, uint32_t i)
{
    const prof_warp *warp = &p->of->warps.rows[i];
    uint32_t sequence = put_sequence(p, warp);
    bool is_new;
    uint32_t index = index_of_pointer(p, &p->seen_groups, warp->slots, p->groups.count, &is_new);
    if (is_new)
        p->failed |= p->failed ||
                     !wl_push(&p->groups, (warps_group){.first = warp, .sequence = sequence});
    if (p->failed)
        return;
    p->group_of[i] = index;
    p->groups.data[index].count++;
}

static void put_all_sequences(explore_packing *p)
{
    for (uint32_t i = 0; i < p->of->warps.count && !p->failed; i++)
        put_warp_to_group(p, i);
    end_explore_part(p);
    p->npages = (uint32_t)p->parts.count;
    for (uint32_t i = 0, begin = 0; i < p->groups.count; i++) {
        p->groups.data[i].begin = begin;
        begin += p->groups.data[i].count;
        p->groups.data[i].count = 0;
    }
    for (uint32_t i = 0; i < p->of->warps.count && !p->failed; i++) {
        warps_group *group = &p->groups.data[p->group_of[i]];
        p->order[group->begin + group->count++] = i;
    }
}

/* ---- warps ---- */

static void end_warp_page(explore_packing *p, warps_group *group, wl_page_writer *page)
{
    p->failed |= !wl_push(&p->warp_pages, (uint32_t)page->size);
    put_page_bytes(p, page->data, page->size);
    wl_page_clear(page);
    group->npages++;
}

static void put_group(explore_packing *p, warps_group *group, wl_page_writer *page)
{
    uint32_t nslots = group->first->nslots;
    for (uint32_t i = 0; i < group->count && !p->failed; i++) {
        const prof_warp *from = &p->of->warps.rows[p->order[group->begin + i]];
        wl_warp warp = {.block = from->block, .number = from->number};
        memcpy(warp.begin, from->begin, nslots * sizeof *warp.begin);
        p->failed |= !wl_page_put_warp(page, &warp, nslots);
        if (page->count == WL_PAGE_ITEMS || i + 1 == group->count)
            end_warp_page(p, group, page);
    }
}

static void put_all_warps(explore_packing *p)
{
    wl_page_writer page = {0};
    for (uint32_t i = 0; i < p->groups.count && !p->failed; i++)
        put_group(p, &p->groups.data[i], &page);
    free(page.data);
    end_explore_part(p);
}

/* ---- columns ---- */

static uint32_t count_slots(const explore_packing *p)
{
    uint32_t count = 0;
    for (size_t i = 0; i < p->groups.count; i++)
        count += p->groups.data[i].first->nslots;
    return count;
}

static void put_sequence_columns(const explore_packing *p, rep_columns *to)
{
    size_t nsequences = p->sequences.count, npages = p->pages.count, at = 0;
    REP_COLUMN(to, K(page_explore_columns, pages), nsequences, 4, p->sequences.data[i]->npages);
    REP_COLUMN(to, K(page_explore_columns, page_bytes), npages, 4, p->pages.data[i].bytes);
    REP_COLUMN(to, K(page_explore_columns, page_part), npages, 4, p->pages.data[i].part);
    for (size_t i = 0; i < nsequences; i++)
        for (uint32_t k = 0; k < p->sequences.data[i]->npages; k++)
            rep_put_element(to, npages, 4, at++, p->sequences.data[i]->pages[k].nsteps);
    rep_end_column(to, K(page_explore_columns, page_steps), npages, 4);
}

static void put_slot_columns(const explore_packing *p, rep_columns *to)
{
    size_t nslots = count_slots(p), at = 0;
    for (size_t i = 0; i < p->groups.count; i++)
        for (uint32_t k = 0; k < p->groups.data[i].first->nslots; k++)
            rep_put_element(to, nslots, 1, at++, p->groups.data[i].first->slots[k].space);
    rep_end_column(to, K(page_explore_columns, slot_space), nslots, 1);
    at = 0;
    for (size_t i = 0; i < p->groups.count; i++)
        for (uint32_t k = 0; k < p->groups.data[i].first->nslots; k++)
            rep_put_element(to, nslots, 4, at++, p->groups.data[i].first->slots[k].object);
    rep_end_column(to, K(page_explore_columns, slot_object), nslots, 4);
}

static void put_group_columns(const explore_packing *p, rep_columns *to)
{
    size_t n = p->groups.count, npages = p->warp_pages.count;
    const warps_group *groups = p->groups.data;
    REP_COLUMN(to, K(page_explore_columns, group_sequence), n, 4, groups[i].sequence);
    REP_COLUMN(to, K(page_explore_columns, group_slots), n, 1, groups[i].first->nslots);
    REP_COLUMN(to, K(page_explore_columns, group_pages), n, 4, groups[i].npages);
    REP_COLUMN(to, K(page_explore_columns, warp_page_bytes), npages, 4, p->warp_pages.data[i]);
    put_slot_columns(p, to);
}

/* Basic blocks of the kernel: instructions side by side that have one number. */
static void put_block_columns(const explore_packing *p, rep_columns *to)
{
    const prof_code *code = p->data->code.rows;
    wl_vec(uint32_t) starts = {0};
    uint32_t from = rep_first_code_of(p->data, p->of->kernel), end = from;
    bool all = true;
    for (; end < p->data->code.count && code[end].kernel == p->of->kernel; end++)
        if (end == from || code[end].block != code[end - 1].block)
            all = all && wl_push(&starts, end);
    size_t n = all ? starts.count : 0;
    REP_COLUMN(to, K(page_explore_columns, block_pc), n, 4, code[starts.data[i]].pc);
    REP_COLUMN(to, K(page_explore_columns, block_insns), n, 4,
               (i + 1 < n ? starts.data[i + 1] : end) - starts.data[i]);
    wl_vec_free(&starts);
}

static void put_explore_columns(explore_packing *p)
{
    enum { SEQUENCE = 4, PAGE = 12, GROUP = 9, SLOT = 5, BLOCK = 8 };
    rep_columns to;
    rep_part part = {0};
    size_t most = p->sequences.count * SEQUENCE + p->pages.count * PAGE + p->groups.count * GROUP +
                  p->warp_pages.count * 4 + (size_t)count_slots(p) * SLOT +
                  (size_t)p->data->code.count * BLOCK;
    if (rep_columns_init(&to, most)) {
        put_sequence_columns(p, &to);
        put_group_columns(p, &to);
        put_block_columns(p, &to);
    }
    p->columns = rep_pack_columns(&to, &part);
    if (!p->columns || !wl_push(&p->parts, part)) {
        free(part.data);
        p->failed = true;
        return;
    }
    p->size += part.size;
}

/* ---- rows ---- */

static void pack_explored(explore_packing *p)
{
    size_t nwarps = (size_t)p->of->warps.count + 1;
    p->arena = wl_arena_new();
    p->group_of = p->arena ? wl_new_array(p->arena, uint32_t, nwarps) : NULL;
    p->order = p->arena ? wl_new_array(p->arena, uint32_t, nwarps) : NULL;
    p->failed = !p->group_of || !p->order;
    if (!p->failed)
        put_all_sequences(p);
    if (!p->failed)
        put_all_warps(p);
    if (!p->failed)
        put_explore_columns(p);
}

static json_t *explore_head_json(const explore_packing *p)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_explore, launch), p->of->launch);
    rep_put_count(row, K(page_explore, kernel), p->of->kernel);
    rep_put_count(row, K(page_explore, warps), p->of->warps.count);
    const prof_launch *l = prof_find_launch(&p->data->launches, p->of->launch);
    if (l && l->way == CAP_WAY_PROBE)
        rep_put(row, K(page_explore, traced), json_true());
    if (p->of->paths)
        rep_put(row, K(page_explore, paths), json_true());
    rep_put(row, K(page_explore, compared), rep_warps_json(p->data, p->of));
    return row;
}

json_t *rep_hashed_row_json(const ana_hashed *h)
{
    json_t *row = json_object();
    rep_put_count(row, K(page_explore, launch), h->launch);
    rep_put_count(row, K(page_explore, kernel), h->kernel);
    rep_put_count(row, K(page_explore, warps), 0);
    rep_put(row, K(page_explore, compared), rep_hashes_json(h, NULL));
    return row;
}

/* The parts become those of the report. */
static void put_explore_parts(explore_packing *p, json_t *row, rep_parts *parts)
{
    json_t *pages = json_array();
    for (uint32_t i = 0; i < p->npages; i++)
        json_array_append_new(pages, json_integer((json_int_t)parts->count + i));
    rep_put(row, K(page_explore, pages), pages);
    rep_put_count(row, K(page_explore, members), parts->count + p->npages);
    rep_put_count(row, K(page_explore, part), parts->count + p->npages + 1);
    rep_put(row, K(page_explore, columns), json_incref(p->columns));
    parts->explore_room -= p->size;
    for (size_t i = 0; i < p->parts.count; i++)
        rep_add_part(parts, p->parts.data[i]);
    p->parts.count = 0;
}

static void free_explore_packing(explore_packing *p)
{
    for (size_t i = 0; i < p->parts.count; i++)
        free(p->parts.data[i].data);
    HASH_CLEAR(hh, p->seen_sequences);
    HASH_CLEAR(hh, p->seen_groups);
    wl_vec_free(&p->sequences);
    wl_vec_free(&p->pages);
    wl_vec_free(&p->groups);
    wl_vec_free(&p->warp_pages);
    wl_vec_free(&p->bytes);
    wl_vec_free(&p->parts);
    json_decref(p->columns);
    wl_arena_free(p->arena);
}

json_t *rep_pack_explored(const rep_data *data, const ana_explore *explored, rep_parts *parts)
{
    explore_packing p = {.data = data, .of = explored};
    pack_explored(&p);
    json_t *row = p.failed ? NULL : explore_head_json(&p);
    if (row && p.size <= parts->explore_room)
        put_explore_parts(&p, row, parts);
    else if (row)
        rep_put_count(row, K(page_explore, left_out), p.size);
    free_explore_packing(&p);
    return row;
}
