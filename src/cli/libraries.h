/* Where the collector's libraries lie, as the dynamic linker of the program can be told. */
#ifndef WL_CLI_LIBRARIES_H
#define WL_CLI_LIBRARIES_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>

typedef struct cli_libraries {
    char folder[PATH_MAX];       /* with those that stand for CUDA's; absolute */
    char preload[PATH_MAX + 32]; /* the library to preload */
    char private_folder[32];     /* made for this run, with a link; "" where none is needed */
} cli_libraries;

/* Of one backend. LD_PRELOAD and LD_LIBRARY_PATH separate their entries by characters that the
 * installation's own path may have: then all goes by a link without them. WL_NOENT where
 * a library is missing, or no such link can be made. */
wl_status cli_libraries_find(bool on_gpu, cli_libraries *out, wl_error *err);
/* Removes the link, after the last process that needs it. */
void cli_libraries_clear(cli_libraries *libraries);

#endif
