/* The command line of `warplens profile`. */
#ifndef WL_CLI_ASKED_H
#define WL_CLI_ASKED_H

#include "cli/cli.h"
#include "program/options.h"

typedef struct cli_asked {
    char *given[PROG_OPTIONS]; /* values as texts, malloc'ed; NULL: not given */
    prog_options options;      /* those, the environment's and the defaults */
    poptContext context;
    const char **program; /* what is to be run and its arguments, NULL-terminated; the context's */
} cli_asked;

/* Reads all options and checks them. On a usage error says so and returns false with *status
 * set, as after --help. *out is to be cleared in any case. */
bool cli_asked_read(int argc, const char **argv, cli_asked *out, int *status);
/* What the collector is to be told beyond what was given; false when out of memory. */
bool cli_asked_set(cli_asked *asked, prog_option_id id, const char *value);
void cli_asked_clear(cli_asked *asked);

#endif
