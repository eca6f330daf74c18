/* What the code after a loop knows about walks, in registers. */
#ifndef WL_REWRITE_WALK_CODE_H
#define WL_REWRITE_WALK_CODE_H

#include "rewrite/code/body.h"

typedef struct rw_walk_code {
    /* What a leader's walks have in common: iterations; how far each moves; from the lowest address
     * to the highest; the last is the lowest. */
    rw_reg turns, step, length, down;
    /* Of the walk at hand: the lowest address of its head; all that its sites access lies in the
     * slot's range. */
    rw_reg low, in;
    rw_reg adds, weight; /* the lane notes its walk; for how many lanes */
    /* touch: where to mark, how often, and whether lanes look before they do. */
    rw_reg marks, times, wary;
    /* frequency: the table of differences for the step; there is one. */
    rw_reg differences, fits;
    rw_reg beyond; /* from the first address to one step after the last */
} rw_walk_code;

/* Where the member of the head's table lies in the state. */
rw_opd rw_in_walk(const rw_body *b, uint32_t head, size_t member);
/* Calls `each` for the sites of the walk. */
void rw_each_site_of_walk(rw_body *b, uint32_t head, const rw_walk_code *w,
                          void (*each)(rw_body *b, const rw_walk_code *w, uint32_t site));
/* How far after the begin of its range the site's lowest address lies. */
rw_reg rw_find_walked(rw_body *b, const rw_walk_code *w, uint32_t site);
/* What is between the two is done `times`. */
typedef struct rw_turns {
    rw_reg left;
    rw_label again;
} rw_turns;
rw_turns rw_begin_turns(rw_body *b, rw_reg times);
void rw_end_turns(rw_body *b, const rw_turns *turns);
/* Is what stands at `place` in the state `mine`, or was it nothing, and the first to come has put
 * it there? Of the lanes that find nothing one tries. */
rw_reg rw_claim(rw_body *b, rw_opd place, rw_reg mine);

/* touch (walk_marks.c): fills marks, times, wary for walks with gaps; marks a walk. */
void rw_choose_marks(rw_body *b, uint32_t head, rw_walk_code *w);
void rw_mark_walk(rw_body *b, uint32_t head, const rw_walk_code *w);
/* frequency (walk_counts.c): fills differences and fits; counts a walk. */
void rw_choose_differences(rw_body *b, uint32_t head, rw_walk_code *w);
void rw_count_walk(rw_body *b, uint32_t head, const rw_walk_code *w);

#endif
