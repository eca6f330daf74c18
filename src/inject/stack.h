/* Call stacks of the application, and the list of files that its code comes from. */
#ifndef WL_INJECT_STACK_H
#define WL_INJECT_STACK_H

#include "capture/capture.h"

void inj_stack_start(void); /* once, before the others */

/* Return addresses of the calling thread, innermost first, without frames of this library and of
 * libcudart; at most `limit`. Needs no lock, allocates nothing. */
uint32_t inj_stack(uint64_t *pcs, uint32_t limit);

/* True where the last call stack found that files were mapped or unmapped since the last call that
 * returned true (and at first). The caller sees to it that no two threads ask at once. */
bool inj_maps_changed(void);
/* The executable mappings with their build ids; arrays and strings belong to the caller, who frees
 * them with inj_maps_free(). WL_NOMEM. */
wl_status inj_maps_read(cap_maps *maps);
void inj_maps_free(cap_maps *maps);

#endif
