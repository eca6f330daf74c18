/* Sets of instructions, interned: equal sets have equal numbers. Number 0 is the empty set. */
#ifndef WL_OBSERVE_PCSET_H
#define WL_OBSERVE_PCSET_H

#include "base/vec.h"
#include "observe/table.h"

typedef struct obs_pcsets { /* all zero: only the empty set */
    wl_vec(uint32_t) pcs;   /* of all sets one after another, ascending within a set */
    wl_vec(uint32_t) ends;  /* ends.data[n]: where set n + 1 ends in pcs */
    obs_table by_content;   /* hash of the set: its number */
    obs_table additions;    /* set << 32 | pc: the number of the set with pc */
} obs_pcsets;

/* The number of the set with pc added; UINT32_MAX when memory is exhausted. */
uint32_t obs_pcset_add(obs_pcsets *sets, uint32_t set, uint32_t pc);
/* The members; valid until the next addition. */
const uint32_t *obs_pcset_get(const obs_pcsets *sets, uint32_t set, uint32_t *count);
void obs_pcsets_free(obs_pcsets *sets);

#endif
