/* The clock is the system's, in seconds. */
#include "base/clock.h"
#include "support/test.h"

#include <time.h>

static double now(void)
{
    struct timespec t;
    assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &t), 0);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Often enough that the fraction of a second differs, between two readings of the system's. */
static void test_seconds_are_the_systems(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        double before = now(), seconds = wl_seconds(), after = now();
        assert_true(before - 1e-6 <= seconds && seconds <= after + 1e-6);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seconds_are_the_systems)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
