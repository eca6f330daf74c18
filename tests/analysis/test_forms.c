/* Forms of addresses, read and worked out for a launch. */
#include "support/test.h"

#include "analysis/atomics.h"
#include "analysis/forms.h"

#include <string.h>

static const prof_launch launch = {.grid = {100, 7, 1}, .block = {32, 8, 1}};

static bool place_of(const char *text, ana_place *out)
{
    const prof_form form = {.bytes = 4, .form = text};
    return ana_place_of(&form, &launch, out);
}

static void of_indices(void **state)
{
    (void)state;
    ana_place p;
    assert_true(place_of("4*ntid.x*ctaid.x + 4*tid.x + 128*tid.y - 8*tid.z + param0 - 4 + 8", &p));
    assert_true(p.thread[0] == 4 && p.thread[1] == 128 && p.thread[2] == -8);
    assert_true(p.block[0] == 4 * 32 && p.block[1] == 0 && p.block[2] == 0);
    assert_int_equal(p.constant, 4);
    assert_int_equal(p.base_length, strlen("param0"));
    assert_memory_equal(p.base, "param0", strlen("param0"));
    assert_true(ana_place_is_exact(&p));
}

static void of_sizes(void **state)
{
    (void)state;
    ana_place p;
    assert_true(place_of("-tid.x + 4*tid.y*nctaid.x + 2*ntid.x*ntid.y + &tile", &p));
    assert_true(p.thread[0] == -1 && p.thread[1] == 400 && p.constant == 512);
    assert_memory_equal(p.base, "&tile", strlen("&tile"));
    assert_true(ana_place_is_exact(&p));
}

static void of_data(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool of_data;
    } cases[] = {{"4*loaded21 + 4*tid.x + param0", true},
                 {"param0 - atomic3", true},
                 {"loaded2", true},
                 {"4*tid.x + &loaded_table", false},
                 {"4*v21 + param0", false},
                 {"4*tid.x*ntid.x + unloaded", false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const prof_form form = {.form = cases[i].text};
        assert_int_equal(ana_form_is_of_data(&form), cases[i].of_data);
    }
}

static void of_what_is_not_known(void **state)
{
    (void)state;
    ana_place p;
    assert_true(place_of("4*tid.x*param3 + 4*ctaid.x + param0", &p));
    assert_true(p.thread_unknown && !p.block_unknown && p.block[0] == 4);
    assert_false(ana_place_is_exact(&p));
    assert_true(place_of("4*tid.x*ctaid.y + param0", &p));
    assert_true(p.thread_unknown && p.block_unknown);
    assert_true(place_of("4*tid.x + 128*i0 + param0", &p));
    assert_true(p.iterations && !p.unknown && !ana_place_is_exact(&p));
    assert_true(place_of("4*v21 + param0", &p));
    assert_true(p.unknown && !p.counted && !ana_place_is_exact(&p));
    assert_true(place_of("4*atomic21 + 4*tid.x + param0", &p));
    assert_true(p.unknown && p.counted && p.thread[0] == 4);
    assert_true(place_of("4*loaded21 + 4*tid.x + param0", &p));
    assert_true(p.unknown && p.loaded && !p.counted);
    assert_true(place_of("4*t21 + 4*ctaid.x + param0", &p)); /* the same in all blocks */
    assert_true(!p.unknown && !p.block_unknown && p.thread_unknown && p.block[0] == 4);
    assert_true(place_of("4*t21*ctaid.x + param0", &p));
    assert_true(p.block_unknown && !ana_place_is_exact(&p));
    assert_true(place_of("4*laneid + &s", &p));
    assert_true(p.unknown);
    assert_true(place_of("param0 + param1", &p)); /* which of them is the object? */
    assert_true(p.unknown);
    assert_true(place_of("8*param0", &p));
    assert_true(p.unknown);
}

static void of_what_cannot_be_read(void **state)
{
    (void)state;
    ana_place p;
    char cut[1200];
    memset(cut, '1', sizeof cut);
    cut[sizeof cut - 1] = '\0';
    assert_false(place_of(cut, &p));
    assert_false(place_of("", &p));
    assert_false(place_of("4*", &p));
    assert_false(place_of("4*tid.x & 3", &p));
    assert_false(place_of("9999999999999999999*tid.x", &p));
    assert_false(place_of("999999999999999999*ntid.x*ntid.y", &p));
}

static void by_instruction(void **state)
{
    (void)state;
    prof_form rows[] = {{.pc = 3}, {.pc = 7, .position = 0}, {.pc = 7, .position = 1}, {.pc = 9}};
    const prof_form_rows forms = {4, rows};
    assert_ptr_equal(ana_form_at(&forms, 3), &rows[0]);
    assert_ptr_equal(ana_form_at(&forms, 7), &rows[1]);
    assert_ptr_equal(ana_form_at(&forms, 9), &rows[3]);
    assert_null(ana_form_at(&forms, 8));
    assert_null(ana_form_at(&forms, 10));
}

static bool is_combined(const char *op, const char *form_text)
{
    const prof_code code = {.op = op};
    const prof_form form = {.form = form_text};
    return ana_is_combined(&code, &form, &launch);
}

/* As ptxas 13.0 for sm_90 was seen to do, and not to do. */
static void of_updates_that_are_combined(void **state)
{
    (void)state;
    assert_true(is_combined("red.global.add.u32", "param0"));
    assert_true(is_combined("atom.global.add.s32", "4*ctaid.x + param0"));
    assert_true(is_combined("red.global.or.b32", "param0 + 4*i1"));
    assert_true(is_combined("atom.global.add.u32", "param0 + 4*param1"));
    assert_false(is_combined("atom.global.add.u32", "param0 + 4*v21"));
    assert_true(is_combined("red.global.max.s32", "param0"));
    assert_false(is_combined("red.global.add.f32", "param0"));
    assert_false(is_combined("atom.global.cas.b32", "param0"));
    assert_false(is_combined("atom.global.exch.b32", "param0"));
    assert_false(is_combined("red.global.add.u32", "4*tid.x + param0"));
    assert_false(is_combined("red.global.add.u32", "4*loaded1 + param0"));
    assert_false(is_combined("red.global.add.u32", "4*t1 + param0"));
    assert_false(ana_is_combined(NULL, NULL, &launch));
}

/* The rows of several kernels. */
static void by_kernel_and_instruction(void **state)
{
    (void)state;
    prof_form rows[] = {{.kernel = 1, .pc = 9}, {.kernel = 2, .pc = 3}, {.kernel = 2, .pc = 9}};
    const prof_form_rows forms = {3, rows};
    assert_ptr_equal(ana_form_of(&forms, 1, 9), &rows[0]);
    assert_ptr_equal(ana_form_of(&forms, 2, 9), &rows[2]);
    assert_null(ana_form_of(&forms, 1, 3));
    assert_null(ana_form_of(&forms, 3, 9));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_indices),
        cmocka_unit_test(of_sizes),
        cmocka_unit_test(of_data),
        cmocka_unit_test(of_what_is_not_known),
        cmocka_unit_test(of_what_cannot_be_read),
        cmocka_unit_test(by_instruction),
        cmocka_unit_test(by_kernel_and_instruction),
        cmocka_unit_test(of_updates_that_are_combined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
