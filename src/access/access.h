/* One memory request: a warp's execution of a memory instruction with at least one active lane, as
 * whoever runs or replays a kernel shows it to whoever observes it.
 *
 * The emulator shows requests as they are executed, replay as a slice gives them, and a device's
 * records as they are read; src/observe counts them. None of them knows the others. */
#ifndef WL_ACCESS_ACCESS_H
#define WL_ACCESS_ACCESS_H

#include <stdint.h>

enum { ACC_LANES = 32 };

/* What it does to memory. The values stand in captures and profiles. */
typedef enum acc_op {
#define X(id, text) ACC_##id,
#include "access/ops.def"
#undef X
    ACC_OP_COUNT
} acc_op;

/* The memory that is really accessed: of a generic address the one that it leads to. The values
 * stand in captures and profiles. src/ir has the spaces as instructions name them
 * (ir_request_space). */
typedef enum acc_space {
#define X(id, text) ACC_##id,
#include "access/spaces.def"
#undef X
    ACC_SPACE_COUNT
} acc_space;

/* How the instruction asked. A set; the values stand in captures and profiles. MATRIX, TEXTURE,
 * ASYNC, BARRIER, BOX, GOES_ON, CACHED, POPC and SPIN change how a request is counted, the others
 * are only kept. */
enum acc_flag {
    ACC_ASYNC = 1,
    ACC_BULK = 2,
    ACC_VOLATILE = 4,
    ACC_GENERIC = 8, /* by a generic address */
    ACC_READONLY = 16,
    ACC_MATRIX =
        32, /* ldmatrix, stmatrix: each active lane gives the address of a row of 16 bytes */
    ACC_TEXTURE = 64,  /* tex, tld4, suld, sust, sured: a lane's address is its first texel's */
    ACC_BARRIER = 128, /* mbarrier operations: lanes that meet at one are no bank conflict */
    ACC_BOX = 256, /* a tensor's box, which one thread asked for: lanes are rows of it, or pieces */
    ACC_GOES_ON = 512, /* more rows of the box before, in the same object: no request of its own */
    ACC_CACHED = 1024, /* cp.async.ca, which fills L1 as loads do */
    /* Of machine code, in shared memory: lanes of one word are counted, and it is updated once; and a
     * compare-and-swap of which only the lanes take part that succeed, the others try again. */
    ACC_POPC = 2048,
    ACC_SPIN = 4096
};

/* A stride where there is none. */
#define ACC_IRREGULAR INT64_MIN

/* A cp.async gives two requests: the load from global and the store to shared memory. Lanes of a
 * generic access that fall into different spaces give one request a space. */
typedef struct acc_request {
    uint32_t pc;
    acc_op op;
    acc_space space;
    uint32_t bytes; /* per lane, all elements of a vector */
    uint32_t flags; /* of acc_flag */
    uint32_t mask;  /* lanes that access; at least one */
    uint32_t warp;  /* in the block: linear thread index / 32 */
    /* addr[lane] for lanes in mask: device address; offset in the block's shared memory; for local
     * memory the offset in the thread's own. Lanes outside of mask hold anything. */
    const uint64_t *addr;
    /* Difference between neighbouring lanes where mask is full and it is constant (0: all the
     * same), else ACC_IRREGULAR. */
    int64_t stride;
    /* The number that its owner gave the allocation that all lanes fall in (GLOBAL, CONST); 0 where
     * they fall in several, or it has none. */
    uint32_t object;
} acc_request;

/* Who watches a launch. Calls arrive on the worker's thread. worker_begin returns the worker's
 * state, block_begin that of a block (linear index), which every request of the block is given (a
 * worker may have several blocks in flight, as cooperative launches need). A NULL from block_begin:
 * this block's requests are of no interest (execution counts go on). Any member may be NULL. */
typedef struct acc_observer {
    void *ctx;
    void *(*worker_begin)(void *ctx, uint32_t worker);
    void (*worker_end)(void *worker);
    void *(*block_begin)(void *worker, uint64_t block);
    void (*block_end)(void *worker, void *block, uint64_t warp_instructions);
    void (*access)(void *block, const acc_request *request);
    /* The threads that a barrier of the block waited for have come; pc: of what the last did. */
    void (*barrier)(void *block, uint32_t pc);
    /* Lanes of a warp begin a basic block, whose first instruction is `pc`: they execute all of it.
     * Each is told before its requests, as often as it counts as executed. Of a slice those whose
     * executions follow from the launch. */
    void (*enter)(void *block, uint32_t warp, uint32_t pc, uint32_t mask);
} acc_observer;

#endif
