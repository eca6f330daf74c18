/* Sums of products of symbols. */
#include "flow/affine.h"

#include <stdio.h>
#include <string.h>

static int compare_symbols(flow_symbol a, flow_symbol b)
{
    if (a.kind != b.kind)
        return a.kind < b.kind ? -1 : 1;
    if (a.a != b.a)
        return a.a < b.a ? -1 : 1;
    return a.b == b.b ? 0 : a.b < b.b ? -1 : 1;
}

static int compare_terms(const flow_term *a, const flow_term *b)
{
    if (a->nfactors != b->nfactors)
        return a->nfactors > b->nfactors ? -1 : 1; /* the constant comes last */
    for (int i = 0; i < a->nfactors; i++) {
        int order = compare_symbols(a->factors[i], b->factors[i]);
        if (order)
            return order;
    }
    return 0;
}

static const flow_affine *make(flow_mem *mem, const flow_term *terms, uint32_t count, bool narrow)
{
    flow_affine *a = flow_new(mem, flow_affine, 1);
    a->terms = flow_new(mem, flow_term, count);
    memcpy(a->terms, terms, count * sizeof *terms);
    a->nterms = count;
    a->assumes_no_wrap = narrow;
    return a;
}

const flow_affine *flow_affine_constant(flow_mem *mem, int64_t value)
{
    flow_term term = {.coefficient = value};
    return make(mem, &term, value != 0, false);
}

const flow_affine *flow_affine_symbol(flow_mem *mem, flow_symbol symbol)
{
    flow_term term = {.coefficient = 1, .nfactors = 1, .factors = {symbol}};
    return make(mem, &term, 1, false);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

/* Terms in order, each kind once. */
typedef struct sum {
    flow_term terms[FLOW_MAX_TERMS + 1];
    uint32_t count;
    bool full;
} sum;

static void accumulate(sum *s, const flow_term *term, int64_t factor)
{
    uint32_t at = 0;
    int order = 1;
    while (at < s->count && (order = compare_terms(&s->terms[at], term)) < 0)
        at++;
    if (at < s->count && order == 0) {
        s->terms[at].coefficient = wrap_add(s->terms[at].coefficient,
                                            wrap_mul(term->coefficient, factor));
        if (s->terms[at].coefficient == 0)
            memmove(&s->terms[at], &s->terms[at + 1], (--s->count - at) * sizeof *term);
        return;
    }
    if (s->count > FLOW_MAX_TERMS || wrap_mul(term->coefficient, factor) == 0) {
        s->full |= s->count > FLOW_MAX_TERMS;
        return;
    }
    memmove(&s->terms[at + 1], &s->terms[at], (s->count++ - at) * sizeof *term);
    s->terms[at] = *term;
    s->terms[at].coefficient = wrap_mul(term->coefficient, factor);
}

static const flow_affine *finish(flow_mem *mem, const sum *s, bool narrow)
{
    return s->full || s->count > FLOW_MAX_TERMS ? NULL : make(mem, s->terms, s->count, narrow);
}

const flow_affine *flow_affine_add(flow_mem *mem, const flow_affine *a, const flow_affine *b,
                                   int64_t factor)
{
    if (!a || !b)
        return NULL;
    sum s = {.count = 0};
    for (uint32_t i = 0; i < a->nterms; i++)
        accumulate(&s, &a->terms[i], 1);
    for (uint32_t i = 0; i < b->nterms; i++)
        accumulate(&s, &b->terms[i], factor);
    return finish(mem, &s, a->assumes_no_wrap || b->assumes_no_wrap);
}

/* False where the product has too many factors. */
static bool multiply_terms(const flow_term *a, const flow_term *b, flow_term *out)
{
    if (a->nfactors + b->nfactors > FLOW_MAX_FACTORS)
        return false;
    *out = (flow_term){.coefficient = wrap_mul(a->coefficient, b->coefficient)};
    int i = 0, j = 0;
    while (i < a->nfactors || j < b->nfactors) {
        bool left = j == b->nfactors ||
                    (i < a->nfactors && compare_symbols(a->factors[i], b->factors[j]) <= 0);
        out->factors[out->nfactors++] = left ? a->factors[i++] : b->factors[j++];
    }
    return true;
}

const flow_affine *flow_affine_mul(flow_mem *mem, const flow_affine *a, const flow_affine *b)
{
    if (!a || !b)
        return NULL;
    sum s = {.count = 0};
    for (uint32_t i = 0; i < a->nterms; i++)
        for (uint32_t j = 0; j < b->nterms; j++) {
            flow_term product;
            if (!multiply_terms(&a->terms[i], &b->terms[j], &product))
                return NULL;
            accumulate(&s, &product, 1);
        }
    return finish(mem, &s, a->assumes_no_wrap || b->assumes_no_wrap);
}

const flow_affine *flow_affine_narrow(flow_mem *mem, const flow_affine *a)
{
    int64_t value;
    if (!a || a->assumes_no_wrap || flow_affine_is_constant(a, &value) ||
        (a->nterms == 1 && a->terms[0].coefficient == 1 && a->terms[0].nfactors == 1))
        return a;
    return make(mem, a->terms, a->nterms, true);
}

bool flow_affine_equal(const flow_affine *a, const flow_affine *b)
{
    if (!a || !b || a->nterms != b->nterms)
        return false;
    for (uint32_t i = 0; i < a->nterms; i++)
        if (compare_terms(&a->terms[i], &b->terms[i]) ||
            a->terms[i].coefficient != b->terms[i].coefficient)
            return false;
    return true;
}

bool flow_affine_is_constant(const flow_affine *a, int64_t *value)
{
    if (!a || a->nterms > 1 || (a->nterms == 1 && a->terms[0].nfactors))
        return false;
    *value = a->nterms ? a->terms[0].coefficient : 0;
    return true;
}

bool flow_affine_has(const flow_affine *a, flow_symbol symbol)
{
    for (uint32_t i = 0; a && i < a->nterms; i++)
        for (int n = 0; n < a->terms[i].nfactors; n++)
            if (compare_symbols(a->terms[i].factors[n], symbol) == 0)
                return true;
    return false;
}

static bool is_lone_symbol(const flow_term *term, flow_symbol symbol)
{
    return term->nfactors == 1 && compare_symbols(term->factors[0], symbol) == 0;
}

bool flow_affine_coefficient(const flow_affine *a, flow_symbol symbol, int64_t *coefficient)
{
    *coefficient = 0;
    for (uint32_t i = 0; a && i < a->nterms; i++) {
        if (is_lone_symbol(&a->terms[i], symbol)) {
            *coefficient = a->terms[i].coefficient;
            continue;
        }
        flow_affine one = {.nterms = 1, .terms = &a->terms[i]};
        if (flow_affine_has(&one, symbol))
            return false;
    }
    return a != NULL;
}

const flow_affine *flow_affine_without(flow_mem *mem, const flow_affine *a, flow_symbol symbol)
{
    sum s = {.count = 0};
    for (uint32_t i = 0; i < a->nterms; i++)
        if (!is_lone_symbol(&a->terms[i], symbol))
            accumulate(&s, &a->terms[i], 1);
    return finish(mem, &s, a->assumes_no_wrap);
}

/* Takes the symbol out of the term; how often it stood there. */
static unsigned take_out(flow_term *term, flow_symbol symbol)
{
    unsigned found = 0;
    for (int i = 0; i < term->nfactors; i++)
        if (compare_symbols(term->factors[i], symbol) == 0)
            found++;
        else
            term->factors[i - (int)found] = term->factors[i];
    term->nfactors = (uint8_t)(term->nfactors - found);
    return found;
}

const flow_affine *flow_affine_slope(flow_mem *mem, const flow_affine *a, flow_symbol symbol,
                                     const flow_affine **rest)
{
    sum with = {.count = 0}, without = {.count = 0};
    for (uint32_t i = 0; i < a->nterms; i++) {
        flow_term term = a->terms[i];
        unsigned found = take_out(&term, symbol);
        if (found > 1)
            return NULL;
        accumulate(found ? &with : &without, &term, 1);
    }
    *rest = finish(mem, &without, a->assumes_no_wrap);
    return with.count ? finish(mem, &with, a->assumes_no_wrap) : NULL;
}

/* ---- text ---- */

/* The name of a value without a form. */
static const char *value_prefix(const flow_function *f, uint32_t value)
{
    unsigned from = f ? f->from[value] : FLOW_FROM_BLOCK;
    return from & FLOW_FROM_ATOMIC   ? "atomic"
           : from & FLOW_FROM_MEMORY ? "loaded"
           : from & FLOW_FROM_BLOCK  ? "v"
                                     : "t";
}

static int symbol_text(const flow_kernel *k, const flow_function *f, flow_symbol s, char *buffer,
                       size_t size)
{
    static const char *const components[] = {"", ".x", ".y", ".z", ".w"};
    switch (s.kind) {
    case FLOW_SYM_SREG:
        return snprintf(buffer, size, "%s%s", ir_sreg_get((ir_sreg)s.a)->text,
                        components[s.b < 5 ? s.b : 0]);
    case FLOW_SYM_PARAM: return snprintf(buffer, size, s.b ? "param%u+%u" : "param%u", s.a, s.b);
    case FLOW_SYM_BASE: return snprintf(buffer, size, "&%s", k->objects[s.a].var->name);
    case FLOW_SYM_LOOP: return snprintf(buffer, size, "i%u", s.a);
    default: return snprintf(buffer, size, "%s%u", value_prefix(f, s.a), s.a);
    }
}

static char *affine_text(const flow_kernel *k, const flow_function *f, const flow_affine *a,
                         char *buffer, size_t size)
{
    size_t at = 0;
    snprintf(buffer, size, "%s", a ? a->nterms ? "" : "0" : "?");
    for (uint32_t i = 0; a && i < a->nterms && at < size; i++) {
        const flow_term *term = &a->terms[i];
        int64_t c = term->coefficient;
        at += (size_t)snprintf(buffer + at, size - at, "%s",
                               i       ? c < 0 ? " - " : " + "
                               : c < 0 ? "-"
                                       : "");
        bool plain = term->nfactors && (c == 1 || c == -1);
        uint64_t magnitude = c < 0 ? -(uint64_t)c : (uint64_t)c;
        if (!plain && at < size)
            at += (size_t)snprintf(buffer + at, size - at, "%llu%s", (unsigned long long)magnitude,
                                   term->nfactors ? "*" : "");
        for (int n = 0; n < term->nfactors && at < size; n++) {
            char name[128];
            symbol_text(k, f, term->factors[n], name, sizeof name);
            at += (size_t)snprintf(buffer + at, size - at, "%s%s", n ? "*" : "", name);
        }
    }
    return buffer;
}

char *flow_affine_text(const flow_kernel *k, const flow_affine *a, char *buffer, size_t size)
{
    return affine_text(k, NULL, a, buffer, size);
}

/* Nothing but a variable of shared or global memory, and an offset in it. */
static bool names_variable(const flow_address *a)
{
    return (a->space == IR_SPACE_SHARED || a->space == IR_SPACE_GLOBAL) && a->value == FLOW_NONE &&
           a->operand->has_sym && a->operand->sym.kind == IR_SYM_VAR;
}

char *flow_address_text(const flow_kernel *k, const flow_function *f, const flow_address *a,
                        char *buffer, size_t size)
{
    snprintf(buffer, size, "%s", "");
    bool named = names_variable(a), valued = a->value != FLOW_NONE && f->affine[a->value];
    if (a->operand->kind != IR_OPD_ADDR || !(named || valued))
        return buffer;
    int64_t offset = (int64_t)a->operand->imm;
    if (named)
        symbol_text(k, f, (flow_symbol){FLOW_SYM_BASE, flow_object_of(k, a->operand->sym.var), 0},
                    buffer, size);
    else
        affine_text(k, f, f->affine[a->value], buffer, size);
    size_t at = strlen(buffer);
    if (offset)
        snprintf(buffer + at, size - at, " %c %llu", offset < 0 ? '-' : '+',
                 (unsigned long long)(offset < 0 ? -(uint64_t)offset : (uint64_t)offset));
    return buffer;
}

char *flow_trip_text(const flow_kernel *k, const flow_trip *t, char *buffer, size_t size)
{
    char start[512], bound[512], times[32] = "";
    if (t->kind == FLOW_TRIP_CONSTANT)
        snprintf(times, sizeof times, "%llu times, ", (unsigned long long)t->count);
    if (t->kind == FLOW_TRIP_UNKNOWN)
        snprintf(buffer, size, "unknown");
    else
        snprintf(buffer, size, "%swhile %s + %lld*i %s %s%s", times,
                 flow_affine_text(k, t->start, start, sizeof start), (long long)t->step,
                 ir_suffix_text(t->compare), flow_affine_text(k, t->bound, bound, sizeof bound),
                 t->only_exit ? "" : ", or less");
    return buffer;
}
