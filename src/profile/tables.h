/* Rows of the tables of columns.def: from structures of profile.h into the file and back. */
#ifndef WL_PROFILE_TABLES_H
#define WL_PROFILE_TABLES_H

#include "profile/db.h"
#include "profile/profile.h"
#include "profile/rows.h"
#include "profile/vocabulary.h"

typedef enum table_id {
#define TABLE(table, type) TABLE_##table,
#include "profile/columns.def"
    TABLE_COUNT
} table_id;

/* The statement that inserts one row. */
wl_status table_prepare(sqlite3 *sql, table_id table, sqlite3_stmt **out, wl_error *err);

/* table_insert_launches(), ...: inserts a row with the statement that table_prepare made for that
 * table. */
#define TABLE(table, type) \
    wl_status table_insert_##table(sqlite3_stmt *stmt, const type *v, wl_error *err);
#include "profile/columns.def"

/* Loads the rows of `from` as structures of the table's kind into an array of the arena. `from` is
 * what follows FROM in the statement: the table, or a view that has its columns and the joined
 * ones, and conditions on them. */
wl_status table_load(sqlite3 *sql, table_id table, const char *from, const db_value *values,
                     size_t nvalues, wl_arena *arena, uint32_t *count, void *rows, wl_error *err);
/* Reads them and keeps none. */
wl_status table_read(sqlite3 *sql, table_id table, const char *from, wl_error *err);

#endif
