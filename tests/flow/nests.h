/* Random nests of loops and branches: `.entry k(.param .u64 a, .param .u64 n, .param .u64 m)`, for
 * blocks of up to 64 threads. Loops end by tests of all kinds; what threads access never decides
 * about what others do, so that each run is the same. */
#ifndef TEST_FLOW_NESTS_H
#define TEST_FLOW_NESTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words at `a`: read, written, updated, one part after the other, NEST_WORDS each. n and m are at
 * most 64. */
enum { NEST_WORDS = 4096 };

/* Writes PTX of at most `size` bytes, made from the seed. With `data`, what is read at `a` (numbers
 * below 16, if the test ends soon) decides about loops, branches and addresses, and kernels access
 * global memory; else only numbers, parameters and indices do, and they access shared memory. */
void generate_nest(uint64_t seed, bool data, char *text, size_t size);

#endif
