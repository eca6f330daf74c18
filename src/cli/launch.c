/* Starts the application under the collector, and waits for it. */
#include "cli/launch.h"

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

static void pass_on(int signal_number)
{
    if (application > 0)
        kill((pid_t)application, signal_number);
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

static void default_signals(void)
{
    signal(SIGINT, SIG_DFL);
    signal(SIGQUIT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
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

static void catch_signals(void)
{
    struct sigaction forward = {.sa_handler = pass_on, .sa_flags = SA_RESTART};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGTERM, &forward, NULL);
    sigaction(SIGHUP, &forward, NULL);
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
}

static wl_status wait_for_end(cli_outcome *outcome, int pipe_end, wl_error *err)
{
    int code = 0;
    ssize_t n;
    while ((n = read(pipe_end, &code, sizeof code)) < 0 && errno == EINTR)
        ;
    while (waitpid(outcome->pid, &outcome->status, 0) < 0)
        if (errno != EINTR)
            return wl_fail_errno(err, "cannot wait for the application");
    application = 0;
    outcome->not_started = n == (ssize_t)sizeof code;
    errno = code;
    return outcome->not_started ? wl_fail_errno(err, "cannot run the application") : WL_OK;
}

/* A signal that comes before it is known whom to pass it on to waits. */
static pid_t start(const cli_launch *launch, int pipe_end)
{
    sigset_t passed, before;
    sigemptyset(&passed);
    sigaddset(&passed, SIGTERM);
    sigaddset(&passed, SIGHUP);
    catch_signals();
    sigprocmask(SIG_BLOCK, &passed, &before);
    pid_t child = fork();
    if (child == 0) {
        default_signals();
        sigprocmask(SIG_SETMASK, &before, NULL);
        run_application(launch, pipe_end);
    }
    application = child > 0 ? child : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

wl_status cli_launch_run(const cli_launch *launch, cli_outcome *outcome, wl_error *err)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return wl_fail_errno(err, "cannot start the application");
    pid_t child = start(launch, ends[1]);
    close(ends[1]);
    wl_status status = WL_OK;
    *outcome = (cli_outcome){.pid = child};
    if (child < 0) {
        status = wl_fail_errno(err, "cannot start the application");
    } else {
        status = wait_for_end(outcome, ends[0], err);
    }
    close(ends[0]);
    return status;
}
