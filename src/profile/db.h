/* SQLite as the other files of this folder use it: values to bind, columns to read, errors in the
 * library's words. */
#ifndef WL_PROFILE_DB_H
#define WL_PROFILE_DB_H

#include "base/arena.h"
#include "base/error.h"
#include "profile/blob.h"
#include "profile/profile.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prof_db {
    sqlite3 *sql;
    wl_arena *arena;        /* of the following; NULL: not loaded yet */
    prof_launch_rows kinds; /* of all kernels: many ask for them */
    blob_unpacker *unpacker;
};

/* The text of schema.sql. */
extern const char prof_schema[];

/* The largest value that a profile may hold in one column, compressed or not. */
enum { DB_MAX_VALUE = 256 << 20 };

/* Turns a failed SQLite call into a status and a message. `doing` completes "cannot ...". */
wl_status db_fail(sqlite3 *sql, int rc, const char *doing, wl_error *err);

wl_status db_exec(sqlite3 *sql, const char *text, wl_error *err);
wl_status db_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **out, wl_error *err);

/* With all its statements; SQLite's result. */
int db_close(sqlite3 *sql);

/* ---- writing ---- */

typedef enum db_type { DB_NULL, DB_INT, DB_REAL, DB_TEXT, DB_BLOB } db_type;

typedef struct db_value {
    db_type type;
    int64_t integer;
    double real;
    const void *data; /* not copied: must live until the statement has run */
    size_t size;
} db_value;

static inline db_value db_null(void)
{
    return (db_value){.type = DB_NULL};
}

static inline db_value db_int(uint64_t value)
{
    return (db_value){.type = DB_INT, .integer = (int64_t)value};
}

/* NULL for 0: ids where 0 stands for none. */
static inline db_value db_id(uint64_t value)
{
    return value ? db_int(value) : db_null();
}

/* NULL for negative values: times that were not measured. */
static inline db_value db_real(double value)
{
    return value >= 0 ? (db_value){.type = DB_REAL, .real = value} : db_null();
}

/* NULL for NULL. */
static inline db_value db_text(const char *text)
{
    return text ? (db_value){.type = DB_TEXT, .data = text} : db_null();
}

static inline db_value db_blob(const void *data, size_t size)
{
    return data ? (db_value){.type = DB_BLOB, .data = data, .size = size} : db_null();
}

/* Binds, runs to the end and resets a statement that gives no rows. */
wl_status db_run_values(sqlite3_stmt *stmt, const db_value *values, size_t count, wl_error *err);
#define DB_VALUES(...) ((const db_value[]){__VA_ARGS__})
#define db_run(stmt, err, ...)                    \
    db_run_values((stmt), DB_VALUES(__VA_ARGS__), \
                  sizeof DB_VALUES(__VA_ARGS__) / sizeof(db_value), (err))

/* ---- reading ---- */

/* The columns of a row, taken from left to right. A value that cannot be sets `bad`, and the loader
 * gives up. */
typedef struct db_row {
    sqlite3_stmt *stmt;
    wl_arena *arena;
    int column;
    bool bad, nomem;
} db_row;

uint8_t row_u8(db_row *row); /* this and the following give 0 for NULL */
uint16_t row_u16(db_row *row);
uint32_t row_u32(db_row *row);
uint64_t row_u64(db_row *row);
int64_t row_i64(db_row *row);
int32_t row_i32(db_row *row);
bool row_bool(db_row *row);
double row_seconds(db_row *row);   /* -1 for NULL */
const char *row_text(db_row *row); /* "" for NULL; valid UTF-8 whatever the file holds */
const char *row_text_or_null(db_row *row);
const void *row_blob(db_row *row, size_t *size); /* valid until the next step; NULL for NULL */
bool row_is_null(db_row *row);                   /* of the next column; does not take it */

/* Replaces what is not UTF-8 by '?', so that every string can go into JSON and HTML; returns
 * strnlen(text, length). */
size_t db_mend_text(char *text, size_t length);

/* Fills one element of `size` zeroed bytes. */
typedef void db_fill(db_row *row, void *item);

/* Runs `text` with the arguments bound and collects its rows in an array of the arena. The statement
 * stays prepared until db_close(). */
wl_status db_load(sqlite3 *sql, const char *text, const db_value *values, size_t nvalues,
                  size_t size, db_fill *fill, wl_arena *arena, uint32_t *count, void *rows,
                  wl_error *err);

/* The same row by row, each given to `take`, whose `item` is good for the call. False from it ends
 * that with WL_NOMEM. Texts cannot be read. */
wl_status db_each(sqlite3 *sql, const char *text, const db_value *values, size_t nvalues,
                  void *item, size_t size, db_fill *fill, bool (*take)(void *ctx, const void *item),
                  void *ctx, wl_error *err);

/* Reads all rows of a statement and keeps none; fails as db_load() does. */
wl_status db_read(sqlite3 *sql, const char *text, size_t size, db_fill *fill, wl_error *err);

#endif
