/* Queries of tests, row by row. */
#include "rows.h"
#include "support/test.h"

#include <stdio.h>

void rows_expect(sqlite3 *sql, const char *query, const char *expected)
{
    char text[2048] = "";
    size_t at = 0;
    sqlite3_stmt *stmt;
    if (sqlite3_prepare_v2(sql, query, -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", query, sqlite3_errmsg(sql));
    while (sqlite3_step(stmt) == SQLITE_ROW) {
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", sqlite3_column_text(stmt, 0));
        assert_true(at < sizeof text);
    }
    sqlite3_finalize(stmt);
    assert_string_equal(text, expected);
}
