/* Random requests of all kinds that programs make, from a seed. */
#ifndef WL_TESTS_OBSERVE_PATTERNS_H
#define WL_TESTS_OBSERVE_PATTERNS_H

#include "observe/observe.h"

typedef struct pattern_rng {
    uint64_t state;
} pattern_rng;

uint32_t pattern_below(pattern_rng *rng, uint32_t bound);

/* Fills addr with offsets from `base` below `base + room` (room at least 32 KiB) and returns the
 * request. Its pc, warp and object are 0. `regular` leaves out what no GPU does: widths that are
 * no power of two, misaligned lanes. */
acc_request pattern_draw(pattern_rng *rng, uint64_t base, uint32_t room, bool regular,
                         uint64_t *addr);

#endif
