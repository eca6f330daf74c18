/* How often instructions run: worked out by hand, and by random kernels that are run. */
#include "../emu/fixture.h"
#include "flow/apart.h"
#include "nests.h"
#include "support.h"

#define ENTRY ".visible .entry k(.param .u64 a, .param .u64 n, .param .u64 m)\n{\n"
#define REGS ".reg .pred %p<99>;\n.reg .b32 %r<99>;\n.reg .b64 %d<9>;\n.reg .f32 %f<9>;\n"
#define LOAD_PARAMS                                                                        \
    "ld.param.u64 %d1, [a];\nld.param.u32 %r1, [n];\nld.param.u32 %r2, [m];\nmov.u32 %r3," \
    " %tid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, tile;\nshl.b32 %r6, %r3, 2;\nadd.u32 "  \
    "%r7, %r5, %r6;\n"
#define WITH(declarations, body)                                                               \
    FLOW_HEADER ".shared .align 16 .b8 tile[4096];\n" declarations ENTRY REGS LOAD_PARAMS body \
                "\nret;\n}\n"
#define KERNEL(body) WITH("", body)

typedef struct counted {
    subject s;
    flow_counts counts;
    flow_fills fills;
    flow_arrays arrays;
} counted;

static void counted_begin(counted *c, const char *ptx)
{
    subject_begin(&c->s, ptx, "k");
    assert_int_equal(flow_count_uses(c->s.kernel, &c->s.proof, &c->counts), WL_OK);
    assert_int_equal(flow_fills_of(c->s.kernel, c->s.arena, &c->fills), WL_OK);
    assert_int_equal(flow_find_arrays(&c->counts, &c->fills, &c->arrays), WL_OK);
}

#define CASE(name, ...)                         \
    static void check_##name(const counted *c); \
    static void name(void **state)              \
    {                                           \
        (void)state;                            \
        counted c;                              \
        counted_begin(&c, __VA_ARGS__);         \
        check_##name(&c);                       \
        subject_end(&c.s);                      \
    }                                           \
    static void check_##name(const counted *c)

/* The n-th use of the instruction. */
static const flow_use_count *use_of(const counted *c, uint32_t pc, unsigned n)
{
    for (uint32_t i = 0; i < c->counts.count; i++)
        if (c->counts.uses[i].pc == pc && n-- == 0)
            return &c->counts.uses[i];
    fail_msg("no use of %u", pc);
    return NULL;
}

/* "count if condition, condition: rules @ form" */
static const char *text_of(const counted *c, const flow_use_count *use)
{
    static char text[1024];
    char part[512];
    size_t at = (size_t)snprintf(text, sizeof text, "%s",
                                 flow_count_text(&c->counts, &use->count, part, sizeof part));
    for (uint32_t i = 0; i < use->nconditions; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i ? ", " : " if ",
                               flow_condition_text(&c->counts, &use->conditions[i], part,
                                                   sizeof part));
    at += (size_t)snprintf(text + at, sizeof text - at, ": %s",
                           flow_rules_text(use->rules, part, sizeof part));
    snprintf(text + at, sizeof text - at, " @ %s",
             flow_form_text(&c->counts, use->form, part, sizeof part));
    return text;
}

#define EXPECT(insn, n, expected) \
    assert_string_equal(text_of(c, use_of(c, pc_of(&c->s, (insn), (n)), 0)), (expected))

static void expect_loop(const counted *c, uint32_t n, flow_end end, const char *count)
{
    char text[256];
    assert_true(n < c->counts.nloops);
    assert_string_equal(flow_end_name(c->counts.loops[n].end), flow_end_name(end));
    assert_string_equal(flow_count_text(&c->counts, &c->counts.loops[n].count, text, sizeof text),
                        count);
}

/* ---- loops ---- */

CASE(a_loop_up_to_a_parameter, KERNEL("mov.u32 %r8, 0;\n"
                                      "again:\n"
                                      "ld.shared.u32 %r9, [%r7];\n"
                                      "mad.lo.u32 %r10, %r8, 4, %r5;\n"
                                      "ld.shared.u32 %r9, [%r10+8];\n"
                                      "add.u32 %r8, %r8, 3;\n"
                                      "setp.lt.u32 %p1, %r8, %r1;\n"
                                      "@%p1 bra again;\n"))
{
    expect_loop(c, 0, FLOW_END_COUNTED, "ceil(param1/3)");
    EXPECT("[%r7]", 0, "ceil(param1/3): static, loop-invariant @ 4*tid.x + &tile");
    EXPECT("[%r10+8]", 0, "ceil(param1/3): static, thread-invariant, affine @ &tile + 12*i0 + 8");
}

/* The body runs once less than the test before it. */
CASE(a_test_at_the_begin, KERNEL("mov.u32 %r8, %r3;\n"
                                 "again:\n"
                                 "ld.shared.u32 %r9, [%r5];\n"
                                 "setp.ge.s32 %p1, %r8, %r1;\n"
                                 "@%p1 bra over;\n"
                                 "ld.shared.u32 %r9, [%r7];\n"
                                 "add.u32 %r8, %r8, %r4;\n"
                                 "bra again;\n"
                                 "over:\n"))
{
    expect_loop(c, 0, FLOW_END_COUNTED, "ceil((-tid.x + ntid.x + param1)/ntid.x)");
    EXPECT("[%r5]", 0, "ceil((-tid.x + ntid.x + param1)/ntid.x): static, loop-invariant @ &tile");
    EXPECT("[%r7]", 0, "ceil((-tid.x + param1)/ntid.x): static, loop-invariant @ 4*tid.x + &tile");
}

CASE(halves_and_doubles, KERNEL("shr.u32 %r8, %r4, 1;\n"
                                "down:\n"
                                "ld.shared.u32 %r9, [%r5];\n"
                                "shr.u32 %r8, %r8, 1;\n"
                                "setp.ne.u32 %p1, %r8, 0;\n"
                                "@%p1 bra down;\n"
                                "mov.u32 %r10, 64;\n"
                                "fixed:\n"
                                "setp.gt.u32 %p2, %r10, 7;\n"
                                "shr.u32 %r10, %r10, 1;\n"
                                "@%p2 bra fixed;\n"
                                "mov.u32 %r11, 1;\n"
                                "up:\n"
                                "shl.b32 %r11, %r11, 1;\n"
                                "setp.lt.u32 %p3, %r11, %r1;\n"
                                "@%p3 bra up;\n"))
{
    /* 64, 32, 16 and 8 are above 7, 4 is not: the header ran five times. */
    expect_loop(c, 0, FLOW_END_COUNTED, "bits((ntid.x >> 1))");
    expect_loop(c, 1, FLOW_END_COUNTED, "5");
    expect_loop(c, 2, FLOW_END_COUNTED, "ceil(log2(param1/1))");
}

CASE(loops_that_data_ends, KERNEL("again:\n"
                                  "ld.global.u32 %r8, [%d1];\n"
                                  "setp.ne.u32 %p1, %r8, 0;\n"
                                  "@%p1 bra again;\n"
                                  "mov.u32 %r9, 0;\n"
                                  "upto:\n"
                                  "ld.shared.u32 %r10, [%r5];\n"
                                  "add.u32 %r9, %r9, 1;\n"
                                  "setp.lt.u32 %p2, %r9, %r8;\n"
                                  "@%p2 bra upto;\n"
                                  "forever:\n"
                                  "bra forever;\n"))
{
    expect_loop(c, 0, FLOW_END_DATA, "unknown");
    assert_int_equal(c->counts.loops[0].source.pc, pc_of(&c->s, "ld.global", 0));
    assert_int_equal(c->counts.loops[1].end, FLOW_END_DATA);
    assert_int_equal(c->counts.loops[1].source.pc, pc_of(&c->s, "ld.global", 0));
    assert_int_equal(c->counts.loops[2].end, FLOW_END_NEVER);
    assert_int_equal(use_of(c, pc_of(&c->s, "ld.shared", 0), 0)->count.kind, FLOW_SOMETIMES);
}

CASE(loops_with_two_ends, KERNEL("mov.u32 %r8, 0;\n"
                                 "again:\n"
                                 "ld.shared.u32 %r9, [%r5];\n"
                                 "setp.eq.u32 %p1, %r3, %r8;\n"
                                 "@%p1 bra over;\n"
                                 "add.u32 %r8, %r8, 1;\n"
                                 "setp.lt.u32 %p2, %r8, 12;\n"
                                 "@%p2 bra again;\n"
                                 "over:\n"))
{
    expect_loop(c, 0, FLOW_END_EARLY, "at most 12");
}

/* How often the inner loop runs is another number in each iteration of the outer one. */
CASE(a_triangle, KERNEL("mov.u32 %r8, 0;\n"
                        "outer:\n"
                        "mov.u32 %r9, %r8;\n"
                        "inner:\n"
                        "ld.shared.u32 %r10, [%r5];\n"
                        "add.u32 %r9, %r9, 1;\n"
                        "setp.lt.u32 %p1, %r9, 8;\n"
                        "@%p1 bra inner;\n"
                        "add.u32 %r8, %r8, 1;\n"
                        "setp.lt.u32 %p2, %r8, 8;\n"
                        "@%p2 bra outer;\n"))
{
    expect_loop(c, 0, FLOW_END_COUNTED, "8");
    expect_loop(c, 1, FLOW_END_COUNTED, "(-i0 + 8)");
    assert_int_equal(use_of(c, pc_of(&c->s, "ld.shared", 0), 0)->count.kind, FLOW_SOMETIMES);
}

/* ---- conditions ---- */

CASE(conditions, KERNEL("setp.ge.u32 %p1, %r3, %r1;\n"
                        "@%p1 exit;\n"
                        "setp.lt.u32 %p2, %r3, 16;\n"
                        "@%p2 ld.shared.u32 %r8, [%r7];\n"
                        "ld.global.u32 %r9, [%d1];\n"
                        "setp.eq.u32 %p3, %r9, 5;\n"
                        "@!%p3 bra over;\n"
                        "ld.shared.u32 %r8, [%r7+4];\n"
                        "over:\n"))
{
    EXPECT("[%r7]", 0, "1 if tid.x < 16, tid.x < param1: static @ 4*tid.x + &tile");
    EXPECT("[%r7+4]", 0,
           "1 if data loaded from memory says so, tid.x < param1: counted @ 4*tid.x + &tile + 4");
}

/* A condition that the loop changes makes the number the most; one that it does not, none. */
CASE(conditions_in_loops, KERNEL("mov.u32 %r8, 0;\n"
                                 "again:\n"
                                 "setp.lt.u32 %p1, %r3, %r8;\n"
                                 "@%p1 ld.shared.u32 %r9, [%r7];\n"
                                 "setp.lt.u32 %p2, %r3, %r2;\n"
                                 "@%p2 ld.shared.u32 %r9, [%r7+4];\n"
                                 "add.u32 %r8, %r8, 1;\n"
                                 "setp.lt.u32 %p3, %r8, 10;\n"
                                 "@%p3 bra again;\n"))
{
    EXPECT("[%r7]", 0, "at most 10 if tid.x < i0: static @ 4*tid.x + &tile");
    EXPECT("[%r7+4]", 0, "10 if tid.x < param2: static, loop-invariant @ 4*tid.x + &tile + 4");
}

/* ---- calls ---- */

#define NTH                                                                               \
    ".func (.param .b32 out) nth(.param .b32 base, .param .b32 i)\n{\n.reg .b32 %r<9>;\n" \
    "ld.param.u32 %r1, [base];\nld.param.u32 %r2, [i];\nmad.lo.u32 %r3, %r2, 4, %r1;\n"   \
    "st.param.b32 [out], %r3;\nret;\n}\n"
#define LOOK                                                                                 \
    ".func look(.param .b32 at, .param .b32 times)\n{\n.reg .b32 %r<9>;\n.reg .pred %p1;\n"  \
    "ld.param.u32 %r1, [at];\nld.param.u32 %r2, [times];\nmov.u32 %r3, 0;\nturn:\n"          \
    "ld.shared.u32 %r4, [%r1];\nadd.u32 %r3, %r3, 1;\nsetp.lt.u32 %p1, %r3, %r2;\n@%p1 bra " \
    "turn;\nret;\n}\n"

CASE(functions_in_the_terms_of_callers,
     WITH(NTH LOOK,
          "mov.u32 %r8, 0;\n"
          "again:\n"
          "add.u32 %r9, %r8, %r3;\n"
          "{ .param .b32 b;\n.param .b32 i;\n.param .b32 res;\nst.param.b32 [b], %r5;\n"
          "st.param.b32 [i], %r9;\ncall.uni (res), nth, (b, i);\nld.param.b32 %r10, [res];\n}\n"
          "{ .param .b32 p;\n.param .b32 t;\nst.param.b32 [p], %r10;\nst.param.b32 [t], %r1;\n"
          "call.uni look, (p, t);\n}\n"
          "add.u32 %r8, %r8, 1;\n"
          "setp.lt.u32 %p1, %r8, 7;\n"
          "@%p1 bra again;\n"
          "{ .param .b32 p;\n.param .b32 t;\nst.param.b32 [p], %r7;\nst.param.b32 [t], 5;\n"
          "call.uni look, (p, t);\n}\n"))
{
    uint32_t pc = pc_of(&c->s, "ld.shared", 0);
    assert_string_equal(text_of(c, use_of(c, pc, 0)),
                        "7*param1: static, loop-invariant @ 4*tid.x + &tile + 4*i0");
    assert_string_equal(text_of(c, use_of(c, pc, 1)),
                        "5: static, loop-invariant @ 4*tid.x + &tile");
    assert_int_equal(c->counts.ncontexts, 4);
    assert_false(c->counts.cut);
}

CASE(functions_that_call_themselves,
     WITH(".func deep(.param .b32 i)\n{\n.reg .b32 %r<9>;\n.reg .pred %p1;\n"
          "ld.param.u32 %r1, [i];\nld.shared.u32 %r2, [tile];\nsetp.eq.u32 %p1, %r1, 0;\n"
          "@%p1 ret;\nsub.u32 %r3, %r1, 1;\n"
          "{ .param .b32 j;\nst.param.b32 [j], %r3;\ncall.uni deep, (j);\n}\nret;\n}\n",
          "{ .param .b32 j;\nst.param.b32 [j], %r1;\ncall.uni deep, (j);\n}\n"))
{
    assert_int_equal(use_of(c, pc_of(&c->s, "ld.shared", 0), 0)->count.kind, FLOW_SOMETIMES);
}

/* ---- arrays ---- */

static flow_write write_of(const counted *c, const char *array, uint32_t pc)
{
    for (uint32_t a = 0; a < c->arrays.count; a++) {
        const flow_array *at = &c->arrays.arrays[a];
        if (strcmp(c->s.kernel->objects[at->object].var->name, array) != 0)
            continue;
        for (uint32_t i = at->first; i < at->first + at->count; i++)
            if (c->counts.uses[c->arrays.uses[i].use].pc == pc)
                return (flow_write)c->arrays.uses[i].write;
    }
    fail_msg("%u does not access %s", pc, array);
    return FLOW_NO_WRITE;
}

CASE(words_that_forms_tell_apart,
     WITH(".shared .align 4 .b8 other[4096];\n", "ld.shared.u32 %r8, [%r7];\n"
                                                 "st.shared.u32 [%r7], %r8;\n"
                                                 "st.shared.u32 [%r7+4], %r8;\n"
                                                 "add.u32 %r9, %r7, %r1;\n"
                                                 "st.shared.u32 [%r9], %r8;\n"
                                                 "mov.u32 %r10, other;\n"
                                                 "st.shared.u32 [%r10], %r8;\n"
                                                 "mov.u32 %r11, 0;\n"
                                                 "again:\n"
                                                 "mad.lo.u32 %r12, %r11, 4, %r5;\n"
                                                 "ld.shared.u32 %r13, [%r12];\n"
                                                 "st.shared.u32 [%r12+4], %r13;\n"
                                                 "add.u32 %r11, %r11, 1;\n"
                                                 "setp.lt.u32 %p1, %r11, %r1;\n"
                                                 "@%p1 bra again;\n"
                                                 "st.shared.u32 [%r12], %r13;\n"))
{
    assert_int_equal(write_of(c, "tile", pc_of(&c->s, "st.shared", 0)), FLOW_UPDATES);
    assert_int_equal(write_of(c, "tile", pc_of(&c->s, "st.shared", 1)), FLOW_FILLS);
    assert_int_equal(write_of(c, "tile", pc_of(&c->s, "st.shared", 2)), FLOW_EITHER);
    assert_int_equal(write_of(c, "other", pc_of(&c->s, "st.shared", 3)), FLOW_FILLS);
    assert_int_equal(write_of(c, "tile", pc_of(&c->s, "st.shared", 4)), FLOW_FILLS);
    assert_int_equal(write_of(c, "tile", pc_of(&c->s, "st.shared", 5)), FLOW_EITHER);
}

/* ---- accesses that are only counted ---- */

/* Shown is what is proven, as replay has it. */
static flow_apart apart_of(const counted *c)
{
    bool shown[128] = {false};
    assert_true(c->arrays.count == 1 && c->s.proof.npcs < 128);
    for (uint32_t pc = 0; pc < c->s.proof.npcs; pc++)
        shown[pc] = c->s.proof.flags[pc] & FLOW_PC_PROVEN;
    return flow_judge_apart(&c->counts, &c->fills, &c->arrays, &c->arrays.arrays[0], shown);
}

/* %r11: a word of the array that data says. */
#define DATA_WORD                                                                    \
    "mul.wide.u32 %d2, %r3, 4;\nadd.s64 %d3, %d1, %d2;\nld.global.u32 %r9, [%d3];\n" \
    "shl.b32 %r10, %r9, 2;\nadd.u32 %r11, %r5, %r10;\n"

/* Bins are cleared (8), all wait (9), data says what is updated (15). */
CASE(bins_that_are_cleared_first,
     KERNEL("st.shared.u32 [%r7], 0;\nbar.sync 0;\n" DATA_WORD
            "red.shared.add.u32 [%r11], 1;\nbar.sync 0;\n"
            "ld.shared.u32 %r12, [%r7];\nst.global.u32 [%d3], %r12;\n"))
{
    flow_apart apart = apart_of(c);
    assert_true(apart.any && apart.alike);
    assert_int_equal(apart.classes[WL_ATOMICS].write, FLOW_UPDATES);
    assert_int_equal(apart.classes[WL_STORES].write, FLOW_NO_WRITE);
    assert_int_equal(apart.barrier, 9);
}

/* No barrier that all come to stands between. */
CASE(bins_without_a_barrier, KERNEL("st.shared.u32 [%r7], 0;\nsetp.lt.u32 %p1, %r3, 16;\n"
                                    "@%p1 bra past;\nbar.sync 0;\npast:\n" DATA_WORD
                                    "red.shared.add.u32 [%r11], 1;\nbar.sync 0;\n"))
{
    flow_apart apart = apart_of(c);
    assert_true(apart.any && apart.alike);
    assert_int_equal(apart.barrier, FLOW_NONE);
}

/* Data says where values come from memory, and where a computed one does. */
CASE(stores_of_two_kinds, KERNEL("st.shared.u32 [%r7], 0;\nbar.sync 0;\n" DATA_WORD
                                 "st.shared.u32 [%r11], %r9;\nst.shared.u32 [%r11+4], %r3;\n"))
{
    flow_apart apart = apart_of(c);
    assert_true(apart.any && !apart.alike);
    assert_int_equal(apart.barrier, FLOW_NONE);
}

/* All that is accessed follows from the launch. */
CASE(nothing_apart, KERNEL("st.shared.u32 [%r7], 0;\nbar.sync 0;\nld.shared.u32 %r12, [%r5];\n"))
{
    assert_true(!apart_of(c).any);
}

static const ir_insn *barrier_of(const counted *c)
{
    for (uint32_t i = 0; i < c->s.f->func->ninsns; i++)
        if (c->s.f->func->insns[i].op == IR_bar)
            return &c->s.f->func->insns[i];
    fail_msg("no barrier");
    return NULL;
}

#define LOOP_UP_TO(address)                                                             \
    "ld.global.u32 %r9, [" address "];\nmov.u32 %r8, 0;\nagain:\nst.shared.u32 [%r7], " \
    "%r8;\nbar.sync 0;\nadd.u32 %r8, %r8, 1;\nsetp.lt.u32 %p1, %r8, %r9;\n@%p1 bra again;\n"

/* One number for all threads, which they load at different times. */
CASE(turns_that_one_number_says, KERNEL(LOOP_UP_TO("%d1")))
{
    assert_true(flow_is_full_barrier(c->s.f, barrier_of(c)));
}

/* A number for each. */
CASE(turns_of_each_thread,
     KERNEL("mul.wide.u32 %d2, %r3, 4;\nadd.s64 %d3, %d1, %d2;\n" LOOP_UP_TO("%d3")))
{
    assert_false(flow_is_full_barrier(c->s.f, barrier_of(c)));
}

/* A number that other threads may write while they wait. */
CASE(turns_that_a_volatile_number_says,
     KERNEL("ld.volatile.global.u32 %r9, [%d1];\nsetp.eq.u32 %p1, %r9, 0;\n@%p1 bra past;\n"
            "bar.sync 0;\npast:\n"))
{
    assert_false(flow_is_full_barrier(c->s.f, barrier_of(c)));
}

/* ---- random kernels, run ---- */

enum { KERNELS = 400, LANES = 32, BLOCKS = 2, MAX_PCS = 512 };

/* ---- what a count says of a thread ---- */

typedef struct thread {
    const counted *c;
    uint64_t n, m, tid;
    bool known;
} thread;

static int64_t value_of(thread *t, const flow_affine *form);

static int64_t operand_of(thread *t, const ir_insn *insn, uint32_t n)
{
    const flow_function *f = t->c->s.f;
    if (insn->operands[n].kind == IR_OPD_INT)
        return (int64_t)insn->operands[n].imm;
    for (uint32_t u = f->use_first[insn->pc]; u < f->use_first[insn->pc + 1]; u++)
        if (f->values[f->uses[u].value].reg == insn->operands[n].reg)
            return value_of(t, f->affine[f->uses[u].value]);
    t->known = false;
    return 0;
}

static int64_t symbol_of(thread *t, flow_symbol s)
{
    if (s.kind == FLOW_SYM_SREG && s.a == IR_SR_tid)
        return (int64_t)t->tid;
    if (s.kind == FLOW_SYM_SREG && s.a == IR_SR_ntid)
        return LANES;
    if (s.kind == FLOW_SYM_PARAM && s.a > 0)
        return (int64_t)(s.a == 1 ? t->n : t->m);
    t->known = false;
    return 0;
}

static int64_t value_of(thread *t, const flow_affine *form)
{
    int64_t sum = 0;
    for (uint32_t i = 0; form && i < form->nterms; i++) {
        int64_t product = form->terms[i].coefficient;
        for (int n = 0; n < form->terms[i].nfactors; n++)
            product *= symbol_of(t, form->terms[i].factors[n]);
        sum += product;
    }
    t->known &= form != NULL;
    return sum;
}

static uint64_t factor_of(thread *t, const flow_factor *factor)
{
    int64_t over = value_of(t, factor->over), result = 0;
    int64_t under = factor->under ? value_of(t, factor->under) : factor->by;
    if (!t->known)
        return 0;
    if (factor->kind == FLOW_CEIL)
        result = over > 0 ? (over + under - 1) / under : 0;
    else if (factor->kind == FLOW_BITS) {
        for (; over; over /= 2)
            result++;
        result -= factor->by;
    } else
        for (; under < over; under *= 2)
            result++;
    return result < (int64_t)factor->least ? factor->least : (uint64_t)result;
}

static bool holds(thread *t, const flow_condition *condition)
{
    const flow_function *f = t->c->s.f;
    const flow_value *v = &f->values[condition->value];
    const ir_insn *insn = &f->func->insns[v->insn];
    assert_int_equal(insn->op, IR_setp);
    int64_t a = operand_of(t, insn, 1), b = operand_of(t, insn, 2);
    switch (ir_first_of(insn, IR_SC_CMP)) {
    case IR_S_lt: return (a < b) != condition->negated;
    case IR_S_le: return (a <= b) != condition->negated;
    case IR_S_gt: return (a > b) != condition->negated;
    case IR_S_ge: return (a >= b) != condition->negated;
    case IR_S_eq: return (a == b) != condition->negated;
    case IR_S_ne: return (a != b) != condition->negated;
    default: fail_msg("no comparison"); return false;
    }
}

/* Is what the count says of the thread known? Then *out has it. */
static bool evaluate(const counted *c, const flow_use_count *use, thread t, uint64_t *out)
{
    bool all = true;
    t.c = c;
    t.known = use->count.kind == FLOW_EXACTLY && !use->more;
    *out = use->count.times;
    for (uint32_t i = 0; i < use->count.nfactors && t.known; i++)
        *out *= factor_of(&t, &use->count.factors[i]);
    for (uint32_t i = 0; i < use->nconditions && t.known; i++)
        all &= holds(&t, &use->conditions[i]);
    *out = all ? *out : 0;
    return t.known;
}

typedef struct runs {
    uint64_t of[MAX_PCS][LANES];
} runs;

static void *pass_on(void *ctx, uint32_t worker)
{
    (void)worker;
    return ctx;
}

static void *block_of(void *worker, uint64_t block)
{
    return block == 1 ? worker : NULL;
}

static void on_access(void *block, const acc_request *a)
{
    runs *r = block;
    for (uint32_t lane = 0; lane < LANES; lane++)
        r->of[a->pc][lane] += a->mask >> lane & 1;
}

static uint64_t compare(const counted *c, fixture *f, uint64_t seed, uint64_t n, uint64_t m)
{
    runs *r = calloc(1, sizeof *r);
    acc_observer observer = {
        .ctx = r, .worker_begin = pass_on, .block_begin = block_of, .access = on_access};
    uint64_t known = 0;
    f->observer = &observer;
    RUN(f, "k", BLOCKS, LANES, 0, n, m);
    f->observer = NULL;
    for (uint32_t i = 0; i < c->counts.count; i++)
        for (uint64_t lane = 0; lane < LANES; lane++) {
            const flow_use_count *use = &c->counts.uses[i];
            uint64_t expected;
            if (!evaluate(c, use, (thread){.n = n, .m = m, .tid = lane}, &expected))
                continue;
            known++;
            if (expected != r->of[use->pc][lane])
                fail_msg("seed %llu, n %llu, m %llu, thread %llu: %s, but instruction %u ran %llu "
                         "times",
                         (unsigned long long)seed, (unsigned long long)n, (unsigned long long)m,
                         (unsigned long long)lane, text_of(c, use), use->pc,
                         (unsigned long long)r->of[use->pc][lane]);
        }
    free(r);
    return known;
}

static void counts_hold_when_run(void **state)
{
    (void)state;
    static char text[1 << 16];
    uint64_t known = 0, all = 0;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        counted c;
        fixture f;
        generate_nest(seed, false, text, sizeof text);
        counted_begin(&c, text);
        assert_true(c.s.proof.npcs < MAX_PCS);
        fixture_begin(&f, text);
        for (uint64_t n = 0; n < 3; n++) {
            known += compare(&c, &f, seed, 5 * n, 3 + 9 * n);
            all += (uint64_t)c.counts.count * LANES;
        }
        fixture_end(&f);
        subject_end(&c.s);
    }
    print_message("%llu of %llu counts told beforehand\n", (unsigned long long)known,
                  (unsigned long long)all);
    assert_true(known * 4 > all);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_up_to_a_parameter),
        cmocka_unit_test(a_test_at_the_begin),
        cmocka_unit_test(halves_and_doubles),
        cmocka_unit_test(loops_that_data_ends),
        cmocka_unit_test(loops_with_two_ends),
        cmocka_unit_test(a_triangle),
        cmocka_unit_test(conditions),
        cmocka_unit_test(conditions_in_loops),
        cmocka_unit_test(functions_in_the_terms_of_callers),
        cmocka_unit_test(functions_that_call_themselves),
        cmocka_unit_test(words_that_forms_tell_apart),
        cmocka_unit_test(bins_that_are_cleared_first),
        cmocka_unit_test(bins_without_a_barrier),
        cmocka_unit_test(stores_of_two_kinds),
        cmocka_unit_test(nothing_apart),
        cmocka_unit_test(turns_that_one_number_says),
        cmocka_unit_test(turns_of_each_thread),
        cmocka_unit_test(turns_that_a_volatile_number_says),
        cmocka_unit_test(counts_hold_when_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
