/* What every run of the same program has in common in its profile. */
#ifndef TESTS_PROFILE_CONTENT_H
#define TESTS_PROFILE_CONTENT_H

#include <stdint.h>

/* XXH64 over the rows of a profile without times, addresses, process ids and threads. Aborts where
 * the file cannot be read. */
uint64_t content_hash(const char *path);

#endif
