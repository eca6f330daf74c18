/* What the lanes of a warp do together at an access, as far as flow knows. */
#include "rewrite/plan/plan.h"

#include "flow/affine.h"

static bool is_together(const flow_function *f, uint32_t block)
{
    return f->entered_level <= FLOW_WARP && f->control_level[block] <= FLOW_WARP;
}

/* In a row: of a warp whose lanes differ in %tid.x only (__wl_rows). */
static bool is_same_in_row(const flow_function *f, flow_symbol s, uint32_t block)
{
    switch (s.kind) {
    case FLOW_SYM_SREG:
        return s.a == IR_SR_tid || s.a == IR_SR_ntid || s.a == IR_SR_ctaid || s.a == IR_SR_nctaid;
    case FLOW_SYM_PARAM:
    case FLOW_SYM_BASE: return true;
    case FLOW_SYM_LOOP: return f->loop_level[s.a] <= FLOW_WARP && is_together(f, block);
    case FLOW_SYM_VALUE: return flow_level_at(f, s.a, block) <= FLOW_WARP;
    }
    return false;
}

/* But for what %tid.x adds. */
static bool rest_is_same(const flow_function *f, const flow_affine *form, uint32_t block)
{
    for (uint32_t t = 0; t < form->nterms; t++)
        for (unsigned i = 0; i < form->terms[t].nfactors; i++)
            if (!is_same_in_row(f, form->terms[t].factors[i], block))
                return false;
    return true;
}

static rw_pattern shape_of_form(const flow_function *f, const rewrite_probe_site *s,
                                const flow_affine *form, uint32_t block, rw_pattern otherwise)
{
    flow_symbol tid = {FLOW_SYM_SREG, IR_SR_tid, 1};
    int64_t step;
    if (!flow_affine_coefficient(form, tid, &step))
        return RW_SCATTERED;
    if (step == 0)
        return rest_is_same(f, form, block) ? RW_UNIFORM_IN_ROW : otherwise;
    if (step != s->bytes || s->bytes < 4)
        return RW_SCATTERED;
    return rest_is_same(f, form, block) ? RW_COALESCED : RW_MAYBE_COALESCED;
}

rw_pattern rw_pattern_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    const flow_address *a = p->addresses[site];
    uint32_t block = f->block_of[p->sites[site].pc - f->first_pc];
    if (a->value == FLOW_NONE || flow_level_at(f, a->value, block) <= FLOW_WARP)
        return RW_UNIFORM;
    rw_pattern otherwise = rw_is_loaded(p, f, site) ? RW_SCATTERED : RW_UNKNOWN;
    const flow_affine *form = f->affine[a->value];
    return form ? shape_of_form(f, &p->sites[site], form, block, otherwise) : otherwise;
}

bool rw_is_loaded(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t value = p->addresses[site]->value;
    return value != FLOW_NONE && f->taint[value].reason != FLOW_CLEAN;
}

bool rw_is_strided(const rw_plan *p, const flow_function *f, uint32_t site)
{
    flow_symbol tid = {FLOW_SYM_SREG, IR_SR_tid, 1};
    uint32_t value = p->addresses[site]->value;
    const flow_affine *form = value != FLOW_NONE ? f->affine[value] : NULL;
    int64_t step;
    if (!form || !flow_affine_has(form, tid))
        return false;
    return !flow_affine_coefficient(form, tid, &step) || step <= -128 || step >= 128;
}

bool rw_is_for_block(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t i = p->sites[site].pc - f->first_pc, block = f->block_of[i],
             value = p->addresses[site]->value;
    return f->entered_level <= FLOW_BLOCK && f->func->insns[i].guard == IR_NONE &&
           !(p->sites[site].flags & ACC_ASYNC) && f->blocks[block].reached &&
           rw_by_blocks(f, p->control->runs[f->index][block].root) &&
           (value == FLOW_NONE || flow_level_at(f, value, block) <= FLOW_BLOCK);
}

/* ---- reuse ---- */

static bool has_sreg(const flow_affine *form, uint32_t sreg, uint32_t component)
{
    return flow_affine_has(form, (flow_symbol){FLOW_SYM_SREG, sreg, component});
}

/* Does loaded or unknown data decide where? */
static bool has_value(const flow_affine *form)
{
    for (uint32_t t = 0; t < form->nterms; t++)
        for (unsigned i = 0; i < form->terms[t].nfactors; i++)
            if (form->terms[t].factors[i].kind == FLOW_SYM_VALUE)
                return true;
    return false;
}

const rw_dimension rw_dimensions[] = {{IR_SR_ctaid, 1, "%ctaid.x", "%nctaid.x"},
                                      {IR_SR_ctaid, 2, "%ctaid.y", "%nctaid.y"},
                                      {IR_SR_ctaid, 3, "%ctaid.z", "%nctaid.z"},
                                      {IR_SR_tid, 2, "%tid.y", "%ntid.y"},
                                      {IR_SR_tid, 3, "%tid.z", "%ntid.z"}};

uint32_t rw_reuse_of(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t value = p->addresses[site]->value, set = 0;
    const flow_affine *form = value != FLOW_NONE ? f->affine[value] : NULL;
    if (value == FLOW_NONE)
        return (1u << RW_DIMENSIONS) - 1;
    if (!form || has_value(form))
        return 0;
    for (unsigned i = 0; i < RW_DIMENSIONS; i++)
        if (!has_sreg(form, rw_dimensions[i].sreg, rw_dimensions[i].component))
            set |= 1u << i;
    return set;
}

bool rw_is_own(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t value = p->addresses[site]->value;
    const flow_affine *form = value != FLOW_NONE ? f->affine[value] : NULL;
    return form && !has_value(form) && has_sreg(form, IR_SR_ctaid, 1) &&
           f->loops.of[f->block_of[p->sites[site].pc - f->first_pc]] == FLOW_NONE;
}

/* Only the thread's place and the launch's parameters decide where? */
static bool is_fixed(const flow_affine *form)
{
    for (uint32_t t = 0; t < form->nterms; t++)
        for (unsigned i = 0; i < form->terms[t].nfactors; i++)
            if (form->terms[t].factors[i].kind == FLOW_SYM_VALUE ||
                form->terms[t].factors[i].kind == FLOW_SYM_LOOP)
                return false;
    return true;
}

bool rw_is_for_all(const rw_plan *p, const flow_function *f, uint32_t site)
{
    uint32_t i = p->sites[site].pc - f->first_pc, block = f->block_of[i],
             value = p->addresses[site]->value;
    if (f->index != 0 || f->func->insns[i].guard != IR_NONE || !f->blocks[block].reached ||
        p->sites[site].flags & ACC_ASYNC || !rw_runs_once(f, p->control->runs[0][block].root))
        return false;
    return value == FLOW_NONE || (f->affine[value] && is_fixed(f->affine[value]));
}
