/* Findings in a terminal: a group a number, with the places where it shows. */
#include "report/terminal.h"

#include <math.h>
#include <string.h>

enum { MOST_LINES = 4, MOST_PLACES = 6, MOST_BLOCKS = 8, SHOWN_WHOLE = 3 };

/* Columns before the words of a paragraph that has a label, and before those of one without. */
enum { LABELLED = 15, INDENT = 5 };

static const ana_finding *first_of(const rep_terminal *t, const ana_finding_group *g)
{
    return &t->d->findings->rows[g->first];
}

static bool is_little(const rep_terminal *t, const ana_finding_group *g)
{
    return first_of(t, g)->gain != ANA_GAIN_FULL;
}

/* ---- lines ---- */

static void cost_of(const ana_line *l, ana_unit unit, uint64_t *now, uint64_t *min)
{
    *now = unit == ANA_WAVEFRONTS ? l->wavefronts : l->sectors;
    *min = unit == ANA_WAVEFRONTS ? l->wavefronts_min : l->sectors_min;
}

/* The cost of a private array is its requests without bank conflicts, which are another finding. */
static bool is_private(ana_pattern pattern)
{
    return pattern == ANA_SHARED_THREAD_LOCAL || pattern == ANA_SHARED_WARP_LOCAL;
}

static const char *line_cost(const rep_terminal *t, const ana_line *l, const ana_finding *f)
{
    ana_unit unit = f->cost.unit;
    uint64_t now, min;
    cost_of(l, unit, &now, &min);
    const char *each = rep_ratio(t->arena, (double)now, (double)l->requests);
    const char *best = rep_ratio(t->arena, (double)min, (double)l->requests);
    const char *requests = rep_plural(t->arena, l->requests, "request", "requests");
    if (is_private(f->pattern))
        return wl_arena_printf(t->arena, "%s, %s %s each without bank conflicts", requests, best,
                               ana_unit_text(unit));
    if (now > min)
        return wl_arena_printf(t->arena, "%s %s per request, could be %s; %s", each,
                               ana_unit_text(unit), best, requests);
    return wl_arena_printf(t->arena, "%s %s per request, as few as possible; %s", each,
                           ana_unit_text(unit), requests);
}

static void draw_line(const rep_terminal *t, const ana_line *l, const ana_finding *f)
{
    const prof_file *file = rep_file_by_path(t->d, l->file);
    const char *place = rep_place(t->arena, l->file, l->line);
    const char *source = rep_printable(t, rep_source_line(t->d, t->arena, file ? file->id : 0,
                                                          l->line));
    if (!place) {
        const prof_code *code = prof_find_code(&t->d->code, f->kernel, l->pc);
        place = wl_arena_printf(t->arena, "pc %u", l->pc);
        source = rep_printable(t, code ? code->text : NULL);
    }
    source += strspn(source, " ");
    place = rep_printable(t, place);
    const char *before = l->inside ? "in " : "";
    size_t used = 5 + strlen(before) + rep_width(place) + 2;
    if (t->o->width && t->o->width > used)
        source = rep_shorten_end(t->arena, source, t->o->width - used);
    fprintf(t->out, "     %s%s%s%s%s%s\n", before, t->s.warn, place, t->s.off, *source ? "  " : "",
            source);
    if (l->requests == 0 || l->inside)
        return;
    fputs("       ", t->out);
    rep_wrap(t, 7, line_cost(t, l, f));
}

static void draw_lines(const rep_terminal *t, const ana_finding_group *g)
{
    for (uint32_t i = 0; i < g->nlines && i < MOST_LINES; i++)
        draw_line(t, &g->lines[i], first_of(t, g));
    if (g->nlines > MOST_LINES)
        fprintf(t->out, "     and %s\n",
                rep_plural(t->arena, g->nlines - MOST_LINES, "more line", "more lines"));
}

/* ---- where it shows ---- */

static const char *kernel_text(const rep_terminal *t, uint32_t id, size_t used)
{
    const prof_kernel *kernel = prof_find_kernel(&t->d->kernels, id);
    return rep_fit_name(t, kernel ? kernel->short_name : "unknown", used);
}

static const char *object_text(const rep_terminal *t, const ana_finding *f, size_t used)
{
    const char *object = rep_object_name(t->d, f->object);
    uint32_t others = f->access ? f->access->objects - 1 : 0;
    const char *more = others ? wl_arena_printf(t->arena, " and %u more allocated there", others)
                              : "";
    const char *name = rep_fit_name(t, object ? object : "unknown",
                                    used + (more ? strlen(more) : 0));
    return wl_arena_printf(t->arena, "%s%s", name, more ? more : "");
}

/* "x (a.cu:5), parameter x of spmv" */
static void draw_object(const rep_terminal *t, const ana_finding *f)
{
    const char *passed = rep_passed_text(t->d, t->arena, f->kernel, f->object);
    const char *object = object_text(t, f, 12);
    fputs("     object ", t->out);
    if (passed)
        rep_wrap_at(t, 12, 12, wl_arena_printf(t->arena, "%s, %s", object, passed));
    else
        fprintf(t->out, "%s\n", object);
}

/* The parameters of the place's kernel that the object was given by. */
static const char *parameters_cell(const rep_terminal *t, const ana_finding *f)
{
    uint32_t count;
    const prof_passed *rows = rep_passed(t->d, f->kernel, f->object, &count);
    const char *text = "";
    for (uint32_t i = 0; text && rows && i < count; i++)
        text = wl_arena_printf(t->arena, "%s%s%s", text, i ? ", " : "", rows[i].parameter);
    return text ? rep_printable(t, text) : "";
}

/* How many places the table leaves out, and in which kernels they are. */
static void draw_more_places(const rep_terminal *t, const ana_finding_group *g)
{
    enum { MOST_NAMES = 3, COLUMNS = 40 };
    const ana_finding *rows = first_of(t, g);
    const char *more = rep_plural(t->arena, g->count - MOST_PLACES, "more place", "more places");
    uint32_t names = 0, last = 0;
    for (uint32_t i = MOST_PLACES; more && g->nkernels > 1 && i < g->count; i++) {
        const prof_kernel *kernel = prof_find_kernel(&t->d->kernels, rows[i].kernel);
        if (rows[i].kernel == last || !kernel)
            continue;
        last = kernel->id;
        if (++names <= MOST_NAMES)
            more = wl_arena_printf(t->arena, "%s%s%s", more, names == 1 ? ", in " : ", ",
                                   rep_brief_name(t->arena, kernel->name, COLUMNS));
    }
    fputs("     and ", t->out);
    rep_wrap_at(t, 5, 9, names > MOST_NAMES ? wl_arena_printf(t->arena, "%s, ...", more) : more);
}

/* One kernel, one object, or both, stand above the table of the others. */
static void draw_places(const rep_terminal *t, const ana_finding_group *g)
{
    static const rep_column columns[] = {
        {"kernel", .flexible = true, .middle = true},
        {"object", .flexible = true, .middle = true},
        {"parameter", .spare = 2},
        {"avoidable", .right = true},
        {"of the program", .right = true},
        {"of the kernel", .right = true, .spare = 1},
    };
    const ana_finding *rows = first_of(t, g);
    bool shared = rows->access && rows->access->space == ACC_SHARED;
    bool one_object = g->nobjects == 1 && (g->nkernels == 1 || !shared);
    if (g->nkernels == 1)
        fprintf(t->out, "     kernel %s\n", kernel_text(t, rows->kernel, 12));
    if (one_object)
        draw_object(t, rows);
    if (g->count == 1)
        return;
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    for (uint32_t i = 0; grid && i < g->count && i < MOST_PLACES; i++) {
        const char *cells[] = {
            g->nkernels <= 1 ? "" : kernel_text(t, rows[i].kernel, t->o->width * 3 / 5),
            one_object || !g->nobjects ? "" : object_text(t, &rows[i], 0),
            parameters_cell(t, &rows[i]),
            rep_short_count(t->arena, rows[i].cost.excess),
            rep_percent(t->arena, rows[i].cost.share_of_program),
            rows[i].kernel ? rep_percent(t->arena, rows[i].cost.share_of_kernel) : ""};
        rep_grid_add(grid, cells);
    }
    if (grid)
        rep_grid_draw(grid, 5, t->o->width, t->s.dim, t->s.off, t->out);
    if (g->count > MOST_PLACES)
        draw_more_places(t, g);
}

/* ---- evidence ---- */

/* The paragraph's text follows in column LABELLED. */
static void draw_label(const rep_terminal *t, const char *style, const char *label)
{
    fprintf(t->out, "%*s%s%s%s%*s", INDENT, "", style, label, t->s.off,
            (int)(LABELLED - INDENT - strlen(label)), "");
}

static void draw_paragraph(const rep_terminal *t, const char *style, const char *label,
                           const char *text)
{
    draw_label(t, style, label);
    rep_wrap(t, LABELLED, text);
}

/* The blocks' indices; why they were sampled once after all that were for one reason. */
static const char *samples_text(const rep_terminal *t, const prof_sample *samples, uint32_t count)
{
    const char *line = "", *last = NULL;
    uint32_t named = 0, more = 0;
    for (uint32_t i = 0; line && i < count; i++) {
        const uint32_t *at = samples[i].s.block_index;
        const char *why = rep_why(t->arena, &samples[i]);
        if (!samples[i].s.mapped || !why)
            continue;
        if (++named > MOST_BLOCKS) {
            more++;
            continue;
        }
        bool other = last && strcmp(why, last) != 0;
        line = wl_arena_printf(t->arena, "%s%s%s%s%s%u,%u,%u", line, other ? " (" : "",
                               other ? last : "", other ? ")" : "", last ? "; " : "", at[0], at[1],
                               at[2]);
        last = why;
    }
    if (!line || !last)
        return NULL;
    const char *rest = more ? wl_arena_printf(t->arena, "; and %u more", more) : "";
    return wl_arena_printf(t->arena, "%s (%s)%s", line, last, rest ? rest : "");
}

/* Which blocks the heat map is of, where the finding rests on one. */
static void draw_samples(const rep_terminal *t, const ana_finding *f)
{
    if (!f->access || !f->access->nsectors)
        return;
    uint32_t count;
    const prof_sample *samples = rep_samples(t->d, f->access->example_launch, &count);
    const char *line = samples_text(t, samples, count);
    if (!line)
        return;
    draw_label(t, t->s.dim, "heat map");
    fputs("block ", t->out);
    rep_wrap_at(t, LABELLED, LABELLED + 6, line);
}

/* What the lines above already say. */
static bool is_evidence_told(const char *evidence)
{
    static const char *const names[] = {"requests", "sectors_per_request", "wavefronts_per_request",
                                        "fewest_per_request"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(evidence, names[i]) == 0)
            return true;
    return false;
}

static void draw_evidence(const rep_terminal *t, const ana_finding *f)
{
    const char *line = "";
    for (uint32_t i = 0; line && i < f->nevidence; i++) {
        const ana_evidence *e = &f->evidence[i];
        const char *unit = strstr(e->label, e->unit) ? "" : e->unit; /* not twice */
        if (!is_evidence_told(e->name))
            line = wl_arena_printf(t->arena, "%s%s%s: %s", line, *line ? "; " : "", e->label,
                                   rep_quantity(t->arena, e->value, unit));
    }
    if (!line || !*line)
        return;
    draw_paragraph(t, t->s.dim, "evidence", line);
}

/* ---- a group ---- */

static void draw_title(const rep_terminal *t, const ana_finding *f)
{
    const ana_pattern_info *pattern = ana_pattern_get(f->pattern);
    size_t used = 5 + rep_width(pattern->title) + 2 + rep_width(pattern->name);
    fprintf(t->out, "%3u. %s", f->number, t->s.bold);
    rep_wrap_open(t, 5, 5, pattern->title);
    fputs(t->s.off, t->out);
    if (!t->o->width || used <= t->o->width)
        fprintf(t->out, "  %s%s%s", t->s.dim, pattern->name, t->s.off);
    fputc('\n', t->out);
}

const char *rep_whole_of(ana_unit unit)
{
    switch (ana_unit_resource(unit)) {
    case ANA_MEMORY: return "the program's memory";
    case ANA_DEVICE: return "the device idle";
    case ANA_COPIES: return "what is copied";
    case ANA_WAITING: return "the program's barriers";
    case ANA_ON_CHIP: return "the shared memory of all blocks";
    default: return "the program's traffic";
    }
}

static void draw_cost(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_finding *f = first_of(t, g);
    const char *share = wl_arena_printf(t->arena, "%s of %s",
                                        rep_percent(t->arena, g->cost.share_of_program),
                                        rep_whole_of(g->cost.unit));
    const char *of_kernel = g->count > 1 || !f->kernel || g->cost.unit == ANA_INSTRUCTIONS
                                ? ""
                                : wl_arena_printf(t->arena, ", %s of the kernel's",
                                                  rep_percent(t->arena, f->cost.share_of_kernel));
    fprintf(t->out, "     %s%s%s: ", t->s.warn, share ? share : "", t->s.off);
    bool idle = g->cost.unit == ANA_INSTRUCTIONS;
    rep_wrap_at(t, 5, share ? 7 + (unsigned)rep_width(share) : 7,
                wl_arena_printf(t->arena, "%s%s %s%s%s%s", idle ? "room for " : "",
                                rep_count(t->arena, g->cost.excess), idle ? "more " : "",
                                ana_unit_text(g->cost.unit), idle ? "" : " avoidable", of_kernel));
}

static void draw_worth(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_worth *w = &g->worth;
    if (!w->known || first_of(t, g)->gain != ANA_GAIN_FULL)
        return;
    draw_paragraph(t, t->s.good, "gain",
                   wl_arena_printf(t->arena, "predicted to save %s",
                                   rep_group_saving(t->arena, g)));
}

static void draw_group(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_finding *f = first_of(t, g);
    draw_title(t, f);
    draw_cost(t, g);
    draw_worth(t, g);
    draw_places(t, g);
    draw_lines(t, g);
    draw_paragraph(t, t->s.dim, "why", f->summary);
    draw_evidence(t, f);
    if (f->frequency)
        draw_paragraph(t, t->s.dim, "elements", rep_frequency_text(t->arena, f->frequency));
    draw_samples(t, f);
    draw_paragraph(t, t->s.good, "fix",
                   g->advice && *g->advice ? g->advice : ana_pattern_get(f->pattern)->remedy);
    if (!f->nremedies)
        return;
    draw_paragraph(t, t->s.dim, "provided", remedy_condition(f->remedies->kind));
    if (f->gain == ANA_GAIN_FULL && f->kernel)
        draw_paragraph(t, t->s.good, "then", rep_remedy_text(t->d, t->arena, g));
    for (uint32_t i = 1; f->kernel && i < f->nremedies; i++)
        draw_paragraph(t, t->s.dim, "or", rep_other_remedy_text(t->arena, g, &f->remedies[i]));
}

/* ---- all of them ---- */

static bool is_group_wanted(const rep_terminal *t, const ana_finding_group *g)
{
    for (uint32_t i = 0; i < g->nkernels; i++)
        if (rep_shows_kernel(t, g->kernels[i]))
            return true;
    return !t->o->kernels;
}

static bool has_resource(const ana_findings *all, ana_resource resource)
{
    for (uint32_t i = 0; i < all->ngroups; i++)
        if (ana_unit_resource(all->groups[i].cost.unit) == resource)
            return true;
    return false;
}

/* The first group that does not tell of a failure; those come before all others. */
static const ana_finding_group *first_of_rest(const ana_findings *all)
{
    for (uint32_t i = 0; i < all->ngroups; i++)
        if (all->rows[all->groups[i].first].pattern != ANA_OUT_OF_MEMORY)
            return &all->groups[i];
    return NULL;
}

static const char *order_of(const rep_terminal *t, const ana_findings *all)
{
    const ana_finding_group *first = first_of_rest(all);
    bool memory = has_resource(all, ANA_MEMORY) || has_resource(all, ANA_COPIES);
    bool time = has_resource(all, ANA_TRAFFIC) || has_resource(all, ANA_DEVICE) ||
                has_resource(all, ANA_WAITING) || has_resource(all, ANA_ON_CHIP);
    const char *order =
        first && first->worth.known ? "those that save most time first, as predicted"
        : has_resource(all, ANA_DEVICE)
            ? "costliest first, by their share of all sectors and wavefronts, or of the device"
            : "costliest first, by their share of all sectors and wavefronts";
    if (!memory)
        return order;
    return time ? wl_arena_printf(t->arena, "%s; then those about memory, by what they save of it",
                                  order)
                : "those that save most memory first";
}

/* Above the first finding of a section; those of little gain say why once for all of one reason,
 * and what differs for each. */
static void draw_section(const rep_terminal *t, const ana_finding_group *g,
                         const ana_finding_group *last)
{
    const ana_finding *f = first_of(t, g), *before = last ? first_of(t, last) : NULL;
    bool little = is_little(t, g);
    bool first = !before || little != is_little(t, last);
    if (first)
        rep_title(t, little ? "Findings of little gain: not worth working on" : "Findings",
                  little ? NULL : order_of(t, t->d->findings));
    else
        fputc('\n', t->out);
    if (first && little) {
        fputs("  ", t->out);
        rep_wrap(t, 2, REP_LITTLE_GAIN);
    }
    if (!little || (before && before->gain == f->gain))
        return;
    fputs("  ", t->out);
    rep_wrap(t, 2, ana_gain_reason(f->gain));
}

static void draw_gain(const rep_terminal *t, const ana_finding_group *g,
                      const ana_finding_group *last)
{
    const ana_finding *f = first_of(t, g), *before = last ? first_of(t, last) : NULL;
    if (f->gain == ANA_GAIN_FULL || (before && strcmp(before->gain_figures, f->gain_figures) == 0))
        return;
    draw_paragraph(t, t->s.warn, "but",
                   wl_arena_printf(t->arena, "it gains little: %s", f->gain_figures));
}

/* The sectors beyond those needed of the kernels that are shown, where they are many though no
 * finding names them; else NULL. */
static const char *text_of_left_over(const rep_terminal *t)
{
    const ana_left_out *left = &t->d->findings->left_out;
    double sum = 0;
    if (!t->o->kernels)
        return left->much ? rep_left_out(t->d, t->arena) : NULL;
    for (uint32_t i = 0; i < left->nkernels; i++)
        sum += rep_shows_kernel(t, left->kernels[i].kernel) ? left->kernels[i].sectors : 0;
    return sum > 0
               ? wl_arena_printf(t->arena, "%s beyond those needed belong to no pattern.",
                                 rep_plural(t->arena, (uint64_t)llround(sum), "sector", "sectors"))
               : NULL;
}

/* In place of findings. */
static const char *text_of_none(const rep_terminal *t)
{
    const char *left = text_of_left_over(t);
    const char *costs = left ? wl_arena_printf(t->arena,
                                               "more moves than is needed, in no pattern that "
                                               "there is advice for. %s",
                                               left)
                             : "no access pattern costs enough to be worth a change";
    if (t->d->nfailures)
        return wl_arena_printf(t->arena,
                               "not known: the program did not run to its end (see the first "
                               "lines). In what was observed until then %s%s",
                               costs, left ? "" : ".");
    return t->d->coverage.launches_observed == 0
               ? "none: no kernel launch was observed"
               : wl_arena_printf(t->arena, "%s: %s", left ? "unexplained" : "none", costs);
}

static void draw_none(const rep_terminal *t)
{
    const char *text = text_of_none(t);
    rep_title(t, "Findings", NULL);
    fputs("  ", t->out);
    if (text)
        rep_wrap(t, 2, text);
}

/* What fixing it saves, where it is worth it: of the program's time, as predicted, or memory at the
 * peak of its device or pool. */
static const char *brief_saving(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_saving *memory = &first_of(t, g)->saving;
    if (is_little(t, g))
        return "little";
    if (memory->known)
        return memory->bytes ? rep_bytes(t->arena, memory->bytes) : "with others";
    return g->worth.known && g->worth.of_program > 0
               ? wl_arena_printf(t->arena, "%s of time", rep_percent(t->arena, g->worth.of_program))
               : "";
}

/* A finding in a line: what to look at, and whether to. */
static void add_brief(const rep_terminal *t, rep_grid *grid, const ana_finding_group *g)
{
    const ana_finding *f = first_of(t, g);
    const ana_line *l = g->nlines ? &g->lines[0] : NULL;
    const char *place = l ? rep_place(t->arena, l->file, l->line) : NULL;
    const char *of = g->nkernels == 1   ? kernel_text(t, f->kernel, t->o->width * 2 / 3)
                     : g->nkernels == 0 ? ""
                                        : rep_plural(t->arena, g->nkernels, "kernel", "kernels");
    const char *cells[] = {wl_arena_printf(t->arena, "%u.", f->number),
                           ana_pattern_get(f->pattern)->name,
                           g->nobjects == 1 ? object_text(t, f, t->o->width * 2 / 3) : "",
                           of,
                           place ? rep_printable(t, rep_base_name(place)) : "",
                           rep_percent(t->arena, g->cost.share_of_program),
                           brief_saving(t, g)};
    rep_grid_add(grid, cells);
}

static void draw_brief(const rep_terminal *t, const ana_finding_group *const *groups,
                       uint32_t count)
{
    const rep_column columns[] = {
        {"", .right = true},
        {.head = "finding"},
        {"object", .flexible = true, .middle = true},
        {"kernel", .flexible = true, .middle = true},
        {.head = "line"},
        {has_resource(t->d->findings, ANA_MEMORY) || has_resource(t->d->findings, ANA_DEVICE) ||
                 has_resource(t->d->findings, ANA_COPIES) ||
                 has_resource(t->d->findings, ANA_WAITING) ||
                 has_resource(t->d->findings, ANA_ON_CHIP)
             ? "of the program"
             : "of the traffic",
         .right = true},
        {"saves", .right = true},
    };
    rep_grid *grid = rep_grid_new(t->arena, columns, sizeof columns / sizeof *columns);
    if (!count || !grid)
        return;
    for (uint32_t i = 0; i < count; i++)
        add_brief(t, grid, groups[i]);
    rep_title(t, "Further findings", "--finding N shows one, --all shows all of them");
    rep_grid_draw(grid, 2, t->o->width, t->s.dim, t->s.off, t->out);
}

/* `place`: among those that are shown at all, from 1. */
static bool is_shown_whole(const rep_terminal *t, uint32_t number, uint32_t place)
{
    uint32_t most = t->o->findings ? t->o->findings : SHOWN_WHOLE;
    return t->o->all || (t->o->finding ? t->o->finding == number : place <= most);
}

bool rep_shows_lines_of(const rep_terminal *t, uint32_t kernel)
{
    const ana_findings *all = t->d->findings;
    if (t->o->kernels || t->o->all)
        return rep_shows_kernel(t, kernel);
    for (uint32_t i = 0; i < all->count; i++)
        if (all->rows[i].kernel == kernel &&
            is_shown_whole(t, all->rows[i].number, all->rows[i].number))
            return true;
    return false;
}

/* Is it to be told in a line, since fixing it gains little and others are worth fixing? */
static bool is_little_told(const rep_terminal *t, const ana_finding_group *g)
{
    bool others = !is_little(t, &t->d->findings->groups[0]);
    return others && is_little(t, g) && !t->o->all && !t->o->finding;
}

/* Those that are shown whole, by turns; the others go to `rest`. Returns how many were wanted. */
static uint32_t draw_groups(const rep_terminal *t, const ana_finding_group **rest, uint32_t *nrest)
{
    const ana_findings *all = t->d->findings;
    const ana_finding_group *last = NULL;
    uint32_t wanted = 0;
    for (uint32_t i = 0; i < all->ngroups; i++) {
        const ana_finding_group *g = &all->groups[i];
        if (!is_group_wanted(t, g))
            continue;
        if (!is_shown_whole(t, first_of(t, g)->number, ++wanted) || is_little_told(t, g)) {
            rest[(*nrest)++] = g;
            continue;
        }
        draw_section(t, g, last);
        draw_group(t, g);
        draw_gain(t, g, last);
        last = g;
    }
    return wanted;
}

static void draw_left_out(const rep_terminal *t)
{
    const char *text = rep_left_out(t->d, t->arena);
    bool told = t->d->findings->left_out.much && t->d->findings->ngroups == 0;
    if (!text || !*text || told || t->o->kernels || t->o->finding)
        return;
    rep_title(t, "Left out", NULL);
    fputs("  ", t->out);
    rep_wrap(t, 2, text);
}

void rep_findings(const rep_terminal *t)
{
    uint32_t nrest = 0;
    const ana_finding_group **rest = wl_new_array(t->arena, const ana_finding_group *,
                                                  (size_t)t->d->findings->ngroups + 1);
    if (!rest)
        return;
    if (draw_groups(t, rest, &nrest) == 0)
        draw_none(t);
    else if (!t->o->finding)
        draw_brief(t, rest, nrest);
    draw_left_out(t);
}

void rep_verdict(const rep_terminal *t)
{
    const ana_findings *all = t->d->findings;
    if (!all->ngroups || !is_little(t, &all->groups[0]))
        return;
    fprintf(t->out, "\n%s", t->s.warn);
    rep_wrap_open(t, 0, 0,
                  all->ngroups == 1
                      ? "The only finding is of little gain: fixing it would hardly make the "
                        "program faster."
                      : wl_arena_printf(t->arena,
                                        "All %u findings are of little gain: fixing them would "
                                        "hardly make the program faster.",
                                        all->ngroups));
    fprintf(t->out, "%s\n", t->s.off);
}

static bool names_line(const rep_terminal *t, const ana_finding *f, const rep_line *line)
{
    const char *path = line->line ? rep_file_path(t->d, line->file) : NULL;
    for (uint32_t i = 0; f->kernel == line->kernel && i < f->nlines; i++) {
        const ana_line *l = &f->lines[i];
        if (path ? l->file && l->line == line->line && strcmp(l->file, path) == 0
                 : !l->file && l->pc == line->pc)
            return true;
    }
    return false;
}

rep_told rep_how_told(const rep_terminal *t, const rep_line *line)
{
    rep_told told = REP_TOLD_NOWHERE;
    for (uint32_t i = 0; i < t->d->findings->count; i++) {
        const ana_finding *f = &t->d->findings->rows[i];
        if (!names_line(t, f, line))
            continue;
        if (is_shown_whole(t, f->number, f->number))
            return REP_TOLD_WHOLE;
        told = REP_TOLD_BRIEFLY;
    }
    return told;
}
