/* A crash of ours is told from one of the application. */
#include "inject/guard.h"
#include "support/test.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void write_to_nowhere(void)
{
    *(volatile int *)8 = 1;
}

/* The same from a place that is not this program's: a page of its own. */
static void write_from_elsewhere(void)
{
    static const unsigned char code[] = {0xc7, 0x04, 0x25, 8, 0, 0, 0, 1, 0, 0, 0}; /* movl $1, 8 */
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                      -1, 0);
    memcpy(page, code, sizeof code);
    void (*function)(void);
    memcpy(&function, &page, sizeof function);
    function();
}

/* How a child ends that runs `body`, and what it said. */
static int end_of(void (*body)(void), char *said, size_t size)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        for (size_t i = 0; i < 32; i++) /* cmocka's own handlers */
            signal((int)i, SIG_DFL);
        body();
        _exit(0);
    }
    close(ends[1]);
    ssize_t n = read(ends[0], said, size - 1);
    said[n > 0 ? n : 0] = '\0';
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFSIGNALED(status) ? WTERMSIG(status) : -WEXITSTATUS(status);
}

static void crash_of_ours(void)
{
    inj_guard_begin("_Z5scalePf");
    write_to_nowhere();
}

static void crash_elsewhere(void)
{
    inj_guard_begin("_Z5scalePf");
    write_from_elsewhere();
}

static void crash_after_the_run(void)
{
    inj_guard_begin("_Z5scalePf");
    inj_guard_end();
    write_to_nowhere();
}

static int sent; /* the signal that the next child sends itself */

static void sent_by_a_process(void)
{
    inj_guard_begin("_Z5scalePf");
    kill(getpid(), sent);
}

static void exit_with_signal(int number)
{
    _exit(number);
}

static void handler_of_the_application(void)
{
    signal(SIGSEGV, exit_with_signal);
    inj_guard_begin("_Z5scalePf");
    write_to_nowhere();
}

static void handler_set_during_the_run(void)
{
    inj_guard_begin("_Z5scalePf");
    signal(SIGSEGV, exit_with_signal);
    inj_guard_end();
    write_to_nowhere();
}

static void test_our_crash_is_told(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(end_of(crash_of_ours, said, sizeof said), SIGSEGV);
    assert_non_null(strstr(said, "warplens itself crashed"));
    assert_non_null(strstr(said, "_Z5scalePf"));
}

static void test_other_crashes_are_not(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(end_of(crash_after_the_run, said, sizeof said), SIGSEGV);
    assert_string_equal(said, "");
#ifdef __x86_64__
    assert_int_equal(end_of(crash_elsewhere, said, sizeof said), SIGSEGV);
    assert_string_equal(said, "");
#endif
}

/* It ends the process at once, whatever code it came upon. */
static void test_sent_signals_end_the_process(void **state)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE};
    char said[1024];
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        sent = faults[i];
        assert_int_equal(end_of(sent_by_a_process, said, sizeof said), sent);
        assert_string_equal(said, "");
    }
}

static void test_handlers_of_the_application_stay(void **state)
{
    char said[1024];
    (void)state;
    assert_int_equal(end_of(handler_of_the_application, said, sizeof said), -SIGSEGV);
    assert_int_equal(end_of(handler_set_during_the_run, said, sizeof said), -SIGSEGV);
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_our_crash_is_told),
        cmocka_unit_test(test_other_crashes_are_not),
        cmocka_unit_test(test_sent_signals_end_the_process),
        cmocka_unit_test(test_handlers_of_the_application_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
