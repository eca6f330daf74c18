/* What words of the parameters values are computed from: through registers flow-sensitively, through memory
 * that the kernel writes by its variables. */
#include "flow/compared.h"

enum { WORD = 8, BITS = 64, MOST_SETS = 256 };

static const flow_words_set all_words = UINT64_MAX;

typedef struct state {
    flow_kernel *k;
    flow_function *f;
    flow_words_set **values; /* [functions][nvalues] */
    flow_words_set *objects; /* [nobjects] of all that is stored there */
    flow_list(flow_words_set) sets;
    bool changed;
} state;

static flow_words_set *value_words(const state *s, uint32_t value)
{
    return &s->values[s->f->index][value];
}

static void gain_words(state *s, flow_words_set *at, flow_words_set words)
{
    s->changed |= (words & ~*at) != 0;
    *at |= words;
}

/* ---- what is loaded ---- */

static flow_words_set words_between(uint64_t from, uint64_t to)
{
    flow_words_set words = 0;
    if (to <= from || to - from >= WORD * BITS)
        return all_words;
    for (uint64_t w = from / WORD; w <= (to - 1) / WORD; w++)
        words |= UINT64_C(1) << w % BITS;
    return words;
}

/* Of a parameter of the kernel what lies at the offset, if that is known; of a variable what was stored to it.
 * What calls pass and return is not followed. */
static flow_words_set words_in_object(const state *s, uint32_t object, int64_t offset,
                                      uint32_t bytes)
{
    const flow_object *o = &s->k->objects[object];
    uint32_t from, to;
    if (o->space != IR_SPACE_PARAM)
        return s->objects[object];
    if (!o->var || !ir_param_place(s->k->funcs[0].func, o->var, &from, &to))
        return all_words;
    bool known = offset >= 0 && bytes && (uint64_t)offset + bytes <= to - from;
    return known ? words_between(from + (uint64_t)offset, from + (uint64_t)offset + bytes)
                 : words_between(from, to);
}

static flow_words_set words_loaded(const state *s, const flow_address *a)
{
    flow_words_set words = 0;
    flow_reach r = flow_reach_of(s->k, s->f, a);
    if (a->space == IR_SPACE_CONST)
        return 0;
    if (r.shared || r.local)
        return all_words;
    for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
         o = flow_next_reached(s->k, &r, o + 1))
        words |= words_in_object(s, o, o == r.object ? r.offset : FLOW_OFFSET_UNKNOWN, a->bytes);
    return words;
}

/* ---- what is computed ---- */

static flow_words_set words_used(const state *s, const ir_insn *insn, flow_role role)
{
    flow_words_set words = 0;
    for (uint32_t u = s->f->use_first[insn->pc]; u < s->f->use_first[insn->pc + 1]; u++)
        words |= s->f->uses[u].role == role ? *value_words(s, s->f->uses[u].value) : 0;
    return words;
}

static bool is_of_predicate(const state *s, uint32_t value)
{
    uint32_t reg = s->f->values[value].reg;
    return reg < s->f->func->nregs && ir_type_get(s->f->func->regs[reg].type)->kind == IR_KIND_P;
}

/* A comparison is judged by itself: of what it gives only the outcome is left. */
static void compute_words(state *s, const ir_insn *insn)
{
    flow_words_set words = insn->op == IR_call ? all_words : words_used(s, insn, FLOW_USE_DATA);
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++)
        if (s->f->addresses[i].touch & FLOW_READ)
            words |= words_loaded(s, &s->f->addresses[i]);
    for (uint32_t d = s->f->def_first[insn->pc]; d < s->f->def_first[insn->pc + 1]; d++) {
        uint32_t v = s->f->defs[d], old = s->f->values[v].old;
        if (is_of_predicate(s, v))
            continue;
        gain_words(s, value_words(s, v), words | (old != FLOW_NONE ? *value_words(s, old) : 0));
    }
}

static void words_stored(state *s, const ir_insn *insn)
{
    flow_words_set words = words_used(s, insn, FLOW_USE_STORED);
    for (uint32_t i = s->f->address_first[insn->pc]; i < s->f->address_first[insn->pc + 1]; i++) {
        const flow_address *a = &s->f->addresses[i];
        if (!(a->touch & FLOW_WRITE) || !words)
            continue;
        flow_reach r = flow_reach_of(s->k, s->f, a);
        for (uint32_t o = flow_next_reached(s->k, &r, 0); o != FLOW_NONE;
             o = flow_next_reached(s->k, &r, o + 1))
            gain_words(s, &s->objects[o], words);
    }
}

static void merge_words(state *s, uint32_t block)
{
    const flow_function *f = s->f;
    uint32_t edges = f->graph.pred_first[block + 1] - f->graph.pred_first[block];
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
        for (uint32_t p = 0; p < edges; p++)
            gain_words(s, value_words(s, f->phis[i]),
                       *value_words(s, f->args[f->values[f->phis[i]].first_arg + p]));
}

static void visit_function(state *s)
{
    for (uint32_t b = 0; b < s->f->nblocks; b++) {
        merge_words(s, b);
        const flow_block *block = &s->f->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            compute_words(s, &s->f->func->insns[i]);
            words_stored(s, &s->f->func->insns[i]);
        }
    }
}

static void begin_values(state *s, uint32_t n)
{
    s->f = &s->k->funcs[n];
    s->values[n] = flow_new(&s->k->mem, flow_words_set, s->f->nvalues);
    for (uint32_t v = 0; n && v < s->f->nvalues; v++)
        if (s->f->values[v].kind == FLOW_VALUE_ENTRY)
            s->values[n][v] = all_words;
}

/* ---- comparisons ---- */

static bool compares(const ir_insn *insn)
{
    switch (insn->op) {
    case IR_setp:
    case IR_set:
    case IR_slct:
    case IR_min:
    case IR_max:
    case IR_sad:
    case IR_vmin:
    case IR_vmax:
    case IR_vset: return true;
    default: return false;
    }
}

static void note_set(state *s, flow_words_set words)
{
    if (!(words & (words - 1)))
        return;
    if (s->sets.count == MOST_SETS)
        words = all_words;
    for (uint32_t i = 0; i < s->sets.count; i++)
        if (s->sets.data[i] == words || s->sets.data[i] == all_words)
            return;
    flow_push(&s->k->mem, &s->sets, words);
}

void flow_find_compared(flow_kernel *k, const uint8_t *flags, const flow_words_set **sets,
                        uint32_t *count)
{
    state s = {.k = k};
    s.values = flow_new(&k->mem, flow_words_set *, k->code->count);
    s.objects = flow_new(&k->mem, flow_words_set, k->nobjects);
    for (uint32_t n = 0; n < k->code->count; n++)
        begin_values(&s, n);
    do {
        s.changed = false;
        for (uint32_t n = 0; n < k->code->count; n++) {
            s.f = &k->funcs[n];
            visit_function(&s);
        }
    } while (s.changed);
    for (uint32_t n = 0; n < k->code->count; n++) {
        s.f = &k->funcs[n];
        for (uint32_t i = 0; i < s.f->func->ninsns; i++)
            if (flags[s.f->first_pc + i] & FLOW_PC_SLICE && compares(&s.f->func->insns[i]))
                note_set(&s, words_used(&s, &s.f->func->insns[i], FLOW_USE_DATA));
    }
    *sets = s.sets.data;
    *count = s.sets.count;
}
