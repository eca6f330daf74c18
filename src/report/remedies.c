/* Remedies: what they change as counted, and what they are predicted to gain. */
#include "report/impl.h"
#include "report/keys.h"

#include <math.h>

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

/* Wavefronts where they change, sectors else. */
static const char *counts_text(wl_arena *arena, const remedy_counts *before,
                               const remedy_counts *after)
{
    double sectors = fabs(before->sectors - after->sectors);
    double wavefronts = fabs(before->wavefronts - after->wavefronts);
    return sectors >= wavefronts && before->sectors >= 1
               ? change_text(arena, before->sectors, after->sectors, "sectors")
               : change_text(arena, before->wavefronts, after->wavefronts, "wavefronts");
}

const char *rep_remedy_text(const rep_data *d, wl_arena *arena, const ana_finding_group *g)
{
    const ana_finding *first = &d->findings->rows[g->first];
    const ana_worth *w = &first->remedies->worth;
    remedy_counts before = {0}, after = {0};
    for (uint32_t i = 0; i < g->count; i++) {
        sum_counts(&before, &first[i].remedies->before);
        sum_counts(&after, &first[i].remedies->after);
    }
    const char *counts = counts_text(arena, &before, &after);
    const char *how = !counts || !*counts        ? ""
                      : first->remedies->counted ? " (tried: counted with the change)"
                                                 : " (the fewest needed)";
    const char *times = w->known && g->count == 1 ? wl_arena_printf(arena, "%s%s -> %s a launch",
                                                                    counts && *counts ? "; " : "",
                                                                    rep_seconds(arena, w->before),
                                                                    rep_seconds(arena, w->after))
                                                  : "";
    return wl_arena_printf(arena, "%s%s%s", counts ? counts : "", how, times ? times : "");
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
