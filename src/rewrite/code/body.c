/* Copies of a function's body, with the code of the probes between the instructions. */
#include "rewrite/code/body.h"

#include "ir/blocks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* In this order at each access. */
static const rw_emitter *const emitters[] = {
#define X(name, summary) &rw_emitter_##name,
#include "rewrite/code/emitters.def"
#undef X
};
enum { EMITTERS = sizeof emitters / sizeof *emitters };

/* Calls the member of each emitter that the copy has, and takes back the temporaries that it
 * used. */
#define EACH_EMITTER(b, member, ...)                                                  \
    for (unsigned emitter_ = 0; emitter_ < EMITTERS; emitter_++)                      \
        if ((b)->probes & emitters[emitter_]->probes && emitters[emitter_]->member) { \
            const rw_temps temps_ = rw_temps_now(b);                                  \
            emitters[emitter_]->member(__VA_ARGS__);                                  \
            rw_temps_back(b, &temps_);                                                \
        }

static bool has_leave(const rw_body *b)
{
    for (unsigned i = 0; i < EMITTERS; i++)
        if (b->probes & emitters[i]->probes && emitters[i]->leave)
            return true;
    return false;
}

/* ---- calls ---- */

/* What outlives a function, to and from the kernel's frame. */
static void keep_in_frame(rw_body *b)
{
    if (rw_has(b, REWRITE_TRACE))
        rw_keep_trace(b);
    if (rw_has(b, REWRITE_PATH))
        rw_keep_path(b);
}

static void restore_from_frame(rw_body *b)
{
    if (rw_has(b, REWRITE_TRACE))
        rw_restore_trace(b);
    if (rw_has(b, REWRITE_PATH))
        rw_restore_path(b);
}

const char *rw_clone_name(const rw_plan *plan, uint32_t index, uint32_t probes,
                          char buffer[RW_NAME_BYTES])
{
    snprintf(buffer, RW_NAME_BYTES, RW_PREFIX "%u_%u_%x", plan->number, index, (unsigned)probes);
    return buffer;
}

static void print_list(rw_body *b, const ir_operand *list)
{
    for (uint32_t i = 0; list && i < list->count; i++) {
        ptx_print_operand(b->out, b->func, &list->items[i]);
        ptx_put(b->out, ", ");
    }
}

/* The same call of the clone, which gets the address of our frame: the state, and what else
 * outlives a function. */
static void print_clone_call(rw_body *b, const ir_insn *insn, uint32_t callee)
{
    char name[RW_NAME_BYTES];
    flow_call call = flow_call_of(b->func, insn);
    keep_in_frame(b);
    ptx_put(b->out, "\t{\n\t.param .b64 __wl_out;\n\tst.param.b64 [__wl_out], __wl_frame;\n\t");
    if (insn->guard != IR_NONE)
        ptx_putf(b->out, "@%s%s ", insn->guard_neg ? "!" : "", b->func->regs[insn->guard].name);
    ptx_put(b->out, ir_has(insn, IR_S_uni) ? "call.uni \t" : "call \t");
    if (call.rets && call.rets->count) {
        ptx_put(b->out, "(");
        ptx_print_operand(b->out, b->func, &call.rets->items[0]);
        ptx_put(b->out, "), ");
    }
    ptx_putf(b->out, "%s, (", rw_clone_name(b->plan, callee, b->probes, name));
    print_list(b, call.args);
    ptx_put(b->out, "__wl_out);\n\t}\n");
    restore_from_frame(b);
}

/* May the call end the thread, so that it does not come back? */
static bool may_not_return(const rw_body *b, uint32_t callee)
{
    const flow_kernel *k = b->plan->flow;
    if (callee != FLOW_NONE)
        return k->funcs[callee].may_exit;
    for (uint32_t i = 1; i < b->plan->code.count; i++)
        if (k->funcs[i].pointed && k->funcs[i].may_exit)
            return true;
    return false;
}

static void print_call(rw_body *b, const ir_insn *insn, const ptx_stmt *stmt)
{
    uint32_t callee = flow_callee(b->plan->flow, insn);
    rw_forget_lanes(b);
    b->leaving = RW_CALLS;
    if (may_not_return(b, callee))
        EACH_EMITTER(b, leave, b);
    if (callee != FLOW_NONE && b->plan->cloned[callee] && callee != 0)
        print_clone_call(b, insn, callee);
    else
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
}

/* ---- instructions ---- */

static bool leaves_kernel(const ir_insn *insn)
{
    return insn->op == IR_ret || insn->op == IR_exit;
}

static bool starts_block(const rw_body *b, uint32_t i)
{
    return b->plan->code.leader[b->f->first_pc + b->index + i];
}

static void print_block(rw_body *b, uint32_t i)
{
    rw_forget_lanes(b);
    if (rw_has(b, REWRITE_BLOCKS))
        EACH_EMITTER(b, block, b, b->plan->blocks->block_at[b->f->first_pc + b->index + i]);
    if (i < b->f->func->ninsns)
        EACH_EMITTER(b, begin, b, i);
}

/* Does a probe of the site need its address? */
static bool needs_address(const rw_body *b, uint32_t site)
{
    const rw_walk *late = &b->plan->elements->walk[site];
    bool covered = late->loop != FLOW_NONE && late->head != site;
    return (rw_has(b, REWRITE_TRACE) && b->plan->trace->spots[site].alone) ||
           (b->plan->elements->slot_of[site] != IR_NONE && !covered) || rw_counts_shared(b, site);
}

static void print_access_probes(rw_body *b, uint32_t site)
{
    bool place = needs_address(b, site);
    if (!(b->probes & ~(1u << REWRITE_BLOCKS | 1u << REWRITE_PATH)))
        return;
    const rw_temps temps = rw_temps_now(b);
    if (place)
        b->address = rw_find_address(b, site);
    b->guard = rw_guard_of(b, site);
    if (place && rw_shared_needs_lanes(b, site))
        rw_find_lanes(b, RW_LANES_GROUP);
    EACH_EMITTER(b, access, b, site);
    rw_temps_back(b, &temps);
}

/* The instruction, without its guard: who prints it has seen to that. */
static void print_bare(rw_body *b, uint32_t i)
{
    ir_insn insn = b->func->insns[i];
    insn.guard = IR_NONE;
    ir_func one = *b->func;
    one.insns = &insn;
    ptx_stmt stmt = {.kind = PTX_STMT_INSN, .index = 0};
    if (insn.op == IR_call) {
        const ir_func *whole = b->func;
        b->func = &one;
        print_call(b, &insn, &stmt);
        b->func = whole;
    } else {
        ptx_print_stmt(b->out, b->plan->module, &one, &stmt);
    }
}

/* Code that only lanes with a true guard may run stands with the instruction after a branch. */
static bool needs_branch(const rw_body *b, uint32_t i)
{
    const ir_insn *insn = &b->func->insns[i];
    if (insn->guard == IR_NONE || insn->op == IR_bra)
        return false;
    return (leaves_kernel(insn) && (has_leave(b) || b->index != 0)) ||
           (rw_has(b, REWRITE_BLOCKS) && ir_stands_alone(insn));
}

/* Does the copy remember in branches.path which ways its threads went? */
static bool remembers_path(const rw_body *b)
{
    for (uint32_t n = 0; b->index == 0 && n < b->plan->control->nedges; n++)
        if (b->plan->control->edges[n].bit && b->plan->control->edges[n].probes & b->probes)
            return true;
    return false;
}

/* The lanes that went the edge's way, for those of the passes that count them; all lanes of
 * branches.whole are here. */
static void publish_edge(rw_body *b, uint32_t edge)
{
    const rw_edge *e = &b->plan->control->edges[edge];
    const rw_branches *r = &b->branches;
    rw_label stayed = rw_new_label(b, "stayed");
    rw_reg before = rw_get(b, and_b32, r->path, rw_number(e->before));
    rw_reg came = rw_get(b, setp_eq_u32, before, rw_number(e->gone_before));
    rw_do(b, vote_sync_ballot_b32, r->here, came, r->whole);
    rw_reg bit = rw_get(b, and_b32, r->path, rw_number(e->bit));
    rw_reg went = rw_get(b, setp_ne_u32, bit, rw_number(0));
    rw_do(b, vote_sync_ballot_b32, b->warp.active, went, r->whole);
    rw_goto_if(b, rw_not(went), stayed);
    EACH_EMITTER(b, edge, b, edge);
    rw_put_label(b, stayed);
}

static void publish_edges(rw_body *b)
{
    rw_label nobody = rw_new_label(b, "nobody");
    rw_reg went = rw_get(b, setp_ne_u32, b->branches.path, rw_number(0));
    rw_do(b, activemask_b32, b->branches.whole);
    rw_reg any = rw_get(b, vote_sync_any_pred, went, b->branches.whole);
    rw_goto_if(b, rw_not(any), nobody);
    for (uint32_t n = 0; n < b->plan->control->nedges; n++)
        if (b->plan->control->edges[n].bit && b->plan->control->edges[n].probes & b->probes)
            publish_edge(b, n);
    rw_put_label(b, nobody);
}

static void print_leave(rw_body *b, rw_leaving leaving)
{
    b->leaving = leaving;
    rw_forget_lanes(b);
    const rw_temps temps = rw_temps_now(b);
    if (remembers_path(b))
        publish_edges(b);
    rw_temps_back(b, &temps);
    EACH_EMITTER(b, leave, b);
    if (b->index != 0)
        keep_in_frame(b);
}

/* The edge that probes of the copy count at this instruction, or FLOW_NONE. */
static uint32_t edge_at(const rw_body *b, uint32_t i)
{
    const flow_block *block = &b->f->blocks[b->f->block_of[i]];
    uint32_t edge = b->plan->control->edge_at[b->f->first_pc + block->first];
    bool last = i == block->first + block->count - 1;
    bool wanted = last && edge != FLOW_NONE &&
                  (b->plan->control->edges[edge].probes & b->probes ||
                   (b->plan->control->edges[edge].bit && remembers_path(b)));
    return wanted ? edge : FLOW_NONE;
}

static rw_opd guard_of_insn(const rw_body *b, const ir_insn *insn)
{
    rw_opd guard = rw_kernels(b, insn->guard);
    guard.negated = insn->guard_neg;
    return guard;
}

static rw_label label_of_edge(const rw_body *b, uint32_t edge)
{
    return (rw_label){"edge", b->edge_labels + edge};
}

/* A branch, and code for those that go one of its ways. */
static void print_branch(rw_body *b, const ptx_stmt *stmt, uint32_t edge)
{
    const ir_insn *insn = &b->func->insns[stmt->index];
    const rw_edge *e = &b->plan->control->edges[edge];
    rw_opd taken = guard_of_insn(b, insn);
    if (e->bit) {
        rw_when(b, e->taken ? taken : rw_not(taken), or_b32, b->branches.path, b->branches.path,
                rw_number(e->bit));
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
        return;
    }
    rw_do(b, activemask_b32, b->branches.here);
    if (e->taken) {
        rw_goto_if(b, taken, label_of_edge(b, edge));
        return;
    }
    ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    rw_active(b);
    EACH_EMITTER(b, edge, b, edge);
}

/* After the copy: ways of branches that are seldom taken, and on to where they lead. */
static void print_edges(rw_body *b)
{
    for (uint32_t n = 0; n < b->plan->control->nedges; n++) {
        const rw_edge *e = &b->plan->control->edges[n];
        if (e->func != b->index || e->bit || !e->taken || !(e->probes & b->probes))
            continue;
        const flow_block *from = &b->f->blocks[e->block];
        const ir_insn *insn = &b->func->insns[from->first + from->count - 1];
        rw_put_label(b, label_of_edge(b, n));
        rw_active(b);
        EACH_EMITTER(b, edge, b, n);
        ptx_putf(b->out, "\tbra %s;\n", b->func->labels[insn->operands[0].label].name);
    }
}

/* Does control go on elsewhere from the instruction, or perhaps? */
static bool transfers_control(const ir_insn *insn)
{
    return leaves_kernel(insn) || insn->op == IR_bra || insn->op == IR_brx || insn->op == IR_call ||
           insn->op == IR_trap;
}

static bool ends_flow_block(const rw_body *b, uint32_t i)
{
    const flow_block *block = &b->f->blocks[b->f->block_of[i]];
    return i == block->first + block->count - 1;
}

static void print_insn_with_probes(rw_body *b, const ptx_stmt *stmt)
{
    uint32_t i = stmt->index, pc = b->f->first_pc + i;
    const ir_insn *insn = &b->func->insns[i];
    bool counted = (rw_has(b, REWRITE_BLOCKS) || rw_has(b, REWRITE_PATH)) && starts_block(b, i);
    bool late = ir_wait_of(insn) != IR_WAIT_NONE, branch = needs_branch(b, i);
    uint32_t block = b->f->block_of[i];
    rw_label past = branch ? rw_new_label(b, "past") : (rw_label){0};
    if (starts_block(b, i))
        rw_forget_lanes(b);
    if (b->f->blocks[block].first == i)
        EACH_EMITTER(b, start, b, block);
    if (transfers_control(insn))
        EACH_EMITTER(b, finish, b, i);
    if (ir_ends_block(insn))
        EACH_EMITTER(b, end, b, i);
    if (branch)
        rw_goto_if(b, rw_not(guard_of_insn(b, insn)), past);
    if (counted && !late)
        print_block(b, i);
    for (uint32_t s = b->plan->site_first[pc]; s < b->plan->site_first[pc + 1]; s++)
        print_access_probes(b, s);
    rw_print_products(b, i);
    EACH_EMITTER(b, before, b, i);
    if (leaves_kernel(insn))
        print_leave(b, insn->op == IR_exit ? RW_EXITS : RW_RETURNS);
    if (edge_at(b, i) != FLOW_NONE)
        print_branch(b, stmt, edge_at(b, i));
    else if (branch)
        print_bare(b, i);
    else if (insn->op == IR_call)
        print_call(b, insn, stmt);
    else
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    EACH_EMITTER(b, after, b, i);
    if (!ir_ends_block(insn))
        EACH_EMITTER(b, end, b, i);
    if (counted && late)
        print_block(b, i);
    if (branch)
        rw_put_label(b, past);
    if (ends_flow_block(b, i) && !transfers_control(insn))
        EACH_EMITTER(b, finish, b, i);
}

/* ---- bodies ---- */

static bool is_declaration_stmt(const ptx_stmt *stmt)
{
    return stmt->kind == PTX_STMT_REGS || stmt->kind == PTX_STMT_VAR;
}

static void print_rest(rw_body *b)
{
    size_t length;
    char *text = ptx_text_take(b->rest, &length);
    if (text)
        ptx_put(b->out, text);
    else
        b->out->failed = true;
    free(text);
}

/* The statements; declarations of the outermost scope only where `outer`. */
static void print_copy(rw_body *b, bool outer)
{
    rw_forget_lanes(b);
    b->edge_labels = *b->labels;
    *b->labels += b->plan->control->nedges;
    ptx_text rest = {0};
    b->rest = &rest;
    b->depth = 0;
    for (uint32_t i = 0; i < b->func->written->nstmts; i++) {
        const ptx_stmt *stmt = &b->func->written->stmts[i];
        b->depth += (uint32_t)(stmt->kind == PTX_STMT_OPEN) -
                    (uint32_t)(stmt->kind == PTX_STMT_CLOSE);
        if (b->depth == 0 && is_declaration_stmt(stmt) && !outer)
            continue;
        if (stmt->kind == PTX_STMT_OPEN || stmt->kind == PTX_STMT_CLOSE)
            EACH_EMITTER(b, scope, b);
        if (stmt->kind == PTX_STMT_LOC && b->plan->alone)
            continue;
        if (stmt->kind == PTX_STMT_INSN && b->probes)
            print_insn_with_probes(b, stmt);
        else if (stmt->kind != PTX_STMT_DIRECTIVE || !b->probes)
            ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    }
    if (!b->probes)
        return;
    if (rw_has(b, REWRITE_BLOCKS) && starts_block(b, b->func->ninsns))
        print_block(b, b->func->ninsns);
    print_leave(b, RW_RETURNS);
    ptx_put(b->out, "\tret;\n");
    print_edges(b);
    print_rest(b);
}

static void print_outer_declarations(rw_body *b)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < b->func->written->nstmts; i++) {
        const ptx_stmt *stmt = &b->func->written->stmts[i];
        depth += (uint32_t)(stmt->kind == PTX_STMT_OPEN) - (uint32_t)(stmt->kind == PTX_STMT_CLOSE);
        if (depth == 0 && is_declaration_stmt(stmt))
            ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    }
}

/* A copy of a body within the same function needs labels of its own. */
static ir_func *with_labels(const rw_plan *plan, const ir_func *func, const char *suffix)
{
    ir_func *copy = wl_arena_copy(plan->arena, func, sizeof *func);
    ir_label *labels = wl_new_array(plan->arena, ir_label, (size_t)func->nlabels + 1);
    if (!copy || !labels)
        return NULL;
    for (uint32_t i = 0; i < func->nlabels; i++) {
        labels[i] = func->labels[i];
        labels[i].name = wl_arena_printf(plan->arena, "%s%s", func->labels[i].name, suffix);
        if (!labels[i].name)
            return NULL;
    }
    copy->labels = labels;
    return copy;
}

static bool has_clones(const rw_plan *plan)
{
    for (uint32_t k = 1; k < plan->code.count; k++)
        if (plan->cloned[k])
            return true;
    return false;
}

/* Goes to the original body without a state. With nothing but the trace, also where the block is
 * none to trace, as most can tell from their column: each instruction here costs small kernels more
 * than all of the trace. Sets what all copies need. */
static void print_entry(rw_body *b, bool only_trace, rw_label plain)
{
    if (only_trace) {
        rw_reg x = rw_get(b, mov_u32, rw_sreg("%ctaid.x"));
        rw_reg columns = rw_get(b, ld_param_u32, rw_in_param(offsetof(rewrite_param, columns)));
        rw_reg column = rw_get(b, shf_r_wrap_b32, columns, columns, x);
        rw_reg bit = rw_get(b, and_b32, column, rw_number(1));
        rw_goto_if(b, rw_get(b, setp_eq_u32, bit, rw_number(0)), plain);
    }
    rw_do(b, ld_param_u64, b->state, rw_in_param(offsetof(rewrite_param, state)));
    if (!only_trace && !b->plan->alone)
        rw_goto_if(b, rw_get(b, setp_eq_u64, b->state, rw_number(0)), plain);
    rw_do(b, mov_u32, b->lane, rw_sreg("%laneid"));
    if (has_clones(b->plan)) {
        rw_do(b, mov_u64, b->frame, rw_address_of_name(RW_PREFIX "stack", 0));
        rw_do(b, st_local_u64, rw_at(b->frame, 0), b->state);
    }
}

/* Finds which of the launch's blocks this is, and goes on after the traced copy where it is none of
 * them. */
static void print_choice(rw_body *b, rw_label untraced)
{
    rw_reg slot = b->trace.slot, block = rw_low_block(b);
    rw_do(b, mov_u32, slot, rw_number(REWRITE_MAX_BLOCKS));
    for (unsigned i = 0; i < REWRITE_MAX_BLOCKS; i++) {
        rw_reg traced = rw_get(b, ld_param_u32,
                               rw_in_param(offsetof(rewrite_param, block) + 4 * i));
        rw_reg is_it = rw_get(b, setp_eq_u32, traced, block);
        rw_when(b, is_it, mov_u32, slot, rw_number(i));
    }
    rw_goto_if(b, rw_get(b, setp_eq_u32, slot, rw_number(REWRITE_MAX_BLOCKS)), untraced);
}

static void enter_function_copy(rw_body *b)
{
    const rw_temps temps = rw_temps_now(b);
    rw_write_vars(b);
    if (remembers_path(b))
        rw_do(b, mov_u32, b->branches.path, rw_number(0));
    rw_temps_back(b, &temps);
    EACH_EMITTER(b, enter, b);
}

static void print_probed_copy(rw_body *b, uint32_t probes, const char *suffix)
{
    const ir_func *original = b->func;
    ir_func *func = with_labels(b->plan, original, suffix);
    if (!func) {
        b->out->failed = true;
        return;
    }
    b->func = func;
    b->probes = probes;
    enter_function_copy(b);
    print_copy(b, false);
    b->func = original;
}

static void declare_all(rw_body *b, uint32_t probes)
{
    b->probes = probes;
    b->state = rw_declare(b, RW_B64, "state", IR_NONE);
    b->frame = rw_declare(b, RW_B64, "frame", IR_NONE);
    b->lane = rw_declare(b, RW_B32, "lane", IR_NONE);
    b->warp = (rw_warp){.active = rw_declare(b, RW_B32, "active", IR_NONE),
                        .mask = rw_declare(b, RW_B32, "mask", IR_NONE),
                        .lead = rw_declare(b, RW_B32, "lead", IR_NONE),
                        .leads = rw_declare(b, RW_PRED, "leads", IR_NONE)};
    if (b->plan->control->nedges)
        b->branches = (rw_branches){.here = rw_declare(b, RW_B32, "here", IR_NONE),
                                    .whole = rw_declare(b, RW_B32, "whole", IR_NONE),
                                    .path = rw_declare(b, RW_B32, "path", IR_NONE)};
    EACH_EMITTER(b, declare, b);
}

static rw_body body_of(ptx_text *out, rw_plan *plan, uint32_t index, uint32_t *labels)
{
    return (rw_body){.out = out,
                     .plan = plan,
                     .index = index,
                     .f = &plan->flow->funcs[index],
                     .func = rw_printed(plan, index),
                     .labels = labels};
}

/* Temporaries are declared before the code, which is printed first. */
static void print_with_temps(ptx_text *out, rw_body *b, ptx_text *code)
{
    size_t length;
    char *text = ptx_text_take(code, &length);
    rw_print_temps(out, &b->temps);
    if (text)
        ptx_put(out, text);
    else
        out->failed = true;
    free(text);
}

static void print_copies(rw_body *b, uint32_t probes)
{
    const rw_plan *plan = b->plan;
    uint32_t trace = 1u << REWRITE_TRACE;
    const rw_label plain = {"plain", IR_NONE}, untraced = {"untraced", IR_NONE};
    const rw_temps temps = rw_temps_now(b);
    print_entry(b, probes == trace, plain);
    if (probes & trace) {
        print_choice(b, untraced);
        rw_temps_back(b, &temps);
        print_probed_copy(b, probes, "__wl_t");
        rw_put_label(b, untraced);
    }
    rw_temps_back(b, &temps);
    if (probes & ~trace)
        print_probed_copy(b, probes & ~trace, "__wl_c");
    if (probes & ~trace && plan->alone) /* it always has a state */
        return;
    rw_put_label(b, plain);
    b->probes = 0;
    print_copy(b, false);
}

void rw_print_kernel_body(ptx_text *out, rw_plan *plan)
{
    uint32_t labels = 0;
    ptx_text code = {0};
    rw_body b = body_of(out, plan, 0, &labels);
    print_outer_declarations(&b);
    b.out = &code;
    declare_all(&b, plan->out->probes);
    rw_load_addresses(&b);
    if (has_clones(plan))
        ptx_put(b.out, "\t.local .align 8 .b8 " RW_PREFIX "stack[32];\n");
    print_copies(&b, plan->out->probes);
    print_with_temps(out, &b, &code);
}

void rw_print_clone_body(ptx_text *out, rw_plan *plan, uint32_t index, uint32_t probes)
{
    uint32_t labels = 0;
    ptx_text code = {0};
    rw_body b = body_of(&code, plan, index, &labels);
    declare_all(&b, probes);
    rw_load_addresses(&b);
    ptx_put(b.out, "\tld.param.u64 __wl_frame, [__wl_caller];\n");
    rw_do(&b, ld_local_u64, b.state, rw_at(b.frame, 0));
    rw_do(&b, mov_u32, b.lane, rw_sreg("%laneid"));
    restore_from_frame(&b);
    enter_function_copy(&b);
    print_copy(&b, true);
    print_with_temps(out, &b, &code);
}

void rw_print_plain_body(ptx_text *out, rw_plan *plan, uint32_t index)
{
    uint32_t labels = 0;
    rw_body b = body_of(out, plan, index, &labels);
    rw_load_addresses(&b);
    print_copy(&b, true);
}
