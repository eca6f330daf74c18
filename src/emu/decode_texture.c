/* tex, tld4, txq, suld, sust, sured, suq: of objects that registers name. */
#include "emu/atomic.h"
#include "emu/decode.h"
#include "emu/texture.h"

typedef struct shape { /* of an instruction's coordinates */
    uint32_t dims;
    bool layered, cube;
} shape;

static bool geometry_of(emu_decode *d, const ir_insn *i, shape *s)
{
    switch (ir_first_of(i, IR_SC_GEOM)) {
    case IR_S_1d: *s = (shape){1, false, false}; return true;
    case IR_S_2d: *s = (shape){2, false, false}; return true;
    case IR_S_3d: *s = (shape){3, false, false}; return true;
    case IR_S_a1d: *s = (shape){1, true, false}; return true;
    case IR_S_a2d: *s = (shape){2, true, false}; return true;
    case IR_S_cube: *s = (shape){3, false, true}; return true;
    case IR_S_acube: *s = (shape){3, true, true}; return true;
    default: emu_unsupported(d, "textures of several samples are not emulated"); return false;
    }
}

static emu_tex *new_tex(emu_decode *d, const ir_insn *i, acc_op op)
{
    emu_tex *x = wl_new(d->arena, emu_tex);
    if (!x) {
        emu_decode_nomem(d);
        return NULL;
    }
    x->mem = *emu_mem_new(d, i, IR_SPACE_GLOBAL, op);
    x->mem.flags = ACC_TEXTURE | (i->op == IR_tex || i->op == IR_tld4 ? ACC_READONLY : 0);
    x->mem.spin = false;
    x->layer = x->level = x->resident = EMU_NOREF;
    for (uint32_t k = 0; k < 3; k++)
        x->at[k] = x->dx[k] = x->dy[k] = EMU_NOREF;
    return x;
}

static const ir_operand *elements(const ir_operand *o, uint32_t *count)
{
    *count = o->kind == IR_OPD_VEC ? o->count : 1;
    return o->kind == IR_OPD_VEC ? o->items : o;
}

/* An object that the module declares would be bound by cudaBindTexture or cuTexRefSet*. */
static void set_handle(emu_decode *d, const ir_operand *o, emu_tex *x)
{
    if (o->has_sym || o->kind == IR_OPD_SYM)
        emu_unsupported(d, "texture and surface references are not emulated, objects are");
    else if (o->kind == IR_OPD_ADDR && o->reg != IR_NONE) {
        ir_operand reg = {.kind = IR_OPD_REG, .reg = o->reg, .component = o->component};
        x->handle = emu_src(d, &reg, 64);
    } else {
        x->handle = emu_src(d, o, 64);
    }
}

static void set_coordinates(emu_decode *d, const ir_operand *o, const shape *s, bool integer,
                            emu_tex *x)
{
    uint32_t count, n = 0;
    if (o->kind != IR_OPD_TEX || o->count != 2) {
        emu_unsupported(d, "texture, sampler and coordinates in three operands are not emulated");
        return;
    }
    const ir_operand *c = elements(&o->items[1], &count);
    set_handle(d, &o->items[0], x);
    if (count < s->dims + s->layered) {
        emu_unsupported(d, "there are too few coordinates");
        return;
    }
    if (s->layered)
        x->layer = emu_src(d, &c[n++], 32);
    for (uint32_t k = 0; k < s->dims; k++)
        x->at[k] = emu_src_typed(d, &c[n + k], integer ? IR_T_s32 : IR_T_f32);
}

static void set_vector(emu_decode *d, const ir_operand *o, const shape *s, emu_ref to[3])
{
    uint32_t count;
    const ir_operand *c = elements(o, &count);
    if (count < s->dims)
        emu_unsupported(d, "there are too few derivatives");
    for (uint32_t k = 0; k < s->dims && k < count; k++)
        to[k] = emu_src_typed(d, &c[k], IR_T_f32);
}

static void set_results(emu_decode *d, const ir_operand *o, uint32_t expected, emu_tex *x)
{
    uint32_t count;
    if (o->kind == IR_OPD_PAIR) {
        x->resident = o->items[1].kind == IR_OPD_SINK ? EMU_NOREF : emu_pred_dst(d, &o->items[1]);
        o = &o->items[0];
    }
    const ir_operand *to = elements(o, &count);
    if (count != expected)
        emu_unsupported(d, "the result has not %u elements", expected);
    x->mem.count = (uint8_t)expected;
    x->mem.size = x->mem.width = 4;
    for (uint32_t k = 0; k < expected && d->status == WL_OK; k++)
        x->mem.data[k] = to[k].kind == IR_OPD_SINK ? EMU_NOREF : emu_dst(d, &to[k], 32);
}

static bool allow(emu_decode *d, const ir_insn *i)
{
    for (uint32_t s = 0; s < i->nsuffixes; s++) {
        ir_suffix suffix = (ir_suffix)i->suffixes[s];
        if (suffix == IR_S_p) {
            emu_unsupported(d, "formatted surface accesses (.p) are not emulated");
            return false;
        }
    }
    return d->status == WL_OK;
}

void emu_decode_tex(emu_decode *d, const ir_insn *i)
{
    shape s;
    emu_tex *x = allow(d, i) && geometry_of(d, i, &s) ? new_tex(d, i, ACC_LOAD) : NULL;
    if (!x)
        return;
    bool level = ir_has(i, IR_S_level), grad = ir_has(i, IR_S_grad);
    uint32_t next = 2 + (grad ? 2 : level);
    x->integer = i->types[1] == IR_T_s32;
    x->packed = i->types[0] == IR_T_f16x2;
    x->cube = s.cube;
    x->lod = grad ? EMU_LOD_GRADIENT : level ? EMU_LOD_LEVEL : EMU_LOD_BASE;
    if (i->noperands != next) {
        emu_unsupported(d, "offsets and depth comparison are not emulated");
        return;
    }
    set_coordinates(d, &i->operands[1], &s, x->integer, x);
    if (level)
        x->level = emu_src_typed(d, &i->operands[2], x->integer ? IR_T_s32 : IR_T_f32);
    if (grad) {
        set_vector(d, &i->operands[2], &s, x->dx);
        set_vector(d, &i->operands[3], &s, x->dy);
    }
    set_results(d, &i->operands[0], x->packed ? 2 : 4, x);
    emu_emit_fn(d, emu_run_tex)->extra = x;
}

void emu_decode_tld4(emu_decode *d, const ir_insn *i)
{
    shape s;
    emu_tex *x = geometry_of(d, i, &s) ? new_tex(d, i, ACC_LOAD) : NULL;
    if (!x)
        return;
    if (i->noperands != 2 || s.cube || s.dims != 2) {
        emu_unsupported(d, "gathering from cubes, with offsets or with comparison is not emulated");
        return;
    }
    x->channel = ir_has(i, IR_S_g) ? 1 : ir_has(i, IR_S_b) ? 2 : ir_has(i, IR_S_a) ? 3 : 0;
    set_coordinates(d, &i->operands[1], &s, false, x);
    set_results(d, &i->operands[0], 4, x);
    emu_emit_fn(d, emu_run_gather)->extra = x;
}

/* ---- queries ---- */

static bool query_of(const ir_insn *i, uint8_t *query)
{
    static const struct {
        ir_suffix suffix;
        emu_query query;
    } names[] = {{IR_S_width, EMU_QUERY_WIDTH},
                 {IR_S_height, EMU_QUERY_HEIGHT},
                 {IR_S_depth, EMU_QUERY_DEPTH},
                 {IR_S_array_size, EMU_QUERY_LAYERS},
                 {IR_S_num_mipmap_levels, EMU_QUERY_LEVELS},
                 {IR_S_normalized_coords, EMU_QUERY_NORMALIZED}};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix)) {
            *query = (uint8_t)names[k].query;
            return true;
        }
    return false;
}

static void query(emu_decode *d, const ir_insn *i, bool surface)
{
    emu_tex *x = new_tex(d, i, ACC_LOAD);
    if (!x)
        return;
    if (!query_of(i, &x->query)) {
        emu_unsupported(d, "this property cannot be asked for");
        return;
    }
    x->surface = surface;
    set_handle(d, &i->operands[1], x);
    if (i->noperands > 2)
        x->level = emu_src(d, &i->operands[2], 32);
    emu_ref dst = emu_dst(d, &i->operands[0], 32);
    emu_insn *in = emu_emit_fn(d, emu_run_texture_query);
    in->extra = x;
    in->dst = dst;
}

void emu_decode_txq(emu_decode *d, const ir_insn *i)
{
    query(d, i, false);
}

void emu_decode_suq(emu_decode *d, const ir_insn *i)
{
    query(d, i, true);
}

/* ---- surfaces ---- */

static emu_tex *new_surface(emu_decode *d, const ir_insn *i, acc_op op, const ir_operand *at)
{
    shape s;
    emu_tex *x = allow(d, i) && geometry_of(d, i, &s) ? new_tex(d, i, op) : NULL;
    if (!x)
        return NULL;
    if (s.cube) {
        emu_unsupported(d, "a surface has no directions");
        return NULL;
    }
    x->boundary = ir_has(i, IR_S_clamp) ? EMU_CLAMPED : ir_has(i, IR_S_zero) ? EMU_ZERO : EMU_TRAP;
    x->mem.size = (uint8_t)(emu_type(i, 0)->bits / 8);
    set_coordinates(d, at, &s, true, x);
    return x;
}

/* Registers may be wider than the elements. */
static void set_data(emu_decode *d, const ir_insn *i, const ir_operand *o, bool written, emu_tex *x)
{
    uint32_t count;
    const ir_operand *list = elements(o, &count);
    unsigned bits = x->mem.size < 2 ? 16 : 8u * x->mem.size;
    for (uint32_t k = 0; k < count; k++)
        if (emu_reg_bits(d, &list[k]))
            bits = emu_reg_bits(d, &list[k]);
    if (count != (i->vector ? i->vector : 1u) || count > 4 || bits < 8u * x->mem.size)
        emu_unsupported(d, "the vector does not fit the instruction");
    x->mem.count = (uint8_t)count;
    x->mem.width = (uint8_t)(bits / 8);
    for (uint32_t k = 0; k < count && d->status == WL_OK; k++)
        x->mem.data[k] = !written                      ? emu_src(d, &list[k], bits)
                         : list[k].kind == IR_OPD_SINK ? EMU_NOREF
                                                       : emu_dst(d, &list[k], bits);
}

void emu_decode_suld(emu_decode *d, const ir_insn *i)
{
    emu_tex *x = new_surface(d, i, ACC_LOAD, &i->operands[1]);
    if (!x)
        return;
    set_data(d, i, &i->operands[0], true, x);
    emu_emit_fn(d, emu_run_surface)->extra = x;
}

void emu_decode_sust(emu_decode *d, const ir_insn *i)
{
    emu_tex *x = new_surface(d, i, ACC_STORE, &i->operands[0]);
    if (!x)
        return;
    set_data(d, i, &i->operands[1], false, x);
    emu_emit_fn(d, emu_run_surface)->extra = x;
}

void emu_decode_sured(emu_decode *d, const ir_insn *i)
{
    static const struct {
        ir_suffix suffix;
        emu_atomic_op op;
    } names[] = {{IR_S_add, EMU_ATOMIC_ADD},
                 {IR_S_min, EMU_ATOMIC_MIN},
                 {IR_S_max, EMU_ATOMIC_MAX},
                 {IR_S_and, EMU_ATOMIC_AND},
                 {IR_S_or, EMU_ATOMIC_OR}};
    emu_tex *x = new_surface(d, i, ACC_REDUCTION, &i->operands[0]);
    if (!x)
        return;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (ir_has(i, names[k].suffix))
            x->combine = emu_combine_of(names[k].op, i->types[0]);
    if (!x->combine) {
        emu_unsupported(d, "this reduction is not supported");
        return;
    }
    set_data(d, i, &i->operands[1], false, x);
    emu_emit_fn(d, emu_run_surface)->extra = x;
}
