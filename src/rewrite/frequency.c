/* frequency: how often each element of objects was loaded, stored, updated.
 *
 * Needs: ranges.c (__wl_in), counts.c. Keeps: everything. Buffers: a u32 for each class and element. */
#include "rewrite/internal.h"

static void count_global(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->slot_of[site];
    if (slot == PTX_NONE)
        return;
    rw_line(b, "and.b64 __wl_x, __wl_a, -4;");
    rw_line(b, "add.s64 __wl_x, __wl_x, __wl_counts%u;", slot);
    rw_line(b, "mov.pred __wl_counted, __wl_in;");
    rw_count(b, site);
}

const rw_pass rw_frequency_pass = {.probes = 1u << REWRITE_FREQUENCY, .access = count_global};
