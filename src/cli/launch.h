/* Runs the application under the collector and waits for it. */
#ifndef WL_CLI_LAUNCH_H
#define WL_CLI_LAUNCH_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct cli_setting { /* an environment variable for the application */
    const char *name, *value;
} cli_setting;

typedef struct cli_launch {
    const char **argv;     /* of the application, NULL-terminated */
    const char *libraries; /* folder with the stand-ins for CUDA's libraries; may be NULL */
    const char *preload;   /* library to preload. In both nothing that separates paths */
    const cli_setting *settings;
    size_t nsettings;
    bool application_only; /* children of the application are not recorded */
    bool primary_only;     /* those that outlive it are not waited for */
} cli_launch;

typedef struct cli_outcome {
    pid_t pid;
    int status;       /* as waitpid gives it */
    char name[16];    /* of the process when it ended, as Linux keeps it; "" where it is not told */
    bool not_started; /* exec failed; err says why */
    bool outlived;    /* processes that it started are recorded and still run */
} cli_outcome;

/* Starts the application with our stdin, stdout and stderr and waits for its end, and for that of
 * the processes that outlive it: a signal that tells us to end ends the second wait. SIGINT and
 * SIGQUIT reach it from the keyboard as usual, while we go on to keep what was recorded; sent to
 * us by a process they are passed on, as SIGTERM, SIGHUP, SIGUSR1, SIGUSR2 and SIGALRM are. What
 * is ignored when we are started is so in the application, too. Nothing is started, and this fails,
 * where an interrupt was noted before (cli_note_interrupts). */
wl_status cli_launch_run(const cli_launch *launch, cli_outcome *outcome, wl_error *err);

#endif
