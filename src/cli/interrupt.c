/* Signals that must not end us. Interrupts are only noted, so that what was recorded is kept; those
 * that the process was told to ignore stay ignored. */
#include "cli/cli.h"

#include <signal.h>

static volatile sig_atomic_t noted;

static void note_signal(int signal_number)
{
    noted = signal_number;
}

void cli_note_interrupts(void)
{
    static const int signals[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,
                                  SIGALRM, SIGUSR1, SIGUSR2, SIGXCPU};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART}, before;
    noted = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler != SIG_IGN)
            sigaction(signals[i], &action, NULL);
}

int cli_interrupt(void)
{
    return noted;
}

static struct sigaction file_limit; /* as it was when we were started */

void cli_survive_file_limit(void)
{
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGXFSZ, &ignore, &file_limit);
}

void cli_restore_file_limit(void)
{
    sigaction(SIGXFSZ, &file_limit, NULL);
}
