/* One kernel with probes against the same without. */
#include "compare.h"

#include "elements.h"
#include "live.h"
#include "paths.h"

#include <stdlib.h>

enum { ROWS = 1 << 12 /* of a warp */ };

static const uint64_t traced[] = {2, 0};

static const rewrite_probe_site *site_of(const rewrite_kernel *k, uint32_t pc)
{
    for (uint32_t s = 0; s < k->nsites; s++)
        if (k->sites[s].pc == pc)
            return &k->sites[s];
    return NULL;
}

static bool is_traced(uint64_t block)
{
    return block == traced[0] || block == traced[1];
}

static int by_warp(const void *a, const void *b)
{
    const seen *const *x = a, *const *y = b;
    if ((*x)->block != (*y)->block)
        return (*x)->block < (*y)->block ? -1 : 1;
    if ((*x)->warp != (*y)->warp)
        return (*x)->warp < (*y)->warp ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

static size_t select_seen(const shot *s, const rewrite_kernel *k, const seen **out)
{
    size_t n = 0;
    for (size_t i = 0; i < s->count; i++)
        if (is_traced(s->list[i].block) && site_of(k, s->list[i].pc))
            out[n++] = &s->list[i];
    qsort(out, n, sizeof *out, by_warp);
    return n;
}

static void compare_access(const char *name, size_t i, const seen *want, const seen *have)
{
    if (memcmp(want, have, sizeof *want) == 0)
        return;
    const seen *both[] = {want, have};
    for (int k = 0; k < 2; k++)
        print_message("%s: block %llu warp %u pc %u op %u space %u bytes %u flags %u mask %x addr "
                      "%llx %llx\n",
                      k ? "decoded" : "seen", (unsigned long long)both[k]->block, both[k]->warp,
                      both[k]->pc, both[k]->op, both[k]->space, both[k]->bytes, both[k]->flags,
                      both[k]->mask, (unsigned long long)both[k]->addr[0],
                      (unsigned long long)both[k]->addr[1]);
    fail_msg("%s: access %zu differs", name, i);
}

/* The earliest access of `want` that is not matched yet and has a lane of `have`, from *first on,
 * where all before are. */
static size_t earliest(const seen *const *want, size_t n, const bool *matched, size_t *first,
                       const seen *have)
{
    while (*first < n && matched[*first])
        (*first)++;
    for (size_t i = *first; i < n; i++)
        if (!matched[i] && want[i]->block == have->block && want[i]->warp == have->warp &&
            want[i]->mask & have->mask)
            return i;
    return n;
}

/* The same accesses, for each lane in the same order. */
static void compare_traces(const char *name, const rewrite_kernel *k, const shot *original,
                           const shot *decoded, tally *t)
{
    const seen **want = calloc(original->count + 1, sizeof *want);
    const seen **have = calloc(decoded->count + 1, sizeof *have);
    bool *matched = calloc(original->count + 1, sizeof *matched);
    size_t n = select_seen(original, k, want), first = 0;
    assert_int_equal(select_seen(decoded, k, have), decoded->count);
    for (size_t i = 0; i < decoded->count; i++) {
        size_t at = earliest(want, n, matched, &first, have[i]);
        if (at == n)
            fail_msg("%s: access %zu at pc %u did not happen", name, i, have[i]->pc);
        compare_access(name, i, want[at], have[i]);
        matched[at] = true;
    }
    if (n != decoded->count)
        fail_msg("%s: %zu accesses, %zu decoded", name, n, decoded->count);
    t->accesses += n;
    free(want), free(have), free(matched);
}

static void compare_counts(const char *name, const shot *original, const left *l, tally *t)
{
    const rewrite_kernel *k = l->copy.kernel;
    if (!(k->probes >> REWRITE_BLOCKS & 1))
        return;
    assert_int_equal(k->nblocks, original->nblocks);
    for (uint32_t b = 0; b < k->nblocks; b++) {
        uint64_t executions, lanes;
        if (!rewrite_read_block(&l->copy, b, &executions, &lanes))
            continue;
        if (executions != original->blocks[b].executions || lanes != original->blocks[b].lanes)
            fail_msg(
                "%s: block %u at pc %u ran %llu times with %llu lanes, counted as %llu with %llu",
                name, b, k->blocks[b].first_pc, (unsigned long long)original->blocks[b].executions,
                (unsigned long long)original->blocks[b].lanes, (unsigned long long)executions,
                (unsigned long long)lanes);
        t->counts++;
    }
    t->shared_counts += k->nblocks - k->ncounters;
}

/* ---- what is counted by element: the naive way ---- */

enum { SHARED_BYTES = 48 << 10 };

typedef struct naive {
    uint32_t *touched, *counts[REWRITE_CLASSES]; /* of all words of the memory */
    uint32_t shared[REWRITE_CLASSES][SHARED_BYTES / 4];
    uint32_t used[8]; /* of each object, by sites without a parameter */
    uint32_t *any[2]; /* whether a site ran: [nsites] */
    uint64_t missed;  /* elements */
} naive;

static const rewrite_probe_site *site_of_access(const rewrite_kernel *k, const seen *a,
                                                uint32_t *index)
{
    for (uint32_t s = 0; s < k->nsites; s++)
        if (k->sites[s].pc == a->pc && k->sites[s].op == a->op) {
            *index = s;
            return &k->sites[s];
        }
    return NULL;
}

static uint32_t object_at(const rewrite_setup *setup, uint64_t address)
{
    for (uint32_t i = 0; i < setup->nobjects; i++)
        if (address >= setup->objects[i].base &&
            address - setup->objects[i].base < setup->objects[i].bytes)
            return i;
    return IR_NONE;
}

static void add_lane(naive *n, const rewrite_kernel *k, const rewrite_probe_site *site,
                     const rewrite_setup *setup, const shape *s, const seen *a, uint64_t address)
{
    unsigned class_ = rewrite_class(site), words = a->bytes > 4 ? a->bytes / 4 : 1;
    bool elements = k->probes & (1u << REWRITE_TOUCH | 1u << REWRITE_FREQUENCY);
    if (a->space == ACC_SHARED)
        for (unsigned w = 0; w < words; w++)
            n->shared[class_][address / 4 + w]++;
    if (a->space != ACC_GLOBAL)
        return;
    uint32_t object = object_at(setup, address);
    if (object == IR_NONE) {
        if (elements || (k->probes >> REWRITE_OBJECTS & 1 && site->param == IR_NONE))
            n->missed += words;
        return;
    }
    if (site->param == IR_NONE)
        n->used[object] |= 1u << class_;
    for (unsigned w = 0; w < words; w++) {
        uint64_t at = (address - P(s->data)) / 4 + w;
        n->touched[at] = 1;
        n->counts[class_][at]++;
    }
}

static void count_naively(naive *n, const rewrite_kernel *k, const rewrite_setup *setup,
                          const shape *s, const shot *original)
{
    memset(n, 0, sizeof *n);
    n->touched = calloc(s->bytes / 4 + 8, 4);
    n->any[0] = calloc(k->nsites + 1, 4);
    for (unsigned c = 0; c < REWRITE_CLASSES; c++)
        n->counts[c] = calloc(s->bytes / 4 + 8, 4);
    for (size_t i = 0; i < original->count; i++) {
        const seen *a = &original->list[i];
        uint32_t index = 0;
        const rewrite_probe_site *site = site_of_access(k, a, &index);
        if (!site)
            continue;
        n->any[0][index] = 1;
        for (uint32_t m = a->mask; m; m &= m - 1)
            add_lane(n, k, site, setup, s, a, a->addr[__builtin_ctz(m)]);
    }
}

static void naive_end(naive *n)
{
    free(n->touched), free(n->any[0]);
    for (unsigned c = 0; c < REWRITE_CLASSES; c++)
        free(n->counts[c]);
}

/* Told what of the state is empty, the reader says the same. */
static void compare_sparse(const char *name, const left *l, uint32_t object, const wl_spans *all)
{
    enum { PIECE = 64 };
    static const char zero[PIECE];
    uint64_t pieces = (l->copy.size + PIECE - 1) / PIECE;
    rewrite_run *runs = calloc(pieces + 1, sizeof *runs);
    rewrite_copy sparse = l->copy;
    wl_spans spans = {.counted = all->counted};
    assert_non_null(runs);
    sparse.runs = runs;
    for (uint64_t i = 0; i < pieces; i++) {
        uint64_t at = i * PIECE, bytes = l->copy.size - at < PIECE ? l->copy.size - at : PIECE;
        if (memcmp((const char *)l->copy.state + at, zero, bytes) != 0)
            runs[sparse.nruns++] = (rewrite_run){at, bytes};
    }
    assert_int_equal(rewrite_read_elements(&sparse, object, &spans), WL_OK);
    if (spans.size != all->size || (spans.size && memcmp(spans.data, all->data, spans.size) != 0))
        fail_msg("%s: object %u: other spans where it is told what is empty", name, object);
    wl_spans_free(&spans);
    free(runs);
}

/* In parts of three lines, the same. */
static void compare_parts(const char *name, const left *l, uint32_t object, const wl_spans *all)
{
    wl_spans spans = {.counted = all->counted};
    uint64_t lines = rewrite_lines(&l->copy, object);
    for (uint64_t i = 0; i < lines; i += 3) {
        wl_spans part = {.counted = all->counted};
        assert_int_equal(rewrite_read_lines(&l->copy, object, i, i + 3, &part), WL_OK);
        wl_spans_append(&spans, &part);
        wl_spans_free(&part);
    }
    assert_true(wl_spans_finish(&spans));
    if (lines &&
        (spans.size != all->size || (spans.size && memcmp(spans.data, all->data, spans.size) != 0)))
        fail_msg("%s: object %u: other spans in parts", name, object);
    wl_spans_free(&spans);
}

/* All elements at once: the same as one by one. */
static void compare_spans(const char *name, const naive *n, const left *l, uint32_t object,
                          uint64_t first, uint64_t count, bool counted)
{
    wl_spans spans = {.counted = counted};
    wl_span span = {0};
    assert_int_equal(rewrite_read_elements(&l->copy, object, &spans), WL_OK);
    wl_span_reader r = wl_spans_read(spans.data, spans.size, counted);
    for (uint64_t e = 0; e < count; e++) {
        while (span.first + span.count <= e && wl_span_next(&r, &span))
            ;
        bool inside = e >= span.first && e < span.first + span.count;
        bool same = counted || inside == n->touched[first + e];
        for (unsigned c = 0; counted && c < REWRITE_CLASSES; c++)
            same = same && (inside ? span.times[c] : 0) == n->counts[c][first + e];
        if (!same)
            fail_msg("%s: object %u element %llu: its span differs", name, object,
                     (unsigned long long)e);
    }
    assert_false(r.damaged);
    compare_sparse(name, l, object, &spans);
    compare_parts(name, l, object, &spans);
    wl_spans_free(&spans);
}

static void compare_accesses(const char *name, const naive *n, const left *l, uint32_t object,
                             unsigned c, uint64_t first, uint64_t count)
{
    uint32_t *counts = elements_counts(&l->copy, object, c, count);
    for (uint64_t e = 0; e < count; e++)
        if (counts[e] != n->counts[c][first + e])
            fail_msg("%s: object %u element %llu class %u: %u accesses, counted as %u", name,
                     object, (unsigned long long)e, c, n->counts[c][first + e], counts[e]);
    free(counts);
}

static void compare_object(const char *name, const naive *n, const rewrite_setup *setup,
                           const shape *s, const left *l, uint32_t object, tally *t)
{
    const rewrite_kernel *k = l->copy.kernel;
    const rewrite_object *o = &setup->objects[object];
    bool *touched = k->probes >> REWRITE_TOUCH & 1
                        ? elements_all_touched(&l->copy, object, o->bytes / 4)
                        : NULL;
    for (uint64_t e = 0; e < o->bytes / 4; e++) {
        uint64_t at = (o->base - P(s->data)) / 4 + e;
        if (touched && touched[e] != n->touched[at])
            fail_msg("%s: object %u element %llu: touched %u", name, object, (unsigned long long)e,
                     n->touched[at]);
        t->elements += n->touched[at];
    }
    free(touched);
    uint64_t first = (o->base - P(s->data)) / 4;
    for (unsigned c = 0; k->probes >> REWRITE_FREQUENCY & 1 && c < REWRITE_CLASSES; c++)
        compare_accesses(name, n, l, object, c, first, o->bytes / 4);
    for (int counted = 0; counted < 2; counted++)
        if (k->probes >> (counted ? REWRITE_FREQUENCY : REWRITE_TOUCH) & 1)
            compare_spans(name, n, l, object, first, o->bytes / 4, counted);
    if (k->probes >> REWRITE_OBJECTS & 1)
        assert_int_equal(n->used[object] & ~rewrite_object_used(&l->copy, object), 0);
}

static void compare_shared(const char *name, const naive *n, const left *l)
{
    static uint64_t counts[REWRITE_CLASSES][SHARED_BYTES / 4];
    memset(counts, 0, sizeof counts);
    assert_int_equal(rewrite_read_shared(&l->copy, counts[0]), WL_OK);
    for (unsigned c = 0; l->copy.kernel->probes >> REWRITE_SHARED & 1 && c < REWRITE_CLASSES; c++)
        for (uint32_t w = 0; w < SHARED_BYTES / 4; w++)
            if (counts[c][w] != n->shared[c][w])
                fail_msg("%s: shared word %u class %u: %u accesses, counted as %llu", name, w, c,
                         n->shared[c][w], (unsigned long long)counts[c][w]);
}

static void compare_elements(const char *name, const naive *n, const rewrite_setup *setup,
                             const shape *s, const left *l, tally *t)
{
    const rewrite_kernel *k = l->copy.kernel;
    for (uint32_t o = 0; o < setup->nobjects; o++)
        compare_object(name, n, setup, s, l, o, t);
    for (uint32_t i = 0; k->probes >> REWRITE_OBJECTS & 1 && i < k->nsites; i++)
        if (rewrite_site_ran(&l->copy, i) != n->any[0][i])
            fail_msg("%s: site %u at pc %u: ran %u", name, i, k->sites[i].pc, n->any[0][i]);
    compare_shared(name, n, l);
    /* What a loop misses may count once. */
    assert_true(rewrite_missed(&l->copy) <= n->missed);
    assert_int_equal(rewrite_missed(&l->copy) > 0, k->probes && n->missed > 0);
}

static void compare_results(const char *name, const shape *s, const shot *a, const shot *b)
{
    if (memcmp(a->data, b->data, s->bytes) != 0)
        fail_msg("%s: results differ", name);
}

static void check_tiny(probed *p, const char *name, const shape *s, rewrite_setup setup,
                       const shot *original, size_t whole)
{
    shot tiny, decoded = {0};
    left l;
    setup.rows = 6;
    shoot_probed(p, name, s, false, &setup, traced, 2, &tiny, &l);
    compare_results(name, s, original, &tiny);
    read_trace(p, &l, &decoded);
    assert_true(decoded.count <= whole);
    assert_true(decoded.count == whole || rewrite_dropped(&l.copy) > 0);
    left_end(&l), shot_end(&tiny), shot_end(&decoded);
}

/* Of a log with that many rows. */
static uint64_t log_bytes(const shape *s, uint64_t rows)
{
    uint64_t blocks = (uint64_t)s->grid.x * s->grid.y * s->grid.z;
    const uint32_t threads[] = {s->block.x, s->block.y, s->block.z};
    return (rows + 1) * REWRITE_LOG_ROW * rewrite_log_regions(blocks, threads) + 1024;
}

/* With a log that lanes fill, so that they update counters themselves. */
static void check_full_log(probed *p, const char *name, const shape *s, rewrite_setup setup,
                           const shot *original, const naive *n)
{
    shot with;
    left l;
    tally none = {0};
    setup.log_bytes = log_bytes(s, 1);
    shoot_probed(p, name, s, false, &setup, traced, 2, &with, &l);
    compare_results(name, s, original, &with);
    compare_elements(name, n, &setup, s, &l, &none);
    left_end(&l), shot_end(&with);
}

/* Elements without what the host knows about pointers. */
static void check_searching(probed *p, const char *name, const shape *s, rewrite_setup setup,
                            const shot *original, const naive *n)
{
    static const uint64_t unknown[REWRITE_SLOTS];
    shot with;
    left l;
    tally none = {0};
    setup.pointers = unknown;
    shoot_probed(p, name, s, false, &setup, traced, 2, &with, &l);
    compare_results(name, s, original, &with);
    compare_elements(name, n, &setup, s, &l, &none);
    left_end(&l), shot_end(&with);
}

void check_elements(probed *p, const char *name, const shape *s)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    rewrite_setup setup = {.nobjects = s->nobjects, .objects = s->objects, .everywhere = true};
    shot original, with;
    tally t = {0};
    static naive n;
    left l;
    shoot_original(p, name, s, &original);
    count_naively(&n, k, &setup, s, &original);
    shoot_probed(p, name, s, false, &setup, NULL, 0, &with, &l);
    compare_results(name, s, &original, &with);
    compare_elements(name, &n, &setup, s, &l, &t);
    left_end(&l), shot_end(&with);
    check_searching(p, name, s, setup, &original, &n);
    naive_end(&n);
    shot_end(&original);
}

void check_kernel(probed *p, const char *name, const shape *s, tally *t)
{
    const rewrite_kernel *k = probed_kernel(p, name);
    /* Of the memory: two objects side by side, a gap, and one that does not begin at 128 bytes. */
    const uint64_t part = s->bytes / 4 / 16 * 16;
    const rewrite_object objects[] = {{P(s->data), part},
                                      {P(s->data) + part, part},
                                      {P(s->data) + 2 * part + 64, s->bytes - 2 * part - 64}};
    rewrite_setup setup = {.rows = ROWS,
                           .nobjects = s->nobjects ? s->nobjects : 3,
                           .objects = s->nobjects ? s->objects : objects,
                           .shared_bytes = SHARED_BYTES,
                           .log_bytes = log_bytes(s, 256),
                           .path_bytes = UINT64_MAX,
                           .everywhere = true};
    shot original, with, off, decoded = {0};
    left l, none;
    static naive n;
    if (k->refused)
        fail_msg("%s: %s", name, k->refused);
    shoot_original(p, name, s, &original);
    shoot_probed(p, name, s, false, &setup, traced, 2, &with, &l);
    compare_results(name, s, &original, &with);
    assert_int_equal(rewrite_dropped(&l.copy), 0);
    read_trace(p, &l, &decoded);
    if (k->probes >> REWRITE_TRACE & 1)
        compare_traces(name, k, &original, &decoded, t);
    compare_counts(name, &original, &l, t);
    t->paths += compare_paths(name, &original, &l.copy);
    count_naively(&n, k, &setup, s, &original);
    compare_elements(name, &n, &setup, s, &l, t);
    t->live += compare_live(name, p->f.ptx, &original, &l.copy);
    check_full_log(p, name, s, setup, &original, &n);
    setup.log_bytes = 0;
    check_searching(p, name, s, setup, &original, &n);
    naive_end(&n);
    shoot_probed(p, name, s, true, &(rewrite_setup){0}, traced, 2, &off, &none);
    compare_results(name, s, &original, &off);
    check_tiny(p, name, s, setup, &original, decoded.count);
    t->kernels++;
    t->logged += l.logged;
    t->probed += k->probes != 0;
    t->plain += original.warp_instructions, t->with += with.warp_instructions;
    left_end(&l), left_end(&none);
    shot_end(&original), shot_end(&with), shot_end(&off), shot_end(&decoded);
}

void report(const char *what, const tally *t)
{
    print_message("%s: %llu kernels, %llu with probes; %llu accesses, %llu block counts (%llu "
                  "shared), %llu elements, %llu logged, "
                  "live ranges of %llu arrays, %llu paths; %.2f times the instructions\n",
                  what, (unsigned long long)t->kernels, (unsigned long long)t->probed,
                  (unsigned long long)t->accesses, (unsigned long long)t->counts,
                  (unsigned long long)t->shared_counts, (unsigned long long)t->elements,
                  (unsigned long long)t->logged, (unsigned long long)t->live,
                  (unsigned long long)t->paths, (double)t->with / (double)t->plain);
}
