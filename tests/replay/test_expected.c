/* Kinds of launches that are still to come, by hand. */
#include "support/test.h"

#include "replay/expected.h"

#include <math.h>

static cap_note note_of(const char *kernel, uint32_t module, uint32_t blocks)
{
    return (cap_note){
        .kernel = kernel, .module = module, .grid = {blocks, 1, 1}, .block = {64, 1, 1}};
}

static void near(double part, double expected)
{
    assert_true(fabs(part - expected) < 1e-12);
}

/* 4 and 5 blocks of 64 threads, and what a kind costs besides. */
static void kinds_share_what_is_left(void **state)
{
    (void)state;
    replay_expected e = {0};
    char copy[] = "a";
    const double four = 16384 + 256, five = 16384 + 320;
    const cap_note a = note_of("a", 1, 4), again = note_of(copy, 1, 4), wider = note_of("a", 1, 5),
                   elsewhere = note_of("a", 2, 4), b = note_of("b", 1, 4);
    const cap_note *all[] = {&a, &again, &wider, &elsewhere, &b, &a};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(replay_expected_count(&e, 0, all[i]), WL_OK);
    assert_int_equal(replay_expected_count(&e, 1, &a), WL_OK); /* of another process */
    assert_int_equal(e.left, 5);
    near(replay_expected_meet(&e, 0, &a), four / (4 * four + five));
    near(replay_expected_meet(&e, 0, &again), 0);
    near(replay_expected_meet(&e, 0, &b), four / (3 * four + five));
    near(replay_expected_meet(&e, 0, &wider), five / (2 * four + five));
    near(replay_expected_meet(&e, 0, &elsewhere), 0.5);
    assert_int_equal(e.left, 1);
    near(replay_expected_meet(&e, 1, &a), 1);
    near(replay_expected_meet(&e, 1, &a), 0);
    near(replay_expected_meet(&e, 1, &b), 0); /* was not counted */
    replay_expected_free(&e);
}

/* A large launch takes longer than a small one, and finds as much more. */
static void large_launches_have_more(void **state)
{
    (void)state;
    replay_expected e = {0};
    const cap_note small = note_of("a", 1, 1), large = note_of("a", 1, 1 << 20);
    assert_int_equal(replay_expected_count(&e, 0, &small), WL_OK);
    assert_int_equal(replay_expected_count(&e, 0, &large), WL_OK);
    double part = replay_expected_meet(&e, 0, &small);
    assert_true(part > 0 && part < 0.001);
    near(replay_expected_meet(&e, 0, &large), 1);
    replay_expected_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_share_what_is_left),
                                       cmocka_unit_test(large_launches_have_more)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
