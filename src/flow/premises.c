/* Walks back from the branches and guards that an access stands behind to what they are computed of. */
#include "flow/premises.h"

#include "flow/predicates.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* For a premise: nodes that are made, values that are looked at, and blocks on the way to one. */
enum { MOST_NODES = 400, MOST_VISITS = 4000, MOST_HOPS = 12 };

typedef enum leaf { LEAF_NONE, LEAF_NUMBER, LEAF_TID, LEAF_NTID, LEAF_LANE, LEAF_SELF } leaf;

typedef struct node {
    leaf leaf;
    flow_premise_op op; /* of LEAF_NONE */
    ir_type type;       /* of it */
    int64_t number;     /* LEAF_NUMBER; the component, 0 .. 2, of LEAF_TID and LEAF_NTID */
    const struct node *operands[3];
} node;

typedef struct walk {
    flow_kernel *k;
    const flow_function *f;
    uint32_t nodes, visits;
    uint32_t self; /* the value of a loop's header whose iteration is at hand; FLOW_NONE */
} walk;

/* ---- the vocabulary ---- */

static const struct {
    const char *text;
    uint32_t operands;
} ops[] = {
#define X(id, text, operands) {text, operands},
#include "flow/premises.def"
#undef X
};

const char *flow_premise_text(flow_premise_op op)
{
    return ops[op].text;
}

uint32_t flow_premise_operands(flow_premise_op op)
{
    return ops[op].operands;
}

/* ---- nodes: NULL is a number that is not known ---- */

static const node *new_node(walk *w, node n)
{
    if (w->nodes == MOST_NODES)
        return NULL;
    node *made = flow_new(&w->k->mem, node, 1);
    w->nodes++;
    *made = n;
    return made;
}

static const node *number_node(walk *w, int64_t number)
{
    return new_node(w, (node){.leaf = LEAF_NUMBER, .number = number});
}

/* Of these one operand says something by itself. */
static bool is_bounded_by_one(flow_premise_op op)
{
    return op == FLOW_PREMISE_AND || op == FLOW_PREMISE_OR || op == FLOW_PREMISE_MIN ||
           op == FLOW_PREMISE_MAX;
}

static const node *op_node(walk *w, flow_premise_op op, ir_type type, const node *a, const node *b)
{
    bool both_known = a && (b || ops[op].operands == 1);
    if (!both_known && !((a || b) && is_bounded_by_one(op)))
        return NULL;
    return new_node(w, (node){.op = op, .type = type, .operands = {a, b, NULL}});
}

static flow_premise_op negated_op(flow_premise_op op)
{
    static const flow_premise_op pairs[][2] = {{FLOW_PREMISE_EQ, FLOW_PREMISE_NE},
                                               {FLOW_PREMISE_LT, FLOW_PREMISE_GE},
                                               {FLOW_PREMISE_LE, FLOW_PREMISE_GT}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int side = 0; side < 2; side++)
            if (pairs[i][side] == op)
                return pairs[i][!side];
    return FLOW_PREMISE_OPS;
}

/* That the predicate does not hold. */
static const node *not_node(walk *w, const node *a)
{
    if (!a || a->leaf != LEAF_NONE)
        return op_node(w, FLOW_PREMISE_NOT, IR_T_pred, a, NULL);
    if (a->op == FLOW_PREMISE_NOT && a->type == IR_T_pred)
        return a->operands[0];
    flow_premise_op other = negated_op(a->op);
    return other == FLOW_PREMISE_OPS ? op_node(w, FLOW_PREMISE_NOT, IR_T_pred, a, NULL)
                                     : op_node(w, other, a->type, a->operands[0], a->operands[1]);
}

/* ---- operands ---- */

static const node *node_of_value(walk *w, uint32_t value, uint32_t depth);

static const node *sreg_node(walk *w, const ir_operand *o)
{
    bool indexed = o->component >= 1 && o->component <= 3;
    if (o->sreg == IR_SR_laneid)
        return new_node(w, (node){.leaf = LEAF_LANE});
    if ((o->sreg != IR_SR_tid && o->sreg != IR_SR_ntid) || !indexed)
        return NULL;
    return new_node(w, (node){.leaf = o->sreg == IR_SR_tid ? LEAF_TID : LEAF_NTID,
                              .number = o->component - 1});
}

static uint32_t value_of_reg(const flow_function *f, const ir_insn *insn, uint32_t reg)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == reg)
            return f->uses[u].value;
    return FLOW_NONE;
}

static const node *operand_node(walk *w, const ir_insn *insn, uint32_t at, uint32_t depth)
{
    const ir_operand *o = at < insn->noperands ? &insn->operands[at] : NULL;
    if (o && o->kind == IR_OPD_INT)
        return number_node(w, (int64_t)o->imm);
    if (o && o->kind == IR_OPD_SREG)
        return sreg_node(w, o);
    if (!o || o->kind != IR_OPD_REG || o->component || o->selector)
        return NULL;
    uint32_t value = value_of_reg(w->f, insn, o->reg);
    const node *found = value == FLOW_NONE ? NULL : node_of_value(w, value, depth + 1);
    bool predicate = value != FLOW_NONE && w->f->func->regs[o->reg].type == IR_T_pred;
    return o->neg ? predicate ? not_node(w, found) : NULL : found;
}

/* ---- instructions ---- */

static const node *of_two(walk *w, flow_premise_op op, ir_type type, const ir_insn *insn,
                          uint32_t depth)
{
    return op_node(w, op, type, operand_node(w, insn, 1, depth), operand_node(w, insn, 2, depth));
}

static bool is_signed_type(ir_type type)
{
    return ir_type_get(type)->kind == IR_KIND_S;
}

/* As a number of the type: what is narrower fills it up. */
static const node *as_type(walk *w, ir_type type, const node *a)
{
    return op_node(w, is_signed_type(type) ? FLOW_PREMISE_WIDEN : FLOW_PREMISE_LOW, type, a, NULL);
}

static ir_type twice_as_wide(ir_type type)
{
    return ir_type_get(type)->bits == 16 ? IR_T_u32 : IR_T_u64;
}

static const node *product_node(walk *w, const ir_insn *insn, uint32_t depth)
{
    ir_type type = insn->types[0];
    if (ir_has(insn, IR_S_hi))
        return NULL;
    if (!ir_has(insn, IR_S_wide))
        return of_two(w, FLOW_PREMISE_MUL, type, insn, depth);
    return op_node(w, FLOW_PREMISE_MUL, twice_as_wide(type),
                   as_type(w, type, operand_node(w, insn, 1, depth)),
                   as_type(w, type, operand_node(w, insn, 2, depth)));
}

static const node *sum_of_product(walk *w, const ir_insn *insn, uint32_t depth)
{
    ir_type type = ir_has(insn, IR_S_wide) ? twice_as_wide(insn->types[0]) : insn->types[0];
    return op_node(w, FLOW_PREMISE_ADD, type, product_node(w, insn, depth),
                   operand_node(w, insn, 3, depth));
}

/* A register that is wider than what it gets is filled up by that one's sign. */
static const node *conversion_node(walk *w, const ir_insn *insn, uint32_t depth)
{
    const ir_type_info *to = ir_type_get(insn->types[0]), *from = ir_type_get(insn->types[1]);
    bool integer = (to->kind == IR_KIND_U || to->kind == IR_KIND_S) &&
                   (from->kind == IR_KIND_U || from->kind == IR_KIND_S);
    if (!integer)
        return NULL;
    const node *a = as_type(w, insn->types[1], operand_node(w, insn, 1, depth));
    return to->bits < from->bits ? as_type(w, insn->types[0], a) : a;
}

/* Bits from a place on, both told by numbers. */
static const node *field_node(walk *w, const ir_insn *insn, uint32_t depth)
{
    const node *a = operand_node(w, insn, 1, depth), *at = operand_node(w, insn, 2, depth),
               *length = operand_node(w, insn, 3, depth);
    if (insn->types[0] != IR_T_u32 || !a || !at || at->leaf != LEAF_NUMBER || !length ||
        length->leaf != LEAF_NUMBER || at->number < 0 || at->number > 31 || length->number < 0 ||
        length->number > 31)
        return NULL;
    return op_node(w, FLOW_PREMISE_AND, IR_T_u32, op_node(w, FLOW_PREMISE_SHR, IR_T_u32, a, at),
                   number_node(w, (INT64_C(1) << length->number) - 1));
}

static const node *choice_node(walk *w, const ir_insn *insn, uint32_t depth)
{
    const node *a = operand_node(w, insn, 1, depth), *b = operand_node(w, insn, 2, depth),
               *which = operand_node(w, insn, 3, depth);
    return a || b ? new_node(w, (node){.op = FLOW_PREMISE_SELECT,
                                       .type = insn->types[0],
                                       .operands = {a, b, which}})
                  : NULL;
}

static flow_premise_op op_of_comparison(ir_suffix compare)
{
    switch (compare) {
    case IR_S_eq: return FLOW_PREMISE_EQ;
    case IR_S_ne: return FLOW_PREMISE_NE;
    case IR_S_lt:
    case IR_S_lo: return FLOW_PREMISE_LT;
    case IR_S_le:
    case IR_S_ls: return FLOW_PREMISE_LE;
    case IR_S_gt:
    case IR_S_hi: return FLOW_PREMISE_GT;
    case IR_S_ge:
    case IR_S_hs: return FLOW_PREMISE_GE;
    default: return FLOW_PREMISE_OPS;
    }
}

static const node *comparison_node(walk *w, const ir_insn *insn, uint32_t depth)
{
    flow_premise_op op = op_of_comparison(ir_first_of(insn, IR_SC_CMP));
    ir_suffix with = ir_first_of(insn, IR_SC_BOOL);
    if (op == FLOW_PREMISE_OPS)
        return NULL;
    const node *compared = of_two(w, op, insn->types[0], insn, depth);
    if (with == IR_S_none)
        return compared;
    flow_premise_op joined = with == IR_S_and   ? FLOW_PREMISE_AND
                             : with == IR_S_or  ? FLOW_PREMISE_OR
                             : with == IR_S_xor ? FLOW_PREMISE_XOR
                                                : FLOW_PREMISE_OPS;
    return joined == FLOW_PREMISE_OPS
               ? NULL
               : op_node(w, joined, IR_T_pred, compared, operand_node(w, insn, 3, depth));
}

static bool is_integer_or_predicate(ir_type type)
{
    const ir_type_info *t = ir_type_get(type);
    return t->lanes == 1 && t->bits <= 64 &&
           (t->kind == IR_KIND_U || t->kind == IR_KIND_S || t->kind == IR_KIND_B ||
            t->kind == IR_KIND_P);
}

/* It writes one register, and no suffix changes what it computes. */
static bool computes_plainly(const flow_function *f, const ir_insn *insn)
{
    for (uint32_t i = 0; i < insn->nsuffixes; i++) {
        ir_suffix suffix = (ir_suffix)insn->suffixes[i];
        ir_suffix_class class = ir_suffix_class_of(suffix);
        if (class != IR_SC_TYPE && class != IR_SC_CMP && class != IR_SC_BOOL && suffix != IR_S_wide)
            return false;
    }
    return insn->noperands > 0 && insn->operands[0].kind == IR_OPD_REG &&
           !insn->operands[0].component && !insn->operands[0].selector && !f->unknown[insn->pc] &&
           is_integer_or_predicate(insn->types[0]);
}

static const node *node_of_insn(walk *w, const ir_insn *insn, uint32_t depth)
{
    ir_type type = insn->types[0];
    if (!computes_plainly(w->f, insn))
        return NULL;
    switch (insn->op) {
    case IR_mov: return operand_node(w, insn, 1, depth);
    case IR_cvt: return conversion_node(w, insn, depth);
    case IR_add: return of_two(w, FLOW_PREMISE_ADD, type, insn, depth);
    case IR_sub: return of_two(w, FLOW_PREMISE_SUB, type, insn, depth);
    case IR_mul: return product_node(w, insn, depth);
    case IR_mad: return ir_has(insn, IR_S_hi) ? NULL : sum_of_product(w, insn, depth);
    case IR_div: return of_two(w, FLOW_PREMISE_DIV, type, insn, depth);
    case IR_rem: return of_two(w, FLOW_PREMISE_REM, type, insn, depth);
    case IR_min: return of_two(w, FLOW_PREMISE_MIN, type, insn, depth);
    case IR_max: return of_two(w, FLOW_PREMISE_MAX, type, insn, depth);
    case IR_and: return of_two(w, FLOW_PREMISE_AND, type, insn, depth);
    case IR_or: return of_two(w, FLOW_PREMISE_OR, type, insn, depth);
    case IR_xor: return of_two(w, FLOW_PREMISE_XOR, type, insn, depth);
    case IR_shl: return of_two(w, FLOW_PREMISE_SHL, type, insn, depth);
    case IR_shr: return of_two(w, FLOW_PREMISE_SHR, type, insn, depth);
    case IR_not: return op_node(w, FLOW_PREMISE_NOT, type, operand_node(w, insn, 1, depth), NULL);
    case IR_bfe: return field_node(w, insn, depth);
    case IR_selp: return choice_node(w, insn, depth);
    case IR_setp: return comparison_node(w, insn, depth);
    default: return NULL;
    }
}

/* ---- phis ---- */

static uint32_t headed_loop(const flow_function *f, uint32_t block)
{
    uint32_t l = f->loops.of[block];
    return l != FLOW_NONE && f->loops.loops[l].header == block ? l : FLOW_NONE;
}

/* One of the arguments from within the loop, or from outside; of all where there is none. */
static const node *one_of(walk *w, const flow_value *v, uint32_t loop, bool inside, uint32_t depth)
{
    const flow_function *f = w->f;
    const node *all = NULL;
    uint32_t first = f->graph.pred_first[v->block], seen = 0, before = FLOW_NONE;
    for (uint32_t p = first; p < f->graph.pred_first[v->block + 1]; p++) {
        uint32_t value = f->args[v->first_arg + p - first];
        if ((loop != FLOW_NONE && flow_in_loop(&f->loops, loop, f->graph.pred[p]) != inside) ||
            value == before)
            continue;
        const node *one = node_of_value(w, value, depth + 1);
        if (!one)
            return NULL;
        all = seen++ ? op_node(w, FLOW_PREMISE_EITHER, f->func->regs[v->reg].type, all, one) : one;
        before = value;
    }
    return all;
}

static const node *way_node(walk *w, uint32_t above, uint32_t from, uint32_t to, uint32_t hops);

/* That the loop goes round again after an iteration. */
static const node *again_node(walk *w, uint32_t loop)
{
    const flow_function *f = w->f;
    const node *any = NULL;
    uint32_t header = f->loops.loops[loop].header;
    for (uint32_t p = f->graph.pred_first[header]; p < f->graph.pred_first[header + 1]; p++) {
        if (!flow_in_loop(&f->loops, loop, f->graph.pred[p]))
            continue;
        const node *way = way_node(w, header, f->graph.pred[p], header, 0);
        if (!way)
            return NULL;
        any = any ? op_node(w, FLOW_PREMISE_OR, IR_T_pred, any, way) : way;
    }
    return any;
}

/* One loop at a time: what another one counts is not known within the first. */
static const node *loop_node(walk *w, uint32_t value, uint32_t loop, uint32_t depth)
{
    const flow_value *v = &w->f->values[value];
    if (w->self != FLOW_NONE)
        return NULL;
    const node *start = one_of(w, v, loop, false, depth);
    w->self = value;
    const node *next = start ? one_of(w, v, loop, true, depth) : NULL;
    const node *again = next ? again_node(w, loop) : NULL;
    w->self = FLOW_NONE;
    return next ? new_node(w, (node){.op = FLOW_PREMISE_LOOP,
                                     .type = w->f->func->regs[v->reg].type,
                                     .operands = {start, next, again}})
                : NULL;
}

static const node *node_of_value(walk *w, uint32_t value, uint32_t depth)
{
    const flow_value *v = &w->f->values[value];
    if (depth >= FLOW_PREMISE_DEPTH / 2 || ++w->visits > MOST_VISITS ||
        v->kind == FLOW_VALUE_ENTRY || v->partial || v->old != FLOW_NONE ||
        v->reg >= w->f->func->nregs)
        return NULL;
    if (value == w->self)
        return new_node(w, (node){.leaf = LEAF_SELF});
    if (v->kind == FLOW_VALUE_INSN)
        return node_of_insn(w, &w->f->func->insns[v->insn], depth);
    if (!is_integer_or_predicate(w->f->func->regs[v->reg].type))
        return NULL;
    uint32_t loop = headed_loop(w->f, v->block);
    return loop == FLOW_NONE ? one_of(w, v, FLOW_NONE, false, depth)
                             : loop_node(w, value, loop, depth);
}

/* ---- where control goes: NULL is a premise that always holds, as far as it is known ---- */

static const node *both(walk *w, const node *a, const node *b)
{
    return a && b ? op_node(w, FLOW_PREMISE_AND, IR_T_pred, a, b) : a ? a : b;
}

static const node *guard_node(walk *w, const ir_insn *insn)
{
    uint32_t u = w->f->use_first[insn->pc];
    if (u == w->f->use_first[insn->pc + 1] || w->f->uses[u].role != FLOW_USE_GUARD)
        return NULL;
    const node *guard = node_of_value(w, w->f->uses[u].value, 0);
    return insn->guard_neg ? not_node(w, guard) : guard;
}

static const node *edge_node(walk *w, uint32_t from, uint32_t to)
{
    const flow_block *block = &w->f->blocks[from];
    switch (flow_taken_where(w->f, from, to)) {
    case FLOW_TAKEN_WHERE:
        return guard_node(w, &w->f->func->insns[block->first + block->count - 1]);
    case FLOW_TAKEN_ELSE:
        return not_node(w, guard_node(w, &w->f->func->insns[block->first + block->count - 1]));
    default: return NULL;
    }
}

static const node *step_node(walk *w, uint32_t block, uint32_t hops);

/* What holds once control came from the dominator `above` to the edge, and took it. */
static const node *way_node(walk *w, uint32_t above, uint32_t from, uint32_t to, uint32_t hops)
{
    const node *all = edge_node(w, from, to);
    for (uint32_t b = from; b != above; b = w->f->dom.parent[b]) {
        if (b == FLOW_NONE)
            return NULL;
        all = both(w, all, step_node(w, b, hops + 1));
    }
    return all;
}

/* What holds of a thread that came from the block's dominator to the block. */
static const node *step_node(walk *w, uint32_t block, uint32_t hops)
{
    const flow_function *f = w->f;
    uint32_t above = f->dom.parent[block], first = f->graph.pred_first[block];
    const node *any = NULL;
    if (above == FLOW_NONE || hops >= MOST_HOPS || headed_loop(f, block) != FLOW_NONE ||
        flow_dominates(&f->post, block, above))
        return NULL;
    for (uint32_t p = first; p < f->graph.pred_first[block + 1]; p++) {
        const node *way = way_node(w, above, f->graph.pred[p], block, hops);
        if (!way)
            return NULL;
        any = p == first ? way : op_node(w, FLOW_PREMISE_OR, IR_T_pred, any, way);
    }
    return any;
}

static const node *premise_node(walk *w, uint32_t insn)
{
    const flow_function *f = w->f;
    const node *all = guard_node(w, &f->func->insns[insn]);
    uint32_t b = f->block_of[insn];
    for (uint32_t n = 0; b != FLOW_NONE && n < MOST_HOPS; n++, b = f->dom.parent[b])
        all = both(w, all, step_node(w, b, 0));
    return all;
}

/* ---- text ---- */

typedef struct printer {
    char *text;
    size_t at, size;
    bool too_deep;
} printer;

__attribute__((format(printf, 2, 3))) static void print_part(printer *p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(p->text + p->at, p->size - p->at, format, args);
    va_end(args);
    p->at = n < 0 || p->at + (size_t)n >= p->size ? p->size - 1 : p->at + (size_t)n;
}

static void print_node(printer *p, const node *n, uint32_t depth)
{
    p->too_deep |= depth > FLOW_PREMISE_DEPTH;
    switch (p->too_deep ? LEAF_SELF : n ? n->leaf : LEAF_NUMBER) {
    case LEAF_NONE: break;
    case LEAF_NUMBER:
        if (n)
            print_part(p, "%lld", (long long)n->number);
        else
            print_part(p, "?");
        return;
    case LEAF_TID: print_part(p, "tid.%c", "xyz"[n->number]); return;
    case LEAF_NTID: print_part(p, "ntid.%c", "xyz"[n->number]); return;
    case LEAF_LANE: print_part(p, "laneid"); return;
    case LEAF_SELF: print_part(p, "self"); return;
    }
    print_part(p, "%s.%s(", ops[n->op].text, ir_type_get(n->type)->text);
    for (uint32_t i = 0; i < ops[n->op].operands; i++) {
        print_part(p, "%s", i ? ", " : "");
        print_node(p, n->operands[i], depth + 1);
    }
    print_part(p, ")");
}

/* NULL where it is too long, or stands too deep. */
static const char *text_of(walk *w, const node *n)
{
    char text[FLOW_PREMISE_TEXT];
    printer p = {.text = text, .size = sizeof text};
    print_node(&p, n, 1);
    if (p.too_deep || p.at + 1 == p.size)
        return NULL;
    char *copy = flow_new(&w->k->mem, char, p.at + 1);
    memcpy(copy, text, p.at + 1);
    return copy;
}

/* ---- the kernel ---- */

typedef struct job {
    flow_kernel *k;
    flow_list(flow_premise) rows;
} job;

static bool makes_access(const flow_function *f, uint32_t insn)
{
    for (uint32_t a = f->address_first[insn]; a < f->address_first[insn + 1]; a++)
        if (f->addresses[a].touch && f->addresses[a].space != IR_SPACE_PARAM)
            return f->blocks[f->block_of[insn]].reached;
    return false;
}

static void find_premises(void *ctx)
{
    job *j = ctx;
    const flow_function *f = &j->k->funcs[0];
    for (uint32_t i = 0; i < f->func->ninsns && !f->loops.irreducible; i++) {
        walk w = {.k = j->k, .f = f, .self = FLOW_NONE};
        const node *premise = makes_access(f, i) ? premise_node(&w, i) : NULL;
        const char *text = premise ? text_of(&w, premise) : NULL;
        if (text)
            flow_push(&j->k->mem, &j->rows, (flow_premise){f->first_pc + i, text});
    }
}

wl_status flow_find_premises(flow_kernel *kernel, wl_arena *arena, flow_premises *out)
{
    job j = {.k = kernel};
    wl_status status = flow_guard(&kernel->mem, find_premises, &j);
    *out = (flow_premises){.count = j.rows.count};
    if (status != WL_OK)
        return status;
    out->rows = wl_new_array(arena, flow_premise, (size_t)j.rows.count + 1);
    for (uint32_t i = 0; out->rows && i < j.rows.count; i++) {
        out->rows[i] = (flow_premise){j.rows.data[i].pc,
                                      wl_arena_printf(arena, "%s", j.rows.data[i].text)};
        if (!out->rows[i].text)
            return WL_NOMEM;
    }
    return out->rows ? WL_OK : WL_NOMEM;
}
