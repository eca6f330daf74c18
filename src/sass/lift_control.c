/* Branches, calls, returns and tables.
 *
 * Where control may go to several places that a register tells, it is compared with each: returns go to what
 * follows a call, tables to what the cubin says. Where lanes meet again says the machine code: BSSY notes who runs,
 * BSYNC waits for them, BREAK leaves them. */
#include "sass/lifter.h"

#include <inttypes.h>
#include <string.h>

enum { OPCODE_BITS = 9, OPCODE_YIELD = 0x146 };

void lift_nothing(lifter *l)
{
    (void)l;
}

/* The instruction's own predicate, operand `i`, and its guard, in one; empty where there is neither. A line that
 * begins with it is not one of lift_do(). */
static lift_text both_conditions(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    bool own = !lift_is_none(op) || op->flags & SASS_NEGATED;
    lift_text text = {""}, both;
    if (own) {
        lift_text q = lift_pred(l, i);
        both = lift_new(l, LIFT_PRED);
        lift_put(l, "mov.pred %s, %s", both.at, q.at);
        if (l->guarded)
            lift_put(l, "and.pred %s, %s, %s%s", both.at, both.at, l->in.guard_negated ? "!" : "",
                     l->guard_pred.at);
        snprintf(text.at, sizeof text.at, "@%.40s ", both.at);
    } else if (l->guarded) {
        snprintf(text.at, sizeof text.at, "@%s%.40s ", l->in.guard_negated ? "!" : "",
                 l->guard_pred.at);
    }
    return text;
}

static void go_to(lifter *l, unsigned i, uint32_t copy, uint32_t target)
{
    lift_text where = both_conditions(l, i);
    lift_put(l, "%sbra %s", where.at, lift_place(copy, target).at);
}

/* Nobody knows whether it goes there. */
static void go_perhaps(lifter *l, uint32_t target)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.u32 %s, %s, 0", q.at, lift_unknown(l).at);
    lift_put(l, "@%s bra %s", q.at, lift_place(l->copy, target).at);
}

/* Waits for the lanes that operand `i` names: then they are together. A vote of theirs orders no memory. */
static void join_lanes(lifter *l, unsigned i)
{
    lift_text lanes = lift_int(l, i), q = lift_new(l, LIFT_PRED);
    lift_do(l, "vote.sync.any.pred %s, %%pt, %s", q.at, lanes.at);
}

/* All of the lanes go where one of them would. */
static void go_with_any(lifter *l, uint32_t target)
{
    lift_text own = lift_pred(l, 0), q = lift_new(l, LIFT_PRED), any = lift_new(l, LIFT_PRED);
    lift_put(l, "mov.pred %s, %s", q.at, own.at);
    if (l->guarded)
        lift_put(l, "and.pred %s, %s, %s%s", q.at, q.at, l->in.guard_negated ? "!" : "",
                 l->guard_pred.at);
    lift_put(l, "vote.any.pred %s, %s", any.at, q.at);
    lift_put(l, "@%s bra %s", any.at, lift_place(l->copy, target).at);
}

/* With .ANY lanes decide for each other, which a condition that is the same for all of them does not need. */
void lift_bra(lifter *l)
{
    const lift_way *way = &l->ways.ways[l->at];
    if (lift_has(l, "DIV") || lift_has(l, "CONV"))
        join_lanes(l, 1);
    if (lift_has(l, "DIV")) /* where they are not together */
        return;
    bool uniform = lift_has(l, "U") && l->in.operands > 2;
    bool own = !lift_is_none(lift_operand(l, 0));
    if (way->goes == LIFT_ENDS)
        lift_do(l, "trap"); /* fills up the code */
    else if (lift_has(l, "ANY") && !uniform)
        go_with_any(l, way->target);
    else if ((lift_has(l, "ANY") && (own || l->guarded)) || (uniform && own))
        go_perhaps(l, way->target);
    else
        go_to(l, uniform ? 1 : 0, l->copy, way->target);
}

static void convergence(lifter *l, const char *op)
{
    lift_text where = both_conditions(l, 0);
    lift_put(l, "%s%s %u", where.at, op, lift_operand(l, 1)->reg);
}

void lift_bssy(lifter *l)
{
    convergence(l, "bssy");
}

void lift_arrival(lifter *l)
{
    lift_put(l, "mov.b32 %s, 0", lift_new(l, LIFT_B32).at);
}

static bool yields(const lifter *l)
{
    for (uint32_t i = 0; i < l->code->count; i++)
        if (l->code->insns[i].opcode % (1 << OPCODE_BITS) == OPCODE_YIELD)
            return true;
    return false;
}

/* Lanes that have yielded wait for nobody at a BSYNC, as an H200 counts. A guard, even of what always holds, lets nobody
 * rely on it that lanes meet there (flow/parted.h). */
void lift_bsync(lifter *l)
{
    lift_arrival(l);
    if (lift_is_none(lift_operand(l, 0)) && !l->guarded && yields(l))
        lift_put(l, "@%%pt bsync %u", lift_operand(l, 1)->reg);
    else
        convergence(l, "bsync");
}

void lift_bbreak(lifter *l)
{
    convergence(l, "bbreak");
}

/* Between a register of convergence and another one. */
void lift_bmov(lifter *l)
{
    if (lift_operand(l, 0)->kind == SASS_BARRIER)
        lift_do(l, "bput.b32 %u, %s", lift_operand(l, 0)->reg, lift_word(l, 1, 0).at);
    else
        lift_do(l, "bget.b32 %s, %u", lift_to(l, 0, 0).at, lift_operand(l, 1)->reg);
}

void lift_exit(lifter *l)
{
    lift_text where = both_conditions(l, 0);
    lift_put(l, "%sexit", where.at);
}

void lift_bpt(lifter *l)
{
    lift_do(l, "trap");
}

/* ---- calls ---- */

/* Memory of the heap: its size or address in R4 and R5, its address likewise. */
static void ask_heap(lifter *l, bool fresh)
{
    lift_text d = lift_new(l, LIFT_B64);
    l->asks_heap = true;
    lift_put(l, "mov.b64 %s, {%%r4, %%r5}", d.at);
    lift_put(l, "st.param.b64 [__asked], %s", d.at);
    if (!fresh) {
        lift_do(l, "call free, (__asked)");
        return;
    }
    lift_do(l, "call (__given), malloc, (__asked)");
    lift_put(l, "ld.param.b64 %s, [__given]", d.at);
    lift_do(l, "mov.b64 {%%r4, %%r5}, %s", d.at);
}

/* A function keeps the registers that its caller needs, but for the result's. A launch is taken not to fail. */
static void ask_function(lifter *l, const char *symbol)
{
    bool fails = strcmp(symbol, "__assertfail") == 0, prints = strcmp(symbol, "vprintf") == 0;
    if (fails || prints)
        l->undone = fails ? "__assertfail" : "vprintf"; /* nothing is told of it */
    if (fails)
        lift_do(l, "trap");
    else if (prints)
        lift_do(l, "mov.b32 %%r4, %s", lift_unknown(l).at);
    else if (strcmp(symbol, "malloc") == 0 || strcmp(symbol, "free") == 0)
        ask_heap(l, symbol[0] == 'm');
    else
        l->problem = "a function is called that is not part of it";
}

void lift_call(lifter *l)
{
    const lift_way *way = &l->ways.ways[l->at];
    if (way->goes == LIFT_ASKS && lift_is_none(lift_operand(l, 0)))
        ask_function(l, way->symbol);
    else if (way->goes == LIFT_CALLS)
        go_to(l, 0, way->copied ? lift_ways_callee(&l->ways, l->at) : l->copy, way->target);
    else
        l->problem = "a register says which function is called";
}

/* Goes to `target` where the register has that value. */
static void go_where(lifter *l, const char *reg, int64_t value, uint32_t target)
{
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "setp.eq.and.b32 %s, %s, %" PRId32 ", %s%s", q.at, reg, (int32_t)value,
             l->in.guard_negated ? "!" : "", l->guard_pred.at);
    lift_put(l, "@%s bra %s", q.at, lift_place(l->copy, target).at);
}

/* Of an operand that is an address of the code with a register added. */
static lift_text target_register(const sass_operand *op)
{
    lift_text text;
    bool uniform = op->flags & SASS_WITH_UNIFORM;
    snprintf(text.at, sizeof text.at, "%%%c%u", uniform ? 'u' : 'r',
             uniform ? op->uniform : op->reg);
    return text;
}

/* A copy knows where; what is no copy goes behind one of the calls. */
void lift_ret(lifter *l)
{
    const lift_way *way = &l->ways.ways[l->at];
    bool own = lift_is_none(lift_operand(l, 0)) && way->known, comes_back = false;
    if (own && l->copy) {
        lift_do(l, "bra %s", lift_place(0, l->ways.copies.data[l->copy].call + 1).at);
        return;
    }
    for (uint32_t i = 0; own && i + 1 < l->code->count; i++)
        if (l->ways.ways[i].goes == LIFT_CALLS && !l->ways.ways[i].copied) {
            comes_back = true;
            go_where(l, target_register(lift_operand(l, 1)).at,
                     (int64_t)(i + 1) * SASS_BYTES - way->base, i + 1);
        }
    if (!comes_back)
        l->problem = "it returns to where nobody knows";
    lift_do(l, "trap");
}

/* The register counts from the next instruction, and a number is added. */
void lift_brx(lifter *l)
{
    const sass_jump *jump = &l->code->places.jumps[l->ways.ways[l->at].table];
    const sass_operand *op = lift_operand(l, 1);
    int64_t base = op->value + (int64_t)(l->at + 1) * SASS_BYTES;
    if (!lift_is_none(lift_operand(l, 0)))
        l->problem = "a condition of its own decides about a table";
    for (uint32_t k = 0; k < jump->count; k++)
        if (jump->targets[k] < l->code->count)
            go_where(l, target_register(op).at, (int64_t)jump->targets[k] * SASS_BYTES - base,
                     jump->targets[k]);
    lift_do(l, "trap");
}

/* An address of the code, for a function to come back to. Nobody knows where the code lies. */
void lift_lepc(lifter *l)
{
    lift_set(l, 0, 0, lift_unknown(l).at);
    if (!lift_is_none(lift_operand(l, 0)))
        lift_do(l, "mov.b32 %%r%u, %s", lift_operand(l, 0)->reg + 1U, lift_unknown(l).at);
}
