/* Reads the forms of addresses. */
#include "analysis/forms.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* Whoever writes forms cuts a text at 1,200 characters and a name at 127. */
enum { LONGEST_FORM = 1000, LONGEST_NAME = 120, MOST_DIGITS = 18 };

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

static bool starts_with(const char *name, uint32_t length, const char *start)
{
    size_t n = strlen(start);
    return length > n && strncmp(name, start, n) == 0;
}

/* The dimension of a name such as "tid.y"; 3 where the name is another. */
static uint32_t dimension_of(const char *name, uint32_t length, const char *vector)
{
    bool matches = length == strlen(vector) + 2 && starts_with(name, length, vector) &&
                   name[length - 2] == '.';
    uint32_t d = matches ? (uint32_t)(name[length - 1] - 'x') : 3;
    return d < 3 ? d : 3;
}

static bool multiply(term *t, int64_t by)
{
    return !__builtin_mul_overflow(t->number, by, &t->number);
}

static bool read_factor(term *t, const char *name, uint32_t length, const prof_launch *l)
{
    uint32_t d;
    if (isdigit((unsigned char)*name))
        return length <= MOST_DIGITS && multiply(t, (int64_t)strtoull(name, NULL, 10));
    if ((d = dimension_of(name, length, "ntid")) < 3)
        return multiply(t, l->block[d]);
    if ((d = dimension_of(name, length, "nctaid")) < 3)
        return multiply(t, l->grid[d]);
    if ((d = dimension_of(name, length, "tid")) < 3) {
        t->threads++;
        t->dimension = d;
    } else if ((d = dimension_of(name, length, "ctaid")) < 3) {
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
    return length <= LONGEST_NAME;
}

static bool read_term(term *t, const char *text, uint32_t length, const prof_launch *launch)
{
    for (uint32_t at = 0, n; at < length; at += n + 1) {
        const char *star = memchr(text + at, '*', length - at);
        n = star ? (uint32_t)(star - (text + at)) : length - at;
        if (n == 0 || !read_factor(t, text + at, n, launch))
            return false;
    }
    return length > 0 && text[length - 1] != '*';
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
    const char *at = form->form;
    *out = (ana_place){0};
    if (strlen(at) > LONGEST_FORM)
        return false;
    for (bool first = true; *at; first = false) {
        const char *sign = first ? "" : at;
        bool negative = first ? *at == '-' : strncmp(at, " - ", 3) == 0;
        at += first ? negative : 3;
        uint32_t length = (uint32_t)strcspn(at, " ");
        term t = {.number = negative ? -1 : 1};
        if (!(first || negative || strncmp(sign, " + ", 3) == 0) ||
            !read_term(&t, at, length, launch) || !add_term(out, &t)) {
            return false;
        }
        out->shape = factors_of(&t) ? XXH3_64bits_withSeed(at, length, out->shape + negative)
                                    : out->shape;
        at += length;
    }
    return *form->form != '\0';
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
