/* What is known of the elements of a noted launch: what its slice accessed and what probes
 * counted (touch, frequency, shared), together. Where something else may have been accessed that
 * nobody saw, nothing is known: no part is told for the whole. */
#ifndef WL_REPLAY_ELEMENTS_H
#define WL_REPLAY_ELEMENTS_H

#include "replay/ranges.h"
#include "replay/recorded.h"
#include "rewrite/layout.h"
#include "sass/body.h"

/* What an instruction may access, or was counted of: bits. */
enum { REPLAY_ELEMENTS_OBJECTS = 1, REPLAY_ELEMENTS_ARRAYS = 2 };

/* Asked for by these probes (bits). */
obs_known replay_elements_of_objects(uint32_t probes);
obs_known replay_elements_of_arrays(uint32_t probes);

/* What the kernel's probes counted of the site's accesses. */
unsigned replay_elements_of_site(const rewrite_kernel *kernel, const rewrite_probe_site *site);

typedef struct replay_elements_part { /* of a launch */
    const emu_kernel *slice;
    uint32_t ngaps; /* instructions that the slice does not show */
    const cap_gap *gaps;
    double share;                         /* part of the blocks that the slice ran */
    emu_machine *machine;                 /* with what lived then */
    const replay_ranges *ranges;          /* of arrays, where some were counted on the device */
    const sass_body *lifted;              /* that the slice was lifted from, else NULL */
    const obs_launch *launch;             /* of the slice */
    uint32_t threads;                     /* of the host; 0: all cores */
    const replay_recorded_launch *device; /* NULL: probes recorded nothing */
} replay_elements_part;

/* Completes what obs_finish, and replay_recorded_finish, made of uses in the summary. WL_NOMEM
 * is the only failure. */
wl_status replay_elements_finish(const replay_elements_part *part, wl_arena *arena,
                                 obs_summary *summary);

#endif
