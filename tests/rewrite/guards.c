/* Finds the bytes that no table owns, and looks at them. */
#include "guards.h"

#include "support/test.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef struct owned {
    const rewrite_copy *copy;
    const char *kernel;
    uint8_t *bytes; /* not 0: a table has it */
} owned;

static void own(owned *o, uint64_t at, uint64_t bytes)
{
    assert_true(at <= o->copy->layout->pool_at && bytes <= o->copy->layout->pool_at - at);
    memset(o->bytes + at, 1, bytes);
}

/* The same by device address; 0: there is no table. */
static void own_address(owned *o, uint64_t address, uint64_t first, uint64_t bytes)
{
    const rewrite_state *state = o->copy->state;
    if (address)
        own(o, address - (state->ranges - o->copy->layout->ranges_at) + first, bytes);
}

/* What has a fixed size: of each tally three numbers of four. */
static void own_fixed(owned *o)
{
    const rewrite_kernel *k = o->copy->kernel;
    own(o, 0, sizeof(rewrite_state));
    if (k->vars_at)
        own(o, k->vars_at, 8 * (uint64_t)k->nvars);
    for (uint64_t c = 0; c < REWRITE_COPIES; c++) {
        if (k->bits_at)
            own(o, k->bits_at + c * k->bits_bytes, (k->nbits + 31) / 32 * 4);
        for (uint64_t t = 0; k->counters_at && t < k->ntallies; t++)
            own(o, k->counters_at + c * k->copy_bytes + t * REWRITE_TALLY_BYTES, 24);
    }
}

static void own_shared(owned *o)
{
    const rewrite_layout *l = o->copy->layout;
    if (l->paths_at)
        own(o, l->paths_at, sizeof(rewrite_warp_slot) * rewrite_npaths(o->copy));
    uint64_t threads = (uint64_t)l->threads[0] * l->threads[1] * l->threads[2];
    if (l->shared_at)
        own(o, l->shared_at, (uint64_t)l->shared_copies * REWRITE_CLASSES * l->shared_bytes);
    for (uint64_t c = 0; l->places_at && c < l->place_copies; c++)
        own(o, l->places_at + c * l->place_bytes, 4 * threads * o->copy->kernel->nplaces);
}

/* Elements of an object, counted from its line. */
typedef struct span {
    uint64_t first, count, lines;
} span;

static span elements_of(const rewrite_range *r)
{
    uint64_t begin = r->base & 127, end = begin + r->bytes;
    return (span){begin / 4, (end + 3) / 4 - begin / 4, (end + 127) / 128};
}

static void own_counters(owned *o, const rewrite_range *r)
{
    span s = elements_of(r);
    for (unsigned c = 0; c < REWRITE_CLASSES; c++)
        for (uint64_t i = 0; i < (r->spread ? REWRITE_SPREAD : 1); i++) {
            own_address(o, r->counts[c], i * r->spread + 4 * s.first, 4 * s.count);
            if (r->counts[c])
                own_address(o, r->lines[c], i * r->spread, 4 * s.lines);
        }
}

/* Bits are looked at one by one, in check_bits(). */
static void own_marks(owned *o, const rewrite_range *r)
{
    span s = elements_of(r);
    if (!r->bits)
        return;
    own_address(o, r->lines[0], s.first, s.count);
    own_address(o, r->bits, 0, 4 * s.lines);
}

static const rewrite_range *range_of(const rewrite_copy *c, uint32_t object)
{
    const char *ranges = (const char *)c->state + c->layout->ranges_at;
    return (const rewrite_range *)(const void *)ranges + object;
}

static void own_walks(owned *o)
{
    const rewrite_state *state = o->copy->state;
    for (uint32_t i = 0; i < o->copy->kernel->nwalks; i++) {
        const rewrite_walk *w = &state->walk[i];
        if (!o->copy->layout->nranges || w->object >= o->copy->layout->nranges)
            continue;
        span s = elements_of(range_of(o->copy, w->object));
        own_address(o, w->counts, 4 * s.first, 4 * s.count);
        own_address(o, w->marks, s.first, s.count);
    }
}

static void check_bits(const owned *o, const rewrite_range *r)
{
    const rewrite_state *state = o->copy->state;
    const uint32_t *words = (const void *)((const char *)o->copy->state +
                                           (r->bits -
                                            (state->ranges - o->copy->layout->ranges_at)));
    span s = elements_of(r);
    for (uint64_t e = 0; r->bits && e < 32 * s.lines; e++)
        if ((e < s.first || e >= s.first + s.count) && words[e / 32] >> e % 32 & 1)
            fail_msg("%s: bit %llu is set, of elements %llu and %llu after it", o->kernel,
                     (unsigned long long)e, (unsigned long long)s.first,
                     (unsigned long long)s.count);
}

/* Rows of each region after those that were used, and those after them where a record may be begun
 * that does not fit. */
static void check_rows(const owned *o)
{
    const rewrite_state *state = o->copy->state;
    const rewrite_layout *l = o->copy->layout;
    const uint8_t *pool = (const uint8_t *)o->copy->state + l->pool_at;
    uint64_t used = rewrite_rows_used(state) + o->copy->kernel->tail_rows;
    for (uint64_t r = 0; r < l->nregions; r++)
        for (uint64_t i = used * REWRITE_ROW; i < (uint64_t)state->rows * REWRITE_ROW; i++)
            if (pool[r * state->rows * REWRITE_ROW + i] != GUARD_BYTE)
                fail_msg("%s: region %llu: row %llu is written to, of %llu used", o->kernel,
                         (unsigned long long)r, (unsigned long long)(i / REWRITE_ROW),
                         (unsigned long long)used);
}

void check_guards(const char *kernel, const rewrite_copy *copy)
{
    owned o = {copy, kernel, calloc(copy->layout->pool_at + 1, 1)};
    own_fixed(&o);
    own_shared(&o);
    own(&o, copy->layout->ranges_at, sizeof(rewrite_range) * (uint64_t)copy->layout->nranges);
    for (uint32_t i = 0; i < copy->layout->nranges; i++) {
        own_counters(&o, range_of(copy, i));
        own_marks(&o, range_of(copy, i));
        check_bits(&o, range_of(copy, i));
    }
    own_walks(&o);
    for (uint64_t i = 0; i < copy->layout->pool_at; i++)
        if (!o.bytes[i] && ((const uint8_t *)copy->state)[i])
            fail_msg("%s: byte %llu of the state is written to, which no table has (tables from "
                     "%llu, marks from %llu)",
                     kernel, (unsigned long long)i, (unsigned long long)copy->layout->tables_at,
                     (unsigned long long)copy->layout->marks_at);
    check_rows(&o);
    free(o.bytes);
}
