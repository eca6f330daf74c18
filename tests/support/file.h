/* Whole files, for tests and benchmarks. Nothing here knows a test framework: what fails says so to
 * its caller. */
#ifndef TESTS_SUPPORT_FILE_H
#define TESTS_SUPPORT_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What `file` still holds, with a NUL after it that is not counted in *length (which may be NULL);
 * to be freed. NULL where it cannot be read. */
char *file_rest(FILE *file, size_t *length);

/* As file_rest, of the file at `path`. */
char *file_read(const char *path, size_t *length);

/* Makes or overwrites the file; false where that does not go. */
bool file_write(const char *path, const void *data, size_t length);

#endif
