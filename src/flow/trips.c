/* Trip counts: the test that ends a loop, and its solution where all is constant. */
#include "flow/affine.h"

static ir_suffix negated(ir_suffix compare)
{
    static const ir_suffix pairs[][2] = {{IR_S_eq, IR_S_ne},
                                         {IR_S_lt, IR_S_ge},
                                         {IR_S_le, IR_S_gt},
                                         {IR_S_lo, IR_S_hs},
                                         {IR_S_ls, IR_S_hi}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == compare)
                return pairs[i][!side];
    return IR_S_none;
}

static ir_suffix mirrored(ir_suffix compare)
{
    static const ir_suffix pairs[][2] = {
        {IR_S_lt, IR_S_gt}, {IR_S_le, IR_S_ge}, {IR_S_lo, IR_S_hi}, {IR_S_ls, IR_S_hs}};
    for (unsigned i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == compare)
                return pairs[i][!side];
    return compare;
}

/* The first i >= 0 for which start + step * i does not compare; false where that never happens. */
static bool solve_trip_count(int64_t start, int64_t step, int64_t bound, ir_suffix compare,
                             uint64_t *out)
{
    int64_t distance = bound - start; /* what the counter has to go */
    if (step < 0) {
        step = -step;
        distance = -distance;
        compare = mirrored(compare);
    }
    switch (compare) {
    case IR_S_le:
    case IR_S_ls: distance++; /* fallthrough */
    case IR_S_lt:
    case IR_S_lo: break;
    case IR_S_ne:
        if (distance < 0 || !step || distance % step)
            return false;
        break;
    case IR_S_eq: *out = distance == 0; return step != 0 || distance != 0;
    case IR_S_gt:
    case IR_S_hi: *out = 0; return distance >= 0; /* counts away from the bound */
    case IR_S_ge:
    case IR_S_hs: *out = 0; return distance > 0;
    default: return false;
    }
    if (distance > 0 && !step)
        return false;
    *out = distance <= 0 ? 0 : ((uint64_t)distance + (uint64_t)step - 1) / (uint64_t)step;
    return true;
}

static const flow_affine *form_of(flow_kernel *k, const flow_function *f, const ir_insn *insn,
                                  uint32_t operand)
{
    const ir_operand *o = &insn->operands[operand];
    if (o->kind == IR_OPD_INT)
        return flow_affine_constant(&k->mem, (int64_t)o->imm);
    for (uint32_t u = f->use_first[insn->pc];
         o->kind == IR_OPD_REG && u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == o->reg)
            return f->affine[f->uses[u].value];
    return NULL;
}

/* Does the form change from one iteration to the next? */
static bool varies(const flow_function *f, uint32_t loop, const flow_affine *a)
{
    for (uint32_t i = 0; i < a->nterms; i++)
        for (int n = 0; n < a->terms[i].nfactors; n++) {
            flow_symbol s = a->terms[i].factors[n];
            if (s.kind == FLOW_SYM_LOOP &&
                flow_in_loop(&f->loops, loop, f->loops.loops[s.a].header))
                return true;
            if (s.kind == FLOW_SYM_VALUE && f->values[s.a].kind != FLOW_VALUE_ENTRY &&
                flow_in_loop(&f->loops, loop, f->values[s.a].block))
                return true;
        }
    return false;
}

/* Sorts the sides of a comparison into counter and bound. */
static bool read_test(flow_kernel *k, const flow_function *f, uint32_t loop, const ir_insn *setp,
                      flow_trip *trip)
{
    flow_symbol iterations = {FLOW_SYM_LOOP, loop, 0};
    const flow_affine *a = form_of(k, f, setp, 1), *b = form_of(k, f, setp, 2);
    if (!a || !b)
        return false;
    if (!flow_affine_has(a, iterations)) {
        const flow_affine *other = a;
        a = b;
        b = other;
        trip->compare = mirrored(trip->compare);
    }
    if (!flow_affine_coefficient(a, iterations, &trip->step) || !trip->step || varies(f, loop, b))
        return false;
    trip->start = flow_affine_without(&k->mem, a, iterations);
    trip->bound = b;
    return trip->start && !varies(f, loop, trip->start);
}

/* The branch at the end of an exiting block. */
static bool read_exit(flow_kernel *k, const flow_function *f, uint32_t loop, uint32_t block,
                      flow_trip *trip)
{
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    if (last->op != IR_bra || last->guard == IR_NONE || last->operands[0].kind != IR_OPD_LABEL)
        return false;
    const flow_value *guard = &f->values[f->uses[f->use_first[last->pc]].value];
    if (guard->kind != FLOW_VALUE_INSN || guard->old != FLOW_NONE)
        return false;
    const ir_insn *setp = &f->func->insns[guard->insn];
    if (setp->op != IR_setp || setp->noperands != 3 || setp->operands[0].kind != IR_OPD_REG ||
        ir_type_get(setp->types[0])->kind == IR_KIND_F)
        return false;
    trip->exiting = block;
    trip->compare = ir_first_of(setp, IR_SC_CMP);
    uint32_t target = f->block_of[f->func->labels[last->operands[0].label].pc];
    bool taken_stays = target < f->nblocks && flow_in_loop(&f->loops, loop, target);
    if (taken_stays == last->guard_neg)
        trip->compare = negated(trip->compare);
    return trip->compare != IR_S_none && read_test(k, f, loop, setp, trip);
}

/* A test that is not made in every iteration says nothing: its block must dominate all that go back
 * to the header. */
static bool every_iteration(const flow_function *f, uint32_t loop, uint32_t block)
{
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t p = f->graph.pred_first[header]; p < f->graph.pred_first[header + 1]; p++)
        if (flow_in_loop(&f->loops, loop, f->graph.pred[p]) &&
            !flow_dominates(&f->dom, block, f->graph.pred[p]))
            return false;
    return f->loops.of[block] == loop;
}

static bool leaves(const flow_function *f, uint32_t loop, uint32_t node)
{
    for (uint32_t i = f->graph.succ_first[node]; i < f->graph.succ_first[node + 1]; i++)
        if (f->graph.succ[i] == f->nblocks || !flow_in_loop(&f->loops, loop, f->graph.succ[i]))
            return true;
    return false;
}

static flow_trip find_trip(flow_kernel *k, const flow_function *f, uint32_t loop)
{
    flow_trip best = {.kind = FLOW_TRIP_UNKNOWN};
    const flow_loop *l = &f->loops.loops[loop];
    uint32_t exits = 0;
    for (uint32_t n = 0; n < l->count; n++) {
        uint32_t node = f->loops.nodes[l->first + n];
        flow_trip trip = {.kind = FLOW_TRIP_SYMBOLIC};
        if (!leaves(f, loop, node))
            continue;
        exits++;
        if (!every_iteration(f, loop, node) || !read_exit(k, f, loop, node, &trip))
            continue;
        int64_t start, bound;
        if (flow_affine_is_constant(trip.start, &start) &&
            flow_affine_is_constant(trip.bound, &bound) &&
            solve_trip_count(start, trip.step, bound, trip.compare, &trip.count)) {
            trip.count++; /* the header ran before the test that fails */
            trip.kind = FLOW_TRIP_CONSTANT;
        }
        if (best.kind == FLOW_TRIP_UNKNOWN || trip.kind == FLOW_TRIP_CONSTANT)
            best = trip;
    }
    best.only_exit = exits == 1;
    return best;
}

void flow_find_trips(flow_kernel *k, flow_function *f)
{
    f->trips = flow_new(&k->mem, flow_trip, f->loops.count);
    for (uint32_t l = 0; l < f->loops.count; l++)
        f->trips[l] = find_trip(k, f, l);
}
