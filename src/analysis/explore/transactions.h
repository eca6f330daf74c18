/* What one request does on each generation of GPUs: the transactions that it is split into in
 * global and local memory, or the passes in which shared memory serves it. Pure functions of the
 * request and of a row of archs.def.
 *
 * Of compute capability 5.0 and later, transactions are sectors and passes are wavefronts, as many
 * as src/observe counts. viewer/src/data/explore/transactions.ts does the same; a test holds the
 * two together. */
#ifndef WL_ANALYSIS_EXPLORE_TRANSACTIONS_H
#define WL_ANALYSIS_EXPLORE_TRANSACTIONS_H

#include "access/access.h"
#include "base/vec.h"

enum { ANA_MOST_BANKS = 32, ANA_MOST_MOVED = 128 /* bytes of a transaction */ };

typedef enum ana_merging {
#define MERGING(id, text) ANA_MERGING_##id,
#include "analysis/explore/archs.def"
    ANA_MERGINGS
} ana_merging;

typedef enum ana_serving {
#define SERVING(id, text) ANA_SERVING_##id,
#include "analysis/explore/archs.def"
    ANA_SERVINGS
} ana_serving;

typedef struct ana_arch { /* a row of archs.def */
    const char *id, *name;
    uint32_t capability;
    ana_merging merging;
    uint32_t load_bytes, store_bytes;
    ana_serving serving;
    uint32_t banks;
    const char *note;
} ana_arch;

/* The rows, the newest first; NULL after the last. */
const ana_arch *ana_arch_at(uint32_t index);
/* The row of a device of compute capability `major`.`minor`; the oldest where it is older. */
const ana_arch *ana_arch_of_device(uint32_t major, uint32_t minor);

typedef struct ana_transaction {
    uint64_t address; /* a multiple of the size */
    uint32_t size;    /* 32, 64 or 128 bytes */
    uint32_t lanes;   /* that it serves; a bit each */
    uint32_t used;    /* bytes that lanes take, those that several take once */
    uint32_t turns;   /* of an atomic in global memory, see observe/cost.h; else 0 */
    uint64_t taken[ANA_MOST_MOVED / 64]; /* a bit a byte: lanes take it */
} ana_transaction;

typedef struct ana_pass {
    uint32_t lanes; /* 0: the pass is lost */
    uint32_t group; /* of lanes that are served together, from 0 */
    /* By bank: the lanes that it serves, none where it is idle, and what it gives them: a word's
     * index, or that of a pair (PAIRS: address / 8; APART: the lower word's rank among those that
     * begin pairs). Several lanes are a broadcast. */
    uint32_t banks[ANA_MOST_BANKS];
    uint64_t units[ANA_MOST_BANKS];
} ana_pass;

/* All zero before the first use; kept from request to request, and freed in the end. */
typedef struct ana_served {
    /* Of global, local and constant memory: in the order of parts of the warp where the row splits
     * it into such, by address within one. */
    wl_vec(ana_transaction) transactions;
    /* Of shared memory: in the order of groups. */
    wl_vec(ana_pass) passes;
    uint32_t passes_min;  /* that would be left without bank conflicts */
    uint64_t moved, used; /* bytes of the transactions */
} ana_served;

/* Replaces what is in `served`. The request needs a lane and a byte; of local memory, addresses are
 * offsets in the thread's own, and those of transactions are where they lie in the warp's
 * (observe/cost.h). False when memory is exhausted. */
bool ana_serve(const ana_arch *arch, const acc_request *request, ana_served *served);
void ana_served_free(ana_served *served);

/* ---- parts, for transactions.c and transactions_old.c ---- */

/* Adds `bytes` at `address`, taken by the lane, to transactions of `size` bytes each, beginning with
 * those at index `from`, which stay sorted by address. */
bool ana_take(ana_served *served, size_t from, uint32_t size, uint32_t lane, uint64_t address,
              uint64_t bytes);
/* An empty pass at the end; NULL when memory is exhausted. */
ana_pass *ana_new_pass(ana_served *served, uint32_t group);

bool ana_merge_in_order(const acc_request *request, ana_served *served);
bool ana_merge_segments(const acc_request *request, ana_served *served);
bool ana_serve_one_broadcast(const ana_arch *arch, const acc_request *request, ana_served *served);

/* Where a byte of a thread's local memory lies in its warp's: word k of the 32 lanes is side by side. */
static inline uint64_t ana_local_place(uint32_t lane, uint64_t offset)
{
    return offset / 4 * 4 * ACC_LANES + lane * 4 + offset % 4;
}

#endif
