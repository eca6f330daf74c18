/* Waiting for the processes that the program left running. Linux makes us the parent of those whose
 * own parent has ended, so waitpid() tells of each, whatever it did with its descriptors. */
#include "cli/outlive.h"

#include "base/log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NAMED = 3, PATIENCE_S = 1 /* before the wait is spoken of */ };

void cli_outlive_adopt(void)
{
    prctl(PR_SET_CHILD_SUBREAPER, 1L, 0L, 0L, 0L);
}

bool cli_outlive_any(void)
{
    pid_t ended;
    while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
        ;
    return ended == 0;
}

static void print_child(FILE *out, long pid)
{
    char path[64], name[64] = "?";
    snprintf(path, sizeof path, "/proc/%ld/comm", pid);
    FILE *file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file))
        name[strcspn(name, "\n")] = '\0';
    if (file)
        fclose(file);
    fprintf(out, "%s (%ld)", name, pid);
}

/* "server (1234), sleep (1235)": our children, the first of them by name. */
static void name_children(char *text, size_t size)
{
    char path[64];
    long pid;
    unsigned count = 0;
    snprintf(path, sizeof path, "/proc/self/task/%ld/children", (long)getpid());
    FILE *list = fopen(path, "re"), *out = fmemopen(text, size, "w");
    for (; list && out && fscanf(list, "%ld", &pid) == 1; count++) {
        if (count <= NAMED)
            fputs(count == 0 ? "" : count < NAMED ? ", " : ", and others", out);
        if (count < NAMED)
            print_child(out, pid);
    }
    if (!count && out)
        fputs("some processes", out); /* /proc does not tell */
    if (out)
        fclose(out);
    if (list)
        fclose(list);
}

static void tell_wait(void)
{
    char names[256] = "";
    name_children(names, sizeof names);
    wl_log(WL_LOG_INFO,
           "waiting for %s, which outlived the program; Ctrl-C ends the wait and makes the profile "
           "of what there is, --wait primary does not wait",
           names);
}

/* SIGCHLD tells of an end, the others end the wait unless we were told to ignore them. */
static void choose_signals(sigset_t *set)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    struct sigaction now;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaddset(set, ending[i]);
}

bool cli_outlive_wait(void)
{
    const struct timespec patience = {.tv_sec = PATIENCE_S};
    sigset_t set, before;
    bool told = false, left;
    int which = SIGCHLD;
    choose_signals(&set);
    sigprocmask(SIG_BLOCK, &set, &before); /* before the look: no end is missed */
    while ((left = cli_outlive_any()) && which == SIGCHLD) {
        do
            which = told ? sigwaitinfo(&set, NULL) : sigtimedwait(&set, NULL, &patience);
        while (which < 0 && errno == EINTR);
        if (which > 0)
            continue;
        tell_wait();
        told = true;
        which = SIGCHLD;
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !left;
}
