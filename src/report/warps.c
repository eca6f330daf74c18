/* The warps of launches compared: for a terminal, and as JSON. */
#include "report/keys.h"
#include "report/terminal.h"

/* ---- JSON ---- */

static json_t *place_json(const ana_warp_place *p)
{
    json_t *row = json_object();
    rep_put_dim(row, K(warp_place, block), p->index);
    rep_put_count(row, K(warp_place, warp), p->warp);
    return row;
}

static json_t *outlier_json(const rep_data *d, const ana_explore *e, const ana_warp_cluster *c)
{
    json_t *row = json_object();
    rep_put_dim(row, K(warp_place, block), c->place.index);
    rep_put_count(row, K(warp_place, warp), c->place.warp);
    rep_put_count(row, K(outlier, warps), c->warps);
    rep_put_text(row, K(outlier, which), c->which);
    rep_put_number(row, K(outlier, difference), c->difference);
    rep_put_text(row, K(outlier, why), c->why);
    rep_put(row, K(outlier, than), place_json(&c->than));
    if (c->file && c->line) {
        rep_put_text(row, K(outlier, file), rep_file_path(d, c->file));
        rep_put_count(row, K(outlier, line), c->line);
    }
    if (e->paths) {
        rep_put_count(row, K(outlier, operations), c->least_operations);
        rep_put_count(row, K(outlier, operations_most), c->most_operations);
    }
    return row;
}

const ana_explore *rep_explored_launch(const rep_data *d, uint32_t launch)
{
    for (uint32_t i = 0; i < d->warps.count; i++)
        if (d->warps.rows[i].launch == launch)
            return &d->warps.rows[i];
    return NULL;
}

json_t *rep_warps_json(const rep_data *d, const ana_explore *e)
{
    const ana_warp_kind *own = &e->kinds[e->representative_kind];
    json_t *row = json_object(), *outliers = json_array();
    rep_put(row, K(launch_warps, known_by), json_string("steps"));
    rep_put_count(row, K(launch_warps, count), e->nwarps);
    rep_put_count(row, K(launch_warps, blocks), e->blocks_known);
    rep_put_count(row, K(launch_warps, sequences), e->nsequences);
    rep_put_count(row, K(launch_warps, kinds), e->nkinds);
    if (e->dropped)
        rep_put_count(row, K(launch_warps, dropped), e->dropped);
    if (e->paths) {
        rep_put_count(row, K(launch_warps, operations), own->counts.operations);
        rep_put_number(row, K(launch_warps, lanes),
                       (double)own->counts.lanes / (double)own->counts.operations);
    }
    rep_put_count(row, K(launch_warps, requests), own->counts.requests);
    rep_put_count(row, K(launch_warps, sectors), own->counts.sectors);
    rep_put_count(row, K(launch_warps, wavefronts), own->counts.wavefronts);
    rep_put_count(row, K(launch_warps, alike), e->clusters[0].warps);
    if (e->cut)
        rep_put(row, K(launch_warps, cut), json_true());
    rep_put(row, K(launch_warps, representative), place_json(&e->representative));
    for (uint32_t i = 1; i < e->nclusters; i++)
        json_array_append_new(outliers, outlier_json(d, e, &e->clusters[i]));
    rep_put(row, K(launch_warps, outliers), outliers);
    return row;
}

/* ---- the same where hashes and counts are all that is known ---- */

static json_t *hashed_outlier_json(const ana_hashed *h, const ana_hashed_outlier *o)
{
    json_t *row = json_object();
    rep_put_dim(row, K(warp_place, block), o->place.index);
    rep_put_count(row, K(warp_place, warp), o->place.warp);
    rep_put_count(row, K(outlier, warps), o->path.warps);
    rep_put_text(row, K(outlier, which), o->which);
    rep_put_number(row, K(outlier, difference), o->difference);
    rep_put_text(row, K(outlier, why), o->why);
    rep_put(row, K(outlier, than), place_json(&h->place));
    rep_put_count(row, K(outlier, instructions), o->path.instructions);
    return row;
}

static const ana_hashed *find_hashed_launch(const rep_data *d, uint32_t launch)
{
    for (uint32_t i = 0; i < d->hashed.count; i++)
        if (d->hashed.rows[i].launch == launch)
            return &d->hashed.rows[i];
    return NULL;
}

json_t *rep_hashes_json(const ana_hashed *h, const ana_explore *steps)
{
    json_t *row = json_object(), *outliers = json_array();
    rep_put(row, K(launch_warps, known_by), json_string("hashes"));
    rep_put_count(row, K(launch_warps, count), h->known);
    rep_put_count(row, K(launch_warps, blocks), h->blocks_known);
    rep_put_count(row, K(launch_warps, sequences), h->npaths);
    if (h->known < h->warps)
        rep_put_count(row, K(launch_warps, dropped), h->warps - h->known);
    if (steps && steps->nwarps)
        rep_put_count(row, K(launch_warps, stepped), steps->nwarps);
    rep_put_count(row, K(launch_warps, instructions), h->representative.instructions);
    rep_put_count(row, K(launch_warps, alike), h->representative.warps);
    rep_put(row, K(launch_warps, representative), place_json(&h->place));
    for (uint32_t i = 0; i < h->noutliers; i++)
        json_array_append_new(outliers, hashed_outlier_json(h, &h->outliers[i]));
    rep_put(row, K(launch_warps, outliers), outliers);
    return row;
}

json_t *rep_compared_json(const rep_data *d, uint32_t launch)
{
    const ana_explore *e = rep_explored_launch(d, launch);
    const ana_hashed *h = find_hashed_launch(d, launch);
    if (h && (!e || e->blocks_known < h->blocks_known))
        return rep_hashes_json(h, e);
    return e ? rep_warps_json(d, e) : NULL;
}

/* ---- launches of which something is known ---- */

static bool are_warps_known(const rep_data *d, const prof_launch *l)
{
    const prof_launch *of = prof_find_launch(&d->launches, l->rows_of);
    return (of ? of : l)->warps_dropped != UINT64_MAX || find_hashed_launch(d, l->rows_of);
}

/* Launches of the kernel, and of these those whose warps are known, or do what such a one did. */
static void count_known_launches(const rep_data *d, uint32_t kernel, uint64_t *all, uint64_t *known)
{
    *all = *known = 0;
    for (uint32_t i = 0; i < d->launches.count; i++) {
        const prof_launch *l = &d->launches.rows[i];
        *all += l->kernel == kernel ? l->count : 0;
        *known += l->kernel == kernel && are_warps_known(d, l) ? l->count : 0;
    }
}

void rep_put_known_launches(json_t *row, const rep_data *d, uint32_t kernel)
{
    uint64_t all, known;
    count_known_launches(d, kernel, &all, &known);
    rep_put_count(row, K(page_explore, launches), all);
    rep_put_count(row, K(page_explore, launches_known), known);
}

/* ---- in a terminal ---- */

enum { MOST_OUTLIERS = 12 };

/* " (32 to 40 operations)"; "" where that is not known. */
static const char *operations_text(const rep_terminal *t, const ana_explore *e,
                                   const ana_warp_cluster *c)
{
    const char *most = rep_plural(t->arena, c->most_operations, "operation", "operations");
    return !e->paths ? ""
           : c->least_operations == c->most_operations
               ? wl_arena_printf(t->arena, " (%s)", most)
               : wl_arena_printf(t->arena, " (%s to %s)", rep_count(t->arena, c->least_operations),
                                 most);
}

/* "   97 %  warps 12 to 15 of every block leave the loop ..." */
static void draw_outlier(const rep_terminal *t, const ana_explore *e, const ana_warp_cluster *c)
{
    enum { INDENT = 10 };
    fprintf(t->out, "%8s  ", rep_percent(t->arena, c->difference));
    rep_wrap(t, INDENT,
             wl_arena_printf(t->arena, "%s %s%s", c->which, rep_printable(t, c->why),
                             operations_text(t, e, c)));
}

static void draw_outliers(const rep_terminal *t, const ana_explore *e)
{
    uint32_t count = e->nclusters - 1,
             shown = t->o->all || count < MOST_OUTLIERS ? count : MOST_OUTLIERS;
    fprintf(t->out, "  %sdiffer by%s\n", t->s.dim, t->s.off);
    for (uint32_t i = 1; i <= shown; i++)
        draw_outlier(t, e, &e->clusters[i]);
    if (shown < count)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, count - shown, t->s.off);
}

/* "235 operations with 23.1 of 32 lanes active on average, 12 requests, 40 sectors, 8 wavefronts" */
static const char *counts_text(const rep_terminal *t, const ana_explore *e)
{
    const ana_warp_counts *own = &e->kinds[e->representative_kind].counts;
    const char *lanes = rep_ratio(t->arena, (double)own->lanes, (double)own->operations);
    const char *memory = wl_arena_printf(t->arena, "%s, %s, %s",
                                         rep_plural(t->arena, own->requests, "request", "requests"),
                                         rep_plural(t->arena, own->sectors, "sector", "sectors"),
                                         rep_plural(t->arena, own->wavefronts, "wavefront",
                                                    "wavefronts"));
    return e->paths
               ? wl_arena_printf(t->arena, "%s with %s of 32 lanes active on average, %s",
                                 rep_plural(t->arena, own->operations, "operation", "operations"),
                                 lanes, memory)
               : memory;
}

/* "Warp 8 of block 1 stands for 128 of the 256 warps of 16 blocks: ..." */
static const char *representative_text(const rep_terminal *t, const ana_explore *e,
                                       const prof_launch *l)
{
    return wl_arena_printf(
        t->arena, "Warp %u of %s stands for %s of the %s of %s: %s.%s", e->representative.warp,
        ana_block_name_of(l->grid, &e->representative).text,
        rep_count(t->arena, e->clusters[0].warps), rep_plural(t->arena, e->nwarps, "warp", "warps"),
        rep_plural(t->arena, e->blocks_known, "block", "blocks"), counts_text(t, e),
        e->paths ? "" : " Not all basic blocks that warps ran through are known.");
}

static void say_line(const rep_terminal *t, const char *words)
{
    fputs("  ", t->out);
    rep_wrap(t, 2, words);
}

static void draw_notes(const rep_terminal *t, const ana_explore *e)
{
    if (e->blocks_known < e->blocks)
        say_line(t, wl_arena_printf(t->arena, "Of the other %s nothing is kept.",
                                    rep_plural(t->arena, e->blocks - e->blocks_known, "block",
                                               "blocks")));
    if (e->dropped)
        say_line(
            t, wl_arena_printf(t->arena,
                               "%s found no room: WARPLENS_SEQUENCE_LIMIT sets how many bytes are "
                               "kept of a launch.",
                               rep_plural(t->arena, e->dropped, "warp", "warps")));
    if (e->cut)
        say_line(
            t, "There are more kinds of warps than are compared step by step: the rest is compared "
               "by its counts.");
}

static void draw_launch_warps(const rep_terminal *t, const ana_explore *e)
{
    const prof_launch *l = prof_find_launch(&t->d->launches, e->launch);
    if (!l || !rep_shows_kernel(t, e->kernel))
        return;
    rep_title(t, wl_arena_printf(t->arena, "Warps of launch %u", e->launch),
              rep_kernel_cell(t, e->kernel));
    say_line(t, representative_text(t, e, l));
    if (e->nclusters > 1)
        draw_outliers(t, e);
    else
        say_line(t, "No warp stands out.");
    draw_notes(t, e);
}

/* Of launches that `--set sequences` does not take in nothing is known: once a kernel. */
static void draw_unknown_launches(const rep_terminal *t, uint32_t kernel)
{
    uint64_t all, known;
    count_known_launches(t->d, kernel, &all, &known);
    if (!known || known == all || !rep_shows_kernel(t, kernel))
        return;
    rep_wrap(
        t, 0,
        wl_arena_printf(t->arena,
                        "Of %s of %s it is not known what their warps did: it is kept of the "
                        "first launches of a kernel and shape, and of those whose number is a "
                        "power of two. --heat-launches 0 keeps it of all; on a GPU, where data "
                        "decides, with --probe-launches 0.",
                        rep_plural(t->arena, all - known, "launch", "launches"),
                        rep_kernel_cell(t, kernel)));
}

wl_status rep_warps(const rep_data *data, const rep_text_options *options, FILE *out, wl_error *err)
{
    rep_terminal t;
    if (!rep_terminal_open(data, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the warps");
    for (uint32_t i = 0; i < data->warps.count; i++)
        draw_launch_warps(&t, &data->warps.rows[i]);
    rep_hashed(&t);
    for (uint32_t i = 0; i < data->kernel_table.count; i++)
        draw_unknown_launches(&t, data->kernel_table.rows[i].kernel);
    if (!data->warps.count && !data->hashed.count)
        rep_wrap(
            &t, 0,
            "The profile does not hold what warps did: 'warplens profile --set sequences' keeps "
            "it; on a GPU, where data decides, of a few blocks, and '--probes path' which paths "
            "all of "
            "them took.");
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
