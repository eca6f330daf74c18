/* Probes that count, or remember, how often code runs: blocks, objects and shared; their part of
 * the plan.
 *
 *   blocks   how often each basic block ran: counters, as few as control flow allows
 *   objects  whether each memory instruction ran: bits
 *   shared   how often each element of shared memory was accessed: by thread, in shared memory, or
 *            by address */
#ifndef WL_REWRITE_COUNTING_H
#define WL_REWRITE_COUNTING_H

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

/* ---- reading ---- */

/* What the copy has of a thread at one of the kernel's nplaces. */
uint64_t rw_read_place(const rewrite_copy *copy, uint32_t place, uint32_t thread);
/* What it counts by address, added to counts[class][word]. */
void rw_add_by_address(const rewrite_copy *copy, uint64_t *counts);

#endif
