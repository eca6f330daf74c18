/* Branches, calls, returns and tables.
 *
 * Where control may go to several places that a register tells, it is compared with each: returns go to what
 * follows a call, tables to what the cubin says. Reconvergence (BSSY, BSYNC) says nothing of its own: the
 * emulator lets the lanes meet that come to one place. */
#include "sass/lifter.h"

#include <inttypes.h>

void lift_nothing(lifter *l)
{
    (void)l;
}

/* The branch's own predicate, operand `i`, and the guard, in one. */
static void branch_to(lifter *l, unsigned i, uint32_t target)
{
    if (lift_is_none(lift_operand(l, i)) && !(lift_operand(l, i)->flags & SASS_NEGATED)) {
        lift_do(l, "bra L%" PRIu32, target);
        return;
    }
    lift_text own = lift_pred(l, i), both = lift_new(l, LIFT_PRED);
    lift_put(l, "mov.pred %s, %s", both.at, own.at);
    if (l->guarded)
        lift_put(l, "and.pred %s, %s, %s%s", both.at, both.at, l->in.guard_negated ? "!" : "",
                 l->guard_pred.at);
    lift_put(l, "@%s bra L%" PRIu32, both.at, target);
}

static bool is_label(const lifter *l, uint32_t target)
{
    return target < l->code->count && l->labels[target];
}

void lift_bra(lifter *l)
{
    uint32_t target = l->code->insns[l->at].target;
    if (lift_has(l, "DIV"))
        return; /* lanes are together here, as the emulator orders them */
    if (lift_has(l, "ANY") || !is_label(l, target))
        l->problem = "a branch goes where nobody knows";
    else if (target == l->at)
        lift_do(l, "trap"); /* fills up the code */
    else
        branch_to(l, lift_has(l, "U") && l->in.operands > 2 ? 1 : 0, target);
}

void lift_call(lifter *l)
{
    uint32_t target = l->code->insns[l->at].target;
    if (!lift_has(l, "REL") || !is_label(l, target))
        l->problem = "a register says which function is called";
    else
        branch_to(l, 0, target);
}

void lift_exit(lifter *l)
{
    if (lift_is_none(lift_operand(l, 0)))
        lift_do(l, "exit");
    else
        l->problem = "a condition of its own ends a thread";
}

/* Goes to `target` where the register has that value. */
static void go_where(lifter *l, const char *reg, int64_t value, uint32_t target)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.and.b32 %s, %s, %" PRId32 ", %s%s", q.at, reg, (int32_t)value,
             l->in.guard_negated ? "!" : "", l->guard_pred.at);
    lift_put(l, "@%s bra L%" PRIu32, q.at, target);
}

/* Of an operand that is an address of the code with a register added. */
static lift_text target_register(const sass_operand *op)
{
    lift_text text;
    snprintf(text.at, sizeof text.at, "%%%c%u", op->flags & SASS_WITH_UNIFORM ? 'u' : 'r', op->reg);
    return text;
}

void lift_ret(lifter *l)
{
    const sass_operand *op = lift_operand(l, 1);
    for (uint32_t i = 1; i < l->code->count; i++)
        if (l->code->insns[i - 1].flow == SASS_CALL)
            go_where(l, target_register(op).at, (int64_t)i * SASS_BYTES - op->value, i);
    lift_do(l, "trap");
}

void lift_brx(lifter *l)
{
    const sass_places *p = &l->code->places;
    const sass_operand *op = lift_operand(l, 1);
    for (uint32_t j = 0; j < p->njumps; j++)
        if (p->jumps[j].from == l->at) {
            for (uint32_t k = 0; k < p->jumps[j].count; k++)
                go_where(l, target_register(op).at,
                         (int64_t)p->jumps[j].targets[k] * SASS_BYTES - op->value,
                         p->jumps[j].targets[k]);
            lift_do(l, "trap");
            return;
        }
    l->problem = "a table that the cubin does not tell says where a branch goes";
}
