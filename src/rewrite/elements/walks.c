/* Walks: sites of a loop whose elements are noted once, after it. Where flow has an address as a
 * linear form of which only the loop's counter changes, and linearly, and the access runs in each
 * iteration, a lane's addresses are first, first + step, ... last. walk_code.c says what is done
 * about them. */
#include "rewrite/elements/elements.h"

#include "flow/affine.h"

enum { MAX_LEADERS = 12, MAX_WALKS = 28 /* of a function: registers, and code */ };

static uint32_t loop_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return f->loops.of[rw_block_of(p, f, site)];
}

static const flow_affine *form_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return f->affine[p->addresses[site]->value];
}

int64_t rw_offset_of(const rw_plan *p, uint32_t site)
{
    return (int64_t)p->addresses[site]->operand->imm;
}

static int64_t covered_by(const rw_plan *p, uint32_t site)
{
    return 4 * (int64_t)rw_elements(&p->sites[site]);
}

static bool is_candidate(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const rewrite_probe_site *s = &p->sites[site];
    uint32_t i = s->pc - f->first_pc, loop = loop_of(p, f, site), slot = p->elements->slot_of[site],
             value = p->addresses[site]->value;
    bool counts = p->out->probes >> REWRITE_FREQUENCY & 1;
    return s->space == IR_SPACE_GLOBAL && slot != IR_NONE && !p->elements->walk[site].given_up &&
           p->elements->slots[slot].param != IR_NONE && f->func->insns[i].guard == IR_NONE &&
           !(s->flags & ACC_ASYNC) && loop != FLOW_NONE && !f->loops.irreducible &&
           value != FLOW_NONE && f->affine[value] && (s->bytes >= 4 || !counts) &&
           ir_type_get(f->func->regs[p->addresses[site]->operand->reg].type)->bits == 64 &&
           rw_is_walk(f, f->affine[value], loop) &&
           rw_runs_in_each_iteration(f, rw_block_of(p, f, site), loop);
}

/* How far the base moves in an iteration; false where that is not known. */
static bool find_base_step(const flow_affine *form, uint32_t loop, int64_t *step)
{
    flow_symbol counter = {FLOW_SYM_LOOP, loop, 0};
    *step = 0;
    return !flow_affine_has(form, counter) || flow_affine_coefficient(form, counter, step);
}

static bool calls_between(const flow_function *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (f->func->insns[i].op == IR_call)
            return true;
    return false;
}

/* Do the two run together, through one slot? `a` comes first. */
static bool run_through_one_slot(const rw_plan *p, const flow_function *f, uint32_t a, uint32_t b)
{
    return is_candidate(p, f, b) && rw_block_of(p, f, a) == rw_block_of(p, f, b) &&
           p->elements->slot_of[a] == p->elements->slot_of[b] &&
           !calls_between(f, p->sites[a].pc - f->first_pc, p->sites[b].pc - f->first_pc);
}

/* Do the bases of the two stay at one distance in their loop? */
static bool move_alike(rw_plan *p, const flow_function *f, uint32_t a, uint32_t b)
{
    flow_symbol counter = {FLOW_SYM_LOOP, loop_of(p, f, a), 0};
    const flow_affine *apart = flow_affine_add(&p->flow->mem, form_of(p, f, a), form_of(p, f, b),
                                               -1);
    return apart && !flow_affine_has(apart, counter);
}

/* The first site after the site's basic block. */
static uint32_t end_of_block(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const flow_block *block = &f->blocks[rw_block_of(p, f, site)];
    return p->site_first[f->first_pc + block->first + block->count];
}

static void join_walk(rw_plan *p, uint32_t site, uint32_t loop, uint32_t head, uint32_t leader)
{
    p->elements->walk[site] = (rw_walk){
        .loop = loop, .head = head, .leader = leader, .count = p->elements->walk[leader].count};
    int64_t from = rw_offset_of(p, site), to = from + covered_by(p, site);
    rw_walk *h = &p->elements->walk[head];
    if (site == head)
        h->low = from, h->high = to, h->highest = from;
    h->low = from < h->low ? from : h->low;
    h->high = to > h->high ? to : h->high;
    h->highest = from > h->highest ? from : h->highest;
    h->covered += to - from;
}

/* Where the pieces of the walk's sites that begin at `from` or before reach without a gap. */
static int64_t reach_without_gap(const rw_plan *p, uint32_t head, uint32_t end, int64_t from)
{
    int64_t to = from;
    for (uint32_t s = head; s < end; s++)
        if (p->elements->walk[s].loop != FLOW_NONE && p->elements->walk[s].head == head &&
            rw_offset_of(p, s) <= from && rw_offset_of(p, s) + covered_by(p, s) > to)
            to = rw_offset_of(p, s) + covered_by(p, s);
    return to;
}

static void find_density(rw_plan *p, uint32_t head, uint32_t end, int64_t step)
{
    rw_walk *h = &p->elements->walk[head];
    int64_t width = h->high - h->low, moved = step < 0 ? -step : step, to = h->low, from;
    do {
        from = to;
        to = reach_without_gap(p, head, end, from);
    } while (to > from);
    h->gapless = to == h->high && moved <= width;
    h->dense = to == h->high && moved == width && h->covered == width;
}

/* The tables for the slot and step; with a step of 0, which is not known before the launch, those
 * of the leader. */
static uint32_t find_walk_table(rw_plan *p, uint32_t slot, uint32_t leader, uint64_t step)
{
    for (uint32_t i = 0; i < p->elements->nwalks; i++)
        if (p->elements->walks[i].slot == slot && p->elements->walks[i].step == step &&
            (step || p->elements->walk_leader[i] == leader))
            return i;
    if (p->elements->nwalks == REWRITE_WALKS)
        return IR_NONE;
    p->elements->walks[p->elements->nwalks] = (rewrite_walk_key){slot, step};
    p->elements->walk_leader[p->elements->nwalks] = leader;
    return p->elements->nwalks++;
}

/* Makes a walk of the sites with the head's base. */
static void form_walk(rw_plan *p, const flow_function *f, uint32_t head, uint32_t leader)
{
    uint32_t loop = loop_of(p, f, head), end = end_of_block(p, f, head);
    int64_t step;
    for (uint32_t s = head; s < end; s++)
        if (p->elements->walk[s].loop == FLOW_NONE && run_through_one_slot(p, f, leader, s) &&
            p->addresses[s]->value == p->addresses[head]->value)
            join_walk(p, s, loop, head, leader);
    rw_walk *h = &p->elements->walk[head];
    h->known = find_base_step(form_of(p, f, head), loop, &step);
    h->step = step;
    if (h->known)
        find_density(p, head, end, step);
    uint64_t table = !h->known ? 0 : h->dense ? 4 : (uint64_t)(step < 0 ? -step : step);
    h->table = h->known && !step ? IR_NONE
                                 : find_walk_table(p, p->elements->slot_of[head], leader, table);
}

/* Leaders that run together count iterations together: in the register of the first. */
static void find_count(rw_plan *p, const flow_function *f, uint32_t leader)
{
    p->elements->walk[leader].count = leader;
    for (uint32_t s = p->site_first[f->first_pc]; s < leader; s++)
        if (p->elements->walk[s].loop != FLOW_NONE && p->elements->walk[s].leader == s &&
            p->elements->walk[s].count == s && rw_block_of(p, f, s) == rw_block_of(p, f, leader) &&
            !calls_between(f, p->sites[s].pc - f->first_pc, p->sites[leader].pc - f->first_pc)) {
            p->elements->walk[leader].count = s;
            return;
        }
}

/* Makes `leader` the leader of all walks that move as its own, `most` at most. Returns how many
 * there are. */
static uint32_t form_walks(rw_plan *p, const flow_function *f, uint32_t leader, uint32_t most)
{
    uint32_t end = end_of_block(p, f, leader), walks = 0;
    find_count(p, f, leader);
    for (uint32_t h = leader; h < end && walks < most; h++) {
        if (p->elements->walk[h].loop != FLOW_NONE || !run_through_one_slot(p, f, leader, h) ||
            !move_alike(p, f, leader, h))
            continue;
        form_walk(p, f, h, leader);
        walks++;
    }
    return walks;
}

/* ---- walks that are not worth it ---- */

/* Are there accesses in the loop that are noted in each iteration anyway? */
static bool notes_in_loop(const rw_plan *p, const flow_function *f, uint32_t loop)
{
    for (uint32_t s = rw_first_site(p, f); s < rw_end_of_sites(p, f); s++)
        if (p->elements->slot_of[s] != IR_NONE && loop_of(p, f, s) == loop &&
            !is_candidate(p, f, s))
            return true;
    return false;
}

/* Is each element of the walk marked by itself, without a look? (rw_choose_marks()) */
static bool marks_each(const rw_plan *p, const flow_function *f, uint32_t head)
{
    return !p->elements->walk[head].gapless && rw_is_loaded(p, f, head) && !rw_reuse_of(p, f, head);
}

/* Marks that are set one by one after the loop are no fewer than in it: there they can stand beside
 * others, and take no registers. */
static bool is_worth_it(const rw_plan *p, const flow_function *f, uint32_t leader)
{
    bool marks = rw_plan_has(p, REWRITE_TOUCH) && !rw_plan_has(p, REWRITE_FREQUENCY);
    if (!marks || !notes_in_loop(p, f, loop_of(p, f, leader)))
        return true;
    for (uint32_t s = leader; s < end_of_block(p, f, leader); s++)
        if (p->elements->walk[s].loop != FLOW_NONE && p->elements->walk[s].leader == leader &&
            !marks_each(p, f, p->elements->walk[s].head))
            return true;
    return false;
}

static void give_up_walks(rw_plan *p, const flow_function *f, uint32_t leader)
{
    for (uint32_t s = leader; s < end_of_block(p, f, leader); s++)
        if (p->elements->walk[s].loop != FLOW_NONE && p->elements->walk[s].leader == leader)
            p->elements->walk[s] = (rw_walk){.loop = FLOW_NONE, .given_up = true};
}

/* Returns how many walks have the leader now. */
static uint32_t try_walks(rw_plan *p, const flow_function *f, uint32_t leader, uint32_t most)
{
    uint32_t tables = p->elements->nwalks, walks = form_walks(p, f, leader, most);
    if (is_worth_it(p, f, leader))
        return walks;
    give_up_walks(p, f, leader);
    p->elements->nwalks = tables;
    return 0;
}

/* Needs: sites, slots. Fills: walk, walks, walk_leader. */
wl_status rw_pass_walks(rw_plan *p)
{
    uint32_t elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;
    p->elements->walk = wl_new_array(p->arena, rw_walk, (size_t)p->nsites + 1);
    if (!p->elements->walk)
        return WL_NOMEM;
    for (uint32_t s = 0; s < p->nsites; s++)
        p->elements->walk[s].loop = FLOW_NONE;
    for (uint32_t k = 0; p->out->probes & elements && k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t leaders = MAX_LEADERS, walks = MAX_WALKS;
        uint32_t end = p->site_first[p->code.first_pc[k + 1]];
        for (uint32_t s = p->site_first[f->first_pc]; leaders && walks && s < end; s++)
            if (p->elements->walk[s].loop == FLOW_NONE && is_candidate(p, f, s)) {
                uint32_t formed = try_walks(p, f, s, walks);
                walks -= formed;
                leaders -= formed > 0;
            }
    }
    p->out->nwalks = p->elements->nwalks;
    p->out->walks = p->elements->walks;
    return WL_OK;
}
