/* The file that `warplens profile` writes. */
#ifndef WL_CLI_OUTPUT_H
#define WL_CLI_OUTPUT_H

#include "program/options.h"

typedef struct cli_output {
    char *path;      /* malloc'ed */
    bool replace;    /* the file may be there already */
    bool keep_older; /* the name was chosen for the user: PROGRAM.wlprof is the newest run's, and
                        those of earlier runs get other names */
} cli_output;

/* Where the profile goes, as the options say: "program.wlprof" in the current folder without
 * --output. WL_EXISTS for a file that is there and was not to be replaced, WL_ARG for what is no
 * file. *out is to be cleared in any case. */
wl_status cli_output_choose(const prog_options *options, const char *program, cli_output *out,
                            wl_error *err);
void cli_output_clear(cli_output *output);

#endif
