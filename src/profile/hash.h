/* uthash for this folder: an entry that cannot be added for want of memory stays out, nothing
 * exits. */
#ifndef WL_PROFILE_HASH_H
#define WL_PROFILE_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
