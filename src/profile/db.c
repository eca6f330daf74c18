/* SQLite with statuses and messages of ours; values in, columns out. */
#include "profile/db.h"

#include "base/vec.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static wl_status status_of(sqlite3 *sql, int rc)
{
    switch (rc & 0xff) {
    case SQLITE_OK: return WL_OK;
    case SQLITE_NOMEM: return WL_NOMEM;
    case SQLITE_FULL: return WL_NOSPACE;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_ERROR: /* our statements are right: the tables are not */
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT: return WL_CORRUPT;
    case SQLITE_TOOBIG: return WL_LIMIT;
    default: return sql && sqlite3_system_errno(sql) == ENOSPC ? WL_NOSPACE : WL_IO;
    }
}

wl_status db_fail(sqlite3 *sql, int rc, const char *doing, wl_error *err)
{
    wl_status status = status_of(sql, rc);
    if (status == WL_NOSPACE)
        return wl_fail(err, status, "Cannot %s: no space left on the device.", doing);
    return wl_fail(err, status, "Cannot %s: %s.", doing,
                   sql ? sqlite3_errmsg(sql) : sqlite3_errstr(rc));
}

wl_status db_exec(sqlite3 *sql, const char *text, wl_error *err)
{
    int rc = sqlite3_exec(sql, text, NULL, NULL, NULL);
    return rc == SQLITE_OK ? WL_OK : db_fail(sql, rc, "write the profile", err);
}

wl_status db_prepare(sqlite3 *sql, const char *text, sqlite3_stmt **out, wl_error *err)
{
    int rc = sqlite3_prepare_v3(sql, text, -1, SQLITE_PREPARE_PERSISTENT, out, NULL);
    return rc == SQLITE_OK ? WL_OK : db_fail(sql, rc, "use the profile's tables", err);
}

/* A statement of this text that ran before, else a new one; kept until db_close(). */
static wl_status prepare_once(sqlite3 *sql, const char *text, sqlite3_stmt **out, wl_error *err)
{
    for (*out = sqlite3_next_stmt(sql, NULL); *out; *out = sqlite3_next_stmt(sql, *out))
        if (!sqlite3_stmt_busy(*out) && strcmp(sqlite3_sql(*out), text) == 0)
            return WL_OK;
    return db_prepare(sql, text, out, err);
}

int db_close(sqlite3 *sql)
{
    for (sqlite3_stmt *kept; sql && (kept = sqlite3_next_stmt(sql, NULL));)
        sqlite3_finalize(kept);
    return sqlite3_close(sql);
}

static int bind_one(sqlite3_stmt *stmt, int index, const db_value *value)
{
    switch (value->type) {
    case DB_NULL: return sqlite3_bind_null(stmt, index);
    case DB_INT: return sqlite3_bind_int64(stmt, index, value->integer);
    case DB_REAL: return sqlite3_bind_double(stmt, index, value->real);
    case DB_TEXT: return sqlite3_bind_text(stmt, index, value->data, -1, SQLITE_STATIC);
    case DB_BLOB: return sqlite3_bind_blob64(stmt, index, value->data, value->size, SQLITE_STATIC);
    }
    return SQLITE_MISUSE;
}

static wl_status bind_values(sqlite3_stmt *stmt, const db_value *values, size_t count,
                             wl_error *err)
{
    for (size_t i = 0; i < count; i++) {
        int rc = bind_one(stmt, (int)i + 1, &values[i]);
        if (rc != SQLITE_OK)
            return db_fail(sqlite3_db_handle(stmt), rc, "write the profile", err);
    }
    return WL_OK;
}

wl_status db_run_values(sqlite3_stmt *stmt, const db_value *values, size_t count, wl_error *err)
{
    wl_status status = bind_values(stmt, values, count, err);
    if (status != WL_OK)
        return status;
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_DONE)
        status = db_fail(sqlite3_db_handle(stmt), rc, "write the profile", err);
    sqlite3_reset(stmt);
    return status;
}

bool row_is_null(db_row *row)
{
    return sqlite3_column_type(row->stmt, row->column) == SQLITE_NULL;
}

int64_t row_i64(db_row *row)
{
    int column = row->column++;
    int type = sqlite3_column_type(row->stmt, column);
    row->bad |= type != SQLITE_INTEGER && type != SQLITE_NULL;
    return sqlite3_column_int64(row->stmt, column);
}

uint64_t row_u64(db_row *row)
{
    return (uint64_t)row_i64(row);
}

static uint64_t row_up_to(db_row *row, int64_t most)
{
    int64_t value = row_i64(row);
    row->bad |= value < 0 || value > most;
    return (uint64_t)value;
}

uint8_t row_u8(db_row *row)
{
    return (uint8_t)row_up_to(row, UINT8_MAX);
}

uint16_t row_u16(db_row *row)
{
    return (uint16_t)row_up_to(row, UINT16_MAX);
}

uint32_t row_u32(db_row *row)
{
    return (uint32_t)row_up_to(row, UINT32_MAX);
}

int32_t row_i32(db_row *row)
{
    int64_t value = row_i64(row);
    row->bad |= value < INT32_MIN || value > INT32_MAX;
    return (int32_t)value;
}

bool row_bool(db_row *row)
{
    return row_i64(row) != 0;
}

double row_seconds(db_row *row)
{
    int column = row->column++;
    int type = sqlite3_column_type(row->stmt, column);
    if (type == SQLITE_NULL)
        return -1;
    double value = sqlite3_column_double(row->stmt, column);
    row->bad |= type != SQLITE_FLOAT || !(value >= 0 && value < 1e300);
    return value;
}

/* Bytes of the UTF-8 character at `s`, 0 where there is none. */
static size_t character(const unsigned char *s, size_t left)
{
    size_t need = s[0] < 0x80   ? 1
                  : s[0] < 0xc2 ? 0
                  : s[0] < 0xe0 ? 2
                  : s[0] < 0xf0 ? 3
                  : s[0] < 0xf5 ? 4
                                : 0;
    if (need > left)
        return 0;
    for (size_t i = 1; i < need; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    bool overlong = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xf0 && s[1] < 0x90);
    bool beyond = (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf4 && s[1] > 0x8f);
    return overlong || beyond ? 0 : need;
}

size_t db_mend_text(char *text, size_t length)
{
    unsigned char *s = (unsigned char *)text;
    length = strnlen(text, length);
    for (size_t i = 0; i < length;) {
        size_t n = character(s + i, length - i);
        if (n == 0) {
            s[i] = '?';
            n = 1;
        }
        i += n;
    }
    return length;
}

const char *row_text_or_null(db_row *row)
{
    int column = row->column++;
    int type = sqlite3_column_type(row->stmt, column);
    if (type == SQLITE_NULL)
        return NULL;
    row->bad |= type != SQLITE_TEXT;
    const char *text = (const char *)sqlite3_column_text(row->stmt, column);
    size_t length = text ? strnlen(text, (size_t)sqlite3_column_bytes(row->stmt, column)) : 0;
    char *copy = wl_arena_strndup(row->arena, text ? text : "", length);
    if (!copy) {
        row->nomem = true;
        return "";
    }
    db_mend_text(copy, length);
    return copy;
}

const char *row_text(db_row *row)
{
    const char *text = row_text_or_null(row);
    return text ? text : "";
}

const void *row_blob(db_row *row, size_t *size)
{
    int column = row->column++;
    int type = sqlite3_column_type(row->stmt, column);
    row->bad |= type != SQLITE_BLOB && type != SQLITE_NULL;
    const void *data = sqlite3_column_blob(row->stmt, column);
    *size = (size_t)sqlite3_column_bytes(row->stmt, column);
    return data;
}

typedef wl_vec(unsigned char) bytes;

/* One row to the end of `items`; WL_OK with *done set after the last. */
static wl_status load_row(db_row *row, bytes *items, size_t size, db_fill *fill, bool *done,
                          wl_error *err)
{
    sqlite3 *sql = sqlite3_db_handle(row->stmt);
    int rc = sqlite3_step(row->stmt);
    *done = rc == SQLITE_DONE;
    if (rc != SQLITE_ROW)
        return *done ? WL_OK : db_fail(sql, rc, "read the profile", err);
    if (!wl_reserve(items, size))
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    unsigned char *item = items->data + items->count;
    memset(item, 0, size);
    row->column = 0;
    fill(row, item);
    items->count += size;
    if (row->nomem)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    if (row->bad || items->count / size >= UINT32_MAX)
        return wl_fail(err, WL_CORRUPT, "The profile is damaged: a row holds what it cannot.");
    return WL_OK;
}

wl_status db_load(sqlite3 *sql, const char *text, const db_value *values, size_t nvalues,
                  size_t size, db_fill *fill, wl_arena *arena, uint32_t *count, void *rows,
                  wl_error *err)
{
    *count = 0;
    sqlite3_stmt *stmt = NULL;
    wl_status status = prepare_once(sql, text, &stmt, err);
    if (status == WL_OK)
        status = bind_values(stmt, values, nvalues, err);
    bytes items = {0};
    db_row row = {.stmt = stmt, .arena = arena};
    for (bool done = false; status == WL_OK && !done;)
        status = load_row(&row, &items, size, fill, &done, err);
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    if (status == WL_OK) {
        void *copy = wl_arena_copy(arena, items.data ? items.data : (void *)"", items.count);
        if (!copy) {
            status = wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
        } else {
            *count = (uint32_t)(items.count / size);
            memcpy(rows, &copy, sizeof copy);
        }
    }
    wl_vec_free(&items);
    return status;
}

wl_status db_each(sqlite3 *sql, const char *text, const db_value *values, size_t nvalues,
                  void *item, size_t size, db_fill *fill, bool (*take)(void *ctx, const void *item),
                  void *ctx, wl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    wl_status status = prepare_once(sql, text, &stmt, err);
    if (status == WL_OK)
        status = bind_values(stmt, values, nvalues, err);
    bytes items = {0};
    db_row row = {.stmt = stmt};
    for (bool done = false; status == WL_OK && !done; items.count = 0) {
        status = load_row(&row, &items, size, fill, &done, err);
        if (status != WL_OK || done)
            continue;
        memcpy(item, items.data, size);
        if (!take(ctx, item))
            status = wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    }
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
    wl_vec_free(&items);
    return status;
}

/* Some rows, with what they have in an arena of their own; *done after the last. */
static wl_status read_some(db_row *row, bytes *items, size_t size, db_fill *fill, bool *done,
                           wl_error *err)
{
    enum { SOME = 4096 };
    wl_status status = WL_OK;
    row->arena = wl_arena_new();
    if (!row->arena)
        return wl_fail(err, WL_NOMEM, "Cannot read the profile: out of memory.");
    for (int i = 0; i < SOME && status == WL_OK && !*done; i++) {
        items->count = 0;
        status = load_row(row, items, size, fill, done, err);
    }
    wl_arena_free(row->arena);
    return status;
}

wl_status db_read(sqlite3 *sql, const char *text, size_t size, db_fill *fill, wl_error *err)
{
    sqlite3_stmt *stmt = NULL;
    wl_status status = prepare_once(sql, text, &stmt, err);
    bytes items = {0};
    db_row row = {.stmt = stmt};
    for (bool done = false; status == WL_OK && !done;)
        status = read_some(&row, &items, size, fill, &done, err);
    sqlite3_reset(stmt);
    wl_vec_free(&items);
    return status;
}
