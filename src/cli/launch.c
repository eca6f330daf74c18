/* Starts the application under the collector, and waits for it. */
#include "cli/launch.h"

#include "cli/cli.h"
#include "cli/outlive.h"
#include "program/options.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t application; /* pid, 0 before and after */
static volatile sig_atomic_t
    told_to_end; /* a process told us, or somebody after the program's end */

/* What would end us, and is the application's to answer. */
static const int passed_on[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGINT, SIGQUIT};

enum { PASSED_ON = sizeof passed_on / sizeof *passed_on };

/* From the keyboard SIGINT and SIGQUIT reach the application by themselves. */
static void pass_on(int signal_number, siginfo_t *from, void *context)
{
    (void)context;
    bool from_keyboard = signal_number == SIGINT || signal_number == SIGQUIT;
    bool typed = from_keyboard && from->si_code == SI_KERNEL;
    if (application > 0 && typed)
        return;
    if (application > 0)
        kill((pid_t)application, signal_number);
    if (from_keyboard || signal_number == SIGTERM || signal_number == SIGHUP)
        told_to_end = 1;
}

/* "added:old", or "added" where the variable is not set. */
static bool prepend(const char *name, const char *added)
{
    const char *old = getenv(name);
    char *value;
    if (!old || !*old)
        return setenv(name, added, 1) == 0;
    if (asprintf(&value, "%s:%s", added, old) < 0)
        return false;
    bool done = setenv(name, value, 1) == 0;
    free(value);
    return done;
}

/* In the child, which becomes the application. */
static bool set_environment(const cli_launch *launch)
{
    for (size_t i = 0; i < launch->nsettings; i++)
        if (setenv(launch->settings[i].name, launch->settings[i].value, 1) != 0)
            return false;
    char self[24];
    snprintf(self, sizeof self, "%ld", (long)getpid());
    if (launch->application_only &&
        setenv(prog_option_table[PROG_OPTION_only_process].variable, self, 1) != 0)
        return false;
    if (launch->libraries && !prepend("LD_LIBRARY_PATH", launch->libraries))
        return false;
    return prepend("LD_PRELOAD", launch->preload);
}

/* In the child. A failed exec reports errno through the pipe, which a successful one closes. */
static void run_application(const cli_launch *launch, int pipe_end)
{
    if (set_environment(launch))
        execvp(launch->argv[0], (char *const *)launch->argv);
    int code = errno;
    if (write(pipe_end, &code, sizeof code) != (ssize_t)sizeof code)
        _exit(126);
    _exit(127);
}

static struct sigaction of_children; /* SIGCHLD's, as it was when we were started */

/* Who ignores SIGCHLD is not told how a child ended. */
static void catch_signals(struct sigaction before[PASSED_ON])
{
    struct sigaction told = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &told, &of_children);
    struct sigaction forward = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
    for (int i = 0; i < PASSED_ON; i++)
        if (sigaction(passed_on[i], NULL, &before[i]) == 0 && before[i].sa_handler != SIG_IGN)
            sigaction(passed_on[i], &forward, NULL);
}

/* In the child: what was ignored when we were started (nohup) is still ignored. */
static void give_signals_back(const struct sigaction before[PASSED_ON])
{
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &before[i], NULL);
    sigaction(SIGCHLD, &of_children, NULL);
    cli_restore_file_limit();
}

/* Of a process that has ended and was not yet taken leave of. */
static void read_process_name(cli_outcome *outcome)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/comm", (long)outcome->pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(outcome->name, sizeof outcome->name, file))
        outcome->name[strcspn(outcome->name, "\n")] = '\0';
    if (file)
        fclose(file);
}

/* Others that end meanwhile are the program's, and were left to us. */
static bool wait_for_program(cli_outcome *outcome)
{
    siginfo_t ended = {0};
    do {
        int rc = waitid(P_ALL, 0, &ended, WEXITED | WNOWAIT);
        if (rc != 0 && errno != EINTR)
            return false;
        if (rc != 0)
            continue;
        if (ended.si_pid == outcome->pid)
            read_process_name(outcome);
        waitpid(ended.si_pid, &outcome->status, 0);
    } while (ended.si_pid != outcome->pid);
    return true;
}

static wl_status wait_for_end(cli_outcome *outcome, int pipe_end, wl_error *err)
{
    int code = 0;
    ssize_t n;
    while ((n = read(pipe_end, &code, sizeof code)) < 0 && errno == EINTR)
        ;
    if (!wait_for_program(outcome))
        return wl_fail_errno(err, "cannot wait for the program");
    application = 0;
    outcome->not_started = n == (ssize_t)sizeof code;
    errno = code;
    return outcome->not_started ? wl_fail_errno(err, "cannot run the program") : WL_OK;
}

/* A signal that comes before it is known whom to pass it on to waits. -1 with errno set; EINTR:
 * one came before this, and nothing was started. */
static pid_t start(const cli_launch *launch, int pipe_end)
{
    struct sigaction before[PASSED_ON];
    sigset_t passed, mask;
    sigemptyset(&passed);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&passed, passed_on[i]);
    catch_signals(before);
    cli_outlive_adopt();
    sigprocmask(SIG_BLOCK, &passed, &mask);
    errno = EINTR;
    pid_t child = cli_interrupt() ? -1 : fork();
    if (child == 0) {
        give_signals_back(before);
        sigprocmask(SIG_SETMASK, &mask, NULL);
        run_application(launch, pipe_end);
    }
    application = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return child;
}

/* The program has ended; what it left running may go on to record. */
static void wait_for_others(const cli_launch *launch, cli_outcome *outcome)
{
    if (launch->application_only)
        return;
    outcome->outlived = launch->primary_only || told_to_end ? cli_outlive_any()
                                                            : !cli_outlive_wait();
}

wl_status cli_launch_run(const cli_launch *launch, cli_outcome *outcome, wl_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return wl_fail_errno(err, "cannot start the program");
    pid_t child = start(launch, ends[1]);
    close(ends[1]);
    wl_status status = WL_OK;
    *outcome = (cli_outcome){.pid = child};
    if (child < 0)
        status = wl_fail_errno(err, "cannot start the program");
    else
        status = wait_for_end(outcome, ends[0], err);
    if (status == WL_OK)
        wait_for_others(launch, outcome);
    close(ends[0]);
    return status;
}
