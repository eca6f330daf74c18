/* Warps that stand out by the number of instructions on their paths. */
#include "analysis/explore/hashed.h"

#include <math.h>
#include <stdlib.h>

static const double much = 1.5; /* times as many instructions */

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

/* Blocks that have a warp which took the path; runs ascend. */
static uint64_t blocks_with(const prof_path_run_rows *runs, uint32_t path, uint32_t warps_of_block)
{
    uint64_t blocks = 0, next = 0; /* next: the first block that was not counted */
    for (uint32_t i = 0; i < runs->count; i++) {
        const prof_path_run *r = &runs->rows[i];
        uint64_t first = r->first / warps_of_block,
                 end = (r->first + r->warps - 1) / warps_of_block + 1;
        if (r->path != path)
            continue;
        first = first < next ? next : first;
        blocks += end > first ? end - first : 0;
        next = end > next ? end : next;
    }
    return blocks;
}

static wl_status find_hashed_outliers(const prof_path_rows *rows, const prof_path_run_rows *runs,
                                      wl_arena *arena, ana_hashed *out)
{
    out->outliers = wl_new_array(arena, ana_hashed_outlier, (size_t)rows->count + 1);
    for (uint32_t i = 0; out->outliers && i < rows->count; i++) {
        const obs_path *p = &rows->rows[i].p;
        double times = (double)p->instructions / (double)out->representative.instructions;
        if (times < much && times > 1 / much)
            continue;
        out->outliers[out->noutliers++] = (ana_hashed_outlier){
            *p, times, blocks_with(runs, rows->rows[i].path, out->warps_of_block)};
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
    return out->representative.instructions ? find_hashed_outliers(rows, runs, arena, out) : WL_OK;
}

static wl_status explore_launch(prof_db *db, const prof_launch *l, wl_arena *arena, ana_hashed *out,
                                wl_error *err)
{
    prof_path_rows rows;
    prof_path_run_rows runs;
    uint64_t blocks = (uint64_t)l->grid[0] * l->grid[1] * l->grid[2],
             threads = (uint64_t)l->block[0] * l->block[1] * l->block[2];
    *out = (ana_hashed){
        .launch = l->id, .kernel = l->kernel, .warps_of_block = (uint32_t)((threads + 31) / 32)};
    out->warps = blocks * out->warps_of_block;
    wl_status status = prof_load_paths(db, l->id, arena, &rows, err);
    if (status != WL_OK || !rows.count || !out->warps)
        return status;
    status = prof_load_path_runs(db, l->id, arena, &runs, err);
    if (status != WL_OK)
        return status;
    return explore_hashes(&rows, &runs, arena, out) == WL_OK
               ? WL_OK
               : wl_fail(err, WL_NOMEM, "not enough memory to compare warps");
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
    for (uint32_t i = 0; i < kinds.count && out->count < most && status == WL_OK; i++) {
        ana_hashed *row = &out->rows[out->count];
        if (kinds.rows[i].id != kinds.rows[i].rows_of)
            continue;
        status = explore_launch(db, &kinds.rows[i], arena, row, err);
        out->count += row->npaths > 0;
    }
    return status;
}
