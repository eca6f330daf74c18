/* Which words of an array a block has stored to by the time that it passes a barrier, of arrays that
 * the configuration names: of all blocks together. */
#ifndef WL_OBSERVE_FILLED_H
#define WL_OBSERVE_FILLED_H

#include "observe/observe.h"

typedef struct obs_filled { /* of a worker; all zero: no block has passed a barrier */
    uint64_t **lacking;     /* [config.nfilled] bits: words that some block had not stored to */
    bool lost;              /* there was no memory for them */
} obs_filled;

void obs_filled_free(obs_filled *filled, uint32_t count);
/* All threads of the block have come to the barrier. */
void obs_filled_pass(obs_block *block, uint32_t pc);
/* After the launch has run: whether each block that passed the array's barrier had stored to the
 * word before; words count from the array's begin rounded down to 4. False where config.filled does
 * not name the array. */
bool obs_is_filled(const obs_launch *launch, uint32_t array, uint64_t word);

#endif
