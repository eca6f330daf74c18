/* Names of parameters in declarations: what sources look like, and what is none. */
#include "profile/declared.h"
#include "support/arena.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

/* The names, each followed by a semicolon; "no" where the text is not that declaration. */
static const char *names_in(const char *text, const char *function, uint32_t count)
{
    static char joined[256];
    const char *names[8];
    size_t used = 0;
    joined[0] = '\0';
    if (!declared_names(text, strlen(text), function, count, arena, names))
        return "no";
    for (uint32_t i = 0; i < count; i++)
        used += (size_t)snprintf(joined + used, sizeof joined - used, "%s;", names[i]);
    return joined;
}

static const struct {
    const char *text;
    uint32_t count;
    const char *names;
} cases[] = {
    {"__global__ void k(const float *a, float* b, int n)", 3, "a;b;n;"},
    {"__global__ void k(float *__restrict__ a,\n  float * const b)\n{", 2, "a;b;"},
    {"void k (int a = f(1, 2), int b[4], int c = A<2>::x)", 3, "a;b;c;"},
    {"void k(std::array<int, 3> a, int (*b)[2])", 2, "a;;"},
    {"void k(int /* b, c */ a) // (d, e)", 1, "a;"},
    {"k(int // a,\n  b)", 1, "b;"},
    {"k_(int a) kk(int b) k(int c)", 1, "c;"},
    {"k; k<2>(int a); void k(int b)", 1, "b;"},
    /* without a name */
    {"void k(int, const int, unsigned long, float *)", 4, ";;;;"},
    {"void k(size_t, const size_t, std::size_t, Box)", 4, ";;;;"},
    {"void k(T..., int a)", 2, ";a;"},
    /* another number of them, or none */
    {"void k(int a, int b)", 1, "no"},
    {"void k(int a, int b)", 3, "no"},
    {"void k()", 1, "no"},
    {"void other(int a)", 1, "no"},
    /* what is no plain list */
    {"void k(int a", 1, "no"},
    {"void k(\n#ifdef A\nint a\n#endif\n)", 1, "no"},
    {"void k(int a = x < 3, int b)", 2, "no"},
    {"void k(const char *a = \",\")", 1, "no"},
    {"void k(int /* a)", 1, "no"},
    {"", 1, "no"},
};

static void names_are_found(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(names_in(cases[i].text, "k", cases[i].count), cases[i].names) != 0)
            fail_msg("%s: %s", cases[i].text, names_in(cases[i].text, "k", cases[i].count));
    assert_string_equal(names_in("void k(int a)", "", 1), "no");
}

/* A declaration must be near; a text of any length is looked at no further. */
static void far_text_is_left_alone(void **state)
{
    (void)state;
    static char text[64 << 10];
    memset(text, ' ', sizeof text - 1);
    memcpy(text + 400, "k(int a)", 8);
    assert_string_equal(names_in(text, "k", 1), "a;");
    memset(text + 400, ' ', 8);
    memcpy(text + 600, "k(int a)", 8);
    assert_string_equal(names_in(text, "k", 1), "no");
    memcpy(text, "k(int a", 7);
    text[sizeof text - 2] = ')';
    assert_string_equal(names_in(text, "k", 1), "no");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_are_found),
                                       cmocka_unit_test(far_text_is_left_alone)};
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
