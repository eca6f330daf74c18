/* Pieces of code that write one record of the trace each: regions (regions.c) and loops.
 *
 * A record has one *base* for each register that addresses are relative to. A loop is one piece
 * where it has no loop and no branch inside, but for its exits, and flow has all its addresses as
 * forms that are linear in the loop's counter: then the lanes that enter together stay together
 * until they leave, and the addresses of two iterations and how many a lane ran say all. A base
 * that is known where the iteration begins is written there in the first two; one that is computed
 * later is in its register still when the loop is left, and moves as another one does, or by a
 * constant. A form may assume that a 32-bit index does not wrap within the loop. */
#include "flow/affine.h"
#include "rewrite/trace/trace.h"

#include <string.h>

enum { MAX_LOOP_BASES = 32 };

/* ---- bases ---- */

static const ir_insn *insn_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return &f->func->insns[p->sites[site].pc - f->first_pc];
}

/* Has the site a base of its own, with the whole address, or none where the lane's guard is
 * false? */
static bool is_alone(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const ir_insn *insn = insn_of(p, f, site);
    const ir_operand *o = p->addresses[site]->operand;
    return insn->guard != IR_NONE || rw_is_matrix(insn) || o->reg == IR_NONE || o->component ||
           p->sites[site].flags & (ACC_GENERIC | ACC_ASYNC);
}

uint32_t rw_find_base(const rw_plan *p, const flow_function *f, uint32_t first, uint32_t site)
{
    for (uint32_t s = first; s < site && !p->trace->spots[site].alone; s++)
        if (p->trace->opens[s] && !p->trace->spots[s].alone &&
            p->addresses[s]->value == p->addresses[site]->value &&
            p->addresses[s]->operand->reg == p->addresses[site]->operand->reg &&
            flow_dominates(&f->dom, rw_block_of(p, f, s), rw_block_of(p, f, site)))
            return s;
    return site;
}

static uint32_t listed_as(const rw_plan *p, const ir_var *var)
{
    for (uint32_t i = 0; i < p->nvars; i++)
        if (p->vars[i].var == var)
            return i;
    return IR_NONE;
}

/* Is the base at a constant distance from a variable whose address the kernel writes down? */
static bool is_of_var(const rw_plan *p, const flow_function *f, uint32_t site, uint32_t *var,
                      int64_t *offset)
{
    const flow_address *a = p->addresses[site];
    const flow_affine *form = a->value == FLOW_NONE ? NULL : f->affine[a->value];
    *var = IR_NONE, *offset = 0;
    if (a->operand->reg == IR_NONE && a->operand->has_sym)
        *var = a->operand->sym.kind == IR_SYM_VAR ? listed_as(p, a->operand->sym.var) : IR_NONE;
    for (uint32_t t = 0; form && t < form->nterms; t++) {
        const flow_term *term = &form->terms[t];
        if (term->nfactors == 0)
            *offset = term->coefficient;
        else if (*var == IR_NONE && term->nfactors == 1 && term->coefficient == 1 &&
                 term->factors[0].kind == FLOW_SYM_BASE)
            *var = listed_as(p, p->flow->objects[term->factors[0].a].var);
        else
            return false;
    }
    return *var != IR_NONE;
}

rewrite_spot rw_spot_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const ir_operand *o = p->addresses[site]->operand;
    uint32_t var;
    int64_t offset;
    const ir_insn *insn = insn_of(p, f, site);
    bool alone = is_alone(p, f, site);
    if (insn->guard == IR_NONE && !rw_is_matrix(insn) && !o->component &&
        !(p->sites[site].flags & (ACC_GENERIC | ACC_ASYNC)) && is_of_var(p, f, site, &var, &offset))
        return (rewrite_spot){.var = 1 + var, .offset = offset + (int64_t)o->imm};
    return (rewrite_spot){.alone = alone,
                          .narrow = !alone && ir_type_get(f->func->regs[o->reg].type)->bits < 64,
                          .offset = alone ? 0 : (int64_t)o->imm};
}

/* ---- loops ---- */

static bool is_linear_site(const rw_plan *p, const flow_function *f, uint32_t site, uint32_t loop)
{
    const flow_address *a = p->addresses[site];
    const ir_insn *insn = insn_of(p, f, site);
    if (insn->guard != IR_NONE || rw_is_matrix(insn) || a->operand->component ||
        p->sites[site].flags & (ACC_GENERIC | ACC_ASYNC))
        return false;
    return a->operand->reg == IR_NONE || (a->value != FLOW_NONE && f->affine[a->value] &&
                                          rw_is_walk(f, f->affine[a->value], loop));
}

static bool has_inner_loop(const flow_function *f, uint32_t loop)
{
    for (uint32_t l = 0; l < f->loops.count; l++)
        if (f->loops.loops[l].parent == loop)
            return true;
    return false;
}

/* Calls, and ends of threads. */
static bool calls_or_ends_thread(const flow_function *f, uint32_t block)
{
    for (uint32_t i = 0; i < f->blocks[block].count; i++) {
        ir_op op = f->func->insns[f->blocks[block].first + i].op;
        if (op == IR_call || op == IR_ret || op == IR_exit)
            return true;
    }
    return false;
}

static bool leaves_loop(const flow_function *f, uint32_t block, uint32_t loop)
{
    for (uint32_t e = f->graph.succ_first[block]; e < f->graph.succ_first[block + 1]; e++)
        if (!flow_in_loop(&f->loops, loop, f->graph.succ[e]))
            return true;
    return false;
}

/* Does each iteration run through all blocks, and through all sites [first, end) or none? */
static bool is_straight(const rw_plan *p, const flow_function *f, uint32_t loop, uint32_t first,
                        uint32_t end)
{
    const flow_loop *l = &f->loops.loops[loop];
    uint32_t head = rw_block_of(p, f, first), tail = rw_block_of(p, f, end - 1);
    for (uint32_t n = l->first; n < l->first + l->count; n++) {
        uint32_t block = f->loops.nodes[n];
        bool outside = (block != head && flow_dominates(&f->dom, block, head)) ||
                       flow_dominates(&f->dom, tail, block);
        if (!rw_runs_in_each_iteration(f, block, loop) || calls_or_ends_thread(f, block) ||
            (leaves_loop(f, block, loop) && !outside))
            return false;
    }
    return true;
}

/* Sites [first, end) are those of the loop, if they follow each other. */
static bool is_piece(const rw_plan *p, const flow_function *f, uint32_t loop, uint32_t first,
                     uint32_t end)
{
    if (f->loops.irreducible || has_inner_loop(f, loop))
        return false;
    for (uint32_t s = first; s < end; s++)
        if (f->loops.of[rw_block_of(p, f, s)] != loop || !is_linear_site(p, f, s, loop) ||
            (s > first && !flow_dominates(&f->dom, rw_block_of(p, f, s - 1), rw_block_of(p, f, s))))
            return false;
    return is_straight(p, f, loop, first, end);
}

/* Is the base known where the piece begins? */
static bool is_known_at_start(const rw_plan *p, const flow_function *f, uint32_t site,
                              const rw_piece *piece)
{
    if (p->trace->spots[site].alone || p->trace->spots[site].var)
        return true;
    const flow_value *v = &f->values[p->addresses[site]->value];
    return v->kind == FLOW_VALUE_ENTRY || !flow_in_loop(&f->loops, piece->loop, v->block) ||
           (v->block == piece->block ? v->kind == FLOW_VALUE_PHI
                                     : flow_dominates(&f->dom, v->block, piece->block));
}

bool rw_keeps_register(const flow_function *f, uint32_t value)
{
    for (uint32_t v = 0; v < f->nvalues; v++)
        if (v != value && f->values[v].reg == f->values[value].reg &&
            f->values[v].kind == FLOW_VALUE_INSN)
            return false;
    return f->values[value].kind == FLOW_VALUE_INSN && f->values[value].old == FLOW_NONE;
}

/* A block after the loop that is after another one, too, does not know which was run. */
static bool shares_followers(const flow_function *f, uint32_t loop)
{
    for (uint32_t l = 0; l < f->loops.count; l++)
        for (uint32_t b = 0; l != loop && b < f->nblocks; b++)
            if (rw_follows_loop(f, b, loop) && rw_follows_loop(f, b, l))
                return true;
    return false;
}

/* Finds how far the base of a late site moves in an iteration. */
static bool find_late_step(rw_plan *p, const flow_function *f, const rw_piece *piece, uint32_t site)
{
    flow_symbol counter = {FLOW_SYM_LOOP, piece->loop, 0};
    rewrite_spot *spot = &p->trace->spots[site];
    const flow_affine *form = f->affine[p->addresses[site]->value];
    if (!flow_affine_has(form, counter) || flow_affine_coefficient(form, counter, &spot->step))
        return true;
    for (uint32_t s = piece->first; s < piece->end; s++) {
        const rewrite_spot *other = &p->trace->spots[s];
        if (!p->trace->opens[s] || other->last || other->alone || other->narrow != spot->narrow)
            continue;
        const flow_affine *apart = flow_affine_add(&p->flow->mem, form,
                                                   f->affine[p->addresses[s]->value], -1);
        spot->step_row = other->row;
        if (apart && !flow_affine_has(apart, counter))
            return true;
    }
    return false;
}

static uint32_t end_of_loop(const rw_plan *p, const flow_function *f, uint32_t loop)
{
    const flow_loop *l = &f->loops.loops[loop];
    uint32_t end = 0;
    for (uint32_t n = l->first; n < l->first + l->count; n++) {
        const flow_block *b = &f->blocks[f->loops.nodes[n]];
        uint32_t site = p->site_first[f->first_pc + b->first + b->count];
        end = site > end ? site : end;
    }
    return end;
}

rw_piece *rw_new_piece(rw_plan *p, uint32_t k, uint32_t first, uint32_t loop)
{
    rw_piece *piece = &p->trace->pieces[p->trace->npieces++];
    *piece = (rw_piece){.func = k, .loop = loop, .first = first, .end = first};
    return piece;
}

/* Gives rows to bases, early ones first; false where one cannot be told. */
static bool place_loop_bases(rw_plan *p, const flow_function *f, rw_piece *piece)
{
    for (uint32_t s = piece->first; s < piece->end; s++) {
        p->trace->spots[s] = rw_spot_of(p, f, s);
        p->trace->opens[s] = !p->trace->spots[s].var && rw_find_base(p, f, piece->first, s) == s;
        p->trace->spots[s].last = !is_known_at_start(p, f, s, piece);
        if (p->trace->opens[s] && !p->trace->spots[s].last)
            p->trace->spots[s].step_row = p->trace->spots[s].row = 1 + piece->early++;
    }
    for (uint32_t s = piece->first; s < piece->end; s++) {
        rewrite_spot *spot = &p->trace->spots[s];
        if (!p->trace->opens[s] || !spot->last)
            continue;
        spot->row = 1 + 2 * piece->early + piece->late++;
        if (!rw_keeps_register(f, p->addresses[s]->value) || !find_late_step(p, f, piece, s))
            return false;
    }
    piece->rows = 2 + 2 * piece->early + piece->late;
    return piece->early + piece->late <= MAX_LOOP_BASES &&
           (!piece->late || !shares_followers(f, piece->loop));
}

/* Makes the loop whose first site this is one piece, if it can be. */
static void form_loop(rw_plan *p, uint32_t k, uint32_t first)
{
    const flow_function *f = &p->flow->funcs[k];
    uint32_t loop = f->loops.of[rw_block_of(p, f, first)];
    uint32_t end = loop != FLOW_NONE ? end_of_loop(p, f, loop) : 0;
    if (loop == FLOW_NONE || end <= first || !is_piece(p, f, loop, first, end))
        return;
    rw_piece *piece = rw_new_piece(p, k, first, loop);
    piece->block = rw_block_of(p, f, first);
    piece->end = end;
    if (!rw_summarize_loop(p, f, piece) && !place_loop_bases(p, f, piece)) {
        p->trace->npieces--;
        return;
    }
    for (uint32_t s = first; s < end; s++) {
        int64_t offset = p->trace->spots[s].offset;
        p->trace->spots[s] = p->trace->spots[rw_find_base(p, f, first, s)];
        p->trace->spots[s].offset = offset;
        p->trace->piece_of[s] = p->trace->npieces - 1;
    }
}

/* The loops that are pieces. Each is tried where its first site is. */
static void form_loops(rw_plan *p, uint32_t k, bool *tried)
{
    const flow_function *f = &p->flow->funcs[k];
    uint32_t end = p->site_first[p->code.first_pc[k + 1]];
    for (uint32_t s = p->site_first[p->code.first_pc[k]]; s < end; s++) {
        uint32_t loop = f->loops.of[rw_block_of(p, f, s)];
        if (loop == FLOW_NONE || tried[loop])
            continue;
        tried[loop] = true;
        form_loop(p, k, s);
    }
}

/* ---- the whole ---- */

static uint32_t list_keeps(const rw_plan *p, uint32_t piece, rewrite_keep *out)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->trace->nkeeps; i++)
        if (p->trace->keeps[i].piece == piece)
            out[n++] = p->trace->keeps[i].keep;
    return n;
}

static uint32_t first_pc_of(const rw_plan *p, const rw_piece *piece)
{
    const flow_function *f = &p->flow->funcs[piece->func];
    return f->first_pc + f->blocks[piece->block].first;
}

static wl_status publish_pieces(rw_plan *p)
{
    rewrite_piece *all = wl_new_array(p->arena, rewrite_piece, (size_t)p->trace->npieces + 1);
    rewrite_keep *keeps = wl_new_array(p->arena, rewrite_keep, REWRITE_KEPT);
    uint32_t nkeeps = 0;
    if (!all || !keeps)
        return WL_NOMEM;
    for (uint32_t i = 0; i < p->trace->npieces; i++) {
        const rw_piece *from = &p->trace->pieces[i];
        all[i] = (rewrite_piece){.first_site = from->first,
                                 .nsites = from->end - from->first,
                                 .first_keep = nkeeps,
                                 .nkeeps = list_keeps(p, i, keeps + nkeeps),
                                 .rows = from->rows,
                                 .first_pc = first_pc_of(p, from),
                                 .early = from->early,
                                 .loop = from->loop != FLOW_NONE,
                                 .count_row = from->summarized ? from->count_row : 0,
                                 .by_row = from->summarized ? from->by_row : 0,
                                 .count_step = from->count_step,
                                 .count_narrow = from->count_narrow};
        nkeeps += all[i].nkeeps;
        if (all[i].rows >= p->out->tail_rows)
            p->out->tail_rows = all[i].rows + 1;
    }
    p->out->pieces = all, p->out->npieces = p->trace->npieces;
    p->out->spots = p->trace->spots, p->out->keeps = keeps;
    return WL_OK;
}

static wl_status allocate_trace(rw_plan *p)
{
    size_t n = (size_t)p->nsites + 1, npcs = (size_t)p->proof.npcs + 1,
           nvalues = (size_t)p->flow->funcs[0].nvalues + 1;
    p->trace->pieces = wl_new_array(p->arena, rw_piece, n + REWRITE_KEPT);
    p->trace->spots = wl_new_array(p->arena, rewrite_spot, n);
    p->trace->piece_of = wl_new_array(p->arena, uint32_t, n);
    p->trace->opens = wl_new_array(p->arena, bool, n);
    p->trace->record_at = wl_new_array(p->arena, uint32_t, npcs);
    p->trace->begins_at = wl_new_array(p->arena, uint32_t, npcs);
    p->trace->ends_at = wl_new_array(p->arena, uint32_t, npcs);
    p->trace->ran_at = wl_new_array(p->arena, uint8_t, npcs);
    p->trace->keep_at = wl_new_array(p->arena, uint32_t, nvalues);
    p->trace->opened_at = wl_new_array(p->arena, uint32_t, nvalues);
    if (!p->trace->pieces || !p->trace->spots || !p->trace->piece_of || !p->trace->opens ||
        !p->trace->record_at || !p->trace->begins_at || !p->trace->ends_at || !p->trace->ran_at ||
        !p->trace->keep_at || !p->trace->opened_at)
        return WL_NOMEM;
    memset(p->trace->begins_at, 0xff, npcs * sizeof *p->trace->begins_at);
    memset(p->trace->ends_at, 0xff, npcs * sizeof *p->trace->ends_at);
    memset(p->trace->piece_of, 0xff, n * sizeof *p->trace->piece_of);
    memset(p->trace->record_at, 0xff, npcs * sizeof *p->trace->record_at);
    memset(p->trace->keep_at, 0xff, nvalues * sizeof *p->trace->keep_at);
    memset(p->trace->opened_at, 0xff, nvalues * sizeof *p->trace->opened_at);
    return WL_OK;
}

/* Needs: sites, variables. Fills: trace, and of the kernel's result pieces, spots and keeps. */
wl_status rw_pass_records(rw_plan *p)
{
    if (!rw_plan_has(p, REWRITE_TRACE))
        return WL_OK;
    wl_status status = allocate_trace(p);
    for (uint32_t k = 0; status == WL_OK && k < p->code.count; k++) {
        bool *tried = wl_new_array(p->arena, bool, (size_t)p->flow->funcs[k].loops.count + 1);
        if (!tried)
            return WL_NOMEM;
        form_loops(p, k, tried);
        rw_form_regions(p, k);
    }
    return status == WL_OK ? publish_pieces(p) : status;
}
