/* Where in an object a launch's accesses go: the elements in a few bins, for a picture. */
#include "analysis/frequency/strips.h"
#include "analysis/frequency/measure.h"

#include <string.h>

typedef struct work {
    prof_db *db;
    wl_arena *arena;
    wl_error *err;
    prof_use_rows uses; /* by object, space, kernel, launch */
} work;

static double accesses_of_use(const prof_use *u)
{
    return (double)u->times[WL_LOADS] + (double)u->times[WL_STORES] + (double)u->times[WL_ATOMICS];
}

/* Elements [from, to) of the span, to the bins that they fall in. */
static void add_to_bins(ana_strip *strip, const wl_span *span)
{
    uint64_t at = span->first, end = span->first + span->count;
    uint64_t times = span->times[0] + span->times[1] + span->times[2];
    while (at < end && at < strip->elements) {
        uint64_t bin = at / strip->width, next = (bin + 1) * strip->width;
        uint64_t n = (end < next ? end : next) - at;
        strip->bins[bin].touched += n;
        strip->bins[bin].accesses += n * times;
        at += n;
    }
}

static void make_bins(const prof_use *u, ana_strip *out)
{
    out->elements = u->elements;
    out->width = (u->elements + ANA_STRIP_BINS - 1) / ANA_STRIP_BINS;
    out->width += out->width == 0;
    out->nbins = (uint32_t)((u->elements + out->width - 1) / out->width);
}

static wl_status add_strip(const work *w, const prof_use *u, ana_strips *out)
{
    wl_span_reader reader;
    ana_strip strip = {.object = u->object, .kernel = u->kernel, .launch = u->launch};
    wl_arena *scratch = wl_arena_new();
    wl_status status = scratch ? prof_load_spans(w->db, u->spans, scratch, &reader, w->err)
                               : wl_fail(w->err, WL_NOMEM,
                                         "Cannot analyse the profile: out of memory.");
    make_bins(u, &strip);
    strip.bins = wl_new_array(w->arena, ana_strip_bin, strip.nbins + 1);
    if (status == WL_OK && !strip.bins)
        status = wl_fail(w->err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    if (status == WL_OK) {
        strip.measured = frequency_measure(&reader, &strip.frequency);
        strip.frequency.launch = u->launch;
        for (wl_span span; wl_span_next(&reader, &span);)
            add_to_bins(&strip, &span);
        out->rows[out->count++] = strip;
    }
    wl_arena_free(scratch);
    return status;
}

/* Of the uses of one object by one kernel, from `first` on: the launch that accesses it most; those
 * of which only what was touched is known come last. */
static const prof_use *most_telling(const prof_use_rows *uses, uint32_t first, uint32_t *end)
{
    const prof_use *a = &uses->rows[first], *best = NULL;
    for (*end = first; *end < uses->count; ++*end) {
        const prof_use *u = &uses->rows[*end];
        if (u->object != a->object || u->space != a->space || u->kernel != a->kernel)
            break;
        bool better = !best || u->known > best->known ||
                      (u->known == best->known && accesses_of_use(u) > accesses_of_use(best));
        if (u->spans && u->known != OBS_KNOWN_NOTHING && better)
            best = u;
    }
    return best;
}

wl_status ana_strip_table(prof_db *profile, wl_arena *arena, ana_strips *out, wl_error *err)
{
    work w = {.db = profile, .arena = arena, .err = err};
    *out = (ana_strips){0};
    wl_status status = prof_load_uses(profile, PROF_ALL, arena, &w.uses, err);
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, ana_strip, w.uses.count + 1);
    if (!out->rows)
        return wl_fail(err, WL_NOMEM, "Cannot analyse the profile: out of memory.");
    for (uint32_t i = 0, end; i < w.uses.count && status == WL_OK; i = end) {
        const prof_use *best = most_telling(&w.uses, i, &end);
        if (best)
            status = add_strip(&w, best, out);
    }
    return status;
}
