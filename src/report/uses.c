/* How often the elements of objects are accessed: a part of `warplens stats`. */
#include "report/terminal.h"

#include <stdlib.h>
#include <string.h>

enum { TOP = 20, TOP_SWAPS = 5 };

/* A kernel's own view: its arrays, and the device memory that it accesses. */
static bool belongs(const rep_terminal *t, const ana_use *u)
{
    if (rep_shows_kernel(t, u->kernel))
        return true;
    for (uint32_t i = 0; !u->kernel && i < t->d->totals.count; i++)
        if (t->d->totals.rows[i].c.object == u->object &&
            rep_shows_kernel(t, t->d->totals.rows[i].kernel))
            return true;
    return false;
}

/* A variable that a library's module has, say, and that none of the kernels accesses. */
static bool is_idle_variable(const rep_terminal *t, const ana_use *u)
{
    const prof_object *o = prof_find_object(&t->d->objects, u->object);
    if (!o || (o->kind != CAP_OBJECT_SYMBOL && o->kind != CAP_OBJECT_CONST) || u->touched)
        return false;
    for (uint32_t i = 0; i < t->d->totals.count; i++)
        if (t->d->totals.rows[i].c.object == u->object)
            return false;
    return true;
}

static void tell_idle_variables(const rep_terminal *t, uint64_t count)
{
    const prof_coverage *c = &t->d->coverage;
    bool whole = !t->d->gaps.count && c->launches_observed >= c->launches_seen;
    if (count)
        fprintf(t->out, "  %s%s that no kernel touched%s: --all lists them%s\n", t->s.dim,
                rep_plural(t->arena, count, "module variable", "module variables"),
                whole ? "" : ", as far as is known", t->s.off);
}

/* "at least" where launches are missing. */
static const char *bound(const ana_use *u)
{
    return u->partial ? ">= " : u->estimated ? "~" : "";
}

static const char *cell_percent(const rep_terminal *t, const ana_use *u, uint64_t part)
{
    double share = u->elements ? (double)part / (double)u->elements : 0;
    const char *text = part == u->elements ? "100 %" : rep_percent(t->arena, share);
    return wl_arena_printf(t->arena, "%s%s", bound(u), text ? text : "");
}

/* Whole numbers without a point. */
static const char *cell_mean(const rep_terminal *t, double mean)
{
    if (mean >= 1000)
        return rep_short_count(t->arena, (uint64_t)(mean + 0.5));
    return mean == (double)(uint64_t)mean ? rep_count(t->arena, (uint64_t)mean)
                                          : wl_arena_printf(t->arena, "%.2f", mean);
}

static const char *cell_times(const rep_terminal *t, const ana_use *u, int class_)
{
    return u->counted && u->times[class_] ? rep_short_count(t->arena, u->times[class_]) : "";
}

/* Of an array whose live ranges are known. */
static const char *cell_per_range(const rep_terminal *t, const ana_use *u)
{
    const ana_reuse *r = &u->reuse;
    return r->ranges_known && r->accesses_per_range >= 0 ? cell_mean(t, r->accesses_per_range) : "";
}

static const char *cell_per_block(const rep_terminal *t, const ana_use *u)
{
    const ana_reuse *r = &u->reuse;
    return r->blocks_known && r->block_words ? cell_mean(t, r->accesses_per_block_word) : "";
}

static void add_row(const rep_terminal *t, rep_grid *grid, const ana_use *u)
{
    const prof_object *o = prof_find_object(&t->d->objects, u->object);
    const char *name = rep_object_name(t->d, u->object);
    const char *cells[] = {
        rep_fit_name(t, name ? name : "unknown", t->o->width / 2),
        prof_space_text(o ? o->space : ACC_GLOBAL),
        o ? rep_bytes(t->arena, o->bytes) : "",
        u->unknown ? "" : cell_percent(t, u, u->touched),
        cell_times(t, u, WL_LOADS),
        cell_times(t, u, WL_STORES),
        cell_times(t, u, WL_ATOMICS),
        u->counted ? cell_mean(t, u->mean) : "",
        u->counted ? rep_short_count(t->arena, u->most) : "",
        cell_per_block(t, u),
        cell_per_range(t, u),
        u->counted && !u->partial && u->rare ? cell_percent(t, u, u->rare) : "",
    };
    rep_grid_add(grid, cells);
}

static void table(const rep_terminal *t)
{
    static const rep_column columns[] = {
        {"object", .flexible = true, .middle = true},
        {"memory", .spare = 1},
        {"bytes", .right = true},
        {"touched", .right = true},
        {"loads", .right = true},
        {"stores", .right = true},
        {"atomics", .right = true},
        {"mean", .right = true},
        {"most", .right = true, .spare = 4},
        {"per block", .right = true},
        {"per range", .right = true},
        {"rarely", .right = true, .spare = 2},
    };
    const ana_uses *uses = &t->d->uses;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    uint32_t shown = 0, all = 0, idle = 0;
    for (uint32_t i = 0; grid && i < uses->count; i++) {
        const ana_use *u = &uses->rows[i];
        bool is_idle = !t->o->all && belongs(t, u) && is_idle_variable(t, u);
        idle += is_idle;
        if (is_idle || !belongs(t, u) || (all++ >= TOP && !t->o->all))
            continue;
        add_row(t, grid, u);
        shown++;
    }
    if (!shown && !idle)
        return;
    rep_title(t, "Elements", "accesses by kernels to each 4 bytes, highest mean first");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
    if (shown < all)
        fprintf(t->out, "  %sand %u more: --all shows them%s\n", t->s.dim, all - shown, t->s.off);
    tell_idle_variables(t, idle);
}

static void put_swap(const rep_terminal *t, const ana_swap *s)
{
    const prof_kernel *k = prof_find_kernel(&t->d->kernels, s->kernel);
    const char *device = rep_object_name(t->d, s->device),
               *shared = rep_object_name(t->d, s->shared);
    const char *words = wl_arena_printf(
        t->arena,
        "A block of %s accesses an element of %s in device memory %s times, one of %s in shared "
        "memory %s times: %s%s.",
        k ? k->short_name : "a kernel", device ? device : "an object", cell_mean(t, s->device_mean),
        shared ? shared : "an array", cell_mean(t, s->shared_mean),
        s->fits ? "there is room in shared memory for both" : "candidates to change places",
        s->written ? " (the former is written to, and would have to be stored back)" : "");
    fputs("  ", t->out);
    rep_wrap_at(t, 2, 2, words ? words : "");
}

static void swaps(const rep_terminal *t)
{
    const ana_uses *uses = &t->d->uses;
    uint32_t shown = 0;
    for (uint32_t i = 0; i < uses->nswaps; i++) {
        const ana_swap *s = &uses->swaps[i];
        if (!rep_shows_kernel(t, s->kernel) || (shown >= TOP_SWAPS && !t->o->all))
            continue;
        put_swap(t, s);
        shown++;
    }
}

/* Did the command ask for what could not be known? */
static bool is_use_missing(const rep_terminal *t)
{
    const char *asked = strstr(t->d->info.command, "--probes");
    return asked && t->d->launches.count && !t->d->uses.count &&
           (strstr(asked, "touch") || strstr(asked, "frequency") || strstr(asked, "shared"));
}

void rep_uses(const rep_terminal *t)
{
    if (is_use_missing(t)) {
        rep_title(t, "Elements", NULL);
        fputs("  ", t->out);
        rep_wrap_at(
            t, 2, 2,
            "Not known: in each launch some accesses were not observed, or only some blocks "
            "were; the coverage says which.");
    }
    table(t);
    swaps(t);
}
