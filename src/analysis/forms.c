/* Reads the forms of addresses. */
#include "analysis/forms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Whoever writes forms cuts a text at 1,200 characters and a name at 127. */
enum { LONGEST_FORM = 1000, LONGEST_NAME = 120, MOST_DIGITS = 18 };

/* ---- the text ---- */

static bool starts_with(const char *name, uint32_t length, const char *start)
{
    size_t n = strlen(start);
    return length > n && strncmp(name, start, n) == 0;
}

ana_form_reader ana_form_read(const char *form)
{
    return (ana_form_reader){.at = form, .damaged = !*form || strlen(form) > LONGEST_FORM};
}

bool ana_form_next(ana_form_reader *r, ana_product *product)
{
    if (r->damaged || !*r->at)
        return false;
    bool first = !r->begun;
    bool negative = first ? *r->at == '-' : strncmp(r->at, " - ", 3) == 0;
    r->begun = true;
    r->damaged = !first && !negative && strncmp(r->at, " + ", 3) != 0;
    if (r->damaged)
        return false;
    r->at += first ? negative : 3;
    const char *end = r->at + strcspn(r->at, " ");
    *product = (ana_product){r->at, end, negative, end == r->at || end[-1] == '*'};
    r->damaged = product->damaged;
    r->at = end;
    return !r->damaged;
}

bool ana_product_next(ana_product *p, const char **factor, uint32_t *length)
{
    if (p->damaged || p->at >= p->end)
        return false;
    const char *star = memchr(p->at, '*', (size_t)(p->end - p->at));
    *factor = p->at;
    *length = (uint32_t)((star ? star : p->end) - p->at);
    p->damaged = *length == 0 || *length > LONGEST_NAME;
    p->at += *length + 1;
    return !p->damaged;
}

bool ana_factor_number(const char *factor, uint32_t length, int64_t *out)
{
    if (length > MOST_DIGITS)
        return false;
    *out = (int64_t)strtoull(factor, NULL, 10);
    return true;
}

uint32_t ana_factor_dimension(const char *factor, uint32_t length, const char *vector)
{
    bool matches = length == strlen(vector) + 2 && starts_with(factor, length, vector) &&
                   factor[length - 2] == '.';
    uint32_t d = matches ? (uint32_t)(factor[length - 1] - 'x') : 3;
    return d < 3 ? d : 3;
}

/* ---- places ---- */

/* One product: its number, and what is left of it once the launch's sizes are multiplied in. */
typedef struct term {
    int64_t number;
    uint32_t threads, blocks, bases, iterations, others; /* how many factors of each kind */
    uint32_t counted, loaded;                            /* of the others */
    uint32_t locals;    /* values that are the same in all blocks */
    uint32_t dimension; /* of the last index */
    const char *base;
    uint32_t base_length;
} term;

static bool multiply(term *t, int64_t by)
{
    return !__builtin_mul_overflow(t->number, by, &t->number);
}

static bool read_factor(term *t, const char *name, uint32_t length, const prof_launch *l)
{
    uint32_t d;
    int64_t number;
    if (isdigit((unsigned char)*name))
        return ana_factor_number(name, length, &number) && multiply(t, number);
    if ((d = ana_factor_dimension(name, length, "ntid")) < 3)
        return multiply(t, l->block[d]);
    if ((d = ana_factor_dimension(name, length, "nctaid")) < 3)
        return multiply(t, l->grid[d]);
    if ((d = ana_factor_dimension(name, length, "tid")) < 3) {
        t->threads++;
        t->dimension = d;
    } else if ((d = ana_factor_dimension(name, length, "ctaid")) < 3) {
        t->blocks++;
        t->dimension = d;
    } else if (*name == '&' || starts_with(name, length, "param")) {
        t->bases++;
        t->base = name;
        t->base_length = length;
    } else if (*name == 'i' && length > 1 && isdigit((unsigned char)name[1])) {
        t->iterations++;
    } else if (*name == 't' && length > 1 && isdigit((unsigned char)name[1])) {
        t->locals++;
    } else {
        t->others++;
        t->counted += starts_with(name, length, "atomic");
        t->loaded += starts_with(name, length, "loaded");
    }
    return true;
}

static bool read_term(term *t, ana_product product, const prof_launch *launch)
{
    const char *factor;
    uint32_t length;
    t->number = product.negative ? -1 : 1;
    while (ana_product_next(&product, &factor, &length))
        if (!read_factor(t, factor, length, launch))
            return false;
    return !product.damaged;
}

static void add_base(ana_place *p, const term *t)
{
    p->unknown |= p->base != NULL || t->number != 1;
    p->base = t->base;
    p->base_length = t->base_length;
}

static uint32_t factors_of(const term *t)
{
    return t->threads + t->blocks + t->bases + t->iterations + t->locals + t->others;
}

static void add_iterations(ana_place *p, const term *t, uint32_t factors)
{
    uint64_t step = factors == 1 ? (uint64_t)llabs(t->number) : 0;
    p->iterations = true;
    p->uneven |= !step || step % OBS_SECTOR_BYTES;
    if (step && (!p->step || step < p->step))
        p->step = step;
}

static bool add_term(ana_place *p, const term *t)
{
    uint32_t factors = factors_of(t);
    int64_t *to = factors == 0                 ? &p->constant
                  : factors == 1 && t->threads ? &p->thread[t->dimension]
                  : factors == 1 && t->blocks  ? &p->block[t->dimension]
                                               : NULL;
    if (to)
        return !__builtin_add_overflow(*to, t->number, to);
    if (factors == 1 && t->bases) {
        add_base(p, t);
        return true;
    }
    p->thread_unknown |= t->threads > 0 || t->locals > 0;
    p->block_unknown |= t->blocks > 0;
    if (t->iterations)
        add_iterations(p, t, factors);
    p->unknown |= t->others > 0;
    p->formless |= t->others > 0;
    p->counted |= t->counted > 0;
    p->loaded |= t->loaded > 0;
    return true;
}

bool ana_place_of(const prof_form *form, const prof_launch *launch, ana_place *out)
{
    ana_form_reader reader = ana_form_read(form->form);
    *out = (ana_place){0};
    for (ana_product product; ana_form_next(&reader, &product);) {
        term t = {0};
        if (!read_term(&t, product, launch) || !add_term(out, &t))
            return false;
        if (factors_of(&t))
            out->shape = XXH3_64bits_withSeed(product.at, (size_t)(product.end - product.at),
                                              out->shape + product.negative);
    }
    return !reader.damaged;
}

bool ana_place_is_exact(const ana_place *p)
{
    return !p->iterations && !p->unknown && !p->thread_unknown && !p->block_unknown;
}

bool ana_place_is_same_in_warps(const ana_place *p)
{
    return !p->formless && !p->thread_unknown && !p->thread[0] && !p->thread[1] && !p->thread[2];
}

static bool has_factor(const char *form, const char *name)
{
    for (const char *at = form; (at = strstr(at, name)); at++)
        if (at == form || strchr(" *-", at[-1]))
            return true;
    return false;
}

bool ana_form_is_of_data(const prof_form *form)
{
    return has_factor(form->form, "loaded") || has_factor(form->form, "atomic");
}

static bool stands_before(const prof_form *form, uint32_t kernel, uint32_t pc)
{
    return form->kernel != kernel ? form->kernel < kernel : form->pc < pc;
}

const prof_form *ana_form_of(const prof_form_rows *forms, uint32_t kernel, uint32_t pc)
{
    uint32_t low = 0, high = forms->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (stands_before(&forms->rows[middle], kernel, pc))
            low = middle + 1;
        else
            high = middle;
    }
    const prof_form *found = low < forms->count ? &forms->rows[low] : NULL;
    return found && found->kernel == kernel && found->pc == pc ? found : NULL;
}

const prof_form *ana_form_at(const prof_form_rows *forms, uint32_t pc)
{
    return forms->count ? ana_form_of(forms, forms->rows[0].kernel, pc) : NULL;
}
