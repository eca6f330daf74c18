/* All that a launch shows, kept as it comes, and the steps of a summary against it: none of the code
 * under test. */
#ifndef WL_TESTS_OBSERVE_TRACE_H
#define WL_TESTS_OBSERVE_TRACE_H

#include "observe/observe.h"

typedef struct ref_trace ref_trace;

/* Shows all to `inner` as well. Its blocks are those that the launch has. */
ref_trace *ref_trace_new(const acc_observer *inner, const uint32_t grid[3],
                         const uint32_t block[3]);
void ref_trace_free(ref_trace *t);
acc_observer ref_trace_observer(ref_trace *t);

/* Where an object of global memory begins; 0 of object 0. */
typedef uint64_t (*ref_base_of)(void *ctx, uint32_t object);

/* Fails the test where a warp of the summary did anything else, or is there twice, or where a basic
 * block of the summary was not entered as often as it counts. Returns how many warps there are. */
uint64_t ref_trace_compare(const ref_trace *t, const obs_summary *s, ref_base_of base_of,
                           void *ctx);

#endif
