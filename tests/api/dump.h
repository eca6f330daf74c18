/* A capture as text, one line a record. */
#ifndef WL_TESTS_API_DUMP_H
#define WL_TESTS_API_DUMP_H

#include "capture/capture.h"

#include <stdio.h>

enum {
    DUMP_ROWS = 1,      /* of summaries, too */
    DUMP_ADDRESSES = 2, /* stacks and mapped files, too */
    DUMP_STABLE = 4     /* nothing that differs between two runs of one program */
};

/* The status of the read that ended it: WL_OK at the end of a whole capture. */
wl_status dump_capture(const char *path, unsigned flags, FILE *out, wl_error *err);

#endif
