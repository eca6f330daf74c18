/* The cases of cases/<target>.txt before the real assembler: ptxas must accept what we accept, as
 * we print it, and refuse what we refuse. Skipped where there is no toolkit. */
#include "support.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool assembles(const char *text, size_t length, const char *target)
{
    char path[300];
    snprintf(path, sizeof path, "%s/case.ptx", scratch_dir());
    test_write(path, text, length);
    return run_quietly("'%s' -arch=%s -O0 %s -o %s.cubin", cuda_tool("ptxas"), target, path,
                       path) == 0;
}

static char *printed_form(const char *line, const char *target)
{
    char *text = wrap_body(line + 2, target), *printed;
    size_t length;
    ir_module *module = parse_ok(text, line);
    printed = check_round_trip(module, line, &length);
    ir_module_free(module);
    free(text);
    return printed;
}

/* Many kernels in one module save most of the assembler's start: everything behind the head, with a
 * name of its own. */
static void append_kernel(FILE *all, const char *printed, unsigned number)
{
    const char *kernel = strstr(printed, ".visible .entry k(");
    assert_non_null(kernel);
    fprintf(all, ".visible .entry k%u(%s", number, kernel + strlen(".visible .entry k("));
}

static bool is_alone(const char *line)
{
    return strstr(line, "##") || strstr(line, ".file") || strstr(line, ".section") ||
           strstr(line, ".global ");
}

static void check_accepted(char *cases, const char *target)
{
    char *text, *save;
    size_t length;
    unsigned count = 0;
    FILE *all = open_memstream(&text, &length);
    fprintf(all, ".version 9.0\n.target %s\n.address_size 64\n", target);
    for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        if (*line != '+')
            continue;
        char *printed = printed_form(line, target);
        if (!is_alone(line))
            append_kernel(all, printed, count++);
        else if (!assembles(printed, strlen(printed), target))
            fail_msg("ptxas refuses: %s\nprinted as:\n%s", line, printed);
        free(printed);
    }
    fclose(all);
    if (!assembles(text, length, target))
        fail_msg("ptxas refuses: %s", command_output());
    free(text);
}

static void check_refused(char *cases, const char *target)
{
    char *save;
    for (char *line = strtok_r(cases, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *text = *line == '-' ? wrap_body(line + 2, target) : NULL;
        if (text && assembles(text, strlen(text), target))
            fail_msg("ptxas accepts: %s", line);
        free(text);
    }
}

static void check_target(const char *target)
{
    char path[4096];
    size_t length;
    if (!cuda_tool("ptxas"))
        skip();
    snprintf(path, sizeof path, WL_SOURCE_DIR "/tests/ptx/cases/%s.txt", target);
    char *cases = test_read(path, &length);
    check_accepted(cases, target);
    free(cases);
    cases = test_read(path, &length);
    check_refused(cases, target);
    free(cases);
}

static void test_sm_90a(void **state)
{
    (void)state;
    check_target("sm_90a");
}

static void test_sm_100a(void **state)
{
    (void)state;
    check_target("sm_100a");
}

static void test_sm_120a(void **state)
{
    (void)state;
    check_target("sm_120a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_sm_90a),
                                       cmocka_unit_test(test_sm_100a),
                                       cmocka_unit_test(test_sm_120a)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
