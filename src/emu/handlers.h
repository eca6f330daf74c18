/* The handlers by number. One list gives the numbers, the tables of each instruction set, and what
 * decode asks for. */
#ifndef WL_EMU_HANDLERS_H
#define WL_EMU_HANDLERS_H

#include "emu/internal.h"

/* The files of handlers: each has a table <file>.def and is compiled for every instruction set. */
#define EMU_OP_FILES(X) X(int) X(float) X(half) X(convert) X(memory) X(atomic) X(warp) X(misc)

typedef enum emu_h {
#define V1(id, ...) EMU_H_##id,
#define V2(id, ...) EMU_H_##id,
#define V3(id, ...) EMU_H_##id,
#define S3(id, ...) EMU_H_##id,
#define P2(id, ...) EMU_H_##id,
#include "emu/ops_int.def"
    EMU_H_INT_END,
    EMU_H_FLOAT_BEFORE = EMU_H_INT_END - 1,
#define V1(id, ...) EMU_H_##id,
#define V2(id, ...) EMU_H_##id,
#define V3(id, ...) EMU_H_##id,
#define P1(id, ...) EMU_H_##id,
#define P2(id, ...) EMU_H_##id,
#include "emu/ops_float.def"
    EMU_H_FLOAT_END,
    EMU_H_HALF_BEFORE = EMU_H_FLOAT_END - 1,
#define V1(id, ...) EMU_H_##id,
#define V2(id, ...) EMU_H_##id,
#define V3(id, ...) EMU_H_##id,
#define P2(id, ...) EMU_H_##id,
#include "emu/ops_half.def"
    EMU_H_HALF_END,
    EMU_H_CONVERT_BEFORE = EMU_H_HALF_END - 1,
#define V1(id, ...) EMU_H_##id,
#define V2(id, ...) EMU_H_##id,
#define V3(id, ...) EMU_H_##id,
#include "emu/ops_convert.def"
    EMU_H_CONVERT_END,
    EMU_H_MEMORY_BEFORE = EMU_H_CONVERT_END - 1,
#define F(id, ...) EMU_H_##id,
#include "emu/ops_memory.def"
    EMU_H_MEMORY_END,
    EMU_H_ATOMIC_BEFORE = EMU_H_MEMORY_END - 1,
#define F(id, ...) EMU_H_##id,
#include "emu/ops_atomic.def"
    EMU_H_ATOMIC_END,
    EMU_H_WARP_BEFORE = EMU_H_ATOMIC_END - 1,
#define F(id, ...) EMU_H_##id,
#include "emu/ops_warp.def"
    EMU_H_WARP_END,
    EMU_H_MISC_BEFORE = EMU_H_WARP_END - 1,
#define F(id, ...) EMU_H_##id,
#include "emu/ops_misc.def"
    EMU_H_MISC_END,
    EMU_H_COUNT = EMU_H_MISC_END
} emu_h;

/* Modes of prmt. */
typedef enum emu_prmt_mode_id {
    EMU_PRMT_F4E,
    EMU_PRMT_B4E,
    EMU_PRMT_RC8,
    EMU_PRMT_ECL,
    EMU_PRMT_ECR,
    EMU_PRMT_RC16,
    EMU_PRMT_COUNT
} emu_prmt_mode_id;

/* Immediates of half-precision handlers and conversions. */
enum {
    EMU_HALF_FTZ = 1,
    EMU_HALF_SAT = 2,
    EMU_HALF_RELU = 4,
    EMU_HALF_NAN = 8,
    EMU_HALF_XORSIGN = 16,
    EMU_HALF_SATFINITE = 32
};
enum { EMU_ROUND_RN, EMU_ROUND_RZ, EMU_ROUND_RM, EMU_ROUND_RP, EMU_ROUND_RNA, EMU_ROUND_RS };
enum {
    EMU_CLAMP_U8,
    EMU_CLAMP_S8,
    EMU_CLAMP_U16,
    EMU_CLAMP_S16,
    EMU_CLAMP_U32,
    EMU_CLAMP_S32,
    EMU_CLAMP_U64,
    EMU_CLAMP_S64,
    EMU_CLAMP_U4,
    EMU_CLAMP_S4
};

/* Immediate of redux: the operation and what is said of its operands. */
enum {
    EMU_REDUX_ADD,
    EMU_REDUX_AND,
    EMU_REDUX_OR,
    EMU_REDUX_XOR,
    EMU_REDUX_MIN,
    EMU_REDUX_MAX,
    EMU_REDUX_SIGNED = 8,
    EMU_REDUX_F32 = 16,
    EMU_REDUX_ABS = 32,
    EMU_REDUX_NAN = 64
};

/* Comparisons by name, in the order of emu_cmp. */
#define EMU_COMPARISONS(X) \
    X(eq) X(ne) X(lt) X(le) X(gt) X(ge) X(equ) X(neu) X(ltu) X(leu) X(gtu) X(geu) X(num) X(nan)
typedef enum emu_cmp {
#define X(id) EMU_CMP_##id,
    EMU_COMPARISONS(X)
#undef X
        EMU_CMP_COUNT
} emu_cmp;

/* The handlers of the instruction set in use; chosen once. */
const emu_handler *emu_handlers(void);

#endif
