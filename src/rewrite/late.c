/* Elements that a loop touches, marked once behind it (for touch).
 *
 * Needs: ranges.c. Keeps: everything. In the loop a lane only keeps the lowest and the highest address. Where flow has the address
 * as a linear form that moves by no more than what is covered from one iteration to the next, and the access runs in each of
 * them, all between the two was touched. Accesses from one base in one basic block, as unrolled loops have, cover together,
 * and only the first of them keeps anything. The form may assume that a 32-bit index does not wrap: then the two addresses would
 * be 4 GiB apart or more, which is counted as missed and not marked. */
#include "rewrite/internal.h"

#include "flow/affine.h"

#include <stddef.h>

enum { MAX_LATE = 4 /* sites of a function; each takes four registers */ };

/* ---- which sites ---- */

static bool runs_in_each_iteration(const flow_function *f, uint32_t block, uint32_t loop)
{
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t e = f->graph.pred_first[header]; e < f->graph.pred_first[header + 1]; e++) {
        uint32_t latch = f->graph.pred[e];
        if (flow_in_loop(&f->loops, loop, latch) && !flow_dominates(&f->dom, block, latch))
            return false;
    }
    return true;
}

/* Does the form change with the loop's counter only? */
static bool is_fixed_but_for(const flow_function *f, const flow_affine *form, uint32_t loop)
{
    for (uint32_t t = 0; t < form->nterms; t++)
        for (unsigned i = 0; i < form->terms[t].nfactors; i++) {
            flow_symbol s = form->terms[t].factors[i];
            if (s.kind == FLOW_SYM_VALUE && flow_in_loop(&f->loops, loop, f->values[s.a].block))
                return false;
            if (s.kind == FLOW_SYM_LOOP && s.a != loop &&
                flow_in_loop(&f->loops, loop, f->loops.loops[s.a].header))
                return false;
        }
    return true;
}

static int64_t offset_of(const rw_plan *p, uint32_t site)
{
    return (int64_t)p->addresses[site]->operand->imm;
}

static int64_t covered_by(const rw_plan *p, uint32_t site)
{
    return 4 * (int64_t)rw_elements(&p->sites[site]);
}

/* Can the site be marked behind the loop, if it is covered? */
static bool is_candidate(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const rewrite_site *s = &p->sites[site];
    uint32_t i = s->pc - f->first_pc, block = f->block_of[i], loop = f->loops.of[block],
             value = p->addresses[site]->value;
    return false && s->space == PTX_SPACE_GLOBAL && p->slot_of[site] != PTX_NONE &&
           f->func->insns[i].guard == PTX_NONE && !(s->flags & REWRITE_ASYNC) &&
           loop != FLOW_NONE && !f->loops.irreducible && value != FLOW_NONE && f->affine[value] &&
           is_fixed_but_for(f, f->affine[value], loop) && runs_in_each_iteration(f, block, loop);
}

/* How far the base moves in an iteration; false where that is not known. */
static bool find_step(const flow_affine *form, uint32_t loop, int64_t *step)
{
    flow_symbol counter = {FLOW_SYM_LOOP, loop, 0};
    *step = 0;
    return !flow_affine_has(form, counter) || flow_affine_coefficient(form, counter, step);
}

static bool calls_between(const flow_function *f, uint32_t from, uint32_t to)
{
    for (uint32_t i = from; i < to; i++)
        if (f->func->insns[i].op == PTX_call)
            return true;
    return false;
}

/* Do the two run together, from one base? `a` comes first. */
static bool goes_with(const rw_plan *p, const flow_function *f, uint32_t a, uint32_t b)
{
    uint32_t i = p->sites[a].pc - f->first_pc, k = p->sites[b].pc - f->first_pc;
    return is_candidate(p, f, b) && f->block_of[i] == f->block_of[k] &&
           p->addresses[a]->value == p->addresses[b]->value && p->slot_of[a] == p->slot_of[b] &&
           !calls_between(f, i, k);
}

/* Extends late->low and ->high over sites [first, end) that go with the head and leave no gap; true where there was one. */
static bool extend(const rw_plan *p, const flow_function *f, uint32_t head, uint32_t end,
                   rw_late *late)
{
    bool more = false;
    for (uint32_t s = head + 1; s < end; s++) {
        int64_t from = offset_of(p, s), to = from + covered_by(p, s);
        if (!goes_with(p, f, head, s) || from > late->high || to < late->low ||
            (from >= late->low && to <= late->high))
            continue;
        late->low = from < late->low ? from : late->low;
        late->high = to > late->high ? to : late->high;
        more = true;
    }
    return more;
}

/* The first site behind the site's basic block. */
static uint32_t end_of_block(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const flow_block *block = &f->blocks[f->block_of[p->sites[site].pc - f->first_pc]];
    return p->site_first[f->first_pc + block->first + block->count];
}

/* Makes `head` the head of all sites that it covers, if they cover what lies between two iterations. */
static bool form_group(rw_plan *p, const flow_function *f, uint32_t head, uint32_t end)
{
    uint32_t loop = f->loops.of[f->block_of[p->sites[head].pc - f->first_pc]];
    rw_late late = {.loop = loop, .head = head, .low = offset_of(p, head)};
    int64_t step;
    late.high = late.low + covered_by(p, head);
    if (!find_step(f->affine[p->addresses[head]->value], loop, &step))
        return false;
    while (extend(p, f, head, end, &late))
        ;
    if (step > late.high - late.low || -step > late.high - late.low)
        return false;
    for (uint32_t s = head; s < end; s++)
        if (s == head || (goes_with(p, f, head, s) && offset_of(p, s) >= late.low &&
                          offset_of(p, s) + covered_by(p, s) <= late.high))
            p->late[s] = late;
    return true;
}

wl_status rw_plan_late(rw_plan *p)
{
    p->late = wl_new_array(p->arena, rw_late, (size_t)p->nsites + 1);
    if (!p->late)
        return WL_NOMEM;
    for (uint32_t s = 0; s < p->nsites; s++)
        p->late[s].loop = FLOW_NONE;
    for (uint32_t k = 0; p->out->probes >> REWRITE_TOUCH & 1 && k < p->order.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t left = MAX_LATE, end = p->site_first[p->order.first_pc[k + 1]];
        for (uint32_t s = p->site_first[f->first_pc]; left && s < end; s++)
            if (p->late[s].loop == FLOW_NONE && is_candidate(p, f, s))
                left -= form_group(p, f, s, end_of_block(p, f, s));
    }
    return WL_OK;
}

/* ---- code ---- */

static void each_late(rw_body *b, void (*each)(rw_body *b, uint32_t site))
{
    uint32_t first = b->f->first_pc, end = b->plan->site_first[first + b->f->func->ninsns];
    for (uint32_t s = b->plan->site_first[first]; s < end; s++)
        if (b->plan->late[s].loop != FLOW_NONE && b->plan->late[s].head == s)
            each(b, s);
}

static void declare_site(rw_body *b, uint32_t site)
{
    rw_line(b, ".reg .b64 __wl_low%u, __wl_high%u;", site, site);
}

static void declare(rw_body *b)
{
    each_late(b, declare_site);
}

static void clear(rw_body *b, uint32_t site)
{
    rw_line(b, "mov.u64 __wl_low%u, -1;", site);
    rw_line(b, "mov.u64 __wl_high%u, 0;", site);
}

static void enter(rw_body *b)
{
    each_late(b, clear);
}

static void keep(rw_body *b, uint32_t site)
{
    if (b->plan->late[site].loop == FLOW_NONE || b->plan->late[site].head != site)
        return;
    rw_line(b, "min.u64 __wl_low%u, __wl_low%u, __wl_a;", site, site);
    rw_line(b, "max.u64 __wl_high%u, __wl_high%u, __wl_a;", site, site);
}

/* __wl_x to __wl_y: the words of the bitmap from the element at __wl_a to the last that is covered from `high` on, in the
 * object. */
static void mark_words(rw_body *b, uint32_t site, uint32_t slot, uint32_t label)
{
    rw_line(b, "add.s64 __wl_y, __wl_high%u, %lld;", site,
            (long long)(b->plan->late[site].high - offset_of(b->plan, site) - 4));
    rw_line(b, "add.s64 __wl_z, __wl_base%u, __wl_size%u;", slot, slot);
    rw_text(b, "\tsub.s64 __wl_z, __wl_z, 1;\n\tmin.u64 __wl_y, __wl_y, __wl_z;\n");
    rw_text(b, "\tcvt.u32.u64 __wl_lo, __wl_a;\n\tshr.u32 __wl_lo, __wl_lo, 2;\n"
               "\tcvt.u32.u64 __wl_hi, __wl_y;\n\tshr.u32 __wl_hi, __wl_hi, 2;\n"
               "\tnot.b32 __wl_hi, __wl_hi;\n\tand.b32 __wl_hi, __wl_hi, 31;\n"
               "\tshf.l.wrap.b32 __wl_u, 0, -1, __wl_lo;\n" /* bits of the first word */
               "\tshr.u64 __wl_x, __wl_a, 7;\n\tshl.b64 __wl_x, __wl_x, 2;\n"
               "\tshr.u64 __wl_y, __wl_y, 7;\n\tshl.b64 __wl_y, __wl_y, 2;\n");
    rw_line(b, "add.s64 __wl_x, __wl_x, __wl_bits%u;", slot);
    rw_line(b, "add.s64 __wl_y, __wl_y, __wl_bits%u;", slot);
    ptx_putf(b->out, "$__wl_word%u:\n", label);
    rw_text(b, "\tsetp.ne.u64 __wl_q, __wl_x, __wl_y;\n"
               "\tshr.u32 __wl_v, -1, __wl_hi;\n" /* bits of the last word */
               "\tselp.b32 __wl_v, -1, __wl_v, __wl_q;\n"
               "\tand.b32 __wl_u, __wl_u, __wl_v;\n"
               "\tld.global.u32 __wl_t, [__wl_x];\n"
               "\tnot.b32 __wl_t, __wl_t;\n"
               "\tand.b32 __wl_t, __wl_t, __wl_u;\n"
               "\tsetp.ne.u32 __wl_p, __wl_t, 0;\n"
               "\t@__wl_p red.global.or.b32 [__wl_x], __wl_t;\n"
               "\tmov.u32 __wl_u, -1;\n"
               "\tadd.s64 __wl_x, __wl_x, 4;\n");
    rw_line(b, "@__wl_q bra $__wl_word%u;", label);
}

static void publish(rw_body *b, uint32_t site)
{
    uint32_t slot = b->plan->slot_of[site], label = (*b->labels)++;
    rw_line(b, "setp.gt.u64 __wl_p, __wl_low%u, __wl_high%u;", site, site);
    rw_line(b, "@__wl_p bra $__wl_marked%u;", label);
    rw_line(b, "add.s64 __wl_a, __wl_low%u, %lld;", site,
            (long long)(b->plan->late[site].low - offset_of(b->plan, site)));
    b->guard = (rw_guard){""};
    rw_line(b, "@!__wl_in bra $__wl_marked%u;", label);
    rw_line(b, "sub.s64 __wl_x, __wl_high%u, __wl_low%u;", site, site);
    rw_text(b, "\tsetp.ge.u64 __wl_p, __wl_x, 4294967296;\n");
    rw_line(b, "@__wl_p red.global.add.u64 [__wl_state+%zu], 1;", offsetof(rewrite_state, missed));
    rw_line(b, "@__wl_p bra $__wl_marked%u;", label);
    mark_words(b, site, slot, label);
    ptx_putf(b->out, "$__wl_marked%u:\n", label);
    clear(b, site);
}

static void leave(rw_body *b)
{
    each_late(b, publish);
}

static void start(rw_body *b, uint32_t block)
{
    uint32_t first = b->f->first_pc, end = b->plan->site_first[first + b->f->func->ninsns];
    for (uint32_t s = b->plan->site_first[first]; s < end; s++)
        if (b->plan->late[s].loop != FLOW_NONE && b->plan->late[s].head == s &&
            rw_follows_loop(b->f, block, b->plan->late[s].loop))
            publish(b, s);
}

const rw_pass rw_late_pass = {.probes = 1u << REWRITE_TOUCH,
                              .declare = declare,
                              .enter = enter,
                              .start = start,
                              .access = keep,
                              .leave = leave};
