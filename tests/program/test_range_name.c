/* Ranges chosen by their names: by hand, and against a regular expression over the stack as text. */
#include "program/range_name.h"
#include "support/random.h"
#include "support/test.h"

#include <regex.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 6 };

static bool fits(const char *text, const prog_range *ranges, size_t count)
{
    prog_range_patterns patterns;
    wl_error err = {0};
    assert_int_equal(prog_ranges_read(text, &patterns, &err), WL_OK);
    bool found = prog_ranges_fit(&patterns, ranges, count);
    prog_ranges_clear(&patterns);
    return found;
}

static void refused(const char *text, const char *reason)
{
    prog_range_patterns patterns;
    wl_error err = {0};
    assert_int_equal(prog_ranges_read(text, &patterns, &err), WL_ARG);
    assert_non_null(strstr(err.text, reason));
    prog_ranges_clear(&patterns);
}

typedef struct open_ranges {
    prog_range list[MOST];
    size_t count;
} open_ranges;

/* "a b @c d": pushed ranges by name; one with an @ was started. */
static open_ranges opened(char *text)
{
    open_ranges open = {.count = 0};
    for (char *name = strtok(text, " "); name; name = strtok(NULL, " "))
        open.list[open.count++] = (prog_range){"", name + (*name == '@'), *name != '@'};
    return open;
}

static void expect(const char *pattern, const char *ranges, bool want)
{
    char copy[128];
    snprintf(copy, sizeof copy, "%s", ranges);
    open_ranges open = opened(copy);
    if (fits(pattern, open.list, open.count) != want)
        fail_msg("%s %s %s", pattern, want ? "does not fit" : "fits", ranges);
}

static void names(void **state)
{
    (void)state;
    expect("step", "", false);
    expect("step", "train step forward", true);
    expect("step", "@step", true);
    expect("step/", "@step", false);
    expect("step/", "train step forward", true);
    expect("st", "step", false);
    expect("a;b", "b", true);
    expect("a;b", "c", false);
    expect("regex:^st.p$", "@step", true);
    expect("regex:a;b", "b", true);
    expect("a\\;b", "a;b", true);
    expect("a\\/b", "a/b", true);
    expect("a/b", "a/b", false);
    expect("layer[0]", "layer[0]", true);
    expect("[step] 1", "[step]", false);
}

static void stacks(void **state)
{
    (void)state;
    expect("a/b", "a b", true);
    expect("a/b", "x a b y", true);
    expect("a/b", "a x b", false);
    expect("a/b", "a @x b", true); /* what was started is no part of the stack */
    expect("a/*/b", "a x y b", true);
    expect("a/*/b", "a b", true);
    expect("a/+/b", "a b", false);
    expect("a/+/b", "a x b", true);
    expect("a/+/b", "a x y b", false);
    expect("[a/", "a b", true);
    expect("[b/", "a b", false);
    expect("b/]", "a b", true);
    expect("a/]", "a b", false);
    expect("[a/*/b/]", "a x b", true);
    expect("\\*/b", "a b", false);
    expect("\\*/b", "* b", true);
}

static void domains(void **state)
{
    (void)state;
    const prog_range ranges[] = {
        {"model", "layer", true}, {"", "step", true}, {"model", "gemm", true}};
    assert_true(fits("layer", ranges, 3));
    assert_true(fits("model@layer", ranges, 3));
    assert_false(fits("data@layer", ranges, 3));
    assert_false(fits("model@step", ranges, 3));
    assert_true(fits("@step", ranges, 3)); /* the default one */
    assert_false(fits("@layer", ranges, 3));
    assert_true(fits("model@layer/gemm/]", ranges, 3));
    assert_false(fits("layer/gemm", ranges, 3));
    assert_true(fits("model@regex:^ge", ranges, 3));
    assert_false(fits("model@regex:step", ranges, 3));
}

static void reasons(void **state)
{
    (void)state;
    refused("a;/", "a range has a name");
    refused("a/]/b", "nothing follows a ]");
    refused("d@regex:(", "");
}

/* A pattern of up to four parts, and the expression that fits the stack, "/a/b/", where it does. */
static void draw_pattern(uint64_t *random, char *pattern, char *expression)
{
    size_t count = 1 + random_next(random) % 4, named = random_next(random) % count;
    bool first = random_next(random) % 3 == 0, last = random_next(random) % 3 == 0;
    pattern += sprintf(pattern, "%s", first ? "[" : "");
    expression += sprintf(expression, "%s/", first ? "^" : "");
    for (size_t i = 0; i < count; i++) {
        const char *all[] = {"a", "b", "*", "+"};
        const char *part = all[random_next(random) % (i == named ? 2 : 4)];
        pattern += sprintf(pattern, "%s/", part);
        expression += sprintf(expression, "%s",
                              *part == '*'   ? "([^/]/)*"
                              : *part == '+' ? "[^/]/"
                                             : part);
        expression += sprintf(expression, "%s", *part == 'a' || *part == 'b' ? "/" : "");
    }
    sprintf(pattern, "%s", last ? "]" : "");
    sprintf(expression, "%s", last ? "$" : "");
}

static void as_expressions_say(void **state)
{
    (void)state;
    uint64_t random = 7;
    unsigned fitting = 0;
    for (int i = 0; i < 20000; i++) {
        char pattern[64], expression[128], stack[32] = "/";
        static const char *const all[] = {"a", "b", "c"};
        prog_range ranges[MOST];
        size_t count = random_next(&random) % (MOST + 1);
        regex_t regex;
        draw_pattern(&random, pattern, expression);
        for (size_t k = 0; k < count; k++) {
            ranges[k] = (prog_range){"", all[random_next(&random) % 3], true};
            sprintf(stack + 1 + 2 * k, "%s/", ranges[k].name);
        }
        assert_int_equal(regcomp(&regex, expression, REG_EXTENDED | REG_NOSUB), 0);
        bool want = regexec(&regex, stack, 0, NULL, 0) == 0;
        if (fits(pattern, ranges, count) != want)
            fail_msg("%s on %s: %d is wrong", pattern, stack, !want);
        fitting += want;
        regfree(&regex);
    }
    assert_in_range(fitting, 4000, 16000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(stacks),
        cmocka_unit_test(domains),
        cmocka_unit_test(reasons),
        cmocka_unit_test(as_expressions_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
