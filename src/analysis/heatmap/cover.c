/* Joins what heat maps and counts of elements tell about the use of sectors. */
#include "analysis/heatmap/cover.h"

#include "analysis/detect.h"

#include <stdlib.h>

typedef wl_vec(cover_row) row_list;

typedef struct work {
    const ana_input *input;
    const ana_group *group;
    row_list rows;  /* by sector, of which each has one */
    row_list fresh; /* of what is joined next: the same */
} work;

static bool take_row(row_list *rows, const cover_row *row)
{
    if (!rows->count || rows->data[rows->count - 1].sector != row->sector)
        return wl_push(rows, *row);
    rows->data[rows->count - 1].words |= row->words;
    return true;
}

static bool is_sector_before(const cover_row *a, const cover_row *b)
{
    return (int64_t)a->sector < (int64_t)b->sector;
}

/* Rows of a map or of spans ascend. False where memory is exhausted. */
static bool join_fresh(work *w)
{
    row_list old = w->rows;
    size_t i = 0, k = 0;
    w->rows = (row_list){0};
    bool good = wl_reserve(&w->rows, old.count + w->fresh.count);
    while (good && (i < old.count || k < w->fresh.count)) {
        bool first = k == w->fresh.count ||
                     (i < old.count && !is_sector_before(&w->fresh.data[k], &old.data[i]));
        good = take_row(&w->rows, first ? &old.data[i++] : &w->fresh.data[k++]);
    }
    w->fresh.count = 0;
    wl_vec_free(&old);
    return good;
}

/* Whether all that is fresh is known: often launches touch the same. */
static bool is_fresh_known(const work *w)
{
    size_t i = 0;
    for (size_t k = 0; k < w->fresh.count; k++) {
        const cover_row *row = &w->fresh.data[k];
        while (i < w->rows.count && is_sector_before(&w->rows.data[i], row))
            i++;
        if (i == w->rows.count || w->rows.data[i].sector != row->sector ||
            (row->words & ~w->rows.data[i].words))
            return false;
    }
    return true;
}

static bool join_rows(work *w)
{
    if (!is_fresh_known(w))
        return join_fresh(w);
    w->fresh.count = 0;
    return true;
}

/* ---- heat maps ---- */

static bool add_map_rows(work *w, const prof_heat *heat)
{
    for (uint32_t i = 0; i < heat->info.nrows; i++) {
        cover_row row = {.sector = heat->rows[i].sector};
        for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++)
            row.words |= (uint8_t)((heat->rows[i].word[k] != 0) << k);
        if (!take_row(&w->fresh, &row))
            return false;
    }
    return join_rows(w);
}

static wl_status add_map(work *w, uint32_t id, wl_error *err)
{
    prof_heat heat = {0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? prof_load_heat(w->input->program->db, id, scratch, &heat, err)
                               : ana_nomem(err);
    if (status == WL_OK && !add_map_rows(w, &heat))
        status = ana_nomem(err);
    wl_arena_free(scratch);
    return status;
}

typedef struct kept_map {
    uint32_t content, id;
} kept_map;

static int by_content(const void *a, const void *b)
{
    const kept_map *x = a, *y = b;
    if (x->content != y->content)
        return x->content < y->content ? -1 : 1;
    return x->id < y->id ? -1 : x->id > y->id;
}

/* Maps with equal rows are joined once, whichever launches they are of. */
static wl_status add_maps(work *w, wl_error *err)
{
    const ana_group *g = w->group;
    kept_map *maps = malloc(((size_t)g->nheats + 1) * sizeof *maps);
    wl_status status = WL_OK;
    if (!maps)
        return ana_nomem(err);
    for (uint32_t i = 0; i < g->nheats; i++)
        maps[i] = (kept_map){g->heats[i].content, g->heats[i].id};
    if (g->nheats)
        qsort(maps, g->nheats, sizeof *maps, by_content);
    for (uint32_t i = 0; i < g->nheats && status == WL_OK; i++)
        if (i == 0 || maps[i].content != maps[i - 1].content)
            status = add_map(w, maps[i].id, err);
    free(maps);
    return status;
}

/* ---- elements ---- */

/* The sectors of a span of elements; the object may begin within a sector. */
static bool add_span(work *w, const wl_span *span)
{
    uint64_t base = w->group->info ? w->group->info->base % OBS_SECTOR_BYTES / OBS_WORD_BYTES : 0;
    uint64_t at = base + span->first, end = at + span->count;
    while (at < end) {
        uint64_t sector = at / OBS_WORDS_PER_SECTOR, next = (sector + 1) * OBS_WORDS_PER_SECTOR;
        uint64_t to = end < next ? end : next;
        uint32_t words = ((1u << (to - at)) - 1) << at % OBS_WORDS_PER_SECTOR;
        cover_row row = {.sector = sector, .words = (uint8_t)words};
        if (!take_row(&w->fresh, &row))
            return false;
        at = to;
    }
    return true;
}

static wl_status add_spans_of(work *w, const prof_use *use, wl_error *err)
{
    wl_span_reader reader;
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? prof_load_spans(w->input->program->db, use->spans, scratch,
                                                 &reader, err)
                               : ana_nomem(err);
    for (wl_span span; status == WL_OK && wl_span_next(&reader, &span);)
        if (!add_span(w, &span))
            status = ana_nomem(err);
    if (status == WL_OK && !join_rows(w))
        status = ana_nomem(err);
    wl_arena_free(scratch);
    return status;
}

/* `uses` are of the group's object and space, by launch. */
static const prof_use *use_of(const prof_use *uses, uint32_t count, uint32_t launch)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (uses[middle].launch < launch)
            low = middle + 1;
        else
            high = middle;
    }
    bool known = low < count && uses[low].launch == launch &&
                 uses[low].known != OBS_KNOWN_NOTHING && uses[low].spans;
    return known ? &uses[low] : NULL;
}

/* Those of the group. */
static const prof_use *uses_of_group(const work *w, uint32_t *count)
{
    const prof_use_rows *all = &w->input->uses;
    uint32_t first = 0, end;
    while (first < all->count && (all->rows[first].object != w->group->object ||
                                  all->rows[first].space != w->group->space))
        first++;
    for (end = first; end < all->count && all->rows[end].object == w->group->object &&
                      all->rows[end].space == w->group->space;)
        end++;
    *count = end - first;
    return &all->rows[first];
}

/* Whether of every launch it is known what was touched. */
static wl_status add_touched(work *w, bool *all, wl_error *err)
{
    uint32_t last = 0, count;
    const prof_use *uses = uses_of_group(w, &count);
    wl_status status = WL_OK;
    *all = count > 0;
    for (uint32_t i = 0; i < w->group->ntraffic && *all && status == WL_OK; i++) {
        const prof_use *use = use_of(uses, count, w->group->traffic[i].launch);
        *all = use != NULL;
        if (use && use->spans != last)
            status = add_spans_of(w, use, err);
        last = use ? use->spans : 0;
    }
    return status;
}

wl_status cover_load(const ana_input *input, const ana_group *group, wl_arena *arena,
                     map_cover *out, wl_error *err)
{
    work w = {.input = input, .group = group};
    *out = (map_cover){0};
    wl_status status = add_maps(&w, err);
    bool touched = false;
    if (status == WL_OK && !ana_maps_all_blocks(input, group))
        status = add_touched(&w, &touched, err);
    out->all = touched || ana_maps_all_blocks(input, group);
    out->count = w.rows.count;
    out->rows = status == WL_OK
                    ? wl_arena_copy(arena, w.rows.data, w.rows.count * sizeof *out->rows)
                    : NULL;
    wl_vec_free(&w.rows);
    wl_vec_free(&w.fresh);
    return status != WL_OK ? status : out->rows ? WL_OK : ana_nomem(err);
}

static int by_cover_sector(const void *a, const void *b)
{
    return is_sector_before(a, b) ? -1 : is_sector_before(b, a);
}

uint8_t cover_words(const map_cover *cover, uint64_t sector)
{
    const cover_row key = {.sector = sector};
    const cover_row *row = cover->count ? bsearch(&key, cover->rows, cover->count,
                                                  sizeof *cover->rows, by_cover_sector)
                                        : NULL;
    return row ? row->words : 0;
}
