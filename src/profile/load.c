/* Rows from tables: one statement and one filler a kind of row. */
#include "base/hash.h"
#include "ir/ops.h"
#include "profile/blob.h"
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/sources.h"
#include "profile/tables.h"

#include <stdlib.h>
#include <string.h>

#define LOAD(db, arena, out, err, fill, query, ...)                                        \
    db_load((db)->sql, (query), DB_VALUES(__VA_ARGS__),                                    \
            sizeof DB_VALUES(__VA_ARGS__) / sizeof(db_value), sizeof *(out)->rows, (fill), \
            (arena), &(out)->count, &(out)->rows, (err))
#define LOAD_ALL(db, arena, out, err, fill, query)                                            \
    db_load((db)->sql, (query), NULL, 0, sizeof *(out)->rows, (fill), (arena), &(out)->count, \
            &(out)->rows, (err))

/* The same for a table of columns.def; `from`: what follows FROM, schema.sql has the views. */
#define LOAD_ROWS(db, table, arena, out, err, from, ...)                                 \
    table_load((db)->sql, TABLE_##table, (from), DB_VALUES(__VA_ARGS__),                 \
               sizeof DB_VALUES(__VA_ARGS__) / sizeof(db_value), (arena), &(out)->count, \
               &(out)->rows, (err))
#define LOAD_ALL_ROWS(db, table, arena, out, err, from)                                         \
    table_load((db)->sql, TABLE_##table, (from), NULL, 0, (arena), &(out)->count, &(out)->rows, \
               (err))

/* Of one kernel, or of all for PROF_ALL. A range, for which SQLite uses an index as it does not for
 * "?1 = 0 OR ...": who loads kernel after kernel would read all tables for each. */
#define OF_KERNEL "kernel BETWEEN ?1 AND coalesce(nullif(?1, 0), 4294967295) "

/* For structures that begin with their id. */
static int compare_id(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = *(const uint32_t *)item;
    return a < b ? -1 : a > b;
}

/* ---- info, processes, devices ---- */

static void fill_text(db_row *row, void *item)
{
    *(const char **)item = row_text(row);
}

typedef struct texts {
    uint32_t count;
    const char **rows;
} texts;

static wl_status load_text(prof_db *db, const char *sql, wl_arena *arena, const char **out,
                           wl_error *err)
{
    texts t;
    wl_status status = LOAD_ALL(db, arena, &t, err, fill_text, sql);
    *out = status == WL_OK && t.count ? t.rows[0] : "";
    return status;
}

wl_status prof_load_info(prof_db *db, wl_arena *arena, prof_info *out, wl_error *err)
{
    wl_status status = load_text(db, "SELECT value FROM info WHERE key = 'version'", arena,
                                 &out->version, err);
    status = status == WL_OK ? load_text(db, "SELECT value FROM info WHERE key = 'command'", arena,
                                         &out->command, err)
                             : status;
    return status == WL_OK ? load_text(db, "SELECT collector FROM processes ORDER BY id LIMIT 1",
                                       arena, &out->collector, err)
                           : status;
}

wl_status prof_load_processes(prof_db *db, wl_arena *arena, prof_process_rows *out, wl_error *err)
{
    wl_status status = LOAD_ALL_ROWS(db, processes, arena, out, err, "processes ORDER BY id");
    for (uint32_t i = 0; status == WL_OK && i < out->count; i++) {
        texts t;
        status = LOAD(db, arena, &t, err, fill_text,
                      "SELECT value FROM arguments WHERE process = ? ORDER BY position",
                      db_int(out->rows[i].id));
        out->rows[i].argc = t.count;
        out->rows[i].argv = status == WL_OK ? t.rows : NULL;
    }
    return status;
}

wl_status prof_load_devices(prof_db *db, wl_arena *arena, prof_device_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, devices, arena, out, err, "devices ORDER BY id");
}

/* ---- code ---- */

typedef struct file_rows {
    uint32_t count;
    row_file *rows;
} file_rows;

static prof_file file_of_row(const row_file *row)
{
    return (prof_file){.id = row->id,
                       .path = row->path,
                       .name = sources_name(row->path),
                       .system = row->system,
                       .has_text = row->has_text,
                       .missing = row->missing,
                       .bytes = row->bytes};
}

/* Without their texts, which are large. */
wl_status prof_load_files(prof_db *db, wl_arena *arena, prof_file_rows *out, wl_error *err)
{
    file_rows files = {0};
    wl_status status = LOAD_ALL_ROWS(db, files, arena, &files, err,
                                     "(SELECT id, path, system, bytes, missing, NULL AS text, "
                                     "text IS NOT NULL AS has_text FROM files) ORDER BY id");
    *out = (prof_file_rows){.count = files.count,
                            .rows = wl_new_array(arena, prof_file, (size_t)files.count + 1)};
    if (status == WL_OK && !out->rows)
        status = wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (uint32_t i = 0; status == WL_OK && i < files.count; i++)
        out->rows[i] = file_of_row(&files.rows[i]);
    return status;
}

wl_status prof_load_kernels(prof_db *db, wl_arena *arena, prof_kernel_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, kernels, arena, out, err,
                         "(SELECT k.*, m.kind AS module_kind FROM module_kernels k "
                         "LEFT JOIN modules m ON m.id = k.module) ORDER BY id");
}

wl_status prof_load_code(prof_db *db, uint32_t kernel, wl_arena *arena, prof_code_rows *out,
                         wl_error *err)
{
    return LOAD_ROWS(db, code, arena, out, err, "code WHERE " OF_KERNEL "ORDER BY kernel, pc",
                     db_int(kernel));
}

wl_status prof_load_block_totals(prof_db *db, wl_arena *arena, prof_block_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, blocks, arena, out, err, "kernel_blocks ORDER BY kernel, first_pc");
}

wl_status prof_load_static_blocks(prof_db *db, uint32_t kernel, wl_arena *arena,
                                  prof_static_block_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, static_blocks, arena, out, err,
                     "static_blocks WHERE " OF_KERNEL "ORDER BY kernel, first_pc", db_int(kernel));
}

wl_status prof_load_loops(prof_db *db, uint32_t kernel, wl_arena *arena, prof_loop_rows *out,
                          wl_error *err)
{
    return LOAD_ROWS(db, loops, arena, out, err, "loops WHERE " OF_KERNEL "ORDER BY kernel, header",
                     db_int(kernel));
}

wl_status prof_load_forms(prof_db *db, uint32_t kernel, wl_arena *arena, prof_form_rows *out,
                          wl_error *err)
{
    return LOAD_ROWS(db, forms, arena, out, err,
                     "forms WHERE " OF_KERNEL "ORDER BY kernel, pc, position", db_int(kernel));
}

wl_status prof_load_fills(prof_db *db, uint32_t kernel, wl_arena *arena, prof_fill_rows *out,
                          wl_error *err)
{
    return LOAD_ROWS(db, fills, arena, out, err, "fills WHERE " OF_KERNEL "ORDER BY kernel, pc",
                     db_int(kernel));
}

wl_status prof_load_fill_reads(prof_db *db, uint32_t kernel, wl_arena *arena,
                               prof_fill_read_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, fill_reads, arena, out, err,
                     "fill_reads WHERE " OF_KERNEL "ORDER BY kernel, pc, load", db_int(kernel));
}

wl_status prof_load_successors(prof_db *db, uint32_t kernel, wl_arena *arena,
                               prof_successor_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, successors, arena, out, err,
                     "successors WHERE " OF_KERNEL "ORDER BY kernel, first_pc, next_pc",
                     db_int(kernel));
}

wl_status prof_load_barriers(prof_db *db, uint32_t kernel, wl_arena *arena, prof_barrier_rows *out,
                             wl_error *err)
{
    return LOAD_ROWS(db, barriers, arena, out, err,
                     "kernel_barriers WHERE " OF_KERNEL "ORDER BY kernel, pc", db_int(kernel));
}

wl_status prof_load_premises(prof_db *db, uint32_t kernel, wl_arena *arena, prof_premise_rows *out,
                             wl_error *err)
{
    return LOAD_ROWS(db, premises, arena, out, err,
                     "premises WHERE " OF_KERNEL "ORDER BY kernel, pc", db_int(kernel));
}

static void fill_access(db_row *row, void *item)
{
    prof_access *a = item;
    a->kernel = row_u32(row);
    a->pc = row_u32(row);
    a->launch = row_u32(row);
    a->object = row_u32(row);
}

wl_status prof_load_accesses(prof_db *db, uint32_t kernel, wl_arena *arena, prof_access_rows *out,
                             wl_error *err)
{
    return LOAD(db, arena, out, err, fill_access,
                "SELECT DISTINCT kernel, pc, launch, object FROM kind_instructions "
                "WHERE " OF_KERNEL "AND space = ?2 ORDER BY kernel, pc, launch, object",
                db_int(kernel), db_int(ACC_GLOBAL));
}

wl_status prof_load_locs(prof_db *db, wl_arena *arena, prof_loc_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, locs, arena, out, err, "locs ORDER BY id");
}

static void fill_passed(db_row *row, void *item)
{
    prof_passed *p = item;
    p->kernel = row_u32(row);
    p->object = row_u32(row);
    p->parameter = row_text(row);
}

wl_status prof_load_passed(prof_db *db, wl_arena *arena, prof_passed_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_passed,
                    "SELECT DISTINCT l.kernel, coalesce(m.becomes, r.object) AS object, p.name "
                    "FROM v_same l JOIN reaches r ON r.launch = l.rows_of "
                    "JOIN parameters p ON p.kernel = l.kernel AND p.name <> '' "
                    "AND r.offset >= p.offset AND r.offset < p.offset + p.bytes "
                    "LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object "
                    "ORDER BY l.kernel, object, p.position");
}

/* ---- launches ---- */

typedef struct mix_rows {
    uint32_t count;
    row_mix *rows;
} mix_rows;

typedef struct kept_mix { /* equal ones are kept once */
    obs_mix mix;
    UT_hash_handle hh;
} kept_mix;

/* A launch that has rows of its own, and its mix. */
typedef struct launch_mix {
    uint32_t launch;
    const obs_mix *mix;
} launch_mix;

static const obs_mix *keep_mix(kept_mix **all, const obs_mix *mix, wl_arena *arena)
{
    kept_mix *found = NULL;
    HASH_FIND(hh, *all, mix, sizeof *mix, found);
    if (found)
        return &found->mix;
    found = wl_new(arena, kept_mix);
    if (!found)
        return NULL;
    found->mix = *mix;
    HASH_ADD(hh, *all, mix, sizeof found->mix, found);
    return found->hh.tbl ? &found->mix : NULL;
}

/* One element a launch, of `scratch`; NULL without memory. The rows ascend by launch. */
static launch_mix *group_mix(const mix_rows *rows, wl_arena *scratch, wl_arena *arena,
                             uint32_t *count)
{
    kept_mix *all = NULL;
    launch_mix *mixes = wl_new_array(scratch, launch_mix, (size_t)rows->count + 1), *to = mixes;
    bool room = mixes != NULL;
    for (uint32_t i = 0; room && i < rows->count; to++) {
        obs_mix mix = {0};
        for (to->launch = rows->rows[i].launch;
             i < rows->count && rows->rows[i].launch == to->launch; i++) {
            mix.warp_instructions[rows->rows[i].class] = rows->rows[i].warp_instructions;
            mix.thread_instructions[rows->rows[i].class] = rows->rows[i].thread_instructions;
        }
        to->mix = keep_mix(&all, &mix, arena);
        room = to->mix != NULL;
    }
    HASH_CLEAR(hh, all);
    *count = room ? (uint32_t)(to - mixes) : 0;
    return room ? mixes : NULL;
}

static wl_status set_mixes(prof_db *db, uint32_t kernel, wl_arena *scratch, wl_arena *arena,
                           prof_launch_rows *launches, wl_error *err)
{
    static const obs_mix none;
    mix_rows rows;
    uint32_t count;
    wl_status status = LOAD_ROWS(db, mix, scratch, &rows, err,
                                 "mix WHERE launch IN (SELECT rows_of FROM launch_kinds "
                                 "WHERE " OF_KERNEL ") ORDER BY launch, class",
                                 db_int(kernel));
    const launch_mix *mixes = status == WL_OK ? group_mix(&rows, scratch, arena, &count) : NULL;
    if (!mixes) {
        return status != WL_OK ? status
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    }
    for (uint32_t i = 0; i < launches->count; i++) {
        prof_launch *l = &launches->rows[i];
        const launch_mix *found = bsearch(&l->rows_of, mixes, count, sizeof *mixes, compare_id);
        l->mix = found ? found->mix : &none;
    }
    return WL_OK;
}

static wl_status load_kinds_of(prof_db *db, uint32_t kernel, wl_arena *arena, prof_launch_rows *out,
                               wl_error *err)
{
    wl_arena *scratch = wl_arena_new();
    if (!scratch)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    wl_status status = LOAD_ROWS(db, launch_kinds, arena, out, err,
                                 "launch_kinds WHERE " OF_KERNEL "ORDER BY first", db_int(kernel));
    status = status == WL_OK ? set_mixes(db, kernel, scratch, arena, out, err) : status;
    wl_arena_free(scratch);
    return status;
}

/* They are asked for by many, and kept. */
static wl_status load_all_kinds(prof_db *db, wl_error *err)
{
    if (db->arena)
        return WL_OK;
    db->arena = wl_arena_new();
    if (!db->arena)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    wl_status status = load_kinds_of(db, PROF_ALL, db->arena, &db->kinds, err);
    if (status != WL_OK) {
        wl_arena_free(db->arena);
        db->arena = NULL;
    }
    return status;
}

wl_status prof_load_launch_kinds(prof_db *db, uint32_t kernel, wl_arena *arena,
                                 prof_launch_rows *out, wl_error *err)
{
    if (kernel != PROF_ALL)
        return load_kinds_of(db, kernel, arena, out, err);
    wl_status status = load_all_kinds(db, err);
    *out = status == WL_OK ? db->kinds : (prof_launch_rows){0};
    return status;
}

typedef struct time_rows {
    uint32_t count;
    row_launch_time *rows;
} time_rows;

static int compare_kind(const void *key, const void *item)
{
    uint32_t a = *(const uint32_t *)key, b = ((const prof_launch *)item)->kind;
    return a < b ? -1 : a > b;
}

/* The launch of its kind that ran then; false where there is no such kind. */
static bool single_launch(const prof_launch_rows *kinds, const row_launch_time *t, prof_launch *out)
{
    const prof_launch *kind = kinds->count ? bsearch(&t->kind, kinds->rows, kinds->count,
                                                     sizeof *kinds->rows, compare_kind)
                                           : NULL;
    if (!kind)
        return false;
    *out = *kind;
    out->id = t->id;
    out->count = 1;
    out->number = t->number;
    out->call = t->call;
    out->ordinal = t->ordinal;
    out->host_seconds = t->host_seconds;
    out->device_seconds = out->device_least = out->device_most = t->device_seconds;
    out->timed = t->device_seconds >= 0;
    out->device_start = t->device_start;
    return true;
}

wl_status prof_load_launches(prof_db *db, uint32_t kernel, wl_arena *arena, prof_launch_rows *out,
                             wl_error *err)
{
    prof_launch_rows kinds;
    time_rows times = {0};
    *out = (prof_launch_rows){0};
    wl_status status = prof_load_launch_kinds(db, kernel, arena, &kinds, err);
    if (status == WL_OK)
        status = LOAD_ROWS(db, launch_times, arena, &times, err,
                           "launch_times WHERE ?1 = 0 OR kind IN (SELECT id FROM launch_kinds "
                           "WHERE kernel = ?1) ORDER BY id",
                           db_int(kernel));
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, prof_launch, (size_t)times.count + 1);
    if (!out->rows)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (; out->count < times.count; out->count++)
        if (!single_launch(&kinds, &times.rows[out->count], &out->rows[out->count]))
            return wl_fail(err, WL_CORRUPT, "The profile is damaged: a launch is of no kind.");
    return WL_OK;
}

wl_status prof_load_instructions(prof_db *db, uint32_t kernel, uint32_t launch, wl_arena *arena,
                                 prof_instruction_rows *out, wl_error *err)
{
    return LOAD_ROWS(
        db, instructions, arena, out, err,
        "launch_instructions WHERE " OF_KERNEL
        "AND (?2 = 0 OR launch = ?2) ORDER BY kernel, launch, pc, object, space, position",
        db_int(kernel), db_int(launch));
}

wl_status prof_load_kind_instructions(prof_db *db, wl_arena *arena, prof_instruction_rows *out,
                                      wl_error *err)
{
    return LOAD_ALL_ROWS(db, instructions, arena, out, err,
                         "kind_instructions ORDER BY kernel, launch, pc, object, space, position");
}

wl_status prof_load_instruction_totals(prof_db *db, uint32_t kernel, wl_arena *arena,
                                       prof_instruction_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, instructions, arena, out, err,
                     "kernel_instructions WHERE " OF_KERNEL "ORDER BY kernel, pc, object, space",
                     db_int(kernel));
}

static void fill_traffic(db_row *row, void *item)
{
    prof_traffic *t = item;
    t->kernel = row_u32(row);
    t->count = row_u64(row);
    t->launch = row_u32(row);
    t->object = row_u32(row);
    t->space = row_u32(row);
    t->requests = row_u64(row);
    t->sectors = row_u64(row);
    t->sectors_min = row_u64(row);
    t->wavefronts = row_u64(row);
    t->wavefronts_min = row_u64(row);
    row->bad |= t->space >= ACC_SPACE_COUNT;
}

/* As the view kind_traffic, which would add up all launches' rows first. */
wl_status prof_load_traffic(prof_db *db, uint32_t kernel, wl_arena *arena, prof_traffic_rows *out,
                            wl_error *err)
{
    return LOAD(
        db, arena, out, err, fill_traffic,
        "SELECT kernel, count, first AS launch, coalesce(m.becomes, i.object) AS object, "
        "i.space, sum(i.requests), sum(i.sectors), sum(i.sectors_min), sum(i.wavefronts), "
        "sum(i.wavefronts_min) FROM launch_kinds l JOIN instructions i ON i.launch = l.rows_of "
        "LEFT JOIN moves m ON m.id = l.moves AND m.object = i.object WHERE " OF_KERNEL
        "GROUP BY l.id, i.object, i.space ORDER BY kernel, object, i.space, launch",
        db_int(kernel));
}

/* ---- what the model of a launch's time starts from ---- */

static void fill_work(db_row *row, void *item)
{
    prof_work *w = item;
    w->kernel = row_u32(row);
    w->launch = row_u32(row);
    w->cost = row_u32(row);
    w->machine = row_seconds(row);
    w->chain = row_seconds(row);
    row->bad |= w->cost >= IR_COST_COUNT || !(w->machine >= 0) || !(w->chain >= 0);
}

wl_status prof_load_work(prof_db *db, wl_arena *arena, prof_work_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_work,
                    "SELECT kernel, launch, class, machine, chain FROM kind_work "
                    "ORDER BY kernel, launch, class");
}

static void fill_wait(db_row *row, void *item)
{
    prof_wait *w = item;
    w->kernel = row_u32(row);
    w->launch = row_u32(row);
    w->loads = row_seconds(row);
    w->shared = row_seconds(row);
    w->ilp = row_seconds(row);
    w->mlp = row_seconds(row);
    row->bad |= !(w->loads >= 0) || !(w->shared >= 0);
}

wl_status prof_load_waits(prof_db *db, wl_arena *arena, prof_wait_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_wait,
                    "SELECT kernel, launch, loads, shared, ilp, mlp FROM kind_waits "
                    "ORDER BY kernel, launch");
}

static void fill_touched(db_row *row, void *item)
{
    prof_touched *t = item;
    t->kernel = row_u32(row);
    t->launch = row_u32(row);
    t->object = row_u32(row);
    t->sectors = row_seconds(row);
    row->bad |= !(t->sectors >= 0);
}

wl_status prof_load_touched(prof_db *db, wl_arena *arena, prof_touched_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_touched,
                    "SELECT kernel, launch, object, sectors FROM kind_touched "
                    "ORDER BY kernel, launch, object");
}

static void fill_reuse(db_row *row, void *item)
{
    prof_reuse *r = item;
    r->kernel = row_u32(row);
    r->launch = row_u32(row);
    r->object = row_u32(row);
    r->distance = row_u32(row);
    r->loads = row_seconds(row);
    r->stores = row_seconds(row);
    r->waits = row_seconds(row);
    row->bad |= !(r->loads >= 0) || !(r->stores >= 0) || !(r->waits >= 0);
}

wl_status prof_load_reuses(prof_db *db, wl_arena *arena, prof_reuse_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_reuse,
                    "SELECT kernel, launch, object, coalesce(distance, 4294967295), loads, stores, "
                    "waits FROM kind_reuses ORDER BY kernel, launch, object, distance");
}

/* ---- trials ---- */

typedef struct trial_insns {
    uint32_t count;
    row_trial_insn *rows;
} trial_insns;

/* The rows of a trial stand together, those of before first; both lists are by trial. */
static wl_status share_rows_out(const trial_insns *all, wl_arena *arena, prof_trial_rows *trials)
{
    obs_insn *list = wl_new_array(arena, obs_insn, (size_t)all->count + 1);
    if (!list)
        return WL_NOMEM;
    for (uint32_t i = 0; i < all->count; i++)
        list[i] = all->rows[i].c;
    for (uint32_t t = 0, i = 0; t < trials->count; t++) {
        prof_trial *trial = &trials->rows[t];
        while (i < all->count && all->rows[i].trial < trial->id)
            i++;
        trial->before = &list[i];
        for (; i < all->count && all->rows[i].trial == trial->id && !all->rows[i].after; i++)
            trial->nbefore++;
        trial->after = &list[i];
        for (; i < all->count && all->rows[i].trial == trial->id; i++)
            trial->nafter++;
    }
    return WL_OK;
}

wl_status prof_load_trials(prof_db *db, uint32_t kernel, wl_arena *arena, prof_trial_rows *out,
                           wl_error *err)
{
    trial_insns insns;
    wl_status status = LOAD_ROWS(db, trials, arena, out, err,
                                 "kernel_trials WHERE " OF_KERNEL "ORDER BY id", db_int(kernel));
    if (status == WL_OK)
        status = LOAD_ROWS(
            db, trial_instructions, arena, &insns, err,
            "trial_instructions WHERE trial IN (SELECT id FROM kernel_trials WHERE " OF_KERNEL
            ") ORDER BY trial, after, position",
            db_int(kernel));
    return status == WL_OK ? share_rows_out(&insns, arena, out) : status;
}

/* ---- objects and calls ---- */

wl_status prof_load_objects(prof_db *db, wl_arena *arena, prof_object_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, objects, arena, out, err, "objects ORDER BY id");
}

wl_status prof_load_calls(prof_db *db, wl_arena *arena, prof_call_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, calls, arena, out, err,
                         "calls WHERE id IN (SELECT alloc_call FROM objects UNION "
                         "SELECT free_call FROM objects UNION "
                         "SELECT min(id) FROM calls WHERE result <> 0 GROUP BY process, result) "
                         "ORDER BY id");
}

wl_status prof_load_every_call(prof_db *db, wl_arena *arena, prof_call_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, calls, arena, out, err, "calls ORDER BY id");
}

static void fill_transfer(db_row *row, void *item)
{
    prof_transfer *c = item;
    c->kind = row_u32(row);
    c->source_object = row_u32(row);
    c->target_object = row_u32(row);
    c->count = row_u64(row);
    c->bytes = row_u64(row);
    c->timed = row_u64(row);
    c->timed_bytes = row_u64(row);
    c->device_seconds = row_seconds(row);
    c->device_seconds = c->device_seconds < 0 ? 0 : c->device_seconds;
}

wl_status prof_load_transfers(prof_db *db, wl_arena *arena, prof_transfer_rows *out, wl_error *err)
{
    return LOAD_ALL(db, arena, out, err, fill_transfer,
                    "SELECT kind, source_object, target_object, count(*), sum(bytes), "
                    "count(device_seconds), sum(bytes) FILTER (WHERE device_seconds NOT NULL), "
                    "sum(device_seconds) FROM calls WHERE kind IN (2, 3) AND result = 0 "
                    "GROUP BY kind, source_object, target_object");
}

/* ---- heat maps ---- */

wl_status prof_load_heats(prof_db *db, uint32_t kernel, wl_arena *arena, prof_heat_info_rows *out,
                          wl_error *err)
{
    return LOAD_ROWS(db, heats, arena, out, err,
                     "kind_heats WHERE " OF_KERNEL "ORDER BY kernel, object, space, launch, block",
                     db_int(kernel));
}

typedef struct content_rows {
    uint32_t count;
    row_content *rows;
} content_rows;

static wl_status unpack_heat(prof_db *db, const row_content *c, wl_arena *scratch, wl_arena *arena,
                             prof_heat *out)
{
    unsigned char *data;
    uint64_t size = (uint64_t)c->nrows * 60 + ((uint64_t)c->npcsets + c->npcs) * 4;
    wl_status status = blob_decompress(&db->unpacker, c->data.data, c->data.size, size, scratch,
                                       &data);
    if (status != WL_OK)
        return status;
    out->npcsets = c->npcsets;
    return blob_unpack_heat(data, size, c->nrows, out->npcsets, c->npcs, arena, &out->rows,
                            &out->pcsets);
}

/* ---- elements ---- */

wl_status prof_load_uses(prof_db *db, uint32_t kernel, wl_arena *arena, prof_use_rows *out,
                         wl_error *err)
{
    return LOAD_ROWS(db, uses, arena, out, err,
                     "kind_uses WHERE " OF_KERNEL "ORDER BY object, space, kernel, launch",
                     db_int(kernel));
}

wl_status prof_load_live_ranges(prof_db *db, uint32_t kernel, wl_arena *arena,
                                prof_live_ranges_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, live_ranges, arena, out, err,
                     "kind_live_ranges WHERE " OF_KERNEL
                     "ORDER BY object, kernel, launch, origin, accesses",
                     db_int(kernel));
}

typedef struct spans_rows {
    uint32_t count;
    row_spans *rows;
} spans_rows;

static bool spans_valid(wl_span_reader reader)
{
    wl_span span;
    while (wl_span_next(&reader, &span)) {}
    return !reader.damaged;
}

static wl_status unpack_spans(prof_db *db, const spans_rows *rows, wl_arena *arena,
                              wl_span_reader *out)
{
    unsigned char *data;
    if (rows->count != 1)
        return WL_CORRUPT;
    const row_spans *p = &rows->rows[0];
    wl_status status = blob_decompress(&db->unpacker, p->data.data, p->data.size, p->bytes, arena,
                                       &data);
    if (status != WL_OK)
        return status;
    *out = wl_spans_read(data, (size_t)p->bytes, p->counted);
    return spans_valid(*out) ? WL_OK : WL_CORRUPT;
}

wl_status prof_load_spans(prof_db *db, uint32_t spans, wl_arena *arena, wl_span_reader *out,
                          wl_error *err)
{
    spans_rows rows = {0};
    *out = (wl_span_reader){0};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? LOAD_ROWS(db, spans, scratch, &rows, err, "spans WHERE id = ?",
                                           db_int(spans))
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status == WL_OK && (status = unpack_spans(db, &rows, arena, out)) != WL_OK) {
        wl_fail(err, status, "The elements %u of the profile cannot be read: %s.", spans,
                wl_status_text(status));
    }
    wl_arena_free(scratch);
    return status;
}

/* ---- samples ---- */

wl_status prof_load_samples(prof_db *db, uint32_t kernel, wl_arena *arena, prof_sample_rows *out,
                            wl_error *err)
{
    return LOAD_ROWS(db, samples, arena, out, err,
                     "launch_samples WHERE " OF_KERNEL "ORDER BY launch, block", db_int(kernel));
}

wl_status prof_load_kind_samples(prof_db *db, uint32_t kernel, wl_arena *arena,
                                 prof_sample_rows *out, wl_error *err)
{
    return LOAD_ROWS(db, samples, arena, out, err,
                     "kind_samples WHERE " OF_KERNEL "ORDER BY launch, block", db_int(kernel));
}

wl_status prof_load_heat(prof_db *db, uint32_t id, wl_arena *arena, prof_heat *out, wl_error *err)
{
    prof_heat_info_rows infos = {0};
    content_rows contents = {0};
    wl_arena *scratch = wl_arena_new();
    *out = (prof_heat){0};
    wl_status status = scratch
                           ? LOAD_ROWS(db, heats, arena, &infos, err,
                                       "kind_heats WHERE id = ? AND launch = rows_of", db_int(id))
                           : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (status == WL_OK && infos.count != 1)
        status = wl_fail(err, WL_NOENT, "The profile has no heat map %u.", id);
    if (status == WL_OK) {
        out->info = infos.rows[0];
        status = LOAD_ROWS(db, contents, scratch, &contents, err, "contents WHERE id = ?",
                           db_int(out->info.content));
    }
    if (status == WL_OK) {
        status = contents.count == 1 ? unpack_heat(db, &contents.rows[0], scratch, arena, out)
                                     : WL_CORRUPT;
        if (status != WL_OK) {
            wl_fail(err, status, "Heat map %u of the profile cannot be read: %s.", id,
                    wl_status_text(status));
        }
    }
    wl_arena_free(scratch);
    return status;
}

/* ---- texts ---- */

wl_status prof_load_source(prof_db *db, uint32_t file, wl_arena *arena, const char **text,
                           size_t *length, wl_error *err)
{
    file_rows files = {0};
    unsigned char *data;
    wl_arena *scratch = wl_arena_new();
    *text = NULL;
    *length = 0;
    wl_status status = scratch ? LOAD_ROWS(db, files, scratch, &files, err,
                                           "(SELECT *, text IS NOT NULL AS has_text FROM files) "
                                           "WHERE id = ?",
                                           db_int(file))
                               : wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    const row_file *found = status == WL_OK && files.count ? &files.rows[0] : NULL;
    if (status == WL_OK && (!found || !found->text.data)) {
        status = wl_fail(err, WL_NOENT, "The profile does not hold that text.");
    } else if (status == WL_OK) {
        status = blob_decompress(&db->unpacker, found->text.data, found->text.size, found->bytes,
                                 arena, &data);
        if (status == WL_OK) {
            *text = (const char *)data;
            *length = db_mend_text((char *)data, found->bytes);
        } else {
            wl_fail(err, status, "A text of the profile cannot be read: %s.",
                    wl_status_text(status));
        }
    }
    wl_arena_free(scratch);
    return status;
}

/* ---- coverage ---- */

wl_status prof_load_skips(prof_db *db, wl_arena *arena, prof_skip_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, skips, arena, out, err,
                         "(SELECT min(id) AS id, min(process) AS process, kernel, reason, "
                         "sum(count) AS count FROM skips GROUP BY kernel, reason) "
                         "ORDER BY count DESC, kernel, reason");
}

wl_status prof_load_faults(prof_db *db, wl_arena *arena, prof_fault_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, faults, arena, out, err, "faults ORDER BY launch");
}

wl_status prof_load_gaps(prof_db *db, wl_arena *arena, prof_gap_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, gaps, arena, out, err, "kernel_gaps ORDER BY kernel, pc, reason");
}

wl_status prof_load_messages(prof_db *db, wl_arena *arena, prof_message_rows *out, wl_error *err)
{
    return LOAD_ALL_ROWS(db, messages, arena, out, err, "messages ORDER BY id");
}

wl_status prof_load_unsupported(prof_db *db, wl_arena *arena, prof_unsupported_rows *out,
                                wl_error *err)
{
    return LOAD_ALL_ROWS(db, unsupported, arena, out, err, "unsupported ORDER BY api");
}

static void fill_number(db_row *row, void *item)
{
    *(uint64_t *)item = row_u64(row);
}

typedef struct numbers {
    uint32_t count;
    uint64_t *rows;
} numbers;

static wl_status load_number(prof_db *db, const char *sql, wl_arena *arena, uint64_t *out,
                             wl_error *err)
{
    numbers n;
    wl_status status = LOAD_ALL(db, arena, &n, err, fill_number, sql);
    *out = status == WL_OK && n.count ? n.rows[0] : 0;
    return status;
}

wl_status prof_load_coverage(prof_db *db, wl_arena *arena, prof_coverage *out, wl_error *err)
{
    const struct {
        uint64_t *to;
        const char *sql;
    } all[] = {
        {&out->launches_seen,
         /* a launch that only a GPU saw has a row and, with the reason, is counted among the
          * skips */
         "SELECT (SELECT coalesce(sum(count), 0) FROM launch_kinds WHERE blocks_run > 0 OR error "
         "<> 0) + "
         "(SELECT coalesce(sum(count), 0) FROM skips)"},
        {&out->launches_observed,
         "SELECT sum(count) FROM launch_kinds WHERE blocks_observed > 0 AND error = 0"},
        {&out->launches_failed, "SELECT sum(count) FROM launch_kinds WHERE error <> 0"},
        {&out->kernels_seen,
         "SELECT count(*) FROM (SELECT name FROM kernels UNION SELECT kernel FROM skips)"},
        {&out->kernels_observed,
         "SELECT count(DISTINCT kernel) FROM launch_kinds WHERE blocks_observed > 0"},
        {&out->blocks_run, "SELECT sum(count * blocks_run) FROM launch_kinds"},
        {&out->blocks_observed, "SELECT sum(count * blocks_observed) FROM launch_kinds"},
        {&out->blocks_sampled, "SELECT sum(count * blocks_sampled) FROM launch_kinds"},
        {&out->launches_mapped,
         "SELECT sum(count) FROM launch_kinds WHERE blocks_sampled > 0 AND error = 0"},
        {&out->records_dropped, "SELECT sum(count * dropped) FROM launch_kinds"},
        {&out->sectors_dropped, "SELECT sum(dropped) FROM heats"},
        {&out->processes, "SELECT count(*) FROM processes"},
        {&out->processes_cut_off, "SELECT count(*) FROM processes WHERE cut_off IS NOT NULL"},
        {&out->objects_dropped, "SELECT sum(objects_dropped) FROM processes"},
        {&out->objects_without_site,
         "SELECT count(*) FROM objects WHERE alloc_call IS NOT NULL AND line IS NULL"},
        {&out->sources_missing, "SELECT count(*) FROM files WHERE text IS NULL AND NOT system"},
        {&out->launches_estimated, "SELECT sum(count) FROM launch_kinds WHERE estimated"},
        {&out->launches_repeated,
         "SELECT sum(count) - sum(rows_of = first) FROM launch_kinds WHERE blocks_run > 0"},
    };
    *out = (prof_coverage){0};
    wl_status status = WL_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == WL_OK; i++)
        status = load_number(db, all[i].sql, arena, all[i].to, err);
    return status;
}

/* ---- finding ---- */

/* The id is each row's first member, and rows ascend by it. */
#define FIND(name)                                                                                 \
    const prof_##name *prof_find_##name(const prof_##name##_rows *rows, uint32_t id)               \
    {                                                                                              \
        return rows->count ? bsearch(&id, rows->rows, rows->count, sizeof *rows->rows, compare_id) \
                           : NULL;                                                                 \
    }
FIND(file)
FIND(kernel)
FIND(launch)
FIND(object)
FIND(call)

const prof_code *prof_find_code(const prof_code_rows *code, uint32_t kernel, uint32_t pc)
{
    uint32_t low = 0, high = code->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        const prof_code *c = &code->rows[middle];
        if (c->kernel < kernel || (c->kernel == kernel && c->pc < pc))
            low = middle + 1;
        else
            high = middle;
    }
    bool here = low < code->count && code->rows[low].kernel == kernel && code->rows[low].pc == pc;
    return here ? &code->rows[low] : NULL;
}
