/* Copies of a function's body, with the code of the probes between the instructions. */
#include "rewrite/code/body.h"

#include "ir/blocks.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

/* In this order at each access. */
static const rw_emitter *const passes[] = {
    &rw_blocks_emitter, &rw_ranges_emitter,  &rw_objects_emitter, &rw_walks_emitter,
    &rw_touch_emitter,  &rw_counted_emitter, &rw_shared_emitter,  &rw_trace_emitter};
enum { PASSES = sizeof passes / sizeof *passes };

/* Runs the member of each pass that the copy has. */
#define EACH_PASS(b, member, ...)                                         \
    for (unsigned pass_ = 0; pass_ < PASSES; pass_++)                     \
        if ((b)->probes & passes[pass_]->probes && passes[pass_]->member) \
    passes[pass_]->member(__VA_ARGS__)

static bool has_leave(const rw_body *b)
{
    for (unsigned i = 0; i < PASSES; i++)
        if (b->probes & passes[i]->probes && passes[i]->leave)
            return true;
    return false;
}

/* ---- calls ---- */

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

/* The same call of the clone, which gets the address of our frame: the state, and what else outlives a function. */
static void print_clone_call(rw_body *b, const ir_insn *insn, uint32_t callee)
{
    char name[RW_NAME_BYTES];
    flow_call call = flow_call_of(b->func, insn);
    if (rw_has(b, REWRITE_TRACE))
        rw_keep_trace(b);
    rw_text(b, "\t{\n\t.param .b64 __wl_out;\n\tst.param.b64 [__wl_out], __wl_frame;\n\t");
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
    rw_text(b, "__wl_out);\n\t}\n");
    if (rw_has(b, REWRITE_TRACE))
        rw_restore_trace(b);
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
    if (may_not_return(b, callee))
        EACH_PASS(b, leave, b);
    if (callee != FLOW_NONE && b->plan->cloned[callee] && callee != 0)
        print_clone_call(b, insn, callee);
    else
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
}

/* ---- instructions ---- */

static bool leaves(const ir_insn *insn)
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
    EACH_PASS(b, block, b, b->plan->blocks->block_at[b->f->first_pc + b->index + i]);
}

/* Does a probe of the site need its address? */
static bool needs_address(const rw_body *b, uint32_t site)
{
    const rw_walk *late = &b->plan->elements->walk[site];
    bool covered = late->loop != FLOW_NONE && late->head != site;
    return (rw_has(b, REWRITE_TRACE) && b->plan->trace->spots[site].alone) ||
           (b->plan->elements->slot_of[site] != IR_NONE && !covered) || rw_counts_shared(b, site);
}

static void print_access(rw_body *b, uint32_t site)
{
    bool place = needs_address(b, site);
    if (!(b->probes & ~(1u << REWRITE_BLOCKS)))
        return;
    if (place)
        rw_address(b, site);
    b->guard = rw_guard_of(b, site);
    if (place && rw_shared_needs_lanes(b, site))
        rw_find_lanes(b, RW_LANES_GROUP);
    EACH_PASS(b, access, b, site);
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

/* Code that only lanes with a true guard may run stands with the instruction behind a branch. */
static bool needs_branch(const rw_body *b, uint32_t i)
{
    const ir_insn *insn = &b->func->insns[i];
    if (insn->guard == IR_NONE || insn->op == IR_bra)
        return false;
    return (leaves(insn) && (has_leave(b) || b->index != 0)) ||
           (rw_has(b, REWRITE_BLOCKS) && ir_stands_alone(insn));
}

/* Does the copy remember in __wl_gone which ways its threads went? */
static bool gathers(const rw_body *b)
{
    for (uint32_t n = 0; b->index == 0 && n < b->plan->control->nedges; n++)
        if (b->plan->control->edges[n].bit && b->plan->control->edges[n].probes & b->probes)
            return true;
    return false;
}

/* The lanes that went the edge's way, for those of the passes that count them; all lanes of __wl_whole are here. */
static void publish_edge(rw_body *b, uint32_t edge)
{
    const rw_edge *e = &b->plan->control->edges[edge];
    uint32_t label = (*b->labels)++;
    rw_line(b, "and.b32 __wl_t, __wl_gone, %u;", e->before);
    rw_line(b, "setp.eq.u32 __wl_p, __wl_t, %u;", e->gone_before);
    rw_text(b, "\tvote.sync.ballot.b32 __wl_here, __wl_p, __wl_whole;\n");
    rw_line(b, "and.b32 __wl_t, __wl_gone, %u;", e->bit);
    rw_text(b, "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\tvote.sync.ballot.b32 __wl_active, __wl_p, __wl_whole;\n");
    rw_line(b, "@!__wl_p bra $__wl_stayed%u;", label);
    EACH_PASS(b, edge, b, edge);
    ptx_putf(b->out, "$__wl_stayed%u:\n", label);
}

static void publish_edges(rw_body *b)
{
    uint32_t label = (*b->labels)++;
    rw_text(b, "\tsetp.ne.u32 __wl_p, __wl_gone, 0;\n"
               "\tactivemask.b32 __wl_whole;\n"
               "\tvote.sync.any.pred __wl_p, __wl_p, __wl_whole;\n");
    rw_line(b, "@!__wl_p bra $__wl_nobody%u;", label);
    for (uint32_t n = 0; n < b->plan->control->nedges; n++)
        if (b->plan->control->edges[n].bit && b->plan->control->edges[n].probes & b->probes)
            publish_edge(b, n);
    ptx_putf(b->out, "$__wl_nobody%u:\n", label);
}

static void print_leave(rw_body *b)
{
    rw_forget_lanes(b);
    if (gathers(b))
        publish_edges(b);
    EACH_PASS(b, leave, b);
    if (b->index != 0 && rw_has(b, REWRITE_TRACE))
        rw_keep_trace(b);
}

/* The edge that probes of the copy count at this instruction, or FLOW_NONE. */
static uint32_t edge_at(const rw_body *b, uint32_t i)
{
    const flow_block *block = &b->f->blocks[b->f->block_of[i]];
    uint32_t edge = b->plan->control->edge_at[b->f->first_pc + block->first];
    bool last = i == block->first + block->count - 1;
    bool wanted = last && edge != FLOW_NONE &&
                  (b->plan->control->edges[edge].probes & b->probes ||
                   (b->plan->control->edges[edge].bit && gathers(b)));
    return wanted ? edge : FLOW_NONE;
}

/* A branch, and code for those that go one of its ways. */
static void print_branch(rw_body *b, const ptx_stmt *stmt, uint32_t edge)
{
    const ir_insn *insn = &b->func->insns[stmt->index];
    const rw_edge *e = &b->plan->control->edges[edge];
    if (e->bit) {
        rw_line(b, "@%s%s or.b32 __wl_gone, __wl_gone, %u;", insn->guard_neg == e->taken ? "!" : "",
                b->func->regs[insn->guard].name, e->bit);
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
        return;
    }
    rw_text(b, "\tactivemask.b32 __wl_here;\n");
    if (e->taken) {
        rw_line(b, "@%s%s bra $__wl_edge%u;", insn->guard_neg ? "!" : "",
                b->func->regs[insn->guard].name, b->edge_labels + edge);
        return;
    }
    ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    rw_active(b);
    EACH_PASS(b, edge, b, edge);
}

/* Behind the copy: ways of branches that are seldom taken, and on to where they lead. */
static void print_edges(rw_body *b)
{
    for (uint32_t n = 0; n < b->plan->control->nedges; n++) {
        const rw_edge *e = &b->plan->control->edges[n];
        if (e->func != b->index || e->bit || !e->taken || !(e->probes & b->probes))
            continue;
        const flow_block *from = &b->f->blocks[e->block];
        const ir_insn *insn = &b->func->insns[from->first + from->count - 1];
        ptx_putf(b->out, "$__wl_edge%u:\n", b->edge_labels + n);
        rw_active(b);
        EACH_PASS(b, edge, b, n);
        rw_line(b, "bra %s;", b->func->labels[insn->operands[0].label].name);
    }
}

/* Does control go on elsewhere from the instruction, or perhaps? */
static bool transfers(const ir_insn *insn)
{
    return leaves(insn) || insn->op == IR_bra || insn->op == IR_brx || insn->op == IR_call ||
           insn->op == IR_trap;
}

static bool ends_block(const rw_body *b, uint32_t i)
{
    const flow_block *block = &b->f->blocks[b->f->block_of[i]];
    return i == block->first + block->count - 1;
}

static void print_insn(rw_body *b, const ptx_stmt *stmt)
{
    uint32_t i = stmt->index, pc = b->f->first_pc + i;
    const ir_insn *insn = &b->func->insns[i];
    bool counted = rw_has(b, REWRITE_BLOCKS) && starts_block(b, i);
    bool late = ir_wait_of(insn) != IR_WAIT_NONE, branch = needs_branch(b, i);
    uint32_t label = branch ? (*b->labels)++ : 0, block = b->f->block_of[i];
    if (starts_block(b, i))
        rw_forget_lanes(b);
    if (b->f->blocks[block].first == i)
        EACH_PASS(b, start, b, block);
    if (transfers(insn))
        EACH_PASS(b, finish, b, i);
    if (ir_ends_block(insn))
        EACH_PASS(b, end, b, i);
    if (branch)
        rw_line(b, "@%s%s bra $__wl_past%u;", insn->guard_neg ? "" : "!",
                b->func->regs[insn->guard].name, label);
    if (counted && !late)
        print_block(b, i);
    for (uint32_t s = b->plan->site_first[pc]; s < b->plan->site_first[pc + 1]; s++)
        print_access(b, s);
    rw_print_products(b, i);
    EACH_PASS(b, before, b, i);
    if (leaves(insn))
        print_leave(b);
    if (edge_at(b, i) != FLOW_NONE)
        print_branch(b, stmt, edge_at(b, i));
    else if (branch)
        print_bare(b, i);
    else if (insn->op == IR_call)
        print_call(b, insn, stmt);
    else
        ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    EACH_PASS(b, behind, b, i);
    if (!ir_ends_block(insn))
        EACH_PASS(b, end, b, i);
    if (counted && late)
        print_block(b, i);
    if (branch)
        ptx_putf(b->out, "$__wl_past%u:\n", label);
    if (ends_block(b, i) && !transfers(insn))
        EACH_PASS(b, finish, b, i);
}

/* ---- bodies ---- */

static bool is_declaration(const ptx_stmt *stmt)
{
    return stmt->kind == PTX_STMT_REGS || stmt->kind == PTX_STMT_VAR;
}

static void print_rest(rw_body *b)
{
    size_t length;
    char *text = ptx_text_take(b->rest, &length);
    if (text)
        rw_text(b, text);
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
        if (b->depth == 0 && is_declaration(stmt) && !outer)
            continue;
        if (stmt->kind == PTX_STMT_OPEN || stmt->kind == PTX_STMT_CLOSE)
            EACH_PASS(b, scope, b);
        if (stmt->kind == PTX_STMT_LOC && b->plan->alone)
            continue;
        if (stmt->kind == PTX_STMT_INSN && b->probes)
            print_insn(b, stmt);
        else if (stmt->kind != PTX_STMT_DIRECTIVE || !b->probes)
            ptx_print_stmt(b->out, b->plan->module, b->func, stmt);
    }
    if (!b->probes)
        return;
    if (rw_has(b, REWRITE_BLOCKS) && starts_block(b, b->func->ninsns))
        print_block(b, b->func->ninsns);
    print_leave(b);
    rw_line(b, "ret;");
    print_edges(b);
    print_rest(b);
}

static void print_outer_declarations(rw_body *b)
{
    uint32_t depth = 0;
    for (uint32_t i = 0; i < b->func->written->nstmts; i++) {
        const ptx_stmt *stmt = &b->func->written->stmts[i];
        depth += (uint32_t)(stmt->kind == PTX_STMT_OPEN) - (uint32_t)(stmt->kind == PTX_STMT_CLOSE);
        if (depth == 0 && is_declaration(stmt))
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

/* Goes to the original body without a state. With nothing but the trace, also where the block is none to trace, as most can tell from
 * their column: each instruction here costs small kernels more than all of the trace. Sets what all copies need. */
static void print_entry(rw_body *b, bool only_trace)
{
    if (only_trace) {
        rw_text(b, "\tmov.u32 __wl_t, %ctaid.x;\n");
        rw_line(b, "ld.param.u32 __wl_u, [__wl_probe+%zu];", offsetof(rewrite_param, columns));
        rw_text(b, "\tshf.r.wrap.b32 __wl_u, __wl_u, __wl_u, __wl_t;\n"
                   "\tand.b32 __wl_u, __wl_u, 1;\n"
                   "\tsetp.eq.u32 __wl_p, __wl_u, 0;\n"
                   "\t@__wl_p bra $__wl_plain;\n");
    }
    rw_line(b, "ld.param.u64 __wl_state, [__wl_probe+%zu];", offsetof(rewrite_param, state));
    if (!only_trace && !b->plan->alone)
        rw_text(b, "\tsetp.eq.u64 __wl_p, __wl_state, 0;\n"
                   "\t@__wl_p bra $__wl_plain;\n");
    rw_text(b, "\tmov.u32 __wl_lane, %laneid;\n");
    if (has_clones(b->plan))
        rw_text(b, "\tmov.u64 __wl_frame, __wl_stack;\n\tst.local.u64 [__wl_frame], __wl_state;\n");
}

/* __wl_slot: which of the launch's blocks this is. Goes on behind the traced copy where it is none of them. */
static void print_choice(rw_body *b)
{
    rw_low_block(b, "__wl_t");
    rw_line(b, "mov.u32 __wl_slot, %u;", REWRITE_MAX_BLOCKS);
    for (unsigned i = 0; i < REWRITE_MAX_BLOCKS; i++) {
        rw_line(b, "ld.param.u32 __wl_u, [__wl_probe+%zu];",
                offsetof(rewrite_param, block) + 4 * i);
        rw_line(b, "setp.eq.u32 __wl_p, __wl_u, __wl_t;");
        rw_line(b, "@__wl_p mov.u32 __wl_slot, %u;", i);
    }
    rw_line(b, "setp.eq.u32 __wl_p, __wl_slot, %u;", REWRITE_MAX_BLOCKS);
    rw_text(b, "\t@__wl_p bra $__wl_untraced;\n");
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
    rw_write_vars(b);
    if (gathers(b))
        rw_text(b, "\tmov.u32 __wl_gone, 0;\n");
    EACH_PASS(b, enter, b);
    print_copy(b, false);
    b->func = original;
}

static void declare_all(rw_body *b, uint32_t probes)
{
    b->probes = probes;
    rw_declare(b);
    if (b->plan->control->nedges)
        rw_text(b, "\t.reg .b32 __wl_here, __wl_whole, __wl_gone;\n");
    EACH_PASS(b, declare, b);
}

void rw_print_kernel_body(ptx_text *out, rw_plan *plan)
{
    uint32_t labels = 0, probes = plan->out->probes, trace = 1u << REWRITE_TRACE;
    rw_body b = {.out = out, .plan = plan, .f = &plan->flow->funcs[0], .labels = &labels};
    b.func = rw_printed(plan, 0);
    print_outer_declarations(&b);
    declare_all(&b, probes);
    rw_load_addresses(&b);
    if (has_clones(plan))
        rw_text(&b, "\t.local .align 8 .b8 __wl_stack[24];\n");
    print_entry(&b, probes == trace);
    if (probes & trace) {
        print_choice(&b);
        print_probed_copy(&b, probes, "__wl_t");
        rw_text(&b, "$__wl_untraced:\n");
    }
    if (probes & ~trace)
        print_probed_copy(&b, probes & ~trace, "__wl_c");
    if (probes & ~trace && plan->alone) /* it always has a state */
        return;
    rw_text(&b, "$__wl_plain:\n");
    b.probes = 0;
    print_copy(&b, false);
}

void rw_print_clone_body(ptx_text *out, rw_plan *plan, uint32_t index, uint32_t probes)
{
    uint32_t labels = 0;
    rw_body b = {.out = out,
                 .plan = plan,
                 .index = index,
                 .f = &plan->flow->funcs[index],
                 .labels = &labels};
    b.func = rw_printed(plan, index);
    declare_all(&b, probes);
    rw_load_addresses(&b);
    rw_text(&b, "\tld.param.u64 __wl_frame, [__wl_caller];\n"
                "\tld.local.u64 __wl_state, [__wl_frame];\n"
                "\tmov.u32 __wl_lane, %laneid;\n");
    if (rw_has(&b, REWRITE_TRACE))
        rw_restore_trace(&b);
    rw_write_vars(&b);
    EACH_PASS(&b, enter, &b);
    print_copy(&b, true);
}

void rw_print_plain_body(ptx_text *out, rw_plan *plan, uint32_t index)
{
    uint32_t labels = 0;
    rw_body b = {.out = out,
                 .plan = plan,
                 .index = index,
                 .f = &plan->flow->funcs[index],
                 .labels = &labels};
    b.func = rw_printed(plan, index);
    rw_load_addresses(&b);
    print_copy(&b, true);
}
