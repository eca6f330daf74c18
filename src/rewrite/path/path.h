/* The probe path: which path each warp took, as a hash, and how many instructions it ran.
 *
 * A thread's path are the basic blocks that it runs, in order. It keeps a hash of it, and a count of
 * the instructions in it, in two registers, which change at as few blocks as tell all others
 * (points.c). Where the thread ends, what it kept is mixed with its lane and combined over the warp
 * (path_code.c), into the warp's slot in the state. Whoever sees the basic blocks that lanes begin
 * computes the same (lanes.h). */
#ifndef WL_REWRITE_PATH_PATH_H
#define WL_REWRITE_PATH_PATH_H

#include "rewrite/plan/plan.h"

typedef struct rw_path_plan {
    rewrite_path_step *steps;
    uint32_t nsteps, nloops;
    uint32_t *first_at; /* [npcs + 1] steps of a pc are [first_at[pc], first_at[pc + 1]) */
} rw_path_plan;

/* The constants of a lane's mix, and its shifts: see rewrite_mix_lane(). */
enum { RW_MIX_SHIFT_1 = 15, RW_MIX_SHIFT_2 = 13, RW_MIX_SHIFT_3 = 16, RW_MIX_SHIFT_4 = 14 };
#define RW_MIX_LANE UINT32_C(0x9e3779b1)
#define RW_MIX_1 UINT32_C(0x85ebca6b)
#define RW_MIX_2 UINT32_C(0xc2b2ae35)
#define RW_MIX_3 UINT32_C(0x27d4eb2f)

#endif
