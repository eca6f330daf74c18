/* Single instructions and declarations, cases/<target>.txt: "+ text" is PTX, "- text" is not. What
 * we say must be what the file says, and what ptxas says where it is installed. */
#include "support.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const targets[] = {"sm_90a", "sm_100a", "sm_120a"};

static char *load_cases(const char *target)
{
    char path[4096];
    size_t length;
    snprintf(path, sizeof path, WL_SOURCE_DIR "/tests/ptx/cases/%s.txt", target);
    return test_read(path, &length);
}

/* Accepted: parses, verifies and survives the round trip. */
static bool accepted(const char *text, const char *name, wl_error *err)
{
    ir_module *module;
    if (ptx_parse(text, strlen(text), name, &module, err) != WL_OK)
        return false;
    bool ok = ptx_verify(module, name, err) == WL_OK;
    size_t length;
    free(check_round_trip(module, name, &length));
    ir_module_free(module);
    return ok;
}

static void check_case(const char *line, const char *target)
{
    wl_error err = {0};
    char *text = wrap_body(line + 2, target);
    bool ok = accepted(text, target, &err);
    if (ok != (*line == '+'))
        fail_msg("%s\n%s", line, ok ? "should be refused" : err.text);
    if (!ok)
        assert_non_null(strstr(err.text, target)); /* names the place */
    free(text);
}

static void test_verdicts(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof targets / sizeof *targets; t++) {
        char *cases = load_cases(targets[t]), *save;
        unsigned count = 0;
        for (char *line = strtok_r(cases, "\n", &save); line;
             line = strtok_r(NULL, "\n", &save), count++)
            check_case(line, targets[t]);
        assert_true(count >= 3);
        free(cases);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
