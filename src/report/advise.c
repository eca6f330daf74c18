/* `advise`: what to change, what saves most first. */
#include "report/terminal.h"

enum { INDENT = 5 };

static const ana_finding *finding_of(const rep_terminal *t, const ana_finding_group *g)
{
    return &t->d->findings->rows[g->first];
}

static void draw_sentence(const rep_terminal *t, const char *style, const char *text)
{
    if (!text || !*text)
        return;
    fprintf(t->out, "%*s%s", INDENT, "", style);
    rep_wrap_open(t, INDENT, INDENT, text);
    fprintf(t->out, "%s\n", t->s.off);
}

/* "Predicted to save about 515 us (502 us to 528 us): 92 % of the kernel's time and ..." */
static const char *saving_text(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_worth *w = &g->worth;
    return w->known
               ? wl_arena_printf(t->arena, "Predicted to save %s.", rep_group_saving(t->arena, g))
               : wl_arena_printf(t->arena, "%s of %s.",
                                 rep_percent(t->arena, g->cost.share_of_program),
                                 rep_whole_of(g->cost.unit));
}

/* The costliest line that is known. */
static const char *line_text(const rep_terminal *t, const ana_finding_group *g)
{
    const char *place = NULL;
    for (uint32_t i = 0; i < g->nlines && !place; i++)
        place = rep_place(t->arena, g->lines[i].file, g->lines[i].line);
    return place;
}

/* The kernel and its line, or, where it is about no kernel, the first of the objects: an object's name
 * has the line that allocates it. */
static const char *subject_text(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_finding *f = finding_of(t, g);
    const prof_kernel *kernel = prof_find_kernel(&t->d->kernels, f->kernel);
    const char *object = kernel ? NULL : rep_object_name(t->d, f->object), *place = line_text(t, g);
    if (object && g->nobjects > 1)
        return wl_arena_printf(t->arena, "%s and %u more", rep_printable(t, object),
                               g->nobjects - 1);
    if (object)
        return rep_printable(t, object);
    return wl_arena_printf(t->arena, "%s%s%s", kernel ? rep_printable(t, kernel->short_name) : "",
                           kernel && place ? ", " : "",
                           place ? rep_printable(t, rep_base_name(place)) : "");
}

static const char *place_text(const rep_terminal *t, const ana_finding_group *g)
{
    const char *subject = subject_text(t, g);
    return wl_arena_printf(t->arena, "%s%s%s", subject ? subject : "",
                           subject && *subject ? "  " : "",
                           ana_pattern_get(finding_of(t, g)->pattern)->name);
}

/* What else mends it, and what that saves by itself. */
static void draw_others(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_finding *f = finding_of(t, g);
    for (uint32_t i = 1; i < f->nremedies; i++)
        draw_sentence(t, t->s.dim,
                      wl_arena_printf(t->arena, "Or: %s",
                                      rep_other_remedy_text(t->arena, g, &f->remedies[i])));
}

static void draw_change(const rep_terminal *t, const ana_finding_group *g)
{
    const ana_finding *f = finding_of(t, g);
    const char *condition = remedy_condition(f->remedies->kind);
    fprintf(t->out, "\n%3u. %s%s%s  ", f->number, t->s.bold, remedy_title(f->remedies->kind),
            t->s.off);
    rep_wrap_at(t, INDENT, INDENT + 2 + (unsigned)rep_width(remedy_title(f->remedies->kind)),
                place_text(t, g));
    draw_sentence(t, "", g->advice && *g->advice ? g->advice : f->advice);
    draw_sentence(t, t->s.dim, wl_arena_printf(t->arena, "Condition: %s", condition));
    draw_sentence(t, t->s.warn, rep_remedy_text(t->d, t->arena, g));
    draw_sentence(t, t->s.good, saving_text(t, g));
    draw_others(t, g);
    draw_sentence(t, t->s.warn, f->gain_note);
}

static bool is_of_little_gain(const rep_terminal *t, const ana_finding_group *g)
{
    return finding_of(t, g)->gain != ANA_GAIN_FULL;
}

static bool is_told(const rep_terminal *t, const ana_finding_group *g)
{
    return finding_of(t, g)->nremedies && (t->o->all || !is_of_little_gain(t, g));
}

/* Above the first change that is not worth making; those that are come before it. */
static void draw_border(const rep_terminal *t)
{
    rep_title(t, "Not worth making", NULL);
    rep_wrap(t, 0, REP_LITTLE_GAIN);
}

static void draw_changes(const rep_terminal *t)
{
    const ana_findings *all = t->d->findings;
    uint32_t told = 0;
    for (uint32_t i = 0; i < all->ngroups; i++) {
        if (!is_told(t, &all->groups[i]))
            continue;
        bool first = i == 0 || !is_of_little_gain(t, &all->groups[i - 1]);
        if (is_of_little_gain(t, &all->groups[i]) && first)
            draw_border(t);
        told++;
        draw_change(t, &all->groups[i]);
    }
    const char *left = rep_plural(t->arena, all->ngroups - told, "pattern is", "patterns are");
    if (!told)
        rep_wrap(t, 0, "No change of how this program's kernels use memory is worth making.");
    if (told && told < all->ngroups)
        fputc('\n', t->out);
    if (told < all->ngroups && left)
        rep_wrap(t, 0,
                 wl_arena_printf(t->arena,
                                 "%s there, too, but cost%s hardly any time: --all tells why.",
                                 left, all->ngroups - told == 1 ? "s" : ""));
}

wl_status rep_advise(const rep_data *data, const rep_text_options *options, FILE *out,
                     wl_error *err)
{
    rep_terminal t;
    if (!rep_terminal_open(data, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the report");
    draw_changes(&t);
    const char *set = rep_thresholds_set(data, t.arena);
    if (set)
        rep_wrap(&t, 0, wl_arena_printf(t.arena, "\nBy other thresholds than usual: %s.", set));
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
