/* objects: which memory instructions ran.
 *
 * Needs: the guard of the site, the passes runs and bits. Keeps: everything. Buffers: `nbits` bits,
 * in copies by the number of the multiprocessor, since most warps of the first wave have something
 * to tell. Accesses without a guard in blocks of which one dominates the other and is
 * post-dominated by it run all, or none does: they share a bit, which the first of these blocks
 * sets, mostly one outside of loops. Those that follow from the launch need none: what all threads
 * run, or those for which branches on their place in the grid and on parameters lead there. Bits
 * are set in registers, and published when the thread leaves, as far as the multiprocessor's copy
 * lacks them; it looks there no earlier, so that no register is taken meanwhile. Which object an
 * instruction accessed follows from its parameter (rewrite_probe_site.param); where that is not
 * known, from the ranges (elements/ranges.c). */
#include "rewrite/code/body.h"

#include <string.h>

/* Bits beyond the registers are published at once. */
enum { MAX_WORDS = 8 };

/* ---- which bits ---- */

/* The first block of which every thread that runs it runs this one, too, and the other way
 * round. */
static uint32_t first_of(const flow_function *f, uint32_t block)
{
    uint32_t first = block;
    for (uint32_t a = f->dom.parent[block]; a != FLOW_NONE && a < f->nblocks; a = f->dom.parent[a])
        if (flow_dominates(&f->post, block, a))
            first = a;
    return first;
}

/* Do threads come to the block by nothing but what follows from the launch? */
static bool follows_from_launch(const rw_plan *p, const flow_function *f, uint32_t block)
{
    while (f->index == 0 && block != f->dom.root) {
        const rw_run *run = &p->control->runs[0][block];
        if (run->root != block || run->from == FLOW_NONE || !run->by_launch)
            return false;
        block = first_of(f, run->from);
    }
    return f->index == 0;
}

static bool has_guard(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const ir_insn *insn = &f->func->insns[p->sites[site].pc - f->first_pc];
    return insn->guard != IR_NONE || (insn->op == IR_cp && insn->noperands > 3);
}

static void plan_site_bit(rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t block = f->block_of[p->sites[site].pc - f->first_pc];
    p->objects->bit[site] = IR_NONE;
    p->objects->first_of[site] = IR_NONE;
    if (!f->blocks[block].reached || has_guard(p, f, site)) {
        p->objects->bit[site] = p->out->nbits++;
        return;
    }
    uint32_t first = p->objects->first_of[site] = first_of(f, block);
    uint32_t *bit = &p->objects->bit_at[f->first_pc + f->blocks[first].first];
    if (follows_from_launch(p, f, first))
        return;
    if (*bit == IR_NONE)
        *bit = p->out->nbits++;
    p->objects->bit[site] = *bit;
}

/* Nothing is to be recorded where all that would be follows from the launch, and other probes ask
 * for nothing. */
static void leave_alone(rw_plan *p)
{
    bool looks_up = false;
    for (uint32_t s = 0; s < p->nsites; s++)
        looks_up |= p->sites[s].param == IR_NONE &&
                    (p->sites[s].space == IR_SPACE_GLOBAL || p->sites[s].space == IR_SPACE_GENERIC);
    if (p->out->probes == 1u << REWRITE_OBJECTS && !p->out->nbits && !looks_up)
        p->out->probes = 0;
}

/* Needs: sites, runs. Fills: objects. */
wl_status rw_pass_bits(rw_plan *p)
{
    p->objects->bit = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    p->objects->first_of = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    p->objects->bit_at = wl_new_array(p->arena, uint32_t, (size_t)p->proof.npcs + 1);
    if (!p->objects->bit || !p->objects->first_of || !p->objects->bit_at)
        return WL_NOMEM;
    for (uint32_t pc = 0; pc < p->proof.npcs; pc++)
        p->objects->bit_at[pc] = IR_NONE;
    for (uint32_t k = 0; p->out->probes >> REWRITE_OBJECTS & 1 && k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        for (uint32_t s = p->site_first[f->first_pc]; s < p->site_first[p->code.first_pc[k + 1]];
             s++)
            plan_site_bit(p, f, s);
    }
    leave_alone(p);
    return WL_OK;
}

/* ---- code ---- */

static uint32_t words(const rw_body *b)
{
    uint32_t n = (b->plan->out->nbits + 31) / 32;
    return n < MAX_WORDS ? n : MAX_WORDS;
}

/* Does the copy's function set bits in the word? */
static bool uses_word(const rw_body *b, uint32_t word)
{
    uint32_t end = rw_end_of_sites(b->plan, b->f);
    for (uint32_t s = rw_first_site(b->plan, b->f); s < end; s++)
        if (b->plan->objects->bit[s] / 32 == word)
            return true;
    return false;
}

/* The register in which bits of the word are set until they are published. */
static rw_reg seen_in(uint32_t word)
{
    return (rw_reg){.kind = RW_OPD_DECLARED, .type = RW_B32, .name = "seen", .number = word};
}

static void declare_bits(rw_body *b)
{
    for (uint32_t w = 0; w < words(b); w++)
        if (uses_word(b, w))
            rw_declare(b, RW_B32, "seen", w);
}

static void enter_bits(rw_body *b)
{
    for (uint32_t w = 0; w < words(b); w++)
        if (uses_word(b, w))
            rw_do(b, mov_u32, seen_in(w), rw_number(0));
}

/* The multiprocessor's copy, less bits_at. */
static rw_reg find_bits(rw_body *b)
{
    rw_reg copy = rw_copy_number(b, REWRITE_COPIES);
    return rw_get(b, mad_wide_u32, copy, rw_number(b->plan->out->bits_bytes), b->state);
}

static void set_bit(rw_body *b, uint32_t bit, rw_opd guard)
{
    uint32_t word = bit / 32, mask = 1u << bit % 32, at = b->plan->out->bits_at + 4 * word;
    if (word < MAX_WORDS) {
        rw_when(b, guard, or_b32, seen_in(word), seen_in(word), rw_number(mask));
        return;
    }
    rw_reg bits = find_bits(b);
    rw_reg known = rw_get(b, ld_global_u32, rw_at(bits, at));
    rw_do(b, and_b32, known, known, rw_number(mask));
    rw_reg is_new = rw_temp(b, RW_PRED);
    rw_compare(b, RW_I_setp_eq_u32, RW_I_setp_eq_and_u32, is_new, known, rw_number(0), guard);
    rw_when(b, is_new, red_global_or_b32, rw_at(bits, at), rw_number(mask));
}

static void set_block_bit(rw_body *b, uint32_t block)
{
    uint32_t bit = b->plan->objects->bit_at[b->f->first_pc + b->f->blocks[block].first];
    if (bit != IR_NONE)
        set_bit(b, bit, (rw_opd){0});
}

static void see_access(rw_body *b, uint32_t site)
{
    if (b->plan->objects->first_of[site] == IR_NONE)
        set_bit(b, b->plan->objects->bit[site], b->guard);
}

/* Lanes that leave together publish together where the architecture can reduce over them. `bits`:
 * the multiprocessor's copy. */
static void publish_seen_word(rw_body *b, uint32_t word, rw_reg bits)
{
    rw_label nothing = rw_new_label(b, "nothing");
    uint32_t at = b->plan->out->bits_at + 4 * word;
    rw_reg known = rw_get(b, ld_global_u32, rw_at(bits, at));
    rw_reg unknown = rw_get(b, not_b32, known);
    rw_reg set = rw_get(b, and_b32, unknown, seen_in(word));
    rw_goto_if(b, rw_get(b, setp_eq_u32, set, rw_number(0)), nothing);
    if (rw_can_reduce(b->plan->module)) {
        rw_group(b, (rw_opd){0});
        rw_do(b, redux_sync_or_b32, set, set, b->warp.active);
        rw_when(b, b->warp.leads, red_global_or_b32, rw_at(bits, at), set);
    } else {
        rw_do(b, red_global_or_b32, rw_at(bits, at), set);
    }
    rw_put_label(b, nothing);
}

static void leave_bits(rw_body *b)
{
    bool any = false;
    for (uint32_t w = 0; w < words(b); w++)
        any |= uses_word(b, w);
    rw_reg bits = any ? find_bits(b) : (rw_reg){0};
    for (uint32_t w = 0; w < words(b); w++)
        if (uses_word(b, w))
            publish_seen_word(b, w, bits);
}

const rw_emitter rw_emitter_objects = {.probes = 1u << REWRITE_OBJECTS,
                                       .declare = declare_bits,
                                       .enter = enter_bits,
                                       .start = set_block_bit,
                                       .access = see_access,
                                       .leave = leave_bits};

/* ---- reading ---- */

/* `about`: the block. */
static rw_answer gets_to(rw_eval *eval, const void *about)
{
    const flow_function *f = &eval->plan->flow->funcs[0];
    rw_answer all = RW_YES;
    for (uint32_t block = *(const uint32_t *)about; block != f->dom.root;) {
        const rw_run *run = &eval->plan->control->runs[0][block];
        rw_answer one = rw_may_go(eval, f, run);
        if (one == RW_NO)
            return RW_NO;
        all = one < all ? one : all;
        block = first_of(f, run->from);
    }
    return all;
}

static bool is_set(const rewrite_copy *c, uint32_t bit)
{
    uint32_t all = 0, word;
    for (uint64_t copy = 0; copy < REWRITE_COPIES; copy++) {
        uint64_t at = c->kernel->bits_at + copy * c->kernel->bits_bytes + bit / 32 * 4;
        if (at + sizeof word > c->size)
            break;
        memcpy(&word, (const char *)c->state + at, sizeof word);
        all |= word;
    }
    return all >> bit % 32 & 1;
}

bool rewrite_site_ran(const rewrite_copy *c, uint32_t site)
{
    const rw_plan *p = c->kernel->plan;
    uint32_t bit = p->objects->bit[site];
    if (!rewrite_has_probe(c->kernel, REWRITE_OBJECTS))
        return false;
    return bit != IR_NONE ? is_set(c, bit)
                          : rw_any_thread(c, gets_to, &p->objects->first_of[site]) != RW_NO;
}
