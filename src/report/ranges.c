/* The table of the program's own ranges in a terminal. */
#include "report/terminal.h"

#include <string.h>

enum { TOP_RANGES = 20 };

static const char *share_cell(const rep_terminal *t, const ana_launch_sums *s)
{
    double share = rep_share_of_launches(t->d, s);
    return share >= 0 ? rep_percent(t->arena, share) : "";
}

static void add_range_row(const rep_terminal *t, rep_grid *grid, const char *name,
                          const char *times, const ana_launch_sums *s, const char *findings)
{
    const char *cells[] = {
        name,
        times,
        rep_count(t->arena, s->launches),
        s->device_seconds >= 0 ? rep_seconds(t->arena, s->device_seconds) : "",
        share_cell(t, s),
        s->sectors ? rep_short_count(t->arena, s->sectors) : "",
        s->sectors ? rep_short_count(t->arena, s->sectors_min) : "",
        s->wavefronts ? rep_short_count(t->arena, s->wavefronts) : "",
        findings,
    };
    rep_grid_add(grid, cells);
}

static const char *range_cell(const rep_terminal *t, const ana_range *r)
{
    const char *name = *r->domain ? wl_arena_printf(t->arena, "%s@%s", r->domain, r->name)
                                  : r->name;
    return wl_arena_printf(t->arena, "%*s%s", (int)(2 * r->depth), "", rep_printable(t, name));
}

static bool any_findings(const ana_ranges *ranges)
{
    for (uint32_t i = 0; i < ranges->count; i++)
        if (ranges->rows[i].nfindings)
            return true;
    return false;
}

void rep_ranges(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"range", .flexible = true},
        {"times", .right = true, .spare = 2},
        {"launches", .right = true},
        {"time", .right = true},
        {"share", .right = true},
        {"sectors", .right = true, .spare = 1},
        {"needed", .right = true, .spare = 3},
        {"wavefronts", .right = true, .spare = 4},
        {"findings", .right = true},
    };
    const ana_ranges *ranges = &t->d->ranges;
    bool all = t->o->all || t->o->by == REP_BY_RANGE, findings = any_findings(ranges);
    uint32_t shown = !all && ranges->count > TOP_RANGES ? TOP_RANGES : ranges->count;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    if (t->o->by == REP_BY_RANGE && !ranges->count)
        rep_wrap(t, 0, "No launch was made in a range that the program opened by NVTX.");
    if (!grid || !shown || t->o->kernels)
        return;
    for (uint32_t i = 0; i < shown; i++) {
        const ana_range *r = &ranges->rows[i];
        add_range_row(t, grid, range_cell(t, r), rep_count(t->arena, r->times), &r->sums,
                      r->nfindings ? rep_count(t->arena, r->nfindings)
                      : findings   ? "none"
                                   : "");
    }
    if (ranges->outside.launches)
        add_range_row(t, grid, "(in no range)", "", &ranges->outside, "");
    rep_title(t, "Ranges", "what the program calls what it does; each has all that is in it");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (shown < ranges->count)
        fprintf(t->out, "  %sand %u more: --by range shows them%s\n", t->s.dim,
                ranges->count - shown, t->s.off);
}
