/* Where the user's Compute Sanitizer is looked for. */
#include "program/options.h"
#include "program/places.h"
#include "program/sanitizer_path.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[PATH_MAX / 4];

static const char *in_folder(const char *name)
{
    static char path[PATH_MAX / 2];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int make_folder(void **state)
{
    static const char *const folders[] = {"a", "a/cuda-12.4", "a/cuda-13.0", "b"};
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/warplens-sanitizer-XXXXXX");
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        assert_int_equal(mkdir(in_folder(folders[i]), 0700), 0);
    test_write_text(in_folder("a/cuda-12.4/lib.so"), "12");
    test_write_text(in_folder("a/cuda-13.0/lib.so"), "13");
    test_write_text(in_folder("b/lib.so"), "b");
    setenv("FIRST", in_folder("none"), 1);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = {"a/cuda-12.4/lib.so",
                                        "a/cuda-13.0/lib.so",
                                        "b/lib.so",
                                        "a/cuda-12.4",
                                        "a/cuda-13.0",
                                        "a",
                                        "b"};
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(in_folder(names[i]));
    return rmdir(folder);
}

static void expect_found(const char *const *places, const char *expected)
{
    char path[PATH_MAX];
    bool found = prog_find_in_places(places, path, sizeof path);
    assert_int_equal(found, expected != NULL);
    assert_string_equal(path, expected ? in_folder(expected) : "");
}

static void the_first_place_counts(void **state)
{
    (void)state;
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/a/cuda-*/lib.so", folder);
    setenv("BOTH", in_folder("b"), 1);
    expect_found((const char *const[]){pattern, "$BOTH/lib.so", NULL},
                 "a/cuda-13.0/lib.so"); /* and the last name */
    expect_found((const char *const[]){"$BOTH/lib.so", pattern, NULL}, "b/lib.so");
    expect_found((const char *const[]){"$UNSET/lib.so", "$FIRST/lib.so", "$BOTH/none.so", "lib.so",
                                       NULL},
                 NULL);
    expect_found((const char *const[]){NULL}, NULL);
}

/* Each part of a variable; none is taken for a pattern, and none that is not absolute. */
static void variables_are_lists(void **state)
{
    (void)state;
    char list[PATH_MAX];
    snprintf(list, sizeof list, ":%s/none:%s/*:b:%s/b", folder, folder, folder);
    setenv("LIST", list, 1);
    expect_found((const char *const[]){"$LIST/lib.so", NULL}, "b/lib.so");
    setenv("LIST", "", 1);
    expect_found((const char *const[]){"$LIST/lib.so", NULL}, NULL);
    setenv("LIST", "b:.", 1);
    expect_found((const char *const[]){"$LIST/lib.so", NULL}, NULL);
}

static void a_path_that_is_too_long_is_none(void **state)
{
    (void)state;
    char path[8];
    setenv("BOTH", in_folder("b"), 1);
    assert_false(prog_find_in_places((const char *const[]){"$BOTH/lib.so", NULL}, path,
                                     sizeof path));
}

static void the_option_names_one(void **state)
{
    (void)state;
    char path[PATH_MAX];
    setenv("WARPLENS_SANITIZER", in_folder("b/lib.so"), 1); /* read once */
    assert_true(prog_find_sanitizer(path, sizeof path));
    assert_string_equal(path, in_folder("b/lib.so"));
    assert_false(prog_sanitizer_off());
    remove(in_folder("b/lib.so"));
    assert_false(prog_find_sanitizer(path, sizeof path));
    assert_string_equal(path, in_folder("b/lib.so"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_place_counts),
        cmocka_unit_test(variables_are_lists),
        cmocka_unit_test(a_path_that_is_too_long_is_none),
        cmocka_unit_test(the_option_names_one),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
