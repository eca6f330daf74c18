/* SQLite as the profile uses it: values that do not go in, rows that hold what they cannot, text
 * that is no text; and a builder leaves it in order. */
#include "story.h"
#include "support/test.h"

#include "profile/db.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static wl_error err;

static sqlite3 *in_memory(const char *statements)
{
    sqlite3 *sql;
    assert_int_equal(sqlite3_open(":memory:", &sql), SQLITE_OK);
    story_expect(db_exec(sql, statements, &err), &err);
    return sql;
}

/* ---- writing ---- */

static void a_value_that_cannot_be_bound_fails(void **state)
{
    (void)state;
    sqlite3 *sql = in_memory("CREATE TABLE t(a, b)");
    sqlite3_stmt *stmt;
    story_expect(db_prepare(sql, "INSERT INTO t VALUES(?, ?)", &stmt, &err), &err);
    story_expect(db_run(stmt, &err, db_int(1), db_text("two")), &err);
    sqlite3_limit(sql, SQLITE_LIMIT_LENGTH, 10);
    assert_int_equal(db_run(stmt, &err, db_int(1), db_text("longer than ten")), WL_LIMIT);
    assert_int_equal(db_run(stmt, &err, db_int(1), db_int(2), db_int(3)), WL_IO);
    assert_int_equal(sqlite3_total_changes(sql), 1);
    story_expect(db_run(stmt, &err, db_int(3), db_null()), &err); /* it goes on */
    assert_int_equal(sqlite3_total_changes(sql), 2);
    sqlite3_finalize(stmt);
    sqlite3_close(sql);
}

/* ---- reading ---- */

typedef struct numbers {
    uint8_t byte;
    uint16_t half;
    uint32_t word;
    int32_t number;
    double seconds;
} numbers;

static void fill_numbers(db_row *row, void *item)
{
    numbers *n = item;
    n->byte = row_u8(row);
    n->half = row_u16(row);
    n->word = row_u32(row);
    n->number = row_i32(row);
    n->seconds = row_seconds(row);
}

static wl_status load_numbers(const char *values, numbers *out)
{
    sqlite3 *sql = in_memory("");
    wl_arena *arena = wl_arena_new();
    char text[256];
    uint32_t count;
    numbers *rows = NULL;
    snprintf(text, sizeof text, "SELECT %s", values);
    wl_status status = db_load(sql, text, NULL, 0, sizeof *rows, fill_numbers, arena, &count, &rows,
                               &err);
    if (status == WL_OK && out)
        *out = rows[0];
    assert_int_equal(count, status == WL_OK);
    wl_arena_free(arena);
    db_close(sql);
    return status;
}

static void numbers_fit_or_the_profile_is_damaged(void **state)
{
    (void)state;
    numbers n;
    story_expect(load_numbers("255, 65535, 4294967295, 2147483647, 0.0", &n), &err);
    assert_true(n.byte == 255 && n.half == 65535 && n.word == UINT32_MAX);
    assert_true(n.number == INT32_MAX && n.seconds == 0);
    story_expect(load_numbers("0, 0, 0, -2147483648, 1.5", &n), &err);
    assert_true(n.number == INT32_MIN && n.seconds == 1.5);
    story_expect(load_numbers("NULL, NULL, NULL, NULL, NULL", &n), &err);
    assert_true(!n.byte && !n.half && !n.word && !n.number && n.seconds == -1);
    static const char *const damaged[] = {
        "256, 0, 0, 0, 0.0", "-1, 0, 0, 0, 0.0",         "0, 65536, 0, 0, 0.0",
        "0, -1, 0, 0, 0.0",  "0, 0, 4294967296, 0, 0.0", "0, 0, -1, 0, 0.0",
        "'1', 0, 0, 0, 0.0", "0, 0, 0, 2147483648, 0.0", "0, 0, 0, -2147483649, 0.0",
    };
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++)
        assert_int_equal(load_numbers(damaged[i], NULL), WL_CORRUPT);
}

static wl_status load_sum(sqlite3 *sql, uint64_t to, wl_arena *arena, uint32_t *sum);

static void fill_sum(db_row *row, void *item)
{
    uint32_t *sum = item, n = row_u32(row), rest = 0;
    if (n > 1)
        story_expect(load_sum(sqlite3_db_handle(row->stmt), n - 1, row->arena, &rest), &err);
    *sum = n + rest;
}

/* 1 + 2 + ... + to, each by a statement within the one before. */
static wl_status load_sum(sqlite3 *sql, uint64_t to, wl_arena *arena, uint32_t *sum)
{
    uint32_t count, *rows;
    wl_status status = db_load(sql, "SELECT ?", DB_VALUES(db_int(to)), 1, sizeof *rows, fill_sum,
                               arena, &count, &rows, &err);
    *sum = status == WL_OK ? rows[0] : 0;
    return status;
}

static uint32_t statements_of(sqlite3 *sql)
{
    uint32_t count = 0;
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(sql, s));)
        count++;
    return count;
}

static void a_statement_is_prepared_once_and_runs_again(void **state)
{
    (void)state;
    sqlite3 *sql = in_memory("");
    wl_arena *arena = wl_arena_new();
    uint32_t sum;
    for (int i = 0; i < 2; i++) {
        assert_true(load_sum(sql, 1, arena, &sum) == WL_OK && sum == 1);
        assert_int_equal(load_sum(sql, UINT64_C(1) << 32, arena, &sum), WL_CORRUPT);
        assert_int_equal(statements_of(sql), 1);
    }
    for (int i = 0; i < 2; i++) {
        assert_true(load_sum(sql, 4, arena, &sum) == WL_OK && sum == 1 + 2 + 3 + 4);
        assert_int_equal(statements_of(sql), 4); /* one that still runs is left alone */
    }
    wl_arena_free(arena);
    assert_int_equal(db_close(sql), SQLITE_OK);
}

/* ---- text ---- */

static void text_is_mended(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length, left;
        const char *want;
    } cases[] = {
        {"plain", 5, 5, "plain"},
        {"cut off", 3, 3, "cut"},
        {"a\0b\xff", 4, 1, "a"}, /* nothing after the end of the text */
        {"", 0, 0, ""},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9, 9, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\x80|\xc3|\xe2\x82|", 7, 7, "?|?|??|"}, /* no beginning; no end */
        {"\xe2\x82", 2, 2, "??"},
        {"\xc0\xaf\xe0\x9f\xbf\xf0\x8f\xbf\xbf", 9, 9, "?????????"}, /* longer than need be */
        {"\xed\x9f\xbf\xed\xa0\x80", 6, 6, "\xed\x9f\xbf???"},       /* a surrogate */
        {"\xf4\x8f\xbf\xbf\xf4\x90\x80\x80", 8, 8, "\xf4\x8f\xbf\xbf????"}, /* beyond Unicode */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[16] = "";
        memcpy(text, cases[i].text, cases[i].length);
        assert_int_equal(db_mend_text(text, cases[i].length), cases[i].left);
        text[cases[i].left] = '\0';
        assert_string_equal(text, cases[i].want);
    }
}

/* ---- profiles ---- */

static int misuses;

static void note_misuse(void *unused, int code, const char *message)
{
    (void)unused;
    (void)message;
    misuses += (code & 0xff) == SQLITE_MISUSE;
}

static const char *make_profile(const char *name)
{
    const char *path = story_path(name);
    const prof_options options = {.force = true};
    prof_builder *builder;
    story_expect(prof_create(path, &options, &builder, &err), &err);
    story_all(builder);
    story_expect(prof_finish(builder, &err), &err);
    return path;
}

static void a_builder_closes_its_file_once(void **state)
{
    (void)state;
    prof_builder *builder;
    const prof_options options = {.force = true};
    misuses = 0;
    unlink(make_profile("once.wlprof"));
    story_expect(prof_create(story_path("once.wlprof"), &options, &builder, &err), &err);
    prof_discard(builder);
    assert_int_equal(misuses, 0);
}

static wl_status load_bytes(prof_db *db, uint64_t bytes)
{
    char text[64];
    sqlite3_stmt *stmt;
    snprintf(text, sizeof text, "SELECT length(zeroblob(%llu) || '')", (unsigned long long)bytes);
    story_expect(db_prepare(db->sql, text, &stmt, &err), &err);
    int rc = sqlite3_step(stmt);
    wl_status status = rc == SQLITE_ROW ? WL_OK : db_fail(db->sql, rc, "read the profile", &err);
    sqlite3_finalize(stmt);
    return status;
}

/* Whatever a profile says, memory for no more than that is asked for. */
static void values_of_a_profile_have_a_largest_size(void **state)
{
    (void)state;
    const char *path = make_profile("largest.wlprof");
    prof_db *db;
    story_expect(prof_open(path, &db, &err), &err);
    assert_int_equal(load_bytes(db, 1000), WL_OK);
    assert_int_equal(load_bytes(db, (uint64_t)DB_MAX_VALUE + 1), WL_LIMIT);
    prof_close(db);
    unlink(path);
}

static void load_kernel(prof_db *db, uint32_t kernel, wl_arena *arena)
{
    prof_code_rows code;
    prof_form_rows forms;
    prof_launch_rows kinds;
    prof_traffic_rows traffic;
    prof_heat_info_rows heats;
    prof_use_rows uses;
    prof_sample_rows samples;
    story_expect(prof_load_code(db, kernel, arena, &code, &err), &err);
    story_expect(prof_load_forms(db, kernel, arena, &forms, &err), &err);
    story_expect(prof_load_launch_kinds(db, kernel, arena, &kinds, &err), &err);
    story_expect(prof_load_traffic(db, kernel, arena, &traffic, &err), &err);
    story_expect(prof_load_heats(db, kernel, arena, &heats, &err), &err);
    story_expect(prof_load_uses(db, kernel, arena, &uses, &err), &err);
    story_expect(prof_load_kind_samples(db, kernel, arena, &samples, &err), &err);
    assert_true(code.count && kinds.count && traffic.count && heats.count && uses.count &&
                samples.count);
}

/* Else who loads kernel after kernel takes time that grows with the square of their number. */
static void rows_of_a_kernel_are_found_without_reading_all(void **state)
{
    (void)state;
    const char *path = make_profile("scans.wlprof");
    prof_db *db;
    wl_arena *arena = wl_arena_new();
    story_expect(prof_open(path, &db, &err), &err);
    load_kernel(db, 1, arena);
    for (sqlite3_stmt *s = NULL; (s = sqlite3_next_stmt(db->sql, s));)
        if (sqlite3_stmt_status(s, SQLITE_STMTSTATUS_FULLSCAN_STEP, 0) > 0)
            fail_msg("It reads a whole table: %s", sqlite3_sql(s));
    prof_close(db);
    wl_arena_free(arena);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_cannot_be_bound_fails),
        cmocka_unit_test(numbers_fit_or_the_profile_is_damaged),
        cmocka_unit_test(a_statement_is_prepared_once_and_runs_again),
        cmocka_unit_test(text_is_mended),
        cmocka_unit_test(a_builder_closes_its_file_once),
        cmocka_unit_test(values_of_a_profile_have_a_largest_size),
        cmocka_unit_test(rows_of_a_kernel_are_found_without_reading_all),
    };
    sqlite3_config(SQLITE_CONFIG_LOG, note_misuse, NULL); /* before its first use */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
