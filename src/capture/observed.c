/* A launch that was observed: its records, thinned where they would be larger than a record may be. */
#include "base/log.h"
#include "capture/capture.h"
#include "capture/records.h"

#include <stdio.h>
#include <stdlib.h>

/* What a payload may take beside its frame. */
enum { MOST_BYTES = CAP_MAX_PAYLOAD - CAP_FRAME_BYTES };

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
