/* Hundreds of small synthetic kernels whose patterns are known by construction: what is found must
 * be those, and must be what the naive detectors say from the raw accesses, costs included. */
#include "reference.h"
#include "support/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define P(id) (1u << ANA_##id)

enum { KERNELS = 400, TABLE = 4096 };

static uint64_t seed;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)random_below(&seed, n);
}

typedef struct call {
    uint32_t threads, warps, step, steps, elements; /* of the block; of the walk; of the object */
    uint32_t a, bytes;
    bool one_lane; /* of each warp */
} call;

static uint32_t global_index(const sim_thread *t, const call *c)
{
    return t->block[0] * c->threads + t->index;
}

static int64_t in_order(const sim_thread *t, const void *p)
{
    const call *c = p;
    return ((int64_t)c->step * c->elements / c->steps + global_index(t, c)) * c->bytes;
}

static int64_t shifted(const sim_thread *t, const void *p)
{
    const call *c = p;
    return ((int64_t)c->step * c->elements / c->steps + global_index(t, c) + c->a) * 4;
}

static int64_t at_stride(const sim_thread *t, const void *p)
{
    const call *c = p;
    return ((int64_t)c->step * c->elements / c->steps + (int64_t)global_index(t, c) * c->a) * 4;
}

static int64_t same_for_all_warps(const sim_thread *t, const void *p)
{
    const call *c = p;
    return (int64_t)(c->step * 32 + t->index % 32) * 4;
}

static int64_t one_word_a_warp(const sim_thread *t, const void *p)
{
    const call *c = p;
    return (int64_t)(c->step * c->warps + t->index / 32) * 4;
}

static int64_t down_columns(const sim_thread *t, const void *p)
{
    const call *c = p;
    return ((int64_t)(t->index % 32) * c->a + t->block[0] * c->warps + t->index / 32) * 4;
}

static int64_t gather(const sim_thread *t, const void *p)
{
    (void)t;
    return (int64_t)pick(((const call *)p)->elements) * 4;
}

static int64_t own_chunk(const sim_thread *t, const void *p)
{
    const call *c = p;
    return ((int64_t)global_index(t, c) * 8 + c->step) * 4;
}

/* The lanes of a warp take `a` counters in turn, or its first lane takes the first. */
static int64_t few_counters(const sim_thread *t, const void *p)
{
    const call *c = p;
    return c->one_lane && t->index % 32 ? -1 : (int64_t)(t->index % 32 % c->a) * 4;
}

/* Each thread an element of its own, the same in each step. */
static int64_t own_element(const sim_thread *t, const void *p)
{
    return (int64_t)global_index(t, p) * 4;
}

/* A way to use an object. */
typedef struct family {
    const char *name;
    sim_offset *offset;
    uint32_t steps;
    bool shared;
} family;

enum {
    IN_ORDER,
    SHIFTED,
    STRIDE,
    ALL_WARPS,
    WORD_A_WARP,
    COLUMNS,
    GATHER,
    CHUNK,
    COUNTER,
    UPDATES,
    SCATTER,
    SHARED_COUNTER,
    FAMILIES
};

static const family families[FAMILIES] = {
    [IN_ORDER] = {"in order", in_order, 4, false},
    [SHIFTED] = {"shifted", shifted, 4, false},
    [STRIDE] = {"stride", at_stride, 4, false},
    [ALL_WARPS] = {"all warps", same_for_all_warps, 16, false},
    [WORD_A_WARP] = {"word a warp", one_word_a_warp, 32, false},
    [COLUMNS] = {"columns", down_columns, 1, false},
    [GATHER] = {"gather", gather, 16, false},
    [CHUNK] = {"chunk", own_chunk, 8, false},
    [COUNTER] = {"counter", few_counters, 4, false},
    [UPDATES] = {"updates in order", own_element, 4, false},
    [SCATTER] = {"scattered updates", gather, 2, false},
    [SHARED_COUNTER] = {"shared counter", few_counters, 4, true},
};

typedef struct use {
    uint32_t family, object, known;
    call c;
} use;

/* The lanes are more than the sector of the counters has words, so that several take one counter;
 * with four steps each warp comes back to it. */
static uint32_t plan_counter(call *c)
{
    c->one_lane = pick(2);
    c->a = c->one_lane ? 1 : 1 + pick(4);
    c->elements = c->a;
    return P(SAME_ADDRESS);
}

/* In shared memory a lane a warp costs no more than one pass, and several words are several banks. */
static uint32_t plan_shared_counter(call *c)
{
    uint32_t known = plan_counter(c);
    return c->warps < 2 ? UINT32_MAX : c->one_lane ? 0 : c->a == 1 ? known : P(BANK_CONFLICT);
}

/* Sizes the object and says what its patterns are; UINT32_MAX: not this family in this block. */
static uint32_t plan(use *u, uint32_t blocks, uint32_t warps)
{
    call *c = &u->c;
    uint32_t all = blocks * warps * 32;
    *c = (call){
        .threads = warps * 32, .warps = warps, .steps = families[u->family].steps, .bytes = 4};
    switch (u->family) {
    case IN_ORDER:
        c->bytes = 4u << pick(3);
        c->elements = all * c->steps;
        return 0;
    case SHIFTED:
        c->a = 1 + pick(7);
        c->elements = all * c->steps + 8;
        c->elements -= c->elements % (8 * c->steps);
        return P(MISALIGNED);
    case STRIDE:
        c->a = 2 + pick(39);
        c->elements = all * c->a * c->steps;
        return P(STRIDED);
    case ALL_WARPS: c->elements = 32 * c->steps; return warps >= 2 ? P(HOT) : 0;
    case WORD_A_WARP: /* four warps and more in a sector; the block's part fills its sectors */
        c->elements = c->warps * c->steps;
        return warps >= 4 ? P(FALSE_SHARING) : UINT32_MAX;
    case COLUMNS:
        c->a = warps * blocks + 8;
        c->a += 8 - c->a % 8;
        c->elements = 32 * c->a;
        return warps >= 8 ? P(FALSE_SHARING) : UINT32_MAX;
    case GATHER: /* 512 gathers a warp: enough to share, too few to touch all */
        c->elements = 600 + pick(1200);
        return warps >= 8 ? P(HOT_RANDOM) : UINT32_MAX;
    case COUNTER: return plan_counter(c);
    case UPDATES: c->elements = all; return P(SCATTERED_ATOMICS);
    case SCATTER: /* so large that hardly two warps meet */
        c->elements = 1 << 17;
        return P(SCATTERED_ATOMICS);
    case SHARED_COUNTER: return plan_shared_counter(c);
    default: c->elements = all * 8; return P(UNCOALESCED);
    }
}

static acc_op some_op(uint32_t which)
{
    if (which >= COUNTER)
        return pick(2) ? ACC_ATOMIC : ACC_REDUCTION;
    return which == ALL_WARPS || which == GATHER ? ACC_LOAD : pick(3) ? ACC_LOAD : ACC_STORE;
}

/* Something follows the elements; not those of counters, so that one may be alone. */
static uint32_t allocate(sim *s, const char *name, const use *u)
{
    uint64_t bytes = (uint64_t)u->c.elements * u->c.bytes;
    if (families[u->family].shared)
        return sim_shared(s, name, bytes);
    return sim_alloc(s, name, u->family == COUNTER ? bytes : bytes + 64 * u->c.bytes, 0);
}

static uint32_t make_kernel(sim *s, use *uses)
{
    static const uint32_t sizes[] = {1, 2, 4, 8, 16, 32};
    static const char *const names[] = {"p", "q", "r", "s"};
    uint32_t warps = sizes[pick(6)], blocks = 1 + pick(6), n = 0, want = 1 + pick(4);
    sim_begin(s, blocks, 1, warps * 32, 1);
    while (n < want) {
        use *u = &uses[n];
        u->family = pick(FAMILIES);
        u->known = plan(u, blocks, warps);
        if (u->known == UINT32_MAX)
            continue;
        u->object = allocate(s, names[n], u);
        acc_op op = some_op(u->family);
        for (u->c.step = 0; u->c.step < u->c.steps; u->c.step++)
            sim_access(s, 10 * n, op, u->object, u->c.bytes, families[u->family].offset, &u->c);
        n++;
    }
    return n;
}

static double found_excess(const sim *s, const ana_findings *all, uint32_t object, ana_pattern p)
{
    const ana_finding *f = sim_finding(s, all, s->objects[object].name, p);
    return f ? (double)f->cost.excess : 0;
}

/* Finds one kernel's patterns in three ways. `exact`: what is known must be told whatever its
 * share. */
static void check(const sim *s, const ana_findings *all, const use *u, uint32_t kernel)
{
    reference ref;
    if (families[u->family].shared)
        reference_shared(s, u->object, reference_passes(s), &ref);
    else
        reference_object(s, u->object, reference_sectors(s), &ref);
    uint32_t got = sim_patterns(s, all, s->objects[u->object].name), told = 0;
    for (int p = 0; p < ANA_PATTERN_COUNT; p++) {
        told |= ref.told[p] ? 1u << p : 0;
        double excess = found_excess(s, all, u->object, (ana_pattern)p);
        if (ref.told[p] && fabs(excess - ref.excess[p]) > 0.51 + 1e-6 * ref.excess[p]) {
            fail_msg("kernel %u, %s: %s costs %.0f, by the reference %.2f", kernel,
                     families[u->family].name, ana_pattern_get((ana_pattern)p)->name, excess,
                     ref.excess[p]);
        }
    }
    if (got != told) {
        fail_msg("kernel %u, %s: found %x, by the reference %x", kernel, families[u->family].name,
                 got, told);
    }
    bool costs = false; /* too little to tell is no pattern, either */
    for (int p = 0; p < ANA_PATTERN_COUNT; p++)
        costs |= (u->known >> p & 1) && ref.told[p];
    if ((got & ~u->known) || (costs && got != u->known)) {
        fail_msg("kernel %u, %s: found %x, known %x", kernel, families[u->family].name, got,
                 u->known);
    }
}

static uint32_t counts[FAMILIES];

static void kernels_of_known_patterns(void **state)
{
    (void)state;
    for (uint32_t kernel = 0; kernel < KERNELS; kernel++) {
        sim s;
        use uses[4];
        ana_findings all;
        seed = kernel;
        uint32_t n = make_kernel(&s, uses);
        sim_find(&s, 1 + kernel % 2, &all);
        if (kernel % 2 == 0) {
            for (uint32_t i = 0; i < n; i++) {
                check(&s, &all, &uses[i], kernel);
                counts[uses[i].family] += sim_patterns(&s, &all, s.objects[uses[i].object].name) ==
                                          uses[i].known;
            }
        }
        sim_end(&s);
    }
    for (int i = 0; i < FAMILIES; i++) {
        assert_true(counts[i] >=
                    10); /* the test has teeth: each family was met and its pattern told */
    }
}

/* Two launches cost twice one. */
static void launches_add_up(void **state)
{
    (void)state;
    for (uint32_t kernel = 0; kernel < 40; kernel++) {
        sim s;
        use uses[4];
        ana_findings one, two;
        seed = 1000 + kernel;
        make_kernel(&s, uses);
        sim_find(&s, 1, &one);
        sim_find(&s, 2, &two);
        for (uint32_t i = 0; i < one.count; i++) {
            const ana_finding *f = &one.rows[i];
            const ana_finding *g = sim_finding(&s, &two, sim_object_of(&s, f), f->pattern);
            assert_non_null(g);
            assert_true(llabs((long long)(g->cost.excess - 2 * f->cost.excess)) <= 1);
            assert_true(fabs(g->cost.share_of_kernel - f->cost.share_of_kernel) < 1e-9);
        }
        sim_end(&s);
    }
}

/* No sector transfer is charged twice. */
static void excess_never_exceeds_traffic(void **state)
{
    (void)state;
    for (uint32_t kernel = 0; kernel < 100; kernel++) {
        sim s;
        use uses[4];
        ana_findings all;
        seed = 5000 + kernel;
        make_kernel(&s, uses);
        sim_find(&s, 1, &all);
        double excess = 0;
        for (uint32_t i = 0; i < all.count; i++)
            excess += all.rows[i].cost.unit == ANA_SECTORS ? (double)all.rows[i].cost.excess : 0;
        assert_true(excess <= reference_sectors(&s));
        sim_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernels_of_known_patterns),
        cmocka_unit_test(launches_add_up),
        cmocka_unit_test(excess_never_exceeds_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
