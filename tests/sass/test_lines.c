/* Line tables: one worked by hand, and every way to cut it off. */
#include "sass/lines.h"
#include "support/test.h"

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

static bool all_ours(void *ctx, size_t offset, uint64_t *added)
{
    *added = 0;
    *(size_t *)ctx = offset;
    return true;
}

static bool none_ours(void *ctx, size_t offset, uint64_t *added)
{
    (void)ctx, (void)offset, (void)added;
    return false;
}

static void rows_hold_until_the_next(void **state)
{
    (void)state;
    static const uint32_t expected[INSNS] = {0, 7, 7, 9, 3, 3, 0, 0};
    sass_insn insns[INSNS] = {0};
    size_t asked = 0;
    assert_int_equal(sass_read_lines(table, sizeof table, all_ours, &asked, insns, INSNS), 5);
    assert_int_equal(asked, ADDRESS_AT);
    for (int i = 0; i < INSNS; i++)
        assert_int_equal(insns[i].line, expected[i]);
}

static void other_kernels_are_left_out(void **state)
{
    (void)state;
    sass_insn insns[INSNS] = {0};
    assert_int_equal(sass_read_lines(table, sizeof table, none_ours, NULL, insns, INSNS), 0);
    assert_int_equal(insns[1].line, 0);
}

/* Nothing beyond the bytes that are there is read: each copy ends where its memory does. */
static void what_is_cut_off_ends_there(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof table; bytes++) {
        unsigned char *copy = malloc(bytes ? bytes : 1);
        sass_insn insns[INSNS] = {0};
        size_t asked = 0;
        assert_non_null(copy);
        memcpy(copy, table, bytes);
        assert_int_equal(sass_read_lines(copy, bytes, all_ours, &asked, insns, INSNS), 0);
        free(copy);
    }
}

/* The unit says that it is shorter than it is. */
static void a_short_unit_tells_what_it_has(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < sizeof table - 4; bytes++) {
        unsigned char copy[sizeof table];
        sass_insn insns[INSNS] = {0};
        size_t asked = 0;
        memcpy(copy, table, sizeof table);
        copy[0] = (unsigned char)bytes;
        uint32_t found = sass_read_lines(copy, bytes + 4, all_ours, &asked, insns, INSNS);
        assert_true(found <= 5);
        assert_int_equal(insns[0].line, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_hold_until_the_next),
        cmocka_unit_test(other_kernels_are_left_out),
        cmocka_unit_test(what_is_cut_off_ends_there),
        cmocka_unit_test(a_short_unit_tells_what_it_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
