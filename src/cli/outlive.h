/* Processes that outlive the program that they were started by: daemons, and what runs on in the
 * background. */
#ifndef WL_CLI_OUTLIVE_H
#define WL_CLI_OUTLIVE_H

#include <stdbool.h>

/* Before the program is started: processes whose parent ends become our children. */
void cli_outlive_adopt(void);
/* Whether any of them still runs. Those that have ended are taken leave of. */
bool cli_outlive_any(void);
/* Waits until none of them runs, and says so when it takes long. False where SIGINT, SIGTERM,
 * SIGHUP or SIGQUIT ended the wait; the signal counts as answered by that. */
bool cli_outlive_wait(void);

#endif
