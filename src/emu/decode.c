/* Decoding: registers get their slots, constants their places in the pool, and each instruction its
 * handlers. */
#include "emu/decode.h"

#include "base/hash.h"
#include "ir/front.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct emu_pool_key {
    struct {
        uint32_t kind, bytes, memory_bytes, sign;
        uint64_t value, high;
    } key;
    uint32_t offset;
    UT_hash_handle hh;
} emu_pool_key;

static const emu_decode_fn decoders[IR_OP_COUNT] = {
#define X(id, ...) [IR_##id] = emu_decode_##id,
#include "ir/ops.def"
#undef X
};

void emu_decode_nomem(emu_decode *d)
{
    if (d->status == WL_OK)
        d->status = wl_fail(d->err, WL_NOMEM, "out of memory while decoding a kernel");
}

void emu_unsupported(emu_decode *d, const char *format, ...)
{
    if (d->status != WL_OK)
        return;
    char text[256], why[256];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    ir_insn_text(d->module->ptx, d->func, d->insn, text, sizeof text);
    d->status = wl_fail(d->err, WL_UNSUPPORTED,
                        "kernel %s cannot be emulated: PTX line %u: \"%s\": %s",
                        d->kernel->func->name, d->insn->pos.line, text, why);
}

bool emu_allow_list(emu_decode *d, const ir_insn *i, const uint16_t *allowed, size_t count)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        ir_suffix_class class = ir_suffix_class_of(suffix);
        bool ok = class == IR_SC_TYPE || class == IR_SC_VECTOR;
        for (size_t k = 0; k < count && !ok; k++)
            ok = allowed[k] == suffix;
        if (!ok) {
            emu_unsupported(d, "the modifier .%s is not supported here", ir_suffix_text(suffix));
            return false;
        }
    }
    return d->status == WL_OK;
}

bool emu_has_class(const ir_insn *i, ir_suffix_class class, uint32_t nth, ir_suffix *out)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++)
        if (ir_suffix_class_of((ir_suffix)i->suffixes[s]) == class && nth-- == 0) {
            *out = (ir_suffix)i->suffixes[s];
            return true;
        }
    return false;
}

uint32_t emu_rounding(const ir_insn *i)
{
    return ir_has(i, IR_S_rz)   ? EMU_ROUND_RZ
           : ir_has(i, IR_S_rm) ? EMU_ROUND_RM
           : ir_has(i, IR_S_rp) ? EMU_ROUND_RP
                                : EMU_ROUND_RN;
}

int emu_int_index(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    if (t->lanes != 1 || (t->kind != IR_KIND_U && t->kind != IR_KIND_S && t->kind != IR_KIND_B))
        return -1;
    int width = t->bits == 16 ? 0 : t->bits == 32 ? 2 : t->bits == 64 ? 4 : -1;
    return width < 0 ? -1 : width + (t->kind == IR_KIND_S);
}

/* ---- the pool ---- */

static emu_ref pool_entry(emu_decode *d, const emu_pool_entry *want)
{
    emu_pool_key probe;
    memset(&probe, 0, sizeof probe);
    probe.key.kind = want->kind;
    probe.key.bytes = want->bytes;
    probe.key.memory_bytes = want->memory_bytes;
    probe.key.sign = want->sign;
    probe.key.value = want->value;
    probe.key.high = want->high;
    emu_pool_key *found = NULL;
    HASH_FIND(hh, d->pool_index, &probe.key, sizeof probe.key, found);
    if (found)
        return EMU_REF(EMU_LAUNCH, found->offset);
    emu_pool_entry entry = *want;
    entry.offset = d->pool_top;
    found = malloc(sizeof *found);
    if (!found || !wl_push(&d->pool, entry)) {
        free(found);
        emu_decode_nomem(d);
        return EMU_REF(EMU_LAUNCH, 0);
    }
    d->pool_top += entry.bytes ? (entry.bytes < 2 ? 2 : entry.bytes) * EMU_LANES : 64;
    *found = probe;
    found->offset = entry.offset;
    HASH_ADD(hh, d->pool_index, key, sizeof found->key, found);
    if (!found->hh.tbl) {
        free(found);
        emu_decode_nomem(d);
    }
    return EMU_REF(EMU_LAUNCH, entry.offset);
}

static void free_pool_index(emu_decode *d)
{
    emu_pool_key *key, *next;
    HASH_ITER (hh, d->pool_index, key, next) {
        HASH_DEL(d->pool_index, key);
        free(key);
    }
}

emu_ref emu_const(emu_decode *d, unsigned bits, uint64_t value)
{
    uint32_t bytes = bits / 8 < 2 && bits != 1 ? 2 : bits / 8;
    if (bits < 64 && bits != 1)
        value &= (UINT64_C(1) << bits) - 1;
    emu_pool_entry entry = {.kind = EMU_POOL_CONST, .bytes = bytes, .value = value};
    if (bits == 128)
        entry.high = (int64_t)value < 0 ? UINT64_MAX : 0;
    return pool_entry(d, &entry);
}

emu_ref emu_param_const(emu_decode *d, uint32_t bytes, uint32_t memory_bytes, bool sign,
                        uint32_t offset)
{
    emu_pool_entry entry = {.kind = EMU_POOL_PARAM,
                            .bytes = bytes,
                            .memory_bytes = memory_bytes,
                            .sign = sign,
                            .value = offset};
    return pool_entry(d, &entry);
}

emu_ref emu_uniform_ref(emu_decode *d, emu_uniform which, unsigned bits)
{
    emu_pool_entry entry = {.kind = EMU_POOL_SREG, .bytes = bits / 8, .value = which};
    return pool_entry(d, &entry);
}

/* ---- slots ---- */

static uint32_t slot_bytes(unsigned bits)
{
    return (bits < 16 ? 16 : bits) / 8 * EMU_LANES;
}

uint32_t emu_frame_take(emu_decode *d, uint32_t bytes)
{
    if (bytes == 4) { /* predicates share a line */
        if (d->pred_at % 64 == 0) {
            d->pred_at = d->frame_top;
            d->frame_top += 64;
        }
        d->pred_at += 4;
        return d->pred_at - 4;
    }
    d->frame_top += (bytes + 63) & ~63u;
    return d->frame_top - ((bytes + 63) & ~63u);
}

static emu_ref new_slot(emu_decode *d, unsigned bits)
{
    return EMU_REF(EMU_FRAME, emu_frame_take(d, bits == 1 ? 4 : slot_bytes(bits)));
}

bool emu_zero_at_start(emu_decode *d, uint32_t offset, uint32_t bytes)
{
    emu_function *f = d->function;
    emu_zero *last = f->nzero ? &f->zero[f->nzero - 1] : NULL;
    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return true;
    }
    emu_zero *grown = realloc(f->zero, (f->nzero + 1) * sizeof *grown);
    if (!grown)
        return false;
    f->zero = grown;
    f->zero[f->nzero++] = (emu_zero){offset, bytes};
    return true;
}

static unsigned register_bits_of(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    unsigned bits = t->kind == IR_KIND_P ? 1 : (unsigned)t->bits * t->lanes;
    return bits == 1 && t->kind != IR_KIND_P ? 16 : bits > 1 && bits < 16 ? 16 : bits;
}

static unsigned reg_width(const emu_decode *d, uint32_t reg)
{
    return register_bits_of(d->func->regs[reg].type);
}

uint32_t emu_reg_bytes(const emu_decode *d, uint32_t reg)
{
    unsigned bits = reg_width(d, reg), vector = d->func->regs[reg].vector;
    return bits == 1 ? 4 : slot_bytes(bits) * (vector ? vector : 1);
}

static emu_ref reg_slot(emu_decode *d, uint32_t reg, uint8_t component)
{
    unsigned bits = reg_width(d, reg);
    d->named[reg] = 1;
    if (component >= 1 && component <= 4)
        return d->regs[reg] + (component - 1u) * slot_bytes(bits);
    return d->regs[reg];
}

emu_ref emu_temp(emu_decode *d, unsigned bits)
{
    unsigned k = bits == 1 ? 0 : bits <= 16 ? 1 : bits == 32 ? 2 : bits == 64 ? 3 : 4;
    if (d->temps_used[k] == d->temps[k].count && !wl_push(&d->temps[k], new_slot(d, bits)))
        emu_decode_nomem(d);
    return d->status == WL_OK ? d->temps[k].data[d->temps_used[k]++] : EMU_REF(EMU_FRAME, 0);
}

unsigned emu_reg_bits(const emu_decode *d, const ir_operand *o)
{
    return o->kind == IR_OPD_REG ? reg_width(d, o->reg) : 0;
}

/* Brings a vector of `from` bits to `to` bits, without sign. */
static emu_ref resize(emu_decode *d, emu_ref ref, unsigned from, unsigned to)
{
    if (from == to)
        return ref;
    emu_h h = from == 16   ? (to == 32 ? EMU_H_ext_u16_32 : EMU_H_ext_u16_64)
              : from == 32 ? (to == 16 ? EMU_H_trunc_32_16 : EMU_H_ext_u32_64)
                           : (to == 16 ? EMU_H_trunc_64_16 : EMU_H_trunc_64_32);
    emu_ref temp = emu_temp(d, to);
    emu_emit(d, h, temp, ref, EMU_NOREF, EMU_NOREF);
    return temp;
}

/* ---- symbols ---- */

static emu_ref shared_symbol(emu_decode *d, const ir_var *var, int64_t addend, unsigned bits)
{
    for (size_t k = 0; k < d->shared.count; k++)
        if (d->shared.data[k].var == var)
            return emu_const(d, bits, d->shared.data[k].offset + (uint64_t)addend);
    emu_unsupported(d, "the shared variable %s has no place", var->name);
    return 0;
}

static uint32_t local_offset(emu_decode *d, const ir_var *var)
{
    for (size_t k = 0; k < d->locals.count; k++)
        if (d->locals.data[k].var == var)
            return d->locals.data[k].offset;
    uint32_t align = ir_var_align(var) > 8 ? ir_var_align(var) : 8;
    uint32_t offset = (d->function->local_bytes + align - 1) & ~(align - 1);
    uint64_t size = ir_var_size(var);
    if (size > (1u << 28) || !wl_push(&d->locals, (emu_local_place){var, offset})) {
        emu_decode_nomem(d);
        return 0;
    }
    d->function->local_bytes = offset + (uint32_t)size;
    return offset;
}

/* In the kernel local variables start at 0; a function's lie above its callers', so their address
 * is a vector that is set when a frame starts. */
static emu_ref local_symbol(emu_decode *d, const ir_var *var, int64_t addend, unsigned bits)
{
    uint32_t offset = local_offset(d, var);
    if (d->func->entry)
        return emu_const(d, bits, offset + (uint64_t)addend);
    emu_function *f = d->function;
    emu_ref ref = EMU_NOREF;
    for (uint32_t k = 0; k < f->nlocals; k++)
        if (f->locals[k].offset == offset)
            ref = f->locals[k].ref;
    if (ref == EMU_NOREF) {
        void *grown = realloc(f->locals, (f->nlocals + 1) * sizeof *f->locals);
        if (!grown) {
            emu_decode_nomem(d);
            return 0;
        }
        f->locals = grown;
        ref = new_slot(d, 64);
        f->locals[f->nlocals].ref = ref;
        f->locals[f->nlocals++].offset = offset;
    }
    if (addend) {
        emu_ref sum = emu_temp(d, 64);
        emu_emit(d, EMU_H_add_64, sum, ref, emu_const(d, 64, (uint64_t)addend), EMU_NOREF);
        ref = sum;
    }
    return resize(d, ref, 64, bits);
}

static emu_ref param_symbol(emu_decode *d, const ir_var *var, int64_t addend, unsigned bits)
{
    const emu_kernel *k = d->kernel;
    for (uint32_t n = 0; d->func->entry && n < k->func->nparams; n++)
        if (k->func->params[n] == var) {
            emu_pool_entry entry = {.kind = EMU_POOL_PARAM_ADDRESS,
                                    .bytes = bits / 8,
                                    .value = k->info.param_offsets[n] + (uint64_t)addend};
            return pool_entry(d, &entry);
        }
    emu_unsupported(d, "the address of parameter %s of a device function is not supported",
                    var->name);
    return 0;
}

static emu_ref global_symbol(emu_decode *d, const ir_var *var, int64_t addend, unsigned bits)
{
    for (uint32_t k = 0; k < d->module->nsymbols; k++)
        if (strcmp(d->module->symbols[k].var->name, var->name) == 0)
            return emu_const(d, bits, d->module->symbols[k].address + (uint64_t)addend);
    emu_unsupported(d, "the variable %s is not defined in this module", var->name);
    return 0;
}

/* The address of a symbol as a vector of `bits`. */
static emu_ref ref_of_symbol(emu_decode *d, const ir_symbol *sym, int64_t addend, unsigned bits)
{
    if (sym->kind == IR_SYM_FUNC)
        return emu_const(d, bits, emu_function_token(d->module->ptx, sym->func));
    switch (sym->var->space) {
    case IR_SPACE_SHARED: return shared_symbol(d, sym->var, addend, bits);
    case IR_SPACE_LOCAL: return local_symbol(d, sym->var, addend, bits);
    case IR_SPACE_PARAM: return param_symbol(d, sym->var, addend, bits);
    case IR_SPACE_GLOBAL:
    case IR_SPACE_CONST: return global_symbol(d, sym->var, addend, bits);
    default: emu_unsupported(d, "the state space of %s is not supported", sym->var->name); return 0;
    }
}

/* ---- operands ---- */

bool emu_immediate(const ir_operand *o, uint64_t *value)
{
    *value = o->imm;
    return o->kind == IR_OPD_INT || o->kind == IR_OPD_F32 || o->kind == IR_OPD_F64;
}

emu_ref emu_src(emu_decode *d, const ir_operand *o, unsigned bits)
{
    if (d->status != WL_OK)
        return 0;
    switch (o->kind) {
    case IR_OPD_REG:
        if (reg_width(d, o->reg) != bits || o->neg)
            emu_unsupported(d, "register %s has %u bits where %u are read",
                            d->func->regs[o->reg].name, reg_width(d, o->reg), bits);
        return reg_slot(d, o->reg, o->component);
    case IR_OPD_SREG: return resize(d, emu_sreg(d, o), emu_sreg_bits(o->sreg), bits);
    case IR_OPD_INT:
    case IR_OPD_F32:
    case IR_OPD_F64: return emu_const(d, bits, o->imm);
    case IR_OPD_SYM: return ref_of_symbol(d, &o->sym, (int64_t)o->imm, bits);
    default: emu_unsupported(d, "this kind of operand is not supported"); return 0;
    }
}

emu_ref emu_src_typed(emu_decode *d, const ir_operand *o, ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    unsigned bits = (unsigned)t->bits * t->lanes;
    if (t->kind == IR_KIND_F && t->lanes == 1 && bits >= 32) {
        if (o->kind == IR_OPD_F64 && bits == 32)
            return emu_const(d, 32, f32_bits((f32)f64_of(o->imm)));
        if (o->kind == IR_OPD_F32 && bits == 64)
            return emu_const(d, 64, f64_bits((f64)f32_of((u32)o->imm)));
        if (o->kind == IR_OPD_INT)
            return emu_const(d, bits,
                             bits == 32 ? f32_bits((f32)(s64)o->imm) : f64_bits((f64)(s64)o->imm));
    }
    return emu_src(d, o, bits);
}

emu_ref emu_src_cut(emu_decode *d, const ir_operand *o, unsigned bits)
{
    unsigned have = emu_reg_bits(d, o);
    if (have > bits)
        return resize(d, emu_src(d, o, have), have, bits);
    return emu_src(d, o, bits);
}

emu_ref emu_dst(emu_decode *d, const ir_operand *o, unsigned bits)
{
    if (d->status != WL_OK)
        return 0;
    if (o->kind == IR_OPD_SINK)
        return emu_temp(d, bits);
    if (o->kind != IR_OPD_REG || reg_width(d, o->reg) != bits) {
        emu_unsupported(d, "the destination is no register of %u bits", bits);
        return 0;
    }
    /* A register that stands for a constant has one definition, seen before; emu_written() has
     * missed this one. */
    if (EMU_REF_BASE(d->regs[o->reg]) != EMU_FRAME)
        emu_unsupported(d, "internal error: %s is written twice", d->func->regs[o->reg].name);
    return reg_slot(d, o->reg, o->component);
}

emu_ref emu_pred_src(emu_decode *d, const ir_operand *o, bool *neg)
{
    if (d->status != WL_OK)
        return 0;
    if (o->kind == IR_OPD_INT)
        return emu_const(d, 1, ((o->imm != 0) ^ o->neg) ? EMU_ALL : 0);
    if (o->kind == IR_OPD_SREG && emu_sreg_bits(o->sreg) == 1)
        return emu_sreg(d, o);
    if (o->kind != IR_OPD_REG || reg_width(d, o->reg) != 1) {
        emu_unsupported(d, "a predicate is needed here");
        return 0;
    }
    emu_ref ref = reg_slot(d, o->reg, 0);
    if (neg) {
        *neg = o->neg;
        return ref;
    }
    if (!o->neg)
        return ref;
    emu_ref temp = emu_temp(d, 1);
    emu_emit(d, EMU_H_not_pred, temp, ref, EMU_NOREF, EMU_NOREF);
    return temp;
}

emu_ref emu_pred_dst(emu_decode *d, const ir_operand *o)
{
    return emu_dst(d, o, 1);
}

bool emu_alias(emu_decode *d, const ir_operand *dst, emu_ref src)
{
    if (dst->kind != IR_OPD_REG || d->insn->guard != IR_NONE || EMU_REF_BASE(src) == EMU_FRAME ||
        d->named[dst->reg] || d->defs[dst->reg] != 1 || d->func->regs[dst->reg].vector > 1)
        return false;
    d->regs[dst->reg] = src;
    return true;
}

/* ---- memory operands ---- */

emu_mem *emu_mem_new(emu_decode *d, const ir_insn *i, ir_space space, acc_op op)
{
    emu_mem *mem = wl_new(d->arena, emu_mem);
    if (!mem) {
        emu_decode_nomem(d);
        static emu_mem dummy;
        return &dummy;
    }
    bool ordered = ir_has(i, IR_S_acquire) || ir_has(i, IR_S_release) || ir_has(i, IR_S_acq_rel) ||
                   ir_has(i, IR_S_sc);
    mem->space = (uint8_t)space;
    mem->op = (uint8_t)op;
    mem->cache = d->kernel->ncaches++;
    mem->acquire = ir_has(i, IR_S_acquire) || ir_has(i, IR_S_acq_rel);
    mem->release = ir_has(i, IR_S_release) || ir_has(i, IR_S_acq_rel);
    mem->spin = op == ACC_ATOMIC ||
                (op == ACC_LOAD && (ordered || ir_has(i, IR_S_volatile) ||
                                    ir_has(i, IR_S_relaxed) || ir_has(i, IR_S_cv)));
    mem->flags = (uint16_t)((ir_has(i, IR_S_volatile) ? ACC_VOLATILE : 0) |
                            (ir_has(i, IR_S_nc) || i->op == IR_ldu ? ACC_READONLY : 0) |
                            (i->op == IR_mbarrier ? ACC_BARRIER : 0) |
                            (i->op == IR_red && ir_has(i, IR_S_popc) ? ACC_POPC : 0) |
                            (ir_has(i, IR_S_spin) ? ACC_SPIN : 0) |
                            (i->op == IR_ldmatrix || i->op == IR_stmatrix ? ACC_MATRIX : 0) |
                            (space == IR_SPACE_GENERIC ? ACC_GENERIC : 0));
    return mem;
}

/* A symbol's address in the generic space lies in the window of its own space. */
static uint64_t window_of_symbol(const emu_decode *d, const ir_operand *o, const emu_mem *mem)
{
    if (mem->space != IR_SPACE_GENERIC || o->sym.kind != IR_SYM_VAR)
        return 0;
    const emu_machine *m = d->module->machine;
    return o->sym.var->space == IR_SPACE_SHARED  ? m->shared_window
           : o->sym.var->space == IR_SPACE_LOCAL ? m->local_window
                                                 : 0;
}

emu_insn *emu_emit_mem(emu_decode *d, emu_h handler, const ir_operand *o, emu_mem *mem)
{
    emu_ref base = 0;
    int64_t offset = (int64_t)o->imm;
    mem->base_bits = 64;
    if (o->kind != IR_OPD_ADDR) {
        emu_unsupported(d, "an address is needed here");
    } else if (o->has_sym) {
        base = ref_of_symbol(d, &o->sym, offset, 64);
        offset = (int64_t)window_of_symbol(d, o, mem);
    } else if (o->reg != IR_NONE) {
        mem->base_bits = (uint8_t)reg_width(d, o->reg);
        if (mem->base_bits != 32 && mem->base_bits != 64)
            emu_unsupported(d, "an address has 32 or 64 bits");
        base = reg_slot(d, o->reg, o->component);
    } else {
        base = emu_const(d, 64, (uint64_t)offset);
        offset = 0;
    }
    emu_insn *in = emu_emit(d, handler, EMU_NOREF, base, EMU_NOREF, EMU_NOREF);
    in->imm = offset;
    in->extra = mem;
    return in;
}

/* ---- parameters in frames ---- */

static void place_of_var(emu_decode *d, const ir_var *var, emu_place *place)
{
    uint64_t size = ir_var_size(var);
    if (var->space == IR_SPACE_REG) {
        unsigned bits = register_bits_of(var->type);
        *place = (emu_place){
            .ref = new_slot(d, bits), .bytes = bits / 8, .stride = bits / 8, .pred = bits == 1};
        return;
    }
    if (size > (1u << 20)) {
        emu_unsupported(d, "parameter %s is too large", var->name);
        return;
    }
    bool scalar = size == 2 || size == 4 || size == 8 || size == 16;
    uint32_t stride = scalar ? (uint32_t)size : (uint32_t)((size + 15) & ~UINT64_C(15));
    uint32_t bytes = (stride * EMU_LANES + 63) & ~63u, at = emu_frame_take(d, bytes);
    *place = (emu_place){.ref = EMU_REF(EMU_FRAME, at), .bytes = (uint32_t)size, .stride = stride};
    if (!emu_zero_at_start(d, at, bytes))
        emu_decode_nomem(d);
}

emu_place *emu_param_place(emu_decode *d, const ir_var *var)
{
    for (size_t k = 0; k < d->places.count; k++)
        if (d->places.data[k].var == var)
            return &d->places.data[k].place;
    if (d->func->entry && var->func == d->func)
        for (uint32_t n = 0; n < d->func->nparams; n++)
            if (d->func->params[n] == var)
                return NULL;
    emu_place_of place = {.var = var};
    place_of_var(d, var, &place.place);
    if (!wl_push(&d->places, place)) {
        emu_decode_nomem(d);
        return NULL;
    }
    return &d->places.data[d->places.count - 1].place;
}

/* ---- emitting ---- */

emu_insn *emu_emit(emu_decode *d, emu_h handler, emu_ref dst, emu_ref a, emu_ref b, emu_ref c)
{
    emu_insn in = {
        .fn = {d->handlers[handler].part, d->handlers[handler].all},
        .dst = dst,
        .src = {a, b, c, EMU_NOREF},
        .pc = d->pc,
    };
    static emu_insn dummy;
    if (d->status != WL_OK)
        return &dummy;
    if (!wl_push(&d->code, in)) {
        emu_decode_nomem(d);
        return &dummy;
    }
    return &d->code.data[d->code.count - 1];
}

emu_insn *emu_emit_fn(emu_decode *d, emu_fn fn)
{
    emu_insn *in = emu_emit(d, EMU_H_nothing, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
    in->fn[0] = in->fn[1] = fn;
    return in;
}

/* Moves the instructions from `first` on into the arena and puts one that runs them in their place.
 */
static emu_insn *wrap(emu_decode *d, size_t first, emu_h handler)
{
    static emu_insn dummy;
    size_t count = d->code.count - first;
    emu_guarded *inner = wl_new(d->arena, emu_guarded);
    emu_insn *list = inner ? wl_arena_copy(d->arena, d->code.data + first, count * sizeof *list)
                           : NULL;
    if (!list) {
        emu_decode_nomem(d);
        return &dummy;
    }
    *inner = (emu_guarded){list, (uint32_t)count};
    d->code.count = first;
    emu_insn *in = emu_emit(d, handler, EMU_NOREF, EMU_NOREF, EMU_NOREF, EMU_NOREF);
    in->extra = inner;
    return in;
}

void emu_emit_rounded(emu_decode *d, uint32_t mode)
{
    if (mode == EMU_ROUND_RN || d->status != WL_OK)
        return;
    wrap(d, d->code.count - 1, EMU_H_rounded)->imm = mode;
}

static void decode_all(emu_decode *d, const ir_insn *i)
{
    bool first_mad = i->op == IR_mad && i->types[0] == IR_T_f32; /* without rounding, for sm_1x */
    if (!ir_insn_form(i) && !first_mad)
        emu_unsupported(d, "this form of the instruction is not known");
    else
        decoders[i->op](d, i);
}

/* An access that is only looked at may be one that the emulator lacks: it is left out then. */
static void decode_look(emu_decode *d, const ir_insn *i)
{
    size_t first = d->code.count;
    decode_all(d, i);
    if (d->status == WL_OK && d->code.count > first)
        emu_make_look(d, i);
    if (d->status == WL_UNSUPPORTED)
        d->status = WL_OK;
    if (!d->kernel->shows[d->pc] && d->code.count > first)
        d->code.count = first;
}

static void decode_insn(emu_decode *d, const ir_insn *i)
{
    d->insn = i;
    d->pc = d->first_pc + i->pc;
    memset(d->temps_used, 0, sizeof d->temps_used);
    size_t first = d->code.count;
    switch (emu_kept(d, d->pc)) {
    case EMU_KEEP_ALL: decode_all(d, i); break;
    case EMU_KEEP_LOOK: decode_look(d, i); break;
    case EMU_KEEP_REJOIN: emu_decode_rejoin(d); return;
    default: return;
    }
    bool whole = ir_ends_block(i) || ir_wait_of(i) != IR_WAIT_NONE;
    if (i->guard == IR_NONE || d->status != WL_OK || i->op == IR_bra)
        return;
    if (whole) {
        d->bb->guard = reg_slot(d, i->guard, 0);
        d->bb->guard_neg = i->guard_neg;
    } else if (d->code.count > first) {
        emu_insn *in = wrap(d, first, EMU_H_guarded);
        in->src[0] = reg_slot(d, i->guard, 0);
        in->imm = i->guard_neg;
    }
}

/* ---- functions ---- */

static void count_defs(emu_decode *d, const ir_operand *o)
{
    if (o->kind == IR_OPD_REG && d->defs[o->reg] < 2)
        d->defs[o->reg]++;
    for (uint32_t k = 0; k < o->count; k++)
        count_defs(d, &o->items[k]);
}

static bool begin_function(emu_decode *d, uint32_t index)
{
    d->func = d->kernel->code.funcs[index];
    d->function = &d->kernel->functions[index];
    d->first_pc = d->kernel->code.first_pc[index];
    d->frame_top = 64; /* offset 0 is where failed lookups point */
    d->pred_at = 0;
    d->places.count = d->locals.count = 0;
    for (int k = 0; k < EMU_TEMP_WIDTHS; k++)
        d->temps[k].count = 0;
    free(d->regs);
    free(d->defs);
    free(d->named);
    d->regs = malloc((d->func->nregs + 1) * sizeof *d->regs);
    d->defs = calloc(d->func->nregs + 1, 1);
    d->named = calloc(d->func->nregs + 1, 1);
    if (!d->regs || !d->defs || !d->named)
        return false;
    for (uint32_t r = 0; r < d->func->nregs; r++)
        d->regs[r] = EMU_NOREF;
    for (uint32_t n = 0; n < d->func->ninsns; n++) {
        const ir_insn *i = &d->func->insns[n];
        uint32_t written = emu_written(i);
        for (uint32_t k = 0; k < i->noperands && k < 32; k++)
            if (written >> k & 1)
                count_defs(d, &i->operands[k]);
    }
    uint32_t nbbs = 0;
    while (d->function->entry + nbbs < d->kernel->nbbs &&
           d->kernel->bbs[d->function->entry + nbbs].function == index)
        nbbs++;
    return emu_place_registers(d, nbbs);
}

static void formal_places(emu_decode *d, ir_var **vars, uint32_t count, emu_place **out,
                          uint32_t *nout)
{
    *out = wl_new_array(d->arena, emu_place, count + 1);
    *nout = count;
    if (!*out) {
        emu_decode_nomem(d);
        return;
    }
    for (uint32_t k = 0; k < count && d->status == WL_OK; k++) {
        emu_place *place = emu_param_place(d, vars[k]);
        if (place)
            (*out)[k] = *place;
    }
}

static void decode_function(emu_decode *d, uint32_t index)
{
    if (!begin_function(d, index)) {
        emu_decode_nomem(d);
        return;
    }
    if (!d->func->entry) {
        formal_places(d, d->func->params, d->func->nparams, &d->function->params,
                      &d->function->nparams);
        formal_places(d, d->func->rets, d->func->nrets, &d->function->rets, &d->function->nrets);
    }
    emu_bb *bbs = d->kernel->bbs;
    for (uint32_t b = d->function->entry; b < d->kernel->nbbs; b++) {
        d->bb = &bbs[b];
        if (d->bb->first_pc < d->first_pc || d->bb->first_pc > d->first_pc + d->func->ninsns ||
            (b > d->function->entry && bbs[b].function != index))
            break;
        size_t first = d->code.count;
        for (uint32_t n = 0; n < d->bb->ninsns && d->status == WL_OK; n++) {
            decode_insn(d, &d->func->insns[d->bb->first_pc - d->first_pc + n]);
            if (n == 0 && d->code.count > first)
                d->bb->sync_at = (uint32_t)(d->code.count - 1 - first);
        }
        d->bb->entry = d->bb->ninsns
                           ? (uint8_t)emu_kept_wait(d,
                                                    &d->func->insns[d->bb->first_pc - d->first_pc],
                                                    d->bb->first_pc)
                           : 0;
        d->bb->start = (uint32_t)first;
        d->bb->count = (uint32_t)(d->code.count - first);
    }
    d->function->frame_bytes = (d->frame_top + 63) & ~63u;
}

static bool keep_lists(emu_decode *d)
{
    for (; d->nkept < d->kernel->nfunctions; d->nkept++) {
        emu_function *f = &d->kernel->functions[d->nkept];
        void *locals = f->nlocals
                           ? wl_arena_copy(d->arena, f->locals, f->nlocals * sizeof *f->locals)
                           : NULL;
        void *zero = f->nzero ? wl_arena_copy(d->arena, f->zero, f->nzero * sizeof *f->zero) : NULL;
        if ((f->nlocals && !locals) || (f->nzero && !zero))
            return false;
        free(f->locals);
        free(f->zero);
        f->locals = locals;
        f->zero = zero;
    }
    return true;
}

static void finish_decoded_kernel(emu_decode *d)
{
    emu_kernel *k = d->kernel;
    if (!wl_reserve(&d->code, 1) || !wl_reserve(&d->pool, 1)) { /* an empty kernel has neither */
        emu_decode_nomem(d);
        return;
    }
    k->insns = wl_arena_copy(d->arena, d->code.data, (d->code.count + 1) * sizeof *k->insns);
    k->pool = wl_arena_copy(d->arena, d->pool.data, (d->pool.count + 1) * sizeof *k->pool);
    if (!k->insns || !k->pool) {
        emu_decode_nomem(d);
        return;
    }
    k->npool = (uint32_t)d->pool.count;
    k->pool_bytes = d->pool_top;
    for (uint32_t b = 0; b < k->nbbs; b++)
        k->bbs[b].first = k->insns + k->bbs[b].start;
    emu_choose_shown_blocks(k);
    if (!keep_lists(d))
        emu_decode_nomem(d);
}

static void decode_free(emu_decode *d)
{
    free_pool_index(d);
    free(d->regs);
    free(d->defs);
    free(d->named);
    wl_vec_free(&d->code);
    wl_vec_free(&d->pool);
    wl_vec_free(&d->places);
    wl_vec_free(&d->locals);
    wl_vec_free(&d->shared);
    for (int k = 0; k < EMU_TEMP_WIDTHS; k++)
        wl_vec_free(&d->temps[k]);
}

wl_status emu_decode_kernel(emu_module *module, const ir_func *func, const flow_proof *proof,
                            emu_kernel **out, wl_error *err)
{
    wl_arena *arena = wl_arena_new();
    emu_kernel *kernel = arena ? wl_new(arena, emu_kernel) : NULL;
    if (!kernel) {
        wl_arena_free(arena);
        return wl_fail(err, WL_NOMEM, "out of memory while decoding a kernel");
    }
    kernel->module = module;
    kernel->arena = arena;
    kernel->func = func;
    kernel->proof = proof;
    emu_decode d = {.module = module,
                    .kernel = kernel,
                    .arena = arena,
                    .err = err,
                    .handlers = emu_handlers(),
                    .func = func};
    d.insn = func->insns;
    if (ir_kernel_of(module->ptx, func, arena, &kernel->code) != WL_OK)
        emu_decode_nomem(&d);
    if (d.status == WL_OK && proof && emu_prepare_slice(&d) != WL_OK)
        emu_decode_nomem(&d);
    if (d.status == WL_OK)
        emu_lay_out_kernel(&d);
    if (d.status == WL_OK && emu_form_blocks(&d) != WL_OK)
        emu_decode_nomem(&d);
    emu_const(&d, 32, 0);
    for (uint32_t k = 0; k < kernel->nfunctions && d.status == WL_OK; k++)
        decode_function(&d, k);
    if (d.status == WL_OK)
        finish_decoded_kernel(&d);
    if (d.status == WL_OK)
        emu_finish_info(&d);
    for (uint32_t k = d.nkept; k < kernel->nfunctions; k++) {
        free(kernel->functions[k].locals);
        free(kernel->functions[k].zero);
    }
    decode_free(&d);
    if (d.status != WL_OK) {
        wl_arena_free(arena);
        return d.status;
    }
    *out = kernel;
    return WL_OK;
}
