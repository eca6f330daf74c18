/* Atomic operations on memory: one function each for operation and type. */
#ifndef WL_EMU_ATOMIC_H
#define WL_EMU_ATOMIC_H

#include "emu/access.h"

typedef enum emu_atomic_op {
    EMU_ATOMIC_AND,
    EMU_ATOMIC_OR,
    EMU_ATOMIC_XOR,
    EMU_ATOMIC_ADD,
    EMU_ATOMIC_INC,
    EMU_ATOMIC_DEC,
    EMU_ATOMIC_MIN,
    EMU_ATOMIC_MAX,
    EMU_ATOMIC_EXCH,
    EMU_ATOMIC_CAS,
    EMU_ATOMIC_OPS
} emu_atomic_op;

/* Combines `old` with `value` (and, for cas, `compare`); operands and result in the low bytes. */
typedef u64 (*emu_combine)(u64 old, u64 value, u64 compare);

/* NULL where PTX has no such operation. */
emu_combine emu_combine_of(emu_atomic_op op, ir_type type);

typedef struct emu_atom { /* extra of atom and red */
    emu_mem mem;          /* first: handlers take it as an emu_mem */
    emu_combine combine;
    emu_atomic_op operation;
    emu_ref value[EMU_MAX_VECTOR], compare;
    bool result;
} emu_atom;

/* Applies the operation to `size` bytes at `host`; returns what was there. Atomic among host
 * threads where `shared`. */
u64 emu_apply(emu_combine combine, void *host, u32 size, u64 value, u64 compare, bool shared);

#endif
