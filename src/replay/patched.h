/* What patches counted of a launch of machine code (PATCHED records), joined with what its slice shows.
 *
 * The counts are of all blocks, and exact. They stand for the instructions that the slice does not
 * show; those that it shows it tells more of. */
#ifndef WL_REPLAY_PATCHED_H
#define WL_REPLAY_PATCHED_H

#include "base/arena.h"
#include "capture/capture.h"
#include "emu/emu.h"
#include "sass/body.h"

typedef struct replay_patched {
    const cap_patched *counted;
    emu_machine *machine;  /* with the objects of the launch */
    const sass_body *code; /* NULL: it could not be lifted */
    const cap_note *note;
} replay_patched;

/* Puts the counts of these gaps (by the machine's numbers, ascending) into the summary, in the place of rows
 * of the same instructions; and leaves out of way->gaps, which lies in `arena` then, those that were
 * counted or are known not to have run. WL_NOMEM is the only failure. */
wl_status replay_patched_join(const replay_patched *p, const cap_gap *gaps, uint32_t ngaps,
                              wl_arena *arena, obs_summary *summary, cap_way *way);

/* A summary of nothing but the counts, for a kernel of which nothing else is known. */
wl_status replay_patched_alone(const replay_patched *p, wl_arena *arena, obs_summary *summary);

#endif
