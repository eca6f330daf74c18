/* Where the values come from that a kernel writes to shared memory: what begins a live range of a
 * shared word, and what updates it.
 *
 * A write begins a range of the word that it writes, unless its value depends on a read of that
 * same word. Which word an access touches is known when the kernel runs; which loads a value may
 * depend on is known here. So whoever observes a launch compares addresses: a write to a word
 * updates it where the write `updates` by itself, or where the word is what one of its `reads`
 * returned. A range is then classed by the write's origin. */
#ifndef WL_FLOW_FILLS_H
#define WL_FLOW_FILLS_H

#include "flow/kernel.h"

typedef enum flow_origin {
    FLOW_COMPUTED, /* none of the others: constants, indices, parameters, .const memory, other words
                      of shared memory */
    FLOW_DEVICE,   /* a value that was loaded from global or unknown memory, a texture or a surface,
                      or that an atomic there returned, reaches the write: copied, or as an operand of
                      arithmetic. What only decided an address or a guard on the way does not count. */
    FLOW_ASYNC,    /* the write is an asynchronous or bulk copy */
    FLOW_ORIGINS
} flow_origin;

const char *flow_origin_name(flow_origin origin); /* "computed", "device", "async" */

/* Whose execution of a load may have brought the value. */
typedef enum flow_scope {
    FLOW_BY_THREAD, /* the writing thread's own */
    FLOW_BY_WARP,   /* any lane's: the value went through a shuffle, a vote, a matrix operation */
    FLOW_BY_BLOCK   /* any thread's: through a barrier that reduces */
} flow_scope;

/* A load from shared memory, or an atomic there that returns a value, on which a written value may
 * depend. */
typedef struct flow_read {
    uint32_t pc;
    uint8_t scope; /* flow_scope */
    /* It only decides whether the write is made, or which of several values is written: its value
     * goes through guards and branches alone. `if (x > s[i]) s[i] = x` has it. */
    bool decides;
    /* Executions before the last one count, too: the value went round a loop that the load is in,
     * as a sum does, or through local memory. Else only what the load returned the last time that
     * the thread (or lane) executed it before the write. */
    bool earlier;
} flow_read;

/* An instruction that may write shared memory: store, atomic, copy. */
typedef struct flow_fill {
    uint32_t pc;
    uint8_t origin; /* flow_origin */
    /* FLOW_DEVICE: the value is what was loaded, or a constant: nothing but moves, conversions,
     * selections and shuffles lie between. */
    bool copied;
    bool updates; /* what it writes depends on what the word held: atomics but exchanges, and copies
                     that reduce */
    /* The value may come from somewhere that is not followed: a call through a pointer, a function
     * without a body, an instruction that the analysis does not know, a matrix operation that reads
     * shared memory through a descriptor; or there was too much to follow. Both `reads` and `origin` are then what is known, and
     * perhaps not all. */
    bool unknown;
    uint32_t first, count; /* in reads, by pc */
} flow_fill;

typedef struct flow_fills {
    uint32_t npcs;
    uint32_t
        *at; /* [npcs] in fills; FLOW_NONE where the instruction does not write shared memory */
    flow_fill *fills; /* by pc */
    uint32_t count;
    flow_read *reads;
    uint32_t nreads;
} flow_fills;

/* All arrays lie in `arena`; working memory is freed before return. Fails with WL_NOMEM only.
 *
 * Errs towards more reads, never fewer, but where `unknown` is set and in these cases: values are
 * not followed through global memory, nor through shared memory from a load back to the stores that
 * filled what it read (a word that is copied to another and back is filled anew, as a pair of
 * buffers that take turns is), and a test that ends a loop decides about nothing. A load of a vector
 * is one load: its words are not told apart. Functions are followed without their callers, so a
 * value may seem to come from what another call brings in, and what decides about a call decides
 * about nothing in it. */
wl_status flow_find_fills(const ir_kernel *code, wl_arena *arena, flow_fills *out);
/* The same on a kernel that passes have run on; runs those that are missing. */
wl_status flow_fills_of(flow_kernel *kernel, wl_arena *arena, flow_fills *out);

#endif
