/* A kernel small enough to know the buffers of probes by hand, and others that are run as it is. */
#ifndef TESTS_REWRITE_SMALL_H
#define TESTS_REWRITE_SMALL_H

#include "probed.h"

enum { WORDS = 512 };

typedef struct small {
    probed p;
    const rewrite_kernel *k;
    shape s;
    shot shot;
    left left;
    rewrite_object object;
} small;

/* Runs the kernel of `ptx` with these probes, its second block traced. Its memory has `words` words: in[l] is 2 for l = 4
 * and 9, else 7; the first `known` of them are an object. */
void small_begin_knowing(small *c, const char *ptx, const char *probes, bool everything,
                         uint32_t words, uint32_t known);
/* All of them are. */
void small_begin_with(small *c, const char *ptx, const char *probes, bool everything,
                      uint32_t words);
void small_begin(small *c, const char *ptx, const char *probes,
                 bool everything); /* of WORDS words */
void small_end(small *c);

#endif
