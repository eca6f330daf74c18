/* uthash where memory may run out: an entry that cannot be added stays out, its hh.tbl is NULL, and
 * nothing exits. */
#ifndef WL_BASE_HASH_H
#define WL_BASE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
