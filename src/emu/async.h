/* Asynchronous copies and barriers in shared memory. A copy is made at once: it may complete at any
 * time before it is waited for. */
#ifndef WL_EMU_ASYNC_H
#define WL_EMU_ASYNC_H

#include "emu/atomic.h"

typedef struct emu_end { /* one end of a copy, as the memory instruction that it is */
    emu_mem mem;
    emu_insn insn; /* extra is the mem above */
} emu_end;

typedef struct emu_copy { /* extra of cp.async, cp.async.bulk and cp.reduce.async.bulk */
    emu_end from, to;
    uint32_t bytes; /* of cp.async */
    emu_ref size; /* bulk: bytes; cp.async: bytes that are read, the rest is zero; EMU_NOREF: all */
    emu_ref ignore; /* predicate: nothing is read; EMU_NOREF */
    bool has_barrier;
    emu_end barrier;     /* gets the number of bytes */
    emu_combine combine; /* of a reduction, else NULL */
    uint32_t element;    /* bytes */
} emu_copy;

typedef enum emu_mbarrier_op {
    EMU_MBARRIER_INIT,
    EMU_MBARRIER_INVAL,
    EMU_MBARRIER_EXPECT_TX,
    EMU_MBARRIER_COMPLETE_TX,
    EMU_MBARRIER_ARRIVE,
    EMU_MBARRIER_ARRIVE_EXPECT_TX,
    EMU_MBARRIER_DROP,
    EMU_MBARRIER_DROP_EXPECT_TX,
    EMU_MBARRIER_WAIT,
    EMU_MBARRIER_WAIT_PARITY
} emu_mbarrier_op;

typedef struct emu_mbarrier { /* extra of mbarrier; dst: state or predicate */
    emu_mem mem;
    emu_mbarrier_op op;
    emu_ref value; /* count, bytes, state or parity */
} emu_mbarrier;

void emu_run_copy(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_bulk(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_mbarrier(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_pending(emu_warp *w, const emu_insn *in, uint32_t mask);

#endif
