/* Matrix instructions. They ask for the whole warp: the member mask is all lanes. */
#include "emu/decode.h"
#include "emu/matrix.h"

#include <stdio.h>

typedef struct shape {
    uint16_t m, n, k;
} shape;

/* "m16n8k16" */
static bool mma_shape_of(const ir_insn *i, shape *s)
{
    ir_suffix suffix;
    unsigned m, n, k;
    if (!emu_has_class(i, IR_SC_SHAPE, 0, &suffix) ||
        sscanf(ir_suffix_text(suffix), "m%un%uk%u", &m, &n, &k) != 3)
        return false;
    *s = (shape){(uint16_t)m, (uint16_t)n, (uint16_t)k};
    return true;
}

static bool matrix_element_of(ir_type type, emu_element *out)
{
    static const struct {
        ir_type type;
        emu_element element;
    } names[] = {{IR_T_f16, EMU_E_F16}, {IR_T_bf16, EMU_E_BF16}, {IR_T_tf32, EMU_E_TF32},
                 {IR_T_f32, EMU_E_F32}, {IR_T_f64, EMU_E_F64},   {IR_T_s8, EMU_E_S8},
                 {IR_T_u8, EMU_E_U8},   {IR_T_s4, EMU_E_S4},     {IR_T_u4, EMU_E_U4},
                 {IR_T_b1, EMU_E_B1},   {IR_T_e4m3, EMU_E_E4M3}, {IR_T_e5m2, EMU_E_E5M2},
                 {IR_T_s32, EMU_E_S32}};
    for (size_t n = 0; n < sizeof names / sizeof *names; n++)
        if (names[n].type == type) {
            *out = names[n].element;
            return true;
        }
    return false;
}

/* Registers of one operand. f16 matrices come in pairs in 32 bits; a fragment must hold its matrix
 * a whole number of times. */
static bool fill_fragment(emu_decode *d, const ir_operand *o, emu_fragment *f, bool write,
                          bool copies)
{
    const ir_operand *items = o->kind == IR_OPD_VEC ? o->items : o;
    uint32_t count = o->kind == IR_OPD_VEC ? o->count : 1;
    f->reg_bytes = f->type == EMU_E_F64 ? 8 : 4;
    f->nregs = (uint8_t)count;
    if (count > EMU_MATRIX_REGS)
        return false;
    for (uint32_t k = 0; k < count; k++)
        f->regs[k] = write ? emu_dst(d, &items[k], f->reg_bytes * 8u)
                           : emu_src_typed(d, &items[k],
                                           f->type == EMU_E_F64   ? IR_T_f64
                                           : f->type == EMU_E_F32 ? IR_T_f32
                                                                  : IR_T_b32);
    uint64_t held = (uint64_t)count * f->reg_bytes * 8 / emu_element_bits(f->type) * EMU_LANES;
    uint64_t total = (uint64_t)f->rows * f->columns;
    return d->status == WL_OK && held && (copies ? held % total == 0 : held == total);
}

static emu_fragment fragment(uint8_t role, const shape *s, emu_element type, bool column_major)
{
    uint16_t rows = role == 'b' ? s->k : s->m, columns = role == 'a' ? s->k : s->n;
    return (emu_fragment){
        .type = type, .rows = rows, .columns = columns, .column_major = column_major, .role = role};
}

static void emit_mma(emu_decode *d, emu_mma *m)
{
    d->kernel->uses_matrices = true;
    emu_insn *in = emu_emit_fn(d, emu_run_mma);
    in->extra = wl_arena_copy(d->arena, m, sizeof *m);
    in->src[3] = d->whole_warp;
    if (!in->extra)
        emu_decode_nomem(d);
}

static void set_dot(const ir_insn *i, emu_mma *m)
{
    m->dot = !ir_has(i, IR_S_popc) ? EMU_DOT_SUM
             : ir_has(i, IR_S_xor) ? EMU_DOT_XOR_POPC
                                   : EMU_DOT_AND_POPC;
    m->saturate = ir_has(i, IR_S_satfinite);
}

/* The nth of the suffixes .row and .col. */
static bool nth_is_column(const ir_insn *i, uint32_t nth)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++)
        if (i->suffixes[s] == IR_S_row || i->suffixes[s] == IR_S_col)
            if (nth-- == 0)
                return i->suffixes[s] == IR_S_col;
    return false;
}

static bool allow_shapes(emu_decode *d, const ir_insn *i)
{
    static const uint16_t allowed[] = {
        IR_S_sync, IR_S_aligned, IR_S_row,    IR_S_col,    IR_S_satfinite,  IR_S_xor, IR_S_and,
        IR_S_popc, IR_S_rn,      IR_S_mma,    IR_S_load,   IR_S_store,      IR_S_a,   IR_S_b,
        IR_S_c,    IR_S_d,       IR_S_global, IR_S_shared, IR_S_shared__cta};
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        ir_suffix_class class = ir_suffix_class_of(suffix);
        bool ok = class == IR_SC_TYPE || class == IR_SC_SHAPE;
        for (size_t k = 0; k < sizeof allowed / sizeof *allowed && !ok; k++)
            ok = allowed[k] == suffix;
        if (!ok) {
            emu_unsupported(d, "the modifier .%s is not supported here", ir_suffix_text(suffix));
            return false;
        }
    }
    return d->status == WL_OK;
}

/* Types of D, A, B, C as the suffixes give them; wmma on f16 gives D and C alone. */
static bool types_of(const ir_insn *i, emu_element t[4])
{
    if (i->op == IR_wmma && i->types[2] == IR_T_none) {
        t[1] = t[2] = EMU_E_F16;
        return matrix_element_of(i->types[0], &t[0]) && matrix_element_of(i->types[1], &t[3]);
    }
    for (int k = 0; k < 4; k++)
        if (!matrix_element_of(i->types[k], &t[k]))
            return false;
    return true;
}

static void decode_mma(emu_decode *d, const ir_insn *i, emu_layout layout)
{
    shape s = {0};
    emu_element t[4];
    bool wmma = layout == EMU_LAYOUT_WMMA;
    emu_mma m = {.layout = layout};
    d->whole_warp = emu_const(d, 32, EMU_ALL);
    if (!allow_shapes(d, i))
        return;
    if (!mma_shape_of(i, &s) || !types_of(i, t)) {
        emu_unsupported(d, "this shape or type of matrices is not supported");
        return;
    }
    bool a_column = nth_is_column(i, 0), b_column = nth_is_column(i, 1);
    if (!wmma && (a_column || !b_column || i->noperands != 4 || s.n != 8)) {
        emu_unsupported(d, "this layout of matrices is not supported");
        return;
    }
    set_dot(i, &m);
    m.d = fragment('c', &s, t[0], false);
    m.a = fragment('a', &s, t[1], wmma && a_column);
    m.b = fragment('b', &s, t[2], wmma && b_column);
    m.c = fragment('c', &s, t[3], false);
    bool ok = fill_fragment(d, &i->operands[0], &m.d, true, wmma) &&
              fill_fragment(d, &i->operands[1], &m.a, false, wmma) &&
              fill_fragment(d, &i->operands[2], &m.b, false, wmma) &&
              fill_fragment(d, &i->operands[3], &m.c, false, wmma);
    if (!ok) {
        emu_unsupported(d, "the registers do not fit this shape");
        return;
    }
    emit_mma(d, &m);
}

void emu_decode_mma(emu_decode *d, const ir_insn *i)
{
    decode_mma(d, i, EMU_LAYOUT_MMA);
}

/* ---- wmma ---- */

static void wmma_memory(emu_decode *d, const ir_insn *i, bool load)
{
    shape s = {0};
    emu_wmma x = {0};
    emu_element type;
    const ir_operand *regs = &i->operands[load ? 0 : 1], *address = &i->operands[load ? 1 : 0];
    uint8_t role = ir_has(i, IR_S_a) ? 'a' : ir_has(i, IR_S_b) ? 'b' : 'c';
    d->whole_warp = emu_const(d, 32, EMU_ALL);
    if (!allow_shapes(d, i))
        return;
    if (!mma_shape_of(i, &s) || !matrix_element_of(i->types[0], &type)) {
        emu_unsupported(d, "this shape or type of matrices is not supported");
        return;
    }
    if (role == 'c' && type == EMU_E_TF32)
        type = EMU_E_F32;
    x.column_major = nth_is_column(i, 0);
    x.fragment = fragment(role, &s, type, role != 'c' && x.column_major);
    if (!fill_fragment(d, regs, &x.fragment, load, true)) {
        emu_unsupported(d, "the registers do not fit this shape");
        return;
    }
    uint64_t tight = x.column_major ? x.fragment.rows : x.fragment.columns;
    x.stride = i->noperands > 2 ? emu_src(d, &i->operands[2], 32) : emu_const(d, 32, tight);
    emu_mem *mem = emu_mem_new(d, i, i->space, load ? ACC_LOAD : ACC_STORE);
    x.mem = *mem;
    emu_wmma *extra = wl_arena_copy(d->arena, &x, sizeof x);
    if (!extra) {
        emu_decode_nomem(d);
        return;
    }
    emu_insn *in = emu_emit_mem(d, EMU_H_nothing, address, &extra->mem);
    in->fn[0] = in->fn[1] = load ? emu_run_wmma_load : emu_run_wmma_store;
    in->src[3] = d->whole_warp;
}

void emu_decode_wmma(emu_decode *d, const ir_insn *i)
{
    if (ir_has(i, IR_S_mma))
        decode_mma(d, i, EMU_LAYOUT_WMMA);
    else
        wmma_memory(d, i, ir_has(i, IR_S_load));
}

/* ---- ldmatrix, stmatrix ---- */

static void matrices(emu_decode *d, const ir_insn *i, bool load)
{
    const ir_operand *regs = &i->operands[load ? 0 : 1],
                     *items = regs->kind == IR_OPD_VEC ? regs->items : regs;
    uint32_t count = regs->kind == IR_OPD_VEC ? regs->count : 1;
    uint32_t said = ir_has(i, IR_S_x4) ? 4 : ir_has(i, IR_S_x2) ? 2 : 1;
    emu_matrices *x = wl_new(d->arena, emu_matrices);
    d->whole_warp = emu_const(d, 32, EMU_ALL);
    if (!x) {
        emu_decode_nomem(d);
        return;
    }
    if (!emu_allow(d, i, IR_S_sync, IR_S_aligned, IR_S_m8n8, IR_S_x1, IR_S_x2, IR_S_x4, IR_S_trans,
                   IR_S_shared, IR_S_shared__cta))
        return;
    if (count != said || i->types[0] != IR_T_b16) {
        emu_unsupported(d, "this shape of matrices is not supported");
        return;
    }
    x->mem = *emu_mem_new(d, i, i->space, load ? ACC_LOAD : ACC_STORE);
    x->count = (uint8_t)count;
    x->transposed = ir_has(i, IR_S_trans);
    for (uint32_t k = 0; k < count; k++)
        x->regs[k] = load ? emu_dst(d, &items[k], 32) : emu_src(d, &items[k], 32);
    emu_insn *in = emu_emit_mem(d, EMU_H_nothing, &i->operands[load ? 1 : 0], &x->mem);
    in->fn[0] = in->fn[1] = load ? emu_run_ldmatrix : emu_run_stmatrix;
    in->src[3] = d->whole_warp;
}

void emu_decode_ldmatrix(emu_decode *d, const ir_insn *i)
{
    matrices(d, i, true);
}

void emu_decode_stmatrix(emu_decode *d, const ir_insn *i)
{
    matrices(d, i, false);
}
