/* What probes counted of an allocation, given to the parts that it was divided into when its launch
 * ran: kernels count by allocation. */
#ifndef WL_REPLAY_PIECES_H
#define WL_REPLAY_PIECES_H

#include "base/arena.h"
#include "base/spans.h"
#include "capture/capture.h"
#include "emu/emu.h"

typedef struct replay_piece { /* addresses that belong to one object, none of it to another */
    uint32_t object;
    uint64_t begin;     /* of that object */
    uint64_t from, end; /* addresses */
} replay_piece;

/* The pieces of what was counted, by object and then by address; it is one where nothing lies in
 * it. In `arena`; NULL without memory. */
replay_piece *replay_pieces_of(emu_machine *machine, const cap_probed *counted, wl_arena *arena,
                               uint32_t *count);
/* How many of the pieces, from the first on, are of the first one's object. */
uint32_t replay_pieces_alike(const replay_piece *pieces, uint32_t count);
/* Of elements counted from `base` on, those of these pieces, which are of one object, as its own.
 * False without memory. */
bool replay_pieces_take(const wl_spans *counted, uint64_t base, const replay_piece *pieces,
                        uint32_t count, wl_spans *out);

#endif
