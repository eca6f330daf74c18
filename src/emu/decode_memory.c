/* Loads, stores, atomic operations, prefetches. */
#include "emu/atomic.h"
#include "emu/decode.h"

static bool allow_memory(emu_decode *d, const ir_insn *i)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++)
        switch (ir_suffix_class_of((ir_suffix)i->suffixes[s])) {
        case IR_SC_TYPE:
        case IR_SC_SPACE:
        case IR_SC_CACHE:
        case IR_SC_SEM:
        case IR_SC_SCOPE:
        case IR_SC_VECTOR: break;
        case IR_SC_OP:
        case IR_SC_BOOL:
            if (i->op == IR_atom || i->op == IR_red)
                break;
            /* fallthrough */
        default:
            if (i->suffixes[s] != IR_S_noftz) {
                emu_unsupported(d, "the modifier .%s is not supported here",
                                ir_suffix_text((ir_suffix)i->suffixes[s]));
                return false;
            }
        }
    return d->status == WL_OK;
}

static uint32_t type_bytes(const ir_insn *i)
{
    const ir_type_info *t = emu_type(i, 0);
    return (uint32_t)t->bits * t->lanes / 8;
}

/* The elements of a load's destination or a store's source. */
static const ir_operand *elements(const ir_operand *o, uint32_t *count)
{
    *count = o->kind == IR_OPD_VEC ? o->count : 1;
    return o->kind == IR_OPD_VEC ? o->items : o;
}

static unsigned element_bits(emu_decode *d, const ir_insn *i, const ir_operand *o, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        if (o[k].kind == IR_OPD_REG)
            return emu_reg_bits(d, &o[k]);
    uint32_t bytes = type_bytes(i);
    return bytes < 2 ? 16 : 8 * bytes;
}

/* ---- parameters ---- */

static emu_h move_of(unsigned bits)
{
    return bits == 128 ? EMU_H_mov_128 : EMU_BY_WIDTH(bits, EMU_H_mov);
}

static emu_ref launch_param(emu_decode *d, const ir_insn *i, uint32_t offset, unsigned bits)
{
    return emu_param_const(d, bits / 8, type_bytes(i), emu_is_signed(i->types[0]), offset);
}

static bool kernel_param(const emu_decode *d, const ir_var *var, uint32_t *offset)
{
    for (uint32_t n = 0; d->func->entry && n < d->func->nparams; n++)
        if (d->func->params[n] == var) {
            *offset = d->kernel->info.param_offsets[n];
            return true;
        }
    return false;
}

/* A parameter of the launch is a constant of the launch. */
static void load_kernel_param(emu_decode *d, const ir_insn *i, uint32_t at, const ir_operand *to,
                              uint32_t count)
{
    for (uint32_t k = 0; k < count; k++) {
        if (to[k].kind == IR_OPD_SINK)
            continue;
        unsigned bits = emu_reg_bits(d, &to[k]);
        emu_ref from = launch_param(d, i, at + k * type_bytes(i), bits);
        if (!emu_alias(d, &to[k], from))
            emu_emit(d, move_of(bits), emu_dst(d, &to[k], bits), from, EMU_NOREF, EMU_NOREF);
    }
}

/* Accesses to parameters of functions: imm offset and shape, see place_shape. */
static s64 place_shape(const emu_place *place, uint32_t offset, uint32_t size, uint32_t width,
                       bool sign)
{
    return (s64)offset | (s64)place->stride << 24 | (s64)size << 48 | (s64)width << 54 |
           (s64)sign << 60;
}

static emu_place *frame_place(emu_decode *d, const ir_operand *address, uint32_t bytes,
                              uint32_t *offset)
{
    emu_place *place = address->has_sym && address->sym.kind == IR_SYM_VAR
                           ? emu_param_place(d, address->sym.var)
                           : NULL;
    *offset = (uint32_t)address->imm;
    if (!place || *offset + bytes > place->stride || (int64_t)address->imm < 0) {
        emu_unsupported(d, "a parameter of a function is accessed through a pointer");
        return NULL;
    }
    return place;
}

static void decode_param_load(emu_decode *d, const ir_insn *i)
{
    uint32_t count, offset, size = type_bytes(i);
    const ir_operand *to = elements(&i->operands[0], &count), *from = &i->operands[1];
    if (from->has_sym && from->sym.kind == IR_SYM_VAR && kernel_param(d, from->sym.var, &offset)) {
        load_kernel_param(d, i, offset + (uint32_t)from->imm, to, count);
        return;
    }
    emu_place *place = frame_place(d, from, size * count, &offset);
    for (uint32_t k = 0; place && k < count; k++) {
        if (to[k].kind == IR_OPD_SINK)
            continue;
        unsigned bits = emu_reg_bits(d, &to[k]);
        emu_ref dst = emu_dst(d, &to[k], bits);
        if (place->stride == size && bits == 8 * size)
            emu_emit(d, move_of(bits), dst, place->ref, EMU_NOREF, EMU_NOREF);
        else
            emu_emit(d, EMU_H_place_load, dst, place->ref, EMU_NOREF, EMU_NOREF)->imm =
                place_shape(place, offset + k * size, size, bits / 8, emu_is_signed(i->types[0]));
    }
}

static void store_param(emu_decode *d, const ir_insn *i)
{
    uint32_t count, offset, size = type_bytes(i);
    const ir_operand *from = elements(&i->operands[1], &count);
    unsigned bits = element_bits(d, i, from, count);
    emu_place *place = frame_place(d, &i->operands[0], size * count, &offset);
    if (!place)
        return;
    emu_place to = *place; /* emu_src may move the list of places */
    for (uint32_t k = 0; k < count; k++) {
        unsigned have = emu_reg_bits(d, &from[k]) ? emu_reg_bits(d, &from[k]) : bits;
        emu_ref src = have == 8 * size || have == 16
                          ? emu_src_typed(d, &from[k], have == 8 * size ? i->types[0] : IR_T_b16)
                          : emu_src(d, &from[k], have);
        if (to.stride == size && have == 8 * size)
            emu_emit(d, move_of(have), to.ref, src, EMU_NOREF, EMU_NOREF);
        else
            emu_emit(d, EMU_H_place_store, to.ref, src, EMU_NOREF, EMU_NOREF)->imm =
                place_shape(&to, offset + k * size, size, have / 8, false);
    }
}

/* ---- loads and stores ---- */

static bool simple_shape(const emu_mem *mem)
{
    return mem->count == 1 && mem->size == mem->width && mem->size >= 2 && mem->size <= 8 &&
           !mem->acquire && !mem->release && !mem->spin;
}

static emu_h pick(const emu_mem *mem, ir_space space, const emu_h global[4], const emu_h shared[4],
                  emu_h local, emu_h generic)
{
    unsigned k = !simple_shape(mem) ? 0 : mem->size == 2 ? 1 : mem->size == 4 ? 2 : 3;
    switch (space) {
    case IR_SPACE_SHARED:
    case IR_SPACE_SHARED_CLUSTER: return shared[k];
    case IR_SPACE_LOCAL: return local;
    case IR_SPACE_GENERIC: return generic;
    default: return global[k];
    }
}

static void fill_shape(emu_decode *d, const ir_insn *i, emu_mem *mem, const ir_operand *data,
                       uint32_t count)
{
    unsigned bits = element_bits(d, i, data, count);
    mem->size = (uint8_t)type_bytes(i);
    mem->count = (uint8_t)count;
    mem->width = (uint8_t)(bits / 8);
    mem->sign = emu_is_signed(i->types[0]);
    if (count > EMU_MAX_VECTOR || count != i->vector)
        emu_unsupported(d, "the vector has not the length that the instruction says");
    if (mem->width < mem->size && !(mem->width == 2 && mem->size == 1))
        emu_unsupported(d, "the register is narrower than the memory accessed");
}

void emu_decode_ld(emu_decode *d, const ir_insn *i)
{
    static const emu_h global[] = {EMU_H_ld_global, EMU_H_ld_global_2, EMU_H_ld_global_4,
                                   EMU_H_ld_global_8};
    static const emu_h shared[] = {EMU_H_ld_shared, EMU_H_ld_shared_2, EMU_H_ld_shared_4,
                                   EMU_H_ld_shared_8};
    uint32_t count;
    if (!allow_memory(d, i))
        return;
    if (i->space == IR_SPACE_PARAM && i->operands[1].has_sym) {
        decode_param_load(d, i);
        return;
    }
    const ir_operand *to = elements(&i->operands[0], &count);
    emu_mem *mem = emu_mem_new(d, i, i->space, ACC_LOAD);
    fill_shape(d, i, mem, to, count);
    for (uint32_t k = 0; k < count && k < EMU_MAX_VECTOR && d->status == WL_OK; k++)
        mem->data[k] = to[k].kind == IR_OPD_SINK ? EMU_NOREF : emu_dst(d, &to[k], mem->width * 8u);
    emu_emit_mem(d, pick(mem, i->space, global, shared, EMU_H_ld_local, EMU_H_ld_generic),
                 &i->operands[1], mem);
}

void emu_decode_ldu(emu_decode *d, const ir_insn *i)
{
    emu_decode_ld(d, i);
}

static void decode_store(emu_decode *d, const ir_insn *i)
{
    static const emu_h global[] = {EMU_H_st_global, EMU_H_st_global_2, EMU_H_st_global_4,
                                   EMU_H_st_global_8};
    static const emu_h shared[] = {EMU_H_st_shared, EMU_H_st_shared_2, EMU_H_st_shared_4,
                                   EMU_H_st_shared_8};
    uint32_t count;
    const ir_operand *from = elements(&i->operands[1], &count);
    emu_mem *mem = emu_mem_new(d, i, i->space, ACC_STORE);
    fill_shape(d, i, mem, from, count);
    for (uint32_t k = 0; k < count && k < EMU_MAX_VECTOR && d->status == WL_OK; k++)
        mem->data[k] = mem->width == mem->size ? emu_src_typed(d, &from[k], i->types[0])
                                               : emu_src(d, &from[k], mem->width * 8u);
    emu_emit_mem(d, pick(mem, i->space, global, shared, EMU_H_st_local, EMU_H_st_generic),
                 &i->operands[0], mem);
}

void emu_decode_st(emu_decode *d, const ir_insn *i)
{
    if (!allow_memory(d, i))
        return;
    if (i->space == IR_SPACE_PARAM && i->operands[0].has_sym)
        store_param(d, i);
    else
        decode_store(d, i);
}

/* ---- atomic operations ---- */

static bool atomic_op(const ir_insn *i, emu_atomic_op *out)
{
    static const struct {
        ir_suffix suffix;
        emu_atomic_op op;
    } names[] = {{IR_S_and, EMU_ATOMIC_AND},   {IR_S_or, EMU_ATOMIC_OR},
                 {IR_S_xor, EMU_ATOMIC_XOR},   {IR_S_add, EMU_ATOMIC_ADD},
                 {IR_S_inc, EMU_ATOMIC_INC},   {IR_S_dec, EMU_ATOMIC_DEC},
                 {IR_S_min, EMU_ATOMIC_MIN},   {IR_S_max, EMU_ATOMIC_MAX},
                 {IR_S_exch, EMU_ATOMIC_EXCH}, {IR_S_cas, EMU_ATOMIC_CAS}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix)) {
            *out = names[k].op;
            return true;
        }
    return false;
}

static emu_h atomic_handler(const ir_insn *i)
{
    bool shared = i->space == IR_SPACE_SHARED || i->space == IR_SPACE_SHARED_CLUSTER;
    if (i->types[0] == IR_T_b128)
        return EMU_H_atom_b128;
    return shared                        ? EMU_H_atom_shared
           : i->space == IR_SPACE_GLOBAL ? EMU_H_atom_global
                                         : EMU_H_atom_generic;
}

/* `address` and `value` are the positions of those operands; the result, if any, is operand 0. */
static void atomic(emu_decode *d, const ir_insn *i, uint32_t address, bool result)
{
    emu_atom *atom = wl_new(d->arena, emu_atom);
    if (!atom) {
        emu_decode_nomem(d);
        return;
    }
    uint32_t count, ndst;
    const ir_operand *value = elements(&i->operands[address + 1], &count);
    const ir_operand *to = elements(&i->operands[0], &ndst);
    bool kept = result && i->operands[0].kind != IR_OPD_SINK;
    unsigned bits = type_bytes(i) * 8;
    emu_mem *mem = emu_mem_new(d, i, i->space, kept ? ACC_ATOMIC : ACC_REDUCTION);
    atom->mem = *mem;
    atom->mem.size = atom->mem.width = (uint8_t)(bits / 8);
    atom->mem.count = (uint8_t)count;
    atom->result = kept;
    atom->compare = EMU_NOREF;
    bool known = atomic_op(i, &atom->operation), wide = i->types[0] == IR_T_b128;
    atom->combine = known ? emu_combine_of(atom->operation, i->types[0]) : NULL;
    if (!known || (!atom->combine && !wide) || count > EMU_MAX_VECTOR || (kept && ndst != count)) {
        emu_unsupported(d, "this atomic operation is not supported");
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        atom->value[k] = emu_src_typed(d, &value[k], i->types[0]);
        atom->mem.data[k] = kept && to[k].kind != IR_OPD_SINK ? emu_dst(d, &to[k], bits)
                                                              : EMU_NOREF;
    }
    if (atom->operation == EMU_ATOMIC_CAS) { /* d, [a], compare, value */
        atom->compare = atom->value[0];
        atom->value[0] = emu_src_typed(d, &i->operands[address + 2], i->types[0]);
    }
    emu_emit_mem(d, atomic_handler(i), &i->operands[address], &atom->mem);
}

void emu_decode_atom(emu_decode *d, const ir_insn *i)
{
    if (allow_memory(d, i))
        atomic(d, i, 1, true);
}

void emu_decode_red(emu_decode *d, const ir_insn *i)
{
    if (allow_memory(d, i))
        atomic(d, i, 0, false);
}

/* ---- no effect on values ---- */

void emu_decode_prefetch(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

void emu_decode_prefetchu(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

void emu_decode_applypriority(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

void emu_decode_discard(emu_decode *d, const ir_insn *i)
{
    (void)d;
    (void)i;
}

/* A cache policy is a number that only caches look at. */
void emu_decode_createpolicy(emu_decode *d, const ir_insn *i)
{
    emu_emit(d, EMU_H_mov_64, emu_dst(d, &i->operands[0], 64), emu_const(d, 64, 0), EMU_NOREF,
             EMU_NOREF);
}
