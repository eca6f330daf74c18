/* Loads what warps did, for the HTML report's explorer. */
#include "base/vec.h"
#include "report/impl.h"

enum {
    MOST_LAUNCHES = 4 /* of a kernel: two are compared, and the first is often unlike the rest */
};

/* Bytes of steps in a profile, of which no file has room: they shrink to about two thirds. */
#define MOST_STORED (UINT64_C(64) << 20)

typedef struct explored_loading {
    prof_db *db;
    wl_arena *arena;
    rep_data *d;
    wl_vec(ana_explore) steps;
    wl_vec(rep_paths) paths;
    wl_error *err;
} explored_loading;

static wl_status fail_explored(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "not enough memory for what the warps of the profile did");
}

wl_status rep_load_paths(prof_db *db, uint32_t launch, wl_arena *arena, rep_paths *out,
                         wl_error *err)
{
    prof_launch_rows kinds;
    *out = (rep_paths){0};
    wl_status status = prof_load_launch_kinds(db, PROF_ALL, arena, &kinds, err);
    for (uint32_t i = 0; status == WL_OK && i < kinds.count; i++)
        if (kinds.rows[i].id == launch)
            return ana_hashed_launch(db, &kinds.rows[i], arena, &out->hashed, &out->paths,
                                     &out->runs, err);
    return status;
}

static wl_status load_explored_steps(explored_loading *l, uint32_t launch)
{
    ana_explore row = {0};
    wl_status status = ana_explore_launch(l->db, launch, l->arena, &row, l->err);
    if (status == WL_OK && row.warps.count && !wl_push(&l->steps, row))
        status = fail_explored(l->err);
    return status;
}

static wl_status load_explored_paths(explored_loading *l, uint32_t launch)
{
    rep_paths row;
    wl_status status = rep_load_paths(l->db, launch, l->arena, &row, l->err);
    if (status == WL_OK && row.hashed.npaths && !wl_push(&l->paths, row))
        status = fail_explored(l->err);
    return status;
}

/* The first launches of a kernel whose warps are known, by steps or by hashes. */
static uint32_t next_explored(const explored_loading *l, uint32_t kernel, const uint32_t *launches,
                              uint32_t count, uint32_t after)
{
    uint32_t next = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
        if (launches[i] > after && launches[i] < next)
            next = launches[i];
    for (uint32_t i = 0; i < l->d->hashed.count; i++) {
        const ana_hashed *h = &l->d->hashed.rows[i];
        if (h->kernel == kernel && h->launch > after && h->launch < next)
            next = h->launch;
    }
    return next;
}

static wl_status load_explored_kernel(explored_loading *l, uint32_t kernel)
{
    uint32_t count = 0, *launches = NULL, launch = 0;
    wl_status status = prof_load_warp_launches(l->db, kernel, l->arena, &count, &launches, l->err);
    for (uint32_t i = 0; i < MOST_LAUNCHES && status == WL_OK; i++) {
        launch = next_explored(l, kernel, launches, count, launch);
        if (launch == UINT32_MAX)
            return WL_OK;
        status = load_explored_steps(l, launch);
        if (status == WL_OK)
            status = load_explored_paths(l, launch);
    }
    return status;
}

bool rep_is_wanted_kernel(const uint32_t *kernels, uint32_t nkernels, uint32_t kernel)
{
    bool wanted = !kernels;
    for (uint32_t i = 0; kernels && i < nkernels; i++)
        wanted |= kernels[i] == kernel;
    return wanted;
}

wl_status rep_load_explored(prof_db *db, const uint32_t *kernels, uint32_t nkernels,
                            wl_arena *arena, rep_data *d, wl_error *err)
{
    explored_loading l = {.db = db, .arena = arena, .d = d, .err = err};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < d->kernel_table.count && status == WL_OK; i++)
        if (rep_is_wanted_kernel(kernels, nkernels, d->kernel_table.rows[i].kernel))
            status = load_explored_kernel(&l, d->kernel_table.rows[i].kernel);
    d->warps.count = (uint32_t)l.steps.count;
    d->warps.rows = wl_arena_copy(arena, l.steps.data, l.steps.count * sizeof *l.steps.data);
    d->npaths = (uint32_t)l.paths.count;
    d->paths = wl_arena_copy(arena, l.paths.data, l.paths.count * sizeof *l.paths.data);
    wl_vec_free(&l.steps);
    wl_vec_free(&l.paths);
    return status == WL_OK && (!d->warps.rows || !d->paths) ? fail_explored(err) : status;
}

static wl_status add_stored_bytes(prof_db *db, uint32_t kernel, wl_arena *arena, uint64_t *bytes,
                                  wl_error *err)
{
    uint32_t count = 0, *launches = NULL;
    wl_status status = prof_load_warp_launches(db, kernel, arena, &count, &launches, err);
    for (uint32_t i = 0; i < count && i < MOST_LAUNCHES && status == WL_OK; i++) {
        uint64_t of_launch = 0;
        status = prof_count_step_bytes(db, launches[i], &of_launch, err);
        *bytes += of_launch;
    }
    return status;
}

wl_status rep_explored_fits(prof_db *db, const uint32_t *kernels, uint32_t nkernels,
                            const rep_data *d, bool *fits, wl_error *err)
{
    uint64_t bytes = 0;
    wl_arena *arena = wl_arena_new();
    wl_status status = arena ? WL_OK : fail_explored(err);
    for (uint32_t i = 0; i < d->kernel_table.count && status == WL_OK; i++)
        if (rep_is_wanted_kernel(kernels, nkernels, d->kernel_table.rows[i].kernel))
            status = add_stored_bytes(db, d->kernel_table.rows[i].kernel, arena, &bytes, err);
    wl_arena_free(arena);
    *fits = bytes <= MOST_STORED;
    return status;
}
