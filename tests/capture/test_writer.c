/* The writer inside somebody else's process: full disks, limits, closed descriptors, forks.
 * write() is wrapped. */
#include "sample.h"
#include "support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- write() that misbehaves ---- */

static struct {
    int interrupts; /* calls that fail with EINTR */
    size_t at_most; /* bytes a call; 0: all */
    long long room; /* bytes until the disk is full; -1: never */
    int error;      /* then */
    int calls;
} disk = {.room = -1};

ssize_t __real_write(int fd, const void *data, size_t size);
ssize_t __wrap_write(int fd, const void *data, size_t size);

ssize_t __wrap_write(int fd, const void *data, size_t size)
{
    disk.calls++;
    if (disk.interrupts) {
        disk.interrupts--;
        errno = EINTR;
        return -1;
    }
    if (disk.at_most && size > disk.at_most)
        size = disk.at_most;
    if (disk.room == 0) {
        errno = disk.error;
        return -1;
    }
    if (disk.room > 0 && size > (size_t)disk.room)
        size = (size_t)disk.room;
    ssize_t n = __real_write(fd, data, size);
    disk.room -= disk.room > 0 ? n : 0;
    return n;
}

/* ---- the usual ---- */

typedef struct fixture {
    wl_arena *arena;
    const char *path;
    cap_writer *writer;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->arena = wl_arena_new();
    f->path = sample_path(f->arena, "writer");
    disk.room = -1;
    disk.at_most = 0;
    disk.interrupts = 0;
    *state = f;
    return cap_create(f->path, &f->writer, NULL);
}

static int teardown(void **state)
{
    fixture *f = *state;
    cap_close(f->writer);
    unlink(f->path);
    wl_arena_free(f->arena);
    free(f);
    return 0;
}

static wl_status put(fixture *f, uint32_t call)
{
    return cap_write_skipped(f->writer, &(cap_skipped){"kernel", "reason", call});
}

/* Records that can be read, which must be numbers 1 .. n; *status is how reading ended. */
static uint32_t readable(const char *path, wl_status *status)
{
    cap_reader *reader;
    cap_record record;
    wl_error err;
    bool end = false;
    uint32_t n = 0;
    *status = cap_open(path, &reader, &err);
    if (*status)
        return 0;
    while (!(*status = cap_read(reader, &record, &end, &err)) && !end)
        assert_int_equal(record.skipped.call, ++n);
    cap_reader_free(reader);
    return n;
}

static void expect_readable(const fixture *f, uint32_t want)
{
    wl_status status;
    assert_int_equal(readable(f->path, &status), want);
    assert_int_equal(status, WL_OK);
}

/* ---- tests ---- */

static void one_write_a_record(void **state)
{
    fixture *f = *state;
    disk.calls = 0;
    for (uint32_t i = 1; i <= 10; i++)
        assert_int_equal(put(f, i), WL_OK);
    assert_int_equal(disk.calls, 10);
    expect_readable(f, 10);
}

static void held_records_go_together(void **state)
{
    fixture *f = *state;
    disk.calls = 0;
    assert_int_equal(cap_hold(f->writer, true), WL_OK);
    for (uint32_t i = 1; i <= 10; i++)
        assert_int_equal(put(f, i), WL_OK);
    assert_int_equal(disk.calls, 0);
    expect_readable(f, 0);
    assert_int_equal(cap_hold(f->writer, false), WL_OK);
    assert_int_equal(disk.calls, 1);
    assert_int_equal(put(f, 11), WL_OK);
    expect_readable(f, 11);
    assert_int_equal(cap_written(f->writer), 11);
}

/* More than is gathered, and the rest with the end. */
static void held_records_overflow_and_end(void **state)
{
    enum { COUNT = 60000 };
    fixture *f = *state;
    disk.calls = 0;
    assert_int_equal(cap_hold(f->writer, true), WL_OK);
    for (uint32_t i = 1; i <= COUNT; i++)
        assert_int_equal(put(f, i), WL_OK);
    assert_in_range(disk.calls, 2, COUNT / 100);
    cap_close(f->writer);
    f->writer = NULL;
    expect_readable(f, COUNT);
}

static void held_records_meet_a_full_disk(void **state)
{
    fixture *f = *state;
    assert_int_equal(cap_hold(f->writer, true), WL_OK);
    for (uint32_t i = 1; i <= 10; i++)
        assert_int_equal(put(f, i), WL_OK);
    disk.room = 50;
    disk.error = ENOSPC;
    assert_int_equal(cap_hold(f->writer, false), WL_NOSPACE);
    disk.room = -1;
    assert_int_equal(put(f, 11), WL_NOSPACE);
    expect_readable(f, 0);
}

static void interrupted_and_short_writes(void **state)
{
    fixture *f = *state;
    disk.interrupts = 3;
    disk.at_most = 7;
    for (uint32_t i = 1; i <= 5; i++)
        assert_int_equal(put(f, i), WL_OK);
    expect_readable(f, 5);
}

static void fill_disk(fixture *f, long long room, int error, wl_status want)
{
    wl_error err = {0};
    assert_int_equal(put(f, 1), WL_OK);
    assert_int_equal(put(f, 2), WL_OK);
    assert_int_equal(cap_state(f->writer, &err), WL_OK);
    disk.room = room;
    disk.error = error;
    assert_int_equal(put(f, 3), want);
    disk.room = -1; /* there is room again, but a capture with a hole would mislead */
    assert_int_equal(put(f, 4), want);
    assert_int_equal(cap_state(f->writer, &err), want);
    assert_non_null(strstr(err.text, f->path));
    assert_int_equal(cap_written(f->writer), 2);
    expect_readable(f, 2); /* and no torn third */
}

static void full_disk(void **state)
{
    fill_disk(*state, 0, ENOSPC, WL_NOSPACE);
}

static void full_disk_within_a_record(void **state)
{
    fill_disk(*state, 20, ENOSPC, WL_NOSPACE);
}

static void quota(void **state)
{
    fill_disk(*state, 5, EDQUOT, WL_NOSPACE);
}

static void broken_disk(void **state)
{
    fill_disk(*state, 5, EIO, WL_IO);
}

static void full_disk_at_the_start(void **state)
{
    fixture *f = *state;
    const char *path = sample_path(f->arena, "never");
    cap_writer *writer = NULL;
    wl_error err;
    disk.room = 5;
    disk.error = ENOSPC;
    assert_int_equal(cap_create(path, &writer, &err), WL_NOSPACE);
    assert_null(writer);
    assert_int_equal(access(path, F_OK), -1);
}

/* In a child, whose limit does not bind the others. It would die of SIGXFSZ. */
static void limit_on_file_sizes(void **state)
{
    fixture *f = *state;
    pid_t child = fork();
    if (child == 0) {
        struct rlimit limit = {300, 300};
        const struct timespec now = {0};
        sigset_t set;
        uint32_t n = 1;
        signal(SIGXFSZ, SIG_DFL);
        setrlimit(RLIMIT_FSIZE, &limit);
        while (put(f, n) == WL_OK && n < 100)
            n++;
        sigemptyset(&set);
        sigaddset(&set, SIGXFSZ);
        bool pending = sigtimedwait(&set, NULL, &now) == SIGXFSZ;
        _exit(n < 100 && n > 1 && cap_state(f->writer, NULL) == WL_NOSPACE && !pending ? 0 : 1);
    }
    int result;
    wl_status status;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_true(WIFEXITED(result));
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_true(readable(f->path, &status) >= 1);
    assert_int_equal(status, WL_OK);
}

static void exists_already(void **state)
{
    fixture *f = *state;
    cap_writer *writer;
    wl_error err;
    assert_int_equal(cap_create(f->path, &writer, &err), WL_EXISTS);
    assert_non_null(strstr(err.text, f->path));
    assert_int_equal(cap_create("/nowhere/at/all", &writer, &err), WL_NOENT);
    expect_readable(f, 0);
}

static int descriptor_of(const char *path)
{
    struct stat want, st;
    assert_int_equal(stat(path, &want), 0);
    for (int fd = 0; fd < 1024; fd++)
        if (fstat(fd, &st) == 0 && st.st_ino == want.st_ino && st.st_dev == want.st_dev)
            return fd;
    return -1;
}

static void descriptor_is_high_and_not_inherited(void **state)
{
    fixture *f = *state;
    int fd = descriptor_of(f->path);
    assert_true(fd >= 200);
    assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
}

/* The application closes all descriptors and opens a file that gets our number. */
static void descriptor_taken_away(void **state)
{
    fixture *f = *state;
    const char *other = sample_path(f->arena, "other");
    struct stat st;
    assert_int_equal(put(f, 1), WL_OK);
    int ours = descriptor_of(f->path);
    close(ours);
    int fd = open(other, O_RDWR | O_CREAT, 0600);
    assert_int_equal(dup2(fd, ours), ours);
    assert_int_equal(put(f, 2), WL_OK);
    assert_int_equal(put(f, 3), WL_OK);
    assert_int_equal(fstat(fd, &st), 0);
    assert_int_equal(st.st_size, 0); /* nothing of ours went there */
    expect_readable(f, 3);
    cap_close(f->writer);
    f->writer = NULL;
    assert_int_equal(fcntl(ours, F_GETFD) >= 0, 1); /* and it is still open */
    close(ours);
    close(fd);
    unlink(other);
}

/* As long as its writer lives, whatever the application does with descriptors. */
static void in_use_while_it_is_written(void **state)
{
    fixture *f = *state;
    assert_true(cap_in_use(f->path));
    close(descriptor_of(f->path));
    assert_false(cap_in_use(f->path)); /* nothing is known until the next record */
    assert_int_equal(put(f, 1), WL_OK);
    assert_true(cap_in_use(f->path));
    assert_false(cap_in_use("/no/such/file"));
    pid_t child = fork();
    if (child == 0) {
        cap_abandon(f->writer);
        _exit(cap_in_use(f->path) ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_true(cap_in_use(f->path)); /* the child's end is not its parent's */
    cap_close(f->writer);
    f->writer = NULL;
    assert_false(cap_in_use(f->path));
}

static void file_taken_away(void **state)
{
    fixture *f = *state;
    close(descriptor_of(f->path));
    unlink(f->path);
    assert_int_not_equal(put(f, 1), WL_OK);
    assert_int_not_equal(cap_state(f->writer, NULL), WL_OK);
}

static void directory_changes(void **state)
{
    fixture *f = *state;
    char before[4096], name[64];
    cap_writer *writer;
    snprintf(name, sizeof name, "warplens-%ld-relative", (long)getpid());
    assert_non_null(getcwd(before, sizeof before));
    char *folder = strdup(f->path);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(chdir(folder), 0);
    unlink(name);
    assert_int_equal(cap_create(name, &writer, NULL), WL_OK);
    assert_int_equal(chdir("/"), 0);
    close(descriptor_of(wl_arena_printf(f->arena, "%s/%s", folder, name)));
    assert_int_equal(cap_write_skipped(writer, &(cap_skipped){"k", "r", 1}), WL_OK);
    cap_close(writer);
    assert_int_equal(unlink(wl_arena_printf(f->arena, "%s/%s", folder, name)), 0);
    assert_int_equal(chdir(before), 0);
    free(folder);
}

static void forked_child_lets_go(void **state)
{
    fixture *f = *state;
    assert_int_equal(put(f, 1), WL_OK);
    pid_t child = fork();
    if (child == 0) {
        cap_abandon(f->writer);
        cap_abandon(NULL);
        int left = descriptor_of(f->path);
        _exit(left == -1 && put(f, 9) == WL_STATE ? 0 : 1);
    }
    int result;
    assert_int_equal(waitpid(child, &result, 0), child);
    assert_int_equal(WEXITSTATUS(result), 0);
    assert_int_equal(put(f, 2), WL_OK);
    expect_readable(f, 2);
}

static void oversized_record(void **state)
{
    fixture *f = *state;
    static const char byte = 'x';
    cap_module module = {
        .id = 1, .name = "", .code = &byte, .length = (uint64_t)CAP_MAX_PAYLOAD + 1};
    assert_int_equal(cap_write_module(f->writer, &module), WL_LIMIT);
    assert_int_equal(put(f, 1), WL_OK); /* the others are not concerned */
    assert_int_equal(cap_written(f->writer), 1);
    assert_int_equal(cap_state(f->writer, NULL), WL_OK);
    expect_readable(f, 1);
}

static unsigned open_descriptors(void)
{
    unsigned count = 0;
    DIR *folder = opendir("/proc/self/fd");
    assert_non_null(folder);
    while (readdir(folder))
        count++;
    closedir(folder);
    return count;
}

static void errno_is_kept(void **state)
{
    fixture *f = *state;
    disk.interrupts = 1;
    errno = 77;
    assert_int_equal(put(f, 1), WL_OK);
    assert_int_equal(errno, 77);
}

static void goes_on_behind_a_torn_record(void **state)
{
    fixture *f = *state;
    struct stat st;
    assert_int_equal(put(f, 1), WL_OK);
    assert_int_equal(put(f, 2), WL_OK);
    cap_close(f->writer);
    assert_int_equal(stat(f->path, &st), 0);
    FILE *file = fopen(f->path, "a");
    assert_non_null(file);
    fputs("half a record", file);
    fclose(file);
    assert_int_equal(cap_append(f->path, (uint64_t)st.st_size, &f->writer, NULL), WL_OK);
    assert_int_equal(put(f, 3), WL_OK);
    expect_readable(f, 3);
    cap_close(f->writer);
    f->writer = NULL;
    unsigned open = open_descriptors();
    assert_int_not_equal(cap_append(f->path, 1 << 20, &f->writer, NULL), WL_OK); /* it is shorter */
    assert_int_equal(open_descriptors(), open);
    expect_readable(f, 3);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(one_write_a_record),
        TEST(held_records_go_together),
        TEST(held_records_overflow_and_end),
        TEST(held_records_meet_a_full_disk),
        TEST(interrupted_and_short_writes),
        TEST(full_disk),
        TEST(full_disk_within_a_record),
        TEST(quota),
        TEST(broken_disk),
        TEST(full_disk_at_the_start),
        TEST(limit_on_file_sizes),
        TEST(exists_already),
        TEST(descriptor_is_high_and_not_inherited),
        TEST(descriptor_taken_away),
        TEST(in_use_while_it_is_written),
        TEST(file_taken_away),
        TEST(directory_changes),
        TEST(forked_child_lets_go),
        TEST(oversized_record),
        TEST(errno_is_kept),
        TEST(goes_on_behind_a_torn_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
