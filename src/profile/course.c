/* The course of a process: its calls, what nodes of its graphs did, and its launches, in one order. */
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/tables.h"

/* Numbers of prof_operation_kind and cap_call_kind, as the statement has them. Launches have rows of
 * their own: of the calls that made them only those are of interest of which nothing else tells. */
static const char course[] =
    "SELECT ordinal, call, launch, first, class, stream, thread, device, context, flags, graph, "
    "event, source_object, target_object, source_offset, target_offset, bytes, rows, width, pitch, "
    "seconds, known FROM ("
    "SELECT c.ordinal, c.id AS call, 0 AS launch, 0 AS first, "
    "CASE WHEN c.api LIKE '%EventRecord%' THEN 9 WHEN c.api LIKE '%StreamWaitEvent%' THEN 10 "
    "WHEN c.api LIKE '%EventSynchronize%' THEN 8 WHEN c.api LIKE '%StreamSynchronize%' THEN 7 "
    "WHEN c.kind = 5 THEN 6 WHEN c.kind = 4 THEN 5 WHEN c.kind < 4 THEN c.kind ELSE 11 END AS "
    "class, "
    "c.stream, c.thread, c.device, c.context, c.flags, coalesce(c.parent, 0) AS graph, "
    "coalesce(c.event, 0) AS event, c.source_object, c.target_object, c.source_offset, "
    "c.target_offset, c.bytes, c.rows, c.width, c.target_pitch AS pitch, "
    "c.device_seconds AS seconds, 1 AS known "
    "FROM calls c WHERE c.process = ?1 AND c.result = 0 AND c.ordinal IS NOT NULL "
    "AND c.flags & 1 = 0 AND (c.kind <> 4 OR EXISTS (SELECT 1 FROM skips WHERE process = ?1) "
    "AND c.id NOT IN (SELECT call FROM launch_times WHERE call IS NOT NULL)) "
    "UNION ALL "
    "SELECT t.ordinal, t.call, t.id, k.first, 4, k.stream, coalesce(c.thread, 1), k.device, "
    "k.context, 8, CASE WHEN c.api LIKE '%GraphLaunch%' THEN t.call ELSE 0 END, 0, NULL, NULL, 0, "
    "0, "
    "0, NULL, NULL, NULL, t.device_seconds, k.accesses_known AND k.error = 0 "
    "FROM launch_kinds k JOIN launch_times t ON t.kind = k.id LEFT JOIN calls c ON c.id = t.call "
    "WHERE k.process = ?1 AND t.ordinal IS NOT NULL) ORDER BY ordinal";

static void fill_operation(db_row *row, void *item)
{
    prof_operation *o = item;
    o->ordinal = row_u64(row);
    o->call = row_u32(row);
    o->launch = row_u32(row);
    o->kind_of = row_u32(row);
    o->kind = row_u32(row);
    o->stream = row_u32(row);
    o->thread = row_u32(row);
    o->device = row_u32(row);
    o->context = row_u64(row);
    o->flags = row_u32(row);
    o->graph = row_u32(row);
    o->event = row_u64(row);
    o->source_object = row_u32(row);
    o->target_object = row_u32(row);
    o->source_offset = row_u64(row);
    o->target_offset = row_u64(row);
    o->bytes = row_u64(row);
    o->rows = row_u64(row);
    o->width = row_u64(row);
    o->target_pitch = row_u64(row);
    o->seconds = row_seconds(row);
    o->accesses_known = row_bool(row);
    row->bad |= o->kind > PROF_ELSE;
}

typedef struct taker {
    bool (*each)(void *ctx, const prof_operation *operation);
    void *ctx;
} taker;

static bool take_operation(void *ctx, const void *item)
{
    const taker *t = ctx;
    return t->each(t->ctx, item);
}

wl_status prof_each_operation(prof_db *db, uint32_t process,
                              bool (*each)(void *ctx, const prof_operation *operation), void *ctx,
                              wl_error *err)
{
    prof_operation item;
    taker t = {each, ctx};
    const db_value values[] = {db_int(process)};
    return db_each(db->sql, course, values, 1, &item, sizeof item, fill_operation, take_operation,
                   &t, err);
}

wl_status prof_load_streams(prof_db *db, uint32_t process, wl_arena *arena, prof_stream_rows *out,
                            wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return table_load(db->sql, TABLE_streams, "streams WHERE process = ? ORDER BY stream", values,
                      1, arena, &out->count, &out->rows, err);
}

wl_status prof_load_pools(prof_db *db, wl_arena *arena, prof_pool_rows *out, wl_error *err)
{
    return table_load(db->sql, TABLE_pools, "pools ORDER BY process, pool", NULL, 0, arena,
                      &out->count, &out->rows, err);
}

wl_status prof_load_pool_states(prof_db *db, wl_arena *arena, prof_pool_state_rows *out,
                                wl_error *err)
{
    return table_load(db->sql, TABLE_pool_states, "pool_states ORDER BY process, pool, rowid", NULL,
                      0, arena, &out->count, &out->rows, err);
}

wl_status prof_load_callers(prof_db *db, wl_arena *arena, prof_caller_rows *out, wl_error *err)
{
    return table_load(db->sql, TABLE_callers, "callers ORDER BY stack", NULL, 0, arena, &out->count,
                      &out->rows, err);
}

wl_status prof_load_refusals(prof_db *db, uint32_t process, wl_arena *arena, prof_refusal_rows *out,
                             wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return table_load(
        db->sql, TABLE_refusals,
        "(SELECT r.*, c.ordinal, c.device, c.bytes FROM refusals r "
        "JOIN calls c ON c.id = r.call WHERE c.process = ? AND c.ordinal IS NOT NULL) "
        "ORDER BY ordinal",
        values, 1, arena, &out->count, &out->rows, err);
}

static void fill_wait_of_node(db_row *row, void *item)
{
    prof_wait_of_node *w = item;
    w->source = row_u64(row);
    w->target = row_u64(row);
    row->bad |= w->source >= w->target;
}

wl_status prof_load_waits_of_nodes(prof_db *db, uint32_t process, wl_arena *arena,
                                   prof_wait_of_node_rows *out, wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return db_load(db->sql,
                   "SELECT s.ordinal, t.ordinal FROM graphs g JOIN graph_runs r ON r.graph = g.id "
                   "JOIN graph_edges e ON e.graph = g.id "
                   "JOIN graph_steps s ON s.call = r.call AND s.node = e.source "
                   "JOIN graph_steps t ON t.call = r.call AND t.node = e.target "
                   "WHERE g.process = ? AND s.ordinal < t.ordinal ORDER BY 2, 1",
                   values, 1, sizeof *out->rows, fill_wait_of_node, arena, &out->count, &out->rows,
                   err);
}

static void fill_graph_run(db_row *row, void *item)
{
    ((prof_graph_run *)item)->call = row_u32(row);
}

wl_status prof_load_graph_runs(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_graph_run_rows *out, wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return db_load(db->sql,
                   "SELECT r.call FROM graphs g JOIN graph_runs r ON r.graph = g.id "
                   "WHERE g.process = ? AND g.edges_known ORDER BY 1",
                   values, 1, sizeof *out->rows, fill_graph_run, arena, &out->count, &out->rows,
                   err);
}

/* ---- where calls are made ---- */

/* What tells sites apart, in the order that numbers them. */
#define SITE "api, coalesce(stack, 0), coalesce(file, 0), coalesce(line, 0), function"

static void fill_call_time(db_row *row, void *item)
{
    prof_call_time *t = item;
    t->call = row_u32(row);
    t->site = row_u32(row);
    t->start_ns = row_i64(row);
    t->end_ns = row_i64(row);
}

wl_status prof_load_call_times(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_call_time_rows *out, wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return db_load(db->sql,
                   "SELECT id, dense_rank() OVER (ORDER BY " SITE ") - 1, start_ns, end_ns "
                   "FROM calls WHERE process = ? ORDER BY id",
                   values, 1, sizeof *out->rows, fill_call_time, arena, &out->count, &out->rows,
                   err);
}

static void fill_call_site(db_row *row, void *item)
{
    prof_call_site *s = item;
    s->api = row_text(row);
    s->stack = row_u32(row);
    s->file = row_u32(row);
    s->line = row_u32(row);
    s->function = row_text(row);
}

wl_status prof_load_call_sites(prof_db *db, uint32_t process, wl_arena *arena,
                               prof_call_site_rows *out, wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return db_load(db->sql, "SELECT DISTINCT " SITE " FROM calls WHERE process = ? ORDER BY " SITE,
                   values, 1, sizeof *out->rows, fill_call_site, arena, &out->count, &out->rows,
                   err);
}

static void fill_frame(db_row *row, void *item)
{
    prof_frame *f = item;
    f->stack = row_u32(row);
    f->function = row_text(row);
    f->file = row_u32(row);
    f->line = row_u32(row);
    f->inlined = row_bool(row);
}

wl_status prof_load_frames(prof_db *db, uint32_t process, wl_arena *arena, prof_frame_rows *out,
                           wl_error *err)
{
    const db_value values[] = {db_int(process)};
    return db_load(db->sql,
                   "SELECT stack, function, file, line, inlined FROM frames WHERE stack IN "
                   "(SELECT stack FROM calls WHERE process = ?) ORDER BY stack, depth",
                   values, 1, sizeof *out->rows, fill_frame, arena, &out->count, &out->rows, err);
}

typedef struct found_calls {
    uint32_t count;
    prof_call *rows;
} found_calls;

wl_status prof_load_call(prof_db *db, uint32_t id, wl_arena *arena, prof_call *out, wl_error *err)
{
    found_calls found = {0};
    const db_value values[] = {db_int(id)};
    wl_status status = table_load(db->sql, TABLE_calls, "calls WHERE id = ?", values, 1, arena,
                                  &found.count, &found.rows, err);
    *out = status == WL_OK && found.count ? found.rows[0] : (prof_call){0};
    return status == WL_OK && !found.count
               ? wl_fail(err, WL_NOENT, "The profile has no call %u.", id)
               : status;
}
