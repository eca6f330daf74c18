/* The outline of a text: kinds, linkage, spaces, names, and where statements end. */
#include "support.h"

#include "ptx/outline.h"

#include <string.h>

static const char text[] =
    "// a comment; with { and }\n"
    ".version 8.0\n.target sm_90a, debug\n.address_size 64\n"
    ".file 1 \"a;b.cu\", 12, 34\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
    ".visible .const .align 4 .b8 table[4] = {1, 2, 3, 4};\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".weak .entry k(.param .u64 p)\n.maxntid 128, 1, 1\n{ { ret; } /* } */ }\n"
    ".global .u32 x;\n"
    ".section .debug_str { $L: .b8 1, 2 }\n";

static void test_statements(void **state)
{
    (void)state;
    static const struct {
        ptx_statement_kind kind;
        ir_linkage linkage;
        ir_space space;
        const char *name, *end; /* how the statement ends */
    } rows[] = {
        {PTX_STATEMENT_HEAD, IR_LINK_NONE, IR_SPACE_GENERIC, NULL, "8.0"},
        {PTX_STATEMENT_HEAD, IR_LINK_NONE, IR_SPACE_GENERIC, NULL, "debug"},
        {PTX_STATEMENT_HEAD, IR_LINK_NONE, IR_SPACE_GENERIC, NULL, "64"},
        {PTX_STATEMENT_SOURCE, IR_LINK_NONE, IR_SPACE_GENERIC, NULL, "34"},
        {PTX_STATEMENT_PROTOTYPE, IR_LINK_EXTERN, IR_SPACE_GENERIC, "vprintf", "b);"},
        {PTX_STATEMENT_VARIABLE, IR_LINK_VISIBLE, IR_SPACE_CONST, "table", "4};"},
        {PTX_STATEMENT_VARIABLE, IR_LINK_EXTERN, IR_SPACE_SHARED, "dynamic", "[];"},
        {PTX_STATEMENT_FUNCTION, IR_LINK_WEAK, IR_SPACE_GENERIC, "k", "*/ }"},
        {PTX_STATEMENT_VARIABLE, IR_LINK_NONE, IR_SPACE_GLOBAL, "x", "x;"},
        {PTX_STATEMENT_SECTION, IR_LINK_NONE, IR_SPACE_GENERIC, NULL, "2 }"},
    };
    ptx_lexer x = ptx_lexer_of(text, strlen(text), "x", NULL);
    ptx_statement s;
    ptx_next(&x);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(ptx_next_statement(&x, &s));
        assert_int_equal(s.kind, rows[i].kind);
        assert_int_equal(s.linkage, rows[i].linkage);
        assert_int_equal(s.space, rows[i].space);
        assert_int_equal(s.entry, s.kind == PTX_STATEMENT_FUNCTION);
        assert_true(rows[i].name ? ptx_is_named(&s, rows[i].name) : !s.name);
        size_t n = strlen(rows[i].end);
        assert_memory_equal(s.end - n, rows[i].end, n);
    }
    assert_false(ptx_next_statement(&x, &s));
    assert_false(x.failed);
}

static void test_broken(void **state)
{
    (void)state;
    static const char *const broken[] = {"abc", ".global .u32 x", ".func f() { ret;", "@@DWARF"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        wl_error err = {0};
        ptx_statement s;
        ptx_lexer x = ptx_lexer_of(broken[i], strlen(broken[i]), "x", &err);
        ptx_next(&x);
        assert_false(ptx_next_statement(&x, &s));
        assert_true(x.failed);
        assert_non_null(strstr(err.text, "x:1:"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_statements),
                                       cmocka_unit_test(test_broken)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
