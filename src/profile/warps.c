/* What warps did, step by step: read back (sequences.c writes it). */
#include "base/vec.h"
#include "profile/blob.h"
#include "profile/db.h"
#include "profile/tables.h"

#include <stdlib.h>
#include <string.h>

typedef struct groups {
    uint32_t count;
    row_warp_group *rows;
} groups;

typedef struct page_rows {
    uint32_t count;
    row_page *rows;
} page_rows;

typedef struct object_rows {
    uint32_t count;
    row_warp_object *rows;
} object_rows;

typedef struct reading {
    prof_db *db;
    wl_arena *arena, *scratch;
    wl_error *err;
    uint32_t last; /* the sequence that was read last, by its pages */
    uint32_t npages;
    wl_folded *pages;
    wl_unfolded unfolded; /* of the page that is checked */
    wl_vec(prof_warp) warps;
} reading;

static wl_status fail_damaged_warps(const reading *r, uint32_t group)
{
    return wl_fail(r->err, WL_CORRUPT, "The warps %u of the profile cannot be read.", group);
}

static wl_status load_pages(const reading *r, table_id table, const char *from, uint32_t of,
                            page_rows *out)
{
    const db_value key = db_int(of);
    return table_load(r->db->sql, table, from, &key, 1, r->scratch, &out->count, &out->rows,
                      r->err);
}

static bool unpack_page(const reading *r, const row_page *page, unsigned char **data)
{
    return blob_decompress(&r->db->unpacker, page->data.data, page->data.size, page->bytes,
                           r->arena, data) == WL_OK;
}

/* ---- steps ---- */

static bool read_steps(reading *r, const row_page *page, uint32_t nslots, wl_folded *out)
{
    unsigned char *data;
    if (page->count > WL_FOLD_STEPS || !unpack_page(r, page, &data))
        return false;
    *out = (wl_folded){data, page->bytes, (uint32_t)page->count, nslots};
    return wl_unfold(out, &r->unfolded);
}

static wl_status read_sequence(reading *r, const row_warp_group *g, uint32_t nslots)
{
    page_rows rows = {0};
    if (r->last == g->sequence)
        return WL_OK;
    wl_status status = load_pages(r, TABLE_sequence_pages,
                                  "sequence_pages WHERE sequence = ? ORDER BY page", g->sequence,
                                  &rows);
    r->pages = status == WL_OK ? wl_new_array(r->arena, wl_folded, rows.count + 1) : NULL;
    if (status == WL_OK && !r->pages)
        return wl_fail(r->err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (uint32_t i = 0; i < rows.count && status == WL_OK; i++)
        if (!read_steps(r, &rows.rows[i], nslots, &r->pages[i]))
            status = fail_damaged_warps(r, g->id);
    r->npages = rows.count;
    r->last = g->sequence;
    return status;
}

/* ---- warps ---- */

static wl_status read_slots(const reading *r, const row_warp_group *g, uint32_t *nslots,
                            prof_slot **slots)
{
    object_rows rows = {0};
    const db_value key = db_int(g->id);
    wl_status status = table_load(r->db->sql, TABLE_warp_objects,
                                  "warp_objects WHERE warps = ? ORDER BY slot", &key, 1, r->scratch,
                                  &rows.count, &rows.rows, r->err);
    if (status != WL_OK)
        return status;
    *nslots = rows.count;
    *slots = wl_new_array(r->arena, prof_slot, rows.count + 1);
    for (uint32_t i = 0; *slots && i < rows.count; i++) {
        if (rows.rows[i].slot != i || i >= WL_MOST_SLOTS)
            return fail_damaged_warps(r, g->id);
        (*slots)[i] = (prof_slot){rows.rows[i].space, rows.rows[i].object};
    }
    return *slots ? WL_OK : wl_fail(r->err, WL_NOMEM, "Cannot read the profile: out of memory.");
}

static wl_status read_warp_page(reading *r, const row_warp_group *g, const row_page *page,
                                uint32_t nslots, const prof_slot *slots)
{
    unsigned char *data;
    if (!unpack_page(r, page, &data))
        return fail_damaged_warps(r, g->id);
    wl_page_reader reader = wl_page_read(data, page->bytes, nslots);
    for (wl_warp warp; wl_page_warp(&reader, &warp);) {
        prof_warp out = {warp.block, warp.number, nslots, slots, NULL, r->npages, r->pages};
        out.begin = wl_arena_copy(r->arena, warp.begin, (nslots + 1) * sizeof *warp.begin);
        if (!out.begin || !wl_push(&r->warps, out))
            return wl_fail(r->err, WL_NOMEM, "Cannot read the profile: out of memory.");
    }
    return reader.damaged ? fail_damaged_warps(r, g->id) : WL_OK;
}

static wl_status read_warp_group(reading *r, const row_warp_group *g)
{
    uint32_t nslots = 0;
    prof_slot *slots = NULL;
    page_rows rows = {0};
    wl_status status = read_slots(r, g, &nslots, &slots);
    if (status == WL_OK)
        status = read_sequence(r, g, nslots);
    if (status == WL_OK)
        status = load_pages(r, TABLE_warp_pages, "warp_pages WHERE warps = ? ORDER BY page", g->id,
                            &rows);
    for (uint32_t i = 0; i < rows.count && status == WL_OK; i++)
        status = read_warp_page(r, g, &rows.rows[i], nslots, slots);
    return status;
}

static int warps_ascend(const void *a, const void *b)
{
    const prof_warp *x = a, *y = b;
    if (x->block != y->block)
        return x->block < y->block ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

static wl_status read_groups(reading *r, uint32_t launch, prof_warp_rows *out)
{
    groups all = {0};
    const db_value key = db_int(launch);
    wl_status status = table_load(r->db->sql, TABLE_warp_groups,
                                  "warp_groups WHERE launch = ? ORDER BY sequence, id", &key, 1,
                                  r->scratch, &all.count, &all.rows, r->err);
    for (uint32_t i = 0; i < all.count && status == WL_OK; i++)
        status = read_warp_group(r, &all.rows[i]);
    if (status != WL_OK)
        return status;
    if (r->warps.count)
        qsort(r->warps.data, r->warps.count, sizeof *r->warps.data, warps_ascend);
    out->count = (uint32_t)r->warps.count;
    out->rows = wl_arena_copy(r->arena, r->warps.data, r->warps.count * sizeof *r->warps.data);
    return out->rows ? WL_OK : wl_fail(r->err, WL_NOMEM, "Cannot read the profile: out of memory.");
}

wl_status prof_load_warps(prof_db *db, uint32_t launch, wl_arena *arena, prof_warp_rows *out,
                          wl_error *err)
{
    reading r = {.db = db, .arena = arena, .scratch = wl_arena_new(), .err = err};
    *out = (prof_warp_rows){0};
    wl_status status = r.scratch
                           ? read_groups(&r, launch, out)
                           : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    wl_vec_free(&r.warps);
    wl_unfolded_free(&r.unfolded);
    wl_arena_free(r.scratch);
    return status;
}

wl_status prof_load_warp_launches(prof_db *db, uint32_t kernel, wl_arena *arena, uint32_t *count,
                                  uint32_t **launches, wl_error *err)
{
    groups all = {0};
    const db_value key = db_int(kernel);
    *count = 0;
    *launches = NULL;
    wl_status status = table_load(
        db->sql, TABLE_warp_groups,
        "warp_groups WHERE launch IN (SELECT id FROM launches WHERE kernel = ?) GROUP BY launch "
        "ORDER BY launch",
        &key, 1, arena, &all.count, &all.rows, err);
    if (status != WL_OK)
        return status;
    uint32_t *found = *launches = wl_new_array(arena, uint32_t, all.count + 1);
    if (!found)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (uint32_t i = 0; i < all.count; i++)
        found[(*count)++] = all.rows[i].launch;
    return WL_OK;
}
