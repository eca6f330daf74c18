/* Profiles with more launches than there is memory for: reads them row by row. */
#include "profile/tables.h"

static void fill_count(db_row *row, void *item)
{
    *(uint64_t *)item = row_u64(row);
}

static bool take_count(void *ctx, const void *item)
{
    *(uint64_t *)ctx = *(const uint64_t *)item;
    return true;
}

wl_status prof_count_kinds(prof_db *db, uint64_t *out, wl_error *err)
{
    uint64_t count;
    *out = 0;
    return db_each(db->sql, "SELECT count(*) FROM launch_kinds", NULL, 0, &count, sizeof count,
                   fill_count, take_count, out, err);
}

wl_status prof_count_step_bytes(prof_db *db, uint32_t launch, uint64_t *out, wl_error *err)
{
    const db_value key = db_int(launch);
    uint64_t count;
    *out = 0;
    return db_each(db->sql,
                   "SELECT coalesce(sum(length(data)), 0) FROM sequence_pages WHERE sequence IN "
                   "(SELECT sequence FROM warp_groups WHERE launch = ?)",
                   &key, 1, &count, sizeof count, fill_count, take_count, out, err);
}

wl_status prof_read_launches(prof_db *db, wl_error *err)
{
    static const struct {
        table_id table;
        const char *from;
    } all[] = {
        {TABLE_launch_kinds, "launch_kinds"},
        {TABLE_launch_times, "launch_times"},
        {TABLE_calls, "calls"},
        {TABLE_mix, "mix"},
        {TABLE_blocks, "blocks b JOIN launch_kinds k ON k.rows_of = b.launch"},
        {TABLE_instructions, "kind_instructions"},
        {TABLE_heats, "kind_heats"},
        {TABLE_contents, "contents"},
        {TABLE_samples, "kind_samples"},
        {TABLE_uses, "kind_uses"},
        {TABLE_spans, "spans"},
        {TABLE_faults, "faults"},
        {TABLE_moves, "moves"},
    };
    wl_status status = WL_OK;
    for (size_t i = 0; i < sizeof all / sizeof *all && status == WL_OK; i++)
        status = table_read(db->sql, all[i].table, all[i].from, err);
    return status;
}
