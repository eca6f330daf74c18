/* What `advise` says: what to change first, what is not worth it, and what a change saves. */
#include "render.h"
#include "support/test.h"

#include "report/impl.h"

#include <stdlib.h>
#include <string.h>

static void assert_has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("'%s' is not in:\n%s", part, text);
}

static char *advice_of(const rep_data *data, bool all)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    const rep_text_options options = {.width = 100, .all = all};
    assert_int_equal(rep_advise(data, &options, out, NULL), WL_OK);
    fclose(out);
    return text;
}

/* The sample's two findings with a remedy each; the second is of little gain. */
typedef struct advised {
    ana_findings all;
    ana_finding rows[2];
    ana_finding_group groups[2];
    ana_remedy remedies[2][2];
} advised;

static void advise_sample(fixture *f, advised *a)
{
    static const remedy_kind kinds[] = {REMEDY_PAD, REMEDY_TRANSPOSE};
    a->all = *f->data.findings;
    for (int i = 0; i < 2; i++) {
        a->rows[i] = a->all.rows[i];
        a->groups[i] = a->all.groups[i];
        memset(a->remedies[i], 0, sizeof a->remedies[i]);
        a->remedies[i][0].kind = kinds[i];
        a->remedies[i][0].before.sectors = 800;
        a->remedies[i][0].after.sectors = 100;
        a->remedies[i][1].kind = REMEDY_SWAP;
        a->remedies[i][1].advice = "Swap x and y.";
        a->remedies[i][1].worth = (ana_worth){.known = true, .seconds = 2e-3, .of_program = 0.1};
        a->rows[i].remedies = a->remedies[i];
        a->rows[i].nremedies = 1;
    }
    a->groups[0].worth = (ana_worth){.known = true,
                                     .seconds = 4e-3,
                                     .low = 3e-3,
                                     .high = 5e-3,
                                     .of_kernel = 0.5,
                                     .of_program = 0.25};
    a->all.rows = a->rows;
    a->all.groups = a->groups;
    f->data.findings = &a->all;
}

static void test_advice_is_what_to_change(void **state)
{
    fixture *f = *state;
    advised a;
    advise_sample(f, &a);
    a.rows[0].nremedies = 2;
    ana_line lines[] = {{.pc = 7, .requests = 1}, a.groups[0].lines[0]}; /* one without a line */
    a.groups[0].lines = lines;
    a.groups[0].nlines = 2;
    char *text = advice_of(&f->data, false);
    assert_has(text, "  1. Pad the rows of a shared array  transpose_shared<float, 32, ");
    assert_has(text, ">, transpose.cu:11 bank-conflict\n");
    assert_has(text, "     Declare tile[TILE][TILE + 1], so that");
    assert_has(text, "     Condition: All code takes elements of the array by its rows");
    assert_has(text, "     800 -> 100 sectors (not tried: the fewest needed)\n");
    assert_has(text, "     Predicted to save about 4.0 ms (3.0 ms to 5.0 ms): 50 % of the kernel's "
                     "time and 25 % of the\n     program's.\n");
    assert_has(text, "     Or: Swap x and y (not tried; saves 2.0 ms).\n");
    assert_has(text, "1 pattern is there, too, but costs hardly any time: --all tells why.\n");
    assert_null(strstr(text, "Not worth making"));
    assert_null(strstr(text, "Transpose the data"));
    free(text);
}

/* What is about no kernel names its object, and how many more there are. */
static void test_advice_names_objects(void **state)
{
    fixture *f = *state;
    advised a;
    advise_sample(f, &a);
    const char *name = rep_object_name(&f->data, 1);
    assert_non_null(name);
    a.rows[0].kernel = 0;
    a.rows[0].object = 1;
    for (uint32_t objects = 1; objects <= 3; objects += 2) {
        char title[200];
        a.groups[0].nobjects = objects;
        snprintf(title, sizeof title, "  1. Pad the rows of a shared array  %s%s bank-conflict\n",
                 name, objects == 1 ? "" : " and 2 more");
        char *text = advice_of(&f->data, false);
        assert_has(text, title);
        free(text);
    }
}

/* Where no time is predicted, the share is of what the cost counts. */
static void test_advice_says_of_what_a_share_is(void **state)
{
    static const struct {
        ana_unit unit;
        const char *says;
    } cases[] = {{ANA_SECTORS, " of the program's traffic.\n"},
                 {ANA_BYTES, " of the program's memory.\n"},
                 {ANA_COPIED, " of what is copied.\n"}};
    fixture *f = *state;
    advised a;
    advise_sample(f, &a);
    a.groups[0].worth.known = false;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        a.groups[0].cost.unit = cases[i].unit;
        char *text = advice_of(&f->data, false);
        assert_has(text, cases[i].says);
        free(text);
    }
}

/* What is not worth it stands apart, and each says why. */
static void test_advice_of_little_gain_stands_apart(void **state)
{
    fixture *f = *state;
    advised a;
    advise_sample(f, &a);
    char *text = advice_of(&f->data, true);
    assert_has(text, "\nNot worth making\nThese patterns are there, but they cost hardly any time");
    assert_true(strstr(text, "Pad the rows") < strstr(text, "Not worth making"));
    assert_true(strstr(text, "Not worth making") < strstr(text, "  2. Transpose the data"));
    assert_has(text, "     Fixing this gains little (0.4 % of the program's time).");
    free(text);
    a.rows[0].gain = ANA_GAIN_TINY;
    text = advice_of(&f->data, false);
    assert_has(text, "No change of how this program's kernels use memory is worth making.\n"
                     "2 patterns are there, too, but cost hardly any time");
    free(text);
}

/* ---- what is saved ---- */

static void expect_saving(fixture *f, double seconds, double low, double high, double of_program,
                          const char *want)
{
    const ana_finding_group g = {
        .nkernels = 2,
        .worth = {
            .known = true, .seconds = seconds, .low = low, .high = high, .of_program = of_program}};
    assert_string_equal(rep_group_saving(f->arena, &g), want);
}

/* No zero has a range, and nothing is saved that is less than zero. */
static void test_savings(void **state)
{
    fixture *f = *state;
    expect_saving(f, 4e-3, 3e-3, 5e-3, 0.5,
                  "about 4.0 ms (3.0 ms to 5.0 ms): 50 % of the program's time");
    expect_saving(f, 4e-3, -1e-3, 5e-3, 0.5,
                  "about 4.0 ms (nothing to 5.0 ms): 50 % of the program's time");
    expect_saving(f, 0, -1e-4, 1.45e-4, 0, "nothing, and at most 145 us");
    expect_saving(f, 4e-8, -1e-4, 1.45e-4, 0.01, "nothing, and at most 145 us");
    expect_saving(f, 4e-7, -1e-4, 1.45e-4, 1e-6, "nothing, and at most 145 us");
    expect_saving(f, 0, 0, 0, 0, "nothing");
    expect_saving(f, -3e-6, -4e-6, -1e-6, -0.02,
                  "nothing: the kernel would take about 3.0 us longer");
}

static void test_savings_of_groups(void **state)
{
    fixture *f = *state;
    ana_finding_group g = {.nkernels = 1,
                           .worth = {.known = true,
                                     .seconds = 1e-6,
                                     .low = 0,
                                     .high = 2e-6,
                                     .of_kernel = 0.2,
                                     .of_program = 0.1,
                                     .of_full = 0.22}};
    assert_string_equal(rep_group_saving(f->arena, &g),
                        "about 1.0 us (nothing to 2.0 us): 20 % of the kernel's time and 10 % of "
                        "the program's");
    g.worth.of_kernel = -0.02; /* of little gain: less than a thirtieth is not told */
    g.worth.of_full = 0.018;
    assert_null(strstr(rep_group_saving(f->arena, &g), "other changes"));
    g.worth.of_kernel = 0.2;
    g.worth.of_full = 0.4;
    assert_has(rep_group_saving(f->arena, &g),
               "10 % of the program's; 40 % of the kernel's time once the other changes are made");
    g.worth.small = true;
    assert_has(
        rep_group_saving(f->arena, &g),
        "10 % of the program's; 40 % of the kernel's time with a grid that fills the device");
    g.worth.seconds = g.worth.of_program = 0;
    assert_string_equal(rep_group_saving(f->arena, &g),
                        "nothing, and at most 2.0 us; 40 % of the kernel's time with a grid that "
                        "fills the device");
    g.nkernels = 2;
    g.worth.seconds = 1e-6;
    g.worth.of_program = 0.1;
    assert_string_equal(rep_group_saving(f->arena, &g),
                        "about 1.0 us (nothing to 2.0 us): 10 % of the program's time; 40 % of "
                        "the first kernel's time with a grid that fills the device");
}

/* A launch that takes as long as before is not told twice. */
static void test_launches_before_and_after(void **state)
{
    fixture *f = *state;
    advised a;
    advise_sample(f, &a);
    ana_worth *w = &a.remedies[0][0].worth;
    *w = (ana_worth){.known = true, .before = 8.4e-6, .after = 8.4e-6};
    assert_string_equal(rep_remedy_text(&f->data, f->arena, &a.groups[0]),
                        "800 -> 100 sectors (not tried: the fewest needed)");
    a.remedies[0][0].after.wavefronts = 2000; /* staged: there were none before */
    assert_string_equal(rep_remedy_text(&f->data, f->arena, &a.groups[0]),
                        "800 -> 100 sectors (not tried: the fewest needed)");
    w->after = 2e-6;
    w->after_low = 1.5e-6;
    w->after_high = 3e-6;
    assert_string_equal(
        rep_remedy_text(&f->data, f->arena, &a.groups[0]),
        "800 -> 100 sectors (not tried: the fewest needed); 8.4 us -> 2.0 us a launch "
        "(1.5 us to 3.0 us)");
    a.remedies[0][0].before.sectors = a.remedies[0][0].after.sectors = 0;
    assert_string_equal(rep_remedy_text(&f->data, f->arena, &a.groups[0]),
                        "8.4 us -> 2.0 us a launch (1.5 us to 3.0 us), not tried");
    a.remedies[0][0].counted = true; /* of a grid: nothing is counted of its instructions */
    assert_string_equal(rep_remedy_text(&f->data, f->arena, &a.groups[0]),
                        "8.4 us -> 2.0 us a launch (1.5 us to 3.0 us)");
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        T(test_advice_is_what_to_change),
        T(test_advice_names_objects),
        T(test_advice_says_of_what_a_share_is),
        T(test_advice_of_little_gain_stands_apart),
        T(test_savings),
        T(test_savings_of_groups),
        T(test_launches_before_and_after),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
