/* Device memory over the operations of a trace, and how high it gets when objects live at other
 * times than they do. */
#ifndef WL_ANALYSIS_OBJECTS_MEMORY_H
#define WL_ANALYSIS_OBJECTS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in use on one device, by moments: a range that something is added to takes O(log moments),
 * and the peak is known at once. */
typedef struct obj_memory {
    uint32_t count, leaves; /* moments; leaves: the next power of 2 */
    uint32_t *moments;      /* ascending, each once */
    int64_t *add, *most;    /* of a node of the tree: added to all below it; the most below it */
} obj_memory;

/* `moments` are operations at which something may begin or end; they are sorted in place and stay
 * the caller's. False when memory is exhausted; obj_memory_free() is due either way. */
bool obj_memory_init(obj_memory *memory, uint32_t *moments, size_t count);
void obj_memory_free(obj_memory *memory);

/* Adds bytes (or takes away, where negative) from one moment up to another, which is not among
 * them; nothing where that is empty. */
void obj_memory_add(obj_memory *memory, uint32_t from, uint32_t to, int64_t bytes);

int64_t obj_memory_peak(const obj_memory *memory);
/* The first moment of the peak; UINT32_MAX where nothing is in use. */
uint32_t obj_memory_peak_moment(const obj_memory *memory);

#endif
