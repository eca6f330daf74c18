/* Objects within objects: what the program says of the memory that its own allocators divide
 * (warplens/annotate.h, NVTX's memory extension).
 *
 * Addresses are resolved when the program says something of them, under rec_g.lock, which the
 * rec_annotate functions take. A part begins and ends as an allocation does, with CALL, OBJECT and
 * FREE; it ends with the object around it. What cannot be placed is left out, and a MESSAGE says
 * so, once a kind. */
#ifndef WL_RECORD_PARTS_H
#define WL_RECORD_PARTS_H

#include "capture/capture.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct rec_memory { /* live memory that CUDA gave, as a collector knows it */
    uint64_t base, bytes;
    uint32_t object, kind; /* number in the capture, cap_object_kind */
    uint32_t device;       /* ordinal */
    uint64_t context;      /* the thread's current one; 0: none */
} rec_memory;

/* What a collector does for parts, with the lock held; functions may be NULL. */
typedef struct rec_part_hooks {
    bool (*find)(uint64_t address, rec_memory *out); /* false: nothing is there */
    /* Before parts come and go: what was launched before sees them as they were. */
    void (*settle)(void);
    void (*begins)(uint64_t base, uint64_t bytes, uint32_t object);
    void (*ends)(uint64_t base, uint32_t object);
} rec_part_hooks;

void rec_parts_start(const rec_part_hooks *hooks); /* once, before the program uses CUDA */

/* As warplens/annotate.h says; without the lock. `api`: the function that the program called. */
void rec_annotate_pool(const char *api, uint64_t base, uint64_t bytes, const char *name);
void rec_annotate_pool_end(const char *api, uint64_t base);
void rec_annotate_alloc(const char *api, uint64_t base, uint64_t bytes, const char *name,
                        uint64_t element_bytes);
void rec_annotate_free(const char *api, uint64_t base);
void rec_annotate_name(uint64_t address, const char *name, uint64_t element_bytes);

/* What a library's own allocator reports of itself. */
typedef struct rec_named {
    const char *in, *part; /* what the memory that CUDA gave is called, and what is handed out */
} rec_named;
void rec_block_taken(const char *api, uint64_t base, uint64_t bytes, const rec_named *names);
/* It had no room for these bytes, and CUDA gave none. */
void rec_block_refused(const char *api, uint64_t bytes, uint32_t device);

/* The innermost part that holds all of these bytes, with its begin; 0: none. With the lock. */
uint32_t rec_part_of(uint64_t address, uint64_t bytes, uint64_t *base);
/* The live parts, one after the other, each after what it lies in; false: there are no more. Without
 * call and device. */
bool rec_part_number(size_t index, cap_object *out);
/* Ends what lies in an object that is freed: rec_freed() calls it. */
void rec_parts_end_with(uint32_t object, uint32_t call, cap_freed_how how);
/* In a child after a fork: forgets all of them. */
void rec_parts_forget(void);

#endif
