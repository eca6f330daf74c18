/* When progress is told, by a clock of the test's, and what is said of the time left. */
#include "base/clock.h"
#include "base/progress.h"
#include "support/test.h"

static double now;

/* In place of the library's. */
double wl_seconds(void)
{
    return now;
}

static bool due_at(wl_progress *p, double seconds)
{
    now = seconds;
    return wl_progress_due(p);
}

static void in_a_terminal(void **state)
{
    (void)state;
    wl_progress p = {.kind = WL_PROGRESS_TERMINAL};
    assert_false(due_at(&p, 50));
    assert_false(due_at(&p, 50.99));
    assert_true(due_at(&p, 51));
    assert_false(due_at(&p, 51.09));
    assert_true(due_at(&p, 51.11));
}

static void in_lines(void **state)
{
    (void)state;
    wl_progress p = {.kind = WL_PROGRESS_LINES};
    assert_false(due_at(&p, 50));
    assert_false(due_at(&p, 59.9));
    assert_true(due_at(&p, 60));
    assert_false(due_at(&p, 69.9));
    assert_true(due_at(&p, 70));
}

static void never(void **state)
{
    (void)state;
    wl_progress p = {.kind = WL_PROGRESS_NONE};
    assert_false(due_at(&p, 50));
    assert_false(due_at(&p, 5000));
}

static const char *left(double seconds, uint64_t done, uint64_t total)
{
    static char text[64];
    wl_progress_left(seconds, done, total, text, sizeof text);
    return text;
}

static void time_left(void **state)
{
    (void)state;
    assert_string_equal(left(1.9, 10, 20), ""); /* too early to say */
    assert_string_equal(left(2, 10, 20), ", about 2 s left");
    assert_string_equal(left(30, 0, 20), "");
    assert_string_equal(left(30, 21, 20), "");
    assert_string_equal(left(30, 20, 20), ", about 0 s left");
    assert_string_equal(left(119, 1, 2), ", about 119 s left");
    assert_string_equal(left(120, 1, 2), ", about 2 min left");
    assert_string_equal(left(7200, 1, 2), ", about 2 h left");
}

static void names(void **state)
{
    (void)state;
    for (int kind = WL_PROGRESS_NONE; kind <= WL_PROGRESS_LINES; kind++)
        assert_int_equal(wl_progress_named(wl_progress_name((wl_progress_kind)kind)), kind);
    assert_int_equal(wl_progress_named("loud"), WL_PROGRESS_NONE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_a_terminal), cmocka_unit_test(in_lines), cmocka_unit_test(never),
        cmocka_unit_test(time_left),     cmocka_unit_test(names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
