/* Random kernels that end: `.entry k(.param .u64 in, .param .u64 out, .param .u32 n)`. Memory is
 * accessed so that no two threads of a block share a word. Those of odd seeds guard most of their
 * instructions, by predicates that follow from each other. */
#ifndef TEST_FLOW_GENERATE_H
#define TEST_FLOW_GENERATE_H

#include <stddef.h>
#include <stdint.h>

enum { GENERATED_WORDS = 64 }; /* that a thread uses of in and of out */

/* Writes PTX of at most `size` bytes, made from the seed. */
void generate_kernel(uint64_t seed, char *text, size_t size);

#endif
