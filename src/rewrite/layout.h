/* What the host and a rewritten kernel share, to the byte. All numbers are little-endian.
 *
 * The hidden parameter is a rewrite_param: 64 bytes, aligned to 8.
 *
 * A state is one block of device memory, aligned to 256:
 *
 *     0            rewrite_state, filled by the host
 *     vars_at      u64 for each of kernel->vars: its address in its own space; written by the traced blocks
 *     bits_at      u32 words: bit s % 32 of word s / 32 says that sites[s] ran
 *     counters_at  for each of REWRITE_COPIES copies and each counter: u64 executions by warps, u64 lanes
 *     pool_at      `chunks` chunks of REWRITE_CHUNK bytes
 *
 * Everything behind rewrite_state is zero before the launch. Which parts there are depends on the probes; offsets are those
 * of rewrite_kernel. A chunk holds what one lane of one warp wrote as the leader of the lanes that accessed memory
 * together: a rewrite_chunk, then records up to the first whose mask is 0. A record is a rewrite_record, and with
 * REWRITE_RAW in `site` 32 addresses (u64) behind it, of lanes outside of `mask` nothing.
 * Addresses are those of the site's space. Where the site is generic, the two highest bits name the space: REWRITE_TAG_*. */
#ifndef WL_REWRITE_LAYOUT_H
#define WL_REWRITE_LAYOUT_H

#include "rewrite/rewrite.h"

enum {
    REWRITE_MAX_BLOCKS = 7, /* that one launch can trace */
    REWRITE_CHUNK = 4096,
    REWRITE_COPIES = 32, /* of counters, chosen by multiprocessor so that they collide less */
    REWRITE_LANES = 32
};

typedef struct rewrite_param {
    uint64_t state; /* device address; 0: run the original instructions */
    uint64_t
        block[REWRITE_MAX_BLOCKS]; /* linear indices of the blocks to trace; UINT64_MAX: none */
} rewrite_param;

typedef struct rewrite_state {
    uint32_t chunks;  /* in the pool */
    uint32_t taken;   /* by the kernel: more than `chunks` where they did not suffice */
    uint64_t dropped; /* by the kernel: trace records for which there was no room */
    uint64_t reserved[14];
} rewrite_state;

typedef struct rewrite_chunk {
    uint64_t block; /* linear index */
    uint32_t warp, lane;
    uint64_t clock;
    uint64_t reserved;
} rewrite_chunk;

typedef struct rewrite_record {
    uint32_t site; /* index in kernel->sites, and REWRITE_RAW */
    uint32_t mask;
    uint32_t clock; /* low half of the multiprocessor's clock: orders the records of a warp */
    uint32_t
        stride; /* lane l is at base + stride * (l - first lane of the mask), its low 32 bits so computed */
    uint64_t base; /* address of the first lane of the mask */
    uint64_t reserved;
} rewrite_record;

#define REWRITE_RAW UINT32_C(0x80000000)
#define REWRITE_TAG_SHARED (UINT64_C(1) << 62)
#define REWRITE_TAG_LOCAL (UINT64_C(1) << 63)

/* ---- before a launch ---- */

/* Bytes of a state with that many chunks; `chunks` is taken for 0 where the kernel has no trace. */
uint64_t rewrite_state_bytes(const rewrite_kernel *kernel, uint32_t chunks);
/* The first bytes of the state; the rest is to be zeroed. */
void rewrite_state_init(const rewrite_kernel *kernel, uint32_t chunks, rewrite_state *out);
/* At most REWRITE_MAX_BLOCKS blocks. */
void rewrite_param_init(uint64_t state, const uint64_t *blocks, uint32_t nblocks,
                        rewrite_param *out);

/* ---- after it; `state` is a copy of the whole block, `size` bytes ---- */

typedef struct rewrite_access {
    const rewrite_site *site;
    uint64_t block;
    uint32_t warp;
    uint8_t space; /* ptx_space, never generic */
    uint32_t mask;
    uint64_t clock;
    uint64_t addr[REWRITE_LANES]; /* of lanes in the mask: address in the space */
} rewrite_access;

/* Calls `visit` for each access, sorted by block, then warp, then time; lanes of a generic access that are in different spaces
 * give one access a space. Damaged states give fewer accesses, nothing worse. WL_NOMEM is the only failure. */
wl_status rewrite_read_trace(const rewrite_kernel *kernel, const void *state, uint64_t size,
                             void (*visit)(void *ctx, const rewrite_access *access), void *ctx);
/* Trace records that had no room. */
uint64_t rewrite_dropped(const rewrite_kernel *kernel, const void *state, uint64_t size);

/* Address of vars[index] in its space, 0 where no traced block ran. */
uint64_t rewrite_var_address(const rewrite_kernel *kernel, const void *state, uint64_t size,
                             uint32_t index);

/* Of kernel->blocks[index]; false where it is not counted. */
bool rewrite_read_block(const rewrite_kernel *kernel, const void *state, uint64_t size,
                        uint32_t index, uint64_t *executions, uint64_t *lanes);

#endif
