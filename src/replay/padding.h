/* Shared arrays with bytes added after each of their rows. */
#ifndef WL_REPLAY_PADDING_H
#define WL_REPLAY_PADDING_H

#include "access/access.h"
#include "flow/kernel.h"

typedef struct replay_padding {
    uint64_t start, end; /* the array's bytes in the block's shared memory */
    uint32_t pitch, pad; /* `pad` bytes are added after each `pitch` */
} replay_padding;

enum { REPLAY_PITCHES = 4 };

/* Lengths of rows that the array of this name seems to have, in bytes, ascending: the distances by
 * which threads and iterations step through it, beyond an element. Returns how many. */
uint32_t replay_pitches_of(const flow_kernel *kernel, const char *array, uint32_t element,
                           uint32_t out[REPLAY_PITCHES]);

/* Shows the requests of the array to `inner` as they are with the padding, at addresses that no
 * array has, and no others. Lives as long as both. */
typedef struct replay_padded {
    const acc_observer *inner;
    replay_padding padding;
} replay_padded;

acc_observer replay_padded_observer(replay_padded *padded);

#endif
