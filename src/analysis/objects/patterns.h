/* Wasteful lives of objects: what the ten patterns of the paper find in a trace. */
#ifndef WL_ANALYSIS_OBJECTS_PATTERNS_H
#define WL_ANALYSIS_OBJECTS_PATTERNS_H

#include "analysis/finding.h"
#include "analysis/objects/elements.h"

typedef struct obj_hit {
    uint8_t pattern; /* ana_pattern */
    bool possible;   /* what was not seen may rule it out */
    bool in_pool;    /* of a part: what it saves is of the pool's peak */
    bool planned;    /* obj_plan keeps it */
    uint32_t object; /* of the trace */
    uint32_t other;  /* REDUNDANT_ALLOCATION: whose memory it can reuse; else OBJ_NONE */
    /* Operations between which the memory is of no use, as far as there are such: the allocation and
     * the first access, the last access and the free, two accesses; DEAD_WRITE: the write, and the
     * one that covers it. */
    uint32_t from, to;
    uint32_t calls; /* that run between these */
    uint32_t count; /* LEAK: objects that its site leaks; DEAD_WRITE: writes of the object */
    /* Hits of one pattern on objects of one site stand together; the first of them by place. */
    uint32_t bundle;
    /* TEMPORARY_IDLENESS: of what runs in between (negative: not measured), and of copies out and in
     * again. */
    float seconds, copies;
    uint64_t bytes; /* of the object; DEAD_WRITE: written */
    uint64_t keeps; /* OVERALLOCATION, STRUCTURED_ACCESS: bytes that are enough; else 0 */
    uint64_t
        saves; /* at the peak of the device, if all of its bundle are followed and nothing else */
} obj_hit;

typedef wl_vec(obj_hit) obj_hits;

/* Appends the hits, with what they save still 0. `extents`: obj_extents_of(), or NULL where nothing
 * is known of elements. False when memory is exhausted. */
bool obj_find_patterns(const obj_trace *trace, const uint32_t *levels, const obj_lives *lives,
                       const obj_extent *extents, const ana_thresholds *thresholds, obj_hits *hits);

/* Is what no launch accesses best left out at the object's ends, rather than within it? */
bool obj_is_unused_at_ends(const obj_extent *extent);

/* Which object's memory each object can reuse (OBJ_NONE: of none), by the paper's one pass:
 * the first and last accesses of the objects that are `wanted`, by level, a last one after a first
 * one of its level, are walked from the end. An object whose first access is met takes the memory
 * of the one whose last access is nearest to the left, among those whose sizes differ by at most
 * `apart` of the larger and that nobody has taken. On the heap; NULL when memory is exhausted. */
uint32_t *obj_find_reuses(const obj_trace *trace, const obj_lives *lives, const bool *wanted,
                          double apart);

#endif
