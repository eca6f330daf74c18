/* Remedies: what they change as counted, and what they are predicted to gain. */
#include "analysis/gain.h"
#include "analysis/group.h"
#include "report/impl.h"
#include "report/keys.h"

#include <math.h>
#include <string.h>

/* ---- words ---- */

static void sum_counts(remedy_counts *to, const remedy_counts *from)
{
    to->requests += from->requests;
    to->sectors += from->sectors;
    to->wavefronts += from->wavefronts;
}

static const char *change_text(wl_arena *arena, double before, double after, const char *unit)
{
    const char *from = rep_short_count(arena, (uint64_t)llround(before));
    const char *to = rep_short_count(arena, (uint64_t)llround(after));
    return before >= 1 ? wl_arena_printf(arena, "%s -> %s %s", from, to, unit) : "";
}

/* What changes more; never what there was nothing of before. */
static const char *counts_text(wl_arena *arena, const remedy_counts *before,
                               const remedy_counts *after)
{
    double sectors = fabs(before->sectors - after->sectors);
    double wavefronts = fabs(before->wavefronts - after->wavefronts);
    bool of_sectors = before->wavefronts < 1 || (before->sectors >= 1 && sectors >= wavefronts);
    return of_sectors ? change_text(arena, before->sectors, after->sectors, "sectors")
                      : change_text(arena, before->wavefronts, after->wavefronts, "wavefronts");
}

/* Less than is written of seconds, or than its share of the kernel tells from none. */
static bool saves_nothing(const ana_worth *w)
{
    return fabs(w->seconds) < 5e-8 || fabs(w->of_program) < 1e-5;
}

/* "about 4.0 ms (3.8 ms to 4.1 ms)" */
static const char *saving_words(wl_arena *arena, const ana_worth *w)
{
    const char *seconds = rep_seconds(arena, fabs(w->seconds));
    const char *low = w->low < 5e-8 ? "nothing" : rep_seconds(arena, w->low);
    const char *high = rep_seconds(arena, w->high);
    if (saves_nothing(w) && w->high < 5e-8)
        return "nothing";
    if (saves_nothing(w))
        return wl_arena_printf(arena, "nothing, and at most %s", high);
    if (w->seconds < 0)
        return wl_arena_printf(arena, "nothing: the kernel would take about %s longer", seconds);
    return wl_arena_printf(arena, "about %s (%s to %s)", seconds, low, high);
}

/* What it is judged by, where that is more than it saves as the program is. */
static const char *when_judged(wl_arena *arena, const ana_finding_group *g)
{
    const double much = 0.03;
    const ana_worth *w = &g->worth;
    bool tells = w->of_full >= much && (w->small || w->of_full > w->of_kernel + much);
    return tells ? wl_arena_printf(arena, "; %s of the %skernel's time%s",
                                   rep_percent(arena, w->of_full), g->nkernels == 1 ? "" : "first ",
                                   gain_when_judged(w))
                 : "";
}

const char *rep_group_saving(wl_arena *arena, const ana_finding_group *g)
{
    const ana_worth *w = &g->worth;
    const char *saving = saving_words(arena, w), *judged = when_judged(arena, g);
    if (saves_nothing(w) || w->seconds < 0)
        return wl_arena_printf(arena, "%s%s", saving, judged);
    if (g->nkernels != 1)
        return wl_arena_printf(arena, "%s: %s of the program's time%s", saving,
                               rep_percent(arena, w->of_program), judged);
    return wl_arena_printf(arena, "%s: %s of the kernel's time and %s of the program's%s", saving,
                           rep_percent(arena, w->of_kernel), rep_percent(arena, w->of_program),
                           judged);
}

/* "562 us -> 94 us a launch (60 us to 120 us)"; "" where both are written the same. */
static const char *launch_text(wl_arena *arena, const ana_worth *w)
{
    const char *before = rep_seconds(arena, w->before), *after = rep_seconds(arena, w->after);
    return before && after && strcmp(before, after) != 0
               ? wl_arena_printf(arena, "%s -> %s a launch (%s to %s)", before, after,
                                 rep_seconds(arena, w->after_low),
                                 rep_seconds(arena, w->after_high))
               : "";
}

static const char *tried_text_of(const ana_remedy *r)
{
    return r->counted ? "tried" : "not tried";
}

static const char *saved_text(wl_arena *arena, const ana_worth *w)
{
    if (!w->known)
        return "";
    return saves_nothing(w) ? "; saves nothing"
           : w->seconds < 0 ? "; would take longer"
                            : wl_arena_printf(arena, "; saves %s", rep_seconds(arena, w->seconds));
}

/* "Store a transposed ... (not tried; saves 14 us)."; of several findings it is not told what it saves of the first
 * by itself. */
const char *rep_other_remedy_text(wl_arena *arena, const ana_finding_group *g, const ana_remedy *r)
{
    const char *advice = g->names && r->remedy ? group_fill(arena, r->remedy, g->names) : r->advice;
    const char *saves = g->count > 1 ? "" : saved_text(arena, &r->worth);
    size_t length = advice ? strlen(advice) : 0;
    int words = (int)(length && advice[length - 1] == '.' ? length - 1 : length);
    return wl_arena_printf(arena, "%.*s (%s%s).", words, advice ? advice : "", tried_text_of(r),
                           saves ? saves : "");
}

const char *rep_remedy_text(const rep_data *d, wl_arena *arena, const ana_finding_group *g)
{
    const ana_finding *first = &d->findings->rows[g->first];
    const ana_worth *w = g->count == 1 ? &first->remedies->worth : &g->worth;
    remedy_counts before = {0}, after = {0};
    for (uint32_t i = 0; i < g->count; i++) {
        sum_counts(&before, &first[i].remedies->before);
        sum_counts(&after, &first[i].remedies->after);
    }
    const char *counts = counts_text(arena, &before, &after);
    const char *how = !counts || !*counts        ? ""
                      : first->remedies->counted ? " (tried: counted with the change)"
                                                 : " (not tried: the fewest needed)";
    const char *times = w->known && g->nkernels <= 1 ? launch_text(arena, w) : "";
    if (counts && !*counts && times && *times && !first->remedies->counted)
        times = wl_arena_printf(arena, "%s, not tried", times);
    return wl_arena_printf(arena, "%s%s%s%s", counts ? counts : "", how,
                           counts && *counts && times && *times ? "; " : "", times ? times : "");
}

/* ---- JSON ---- */

static json_t *counts_json(const remedy_counts *c)
{
    json_t *row = json_object();
    rep_put_count(row, K(counts, requests), (uint64_t)llround(c->requests));
    rep_put_count(row, K(counts, sectors), (uint64_t)llround(c->sectors));
    rep_put_count(row, K(counts, wavefronts), (uint64_t)llround(c->wavefronts));
    return row;
}

static json_t *remedy_json(const ana_remedy *r)
{
    json_t *row = json_object(), *conditions = json_array();
    json_array_append_new(conditions, rep_text_json(remedy_condition(r->kind)));
    rep_put_text(row, K(remedy, name), remedy_name(r->kind));
    rep_put_text(row, K(remedy, title), remedy_title(r->kind));
    rep_put_text(row, K(remedy, advice), r->advice);
    rep_put(row, K(remedy, conditions), conditions);
    rep_put(row, K(remedy, counted), json_boolean(r->counted));
    rep_put(row, K(remedy, before), counts_json(&r->before));
    rep_put(row, K(remedy, after), counts_json(&r->after));
    if (r->worth.known)
        rep_put(row, K(remedy, gain), rep_gain_json(&r->worth, true));
    return row;
}

json_t *rep_remedies_json(const ana_finding *f)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < f->nremedies; i++)
        json_array_append_new(list, remedy_json(&f->remedies[i]));
    return list;
}
