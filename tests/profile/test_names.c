/* Mangled names in messages; spellings of paths. */
#include "base/arena.h"
#include "profile/demangle.h"
#include "profile/sources.h"
#include "support/test.h"

#include <stdio.h>
#include <string.h>

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

static void check_heading(const char *short_name, const char *expected)
{
    wl_arena *arena = wl_arena_new();
    assert_string_equal(prof_heading_name(arena, short_name), expected);
    wl_arena_free(arena);
}

static void test_headings(void **state)
{
    (void)state;
    check_heading("gemm<float>", "gemm<float>");
    check_heading("each<main::{lambda(int)#1}>", "each<lambda in main>");
    check_heading("each<ns::run<float>(int)::{lambda(int, float)#2}, int>",
                  "each<lambda 2 in run, int>");
    check_heading("each<{lambda()#1}>", "each<lambda>");
    check_heading("each<__nv_dl_wrapper_t<__nv_dl_tag<int (*)(), &(main), 1u>, float*> >",
                  "each<lambda in main >");
    check_heading("tile<(int)16, (bool)1, (unsigned int)4>", "tile<16, true, 4>");
    check_heading("cub::CUB_300001_SM_800::for_each<thrust::THRUST_300001_SM_800_NS::plus<int> >",
                  "cub::for_each<thrust::plus<int> >");
    check_heading("f<{lambda(", "f<lambda");
    check_heading("{lambda()#1}::operator()", "lambda::operator()");
}

static void test_others(void **state)
{
    (void)state;
    check("", "");
    check("nothing of the kind", "nothing of the kind");
    check("_Z is no name, x_Z1av is another, _Z9short is cut off",
          "_Z is no name, x_Z1av is another, _Z9short is cut off");
}

/* "f<node<node<..., ...>, node<...>>>(int, float*)", each level with the one below twice. */
static void nest(char *mangled, int levels)
{
    strcpy(mangled, "_Z1fI4nodeI");
    for (int i = 1; i < levels; i++)
        strcat(mangled, "S0_I");
    strcat(mangled, "iE");
    for (int i = 1; i < levels; i++)
        sprintf(mangled + strlen(mangled), "S%X_E", (unsigned)i);
    strcat(mangled, "EviPf");
}

/* Of what nobody reads to its end the innermost is left out, and the brackets stay in pairs. */
static void test_long_names(void **state)
{
    enum { LONGEST = 4096, PLAIN = 1 << 20 };
    (void)state;
    wl_arena *arena = wl_arena_new();
    char mangled[256], *plain = wl_arena_alloc(arena, PLAIN);
    nest(mangled, 3);
    assert_string_equal(prof_demangle(arena, mangled),
                        "void f<node<node<node<int>, node<int> >, node<node<int>, node<int> > > >"
                        "(int, float*)");
    nest(mangled, 14);
    const char *name = prof_demangle(arena, mangled);
    assert_true(strlen(name) <= LONGEST);
    assert_memory_equal(name, "void f<node<node<", 17);
    assert_non_null(strstr(name, "node<...>"));
    assert_string_equal(name + strlen(name) - strlen("> >(int, float*)"), "> >(int, float*)");
    assert_memory_equal(prof_short_name(arena, name), "f<node<", 7);
    memset(plain, 'x', PLAIN - 1);
    plain[PLAIN - 1] = '\0';
    assert_int_equal(strlen(prof_demangle(arena, plain)), LONGEST);
    plain[LONGEST] = '\0';
    assert_string_equal(prof_demangle(arena, plain), plain);
    wl_arena_free(arena);
}

/* ---- files ---- */

/* However a compiler was given it. */
static void a_path_has_one_spelling(void **state)
{
    (void)state;
    static const struct {
        const char *path, *want;
    } cases[] = {
        {"/none/a.cu", "/none/a.cu"},      {"//none///a.cu", "/none/a.cu"},
        {"/none/./a.cu", "/none/a.cu"},    {"/./none/././a.cu", "/none/a.cu"},
        {"/none/x/../a.cu", "/none/a.cu"}, {"/x/y/../../none/a.cu", "/none/a.cu"},
        {"/../none/a.cu", "/none/a.cu"},   {"/none/..a/.b.cu", "/none/..a/.b.cu"},
        {"./none.cu", "none.cu"},          {"x/../none.cu", "none.cu"},
        {"../none.cu", "../none.cu"},      {"../../none.cu", "../../none.cu"},
        {"x/../../none.cu", "../none.cu"},
    };
    const prof_options options = {0};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sources *s = sources_new(&options);
        uint32_t file = sources_id(s, cases[i].path, NULL);
        assert_int_not_equal(file, 0);
        assert_string_equal(sources_path(s, file), cases[i].want);
        assert_int_equal(sources_id(s, cases[i].want, NULL), file);
        sources_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages), cmocka_unit_test(test_others),
        cmocka_unit_test(test_headings), cmocka_unit_test(test_long_names),
        cmocka_unit_test(a_path_has_one_spelling)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
