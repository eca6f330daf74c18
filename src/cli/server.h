/* A web server for one user of this machine: it listens on 127.0.0.1 alone, and answers only under an
 * address that holds a random token. */
#ifndef WL_CLI_SERVER_H
#define WL_CLI_SERVER_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

/* Writes what `path` asks for ("" is the page itself, "launch/0/7") to `out`, and says what it is; the
 * text of *err, which is shown in the browser, where there is nothing of that name (WL_NOENT) or it
 * cannot be given. Several threads call it at once. */
typedef wl_status cli_answer(void *ctx, const char *path, FILE *out, const char **type,
                             wl_error *err);

typedef struct cli_server cli_server;

/* `port` 0: the system chooses. NULL with *err where it cannot listen. */
cli_server *cli_server_start(uint16_t port, cli_answer *answer, void *ctx, wl_error *err);
/* "http://127.0.0.1:40123/TOKEN/". */
const char *cli_server_url(const cli_server *server);
/* What is being answered is finished first. NULL is allowed. */
void cli_server_stop(cli_server *server);

#endif
