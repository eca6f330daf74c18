/* `warplens explore` as a server: the page, and what it asks for. */
#ifndef WL_CLI_SERVE_H
#define WL_CLI_SERVE_H

#include "cli/cli.h"

enum { EXPLORE_MOST = 2 /* profiles side by side */ };

typedef struct explored_profiles {
    uint32_t count;
    const char *paths[EXPLORE_MOST];
    cli_profile rows[EXPLORE_MOST];
    const rep_data *data[EXPLORE_MOST];    /* of the rows */
    const uint32_t *kernels[EXPLORE_MOST]; /* that were asked for; NULL: all */
    uint32_t nkernels[EXPLORE_MOST];
} explored_profiles;

/* Serves launches of the profiles, whose data lists them, until an interrupt. Prints the address, and
 * shows it in the browser where that is asked for. Returns an exit status. */
int explore_serve(explored_profiles *profiles, uint16_t port, bool open);

#endif
