/* Which of the kernel's parameters comparisons go by, directly or through arithmetic: only where pointers to
 * two objects come together in one may it matter which of the objects lies before the other. */
#ifndef WL_FLOW_COMPARED_H
#define WL_FLOW_COMPARED_H

#include "flow/kernel.h"

/* A set of the words of 8 bytes that make up the parameters: word w is bit w % 64, so that a bit may stand for
 * several. */
typedef uint64_t flow_words_set;

/* The sets of two bits and more that instructions with FLOW_PC_SLICE in flags[pc] compare, each once, in the
 * kernel's memory. Within flow_guard(). Needs: taint. */
void flow_find_compared(flow_kernel *kernel, const uint8_t *flags, const flow_words_set **sets,
                        uint32_t *count);

#endif
