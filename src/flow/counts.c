/* How often instructions run: products of the counts of the loops around them, along the calls that
 * lead to them, and the conditions on the way. */
#include "flow/counts.h"

#include "flow/affine.h"
#include "flow/taint.h"

enum { MAX_DEPTH = 16 };

typedef struct state {
    flow_counts *c;
    flow_kernel *k;
    flow_list(flow_loop_count) loops;
    uint32_t *first_loop; /* [context] in loops */
    flow_list(flow_use_count) uses;
    flow_list(uint32_t) around;
} state;

/* Where a thread is: in a block of a context's function. */
typedef struct spot {
    uint32_t context, block;
} spot;

static const flow_function *function_at(const state *s, uint32_t context)
{
    return &s->k->funcs[s->c->contexts[context].func];
}

static const ir_insn *last_of(const flow_function *f, uint32_t block)
{
    return &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
}

/* The spot of the call that leads to the context; false: there is none. */
static bool call_spot(const state *s, spot *at)
{
    const flow_context *context = &s->c->contexts[at->context];
    if (context->parent == FLOW_NONE)
        return false;
    at->block = function_at(s, context->parent)->block_of[context->call];
    at->context = context->parent;
    return true;
}

/* ---- products ---- */

static flow_count once(void)
{
    return (flow_count){.kind = FLOW_EXACTLY, .times = 1};
}

static void multiply_count(flow_count *into, const flow_count *by)
{
    if (by->kind > into->kind)
        into->kind = by->kind;
    if (into->nfactors + by->nfactors > FLOW_COUNT_FACTORS ||
        __builtin_mul_overflow(into->times, by->times, &into->times))
        into->kind = FLOW_SOMETIMES;
    else
        for (uint32_t i = 0; i < by->nfactors; i++)
            into->factors[into->nfactors++] = by->factors[i];
}

static flow_count unknown_count(void)
{
    return (flow_count){.kind = FLOW_SOMETIMES, .times = 1};
}

/* ---- loops whose counter moves by a step ---- */

static flow_count ceil_count(const flow_affine *over, int64_t by)
{
    flow_count count = once();
    int64_t number;
    if (!over)
        return unknown_count();
    if (flow_affine_is_constant(over, &number))
        count.times = number > 0 ? ((uint64_t)number + (uint64_t)by - 1) / (uint64_t)by : 1;
    else
        count.factors[count.nfactors++] = (flow_factor){
            .kind = FLOW_CEIL, .least = 1, .over = over, .by = by};
    return count;
}

/* How far the counter has to go until the test fails, and by what step; false: it never does, or
 * that is not known. */
static bool counter_distance(state *s, const flow_trip *t, const flow_affine **out, int64_t *step)
{
    flow_mem *mem = &s->k->mem;
    bool down = t->step < 0, closed = false;
    switch (t->compare) {
    case IR_S_le:
    case IR_S_ls: closed = true; /* fallthrough */
    case IR_S_lt:
    case IR_S_lo:
        if (down)
            return false;
        break;
    case IR_S_ge:
    case IR_S_hs: closed = true; /* fallthrough */
    case IR_S_gt:
    case IR_S_hi:
        if (!down)
            return false;
        break;
    case IR_S_ne: break;
    default: return false;
    }
    *step = down ? -t->step : t->step;
    *out = down ? flow_affine_add(mem, t->start, t->bound, -1)
                : flow_affine_add(mem, t->bound, t->start, -1);
    if (closed)
        *out = flow_affine_add(mem, *out, flow_affine_constant(mem, 1), 1);
    return *out != NULL;
}

static flow_count stepped_count(state *s, uint32_t context, const flow_trip *t)
{
    const flow_affine *distance;
    int64_t step;
    flow_count count = once();
    if (t->kind == FLOW_TRIP_CONSTANT)
        count.times = t->count;
    else if (counter_distance(s, t, &distance, &step))
        count = ceil_count(flow_in_context(s->c, context,
                                           flow_affine_add(&s->k->mem, distance,
                                                           flow_affine_constant(&s->k->mem, step),
                                                           1)),
                           step);
    else
        return unknown_count();
    count.kind = t->only_exit ? FLOW_EXACTLY : FLOW_AT_MOST;
    return count;
}

/* ---- loops whose step the launch decides ---- */

static const flow_affine *form_of_operand(state *s, const flow_function *f, const ir_insn *insn,
                                          uint32_t n)
{
    const ir_operand *o = &insn->operands[n];
    if (o->kind == IR_OPD_INT)
        return flow_affine_constant(&s->k->mem, (int64_t)o->imm);
    for (uint32_t u = f->use_first[insn->pc];
         o->kind == IR_OPD_REG && u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == o->reg)
            return f->affine[f->uses[u].value];
    return NULL;
}

/* The comparison that the exit at the end of the block makes; *holds: while it is true the loop goes
 * on. NULL: there is none. */
static const ir_insn *test_of(const flow_function *f, uint32_t loop, uint32_t block, bool *holds)
{
    const ir_insn *last = last_of(f, block);
    if (last->op != IR_bra || last->guard == IR_NONE || last->operands[0].kind != IR_OPD_LABEL)
        return NULL;
    const flow_value *guard = &f->values[f->uses[f->use_first[last->pc]].value];
    const ir_insn *test = guard->kind == FLOW_VALUE_INSN && guard->old == FLOW_NONE
                              ? &f->func->insns[guard->insn]
                              : NULL;
    uint32_t target = f->block_of[f->func->labels[last->operands[0].label].pc];
    bool stays = target < f->nblocks && flow_in_loop(&f->loops, loop, target);
    *holds = stays != last->guard_neg;
    return test && test->op == IR_setp && test->noperands == 3 ? test : NULL;
}

static bool is_below_test(ir_suffix compare, bool holds)
{
    return holds ? compare == IR_S_lt || compare == IR_S_lo
                 : compare == IR_S_ge || compare == IR_S_hs;
}

/* while start + step * i < bound, where the step is a form. A loop that ends has a step above 0. */
static flow_count strided_count(state *s, uint32_t context, uint32_t loop, uint32_t exit)
{
    const flow_function *f = function_at(s, context);
    flow_mem *mem = &s->k->mem;
    flow_symbol counter = {FLOW_SYM_LOOP, loop, 0};
    const flow_affine *start;
    bool holds;
    const ir_insn *test = test_of(f, loop, exit, &holds);
    const flow_affine *form = test ? form_of_operand(s, f, test, 1) : NULL;
    const flow_affine *bound = test ? form_of_operand(s, f, test, 2) : NULL;
    const flow_affine *step = form ? flow_affine_slope(mem, form, counter, &start) : NULL;
    if (!step || !bound || flow_affine_has(bound, counter) ||
        !is_below_test(ir_first_of(test, IR_SC_CMP), holds))
        return unknown_count();
    const flow_affine *over = flow_affine_add(mem, flow_affine_add(mem, bound, start, -1), step, 1);
    flow_factor factor = {.kind = FLOW_CEIL,
                          .least = 1,
                          .over = flow_in_context(s->c, context, over),
                          .under = flow_in_context(s->c, context, step)};
    flow_count count = once();
    count.factors[count.nfactors++] = factor;
    return factor.over && factor.under ? count : unknown_count();
}

/* ---- loops whose counter is halved or doubled ---- */

/* A phi that comes back shifted. */
typedef struct shift {
    uint32_t phi, back; /* values */
    bool down;
    uint64_t by;
    const flow_affine *start;
} shift;

static bool constant_operand(const ir_insn *insn, uint32_t n, uint64_t *out)
{
    *out = insn->operands[n].imm;
    return insn->noperands > n && insn->operands[n].kind == IR_OPD_INT;
}

static bool uses_value(const flow_function *f, const ir_insn *insn, uint32_t value)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->uses[u].value == value)
            return true;
    return false;
}

static bool read_shift(const flow_function *f, shift *s)
{
    const flow_value *back = &f->values[s->back];
    if (back->kind != FLOW_VALUE_INSN || back->old != FLOW_NONE)
        return false;
    const ir_insn *insn = &f->func->insns[back->insn];
    if (!uses_value(f, insn, s->phi) || f->use_first[insn->pc + 1] - f->use_first[insn->pc] != 1)
        return false;
    s->down = insn->op == IR_shr;
    return (insn->op == IR_shr || insn->op == IR_shl) && constant_operand(insn, 2, &s->by) &&
           s->by > 0 && s->by < 32;
}

static bool read_phi(const flow_function *f, uint32_t loop, uint32_t phi, shift *s)
{
    const flow_value *v = &f->values[phi];
    uint32_t first = f->graph.pred_first[v->block];
    *s = (shift){.phi = phi, .back = FLOW_NONE};
    for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
        uint32_t argument = f->args[v->first_arg + p - first];
        bool inside = flow_in_loop(&f->loops, loop, f->graph.pred[p]);
        if (inside ? s->back != FLOW_NONE : s->start != NULL)
            return false;
        if (inside)
            s->back = argument;
        else
            s->start = f->affine[argument];
    }
    return s->back != FLOW_NONE && s->start && read_shift(f, s);
}

/* The loop goes on while the value is at least *least (down) or less than *bound. */
static bool read_limit(state *s, const flow_function *f, const ir_insn *test, bool holds, bool down,
                       uint64_t *least, const flow_affine **bound)
{
    ir_suffix compare = ir_first_of(test, IR_SC_CMP);
    uint64_t number;
    bool above = compare == IR_S_gt || compare == IR_S_hi;
    bool below = compare == IR_S_lt || compare == IR_S_lo;
    bool from = compare == IR_S_ge || compare == IR_S_hs;
    if (!down) {
        *bound = form_of_operand(s, f, test, 2);
        return *bound && is_below_test(compare, holds);
    }
    if (!constant_operand(test, 2, &number))
        return false;
    bool zero = number == 0 && (compare == IR_S_ne ? holds : compare == IR_S_eq && !holds);
    bool strict = holds ? above : compare == IR_S_le || compare == IR_S_ls;
    *least = zero || strict ? number + 1 : number;
    return zero || strict || (holds ? from : below);
}

/* *log: the logarithm of a power of two. */
static bool is_power(uint64_t number, int64_t *log)
{
    *log = number ? 63 - __builtin_clzll(number) : 0;
    return number && !(number & (number - 1));
}

static flow_count shifted_count(state *s, uint32_t context, const shift *h, bool after,
                                uint64_t least, const flow_affine *bound)
{
    flow_count count = once();
    flow_factor factor = {
        .kind = FLOW_BITS, .least = 1, .over = flow_in_context(s->c, context, h->start)};
    int64_t log, start;
    if (h->by != 1)
        return unknown_count();
    if (!h->down) {
        factor = (flow_factor){.kind = FLOW_LOG,
                               .least = 1,
                               .over = flow_in_context(s->c, context, bound),
                               .under = factor.over};
        if (!after)
            return unknown_count();
    } else if (!is_power(least, &log))
        return unknown_count();
    else
        factor.by = after ? log : log - 1;
    if (h->down && flow_affine_is_constant(factor.over, &start))
        for (count.times = 1; (uint64_t)start >> (after ? count.times : count.times - 1) >= least;)
            count.times++;
    else
        count.factors[count.nfactors++] = factor;
    return count;
}

static flow_count geometric_count(state *s, uint32_t context, uint32_t loop, uint32_t exit)
{
    const flow_function *f = function_at(s, context);
    uint32_t header = f->loops.loops[loop].header;
    bool holds;
    const ir_insn *test = test_of(f, loop, exit, &holds);
    for (uint32_t i = f->phi_first[header]; test && i < f->phi_first[header + 1]; i++) {
        shift h;
        uint64_t least = 0;
        const flow_affine *bound = NULL;
        if (!read_phi(f, loop, f->phis[i], &h))
            continue;
        bool after = uses_value(f, test, h.back);
        bool first = test->operands[1].kind == IR_OPD_REG &&
                     test->operands[1].reg == f->values[after ? h.back : h.phi].reg;
        if ((after || uses_value(f, test, h.phi)) && first &&
            read_limit(s, f, test, holds, h.down, &least, &bound) && least < UINT64_C(1) << 32)
            return shifted_count(s, context, &h, after, least, bound);
    }
    return unknown_count();
}

/* ---- loops ---- */

static bool goes_out_of(const flow_function *f, uint32_t loop, uint32_t block)
{
    const ir_insn *last = last_of(f, block);
    if (last->op == IR_bra && last->guard == IR_NONE) /* the end of a loop without one */
        return false;
    for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
        if (f->graph.succ[i] == f->nblocks || !flow_in_loop(&f->loops, loop, f->graph.succ[i]))
            return true;
    return false;
}

/* The blocks that the loop is left from: how many, the last of them, and what decides. */
static uint32_t find_loop_exits(const state *s, const flow_function *f, uint32_t loop,
                                uint32_t *exit, flow_source *source)
{
    const flow_loop *l = &f->loops.loops[loop];
    uint32_t count = 0;
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t block = f->loops.nodes[l->first + n];
        if (!goes_out_of(f, loop, block))
            continue;
        count++;
        *exit = block;
        if (source->reason == FLOW_CLEAN)
            *source = flow_branch_source(s->k, f, block);
        for (uint32_t i = f->control.first[block];
             source->reason == FLOW_CLEAN && i < f->control.first[block + 1]; i++)
            if (flow_in_loop(&f->loops, loop, f->control.item[i]))
                *source = flow_branch_source(s->k, f, f->control.item[i]);
    }
    return count;
}

static bool in_each_iteration(const flow_function *f, uint32_t loop, uint32_t block)
{
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t p = f->graph.pred_first[header]; p < f->graph.pred_first[header + 1]; p++)
        if (flow_in_loop(&f->loops, loop, f->graph.pred[p]) &&
            !flow_dominates(&f->dom, block, f->graph.pred[p]))
            return false;
    return true;
}

static flow_source source_of_form(const state *s, const flow_affine *form)
{
    for (uint32_t t = 0; form && t < form->nterms; t++)
        for (int i = 0; i < form->terms[t].nfactors; i++) {
            flow_symbol symbol = form->terms[t].factors[i];
            const flow_function *f = symbol.kind == FLOW_SYM_VALUE ? function_at(s, symbol.b)
                                                                   : NULL;
            if (f && f->from[symbol.a] & (FLOW_FROM_MEMORY | FLOW_FROM_ATOMIC) &&
                f->taint[symbol.a].reason != FLOW_CLEAN)
                return f->taint[symbol.a];
        }
    return (flow_source){FLOW_CLEAN, IR_NONE};
}

/* What brings loaded data into the count. That a loop is only entered where data says so, which
 * taints its counter too, does not. */
static flow_source source_of_count(const state *s, const flow_count *count)
{
    flow_source source = {FLOW_CLEAN, IR_NONE};
    for (uint32_t i = 0; i < count->nfactors && source.reason == FLOW_CLEAN; i++) {
        source = source_of_form(s, count->factors[i].over);
        if (source.reason == FLOW_CLEAN)
            source = source_of_form(s, count->factors[i].under);
    }
    return source;
}

static flow_loop_count count_loop(state *s, uint32_t context, uint32_t loop)
{
    const flow_function *f = function_at(s, context);
    flow_loop_count out = {.context = context, .loop = loop, .source = {FLOW_CLEAN, IR_NONE}};
    uint32_t exit = FLOW_NONE, exits = find_loop_exits(s, f, loop, &exit, &out.source);
    out.count = f->trips[loop].kind == FLOW_TRIP_UNKNOWN
                    ? unknown_count()
                    : stepped_count(s, context, &f->trips[loop]);
    if (out.count.kind == FLOW_SOMETIMES && exits == 1 && f->loops.of[exit] == loop &&
        in_each_iteration(f, loop, exit)) {
        out.count = strided_count(s, context, loop, exit);
        if (out.count.kind == FLOW_SOMETIMES)
            out.count = geometric_count(s, context, loop, exit);
    }
    if (out.count.kind == FLOW_EXACTLY)
        out.source = source_of_count(s, &out.count);
    out.end = !exits                            ? FLOW_END_NEVER
              : out.source.reason != FLOW_CLEAN ? FLOW_END_DATA
              : out.count.kind == FLOW_EXACTLY  ? FLOW_END_COUNTED
              : out.count.kind == FLOW_AT_MOST  ? FLOW_END_EARLY
                                                : FLOW_END_FORM;
    return out;
}

static void count_loops(state *s)
{
    s->first_loop = flow_new(&s->k->mem, uint32_t, s->c->ncontexts);
    for (uint32_t n = 0; n < s->c->ncontexts; n++) {
        s->first_loop[n] = s->loops.count;
        for (uint32_t l = 0; l < function_at(s, n)->loops.count; l++)
            flow_push(&s->k->mem, &s->loops, count_loop(s, n, l));
    }
    s->c->loops = s->loops.data;
    s->c->nloops = s->loops.count;
}

/* ---- conditions ---- */

static bool is_fixed_insn(const flow_function *f, const ir_insn *insn)
{
    switch (insn->op) {
    case IR_shfl:
    case IR_vote:
    case IR_match:
    case IR_redux:
    case IR_elect:
    case IR_activemask:
    case IR_bget:
    case IR_call: return false;
    default:
        return f->effects[insn->pc] == IR_EFFECT_NONE ||
               (f->effects[insn->pc] == IR_EFFECT_LOAD && insn->space == IR_SPACE_PARAM);
    }
}

/* Does the value stay the same while the loop runs? */
static bool is_fixed_value(const flow_function *f, uint32_t loop, uint32_t value, unsigned depth)
{
    const flow_value *v = &f->values[value];
    if (v->kind == FLOW_VALUE_ENTRY || !flow_in_loop(&f->loops, loop, v->block))
        return true;
    if (v->kind == FLOW_VALUE_PHI || depth == MAX_DEPTH || v->old != FLOW_NONE ||
        !is_fixed_insn(f, &f->func->insns[v->insn]))
        return false;
    for (uint32_t u = f->use_first[v->insn]; u < f->use_first[v->insn + 1]; u++)
        if (!is_fixed_value(f, loop, f->uses[u].value, depth + 1))
            return false;
    return true;
}

/* The outermost loop around a block, or FLOW_NONE. */
static uint32_t outermost(const flow_function *f, uint32_t block)
{
    uint32_t loop = f->loops.of[block];
    while (loop != FLOW_NONE && f->loops.loops[loop].parent != FLOW_NONE)
        loop = f->loops.loops[loop].parent;
    return loop;
}

/* Is the condition a comparison of two numbers that holds? */
static bool is_settled(state *s, const flow_condition *c)
{
    const flow_function *f = function_at(s, c->context);
    const flow_value *v = c->value == FLOW_NONE ? NULL : &f->values[c->value];
    const ir_insn *insn = v && v->kind == FLOW_VALUE_INSN ? &f->func->insns[v->insn] : NULL;
    if (!insn || v->old != FLOW_NONE || insn->op != IR_setp || insn->noperands != 3)
        return false;
    const flow_affine *a = flow_in_context(s->c, c->context, form_of_operand(s, f, insn, 1));
    const flow_affine *b = flow_in_context(s->c, c->context, form_of_operand(s, f, insn, 2));
    int64_t x, y;
    if (!a || !b || !flow_affine_is_constant(a, &x) || !flow_affine_is_constant(b, &y) || x < 0 ||
        y < 0)
        return false;
    switch (ir_first_of(insn, IR_SC_CMP)) {
    case IR_S_eq: return (x == y) != c->negated;
    case IR_S_ne: return (x != y) != c->negated;
    case IR_S_lt:
    case IR_S_lo: return (x < y) != c->negated;
    case IR_S_le:
    case IR_S_ls: return (x <= y) != c->negated;
    case IR_S_gt:
    case IR_S_hi: return (x > y) != c->negated;
    case IR_S_ge:
    case IR_S_hs: return (x >= y) != c->negated;
    default: return false;
    }
}

static void add_condition(state *s, flow_use_count *use, flow_condition condition, uint32_t block)
{
    const flow_function *f = function_at(s, condition.context);
    if (is_settled(s, &condition))
        return;
    uint32_t loop = outermost(f, block);
    if (loop != FLOW_NONE &&
        (condition.value == FLOW_NONE || !is_fixed_value(f, loop, condition.value, 0)) &&
        use->count.kind == FLOW_EXACTLY)
        use->count.kind = FLOW_AT_MOST;
    for (uint32_t i = 0; i < use->nconditions; i++)
        if (use->conditions[i].context == condition.context &&
            use->conditions[i].value == condition.value &&
            use->conditions[i].negated == condition.negated && condition.value != FLOW_NONE)
            return;
    if (use->nconditions < FLOW_COUNT_CONDITIONS)
        use->conditions[use->nconditions++] = condition;
    else
        use->more = true;
}

/* The block where the branch's jump leads. */
static uint32_t jump_target(const flow_function *f, const ir_insn *branch)
{
    if (branch->op != IR_bra || branch->operands[0].kind != IR_OPD_LABEL)
        return f->nblocks;
    uint32_t pc = f->func->labels[branch->operands[0].label].pc;
    return pc < f->func->ninsns ? f->block_of[pc] : f->nblocks;
}

/* What the branch at the end of block `from` must do for block `to` to run. */
static void add_branch(state *s, flow_use_count *use, spot from, uint32_t to)
{
    const flow_function *f = function_at(s, from.context);
    const ir_insn *last = last_of(f, from.block);
    uint32_t target = jump_target(f, last);
    flow_condition condition = {
        .context = from.context, .pc = f->first_pc + last->pc, .value = FLOW_NONE};
    if (last->guard != IR_NONE && last->op != IR_call) {
        bool jumps = last->op == IR_bra && target < f->nblocks &&
                     (target == to || flow_dominates(&f->post, to, target));
        condition.value = f->uses[f->use_first[last->pc]].value;
        condition.negated = jumps == last->guard_neg;
    }
    add_condition(s, use, condition, from.block);
}

/* Is the branch at the end of c one that ends a loop around both? */
static bool ends_common_loop(const flow_function *f, uint32_t c, uint32_t block)
{
    for (uint32_t l = f->loops.of[c]; l != FLOW_NONE; l = f->loops.loops[l].parent)
        if (flow_in_loop(&f->loops, l, block) && goes_out_of(f, l, c))
            return true;
    return false;
}

static void add_conditions(state *s, flow_use_count *use, spot at, bool *visited)
{
    const flow_function *f = function_at(s, at.context);
    for (uint32_t i = f->control.first[at.block]; i < f->control.first[at.block + 1]; i++) {
        uint32_t c = f->control.item[i];
        if (!ends_common_loop(f, c, at.block))
            add_branch(s, use, (spot){at.context, c}, at.block);
        if (!visited[c]) {
            visited[c] = true;
            add_conditions(s, use, (spot){at.context, c}, visited);
        }
    }
}

static void add_guard(state *s, flow_use_count *use, uint32_t context, uint32_t insn)
{
    const flow_function *f = function_at(s, context);
    const ir_insn *at = &f->func->insns[insn];
    if (at->guard != IR_NONE)
        add_condition(s, use,
                      (flow_condition){.context = context,
                                       .pc = f->first_pc + insn,
                                       .value = f->uses[f->use_first[insn]].value,
                                       .negated = at->guard_neg},
                      f->block_of[insn]);
}

/* ---- what changes ---- */

/* Is context a the context b, or below it? */
static bool is_called_from(const state *s, uint32_t a, uint32_t b)
{
    while (a != b && a != FLOW_NONE)
        a = s->c->contexts[a].parent;
    return a == b;
}

/* Does the symbol change while the loop runs? Its own counter, and that of loops in it, do. */
static bool symbol_changes(const state *s, flow_symbol symbol, const flow_loop_count *loop,
                           bool inner)
{
    if (symbol.kind != FLOW_SYM_LOOP && symbol.kind != FLOW_SYM_VALUE)
        return false;
    if (symbol.b != loop->context)
        return is_called_from(s, symbol.b, loop->context) &&
               (inner || symbol.kind == FLOW_SYM_VALUE);
    const flow_function *f = function_at(s, loop->context);
    if (symbol.kind == FLOW_SYM_VALUE)
        return !is_fixed_value(f, loop->loop, symbol.a, 0);
    return symbol.a == loop->loop ||
           (inner && flow_in_loop(&f->loops, loop->loop, f->loops.loops[symbol.a].header));
}

static bool same_each_time(const state *s, const flow_affine *form, const flow_loop_count *loop,
                           bool inner)
{
    for (uint32_t t = 0; t < form->nterms; t++)
        for (int i = 0; i < form->terms[t].nfactors; i++)
            if (symbol_changes(s, form->terms[t].factors[i], loop, inner))
                return false;
    return true;
}

/* ---- how often ---- */

/* The loop's count for a block in it: behind the test that ends the loop, one iteration less. */
static flow_count count_within(state *s, spot at, uint32_t loop)
{
    const flow_function *f = function_at(s, at.context);
    flow_loop_count *l = &s->loops.data[s->first_loop[at.context] + loop];
    flow_count count = l->count;
    uint32_t exit = FLOW_NONE;
    flow_source source = {FLOW_CLEAN, IR_NONE};
    if (count.kind == FLOW_SOMETIMES || l->end == FLOW_END_DATA)
        return unknown_count();
    find_loop_exits(s, f, loop, &exit, &source);
    if (f->trips[loop].kind != FLOW_TRIP_UNKNOWN)
        exit = f->trips[loop].exiting;
    if (at.block == exit || flow_dominates(&f->dom, at.block, exit) ||
        !flow_dominates(&f->dom, exit, at.block))
        return count;
    if (!count.nfactors) {
        count.times--;
        return count;
    }
    count.factors[0].least = 0;
    if (count.factors[0].kind == FLOW_CEIL)
        count.factors[0].over = flow_affine_add(&s->k->mem, count.factors[0].over,
                                                count.factors[0].under
                                                    ? count.factors[0].under
                                                    : flow_affine_constant(&s->k->mem,
                                                                           count.factors[0].by),
                                                -1);
    else if (count.factors[0].kind == FLOW_BITS)
        count.factors[0].by++;
    else
        count.kind = FLOW_SOMETIMES;
    return count;
}

/* Is the count of what stands in the loop another in each of its iterations? */
static bool varies_with(const state *s, const flow_count *count, const flow_loop_count *loop)
{
    for (uint32_t i = 0; i < count->nfactors; i++)
        if (!same_each_time(s, count->factors[i].over, loop, true) ||
            (count->factors[i].under && !same_each_time(s, count->factors[i].under, loop, true)))
            return true;
    return false;
}

static void count_loops_around(state *s, flow_use_count *use, spot at)
{
    const flow_function *f = function_at(s, at.context);
    for (uint32_t l = f->loops.of[at.block]; l != FLOW_NONE; l = f->loops.loops[l].parent) {
        flow_count count = count_within(s, at, l);
        if (varies_with(s, &use->count, &s->loops.data[s->first_loop[at.context] + l]))
            use->count.kind = FLOW_SOMETIMES;
        multiply_count(&use->count, &count);
        flow_push(&s->k->mem, &s->around, s->first_loop[at.context] + l);
        use->nloops++;
        at.block = f->loops.loops[l].header;
    }
}

static void count_executions(state *s, flow_use_count *use, uint32_t insn)
{
    spot at = {use->context, function_at(s, use->context)->block_of[insn]};
    use->count = s->c->contexts[use->context].unknown ? unknown_count() : once();
    use->first_loop = s->around.count;
    do {
        bool *visited = flow_new(&s->k->mem, bool, function_at(s, at.context)->nblocks + 1);
        add_guard(s, use, at.context, insn);
        add_conditions(s, use, at, visited);
        count_loops_around(s, use, at);
        insn = s->c->contexts[at.context].call;
    } while (call_spot(s, &at));
}

/* ---- rules ---- */

/* Does the loop's counter stand once in each term that changes? */
static bool moves_by_one_step(const state *s, const flow_affine *form, const flow_loop_count *loop)
{
    for (uint32_t t = 0; t < form->nterms; t++) {
        unsigned counters = 0;
        for (int i = 0; i < form->terms[t].nfactors; i++) {
            flow_symbol symbol = form->terms[t].factors[i];
            bool counter = symbol.kind == FLOW_SYM_LOOP && symbol.a == loop->loop &&
                           symbol.b == loop->context;
            counters += counter;
            if (!counter && symbol_changes(s, symbol, loop, true))
                return false;
        }
        if (counters > 1)
            return false;
    }
    return true;
}

/* Does each iteration of the n-th loop around it run the access? */
static bool runs_in_each_iteration(const state *s, const flow_use_count *use, uint32_t n)
{
    const flow_loop_count *loop = &s->loops.data[s->around.data[use->first_loop + n]];
    const flow_function *f = function_at(s, loop->context);
    for (uint32_t i = 0; i < use->nconditions; i++) {
        const flow_condition *c = &use->conditions[i];
        const flow_function *in = function_at(s, c->context);
        uint32_t block = in->block_of[c->pc - in->first_pc];
        if (c->context != loop->context
                ? is_called_from(s, c->context, loop->context)
                : flow_in_loop(&f->loops, loop->loop, block) &&
                      (c->value == FLOW_NONE || !is_fixed_value(f, loop->loop, c->value, 0)))
            return false;
    }
    return !use->more;
}

static bool is_thread_invariant(const state *s, const flow_use_count *use, uint32_t insn)
{
    const flow_function *f = function_at(s, use->context);
    uint32_t block = f->block_of[insn];
    if (f->control_level[block] > FLOW_BLOCK)
        return false;
    for (uint32_t l = f->loops.of[block]; l != FLOW_NONE; l = f->loops.loops[l].parent)
        if (f->loop_level[l] > FLOW_BLOCK)
            return false;
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        if ((f->uses[u].role == FLOW_USE_ADDRESS || f->uses[u].role == FLOW_USE_GUARD) &&
            flow_level_at(f, f->uses[u].value, block) > FLOW_BLOCK)
            return false;
    return f->addresses[f->address_first[insn]].space != IR_SPACE_LOCAL;
}

static void judge_use(state *s, flow_use_count *use, uint32_t insn)
{
    if (s->c->proof->flags[use->pc] & FLOW_PC_PROVEN)
        use->rules |= FLOW_RULE_STATIC;
    if (is_thread_invariant(s, use, insn))
        use->rules |= FLOW_RULE_THREAD;
    for (uint32_t n = 0; use->form && n < use->nloops && n < 32; n++) {
        const flow_loop_count *loop = &s->loops.data[s->around.data[use->first_loop + n]];
        if (!runs_in_each_iteration(s, use, n))
            break;
        if (same_each_time(s, use->form, loop, n == 0))
            use->invariant |= 1u << n;
        else if (n == 0 && moves_by_one_step(s, use->form, loop))
            use->rules |= FLOW_RULE_AFFINE;
    }
    if (use->invariant & 1)
        use->rules |= FLOW_RULE_LOOP;
}

/* ---- uses ---- */

/* The first address that the instruction touches memory at. */
static const flow_affine *form_of_address(state *s, uint32_t context, uint32_t insn)
{
    const flow_function *f = function_at(s, context);
    const flow_address *a = &f->addresses[f->address_first[insn]];
    flow_mem *mem = &s->k->mem;
    while (!a->touch)
        a++;
    if (a->operand->kind != IR_OPD_ADDR)
        return NULL;
    const flow_affine *form = flow_affine_constant(mem, 0);
    if (a->operand->has_sym && a->operand->sym.kind == IR_SYM_VAR)
        form = flow_affine_symbol(mem, (flow_symbol){FLOW_SYM_BASE,
                                                     flow_object_of(s->k, a->operand->sym.var), 0});
    else if (a->value != FLOW_NONE)
        form = f->affine[a->value];
    form = flow_affine_add(mem, form, flow_affine_constant(mem, (int64_t)a->operand->imm), 1);
    return flow_in_context(s->c, context, form);
}

static void find_uses_in(state *s, uint32_t context)
{
    const flow_function *f = function_at(s, context);
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        if (!(s->c->proof->flags[f->first_pc + i] & FLOW_PC_MEMORY))
            continue;
        flow_use_count use = {
            .context = context, .pc = f->first_pc + i, .form = form_of_address(s, context, i)};
        count_executions(s, &use, i);
        judge_use(s, &use, i);
        flow_push(&s->k->mem, &s->uses, use);
    }
}

static void count_all(void *ctx)
{
    state *s = ctx;
    flow_find_contexts(s->c);
    count_loops(s);
    for (uint32_t n = 0; n < s->c->ncontexts; n++)
        find_uses_in(s, n);
    s->c->around = s->around.data;
    s->c->uses = s->uses.data;
    s->c->count = s->uses.count;
}

wl_status flow_count_uses(flow_kernel *kernel, const flow_proof *proof, flow_counts *out)
{
    wl_status status = flow_run(kernel, FLOW_PASS_affine);
    *out = (flow_counts){.kernel = kernel, .proof = proof};
    state s = {.c = out, .k = kernel};
    return status == WL_OK ? flow_guard(&kernel->mem, count_all, &s) : status;
}

const char *flow_end_name(flow_end end)
{
    static const char *const names[] = {"counted", "early", "data", "form", "never"};
    return names[end];
}
