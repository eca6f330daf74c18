/* The statements over the tables of columns.def, and the copying of rows. */
#include "profile/tables.h"

#include "ir/ops.h"

#include <stdio.h>

enum { MAX_STATEMENT = 2048 };

/* What stands for NULL in a MAYBE. */
#define ABSENT(lvalue) \
    _Generic((lvalue), uint32_t: UINT32_MAX, uint64_t: UINT64_MAX, int64_t: INT64_C(-1))

/* ---- reading ---- */

static bool take_null(db_row *row)
{
    bool null = row_is_null(row);
    row->column += null;
    return null;
}

#define READ(lvalue)              \
    (lvalue) = _Generic((lvalue), \
        uint8_t: row_u8,          \
        uint16_t: row_u16,        \
        uint32_t: row_u32,        \
        uint64_t: row_u64,        \
        int32_t: row_i32,         \
        int64_t: row_i64,         \
        bool: row_bool,           \
        const char *: row_text)(row)

static row_bytes read_bytes(db_row *row)
{
    row_bytes bytes = {0};
    const void *data = row_blob(row, &bytes.size);
    bytes.data = data ? wl_arena_copy(row->arena, data, bytes.size) : NULL;
    row->nomem |= data && !bytes.data;
    return bytes;
}

#define TABLE(table, type)                            \
    static void fill_##table(db_row *row, void *item) \
    {                                                 \
        type *v = item;
#define END(table) }
#define KEY(column, member) READ(v->member);
#define NUMBER(column, member) READ(v->member);
#define ENUM(column, member, n) \
    READ(v->member);            \
    row->bad |= v->member >= (n);
#define ID(column, member) READ(v->member);
#define MAYBE(column, member)          \
    if (take_null(row))                \
        v->member = ABSENT(v->member); \
    else                               \
        READ(v->member);
#define AMOUNT(column, member) v->member = row_seconds(row);
#define TEXT(column, member) READ(v->member);
#define REMARK(column, member) v->member = row_text_or_null(row);
#define BYTES(column, member) v->member = read_bytes(row);
#define MAYBE_BYTES(column, member) BYTES(column, member)
#define WHEN(condition, column, member) READ(v->member);
#define JOINED(column, member) READ(v->member);
#define SET(member, value) v->member = (value);
#define CHECK(condition) row->bad |= !(condition);
#include "profile/columns.def"

/* ---- writing ---- */

#define TABLE(table, type)                                                           \
    wl_status table_insert_##table(sqlite3_stmt *stmt, const type *v, wl_error *err) \
    {                                                                                \
        const db_value values[] = {
#define END(table)                                                           \
    }                                                                        \
    ;                                                                        \
    return db_run_values(stmt, values, sizeof values / sizeof *values, err); \
    }
#define KEY(column, member) db_id(v->member),
#define NUMBER(column, member) db_int((uint64_t)v->member),
#define ENUM(column, member, n) db_int(v->member),
#define ID(column, member) db_id(v->member),
#define MAYBE(column, member) \
    v->member == ABSENT(v->member) ? db_null() : db_int((uint64_t)v->member),
#define AMOUNT(column, member) db_real(v->member),
#define TEXT(column, member) db_text(v->member),
#define REMARK(column, member) db_text(v->member),
#define BYTES(column, member) db_blob(v->member.data, v->member.size),
#define MAYBE_BYTES(column, member) BYTES(column, member)
#define WHEN(condition, column, member) (condition) ? db_int(v->member) : db_null(),
#include "profile/columns.def"

/* ---- statements ---- */

#define TABLE(table, type) static const char insert_##table[] = "INSERT"
#define END(table) ;
#define ONCE() " OR IGNORE"
#include "profile/columns.def"

/* ", id, process, ...": the columns that are written, as many question marks, and the columns that
 * are read. */
#define TABLE(table, type) static const char written_##table[] = ""
#define END(table) ;
#define COLUMN(column) ", " #column
#include "profile/columns.def"

#define TABLE(table, type) static const char marks_##table[] = ""
#define END(table) ;
#define COLUMN(column) ", ?"
#include "profile/columns.def"

#define TABLE(table, type) static const char read_##table[] = ""
#define END(table) ;
#define COLUMN(column) ", " #column
#define JOINED(column, member) ", " #column
#include "profile/columns.def"

enum { COMMA = 2 }; /* bytes before the first column */

static const struct {
    const char *name, *insert, *written, *marks, *read;
    size_t size; /* of the structure */
    db_fill *fill;
} tables[TABLE_COUNT] = {
#define TABLE(table, type)                      \
    [TABLE_##table] = {#table,                  \
                       insert_##table,          \
                       written_##table + COMMA, \
                       marks_##table + COMMA,   \
                       read_##table + COMMA,    \
                       sizeof(type),            \
                       fill_##table},
#include "profile/columns.def"
};

wl_status table_prepare(sqlite3 *sql, table_id table, sqlite3_stmt **out, wl_error *err)
{
    char text[MAX_STATEMENT];
    snprintf(text, sizeof text, "%s INTO %s (%s) VALUES (%s)", tables[table].insert,
             tables[table].name, tables[table].written, tables[table].marks);
    return db_prepare(sql, text, out, err);
}

wl_status table_load(sqlite3 *sql, table_id table, const char *from, const db_value *values,
                     size_t nvalues, wl_arena *arena, uint32_t *count, void *rows, wl_error *err)
{
    char text[MAX_STATEMENT];
    snprintf(text, sizeof text, "SELECT %s FROM %s", tables[table].read, from);
    return db_load(sql, text, values, nvalues, tables[table].size, tables[table].fill, arena, count,
                   rows, err);
}

wl_status table_read(sqlite3 *sql, table_id table, const char *from, wl_error *err)
{
    char text[MAX_STATEMENT];
    snprintf(text, sizeof text, "SELECT %s FROM %s", tables[table].read, from);
    return db_read(sql, text, tables[table].size, tables[table].fill, err);
}
