/* touch: accesses that are marked together, and which dimensions of the launch have warps touch the
 * same again and again. */
#include "rewrite/elements/elements.h"

/* Dimensions of the launch (as rw_reuse_of()) that, where they are large, have warps touch the same
 * again and again: all blocks do, or the turns of a loop. Once a warp is seldom enough. */
uint32_t rw_crowd_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    return rw_is_own(p, f, site) || rw_is_for_all(p, f, site) ? 0 : rw_reuse_of(p, f, site);
}

enum { MOST_JOINED = 32 /* elements */ };

static int64_t low_of(const rw_plan *p, uint32_t site)
{
    return (int64_t)p->addresses[site]->operand->imm;
}

static int64_t high_of(const rw_plan *p, uint32_t site)
{
    return low_of(p, site) + 4 * (int64_t)rw_elements(&p->sites[site]);
}

static bool may_join(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const rewrite_probe_site *s = &p->sites[site];
    uint32_t i = s->pc - f->first_pc, slot = p->elements->slot_of[site],
             value = p->addresses[site]->value;
    return slot != IR_NONE && p->elements->slots[slot].param != IR_NONE && value != FLOW_NONE &&
           s->space == IR_SPACE_GLOBAL && s->bytes >= 4 && !(s->flags & ACC_ASYNC) &&
           p->elements->walk[site].loop == FLOW_NONE && f->func->insns[i].guard == IR_NONE &&
           f->blocks[f->block_of[i]].reached && !rw_crowd_of(p, f, site) &&
           ir_type_get(f->func->regs[p->addresses[site]->operand->reg].type)->bits == 64;
}

/* Does the site run whenever the head does, from the same base, with no gap between it and the
 * head's joint? */
static bool joins_head(const rw_plan *p, const flow_function *f, uint32_t head, uint32_t site)
{
    const rw_merge *joint = &p->elements->merges[head];
    const rw_run *runs = p->control->runs[f->index];
    int64_t low = low_of(p, site), high = high_of(p, site);
    return p->elements->merges[site].head == IR_NONE && may_join(p, f, site) &&
           p->addresses[site]->value == p->addresses[head]->value &&
           p->elements->slot_of[site] == p->elements->slot_of[head] &&
           runs[f->block_of[p->sites[site].pc - f->first_pc]].root ==
               runs[f->block_of[p->sites[head].pc - f->first_pc]].root &&
           low <= joint->high && high >= joint->low &&
           (high > joint->high ? high : joint->high) - (low < joint->low ? low : joint->low) <=
               4 * MOST_JOINED;
}

static void find_joint(rw_plan *p, const flow_function *f, uint32_t head, uint32_t end)
{
    rw_merge *joint = &p->elements->merges[head];
    *joint = (rw_merge){.head = head};
    if (!may_join(p, f, head))
        return;
    joint->low = low_of(p, head), joint->high = high_of(p, head);
    for (bool more = true; more;) {
        more = false;
        for (uint32_t s = head + 1; s < end; s++)
            if (joins_head(p, f, head, s)) {
                p->elements->merges[s].head = head;
                joint->low = low_of(p, s) < joint->low ? low_of(p, s) : joint->low;
                joint->high = high_of(p, s) > joint->high ? high_of(p, s) : joint->high;
                more = true;
            }
    }
}

/* Needs: sites, runs, slots, walks. Fills: merges. */
wl_status rw_pass_merges(rw_plan *p)
{
    p->elements->merges = wl_new_array(p->arena, rw_merge, (size_t)p->nsites + 1);
    if (!p->elements->merges)
        return WL_NOMEM;
    for (uint32_t s = 0; s < p->nsites; s++)
        p->elements->merges[s].head = IR_NONE;
    for (uint32_t k = 0; k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t end = p->site_first[p->code.first_pc[k + 1]];
        for (uint32_t s = p->site_first[f->first_pc]; s < end; s++)
            if (p->elements->merges[s].head == IR_NONE)
                find_joint(p, f, s, end);
    }
    return WL_OK;
}
