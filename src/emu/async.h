/* Asynchronous copies and barriers in shared memory. A copy is made at once: it may complete at any
 * time before it is waited for. */
#ifndef WL_EMU_ASYNC_H
#define WL_EMU_ASYNC_H

#include "access/tensor.h"
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

/* Where `bytes` of one end of a copy lie, a multiple of 16: the span is of this lane alone. */
void emu_locate_end(emu_warp *w, const emu_end *end, uint32_t lane, uint32_t bytes, emu_span *span);
/* The same of an mbarrier. */
void emu_locate_barrier(emu_warp *w, const emu_end *barrier, uint32_t lane, emu_span *span);
/* So many bytes have come that the barrier waits for. */
void emu_complete_tx(const emu_span *barrier, uint32_t lane, uint32_t bytes);

void emu_run_copy(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_bulk(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_mbarrier(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_pending(emu_warp *w, const emu_insn *in, uint32_t mask);

typedef struct emu_tensor { /* extra of cp.async.bulk.tensor and cp.reduce.async.bulk.tensor */
    emu_end map;            /* where the tensor map is; a generic address */
    emu_end shared, global; /* of the latter the address follows from the map */
    emu_end barrier;
    emu_ref at[ACC_TENSOR_RANK]; /* coordinates */
    emu_ref blocks;              /* mask of the cluster's blocks that get the box; EMU_NOREF: one */
    uint8_t rank;
    bool loads, has_barrier, reduces;
    uint8_t reduction; /* emu_atomic_op */
} emu_tensor;

typedef enum emu_map_field { /* of tensormap.replace */
                             EMU_MAP_ADDRESS,
                             EMU_MAP_RANK,
                             EMU_MAP_BOX,
                             EMU_MAP_DIM,
                             EMU_MAP_STRIDE,
                             EMU_MAP_STEP,
                             EMU_MAP_ELEMENT,
                             EMU_MAP_INTERLEAVE,
                             EMU_MAP_SWIZZLE,
                             EMU_MAP_FILL
} emu_map_field;

typedef struct emu_map_edit { /* extra of tensormap.replace */
    emu_mem mem;
    emu_map_field field;
    uint8_t index; /* of the dimension */
    uint8_t bits;  /* of the value */
    emu_ref value;
} emu_map_edit;

typedef struct emu_map_copy { /* extra of tensormap.cp_fenceproxy */
    emu_end from, to;
} emu_map_copy;

/* For the decoders. The nth space that the instruction names, GENERIC without. */
struct emu_decode;
ir_space emu_nth_space(const ir_insn *i, uint32_t nth);
void emu_set_end(struct emu_decode *d, const ir_insn *i, const ir_operand *address, ir_space space,
                 acc_op op, uint32_t flags, emu_end *end);
/* The operation that the instruction's suffixes name; false without. */
bool emu_reduction_of(const ir_insn *i, emu_atomic_op *op);
void emu_decode_box(struct emu_decode *d, const ir_insn *i);

void emu_run_tensor(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_map_edit(emu_warp *w, const emu_insn *in, uint32_t mask);
void emu_run_map_copy(emu_warp *w, const emu_insn *in, uint32_t mask);

#endif
