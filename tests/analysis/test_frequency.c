/* How unevenly elements are accessed: cases worked by hand, and random counts against sums over all
 * ranges. */
#include "support/random.h"
#include "support/test.h"

#include "analysis/frequency/measure.h"

enum { ELEMENTS = 40 };

static wl_spans spans_of(const uint64_t *loads, uint32_t n)
{
    wl_spans s = {.counted = true};
    for (uint32_t i = 0; i < n; i++) {
        wl_span span = {.first = i, .count = 1, .times = {loads[i]}};
        wl_spans_add(&s, &span);
    }
    assert_true(wl_spans_finish(&s));
    return s;
}

static ana_frequency measure(wl_spans *s)
{
    ana_frequency f;
    wl_span_reader reader = wl_spans_read(s->data, s->size, true);
    assert_true(frequency_measure(&reader, &f));
    wl_spans_free(s);
    return f;
}

/* Six elements, 2 accesses but for two of 8: mean 4, deviation sqrt(8). Elements that are not
 * accessed do not count, but interrupt. */
static void two_hot_elements(void **state)
{
    (void)state;
    const uint64_t loads[] = {2, 2, 0, 8, 8, 2, 0, 0, 2};
    wl_spans s = spans_of(loads, 9);
    ana_frequency f = measure(&s);
    assert_int_equal(f.elements, 6);
    assert_int_equal(f.accesses, 24);
    assert_int_equal(f.most, 8);
    assert_within(f.mean, 4, 1e-12);
    assert_within(f.variation, sqrt(8) / 4, 1e-12);
    assert_int_equal(f.first, 3);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.hot[WL_LOADS], 16);
    assert_int_equal(f.all[WL_LOADS], 24);
    assert_int_equal(f.bins[1].elements, 4);
    assert_int_equal(f.bins[1].accesses, 8);
    assert_int_equal(f.bins[3].elements, 2);
    assert_int_equal(f.bins[3].accesses, 16);
}

/* Evenly accessed: no range, no variation. */
static void even_elements(void **state)
{
    (void)state;
    const uint64_t loads[] = {3, 3, 3};
    wl_spans s = spans_of(loads, 3);
    ana_frequency f = measure(&s);
    assert_within(f.variation, 0, 0);
    assert_int_equal(f.count, 0);
}

/* Classes are kept apart. */
static void classes(void **state)
{
    (void)state;
    wl_spans s = {.counted = true};
    const wl_span hot = {.first = 5, .count = 2, .times = {1, 2, 7}},
                  cold = {.first = 9, .count = 8, .times = {1, 0, 0}};
    wl_spans_add(&s, &hot);
    wl_spans_add(&s, &cold);
    assert_true(wl_spans_finish(&s));
    ana_frequency f = measure(&s);
    assert_int_equal(f.first, 5);
    assert_int_equal(f.count, 2);
    assert_int_equal(f.hot[WL_ATOMICS], 14);
    assert_int_equal(f.hot[WL_LOADS], 2);
    assert_int_equal(f.all[WL_LOADS], 10);
    assert_int_equal(f.all[WL_STORES], 4);
}

static void damaged_spans(void **state)
{
    (void)state;
    const uint8_t bytes[] = {0x80};
    ana_frequency f;
    wl_span_reader cut = wl_spans_read(bytes, 1, true), none = wl_spans_read(NULL, 0, true),
                   touched = wl_spans_read(NULL, 0, false);
    assert_false(frequency_measure(&cut, &f));
    assert_false(frequency_measure(&none, &f));
    assert_false(frequency_measure(&touched, &f));
}

/* The largest sum of (accesses - mean) over a range, by trying all. */
static double best_of_all(const uint64_t *loads, double mean)
{
    double best = 0;
    for (uint32_t a = 0; a < ELEMENTS; a++) {
        double sum = 0;
        for (uint32_t b = a; b < ELEMENTS; b++) {
            sum += (double)loads[b] - mean;
            best = sum > best ? sum : best;
        }
    }
    return best;
}

static void random_counts(void **state)
{
    enum { ROUNDS = 10000 };
    uint64_t seed = 4;
    (void)state;
    for (int r = 0; r < ROUNDS; r++) {
        uint64_t loads[ELEMENTS] = {0}, all = 0, in_bins = 0;
        for (uint32_t i = 0; i < ELEMENTS; i++) {
            loads[i] = random_below(&seed, 3) ? random_below(&seed, 1 + random_below(&seed, 30))
                                              : 0;
            all += loads[i];
        }
        loads[0] += all == 0;
        wl_spans s = spans_of(loads, ELEMENTS);
        ana_frequency f = measure(&s);
        double sum = 0;
        for (uint64_t i = f.first; i < f.first + f.count; i++)
            sum += (double)loads[i] - f.mean;
        assert_within(sum, best_of_all(loads, f.mean), 1e-9);
        for (int b = 0; b < 64; b++)
            in_bins += f.bins[b].accesses;
        assert_int_equal(in_bins, f.accesses);
        assert_int_equal(f.accesses, all + (all == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_hot_elements), cmocka_unit_test(even_elements),
        cmocka_unit_test(classes),          cmocka_unit_test(damaged_spans),
        cmocka_unit_test(random_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
