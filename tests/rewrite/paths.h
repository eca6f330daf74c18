/* Paths of warps as a kernel left them, against what its lanes did. */
#ifndef TESTS_REWRITE_PATHS_H
#define TESTS_REWRITE_PATHS_H

#include "probed.h"

/* Each warp's counts are those of its lanes' basic blocks; warps have one hash if and only if each
 * lane of one ran what the same lane of the other did; and hash and counts are what rewrite/path
 * makes of the basic blocks. Fails the test. Returns the different paths; 0 where the kernel has not
 * the probe. */
uint64_t compare_paths(const char *name, const shot *original, const rewrite_copy *copy);

#endif
