/* Live ranges of shared arrays, as the probes tell them, against the accesses of the kernel as it
 * was, taken one after the other. */
#ifndef TEST_REWRITE_LIVE_H
#define TEST_REWRITE_LIVE_H

#include "probed.h"

/* How many arrays the kernel told of. */
uint64_t compare_live(const char *name, const ir_module *module, const shot *original,
                      const rewrite_copy *copy);

#endif
