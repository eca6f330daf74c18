/* Which elements of objects launches access (docs/elements.md), over each object's life: what none
 * accesses, and whether launches take one slice after another. */
#ifndef WL_ANALYSIS_OBJECTS_ELEMENTS_H
#define WL_ANALYSIS_OBJECTS_ELEMENTS_H

#include "analysis/objects/lives.h"
#include "base/spans.h"

enum { OBJ_ELEMENT_BYTES = 4 };

/* Reads the elements that obj_access.part numbers; false where that fails. What it gives stays
 * until the next call. */
typedef bool obj_read_elements(void *ctx, uint32_t elements, wl_span_reader *out);

typedef struct obj_part { /* elements side by side */
    uint64_t first, count;
} obj_part;

/* A copy or set that covers much of an object; op OBJ_NONE: there is none. */
typedef struct obj_moved {
    uint32_t op;
    uint64_t bytes;
} obj_moved;

typedef struct obj_extent { /* what of an object is accessed */
    bool known;             /* else the rest is 0: not of all launches, or none accesses it */
    uint64_t elements, touched;
    obj_part used; /* from the first accessed element to the last */
    obj_part hole; /* the most elements side by side that no launch accesses */
    /* Slices that launches access one after another, of which no two overlap; 0: there are none, or
     * one. The elements from the first to the last of the longest. */
    uint32_t slices;
    uint64_t longest;
    /* The largest of each: from or to the host, and sets; read for another object. */
    obj_moved by_host, on_device;
} obj_extent;

/* Launches that follow each other and access elements in common access one slice. An array by
 * object, on the heap; NULL when memory is exhausted, or `read` fails. */
obj_extent *obj_extents_of(const obj_trace *trace, const obj_lives *lives, obj_read_elements *read,
                           void *ctx);

#endif
