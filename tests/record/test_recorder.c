/* The recorder as the two collectors use it: each case runs in a child, which records into a folder
 * of its own and whose stderr and capture are looked at afterwards. */
#include "record/record.h"
#include "support/test.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FULL = 64 << 10 }; /* bytes of the file that stand for a full disk */

/* How a collector writes one call; every one of them leads to rec_written(). */
typedef void way(const char *api);

/* The emulator: the call has its number from the start, and is written at its end. */
static void emulated(const char *api)
{
    rec_call call;
    rec_call_begin(&call, api, CAP_CALL_ALLOC, REC_NOW);
    rec_call_stack(&call);
    pthread_mutex_lock(&rec_g.lock);
    rec_call_number(&call);
    rec_call_write(&call, 0);
    cap_object object = {.id = rec_object_new(), .call = call.id, .bytes = 64, .name = ""};
    REC_WRITE(object, &object);
    pthread_mutex_unlock(&rec_g.lock);
}

/* The library before the driver: an event that is kept, then a launch that is held. Now and then
 * the application waits, and what is held is written. */
static void hooked(const char *api)
{
    static unsigned launches;
    rec_call event, launch, within;
    rec_call_enter(&event, api, CAP_CALL_OTHER, REC_HELD);
    rec_call_stack(&event);
    rec_call_enter(&within, "within", CAP_CALL_OTHER, REC_HELD);
    rec_call_leave(&within, 0);
    rec_call_leave_late(&event, 0);
    rec_call_enter(&launch, api, CAP_CALL_LAUNCH, REC_HELD);
    rec_call_leave(&launch, 0);
    if (++launches % 16 == 0)
        rec_call_begin(&launch, "cuStreamSynchronize", CAP_CALL_SYNC, REC_NOW);
}

static void lose_one(void)
{
    static const char byte = 'x';
    pthread_mutex_lock(&rec_g.lock);
    rec_module(CAP_MODULE_PTX, "large", &byte, (uint64_t)CAP_MAX_PAYLOAD + 1, 0);
    pthread_mutex_unlock(&rec_g.lock);
}

/* ---- children ---- */

static char folder[64];

static void begin(void)
{
    static const rec_collector collector = {.name = "test"};
    rec_process_begins(&collector);
    pthread_mutex_lock(&rec_g.lock);
    rec_start(true);
    pthread_mutex_unlock(&rec_g.lock);
}

/* Runs `body(write)` in a child whose stderr is returned; malloc'ed. */
static char *said_by(void (*body)(way *write), way *write)
{
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        close(pipes[0]);
        close(pipes[1]);
        body(write);
        _exit(0);
    }
    close(pipes[1]);
    char *text = calloc(1, 1 << 16);
    size_t length = 0;
    for (ssize_t n; (n = read(pipes[0], text + length, (1 << 16) - 1 - length)) > 0;)
        length += (size_t)n;
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return text;
}

static int count_of(const char *text, const char *words)
{
    int count = 0;
    for (const char *p = text; (p = strstr(p, words)); p++)
        count++;
    return count;
}

/* The child's capture. */
static cap_reader *open_capture(void)
{
    char pattern[96];
    glob_t found;
    cap_reader *reader;
    wl_error err;
    snprintf(pattern, sizeof pattern, "%s/*.wlcap", folder);
    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_int_equal(found.gl_pathc, 1);
    assert_int_equal(cap_open(found.gl_pathv[0], &reader, &err), WL_OK);
    globfree(&found);
    return reader;
}

/* The records of the child's capture, by type. Returns false where it cannot be read to its end. */
static bool read_capture(uint32_t counts[64], cap_call *last)
{
    cap_reader *reader = open_capture();
    cap_record record;
    wl_error err;
    bool end = false;
    wl_status status = WL_OK;
    while ((status = cap_read(reader, &record, &end, &err)) == WL_OK && !end) {
        counts[record.type]++;
        if (record.type == CAP_CALL)
            *last = record.call;
    }
    cap_reader_free(reader);
    return status == WL_OK;
}

/* ---- a full disk ---- */

static void lose_then_fill(way *write)
{
    struct rlimit limit = {FULL, FULL};
    signal(SIGXFSZ, SIG_DFL);
    setrlimit(RLIMIT_FSIZE, &limit);
    begin();
    lose_one();
    lose_one();
    for (int i = 0; i < 10000; i++)
        write("cudaMalloc");
    rec_call last; /* a call that waits writes what is held */
    rec_call_begin(&last, "cudaDeviceSynchronize", CAP_CALL_SYNC, REC_NOW);
    if (rec_g.observe || rec_left_out("kernel", true) == NULL)
        _exit(1);
    rec_process_ends();
}

static void tells_of_a_full_disk(way *write)
{
    uint32_t counts[64] = {0};
    cap_call last = {0};
    char *said = said_by(lose_then_fill, write);
    assert_int_equal(count_of(said, "Something could not be recorded"), 1);
    assert_int_equal(count_of(said, "Recording ends here: "), 1);
    free(said);
    assert_true(read_capture(counts, &last));
    assert_true(counts[CAP_CALL] > 10 && counts[CAP_CALL] < 10000);
    assert_int_equal(counts[CAP_MODULE], 0);
    assert_int_equal(counts[CAP_END], 0);
}

static void full_disk_emulated(void **state)
{
    (void)state;
    tells_of_a_full_disk(emulated);
}

static void full_disk_hooked(void **state)
{
    (void)state;
    tells_of_a_full_disk(hooked);
}

/* ---- order and end ---- */

static void write_some(way *write)
{
    begin();
    for (int i = 0; i < 100; i++)
        write("cuEventRecord");
    rec_process_ends();
    rec_process_ends(); /* as exit() and a destructor may */
}

static void ends_in_order(void **state)
{
    (void)state;
    uint32_t counts[64] = {0};
    cap_call last = {0};
    char *said = said_by(write_some, hooked);
    assert_string_equal(said, "");
    free(said);
    assert_true(read_capture(counts, &last));
    assert_int_equal(counts[CAP_PROCESS], 1);
    assert_int_equal(counts[CAP_CALL], 200);
    assert_int_equal(last.id, 200);
    assert_int_equal(last.kind, CAP_CALL_LAUNCH);
    assert_int_equal(counts[CAP_END], 1);
}

/* A child of a process that had used CUDA writes a capture of its own that says so, and does not
 * touch the parent's. */
static void fork_then_write(way *write)
{
    begin();
    write("cuInit");
    if (fork() == 0) {
        char parents[96];
        glob_t found;
        snprintf(parents, sizeof parents, "%s/%ld-*.wlcap", folder, (long)getppid());
        glob(parents, 0, NULL, &found);
        unlink(found.gl_pathv[0]);
        rec_mark_forked();
        rec_mark_forked();
        rec_process_ends();
        _exit(rec_g.forked && !rec_g.writer ? 0 : 1);
    }
    int status;
    wait(&status);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        _exit(1);
}

static void forked(void **state)
{
    (void)state;
    uint32_t counts[64] = {0};
    cap_call last = {0};
    char *said = said_by(fork_then_write, emulated);
    assert_int_equal(count_of(said, "was forked by one that had used CUDA"), 1);
    free(said);
    assert_true(read_capture(counts, &last));
    assert_int_equal(counts[CAP_MESSAGE], 1);
    assert_int_equal(counts[CAP_CALL], 0);
    assert_int_equal(counts[CAP_END], 0);
}

/* ---- the choice of launches ---- */

static void choose_by_profiler(way *write)
{
    (void)write;
    setenv("WARPLENS_PROFILE_FROM_START", "off", 1);
    setenv("WARPLENS_LAUNCH_COUNT", "1", 1);
    begin();
    bool good = strstr(rec_choose("mine", true), "--profile-from-start") != NULL;
    rec_profiler(true);
    good = good && !rec_choose("mine", true) && strstr(rec_choose("mine", true), "--launch-count");
    rec_profiler(false);
    good = good && strstr(rec_choose("mine", true), "--profile-from-start");
    rec_process_ends();
    _exit(good ? 0 : 1);
}

static void choose_some(way *write)
{
    (void)write;
    setenv("WARPLENS_KERNEL_NAME", "mine", 1);
    setenv("WARPLENS_LAUNCH_SKIP", "1", 1);
    setenv("WARPLENS_LAUNCH_COUNT", "1", 1);
    begin();
    bool good = strstr(rec_choose("other", true), "--kernel-name") &&
                strstr(rec_choose("mine", true), "--launch-skip") && !rec_left_out("mine", true) &&
                !rec_choose("mine", true) && strstr(rec_left_out("mine", true), "--launch-count") &&
                strstr(rec_choose("mine", true), "--launch-count");
    rec_stop_observing("%s", "why");
    rec_stop_observing("%s", "again");
    good = good && strstr(rec_choose("mine", true), "switched off");
    rec_process_ends();
    _exit(good ? 0 : 1);
}

static void chooses_launches(void **state)
{
    (void)state;
    free(said_by(choose_by_profiler, NULL));
    char *said = said_by(choose_some, NULL);
    assert_int_equal(count_of(said, "Launches are no longer observed: why"), 1);
    assert_int_equal(count_of(said, "again"), 0);
    free(said);
}

/* ---- the process ---- */

/* Arguments of a process that only begins to record: an empty one, and one longer than what is read at
 * once. */
static char long_argument[5000];
static const char *const arguments[] = {"begin", "", "two words", long_argument, ""};
enum { ARGUMENTS = sizeof arguments / sizeof *arguments };

static void begin_elsewhere(way *write)
{
    char *argv[ARGUMENTS + 1] = {NULL};
    (void)write;
    for (int i = 0; i < ARGUMENTS; i++)
        argv[i] = (char *)(uintptr_t)arguments[i];
    execv("/proc/self/exe", argv);
    _exit(1);
}

static void arguments_are_kept(void **state)
{
    cap_record record;
    wl_error err;
    bool end;
    (void)state;
    memset(long_argument, 'x', sizeof long_argument - 1);
    free(said_by(begin_elsewhere, NULL));
    cap_reader *reader = open_capture();
    assert_int_equal(cap_read(reader, &record, &end, &err), WL_OK);
    assert_int_equal(record.type, CAP_PROCESS);
    assert_int_equal(record.process.argc, ARGUMENTS);
    for (int i = 0; i < ARGUMENTS; i++)
        assert_string_equal(record.process.argv[i], arguments[i]);
    cap_reader_free(reader);
}

/* ---- */

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/wl_record_XXXXXX");
    return mkdtemp(folder) && setenv("WARPLENS_CAPTURE_DIR", folder, 1) == 0 ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[0], arguments[0]) == 0) { /* the process of arguments_are_kept */
        begin();
        _exit(0);
    }
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(full_disk_emulated), CASE(full_disk_hooked),   CASE(ends_in_order), CASE(forked),
        CASE(chooses_launches),   CASE(arguments_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
