/* Mangled names in messages. */
#include "base/arena.h"
#include "profile/demangle.h"
#include "support/test.h"

static void check(const char *text, const char *expected)
{
    wl_arena *arena = wl_arena_new();
    assert_string_equal(prof_demangle_text(arena, text), expected);
    wl_arena_free(arena);
}

static void test_messages(void **state)
{
    (void)state;
    check("Kernel _Z4gemmPfi could not be run.", "Kernel gemm(float*, int) could not be run.");
    check("_Z4gemmPfi", "gemm(float*, int)");
    check("two: _Z1av, (_Z1bIiEvT_) and plain", "two: a(), (void b<int>(int)) and plain");
    check("the last is _Z1av.", "the last is a().");
    check("a clone _Z1av.isra.0", "a clone a() [clone .isra.0]");
    check("_ZN30_INTERNAL_7c3dc7c2_4_x_cu_main4gemmEv runs", "gemm() runs");
}

static void test_others(void **state)
{
    (void)state;
    check("", "");
    check("nothing of the kind", "nothing of the kind");
    check("_Z is no name, x_Z1av is another, _Z9short is cut off",
          "_Z is no name, x_Z1av is another, _Z9short is cut off");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_messages),
                                       cmocka_unit_test(test_others)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
