/* What machine code made of the PTX's basic blocks, on code written by hand as ptxas writes it; what
 * is expected was worked out by the rules of docs/model.md. */
#include "../flow/support.h"

#include "profile/machine.h"

static const char *text; /* the PTX of the test that runs */

/* From 1; 0 for NULL, as of what ptxas added. */
static uint32_t line_of(const char *insn)
{
    const char *at = insn ? strstr(text, insn) : text;
    uint32_t line = insn ? 1 : 0;
    assert_non_null(at);
    for (const char *p = text; p < at; p++)
        line += *p == '\n';
    return line;
}

#define INSN(class, flows, guard, to, of) \
    {.cost = (class), .flow = (flows), .conditional = (guard), .target = (to), .line = line_of(of)}
#define OP(class, of) INSN(IR_COST_##class, SASS_NEXT, false, SASS_NOWHERE, of)
#define GUARDED(class, of) INSN(IR_COST_##class, SASS_NEXT, true, SASS_NOWHERE, of)
#define JUMP(to, of) INSN(IR_COST_CONTROL, SASS_BRANCH, false, to, of)
#define JUMP_IF(to, of) INSN(IR_COST_CONTROL, SASS_BRANCH, true, to, of)
#define CALL(to, of) INSN(IR_COST_CONTROL, SASS_CALL, false, to, of)
#define RETURN(of) INSN(IR_COST_CONTROL, SASS_RETURN, false, SASS_NOWHERE, of)
#define EXIT(of) INSN(IR_COST_CONTROL, SASS_EXIT, false, SASS_NOWHERE, of)
#define PADDING(self) INSN(SASS_PADDING, SASS_BRANCH, false, self, NULL)

/* The PTX as ptxas keeps it. */
static const char *kept_text(wl_arena *arena)
{
    char *kept = wl_arena_strdup(arena, text);
    for (char *p = kept; (p = strchr(p, '\n'));)
        *p++ = '\0';
    return kept;
}

static sass_code code_of(const subject *s, sass_insn *insns, uint32_t count)
{
    return (sass_code){.sm = 90,
                       .count = count,
                       .insns = insns,
                       .lines = count,
                       .ptx = kept_text(s->arena),
                       .ptx_bytes = strlen(text) + 1};
}

#define COUNT(s, insns, out) count_all(s, insns, sizeof(insns) / sizeof *(insns), out)

static void count_all(subject *s, sass_insn *insns, uint32_t count, machine_counts *out)
{
    subject_begin(s, text, "k");
    sass_code code = code_of(s, insns, count);
    assert_int_equal(machine_count(s->kernel, &code, text, s->arena, out), WL_OK);
}

static void expect_counts(const machine_counts *m, uint32_t func, uint32_t block,
                          const double want[IR_COST_COUNT])
{
    if (m->why_not)
        fail_msg("%s", m->why_not);
    for (unsigned c = 0; c < IR_COST_COUNT; c++)
        if (m->by_block[func][block][c] != want[c])
            fail_msg("function %u, block %u: %g of class %u, not %g", func, block,
                     m->by_block[func][block][c], c, want[c]);
}

#define N(class, n) [IR_COST_##class] = (n)
#define EXPECT(m, func, block, ...) \
    expect_counts(m, func, block, (const double[IR_COST_COUNT]){__VA_ARGS__})

#define KERNEL                                                                            \
    FLOW_HEADER ".visible .entry k(.param .u64 a, .param .u32 n)\n"                       \
                "{\n"                                                                     \
                ".reg .b64 %rd<4>; .reg .b32 %r<6>; .reg .f32 %f<6>; .reg .pred %p<4>;\n" \
                "ld.param.u64 %rd1, [a];\n"                                               \
                "ld.param.u32 %r1, [n];\n"
#define LOAD "ld.global.f32 %f1"
#define STORE "st.global.f32 [%rd1]"

/* ---- no loops ---- */

static void a_block_counts_what_stands_in_it(void **state)
{
    (void)state;
    text = KERNEL "ld.global.f32 %f1, [%rd1];\n"
                  "add.f32 %f2, %f1, %f1;\n"
                  "st.global.f32 [%rd1], %f2;\n"
                  "ret;\n}\n";
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"), OP(MOVE, NULL), OP(MEMORY, LOAD), OP(FP32, "add.f32"),
        OP(MEMORY, STORE),        EXIT("ret;"),   PADDING(6),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 2), N(MEMORY, 2), N(FP32, 1), N(CONTROL, 1));
    assert_int_equal(m.unknown, 0);
    subject_end(&s);
}

/* Nothing in the machine code tells how often a block of guarded instructions would run: as often as
 * what leads to it. */
static void guards_run_as_often_as_what_leads_to_them(void **state)
{
    (void)state;
    text = KERNEL "setp.eq.u32 %p1, %r1, 0;\n"
                  "@%p1 bra DONE;\n"
                  "st.global.u32 [%rd1], %r1;\n"
                  "DONE:\n"
                  "ret;\n}\n";
    subject s;
    machine_counts m;
    sass_insn insns[] = {OP(COMPARE, NULL), GUARDED(MEMORY, "st.global.u32"), EXIT(NULL)};
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(COMPARE, 1), N(MEMORY, 1), N(CONTROL, 1));
    EXPECT(&m, 0, 1, 0);
    subject_end(&s);
}

/* ---- loops ---- */

#define LOOP                              \
    KERNEL "mov.f32 %f2, 0f00000000;\n"   \
           "mov.u32 %r2, 0;\n"            \
           "AGAIN:\n"                     \
           "ld.global.f32 %f1, [%rd1];\n" \
           "add.f32 %f2, %f2, %f1;\n"     \
           "add.u64 %rd1, %rd1, 4;\n"     \
           "add.u32 %r2, %r2, 1;\n"       \
           "setp.lt.u32 %p1, %r2, %r1;\n" \
           "@%p1 bra AGAIN;\n"            \
           "st.global.f32 [%rd1], %f2;\n" \
           "ret;\n}\n"
#define FSUM "add.f32 %f2"
#define STEP "add.u64 %rd1"
#define INDEX "add.u32 %r2"
#define TEST "setp.lt"
#define BACK "@%p1 bra AGAIN"

/* Four times the body, whose run is four of the loop; what is left over of it runs never. */
static void an_unrolled_body_is_that_many_runs(void **state)
{
    (void)state;
    text = LOOP;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"),
        OP(COMPARE, TEST),
        JUMP_IF(15, BACK), /* 0: enough for four? */
        OP(MEMORY, LOAD),
        OP(MEMORY, LOAD),
        OP(MEMORY, LOAD),
        OP(MEMORY, LOAD), /* 3 */
        OP(FP32, FSUM),
        OP(FP32, FSUM),
        OP(FP32, FSUM),
        OP(FP32, FSUM),
        OP(INT, STEP),
        OP(INT, INDEX),
        OP(COMPARE, TEST),
        JUMP_IF(3, BACK),
        OP(COMPARE, TEST), /* 15: any left? */
        JUMP_IF(21, BACK),
        OP(MEMORY, LOAD),
        OP(FP32, FSUM),
        OP(INT, STEP),
        JUMP_IF(17, BACK),
        OP(MEMORY, STORE),
        EXIT("ret;"), /* 21 */
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 1), N(COMPARE, 1), N(CONTROL, 1));
    EXPECT(&m, 0, 1, N(MEMORY, 1), N(FP32, 1), N(INT, 0.5), N(COMPARE, 0.25), N(CONTROL, 0.25));
    EXPECT(&m, 0, 2, N(MEMORY, 1), N(CONTROL, 1));
    subject_end(&s);
}

/* Twice the body, with the loop's test between: a branch of ptxas's own leads back. */
static void a_turned_loop_is_the_one_that_is_left(void **state)
{
    (void)state;
    text = LOOP;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"),
        OP(MEMORY, LOAD),
        OP(FP32, FSUM),
        OP(INT, STEP),
        OP(COMPARE, TEST),
        JUMP_IF(10, BACK),
        OP(MEMORY, LOAD),
        OP(FP32, FSUM),
        OP(INT, STEP),
        JUMP(1, NULL),
        OP(MEMORY, STORE),
        EXIT("ret;"),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 1));
    EXPECT(&m, 0, 1, N(MEMORY, 1), N(FP32, 1), N(INT, 1), N(COMPARE, 0.5), N(CONTROL, 1));
    EXPECT(&m, 0, 2, N(MEMORY, 1), N(CONTROL, 1));
    subject_end(&s);
}

/* No loop is left: its copies count where they stand, as often as the store behind them. */
static void a_loop_unrolled_whole_counts_where_it_stands(void **state)
{
    (void)state;
    text = LOOP;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"), OP(MEMORY, LOAD), OP(MEMORY, LOAD), OP(MEMORY, LOAD),
        OP(FP32, FSUM),           OP(FP32, FSUM),   OP(FP32, FSUM),   OP(INT, STEP),
        OP(MEMORY, STORE),        EXIT("ret;"),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, 0);
    EXPECT(&m, 0, 1, 0);
    EXPECT(&m, 0, 2, N(MOVE, 1), N(MEMORY, 4), N(FP32, 3), N(INT, 1), N(CONTROL, 1));
    subject_end(&s);
}

/* Which of the two loops runs is not known: each is taken to have half of the iterations. */
static void loops_made_of_one_share_its_runs(void **state)
{
    (void)state;
    text = LOOP;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"), JUMP_IF(6, NULL),                                     /* 0 */
        OP(MEMORY, LOAD),         OP(FP32, FSUM),   JUMP_IF(2, BACK), JUMP(10, NULL),   /* 2 */
        OP(MEMORY, LOAD),         OP(INT, STEP),    OP(FP32, FSUM),   JUMP_IF(6, BACK), /* 6 */
        OP(MEMORY, STORE),        EXIT("ret;"),                                         /* 10 */
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 1, N(MEMORY, 1), N(FP32, 1), N(INT, 0.5), N(CONTROL, 1));
    subject_end(&s);
}

/* What was moved out of the loop runs once, before it. */
static void what_left_a_loop_counts_where_it_stands(void **state)
{
    (void)state;
    text = KERNEL "mov.u32 %r2, 0;\n"
                  "AGAIN:\n"
                  "ld.global.f32 %f1, [%rd1];\n"
                  "ld.global.f32 %f3, [%rd1+4];\n"
                  "st.global.f32 [%rd1], %f3;\n"
                  "add.u32 %r2, %r2, 1;\n"
                  "setp.lt.u32 %p1, %r2, %r1;\n"
                  "@%p1 bra AGAIN;\n"
                  "ret;\n}\n";
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"),
        OP(MEMORY, "ld.global.f32 %f3"),
        OP(MEMORY, LOAD),
        OP(MEMORY, STORE),
        OP(COMPARE, TEST),
        JUMP_IF(2, BACK),
        EXIT("ret;"),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 1), N(MEMORY, 1));
    EXPECT(&m, 0, 1, N(MEMORY, 2), N(COMPARE, 1), N(CONTROL, 1));
    EXPECT(&m, 0, 2, N(CONTROL, 1));
    subject_end(&s);
}

/* ptxas's own loop, of a compare-and-swap that is tried again, is taken to run once. */
static void a_loop_of_ptxas_runs_once(void **state)
{
    (void)state;
    text = KERNEL "atom.global.add.f32 %f1, [%rd1], 0f3F800000;\n"
                  "ret;\n}\n";
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64"), OP(MEMORY, "atom"), OP(FP32, "atom"), OP(ATOMIC, "atom"),
        OP(COMPARE, "atom"),      JUMP_IF(2, "atom"), EXIT("ret;"),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 1), N(MEMORY, 1), N(FP32, 1), N(ATOMIC, 1), N(COMPARE, 1),
           N(CONTROL, 2));
    subject_end(&s);
}

/* ---- subroutines ---- */

#define DIVISION                                \
    KERNEL "ld.global.f32 %f1, [%rd1];\n"       \
           "div.rn.f32 %f2, %f1, 0f40400000;\n" \
           "st.global.f32 [%rd1], %f2;\n"       \
           "ret;\n}\n"
#define DIVIDE "div.rn"

/* The subroutine is for rare operands, and so is what calls it. */
static void what_ptxas_branches_around_is_left_out(void **state)
{
    (void)state;
    text = DIVISION;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MEMORY, LOAD),   OP(SFU, DIVIDE),  OP(COMPARE, DIVIDE), OP(FP32, DIVIDE),
        JUMP_IF(8, DIVIDE), OP(MOVE, DIVIDE), CALL(10, DIVIDE),    OP(MOVE, DIVIDE), /* 5: slow */
        OP(MEMORY, STORE),  EXIT("ret;"),                                            /* 8 */
        OP(FP32, NULL),     OP(INT, NULL),    RETURN(NULL),                          /* 10 */
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MEMORY, 2), N(SFU, 1), N(COMPARE, 1), N(FP32, 1), N(CONTROL, 2));
    subject_end(&s);
}

/* Called always, it runs as often as what calls it. */
static void a_subroutine_of_ptxas_runs_where_it_is_called(void **state)
{
    (void)state;
    text = DIVISION;
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MEMORY, LOAD), CALL(6, DIVIDE), CALL(6, DIVIDE), OP(MEMORY, STORE), EXIT("ret;"),
        PADDING(5),       OP(FP32, NULL),  OP(INT, NULL),   RETURN(NULL),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MEMORY, 2), N(CONTROL, 3 + 2), N(FP32, 2), N(INT, 2));
    subject_end(&s);
}

static void a_function_of_the_program_has_counts_of_its_own(void **state)
{
    (void)state;
    text = FLOW_HEADER ".func f(.param .u64 p)\n"
                       "{\n"
                       ".reg .b64 %rd<2>; .reg .f32 %f<3>;\n"
                       "ld.param.u64 %rd1, [p];\n"
                       "ld.global.f32 %f1, [%rd1];\n"
                       "mul.f32 %f2, %f1, %f1;\n"
                       "st.global.f32 [%rd1], %f2;\n"
                       "ret; // of f\n"
                       "}\n"
                       ".visible .entry k(.param .u64 a)\n"
                       "{\n"
                       ".reg .b64 %rd<2>;\n"
                       ".param .b64 p;\n"
                       "ld.param.u64 %rd1, [a];\n"
                       "st.param.b64 [p], %rd1;\n"
                       "call.uni f, (p);\n"
                       "exit;\n"
                       "}\n";
    subject s;
    machine_counts m;
    sass_insn insns[] = {
        OP(MOVE, "ld.param.u64 %rd1, [a]"),
        CALL(3, "call.uni"),
        EXIT("exit;"),
        OP(MEMORY, LOAD),
        OP(FP32, "mul.f32"),
        OP(MEMORY, STORE),
        RETURN("ret; // of f"),
    };
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MOVE, 1), N(CONTROL, 2));
    EXPECT(&m, 1, 0, N(MEMORY, 2), N(FP32, 1), N(CONTROL, 1));
    subject_end(&s);
}

/* ---- what is refused ---- */

static void refused(sass_insn *insns, uint32_t count, const char *why)
{
    subject s;
    machine_counts m;
    count_all(&s, insns, count, &m);
    assert_non_null(m.why_not);
    assert_null(m.by_block);
    if (!strstr(m.why_not, why))
        fail_msg("%s", m.why_not);
    subject_end(&s);
}

static void memory_that_does_not_go_with_the_ptx_is_refused(void **state)
{
    (void)state;
    text = LOOP;
    sass_insn none[] = {OP(MOVE, "ld.param.u64"), OP(FP32, FSUM), JUMP_IF(1, BACK),
                        OP(MEMORY, STORE), EXIT("ret;")};
    refused(none, 5, "does not go with its PTX");
    sass_insn many[] = {
        OP(MEMORY, STORE), OP(MEMORY, STORE), OP(MEMORY, STORE), OP(MEMORY, LOAD),
        JUMP_IF(3, BACK),  OP(MEMORY, STORE), EXIT("ret;")}; /* 4 outside of the loop; 1.5 of the 2 that the PTX has are 3 */
    refused(many, 7, "does not go with its PTX");
}

static void tables_and_unknown_opcodes_are_refused(void **state)
{
    (void)state;
    text = DIVISION;
    sass_insn jumps[] = {OP(MEMORY, LOAD),
                         INSN(IR_COST_CONTROL, SASS_TABLE, false, SASS_NOWHERE, NULL),
                         OP(MEMORY, STORE), EXIT("ret;")};
    refused(jumps, 4, "through a table");
    sass_insn insns[11] = {OP(MEMORY, LOAD), OP(MEMORY, STORE)};
    for (uint32_t i = 2; i < 10; i++)
        insns[i] = (sass_insn)OP(FP32, DIVIDE);
    insns[9].cost = SASS_UNKNOWN;
    insns[10] = (sass_insn)EXIT("ret;");
    subject s;
    machine_counts m;
    COUNT(&s, insns, &m);
    EXPECT(&m, 0, 0, N(MEMORY, 2), N(FP32, 7), N(CONTROL, 1));
    assert_int_equal(m.unknown, 1); /* of 11: no more than a tenth */
    subject_end(&s);
    insns[8].cost = SASS_UNKNOWN;
    refused(insns, 11, "opcodes that are not known");
}

static const char *why_not_made_from(const char *other, uint32_t lines)
{
    sass_insn insns[] = {OP(MEMORY, LOAD), OP(FP32, DIVIDE), OP(MEMORY, STORE), EXIT("ret;")};
    subject s;
    machine_counts m;
    subject_begin(&s, text, "k");
    sass_code code = code_of(&s, insns, 4);
    code.lines = lines;
    assert_int_equal(machine_count(s.kernel, &code, other, s.arena, &m), WL_OK);
    subject_end(&s);
    return m.why_not;
}

static void only_its_own_ptx_tells_of_machine_code(void **state)
{
    (void)state;
    text = DIVISION;
    assert_null(why_not_made_from(text, 4));
    assert_non_null(strstr(why_not_made_from(text, 0), "no line information"));
    assert_non_null(strstr(why_not_made_from(LOOP, 4), "made from other PTX"));
    assert_non_null(strstr(why_not_made_from(FLOW_HEADER ".visible", 4), "made from other PTX"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_counts_what_stands_in_it),
        cmocka_unit_test(guards_run_as_often_as_what_leads_to_them),
        cmocka_unit_test(an_unrolled_body_is_that_many_runs),
        cmocka_unit_test(a_turned_loop_is_the_one_that_is_left),
        cmocka_unit_test(a_loop_unrolled_whole_counts_where_it_stands),
        cmocka_unit_test(loops_made_of_one_share_its_runs),
        cmocka_unit_test(what_left_a_loop_counts_where_it_stands),
        cmocka_unit_test(a_loop_of_ptxas_runs_once),
        cmocka_unit_test(what_ptxas_branches_around_is_left_out),
        cmocka_unit_test(a_subroutine_of_ptxas_runs_where_it_is_called),
        cmocka_unit_test(a_function_of_the_program_has_counts_of_its_own),
        cmocka_unit_test(memory_that_does_not_go_with_the_ptx_is_refused),
        cmocka_unit_test(tables_and_unknown_opcodes_are_refused),
        cmocka_unit_test(only_its_own_ptx_tells_of_machine_code),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
