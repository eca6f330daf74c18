/* Puts hits together, and in order: there are millions, so that both count rather than compare. */
#include "analysis/objects/bundles.h"

#include "analysis/hash.h"

#include <stdlib.h>

/* ---- bundles ---- */

typedef struct bundled {  /* what hits of one bundle have in common */
    uint32_t site, other; /* OBJ_NONE: there is no other */
    uint32_t kind;        /* pattern, device, certainty */
} bundled;

typedef struct bundler {
    const obj_trace *trace;
    obj_hits *hits;
    uint32_t *table; /* by hash: 1 + the first hit of a bundle; 0: none */
    size_t mask;
} bundler;

static uint32_t site_of(const bundler *b, uint32_t object)
{
    return object == OBJ_NONE ? OBJ_NONE : b->trace->objects.data[object].site;
}

static bundled bundled_of(const bundler *b, const obj_hit *h)
{
    enum { KINDS = 2 * ANA_PATTERN_COUNT };
    uint32_t kind = KINDS * b->trace->objects.data[h->object].device + 2u * h->pattern +
                    h->possible;
    return (bundled){site_of(b, h->object), site_of(b, h->other), kind};
}

static bool is_one_bundle(const bundled *x, const bundled *y)
{
    return x->site == y->site && x->other == y->other && x->kind == y->kind;
}

/* The first hit of the bundle that a hit is of: maybe itself. */
static uint32_t first_of_bundle(bundler *b, uint32_t hit)
{
    bundled own = bundled_of(b, &b->hits->data[hit]);
    uint64_t both = (uint64_t)own.other << 32 | own.site;
    size_t at = (size_t)hash_number(own.kind, both) & b->mask;
    for (; b->table[at]; at = (at + 1) & b->mask) {
        bundled there = bundled_of(b, &b->hits->data[b->table[at] - 1]);
        if (is_one_bundle(&own, &there))
            return b->table[at] - 1;
    }
    b->table[at] = hit + 1;
    return hit;
}

static bool find_bundles(const obj_trace *trace, obj_hits *hits)
{
    bundler b = {.trace = trace, .hits = hits, .mask = 1};
    while (b.mask < hits->count + hits->count / 4)
        b.mask *= 2;
    b.table = calloc(b.mask, sizeof *b.table);
    b.mask -= 1;
    for (uint32_t i = 0; b.table && i < hits->count; i++)
        hits->data[i].bundle = first_of_bundle(&b, i);
    free(b.table);
    return b.table != NULL;
}

/* Where each bundle ends, so far as hits were put there. */
static uint32_t *begin_bundles(const obj_hits *hits, obj_bundles *out)
{
    uint32_t *next = calloc(hits->count + 1, sizeof *next);
    for (uint32_t i = 0; next && i < hits->count; i++) {
        out->count += hits->data[i].bundle == i;
        next[hits->data[i].bundle]++;
    }
    out->first = malloc(((size_t)out->count + 1) * sizeof *out->first);
    uint32_t sum = 0, bundle = 0;
    for (uint32_t i = 0; next && out->first && i < hits->count; i++) {
        uint32_t count = next[i];
        next[i] = sum;
        if (count)
            out->first[bundle++] = sum;
        sum += count;
    }
    if (out->first)
        out->first[bundle] = sum;
    return next;
}

bool obj_bundles_of(const obj_trace *trace, obj_hits *hits, obj_bundles *out)
{
    *out = (obj_bundles){0};
    if (!find_bundles(trace, hits))
        return false;
    uint32_t *next = begin_bundles(hits, out);
    out->hits = malloc((hits->count + 1) * sizeof *out->hits);
    bool good = next && out->first && out->hits;
    for (uint32_t i = 0; good && i < hits->count; i++)
        out->hits[next[hits->data[i].bundle]++] = i;
    free(next);
    return good;
}

void obj_bundles_free(obj_bundles *b)
{
    free(b->first);
    free(b->hits);
    *b = (obj_bundles){0};
}

/* ---- order ---- */

bool obj_shortens(const obj_hit *h)
{
    return h->pattern != ANA_TEMPORARY_IDLENESS && h->pattern != ANA_REDUNDANT_ALLOCATION;
}

/* What is simplest to follow, and costs the program nothing, first. */
static uint64_t key_of_effort(const obj_hit *h)
{
    switch (h->pattern) {
    case ANA_UNUSED_ALLOCATION: return 0;
    case ANA_LEAK:
    case ANA_LATE_DEALLOCATION: return 1;
    case ANA_EARLY_ALLOCATION: return 2;
    case ANA_OVERALLOCATION: return 2;
    case ANA_REDUNDANT_ALLOCATION: return 4;
    case ANA_STRUCTURED_ACCESS: return 3;
    default: return 5;
    }
}

static uint64_t key_of_bytes(const obj_hit *h)
{
    return ~h->bytes;
}

static uint64_t key_of_saving(const obj_hit *h)
{
    return ~h->saves;
}

static uint64_t key_of_kind(const obj_hit *h)
{
    return 2 * (uint64_t)h->in_pool + !obj_shortens(h);
}

typedef uint64_t hit_key(const obj_hit *h);

enum { DIGIT = 16, DIGITS = 1 << DIGIT };

typedef struct ranker {
    const obj_hits *hits;
    uint32_t *order, *other; /* the order so far; the next */
    uint16_t *digits;        /* by hit */
    uint32_t *places;        /* by digit */
} ranker;

/* Stable, by 16 bits of the key. */
static void rank_by_digit(ranker *r, hit_key *key, unsigned shift)
{
    size_t n = r->hits->count;
    uint32_t sum = 0, *order = r->order;
    for (uint32_t i = 0; i < DIGITS; i++)
        r->places[i] = 0;
    for (uint32_t i = 0; i < n; i++) {
        r->digits[i] = (uint16_t)(key(&r->hits->data[i]) >> shift);
        r->places[r->digits[i]]++;
    }
    for (uint32_t i = 0; i < DIGITS; i++) {
        uint32_t count = r->places[i];
        r->places[i] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        r->other[r->places[r->digits[order[i]]]++] = order[i];
    r->order = r->other;
    r->other = order;
}

/* The bits in which the keys of any two differ. */
static uint64_t bits_that_differ(const obj_hits *hits, hit_key *key)
{
    uint64_t bits = 0, first = hits->count ? key(&hits->data[0]) : 0;
    for (uint32_t i = 0; i < hits->count; i++)
        bits |= key(&hits->data[i]) ^ first;
    return bits;
}

static void rank_by_key(ranker *r, hit_key *key)
{
    uint64_t bits = bits_that_differ(r->hits, key);
    for (unsigned shift = 0; shift < 64; shift += DIGIT)
        if (bits >> shift & (DIGITS - 1))
            rank_by_digit(r, key, shift);
}

uint32_t *obj_rank_hits(const obj_hits *hits)
{
    static hit_key *const keys[] = {key_of_effort, key_of_bytes, key_of_saving, key_of_kind};
    size_t n = hits->count + 1;
    ranker r = {.hits = hits,
                .order = malloc(n * sizeof *r.order),
                .other = malloc(n * sizeof *r.other),
                .digits = malloc(n * sizeof *r.digits),
                .places = malloc(DIGITS * sizeof *r.places)};
    bool good = r.order && r.other && r.digits && r.places;
    for (uint32_t i = 0; good && i < hits->count; i++)
        r.order[i] = i;
    for (size_t k = 0; good && k < sizeof keys / sizeof *keys; k++)
        rank_by_key(&r, keys[k]);
    free(r.other);
    free(r.digits);
    free(r.places);
    if (!good)
        free(r.order);
    return good ? r.order : NULL;
}
