/* Kinds of launches that are still to come, by hand. */
#include "support/test.h"

#include "replay/expected.h"

static cap_note note_of(const char *kernel, uint32_t module, uint32_t blocks)
{
    return (cap_note){
        .kernel = kernel, .module = module, .grid = {blocks, 1, 1}, .block = {64, 1, 1}};
}

static void kinds_share_what_is_left(void **state)
{
    (void)state;
    replay_expected e = {0};
    char copy[] = "a";
    const cap_note a = note_of("a", 1, 4), again = note_of(copy, 1, 4), wider = note_of("a", 1, 5),
                   elsewhere = note_of("a", 2, 4), b = note_of("b", 1, 4);
    const cap_note *all[] = {&a, &again, &wider, &elsewhere, &b, &a};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        assert_int_equal(replay_expected_count(&e, 0, all[i]), WL_OK);
    assert_int_equal(replay_expected_count(&e, 1, &a), WL_OK); /* of another process */
    assert_int_equal(e.left, 5);
    assert_int_equal(replay_expected_meet(&e, 0, &a), 5);
    assert_int_equal(replay_expected_meet(&e, 0, &again), 0);
    assert_int_equal(replay_expected_meet(&e, 0, &b), 4);
    assert_int_equal(replay_expected_meet(&e, 0, &wider), 3);
    assert_int_equal(replay_expected_meet(&e, 0, &elsewhere), 2);
    assert_int_equal(replay_expected_meet(&e, 1, &a), 1);
    assert_int_equal(replay_expected_meet(&e, 1, &a), 0);
    assert_int_equal(replay_expected_meet(&e, 1, &b), 0); /* was not counted */
    replay_expected_free(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kinds_share_what_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
