/* What values without a form follow from, by what instructions compute: the results of atomic
 * updates (a place that a counter gives, also where it went through shared memory or a shuffle),
 * what memory holds, or more than the thread's place in its block. Taint (taint.c) keeps the first
 * reason that it meets, and follows branches as well. */
#include "flow/kernel.h"

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    bool changed;
} state;

static void mark_from(state *s, uint8_t *at, unsigned from)
{
    s->changed |= (from & ~(unsigned)*at) != 0;
    *at |= (uint8_t)from;
}

static unsigned from_uses(const flow_function *f, const ir_insn *insn, flow_role role)
{
    unsigned from = 0;
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        from |= f->uses[u].role == role ? f->from[f->uses[u].value] : 0;
    return from;
}

/* Of a register that no thread of another block sees alike, or that varies. */
static unsigned from_register(const ir_operand *o)
{
    unsigned from = 0;
    for (uint32_t i = 0; i < o->count; i++)
        from |= from_register(&o->items[i]);
    if (o->kind != IR_OPD_SREG)
        return from;
    const ir_sreg_info *r = ir_sreg_get(o->sreg);
    bool of_block = r->level == IR_LEVEL_BLOCK || r->level == IR_LEVEL_CLUSTER;
    return from | (of_block || r->source != IR_SOURCE_LAUNCH ? FLOW_FROM_BLOCK : 0);
}

/* What the variables hold that the instruction may read; nothing is known of other memory. */
static unsigned from_loaded(const state *s, const ir_insn *insn)
{
    unsigned from = 0;
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++) {
        const flow_address *a = &s->f->addresses[i];
        bool launch = a->space == IR_SPACE_CONST || (a->space == IR_SPACE_PARAM && !s->f->index);
        bool known = a->space == IR_SPACE_SHARED || a->space == IR_SPACE_LOCAL ||
                     a->space == IR_SPACE_PARAM;
        flow_reach r = flow_reach_of(s->k, s->f, a);
        if (!(a->touch & FLOW_READ) || launch)
            continue;
        from |= FLOW_FROM_BLOCK | (known ? 0 : FLOW_FROM_MEMORY);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            from |= s->k->objects_from[o];
    }
    return from;
}

static unsigned from_effect(const state *s, const ir_insn *insn)
{
    switch (s->f->effects[insn->pc]) {
    case IR_EFFECT_NONE:
        return insn->op == IR_activemask || insn->op == IR_bget ? FLOW_FROM_BLOCK : 0;
    case IR_EFFECT_LOAD: return from_loaded(s, insn);
    case IR_EFFECT_ATOMIC: return FLOW_FROM_ATOMIC | FLOW_FROM_BLOCK;
    default: return FLOW_FROM_MEMORY | FLOW_FROM_BLOCK;
    }
}

/* Which value a guarded write leaves may be decided otherwise in another block. */
static void mark_results(state *s, const ir_insn *insn)
{
    flow_function *f = s->f;
    unsigned from = from_effect(s, insn) | from_uses(f, insn, FLOW_USE_DATA);
    for (uint32_t i = 0; i < insn->noperands; i++)
        from |= from_register(&insn->operands[i]);
    for (uint32_t d = f->def_first[insn->pc]; d < f->def_first[insn->pc + 1]; d++) {
        uint32_t v = f->defs[d], old = f->values[v].old;
        mark_from(s, &f->from[v], from | (old != FLOW_NONE ? f->from[old] | FLOW_FROM_BLOCK : 0));
    }
}

static void mark_stored(state *s, const ir_insn *insn)
{
    unsigned from = from_uses(s->f, insn, FLOW_USE_STORED);
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++) {
        flow_reach r = flow_reach_of(s->k, s->f, &s->f->addresses[i]);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            mark_from(s, &s->k->objects_from[o], s->f->addresses[i].touch & FLOW_WRITE ? from : 0);
    }
}

static void mark_phis(state *s, uint32_t block)
{
    flow_function *f = s->f;
    uint32_t edges = f->graph.pred_first[block + 1] - f->graph.pred_first[block];
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
        for (uint32_t p = 0; p < edges; p++)
            mark_from(s, &f->from[f->phis[i]],
                      FLOW_FROM_BLOCK | f->from[f->args[f->values[f->phis[i]].first_arg + p]]);
}

static void mark_function(state *s)
{
    for (uint32_t b = 0; b < s->f->nblocks; b++) {
        mark_phis(s, b);
        for (uint32_t i = s->f->blocks[b].first; i < s->f->blocks[b].first + s->f->blocks[b].count;
             i++) {
            mark_results(s, &s->f->func->insns[i]);
            mark_stored(s, &s->f->func->insns[i]);
        }
    }
}

/* Needs origins. Fills flow_function.from and flow_kernel.objects_from. */
void flow_pass_sources(flow_kernel *k)
{
    state s = {.k = k};
    k->objects_from = flow_new(&k->mem, uint8_t, k->nobjects);
    for (uint32_t n = 0; n < k->code->count; n++)
        k->funcs[n].from = flow_new(&k->mem, uint8_t, k->funcs[n].nvalues);
    do {
        s.changed = false;
        for (uint32_t n = 0; n < k->code->count; n++) {
            s.f = &k->funcs[n];
            mark_function(&s);
        }
    } while (s.changed);
}
