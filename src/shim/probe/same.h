/* What launches counted, by a hash of it: launches of one kernel often count the same, and it is
 * written once. With rec_g.lock held. */
#ifndef WL_SHIM_PROBE_SAME_H
#define WL_SHIM_PROBE_SAME_H

#include <stdint.h>
#include <xxhash.h>

/* The note whose TABLES have this hash; 0: none has. */
uint32_t probe_tables_find(XXH128_hash_t hash);
/* The note's TABLES were written. Without memory they are not found again. */
void probe_tables_keep(XXH128_hash_t hash, uint32_t note);

#endif
