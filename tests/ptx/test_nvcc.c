/* The sources of tests/ptx/cuda, compiled by nvcc for several architectures and with several flags:
 * the same as test_corpus.c demands of the committed PTX. */
#include "support.h"
#include "support/test.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const archs[] = {"sm_75", "sm_80", "sm_90a", "sm_100a"};
static const char *const flags[] = {"", "-lineinfo", "-G"};
enum { ARCHS = sizeof archs / sizeof *archs, FLAGS = sizeof flags / sizeof *flags };

static void check(const char *ptx, const char *what, bool code)
{
    size_t length, n;
    wl_error err;
    char *text = test_read(ptx, &length);
    ir_module *module = parse_ok(text, what);
    if (ptx_verify(module, what, &err) != WL_OK)
        fail_msg("%s", err.text);
    char *printed = check_round_trip(module, what, &n);
    if (code)
        check_machine_code(module, ptx, printed, n);
    free(printed);
    ir_module_free(module);
    free(text);
}

static void compile_and_check(const char *source, const char *arch, const char *flag, bool code)
{
    char ptx[300], what[400];
    snprintf(ptx, sizeof ptx, "%s/nvcc.ptx", scratch_dir());
    snprintf(what, sizeof what, "%s %s %s", strrchr(source, '/') + 1, arch, flag);
    if (run_quietly("'%s' -ptx -std=c++17 -rdc=true -w -arch=%s %s -o '%s' '%s'", WL_NVCC, arch,
                    flag, ptx, source) != 0)
        fail_msg("nvcc fails on %s: %s", what, command_output());
    check(ptx, what, code);
}

/* Each source for each architecture, the flags in turn so that each source meets each flag and each
 * architecture too; the machine code of every second one, because that takes the longest. */
static void test_sources(void **state)
{
    (void)state;
    if (!*WL_NVCC || !cuda_tool("ptxas"))
        skip();
    glob_t sources;
    assert_int_equal(glob(WL_SOURCE_DIR "/tests/ptx/cuda/*.cu", 0, NULL, &sources), 0);
    assert_true(sources.gl_pathc >= 10);
    for (size_t s = 0; s < sources.gl_pathc; s++)
        for (size_t a = 0; a < ARCHS; a++)
            compile_and_check(sources.gl_pathv[s], archs[a], flags[(s + a) % FLAGS],
                              (s + a) % 2 == 0);
    globfree(&sources);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sources)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
