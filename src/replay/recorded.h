/* What probes recorded of launches on the device (PROBE records), and how it joins what replay
 * works out.
 *
 * A kernel that is proven in part only is replayed in part; probes stand at the other accesses,
 * or at all where that was asked for. The accesses of the traced blocks go into the same
 * obs_block as those that the slice shows of the block. What they add up to is scaled to the
 * launch: by how often the basic block ran in all, where that was counted, else by the number of
 * blocks. */
#ifndef WL_REPLAY_RECORDED_H
#define WL_REPLAY_RECORDED_H

#include "capture/capture.h"
#include "emu/slice.h"
#include "observe/observe.h"
#include "rewrite/layout.h"

#include <stdbool.h>

typedef struct replay_recorded replay_recorded; /* of one capture */

/* Reads the capture's PROBE records, as many as fit in `most` bytes of memory (0: no limit), and
 * looks where its TABLES records are: those of a launch are read when it is worked out. `size`: of
 * whole records. */
wl_status replay_recorded_read(const char *path, uint64_t size, uint64_t most,
                               replay_recorded **out, wl_error *err);
void replay_recorded_free(replay_recorded *r); /* NULL is allowed */
bool replay_recorded_has(const replay_recorded *r, uint32_t note);
/* What patches counted in the launch; NULL: nothing. Lives as long as `r`, which may be NULL. */
const cap_patched *replay_recorded_patched(const replay_recorded *r, uint32_t note);
/* Whether any launch of a kernel of this name recorded. */
bool replay_recorded_kernel(const replay_recorded *r, const char *kernel);

/* A hash of all that was recorded of the launch: where two are the same, so are the launches, if all
 * else that they depend on is, too. WL_NOENT where nothing was recorded, or not all of it can be
 * read, or where tables would have to be read for it and may not; WL_NOMEM is the only other
 * failure. */
wl_status replay_recorded_hash(replay_recorded *r, uint32_t note, bool may_read, uint64_t hash[2]);

/* All that launches of the capture recorded with: bits. `r` may be NULL. */
uint32_t replay_recorded_probes(const replay_recorded *r);

/* Where a constant variable of the module lies in the memory of the replay; 0: nowhere. */
typedef uint64_t (*replay_recorded_constant)(void *ctx, const char *name);

typedef struct replay_recorded_launch {
    uint32_t nblocks;
    const uint64_t *blocks; /* that were traced: linear indices, ascending */
    uint8_t *covered;       /* [pcs]: the accesses of the instruction are known from the device */
    uint8_t *elements;      /* [pcs]: what was counted by element there: REPLAY_ELEMENTS_* */
    bool estimated;         /* after replay_recorded_finish: something was scaled */
    uint64_t dropped;       /* accesses that were not recorded for want of room */
    const cap_probe *probe;
    const char *tables; /* of TABLES records, until the next launch begins; NULL: there are none, or
                           no room for them */
    uint64_t tables_length;
    struct replay_recorded_trace *trace;
    /* Set before replay_recorded_observer: the steps of traced blocks are kept, so that what the slice
     * shows and what was recorded is put into one order (replay/ordered.h). NULL: they are not. */
    const struct replay_doors *doors;
} replay_recorded_launch;

typedef struct replay_recorded_part { /* the launch that is worked out */
    const cap_note *note;
    const emu_kernel *slice;
    replay_recorded_constant constant;
    void *ctx;
} replay_recorded_part;

/* Everything lies in `arena`. WL_NOENT where what was recorded does not fit the kernel,
 * WL_UNSUPPORTED where another version of warplens recorded it, whose traces this one does not
 * read: nothing is known of it then. */
wl_status replay_recorded_begin(replay_recorded *r, const replay_recorded_part *part,
                                wl_arena *arena, replay_recorded_launch *out);
/* What was recorded, without the tables of elements. */
const rewrite_copy *replay_recorded_copy(const replay_recorded_launch *launch);
/* Whether it is known that the instruction did not run. */
bool replay_recorded_idle(const replay_recorded_launch *launch, uint32_t pc);
/* What the probe `objects` saw of pointers that come from no parameter; out->launch stays 0 where
 * the kernel did not have it. In `arena`; WL_NOMEM is the only failure. */
wl_status replay_recorded_indirect(const replay_recorded_launch *launch, wl_arena *arena,
                                   cap_indirect *out);
/* An observer that gives `inner`, that of a replay_watch, what the slice shows and what was
 * recorded. Both must live while it runs. */
acc_observer replay_recorded_observer(replay_recorded_launch *launch, const acc_observer *inner);
/* After obs_finish: scales the rows of covered instructions, adds the counts of basic blocks. */
wl_status replay_recorded_finish(replay_recorded_launch *launch, wl_arena *arena,
                                 obs_summary *summary);

#endif
