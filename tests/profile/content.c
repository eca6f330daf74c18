#include "content.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

/* All that every run of the same program shares: no times, addresses, process ids, host, or what
 * the user asked for. Rows of heat maps over unknown memory hold addresses. Blobs of text are
 * compared by their files' sizes and text. */
static const char *const stable[] = {
    "SELECT id, executable, directory, collector, version, cut_off IS NULL FROM processes ORDER BY "
    "id",
    "SELECT * FROM arguments ORDER BY process, position",
    "SELECT * FROM devices ORDER BY id",
    "SELECT * FROM files ORDER BY id",
    "SELECT * FROM locs ORDER BY id",
    "SELECT * FROM modules ORDER BY id",
    "SELECT * FROM kernels ORDER BY id",
    "SELECT * FROM code ORDER BY kernel, pc",
    "SELECT * FROM static_blocks ORDER BY kernel, first_pc",
    "SELECT * FROM static_mix ORDER BY kernel, first_pc, class",
    "SELECT * FROM loops ORDER BY kernel, header",
    "SELECT * FROM forms ORDER BY kernel, pc, position",
    "SELECT * FROM successors ORDER BY kernel, first_pc, next_pc",
    "SELECT * FROM barriers ORDER BY kernel, pc",
    "SELECT * FROM premises ORDER BY kernel, pc",
    "SELECT id, process, number, kernel, call, grid_x, grid_y, grid_z, block_x, block_y, block_z, "
    "cluster_x, "
    "cluster_y, cluster_z, dynamic_shared, static_shared, local_bytes, registers, stream, error, "
    "warp_instructions, thread_instructions, blocks_run, blocks_observed, blocks_sampled, dropped, "
    "way, estimated, objects_known, arrays_known, accesses_known, mix_whole, registers_by, "
    "warps_dropped FROM launches ORDER BY id",
    /* Whether a launch has rows of its own, or those of one that did the same, is no difference. */
    "SELECT launch, class, warp_instructions, thread_instructions FROM launch_mix "
    "ORDER BY launch, class",
    "SELECT launch, object, pc, space, access, bytes, flags, executions, execution_lanes, "
    "requests, "
    "active_lanes, sectors, sectors_min, wavefronts, wavefronts_min, turns, slice_turns, uniform, "
    "contiguous, "
    "misaligned, strided, irregular, stride FROM launch_instructions "
    "ORDER BY launch, pc, object, space, access",
    "SELECT launch, block, first_pc, ninsns, executions, lanes FROM launch_blocks "
    "ORDER BY launch, block",
    "SELECT l.id, g.pc, g.reason FROM launches l JOIN gaps g ON g.launch = l.rows_of "
    "ORDER BY l.id, g.pc",
    "SELECT * FROM launch_paths ORDER BY launch, path",
    "SELECT * FROM path_runs ORDER BY launch",
    "SELECT * FROM sequences ORDER BY id",
    "SELECT * FROM sequence_pages ORDER BY sequence, page",
    "SELECT launch, warps, sequence, slot, space, object FROM launch_warps "
    "ORDER BY launch, warps, slot",
    "SELECT * FROM warp_pages ORDER BY warps, page",
    "SELECT id, process, kernel, kind, space, device, name, variable, CASE WHEN kernel IS NULL "
    "THEN 0 ELSE base END, "
    "bytes, alloc_call, free_call, alloc_order, free_order, freed_how, parent, pool, tag, "
    "element_bytes, made_by_kernel, made_by_pc, file, line, function FROM "
    "objects "
    "ORDER BY id",
    "SELECT id, process, number, api, kind, stream, result, source_object, source_offset, "
    "target_object, "
    "target_offset, bytes, stack, file, line, function FROM calls ORDER BY id",
    "SELECT * FROM frames ORDER BY stack, depth",
    "SELECT h.launch, h.object, h.space, h.block, h.warps, h.dropped, c.nrows, c.npcsets, c.npcs, "
    "CASE WHEN h.object IS NULL THEN NULL ELSE c.data END "
    "FROM launch_heats h JOIN contents c ON c.id = h.content "
    "ORDER BY h.launch, h.block, h.object, h.space",
    "SELECT u.launch, u.object, u.space, u.known, u.elements, u.touched, u.loads, u.stores, "
    "u.atomics, u.least, u.most, u.ranges_loaded, u.ranges_copied, "
    "u.ranges_computed, u.accesses_loaded, u.accesses_copied, u.accesses_computed, "
    "u.accesses_unfilled, u.block_words, u.block_words_most, u.block_accesses, u.blocks, "
    "s.bytes, s.data "
    "FROM launch_uses u LEFT JOIN spans s ON s.id = u.spans ORDER BY u.launch, u.object, u.space",
    "SELECT launch, object, origin, accesses, ranges FROM launch_live_ranges "
    "ORDER BY launch, object, origin, accesses",
    "SELECT l.id, r.block, coalesce(m.becomes, r.object) AS object, r.distance, r.loads, r.stores, "
    "r.waits "
    "FROM launches l JOIN reuses r ON r.launch = l.rows_of "
    "LEFT JOIN moves m ON m.id = l.moves AND m.object = r.object "
    "ORDER BY l.id, r.block, object, r.distance",
    "SELECT launch, block, why, mapped, alike, instructions, requests, sectors FROM launch_samples "
    "ORDER BY launch, block",
    "SELECT process, kernel, reason, count FROM skips ORDER BY id",
    "SELECT process, level, text FROM messages ORDER BY id",
    "SELECT api FROM unsupported ORDER BY api",
};

static void hash_column(XXH64_state_t *state, sqlite3_stmt *stmt, int column)
{
    unsigned char type = (unsigned char)sqlite3_column_type(stmt, column);
    const void *data = type == SQLITE_NULL
                           ? ""
                           : sqlite3_column_blob(stmt, column); /* text of numbers */
    int64_t size = sqlite3_column_bytes(stmt, column);
    XXH64_update(state, &type, sizeof type);
    XXH64_update(state, &size, sizeof size);
    if (data && size)
        XXH64_update(state, data, (size_t)size);
}

static void hash_rows(sqlite3 *sql, const char *text, XXH64_state_t *state)
{
    sqlite3_stmt *stmt = NULL;
    if (sqlite3_prepare_v2(sql, text, -1, &stmt, NULL) != SQLITE_OK) {
        fprintf(stderr, "%s: %s\n", text, sqlite3_errmsg(sql));
        abort();
    }
    while (sqlite3_step(stmt) == SQLITE_ROW)
        for (int i = 0; i < sqlite3_column_count(stmt); i++)
            hash_column(state, stmt, i);
    sqlite3_finalize(stmt);
}

uint64_t content_hash(const char *path)
{
    sqlite3 *sql;
    XXH64_state_t *state = XXH64_createState();
    if (!state || sqlite3_open_v2(path, &sql, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        abort();
    XXH64_reset(state, 0);
    for (size_t i = 0; i < sizeof stable / sizeof *stable; i++) {
        XXH64_update(state, &i, sizeof i);
        hash_rows(sql, stable[i], state);
    }
    uint64_t hash = XXH64_digest(state);
    XXH64_freeState(state);
    sqlite3_close(sql);
    return hash;
}
