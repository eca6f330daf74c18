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

/* ---- sequences ---- */

/* Above this a SEQUENCES record ends, so that neither side needs much memory for it. */
enum { PART_BYTES = 8 << 20, PAGE_BYTES = 32 /* for what stands around it */ };

typedef struct parts {
    cap_writer *writer;
    cap_sequences part; /* at hand; its arrays lie in the summary's */
    uint64_t bytes;     /* of it, about */
} parts;

static uint64_t bytes_of_pages(const obs_page *pages, uint32_t count)
{
    uint64_t bytes = PAGE_BYTES;
    for (uint32_t i = 0; i < count; i++)
        bytes += pages[i].length + PAGE_BYTES;
    return bytes;
}

/* Writes the part at hand, where it has anything, and begins the next one. */
static wl_status end_sequences_part(parts *p)
{
    cap_sequences *part = &p->part;
    wl_status status = WL_OK;
    if (part->nsequences || part->nwarps || part->dropped)
        status = cap_write_sequences(p->writer, part);
    *part = (cap_sequences){.launch = part->launch,
                            .first = part->first + part->nsequences,
                            .sequences = part->sequences + part->nsequences,
                            .warps = part->warps + part->nwarps};
    p->bytes = 0;
    return status;
}

static wl_status make_room_in_part(parts *p, uint64_t bytes)
{
    wl_status status = p->bytes && p->bytes + bytes > PART_BYTES ? end_sequences_part(p) : WL_OK;
    p->bytes += bytes;
    return status;
}

/* A group that is long by itself: some of its pages each. */
static wl_status write_split_group(parts *p, const obs_warps *group)
{
    wl_status status = end_sequences_part(p);
    for (uint32_t from = 0, to; from < group->npages && status == WL_OK; from = to) {
        uint64_t bytes = 0;
        for (to = from; to < group->npages && bytes <= PART_BYTES; to++)
            bytes += group->pages[to].length;
        obs_warps some = *group;
        some.pages += from;
        some.npages = to - from;
        cap_sequences part = p->part;
        part.warps = &some;
        part.nwarps = 1;
        status = cap_write_sequences(p->writer, &part);
    }
    p->part.warps++;
    return status;
}

static wl_status add_group_to_part(parts *p, const obs_warps *group)
{
    uint64_t bytes = bytes_of_pages(group->pages, group->npages);
    if (bytes > PART_BYTES)
        return write_split_group(p, group);
    wl_status status = make_room_in_part(p, bytes);
    p->part.nwarps++;
    return status;
}

static wl_status add_sequence_to_part(parts *p, const obs_sequence *sequence)
{
    wl_status status = make_room_in_part(p, bytes_of_pages(sequence->pages, sequence->npages));
    p->part.nsequences++;
    return status;
}

/* The groups come in the order in which the first of each sequence needs it. */
static wl_status write_sequences_in_parts(cap_writer *w, const cap_launch *launch)
{
    const obs_summary *s = &launch->summary;
    parts p = {.writer = w};
    p.part = (cap_sequences){.launch = launch->id,
                             .dropped = s->warps_dropped,
                             .sequences = s->sequences,
                             .warps = s->warps};
    wl_status status = WL_OK;
    for (uint32_t i = 0; i < s->nwarps && status == WL_OK; i++) {
        while (s->warps[i].sequence >= p.part.first + p.part.nsequences && status == WL_OK)
            status = add_sequence_to_part(&p, &s->sequences[p.part.first + p.part.nsequences]);
        status = status == WL_OK ? add_group_to_part(&p, &s->warps[i]) : status;
    }
    return status == WL_OK ? end_sequences_part(&p) : status;
}

static wl_status write_launch_paths(cap_writer *w, const cap_launch *launch)
{
    const obs_summary *s = &launch->summary;
    cap_paths paths = {.launch = launch->id,
                       .count = s->npaths,
                       .paths = s->paths,
                       .runs = s->path_runs,
                       .length = s->path_bytes};
    return s->npaths ? cap_write_paths(w, &paths) : WL_OK;
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
    if (status == WL_OK && (s->objects_known || s->arrays_known || s->nuses))
        status = write_fitting_uses(w, launch, &uses);
    if (status == WL_OK)
        status = write_sequences_in_parts(w, launch);
    return status == WL_OK ? write_launch_paths(w, launch) : status;
}
