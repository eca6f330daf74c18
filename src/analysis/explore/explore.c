/* Loads what is known of a launch's warps, and compares them. */
#include "analysis/explore/explore.h"

#include "analysis/explore/outliers.h"

#include <string.h>

static wl_status fail_explore(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "Cannot compare the warps of a launch: out of memory.");
}

/* ---- facts ---- */

static const ana_arch *arch_of_launch(const prof_device_rows *devices, const prof_launch *l)
{
    for (uint32_t i = 0; i < devices->count; i++)
        if (devices->rows[i].process == l->process && devices->rows[i].ordinal == l->device)
            return ana_arch_of_device(devices->rows[i].cc_major, devices->rows[i].cc_minor);
    return ana_arch_at(0);
}

static wl_status load_facts(prof_db *db, const prof_launch *l, wl_arena *arena, explore_facts *f,
                            wl_error *err)
{
    prof_device_rows devices = {0};
    wl_status status = prof_load_code(db, l->kernel, arena, &f->code, err);
    status = status == WL_OK ? prof_load_static_blocks(db, l->kernel, arena, &f->blocks, err)
                             : status;
    status = status == WL_OK ? prof_load_loops(db, l->kernel, arena, &f->loops, err) : status;
    status = status == WL_OK
                 ? prof_load_instructions(db, l->kernel, l->rows_of, arena, &f->insns, err)
                 : status;
    status = status == WL_OK ? prof_load_objects(db, arena, &f->objects, err) : status;
    status = status == WL_OK ? prof_load_files(db, arena, &f->files, err) : status;
    status = status == WL_OK ? prof_load_devices(db, arena, &devices, err) : status;
    memcpy(f->grid, l->grid, sizeof f->grid);
    memcpy(f->block, l->block, sizeof f->block);
    /* What probes counted is in the mix, but not among the entries of warps: the longest warp is known
     * where replay itself saw all basic blocks. */
    bool recorded = l->way == CAP_WAY_PROBE || l->way == CAP_WAY_PATCH;
    f->mix_whole = l->mix_whole && (!recorded || l->longest_warp);
    f->arch = arch_of_launch(&devices, l);
    return status == WL_OK && !explore_prepare(f, arena) ? fail_explore(err) : status;
}

/* A launch of those that are alike, with its own id. */
static wl_status find_launch(prof_db *db, uint32_t id, wl_arena *arena, const prof_launch **out,
                             wl_error *err)
{
    prof_launch_rows kinds;
    wl_status status = prof_load_launch_kinds(db, PROF_ALL, arena, &kinds, err);
    *out = NULL;
    for (uint32_t i = 0; status == WL_OK && i < kinds.count; i++)
        if (kinds.rows[i].id == id)
            *out = &kinds.rows[i];
    return status == WL_OK && !*out
               ? wl_fail(err, WL_NOENT, "The profile has no launch %u with rows of its own.", id)
               : status;
}

/* ---- a launch ---- */

static wl_status explore_one(prof_db *db, const prof_launch *l, wl_arena *arena, ana_explore *out,
                             wl_error *err)
{
    explore_facts facts = {0};
    *out = (ana_explore){.launch = l->id, .kernel = l->kernel};
    out->dropped = l->warps_dropped == UINT64_MAX ? 0 : l->warps_dropped;
    wl_status status = prof_load_warps(db, l->rows_of, arena, &out->warps, err);
    if (status == WL_OK && out->warps.count)
        status = load_facts(db, l, arena, &facts, err);
    if (status == WL_OK && out->warps.count && !explore_of_warps(&facts, arena, out))
        status = fail_explore(err);
    return status;
}

wl_status ana_explore_launch(prof_db *profile, uint32_t launch, wl_arena *arena, ana_explore *out,
                             wl_error *err)
{
    const prof_launch *l;
    *out = (ana_explore){0};
    wl_status status = find_launch(profile, launch, arena, &l, err);
    return status == WL_OK ? explore_one(profile, l, arena, out, err) : status;
}

/* ---- many launches ---- */

enum { MOST_STEPS = 50000000 /* of kinds, over all launches of a table: ten seconds, or less */ };

static bool has_sequences(const prof_launch *l)
{
    return l->id == l->rows_of && l->warps_dropped != UINT64_MAX;
}

static uint64_t steps_of_kinds(const ana_explore *e)
{
    uint64_t steps = 0;
    for (uint32_t i = 0; i < e->nkinds; i++)
        steps += e->kinds[i].counts.entries + e->kinds[i].counts.requests;
    return steps;
}

static bool keep_texts(ana_warp_cluster *c, wl_arena *arena)
{
    c->which = wl_arena_strdup(arena, c->which);
    c->why = wl_arena_strdup(arena, c->why);
    return c->which && c->why;
}

/* A copy of what is known of the launch, but for its warps. */
static bool keep_explored(const ana_explore *e, wl_arena *arena, ana_explore *out)
{
    *out = *e;
    out->warps = (prof_warp_rows){0};
    out->kind_of = NULL;
    out->kinds = wl_arena_copy(arena, e->kinds, e->nkinds * sizeof *e->kinds);
    out->clusters = wl_arena_copy(arena, e->clusters, e->nclusters * sizeof *e->clusters);
    bool all = out->kinds && out->clusters;
    for (uint32_t i = 0; i < out->nclusters && all; i++)
        all = keep_texts(&out->clusters[i], arena);
    return all;
}

static wl_status add_to_table(prof_db *db, const prof_launch *l, wl_arena *arena,
                              ana_explore_rows *out, uint64_t *steps, wl_error *err)
{
    ana_explore e;
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? explore_one(db, l, scratch, &e, err) : fail_explore(err);
    if (status == WL_OK && e.nwarps) {
        *steps += steps_of_kinds(&e);
        status = keep_explored(&e, arena, &out->rows[out->count++]) ? WL_OK : fail_explore(err);
    }
    wl_arena_free(scratch);
    return status;
}

wl_status ana_explore_table(prof_db *profile, uint32_t most, wl_arena *arena, ana_explore_rows *out,
                            wl_error *err)
{
    prof_launch_rows kinds;
    uint64_t steps = 0;
    *out = (ana_explore_rows){0};
    wl_status status = prof_load_launch_kinds(profile, PROF_ALL, arena, &kinds, err);
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, ana_explore, kinds.count + 1);
    if (!out->rows)
        return fail_explore(err);
    for (uint32_t i = 0; i < kinds.count && out->count < most && steps < MOST_STEPS; i++)
        if (status == WL_OK && has_sequences(&kinds.rows[i]))
            status = add_to_table(profile, &kinds.rows[i], arena, out, &steps, err);
    return status;
}
