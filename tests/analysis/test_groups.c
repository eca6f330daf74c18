/* Findings that one change fixes, put together: by kernel, by line, by kernels that are alike. */
#include "analysis/group.h"
#include "support/test.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 16 };

static prof_kernel kernels[] = {{.id = 1, .module = "a", .file = 1},
                                {.id = 2, .module = "a", .file = 1},
                                {.id = 3, .module = "a", .file = 1},
                                {.id = 4, .module = "a", .file = 2}};
static prof_object objects[] = {
    {.id = 1, .variable = "d_a", .name = "d_a (x.cu:1)", .bytes = 4096},
    {.id = 2, .variable = "d_b", .name = "d_b (x.cu:2)", .bytes = 4096},
    {.id = 3, .variable = "d_c", .name = "d_c (x.cu:3)", .bytes = 4096},
    {.id = 4, .variable = "", .name = "object 4", .bytes = 4096},
    {.id = 5, .kernel = 1, .variable = "tile", .name = "tile (x.cu:5)", .bytes = 1024},
    {.id = 6, .kernel = 2, .variable = "tile", .name = "tile (x.cu:6)", .bytes = 1024},
    {.id = 7, .kernel = 3, .variable = "tile", .name = "tile (x.cu:7)", .bytes = 2048},
};
static const prof_kernel_rows kernel_rows = {4, kernels};
static const prof_object_rows object_rows = {7, objects};

static wl_arena *arena;
static ana_finding rows[MOST];
static ana_line lines[MOST];
static ana_access accesses[MOST];
static uint32_t count;
static ana_findings out;

static int set_up(void **state)
{
    (void)state;
    arena = wl_arena_new();
    count = 0;
    return arena == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    wl_arena_free(arena);
    return 0;
}

/* A finding of a kernel on an object, at a line of its own unless that is changed; its share is
 * 1/16, 1/32, ... */
static ana_finding *add(ana_pattern pattern, uint32_t kernel, uint32_t object)
{
    ana_finding *f = &rows[count];
    lines[count] = (ana_line){.file = "x.cu", .line = 100 + count, .requests = 1};
    accesses[count] = (ana_access){.space = object >= 5 ? ACC_SHARED : ACC_GLOBAL};
    *f = (ana_finding){.pattern = pattern,
                       .kernel = kernel,
                       .object = object,
                       .scope = ANA_SCOPE_KERNEL_AND_OBJECT,
                       .access = &accesses[count],
                       .cost = {.excess = 1024u >> count, .share_of_program = 1.0 / (16 << count)},
                       .gain_figures = "",
                       .gain_note = "",
                       .nlines = 1,
                       .lines = &lines[count],
                       .remedy = "Change " ANA_OBJECT ".",
                       .advice = "Change it."};
    count++;
    return f;
}

static void group(void)
{
    assert_int_equal(group_findings(rows, count, &kernel_rows, &object_rows, arena, &out), WL_OK);
    assert_int_equal(out.count, count);
    uint32_t at = 0;
    for (uint32_t g = 0; g < out.ngroups;
         g++) { /* the groups cover the rows, one after the other */
        uint64_t excess = 0;
        assert_int_equal(out.groups[g].first, at);
        for (; at < out.groups[g].first + out.groups[g].count; at++) {
            assert_int_equal(out.rows[at].number, g + 1);
            excess += out.rows[at].cost.excess;
        }
        assert_int_equal(out.groups[g].cost.excess, excess);
    }
    assert_int_equal(at, count);
}

static void objects_of_one_kernel(void **state)
{
    (void)state;
    add(ANA_STRIDED, 1, 1);
    add(ANA_HOT, 1, 1);
    add(ANA_STRIDED, 1, 2);
    add(ANA_STRIDED, 1, 3)->remedy = "Do something else to " ANA_OBJECT ".";
    group();
    assert_int_equal(out.ngroups, 3);
    assert_int_equal(out.groups[0].count, 2);
    assert_int_equal(out.groups[0].nkernels, 1);
    assert_int_equal(out.groups[0].nobjects, 2);
    assert_int_equal(out.groups[0].nlines, 2);
    assert_string_equal(out.groups[0].advice, "Change d_a and d_b.");
    assert_true(out.groups[0].cost.share_of_program == 1.0 / 16 + 1.0 / 64);
    assert_string_equal(out.groups[1].advice, "Change it.");
}

static void many_objects_are_named_in_part(void **state)
{
    (void)state;
    for (uint32_t object = 1; object <= 4; object++)
        add(ANA_STRIDED, 1, object);
    group();
    assert_int_equal(out.ngroups, 1);
    assert_string_equal(out.groups[0].advice, "Change d_a, d_b and 2 more.");
    count = 0;
    add(ANA_STRIDED, 1, 4);
    add(ANA_STRIDED, 1, 1);
    group();
    assert_string_equal(out.groups[0].advice, "Change these objects.");
}

/* Two instances of a template: its line is one, its objects need not be. */
static void kernels_of_one_line(void **state)
{
    (void)state;
    add(ANA_STRIDED, 1, 1);
    add(ANA_HOT, 1, 1);
    *add(ANA_STRIDED, 4, 2)->lines = lines[0];
    *add(ANA_MISALIGNED, 4, 2)->lines = lines[0];
    group();
    assert_int_equal(out.ngroups, 3);
    assert_int_equal(out.groups[0].nkernels, 2);
    assert_int_equal(out.groups[0].nlines, 1);
    assert_int_equal(out.groups[0].lines[0].requests, 2);
}

static void kernels_that_are_alike(void **state)
{
    (void)state;
    for (uint32_t kernel = 1; kernel <= 2; kernel++) {
        add(ANA_BANK_CONFLICT, kernel, kernel + 4);
        add(ANA_HOT, kernel, 1);
    }
    group();
    assert_int_equal(out.ngroups, 2);
    assert_int_equal(out.groups[0].nkernels, 2);
    assert_int_equal(out.groups[0].nobjects, 1); /* arrays of one name and size */
    assert_int_equal(out.groups[1].nobjects, 1);
    add(ANA_HOT, 2, 2); /* now kernel 2 has something else to change */
    group();
    assert_int_equal(out.ngroups, 4);
}

static void kernels_that_differ_stay_apart(void **state)
{
    (void)state;
    add(ANA_BANK_CONFLICT, 1, 5);
    add(ANA_BANK_CONFLICT, 3, 7); /* an array of another size */
    add(ANA_HOT, 2, 1);
    add(ANA_HOT, 4, 1); /* of another file */
    group();
    assert_int_equal(out.ngroups, 4);
}

/* Those of little gain come last, those of one reason together. */
static void order(void **state)
{
    (void)state;
    static const ana_gain gains[] = {ANA_GAIN_TINY, ANA_GAIN_CACHED, ANA_GAIN_TINY, ANA_GAIN_FULL};
    static const uint32_t expected[] = {4, 1, 3, 2};
    for (uint32_t kernel = 1; kernel <= 4; kernel++)
        add(ANA_HOT, kernel, kernel)->gain = gains[kernel - 1];
    group();
    assert_int_equal(out.ngroups, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out.rows[i].kernel, expected[i]);
}

/* What saves most comes first, however much it moves; what is of little gain by what it moves. */
static void order_by_gain(void **state)
{
    (void)state;
    static const double shares[] = {0.6, 0.3, 0.05, 0.02}, saves[] = {-0.1, 0.2, 0.9, 0.95};
    static const uint32_t expected[] = {2, 1, 3, 4};
    for (uint32_t kernel = 1; kernel <= 4; kernel++) {
        ana_finding *f = add(ANA_HOT, kernel, kernel);
        f->cost.share_of_program = shares[kernel - 1];
        f->worth = (ana_worth){.known = true, .of_program = saves[kernel - 1]};
        f->gain = kernel > 2 ? ANA_GAIN_CACHED : ANA_GAIN_FULL;
    }
    group();
    assert_int_equal(out.ngroups, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(out.rows[i].kernel, expected[i]);
    assert_true(out.groups[1].cost.share_of_program == 0.6);
}

static void nothing(void **state)
{
    (void)state;
    group();
    assert_int_equal(out.ngroups, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(objects_of_one_kernel, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_objects_are_named_in_part, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_of_one_line, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_that_are_alike, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_that_differ_stay_apart, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(order_by_gain, set_up, tear_down),
        cmocka_unit_test_setup_teardown(nothing, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
