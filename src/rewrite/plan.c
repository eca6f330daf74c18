/* What is probed in a kernel: its accesses, its functions, its variables. */
#include "ir/blocks.h"
#include "rewrite/internal.h"

#include <string.h>

/* ---- accesses ---- */

static bool is_plain_copy(const ir_insn *insn)
{
    return insn->op == IR_cp && ir_has(insn, IR_S_async) && !ir_has(insn, IR_S_bulk);
}

static bool is_matrix(const ir_insn *insn)
{
    return insn->op == IR_ldmatrix || insn->op == IR_stmatrix;
}

/* Why no probe can follow the instruction's addresses; NULL where one can. */
static const char *obstacle(const ir_insn *insn, const flow_address *a)
{
    bool bulk = ir_has(insn, IR_S_bulk);
    if (!a || a->operand->kind != IR_OPD_ADDR)
        return "textures, surfaces and tensor copies are not followed";
    if (bulk || (ir_has(insn, IR_S_async) && !is_plain_copy(insn)))
        return "bulk and remote copies are not followed";
    if (insn->op == IR_wmma)
        return "matrix fragments are not followed";
    if (insn->op != IR_ld && insn->op != IR_ldu && insn->op != IR_st && insn->op != IR_atom &&
        insn->op != IR_red && !is_plain_copy(insn) && !is_matrix(insn))
        return "this instruction is not followed";
    if (a->space == IR_SPACE_GENERIC && a->operand->reg == IR_NONE)
        return "a generic access of a symbol is not followed";
    return NULL;
}

static uint8_t op_of(const ir_insn *insn, const flow_address *a)
{
    if (insn->op == IR_red)
        return REWRITE_REDUCTION;
    if (insn->op == IR_atom)
        return insn->operands[0].kind == IR_OPD_SINK ? REWRITE_REDUCTION : REWRITE_ATOMIC;
    return a->touch & FLOW_WRITE ? REWRITE_STORE : REWRITE_LOAD;
}

static ir_space space_of(const flow_address *a)
{
    return a->space == IR_SPACE_SHARED_CLUSTER ? IR_SPACE_SHARED : a->space;
}

static uint8_t flags_of(const ir_insn *insn, const flow_address *a)
{
    return (uint8_t)((is_plain_copy(insn) ? REWRITE_ASYNC : 0) |
                     (ir_has(insn, IR_S_volatile) ? REWRITE_VOLATILE : 0) |
                     (ir_has(insn, IR_S_nc) || insn->op == IR_ldu ? REWRITE_READONLY : 0) |
                     (a->space == IR_SPACE_GENERIC ? REWRITE_GENERIC : 0));
}

/* The only pointer in the kernel's parameters that the address can come from. */
static void find_param(const rw_plan *p, const flow_function *f, const flow_address *a,
                       rewrite_site *site)
{
    const uint64_t *set = a->value != FLOW_NONE ? f->points[a->value].set : NULL;
    const flow_element *only = NULL;
    for (uint32_t e = 0; set && e < p->flow->nelements; e++) {
        if (!flow_bit(set, e))
            continue;
        if (p->flow->elements[e].kind != FLOW_TO_PARAM || only)
            return;
        only = &p->flow->elements[e];
    }
    if (only)
        site->param = only->param, site->param_offset = only->offset;
}

static void add_skip(rw_plan *p, uint32_t pc, const char *reason)
{
    p->skips[p->nskips++] = (rewrite_skip){pc, reason};
}

static void add_site(rw_plan *p, const flow_function *f, uint32_t i, const flow_address *a)
{
    const ir_insn *insn = &f->func->insns[i];
    p->addresses[p->nsites] = a;
    rewrite_site *site = &p->sites[p->nsites++];
    *site = (rewrite_site){.pc = f->first_pc + i,
                           .op = op_of(insn, a),
                           .space = (uint8_t)space_of(a),
                           .flags = flags_of(insn, a),
                           .bytes = (uint16_t)(is_matrix(insn) ? 16 : a->bytes),
                           .param = IR_NONE};
    find_param(p, f, a, site);
}

/* The addresses of a copy in the order in which the emulator reports them: what is read, then what is written. */
static void add_sites(rw_plan *p, const flow_function *f, uint32_t i)
{
    const ir_insn *insn = &f->func->insns[i];
    const flow_address *first = f->addresses + f->address_first[i],
                       *end = f->addresses + f->address_first[i + 1];
    const char *why = obstacle(insn, first < end ? first : NULL);
    if (why)
        add_skip(p, f->first_pc + i, why);
    else if (is_plain_copy(insn)) {
        add_site(p, f, i, first + 1);
        add_site(p, f, i, first);
    } else
        add_site(p, f, i, first);
}

static bool wanted(const rw_plan *p, uint32_t pc)
{
    uint8_t flags = p->proof.flags[pc];
    return flags & FLOW_PC_MEMORY && (p->options->everything || !(flags & FLOW_PC_PROVEN));
}

/* ---- functions ---- */

/* A variable of its own would be another one in a copy; arguments in registers, as PTX had them once, leave no room for
 * ours. */
static bool copyable(const ir_func *func)
{
    if ((func->nparams && func->params[0]->space == IR_SPACE_REG) ||
        (func->nrets && func->rets[0]->space == IR_SPACE_REG))
        return false;
    for (uint32_t i = 0; i < func->nvars; i++)
        if (func->vars[i]->space != IR_SPACE_PARAM && func->vars[i]->space != IR_SPACE_LOCAL)
            return false;
    return true;
}

/* The function of a direct call, or FLOW_NONE. */
static uint32_t callee_of(const rw_plan *p, uint32_t k, uint32_t i)
{
    const ir_insn *insn = &p->order.funcs[k]->insns[i];
    return insn->op == IR_call ? flow_callee(p->flow, insn) : FLOW_NONE;
}

/* why[k]: what keeps function k from being probed, NULL where all its executions can be. A function that runs as it was calls
 * others as they were. */
static void mark_unprobed(const rw_plan *p, const char **why)
{
    for (uint32_t k = 1; k < p->order.count; k++)
        why[k] = p->flow->funcs[k].pointed && p->flow->calls_unknown
                     ? "its function is called through a pointer"
                 : !copyable(p->order.funcs[k]) ? "its function cannot be copied"
                                                : NULL;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 1; k < p->order.count; k++)
            for (uint32_t i = 0; why[k] && i < p->order.funcs[k]->ninsns; i++) {
                uint32_t callee = callee_of(p, k, i);
                if (callee == FLOW_NONE || callee == 0 || why[callee])
                    continue;
                why[callee] = "its function is called by one that cannot be probed";
                more = true;
            }
    }
}

/* Functions that nothing reaches by direct calls are called through pointers, or not at all. */
static void mark_unreached(const rw_plan *p, const char **why, bool *reached)
{
    reached[0] = true;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < p->order.count; k++)
            for (uint32_t i = 0; reached[k] && i < p->order.funcs[k]->ninsns; i++) {
                uint32_t callee = callee_of(p, k, i);
                if (callee != FLOW_NONE && !reached[callee])
                    reached[callee] = more = true;
            }
    }
    for (uint32_t k = 0; k < p->order.count; k++)
        if (!reached[k] && !why[k])
            why[k] = "its function is not called directly";
}

static void find_sites(rw_plan *p, const char *const *why)
{
    for (uint32_t k = 0; k < p->order.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        for (uint32_t i = 0; i < f->func->ninsns; i++) {
            uint32_t pc = f->first_pc + i;
            p->site_first[pc] = p->nsites;
            if (wanted(p, pc) && why[k])
                add_skip(p, pc, why[k]);
            else if (wanted(p, pc))
                add_sites(p, f, i);
        }
    }
    p->site_first[p->proof.npcs] = p->nsites;
}

/* Functions with something to probe, and those on the way to them. */
static void mark_cloned(rw_plan *p, const char *const *why, bool blocks)
{
    for (uint32_t k = 0; k < p->order.count; k++)
        p->cloned[k] = !why[k] && (blocks || p->site_first[p->order.first_pc[k + 1]] >
                                                 p->site_first[p->order.first_pc[k]]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < p->order.count; k++)
            for (uint32_t i = 0; !p->cloned[k] && !why[k] && i < p->order.funcs[k]->ninsns; i++) {
                uint32_t callee = callee_of(p, k, i);
                if (callee != FLOW_NONE && p->cloned[callee])
                    p->cloned[k] = more = true;
            }
    }
}

/* ---- variables ---- */

/* One that the code at the begin of a function can name. */
static bool listed(const ir_var *var)
{
    return (var->space == IR_SPACE_SHARED || var->space == IR_SPACE_CONST) &&
           (!var->func || var->scope == 0);
}

static void add_var(rw_plan *p, const ir_var *var)
{
    for (uint32_t i = 0; i < p->nvars; i++)
        if (p->vars[i].var == var)
            return;
    p->vars[p->nvars++].var = var;
}

static uint32_t list_vars(rw_plan *p, const ir_operand *o, bool count)
{
    uint32_t n = 0;
    if (o->has_sym && o->sym.kind == IR_SYM_VAR && listed(o->sym.var)) {
        if (!count)
            add_var(p, o->sym.var);
        n++;
    }
    for (uint32_t i = 0; i < o->count; i++)
        n += list_vars(p, &o->items[i], count);
    return n;
}

static wl_status find_vars(rw_plan *p)
{
    uint32_t room = 0;
    for (int count = 1; count >= 0; count--) {
        for (uint32_t k = 0; k < p->order.count; k++)
            for (uint32_t i = 0; i < p->order.funcs[k]->ninsns; i++) {
                const ir_insn *insn = &p->order.funcs[k]->insns[i];
                for (uint32_t o = 0; o < insn->noperands; o++)
                    room += list_vars(p, &insn->operands[o], count) * (uint32_t)count;
            }
        if (count && !(p->vars = wl_new_array(p->arena, rewrite_var, (size_t)room + 1)))
            return WL_NOMEM;
    }
    return WL_OK;
}

uint32_t rw_var_listed_as(const rw_plan *p, const ir_var *var)
{
    bool written = p->out->probes >> REWRITE_SHARED & 1 && var->space == IR_SPACE_SHARED;
    for (uint32_t i = 0; written && i < p->nvars; i++)
        if (p->vars[i].var == var)
            return i;
    return IR_NONE;
}

uint32_t rw_var_listed(const rw_plan *p, const ir_symbol *symbol)
{
    return symbol->kind == IR_SYM_VAR ? rw_var_listed_as(p, symbol->var) : IR_NONE;
}

/* ---- the whole ---- */

static wl_status allocate(rw_plan *p)
{
    size_t npcs = p->proof.npcs;
    p->cloned = wl_new_array(p->arena, bool, (size_t)p->order.count);
    p->site_first = wl_new_array(p->arena, uint32_t, npcs + 1);
    p->sites = wl_new_array(p->arena, rewrite_site, npcs * 2 + 1);
    p->addresses = wl_new_array(p->arena, const flow_address *, npcs * 2 + 1);
    p->skips = wl_new_array(p->arena, rewrite_skip, npcs + 1);
    return p->cloned && p->site_first && p->sites && p->addresses && p->skips ? WL_OK : WL_NOMEM;
}

static wl_status find_leaders(rw_plan *p)
{
    p->leader = wl_new_array(p->arena, uint8_t, (size_t)p->proof.npcs + p->order.count);
    for (uint32_t k = 0; p->leader && k < p->order.count; k++)
        ir_block_leaders(p->order.funcs[k], p->leader + p->order.first_pc[k] + k);
    return p->leader ? WL_OK : WL_NOMEM;
}

static wl_status analyse(rw_plan *p, ir_func *kernel)
{
    wl_status status = ir_callorder_of(p->module, kernel, p->arena, &p->order);
    if (status != WL_OK)
        return status;
    p->flow = flow_kernel_new(p->module, &p->order, p->arena);
    if (!p->flow)
        return WL_NOMEM;
    status = flow_prove_kernel(p->flow, p->arena, &p->proof);
    return status == WL_OK ? flow_run(p->flow, FLOW_PASS_affine) : status;
}

/* Which of the probes that were asked for find something in the kernel. */
static uint32_t useful(const rw_plan *p)
{
    uint32_t blocks = 1u << REWRITE_BLOCKS, shared = 1u << REWRITE_SHARED,
             elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;
    bool counts = p->options->everything || p->proof.unknown, uses_shared = false,
         uses_global = false;
    for (uint32_t s = 0; s < p->nsites; s++) {
        uses_shared |= rw_may_be_shared(&p->sites[s]);
        uses_global |= rw_may_be_global(&p->sites[s]);
    }
    return (p->nsites ? p->options->probes & ~(blocks | shared | elements) : 0) |
           (uses_shared ? p->options->probes & shared : 0) |
           (uses_global ? p->options->probes & elements : 0) |
           (counts ? p->options->probes & blocks : 0);
}

static void lay_out(rw_plan *p)
{
    rewrite_kernel *k = p->out;
    uint32_t at = sizeof(rewrite_state);
    if (k->probes & (1u << REWRITE_TRACE | 1u << REWRITE_SHARED) && k->nvars) {
        k->vars_at = at;
        at += 8 * k->nvars;
    }
    if (k->probes >> REWRITE_OBJECTS & 1) {
        k->bits_at = at;
        k->bits_bytes = (k->nbits + 1023) / 1024 * 128;
        at += REWRITE_COPIES * k->bits_bytes;
    }
    if (k->ntallies) {
        k->counters_at = at;
        k->copy_bytes = (k->ntallies * REWRITE_TALLY_BYTES + 127) / 128 * 128;
        at += REWRITE_COPIES * k->copy_bytes;
    }
    k->fixed_bytes = (at + 255) / 256 * 256;
}

wl_status rw_plan_kernel(rw_plan *p)
{
    wl_status status = analyse(p, p->module->funcs[p->out->func->index]);
    if (status == WL_OK)
        status = allocate(p);
    if (status == WL_OK)
        status = find_vars(p);
    if (status == WL_OK)
        status = find_leaders(p);
    const char **why = wl_new_array(p->arena, const char *, (size_t)p->order.count + 1);
    bool *reached = wl_new_array(p->arena, bool, (size_t)p->order.count + 1);
    if (status != WL_OK || !why || !reached)
        return WL_NOMEM;
    mark_unprobed(p, why);
    mark_unreached(p, why, reached);
    find_sites(p, why);
    p->out->probes = useful(p);
    p->out->nsites = p->nsites, p->out->sites = p->sites;
    p->out->nskips = p->nskips, p->out->skips = p->skips;
    p->out->nvars = p->nvars, p->out->vars = p->vars;
    bool blocks = p->out->probes >> REWRITE_BLOCKS & 1;
    mark_cloned(p, why, blocks);
    p->out->plan = p;
    status = rw_plan_runs(p);
    if (status == WL_OK)
        status = rw_plan_objects(p);
    if (status == WL_OK)
        status = rw_plan_shared(p);
    if (status == WL_OK)
        status = rw_plan_slots(p);
    if (status == WL_OK)
        status = rw_plan_late(p);
    if (status == WL_OK)
        status = rw_plan_joints(p);
    if (status == WL_OK && p->out->probes >> REWRITE_TRACE & 1)
        status = rw_plan_pieces(p);
    if (status == WL_OK && blocks)
        status = rw_plan_blocks(p);
    if (status == WL_OK)
        rw_plan_gathering(p);
    lay_out(p);
    return status;
}
