/* The checks of one kernel: results identical with probes, without a state and with a tiny pool;
 * and what the probes tell is what the emulator's observer saw, access for access and count for
 * count. */
#ifndef TEST_REWRITE_COMPARE_H
#define TEST_REWRITE_COMPARE_H

#include "probed.h"

/* Sums over the kernels checked. */
typedef struct tally {
    uint64_t kernels, probed, accesses, counts, shared_counts, elements, logged, live, paths, plain,
        with;
} tally;

void check_kernel(probed *p, const char *name, const shape *s, tally *t);
/* Of what is told of elements and objects only, and on objects that the shape has. */
void check_elements(probed *p, const char *name, const shape *s);
void report(const char *what, const tally *t);

#endif
