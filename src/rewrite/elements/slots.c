/* Slots: accesses through one parameter, and of one class where that matters, share the range that
 * the parameter points into. */
#include "rewrite/elements/elements.h"

static const uint32_t elements = 1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY;

static bool needs_slot(const rw_plan *p, const rewrite_probe_site *s)
{
    bool object = p->out->probes >> REWRITE_OBJECTS & 1 && s->param == IR_NONE;
    return rw_may_be_global(s) && (p->out->probes & elements || object);
}

/* Where the pointer lies among the kernel's parameters, which the host can read. */
static uint32_t pointer_place(const ir_func *kernel, uint32_t param, uint32_t offset)
{
    if (param == IR_NONE || offset + UINT64_C(8) > ir_var_size(kernel->params[param]))
        return IR_NONE;
    return rw_param_at(kernel, param) + offset;
}

static uint32_t find_slot(rw_plan *p, rewrite_pointer key, uint32_t most)
{
    for (uint32_t i = 0; i < p->elements->nslots; i++)
        if (p->elements->slots[i].param == key.param &&
            p->elements->slots[i].offset == key.offset &&
            p->elements->slots[i].class_ == key.class_)
            return i;
    if (p->elements->nslots >= most)
        return IR_NONE;
    p->elements->slots[p->elements->nslots] = key;
    return p->elements->nslots++;
}

/* Slots through which all blocks of a grid may access the same few elements: atomics wherever data
 * says, and addresses that %ctaid.x has no part in. */
static void find_crowded(rw_plan *p)
{
    for (uint32_t k = 0; k < p->code.count; k++) {
        const flow_function *f = &p->flow->funcs[k];
        uint32_t end = p->site_first[p->code.first_pc[k + 1]];
        for (uint32_t s = p->site_first[f->first_pc]; s < end; s++) {
            if (p->elements->slot_of[s] == IR_NONE)
                continue;
            bool atomic = rewrite_class(&p->sites[s]) == REWRITE_ATOMICS;
            if ((atomic && rw_pattern_of(p, f, s) >= RW_SCATTERED) || rw_reuse_of(p, f, s) & 1)
                p->elements->contended[p->elements->slot_of[s]] = true;
        }
    }
}

/* Classes are apart where each has its counters, or leaves its own mark on an object. */
/* Needs: sites. Fills: slot_of, slots, contended. */
wl_status rw_pass_slots(rw_plan *p)
{
    p->elements->slot_of = wl_new_array(p->arena, uint32_t, (size_t)p->nsites + 1);
    if (!p->elements->slot_of)
        return WL_NOMEM;
    for (uint32_t i = 0; i < p->nsites; i++) {
        const rewrite_probe_site *s = &p->sites[i];
        bool apart = s->param == IR_NONE || p->out->probes >> REWRITE_FREQUENCY & 1;
        rewrite_pointer key = {s->param, s->param_offset,
                               pointer_place(p->code.funcs[0], s->param, s->param_offset),
                               apart ? rewrite_class(s) : 0};
        p->elements->slot_of[i] = IR_NONE;
        if (!needs_slot(p, s))
            continue;
        p->elements->slot_of[i] = find_slot(p, key, REWRITE_SLOTS - REWRITE_CLASSES);
        if (p->elements->slot_of[i] == IR_NONE)
            p->elements->slot_of[i] = find_slot(
                p, (rewrite_pointer){IR_NONE, 0, IR_NONE, rewrite_class(s)}, REWRITE_SLOTS);
    }
    find_crowded(p);
    p->out->nslots = p->elements->nslots;
    p->out->slots = p->elements->slots;
    return WL_OK;
}
