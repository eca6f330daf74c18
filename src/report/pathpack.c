/* Which paths the warps of a launch took, known by hashes and counts, for the HTML report: columns. */
#include "report/impl.h"
#include "report/keys.h"

#include <stdlib.h>

static void put_path_columns(const rep_paths *p, rep_columns *to)
{
    size_t npaths = p->paths.count, nruns = p->runs.count;
    const prof_path *paths = p->paths.rows;
    const prof_path_run *runs = p->runs.rows;
    REP_COLUMN(to, K(page_paths_columns, instructions), npaths, 4, paths[i].p.instructions);
    REP_COLUMN(to, K(page_paths_columns, lane_instructions), npaths, 8,
               paths[i].p.lane_instructions == UINT64_MAX ? 0 : paths[i].p.lane_instructions);
    REP_COLUMN(to, K(page_paths_columns, run_path), nruns, 4,
               runs[i].path == OBS_NO_PATH ? 0 : runs[i].path + UINT64_C(1));
    REP_COLUMN(to, K(page_paths_columns, run_warps), nruns, 4, runs[i].warps);
}

static json_t *pack_path_columns(const rep_paths *p, rep_part *part)
{
    enum { PATH = 12, RUN = 8 };
    rep_columns to;
    if (rep_columns_init(&to, (size_t)p->paths.count * PATH + (size_t)p->runs.count * RUN))
        put_path_columns(p, &to);
    return rep_pack_columns(&to, part);
}

json_t *rep_pack_paths(const rep_paths *p, const ana_explore *steps, rep_parts *parts)
{
    rep_part part = {0};
    json_t *row = json_object(), *columns = pack_path_columns(p, &part);
    if (!row || !columns) {
        json_decref(row);
        json_decref(columns);
        free(part.data);
        return NULL;
    }
    rep_put(row, K(page_paths, compared), rep_hashes_json(&p->hashed, steps));
    if (part.size > parts->explore_room || p->hashed.warps > REP_MOST_HASHED_WARPS) {
        rep_put_count(row, K(page_paths, left_out), part.size);
        json_decref(columns);
        free(part.data);
        return row;
    }
    rep_put_count(row, K(page_paths, part), parts->count);
    rep_put(row, K(page_paths, columns), columns);
    parts->explore_room -= part.size;
    rep_add_part(parts, part);
    return row;
}
