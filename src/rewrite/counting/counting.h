/* Probes that count, or remember, how often code runs: blocks, objects and shared; their part of
 * the plan.
 *
 *   blocks   how often each basic block ran: counters, as few as control flow allows
 *   objects  whether each memory instruction ran: bits
 *   shared   how often each element of shared memory was accessed: by thread, in shared memory, or
 *            by address */
#ifndef WL_REWRITE_COUNTING_H
#define WL_REWRITE_COUNTING_H

#include "flow/apart.h"
#include "rewrite/plan/plan.h"

/* ---- blocks ---- */

/* Where a counter of basic blocks is while a copy runs. */
typedef enum rw_counter_kind {
    RW_IN_MEMORY,
    RW_PER_LANE, /* in registers, until the thread leaves */
    RW_TOGETHER, /* in one register, until the loop is left */
    RW_FEWER, /* likewise; of the lanes that enter the loop together, ever fewer run an iteration */
    RW_DERIVED /* nowhere: it follows from others */
} rw_counter_kind;

typedef struct rw_counter {
    uint8_t kind;
    uint32_t func;  /* in plan->code */
    uint32_t loop;  /* RW_TOGETHER: the outermost that all lanes leave together */
    uint32_t depth; /* of its block */
} rw_counter;

typedef struct rw_block_plan {
    uint32_t *block_at; /* as plan->code.leader: index of the block that starts there */
    rewrite_block *list;
    rewrite_counter *known; /* [ncounters] as the reader knows it */
    rw_counter *counters;   /* [ncounters] */
    uint32_t *counted_at;   /* [npcs] counter of the block of flow that starts there */
    bool *owns;             /* [nblocks] the block alone has its counter */
} rw_block_plan;

/* Registers that the counter takes while a copy runs. */
uint32_t rw_counter_registers(const rw_counter *counter);

/* ---- objects ---- */

typedef struct rw_object_plan {
    uint32_t *bit;      /* [nsites] of each site, IR_NONE: it follows from the launch */
    uint32_t *first_of; /* [nsites] the block that sets it, IR_NONE: the site itself does */
    uint32_t *bit_at;   /* [npcs] that the block of flow that starts there sets, or IR_NONE */
} rw_object_plan;

/* ---- shared ---- */

/* Counters in shared memory for accesses of one class to one array. */
typedef struct rw_table {
    const ir_var *var;
    unsigned class_;
    uint32_t bytes, from; /* its size, and its place among the tables */
} rw_table;

enum {
    RW_MAX_TABLES = 8,
    RW_NOWHERE_BYTES =
        32 /* the largest access of a lane: room after the tables, see rw_shared_plan */
};

typedef struct rw_shared_plan {
    uint32_t *table_of; /* [nsites] in `tables`, or IR_NONE */
    rw_table tables[RW_MAX_TABLES];
    /* The tables take table_bytes of shared memory. In the last 2 * RW_NOWHERE_BYTES lanes count
     * that miss their array, and after those the ones that access nothing. */
    uint32_t ntables, table_bytes;
    bool counts_directly; /* some site by its address, and not in a table */
    bool *by_place;       /* [nsites] counted by thread */
    uint32_t *place_of; /* [nblocks] of the kernel: where the root is counted by thread; IR_NONE */
    uint32_t ntimes;    /* such roots, each with a register */
} rw_shared_plan;

/* Does the address follow from the thread's index in its block? */
bool rw_is_placed(rw_plan *plan, const flow_function *f, const flow_address *address);
/* So many bytes of shared memory, before the tables: where among them they begin; IR_NONE: there is
 * no room. */
uint32_t rw_take_shared(rw_plan *plan, uint32_t bytes);

/* ---- live ranges of arrays ---- */

enum { RW_MAX_LIVE = 8, RW_MAX_LIVE_LOADS = 16 };

/* An array whose words have a flag each, a byte: whether the block has stored to it what begins a
 * range; what is accessed before is counted. Or all that is accessed is filled before, by stores
 * whose addresses the host computes. */
typedef struct rw_live_array {
    const ir_var *var;
    uint32_t bytes;
    bool flags;
    uint32_t from;     /* of the flags, after the tables' begin */
    uint32_t unfilled; /* the place that counts them; IR_NONE without flags */
    bool alike;        /* all accesses of a class do the same: what begins is told by elements */
    flow_alike classes[WL_CLASSES];
    uint32_t begins[FLOW_ORIGINS]; /* else the places that count them, or IR_NONE */
} rw_live_array;

/* A load whose last address a thread keeps: what a store depends on. */
typedef struct rw_live_load {
    uint32_t pc, words;
} rw_live_load;

typedef struct rw_live_access {
    uint32_t site, array;
    uint8_t write, origin; /* flow_write, flow_origin */
    bool filled;           /* the word is known to be: nothing is to be done */
    bool fills;     /* of an array without flags: all threads do, as far as `root` leads them */
    uint32_t root;  /* all threads of the block run it */
    uint32_t keeps; /* in loads: it is one of these; IR_NONE */
    uint32_t reads; /* of FLOW_EITHER: bits, loads that it may depend on */
} rw_live_access;

typedef struct rw_live_plan {
    flow_counts counts; /* of the kernel's uses, and what it does to shared arrays */
    flow_fills fills;
    flow_arrays found;
    rw_live_array arrays[RW_MAX_LIVE];
    uint32_t narrays;
    rw_live_load loads[RW_MAX_LIVE_LOADS];
    uint32_t nloads;
    uint32_t *access_at; /* [npcs] in accesses, IR_NONE */
    rw_live_access *accesses;
    uint32_t naccesses;
} rw_live_plan;

/* ---- reading ---- */

/* What the copy has of a thread at one of the kernel's nplaces. */
uint64_t rw_read_place(const rewrite_copy *copy, uint32_t place, uint32_t thread);
/* What it counts by address, added to counts[class][word]. */
void rw_add_by_address(const rewrite_copy *copy, uint64_t *counts);

#endif
