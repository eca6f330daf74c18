/* Device memory over the operations of a trace, and how high it gets when objects live at other
 * times than they do. */
#ifndef WL_ANALYSIS_OBJECTS_MEMORY_H
#define WL_ANALYSIS_OBJECTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in use on one device, by moments: operations at which something may begin or end. Only these
 * have a place, counted in their order; it takes 8 bytes. A range that something is added to, or of
 * which the most is asked, takes O(log places), and the peak is known at once.
 *
 * In this order: init, a mark for each moment, begin, a put for each range that is in use at first,
 * sum; then the others. */
typedef struct obj_memory {
    uint32_t words;         /* of marks */
    uint64_t *marks;        /* a bit for each operation */
    uint32_t *before;       /* moments before the first of each word */
    uint32_t count, leaves; /* places; leaves: of a tree over blocks of them */
    int64_t *bytes;         /* by place, without what whole blocks have in `add` */
    int64_t *add, *most;    /* of a node of the tree: added to all below it; the most below it */
} obj_memory;

/* Moments are below `end`, or it. False when memory is exhausted; obj_memory_free() is due either
 * way. */
bool obj_memory_init(obj_memory *memory, uint32_t end);
void obj_memory_mark(obj_memory *memory, uint32_t moment);
bool obj_memory_begin(obj_memory *memory);
void obj_memory_put(obj_memory *memory, uint32_t from, uint32_t to, int64_t bytes);
void obj_memory_sum(obj_memory *memory);
/* Nothing is in use any more: put and sum are next. */
void obj_memory_clear(obj_memory *memory);
void obj_memory_free(obj_memory *memory);

/* The place of a moment; of what is after all of them, their number. */
uint32_t obj_memory_place(const obj_memory *memory, uint32_t moment);

/* Adds bytes (or takes away, where negative) from one place up to another, which is not among
 * them; nothing where that is empty. */
void obj_memory_add(obj_memory *memory, uint32_t from, uint32_t to, int64_t bytes);
/* The most of such a range; INT64_MIN where that is empty. */
int64_t obj_memory_most(const obj_memory *memory, uint32_t from, uint32_t to);

int64_t obj_memory_peak(const obj_memory *memory);
/* The first place of the peak, and the moment of a place; UINT32_MAX where nothing is in use. */
uint32_t obj_memory_peak_place(const obj_memory *memory);
uint32_t obj_memory_moment(const obj_memory *memory, uint32_t place);
/* All places with more than `limit` lie from *first up to *end, which is empty where there is none. */
void obj_memory_above(const obj_memory *memory, int64_t limit, uint32_t *first, uint32_t *end);

#endif
