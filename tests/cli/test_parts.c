/* What the commands share, by itself: arguments, terminals, names of profiles, files that appear whole
 * or not at all, captures, interrupts. */
#include "base/log.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/ptx.h"
#include "support/test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* A folder of the test's own, which is the current one while it runs. */
static int enter_folder(void **state)
{
    static char folder[] = "/tmp/warplens-cli-XXXXXX";
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    *state = mkdtemp(folder);
    wl_log_set_level(-1); /* messages are tested end to end */
    return *state ? chdir(folder) : -1;
}

static int leave_folder(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -r '%s'", (char *)*state);
    return chdir("/") || system(command);
}

/* ---- arguments ---- */

/* Letters of the options and numbers as `each` sees them; 'x' ends the reading. */
static bool note_option(void *state, int val, const char *arg)
{
    char *seen = state;
    snprintf(seen + strlen(seen), 20, "%c%s ", val, arg ? arg : "");
    return val != 'x';
}

static const struct poptOption rows[] = {{"number", 'n', POPT_ARG_STRING, NULL, 'n', NULL, NULL},
                                         {"flag", 'f', POPT_ARG_NONE, NULL, 'f', NULL, NULL},
                                         {"end", 'x', POPT_ARG_NONE, NULL, 'x', NULL, NULL},
                                         CLI_COMMON};

/* What is seen of a command line of words separated by blanks, then the arguments that are left in
 * brackets; "usage" where it is refused. */
static const char *parsed(const char *line, bool program_follows)
{
    static char seen[300], words[300];
    const char *argv[20];
    int argc = 0, status;
    seen[0] = '\0';
    snprintf(words, sizeof words, "%s", line);
    for (char *word = strtok(words, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    argv[argc] = NULL;
    const cli_syntax syntax = {rows, "[options]", program_follows, note_option, seen};
    poptContext context = cli_parse(argc, argv, &syntax, &status);
    assert_string_equal(argv[0], "stats");
    assert_int_equal(status, context ? CLI_OK : CLI_USAGE);
    if (!context)
        return "usage";
    const char **args = poptGetArgs(context);
    for (; args && *args; args++)
        sprintf(seen + strlen(seen), "[%s]", *args);
    poptFreeContext(context);
    return seen;
}

static void test_options_stand_anywhere(void **state)
{
    (void)state;
    assert_string_equal(parsed("stats", false), "");
    assert_string_equal(parsed("stats -n 3 a --flag b", false), "n3 f [a][b]");
    assert_string_equal(parsed("stats a --number=4", false), "n4 [a]");
    assert_string_equal(parsed("stats -- -f", false), "[-f]");
    assert_string_equal(parsed("stats -f a --flag b", true), "f [a][--flag][b]");
}

static void test_what_is_refused(void **state)
{
    (void)state;
    assert_string_equal(parsed("stats -n", false), "usage");
    assert_string_equal(parsed("stats --flog", false), "usage");
    assert_string_equal(parsed("stats -z", false), "usage");
    assert_string_equal(parsed("stats -x", false), "usage");
    assert_string_equal(parsed("stats a -z", true), "[a][-z]");
}

static const char *only_argument(int argc, const char **argv, int *status)
{
    static char kept[20];
    const cli_syntax syntax = {rows, "FILE", false, NULL, NULL};
    poptContext context = cli_parse(argc, argv, &syntax, status);
    const char *argument = cli_only_argument(context, "file", status);
    snprintf(kept, sizeof kept, "%s", argument ? argument : "");
    poptFreeContext(context);
    return argument ? kept : NULL;
}

static void test_only_argument(void **state)
{
    (void)state;
    int status;
    const char *argv[] = {"stats", "a", "b", NULL};
    assert_null(only_argument(3, argv, &status));
    assert_int_equal(status, CLI_USAGE);
    argv[2] = NULL;
    assert_string_equal(only_argument(2, argv, &status), "a");
    assert_int_equal(status, CLI_OK);
    argv[1] = NULL;
    assert_null(only_argument(1, argv, &status));
    assert_int_equal(status, CLI_USAGE);
    assert_int_equal(cli_usage_error("stats", "no"), CLI_USAGE);
    assert_int_equal(cli_fail(&(wl_error){.text = "no"}), CLI_FAILED);
}

static void test_levels_of_messages(void **state)
{
    (void)state;
    parsed("stats -v", false);
    assert_int_equal(wl_log_get_level(), WL_LOG_DEBUG);
    parsed("stats -q", false);
    assert_int_equal(wl_log_get_level(), WL_LOG_ERROR);
}

/* ---- terminals ---- */

/* The end of a terminal of so many columns that a program would have. */
static FILE *terminal_of(unsigned short columns, int *other_end)
{
    struct winsize size = {.ws_row = 20, .ws_col = columns};
    *other_end = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(*other_end >= 0 && grantpt(*other_end) == 0 && unlockpt(*other_end) == 0);
    assert_int_equal(ioctl(*other_end, TIOCSWINSZ, &size), 0);
    FILE *file = fopen(ptsname(*other_end), "r+");
    assert_non_null(file);
    return file;
}

static unsigned width_of(unsigned short columns, const char *variable)
{
    int other_end;
    FILE *file = terminal_of(columns, &other_end);
    setenv("COLUMNS", variable, 1);
    unsigned width = cli_width(file);
    fclose(file);
    close(other_end);
    return width;
}

static void test_width(void **state)
{
    (void)state;
    assert_int_equal(width_of(40, "200"), 40);
    assert_int_equal(width_of(39, "200"), 200);
    assert_int_equal(width_of(39, "40"), 40);
    assert_int_equal(width_of(39, "39"), 100);
    FILE *file = fopen("/dev/null", "w");
    setenv("COLUMNS", "77", 1);
    assert_int_equal(cli_width(file), 77);
    unsetenv("COLUMNS");
    assert_int_equal(cli_width(file), 100);
    fclose(file);
}

static void test_color(void **state)
{
    (void)state;
    int other_end;
    FILE *file = terminal_of(80, &other_end), *none = fopen("/dev/null", "w");
    unsetenv("NO_COLOR");
    unsetenv("TERM");
    assert_true(cli_color(file));
    assert_false(cli_color(none));
    setenv("TERM", "dumb", 1);
    assert_false(cli_color(file));
    setenv("TERM", "xterm", 1);
    assert_true(cli_color(file));
    setenv("NO_COLOR", "", 1);
    assert_true(cli_color(file));
    setenv("NO_COLOR", "1", 1);
    assert_false(cli_color(file));
    fclose(none);
    fclose(file);
    close(other_end);
}

/* ---- the profile's name ---- */

static const char *chosen(const char *pattern, const char *program)
{
    static char path[300];
    wl_error err;
    cli_output out;
    prog_options options = {.output = (char *)pattern};
    assert_int_equal(cli_output_choose(&options, program, &out, &err), WL_OK);
    snprintf(path, sizeof path, "%s", out.path);
    cli_output_clear(&out);
    assert_null(out.path);
    return path;
}

static void test_names_of_profiles(void **state)
{
    (void)state;
    char text[300], host[256] = "";
    gethostname(host, sizeof host - 1);
    setenv("RANK", "7", 1);
    unsetenv("NO_RANK");
    assert_string_equal(chosen("", "/bin/app"), "app.wlprof");
    assert_string_equal(chosen("", "app"), "app.wlprof");
    assert_string_equal(chosen("x", "app"), "x");
    snprintf(text, sizeof text, "a%d-%s.7", (int)getpid(), host);
    assert_string_equal(chosen("a%p-%h.%q{RANK}", "app"), text);
    assert_string_equal(chosen("%q{NO_RANK}b%q{RANK}", "app"), "b7");
    assert_string_equal(chosen("a%q{RANK", "app"), "a%q{RANK");
    assert_string_equal(chosen("a%z%", "app"), "a%z%");
}

static wl_status choice(const char *output, bool force, cli_output *out)
{
    wl_error err;
    prog_options options = {.output = (char *)output, .force = force};
    wl_status status = cli_output_choose(&options, "app", out, &err);
    free(out->path);
    return status;
}

static void test_what_is_there_already(void **state)
{
    (void)state;
    cli_output out;
    assert_int_equal(choice("", false, &out), WL_OK);
    assert_true(out.keep_older && !out.replace);
    assert_int_equal(choice("x", false, &out), WL_OK);
    assert_false(out.keep_older || out.replace);
    assert_int_equal(choice("", true, &out), WL_OK);
    assert_true(out.replace && !out.keep_older);
    test_write_text("app.wlprof", "older");
    test_write_text("x", "older");
    assert_int_equal(choice("", false, &out), WL_OK);
    assert_int_equal(choice("x", false, &out), WL_EXISTS);
    assert_int_equal(choice("x", true, &out), WL_OK);
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_int_equal(choice("folder", true, &out), WL_ARG);
}

/* ---- files ---- */

static void assert_file(const char *path, const char *expected)
{
    size_t length;
    char *text = test_read(path, &length);
    assert_string_equal(text, expected);
    free(text);
}

static void test_a_file_appears_whole(void **state)
{
    (void)state;
    wl_error err = {0};
    FILE *file = cli_create("a", false, &err);
    assert_non_null(file);
    fputs("new", file);
    assert_int_equal(access("a", F_OK), -1);
    assert_int_equal(cli_finish(file, "a", WL_OK, &err), CLI_OK);
    assert_file("a", "new");
    assert_null(cli_create("a", false, &err));
    assert_int_equal(err.status, WL_EXISTS);
    file = cli_create("a", true, &err);
    assert_non_null(file);
    fputs("newer", file);
    assert_file("a", "new");
    assert_int_equal(cli_finish(file, "a", WL_OK, &err), CLI_OK);
    assert_file("a", "newer");
}

static void test_a_failure_leaves_what_was_there(void **state)
{
    (void)state;
    wl_error err = {.status = WL_IO, .text = "it failed"};
    test_write_text("a", "old");
    FILE *file = cli_create("a", true, &err);
    assert_non_null(file);
    fputs("half", file);
    assert_int_equal(cli_finish(file, "a", WL_IO, &err), CLI_FAILED);
    assert_file("a", "old");
    assert_int_equal(system("test \"$(ls)\" = a"), 0); /* nothing else */
    assert_null(cli_create("nowhere/a", false, &err));
}

static void test_special_files(void **state)
{
    (void)state;
    wl_error err = {0};
    assert_ptr_equal(cli_create("-", false, &err), stdout);
    FILE *file = cli_create("/dev/null", false, &err);
    assert_non_null(file);
    assert_int_equal(cli_finish(file, "/dev/null", WL_OK, &err), CLI_OK);
    file = cli_create("/dev/full", false, &err);
    fputs("text", file);
    assert_int_equal(cli_finish(file, "/dev/full", WL_OK, &err), CLI_FAILED);
    assert_int_equal(err.status, WL_NOSPACE);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_null(cli_create("pipe", false, &err)); /* nobody reads */
    assert_int_equal(err.status, WL_ARG);
}

/* ---- captures and PTX ---- */

static void test_captures_by_their_names(void **state)
{
    (void)state;
    assert_false(cli_has_captures("."));
    assert_true(cli_has_captures("nowhere")); /* what was in it is not known */
    test_write_text("wlcap", "");
    test_write_text("a.wlcap.1", "");
    assert_false(cli_has_captures("."));
    test_write_text("a.wlcap", "");
    assert_true(cli_has_captures("."));
}

static wl_status note_ptx(void *ctx, const char *name, const char *text, size_t length,
                          wl_error *err)
{
    (void)err;
    snprintf(ctx, 200, "%s: %s (%zu)", name, text, length);
    return WL_OK;
}

static void test_ptx_of_a_text(void **state)
{
    (void)state;
    static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
    char seen[200] = "", expected[200];
    wl_error err = {0};
    test_write_text("k.ptx", ptx);
    assert_int_equal(ptx_each("k.ptx", note_ptx, seen, &err), WL_OK);
    snprintf(expected, sizeof expected, "k.ptx: %s (%zu)", ptx, sizeof ptx - 1);
    assert_string_equal(seen, expected);
    assert_int_equal(ptx_each("nowhere", note_ptx, seen, &err), WL_NOENT);
}

/* ---- interrupts ---- */

static void test_interrupts_are_noted(void **state)
{
    (void)state;
    static const int noted[] = {SIGINT, SIGTERM, SIGQUIT};
    signal(SIGHUP, SIG_IGN);
    cli_note_interrupts();
    assert_int_equal(cli_interrupt(), 0);
    for (size_t i = 0; i < sizeof noted / sizeof *noted; i++) {
        raise(noted[i]);
        assert_int_equal(cli_interrupt(), noted[i]);
    }
    raise(SIGHUP); /* as it was told to be: ignored */
    assert_int_equal(cli_interrupt(), SIGQUIT);
    cli_note_interrupts();
    assert_int_equal(cli_interrupt(), 0);
    signal(SIGHUP, SIG_DFL);
    cli_note_interrupts();
    raise(SIGHUP);
    assert_int_equal(cli_interrupt(), SIGHUP);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define T(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
        T(test_options_stand_anywhere),
        T(test_what_is_refused),
        T(test_only_argument),
        T(test_levels_of_messages),
        T(test_width),
        T(test_color),
        T(test_names_of_profiles),
        T(test_what_is_there_already),
        T(test_a_file_appears_whole),
        T(test_a_failure_leaves_what_was_there),
        T(test_special_files),
        T(test_captures_by_their_names),
        T(test_ptx_of_a_text),
        T(test_interrupts_are_noted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
