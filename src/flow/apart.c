/* What follows about an array's live ranges from counts. */
#include "flow/apart.h"

#include "flow/taint.h"

typedef struct state {
    const flow_counts *counts;
    const flow_fills *fills;
    const flow_arrays *arrays;
    const flow_array *array;
    const bool *shown;
} state;

/* ---- uses ---- */

static const flow_use_count *use_at(const state *s, uint32_t u)
{
    return &s->counts->uses[s->arrays->uses[u].use];
}

static const flow_fill *fill_at(const state *s, uint32_t pc)
{
    uint32_t at = s->fills->at[pc];
    return at == FLOW_NONE ? NULL : &s->fills->fills[at];
}

int flow_class_of_use(const flow_counts *counts, const flow_array_use *use)
{
    if (use->write == FLOW_NO_WRITE)
        return WL_LOADS;
    ir_place place = ir_kernel_at(counts->kernel->code, counts->uses[use->use].pc);
    return ir_insn_effect(place.insn) == IR_EFFECT_ATOMIC ? WL_ATOMICS : WL_STORES;
}

/* May the value of a shown store come from a load of the array that is not? */
static bool reads_unseen(const state *s, uint32_t pc)
{
    const flow_fill *fill = fill_at(s, pc);
    for (uint32_t r = 0; fill && r < fill->count; r++) {
        uint32_t load = s->fills->reads[fill->first + r].pc;
        for (uint32_t u = s->array->first; u < s->array->first + s->array->count; u++)
            if (use_at(s, u)->pc == load && !s->shown[load])
                return true;
    }
    return false;
}

/* ---- barriers ---- */

enum { MOST_HOPS = 24 };

static bool is_value_together(const flow_function *f, uint32_t value, uint32_t block,
                              uint32_t hops);

/* No two threads race for what is accessed plainly: all that load from one address between the same
 * barriers get one value. As long as threads have run together, they do so between the same. */
static bool is_stable_load(const ir_insn *insn)
{
    return insn->op == IR_ld && insn->guard == IR_NONE && !ir_has(insn, IR_S_volatile) &&
           (insn->space == IR_SPACE_GLOBAL || insn->space == IR_SPACE_PARAM) &&
           !ir_has(insn, IR_S_relaxed) && !ir_has(insn, IR_S_acquire);
}

static bool are_uses_together(const flow_function *f, uint32_t insn, uint32_t hops)
{
    for (uint32_t u = f->use_first[insn]; u < f->use_first[insn + 1]; u++)
        if (!is_value_together(f, f->uses[u].value, f->block_of[insn], hops))
            return false;
    return true;
}

/* Have all threads of the block the same value where it is used? */
static bool is_value_together(const flow_function *f, uint32_t value, uint32_t block, uint32_t hops)
{
    const flow_value *v = &f->values[value];
    for (uint32_t l = f->loops.of[v->block]; l != FLOW_NONE && !flow_in_loop(&f->loops, l, block);
         l = f->loops.loops[l].parent)
        if (f->loop_level[l] > FLOW_BLOCK)
            return false;
    if (f->level[value] <= FLOW_BLOCK)
        return true;
    if (v->kind != FLOW_VALUE_INSN || hops == MOST_HOPS || v->old != FLOW_NONE)
        return false;
    const ir_insn *insn = &f->func->insns[v->insn];
    bool plain = f->effects[v->insn] == IR_EFFECT_NONE && !f->unknown[v->insn] &&
                 insn->op != IR_call;
    for (uint32_t i = 0; i < insn->noperands; i++)
        plain &= insn->operands[i].kind != IR_OPD_SREG;
    return (plain || is_stable_load(insn)) && are_uses_together(f, v->insn, hops + 1);
}

static bool is_branch_together(const flow_function *f, uint32_t block)
{
    const ir_insn *last = &f->func->insns[f->blocks[block].first + f->blocks[block].count - 1];
    return flow_nsucc(&f->graph, block) < 2 ||
           (last->op != IR_call && are_uses_together(f, last->pc, 0));
}

/* All that decides whether the block runs. */
static bool is_reached_together(const flow_function *f, uint32_t block, uint32_t hops)
{
    if (f->control_level[block] <= FLOW_BLOCK)
        return true;
    for (uint32_t i = f->control.first[block]; i < f->control.first[block + 1]; i++) {
        uint32_t c = f->control.item[i];
        if (hops == MOST_HOPS || !is_branch_together(f, c) ||
            (c != block && !is_reached_together(f, c, hops + 1)))
            return false;
    }
    return f->entered_level <= FLOW_BLOCK;
}

static bool is_left_together(const flow_function *f, uint32_t loop)
{
    for (uint32_t n = 0; f->loop_level[loop] > FLOW_BLOCK && n < f->loops.loops[loop].count; n++) {
        uint32_t v = f->loops.nodes[f->loops.loops[loop].first + n];
        for (uint32_t i = f->graph.succ_first[v]; i < f->graph.succ_first[v + 1]; i++)
            if ((f->graph.succ[i] >= f->nblocks ||
                 !flow_in_loop(&f->loops, loop, f->graph.succ[i])) &&
                (!is_branch_together(f, v) || !is_reached_together(f, v, 0)))
                return false;
    }
    return true;
}

bool flow_runs_together(const flow_function *f, uint32_t block)
{
    bool together = !f->loops.irreducible && f->blocks[block].reached &&
                    is_reached_together(f, block, 0);
    for (uint32_t l = f->loops.of[block]; together && l != FLOW_NONE; l = f->loops.loops[l].parent)
        together = is_left_together(f, l);
    return together;
}

bool flow_is_full_barrier(const flow_function *f, const ir_insn *insn)
{
    return flow_is_barrier(insn) && ir_has(insn, IR_S_sync) && insn->noperands == 1 &&
           !ir_has(insn, IR_S_cluster) && insn->guard == IR_NONE &&
           flow_runs_together(f, f->block_of[insn->pc]);
}

/* Do all threads come to it in every launch alike? */
static bool is_counted_barrier(const state *s, const flow_function *f, const ir_insn *insn)
{
    return flow_is_full_barrier(f, insn) &&
           s->counts->proof->flags[f->first_pc + insn->pc] & FLOW_PC_COUNTED;
}

bool flow_comes_before(const flow_function *f, uint32_t first, uint32_t then)
{
    uint32_t a = f->block_of[first], b = f->block_of[then];
    return a == b ? first < then : flow_dominates(&f->dom, a, b);
}

/* On some way, perhaps: a loop that fills the array may be left at once. */
static bool may_come_before(const flow_function *f, uint32_t first, uint32_t then)
{
    uint32_t a = f->block_of[first], b = f->block_of[then];
    return a == b ? first < then : f->number[a] < f->number[b];
}

static bool stands_before_unseen(const state *s, uint32_t barrier)
{
    const flow_function *f = &s->counts->kernel->funcs[0];
    for (uint32_t u = s->array->first; u < s->array->first + s->array->count; u++) {
        const flow_use_count *use = use_at(s, u);
        if (!s->shown[use->pc] &&
            (use->context != 0 || !flow_comes_before(f, barrier, use->pc - f->first_pc)))
            return false;
    }
    return true;
}

static bool may_be_filled(const state *s, uint32_t barrier)
{
    const flow_function *f = &s->counts->kernel->funcs[0];
    for (uint32_t u = s->array->first; u < s->array->first + s->array->count; u++) {
        const flow_use_count *use = use_at(s, u);
        if (s->shown[use->pc] && s->arrays->uses[u].write == FLOW_FILLS && use->context == 0 &&
            may_come_before(f, use->pc - f->first_pc, barrier))
            return true;
    }
    return false;
}

static uint32_t find_barrier(const state *s)
{
    const flow_function *f = &s->counts->kernel->funcs[0];
    uint32_t found = FLOW_NONE;
    for (uint32_t i = 0; i < f->func->ninsns; i++)
        if (is_counted_barrier(s, f, &f->func->insns[i]) && stands_before_unseen(s, i) &&
            may_be_filled(s, i) && (found == FLOW_NONE || flow_comes_before(f, found, i)))
            found = i;
    return found == FLOW_NONE ? FLOW_NONE : f->first_pc + found;
}

/* ---- classes ---- */

static void add_unseen_use(const state *s, const flow_array_use *use, flow_apart *out)
{
    flow_alike *all = &out->classes[flow_class_of_use(s->counts, use)];
    flow_alike one = {.write = use->write};
    if (use->write == FLOW_FILLS)
        one.origin = fill_at(s, s->counts->uses[use->use].pc)->origin;
    bool same = all->write == FLOW_NO_WRITE ||
                (all->write == one.write && all->origin == one.origin);
    *all = one;
    out->any = true;
    out->alike &= same && one.write != FLOW_EITHER;
}

flow_apart flow_judge_apart(const flow_counts *counts, const flow_fills *fills,
                            const flow_arrays *arrays, const flow_array *array, const bool *shown)
{
    const state s = {counts, fills, arrays, array, shown};
    flow_apart out = {.alike = true, .barrier = FLOW_NONE};
    for (uint32_t u = array->first; u < array->first + array->count; u++) {
        uint32_t pc = use_at(&s, u)->pc;
        if (shown[pc])
            out.alike &= !reads_unseen(&s, pc);
        else
            add_unseen_use(&s, &arrays->uses[u], &out);
    }
    if (out.any && out.alike)
        out.barrier = find_barrier(&s);
    return out;
}
