/* Memory of the analyses: an arena, and one place to go when it is exhausted.
 *
 * Passes allocate all the time and free nothing, so checking each allocation would be most of their
 * code. flow_alloc() does not return on failure: it jumps to the flow_guard() that runs the passes,
 * which returns WL_NOMEM. All memory lies in the arena, so nothing leaks on the way. */
#ifndef WL_FLOW_MEM_H
#define WL_FLOW_MEM_H

#include "base/arena.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdint.h>

typedef struct flow_mem {
    wl_arena *arena;
    jmp_buf fail;
} flow_mem;

/* Zeroed; `count` may be 0. Only within flow_guard(). */
void *flow_alloc(flow_mem *mem, size_t count, size_t size);
#define flow_new(mem, type, count) ((type *)flow_alloc((mem), (count), sizeof(type)))
/* `count` words, all set to `value`. */
uint32_t *flow_words(flow_mem *mem, size_t count, uint32_t value);

/* Runs `body`; WL_NOMEM when an allocation in it failed. */
wl_status flow_guard(flow_mem *mem, void (*body)(void *ctx), void *ctx);

/* Growing array in the arena: `flow_list(type) l = {0}; flow_push(mem, &l, item);` The old copies
 * stay in the arena. */
#define flow_list(type)       \
    struct {                  \
        type *data;           \
        uint32_t count, room; \
    }
void flow_grow(flow_mem *mem, void **data, uint32_t *room, uint32_t count, size_t size);
#define flow_push(mem, l, ...)                                                               \
    ((l)->count < (l)->room                                                                  \
         ? (void)0                                                                           \
         : flow_grow((mem), (void **)&(l)->data, &(l)->room, (l)->count, sizeof *(l)->data), \
     (void)((l)->data[(l)->count++] = (__VA_ARGS__)))

#endif
