/* What patches count into: a table in the device's memory, for one launch of one kernel. The patches
 * (counter.cu) write it, read_table.c makes and reads it; both include this file.
 *
 *     patch_head
 *     u16 [instructions], up to a multiple of 8 bytes: which slot an instruction has, from 1; 0: none;
 *         and PATCH_PAIRS
 *     `copies` times [slots][3] patch_rows: in global, shared, local memory
 *
 * A multiprocessor has the copy with its number modulo `copies`, which is a power of two. */
#ifndef WL_SHIM_PATCH_TABLE_H
#define WL_SHIM_PATCH_TABLE_H

#include <stdint.h>

#ifdef __CUDACC__
#define PATCH_BOTH __device__
#else
#define PATCH_BOTH
#endif

enum { PATCH_SPACES = 3, PATCH_INSN_BYTES = 16, PATCH_SHAPES = 4 };
enum { PATCH_GLOBAL, PATCH_SHARED, PATCH_LOCAL };

/* How an instruction accesses memory: numbers that the API fixes. */
enum { PATCH_READS = 1, PATCH_WRITES = 2 };

/* With the slot of an instruction: it copies past L1 (cp.async.cg), where lanes are served pair by pair. */
enum { PATCH_PAIRS = 0x8000, PATCH_MOST_SLOTS = PATCH_PAIRS - 1 };

typedef struct patch_head {
    uint64_t begin, end; /* of the kernel's code, as the patches are told of it */
    uint32_t copies, slots;
    uint64_t elsewhere; /* requests of instructions outside of it, or without a slot */
} patch_head;

/* Sums over requests, by the definitions of observe/cost.h. All zero: it did not run. */
typedef struct patch_row {
    uint64_t requests, lanes, sectors, sectors_min, wavefronts, wavefronts_min;
    uint64_t shapes[PATCH_SHAPES]; /* uniform, contiguous, misaligned, strided; the others are
                                      irregular */
    uint32_t bytes, flags;         /* of a lane; PATCH_READS and PATCH_WRITES */
    int64_t stride;                /* of a strided request */
    uint64_t not_low, high;        /* lanes took bytes from ~not_low on, and none from high on */
    uint64_t unused[2];
} patch_row;

/* Bytes between the begin of the table and its rows. */
PATCH_BOTH static inline uint64_t patch_rows_at(uint64_t insns)
{
    return sizeof(patch_head) + (insns * sizeof(uint16_t) + 7) / 8 * 8;
}

#endif
