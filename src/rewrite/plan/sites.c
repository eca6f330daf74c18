/* What is probed in a kernel: its accesses, and the functions that get a copy with probes. */
#include "rewrite/plan/plan.h"

/* ---- about one site ---- */

bool rw_may_be_shared(const rewrite_probe_site *s)
{
    return s->space == IR_SPACE_SHARED || s->space == IR_SPACE_GENERIC;
}

unsigned rw_elements(const rewrite_probe_site *site)
{
    return site->bytes > 4 ? site->bytes / 4 : 1;
}

bool rw_may_be_global(const rewrite_probe_site *site)
{
    return site->space == IR_SPACE_GLOBAL || site->space == IR_SPACE_GENERIC;
}

bool rw_can_reduce(const ir_module *module)
{
    return module->sm >= 80 && module->written->version_major >= 7;
}

bool rw_is_matrix(const ir_insn *insn)
{
    return insn->op == IR_ldmatrix || insn->op == IR_stmatrix;
}

uint32_t rw_matrix_rows(const ir_insn *insn)
{
    return ir_has(insn, IR_S_x1) ? 8 : ir_has(insn, IR_S_x2) ? 16 : 32;
}

/* ---- accesses ---- */

static bool is_plain_copy(const ir_insn *insn)
{
    return insn->op == IR_cp && ir_has(insn, IR_S_async) && !ir_has(insn, IR_S_bulk);
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
        insn->op != IR_red && !is_plain_copy(insn) && !rw_is_matrix(insn))
        return "this instruction is not followed";
    if (a->space == IR_SPACE_GENERIC && a->operand->reg == IR_NONE)
        return "a generic access of a symbol is not followed";
    return NULL;
}

static uint8_t op_of(const ir_insn *insn, const flow_address *a)
{
    if (insn->op == IR_red)
        return ACC_REDUCTION;
    if (insn->op == IR_atom)
        return insn->operands[0].kind == IR_OPD_SINK ? ACC_REDUCTION : ACC_ATOMIC;
    return a->touch & FLOW_WRITE ? ACC_STORE : ACC_LOAD;
}

static ir_space accessed_space(const flow_address *a)
{
    return a->space == IR_SPACE_SHARED_CLUSTER ? IR_SPACE_SHARED : a->space;
}

/* cp.async.ca fills L1 with what it loads. */
static unsigned copy_flags(const ir_insn *insn, const flow_address *a)
{
    bool cached = ir_has(insn, IR_S_ca) && !(a->touch & FLOW_WRITE);
    return is_plain_copy(insn) ? ACC_ASYNC | (cached ? ACC_CACHED : 0) : 0;
}

static uint16_t access_flags(const ir_insn *insn, const flow_address *a)
{
    return (uint16_t)(copy_flags(insn, a) | (rw_is_matrix(insn) ? ACC_MATRIX : 0) |
                      (ir_has(insn, IR_S_volatile) ? ACC_VOLATILE : 0) |
                      (ir_has(insn, IR_S_nc) || insn->op == IR_ldu ? ACC_READONLY : 0) |
                      (a->space == IR_SPACE_GENERIC ? ACC_GENERIC : 0));
}

/* The only pointer in the kernel's parameters that the address can come from. */
static void find_param(const rw_plan *p, const flow_function *f, const flow_address *a,
                       rewrite_probe_site *site)
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
    rewrite_probe_site *site = &p->sites[p->nsites++];
    *site = (rewrite_probe_site){.pc = f->first_pc + i,
                                 .op = op_of(insn, a),
                                 .space = (uint8_t)accessed_space(a),
                                 .flags = access_flags(insn, a),
                                 .bytes = (uint16_t)(rw_is_matrix(insn) ? 16 : a->bytes),
                                 .param = IR_NONE};
    find_param(p, f, a, site);
}

/* The addresses of a copy in the order in which the emulator reports them: what is read, then what
 * is written. */
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

static bool goes_to_shared(const rw_plan *p, uint32_t site, uint32_t pc)
{
    return p->sites[site].pc == pc && p->sites[site].space == IR_SPACE_SHARED;
}

uint32_t rw_site_of_shared(rw_plan *p, uint32_t pc)
{
    ir_place place = ir_kernel_at(&p->code, pc);
    const flow_function *f = &p->flow->funcs[place.index];
    uint32_t i = place.insn->pc, end = p->nsites + p->nothers, sites = p->nsites;
    const flow_address *a = f->addresses + f->address_first[i],
                       *last = f->addresses + f->address_first[i + 1];
    for (uint32_t s = p->site_first[pc]; s < p->site_first[pc + 1]; s++)
        if (goes_to_shared(p, s, pc))
            return s;
    for (uint32_t s = p->nsites; s < end; s++)
        if (goes_to_shared(p, s, pc))
            return s;
    if (obstacle(place.insn, a < last ? a : NULL))
        return IR_NONE;
    while (a < last && accessed_space(a) != IR_SPACE_SHARED)
        a++;
    if (a == last)
        return IR_NONE;
    p->nsites = end; /* add_site counts on */
    add_site(p, f, i, a);
    p->nsites = sites;
    p->nothers++;
    return end;
}

static bool wanted(const rw_plan *p, uint32_t pc)
{
    uint8_t flags = p->proof.flags[pc];
    return flags & FLOW_PC_MEMORY && (p->options->everything || !(flags & FLOW_PC_PROVEN));
}

/* ---- functions ---- */

/* A variable of its own would be another one in a copy; arguments in registers, as PTX had them
 * once, leave no room for ours. */
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
    const ir_insn *insn = &p->code.funcs[k]->insns[i];
    return insn->op == IR_call ? flow_callee(p->flow, insn) : FLOW_NONE;
}

/* why[k]: what keeps function k from being probed, NULL where all its executions can be. A function
 * that runs as it was calls others as they were. */
static void mark_unprobed(const rw_plan *p, const char **why)
{
    for (uint32_t k = 1; k < p->code.count; k++)
        why[k] = p->flow->funcs[k].pointed && p->flow->calls_unknown
                     ? "its function is called through a pointer"
                 : !copyable(p->code.funcs[k]) ? "its function cannot be copied"
                                               : NULL;
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 1; k < p->code.count; k++)
            for (uint32_t i = 0; why[k] && i < p->code.funcs[k]->ninsns; i++) {
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
        for (uint32_t k = 0; k < p->code.count; k++)
            for (uint32_t i = 0; reached[k] && i < p->code.funcs[k]->ninsns; i++) {
                uint32_t callee = callee_of(p, k, i);
                if (callee != FLOW_NONE && !reached[callee])
                    reached[callee] = more = true;
            }
    }
    for (uint32_t k = 0; k < p->code.count; k++)
        if (!reached[k] && !why[k])
            why[k] = "its function is not called directly";
}

static void find_sites(rw_plan *p, const char *const *why)
{
    for (uint32_t k = 0; k < p->code.count; k++) {
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
    for (uint32_t k = 0; k < p->code.count; k++)
        p->cloned[k] = !why[k] && (blocks || p->site_first[p->code.first_pc[k + 1]] >
                                                 p->site_first[p->code.first_pc[k]]);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t k = 0; k < p->code.count; k++)
            for (uint32_t i = 0; !p->cloned[k] && !why[k] && i < p->code.funcs[k]->ninsns; i++) {
                uint32_t callee = callee_of(p, k, i);
                if (callee != FLOW_NONE && p->cloned[callee])
                    p->cloned[k] = more = true;
            }
    }
}

/* ---- the pass ---- */

static wl_status allocate_sites(rw_plan *p)
{
    size_t npcs = p->proof.npcs;
    p->cloned = wl_new_array(p->arena, bool, (size_t)p->code.count);
    p->site_first = wl_new_array(p->arena, uint32_t, npcs + 1);
    p->sites = wl_new_array(p->arena, rewrite_probe_site, npcs * 2 + 1);
    p->addresses = wl_new_array(p->arena, const flow_address *, npcs * 2 + 1);
    p->skips = wl_new_array(p->arena, rewrite_skip, npcs + 1);
    return p->cloned && p->site_first && p->sites && p->addresses && p->skips ? WL_OK : WL_NOMEM;
}

/* Does each function that a thread may come to have a copy? Else its path is not known whole. */
static bool follows_all(const rw_plan *p, const char *const *why, const bool *reached)
{
    bool all = true;
    for (uint32_t k = 0; k < p->code.count; k++)
        all &= !why[k] || (!reached[k] && !p->flow->funcs[k].pointed);
    return all && !p->flow->calls_unknown;
}

/* Which of the probes that were asked for find something in the kernel. `whole`: follows_all(). */
static uint32_t useful(const rw_plan *p, bool whole)
{
    uint32_t blocks = 1u << REWRITE_BLOCKS, path = 1u << REWRITE_PATH,
             shared = 1u << REWRITE_SHARED,
             elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;
    bool counts = p->options->everything || p->proof.unknown, uses_shared = false,
         uses_global = false;
    for (uint32_t s = 0; s < p->nsites; s++) {
        uses_shared |= rw_may_be_shared(&p->sites[s]);
        uses_global |= rw_may_be_global(&p->sites[s]);
    }
    return (p->nsites ? p->options->probes & ~(blocks | path | shared | elements) : 0) |
           (uses_shared ? p->options->probes & shared : 0) |
           (uses_global ? p->options->probes & elements : 0) |
           (counts ? p->options->probes & blocks : 0) |
           (counts && whole ? p->options->probes & path : 0);
}

/* Needs: flow. Fills: sites, addresses, site_first, skips, cloned; of the kernel's result the
 * probes that find something. */
wl_status rw_pass_sites(rw_plan *p)
{
    const char **why = wl_new_array(p->arena, const char *, (size_t)p->code.count + 1);
    bool *reached = wl_new_array(p->arena, bool, (size_t)p->code.count + 1);
    if (!why || !reached || allocate_sites(p) != WL_OK)
        return WL_NOMEM;
    mark_unprobed(p, why);
    mark_unreached(p, why, reached);
    find_sites(p, why);
    bool whole = follows_all(p, why, reached);
    p->out->probes = useful(p, whole);
    if (!whole && useful(p, true) >> REWRITE_PATH & 1)
        p->out->no_paths = "a function that it may call can carry no probe";
    p->out->nsites = p->nsites, p->out->sites = p->sites;
    p->out->nskips = p->nskips, p->out->skips = p->skips;
    mark_cloned(p, why, rw_plan_has(p, REWRITE_BLOCKS) || rw_plan_has(p, REWRITE_PATH));
    return WL_OK;
}
