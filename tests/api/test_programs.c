/* Programs compiled by nvcc in three ways, and what processes do. The programs are in programs/,
 * compiled by the build. */
#include "access/access.h"
#include "run.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM(name) API_PROGRAMS "/" name
#define RUN(r, ...)                                     \
    const char *const argv_##r[] = {__VA_ARGS__, NULL}; \
    run_result r;                                       \
    run_program(&(run_options){.argv = argv_##r}, &r)

static void expect_exit(const run_result *r, int status)
{
    if (!r->exited || r->status != status)
        print_message("%s%s", r->out, r->err);
    assert_true(r->exited);
    assert_int_equal(r->status, status);
}

static const char vecadd_out[] = "error 0, 0 wrong, launched 1, c[999] = 4998\n";

/* ---- three builds of one program ---- */

static void test_static_runtime(void **state)
{
    (void)state;
    RUN(r, PROGRAM("vecadd_static"));
    expect_exit(&r, 0);
    assert_string_equal(r.out, vecadd_out);
    assert_string_equal(r.err, "");
    assert_int_equal(r.captures, 1);
    assert_true(r.whole[0]);
    assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 1);
    assert_int_equal(run_count(r.dumps[0], "OBJECT"), 5);
    assert_non_null(strstr(r.dumps[0], "cudaMemcpyToSymbol"));
    assert_null(strstr(r.dumps[0], "without a stack"));
    run_clear(&r);
}

static void test_shared_is_as_static(void **state)
{
    (void)state;
    RUN(a, PROGRAM("vecadd_static"));
    RUN(b, PROGRAM("vecadd_shared"));
    expect_exit(&b, 0);
    assert_string_equal(b.out, vecadd_out);
    assert_string_equal(a.dumps[0], b.dumps[0]);
    run_clear(&a);
    run_clear(&b);
}

/* The launch's line without its numbers of module and call, and its rows without objects: order of
 * objects differs. */
static char *launch_only(const char *dump)
{
    char *text = calloc(1, strlen(dump) + 1), *copy = strdup(dump), *rest = copy;
    bool within = false;
    for (char *line; (line = strsep(&rest, "\n"));) {
        if (strncmp(line, "LAUNCH", 6) == 0) {
            within = true;
            strcat(strcat(text, strstr(line, "vecadd")), "\n");
        } else if (within && strncmp(line, "    pc", 6) == 0) {
            char *object = strstr(line, " object"), *space = strstr(line, " space");
            strncat(text, line, (size_t)(object - line));
            strcat(strcat(text, space), "\n");
        } else {
            within &= strncmp(line, "    ", 4) == 0;
        }
    }
    free(copy);
    return text;
}

static void test_driver_is_as_runtime(void **state)
{
    (void)state;
    RUN(a, PROGRAM("vecadd_shared"));
    RUN(b, PROGRAM("vecadd_driver"), PROGRAM("vecadd.ptx"));
    expect_exit(&b, 0);
    assert_string_equal(b.out, vecadd_out);
    assert_int_equal(b.captures, 1);
    char *of_a = launch_only(a.dumps[0]), *of_b = launch_only(b.dumps[0]);
    assert_true(run_count(of_a, "    pc") >= 8);
    assert_string_equal(of_a, of_b);
    assert_int_equal(run_count(b.dumps[0], "OBJECT"), 5);
    free(of_a);
    free(of_b);
    run_clear(&a);
    run_clear(&b);
}

static void test_two_runs_and_threads(void **state)
{
    static const char *const one[] = {"WARPLENS_THREADS=1", NULL}, *const two[] = {
                                                                       "WARPLENS_THREADS=2", NULL};
    static const char *const argv[] = {PROGRAM("vecadd_static"), NULL};
    run_result a, b, c;
    (void)state;
    run_program(&(run_options){.argv = argv, .environment = one}, &a);
    run_program(&(run_options){.argv = argv, .environment = two}, &b);
    run_program(&(run_options){.argv = argv, .environment = two}, &c);
    assert_string_equal(a.dumps[0], b.dumps[0]);
    assert_string_equal(b.dumps[0], c.dumps[0]);
    run_clear(&a);
    run_clear(&b);
    run_clear(&c);
}

/* The negative control: without the emulator there is no device, and the program's own check fails.
 */
static void test_without_emulator(void **state)
{
    static const char *const none[] = {"LD_PRELOAD=", "LD_LIBRARY_PATH=", NULL};
    static const char *const argv[] = {PROGRAM("vecadd_static"), NULL};
    run_result r;
    (void)state;
    run_program(&(run_options){.argv = argv, .environment = none}, &r);
    expect_exit(&r, 1);
    assert_int_equal(r.captures, 0);
    run_clear(&r);
}

static void test_static_runtime_in_libraries(void **state)
{
    (void)state;
    RUN(linked, PROGRAM("user_linked"));
    expect_exit(&linked, 0);
    assert_string_equal(linked.out, "246\n");
    assert_int_equal(run_count(linked.dumps[0], "LAUNCH"), 1);
    RUN(loaded, PROGRAM("user_loads"), PROGRAM("libtwice.so"));
    expect_exit(&loaded, 0);
    assert_string_equal(loaded.out, "246\n246\n"); /* unloaded and loaded again */
    assert_int_equal(run_count(loaded.dumps[0], "LAUNCH"), 2);
    run_clear(&linked);
    run_clear(&loaded);
}

static void test_stripped(void **state)
{
    (void)state;
    RUN(r, PROGRAM("vecadd_stripped"));
    expect_exit(&r, 1);
    assert_non_null(strstr(r.err, "-cudart shared"));
    assert_int_equal(r.captures, 1);
    assert_int_equal(run_count(r.dumps[0], "MESSAGE"), 1);
    run_clear(&r);
}

static void test_only_sass(void **state)
{
    (void)state;
    RUN(r, PROGRAM("vecadd_sass"));
    expect_exit(&r, 1);
    assert_non_null(strstr(r.out, "1000 wrong"));
    assert_non_null(strstr(r.err, "no PTX"));
    assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 0);
    assert_int_equal(run_count(r.dumps[0], "MESSAGE"), 1);
    run_clear(&r);
}

static void test_semantics(void **state)
{
    char expected[1 << 16] = "";
    (void)state;
    FILE *file = fopen(WL_SOURCE_DIR "/tests/api/programs/semantics.expected", "r");
    assert_non_null(file);
    assert_true(fread(expected, 1, sizeof expected - 1, file) > 0);
    fclose(file);
    RUN(r, PROGRAM("semantics"));
    expect_exit(&r, 0);
    assert_string_equal(r.out, expected);
    run_clear(&r);
}

/* The program works out what every fetch must give; its rows are loads and stores of the arrays and
 * of linear memory. */
static void test_textures(void **state)
{
    (void)state;
    RUN(r, PROGRAM("textures"));
    expect_exit(&r, 0);
    assert_non_null(strstr(r.out, "\n0 wrong values\n"));
    assert_int_equal(run_count(r.dumps[0], "SKIPPED"), 0);
    assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 21);
    run_clear(&r);
    static const char *const mistakes[] = {"texture", "surface", "freed", "trap", "odd"};
    static const char *const text[] = {"no texture object", "no surface object",
                                       "no texture object", "surface access out of bounds",
                                       "misaligned"};
    for (size_t k = 0; k < sizeof mistakes / sizeof *mistakes; k++) {
        RUN(m, PROGRAM("textures"), mistakes[k]);
        assert_non_null(strstr(m.err, text[k]));
        assert_non_null(strstr(m.out,
                               k == 4 ? "cudaErrorMisalignedAddress" : "cudaErrorLaunchFailure"));
        run_clear(&m);
    }
}

/* The row of an instruction, which accesses global memory, of the dump. */
static void expect_row(const run_result *r, acc_op op, unsigned requests, unsigned sectors)
{
    char begin[64], all[64];
    snprintf(begin, sizeof begin, " space %u op %u ", ACC_GLOBAL, op);
    snprintf(all, sizeof all, " requests %u ", requests);
    bool found = false;
    char *copy = strdup(r->dumps[0]), *rest = copy, counted[64];
    snprintf(counted, sizeof counted, "sectors %u", sectors);
    for (char *line; (line = strsep(&rest, "\n"));)
        found |= strstr(line, begin) && strstr(line, all) && strstr(line, counted);
    free(copy);
    if (!found)
        fail_msg("no row of%s with%s and %s\n%s", begin, all, counted, r->dumps[0]);
}

/* The program compares what it computes. Of the matrix that it transposes, 72 rows of 400 bytes, a
 * box of 32 columns takes 4 sectors of each even row and 5 of each odd one, and the last one, of 4
 * columns, 1 of each; the result's rows of 288 bytes begin on sectors. */
static void test_tensors(void **state)
{
    (void)state;
    RUN(r, PROGRAM("tensors"));
    expect_exit(&r, 0);
    assert_string_equal(r.out, "ok\n");
    assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 2);
    assert_int_equal(run_count(r.dumps[0], "SKIPPED"), 0);
    expect_row(&r, ACC_LOAD, 12, 3 * (36 * 4 + 36 * 5) + 72);
    expect_row(&r, ACC_STORE, 12, 100 * 9);
    run_clear(&r);
}

/* ---- choosing launches ---- */

/* Launches recorded, those among them that did what an earlier one did. */
static size_t recorded(const run_result *r)
{
    return run_count(r->dumps[0], "LAUNCH") + run_count(r->dumps[0], "REPEAT");
}

static void expect_choice(const char *setting, size_t launches, size_t skipped)
{
    const char *const environment[] = {setting, NULL};
    static const char *const argv[] = {PROGRAM("life"), "threads", NULL};
    run_result r;
    run_program(&(run_options){.argv = argv, .environment = environment}, &r);
    expect_exit(&r, 0);
    assert_string_equal(r.out, "sum 100\n");
    assert_int_equal(recorded(&r), launches);
    assert_int_equal(run_count(r.dumps[0], "SKIPPED"), skipped);
    run_clear(&r);
}

static void test_choice_of_launches(void **state)
{
    (void)state;
    expect_choice("WARPLENS_KERNEL_NAME=add_one", 100, 0);
    expect_choice("WARPLENS_KERNEL_NAME=regex:one$", 100, 0);
    expect_choice("WARPLENS_KERNEL_NAME=other", 0, 100);
    expect_choice("WARPLENS_KERNEL_EXCLUDE=regex:^add", 0, 100);
    expect_choice("WARPLENS_LAUNCH_SKIP=90", 10, 90);
    expect_choice("WARPLENS_LAUNCH_COUNT=7", 7, 93);
}

static void test_blocks_and_sets(void **state)
{
    static const char *const several[] = {"WARPLENS_BLOCKS=7,0,0;2,0,0;2,0,0;99,0,0", NULL};
    static const char *const basic[] = {"WARPLENS_SET=basic", NULL};
    static const char *const argv[] = {PROGRAM("vecadd_shared"), NULL};
    run_result r;
    (void)state;
    run_program(&(run_options){.argv = argv, .environment = several}, &r);
    assert_non_null(strstr(r.dumps[0], "blocks 8/8/2 "));
    assert_non_null(strstr(r.dumps[0], " block 7 rows"));
    run_clear(&r);
    run_program(&(run_options){.argv = argv, .environment = basic}, &r);
    assert_non_null(strstr(r.dumps[0], "blocks 8/8/0 "));
    assert_null(strstr(r.dumps[0], "    heat"));
    run_clear(&r);
}

/* ---- what processes do ---- */

static void test_no_cuda(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "nothing");
    expect_exit(&r, 4);
    assert_string_equal(r.err, "");
    assert_int_equal(r.captures, 0);
    run_clear(&r);
}

static void test_fork(void **state)
{
    (void)state;
    RUN(used, PROGRAM("life"), "fork");
    expect_exit(&used, 0);
    assert_string_equal(used.out,
                        "first 1\nchild -3\nparent 1\n"); /* initialization error, as with a GPU */
    assert_int_equal(used.captures, 2);
    assert_int_equal(run_count(used.dumps[0], "LAUNCH") + run_count(used.dumps[1], "LAUNCH"), 2);
    assert_int_equal(run_count(used.dumps[0], "MESSAGE") + run_count(used.dumps[1], "MESSAGE"), 1);
    RUN(unused, PROGRAM("life"), "fork-first");
    expect_exit(&unused, 0);
    assert_string_equal(unused.out, "child 1\nparent 1\n");
    assert_int_equal(unused.captures, 2);
    assert_int_equal(run_count(unused.dumps[0], "LAUNCH"), 1);
    assert_int_equal(run_count(unused.dumps[1], "LAUNCH"), 1);
    run_clear(&used);
    run_clear(&unused);
}

static void test_exec(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "exec");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "work 1\nwork 1\n");
    assert_int_equal(r.captures, 2); /* one process number, two programs */
    assert_int_equal(r.whole[0] + r.whole[1], 1);
    run_clear(&r);
}

static void expect_end(const char *what, bool exited, int status, bool whole)
{
    RUN(r, PROGRAM("life"), what);
    assert_int_equal(r.exited, exited);
    assert_int_equal(r.status, status);
    assert_string_equal(r.out, "work 1\n");
    assert_string_equal(r.err, "");
    assert_int_equal(r.captures, 1);
    assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 1); /* what was finished is kept */
    assert_int_equal(r.whole[0], whole);
    run_clear(&r);
}

static void test_ends(void **state)
{
    (void)state;
    expect_end("crash", false, SIGSEGV, false);
    expect_end("abort", false, SIGABRT, false);
    expect_end("kill", false, SIGKILL, false);
    expect_end("_exit", true, 5, false);
    expect_end("quick_exit", true, 6, true);
}

static void test_interrupted_kernel(void **state)
{
    static const int signals[] = {SIGINT, SIGTERM};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        char number[12];
        snprintf(number, sizeof number, "%d", signals[i]);
        RUN(r, PROGRAM("life"), "signal", number);
        assert_false(r.exited);
        assert_int_equal(r.status, signals[i]);
        assert_int_equal(run_count(r.dumps[0], "LAUNCH"), 1);
        run_clear(&r);
    }
}

static void test_time_limit(void **state)
{
    static const char *const limit[] = {"WARPLENS_TIME_LIMIT=1", NULL};
    static const char *const argv[] = {PROGRAM("life"), "forever", NULL};
    run_result r;
    (void)state;
    run_program(&(run_options){.argv = argv, .environment = limit}, &r);
    expect_exit(&r, 0);
    assert_non_null(strstr(r.err, "time limit"));
    assert_non_null(strstr(r.dumps[0], "error 702"));
    run_clear(&r);
}

/* Of the launch whose line holds `which`: no more blocks are observed than run. */
static void expect_blocks(const char *dump, const char *which)
{
    unsigned long run = 0, observed = 1;
    const char *at = strstr(dump, which);
    assert_non_null(at);
    at = strstr(at, " blocks ");
    assert_non_null(at);
    assert_int_equal(sscanf(at, " blocks %lu/%lu", &run, &observed), 2);
    assert_true(observed > 0);
    assert_true(run >= observed);
}

static void test_faults(void **state)
{
    (void)state;
    RUN(beyond, PROGRAM("life"), "beyond");
    expect_exit(&beyond, 7);
    assert_string_equal(beyond.out, "work 1\nbeyond 700\n");
    assert_non_null(strstr(beyond.err, "life.cu:19"));
    assert_non_null(strstr(beyond.err, "block (0,0,0)"));
    assert_non_null(strstr(beyond.dumps[0], "error 700"));
    expect_blocks(beyond.dumps[0], "error 700");
    RUN(deadlock, PROGRAM("life"), "deadlock");
    expect_exit(&deadlock, 8);
    assert_non_null(strstr(deadlock.out, "deadlock 702"));
    assert_non_null(strstr(deadlock.err, "barrier 2"));
    assert_non_null(strstr(deadlock.dumps[0], "error 702"));
    run_clear(&beyond);
    run_clear(&deadlock);
}

static void test_full_device(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "full");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "all at once and more 2\neighths 8\nwork -2\n");
    run_clear(&r);
}

static void test_closed_descriptors(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "close");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "before 1\nafter 1\nvictim 0\nelsewhere 1\n");
    assert_int_equal(recorded(&r), 3);
    assert_true(r.whole[0]);
    run_clear(&r);
}

/* As a full disk: recording ends, is said once, and the program goes on. */
static void test_no_room_for_the_capture(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "limit");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "sum 200\n");
    assert_int_equal(run_count(r.err, "==WARPLENS== Recording ends here"), 1);
    assert_int_equal(run_count(r.err, "==WARPLENS=="), 1);
    assert_in_range(recorded(&r), 3, 199);
    run_clear(&r);
}

static void test_unsupported(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "unsupported");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "first 801\nagain 801\nlast 801\n");
    assert_int_equal(run_count(r.err, "==WARPLENS== cudaIpcGetMemHandle"), 1);
    assert_int_equal(run_count(r.dumps[0], "UNSUPPORTED cudaIpcGetMemHandle"), 1);
    run_clear(&r);
}

static void test_device_printf(void **state)
{
    (void)state;
    RUN(r, PROGRAM("life"), "print");
    expect_exit(&r, 0);
    assert_string_equal(r.out, "host 2\ndevice 1\nhost 3\n");
    run_clear(&r);
}

static void test_unrecorded(void **state)
{
    static const char *const argv[] = {PROGRAM("vecadd_shared"), NULL};
    run_result r;
    (void)state;
    run_program(&(run_options){.argv = argv, .unrecorded = true}, &r);
    expect_exit(&r, 0);
    assert_string_equal(r.out, vecadd_out);
    assert_int_equal(r.captures, 0);
    run_clear(&r);
}

static void test_other_device(void **state)
{
    static const char *const t4[] = {"WARPLENS_DEVICE=t4", NULL};
    static const char *const unknown[] = {"WARPLENS_DEVICE=nosuchgpu", NULL};
    static const char *const argv[] = {PROGRAM("vecadd_shared"), NULL};
    run_result r;
    (void)state;
    run_program(&(run_options){.argv = argv, .environment = t4}, &r);
    expect_exit(&r, 0);
    assert_non_null(strstr(r.dumps[0], "cc 7.5"));
    run_clear(&r);
    run_program(&(run_options){.argv = argv, .environment = unknown}, &r);
    expect_exit(&r, 1);
    assert_non_null(strstr(r.err, "nosuchgpu"));
    run_clear(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_static_runtime),
        cmocka_unit_test(test_shared_is_as_static),
        cmocka_unit_test(test_driver_is_as_runtime),
        cmocka_unit_test(test_two_runs_and_threads),
        cmocka_unit_test(test_without_emulator),
        cmocka_unit_test(test_static_runtime_in_libraries),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_only_sass),
        cmocka_unit_test(test_semantics),
        cmocka_unit_test(test_textures),
        cmocka_unit_test(test_tensors),
        cmocka_unit_test(test_choice_of_launches),
        cmocka_unit_test(test_blocks_and_sets),
        cmocka_unit_test(test_no_cuda),
        cmocka_unit_test(test_fork),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_ends),
        cmocka_unit_test(test_interrupted_kernel),
        cmocka_unit_test(test_time_limit),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_full_device),
        cmocka_unit_test(test_closed_descriptors),
        cmocka_unit_test(test_no_room_for_the_capture),
        cmocka_unit_test(test_unsupported),
        cmocka_unit_test(test_device_printf),
        cmocka_unit_test(test_unrecorded),
        cmocka_unit_test(test_other_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
