/* Loops that the trace tells of from outside: nothing is written in them, and they are compiled as
 * they were.
 *
 * Such a loop is entered from one block, which leads nowhere else, and left where it would begin
 * its next iteration; so each iteration runs all of it. A register that its header finds changed by
 * the same in each iteration has, after the loop, moved by that times the number of iterations: so
 * one whose step is known, or is in a register, tells the number, and then others tell their steps.
 * What is written before the loop is what the header finds first, after it what an iteration more
 * would find. */
#include "flow/affine.h"
#include "rewrite/trace/trace.h"

#include <string.h>

/* ---- the loop ---- */

/* The only node before the loop's header that is in the loop, or that is not; FLOW_NONE: there are
 * others. */
static uint32_t only_before(const flow_function *f, uint32_t loop, bool inside)
{
    uint32_t header = f->loops.loops[loop].header, only = FLOW_NONE, n = 0;
    for (uint32_t e = f->graph.pred_first[header]; e < f->graph.pred_first[header + 1]; e++) {
        if (flow_in_loop(&f->loops, loop, f->graph.pred[e]) != inside)
            continue;
        only = f->graph.pred[e];
        n++;
    }
    return n == 1 ? only : FLOW_NONE;
}

static uint32_t last_insn(const flow_function *f, uint32_t block)
{
    return f->blocks[block].first + f->blocks[block].count - 1;
}

/* Does the branch at the end of the block go to the header, and the way out of the loop fall
 * through? */
static bool falls_out(const flow_function *f, uint32_t loop, uint32_t latch)
{
    const ir_insn *insn = &f->func->insns[last_insn(f, latch)];
    const flow_graph *g = &f->graph;
    if (insn->op != IR_bra || insn->guard == IR_NONE || flow_nsucc(g, latch) != 2)
        return false;
    for (uint32_t e = g->succ_first[latch]; e < g->succ_first[latch + 1]; e++)
        if (g->succ[e] != f->loops.loops[loop].header &&
            (g->succ[e] >= f->nblocks || f->blocks[g->succ[e]].first != last_insn(f, latch) + 1))
            return false;
    return true;
}

static bool leaves_elsewhere(const flow_function *f, uint32_t loop, uint32_t latch)
{
    const flow_loop *l = &f->loops.loops[loop];
    for (uint32_t n = l->first; n < l->first + l->count; n++) {
        uint32_t block = f->loops.nodes[n];
        for (uint32_t e = f->graph.succ_first[block]; e < f->graph.succ_first[block + 1]; e++)
            if (block != latch && !flow_in_loop(&f->loops, loop, f->graph.succ[e]))
                return true;
    }
    return false;
}

/* Finds the instructions after which the loop begins and ends. */
static bool find_loop_ends(const flow_function *f, rw_piece *piece)
{
    uint32_t before = only_before(f, piece->loop, false), latch = only_before(f, piece->loop, true);
    if (before == FLOW_NONE || latch == FLOW_NONE || flow_nsucc(&f->graph, before) != 1 ||
        f->func->insns[last_insn(f, before)].op == IR_call || !falls_out(f, piece->loop, latch) ||
        leaves_elsewhere(f, piece->loop, latch))
        return false;
    piece->entry = last_insn(f, before);
    piece->exit = last_insn(f, latch);
    return true;
}

/* ---- bases ---- */

static bool has_step(const flow_function *f, uint32_t value, uint32_t loop, int64_t *step)
{
    const flow_affine *form = f->affine[value];
    flow_symbol counter = {FLOW_SYM_LOOP, loop, 0};
    *step = 0;
    return form && rw_is_walk(f, form, loop) &&
           (!flow_affine_has(form, counter) || flow_affine_coefficient(form, counter, step));
}

static bool is_of_header(const flow_function *f, uint32_t value, uint32_t loop)
{
    const flow_value *v = &f->values[value];
    return v->kind == FLOW_VALUE_PHI && v->block == f->loops.loops[loop].header;
}

static bool is_narrow_value(const flow_function *f, uint32_t value)
{
    return ir_type_get(f->func->regs[f->values[value].reg].type)->bits < 64;
}

/* Is the register one that can be written before and after the loop, and a number? */
static bool can_be_named(const flow_function *f, uint32_t value)
{
    const ir_reg *reg = &f->func->regs[f->values[value].reg];
    uint32_t bits = ir_type_get(reg->type)->bits;
    return reg->scope == 0 && reg->vector == 1 && (bits == 32 || bits == 64);
}

/* Is the base known before the loop begins? */
static bool is_known_before_loop(const rw_plan *p, const flow_function *f, uint32_t site,
                                 uint32_t loop)
{
    uint32_t value = p->addresses[site]->value;
    return p->trace->spots[site].alone || f->values[value].kind == FLOW_VALUE_ENTRY ||
           !flow_in_loop(&f->loops, loop, f->values[value].block) || is_of_header(f, value, loop);
}

static bool counts_iterations(const flow_function *f, uint32_t value, uint32_t loop)
{
    int64_t step;
    return value != FLOW_NONE && is_of_header(f, value, loop) && can_be_named(f, value) &&
           has_step(f, value, loop, &step) && step != 0;
}

/* What each iteration adds to the header's value, from a register that the loop does not change;
 * FLOW_NONE: it is not so. */
static uint32_t added_to(const flow_function *f, uint32_t value, uint32_t loop)
{
    const flow_value *v = &f->values[value];
    uint32_t latch = only_before(f, loop, true), next = FLOW_NONE;
    for (uint32_t e = f->graph.pred_first[v->block]; e < f->graph.pred_first[v->block + 1]; e++)
        if (f->graph.pred[e] == latch)
            next = f->args[v->first_arg + e - f->graph.pred_first[v->block]];
    const flow_value *n = next == FLOW_NONE ? NULL : &f->values[next];
    if (!n || n->kind != FLOW_VALUE_INSN || n->old != FLOW_NONE)
        return FLOW_NONE;
    const ir_insn *insn = &f->func->insns[n->insn];
    uint32_t use = f->use_first[n->insn];
    if (insn->op != IR_add || f->use_first[n->insn + 1] - use != 2 || insn->operands[1].neg ||
        insn->operands[2].neg)
        return FLOW_NONE;
    uint32_t a = f->uses[use].value, b = f->uses[use + 1].value, by = a == value ? b : a;
    bool fits = (a == value || b == value) && by != value && can_be_named(f, by) &&
                is_narrow_value(f, by) == is_narrow_value(f, value) &&
                (f->values[by].kind == FLOW_VALUE_ENTRY ||
                 !flow_in_loop(&f->loops, loop, f->values[by].block));
    return fits ? by : FLOW_NONE;
}

/* By how many times as much as the counter the base moves; false where that is not so. */
static bool moves_with(rw_plan *p, const flow_function *f, const rw_piece *piece, uint32_t value,
                       int64_t *times)
{
    const flow_symbol loop = {FLOW_SYM_LOOP, piece->loop, 0};
    const flow_affine *form = f->affine[value], *counter = f->affine[piece->counter];
    const flow_term *of = NULL;
    for (uint32_t t = 0; counter && t < counter->nterms; t++)
        for (uint32_t i = 0; i < counter->terms[t].nfactors; i++)
            if (memcmp(&counter->terms[t].factors[i], &loop, sizeof loop) == 0)
                of = &counter->terms[t];
    for (uint32_t t = 0; of && form && t < form->nterms; t++) {
        const flow_term *term = &form->terms[t];
        if (of->coefficient <= 0 || term->nfactors != of->nfactors ||
            term->coefficient % of->coefficient != 0 ||
            memcmp(term->factors, of->factors, of->nfactors * sizeof *of->factors) != 0)
            continue;
        *times = term->coefficient / of->coefficient;
        const flow_affine *rest = flow_affine_add(&p->flow->mem, form, counter, -*times);
        return rest && !flow_affine_has(rest, loop);
    }
    return false;
}

/* A value that tells the number of iterations, best one that is written anyway; FLOW_NONE: there is
 * none. */
static uint32_t find_loop_counter(const rw_plan *p, const flow_function *f, const rw_piece *piece)
{
    uint32_t header = f->loops.loops[piece->loop].header;
    for (uint32_t s = piece->first; s < piece->end; s++)
        if (counts_iterations(f, p->addresses[s]->value, piece->loop))
            return p->addresses[s]->value;
    for (uint32_t i = f->phi_first[header]; i < f->phi_first[header + 1]; i++)
        if (f->phis[i] < f->nvalues && f->values[f->phis[i]].reg < f->func->nregs &&
            counts_iterations(f, f->phis[i], piece->loop))
            return f->phis[i];
    for (uint32_t i = f->phi_first[header]; i < f->phi_first[header + 1]; i++)
        if (f->values[f->phis[i]].reg < f->func->nregs && can_be_named(f, f->phis[i]) &&
            f->affine[f->phis[i]] && added_to(f, f->phis[i], piece->loop) != FLOW_NONE)
            return f->phis[i];
    return FLOW_NONE;
}

/* Rows for a base, or for what it is before and after the loop: of narrow ones the two halves of a
 * row. */
static uint32_t take_rows(rw_piece *piece, bool pair, bool narrow)
{
    uint32_t row = piece->rows;
    piece->rows += pair && !narrow ? 2 : 1;
    return row;
}

static void place_early(rw_plan *p, const flow_function *f, rw_piece *piece, uint32_t site)
{
    rewrite_spot *spot = &p->trace->spots[site];
    uint32_t value = p->addresses[site]->value;
    bool known = spot->alone || has_step(f, value, piece->loop, &spot->step);
    if (!known && piece->by != FLOW_NONE)
        known = spot->by_count = moves_with(p, f, piece, value, &spot->step);
    bool pair = !known || (!spot->alone && value == piece->counter);
    spot->row = take_rows(piece, pair, spot->narrow);
    spot->step_row = known ? 0 : spot->row;
    if (pair && value == piece->counter)
        piece->count_row = spot->row;
}

/* A base that is written after the loop; false where its step is not known, nor that of one before
 * the loop. */
static bool place_late(rw_plan *p, const flow_function *f, rw_piece *piece, uint32_t site)
{
    rewrite_spot *spot = &p->trace->spots[site];
    const flow_affine *form = f->affine[p->addresses[site]->value];
    flow_symbol counter = {FLOW_SYM_LOOP, piece->loop, 0};
    spot->row = take_rows(piece, false, spot->narrow);
    if (has_step(f, p->addresses[site]->value, piece->loop, &spot->step))
        return true;
    if (piece->by != FLOW_NONE &&
        (spot->by_count = moves_with(p, f, piece, p->addresses[site]->value, &spot->step)))
        return true;
    for (uint32_t s = piece->first; s < piece->end; s++) {
        const rewrite_spot *other = &p->trace->spots[s];
        if (!p->trace->opens[s] || other->last || !other->step_row || other->narrow != spot->narrow)
            continue;
        const flow_affine *apart = flow_affine_add(&p->flow->mem, form,
                                                   f->affine[p->addresses[s]->value], -1);
        spot->step_row = other->row;
        if (apart && !flow_affine_has(apart, counter))
            return true;
    }
    return false;
}

static bool place_summary_bases(rw_plan *p, const flow_function *f, rw_piece *piece)
{
    for (uint32_t s = piece->first; s < piece->end; s++) {
        p->trace->spots[s] = rw_spot_of(p, f, s);
        p->trace->opens[s] = !p->trace->spots[s].var && rw_find_base(p, f, piece->first, s) == s;
        if (p->trace->spots[s].var)
            continue;
        p->trace->spots[s].last = !is_known_before_loop(p, f, s, piece->loop);
        if (!p->trace->spots[s].alone && !can_be_named(f, p->addresses[s]->value))
            return false;
        if (p->trace->opens[s] && !p->trace->spots[s].last)
            place_early(p, f, piece, s);
    }
    if (!piece->count_row)
        piece->count_row = take_rows(piece, true, is_narrow_value(f, piece->counter));
    if (piece->by != FLOW_NONE)
        piece->by_row = take_rows(piece, false, false);
    for (uint32_t s = piece->first; s < piece->end; s++)
        if (p->trace->opens[s] && p->trace->spots[s].last &&
            (!rw_keeps_register(f, p->addresses[s]->value) || !place_late(p, f, piece, s)))
            return false;
    return piece->rows <= RW_MAX_LOOP_ROWS;
}

bool rw_summarize_loop(rw_plan *p, const flow_function *f, rw_piece *piece)
{
    if (!find_loop_ends(f, piece) || (piece->counter = find_loop_counter(p, f, piece)) == FLOW_NONE)
        return false;
    piece->rows = 1, piece->count_row = piece->by_row = 0, piece->by = FLOW_NONE;
    if (!counts_iterations(f, piece->counter, piece->loop))
        piece->by = added_to(f, piece->counter, piece->loop);
    if (!place_summary_bases(p, f, piece))
        return false;
    if (piece->by == FLOW_NONE)
        has_step(f, piece->counter, piece->loop, &piece->count_step);
    piece->count_narrow = is_narrow_value(f, piece->counter);
    piece->summarized = true;
    p->trace->begins_at[f->first_pc + piece->entry] = (uint32_t)(piece - p->trace->pieces);
    p->trace->ends_at[f->first_pc + piece->exit] = (uint32_t)(piece - p->trace->pieces);
    return true;
}
