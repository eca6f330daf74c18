/* What must hold for all PTX: it verifies, what is printed parses to an equal module, and ptxas
 * (where there is one) makes of it what it makes of the original. Without arguments over the
 * committed PTX, else over the files and folders named. */
#include "support.h"
#include "support/test.h"

#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 4096 };

static char *files[MAX_FILES];
static size_t nfiles;

static int add_file(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)ftw;
    if (type == FTW_F && fnmatch("*.ptx", path, 0) == 0 && nfiles < MAX_FILES)
        files[nfiles++] = strdup(path);
    return 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void find_files(int count, const char *const *places)
{
    for (int i = 0; i < count; i++)
        nftw(places[i], add_file, 16, FTW_PHYS);
    qsort(files, nfiles, sizeof *files, by_name);
}

static ir_module *load(const char *path)
{
    size_t length;
    wl_error err;
    char *text = test_read(path, &length);
    ir_module *module = parse_ok(text, path);
    if (ptx_verify(module, path, &err) != WL_OK)
        fail_msg("%s", err.text);
    free(text);
    return module;
}

static void test_round_trip(void **state)
{
    (void)state;
    assert_true(nfiles > 0);
    for (size_t i = 0; i < nfiles; i++) {
        size_t length;
        ir_module *module = load(files[i]);
        free(check_round_trip(module, files[i], &length));
        ir_module_free(module);
    }
}

static void test_assembles(void **state)
{
    (void)state;
    if (!cuda_tool("ptxas"))
        skip();
    for (size_t i = 0; i < nfiles; i++) {
        size_t length;
        ir_module *module = load(files[i]);
        char *printed = check_round_trip(module, files[i], &length);
        check_machine_code(module, files[i], printed, length);
        free(printed);
        ir_module_free(module);
    }
}

/* The comparison must notice a change: else the test above says nothing. */
static void test_notices_changes(void **state)
{
    (void)state;
    if (!cuda_tool("ptxas") || !cuda_tool("nvdisasm"))
        skip();
    char path[300];
    static const char text[] =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 p){.reg .b64 a;"
        "ld.param.u64 a,[p];st.global.u32 [a],7;ret;}";
    snprintf(path, sizeof path, "%s/change.ptx", scratch_dir());
    test_write(path, text, sizeof text - 1);
    ir_module *module = parse_ok(text, path);
    assert_null(machine_code_problem(module, path, text, sizeof text - 1));
    char *changed = strdup(text);
    *strstr(changed, "7;") = '8';
    assert_non_null(strstr(machine_code_problem(module, path, changed, sizeof text - 1),
                           "other machine code"));
    *strstr(changed, "ret") = 'm';
    assert_non_null(strstr(machine_code_problem(module, path, changed, sizeof text - 1),
                           "refuses what is printed"));
    free(changed);
    ir_module_free(module);
}

int main(int argc, char **argv)
{
    static const char *const committed[] = {WL_SOURCE_DIR "/tests/ptx/corpus",
                                            WL_SOURCE_DIR "/examples"};
    if (argc > 1)
        find_files(argc - 1, (const char *const *)argv + 1);
    else
        find_files(2, committed);
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_round_trip),
                                       cmocka_unit_test(test_assembles),
                                       cmocka_unit_test(test_notices_changes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
