/* Warps that stand out by the number of instructions on their paths. */
#include "analysis/explore/hashed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double much = 1.5; /* times as many instructions */

/* The part of the longer one's instructions that the other lacks. */
static double hashed_difference(uint64_t instructions, uint64_t others)
{
    uint64_t more = instructions > others ? instructions : others;
    uint64_t fewer = instructions > others ? others : instructions;
    return more ? 1 - (double)fewer / (double)more : 0;
}

static int paths_ascend(const void *a, const void *b)
{
    const obs_path *x = a, *y = b;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? -1 : 1;
    if (x->warps != y->warps)
        return x->warps > y->warps ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static double difference_of(const ana_hashed_outlier *o)
{
    return fabs(log(o->times));
}

static int outliers_ascend(const void *a, const void *b)
{
    const ana_hashed_outlier *x = a, *y = b;
    double dx = difference_of(x), dy = difference_of(y);
    return dx != dy ? (dx < dy) - (dx > dy) : paths_ascend(&x->path, &y->path);
}

/* `paths` ascend by instructions. */
static obs_path path_in_middle(const obs_path *paths, uint32_t count, uint64_t known)
{
    uint64_t before = 0;
    uint32_t i = 0;
    while (i + 1 < count && before + paths[i].warps <= known / 2)
        before += paths[i++].warps;
    uint32_t first = i;
    while (first > 0 && paths[first - 1].instructions == paths[i].instructions)
        first--;
    return paths[first];
}

enum { ANY_PATH = OBS_NO_PATH };

/* Blocks that have a warp which took the path, or any that is known; runs ascend. */
static uint64_t blocks_with(const prof_path_run_rows *runs, uint32_t path, uint32_t warps_of_block)
{
    uint64_t blocks = 0, next = 0; /* next: the first block that was not counted */
    for (uint32_t i = 0; i < runs->count; i++) {
        const prof_path_run *r = &runs->rows[i];
        uint64_t first = r->first / warps_of_block,
                 end = (r->first + r->warps - 1) / warps_of_block + 1;
        if (path == ANY_PATH ? r->path == OBS_NO_PATH : r->path != path)
            continue;
        first = first < next ? next : first;
        blocks += end > first ? end - first : 0;
        next = end > next ? end : next;
    }
    return blocks;
}

/* ---- in words ---- */

static ana_warp_place place_of_warp_number(const ana_hashed *h, uint64_t warp)
{
    return ana_warp_place_of(h->grid, warp / h->warps_of_block,
                             (uint32_t)(warp % h->warps_of_block));
}

static bool describe_outlier(const ana_hashed *h, wl_arena *arena, ana_hashed_outlier *o)
{
    o->place = place_of_warp_number(h, o->path.first);
    o->which = o->path.warps == 1
                   ? wl_arena_printf(arena, "warp %" PRIu32 " of %s", o->place.warp,
                                     ana_block_name_of(h->grid, &o->place).text)
                   : wl_arena_printf(arena, "%" PRIu64 " warps of %" PRIu64 " block%s",
                                     o->path.warps, o->blocks, o->blocks == 1 ? "" : "s");
    o->why = wl_arena_printf(arena, "ran %.*f times as many instructions",
                             o->times < 1    ? 2
                             : o->times < 10 ? 1
                                             : 0,
                             o->times);
    return o->which && o->why;
}

static bool add_hashed_outlier(const prof_path *row, const prof_path_run_rows *runs, double times,
                               wl_arena *arena, ana_hashed *out)
{
    ana_hashed_outlier *o = &out->outliers[out->noutliers++];
    *o = (ana_hashed_outlier){
        .path = row->p,
        .times = times,
        .difference = hashed_difference(row->p.instructions, out->representative.instructions),
        .blocks = blocks_with(runs, row->path, out->warps_of_block)};
    return describe_outlier(out, arena, o);
}

static wl_status find_hashed_outliers(const prof_path_rows *rows, const prof_path_run_rows *runs,
                                      wl_arena *arena, ana_hashed *out)
{
    out->outliers = wl_new_array(arena, ana_hashed_outlier, (size_t)rows->count + 1);
    for (uint32_t i = 0; out->outliers && i < rows->count; i++) {
        double times = (double)rows->rows[i].p.instructions /
                       (double)out->representative.instructions;
        if (times < much && times > 1 / much)
            continue;
        if (!add_hashed_outlier(&rows->rows[i], runs, times, arena, out))
            return WL_NOMEM;
    }
    if (!out->outliers)
        return WL_NOMEM;
    qsort(out->outliers, out->noutliers, sizeof *out->outliers, outliers_ascend);
    return WL_OK;
}

static wl_status explore_hashes(const prof_path_rows *rows, const prof_path_run_rows *runs,
                                wl_arena *arena, ana_hashed *out)
{
    obs_path *paths = wl_new_array(arena, obs_path, (size_t)rows->count + 1);
    if (!paths)
        return WL_NOMEM;
    for (uint32_t i = 0; i < rows->count; i++) {
        paths[i] = rows->rows[i].p;
        out->known += paths[i].warps;
    }
    qsort(paths, rows->count, sizeof *paths, paths_ascend);
    out->npaths = rows->count;
    out->representative = path_in_middle(paths, rows->count, out->known);
    out->place = place_of_warp_number(out, out->representative.first);
    out->blocks_known = blocks_with(runs, ANY_PATH, out->warps_of_block);
    return out->representative.instructions ? find_hashed_outliers(rows, runs, arena, out) : WL_OK;
}

static ana_hashed nothing_hashed(const prof_launch *l)
{
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
             threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    ana_hashed h = {.launch = l->id,
                    .kernel = l->kernel,
                    .blocks = blocks,
                    .warps_of_block = (uint32_t)((threads + 31) / 32)};
    h.warps = blocks * h.warps_of_block;
    memcpy(h.grid, l->grid, sizeof h.grid);
    return h;
}

/* What is loaded lies in `scratch`. */
static wl_status explore_hashed_launch(prof_db *db, const prof_launch *l, wl_arena *scratch,
                                       wl_arena *arena, ana_hashed *out, prof_path_rows *rows,
                                       prof_path_run_rows *runs, wl_error *err)
{
    *out = nothing_hashed(l);
    *runs = (prof_path_run_rows){0};
    wl_status status = prof_load_paths(db, l->id, scratch, rows, err);
    if (status != WL_OK || !rows->count || !out->warps)
        return status;
    status = prof_load_path_runs(db, l->id, scratch, runs, err);
    if (status != WL_OK)
        return status;
    return explore_hashes(rows, runs, arena, out) == WL_OK
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "not enough memory to compare warps");
}

wl_status ana_hashed_launch(prof_db *db, const prof_launch *l, wl_arena *arena, ana_hashed *out,
                            prof_path_rows *paths, prof_path_run_rows *runs, wl_error *err)
{
    return explore_hashed_launch(db, l, arena, arena, out, paths, runs, err);
}

static wl_status add_hashed_launch(prof_db *db, const prof_launch *l, wl_arena *arena,
                                   ana_hashed_rows *out, wl_error *err)
{
    ana_hashed *row = &out->rows[out->count];
    prof_path_rows paths;
    prof_path_run_rows runs;
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch
                           ? explore_hashed_launch(db, l, scratch, arena, row, &paths, &runs, err)
                           : wl_fail(err, WL_NOMEM, "not enough memory to compare warps");
    wl_arena_free(scratch);
    out->count += status == WL_OK && row->npaths > 0;
    return status;
}

wl_status ana_hashed_table(prof_db *db, uint32_t most, wl_arena *arena, ana_hashed_rows *out,
                           wl_error *err)
{
    prof_launch_rows kinds;
    wl_status status = prof_load_launch_kinds(db, PROF_ALL, arena, &kinds, err);
    *out = (ana_hashed_rows){0};
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, ana_hashed, (size_t)most + 1);
    if (!out->rows)
        return wl_fail(err, WL_NOMEM, "not enough memory to compare warps");
    for (uint32_t i = 0; i < kinds.count && out->count < most && status == WL_OK; i++)
        if (kinds.rows[i].id == kinds.rows[i].rows_of)
            status = add_hashed_launch(db, &kinds.rows[i], arena, out, err);
    return status;
}
