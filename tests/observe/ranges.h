/* Live ranges and words per block by a reference that keeps every access of a block and asks it:
 * none of the code under test. */
#ifndef WL_TESTS_OBSERVE_RANGES_H
#define WL_TESTS_OBSERVE_RANGES_H

#include "observe/observe.h"

enum { REF_ARRAYS = 8, REF_LIVE = 64 };

typedef struct ref_ranges ref_ranges;

/* Of a kernel with these arrays; what lies in several is not told apart. */
ref_ranges *ref_ranges_new(const flow_fills *fills, const obs_shared *arrays, uint32_t narrays);
void ref_ranges_free(ref_ranges *r);
/* A request of the block that runs; it ends before the next begins. */
void ref_ranges_add(ref_ranges *r, const acc_request *access);
void ref_ranges_end_block(ref_ranges *r);
/* Fails the test where the use of an array, or of the object (array 0), says something else. */
void ref_ranges_compare(const ref_ranges *r, uint32_t array, const obs_use *use);

#endif
