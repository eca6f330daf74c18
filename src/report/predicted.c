/* The times that the model predicts, in a terminal. */
#include "report/terminal.h"

enum { TOP_PREDICTED = 10 };

/* The resource that takes longest, or that comes next. */
static const char *resource_cell(const rep_terminal *t, const ana_model *m, uint32_t place)
{
    model_resource order[MODEL_RESOURCES];
    if (place >= model_resources_by_time(m, order))
        return "";
    return wl_arena_printf(t->arena, "%s %s", model_resource_name(order[place]),
                           rep_seconds(t->arena, m->resources[order[place]]));
}

/* "25 % grid": resident warps, and what keeps more out. */
static const char *occupancy_cell(const rep_terminal *t, uint32_t kernel)
{
    const prof_launch *launch = rep_costliest_launch(t->d, kernel);
    const ana_model *m = launch ? ana_model_of(&t->d->models, launch->kind) : NULL;
    if (!m || !m->occupancy.most)
        return "";
    const char *text = rep_percent(t->arena, (double)m->occupancy.warps / m->occupancy.most);
    for (uint32_t i = 0, said = 0; text && i < MODEL_LIMITS; i++)
        if (m->occupancy.limits >> i & 1)
            text = wl_arena_printf(t->arena, "%s%s%s", text, said++ ? ", " : " ",
                                   model_limit_name(i));
    return text ? text : "";
}

/* What bounds the kernel, as a part of the measured time. */
static const char *efficiency_cell(const rep_terminal *t, const ana_model *m)
{
    const ana_kernels *table = &t->d->kernel_table;
    double efficiency = -1;
    for (uint32_t i = 0; i < table->count; i++)
        if (table->rows[i].kernel == m->kernel)
            efficiency = ana_efficiency(m, rep_measured_seconds(&table->rows[i], m));
    return efficiency < 0 ? "" : rep_percent(t->arena, efficiency);
}

void rep_predicted(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"launches", .right = true, .spare = 2},
        {"a launch", .right = true},
        {"from", .right = true, .spare = 1},
        {"to", .right = true, .spare = 1},
        {.head = "bound by"},
        {.head = "then", .spare = 3},
        {"efficiency", .right = true, .spare = 4},
        {.head = "warps resident", .spare = 5},
    };
    const ana_models *models = &t->d->models;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t shown = 0, all = 0;
    for (uint32_t i = 0; grid && i < models->nkernels; i++) {
        const ana_model *m = &models->kernels[i];
        if (!rep_shows_kernel(t, m->kernel) || (all++ >= TOP_PREDICTED && !t->o->all))
            continue;
        const char *cells[] = {rep_kernel_cell(t, m->kernel),
                               rep_count(t->arena, m->launches),
                               rep_seconds(t->arena, m->seconds),
                               rep_seconds(t->arena, m->low),
                               rep_seconds(t->arena, m->high),
                               resource_cell(t, m, 0),
                               resource_cell(t, m, 1),
                               efficiency_cell(t, m),
                               occupancy_cell(t, m->kernel)};
        rep_grid_add(grid, cells);
        shown++;
    }
    if (!shown)
        return;
    rep_title(t, "Predicted time", "from the counts and what was measured of the device");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (shown < all)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, all - shown, t->s.off);
}
