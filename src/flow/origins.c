/* What values may point to: a flow-sensitive analysis of registers, flow-insensitive of memory,
 * over all functions of the kernel at once. */
#include "flow/operands.h"

#include <string.h>

enum { UNKNOWN = 0, SHARED = 1, LOCAL = 2 }; /* the first elements, see objects.c */

#define OFFSET_UNSET INT64_MAX

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    uint64_t *scratch;
    bool changed;
} state;

/* ---- sets ---- */

static bool empty(const flow_kernel *k, const uint64_t *set)
{
    uint64_t any = 0;
    for (uint32_t w = 0; w < k->words; w++)
        any |= set[w];
    return !any;
}

static void merge_sets(state *s, uint64_t *into, const uint64_t *from)
{
    for (uint32_t w = 0; w < s->k->words; w++) {
        s->changed |= (from[w] & ~into[w]) != 0;
        into[w] |= from[w];
    }
}

static void merge_offset(state *s, flow_points *into, int64_t offset)
{
    if (offset == OFFSET_UNSET || into->offset == offset || into->offset == FLOW_OFFSET_UNKNOWN)
        return;
    into->offset = into->offset == OFFSET_UNSET ? offset : FLOW_OFFSET_UNKNOWN;
    s->changed = true;
}

static void merge_points(state *s, flow_points *into, const flow_points *from)
{
    merge_sets(s, into->set, from->set);
    merge_offset(s, into, from->offset);
}

static void add_element(state *s, flow_points *into, uint32_t element, int64_t offset)
{
    s->changed |= !flow_bit(into->set, element);
    flow_set(into->set, element);
    merge_offset(s, into, offset);
}

static flow_points *make_points(flow_kernel *k, uint32_t count)
{
    flow_points *points = flow_new(&k->mem, flow_points, count);
    uint64_t *sets = flow_new(&k->mem, uint64_t, (size_t)count * k->words);
    for (uint32_t i = 0; i < count; i++)
        points[i] = (flow_points){sets + (size_t)i * k->words, OFFSET_UNSET};
    return points;
}

/* ---- what an access reaches ---- */

static bool in_space(ir_space access, ir_space object)
{
    if (access == IR_SPACE_SHARED_CLUSTER)
        return object == IR_SPACE_SHARED;
    return access == IR_SPACE_GENERIC || access == object;
}

static uint32_t next_in_set(const flow_kernel *k, const flow_reach *r, uint32_t object)
{
    uint64_t variables = 0; /* most accesses go to global memory only */
    for (uint32_t w = 0; r->set && w < k->words; w++)
        variables |= r->set[w] & k->strong[w];
    if (!variables)
        return FLOW_NONE;
    for (; object < k->nobjects; object++) {
        uint32_t element = k->objects[object].element;
        if (element != FLOW_NONE && r->set && flow_bit(r->set, element) &&
            in_space(r->space, k->objects[object].space))
            return object;
    }
    return FLOW_NONE;
}

/* May it touch the object? True for all shared ones where `shared` is set, likewise for local. */
static bool reaches_object(const flow_kernel *k, const flow_reach *r, uint32_t object)
{
    const flow_object *o = &k->objects[object];
    if (r->object == object || (r->shared && o->space == IR_SPACE_SHARED) ||
        (r->local && o->space == IR_SPACE_LOCAL))
        return true;
    return r->object == FLOW_NONE && r->set && o->element != FLOW_NONE &&
           flow_bit(r->set, o->element) && in_space(r->space, o->space);
}

uint32_t flow_next_reached(const flow_kernel *k, const flow_reach *r, uint32_t object)
{
    if (!r->shared && !r->local) {
        if (r->object != FLOW_NONE)
            return object <= r->object ? r->object : FLOW_NONE;
        return next_in_set(k, r, object);
    }
    while (object < k->nobjects && !reaches_object(k, r, object))
        object++;
    return object < k->nobjects ? object : FLOW_NONE;
}

static void reach_space(const flow_kernel *k, flow_reach *r)
{
    uint32_t first = next_in_set(k, r, 0);
    bool single = first != FLOW_NONE && next_in_set(k, r, first + 1) == FLOW_NONE;
    switch (r->space) {
    case IR_SPACE_SHARED:
    case IR_SPACE_SHARED_CLUSTER: r->shared = first == FLOW_NONE || flow_bit(r->set, SHARED); break;
    case IR_SPACE_LOCAL: r->local = first == FLOW_NONE || flow_bit(r->set, LOCAL); break;
    case IR_SPACE_GENERIC:
        r->shared = r->set && flow_bit(r->set, SHARED);
        r->local = r->set && flow_bit(r->set, LOCAL);
        r->global = !r->set || empty(k, r->set);
        for (uint32_t e = 0; r->set && e < k->nelements; e++)
            r->global |= flow_bit(r->set, e) &&
                         (k->elements[e].kind == FLOW_TO_PARAM || e == UNKNOWN ||
                          (k->elements[e].kind == FLOW_TO_OBJECT &&
                           k->objects[k->elements[e].object].space == IR_SPACE_GLOBAL));
        break;
    default: break;
    }
    if (single && !r->shared && !r->local && !r->global)
        r->object = first;
    else
        r->offset = FLOW_OFFSET_UNKNOWN;
}

flow_reach flow_reach_of(const flow_kernel *k, const flow_function *f, const flow_address *a)
{
    flow_reach r = {.object = FLOW_NONE, .offset = FLOW_OFFSET_UNKNOWN, .space = a->space};
    const ir_operand *o = a->operand;
    if (a->space == IR_SPACE_GLOBAL || a->space == IR_SPACE_TEX) {
        r.global = true;
        return r;
    }
    if (o->kind == IR_OPD_ADDR && o->has_sym && o->sym.kind == IR_SYM_VAR) {
        r.object = flow_object_of(k, o->sym.var);
        r.offset = (int64_t)o->imm;
        r.global = k->objects[r.object].space == IR_SPACE_GLOBAL;
        return r;
    }
    if (a->value == FLOW_NONE) { /* a number */
        reach_space(k, &r);
        return r;
    }
    const flow_points *p = &f->points[a->value];
    r.set = p->set;
    if (p->offset != FLOW_OFFSET_UNKNOWN && p->offset != OFFSET_UNSET)
        r.offset = p->offset + (int64_t)o->imm;
    reach_space(k, &r);
    return r;
}

/* ---- arithmetic ---- */

/* Does a pointer come out of the instruction where one went in as operand n? Of variables that is
 * always assumed. */
static bool carries(const ir_insn *insn, uint32_t n)
{
    switch (insn->op) {
    case IR_mov:
    case IR_cvta:
    case IR_cvt:
    case IR_add:
    case IR_addc:
    case IR_and:
    case IR_or:
    case IR_selp:
    case IR_slct:
    case IR_shfl:
    case IR_min:
    case IR_max:
    case IR_bfi:
    case IR_prmt:
    case IR_mapa: return true;
    case IR_sub:
    case IR_subc: return n == 1;
    case IR_mad:
    case IR_madc: return n == 3;
    case IR_shl: return insn->operands[2].kind == IR_OPD_INT && insn->operands[2].imm >= 32;
    default: return false;
    }
}

/* The constant that is added to operand n, or unknown. */
static int64_t added_constant(const ir_insn *insn, uint32_t n)
{
    if (insn->op == IR_mov || insn->op == IR_cvta || insn->op == IR_cvt)
        return insn->operands[1].kind == IR_OPD_REG ? 0 : FLOW_OFFSET_UNKNOWN;
    if (insn->op != IR_add && insn->op != IR_sub)
        return FLOW_OFFSET_UNKNOWN;
    const ir_operand *other = &insn->operands[n == 1 ? 2 : 1];
    if (other->kind != IR_OPD_INT || (insn->op == IR_sub && n != 1))
        return FLOW_OFFSET_UNKNOWN;
    return insn->op == IR_add ? (int64_t)other->imm : -(int64_t)other->imm;
}

static void take_pointers(state *s, flow_points *to, const flow_points *from, bool carried,
                          int64_t plus)
{
    for (uint32_t w = 0; w < s->k->words; w++)
        s->scratch[w] = carried ? from->set[w] : from->set[w] & s->k->strong[w];
    if (empty(s->k, s->scratch))
        return;
    merge_sets(s, to->set, s->scratch);
    bool known = plus != FLOW_OFFSET_UNKNOWN && from->offset != FLOW_OFFSET_UNKNOWN &&
                 from->offset != OFFSET_UNSET;
    if (from->offset != OFFSET_UNSET)
        merge_offset(s, to, known ? from->offset + plus : FLOW_OFFSET_UNKNOWN);
}

/* The value that an instruction's operand reads, by the order of uses; NULL where it has no
 * register. */
static const flow_points *operand_points(const state *s, uint32_t *use, uint32_t end,
                                         const ir_operand *o)
{
    if (o->kind != IR_OPD_REG || *use >= end)
        return NULL;
    return &s->f->points[s->f->uses[(*use)++].value];
}

static void add_arithmetic_origins(state *s, const ir_insn *insn, flow_points *to)
{
    uint32_t use = s->f->use_first[insn->pc], end = s->f->use_first[insn->pc + 1];
    use += use < end && s->f->uses[use].role == FLOW_USE_GUARD;
    for (uint32_t n = 1; n < insn->noperands; n++) {
        const ir_operand *o = &insn->operands[n];
        if (o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_VAR) {
            uint32_t object = flow_object_of(s->k, o->sym.var);
            add_element(s, to, s->k->objects[object].element, (int64_t)o->imm);
            continue;
        }
        if (o->kind == IR_OPD_VEC) {
            for (uint32_t i = 0; i < o->count; i++) {
                const flow_points *from = operand_points(s, &use, end, &o->items[i]);
                if (from)
                    take_pointers(s, to, from, carries(insn, n), FLOW_OFFSET_UNKNOWN);
            }
            continue;
        }
        const flow_points *from = operand_points(s, &use, end, o);
        if (from)
            take_pointers(s, to, from, carries(insn, n), added_constant(insn, n));
    }
    /* An address that was made from a number. */
    bool local = flow_nth_space(insn, 0) == IR_SPACE_LOCAL,
         shared = flow_nth_space(insn, 0) == IR_SPACE_SHARED;
    if (insn->op == IR_cvta && (local || shared)) {
        bool named = false;
        for (uint32_t w = 0; w < s->k->words; w++)
            named |= (to->set[w] & s->k->strong[w]) != 0;
        if (!named)
            add_element(s, to, local ? LOCAL : SHARED, FLOW_OFFSET_UNKNOWN);
    }
    if (insn->op == IR_alloca)
        add_element(s, to, LOCAL, FLOW_OFFSET_UNKNOWN);
}

/* ---- memory ---- */

static void load_param_pointers(state *s, const flow_reach *r, const ir_insn *insn, uint32_t lane,
                                flow_points *to)
{
    const ir_func *kernel = s->k->code->funcs[0];
    uint32_t bytes = ir_type_get(insn->types[0])->bytes;
    for (uint32_t e = 0; e < s->k->nelements; e++) {
        const flow_element *element = &s->k->elements[e];
        if (element->kind != FLOW_TO_PARAM ||
            s->k->objects[r->object].var != kernel->params[element->param])
            continue;
        if (r->offset == FLOW_OFFSET_UNKNOWN ||
            r->offset + (int64_t)lane * bytes == element->offset)
            add_element(s, to, e, 0);
    }
}

static void load_pointers(state *s, const ir_insn *insn, uint32_t lane, flow_points *to)
{
    for (uint32_t a = s->f->address_first[insn->pc]; a < s->f->address_first[insn->pc + 1]; a++) {
        const flow_address *address = &s->f->addresses[a];
        if (!(address->touch & FLOW_READ) || address->space == IR_SPACE_CONST)
            continue;
        flow_reach r = flow_reach_of(s->k, s->f, address);
        if (r.object != FLOW_NONE && s->k->objects[r.object].space == IR_SPACE_PARAM &&
            s->k->objects[r.object].func == 0)
            load_param_pointers(s, &r, insn, lane, to);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1)) {
            merge_points(s, to, &s->k->contents[o]);
            if (s->k->objects[o].space != IR_SPACE_PARAM)
                merge_sets(s, to->set, s->k->wild);
        }
        if (r.global || r.shared || r.local) {
            merge_sets(s, to->set, s->k->escaped);
            add_element(s, to, UNKNOWN, FLOW_OFFSET_UNKNOWN);
        }
    }
}

/* Something that holds these pointers is written to what the address reaches. */
static void store_pointers(state *s, const flow_address *address, const flow_points *what)
{
    if (empty(s->k, what->set))
        return;
    flow_reach r = flow_reach_of(s->k, s->f, address);
    bool param = false;
    for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1)) {
        merge_points(s, &s->k->contents[o], what);
        param |= s->k->objects[o].space == IR_SPACE_PARAM;
    }
    if (!param || r.object == FLOW_NONE)
        merge_sets(s, s->k->escaped, what->set);
    if (r.shared || r.local)
        merge_sets(s, s->k->wild, what->set);
}

static void stores(state *s, const ir_insn *insn)
{
    flow_points any = {s->k->escaped, FLOW_OFFSET_UNKNOWN};
    for (uint32_t a = s->f->address_first[insn->pc]; a < s->f->address_first[insn->pc + 1]; a++) {
        if (!(s->f->addresses[a].touch & FLOW_WRITE))
            continue;
        for (uint32_t u = s->f->use_first[insn->pc]; u < s->f->use_first[insn->pc + 1]; u++)
            if (s->f->uses[u].role == FLOW_USE_STORED)
                store_pointers(s, &s->f->addresses[a], &s->f->points[s->f->uses[u].value]);
        if (s->f->effects[insn->pc] == IR_EFFECT_COPY)
            store_pointers(s, &s->f->addresses[a], &any);
    }
}

/* ---- calls ---- */

static flow_points *object_contents(state *s, const ir_operand *o)
{
    uint32_t object = o->kind == IR_OPD_SYM && o->sym.kind == IR_SYM_VAR
                          ? flow_object_of(s->k, o->sym.var)
                          : FLOW_NONE;
    return object == FLOW_NONE ? NULL : &s->k->contents[object];
}

static void pass_all(state *s, const ir_operand *list, ir_var **params, uint32_t nparams, bool back)
{
    for (uint32_t i = 0; list && i < list->count && i < nparams; i++) {
        flow_points *here = object_contents(s, &list->items[i]);
        flow_points *there = &s->k->contents[flow_object_of(s->k, params[i])];
        if (here)
            merge_points(s, back ? here : there, back ? there : here);
    }
}

/* A call whose code is not known: what it gets may go anywhere, what it returns may be anything. */
static void pass_pointers_to_unknown(state *s, const flow_call *call)
{
    for (uint32_t i = 0; call->args && i < call->args->count; i++) {
        flow_points *here = object_contents(s, &call->args->items[i]);
        if (here)
            merge_sets(s, s->k->escaped, here->set);
    }
    for (uint32_t i = 0; call->rets && i < call->rets->count; i++) {
        flow_points *here = object_contents(s, &call->rets->items[i]);
        if (here) {
            merge_sets(s, here->set, s->k->escaped);
            add_element(s, here, UNKNOWN, FLOW_OFFSET_UNKNOWN);
        }
    }
    for (uint32_t u = 0; u < s->k->code->count && call->target->kind == IR_OPD_REG; u++) {
        const ir_func *func = s->k->code->funcs[u];
        for (uint32_t p = 0; s->k->funcs[u].pointed && p < func->nparams; p++) {
            flow_points *param = &s->k->contents[flow_object_of(s->k, func->params[p])];
            merge_sets(s, param->set, s->k->escaped);
            add_element(s, param, UNKNOWN, FLOW_OFFSET_UNKNOWN);
        }
    }
}

static void pass_pointers_to_callee(state *s, const ir_insn *insn)
{
    flow_call call = flow_call_of(s->f->func, insn);
    uint32_t callee = flow_callee(s->k, insn);
    if (callee == FLOW_NONE) {
        if (call.target->kind == IR_OPD_REG ||
            flow_extern_of(call.target->sym.func) == FLOW_EXTERN_ANY ||
            flow_extern_of(call.target->sym.func) == FLOW_EXTERN_FRESH)
            pass_pointers_to_unknown(s, &call);
        return;
    }
    const ir_func *func = s->k->code->funcs[callee];
    pass_all(s, call.args, func->params, func->nparams, false);
    pass_all(s, call.rets, func->rets, func->nrets, true);
}

/* ---- values ---- */

static bool is_pred(const flow_function *f, uint32_t reg)
{
    return reg < f->func->nregs && f->func->regs[reg].type == IR_T_pred;
}

static void define_pointers(state *s, const ir_insn *insn, uint32_t lane)
{
    uint32_t v = s->f->defs[s->f->def_first[insn->pc] + lane];
    flow_points *to = &s->f->points[v];
    if (is_pred(s->f, s->f->values[v].reg))
        return;
    if (s->f->values[v].old != FLOW_NONE)
        merge_points(s, to, &s->f->points[s->f->values[v].old]);
    if (insn->op == IR_call) {
        merge_sets(s, to->set, s->k->escaped);
        add_element(s, to, UNKNOWN, FLOW_OFFSET_UNKNOWN);
    } else if (s->f->address_first[insn->pc] < s->f->address_first[insn->pc + 1])
        load_pointers(s, insn, lane, to);
    else
        add_arithmetic_origins(s, insn, to);
}

static void visit_block_origins(state *s, uint32_t block)
{
    const flow_function *f = s->f;
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++) {
        uint32_t phi = f->phis[i];
        uint32_t npreds = f->graph.pred_first[block + 1] - f->graph.pred_first[block];
        for (uint32_t a = 0; a < npreds; a++)
            merge_points(s, &f->points[phi], &f->points[f->args[f->values[phi].first_arg + a]]);
    }
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].first + f->blocks[block].count;
         i++) {
        const ir_insn *insn = &f->func->insns[i];
        for (uint32_t d = 0; d < f->def_first[i + 1] - f->def_first[i]; d++)
            define_pointers(s, insn, d);
        if (insn->op == IR_call)
            pass_pointers_to_callee(s, insn);
        else
            stores(s, insn);
    }
}

static void prepare_points(flow_kernel *k)
{
    for (uint32_t i = 0; i < k->code->count; i++)
        k->funcs[i].points = make_points(k, k->funcs[i].nvalues);
    k->contents = make_points(k, k->nobjects);
    k->escaped = flow_new(&k->mem, uint64_t, k->words);
    k->wild = flow_new(&k->mem, uint64_t, k->words);
    k->strong = flow_new(&k->mem, uint64_t, k->words);
    for (uint32_t e = 0; e < k->nelements; e++)
        if (k->elements[e].kind != FLOW_TO_UNKNOWN && k->elements[e].kind != FLOW_TO_PARAM)
            flow_set(k->strong, e);
}

/* Needs: objects, values. Fills: points, contents, escaped, wild, strong.
 * A value with no element is no pointer, or one to global memory that is not known better. Pointers
 * to shared and local variables are followed through any arithmetic but comparisons; so what is not
 * in the set is not pointed to, as long as accesses stay in their objects. */
void flow_pass_origins(flow_kernel *k)
{
    prepare_points(k);
    state s = {.k = k, .scratch = flow_new(&k->mem, uint64_t, k->words), .changed = true};
    while (s.changed) {
        s.changed = false;
        for (uint32_t i = 0; i < k->code->count; i++) {
            s.f = &k->funcs[i];
            for (uint32_t b = 0; b < s.f->norder; b++)
                if (s.f->order[b] < s.f->nblocks)
                    visit_block_origins(&s, s.f->order[b]);
        }
    }
}
