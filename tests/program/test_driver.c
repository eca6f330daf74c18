/* Where NVIDIA's driver is looked for. */
#include "program/driver_path.h"
#include "support/test.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[] = "/tmp/warplens-driver-XXXXXX";

/* Whether LD_LIBRARY_PATH leads to the libcuda.so.1 of the current folder. */
static bool finds_it(const char *folders)
{
    char path[PATH_MAX], real[PATH_MAX];
    setenv("LD_LIBRARY_PATH", folders, 1);
    return prog_find_driver(path, sizeof path) && realpath(path, real) &&
           strncmp(real, folder, strlen(folder)) == 0;
}

static void absolute_folders_only(void **state)
{
    char both[PATH_MAX];
    (void)state;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    test_write("libcuda.so.1", "", 0);
    assert_true(finds_it(folder));
    snprintf(both, sizeof both, "/no/such:%s", folder);
    assert_true(finds_it(both));
    assert_false(finds_it("."));
    assert_false(finds_it(""));
    assert_false(finds_it(":"));
    assert_false(finds_it("../"));
    unlink("libcuda.so.1");
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(absolute_folders_only)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
