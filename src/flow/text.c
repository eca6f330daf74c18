/* Forms, counts and conditions as text. */
#include "flow/counts.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 5 };

typedef struct writer {
    const flow_counts *c;
    char *buffer;
    size_t size, at;
} writer;

static writer begin(const flow_counts *c, char *buffer, size_t size)
{
    buffer[0] = 0;
    return (writer){c, buffer, size, 0};
}

__attribute__((format(printf, 2, 3))) static void put(writer *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (w->at < w->size)
        w->at += (size_t)vsnprintf(w->buffer + w->at, w->size - w->at, format, args);
    va_end(args);
}

static const flow_function *function_in(const writer *w, uint32_t context)
{
    return &w->c->kernel->funcs[w->c->contexts[context].func];
}

/* ---- values ---- */

static void put_form(writer *w, const flow_affine *form, unsigned depth, bool closed);

/* Integer instructions that are written between their operands. */
static const char *sign_of(const ir_insn *insn)
{
    bool predicate = insn->types[0] == IR_T_pred;
    switch (insn->op) {
    case IR_and: return predicate ? " and " : " & ";
    case IR_or: return predicate ? " or " : " | ";
    case IR_xor: return " ^ ";
    case IR_shr: return " >> ";
    case IR_shl: return " << ";
    case IR_div: return "/";
    case IR_rem: return " % ";
    default: return NULL;
    }
}

static const char *comparison(ir_suffix suffix, bool negated)
{
    static const struct {
        ir_suffix suffix;
        const char *text, *negated;
    } signs[] = {{IR_S_eq, "==", "!="}, {IR_S_ne, "!=", "=="}, {IR_S_lt, "<", ">="},
                 {IR_S_lo, "<", ">="},  {IR_S_le, "<=", ">"},  {IR_S_ls, "<=", ">"},
                 {IR_S_gt, ">", "<="},  {IR_S_hi, ">", "<="},  {IR_S_ge, ">=", "<"},
                 {IR_S_hs, ">=", "<"}};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (signs[i].suffix == suffix)
            return negated ? signs[i].negated : signs[i].text;
    return NULL;
}

static bool is_integer(const ir_insn *insn)
{
    ir_kind kind = ir_type_get(insn->types[0])->kind;
    return kind == IR_KIND_U || kind == IR_KIND_S || kind == IR_KIND_B || kind == IR_KIND_P;
}

static uint32_t value_of_operand(const flow_function *f, const ir_insn *insn, const ir_operand *o)
{
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (o->kind == IR_OPD_REG && !o->component && f->values[f->uses[u].value].reg == o->reg)
            return f->uses[u].value;
    return FLOW_NONE;
}

static bool put_predicate(writer *w, uint32_t context, uint32_t value, bool negated,
                          unsigned depth);

static void put_value(writer *w, uint32_t context, uint32_t value, unsigned depth);

static void put_side(writer *w, uint32_t context, const ir_insn *insn, uint32_t n, unsigned depth,
                     bool closed)
{
    const flow_function *f = function_in(w, context);
    const ir_operand *o = &insn->operands[n];
    uint32_t value = value_of_operand(f, insn, o);
    if (value == FLOW_NONE)
        put(w, o->kind == IR_OPD_INT ? "%lld" : "?", (long long)o->imm);
    else if (ir_type_get(f->func->regs[o->reg].type)->kind == IR_KIND_P)
        put_predicate(w, context, value, o->neg, depth);
    else
        put_form(w, flow_in_context(w->c, context, f->affine[value]), depth, closed);
}

static void put_operand(writer *w, uint32_t context, const ir_insn *insn, uint32_t n,
                        unsigned depth)
{
    put_side(w, context, insn, n, depth, true);
}

/* Can the operands be written? */
static bool has_plain_operands(const flow_function *f, const ir_insn *insn)
{
    for (uint32_t n = 1; n < insn->noperands; n++)
        if (insn->operands[n].kind != IR_OPD_INT &&
            value_of_operand(f, insn, &insn->operands[n]) == FLOW_NONE)
            return false;
    return is_integer(insn);
}

static void put_function(writer *w, uint32_t context, const ir_insn *insn, const char *name,
                         unsigned depth)
{
    put(w, "%s(", name);
    for (uint32_t n = 1; n < insn->noperands; n++) {
        put(w, n > 1 ? ", " : "");
        put_operand(w, context, insn, n, depth);
    }
    put(w, ")");
}

/* The instruction that computes the value, where it can be written; else NULL. */
static const ir_insn *written_insn(const writer *w, uint32_t context, uint32_t value,
                                   unsigned depth)
{
    const flow_function *f = function_in(w, context);
    const flow_value *v = &f->values[value];
    if (depth == MAX_DEPTH || v->kind != FLOW_VALUE_INSN || v->old != FLOW_NONE)
        return NULL;
    const ir_insn *insn = &f->func->insns[v->insn];
    bool wide = insn->op == IR_mul && ir_has(insn, IR_S_hi);
    bool known = sign_of(insn) || insn->op == IR_min || insn->op == IR_max || wide;
    return known && has_plain_operands(f, insn) ? insn : NULL;
}

static void put_numbered(writer *w, uint32_t context, const char *prefix, uint32_t number)
{
    if (context)
        put(w, "%s.", function_in(w, context)->func->name);
    put(w, "%s%u", prefix, number);
}

static void put_value(writer *w, uint32_t context, uint32_t value, unsigned depth)
{
    const flow_function *f = function_in(w, context);
    const ir_insn *insn = written_insn(w, context, value, depth);
    unsigned from = f->from[value];
    if (insn && sign_of(insn)) {
        put(w, "(");
        put_operand(w, context, insn, 1, depth + 1);
        put(w, "%s", sign_of(insn));
        put_operand(w, context, insn, 2, depth + 1);
        put(w, ")");
    } else if (insn)
        put_function(w, context, insn,
                     insn->op == IR_min   ? "min"
                     : insn->op == IR_max ? "max"
                                          : "mulhi",
                     depth + 1);
    else
        put_numbered(w, context,
                     from & FLOW_FROM_ATOMIC   ? "atomic"
                     : from & FLOW_FROM_MEMORY ? "loaded"
                     : from & FLOW_FROM_BLOCK  ? "v"
                                               : "t",
                     value);
}

static void put_symbol(writer *w, flow_symbol s, unsigned depth)
{
    static const char *const components[] = {"", ".x", ".y", ".z", ".w"};
    switch (s.kind) {
    case FLOW_SYM_SREG:
        put(w, "%s%s", ir_sreg_get((ir_sreg)s.a)->text, components[s.b < 5 ? s.b : 0]);
        break;
    case FLOW_SYM_PARAM: put(w, s.b ? "param%u+%u" : "param%u", s.a, s.b); break;
    case FLOW_SYM_BASE: put(w, "&%s", w->c->kernel->objects[s.a].var->name); break;
    case FLOW_SYM_LOOP: put_numbered(w, s.b, "i", s.a); break;
    default: put_value(w, s.b, s.a, depth);
    }
}

static void put_term(writer *w, const flow_term *term, bool first, unsigned depth)
{
    int64_t c = term->coefficient;
    uint64_t magnitude = c < 0 ? -(uint64_t)c : (uint64_t)c;
    put(w, "%s", !first ? c < 0 ? " - " : " + " : c < 0 ? "-" : "");
    if (!term->nfactors || magnitude != 1)
        put(w, "%llu%s", (unsigned long long)magnitude, term->nfactors ? "*" : "");
    for (int n = 0; n < term->nfactors; n++) {
        put(w, n ? "*" : "");
        put_symbol(w, term->factors[n], depth);
    }
}

static void put_form(writer *w, const flow_affine *form, unsigned depth, bool closed)
{
    bool sum = closed && form &&
               (form->nterms > 1 || (form->nterms && form->terms[0].coefficient < 0));
    put(w, "%s", sum ? "(" : "");
    for (uint32_t i = 0; form && i < form->nterms; i++)
        put_term(w, &form->terms[i], i == 0, depth);
    put(w, "%s", !form ? "?" : !form->nterms ? "0" : "");
    put(w, "%s", sum ? ")" : "");
}

char *flow_form_text(const flow_counts *c, const flow_affine *form, char *buffer, size_t size)
{
    writer w = begin(c, buffer, size);
    put_form(&w, form, 0, false);
    return buffer;
}

/* ---- conditions ---- */

static bool put_comparison(writer *w, uint32_t context, const ir_insn *insn, bool negated,
                           unsigned depth)
{
    const char *sign = comparison(ir_first_of(insn, IR_SC_CMP), negated);
    if (!sign || insn->noperands != 3 || insn->operands[0].kind != IR_OPD_REG ||
        !has_plain_operands(function_in(w, context), insn))
        return false;
    put_side(w, context, insn, 1, depth + 1, false);
    put(w, " %s ", sign);
    put_side(w, context, insn, 2, depth + 1, false);
    return true;
}

/* False where it cannot be written; then nothing was. */
static bool put_predicate(writer *w, uint32_t context, uint32_t value, bool negated, unsigned depth)
{
    const flow_function *f = function_in(w, context);
    const flow_value *v = &f->values[value];
    const ir_insn *insn = v->kind == FLOW_VALUE_INSN && v->old == FLOW_NONE && depth < MAX_DEPTH
                              ? &f->func->insns[v->insn]
                              : NULL;
    if (insn && insn->op == IR_setp && put_comparison(w, context, insn, negated, depth))
        return true;
    if (insn && insn->op == IR_not && insn->operands[1].kind == IR_OPD_REG)
        return put_predicate(w, context, f->uses[f->use_first[insn->pc]].value, !negated,
                             depth + 1);
    if (insn && (insn->op == IR_and || insn->op == IR_or) && has_plain_operands(f, insn)) {
        put(w, negated ? "not (" : "(");
        put_operand(w, context, insn, 1, depth + 1);
        put(w, "%s", sign_of(insn));
        put_operand(w, context, insn, 2, depth + 1);
        put(w, ")");
        return true;
    }
    if (!depth)
        return false;
    put(w, negated ? "not " : "");
    put_numbered(w, context, "p", value);
    return true;
}

char *flow_condition_text(const flow_counts *c, const flow_condition *condition, char *buffer,
                          size_t size)
{
    writer w = begin(c, buffer, size);
    const flow_function *f = function_in(&w, condition->context);
    if (condition->value == FLOW_NONE)
        put(&w, "a branch leads there");
    else if (f->taint[condition->value].reason != FLOW_CLEAN)
        put(&w, "%s says so", flow_reason_text((flow_reason)f->taint[condition->value].reason));
    else if (!put_predicate(&w, condition->context, condition->value, condition->negated, 0))
        put(&w, "its predicate says so");
    return buffer;
}

/* ---- counts ---- */

static void put_factor(writer *w, const flow_factor *factor)
{
    if (factor->kind == FLOW_CEIL && factor->by == 1 && !factor->under) {
        put_form(w, factor->over, 0, true);
        return;
    }
    put(w, factor->kind == FLOW_BITS ? factor->by ? "(bits(" : "bits(" : "ceil(");
    put(w, "%s", factor->kind == FLOW_LOG ? "log2(" : "");
    put_form(w, factor->over, 0, factor->kind != FLOW_BITS);
    if (factor->kind == FLOW_CEIL && !factor->under)
        put(w, "/%lld)", (long long)factor->by);
    else if (factor->kind != FLOW_BITS) {
        const flow_term *term = factor->under ? factor->under->terms : NULL;
        bool product = factor->under && factor->under->nterms == 1 && term->nfactors &&
                       (term->nfactors > 1 || term->coefficient != 1);
        put(w, product ? "/(" : "/");
        put_form(w, factor->under, 0, true);
        put(w, "%s%s", product ? ")" : "", factor->kind == FLOW_LOG ? "))" : ")");
    } else {
        put(w, ")");
        if (factor->by)
            put(w, " %c %lld)", factor->by < 0 ? '+' : '-',
                (long long)(factor->by < 0 ? -factor->by : factor->by));
    }
}

char *flow_count_text(const flow_counts *c, const flow_count *count, char *buffer, size_t size)
{
    writer w = begin(c, buffer, size);
    if (count->kind == FLOW_SOMETIMES) {
        put(&w, "unknown");
        return buffer;
    }
    put(&w, "%s", count->kind == FLOW_AT_MOST ? "at most " : "");
    if (!count->nfactors || count->times != 1)
        put(&w, "%llu%s", (unsigned long long)count->times, count->nfactors ? "*" : "");
    for (uint32_t i = 0; i < count->nfactors; i++) {
        put(&w, i ? "*" : "");
        put_factor(&w, &count->factors[i]);
    }
    return buffer;
}

char *flow_counter_text(const flow_counts *c, const flow_loop_count *loop, char *buffer,
                        size_t size)
{
    writer w = begin(c, buffer, size);
    put_numbered(&w, loop->context, "i", loop->loop);
    return buffer;
}

char *flow_rules_text(unsigned rules, char *buffer, size_t size)
{
    static const char *const names[] = {"static", "thread-invariant", "loop-invariant", "affine"};
    size_t at = 0;
    snprintf(buffer, size, "%s", rules ? "" : "counted");
    for (unsigned i = 0; i < 4; i++)
        if (rules >> i & 1 && at < size)
            at += (size_t)snprintf(buffer + at, size - at, "%s%s", at ? ", " : "", names[i]);
    return buffer;
}
