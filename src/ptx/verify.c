/* Instructions against ops.def: suffixes, number and kinds of operands, widths of registers. What
 * ptxas refuses is refused here too, as far as it can be said without the meaning of an opcode. */
#include "ir/forms.h"
#include "ptx/internal.h"

#include <stdarg.h>
#include <stdio.h>

typedef struct verifier {
    const ir_module *module;
    const char *name;
    wl_error *err;
    const ir_func *func;
    const ir_insn *insn;
    bool failed;
} verifier;

__attribute__((format(printf, 3, 4))) static bool complain(verifier *v, ir_pos pos,
                                                           const char *format, ...)
{
    char message[300], text[300];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    ptx_print_insn(v->module, v->func, v->insn, text, sizeof text);
    wl_fail(v->err, WL_PARSE, "%.200s:%u:%u: %s\n\t%s", v->name ? v->name : "ptx", pos.line,
            pos.column, message, text);
    v->failed = true;
    return false;
}

/* --- Suffixes --- */

static bool complain_suffixes(verifier *v, const ir_form_info *closest, unsigned bad, int missing)
{
    const char *op = ir_op_get(v->insn->op)->text;
    char slot[200];
    if (!closest || bad < v->insn->nsuffixes)
        return complain(v, v->insn->pos, "'.%s' does not fit here in an instruction '%s'",
                        ir_suffix_text(v->insn->suffixes[bad]), op);
    ir_slot_text(closest, missing, slot, sizeof slot);
    return complain(v, v->insn->pos, "'%s' lacks a suffix: one of %s", op, slot);
}

/* --- Types --- */

static unsigned type_bits(ir_type type)
{
    return type == IR_T_pred ? 1 : ir_type_get(type)->bytes * 8u;
}

static bool has_integer_kind(ir_type type)
{
    ir_kind kind = ir_type_get(type)->kind;
    return kind == IR_KIND_U || kind == IR_KIND_S;
}

static bool is_floating(ir_type type)
{
    return ir_type_get(type)->kind == IR_KIND_F;
}

/* Can a register of that type hold an operand of this one? Untyped bits go with everything. */
static bool kinds_agree(ir_type reg, ir_type type)
{
    if (has_integer_kind(reg))
        return !is_floating(type) && ir_type_get(type)->kind != IR_KIND_BF;
    if (is_floating(reg)) {
        const ir_type_info *r = ir_type_get(reg), *t = ir_type_get(type);
        return !has_integer_kind(type) && t->kind != IR_KIND_BF &&
               (t->kind != IR_KIND_F || t->lanes == r->lanes);
    }
    return true;
}

static bool reg_fits(ir_type reg, ir_type type, bool wider)
{
    if ((reg == IR_T_pred) != (type == IR_T_pred))
        return false;
    unsigned have = type_bits(reg), want = type_bits(type);
    if (have != want &&
        !(wider && have > want && (!is_floating(reg) || ir_type_get(type)->kind == IR_KIND_B)))
        return false;
    return kinds_agree(reg, type);
}

static bool imm_fits(const ir_operand *o, ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    if (o->kind == IR_OPD_INT)
        return t->kind != IR_KIND_F && t->kind != IR_KIND_BF;
    if (t->kind == IR_KIND_B)
        return t->bits == (o->kind == IR_OPD_F32 ? 32 : 64);
    return t->kind == IR_KIND_F && t->bits >= 32;
}

/* The type that a register of this role must have; IR_T_none where it is not checked. `bits` for
 * doubled widths. */
static ir_type role_type(const verifier *v, const ir_role *role)
{
    static const ir_type wide[][2] = {
        {IR_T_u16, IR_T_u32}, {IR_T_s16, IR_T_s32}, {IR_T_u32, IR_T_u64}, {IR_T_s32, IR_T_s64}};
    if (role->letter == 'x' || role->letter == 't')
        return IR_T_none;
    switch (role->by) {
    case IR_ROLE_NAMED: return role->type;
    case IR_ROLE_UNCHECKED: return IR_T_none;
    case IR_ROLE_WIDE:
        for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
            if (wide[i][0] == v->insn->types[0])
                return wide[i][1];
        return IR_T_none;
    default: return v->insn->types[role->index];
    }
}

/* --- Operands: kinds --- */

static bool is_value(const ir_operand *o)
{
    return o->kind == IR_OPD_REG || o->kind == IR_OPD_INT || o->kind == IR_OPD_F32 ||
           o->kind == IR_OPD_F64;
}

static bool is_written(const ir_operand *o)
{
    return o->kind == IR_OPD_REG || o->kind == IR_OPD_SINK || o->kind == IR_OPD_VEC;
}

/* Does an operand of that kind fit the letter of the role? */
static bool letter_takes(char letter, const ir_operand *o)
{
    switch (letter) {
    case 'd': return o->kind == IR_OPD_REG || o->kind == IR_OPD_VEC;
    case 'o':
    case 'w': return is_written(o);
    case 'q': return o->kind == IR_OPD_REG || o->kind == IR_OPD_SINK;
    case 's': return is_value(o);
    case 'v': return is_value(o) || o->kind == IR_OPD_VEC;
    case 'm':
        return is_value(o) || o->kind == IR_OPD_VEC || o->kind == IR_OPD_SREG ||
               o->kind == IR_OPD_SYM;
    case 'p': return o->kind == IR_OPD_REG || o->kind == IR_OPD_INT;
    case 'i': return o->kind == IR_OPD_INT;
    case 'a': return o->kind == IR_OPD_ADDR;
    case 't': return o->kind == IR_OPD_TEX;
    case 'l': return o->kind == IR_OPD_LABEL;
    case 'f': return o->kind == IR_OPD_REG || (o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_FUNC);
    case 'L': return o->kind == IR_OPD_LIST;
    default: return true;
    }
}

static bool role_takes(const ir_role *role, const ir_operand *o)
{
    if (o->kind == IR_OPD_PAIR)
        return role->pair && o->count == 2 && letter_takes(role->letter, &o->items[0]) &&
               letter_takes('q', &o->items[1]);
    return (!role->pair || role->pair_optional) && letter_takes(role->letter, o);
}

/* Gives each operand a role, skipping optional roles where that is needed. */
static bool assign_roles(const ir_role *roles, unsigned nroles, const ir_operand *operands,
                         unsigned noperands, const ir_role **out)
{
    if (noperands == 0) {
        for (unsigned i = 0; i < nroles; i++)
            if (!roles[i].optional)
                return false;
        return true;
    }
    if (nroles == 0)
        return false;
    if (role_takes(roles, operands)) {
        *out = roles;
        if (assign_roles(roles + 1, nroles - 1, operands + 1, noperands - 1, out + 1))
            return true;
    }
    return roles->optional && assign_roles(roles + 1, nroles - 1, operands, noperands, out);
}

static const char *letter_text(char letter)
{
    switch (letter) {
    case 'd': return "a register";
    case 'o': return "a register or '_'";
    case 'q':
    case 'p': return "a predicate";
    case 's': return "a register or a number";
    case 'm': return "a register, a number, a special register or a symbol";
    case 'i': return "a number";
    case 'a': return "an address in brackets";
    case 't': return "a handle and coordinates in brackets";
    case 'l': return "a label";
    case 'f': return "a function";
    case 'L': return "a list in parentheses";
    case 'v': return "a register, a number or a vector";
    case 'w': return "a register or a vector";
    default: return "something else";
    }
}

/* No assignment of roles fits: says what is wrong where that is plain. */
static bool complain_operands(verifier *v, const ir_form_info *form)
{
    const ir_role *roles = ir_roles_of(form);
    const char *op = ir_op_get(v->insn->op)->text;
    unsigned given = v->insn->noperands, least = 0, most = form->nroles;
    for (unsigned i = 0; i < most; i++)
        least += !roles[i].optional;
    if (given < least || given > most)
        return complain(v, v->insn->pos, "'%s' takes %s%u operands here, not %u", op,
                        least == most   ? ""
                        : given < least ? "at least "
                                        : "at most ",
                        given < least ? least : most, given);
    for (unsigned i = 0; i < given && !roles[i].optional; i++) {
        const ir_operand *o = &v->insn->operands[i];
        if (!role_takes(&roles[i], o))
            return complain(v, o->pos, "operand %u of '%s' must be %s%s", i + 1, op,
                            letter_text(roles[i].letter),
                            roles[i].pair && !roles[i].pair_optional ? " and a predicate after '|'"
                                                                     : "");
    }
    return complain(v, v->insn->pos, "the operands of '%s' do not fit together", op);
}

/* --- Operands: types --- */

/* A vector register without a component: packed by mov, or what an instruction .v2 .v4 takes. */
static bool check_whole_vector(verifier *v, const ir_role *role, const ir_operand *o, ir_type type)
{
    const ir_reg *reg = &v->func->regs[o->reg];
    bool packed = v->insn->op == IR_mov && v->insn->vector == 1;
    unsigned have = type_bits(reg->type) * (packed ? reg->vector : 1), want = type_bits(type);
    if (packed && (have != want || ir_type_get(type)->kind != IR_KIND_B))
        return complain(v, o->pos, "'%.60s' cannot be packed as .%s", reg->name,
                        ir_type_get(type)->text);
    if (!packed && (reg->vector != v->insn->vector || role->by != IR_ROLE_INDEX))
        return complain(v, o->pos, "'%.60s' is a vector of %u", reg->name, reg->vector);
    if (have != want && !(role->wider && have > want))
        return complain(v, o->pos, "'%.60s' is a vector .%s, this operand is .%s", reg->name,
                        ir_type_get(reg->type)->text, ir_type_get(type)->text);
    return true;
}

static bool check_reg(verifier *v, const ir_role *role, const ir_operand *o, ir_type type)
{
    const ir_reg *reg = &v->func->regs[o->reg];
    if (o->neg && reg->type != IR_T_pred && v->insn->op != IR_vmad)
        return complain(v, o->pos, "'%.60s' cannot be negated here", reg->name);
    if ((role->letter == 'q' || role->letter == 'p') && reg->type != IR_T_pred)
        return complain(v, o->pos, "'%.60s' is no predicate", reg->name);
    if (role->letter == 'q' || role->letter == 'p' || type == IR_T_none || o->component > 4 ||
        o->selector)
        return true;
    if (reg->vector > 1 && !o->component)
        return check_whole_vector(v, role, o, type);
    if (!reg_fits(reg->type, type, role->wider))
        return complain(v, o->pos, "'%.60s' is a register .%s, this operand is .%s", reg->name,
                        ir_type_get(reg->type)->text, ir_type_get(type)->text);
    return true;
}

static bool check_imm(verifier *v, const ir_operand *o, ir_type type)
{
    if (type == IR_T_none || type == IR_T_pred || imm_fits(o, type))
        return true;
    return complain(v, o->pos, "%s number does not fit an operand .%s",
                    o->kind == IR_OPD_INT ? "an integer" : "a floating-point",
                    ir_type_get(type)->text);
}

static bool check_sreg(verifier *v, const ir_operand *o, ir_type type)
{
    const ir_sreg_info *info = ir_sreg_get(o->sreg);
    if (info->vector && !o->component && v->insn->vector == 1)
        return complain(v, o->pos, "'%%%s' needs a component", info->text);
    if (is_floating(type))
        return complain(v, o->pos, "'%%%s' is no floating-point number", info->text);
    if (type != IR_T_none && v->insn->op == IR_mov && type_bits(type) > type_bits(info->type))
        return complain(v, o->pos, "'%%%s' has %u bits, this operand is .%s", info->text,
                        type_bits(info->type), ir_type_get(type)->text);
    return true;
}

static bool check_operand(verifier *v, const ir_role *role, const ir_operand *o, ir_type type);

/* {a, b} of a mov that packs or unpacks: together as wide as the type. */
static bool check_packed(verifier *v, const ir_operand *o, ir_type type)
{
    unsigned bits = type_bits(type);
    if (o->count == 0 || bits % o->count || ir_type_get(type)->kind != IR_KIND_B)
        return complain(v, o->pos, "a vector of %u cannot be packed as .%s", o->count,
                        ir_type_get(type)->text);
    for (uint32_t i = 0; i < o->count; i++) {
        const ir_operand *item = &o->items[i];
        if (item->kind == IR_OPD_REG && type_bits(v->func->regs[item->reg].type) != bits / o->count)
            return complain(v, item->pos, "an element of this vector has %u bits", bits / o->count);
    }
    return true;
}

static bool check_vector(verifier *v, const ir_role *role, const ir_operand *o, ir_type type)
{
    if (v->insn->op == IR_mov && v->insn->vector == 1)
        return check_packed(v, o, type);
    if (v->insn->vector > 1 && type != IR_T_none && role->by == IR_ROLE_INDEX &&
        o->count != v->insn->vector)
        return complain(v, o->pos, "a vector .v%u has %u elements, not %u", v->insn->vector,
                        v->insn->vector, o->count);
    for (uint32_t i = 0; i < o->count; i++) {
        if (o->items[i].kind == IR_OPD_SINK && (role->letter == 'v' || role->letter == 's'))
            return complain(v, o->items[i].pos, "'_' holds no value to be read");
        if (!check_operand(v, role, &o->items[i], type))
            return false;
    }
    return true;
}

static bool check_address(verifier *v, const ir_operand *o)
{
    if (o->reg == IR_NONE)
        return true;
    const ir_reg *reg = &v->func->regs[o->reg];
    unsigned bits = type_bits(reg->type);
    if ((bits == 32 || bits == 64) && !is_floating(reg->type) && reg->vector == 1)
        return true;
    return complain(v, o->pos, "'%.60s' cannot hold an address", reg->name);
}

static bool check_operand(verifier *v, const ir_role *role, const ir_operand *o, ir_type type)
{
    switch (o->kind) {
    case IR_OPD_REG: return check_reg(v, role, o, type);
    case IR_OPD_INT:
    case IR_OPD_F32:
    case IR_OPD_F64: return role->letter == 'p' || check_imm(v, o, type);
    case IR_OPD_SREG: return check_sreg(v, o, type);
    case IR_OPD_VEC: return check_vector(v, role, o, type);
    case IR_OPD_ADDR: return check_address(v, o);
    case IR_OPD_PAIR: {
        static const ir_role second = {.letter = 'q'};
        return check_operand(v, role, &o->items[0], type) &&
               check_operand(v, &second, &o->items[1], IR_T_pred);
    }
    default: return true;
    }
}

/* --- Instructions --- */

/* Do the numbers of the operand stand for something? Passes build operands by hand. */
static bool check_indices(verifier *v, const ir_operand *o)
{
    bool uses_reg = o->kind == IR_OPD_REG || (o->kind == IR_OPD_ADDR && o->reg != IR_NONE);
    if (uses_reg && o->reg >= v->func->nregs)
        return wl_fail(v->err, WL_PARSE, "%.200s:%u:%u: an operand names register %u of %u",
                       v->name, o->pos.line, o->pos.column, o->reg, v->func->nregs) == WL_OK;
    if (o->kind == IR_OPD_LABEL && o->label >= v->func->nlabels)
        return wl_fail(v->err, WL_PARSE, "%.200s:%u:%u: an operand names label %u of %u", v->name,
                       o->pos.line, o->pos.column, o->label, v->func->nlabels) == WL_OK;
    for (uint32_t i = 0; i < o->count; i++)
        if (!check_indices(v, &o->items[i]))
            return false;
    return true;
}

static bool check_guard(verifier *v)
{
    uint32_t guard = v->insn->guard;
    if (guard == IR_NONE)
        return true;
    if (guard < v->func->nregs && v->func->regs[guard].type == IR_T_pred)
        return true;
    return wl_fail(v->err, WL_PARSE, "%.200s:%u:%u: the guard is no predicate register", v->name,
                   v->insn->pos.line, v->insn->pos.column) == WL_OK;
}

static bool check_insn(verifier *v)
{
    const ir_insn *insn = v->insn;
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (!check_indices(v, &insn->operands[i]))
            return false;
    if (!check_guard(v))
        return false;
    const ir_form_info *closest;
    unsigned bad = 0;
    int missing = -1;
    const ir_form_info *form = ir_match_form(insn, &closest, &bad, &missing);
    if (!form)
        return complain_suffixes(v, closest, bad, missing);
    const ir_role *given[IR_MAX_ROLES] = {0};
    if (insn->noperands > IR_MAX_ROLES ||
        !assign_roles(ir_roles_of(form), form->nroles, insn->operands, insn->noperands, given))
        return complain_operands(v, form);
    for (uint32_t i = 0; i < insn->noperands; i++)
        if (!check_operand(v, given[i], &insn->operands[i], role_type(v, given[i])))
            return false;
    return true;
}

wl_status ptx_verify(const ir_module *module, const char *name, wl_error *err)
{
    verifier v = {.module = module, .name = name ? name : "ptx", .err = err};
    for (uint32_t f = 0; f < module->nfuncs; f++) {
        v.func = module->funcs[f];
        for (uint32_t i = 0; i < v.func->ninsns; i++) {
            v.insn = &v.func->insns[i];
            if (!check_insn(&v))
                return WL_PARSE;
        }
    }
    return WL_OK;
}
