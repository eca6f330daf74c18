/* Numbers, characters and names as people read them, each side of where the form changes. */
#include "support/arena.h"
#include "support/test.h"

#include "report/impl.h"

#include <string.h>

static void test_counts(void **state)
{
    (void)state;
    assert_string_equal(rep_count(arena, 999), "999");
    assert_string_equal(rep_count(arena, 1000), "1,000");
    assert_string_equal(rep_count(arena, 100000), "100,000");
    assert_string_equal(rep_short_count(arena, 9999), "9,999");
    assert_string_equal(rep_short_count(arena, 10000), "10 K");
    assert_string_equal(rep_short_count(arena, 10001), "10.0 K");
    assert_string_equal(rep_short_count(arena, 99949), "99.9 K");
    assert_string_equal(rep_short_count(arena, 99950), "100 K");
    assert_string_equal(rep_short_count(arena, 999499), "999 K");
    assert_string_equal(rep_short_count(arena, 999500), "1.00 M");
    assert_string_equal(rep_short_count(arena, 9994999), "9.99 M");
    assert_string_equal(rep_short_count(arena, 9995001), "10.0 M");
    assert_string_equal(rep_short_count(arena, UINT64_C(2000000000)), "2 G");
    assert_string_equal(rep_short_count(arena, UINT64_C(2000000000000)), "2 T");
    assert_string_equal(rep_short_count(arena, UINT64_C(2000000000000000)), "2 P");
    assert_string_equal(rep_short_count(arena, UINT64_C(2000000000000000000)), "2000 P");
}

static void test_bytes(void **state)
{
    (void)state;
    assert_string_equal(rep_bytes(arena, 0), "0 B");
    assert_string_equal(rep_bytes(arena, 1023), "1023 B");
    assert_string_equal(rep_bytes(arena, 1024), "1 KiB");
    assert_string_equal(rep_bytes(arena, 1025), "1.00 KiB");
    assert_string_equal(rep_bytes(arena, 1024 * 1023), "1023 KiB");
    assert_string_equal(rep_bytes(arena, 1024 * 1024 - 1), "1.00 MiB");
    assert_string_equal(rep_bytes(arena, UINT64_C(3) << 30), "3 GiB");
    assert_string_equal(rep_bytes(arena, UINT64_C(3) << 40), "3 TiB");
    assert_string_equal(rep_bytes(arena, UINT64_C(3) << 50), "3072 TiB");
}

static void test_ratios(void **state)
{
    (void)state;
    assert_string_equal(rep_ratio(arena, 1, 3), "0.33");
    assert_string_equal(rep_ratio(arena, 999, 100), "9.99");
    assert_string_equal(rep_ratio(arena, 9996, 1000), "10.0");
    assert_string_equal(rep_ratio(arena, 999, 10), "99.9");
    assert_string_equal(rep_ratio(arena, 9996, 100), "100");
    assert_string_equal(rep_ratio(arena, 0, 4), "0.00");
}

static void test_percents(void **state)
{
    (void)state;
    assert_string_equal(rep_percent(arena, 0), "0 %");
    assert_string_equal(rep_percent(arena, 0.00099), "< 0.1 %");
    assert_string_equal(rep_percent(arena, 0.001), "0.1 %");
    assert_string_equal(rep_percent(arena, 0.0994), "9.9 %");
    assert_string_equal(rep_percent(arena, 0.0996), "10 %");
    assert_string_equal(rep_percent(arena, 1), "100 %");
}

static void test_seconds(void **state)
{
    (void)state;
    assert_string_equal(rep_seconds(arena, 0.0009), "900 us");
    assert_string_equal(rep_seconds(arena, 1e-5), "10 us");
    assert_string_equal(rep_seconds(arena, 3.26e-6), "3.3 us");
    assert_string_equal(rep_seconds(arena, 0.001), "1.0 ms");
    assert_string_equal(rep_seconds(arena, 0.9), "900.0 ms");
    assert_string_equal(rep_seconds(arena, 1), "1.00 s");
}

static void test_quantities(void **state)
{
    (void)state;
    assert_string_equal(rep_plural(arena, 0, "warp", "warps"), "0 warps");
    assert_string_equal(rep_plural(arena, 1, "warp", "warps"), "1 warp");
    assert_string_equal(rep_plural(arena, 2000, "warp", "warps"), "2,000 warps");
    assert_string_equal(rep_quantity(arena, 1, "%"), "1 %");
    assert_string_equal(rep_quantity(arena, 1, ""), "1");
    assert_string_equal(rep_quantity(arena, 2, "warps"), "2 warps");
    assert_string_equal(rep_quantity(arena, 999.4, "warps"), "999 warps");
    assert_string_equal(rep_quantity(arena, 999.5, "warps"), "1,000 warps");
    assert_string_equal(rep_quantity(arena, 1000, "warps"), "1,000 warps");
    assert_string_equal(rep_quantity(arena, 1000.6, "warps"), "1,001 warps");
    assert_string_equal(rep_quantity(arena, -1500, "bytes"), "-1,500 bytes");
    assert_string_equal(rep_quantity(arena, 999999999999999, ""), "999,999,999,999,999");
    assert_string_equal(rep_quantity(arena, 1e15, ""), "1e+15");
}

/* The first and the last character of each length, and those on the other side. */
static void test_characters(void **state)
{
    (void)state;
    static const struct {
        const char *bytes;
        bool good;
    } rows[] = {
        {"\x7f", true},
        {"\xc1\xbf", false},
        {"\xc2\x80", true},
        {"\xdf\xbf", true},
        {"\xe0\x9f\xbf", false},
        {"\xe0\xa0\x80", true},
        {"\xed\x9f\xbf", true},
        {"\xed\xa0\x80", false},
        {"\xed\xbf\xbf", false},
        {"\xee\x80\x80", true},
        {"\xef\xbf\xbe", true},
        {"\xf0\x8f\xbf\xbf", false},
        {"\xf0\x90\x80\x80", true},
        {"\xf4\x8f\xbf\xbf", true},
        {"\xf4\x90\x80\x80", false},
        {"\xf5\x80\x80\x80", false},
        {"\xc2", false},
        {"\xe1\x80", false},
        {"\xc2\xc0", false},
        {"\x80", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *clean = rep_clean(arena, rows[i].bytes, false);
        if (rows[i].good)
            assert_string_equal(clean, rows[i].bytes);
        else
            assert_int_equal(strncmp(clean, "\xef\xbf\xbd", 3), 0);
    }
}

/* What a terminal could obey becomes a space, and its neighbours stay. */
static void test_controls(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool control;
    } rows[] = {
        {"\x01", true},
        {"\x1f", true},
        {" ", false},
        {"~", false},
        {"\x7f", true},
        {"\xc2\x80", true},
        {"\xc2\x9f", true},
        {"\xc2\xa0", false},
        {"\xe2\x80\xa9", false},
        {"\xe2\x80\xaa", true},
        {"\xe2\x80\xae", true},
        {"\xe2\x80\xaf", false},
        {"\xe2\x81\xa5", false},
        {"\xe2\x81\xa6", true},
        {"\xe2\x81\xa9", true},
        {"\xe2\x81\xaa", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_string_equal(rep_clean(arena, rows[i].text, true),
                            rows[i].control ? " " : rows[i].text);
        assert_string_equal(rep_clean(arena, rows[i].text, false), rows[i].text);
    }
}

static void test_widths(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t width;
    } rows[] = {
        {"", 0},
        {"\xcb\xbf", 1},
        {"\xcc\x80", 0},
        {"\xcd\xaf", 0},
        {"\xcd\xb0", 1},
        {"\xe1\x83\xbf", 1},
        {"\xe1\x84\x80", 2},
        {"\xe1\x85\x9f", 2},
        {"\xe1\x85\xa0", 1},
        {"\xe2\x80\x8b", 0},
        {"\xe2\x80\x8f", 0},
        {"\xe2\x80\x90", 1},
        {"\xea\x93\x8f", 2},
        {"\xea\x93\x90", 1},
        {"\xea\xb0\x80", 2},
        {"\xed\x9e\xa3", 2},
        {"\xed\x9e\xa4", 1},
        {"\xf0\x9f\x8c\x80", 2},
        {"\xf0\x9f\xab\xbf", 2},
        {"\xf0\x9f\xac\x80", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(rep_width(rows[i].text), rows[i].width);
}

static void test_what_is_shortened(void **state)
{
    (void)state;
    static const char *const middles[] = {"",      "…",      "a…",      "ab…",      "abc…",
                                          "abc…h", "abcd…h", "abcd…gh", "abcdefgh", "abcdefgh"};
    static const char *const ends[] = {"",      "…",      "a…",      "ab…",      "abc…",
                                       "abcd…", "abcde…", "abcdef…", "abcdefgh", "abcdefgh"};
    for (size_t columns = 0; columns < 10; columns++) {
        assert_string_equal(rep_shorten_middle(arena, "abcdefgh", columns), middles[columns]);
        assert_string_equal(rep_shorten_end(arena, "abcdefgh", columns), ends[columns]);
    }
}

static void test_utf8(void **state)
{
    (void)state;
    assert_int_equal(rep_width("naïve"), 5);
    assert_int_equal(rep_width("漢字"), 4);
    assert_int_equal(rep_width("e\xcc\x81"), 1);
    assert_string_equal(rep_clean(arena, "a\x80z", true), "a\xef\xbf\xbdz");
    assert_string_equal(rep_clean(arena, "\xe2\x82", true), "\xef\xbf\xbd\xef\xbf\xbd");
    assert_string_equal(rep_clean(arena, "a\033[0m\tb", true), "a [0m b");
    assert_string_equal(rep_clean(arena, "x\xe2\x80\xaey", true), "x y");
    assert_string_equal(rep_shorten_middle(arena, "transpose_shared<float, 32>", 12),
                        "transpos…32>");
    assert_int_equal(rep_width(rep_shorten_middle(arena, "漢字漢字漢字", 7)), 7);
    assert_string_equal(rep_shorten_end(arena, "abcdef", 4), "abc…");
    assert_string_equal(rep_shorten_end(arena, "abcd", 4), "abcd");
}

/* Template arguments go first, the innermost before the outer ones, then namespaces; then the
 * middle. */
static void test_names(void **state)
{
    (void)state;
    static const char name[] =
        "lib::detail::reduce<lib::policy<80, true>, float>(float*, lib::op<int>)";
    static const struct {
        size_t columns;
        const char *text;
    } cases[] = {{100, name},
                 {66, "lib::detail::reduce<lib::policy<…>, float>(float*, lib::op<int>)"},
                 {50, "lib::detail::reduce<…>(float*, lib::op<…>)"},
                 {34, "…reduce<…>(float*, lib::op<…>)"},
                 {12, "…reduce<…op<…>)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = rep_shorten_name(arena, name, cases[i].columns);
        if (i + 1 < sizeof cases / sizeof *cases)
            assert_string_equal(text, cases[i].text);
        assert_true(rep_width(text) <= cases[i].columns);
    }
    assert_string_equal(rep_shorten_name(arena, "a<b", 2), "a…");
    assert_string_equal(rep_shorten_name(arena, "", 2), "");
    assert_true(rep_width(rep_shorten_name(arena, "x::operator<<(a->b, c >> d)", 9)) <= 9);
}

static void test_numbers(void **state)
{
    (void)state;
    assert_string_equal(rep_count(arena, 0), "0");
    assert_string_equal(rep_count(arena, 1234567), "1,234,567");
    assert_string_equal(rep_count(arena, UINT64_MAX), "18,446,744,073,709,551,615");
    assert_string_equal(rep_short_count(arena, 9999), "9,999");
    assert_string_equal(rep_short_count(arena, 1048576), "1.05 M");
    assert_string_equal(rep_short_count(arena, 999999), "1.00 M");
    assert_string_equal(rep_bytes(arena, 4096), "4 KiB");
    assert_string_equal(rep_bytes(arena, 1536), "1.50 KiB");
    assert_string_equal(rep_percent(arena, 0.0004), "< 0.1 %");
    assert_string_equal(rep_percent(arena, 0.5), "50 %");
    assert_string_equal(rep_ratio(arena, 1, 0), "");
    assert_string_equal(rep_quantity(arena, 12.5, "%"), "12.5 %");
    assert_string_equal(rep_quantity(arena, 1, "warps"), "1 warp");
    assert_string_equal(rep_quantity(arena, -3, ""), "-3");
    assert_string_equal(rep_quantity(arena, 123456.7, "bytes"), "123,457 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counts),     cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_ratios),     cmocka_unit_test(test_percents),
        cmocka_unit_test(test_seconds),    cmocka_unit_test(test_quantities),
        cmocka_unit_test(test_characters), cmocka_unit_test(test_controls),
        cmocka_unit_test(test_widths),     cmocka_unit_test(test_what_is_shortened),
        cmocka_unit_test(test_utf8),       cmocka_unit_test(test_names),
        cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, arena_set_up, arena_tear_down);
}
