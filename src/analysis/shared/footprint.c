#include "analysis/shared/footprint.h"

#include "analysis/forms.h"
#include "base/gcd.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

enum { MOST_THREADS = CROWD_WARPS * CROWD_LANES, LANES = CROWD_LANES };

/* Where a step on the way may overflow, by which the address is off then: a multiple of what numbers
 * of 16 bits, the narrowest that forms have, can hold. */
static const uint64_t NARROWEST = UINT64_C(1) << 16;

/* Coefficients beyond this are no steps through memory, and might overflow. */
static const int64_t FARTHEST = INT64_C(1) << 40;

/* ---- forms ---- */

typedef struct term { /* a product */
    int64_t number;
    uint32_t threads, iterations, same, others; /* factors of each kind */
    bool zero;                                  /* an index that is always 0 */
    uint32_t dimension;                         /* of the last index */
    uint64_t names;                             /* of the factors that are the same for all */
    const char *base;
    uint32_t base_length;
} term;

static bool is_same_in_block(const char *name, uint32_t length)
{
    return *name == '&' || (length > 5 && strncmp(name, "param", 5) == 0) ||
           ana_factor_dimension(name, length, "ctaid") < 3 ||
           ana_factor_dimension(name, length, "nctaid") < 3;
}

static bool multiply_product(term *t, int64_t by)
{
    return !__builtin_mul_overflow(t->number, by, &t->number) && t->number <= FARTHEST &&
           t->number >= -FARTHEST;
}

static bool read_product_factor(term *t, const char *name, uint32_t length, const uint32_t block[3])
{
    uint32_t d;
    int64_t number;
    if (isdigit((unsigned char)*name))
        return ana_factor_number(name, length, &number) && multiply_product(t, number);
    if ((d = ana_factor_dimension(name, length, "ntid")) < 3)
        return multiply_product(t, block[d]);
    if ((d = ana_factor_dimension(name, length, "tid")) < 3) {
        t->dimension = d;
        t->zero |= block[t->dimension] == 1;
        t->threads++;
    } else if (is_same_in_block(name, length)) {
        t->same++;
        t->names = XXH3_64bits_withSeed(name, length, t->names);
        t->base = *name == '&' ? name : t->base;
        t->base_length = *name == '&' ? length : t->base_length;
    } else if (*name == 'i' && length > 1 && isdigit((unsigned char)name[1])) {
        t->iterations++;
    } else {
        t->others++;
    }
    return true;
}

static bool read_product(term *t, ana_product product, const uint32_t block[3])
{
    const char *factor;
    uint32_t length;
    t->number = product.negative ? -1 : 1;
    while (ana_product_next(&product, &factor, &length))
        if (!read_product_factor(t, factor, length, block))
            return false;
    return !product.damaged;
}

static bool add_distance(int64_t *sum, int64_t number)
{
    return !__builtin_add_overflow(*sum, number, sum) && *sum <= FARTHEST && *sum >= -FARTHEST;
}

static bool add_to_footprint(footprint *f, const term *t)
{
    if (t->base && (f->base || t->number != 1 || t->same > 1 || t->threads || t->iterations))
        return false;
    if (t->base) {
        f->base = t->base;
        f->base_length = t->base_length;
        return true;
    }
    if (t->zero || !t->number)
        return true;
    if (t->others || (t->threads && (t->threads > 1 || t->iterations || t->same)))
        return false;
    if (t->threads)
        return add_distance(&f->thread[t->dimension], t->number);
    if (t->iterations)
        f->step = wl_gcd((uint64_t)llabs(t->number), f->step);
    else if (t->same)
        f->same += (uint64_t)t->number * (t->names | 1);
    else
        return add_distance(&f->constant, t->number);
    return true;
}

/* One product of the sum after the other; false where one cannot be read or added. */
static bool read_form(footprint *f, const char *form, const uint32_t block[3])
{
    ana_form_reader reader = ana_form_read(form);
    bool good = true, readable = true;
    for (ana_product product; readable && ana_form_next(&reader, &product);) {
        term t = {0};
        readable = read_product(&t, product, block);
        good &= readable && add_to_footprint(f, &t);
    }
    return good && !reader.damaged;
}

footprint footprint_of(const prof_form *form, const uint32_t block[3])
{
    footprint f = {.bytes = form ? form->bytes : 0};
    bool good = form && form->bytes && read_form(&f, form->form, block);
    if (form && form->no_wrap)
        f.step = wl_gcd(NARROWEST, f.step);
    f.known = good && (uint64_t)block[0] * block[1] * block[2] <= MOST_THREADS;
    return f;
}

bool footprint_same_base(const footprint *a, const footprint *b)
{
    if (!a->base || !b->base)
        return a->base == b->base;
    return a->base_length == b->base_length && memcmp(a->base, b->base, a->base_length) == 0;
}

bool footprint_comparable(const footprint *a, const footprint *b)
{
    return a->known && b->known && footprint_same_base(a, b) && a->same == b->same;
}

/* ---- two of them ---- */

typedef struct spot { /* where a thread begins */
    uint64_t at;
    uint32_t thread;
} spot;

static int by_begin(const void *a, const void *b)
{
    const spot *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Of a ring of `size` bytes; of all memory where that is 0. */
static uint64_t on_ring(int64_t at, uint64_t size)
{
    const uint64_t middle = UINT64_C(1) << 62;
    if (!size)
        return middle + (uint64_t)at;
    int64_t rest = at % (int64_t)size;
    return (uint64_t)(rest < 0 ? rest + (int64_t)size : rest);
}

static int64_t begin_of(const footprint *f, uint32_t t, const uint32_t block[3])
{
    return f->constant + f->thread[0] * (t % block[0]) + f->thread[1] * (t / block[0] % block[1]) +
           f->thread[2] * (t / block[0] / block[1]);
}

static uint64_t way_on_ring(uint64_t from, uint64_t to, uint64_t size)
{
    return size && to < from ? to + size - from : to - from;
}

static uint32_t first_from(const spot *spots, uint32_t count, uint64_t at)
{
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (spots[middle].at < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Of the threads that begin less than `reach` bytes after `from`: what one that is not `thread`
 * needs. */
static footprint_order meet_from(const spot *spots, uint32_t count, uint64_t from, uint64_t reach,
                                 uint64_t size, uint32_t thread)
{
    footprint_order order = FOOTPRINT_APART;
    uint32_t at = first_from(spots, count, from);
    for (uint32_t n = 0; n < count && order != FOOTPRINT_BLOCK; n++, at++) {
        if (at >= count && !size)
            break;
        const spot *s = &spots[at % count];
        if (way_on_ring(from, s->at, size) >= reach)
            break;
        if (s->thread / LANES != thread / LANES)
            order = FOOTPRINT_BLOCK;
        else if (s->thread != thread)
            order = FOOTPRINT_WARPS;
    }
    return order;
}

static bool are_of_two_warps(const crowd *a, const crowd *b)
{
    for (uint32_t x = 0; x < CROWD_WARPS; x++)
        for (uint32_t y = 0; y < CROWD_WARPS; y++)
            if (x != y && a->lanes[x] && b->lanes[y])
                return true;
    return false;
}

/* Is there a lane of the one and another lane of the other? */
static bool are_of_two_lanes(uint32_t a, uint32_t b)
{
    bool same = a == b && !(a & (a - 1));
    return a && b && !same;
}

footprint_order footprint_meet_anywhere(const crowd *a, const crowd *b)
{
    if (are_of_two_warps(a, b))
        return FOOTPRINT_BLOCK;
    for (uint32_t w = 0; w < CROWD_WARPS; w++)
        if (are_of_two_lanes(a->lanes[w], b->lanes[w]))
            return FOOTPRINT_WARPS;
    return FOOTPRINT_APART;
}

/* Where the threads begin, by place; how many there are. */
static uint32_t spots_of(const footprint *f, const crowd *by, const uint32_t block[3],
                         uint64_t size, spot spots[MOST_THREADS])
{
    uint32_t count = 0;
    for (uint32_t t = 0; t < block[0] * block[1] * block[2]; t++)
        if (crowd_has(by, t))
            spots[count++] = (spot){on_ring(begin_of(f, t, block), size), t};
    qsort(spots, count, sizeof *spots, by_begin);
    return count;
}

footprint_order footprint_meet(const footprint *a, const crowd *by_a, const footprint *b,
                               const crowd *by_b, const uint32_t block[3])
{
    uint64_t size = wl_gcd(a->step, b->step), reach = (uint64_t)a->bytes + b->bytes - 1;
    footprint_order order = FOOTPRINT_APART;
    spot spots[MOST_THREADS];
    if (size && reach >= size)
        return footprint_meet_anywhere(by_a, by_b);
    uint32_t count = spots_of(b, by_b, block, size, spots);
    for (uint32_t t = 0; t < block[0] * block[1] * block[2] && order != FOOTPRINT_BLOCK; t++) {
        if (!crowd_has(by_a, t))
            continue;
        int64_t from = begin_of(a, t, block) - (int64_t)b->bytes + 1;
        footprint_order one = meet_from(spots, count, on_ring(from, size), reach, size, t);
        order = one > order ? one : order;
    }
    return order;
}
