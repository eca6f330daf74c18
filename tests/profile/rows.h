/* What a profile's tables and views give, against what they should. */
#ifndef TESTS_PROFILE_ROWS_H
#define TESTS_PROFILE_ROWS_H

#include <sqlite3.h>

/* Expects the first column of all rows, each with '\n' after it. */
void rows_expect(sqlite3 *sql, const char *query, const char *expected);

#endif
