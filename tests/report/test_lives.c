/* Lives of objects: two processes' courses by hand. */
#include "support/test.h"

#include "report/impl.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(rows) (sizeof(rows) / sizeof *(rows))

static wl_arena *arena;

static int open_arena(void **state)
{
    (void)state;
    arena = wl_arena_new();
    return arena ? 0 : -1;
}

static int close_arena(void **state)
{
    (void)state;
    wl_arena_free(arena);
    return 0;
}

static prof_file files[] = {{.id = 1, .path = "/src/a.cu", .name = "a.cu"}};
static prof_kernel kernels[] = {{.id = 3, .name = "step(float*)", .short_name = "step"}};
static prof_object objects[] = {{.id = 7, .name = "x (a.cu:1)", .process = 1},
                                {.id = 8, .name = "y (a.cu:2)", .process = 1},
                                {.id = 9, .name = "z", .process = 2}};
static prof_call_site sites[] = {{.api = "cudaMalloc", .file = 1, .line = 1, .function = ""},
                                 {.api = "cudaMemcpy", .file = 1, .line = 5, .function = ""},
                                 {.api = "cudaLaunchKernel", .file = 1, .line = 6, .function = ""},
                                 {.api = "cudaFree", .function = ""}};
/* x: rows 0 to 5, y: rows 1 on. An event takes no call. */
static ana_course_op ops[] = {{.kind = OBJ_ALLOCATE, .count = 1, .site = 0},
                              {.kind = OBJ_ALLOCATE, .count = 1, .site = 0},
                              {.kind = OBJ_COPY, .count = 1, .site = 1},
                              {.kind = OBJ_RECORD, .count = 1, .site = OBJ_NONE},
                              {.kind = OBJ_LAUNCH, .count = 10, .kernel = 3, .site = 2},
                              {.kind = OBJ_FREE, .count = 1, .site = 3}};
static ana_course_object first_objects[] = {{.id = 7,
                                             .bytes = 64,
                                             .allocate = 0,
                                             .free = 5,
                                             .begin = 0,
                                             .end = 5,
                                             .first = 2,
                                             .last = 4,
                                             .idle_calls = 4,
                                             .idle_seconds = 0.5,
                                             .counted = true},
                                            {.id = 8,
                                             .bytes = 100,
                                             .allocate = 1,
                                             .free = OBJ_NONE,
                                             .begin = 1,
                                             .end = OBJ_NONE,
                                             .first = OBJ_NONE,
                                             .last = OBJ_NONE,
                                             .idle_seconds = -1,
                                             .possibly = true,
                                             .counted = true}};
static ana_course_object second_objects[] = {{.id = 9,
                                              .bytes = 900,
                                              .allocate = OBJ_NONE,
                                              .free = OBJ_NONE,
                                              .begin = 0,
                                              .end = OBJ_NONE,
                                              .first = OBJ_NONE,
                                              .last = OBJ_NONE,
                                              .idle_seconds = -1}};
static ana_course_device devices[] = {{.moment = 0}};
static ana_course_hit hits[] = {{.object = 1}, {.object = 0}};
static ana_course_change changes[] = {
    {.pattern = ANA_LEAK, .first = 0, .count = 1, .saves = 40, .number = 2},
    {.pattern = ANA_DEAD_WRITE, .first = 1, .count = 1, .saves = 90}};
static ana_finding found[] = {{.pattern = ANA_STRIDED, .object = 7},
                              {.pattern = ANA_LEAK, .object = 8}};

static rep_data data_of(ana_course *courses)
{
    static ana_findings findings = {.count = COUNT(found), .rows = found};
    courses[0] = (ana_course){.process = 1,
                              .nops = COUNT(ops),
                              .nobjects = 2,
                              .ndevices = 1,
                              .nhits = 2,
                              .nchanges = 2,
                              .ops = ops,
                              .objects = first_objects,
                              .devices = devices,
                              .hits = hits,
                              .changes = changes,
                              .sites = {COUNT(sites), sites}};
    courses[1] = (ana_course){
        .process = 2, .nobjects = 1, .objects = second_objects, .devices = devices};
    return (rep_data){.files = {1, files},
                      .kernels = {1, kernels},
                      .objects = {3, objects},
                      .courses = {2, courses},
                      .findings = &findings};
}

static void test_rows(void **state)
{
    (void)state;
    ana_course courses[2];
    rep_lives lives;
    const rep_data data = data_of(courses);
    assert_true(rep_lives_of(&data, arena, &lives));
    assert_int_equal(lives.count, 3);
    const rep_life *x = rep_life_of(&lives, 7), *y = rep_life_of(&lives, 8);
    assert_null(rep_life_of(&lives, 6));
    assert_string_equal(x->allocated, "cudaMalloc (a.cu:1)");
    assert_string_equal(x->first, "cudaMemcpy (a.cu:5)");
    assert_string_equal(x->last, "step (a.cu:6)");
    assert_string_equal(x->freed, "cudaFree");
    assert_int_equal(x->alive, 12); /* an allocation, a copy, ten launches */
    assert_int_equal(x->at_peak, 64);
    assert_int_equal(x->idle_calls, 4);
    assert_string_equal(rep_patterns_of(x, arena), "strided"); /* the dead write is no finding */
    assert_int_equal(x->saves, 0);
    assert_false(x->possibly);
    assert_null(y->first);
    assert_null(y->freed);
    assert_true(y->possibly);
    assert_int_equal(y->alive, 12);  /* a copy, ten launches, a free */
    assert_int_equal(y->at_peak, 0); /* it comes after the peak */
    assert_int_equal(y->saves, 40);
    assert_string_equal(rep_patterns_of(y, arena), "leak");
    assert_int_equal(rep_life_of(&lives, 9)->at_peak, 0); /* takes no memory of its own */
    assert_null(rep_life_of(&lives, 9)->allocated);
}

static void test_order(void **state)
{
    (void)state;
    ana_course courses[2];
    char *text = NULL;
    size_t size;
    wl_error err = {0};
    const rep_data data = data_of(courses);
    const rep_text_options options = {.width = 0};
    FILE *out = open_memstream(&text, &size);
    assert_int_equal(rep_objects(&data, &options, out, &err), WL_OK);
    fclose(out);
    const char *x = strstr(text, "x (a.cu:1)"), *y = strstr(text, "y (a.cu:2)"),
               *z = strstr(text, "  z");
    assert_true(x && y && z && x < z && z < y);
    assert_non_null(strstr(text, "4 calls, 500.0 ms"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rows, open_arena, close_arena),
        cmocka_unit_test_setup_teardown(test_order, open_arena, close_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
