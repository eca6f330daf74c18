/* Line tables: one worked by hand, and every way to cut it off. */
#include "sass/decode.h"
#include "sass/lines.h"
#include "support/test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INSNS = 8, ADDRESS_AT = 29 };

/* One unit, version 2, line base -5, range 14, opcode base 10. Its sequence: address 0x10, line 7
 * (copy); two instructions on, line 9 (special); one on (advance), line 3; two on, the end. */
static const unsigned char table[] = {
    51, 0,  0, 0,    2, 0, 16, 0, 0, 0, 1,    1, 0xfb, 14, 10, 0, 1, 1, 1,
    1,  0,  0, 0,    1, 0, 0,  0, 9, 2, 0x10, 0, 0,    0,  0,  0, 0, 0, /* set_address */
    3,  6,  1,                                                          /* line 7 */
    2,  32, 3, 2,    1,                                                 /* 32 bytes on, line 9 */
    2,  16, 3, 0x7a, 1,                                                 /* 16 bytes on, line 3 */
    2,  32, 0, 1,    1 /* 32 bytes on, end_sequence */
};

/* What was read of a table. */
typedef struct readout {
    size_t asked;
    bool none_ours;
    uint32_t lines[INSNS], known;
    char file[64];
} readout;

static bool are_ours(void *ctx, size_t offset, uint64_t *added)
{
    readout *r = ctx;
    *added = 0;
    r->asked = offset;
    return !r->none_ours;
}

static void take_row(void *ctx, const sass_row *row)
{
    readout *r = ctx;
    for (uint32_t i = row->first; i < row->end && i < INSNS; i++) {
        r->known += r->lines[i] == 0;
        r->lines[i] = row->line;
    }
    snprintf(r->file, sizeof r->file, "%s|%s", row->folder, row->file);
}

static uint32_t read_table(const unsigned char *bytes, size_t size, readout *r)
{
    sass_read_lines(bytes, size, &(sass_line_reader){are_ours, take_row, r});
    return r->known;
}

static void rows_hold_until_the_next(void **state)
{
    (void)state;
    static const uint32_t expected[INSNS] = {0, 7, 7, 9, 3, 3, 0, 0};
    readout r = {0};
    assert_int_equal(read_table(table, sizeof table, &r), 5);
    assert_int_equal(r.asked, ADDRESS_AT);
    for (int i = 0; i < INSNS; i++)
        assert_int_equal(r.lines[i], expected[i]);
    assert_string_equal(r.file, "|");
}

/* The same with two folders, and files in the second and in none. */
static void files_have_names(void **state)
{
    (void)state;
    static const unsigned char tables[] = "a\0b/c\0\0x.cu\0\2\0\0y.h\0\0\0\0";
    enum { HEADER = 24, MORE = sizeof tables - 2 }; /* in the place of two ends */
    unsigned char copy[sizeof table + sizeof tables + 2];
    for (unsigned file = 1; file <= 3; file++) {
        readout r = {0};
        size_t size = 0;
        memcpy(copy, table, HEADER);
        memcpy(copy + HEADER, tables, sizeof tables);
        size = HEADER + sizeof tables;
        copy[size++] = 4; /* set_file */
        copy[size++] = (unsigned char)file;
        memcpy(copy + size, table + HEADER + 2, sizeof table - HEADER - 2);
        size += sizeof table - HEADER - 2;
        copy[0] = (unsigned char)(size - 4);
        copy[6] = (unsigned char)(copy[6] + MORE);
        assert_int_equal(read_table(copy, size, &r), 5);
        assert_string_equal(r.file, file == 1 ? "b/c|x.cu" : file == 2 ? "|y.h" : "|");
    }
}

static void other_kernels_are_left_out(void **state)
{
    (void)state;
    readout r = {.none_ours = true};
    assert_int_equal(read_table(table, sizeof table, &r), 0);
    assert_int_equal(r.lines[1], 0);
}

/* Nothing beyond the bytes that are there is read: each copy ends where its memory does. */
static void what_is_cut_off_ends_there(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof table; bytes++) {
        unsigned char *copy = malloc(bytes ? bytes : 1);
        readout r = {0};
        assert_non_null(copy);
        memcpy(copy, table, bytes);
        assert_int_equal(read_table(copy, bytes, &r), 0);
        free(copy);
    }
}

/* The unit says that it is shorter than it is. */
static void a_short_unit_tells_what_it_has(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof table - 4; bytes++) {
        unsigned char copy[sizeof table];
        readout r = {0};
        memcpy(copy, table, sizeof table);
        copy[0] = (unsigned char)bytes;
        uint32_t found = read_table(copy, bytes + 4, &r);
        assert_true(found <= 5);
        assert_int_equal(r.lines[0], 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_until_the_next),
        cmocka_unit_test(files_have_names),
        cmocka_unit_test(other_kernels_are_left_out),
        cmocka_unit_test(what_is_cut_off_ends_there),
        cmocka_unit_test(a_short_unit_tells_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
