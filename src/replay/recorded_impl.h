/* What the files of recorded.h share. */
#ifndef WL_REPLAY_RECORDED_IMPL_H
#define WL_REPLAY_RECORDED_IMPL_H

#include "base/vec.h"
#include "replay/recorded.h"

#include <uthash.h>
#include <xxhash.h>

typedef struct replay_taken { /* a PROBE record, and the TABLES records of its launch */
    uint32_t note;
    cap_probe probe;           /* arrays in the arena of the replay_recorded */
    wl_vec(uint64_t) tables;   /* where in the capture they are */
    struct replay_taken *same; /* the launch that has the same ones, and has them itself; or NULL */
    bool hashed;               /* the tables were, */
    XXH128_hash_t hash;        /* to this */
    UT_hash_handle hh;
} replay_taken;

/* What was recorded of the noted launch; NULL where nothing was. */
const replay_taken *replay_recorded_find(const replay_recorded *r, uint32_t note);
/* Reads the TABLES of a launch: they live until those of another one are read. 0 bytes where there
 * are none, or not all of them, or no room for them. WL_NOMEM is the only failure. */
wl_status replay_recorded_tables(replay_recorded *r, const replay_taken *taken, const char **tables,
                                 uint64_t *length);
/* The kernel as it was rewritten for the record. WL_NOMEM; WL_NOENT where that kernel has no such
 * probes now. */
wl_status replay_recorded_rewritten(replay_recorded *r, const ir_module *module,
                                    const cap_probe *probe, const char *name,
                                    const rewrite_kernel **out);

/* A variable's place on the device, and here. */
typedef struct replay_place {
    uint8_t space;
    uint64_t device, here, bytes;
} replay_place;

typedef struct replay_tally {
    uint64_t executions, lanes;
} replay_tally;

/* The trace of a launch, unpacked. */
struct replay_recorded_trace {
    const rewrite_kernel *kernel;
    const emu_kernel *slice;
    rewrite_layout layout;
    rewrite_copy copy;
    uint32_t nplaces;
    replay_place *places;
    replay_tally *seen;    /* [pcs] in the trace */
    replay_tally *counted; /* [pcs] in all; executions UINT64_MAX: not counted */
    uint64_t records;      /* accesses in the trace */
    uint64_t blocks;       /* of the launch */
    const acc_observer *inner;
};

/* The address on the device becomes the one here; false where nothing lies there. */
bool replay_recorded_translate(const struct replay_recorded_trace *t, acc_space space,
                               uint64_t *address);
/* Whether the block, by its linear index, was traced. */
bool replay_recorded_traced(const replay_recorded_launch *launch, uint64_t block);

#endif
