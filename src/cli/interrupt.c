/* Interrupts that are only noted, so that what was recorded is kept. */
#include "cli/cli.h"

#include <signal.h>

static volatile sig_atomic_t noted;

static void note_signal(int signal_number)
{
    noted = signal_number;
}

void cli_note_interrupts(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = note_signal, .sa_flags = SA_RESTART};
    noted = 0;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        sigaction(signals[i], &action, NULL);
}

int cli_interrupt(void)
{
    return noted;
}
