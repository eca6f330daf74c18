/* The table of kernels in a terminal: those of one template in one row, with the instances below it. */
#include "report/terminal.h"

enum { TOP_MEMBERS = 5 };

/* A kernel that only ran on a GPU has no counts to show, and no zeros for them. */
static bool has_counts(const rep_terminal *t, const ana_kernel *row)
{
    return row->launches > 0 || t->d->coverage.launches_observed > 0;
}

static bool is_shown(const rep_terminal *t, const ana_kernel *row)
{
    return rep_shows_kernel(t, row->kernel) && has_counts(t, row);
}

/* A row, of a kernel or of several. */
typedef struct sums {
    const ana_counts *counts;
    uint32_t launches, nfindings;
    uint64_t global; /* requests that move sectors */
    bool lacks;      /* some accesses are not known */
    bool left_over;
} sums;

static uint64_t global_requests(const rep_terminal *t, uint32_t kernel)
{
    uint64_t sum = 0;
    for (uint32_t k = 0; k < t->lines.count; k++)
        if (t->lines.rows[k].kernel == kernel && t->lines.rows[k].space != ACC_SHARED)
            sum += t->lines.rows[k].requests;
    return sum;
}

static sums sums_of_kernel(const rep_terminal *t, const ana_kernel *k)
{
    return (sums){.counts = &k->counts,
                  .launches = k->launches,
                  .nfindings = k->nfindings,
                  .global = global_requests(t, k->kernel),
                  .lacks = rep_has_gaps(t->d, k->kernel),
                  .left_over = k->left_over};
}

static sums sums_of_family(const rep_terminal *t, const ana_family *f)
{
    sums s = {.counts = &f->counts,
              .launches = f->launches,
              .nfindings = f->nfindings,
              .left_over = f->left_over};
    for (uint32_t i = 0; i < f->count; i++) {
        s.global += global_requests(t, f->members[i].kernel->kernel);
        s.lacks |= rep_has_gaps(t->d, f->members[i].kernel->kernel);
    }
    return s;
}

/* A sum over a kernel, of whose accesses some may be missing in it. */
static const char *sum_cell(const rep_terminal *t, uint64_t sum, bool lacks)
{
    const char *text = rep_short_count(t->arena, sum);
    return lacks && text ? wl_arena_printf(t->arena, "> %s", text) : text;
}

static void add_sums_row(const rep_terminal *t, rep_grid *grid, const char *name, const sums *s)
{
    const ana_counts *c = s->counts;
    const char *cells[] = {
        name,
        rep_count(t->arena, s->launches),
        rep_short_count(t->arena, c->thread_instructions),
        sum_cell(t, c->requests, s->lacks),
        c->sectors || s->lacks ? sum_cell(t, c->sectors, s->lacks) : "",
        c->sectors ? rep_ratio(t->arena, (double)c->sectors, (double)s->global) : "",
        c->sectors ? rep_ratio(t->arena, (double)c->sectors_min, (double)s->global) : "",
        c->wavefronts ? rep_short_count(t->arena, c->wavefronts) : "",
        c->wavefronts ? rep_short_count(t->arena, rep_excess(c->wavefronts, c->wavefronts_min))
                      : "",
        s->nfindings   ? rep_count(t->arena, s->nfindings)
        : s->left_over ? "left over"
                       : "none",
    };
    rep_grid_add(grid, cells);
}

static void add_kernel_row(const rep_terminal *t, rep_grid *grid, const ana_kernel *k)
{
    const sums s = sums_of_kernel(t, k);
    add_sums_row(t, grid, rep_kernel_cell(t, k->kernel), &s);
}

/* Are they told by the row of their template? Where only some are asked for they are not. */
static bool is_folded(const rep_terminal *t, const ana_family *f)
{
    bool folded = f->count > 1 && t->o->by != REP_BY_KERNEL;
    for (uint32_t i = 0; i < f->count; i++)
        folded &= is_shown(t, f->members[i].kernel);
    return folded;
}

static void add_member_rows(const rep_terminal *t, rep_grid *grid, const ana_family *f)
{
    bool all = t->o->all || t->o->by == REP_BY_FAMILY;
    size_t columns = t->o->width ? t->o->width * 2 / 5 : 200;
    for (uint32_t i = 0; i < f->count && (all || i < TOP_MEMBERS); i++) {
        const sums s = sums_of_kernel(t, f->members[i].kernel);
        const char *label = rep_printable(t, f->members[i].label);
        if (!t->o->full_names)
            label = rep_shorten_name(t->arena, label, columns);
        add_sums_row(t, grid, wl_arena_printf(t->arena, "  %s", label ? label : ""), &s);
    }
    if (!all && f->count > TOP_MEMBERS)
        rep_grid_banner(grid, wl_arena_printf(t->arena,
                                              "  %sand %u more instances: --by family shows "
                                              "them%s",
                                              t->s.dim, f->count - TOP_MEMBERS, t->s.off));
}

/* Returns how many rows it would take, but for its members. */
static uint32_t add_family_rows(const rep_terminal *t, rep_grid *grid, const ana_family *f,
                                bool room)
{
    uint32_t rows = 0;
    if (is_folded(t, f)) {
        const sums s = sums_of_family(t, f);
        const char *name = rep_fit_name(t, f->name, t->o->width * 3 / 5 + 8);
        if (room)
            add_sums_row(t, grid, wl_arena_printf(t->arena, "%s (%u)", name, f->count), &s);
        if (room)
            add_member_rows(t, grid, f);
        return 1;
    }
    for (uint32_t i = 0; i < f->count; i++) {
        if (!is_shown(t, f->members[i].kernel))
            continue;
        if (room)
            add_kernel_row(t, grid, f->members[i].kernel);
        rows++;
    }
    return rows;
}

/* One by one, in the order of the table of kernels. */
static uint32_t add_each_kernel(const rep_terminal *t, rep_grid *grid)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < t->d->kernel_table.count; i++) {
        const ana_kernel *k = &t->d->kernel_table.rows[i];
        if (!is_shown(t, k))
            continue;
        add_kernel_row(t, grid, k);
        rows++;
    }
    return rows;
}

static uint32_t add_families(const rep_terminal *t, rep_grid *grid, uint32_t *left_out)
{
    bool all = t->o->all || t->o->by != REP_BY_ALL;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < t->d->families.count; i++) {
        bool room = all || shown < REP_TOP_KERNELS;
        uint32_t rows = add_family_rows(t, grid, &t->d->families.rows[i], room);
        *(room ? &shown : left_out) += rows;
    }
    return shown;
}

static bool any_lacks(const rep_terminal *t)
{
    for (uint32_t i = 0; i < t->d->kernel_table.count; i++)
        if (is_shown(t, &t->d->kernel_table.rows[i]) &&
            rep_has_gaps(t->d, t->d->kernel_table.rows[i].kernel))
            return true;
    return false;
}

void rep_kernels(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"launches", .right = true, .spare = 2},
        {"thread instr.", .right = true, .spare = 5},
        {"requests", .right = true, .spare = 3},
        {"sectors", .right = true},
        {"per request", .right = true},
        {"needed", .right = true},
        {"wavefronts", .right = true, .spare = 4},
        {"conflicts", .right = true},
        {"findings", .right = true, .spare = 1},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t left_out = 0;
    uint32_t shown = !grid                       ? 0
                     : t->o->by == REP_BY_KERNEL ? add_each_kernel(t, grid)
                                                 : add_families(t, grid, &left_out);
    if (!shown)
        return;
    rep_title(t, "Kernels",
              any_lacks(t) ? "costliest first; > lacks accesses that are not known: see Coverage"
                           : "costliest first; sectors per request, now and needed");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (left_out)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, left_out, t->s.off);
}
