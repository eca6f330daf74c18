/* From PTX to handlers: what the decoders of the instruction families share.
 *
 * A decoder appends emu_insns for one PTX instruction. Failure is sticky: helpers return something
 * harmless after the first error, and emu_decode_kernel reports it. */
#ifndef WL_EMU_DECODE_H
#define WL_EMU_DECODE_H

#include "emu/access.h"
#include "emu/handlers.h"

typedef struct emu_place_of { /* a .param variable of the function that is decoded */
    const ir_var *var;
    emu_place place;
} emu_place_of;

typedef struct emu_shared_place {
    const ir_var *var;
    uint32_t offset, bytes;
} emu_shared_place;

typedef struct emu_local_place {
    const ir_var *var;
    uint32_t offset;
} emu_local_place;

enum { EMU_TEMP_WIDTHS = 5 }; /* predicate, 16, 32, 64, 128 bits */

typedef struct emu_decode {
    emu_module *module;
    emu_kernel *kernel;
    wl_arena *arena; /* of the kernel */
    wl_status status;
    wl_error *err;
    const emu_handler *handlers;
    /* The function being decoded. */
    const ir_func *func;
    emu_function *function;
    uint32_t first_pc;
    emu_ref *regs;               /* by register: its place */
    uint8_t *named;              /* by register: an instruction decoded so far names it */
    uint8_t *defs;               /* by register: instructions that write it, saturating */
    uint32_t frame_top, pred_at; /* end of the frame so far; next predicate in its line */
    wl_vec(emu_place_of) places;
    wl_vec(emu_local_place) locals;
    wl_vec(emu_ref) temps[EMU_TEMP_WIDTHS];
    uint32_t temps_used[EMU_TEMP_WIDTHS];
    const ir_insn *insn;
    uint32_t pc;
    emu_bb *bb;
    /* The kernel. */
    wl_vec(emu_insn) code;
    wl_vec(emu_pool_entry) pool;
    struct emu_pool_key *pool_index; /* uthash by kind, width and value */
    uint32_t pool_top;
    wl_vec(emu_shared_place) shared;
    uint32_t local_max; /* local memory of the deepest call chain without recursion */
    bool has_dynamic_shared;
    uint32_t nkept;     /* functions whose lists lie in the arena */
    emu_ref whole_warp; /* the constant that stands for all lanes */
} emu_decode;

typedef void (*emu_decode_fn)(emu_decode *d, const ir_insn *i);

/* Every decoder by opcode; a row of ops.def without decode_<op> does not link. */
#define X(id, ...) void emu_decode_##id(emu_decode *d, const ir_insn *i);
#include "ir/ops.def"
#undef X

/* The kernel and all it reaches; WL_UNSUPPORTED names instruction, line and kernel. */
/* With a proof its slice. */
wl_status emu_decode_kernel(emu_module *module, const ir_func *func, const flow_proof *proof,
                            emu_kernel **out, wl_error *err);

/* ---- for the decoders ---- */

void emu_unsupported(emu_decode *d, const char *format, ...) __attribute__((format(printf, 2, 3)));
void emu_decode_nomem(emu_decode *d);

/* False, and the instruction is unsupported, where it has a suffix other than types, vectors and
 * those listed. */
bool emu_allow_list(emu_decode *d, const ir_insn *i, const uint16_t *allowed, size_t count);
#define emu_allow(d, i, ...)                                         \
    emu_allow_list(d, i, (const uint16_t[]){IR_S_none, __VA_ARGS__}, \
                   sizeof((const uint16_t[]){0, __VA_ARGS__}) / 2)
bool emu_has_class(const ir_insn *i, ir_suffix_class class, uint32_t nth, ir_suffix *out);

/* Appends an instruction; operands that the handler does not have are EMU_NOREF. NULL when out of
 * memory; the pointer is good until the next emit. */
emu_insn *emu_emit(emu_decode *d, emu_h handler, emu_ref dst, emu_ref a, emu_ref b, emu_ref c);
/* The same for a handler that is compiled once. */
emu_insn *emu_emit_fn(emu_decode *d, emu_fn fn);
/* Wraps the last instruction emitted so that it runs in this rounding mode (EMU_ROUND_RZ, RM, RP);
 * RN does nothing. */
void emu_emit_rounded(emu_decode *d, uint32_t mode);

/* Operands. `bits`: 16, 32, 64, 128; a register of another width is unsupported, an immediate is
 * cut to it. */
emu_ref emu_src(emu_decode *d, const ir_operand *o, unsigned bits);
/* As emu_src for a floating-point type: decimal immediates are converted. */
emu_ref emu_src_typed(emu_decode *d, const ir_operand *o, ir_type type);
/* As emu_src, but a wider register is cut to `bits` first. */
emu_ref emu_src_cut(emu_decode *d, const ir_operand *o, unsigned bits);
emu_ref emu_dst(emu_decode *d, const ir_operand *o, unsigned bits);
/* A predicate; *neg for "!p" (written to a temporary where neg is NULL). */
emu_ref emu_pred_src(emu_decode *d, const ir_operand *o, bool *neg);
emu_ref emu_pred_dst(emu_decode *d, const ir_operand *o);
emu_ref emu_temp(emu_decode *d,
                 unsigned bits); /* bits 1: a predicate; free again after the instruction */
emu_ref emu_const(emu_decode *d, unsigned bits, uint64_t value);
/* Bytes of the launch's parameters, extended from memory_bytes to `bytes`. */
emu_ref emu_param_const(emu_decode *d, uint32_t bytes, uint32_t memory_bytes, bool sign,
                        uint32_t offset);
/* What all warps of a launch share: a constant of the launch, or one value a lane. */
emu_ref emu_uniform_ref(emu_decode *d, emu_uniform which, unsigned bits);
/* A special register, of emu_sreg_bits() bits: 1 for a predicate. */
emu_ref emu_sreg(emu_decode *d, const ir_operand *o);
unsigned emu_sreg_bits(ir_sreg sreg);
/* Bits of the register an operand names: 1 for a predicate; 0 where it is none. */
unsigned emu_reg_bits(const emu_decode *d, const ir_operand *o);
bool emu_immediate(const ir_operand *o, uint64_t *value);

/* What describes a memory instruction; `space` is the one it names. */
emu_mem *emu_mem_new(emu_decode *d, const ir_insn *i, ir_space space, acc_op op);
/* Appends the instruction that accesses [address]. */
emu_insn *emu_emit_mem(emu_decode *d, emu_h handler, const ir_operand *address, emu_mem *mem);
/* Where a .param variable of this function lies; NULL where it is not one with a place in the
 * frame. */
emu_place *emu_param_place(emu_decode *d, const ir_var *var);
/* Gives dst the value of src without an instruction where that is safe. */
bool emu_alias(emu_decode *d, const ir_operand *dst, emu_ref src);

/* Data type of an instruction: its nth type suffix. */
static inline const ir_type_info *emu_type(const ir_insn *i, uint32_t nth)
{
    return ir_type_get(i->types[nth]);
}

static inline bool emu_is_signed(ir_type type)
{
    return ir_type_get(type)->kind == IR_KIND_S;
}

/* Handlers for 16, 32, 64 bits. */
#define EMU_BY_WIDTH(bits, name) ((bits) == 16 ? name##_16 : (bits) == 32 ? name##_32 : name##_64)
/* 0..5: u16 s16 u32 s32 u64 s64 (b types count as unsigned), -1 for any other type. */
int emu_int_index(ir_type type);
#define EMU_INT6(name)                                           \
    {EMU_H_##name##_u16, EMU_H_##name##_s16, EMU_H_##name##_u32, \
     EMU_H_##name##_s32, EMU_H_##name##_u64, EMU_H_##name##_s64}
#define EMU_WIDTH6(name)                                      \
    {EMU_H_##name##_16, EMU_H_##name##_16, EMU_H_##name##_32, \
     EMU_H_##name##_32, EMU_H_##name##_64, EMU_H_##name##_64}

/* Rounding suffix of arithmetic: EMU_ROUND_RN without one. */
uint32_t emu_rounding(const ir_insn *i);

/* decode_float.c: the floating-point forms of opcodes that integers have too. */
typedef enum emu_float_op {
    EMU_FLOAT_ADD,
    EMU_FLOAT_SUB,
    EMU_FLOAT_MUL,
    EMU_FLOAT_ABS,
    EMU_FLOAT_NEG
} emu_float_op;
void emu_decode_float1(emu_decode *d, const ir_insn *i, emu_float_op op);
void emu_decode_float2(emu_decode *d, const ir_insn *i, emu_float_op op);
void emu_decode_float_div(emu_decode *d, const ir_insn *i);
void emu_decode_float_minmax(emu_decode *d, const ir_insn *i, bool min);

/* decode_blocks.c */
wl_status emu_form_blocks(emu_decode *d);
uint32_t emu_label_bb(const emu_decode *d, uint32_t label);
/* Which operands an instruction writes: bit n for operand n. Registers in the address of an operand
 * are read. */
uint32_t emu_written(const ir_insn *i);

/* decode_slice.c: what of an instruction the slice keeps. */
typedef enum emu_keep {
    EMU_KEEP_ALL,
    EMU_KEEP_LOOK,   /* its addresses and mask are shown to the observer */
    EMU_KEEP_REJOIN, /* goes on where the sides of the branch join again */
    EMU_KEEP_NOTHING
} emu_keep;
emu_keep emu_kept(const emu_decode *d, uint32_t pc);
/* ir_wait_of, as far as it is kept. */
ir_wait emu_kept_wait(const emu_decode *d, const ir_insn *i, uint32_t pc);
void emu_decode_rejoin(emu_decode *d);
/* Which blocks are shown to who observes entries: those that are counted. */
void emu_choose_shown_blocks(emu_kernel *k);
/* Turns the last instruction emitted into one that only looks. */
void emu_make_look(emu_decode *d, const ir_insn *i);
wl_status emu_prepare_slice(emu_decode *d);

/* live.c: gives each register its place; needs the basic blocks. False when out of memory. */
bool emu_place_registers(emu_decode *d, uint32_t nbbs);
uint32_t emu_frame_take(emu_decode *d, uint32_t bytes);
uint32_t emu_reg_bytes(const emu_decode *d, uint32_t reg); /* of its place */
bool emu_zero_at_start(emu_decode *d, uint32_t offset, uint32_t bytes);

/* layout.c: parameters, shared memory, call depth. */
void emu_lay_out_kernel(emu_decode *d);
void emu_finish_info(emu_decode *d);
#endif
