/* What one launch decides, instruction by instruction: worked out by hand. */
#include "flow/launch.h"
#include "support.h"

/* `text` computes the predicate 1 of what the parameters hold, below. */
typedef struct example {
    const char *text;
    uint8_t decided;
} example;

enum { OPEN = FLOW_DECIDED_OPEN, RUNS = FLOW_DECIDED_RUNS, NEVER = FLOW_DECIDED_NEVER };

static const struct {
    uint64_t data;
    uint32_t n, unused;
    uint32_t first;
    int32_t second;
    uint64_t third;
    float x;
    int16_t h;
} params = {0x7f0000000000, 10, 0, 5, -7, 9, 1.5f, -3};

static const example examples[] = {
    {"setp.eq.u64 %p1, %d1, 0;", NEVER},
    {"setp.ne.s64 %p1, %d1, 0;", RUNS},
    {"setp.lt.u32 %p1, %r1, 11;", RUNS},
    {"setp.lt.u32 %p1, %r1, 10;", NEVER},
    {"setp.le.u32 %p1, %r1, 10;", RUNS},
    {"setp.gt.u32 %p1, %r1, 10;", NEVER},
    {"setp.ge.u32 %p1, %r1, 10;", RUNS},
    {"ld.param.u32 %r2, [s];\nsetp.eq.u32 %p1, %r2, 5;", RUNS},
    {"ld.param.u32 %r2, [s+4];\nsetp.lt.s32 %p1, %r2, 0;", RUNS},
    {"ld.param.u32 %r2, [s+4];\nsetp.lt.u32 %p1, %r2, 7;", NEVER},
    {"ld.param.u64 %d2, [s+8];\nsetp.eq.u64 %p1, %d2, 9;", RUNS},
    {"ld.param.u64 %d2, [s+4096];\nsetp.eq.u64 %p1, %d2, 9;", OPEN},
    {"mov.b64 %d3, s;\nld.param.u32 %r2, [%d3];\nsetp.eq.u32 %p1, %r2, 5;", OPEN},
    {"ld.param.s16 %r2, [h];\nsetp.eq.s32 %p1, %r2, -3;", RUNS},
    {"ld.param.u16 %r2, [h];\nsetp.eq.s32 %p1, %r2, -3;", NEVER},
    {"mov.u32 %r2, %ntid.y;\nsetp.eq.u32 %p1, %r2, 4;", RUNS},
    {"mov.u32 %r2, %nctaid.x;\nsetp.eq.u32 %p1, %r2, 3;", RUNS},
    {"mov.pred %p1, %is_explicit_cluster;", RUNS},
    {"mov.u32 %r2, %cluster_ctarank;\nsetp.eq.u32 %p1, %r2, 0;", OPEN},
    {"mov.u32 %r2, %tid.x;\nsetp.eq.u32 %p1, %r2, 3;", OPEN},
    {"mov.u32 %r2, %ctaid.z;\nsetp.eq.u32 %p1, %r2, 0;", OPEN},
    {"ld.global.u32 %r2, [%d1];\nsetp.eq.u32 %p1, %r2, 0;", OPEN},
    {"add.u32 %r2, %r1, 5;\nsetp.eq.u32 %p1, %r2, 15;", RUNS},
    {"sub.u32 %r2, %r1, 5;\nsetp.eq.u32 %p1, %r2, 5;", RUNS},
    {"sub.u32 %r2, 5, %r1;\nsetp.eq.s32 %p1, %r2, -5;", RUNS},
    {"mul.lo.u32 %r2, %r1, 1000000000;\nsetp.eq.u32 %p1, %r2, 1410065408;", RUNS},
    {"mul.wide.u32 %d2, %r1, 1000000000;\nsetp.eq.u64 %p1, %d2, 10000000000;", RUNS},
    {"sub.u32 %r2, 5, %r1;\nmul.wide.s32 %d2, %r2, 3;\nsetp.eq.s64 %p1, %d2, -15;", RUNS},
    {"mul.hi.u32 %r2, %r1, 3;\nsetp.eq.u32 %p1, %r2, 0;", OPEN},
    {"mad.lo.u32 %r2, %r1, 3, 4;\nsetp.eq.u32 %p1, %r2, 34;", RUNS},
    {"and.b32 %r2, %r1, 6;\nsetp.eq.u32 %p1, %r2, 2;", RUNS},
    {"or.b32 %r2, %r1, 6;\nsetp.eq.u32 %p1, %r2, 14;", RUNS},
    {"xor.b32 %r2, %r1, 6;\nsetp.eq.u32 %p1, %r2, 12;", RUNS},
    {"not.b32 %r2, %r1;\nsetp.eq.s32 %p1, %r2, -11;", RUNS},
    {"neg.s32 %r2, %r1;\nsetp.eq.s32 %p1, %r2, -10;", RUNS},
    {"min.u32 %r2, %r1, 7;\nsetp.eq.u32 %p1, %r2, 7;", RUNS},
    {"max.u32 %r2, %r1, 7;\nsetp.eq.u32 %p1, %r2, 10;", RUNS},
    {"min.s32 %r2, %r1, -7;\nsetp.eq.s32 %p1, %r2, -7;", RUNS},
    {"max.s32 %r2, %r1, -7;\nsetp.eq.s32 %p1, %r2, 10;", RUNS},
    {"shl.b32 %r2, %r1, 2;\nsetp.eq.u32 %p1, %r2, 40;", RUNS},
    {"shl.b32 %r2, %r1, 32;\nsetp.eq.u32 %p1, %r2, 0;", RUNS},
    {"shr.u32 %r2, %r1, 2;\nsetp.eq.u32 %p1, %r2, 2;", RUNS},
    {"shr.u32 %r2, %r1, 40;\nsetp.eq.u32 %p1, %r2, 0;", RUNS},
    {"neg.s32 %r2, %r1;\nshr.s32 %r2, %r2, 40;\nsetp.eq.s32 %p1, %r2, -1;", RUNS},
    {"div.u32 %r2, %r1, 3;\nsetp.eq.u32 %p1, %r2, 3;", RUNS},
    {"rem.u32 %r2, %r1, 3;\nsetp.eq.u32 %p1, %r2, 1;", RUNS},
    {"neg.s32 %r2, %r1;\ndiv.s32 %r2, %r2, 3;\nsetp.eq.s32 %p1, %r2, -3;", RUNS},
    {"sub.u32 %r2, %r1, %r1;\ndiv.u32 %r2, %r1, %r2;\nsetp.eq.u32 %p1, %r2, 0;", OPEN},
    {"add.cc.u32 %r2, %r1, 5;\nsetp.eq.u32 %p1, %r2, 15;", OPEN},
    {"cvt.u64.u32 %d2, %r1;\nsetp.eq.u64 %p1, %d2, 10;", RUNS},
    {"neg.s32 %r2, %r1;\ncvt.s64.s32 %d2, %r2;\nsetp.eq.s64 %p1, %d2, -10;", RUNS},
    {"neg.s32 %r2, %r1;\ncvt.u64.u32 %d2, %r2;\nsetp.eq.s64 %p1, %d2, -10;", NEVER},
    {"add.u32 %r3, %r1, 256;\ncvt.u32.u8 %r2, %r3;\nsetp.eq.u32 %p1, %r2, 10;", RUNS},
    {"setp.lt.u32 %p2, %r1, 99;\nselp.u32 %r2, 3, 4, %p2;\nsetp.eq.u32 %p1, %r2, 3;", RUNS},
    {"mov.b64 {%r2, %r3}, %d1;\nsetp.eq.u32 %p1, %r2, 0;", RUNS},
    {"mov.b64 {%r2, %r3}, %d1;\nsetp.eq.u32 %p1, %r3, 0x7f00;", RUNS},
    {"mov.b64 {_, %r3}, %d1;\nsetp.eq.u32 %p1, %r3, 0x7f00;", RUNS},
    {"mov.b64 %d2, {%r1, %r1};\nsetp.eq.u64 %p1, %d2, 0xa0000000a;", RUNS},
    {"mov.b64 %d2, {%r1, 1};\nsetp.eq.u64 %p1, %d2, 0x10000000a;", RUNS},
    {"mov.b64 %d2, {%r1, %r4};\nsetp.eq.u64 %p1, %d2, 10;", OPEN},
    {"lop3.b32 %r2, %r1, 6, 0, 192;\nsetp.eq.u32 %p1, %r2, 2;", RUNS},
    {"lop3.b32 %r2, %r1, 6, 1, 150;\nsetp.eq.u32 %p1, %r2, 13;", RUNS},
    {"lop3.b32 %r2, %r1, %r4, 0, 192;\nsetp.eq.u32 %p1, %r2, 2;", OPEN},
    {"setp.lt.f32 %p1, %f1, 0f40000000;", RUNS},
    {"setp.ge.f32 %p1, %f1, 0f40000000;", NEVER},
    {"setp.ltu.f32 %p1, %f1, 0f7FC00000;", RUNS},
    {"setp.lt.f32 %p1, %f1, 0f7FC00000;", NEVER},
    {"setp.neu.f32 %p1, %f1, 0f7FC00000;", RUNS},
    {"setp.ne.f32 %p1, %f1, 0f7FC00000;", NEVER},
    {"setp.lt.u32 %p2|%p1, %r1, 5;", RUNS},
    {"setp.lt.u32 %p1|%p2, %r1, 5;", NEVER},
    {"setp.lt.u32 %p2, %r1, 5;\nnot.pred %p1, %p2;", RUNS},
    {"setp.lt.u32 %p2, %r1, 5;\nsetp.eq.u32 %p3, %r4, 5;\nand.pred %p1, %p3, %p2;", NEVER},
    {"setp.lt.u32 %p2, %r1, 5;\nsetp.eq.u32 %p3, %r4, 5;\nor.pred %p1, %p3, %p2;", OPEN},
    {"setp.gt.u32 %p2, %r1, 5;\nsetp.eq.u32 %p3, %r4, 5;\nor.pred %p1, %p2, %p3;", RUNS},
    {"setp.gt.u32 %p2, %r1, 5;\nsetp.eq.and.u32 %p1, %r4, 5, !%p2;", NEVER},
    {"setp.gt.u32 %p2, %r1, 5;\nsetp.eq.or.u32 %p1, %r4, 5, !%p2;", OPEN},
    {"setp.gt.u32 %p2, %r1, 5;\nsetp.lt.xor.u32 %p1, %r1, 50, %p2;", NEVER},
    /* what a branch brings in that is not taken; what two bring in that may be */
    {"mov.u32 %r2, 1;\nsetp.gt.u32 %p2, %r1, 5;\n@%p2 bra L;\nld.global.u32 %r2, [%d1];\nL:\n"
     "setp.eq.u32 %p1, %r2, 1;",
     RUNS},
    {"setp.gt.u32 %p2, %r1, 5;\n@%p2 bra E;\nld.global.u32 %r2, [%d1];\nbra L;\nE:\nmov.u32 %r2, "
     "1;\n"
     "L:\nsetp.eq.u32 %p1, %r2, 1;",
     RUNS},
    {"mov.u32 %r2, 1;\nsetp.gt.u32 %p2, %r4, 5;\n@%p2 bra L;\nmov.u32 %r2, 2;\nL:\n"
     "setp.eq.u32 %p1, %r2, 1;",
     OPEN},
    {"mov.u32 %r2, 1;\nsetp.gt.u32 %p2, %r4, 5;\n@%p2 mov.u32 %r2, 2;\nsetp.eq.u32 %p1, %r2, 1;",
     OPEN},
    {"mov.u32 %r2, 1;\nsetp.gt.u32 %p2, %r1, 5;\n@%p2 mov.u32 %r2, 2;\nsetp.eq.u32 %p1, %r2, 2;",
     RUNS},
    {"mov.u32 %r2, 0;\nL:\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p2, %r2, %r1;\n@%p2 bra L;\n"
     "setp.eq.u32 %p1, %r2, 1;",
     OPEN},
};

static uint8_t decided_of(const char *text)
{
    char ptx[4096];
    subject s;
    snprintf(
        ptx, sizeof ptx,
        "%s.visible .entry k(.param .u64 data, .param .u32 n, .param .align 8 .b8 s[16], .param "
        ".f32 x, .param .u16 h)\n{\n.reg .pred %%p<4>;\n.reg .b32 %%r<5>;\n.reg .b64 %%d<4>;\n"
        ".reg .f32 %%f<2>;\nld.param.u64 %%d1, [data];\nld.param.u32 %%r1, [n];\n"
        "ld.param.f32 %%f1, [x];\nmov.u32 %%r4, %%tid.x;\n%s\n"
        "@%%p1 st.global.u32 [%%d1+4], 7;\nret;\n}\n",
        FLOW_HEADER, text);
    subject_begin(&s, ptx, "k");
    flow_launch launch = {.params = (const uint8_t *)&params,
                          .nparams = sizeof params,
                          .grid = {3, 2, 1},
                          .block = {64, 4, 1},
                          .clusters = true};
    uint8_t *decided = wl_new_array(s.arena, uint8_t, s.code.npcs);
    assert_int_equal(flow_decide(s.kernel, &launch, decided), WL_OK);
    uint8_t found = decided[pc_of(&s, "st.global", 0)];
    subject_end(&s);
    return found;
}

static void each_instruction(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++)
        if (decided_of(examples[i].text) != examples[i].decided)
            fail_msg("%s: %u", examples[i].text, decided_of(examples[i].text));
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(each_instruction)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
