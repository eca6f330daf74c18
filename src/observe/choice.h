/* Which blocks of a launch stand for the others, where the user names none.
 *
 * A block that has ended has two features: the instructions that its warps executed, and its
 * sectors a request. Blocks fall into the cells of a grid over the two, of steps of a sixteenth of
 * an octave, which double as often as it takes for OBS_CELLS cells to suffice. A cell counts its
 * blocks and keeps the accesses of the first of them by index. What comes of it in the end depends
 * on the set of blocks alone, not on their order or on who ran them: coarsening only ever joins
 * cells, and the first of the joined is the first of one of them. Memory is bounded by OBS_CELLS
 * logs a worker.
 *
 * Cells that touch are one cluster. A cluster of at least a twentieth of the blocks is a
 * population; it is represented by its medoid's cell, or by block 0 where that lies in or beside
 * this cell. The cells furthest from all populations are outliers. */
#ifndef WL_OBSERVE_CHOICE_H
#define WL_OBSERVE_CHOICE_H

#include "observe/log.h"

enum { OBS_CELLS = 16, OBS_POPULATIONS = 3, OBS_OUTLIERS = 2 };

typedef struct obs_kept { /* a block, and what makes its heat map */
    obs_sample about;     /* `why` and `alike` are set by obs_choice_make */
    obs_log log;
    obs_heat_block *heat; /* in place of the log, where that would have been too long */
} obs_kept;

typedef struct obs_cell {
    uint32_t x, y; /* instructions, sectors a request */
    uint64_t count, first;
    obs_kept kept; /* of the first block that has a map; about.mapped false: of none */
} obs_cell;

typedef struct obs_choice { /* all zero: no blocks */
    uint32_t shift;         /* steps are this often doubled */
    uint32_t count, last;   /* cells; the one of the block before */
    uint64_t blocks;
    obs_cell cells[OBS_CELLS + 1];
} obs_choice;

/* A block that has a map, if it is chosen. Takes log and heat out of `block` where it keeps them.
 */
void obs_choice_add(obs_choice *choice, obs_kept *block);
/* A block that has none: where its kind was met before, it is only counted. False: it must be
 * added. */
bool obs_choice_count(obs_choice *choice, const obs_sample *about);
/* Adds the blocks of `from`, which is empty then. */
void obs_choice_merge(obs_choice *to, obs_choice *from);
/* At most OBS_POPULATIONS + OBS_OUTLIERS cells, by block; their kept.about is complete. Returns how
 * many. */
uint32_t obs_choice_make(obs_choice *choice, obs_cell **chosen);
void obs_choice_free(obs_choice *choice);
void obs_kept_free(obs_kept *kept);

#endif
