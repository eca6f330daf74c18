/* What ops.def says about each instruction's operands. */
#include "flow/operands.h"

#include "ir/forms.h"

#include <string.h>

typedef flow_list(flow_raw) raw_list;
typedef flow_list(flow_address) address_list;

typedef struct reader {
    flow_kernel *k;
    flow_function *f;
    const ir_insn *insn;
    ir_effect effect;
    unsigned naddresses; /* of this instruction so far */
    raw_list raws;
    address_list addresses;
} reader;

ir_space flow_nth_space(const ir_insn *insn, unsigned n)
{
    for (unsigned i = 0; i < insn->nsuffixes; i++) {
        if (ir_suffix_class_of(insn->suffixes[i]) != IR_SC_SPACE || n-- > 0)
            continue;
        switch (insn->suffixes[i]) {
        case IR_S_global: return IR_SPACE_GLOBAL;
        case IR_S_shared:
        case IR_S_shared__cta: return IR_SPACE_SHARED;
        case IR_S_shared__cluster: return IR_SPACE_SHARED_CLUSTER;
        case IR_S_local: return IR_SPACE_LOCAL;
        case IR_S_const: return IR_SPACE_CONST;
        default: return IR_SPACE_PARAM;
        }
    }
    return IR_SPACE_GENERIC;
}

/* ---- registers ---- */

static void use(reader *r, uint32_t reg, flow_role role)
{
    if (reg != IR_NONE)
        flow_push(&r->k->mem, &r->raws, (flow_raw){.reg = reg, .role = role});
}

static void def(reader *r, uint32_t reg, bool partial)
{
    flow_push(&r->k->mem, &r->raws, (flow_raw){.reg = reg, .def = true, .partial = partial});
}

static void use_all(reader *r, const ir_operand *o, flow_role role)
{
    if (o->kind == IR_OPD_REG || o->kind == IR_OPD_ADDR)
        use(r, o->reg, role);
    for (uint32_t i = 0; i < o->count; i++)
        use_all(r, &o->items[i], role);
}

static void def_all(reader *r, const ir_operand *o, bool partial)
{
    if (o->kind == IR_OPD_REG)
        def(r, o->reg, partial || o->component || o->selector);
    for (uint32_t i = 0; i < o->count; i++)
        def_all(r, &o->items[i], partial);
}

/* ---- addresses ---- */

/* What the n-th address of an instruction is for. */
static uint8_t touch_of(const ir_insn *insn, ir_effect effect, unsigned n, bool tex)
{
    switch (effect) {
    case IR_EFFECT_LOAD: return n == 0 ? FLOW_READ : 0;
    case IR_EFFECT_STORE: return n == 0 ? FLOW_WRITE : 0; /* a second one is a barrier */
    case IR_EFFECT_ATOMIC: return n == 0 ? FLOW_READ | FLOW_WRITE : 0;
    case IR_EFFECT_TEXTURE: return tex ? FLOW_READ : 0;
    case IR_EFFECT_SURFACE:
        return !tex                  ? 0
               : insn->op == IR_suld ? FLOW_READ
               : insn->op == IR_sust ? FLOW_WRITE
                                     : FLOW_READ | FLOW_WRITE;
    case IR_EFFECT_COPY: return n == 0 ? FLOW_WRITE : n == 1 ? FLOW_READ : 0;
    case IR_EFFECT_BARRIER: return n == 0 ? FLOW_READ | FLOW_WRITE : 0;
    default: return 0;
    }
}

static ir_space space_of_effect(const ir_insn *insn, ir_effect effect, unsigned n, bool tex)
{
    if (effect == IR_EFFECT_TEXTURE || effect == IR_EFFECT_SURFACE)
        return IR_SPACE_TEX;
    if (effect == IR_EFFECT_BARRIER) /* objects of synchronisation lie in shared memory */
        return flow_nth_space(insn, 0) == IR_SPACE_GENERIC ? IR_SPACE_SHARED : insn->space;
    if (effect != IR_EFFECT_COPY)
        return insn->space;
    if (tex)
        return IR_SPACE_GLOBAL;
    if (insn->op == IR_clusterlaunchcontrol)
        return IR_SPACE_SHARED;
    return flow_nth_space(insn, n);
}

static uint32_t accessed_bytes(const ir_insn *insn, ir_effect effect)
{
    if (insn->op == IR_cp && ir_has(insn, IR_S_async) && !ir_has(insn, IR_S_bulk) &&
        insn->noperands > 2 && insn->operands[2].kind == IR_OPD_INT)
        return (uint32_t)insn->operands[2].imm;
    if (effect == IR_EFFECT_BARRIER)
        return 8;
    if (insn->op != IR_ld && insn->op != IR_ldu && insn->op != IR_st && insn->op != IR_atom &&
        insn->op != IR_red)
        return 0;
    return ir_type_get(insn->types[0])->bytes * (insn->vector ? insn->vector : 1u);
}

static void add_address(reader *r, const ir_operand *o)
{
    bool tex = o->kind == IR_OPD_TEX;
    unsigned n = r->naddresses++;
    flow_address address = {
        .insn = r->insn->pc,
        .operand = o,
        .space = space_of_effect(r->insn, r->effect, n, tex),
        .touch = touch_of(r->insn, r->effect, n, tex),
        .bytes = accessed_bytes(r->insn, r->effect),
        .value = o->kind == IR_OPD_ADDR ? o->reg : IR_NONE,
    };
    flow_push(&r->k->mem, &r->addresses, address);
    use_all(r, o, FLOW_USE_ADDRESS);
}

/* ---- roles ---- */

/* Of an operand that is neither address nor destination. */
static flow_role role_of(const ir_insn *insn, ir_effect effect, char letter)
{
    bool store = effect == IR_EFFECT_STORE || effect == IR_EFFECT_ATOMIC ||
                 effect == IR_EFFECT_SURFACE;
    if (insn->op == IR_wmma && letter == 's' && (effect == IR_EFFECT_LOAD || store))
        return FLOW_USE_ADDRESS; /* the stride */
    if (effect == IR_EFFECT_COPY)
        return FLOW_USE_ADDRESS;
    if (insn->op == IR_st && ir_has(insn, IR_S_bulk))
        return FLOW_USE_ADDRESS; /* the size */
    if (effect == IR_EFFECT_TEXTURE)
        return FLOW_USE_ADDRESS; /* level of detail, gradients, offsets */
    return store ? FLOW_USE_STORED : FLOW_USE_DATA;
}

static void read_operand(reader *r, char letter, const ir_operand *o)
{
    if (o->kind == IR_OPD_PAIR) {
        def_all(r, o, false);
        return;
    }
    switch (letter) {
    case 'd':
    case 'o':
    case 'q': def_all(r, o, false); break;
    case 'w': def_all(r, o, r->insn->op == IR_wgmma); break;
    case 'a':
    case 't': add_address(r, o); break;
    default: use_all(r, o, role_of(r->insn, r->effect, letter));
    }
}

static bool takes(const ir_role *role, const ir_operand *o)
{
    if (o->kind == IR_OPD_PAIR)
        return role->pair;
    switch (role->letter) {
    case 'a': return o->kind == IR_OPD_ADDR;
    case 't': return o->kind == IR_OPD_TEX;
    case 'i': return o->kind == IR_OPD_INT;
    case 'x': return true;
    case 's':
    case 'm':
    case 'v': return o->kind != IR_OPD_ADDR && o->kind != IR_OPD_TEX;
    default:
        return o->kind == IR_OPD_REG || o->kind == IR_OPD_VEC || o->kind == IR_OPD_SINK ||
               o->kind == IR_OPD_INT || o->kind == IR_OPD_LABEL;
    }
}

/* Gives each operand a role; optional roles are skipped where that is needed. */
static bool assign_letters(const ir_role *roles, unsigned nroles, const ir_operand *o,
                           unsigned count, char *letters)
{
    if (count == 0) {
        for (unsigned i = 0; i < nroles; i++)
            if (!roles[i].optional)
                return false;
        return true;
    }
    if (nroles == 0)
        return false;
    *letters = roles->letter;
    if (takes(roles, o) && assign_letters(roles + 1, nroles - 1, o + 1, count - 1, letters + 1))
        return true;
    return roles->optional && assign_letters(roles + 1, nroles - 1, o, count, letters);
}

/* ---- instructions ---- */

/* Everything may be read and written. */
static void read_unknown(reader *r)
{
    r->f->unknown[r->insn->pc] = true;
    for (uint32_t i = 0; i < r->insn->noperands; i++) {
        if (r->insn->operands[i].kind == IR_OPD_ADDR || r->insn->operands[i].kind == IR_OPD_TEX) {
            add_address(r, &r->insn->operands[i]);
            r->addresses.data[r->addresses.count - 1].touch = FLOW_READ | FLOW_WRITE;
            r->addresses.data[r->addresses.count - 1].bytes = 0;
            continue;
        }
        use_all(r, &r->insn->operands[i], FLOW_USE_ADDRESS);
        def_all(r, &r->insn->operands[i], true);
    }
}

static void read_call(reader *r)
{
    flow_call call = flow_call_of(r->f->func, r->insn);
    if (call.args)
        use_all(r, call.args, FLOW_USE_DATA);
    if (call.target)
        use_all(r, call.target, FLOW_USE_DATA);
    if (call.rets)
        def_all(r, call.rets, false);
}

/* .reg results of a function are read by `ret`. */
static void read_ret(reader *r)
{
    const ir_func *func = r->f->func;
    for (uint32_t i = 0; i < func->nrets; i++)
        for (uint32_t reg = 0; func->rets[i]->space == IR_SPACE_REG && reg < func->nregs; reg++)
            if (strcmp(func->regs[reg].name, func->rets[i]->name) == 0)
                use(r, reg, FLOW_USE_DATA);
}

static void read_operands(reader *r)
{
    const ir_insn *insn = r->insn;
    const ir_form_info *closest;
    unsigned bad;
    int missing;
    const ir_form_info *form = ir_match_form(insn, &closest, &bad, &missing);
    char letters[IR_MAX_ROLES + 1];
    r->effect = form ? form->form.effect : ir_op_get(insn->op)->effect;
    r->f->effects[insn->pc] = r->effect;
    if (insn->op == IR_tcgen05 || !form || insn->noperands > IR_MAX_ROLES ||
        !assign_letters(ir_roles_of(form), form->nroles, insn->operands, insn->noperands,
                        letters)) {
        read_unknown(r);
        return;
    }
    for (uint32_t i = 0; i < insn->noperands; i++)
        read_operand(r, letters[i], &insn->operands[i]);
}

static void read_insn(reader *r)
{
    const ir_insn *insn = r->insn;
    r->naddresses = 0;
    use(r, insn->guard, FLOW_USE_GUARD);
    if (insn->op == IR_call)
        read_call(r);
    else if (insn->op == IR_ret)
        read_ret(r);
    else
        read_operands(r);
    if (insn->op == IR_addc || insn->op == IR_subc || insn->op == IR_madc)
        use(r, r->f->func->nregs, FLOW_USE_DATA);
    if (ir_has(insn, IR_S_cc))
        def(r, r->f->func->nregs, false);
}

void flow_read_operands(flow_kernel *k, flow_function *f, flow_raws *out)
{
    reader r = {.k = k, .f = f};
    uint32_t n = f->func->ninsns;
    out->first = flow_new(&k->mem, uint32_t, (size_t)n + 1);
    f->address_first = flow_new(&k->mem, uint32_t, (size_t)n + 1);
    f->effects = flow_new(&k->mem, ir_effect, n);
    f->unknown = flow_new(&k->mem, bool, n);
    for (uint32_t i = 0; i < n; i++) {
        r.insn = &f->func->insns[i];
        read_insn(&r);
        out->first[i + 1] = r.raws.count;
        f->address_first[i + 1] = r.addresses.count;
    }
    out->item = r.raws.data;
    f->addresses = r.addresses.data;
}
