/* Runs a program under the emulating collector and reads what it left. */
#ifndef WL_TESTS_API_RUN_H
#define WL_TESTS_API_RUN_H

#include <stdbool.h>
#include <stddef.h>

typedef struct run_options {
    const char *const *argv;        /* NULL-terminated */
    const char *const *environment; /* "NAME=value", NULL-terminated; may be NULL */
    bool unrecorded;                /* without a folder for captures */
} run_options;

typedef struct run_result {
    bool exited; /* of its own accord, with `status`; else by the signal `status` */
    int status;
    char *out, *err; /* what it wrote */
    size_t captures;
    char **dumps; /* of each capture, in order of their names (dump.h: rows, stable) */
    bool *whole;  /* the capture has its END */
} run_result;

/* Fails the test where the program cannot be started. */
void run_program(const run_options *options, run_result *result);
void run_clear(run_result *result);

/* Lines of `text` that begin with `start`; 0 where text is NULL. */
size_t run_count(const char *text, const char *start);

#endif
