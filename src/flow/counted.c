/* Which values follow from the results of atomic updates, by what instructions compute: a place
 * that a counter gives, also where it went through shared memory or a shuffle. Taint (taint.c) keeps
 * the first reason that it meets, and follows branches as well. */
#include "flow/kernel.h"

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    bool changed;
} state;

static void mark_counted(state *s, bool *at, bool counted)
{
    s->changed |= counted && !*at;
    *at |= counted;
}

/* Does a variable that the instruction may read hold such a value? */
static bool reads_counted(const state *s, const ir_insn *insn)
{
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++) {
        flow_reach r = flow_reach_of(s->k, s->f, &s->f->addresses[i]);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            if (s->f->addresses[i].touch & FLOW_READ && s->k->counted_objects[o])
                return true;
    }
    return false;
}

static bool uses_counted(const flow_function *f, const ir_insn *insn, flow_role role)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->uses[u].role == role && f->counted[f->uses[u].value])
            return true;
    return false;
}

static void mark_results(state *s, const ir_insn *insn)
{
    flow_function *f = s->f;
    ir_effect effect = f->effects[insn->pc];
    bool counted = effect == IR_EFFECT_ATOMIC || uses_counted(f, insn, FLOW_USE_DATA) ||
                   (effect == IR_EFFECT_LOAD && reads_counted(s, insn));
    for (uint32_t d = f->def_first[insn->pc]; d < f->def_first[insn->pc + 1]; d++) {
        uint32_t v = f->defs[d], old = f->values[v].old;
        mark_counted(s, &f->counted[v], counted || (old != FLOW_NONE && f->counted[old]));
    }
}

static void mark_stored(state *s, const ir_insn *insn)
{
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++) {
        flow_reach r = flow_reach_of(s->k, s->f, &s->f->addresses[i]);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            mark_counted(s, &s->k->counted_objects[o], s->f->addresses[i].touch & FLOW_WRITE);
    }
}

static void mark_phis(state *s, uint32_t block)
{
    flow_function *f = s->f;
    uint32_t edges = f->graph.pred_first[block + 1] - f->graph.pred_first[block];
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
        for (uint32_t p = 0; p < edges; p++)
            mark_counted(s, &f->counted[f->phis[i]],
                         f->counted[f->args[f->values[f->phis[i]].first_arg + p]]);
}

static void mark_function(state *s)
{
    for (uint32_t b = 0; b < s->f->nblocks; b++) {
        mark_phis(s, b);
        for (uint32_t i = s->f->blocks[b].first; i < s->f->blocks[b].first + s->f->blocks[b].count;
             i++) {
            const ir_insn *insn = &s->f->func->insns[i];
            mark_results(s, insn);
            if (uses_counted(s->f, insn, FLOW_USE_STORED))
                mark_stored(s, insn);
        }
    }
}

/* Needs origins. Fills flow_function.counted and flow_kernel.counted_objects. */
void flow_pass_counted(flow_kernel *k)
{
    state s = {.k = k};
    k->counted_objects = flow_new(&k->mem, bool, k->nobjects);
    for (uint32_t n = 0; n < k->code->count; n++)
        k->funcs[n].counted = flow_new(&k->mem, bool, k->funcs[n].nvalues);
    do {
        s.changed = false;
        for (uint32_t n = 0; n < k->code->count; n++) {
            s.f = &k->funcs[n];
            mark_function(&s);
        }
    } while (s.changed);
}
