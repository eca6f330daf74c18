/* Joins what heat maps and counts of elements tell about the use of sectors. */
#include "analysis/heatmap/cover.h"

#include "analysis/detect.h"

#include <stdlib.h>

enum {
    MOST_SECTORS = 1 << 27, /* of an object, that a byte each is kept of */
    MANY = 1 << 16          /* rows */
};

typedef wl_vec(cover_row) row_list;

typedef struct work {
    const ana_input *input;
    const ana_group *group;
    uint8_t *words; /* by sector of the object */
    uint64_t sectors;
    row_list others; /* sectors beyond these, in any order, some of them several times */
    size_t ordered;  /* how many there were when they were put in order last */
} work;

/* Of what is too large, or has no size, all sectors are others. */
static void begin_words(work *w)
{
    uint64_t bytes = w->group->info ? w->group->info->bytes : 0;
    uint64_t sectors = bytes / OBS_SECTOR_BYTES + 2;
    if (bytes && sectors <= MOST_SECTORS && (w->words = calloc(sectors, 1)))
        w->sectors = sectors;
}

static bool is_sector_before(const cover_row *a, const cover_row *b)
{
    return (int64_t)a->sector < (int64_t)b->sector;
}

static int by_cover_sector(const void *a, const void *b)
{
    return is_sector_before(a, b) ? -1 : is_sector_before(b, a);
}

/* Ascending, each once. */
static void order_other_sectors(work *w)
{
    size_t kept = 0;
    cover_row *rows = w->others.data;
    if (!w->others.count)
        return;
    qsort(rows, w->others.count, sizeof *rows, by_cover_sector);
    for (size_t i = 1; i < w->others.count; i++)
        if (rows[kept].sector == rows[i].sector)
            rows[kept].words |= rows[i].words;
        else
            rows[++kept] = rows[i];
    w->others.count = w->ordered = kept + 1;
}

static bool take_row(work *w, const cover_row *row)
{
    if (row->sector < w->sectors) {
        w->words[row->sector] |= row->words;
        return true;
    }
    if (w->others.count > 2 * w->ordered + MANY)
        order_other_sectors(w);
    return wl_push(&w->others, *row);
}

static uint32_t count_sectors(const work *w)
{
    uint32_t count = 0;
    for (uint64_t s = 0; s < w->sectors; s++)
        count += w->words[s] != 0;
    return count;
}

/* All of it, by sector; those before the object first. */
static bool list_rows(work *w, wl_arena *arena, map_cover *out)
{
    size_t i = 0;
    order_other_sectors(w);
    out->rows = wl_new_array(arena, cover_row, count_sectors(w) + w->others.count + 1);
    if (!out->rows)
        return false;
    for (; i < w->others.count && (int64_t)w->others.data[i].sector < 0; i++)
        out->rows[out->count++] = w->others.data[i];
    for (uint64_t s = 0; s < w->sectors; s++)
        if (w->words[s])
            out->rows[out->count++] = (cover_row){.sector = s, .words = w->words[s]};
    for (; i < w->others.count; i++)
        out->rows[out->count++] = w->others.data[i];
    return true;
}

/* ---- heat maps ---- */

static bool add_map_rows(work *w, const prof_heat *heat)
{
    for (uint32_t i = 0; i < heat->info.nrows; i++) {
        cover_row row = {.sector = heat->rows[i].sector};
        for (uint32_t k = 0; k < OBS_WORDS_PER_SECTOR; k++)
            row.words |= (uint8_t)((heat->rows[i].word[k] != 0) << k);
        if (!take_row(w, &row))
            return false;
    }
    return true;
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
        if (!take_row(w, &row))
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
    begin_words(&w);
    wl_status status = add_maps(&w, err);
    bool touched = false;
    if (status == WL_OK && !ana_maps_all_blocks(input, group))
        status = add_touched(&w, &touched, err);
    out->all = touched || ana_maps_all_blocks(input, group);
    if (status == WL_OK && !list_rows(&w, arena, out))
        status = ana_nomem(err);
    free(w.words);
    wl_vec_free(&w.others);
    return status;
}

uint8_t cover_words(const map_cover *cover, uint64_t sector)
{
    const cover_row key = {.sector = sector};
    const cover_row *row = cover->count ? bsearch(&key, cover->rows, cover->count,
                                                  sizeof *cover->rows, by_cover_sector)
                                        : NULL;
    return row ? row->words : 0;
}
