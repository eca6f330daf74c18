/* What is said: messages of errors and of the log, names in sentences, the word that was meant. */
#include "base/error.h"
#include "base/log.h"
#include "base/names.h"
#include "base/nearest.h"
#include "support/test.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors ---- */

static void test_every_status_has_a_text(void **state)
{
    (void)state;
    assert_string_equal(wl_status_text(WL_OK), "success");
    for (int status = WL_OK; status < WL_STATUS_COUNT; status++)
        assert_string_not_equal(wl_status_text(status), "unknown status");
    assert_string_equal(wl_status_text(WL_STATE), "not possible in this state");
    assert_string_equal(wl_status_text(WL_STATUS_COUNT), "unknown status");
    assert_string_equal(wl_status_text((wl_status)-1), "unknown status");
}

static void test_failing_fills_the_error(void **state)
{
    (void)state;
    wl_error err = {0};
    assert_int_equal(wl_fail(&err, WL_PARSE, "line %d", 7), WL_PARSE);
    assert_int_equal(err.status, WL_PARSE);
    assert_string_equal(err.text, "line 7");
    assert_int_equal(wl_fail(NULL, WL_ARG, "nobody listens"), WL_ARG);
}

static void test_errno_gives_the_status(void **state)
{
    (void)state;
    static const struct {
        int code;
        wl_status status;
    } rows[] = {{ENOSPC, WL_NOSPACE}, {EDQUOT, WL_NOSPACE}, {ENOENT, WL_NOENT},
                {EEXIST, WL_EXISTS},  {ENOMEM, WL_NOMEM},   {EACCES, WL_IO}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        wl_error err = {0};
        char text[200];
        snprintf(text, sizeof text, "a.txt: %s", strerror(rows[i].code));
        errno = rows[i].code;
        assert_int_equal(wl_fail_errno(&err, "%s", "a.txt"), rows[i].status);
        assert_int_equal(err.status, rows[i].status);
        assert_string_equal(err.text, text);
        errno = rows[i].code;
        assert_int_equal(wl_fail_errno(NULL, "a.txt"), rows[i].status);
    }
}

/* A name is cut where the reason would not fit, at that very length and not before. */
static void test_a_long_name_is_cut_and_the_reason_is_not(void **state)
{
    (void)state;
    const char *reason = strerror(ENOENT);
    size_t room = sizeof((wl_error *)0)->text - sizeof "...: " - strlen(reason);
    char name[1200];
    for (size_t length = room - 1; length < sizeof name - 1; length += length < room + 1 ? 1 : 50) {
        wl_error err = {0};
        memset(name, 'n', sizeof name);
        name[length] = '\0';
        errno = ENOENT;
        wl_fail_errno(&err, "%s", name);
        const char *expected = length > room ? "...: " : "n: ";
        size_t at = (length > room ? room : length - 1);
        assert_int_equal(strspn(err.text, "n"), length > room ? room : length);
        assert_int_equal(strncmp(err.text + at, expected, strlen(expected)), 0);
        assert_string_equal(err.text + at + strlen(expected), reason);
    }
}

/* ---- the log ---- */

/* What wl_log writes to stderr for a message; static. */
static const char *logged(wl_log_level level, const char *text)
{
    static char said[8192];
    int saved = dup(STDERR_FILENO);
    FILE *file = tmpfile();
    dup2(fileno(file), STDERR_FILENO);
    wl_log(level, "%s", text);
    dup2(saved, STDERR_FILENO);
    close(saved);
    assert_int_equal(fseek(file, 0, SEEK_SET), 0);
    said[fread(said, 1, sizeof said - 1, file)] = '\0';
    fclose(file);
    return said;
}

static void test_each_line_is_marked(void **state)
{
    (void)state;
    assert_string_equal(logged(WL_LOG_INFO, "one"), "==WARPLENS== one\n");
    assert_string_equal(logged(WL_LOG_INFO, "one\ntwo"), "==WARPLENS== one\n==WARPLENS== two\n");
    assert_string_equal(logged(WL_LOG_INFO, ""), "==WARPLENS== \n");
}

static void test_a_level_is_said_up_to_the_most(void **state)
{
    (void)state;
    assert_int_equal(wl_log_get_level(), WL_LOG_INFO);
    for (int most = WL_LOG_ERROR; most <= WL_LOG_DEBUG; most++) {
        wl_log_set_level(most);
        assert_int_equal(wl_log_get_level(), most);
        for (int level = WL_LOG_ERROR; level <= WL_LOG_DEBUG; level++)
            assert_string_equal(logged(level, "x"), level <= most ? "==WARPLENS== x\n" : "");
    }
    wl_log_set_level(WL_LOG_INFO);
}

/* A line that does not fit whole is left out; those before it are said. */
static void test_what_does_not_fit_is_left_out(void **state)
{
    (void)state;
    char text[3072];
    memset(text, '\n', sizeof text);
    text[1000] = '\0';
    const char *said = logged(WL_LOG_INFO, text);
    size_t line = strlen("==WARPLENS== \n");
    assert_int_equal(strlen(said), 4095 / line * line);
}

/* ---- names ---- */

/* Stands in for the C++ ABI's: knows one name. */
static char *demangle_one(const char *mangled, char *buffer, size_t *length, int *status)
{
    (void)buffer;
    (void)length;
    (void)status;
    return strcmp(mangled, "_Z1av") == 0 ? strdup("a()") : NULL;
}

static void test_names_in_sentences(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", ""},
        {"_Z1av", "a()"},
        {"kernel _Z1av, line 3", "kernel a(), line 3"},
        {"in _Z1av.", "in a()."},
        {"in _Z1av...", "in a()..."},
        {"(_Z1av)_Z1av", "(a())a()"},
        {"_Z1bv and x_Z1av stay. ", "_Z1bv and x_Z1av stay. "},
        {"_Z1av$1 stays", "_Z1av$1 stays"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = wl_demangle_words(rows[i][0], demangle_one);
        assert_string_equal(text, rows[i][1]);
        free(text);
    }
}

/* ---- the nearest word ---- */

/* The distance at which `word` is near to what was typed; -1: it is not. */
static int distance(const char *typed, const char *word)
{
    wl_nearest search = {.typed = typed};
    wl_nearest_try(&search, word);
    return search.word ? (int)search.distance : -1;
}

static void test_distances(void **state)
{
    (void)state;
    static const struct {
        const char *typed, *word;
        int distance;
    } rows[] = {
        {"stats", "stats", 0},
        {"stat", "stats", 1},
        {"statss", "stats", 1},
        {"stots", "stats", 1},
        {"tsats", "stats", 1},
        {"stast", "stats", 1},
        {"sttas", "stats", 1},
        {"tsast", "stats", -1},
        {"xtxts", "stats", -1},
        {"profle", "profile", 1},
        {"porfile", "profile", 1},
        {"porfiel", "profile", 2},
        {"xrofix", "profile", -1},
        {"prxfixe", "profile", 2},
        {"xrxfixe", "profile", -1},
        {"d", "devices", -1},
        {"de", "devices", 1},
        {"dev", "devices", 1},
        {"ab", "cab", 1},
        {"a", "b", 1},
        {"a", "bc", -1},
        {"", "a", 1},
        {"", "ab", -1},
        {"xdevices", "devices", 1},
        {"abcdefgh", "hgfedcba", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (distance(rows[i].typed, rows[i].word) != rows[i].distance)
            fail_msg("%s, %s: %d", rows[i].typed, rows[i].word,
                     distance(rows[i].typed, rows[i].word));
}

/* Words of 40 letters are compared by letters, longer ones as a whole. */
static void test_long_words(void **state)
{
    (void)state;
    char typed[50], word[50];
    for (size_t length = 39; length <= 42; length++) {
        memset(typed, 'a', sizeof typed);
        memset(word, 'a', sizeof word);
        typed[length] = word[length] = '\0';
        assert_int_equal(distance(typed, word), 0);
        word[1] = 'b';
        assert_int_equal(distance(typed, word), length <= 40 ? 1 : -1);
    }
    memset(typed, 'a', sizeof typed);
    typed[41] = '\0';
    assert_int_equal(distance(typed, typed + 1), -1);
    assert_int_equal(distance(typed + 1, typed), 1); /* begins with it */
}

static void test_the_first_of_the_nearest_is_kept(void **state)
{
    (void)state;
    wl_nearest search = {.typed = "cat"};
    const char *words[] = {"dog", "bat", "hat", "cat", "car"};
    const char *nearest[] = {NULL, "bat", "bat", "cat", "cat"};
    for (int i = 0; i < 5; i++) {
        wl_nearest_try(&search, words[i]);
        if (nearest[i])
            assert_string_equal(search.word, nearest[i]);
        else
            assert_null(search.word);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_status_has_a_text),
        cmocka_unit_test(test_failing_fills_the_error),
        cmocka_unit_test(test_errno_gives_the_status),
        cmocka_unit_test(test_a_long_name_is_cut_and_the_reason_is_not),
        cmocka_unit_test(test_each_line_is_marked),
        cmocka_unit_test(test_a_level_is_said_up_to_the_most),
        cmocka_unit_test(test_what_does_not_fit_is_left_out),
        cmocka_unit_test(test_names_in_sentences),
        cmocka_unit_test(test_distances),
        cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_the_first_of_the_nearest_is_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
