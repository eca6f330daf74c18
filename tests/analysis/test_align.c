/* Alignment of paths, and the formula of differences: by hand, and random paths against the longest
 * common subsequence, worked out in a table. */
#include "support/random.h"
#include "support/test.h"

#include "analysis/explore/difference.h"

#include <string.h>

enum { MOST = 300 };

/* ---- alignment ---- */

typedef struct aligned {
    uint32_t partners, alone;
} aligned;

/* Goes through the runs, which must cover both, in order, with equal keys. */
static aligned check_runs(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb,
                          uint32_t most)
{
    explore_runs runs = {0};
    aligned sum = {0};
    uint32_t x = 0, y = 0;
    assert_true(explore_align(a, na, b, nb, most, &runs));
    for (size_t i = 0; i < runs.count; i++) {
        const explore_run *r = &runs.data[i];
        assert_true(r->a == x && r->b == y && (r->na || r->nb));
        assert_true(r->na == r->nb || !r->na || !r->nb);
        for (uint32_t k = 0; r->na && r->nb && k < r->na; k++)
            assert_int_equal(a[x + k], b[y + k]);
        sum.partners += r->na && r->nb ? r->na : 0;
        sum.alone += r->na && r->nb ? 0 : r->na + r->nb;
        x += r->na;
        y += r->nb;
    }
    assert_true(x == na && y == nb);
    wl_vec_free(&runs);
    return sum;
}

static uint32_t longest_common(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb)
{
    static uint32_t table[MOST + 1][MOST + 1];
    memset(table, 0, sizeof table);
    for (uint32_t i = 1; i <= na; i++)
        for (uint32_t k = 1; k <= nb; k++) {
            uint32_t left = table[i - 1][k], above = table[i][k - 1];
            table[i][k] = a[i - 1] == b[k - 1] ? table[i - 1][k - 1] + 1
                          : left > above       ? left
                                               : above;
        }
    return table[na][nb];
}

static void by_hand(void **state)
{
    (void)state;
    /* A loop of two blocks: three rounds and five. */
    const uint32_t three[] = {0, 4, 6, 4, 6, 4, 6, 9},
                   five[] = {0, 4, 6, 4, 6, 4, 6, 4, 6, 4, 6, 9};
    aligned sum = check_runs(three, 8, five, 12, 100);
    assert_true(sum.partners == 8 && sum.alone == 4);
    sum = check_runs(three, 8, three, 8, 1);
    assert_true(sum.partners == 8 && sum.alone == 0);
    sum = check_runs(three, 0, five, 12, 10);
    assert_true(sum.partners == 0 && sum.alone == 12);
    sum = check_runs(three, 0, five, 0, 10);
    assert_true(sum.partners == 0 && sum.alone == 0);
    const uint32_t left[] = {1, 2, 3, 1, 2, 2, 1}, right[] = {3, 2, 1, 2, 1, 3}; /* Myers' own */
    sum = check_runs(left, 7, right, 6, 100);
    assert_true(sum.partners == 4 && sum.alone == 5);
}

static uint32_t draw_keys(uint64_t *seed, uint32_t *keys, uint32_t letters)
{
    uint32_t n = (uint32_t)random_below(seed, MOST + 1);
    for (uint32_t i = 0; i < n; i++)
        keys[i] = (uint32_t)random_below(seed, letters);
    return n;
}

/* Some of the keys are left out, and others put in. */
static uint32_t change_keys(uint64_t *seed, const uint32_t *keys, uint32_t n, uint32_t *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < n && count < MOST; i++) {
        if (random_below(seed, 10) > 0)
            out[count++] = keys[i];
        if (random_below(seed, 10) == 0 && count < MOST)
            out[count++] = (uint32_t)random_below(seed, 3);
    }
    return count;
}

static void as_few_are_alone_as_can_be(void **state)
{
    (void)state;
    static uint32_t a[MOST], b[MOST];
    uint64_t seed = 11;
    for (int round = 0; round < 300; round++) {
        uint32_t letters = 1 + (uint32_t)random_below(&seed, 6), na = draw_keys(&seed, a, letters);
        uint32_t nb = round % 2 ? draw_keys(&seed, b, letters) : change_keys(&seed, a, na, b);
        assert_int_equal(check_runs(a, na, b, nb, 2 * MOST).partners, longest_common(a, na, b, nb));
    }
}

/* In pieces it is no longer the best, but what lies within the bound is found. */
static void long_ones_are_aligned_in_pieces(void **state)
{
    (void)state;
    static uint32_t a[MOST], b[MOST];
    uint64_t seed = 5;
    for (int round = 0; round < 300; round++) {
        uint32_t most = 1 + (uint32_t)random_below(&seed, 20), na = draw_keys(&seed, a, 4);
        uint32_t nb = round % 2 ? draw_keys(&seed, b, 4) : change_keys(&seed, a, na, b);
        uint32_t best = longest_common(a, na, b, nb),
                 partners = check_runs(a, na, b, nb, most).partners;
        assert_true(partners <= best);
        if (na + nb - 2 * best <= most)
            assert_int_equal(partners, best);
    }
}

/* ---- the formula ---- */

static const uint8_t sectors[] = {32, 32, 32, 32}, lines[] = {128, 64};

static void the_formula(void **state)
{
    (void)state;
    const explore_operation a = {7, 0xffffffff, sectors, 4, 0}, b = {7, 0x0000ffff, lines, 2, 3},
                            c = {8, 0, NULL, 0, 0};
    explore_difference d = explore_difference_of(&a, &b, EXPLORE_EXCLUSIVE);
    assert_within(d.ins, 0, 0);
    assert_within(d.thrd, 16, 0);
    assert_within(d.glob, 96 + 32 + 32 + 32, 0); /* 128 - 32, 64 - 32, 32 and 32 alone */
    assert_within(d.conf, 3, 0);
    assert_within(explore_sum(&d), 0.5 + 192 / 1024.0 + 0.375, 1e-12);
    assert_within(explore_clamped(&d), 1, 0); /* 1.0625 */
    d = explore_difference_of(&a, &a, EXPLORE_EXCLUSIVE);
    assert_within(explore_sum(&d), 0, 0);
    d = explore_difference_of(&a, &c, EXPLORE_EXCLUSIVE);
    assert_within(explore_sum(&d), 1 + 1 + 128 / 1024.0, 1e-12);
}

/* As printed, what is half idle differs from itself. */
static void the_formula_as_printed(void **state)
{
    (void)state;
    const explore_operation a = {7, 0xffffffff, NULL, 0, 0}, b = {7, 0x0000ffff, NULL, 0, 0};
    explore_difference d = explore_difference_of(&a, &a, EXPLORE_AS_PRINTED);
    assert_within(d.thrd, 0, 0);
    d = explore_difference_of(&a, &b, EXPLORE_AS_PRINTED);
    assert_within(d.thrd, 16, 0);
    d = explore_difference_of(&b, &b, EXPLORE_AS_PRINTED);
    assert_within(d.thrd, 16, 0);
    d = explore_difference_of(&b, &b, EXPLORE_EXCLUSIVE);
    assert_within(d.thrd, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(as_few_are_alone_as_can_be),
        cmocka_unit_test(long_ones_are_aligned_in_pieces),
        cmocka_unit_test(the_formula),
        cmocka_unit_test(the_formula_as_printed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
