/* Ranges of the program's own: read, and the launches that were made in them. */
#include "profile/db.h"
#include "profile/profile.h"
#include "profile/tables.h"

wl_status prof_load_ranges(prof_db *db, wl_arena *arena, prof_range_rows *out, wl_error *err)
{
    return table_load(db->sql, TABLE_ranges, "ranges ORDER BY id", NULL, 0, arena, &out->count,
                      &out->rows, err);
}

wl_status prof_load_range_lists(prof_db *db, wl_arena *arena, prof_range_member_rows *out,
                                wl_error *err)
{
    return table_load(db->sql, TABLE_range_lists, "range_lists ORDER BY list, position", NULL, 0,
                      arena, &out->count, &out->rows, err);
}

static void fill_range_launches(db_row *row, void *item)
{
    prof_range_launches *l = item;
    l->ranges = row_u32(row);
    l->kind = row_u32(row);
    l->count = row_u64(row);
    l->host_seconds = row_seconds(row);
}

wl_status prof_load_range_launches(prof_db *db, wl_arena *arena, prof_range_launches_rows *out,
                                   wl_error *err)
{
    return db_load(db->sql,
                   "SELECT coalesce(c.ranges, 0) AS list, t.kind, count(*), sum(t.host_seconds) "
                   "FROM launch_times t LEFT JOIN calls c ON c.id = t.call "
                   "GROUP BY list, t.kind ORDER BY list, t.kind",
                   NULL, 0, sizeof *out->rows, fill_range_launches, arena, &out->count, &out->rows,
                   err);
}

static void fill_launch_list(db_row *row, void *item)
{
    prof_launch_list *l = item;
    l->launch = row_u32(row);
    l->ranges = row_u32(row);
}

wl_status prof_load_launch_lists(prof_db *db, wl_arena *arena, prof_launch_list_rows *out,
                                 wl_error *err)
{
    return db_load(db->sql,
                   "SELECT t.id, c.ranges FROM launch_times t JOIN calls c ON c.id = t.call "
                   "WHERE c.ranges IS NOT NULL ORDER BY t.id",
                   NULL, 0, sizeof *out->rows, fill_launch_list, arena, &out->count, &out->rows,
                   err);
}

static void fill_kind_sums(db_row *row, void *item)
{
    prof_kind_sums *s = item;
    s->kind = row_u32(row);
    s->requests = row_u64(row);
    s->sectors = row_u64(row);
    s->sectors_min = row_u64(row);
    s->wavefronts = row_u64(row);
    s->wavefronts_min = row_u64(row);
}

wl_status prof_load_kind_sums(prof_db *db, wl_arena *arena, prof_kind_sums_rows *out, wl_error *err)
{
    return db_load(db->sql,
                   "SELECT l.id, sum(t.requests), sum(t.sectors), sum(t.sectors_min), "
                   "sum(t.wavefronts), sum(t.wavefronts_min) FROM launch_kinds l "
                   "JOIN traffic t ON t.launch = l.rows_of GROUP BY l.id ORDER BY l.id",
                   NULL, 0, sizeof *out->rows, fill_kind_sums, arena, &out->count, &out->rows, err);
}
