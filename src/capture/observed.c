/* A launch that was observed: its records, thinned where they would be larger than a record may be. */
#include "base/log.h"
#include "capture/capture.h"
#include "capture/records.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a payload may take beside its frame. */
enum { MOST_BYTES = CAP_MAX_PAYLOAD - CAP_FRAME_BYTES };

/* ---- heat maps ---- */

/* The launch with at most `rows` rows of each map; `heats` has room for them. */
static void cut_heats(const obs_summary *from, uint32_t rows, obs_heat *heats)
{
    for (uint32_t i = 0; i < from->nheats; i++) {
        heats[i] = from->heats[i];
        if (heats[i].nrows > rows) {
            heats[i].dropped += heats[i].nrows - rows;
            heats[i].nrows = rows;
        }
    }
}

static uint32_t longest_heat(const obs_summary *s)
{
    uint32_t rows = 0;
    for (uint32_t i = 0; i < s->nheats; i++)
        rows = s->heats[i].nrows > rows ? s->heats[i].nrows : rows;
    return rows;
}

/* The most rows of each map with which the launch fits. */
static uint32_t rows_that_fit(const cap_launch *launch, size_t most, cap_launch *out)
{
    uint32_t low = 0, high = longest_heat(&launch->summary);
    while (low < high) {
        uint32_t middle = high - (high - low) / 2;
        cut_heats(&launch->summary, middle, out->summary.heats);
        if (cap_size_launch(out) <= most)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

wl_status cap_fit_launch(const cap_launch *launch, size_t most, cap_launch *out, obs_heat **own)
{
    *out = *launch;
    *own = NULL;
    if (cap_size_launch(launch) <= most)
        return WL_OK;
    *own = calloc((size_t)launch->summary.nheats + 1, sizeof **own);
    if (!*own)
        return WL_NOMEM;
    out->summary.heats = *own;
    cut_heats(&launch->summary, rows_that_fit(launch, most, out), *own);
    return cap_size_launch(out) <= most ? WL_OK : WL_LIMIT;
}

/* ---- elements ---- */

static obs_use *longest_use(const cap_uses *uses)
{
    obs_use *longest = NULL;
    for (uint32_t i = 0; i < uses->count; i++)
        if (uses->uses[i].length && (!longest || uses->uses[i].length > longest->length))
            longest = &uses->uses[i];
    return longest;
}

wl_status cap_fit_uses(const cap_uses *uses, size_t most, cap_uses *out, obs_use **own,
                       uint32_t *left_out)
{
    *out = *uses;
    *own = NULL;
    *left_out = 0;
    if (cap_size_uses(uses) <= most)
        return WL_OK;
    *own = calloc((size_t)uses->count + 1, sizeof **own);
    if (!*own)
        return WL_NOMEM;
    out->uses = memcpy(*own, uses->uses, uses->count * sizeof **own);
    for (obs_use *use; cap_size_uses(out) > most && (use = longest_use(out)); ++*left_out) {
        use->known = OBS_KNOWN_NOTHING;
        use->spans = "";
        use->length = 0;
    }
    return cap_size_uses(out) <= most ? WL_OK : WL_LIMIT;
}

/* ---- writing ---- */

static wl_status write_fitting_launch(cap_writer *w, const cap_launch *launch)
{
    cap_launch fitting;
    obs_heat *own;
    wl_status status = cap_fit_launch(launch, MOST_BYTES, &fitting, &own);
    if (status == WL_OK)
        status = cap_write_launch(w, &fitting);
    free(own);
    return status;
}

static wl_status tell_left_out(cap_writer *w, const cap_launch *launch, uint32_t count)
{
    char text[256];
    snprintf(text, sizeof text,
             "Launch %u touched too many elements to keep how often each was accessed: that is not "
             "known of %u of its objects.",
             launch->id, count);
    cap_message message = {.level = WL_LOG_WARN, .text = text};
    return cap_write_message(w, &message);
}

static wl_status write_fitting_uses(cap_writer *w, const cap_launch *launch, const cap_uses *uses)
{
    cap_uses fitting;
    obs_use *own;
    uint32_t left_out;
    wl_status status = cap_fit_uses(uses, MOST_BYTES, &fitting, &own, &left_out);
    if (status == WL_OK)
        status = cap_write_uses(w, &fitting);
    free(own);
    return status == WL_OK && left_out ? tell_left_out(w, launch, left_out) : status;
}

wl_status cap_write_observed(cap_writer *w, const cap_launch *launch)
{
    const obs_summary *s = &launch->summary;
    wl_status status = write_fitting_launch(w, launch);
    cap_uses uses = {.launch = launch->id,
                     .objects_known = s->objects_known,
                     .arrays_known = s->arrays_known,
                     .count = s->nuses,
                     .uses = s->uses};
    cap_sequences sequences = {.launch = launch->id,
                               .dropped = s->warps_dropped,
                               .nsequences = s->nsequences,
                               .sequences = s->sequences,
                               .nwarps = s->nwarps,
                               .warps = s->warps};
    if (status == WL_OK && (s->objects_known || s->arrays_known || s->nuses))
        status = write_fitting_uses(w, launch, &uses);
    if (status == WL_OK && (s->nwarps || s->warps_dropped))
        status = cap_write_sequences(w, &sequences);
    return status;
}
