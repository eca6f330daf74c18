/* Bulk copies of boxes of tensors, and instructions that change tensor maps. */
#include "emu/async.h"
#include "emu/decode.h"

static bool allow_box(emu_decode *d, const ir_insn *i)
{
    static const uint16_t words[] = {IR_S_async,      IR_S_bulk,
                                     IR_S_tensor,     IR_S_reduce,
                                     IR_S_bulk_group, IR_S_mbarrier__complete_tx__bytes,
                                     IR_S_tile,       IR_S_multicast__cluster};
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        ir_suffix_class class = ir_suffix_class_of(suffix);
        bool ok = class == IR_SC_SPACE || class == IR_SC_CACHE || class == IR_SC_OP ||
                  class == IR_SC_BOOL || class == IR_SC_GEOM;
        for (size_t k = 0; k < sizeof words / sizeof *words && !ok; k++)
            ok = words[k] == suffix;
        if (!ok) {
            emu_unsupported(d, "the modifier .%s is not supported here", ir_suffix_text(suffix));
            return false;
        }
    }
    return d->status == WL_OK;
}

static uint8_t box_rank_of(const ir_insn *i)
{
    static const uint16_t ranks[] = {IR_S_1d, IR_S_2d, IR_S_3d, IR_S_4d, IR_S_5d};
    for (size_t k = 0; k < sizeof ranks / sizeof *ranks; k++)
        if (ir_has(i, (ir_suffix)ranks[k]))
            return (uint8_t)(k + 1);
    return 0;
}

/* [map, {coordinates}] */
static void set_map(emu_decode *d, const ir_insn *i, const ir_operand *o, emu_tensor *t)
{
    const ir_operand *c = o->kind == IR_OPD_TEX && o->count == 2 ? &o->items[1] : NULL;
    uint32_t count = c && c->kind == IR_OPD_VEC ? c->count : 1;
    t->rank = box_rank_of(i);
    if (!c || !t->rank || count != t->rank) {
        emu_unsupported(d, "there are too few or too many coordinates");
        return;
    }
    ir_operand handle = o->items[0];
    handle.kind = IR_OPD_ADDR;
    emu_set_end(d, i, &handle, IR_SPACE_GENERIC, ACC_LOAD, 0, &t->map);
    for (uint32_t k = 0; k < t->rank; k++)
        t->at[k] = emu_src(d, c->kind == IR_OPD_VEC ? &c->items[k] : c, 32);
}

static void set_global(emu_decode *d, const ir_insn *i, acc_op op, emu_tensor *t)
{
    t->global.mem = *emu_mem_new(d, i, IR_SPACE_GLOBAL, op);
    t->global.mem.flags |= ACC_ASYNC | ACC_BULK;
    t->global.mem.base_bits = 64;
    t->global.insn = (emu_insn){.pc = d->pc, .dst = EMU_NOREF, .extra = &t->global.mem};
}

/* [shared], [map, {coordinates}], [mbarrier]{, blocks}{, cache policy} */
static void load_box(emu_decode *d, const ir_insn *i, emu_tensor *t)
{
    const bool many = ir_has(i, IR_S_multicast__cluster);
    t->loads = t->has_barrier = true;
    emu_set_end(d, i, &i->operands[0], emu_nth_space(i, 0), ACC_STORE, ACC_ASYNC | ACC_BULK,
                &t->shared);
    set_map(d, i, &i->operands[1], t);
    emu_set_end(d, i, &i->operands[2], emu_nth_space(i, 0), ACC_ATOMIC, 0, &t->barrier);
    if (many && i->noperands > 3)
        t->blocks = emu_src(d, &i->operands[3], 16);
    else if (many)
        emu_unsupported(d, "the mask of blocks is missing");
    set_global(d, i, ACC_LOAD, t);
}

/* [map, {coordinates}], [shared]{, cache policy} */
static void store_box(emu_decode *d, const ir_insn *i, emu_tensor *t)
{
    emu_atomic_op op = EMU_ATOMIC_ADD;
    t->reduces = ir_has(i, IR_S_reduce);
    if (t->reduces && !emu_reduction_of(i, &op))
        emu_unsupported(d, "this reduction is not supported");
    t->reduction = (uint8_t)op;
    set_map(d, i, &i->operands[0], t);
    emu_set_end(d, i, &i->operands[1], emu_nth_space(i, 1), ACC_LOAD, ACC_ASYNC | ACC_BULK,
                &t->shared);
    set_global(d, i, t->reduces ? ACC_REDUCTION : ACC_STORE, t);
}

void emu_decode_box(emu_decode *d, const ir_insn *i)
{
    emu_tensor *t = wl_new(d->arena, emu_tensor);
    if (!t) {
        emu_decode_nomem(d);
        return;
    }
    if (!allow_box(d, i))
        return;
    t->blocks = EMU_NOREF;
    if (ir_has(i, IR_S_mbarrier__complete_tx__bytes))
        load_box(d, i, t);
    else
        store_box(d, i, t);
    emu_emit_fn(d, emu_run_tensor)->extra = t;
}

/* ---- tensormap ---- */

static bool map_field_of(const ir_insn *i, emu_map_field *field)
{
    static const struct {
        ir_suffix suffix;
        emu_map_field field;
    } names[] = {{IR_S_global_address, EMU_MAP_ADDRESS},
                 {IR_S_rank, EMU_MAP_RANK},
                 {IR_S_box_dim, EMU_MAP_BOX},
                 {IR_S_global_dim, EMU_MAP_DIM},
                 {IR_S_global_stride, EMU_MAP_STRIDE},
                 {IR_S_element_stride, EMU_MAP_STEP},
                 {IR_S_elemtype, EMU_MAP_ELEMENT},
                 {IR_S_interleave_layout, EMU_MAP_INTERLEAVE},
                 {IR_S_swizzle_mode, EMU_MAP_SWIZZLE},
                 {IR_S_fill_mode, EMU_MAP_FILL}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix)) {
            *field = names[k].field;
            return true;
        }
    return false;
}

/* [map]{, dimension}, value */
static void replace_field(emu_decode *d, const ir_insn *i)
{
    emu_map_edit *e = wl_new(d->arena, emu_map_edit);
    const ir_operand *last = &i->operands[i->noperands - 1];
    if (!e) {
        emu_decode_nomem(d);
        return;
    }
    if (!map_field_of(i, &e->field) || i->noperands < 2) {
        emu_unsupported(d, "this field of a tensor map cannot be replaced");
        return;
    }
    uint64_t index = i->noperands > 2 ? i->operands[1].imm : 0;
    uint32_t most = e->field == EMU_MAP_STRIDE ? ACC_TENSOR_RANK - 1 : ACC_TENSOR_RANK;
    if (index >= most || (i->noperands > 2 && i->operands[1].kind != IR_OPD_INT))
        emu_unsupported(d, "a tensor map has no such dimension");
    e->index = (uint8_t)index;
    e->bits = i->types[0] == IR_T_b64 ? 64 : 32;
    e->value = emu_src(d, last, e->bits);
    e->mem = *emu_mem_new(d, i, i->space, ACC_STORE);
    e->mem.count = 1;
    emu_insn *in = emu_emit_mem(d, EMU_H_nothing, &i->operands[0], &e->mem);
    in->fn[0] = in->fn[1] = emu_run_map_edit;
    in->extra = e;
}

/* [to], [from], 128 */
static void copy_map(emu_decode *d, const ir_insn *i)
{
    emu_map_copy *c = wl_new(d->arena, emu_map_copy);
    if (!c) {
        emu_decode_nomem(d);
        return;
    }
    emu_set_end(d, i, &i->operands[0], emu_nth_space(i, 0), ACC_STORE, 0, &c->to);
    emu_set_end(d, i, &i->operands[1], emu_nth_space(i, 1), ACC_LOAD, 0, &c->from);
    emu_emit_fn(d, emu_run_map_copy)->extra = c;
}

void emu_decode_tensormap(emu_decode *d, const ir_insn *i)
{
    if (ir_has(i, IR_S_cp_fenceproxy))
        copy_map(d, i);
    else
        replace_field(d, i);
}
