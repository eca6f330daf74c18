/* Local memory as a finding of a kernel: counted by hand, and by the naive reference. */
#include "reference.h"
#include "support/random.h"
#include "support/test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 8, BLOCKS = 2, THREADS = 64, WARPS = BLOCKS * THREADS / 32 };

static int64_t same_element(const sim_thread *t, const void *p)
{
    (void)t;
    return *(const int64_t *)p * 4;
}

static int64_t own_element(const sim_thread *t, const void *p)
{
    (void)p;
    return (int64_t)(t->index % ELEMENTS) * 4;
}

static int64_t in_order(const sim_thread *t, const void *p)
{
    (void)p;
    return (int64_t)(t->block[0] * THREADS + t->index) * 4;
}

/* Each thread stores one element to device memory, 4 sectors a warp; the list is loaded in `steps`
 * steps. */
static void begin(sim *s, sim_offset *offset, int64_t steps)
{
    sim_begin(s, BLOCKS, 1, THREADS, 1);
    uint32_t out = sim_alloc(s, "out", BLOCKS * THREADS * 4, 0);
    uint32_t list = sim_local(s, ELEMENTS * 4);
    sim_access(s, 0, ACC_STORE, out, 4, in_order, NULL);
    for (int64_t k = 0; k < steps; k++)
        sim_access(s, (uint32_t)(1 + k), ACC_LOAD, list, 4, offset, &k);
}

static const ana_finding *only(const ana_findings *all)
{
    assert_int_equal(all->count, 1);
    assert_int_equal(all->rows[0].pattern, ANA_LOCAL_MEMORY);
    return &all->rows[0];
}

/* All lanes take element k: 128 bytes side by side, 4 sectors a request. */
static void one_element_at_a_time(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    begin(&s, same_element, ELEMENTS);
    sim_find(&s, 1, &all);
    const ana_finding *f = only(&all);
    assert_int_equal(f->scope, ANA_SCOPE_KERNEL);
    assert_true(f->kernel && !f->object);
    assert_int_equal(f->cost.unit, ANA_SECTORS);
    assert_int_equal(f->cost.excess, WARPS * ELEMENTS * 4);
    assert_int_equal(f->cost.excess, (uint64_t)reference_local(&s));
    assert_true(fabs(f->cost.share_of_kernel - 32.0 / 36) < 1e-9);
    assert_int_equal(f->certainty, ANA_CERTAINTY_POSSIBLE);
    assert_int_equal(f->access->space, ACC_LOCAL);
    assert_int_equal(f->access->launches, 1);
    assert_int_equal(f->nlines,
                     ELEMENTS); /* of an instruction each: there is no line information */
    assert_non_null(strstr(f->advice, "unroll"));
    assert_non_null(strstr(f->advice, "PTX does not show"));
    sim_end(&s);
}

/* Lane l takes element l % 8, word l of row l % 8: 8 rows of 4 sectors, and each is another
 * sector. */
static void an_element_for_each_lane(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    begin(&s, own_element, 1);
    sim_find(&s, 2, &all);
    const ana_finding *f = only(&all);
    assert_int_equal(f->cost.excess, 2 * WARPS * 32);
    assert_int_equal(f->cost.excess, 2 * (uint64_t)reference_local(&s));
    assert_int_equal(f->access->launches, 2);
    assert_non_null(strstr(f->advice, "shared memory"));
    assert_null(strstr(f->advice, "unroll"));
    sim_end(&s);
}

/* From a hundredth of the kernel's sectors on it is told. */
static void little_of_it(void **state)
{
    (void)state;
    for (uint32_t others = 99; others <= 100; others++) {
        sim s;
        ana_findings all;
        begin(&s, same_element, 1);
        for (uint32_t i = 1; i < others; i++)
            sim_access(&s, 20, ACC_LOAD, 1, 4, in_order, NULL);
        sim_find(&s, 1, &all); /* 4 of 4 * (1 + others) sectors a warp */
        uint32_t found = 0;
        for (uint32_t i = 0; i < all.count; i++)
            found += all.rows[i].pattern == ANA_LOCAL_MEMORY;
        assert_int_equal(found, others == 99);
        sim_end(&s);
    }
}

static void without_any(void **state)
{
    (void)state;
    sim s;
    ana_findings all;
    begin(&s, same_element, 0);
    sim_find(&s, 1, &all);
    assert_int_equal(all.count, 0);
    sim_end(&s);
}

/* ---- any accesses ---- */

static uint64_t seed;

static uint32_t pick(uint32_t n)
{
    return (uint32_t)random_below(&seed, n);
}

static int64_t anywhere(const sim_thread *t, const void *p)
{
    (void)t;
    uint32_t bytes = *(const uint32_t *)p;
    return pick(4) ? (int64_t)pick(64 / bytes) * bytes : -1;
}

static void agrees_with_the_reference(void **state)
{
    (void)state;
    for (uint32_t kernel = 0; kernel < 100; kernel++) {
        sim s;
        ana_findings all;
        seed = kernel;
        sim_begin(&s, 1 + pick(3), 1, 32 * (1 + pick(4)), 1);
        uint32_t room = sim_local(&s, 64), bytes = 4u << pick(3);
        for (uint32_t k = 0; k < 1 + kernel % 5; k++)
            sim_access(&s, k, pick(2) ? ACC_LOAD : ACC_STORE, room, bytes, anywhere, &bytes);
        sim_find(&s, 1, &all);
        assert_int_equal(only(&all)->cost.excess, (uint64_t)reference_local(&s));
        sim_end(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_element_at_a_time),
        cmocka_unit_test(an_element_for_each_lane),
        cmocka_unit_test(little_of_it),
        cmocka_unit_test(without_any),
        cmocka_unit_test(agrees_with_the_reference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
