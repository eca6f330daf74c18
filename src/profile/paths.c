/* Which path each warp of a launch took: PATHS records, and reading them back. */
#include "base/varint.h"
#include "base/vec.h"
#include "profile/blob.h"
#include "profile/builder.h"
#include "profile/db.h"
#include "profile/tables.h"

/* ---- runs ---- */

typedef struct run_reader {
    const uint8_t *at, *end;
    uint32_t npaths;
    uint64_t warp; /* the next one */
    bool damaged;
} run_reader;

static bool next_run(run_reader *r, prof_path_run *out)
{
    uint64_t path, warps;
    if (r->at == r->end || r->damaged)
        return false;
    r->damaged = !wl_varint_get(&r->at, r->end, &path) || !wl_varint_get(&r->at, r->end, &warps) ||
                 path > r->npaths || !warps || warps > INT64_MAX - r->warp;
    if (r->damaged)
        return false;
    *out = (prof_path_run){path ? (uint32_t)path - 1 : OBS_NO_PATH, r->warp, warps};
    r->warp += warps;
    return true;
}

/* Do the runs say the same as the paths of how many warps took each, and which came first? */
static bool runs_agree(const cap_paths *record, wl_arena *scratch)
{
    obs_path *seen = wl_new_array(scratch, obs_path, record->count + 1);
    const uint8_t *data = (const uint8_t *)record->runs;
    run_reader r = {data, data + record->length, record->count, 0, false};
    bool agree = seen != NULL;
    for (prof_path_run run; seen && next_run(&r, &run);) {
        if (run.path == OBS_NO_PATH)
            continue;
        if (!seen[run.path].warps)
            seen[run.path].first = run.first;
        seen[run.path].warps += run.warps;
    }
    for (uint32_t i = 0; seen && i < record->count; i++)
        agree &= seen[i].warps && seen[i].warps == record->paths[i].warps &&
                 seen[i].first == record->paths[i].first;
    return agree && !r.damaged;
}

/* ---- writing ---- */

static wl_status write_path_runs(prof_builder *b, uint32_t launch, const cap_paths *record,
                                 wl_error *err)
{
    blob *packed = &b->compressed;
    if (blob_compress(record->runs, record->length, packed) != WL_OK)
        return NOMEM(err);
    const row_path_runs row = {launch, record->length, {packed->data, packed->size}};
    return table_insert_path_runs(b->insert[TABLE_path_runs], &row, err);
}

wl_status builder_paths(prof_builder *b, const cap_paths *record, wl_error *err)
{
    const launch_entry *e = builder_find_launch(b, record->launch);
    wl_arena *scratch = wl_arena_new();
    bool fits = e && b->process.arrays_of == record->launch &&
                b->process.paths_of != record->launch && record->count &&
                record->count <= OBS_MOST_PATHS && scratch && runs_agree(record, scratch);
    wl_arena_free(scratch);
    if (!fits)
        return wl_fail(err, WL_CORRUPT, "The capture's paths of launch %u do not hold together.",
                       record->launch);
    b->process.paths_of = record->launch;
    wl_status status = write_path_runs(b, e->id, record, err);
    for (uint32_t i = 0; i < record->count && status == WL_OK; i++) {
        const prof_path row = {e->id, i, record->paths[i]};
        status = table_insert_paths(b->insert[TABLE_paths], &row, err);
    }
    return status;
}

/* ---- reading ---- */

wl_status prof_load_paths(prof_db *db, uint32_t launch, wl_arena *arena, prof_path_rows *out,
                          wl_error *err)
{
    const db_value key = db_int(launch);
    wl_status status = table_load(db->sql, TABLE_paths, "paths WHERE launch = ? ORDER BY path",
                                  &key, 1, arena, &out->count, &out->rows, err);
    for (uint32_t i = 0; status == WL_OK && i < out->count; i++)
        if (out->rows[i].path != i)
            return wl_fail(err, WL_CORRUPT, "The paths of launch %u cannot be read.", launch);
    return status;
}

typedef struct run_blobs {
    uint32_t count;
    row_path_runs *rows;
} run_blobs;

static wl_status unpack_path_runs(prof_db *db, const row_path_runs *row, uint32_t npaths,
                                  wl_arena *arena, prof_path_run_rows *out, wl_error *err)
{
    wl_vec(prof_path_run) runs = {0};
    unsigned char *data;
    bool stored = true;
    if (blob_decompress(&db->unpacker, row->data.data, row->data.size, row->bytes, arena, &data) !=
        WL_OK)
        return wl_fail(err, WL_CORRUPT, "The paths of launch %u cannot be read.", row->launch);
    run_reader r = {data, data + row->bytes, npaths, 0, false};
    for (prof_path_run run; stored && next_run(&r, &run);)
        stored = wl_push(&runs, run);
    out->count = (uint32_t)runs.count;
    out->rows = stored ? wl_arena_copy(arena, runs.data, runs.count * sizeof *runs.data) : NULL;
    wl_vec_free(&runs);
    if (r.damaged)
        return wl_fail(err, WL_CORRUPT, "The paths of launch %u cannot be read.", row->launch);
    return out->rows ? WL_OK : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
}

wl_status prof_load_path_runs(prof_db *db, uint32_t launch, wl_arena *arena,
                              prof_path_run_rows *out, wl_error *err)
{
    run_blobs blobs = {0};
    prof_path_rows paths = {0};
    const db_value key = db_int(launch);
    *out = (prof_path_run_rows){0};
    wl_status status = prof_load_paths(db, launch, arena, &paths, err);
    if (status == WL_OK)
        status = table_load(db->sql, TABLE_path_runs, "path_runs WHERE launch = ?", &key, 1, arena,
                            &blobs.count, &blobs.rows, err);
    return status == WL_OK && blobs.count
               ? unpack_path_runs(db, &blobs.rows[0], paths.count, arena, out, err)
               : status;
}
