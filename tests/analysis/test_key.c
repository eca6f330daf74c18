/* Keys from one build to the next: two tables of the same program, with other ids, addresses and
 * lines. */
#include "analysis/key.h"
#include "support/test.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

static prof_kernel kernels[] = {
    {.id = 1, .name = "gemm<float>(float*)", .file = 1, .line = 10, .module = "/a/app"},
    {.id = 2, .name = "gemm<double>(double*)", .file = 1, .line = 10, .module = "/a/app"},
    {.id = 3, .name = "(anonymous namespace)::fill()", .file = 1, .line = 20, .module = "/a/app"},
    {.id = 4, .name = "(anonymous namespace)::fill()", .file = 2, .line = 5, .module = "/a/app"},
};
/* The next build has one more kernel, in front, and everything moved. */
static prof_kernel later_kernels[] = {
    {.id = 1, .name = "warm_up()", .file = 3, .line = 1, .module = "/b/app2"},
    {.id = 2, .name = "gemm<float>(float*)", .file = 3, .line = 17, .module = "/b/app2"},
    {.id = 3, .name = "gemm<double>(double*)", .file = 3, .line = 17, .module = "/b/app2"},
    {.id = 4, .name = "(anonymous namespace)::fill()", .file = 3, .line = 27, .module = "/b/app2"},
    {.id = 5, .name = "(anonymous namespace)::fill()", .file = 4, .line = 9, .module = "/b/app2"},
};
static prof_object objects[] = {
    {.id = 1, .variable = "d_A", .function = "main", .line = 41, .base = 4096, .bytes = 64},
    {.id = 2, .variable = "d_A", .function = "run(int)", .line = 50, .base = 8192, .bytes = 64},
    {.id = 3, .variable = "p", .function = "take(int)", .line = 60, .base = 9000, .bytes = 64},
    {.id = 4, .variable = "p", .function = "take(int)", .line = 60, .base = 9100, .bytes = 64},
    {.id = 5, .variable = "tile", .function = "", .kernel = 1, .line = 12, .bytes = 64},
    {.id = 6, .variable = "tile", .function = "", .kernel = 2, .line = 12, .bytes = 64},
};
static prof_object later_objects[] = {
    {.id = 1, .variable = "d_A", .function = "main", .line = 48, .base = 77, .bytes = 128},
    {.id = 2, .variable = "d_new", .function = "main", .line = 49, .base = 78, .bytes = 128},
    {.id = 3, .variable = "d_A", .function = "run(int)", .line = 57, .base = 79, .bytes = 128},
    {.id = 4, .variable = "p", .function = "take(int)", .line = 67, .base = 80, .bytes = 128},
    {.id = 5, .variable = "p", .function = "take(int)", .line = 67, .base = 81, .bytes = 128},
    {.id = 6, .variable = "p", .function = "take(int)", .line = 67, .base = 82, .bytes = 128},
    {.id = 7, .variable = "tile", .function = "", .kernel = 2, .line = 19, .bytes = 128},
    {.id = 8, .variable = "tile", .function = "", .kernel = 3, .line = 19, .bytes = 128},
};
static const prof_kernel_rows kernel_rows = {COUNT(kernels), kernels};
static const prof_kernel_rows later_kernel_rows = {COUNT(later_kernels), later_kernels};
static const prof_object_rows object_rows = {COUNT(objects), objects};
static const prof_object_rows later_object_rows = {COUNT(later_objects), later_objects};

static wl_arena *arena;
static ana_keys keys, later;

static int set_up(void **state)
{
    (void)state;
    arena = wl_arena_new();
    return !(arena && ana_keys_of(&kernel_rows, &object_rows, arena, &keys) &&
             ana_keys_of(&later_kernel_rows, &later_object_rows, arena, &later));
}

static int tear_down(void **state)
{
    (void)state;
    wl_arena_free(arena);
    return 0;
}

static void all_differ(const uint64_t *of, size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < i; k++)
            assert_true(of[i] != of[k]);
}

static void survive_a_build(void **state)
{
    (void)state;
    static const uint32_t same_objects[] = {0, 2, 3, 4, 6, 7};
    all_differ(keys.kernels, COUNT(kernels));
    all_differ(later.kernels, COUNT(later_kernels));
    all_differ(keys.objects, COUNT(objects));
    all_differ(later.objects, COUNT(later_objects));
    for (size_t i = 0; i < COUNT(kernels); i++)
        assert_true(keys.kernels[i] == later.kernels[i + 1]);
    for (size_t i = 0; i < COUNT(objects); i++)
        assert_true(keys.objects[i] == later.objects[same_objects[i]]);
}

static uint64_t finding(ana_pattern pattern, uint32_t kernel, uint32_t object)
{
    return ana_key_of_finding(&keys, &kernel_rows, &object_rows, pattern, kernel, object);
}

static void findings_have_those_of_what_they_are_about(void **state)
{
    (void)state;
    assert_true(finding(ANA_HOT, 1, 1) ==
                ana_key_of_finding(&later, &later_kernel_rows, &later_object_rows, ANA_HOT, 2, 1));
    const uint64_t others[] = {finding(ANA_HOT, 1, 1), finding(ANA_STRIDED, 1, 1),
                               finding(ANA_HOT, 2, 1), finding(ANA_HOT, 1, 2),
                               finding(ANA_HOT, 1, 0), finding(ANA_HOT, 0, 1)};
    all_differ(others, COUNT(others));
}

/* Other programs keep them: what is hashed, and how, is part of the format. */
static void stay_what_they_are(void **state)
{
    (void)state;
    char text[ANA_KEY_TEXT];
    ana_key_text(keys.kernels[0], text);
    assert_string_equal(text, "217be3de884febb0");
    ana_key_text(keys.objects[0], text);
    assert_string_equal(text, "5e9d7ef0ef94d244");
    ana_key_text(finding(ANA_HOT, 1, 1), text);
    assert_string_equal(text, "1d7f771f6febb565");
    ana_key_text(10, text);
    assert_string_equal(text, "000000000000000a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(survive_a_build),
        cmocka_unit_test(findings_have_those_of_what_they_are_about),
        cmocka_unit_test(stay_what_they_are),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
