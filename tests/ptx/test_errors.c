/* Messages, to the letter: place, what is wrong, the line, a caret, a hint. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_90\n"
#define KERNEL                    \
    ".entry k(.param .u64 p) {\n" \
    ".reg .pred %p<2>; .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .b64 %rd<2>;\n"

typedef struct sample {
    const char *text;
    const char *message;
} sample;

static const sample bodies[] = {
    {"adx.s32 %r1, %r2, %r3;",
     "5:1: unknown opcode 'adx'\nadx.s32 %r1, %r2, %r3;\n^\nhint: did you mean 'add'?"},
    {"\tadd.s3 \t%r1, %r2;", "5:5: unknown suffix '.s3' of 'add'\n\tadd.s3 \t%r1, %r2;\n\t   "
                             "^\nhint: did you mean '.s32'?"},
    {"add.xyzzyx.s32 %r1;", "5:4: unknown suffix '.xyzzyx' of 'add'\nadd.xyzzyx.s32 %r1;\n   ^"},
    {"add.s32 %r1, %r2, %r9;", "5:19: unknown register '%r9'\nadd.s32 %r1, %r2, %r9;\n             "
                               "     ^\nhint: a register is declared with .reg "
                               "before its first use"},
    {"mov.u32 %r1, %tidx.x;", "5:14: unknown register '%tidx'\nmov.u32 %r1, %tidx.x;\n             "
                              "^\nhint: did you mean '%tid'?"},
    {"\tadd.s32 \t%r1, %r2 %r3;", "5:20: expected ';' at the end of the instruction, found "
                                  "'%r3'\n\tadd.s32 \t%r1, %r2 %r3;\n\t        \t         ^"},
    {"add.s32 %r1, %r2, ;",
     "5:19: expected an operand, found ';'\nadd.s32 %r1, %r2, ;\n                  ^"},
    {"bra nowhere;", "5:5: unknown name 'nowhere'\nbra nowhere;\n    ^"},
    {"ts: .branchtargets away;", "5:20: unknown name 'away'\nts: .branchtargets away;\n            "
                                 "       ^\nhint: the label must "
                                 "stand in the same function, in this scope or around it"},
    {"{ L: } bra L;", "5:12: unknown name 'L'\n{ L: } bra L;\n           ^"},
    {"L: L:", "5:4: 'L' is already declared in this scope\nL: L:\n   ^"},
    {".reg .b32 %r1;",
     "5:11: '%r1' is already declared in this scope\n.reg .b32 %r1;\n          ^"},
    {"@%q exit;", "5:2: a guard is a predicate register, found '%q'\n@%q exit;\n ^"},
    {"ld.global.u32 %r1, [%rd1;", "5:25: expected ']' at the end of the address, found "
                                  "';'\nld.global.u32 %r1, [%rd1;\n                        ^"},
    {"ld.global.u32 %r1, [%rd1+%r2];", "5:26: expected a constant, found '%r2'\nld.global.u32 %r1, "
                                       "[%rd1+%r2];\n                         ^"},
    {"ld.global.u32 %r1, [%tid];", "5:21: the special register '%tid' cannot be an "
                                   "address\nld.global.u32 %r1, [%tid];\n                    ^"},
    {"ld.shared.b8 %r1, p[%r1];", "5:21: an index in a register is not supported\nld.shared.b8 "
                                  "%r1, p[%r1];\n                    ^\nhint: compute the "
                                  "address in a register and use [register]"},
    {"add.s32 %r1, %r2+1, 5;",
     "5:17: a register plus a number is only supported in addresses\nadd.s32 %r1, %r2+1, 5;\n"
     "                ^\nhint: add by an instruction of its own"},
    {"mov.u32 %r1, %laneid.x;",
     "5:21: %laneid has no components\nmov.u32 %r1, %laneid.x;\n                    ^"},
    {"mov.u32 %r1, 5/0;",
     "5:17: division by zero in a constant expression\nmov.u32 %r1, 5/0;\n                ^"},
    {"mov.u32 %r1, 09;", "5:14: this number has a letter or digit that does not belong to "
                         "it\nmov.u32 %r1, 09;\n             ^"},
    {"mov.f32 %f1, 1.2.3;", "5:14: this floating-point number is not written as PTX writes "
                            "it\nmov.f32 %f1, 1.2.3;\n             ^"},
    {"mov.f32 %f1, 1.5x;", "5:14: this floating-point number is not written as PTX writes "
                           "it\nmov.f32 %f1, 1.5x;\n             ^"},
    {"mov.f32 %f1, 1.0000000000000000000000000000000000000000000000000000000000000000000000;",
     "5:14: this floating-point number is not written as PTX writes "
     "it\nmov.f32 %f1, 1.0000000000000000000000000000000000000000000000000000000000000000000000;\n "
     "            ^"},
    {"mov.f32 %f1, 0f123;", "5:14: a number that starts with 0f has 8 hexadecimal digits after "
                            "it\nmov.f32 %f1, 0f123;\n             ^"},
    {".reg .b32 %x<4000000000>;", "5:11: too many registers are declared for the size of this "
                                  "module\n.reg .b32 %x<4000000000>;\n          ^"},
    {".reg .bf16 h;", "5:6: nothing can be declared as .bf16\n.reg .bf16 h;\n     ^"},
    {".shared .align 3 .b32 x;",
     "5:16: an alignment is a power of two\n.shared .align 3 .b32 x;\n               ^"},
    {".bogus 3;", "5:1: unknown directive '.bogus' in a function\n.bogus 3;\n^"},
    {"/* never\n\nclosed", "5:1: this comment is not closed\n/* never\n^"},
    {".file 1 \"x", "5:9: this string is not closed\n.file 1 \"x\n        ^"},
    {"add.s32 %r1, `", "5:14: unexpected character '`'\nadd.s32 %r1, `\n             ^"},
    {"\xff\xfe", "5:1: unexpected byte 0xff\n?\?\n^"},
    {"5: exit;", "5:1: expected an instruction, a label or a directive, found '5'\n5: exit;\n^"},
    {"mov.f32 %f1, 1.5 & 1;", "5:21: this operator takes no floating-point numbers\nmov.f32 %f1, "
                              "1.5 & 1;\n                    ^"},
    {".reg x;", "5:6: this declaration lacks a type\n.reg x;\n     ^"},
    {".pragma 5;", "5:9: expected a pragma in quotes\n.pragma 5;\n        ^"},
    {"ts: .branchtargets ;", "5:20: expected a name\nts: .branchtargets ;\n                   ^"},
    {".loc 1 2 3, nothing 4;",
     "5:13: expected function_name or inlined_at\n.loc 1 2 3, nothing 4;\n            ^"},
    {".loc 1 2 3, function_name 5;", "5:27: expected a label or section after function_name\n.loc "
                                     "1 2 3, function_name 5;\n                          ^"},
    {"mov.b32 %r1.q, 0;",
     "5:12: a register has no component '.q'\nmov.b32 %r1.q, 0;\n           ^"},
    {"add.s32 %r1, -p, 1;",
     "5:14: only a register can follow this sign\nadd.s32 %r1, -p, 1;\n             ^"},
    {"ld.global.u32 %r1, [1.5];", "5:21: an address is no floating-point number\nld.global.u32 "
                                  "%r1, [1.5];\n                    ^"},
    {"L: ld.global.u32 %r1, [L];", "5:24: the label 'L' cannot be an address\nL: ld.global.u32 "
                                   "%r1, [L];\n                       ^"},
    {".reg .b32 5;", "5:11: expected the name of a register\n.reg .b32 5;\n          ^"},
    {".reg .bogus x;", "5:6: expected a type, found '.bogus'\n.reg .bogus x;\n     ^"},
    {".local 5;", "5:8: this declaration lacks a type\n.local 5;\n       ^"},
};

static const sample modules[] = {
    {"", "1:1: PTX starts with .version\n\n^"},
    {".version 9", "1:10: a version is written like 8.0\n.version 9\n         ^"},
    {".version 9.0", "1:13: this module lacks a .target\n.version 9.0\n            ^"},
    {HEAD ".bogus", "3:1: unknown directive '.bogus'\n.bogus\n^"},
    {HEAD ".entry k() {", "3:13: the text ends inside 'k'\n.entry k() {\n            ^"},
    {HEAD ".section .x {\n.b8 1", "3:13: this section is not closed\n.section .x {\n            ^"},
    {HEAD ".reg .b32 r;", "3:1: registers are declared inside functions\n.reg .b32 r;\n^"},
    {HEAD ".global .u32 x; .func x();", "3:23: 'x' is already declared as a variable\n.global .u32 "
                                        "x; .func x();\n                      ^"},
    {HEAD ".func x(){} .func x(){}",
     "3:19: 'x' is already defined\n.func x(){} .func x(){}\n                  ^"},
    {HEAD ".global .u64 x = y;", "3:14: unknown name 'y'\n.global .u64 x = y;\n             ^"},
    {HEAD ".global .u64 x = 0xF0(x);",
     "3:22: a mask of an address selects one byte: 0xFF, 0xFF00, ...\n.global .u64 x = "
     "0xF0(x);\n                     ^"},
    {HEAD ".entry k() .nothing {}",
     "3:12: unknown directive '.nothing' of a function\n.entry k() .nothing {}\n           ^"},
    {HEAD ".global .bogus x;",
     "3:9: expected a type, found '.bogus'\n.global .bogus x;\n        ^"},
    {HEAD ".global .v2 .bogus x;",
     "3:13: expected a type, found '.bogus'\n.global .v2 .bogus x;\n            ^"},
    {HEAD ".extern 5", "3:9: expected a function or a variable, found '5'\n.extern 5\n        ^"},
    {HEAD ".visible .reg",
     "3:10: registers are declared inside functions\n.visible .reg\n         ^"},
    {HEAD ".global x y;", "3:9: this declaration lacks a type\n.global x y;\n        ^"},
    {HEAD ".global .u32 5;",
     "3:14: expected the name of a variable, found '5'\n.global .u32 5;\n             ^"},
    {HEAD ".func 5();", "3:7: expected the name of a function, found '5'\n.func 5();\n      ^"},
    {HEAD ".entry k(5);", "3:10: a parameter starts with .param or .reg\n.entry k(5);\n         ^"},
    {HEAD ".entry k(.param .u64 5) {}", "3:22: expected the name of the parameter\n.entry k(.param "
                                        ".u64 5) {}\n                     ^"},
    {HEAD ".section {", "3:10: expected the name of the section\n.section {\n         ^"},
    {HEAD ".section .x 5",
     "3:13: expected '{' after the name of the section\n.section .x 5\n            ^"},
    {HEAD ".file 1 x", "3:9: expected the path of the file in quotes\n.file 1 x\n        ^"},
    {HEAD ".global .attribute(.bogus) .u32 x;",
     "3:20: unknown attribute\n.global .attribute(.bogus) .u32 x;\n                   ^"},
    {HEAD ".weak",
     "3:6: expected a function or a variable, found the end of the text\n.weak\n     ^"},
    {HEAD ".alias 5, k;",
     "3:8: expected the name of a function that is declared above\n.alias 5, k;\n       ^"},
    {HEAD ".func f(){} .alias f, 5;", "3:23: expected the name of a function that is declared "
                                      "above\n.func f(){} .alias f, 5;\n                      ^"},
    {HEAD ".global .align 4 x;",
     "3:18: this declaration lacks a type\n.global .align 4 x;\n                 ^"},
};

static wl_status parse(const char *text, size_t length, wl_error *err)
{
    ir_module *module = (ir_module *)&module;
    wl_status status = ptx_parse(text, length, "x.ptx", &module, err);
    if (status != WL_OK)
        assert_null(module);
    else
        ir_module_free(module);
    return status;
}

static void check(const char *text, const char *message)
{
    char expected[1200];
    wl_error err = {0};
    if (parse(text, strlen(text), &err) == WL_OK)
        fail_msg("no error in\n%s", text);
    snprintf(expected, sizeof expected, "x.ptx:%s", message);
    assert_string_equal(err.text, expected);
}

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++) {
        char text[2000];
        const char *before = HEAD KERNEL;
        bool ends = strstr(bodies[i].message, "not closed") != NULL;
        snprintf(text, sizeof text, "%s%s\n%s", before, bodies[i].text, ends ? "" : "}\n");
        check(text, bodies[i].message);
    }
}

static void test_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++)
        check(modules[i].text, modules[i].message);
}

static void test_nul_byte(void **state)
{
    (void)state;
    static const char text[] = HEAD ".func f() { ret;\0 }";
    wl_error err = {0};
    assert_int_equal(parse(text, sizeof text - 1, &err), WL_PARSE);
    assert_string_equal(err.text,
                        "x.ptx:3:17: unexpected byte 0x00\n.func f() { ret;? }\n                ^");
    static const char section[] = HEAD ".section .x { .b8 1\0,2 }";
    assert_int_equal(parse(section, sizeof section - 1, &err), WL_PARSE);
}

/* The part of a long line around the column is shown. */
static void test_long_line(void **state)
{
    (void)state;
    char text[3000] = HEAD;
    wl_error err = {0};
    for (int i = 0; i < 200; i++)
        strcat(text, ".func f(); ");
    strcat(text, "bogus");
    assert_int_equal(parse(text, strlen(text), &err), WL_PARSE);
    const char *expected = "x.ptx:3:2201: expected a directive, found 'bogus'\n";
    assert_memory_equal(err.text, expected, strlen(expected));
    assert_true(strlen(err.text) < 400);
    char *line = strchr(err.text, '\n') + 1, *caret = strchr(line, '\n') + 1;
    assert_memory_equal(line + (strchr(caret, '^') - caret), "bogus", 5);
}

/* Texts that end too early, at every place: an error, never a crash. */
static void test_truncated(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".file 1 \"a\"\n.global .u64 x[2] = {generic(y)+8, 0xFF(y)}; .global .u32 y;\n"
        ".section .debug_str { s: .b8 1 }\n" KERNEL
        ".loc 1 2 3, function_name s+4, inlined_at 1 1 1\n"
        "@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-4];\n"
        "proto: .callprototype (.param .b32 _) _ (.param .b8 _[4]);\n"
        "call (%r1), f, (%r2, 0f3F800000), proto; /* c */ bra proto; }";
    wl_error err = {0};
    size_t whole = sizeof text - 1;
    for (size_t n = 0; n < whole; n++) {
        char *part = strndup(text, n); /* so that a sanitizer sees a read behind the end */
        wl_status status = parse(part, n, &err);
        if (status == WL_OK && !strstr(text + n, "entry"))
            fail_msg("accepted: %s", part);
        free(part);
    }
}

static void test_nesting(void **state)
{
    (void)state;
    static const struct {
        const char *before, *repeated;
        wl_status status;
    } samples[] = {
        {HEAD KERNEL, "{", WL_LIMIT},
        {HEAD KERNEL "mov.u32 %r1, ", "(", WL_LIMIT},
        {HEAD KERNEL "mov.u32 %r1, ", "-", WL_LIMIT},
        {HEAD KERNEL "mov.u32 %r1, ", "1?", WL_LIMIT},
        {HEAD KERNEL "mov.u32 %r1, ", "{", WL_LIMIT},
        {HEAD KERNEL "mov.u32 %r1, ", "[%rd1,", WL_LIMIT},
        {HEAD KERNEL "call ", "(", WL_LIMIT},
        {HEAD ".global .u32 x = ", "{", WL_LIMIT},
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        size_t times = 200000, length = strlen(samples[i].before), n = strlen(samples[i].repeated);
        char *text = malloc(length + times * n + 1);
        wl_error err = {0};
        strcpy(text, samples[i].before);
        for (size_t k = 0; k < times; k++)
            memcpy(text + length + k * n, samples[i].repeated, n + 1);
        assert_int_equal(parse(text, length + times * n, &err), samples[i].status);
        free(text);
    }
}

static void test_limits(void **state)
{
    (void)state;
    static const char *const samples[] = {
        HEAD KERNEL ".reg .b32 %a<262144>; .reg .b32 %b<262144>; }",
        HEAD KERNEL ".shared .b32 x<1000000>; }",
        HEAD KERNEL ".shared .b32 x[65536][65536][65536][65536]; }",
        HEAD KERNEL "ts: .branchtargets L<100000>; }",
        HEAD ".entry k() .maxntid 99999999999 {}",
    };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        wl_error err = {0};
        if (parse(samples[i], strlen(samples[i]), &err) != WL_LIMIT)
            fail_msg("no limit in %s: %s", samples[i], err.text);
    }
}

/* err may be NULL. */
static void test_without_message(void **state)
{
    (void)state;
    ir_module *module;
    assert_int_equal(ptx_parse("bogus", 5, NULL, &module, NULL), WL_PARSE);
    assert_null(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),    cmocka_unit_test(test_modules),
        cmocka_unit_test(test_nul_byte),  cmocka_unit_test(test_long_line),
        cmocka_unit_test(test_truncated), cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_limits),    cmocka_unit_test(test_without_message)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
