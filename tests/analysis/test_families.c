/* Kernels of one template: by hand, and all of PyTorch's that were met on a GPU. */
#include "analysis/tables/families.h"
#include "profile/demangle.h"
#include "support/arena.h"
#include "support/file.h"
#include "support/test.h"

#include <string.h>

static void family(const char *short_name, const char *expected)
{
    assert_string_equal(ana_family_name(arena, short_name), expected);
}

static void names_of_families(void **state)
{
    (void)state;
    family("gemm", "gemm");
    family("gemm<float, 4>", "gemm");
    family("at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, f<int>, 4> >",
           "at::native::reduce_kernel");
    family("outer<int>::inner<float>", "outer::inner");
    family("(anonymous namespace)::fill<char*>", "(anonymous namespace)::fill");
    family("cub::CUB_200700_800_NS::scan<int>", "cub::scan");
    family("less<(a)1> >", "less"); /* what closes nothing is left out */
    family("", "");
}

static void labels(const char *const *names, uint32_t count, const char *const *expected)
{
    const char *found[8];
    assert_true(ana_family_labels(arena, names, count, found));
    for (uint32_t i = 0; i < count; i++)
        assert_string_equal(found[i], expected[i]);
}

#define LABELS(...) ((const char *const[]){__VA_ARGS__})

static void labels_of_instances(void **state)
{
    (void)state;
    labels(LABELS("f<int>"), 1, LABELS(""));
    labels(LABELS("f<int>", "f<float>"), 2, LABELS("int", "float"));
    labels(LABELS("f<int, 4, true>", "f<int, 8, true>"), 2, LABELS("4", "8"));
    /* Within an argument that is the same but for its own. */
    labels(LABELS("f<2, at::Op<float, at::Add<float> > >", "f<2, at::Op<int, at::Mul<int> > >"), 2,
           LABELS("float, Add<float>", "int, Mul<int>"));
    /* What a label has said already is not said again. */
    labels(LABELS("f<int, g<int> >", "f<bool, g<bool> >"), 2, LABELS("int", "bool"));
    labels(LABELS("f<g<int> >", "f<h>"), 2, LABELS("g<int>", "h"));
    labels(LABELS("f<1>", "f<1, 2>"), 2, LABELS("#1", "2"));
    /* Lambdas by their functions and numbers. */
    labels(
        LABELS("f<at::exp_kernel(at::Iter&)::{lambda()#2}::operator()() const::{lambda(float)#1}>",
               "f<at::log_kernel(at::Iter&)::{lambda()#2}::operator()() const::{lambda(float)#1}>"),
        2, LABELS("exp_kernel{2}{1}", "log_kernel{2}{1}"));
    labels(LABELS("f<1ul>", "f<2ul>"), 2, LABELS("1", "2"));
    labels(LABELS("f", "f"), 2, LABELS("#1", "#2"));
}

/* ---- PyTorch's ---- */

enum { MOST = 400 };

typedef struct kernels {
    uint32_t count;
    const char *names[MOST], *families[MOST];
} kernels;

static kernels read_kernels(void)
{
    kernels k = {.count = 0};
    char *text = test_read_source("tests/analysis/torch_kernels.txt"), *rest = text;
    for (char *line; (line = strsep(&rest, "\n")) && *line; k.count++) {
        assert_true(k.count < MOST);
        k.names[k.count] = prof_short_name(arena, prof_demangle(arena, line));
        k.families[k.count] = ana_family_name(arena, k.names[k.count]);
    }
    free(text);
    return k;
}

/* The members of the i-th kernel's family, of which it is the first; 0: it is not. */
static uint32_t members_of(const kernels *k, uint32_t i, const char **members)
{
    uint32_t count = 0;
    for (uint32_t other = 0; other < k->count; other++)
        if (strcmp(k->families[other], k->families[i]) == 0) {
            if (other < i)
                return 0;
            members[count++] = k->names[other];
        }
    return count;
}

/* The name without what stands in angle brackets; of names in which no operator has such a sign. */
static const char *without_brackets(const char *name)
{
    char *text = wl_arena_strdup(arena, name), *to = text;
    int depth = 0;
    for (const char *p = name; *p; p++) {
        depth += *p == '<';
        if (!depth)
            *to++ = *p;
        depth -= *p == '>';
    }
    *to = '\0';
    return text;
}

static void families_of_pytorch(void **state)
{
    (void)state;
    const kernels k = read_kernels();
    uint32_t families = 0;
    for (uint32_t i = 0; i < k.count; i++) {
        const char *members[MOST];
        families += members_of(&k, i, members) > 0;
    }
    assert_int_equal(k.count, 311);
    assert_int_equal(families, 146);
    for (uint32_t i = 0; i < k.count; i++)
        assert_string_equal(k.families[i], prof_heading_name(arena, without_brackets(k.names[i])));
}

/* Each instance has a label that no other of its family has, and it names no namespace. */
static void labels_of_pytorch(void **state)
{
    (void)state;
    const kernels k = read_kernels();
    uint32_t several = 0;
    for (uint32_t i = 0; i < k.count; i++) {
        const char *members[MOST], *found[MOST];
        uint32_t count = members_of(&k, i, members);
        if (count < 2)
            continue;
        several++;
        assert_true(ana_family_labels(arena, members, count, found));
        for (uint32_t a = 0; a < count; a++) {
            assert_true(*found[a] && strlen(found[a]) < strlen(members[a]));
            assert_null(strstr(found[a], "::"));
            for (uint32_t b = 0; b < a; b++)
                assert_string_not_equal(found[a], found[b]);
        }
    }
    assert_in_range(several, 20, 100);
}

static void some_of_pytorch(void **state)
{
    (void)state;
    const kernels k = read_kernels();
    static const char *const expected[] = {"FillFunctor<float>", "AbsFunctor<float>",
                                           "exp_kernel_cuda{2}{2}{1}"};
    for (uint32_t i = 0; i < k.count; i++) {
        const char *members[MOST], *found[MOST];
        uint32_t count = strcmp(k.families[i], "at::native::vectorized_elementwise_kernel") == 0
                             ? members_of(&k, i, members)
                             : 0;
        if (!count)
            continue;
        assert_true(ana_family_labels(arena, members, count, found));
        for (size_t e = 0; e < sizeof expected / sizeof *expected; e++) {
            uint32_t have = 0;
            for (uint32_t a = 0; a < count; a++)
                have += strstr(found[a], expected[e]) != NULL;
            assert_true(have > 0);
        }
        return;
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_of_families, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(labels_of_instances, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(families_of_pytorch, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(labels_of_pytorch, arena_set_up, arena_tear_down),
        cmocka_unit_test_setup_teardown(some_of_pytorch, arena_set_up, arena_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
