/* Files that appear whole or not at all, under names that are free, taken, links or no files. */
#include "profile/publish.h"

#include "story.h"
#include "support/test.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static wl_error err;
static char folder[] = "/tmp/publish-XXXXXX";

/* A name in the test's folder, one of several buffers. */
static const char *in_folder(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", folder, name);
    return path;
}

static void expect_text(const char *name, const char *text)
{
    char *found = test_read(in_folder(name), NULL);
    assert_string_equal(found, text);
    free(found);
}

static mode_t mode_of(const char *name)
{
    struct stat st;
    assert_int_equal(stat(in_folder(name), &st), 0);
    return st.st_mode & 07777;
}

static void expect_nothing(const char *name)
{
    struct stat st;
    assert_int_equal(lstat(in_folder(name), &st), -1);
}

/* Begins a file of this name and writes it. */
static char *begin(const char *name, bool force, const char *text)
{
    char *temp;
    story_expect(publish_begin(in_folder(name), force, &temp, &err), &err);
    test_write_text(temp, text);
    return temp;
}

static void replace(const char *name, const char *text)
{
    story_expect(publish_end(begin(name, true, text), in_folder(name), true, &err), &err);
}

static void a_name_is_taken_when_the_file_is_whole(void **state)
{
    (void)state;
    char *temp = begin("new", false, "whole");
    expect_nothing("new");
    story_expect(publish_end(temp, in_folder("new"), false, &err), &err);
    expect_text("new", "whole");
    temp = begin("discarded", false, "never");
    char *copy = strdup(temp);
    publish_discard(temp);
    assert_int_equal(access(copy, F_OK), -1);
    free(copy);
    expect_nothing("discarded");
    publish_discard(NULL);
}

static void what_is_there_stays(void **state)
{
    (void)state;
    char *temp;
    replace("there", "first");
    assert_int_equal(publish_begin(in_folder("there"), false, &temp, &err), WL_EXISTS);
    assert_non_null(strstr(err.text, "-f replaces it"));
    assert_null(temp);
    replace("there", "second");
    expect_text("there", "second");
    temp = begin("between", false, "ours");
    char *copy = strdup(temp);
    test_write_text(in_folder("between"), "theirs");
    assert_int_equal(publish_end(temp, in_folder("between"), false, &err), WL_EXISTS);
    expect_text("between", "theirs");
    assert_int_equal(access(copy, F_OK), -1);
    free(copy);
}

static void only_files_are_replaced(void **state)
{
    (void)state;
    char *temp;
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_int_equal(mkdir(in_folder("sub"), 0700), 0);
    assert_int_equal(symlink("/dev/null", in_folder("null")), 0);
    static const char *const names[] = {"pipe", "sub", "null"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(publish_begin(in_folder(names[i]), true, &temp, &err), WL_ARG);
        assert_non_null(strstr(err.text, "is not a regular file"));
        assert_null(temp);
    }
    assert_int_equal(publish_begin(in_folder("no/such"), true, &temp, &err), WL_NOENT);
    assert_null(temp);
}

static void links_and_modes_stay(void **state)
{
    (void)state;
    mode_t mask = umask(027);
    replace("target", "old");
    assert_int_equal(mode_of("target"), 0640);
    assert_int_equal(chmod(in_folder("target"), 0604), 0);
    assert_int_equal(symlink("target", in_folder("link")), 0);
    replace("link", "new");
    expect_text("target", "new");
    assert_int_equal(mode_of("target"), 0604);
    assert_int_equal(symlink("nowhere", in_folder("dangling")), 0);
    replace("dangling", "file");
    expect_text("dangling", "file");
    expect_nothing("nowhere");
    umask(mask);
}

static void keep_older(const char *name, const char *text, const char *want)
{
    char *older;
    story_expect(publish_end_beside(begin(name, true, text), in_folder(name), &older, &err), &err);
    if (want)
        assert_string_equal(older, in_folder(want));
    else
        assert_null(older);
    free(older);
}

static void older_ones_get_numbers(void **state)
{
    (void)state;
    keep_older("a.b.prof", "1", NULL);
    keep_older("a.b.prof", "2", "a.b.1.prof");
    test_write_text(in_folder("a.b.2.prof"), "somebody's");
    keep_older("a.b.prof", "3", "a.b.3.prof");
    expect_text("a.b.prof", "3");
    expect_text("a.b.1.prof", "1");
    expect_text("a.b.2.prof", "somebody's");
    expect_text("a.b.3.prof", "2");
    keep_older("plain", "1", NULL);
    keep_older("plain", "2", "plain.1");
    expect_text("plain.1", "1");
}

/* Then a file that is opened may have the number 0. */
static void standard_input_may_be_closed(void **state)
{
    (void)state;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    replace("zero", "written");
    assert_int_equal(fcntl(STDIN_FILENO, F_GETFD), -1); /* and closed again */
    if (kept >= 0) {
        dup2(kept, STDIN_FILENO);
        close(kept);
    }
    expect_text("zero", "written");
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[PATH_MAX];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_name_is_taken_when_the_file_is_whole),
        cmocka_unit_test(what_is_there_stays),
        cmocka_unit_test(only_files_are_replaced),
        cmocka_unit_test(links_and_modes_stay),
        cmocka_unit_test(older_ones_get_numbers),
        cmocka_unit_test(standard_input_may_be_closed),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
