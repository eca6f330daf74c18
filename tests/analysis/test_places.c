/* Where inlined code is said to stand: in its function, or in the code that calls it. */
#include "analysis/places.h"
#include "support/test.h"

enum { PROGRAM = 1, LIBRARY, MOST_LINES = 4, CALL_LINE = 100, FIRST_LINE = 10 };

static prof_file files[] = {{.id = PROGRAM, .path = "app.cu"},
                            {.id = LIBRARY, .path = "mma.h", .system = true}};
static const prof_file_rows file_rows = {2, files};

static void expect_place(ana_source found, uint32_t file, uint32_t line)
{
    assert_int_equal(found.file, file);
    assert_int_equal(found.line, line);
}

/* A kernel that calls the function once; so many lines of it have instructions. Whether they are
 * said to stand where the call is. */
static bool stands_at_call(const char *function, uint32_t file, uint32_t lines)
{
    prof_loc locs[1 + MOST_LINES] = {
        {.id = 1, .file = PROGRAM, .line = CALL_LINE, .function = "kernel(float*)"}};
    prof_code code[MOST_LINES];
    bool own = file == PROGRAM;
    for (uint32_t i = 0; i < lines; i++) {
        locs[1 + i] = (prof_loc){.id = 2 + i,
                                 .file = file,
                                 .line = FIRST_LINE + i,
                                 .function = function,
                                 .inlined_at = 1};
        code[i] = (prof_code){
            .pc = i, .loc = 2 + i, .file = PROGRAM, .line = own ? FIRST_LINE + i : CALL_LINE};
    }
    const prof_loc_rows loc_rows = {1 + lines, locs};
    const ana_places in = {&file_rows, &loc_rows, {lines, code}};
    ana_source helper, at = ana_source_of(&in, &code[0], &helper);
    bool moved = at.line == CALL_LINE;
    expect_place(at, PROGRAM, moved ? CALL_LINE : FIRST_LINE);
    expect_place(helper, moved ? file : 0, moved ? FIRST_LINE : 0);
    return moved;
}

/* Functions of up to three lines are helpers. What has no name may be the kernel, and a lambda is
 * its caller's own work. */
static void helpers_are_told_by_name_and_length(void **state)
{
    static const struct {
        const char *function;
        bool when_short, when_long;
    } rows[] = {
        {"load(float const*)", true, false},
        {"f", true, false},
        {"", false, false},
        {"kernel(float*)::{lambda(int)#1}::operator()(int) const", false, false},
        {"matrix::operator[](int)", true, true},
        {"functor::operator()(int)", true, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(stands_at_call(rows[i].function, PROGRAM, 1), rows[i].when_short);
        assert_int_equal(stands_at_call(rows[i].function, PROGRAM, 3), rows[i].when_short);
        assert_int_equal(stands_at_call(rows[i].function, PROGRAM, 4), rows[i].when_long);
        assert_true(stands_at_call(rows[i].function, LIBRARY, 4));
    }
}

/* A library's function in a helper: both are passed, and the program's own line is told. */
static void helpers_call_helpers(void **state)
{
    prof_loc locs[] = {{1, PROGRAM, CALL_LINE, 1, "kernel(float*)", 0},
                       {2, PROGRAM, 20, 1, "load(float const*)", 1},
                       {3, LIBRARY, 5, 1, "__ldg(float const*)", 2}};
    prof_code code[] = {{.loc = 3, .file = PROGRAM, .line = 20}, {.pc = 1}};
    const prof_loc_rows loc_rows = {3, locs};
    const ana_places in = {&file_rows, &loc_rows, {2, code}};
    ana_source helper;
    (void)state;
    expect_place(ana_source_of(&in, &code[0], &helper), PROGRAM, CALL_LINE);
    expect_place(helper, PROGRAM, 20);
    expect_place(ana_source_of(&in, &code[1], &helper), 0, 0); /* of no known place */
    expect_place(helper, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(helpers_are_told_by_name_and_length),
        cmocka_unit_test(helpers_call_helpers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
