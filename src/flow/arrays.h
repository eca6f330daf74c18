/* What is known of each array in shared memory before a kernel runs: which instructions access it,
 * and whether those that write it begin a live range of a word or update it (fills.h). */
#ifndef WL_FLOW_ARRAYS_H
#define WL_FLOW_ARRAYS_H

#include "flow/counts.h"
#include "flow/fills.h"

typedef enum flow_write {
    FLOW_NO_WRITE,
    FLOW_FILLS,   /* whatever word it writes begins a range */
    FLOW_UPDATES, /* its value depends on that word: it always updates */
    FLOW_EITHER   /* which one shows when the kernel runs */
} flow_write;

const char *flow_write_name(flow_write write); /* "none", "fills", "updates", "either" */

typedef struct flow_array_use {
    uint32_t use;  /* in counts->uses */
    bool certain;  /* it accesses no other memory */
    uint8_t write; /* flow_write */
} flow_array_use;

typedef struct flow_array {
    uint32_t object;       /* in kernel->objects; FLOW_NONE: shared memory of no array, by number */
    uint32_t first, count; /* in uses */
} flow_array;

typedef struct flow_arrays {
    flow_array *arrays; /* in order of the objects; those that nothing accesses are left out */
    uint32_t count;
    flow_array_use *uses;
    uint32_t nuses;
} flow_arrays;

/* The variable whose address stands in the form, once and as it is; FLOW_NONE: none, or several. */
uint32_t flow_base_of(const flow_affine *form);

/* Everything lies in the kernel's arena. Fails with WL_NOMEM only. */
wl_status flow_find_arrays(const flow_counts *counts, const flow_fills *fills, flow_arrays *out);

#endif
