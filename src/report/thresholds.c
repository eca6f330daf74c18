/* The thresholds of the analyses: all of them in a terminal, and those that were set in every
 * output. */
#include "report/keys.h"
#include "report/terminal.h"

enum { INDENT = 6 };

json_t *rep_thresholds_json(const rep_data *d)
{
    json_t *rows = NULL;
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++) {
        if (!ana_threshold_differs(d->findings->thresholds, i))
            continue;
        json_t *row = json_object();
        rep_put_text(row, K(threshold, name), ana_threshold_get(i)->name);
        rep_put_number(row, K(threshold, value), ana_threshold_value(d->findings->thresholds, i));
        rep_put_number(row, K(threshold, initial), ana_threshold_get(i)->initial);
        rows = rows ? rows : json_array();
        json_array_append_new(rows, row);
    }
    return rows;
}

const char *rep_thresholds_set(const rep_data *d, wl_arena *arena)
{
    const char *text = NULL;
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++)
        if (ana_threshold_differs(d->findings->thresholds, i))
            text = wl_arena_printf(arena, "%s%s%s %.10g (default %.10g)", text ? text : "",
                                   text ? ", " : "", ana_threshold_get(i)->name,
                                   ana_threshold_value(d->findings->thresholds, i),
                                   ana_threshold_get(i)->initial);
    return text;
}

static void draw_threshold(const rep_terminal *t, const ana_thresholds *thresholds, uint32_t i)
{
    const ana_threshold *threshold = ana_threshold_get(i);
    bool set = ana_threshold_differs(thresholds, i);
    fprintf(t->out, "  %s%s%s  %s%.10g%s", t->s.bold, threshold->name, t->s.off,
            set ? t->s.warn : "", ana_threshold_value(thresholds, i), set ? t->s.off : "");
    fprintf(t->out, "  %s(default %.10g)%s\n%*s", t->s.dim, threshold->initial, t->s.off, INDENT,
            "");
    rep_wrap(t, INDENT, threshold->reason);
}

wl_status rep_thresholds(const ana_thresholds *thresholds, const rep_text_options *options,
                         FILE *out, wl_error *err)
{
    static const ana_findings none;
    const rep_data nothing = {.findings = &none};
    rep_terminal t;
    if (!rep_terminal_open(&nothing, options, out, &t))
        return wl_fail(err, WL_NOMEM, "not enough memory for the thresholds");
    for (uint32_t i = 0; i < ANA_THRESHOLD_COUNT; i++)
        draw_threshold(&t, thresholds, i);
    wl_arena_free(t.arena);
    return rep_done(out, false, err);
}
