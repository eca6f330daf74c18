/* Which processes the collector was loaded into: why nothing was recorded of a run. */
#ifndef WL_CLI_ATTACHED_H
#define WL_CLI_ATTACHED_H

#include "cli/launch.h"

/* In the folder of captures: what collectors are told to keep their list in. */
#define CLI_ATTACHED_FILE "attached"

/* Says that nothing was recorded, and what is known of why: the collector was not attached to the
 * program, or to what the program became, or there was no call of CUDA. */
void cli_attached_tell(const char *folder, const cli_outcome *outcome);
/* Removes the list that collectors made in the folder of captures. */
void cli_attached_forget(const char *folder);

#endif
