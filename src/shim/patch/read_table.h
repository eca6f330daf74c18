/* The table that patches count into, from the host's side. Pure functions. */
#ifndef WL_SHIM_PATCH_READ_TABLE_H
#define WL_SHIM_PATCH_READ_TABLE_H

#include "capture/capture.h"
#include "shim/patch/table.h"

/* What of a table is known before the launch. */
typedef struct patch_plan {
    uint32_t insns, slots, copies;
    uint16_t *slot_of; /* [insns]: from 1; 0: it accesses no memory; and PATCH_PAIRS */
    uint64_t bytes;    /* of the table */
} patch_plan;

/* For the kernel of that cubin: slots for what may access memory, or is not known. False where its code cannot be
 * read, has too many of these, or there is no memory. */
bool patch_plan_make(const void *cubin, size_t bytes, const char *kernel, patch_plan *out);
void patch_plan_clear(patch_plan *plan);
/* Sets copies and bytes by the others. */
void patch_plan_size(patch_plan *plan);
/* The table's begin up to its rows, for code that begins there; malloc'ed, of so many bytes. NULL
 * without memory. */
void *patch_table_begin(const patch_plan *plan, uint64_t begin, uint64_t *bytes);

/* Adds the copies up. out->insns is malloc'ed and the caller's. False without memory, or where the
 * table is not whole. */
bool patch_table_read(const void *table, uint64_t bytes, cap_patched *out);

#endif
