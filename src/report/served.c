/* What the explorer's page asks of a server that gave it, rather than hold it: what the warps of one
 * launch did. */
#include "report/impl.h"
#include "report/keys.h"

#include "base/vec.h"

#include <stdlib.h>
#include <string.h>

typedef wl_vec(rep_served) served_launches;

static wl_status fail_served(wl_error *err)
{
    return wl_fail(err, WL_NOMEM, "not enough memory for what the warps of a launch did");
}

/* ---- which ---- */

static int by_served_launch(const void *a, const void *b)
{
    uint32_t x = ((const rep_served *)a)->launch, y = ((const rep_served *)b)->launch;
    return (x > y) - (x < y);
}

static bool is_listed(const served_launches *list, size_t first, size_t end, uint32_t launch)
{
    bool found = false;
    for (size_t i = first; i < end; i++)
        found |= list->data[i].launch == launch;
    return found;
}

/* Launches of the kernel of which paths are known, and no steps: those with steps are in the list, from
 * `first` on. False without memory. */
static bool add_hashed(const rep_data *d, uint32_t kernel, size_t first, served_launches *out)
{
    bool done = true;
    size_t end = out->count;
    for (uint32_t i = 0; i < d->hashed.count && done; i++) {
        const ana_hashed *h = &d->hashed.rows[i];
        if (h->kernel == kernel && h->warps <= REP_MOST_HASHED_WARPS &&
            !is_listed(out, first, end, h->launch))
            done = wl_push(out, (rep_served){h->launch, kernel, true});
    }
    return done;
}

static wl_status list_served_kernel(prof_db *db, const rep_data *d, uint32_t kernel,
                                    wl_arena *arena, served_launches *out, wl_error *err)
{
    size_t first = out->count;
    uint32_t count = 0, *launches = NULL;
    wl_status status = prof_load_warp_launches(db, kernel, arena, &count, &launches, err);
    for (uint32_t i = 0; i < count && status == WL_OK; i++)
        if (!wl_push(out, (rep_served){.launch = launches[i], .kernel = kernel}))
            status = fail_served(err);
    if (status == WL_OK && !add_hashed(d, kernel, first, out))
        status = fail_served(err);
    if (status == WL_OK && out->count > first)
        qsort(out->data + first, out->count - first, sizeof *out->data, by_served_launch);
    return status;
}

wl_status rep_load_served(prof_db *db, const uint32_t *kernels, uint32_t nkernels, wl_arena *arena,
                          rep_data *d, wl_error *err)
{
    served_launches all = {0};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < d->kernel_table.count && status == WL_OK; i++)
        if (rep_is_wanted_kernel(kernels, nkernels, d->kernel_table.rows[i].kernel))
            status = list_served_kernel(db, d, d->kernel_table.rows[i].kernel, arena, &all, err);
    d->nserved = (uint32_t)all.count;
    d->served = wl_arena_copy(arena, all.data, all.count * sizeof *all.data);
    wl_vec_free(&all);
    return status == WL_OK && !d->served ? fail_served(err) : status;
}

json_t *rep_served_json(const rep_data *d)
{
    json_t *rows = d->nserved ? json_array() : NULL;
    for (uint32_t i = 0; i < d->nserved; i++) {
        json_t *row = json_object();
        rep_put_count(row, K(page_served, launch), d->served[i].launch);
        rep_put_count(row, K(page_served, kernel), d->served[i].kernel);
        if (d->served[i].hashed)
            rep_put(row, K(page_served, hashed), json_true());
        json_array_append_new(rows, row);
    }
    return rows;
}

/* ---- one of them ---- */

static bool is_served(const rep_data *d, uint32_t launch)
{
    bool found = false;
    for (uint32_t i = 0; i < d->nserved; i++)
        found |= d->served[i].launch == launch;
    return found;
}

typedef struct served_launch { /* what is known of it */
    ana_explore steps;
    rep_paths paths;
} served_launch;

static wl_status load_served(prof_db *db, uint32_t launch, wl_arena *arena, served_launch *out,
                             wl_error *err)
{
    wl_status status = ana_explore_launch(db, launch, arena, &out->steps, err);
    if (status == WL_OK)
        status = rep_load_paths(db, launch, arena, &out->paths, err);
    if (status == WL_OK && !out->steps.warps.count && !out->paths.hashed.npaths)
        status = wl_fail(err, WL_CORRUPT,
                         "The profile is damaged: it lists warps of launch %u, "
                         "which it does not hold.",
                         launch);
    return status;
}

static bool pack_served(const rep_data *d, const served_launch *launch, rep_parts *parts)
{
    enum { DIGITS = 10 };               /* of numbers, as in the page itself */
    rep_add_part(parts, (rep_part){0}); /* the row's, which names the others */
    const ana_explore *steps = launch->steps.warps.count ? &launch->steps : NULL;
    const rep_paths *paths = launch->paths.hashed.npaths ? &launch->paths : NULL;
    json_t *row = rep_explored_row(d, steps, paths, parts);
    char *text = row ? json_dumps(row, JSON_COMPACT | JSON_REAL_PRECISION(DIGITS)) : NULL;
    bool done = text && !parts->failed && rep_gzip(text, strlen(text), &parts->rows[0]);
    free(text);
    json_decref(row);
    return done;
}

wl_status rep_serve_launch(prof_db *profile, const rep_data *data, uint32_t launch, FILE *out,
                           wl_error *err)
{
    if (!is_served(data, launch))
        return wl_fail(err, WL_NOENT, "There is no launch %u here to explore.", launch);
    wl_arena *arena = wl_arena_new();
    served_launch served;
    rep_parts parts = {.explore_room = UINT64_MAX};
    wl_status status = arena ? load_served(profile, launch, arena, &served, err) : fail_served(err);
    if (status == WL_OK && !pack_served(data, &served, &parts))
        status = fail_served(err);
    if (status == WL_OK) {
        rep_write_parts(&parts, out);
        status = rep_done(out, false, err);
    }
    rep_free_parts(&parts);
    wl_arena_free(arena);
    return status;
}
