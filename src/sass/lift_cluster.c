/* The block's rank in its cluster.
 *
 * Code adds it, shifted by 24 bits, to each address of the block's own shared memory, so that other blocks
 * could use it, too. Lifted code has no such addresses: the sum is the address in the block's own memory. Whatever else
 * is made of the rank is known of launches without clusters alone. */
#include "sass/lifter.h"

#include <string.h>

static const char rank_name[] = "SR_CgaCtaId";

bool lift_asks_rank(const sass_details *in)
{
    bool reads = in->form &&
                 (strcmp(in->form->name, "S2R") == 0 || strcmp(in->form->name, "S2UR") == 0);
    return reads && sass_text_is(in->operand[1].name, rank_name);
}

void lift_rank(lifter *l)
{
    lift_text t = lift_new(l, LIFT_B32), q = lift_new(l, LIFT_PRED);
    lift_put(l, "mov.b32 %s, 0", t.at);
    lift_put(l, "mov.pred %s, %%is_explicit_cluster", q.at);
    lift_put(l, "@%s mov.b32 %s, %%unknown", q.at, t.at);
    lift_set(l, 0, 0, t.at);
}

/* ---- whether an operand is the rank ---- */

static bool writes(const sass_details *in, unsigned kind, unsigned reg)
{
    unsigned width = kind == SASS_REGISTER || kind == SASS_UNIFORM ? lift_result_width(in) : 1;
    for (unsigned i = 0; i < in->operands; i++) {
        const sass_operand *op = &in->operand[i];
        if (op->flags & SASS_WRITTEN && op->kind == kind && reg >= op->reg && reg < op->reg + width)
            return true;
    }
    return false;
}

static bool have_one_guard(const sass_details *a, const sass_details *b)
{
    return a->guard == b->guard && a->guard_negated == b->guard_negated &&
           a->guard_uniform == b->guard_uniform;
}

/* Whether control comes to the instruction from the one before, and from nowhere else. */
static bool follows_alone(const lifter *l, uint32_t insn)
{
    const lift_way *way = &l->ways.ways[insn - 1];
    bool passes = way->goes == LIFT_ON || (way->goes == LIFT_TO && way->on);
    return passes && !l->ways.labels[insn];
}

bool lift_is_rank(const lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    unsigned guard_kind = l->in.guard_uniform ? SASS_UNIFORM_PREDICATE : SASS_PREDICATE;
    bool same_guard = true; /* it has not been written since */
    sass_details in;
    for (uint32_t at = l->at; at > 0 && follows_alone(l, at); at--) {
        if (!sass_read(l->code->bytes + (size_t)(at - 1) * SASS_BYTES, at - 1, l->code->sm, &in))
            return false;
        same_guard &= !writes(&in, guard_kind, l->in.guard);
        if (writes(&in, op->kind, op->reg))
            return lift_asks_rank(&in) && ((in.guard == SASS_ALWAYS && !in.guard_negated) ||
                                           (same_guard && have_one_guard(&in, &l->in)));
    }
    return false;
}
