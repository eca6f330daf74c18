/* Loads what warps did, for the HTML report's explorer. */
#include "base/vec.h"
#include "report/impl.h"

enum {
    MOST_LAUNCHES = 4 /* of a kernel: two are compared, and the first is often unlike the rest */
};

typedef wl_vec(ana_explore) explored_launches;

static wl_status fail_explored(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "not enough memory for what the warps of the profile did");
}

static wl_status load_explored_kernel(prof_db *db, uint32_t kernel, wl_arena *arena,
                                      explored_launches *out, wl_error *err)
{
    uint32_t count = 0, *launches = NULL;
    wl_status status = prof_load_warp_launches(db, kernel, arena, &count, &launches, err);
    for (uint32_t i = 0; i < count && i < MOST_LAUNCHES && status == WL_OK; i++) {
        ana_explore row = {0};
        status = ana_explore_launch(db, launches[i], arena, &row, err);
        if (status == WL_OK && row.warps.count && !wl_push(out, row))
            status = fail_explored(err);
    }
    return status;
}

static bool is_wanted_kernel(const uint32_t *kernels, uint32_t nkernels, uint32_t kernel)
{
    bool wanted = !kernels;
    for (uint32_t i = 0; kernels && i < nkernels; i++)
        wanted |= kernels[i] == kernel;
    return wanted;
}

wl_status rep_load_explored(prof_db *db, const uint32_t *kernels, uint32_t nkernels,
                            wl_arena *arena, rep_data *d, wl_error *err)
{
    explored_launches all = {0};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < d->kernel_table.count && status == WL_OK; i++)
        if (is_wanted_kernel(kernels, nkernels, d->kernel_table.rows[i].kernel))
            status = load_explored_kernel(db, d->kernel_table.rows[i].kernel, arena, &all, err);
    d->warps.count = (uint32_t)all.count;
    d->warps.rows = wl_arena_copy(arena, all.data, all.count * sizeof *all.data);
    wl_vec_free(&all);
    return status == WL_OK && !d->warps.rows ? fail_explored(err) : status;
}
