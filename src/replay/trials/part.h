/* A block's part of an object: the elements that some of its requests access, packed in the order of
 * their addresses into an array in shared memory, as a program would keep them there. */
#ifndef WL_REPLAY_TRIALS_PART_H
#define WL_REPLAY_TRIALS_PART_H

#include "replay/trials/trial.h"

#include <stdatomic.h>

/* Where the array begins in shared memory: after all that a block may have, in the first bank. */
enum { TRIAL_ARRAY = 1 << 20 };

/* Bytes that a block has on any device, unless the program asks for more. */
enum { TRIAL_MOST_SHARED = 48 << 10 };

typedef struct trial_part {
    uint32_t bytes; /* of an element, a power of two; addresses are multiples of it */
    uint64_t first; /* element number: an address / bytes */
    uint32_t count; /* of elements */
    uint32_t words; /* of 64 elements each, of which bits say which belong to the part */
    uint64_t *set;
    uint32_t *before; /* elements of the part before each word */
} trial_part;

/* Of the requests log[which[0 .. count - 1]], at least one. False where they are spread too far
 * apart, or memory is exhausted; then there is nothing to clear. */
bool trial_part_make(trial_part *part, const trial_log *log, const uint32_t *which, uint32_t count);
/* Those of the part whose bits are set in `bits`, which are laid out as part->set. Fails likewise. */
bool trial_part_of(const trial_part *part, const uint64_t *bits, trial_part *some);
void trial_part_clear(trial_part *part);

/* What a warp moves at once between the object and the array, where `threads` threads of the block
 * take neighbouring elements, as many as they are each time. */
typedef struct trial_portion {
    uint32_t warp, mask;
    uint64_t from[ACC_LANES], to[ACC_LANES]; /* of the object; in shared memory */
} trial_portion;

typedef void trial_mover(const void *ctx, const trial_portion *portion);
void trial_part_move(const trial_part *part, uint32_t threads, trial_mover *move, const void *ctx);

/* Shows one request of the portion, with what else is `like`'s: to the object (ACC_GLOBAL) or to the
 * array. */
void trial_portion_show(const trial_portion *portion, const acc_request *like, acc_op op,
                        acc_space space, const trial_shown *to);
/* Shows what the request does to the array in the object's place, by the lanes of `mask` alone. */
void trial_part_show(const trial_part *part, const acc_request *request, uint32_t mask,
                     const trial_shown *to);

/* ---- of the launch ---- */

uint32_t trial_threads(const trial_work *t);       /* of a block */
uint64_t trial_shared_bytes(const obs_summary *s); /* of all arrays */
/* Bytes of shared memory for one more array whose size is known when the kernel is compiled. */
uint64_t trial_shared_room(const obs_summary *s);
/* The same with what an array gives back that is left out. */
uint64_t trial_room_of(const trial_work *t);

/* Keeps the larger number. */
void trial_raise(atomic_uint *most, uint32_t value);

#endif
