/* Device memory in a terminal: what holds the peak, and the changes that lower it together. */
#include "report/terminal.h"

#include <stdlib.h>

enum { MOST_HOLDERS = 6, INDENT = 4 };

static const char *holder_bytes(const rep_terminal *t, uint32_t object, uint64_t *bytes)
{
    const prof_object *o = prof_find_object(&t->d->objects, object);
    *bytes = o ? o->bytes : 0;
    return rep_bytes(t->arena, *bytes);
}

/* Objects alive at the peak, largest first. */
static void draw_holders(const rep_terminal *t, const ana_peak *peak)
{
    static const rep_column columns[] = {{"object", .flexible = true, .middle = true},
                                         {"bytes", .right = true},
                                         {"of the peak", .right = true}};
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; grid && i < peak->nobjects && i < MOST_HOLDERS; i++) {
        uint64_t bytes;
        const char *name = rep_object_name(t->d, peak->objects[i]);
        const char *size = holder_bytes(t, peak->objects[i], &bytes);
        const char *cells[] = {name ? rep_fit_name(t, name, 0) : "unknown", size,
                               rep_percent(t->arena, (double)bytes / (double)peak->bytes)};
        rep_grid_add(grid, cells);
    }
    if (grid)
        rep_grid_draw(grid, INDENT, t->o->width, t->s.dim, t->s.off, t->out);
    if (peak->nobjects > MOST_HOLDERS)
        fprintf(t->out, "%*sand %u more\n", INDENT, "", peak->nobjects - MOST_HOLDERS);
}

static int by_pool_and_plan(const void *a, const void *b)
{
    const ana_saving *x = &(*(const ana_finding *const *)a)->saving,
                     *y = &(*(const ana_finding *const *)b)->saving;
    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* The findings that are steps of plans: the device's first, then pool after pool; *count of them. */
static const ana_finding **list_plan(const rep_terminal *t, uint32_t *count)
{
    const ana_findings *all = t->d->findings;
    const ana_finding **steps = wl_new_array(t->arena, const ana_finding *, (size_t)all->count + 1);
    *count = 0;
    for (uint32_t i = 0; steps && i < all->count; i++)
        if (all->rows[i].saving.step && all->rows[i].nremedies)
            steps[(*count)++] = &all->rows[i];
    if (*count)
        qsort(steps, *count, sizeof *steps, by_pool_and_plan);
    return steps;
}

static void draw_plan(const rep_terminal *t, const ana_finding *const *steps, uint32_t count)
{
    static const rep_column columns[] = {{"finding", .right = true},
                                         {.head = "change"},
                                         {"object", .flexible = true, .middle = true},
                                         {"then at most", .right = true}};
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; grid && i < count; i++) {
        const char *name = rep_object_name(t->d, steps[i]->object);
        const char *cells[] = {wl_arena_printf(t->arena, "%u.", steps[i]->number),
                               remedy_title(steps[i]->remedies->kind),
                               name ? rep_fit_name(t, name, t->o->width / 2) : "unknown",
                               rep_bytes(t->arena, steps[i]->saving.peak)};
        rep_grid_add(grid, cells);
    }
    if (grid)
        rep_grid_draw(grid, INDENT, t->o->width, t->s.dim, t->s.off, t->out);
}

/* `steps`: of one pool. */
static void draw_plan_of_pool(const rep_terminal *t, const ana_finding *const *steps,
                              uint32_t count)
{
    const char *name = rep_pool_name(t->d, steps[0]->saving.pool);
    fprintf(t->out,
            "\n%*sOf the own peak of the pool %s; the device's falls where its allocator gives "
            "memory back:\n",
            INDENT, "", rep_printable(t, name ? name : "unknown"));
    draw_plan(t, steps, count);
}

void rep_memory(const rep_terminal *t)
{
    uint32_t count = 0, end = 0;
    const ana_peak *peak = t->d->memory.npeaks ? &t->d->memory.peaks[0] : NULL;
    const ana_finding **steps = t->d->findings ? list_plan(t, &count) : NULL;
    if (!steps || !count || !peak)
        return;
    rep_title(t, "Memory", "what holds the peak, and changes that lower it together");
    draw_holders(t, peak);
    while (end < count && !steps[end]->saving.pool)
        end++;
    if (end)
        fputc('\n', t->out);
    if (end)
        draw_plan(t, steps, end);
    for (uint32_t first = end; first < count; first = end) {
        while (end < count && steps[end]->saving.pool == steps[first]->saving.pool)
            end++;
        draw_plan_of_pool(t, &steps[first], end - first);
    }
}
