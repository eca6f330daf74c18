/* The cost of a request as the observer works it out: as a run where it is one, else lane by lane.
 */
#ifndef TESTS_OBSERVE_COST_OF_H
#define TESTS_OBSERVE_COST_OF_H

#include "observe/cost.h"

/* `access` needs at least one active lane and one byte. */
static inline obs_cost cost_of_request(const acc_request *access)
{
    obs_run run;
    return obs_find_run(access, &run) ? obs_cost_run(access, &run) : obs_cost_irregular(access);
}

#endif
