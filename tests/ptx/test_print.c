/* Constructs and how they are printed, to the letter. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct sample {
    const char *text;
    const char *printed; /* NULL: as `text` */
} sample;

/* What stands in a kernel with some declarations; printed behind the same declarations. */
static const sample bodies[] = {
    /* guards, immediates, constant expressions */
    {"\tadd.s32 \t%r1, %r2, -7;\n", NULL},
    {"@%p1 bra L;L:add.s32%r1,%r2,4;", "\t@%p1 bra \tL;\nL:\n\tadd.s32 \t%r1, %r2, 4;\n"},
    {"@ ! %p1 exit ;", "\t@!%p1 exit;\n"},
    {"add.s32 %r1, %r2, 4*8 + (3<<2) - -1;", "\tadd.s32 \t%r1, %r2, 45;\n"},
    {"add.s32 %r1, %r2, 1 ? 2 : 3;", "\tadd.s32 \t%r1, %r2, 2;\n"},
    {"add.s32 %r1, %r2, ~0;", "\tadd.s32 \t%r1, %r2, -1;\n"},
    {"add.s32 %r1, %r2, !5 || 4 > 3 && 2 == 2;", "\tadd.s32 \t%r1, %r2, 1;\n"},
    {"add.s32 %r1, %r2, (.s64)-9 / 2 % 3;", "\tadd.s32 \t%r1, %r2, -1;\n"},
    {"add.s32 %r1, %r2, 0x10;", "\tadd.s32 \t%r1, %r2, 0x10;\n"},
    {"add.s32 %r1, %r2, 0xABCDU;", "\tadd.s32 \t%r1, %r2, 0xABCDU;\n"},
    {"add.s32 %r1, %r2, 017;", "\tadd.s32 \t%r1, %r2, 15;\n"},
    {"add.s32 %r1, %r2, 0b1011;", "\tadd.s32 \t%r1, %r2, 11;\n"},
    {"add.s32 %r1, %r2, 42U;", "\tadd.s32 \t%r1, %r2, 42U;\n"},
    {"add.s32 %r1, %r2, WARP_SZ - 1;", "\tadd.s32 \t%r1, %r2, 31;\n"},
    {"mov.u64 %rd1, 18446744073709551615;", "\tmov.u64 \t%rd1, 18446744073709551615;\n"},
    {"mov.u64 %rd1, -9223372036854775808;", "\tmov.u64 \t%rd1, -9223372036854775808;\n"},
    {"mov.f32 %f1, 0f3F800000;", "\tmov.f32 \t%f1, 0f3F800000;\n"},
    {"mov.f32 %f1, 0F3f8abcde;", "\tmov.f32 \t%f1, 0f3F8ABCDE;\n"},
    {"mov.f64 %fd1, -1.5e1;", "\tmov.f64 \t%fd1, 0dC02E000000000000;\n"},
    {"mov.f64 %fd1, .5;", "\tmov.f64 \t%fd1, 0d3FE0000000000000;\n"},
    {"mov.f64 %fd1, 1.0 + 2.0 * 3;", "\tmov.f64 \t%fd1, 0d401C000000000000;\n"},
    /* operands */
    {"setp.lt.and.s32 %p1|%p2, %r1, 5, !%p3;", "\tsetp.lt.and.s32 \t%p1|%p2, %r1, 5, !%p3;\n"},
    {"setp.lt.s32 _ | %p2, %r1, 5;", "\tsetp.lt.s32 \t_|%p2, %r1, 5;\n"},
    {"mov.b64 {%r1, _}, %rd1;", "\tmov.b64 \t{%r1, _}, %rd1;\n"},
    {"mov.u32 %r1, %tid.x;", "\tmov.u32 \t%r1, %tid.x;\n"},
    {"mov.u32 %r1, %envreg17;", "\tmov.u32 \t%r1, %envreg17;\n"},
    {"mov.u64 %rd1, %clock64;", "\tmov.u64 \t%rd1, %clock64;\n"},
    {"mov.u32 %r1, %reserved_smem_offset_1;", "\tmov.u32 \t%r1, %reserved_smem_offset_1;\n"},
    {"mov.u64 %rd1, %pm3_64;", "\tmov.u64 \t%rd1, %pm3_64;\n"},
    {"ld.global.v4.u32 {%r1,_,%r2,_}, [%rd1+-16];",
     "\tld.global.v4.u32 \t{%r1, _, %r2, _}, [%rd1+-16];\n"},
    {"ld.param.u64 %rd1, [p];", "\tld.param.u64 \t%rd1, [p];\n"},
    {"ld.param.u64 %rd1, [p+0];", "\tld.param.u64 \t%rd1, [p+0];\n"},
    {"ld.shared.u8 %rs1, [sm+0x20];", "\tld.shared.u8 \t%rs1, [sm+0x20];\n"},
    {"ld.shared.b8 %rs1, sm[3];", "\tld.shared.b8 \t%rs1, [sm+3];\n"},
    {"mov.u64 %rd1, sm+4*2;", "\tmov.u64 \t%rd1, sm+8;\n"},
    {"ld.local.u32 %r1, [64];", "\tld.local.u32 \t%r1, [64];\n"},
    {"vadd.s32.u32.s32.sat %r1, %r2.b0, %r3.h1;",
     "\tvadd.s32.u32.s32.sat \t%r1, %r2.b0, %r3.h1;\n"},
    {"vadd4.u32.u32.u32 %r1.b3210, %r2.b7654, %r3.b3201, %r4;",
     "\tvadd4.u32.u32.u32 \t%r1.b3210, %r2.b7654, %r3.b3201, %r4;\n"},
    {"vmad.s32.s32.s32 %r1, %r2, -%r3, %r4;", "\tvmad.s32.s32.s32 \t%r1, %r2, -%r3, %r4;\n"},
    {".reg .v4 .f32 v; mov.f32 v.a, v.g;", "\t.reg .v4 .f32 \tv;\n\tmov.f32 \tv.w, v.y;\n"},
    {"tex.2d.v4.f32.f32 {%f1,%f2,%f3,%f4}|%p1, [%rd1, {%f1,%f2}];",
     "\ttex.2d.v4.f32.f32 \t{%f1, %f2, %f3, %f4}|%p1, [%rd1, {%f1, %f2}];\n"},
    {"tex.1d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, %rd2, {%r1}];",
     "\ttex.1d.v4.f32.s32 \t{%f1, %f2, %f3, %f4}, [%rd1, %rd2, {%r1}];\n"},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%r1], "
     "[%rd1, {%r2, %r3}], [%r4];",
     "\tcp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes \t[%r1], "
     "[%rd1, {%r2, %r3}], "
     "[%r4];\n"},
    /* calls */
    {"call f;", "\tcall \tf;\n"},
    {"call.uni f, ();", "\tcall.uni \tf, ();\n"},
    {"call (%r1, %r2), g, (5, %r3);", "\tcall \t(%r1, %r2), g, (5, %r3);\n"},
    {"proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[24], .reg .u32 _) .noreturn;",
     "proto: .callprototype (.param .b32 _) _ (.param .align 8 .b8 _[24], .reg .u32 _) "
     ".noreturn;\n"},
    {"proto: .callprototype _; call %rd1, proto;",
     "proto: .callprototype () _ ();\n\tcall \t%rd1, proto;\n"},
    {"who: .calltargets f, g; call %rd1, (%r1), who;",
     "who: .calltargets f, g;\n\tcall \t%rd1, (%r1), who;\n"},
    {"ts: .branchtargets L<2>; brx.idx %r1, ts; L0: L1:",
     "ts: .branchtargets L0, L1;\n\tbrx.idx \t%r1, ts;\nL0:\nL1:\n"},
    /* scopes and names */
    {"{.reg .b32 %r<3>, one;mov.b32 one,%r2;{.reg .b32 %r2;mov.b32 %r2,%r1;}}",
     "\t{\n\t.reg .b32 \t%r<3>;\n\t.reg .b32 \tone;\n\tmov.b32 \tone, %r2;\n\t{\n\t.reg .b32 "
     "\t%r2;\n\tmov.b32 \t%r2, "
     "%r1;\n\t}\n\t}\n"},
    {"{ bra out; } out:", "\t{\n\tbra \tout;\n\t}\nout:\n"},
    {"{ bra twice; twice: } twice: bra twice;",
     "\t{\n\tbra \ttwice;\ntwice:\n\t}\ntwice:\n\tbra \ttwice;\n"},
    {".reg.b16 x;.reg .pred add;@add mov.b16 x,0;",
     "\t.reg .b16 \tx;\n\t.reg .pred \tadd;\n\t@add mov.b16 \tx, 0;\n"},
    {"bra ret; ret: ret;", "\tbra \tret;\nret:\n\tret;\n"},
    {".reg .b32 %a1<2>; mov.b32 %a11, %a10;", "\t.reg .b32 \t%a1<2>;\n\tmov.b32 \t%a11, %a10;\n"},
    {"mov.b32 %r007, 1;", "\tmov.b32 \t%r7, 1;\n"},
    {".shared .b32 x<2>; st.shared.b32 [x1], 0;",
     "\t.shared .b32 x0;\n\t.shared .b32 x1;\n\tst.shared.b32 \t[x1], 0;\n"},
    {".local .align 8 .b8 depot[16]; .param .b32 a[2], b;",
     "\t.local .align 8 .b8 depot[16];\n\t.param .b32 a[2];\n\t.param .b32 b;\n"},
    /* what stands between */
    {".pragma \"nounroll\";.pragma \"used_bytes_mask 15\", \"nounroll\";",
     "\t.pragma \"nounroll\";\n\t.pragma \"used_bytes_mask 15\", \"nounroll\";\n"},
    {".loc 1 25 3 exit;", "\t.loc\t1 25 3\n\texit;\n"},
    {".loc 1 4 5\n.loc 1 9 9, function_name $L__info_string0, inlined_at 1 4 5\nexit;",
     "\t.loc\t1 4 5\n\t.loc\t1 9 9, function_name $L__info_string0, inlined_at 1 4 5\n\texit;\n"},
    {".loc 1 9 9, function_name .debug_str+16, inlined_at 1 4 5",
     "\t.loc\t1 9 9, function_name .debug_str+16, inlined_at 1 4 5\n"},
    {".file 7 \"x.h\", 123, 456", "\t.file\t7 \"x.h\", 123, 456\n"},
    {"@@DWARF .byte 1, 2  \n", "@@DWARF .byte 1, 2\n"},
    {"// a comment\n/* another */ exit /* in\nside */ ;", "\texit;\n"},
};

#define DECLARATIONS                                                                   \
    "\t.reg .pred \t%p<4>;\n\t.reg .b16 \t%rs<4>;\n\t.reg .b32 \t%r<9>;\n\t.reg .f32 " \
    "\t%f<9>;\n\t.reg .b64 \t%rd<4>;\n"                                                \
    "\t.reg .f64 \t%fd<4>;\n\t.shared .align 4 .b8 sm[64];\n"
#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"
#define FUNCTIONS \
    "\n.func f()\n;\n\n.func (.reg .b32 x, .reg .b32 y) g(\n\t.reg .b32 a,\n\t.reg .b32 b\n)\n;\n"
#define KERNEL "\n.visible .entry k(\n\t.param .u64 p\n)\n{\n"

static void check_body(const sample *s)
{
    char text[4000], expected[4000];
    size_t length;
    const char *before = HEAD FUNCTIONS KERNEL DECLARATIONS;
    snprintf(text, sizeof text, "%s%s}\n", before, s->text);
    snprintf(expected, sizeof expected, "%s%s}\n", before, s->printed ? s->printed : s->text);
    ir_module *module = parse_ok(text, "sample");
    char *printed = check_round_trip(module, s->text, &length);
    assert_string_equal(printed, expected);
    free(printed);
    ir_module_free(module);
}

static void test_bodies(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bodies / sizeof *bodies; i++)
        check_body(&bodies[i]);
}

static const sample modules[] = {
    {".extern .shared .align 16 .b8 smem[];\n", NULL},
    {".global .u32 a, b = 3, c[2][3];\n",
     ".global .u32 a;\n\n.global .u32 b = 3;\n\n.global .u32 c[2][3];\n"},
    {".visible .const .align 8 .f64 x[2] = {1.5, 0d4000000000000000};",
     ".visible .const .align 8 .f64 x[2] = {0d3FF8000000000000, 0d4000000000000000};\n"},
    {".global .u32 x[2][2] = {{1,-2},{3}};", ".global .u32 x[2][2] = {{1, -2}, {3}};\n"},
    {".global .b8 none[4] = {};", ".global .b8 none[4] = {};\n"},
    {".weak .global .v4 .f32 v;", ".weak .global .v4 .f32 v;\n"},
    {".common .global .u32 s;", ".common .global .u32 s;\n"},
    {".global .u32 y; .func h(); .global .u64 x[4] = {generic(y)+8, y+-4, h, generic(y+4)};",
     ".global .u32 y;\n\n.func h()\n;\n\n.global .u64 x[4] = {generic(y)+8, y+-4, h, "
     "generic(y)+4};\n"},
    {".global .u32 y; .global .u8 x[2] = {0xFF(y), 0xFF00(generic(y)+4)};",
     ".global .u32 y;\n\n.global .u8 x[2] = {0xFF(y), 0xFF00(generic(y)+4)};\n"},
    {".visible .global .align 4 .attribute(.managed) .u32 m;",
     ".visible .global .attribute(.managed) .align 4 .u32 m;\n"},
    {".global .attribute(.managed, .unified(19, 95)) .u32 m;",
     ".global .attribute(.managed, .unified(19, 95)) .u32 m;\n"},
    {".global .texref t; .global .samplerref s = {filter_mode = nearest, force_unnormalized_coords "
     "= 1};",
     ".global .texref t;\n\n.global .samplerref s = {filter_mode = nearest, "
     "force_unnormalized_coords = 1};\n"},
    {".tex .u64 old;", ".tex .u64 old;\n"},
    {".pragma \"nounroll\";", ".pragma \"nounroll\";\n"},
    {".file 1 \"/a b/c.cu\"", "\t.file\t1 \"/a b/c.cu\"\n"},
    {".section\t.debug_info {\n .b8 1,2 // comment }\n\t.b64 $L__x\n}\n.section .empty { }",
     "\t.section\t.debug_info\n\t{\n\t.b8 1,2\n\t.b64 "
     "$L__x\n\t}\n\n\t.section\t.empty\n\t{\n\t}\n"},
    {"@@DWARF .section .debug_info", "@@DWARF .section .debug_info\n"},
    {".func f() {} .func g(); .alias g, f;", ".func f()\n{\n}\n\n.func g()\n;\n\n.alias g, f;\n"},
    {".weak .entry k .maxntid 256 .minnctapersm 2 { ret; }",
     ".weak .entry k()\n.maxntid 256\n.minnctapersm 2\n{\n\tret;\n}\n"},
    {".entry k() .reqntid 8,4,1 .reqnctapercluster 2, 1, 1 .explicitcluster .maxnreg 32 .pragma "
     "\"nounroll\"; {}",
     ".entry k()\n.reqntid 8, 4, 1\n.reqnctapercluster 2, 1, 1\n.explicitcluster\n.maxnreg "
     "32\n.pragma "
     "\"nounroll\";\n{\n}\n"},
    {".entry k(.param .u64 .ptr .global .align 16 a, .param .u64 .ptr b, .param .align 8 .b8 "
     "c[24], .param .texref d){}",
     ".entry k(\n\t.param .u64 .ptr .global .align 16 a,\n\t.param .u64 .ptr b,\n\t.param .align 8 "
     ".b8 c[24],\n\t.param "
     ".texref d\n)\n{\n}\n"},
    {".visible .func (.param .align 16 .b8 r[32]) f(.param .b32 a, .param .align 8 .b8 rest[]) "
     ".noreturn {}",
     ".visible .func (.param .align 16 .b8 r[32]) f(\n\t.param .b32 a,\n\t.param .align 8 .b8 "
     "rest[]\n)\n.noreturn\n{\n}\n"},
    {".func (.reg .u32 r) f(.reg .u32 a) { mov.u32 r, a; }",
     ".func (.reg .u32 r) f(\n\t.reg .u32 a\n)\n{\n\tmov.u32 \tr, a;\n}\n"},
    {".entry k() { call f; } .func f() { call f; }",
     ".entry k()\n{\n\tcall \tf;\n}\n\n.func f()\n{\n\tcall \tf;\n}\n"},
    {".target sm_90, debug", ".target sm_90, debug\n"},
    {"# 1 \"x.ptx\"\n.func f();", ".func f()\n;\n"},
};

static void test_modules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof modules / sizeof *modules; i++) {
        char text[2000], expected[2000];
        size_t length;
        const sample *s = &modules[i];
        snprintf(text, sizeof text, HEAD "\n%s", s->text);
        snprintf(expected, sizeof expected, HEAD "\n%s", s->printed ? s->printed : s->text);
        ir_module *module = parse_ok(text, "sample");
        char *printed = check_round_trip(module, s->text, &length);
        assert_string_equal(printed, expected);
        free(printed);
        ir_module_free(module);
    }
}

static void test_single_instruction(void **state)
{
    (void)state;
    char small[12], full[100];
    ir_module *module = parse_ok(HEAD
                                 ".entry k(){.reg .b32 r<2>;.reg .pred p;@!p add.s32 r0,r1,-1;}",
                                 "x");
    const ir_func *func = module->funcs[0];
    assert_string_equal(ptx_print_insn(module, func, func->insns, full, sizeof full),
                        "@!p add.s32 r0, r1, -1;");
    assert_string_equal(ptx_print_insn(module, func, func->insns, small, sizeof small),
                        "@!p add.s32");
    assert_string_equal(ptx_print_insn(module, func, func->insns, small, 1), "");
    ir_module_free(module);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bodies),
                                       cmocka_unit_test(test_modules),
                                       cmocka_unit_test(test_single_instruction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
