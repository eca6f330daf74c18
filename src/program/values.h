/* From the text of an option to its value. Internal to the room. */
#ifndef WL_PROGRAM_VALUES_H
#define WL_PROGRAM_VALUES_H

#include "program/options.h"

/* Sets the option's field of `options`, whose arena gets what is allocated; the text must live
 * as long as it. An empty text gives what no value means: 0, none, "". WL_ARG where the text is
 * not allowed: `why` may say more of the reason, else its text is empty. WL_NOMEM. */
wl_status prog_value_read(prog_option_id id, const char *text, prog_options *options,
                          wl_error *why);

/* What other options imply for one another; once all are read. */
void prog_options_settle(prog_options *options);

#endif
