/* Analyses of kernels worked out by hand. */
#include "reference.h"

#define ENTRY ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
#define REGS ".reg .pred %p<9>;\n.reg .b32 %r<29>;\n.reg .b64 %d<29>;\n.reg .f32 %f<9>;\n"
#define LOAD_PARAMS                                                                         \
    "ld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\nld.param.u32 %r1, [n];\nmov.u32 %r2, " \
    "%tid.x;\n"
#define KERNEL(body) FLOW_HEADER ENTRY REGS LOAD_PARAMS body "\n}\n"
#define WITH(declarations, body) FLOW_HEADER declarations ENTRY REGS LOAD_PARAMS body "\n}\n"

/* A test of kernel k in the PTX text given, analysed as `s`. */
#define CASE(name, ...)                         \
    static void check_##name(const subject *s); \
    static void name(void **state)              \
    {                                           \
        (void)state;                            \
        subject s;                              \
        subject_begin(&s, __VA_ARGS__, "k");    \
        check_##name(&s);                       \
        subject_end(&s);                        \
    }                                           \
    static void check_##name(const subject *s)

static bool proven(const subject *s, uint32_t pc)
{
    return s->proof.flags[pc] & FLOW_PC_PROVEN;
}

static bool slice(const subject *s, uint32_t pc)
{
    return s->proof.flags[pc] & FLOW_PC_SLICE;
}

static void expect(const subject *s, uint32_t pc, flow_reason reason, flow_through through)
{
    assert_string_equal(flow_reason_name(s->proof.verdicts[pc].reason), flow_reason_name(reason));
    assert_int_equal(s->proof.verdicts[pc].through, through);
}

/* ---- the proof ---- */

CASE(a_loaded_address_is_not_proven, KERNEL("ld.global.u32 %r3, [%d1];\n"
                                            "mul.wide.u32 %d3, %r3, 4;\n"
                                            "add.s64 %d4, %d2, %d3;\n"
                                            "st.global.u32 [%d4], %r2;\n"
                                            "mov.u32 %r3, %r2;\n" /* the register is clean again */
                                            "mul.wide.u32 %d3, %r3, 4;\n"
                                            "add.s64 %d4, %d2, %d3;\n"
                                            "st.global.u32 [%d4+8], %r2;\n"
                                            "ret;"))
{
    uint32_t load = pc_of(s, "ld.global.u32", 0), bad = pc_of(s, "st.global.u32", 0);
    assert_true(proven(s, load));
    assert_false(slice(s, load));
    expect(s, bad, FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_int_equal(s->proof.verdicts[bad].source, load);
    assert_true(proven(s, pc_of(s, "st.global.u32", 1)));
    assert_int_equal(s->proof.class_, FLOW_PARTLY);
    uint32_t product = pc_of(s, "mul.wide", 0);
    assert_false(slice(s, product));
    assert_true(slice(s, pc_of(s, "mul.wide", 1)));
    expect(s, product, FLOW_CLEAN, FLOW_THROUGH_NONE); /* no memory instruction */
    assert_int_equal(s->proof.verdicts[product].source, IR_NONE);
    assert_int_equal(s->proof.verdicts[product].branch, IR_NONE);
}

CASE(a_loaded_branch_holds_until_its_sides_meet,
     KERNEL("ld.global.u32 %r3, [%d1];\n"
            "setp.eq.u32 %p1, %r3, 0;\n"
            "mov.u32 %r4, 1;\n"
            "@%p1 bra skip;\n"
            "st.global.u32 [%d2], %r3;\n"
            "mov.u32 %r4, 2;\n"
            "skip:\n"
            "st.global.u32 [%d2+4], %r3;\n"
            "mul.wide.u32 %d3, %r4, 4;\n" /* 4 or 8: as the branch went */
            "add.s64 %d4, %d2, %d3;\n"
            "st.global.u32 [%d4+64], %r2;\n"
            "ret;"))
{
    uint32_t branch = pc_of(s, "bra", 0), after = pc_of(s, "st.global.u32", 1);
    expect(s, pc_of(s, "st.global.u32", 0), FLOW_LOADED, FLOW_THROUGH_BRANCH);
    assert_int_equal(s->proof.verdicts[pc_of(s, "st.global.u32", 0)].branch, branch);
    assert_true(proven(s, after));
    expect(s, pc_of(s, "st.global.u32", 2), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_true(s->proof.flags[branch] & FLOW_PC_UNKNOWN);
    assert_false(slice(s, branch));
    assert_int_equal(s->proof.rejoin[branch], after);
}

CASE(a_guarded_instruction_keeps_the_old_value, KERNEL("ld.global.u32 %r3, [%d1];\n"
                                                       "setp.eq.u32 %p1, %r3, 0;\n"
                                                       "setp.lt.u32 %p2, %r2, %r1;\n"
                                                       "mov.u32 %r4, 0;\n"
                                                       "mov.u32 %r5, 0;\n"
                                                       "@%p1 mov.u32 %r4, 1;\n"
                                                       "@%p2 mov.u32 %r5, 1;\n"
                                                       "mad.wide.u32 %d3, %r4, 4, %d2;\n"
                                                       "mad.wide.u32 %d4, %r5, 4, %d2;\n"
                                                       "st.global.u32 [%d3], %r2;\n"
                                                       "st.global.u32 [%d4], %r2;\n"
                                                       "@%p1 st.global.u32 [%d2+4], %r2;\n"
                                                       "@%p2 st.global.u32 [%d2+8], %r2;\n"
                                                       "ret;"))
{
    expect(s, pc_of(s, "[%d3]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_true(proven(s, pc_of(s, "[%d4]", 0)));
    expect(s, pc_of(s, "[%d2+4]", 0), FLOW_LOADED, FLOW_THROUGH_GUARD);
    assert_true(proven(s, pc_of(s, "[%d2+8]", 0)));
    assert_true(slice(s, pc_of(s, "mov.u32 %r5, 0", 0)));
    assert_true(slice(s, pc_of(s, "mov.u32 %r5, 1", 0)));
    assert_false(slice(s, pc_of(s, "mov.u32 %r4, 1", 0)));
}

/* As machine code keeps predicates: %r4 is loaded where %p1 holds, and follows from the launch elsewhere. */
CASE(a_predicate_that_is_kept_as_a_number, KERNEL("setp.lt.u32 %p1, %r2, %r1;\n"
                                                  "setp.lt.u32 %p4, %r2, 7;\n"
                                                  "@%p1 ld.global.u32 %r4, [%d1];\n"
                                                  "selp.b32 %r6, 32, 0, %p1;\n"
                                                  "mov.b32 %r7, %r6;\n"
                                                  "@!%p1 mov.u32 %r4, %r2;\n"
                                                  "mov.u32 %r8, 0;\n"
                                                  "@%p4 selp.b32 %r8, 1, 0, %p1;\n"
                                                  "selp.b32 %r9, 1, 2, %p1;\n"
                                                  "setp.gt.u32 %p1, %r2, 9;\n"
                                                  "setp.ne.s32 %p2, %r7, 0;\n"
                                                  "setp.eq.u32 %p3, %r7, 0;\n"
                                                  "setp.ne.s32 %p5, %r8, 0;\n"
                                                  "setp.ne.s32 %p6, %r9, 0;\n"
                                                  "mad.wide.u32 %d3, %r4, 4, %d2;\n"
                                                  "@!%p2 st.global.u32 [%d3], %r2;\n"
                                                  "@%p3 st.global.u32 [%d3+4], %r2;\n"
                                                  "@%p2 st.global.u32 [%d3+8], %r2;\n"
                                                  "@!%p1 st.global.u32 [%d3+12], %r2;\n"
                                                  "@!%p5 st.global.u32 [%d3+16], %r2;\n"
                                                  "@!%p6 st.global.u32 [%d3+20], %r2;\n"
                                                  "ret;"))
{
    assert_true(proven(s, pc_of(s, "[%d3]", 0)));
    assert_true(proven(s, pc_of(s, "[%d3+4]", 0)));
    expect(s, pc_of(s, "[%d3+8]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    expect(s, pc_of(s, "[%d3+12]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    expect(s, pc_of(s, "[%d3+16]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    expect(s, pc_of(s, "[%d3+20]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
}

CASE(a_loop_that_data_ends_taints_what_it_counts, KERNEL("mov.u32 %r4, 0;\n"
                                                         "mov.u32 %r5, 0;\n"
                                                         "again:\n"
                                                         "ld.global.u32 %r3, [%d1];\n"
                                                         "add.u32 %r4, %r4, 1;\n"
                                                         "setp.ne.u32 %p1, %r3, 0;\n"
                                                         "@%p1 bra again;\n"
                                                         "mad.wide.u32 %d3, %r4, 4, %d2;\n"
                                                         "st.global.u32 [%d3], %r2;\n"
                                                         "mad.wide.u32 %d4, %r5, 4, %d2;\n"
                                                         "st.global.u32 [%d4], %r2;\n"
                                                         "ret;"))
{
    expect(s, pc_of(s, "ld.global.u32", 0), FLOW_LOADED, FLOW_THROUGH_BRANCH);
    expect(s, pc_of(s, "[%d3]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_true(proven(s, pc_of(s, "[%d4]", 0)));
    assert_int_equal(s->proof.rejoin[pc_of(s, "bra again", 0)], pc_of(s, "mad.wide", 0));
}

CASE(leaving_early_taints_all_that_follows, KERNEL("ld.global.u32 %r3, [%d1];\n"
                                                   "setp.eq.u32 %p1, %r3, 0;\n"
                                                   "@%p1 exit;\n"
                                                   "st.global.u32 [%d2], %r2;\n"
                                                   "ret;"))
{
    expect(s, pc_of(s, "st.global", 0), FLOW_LOADED, FLOW_THROUGH_BRANCH);
    assert_int_equal(s->proof.rejoin[pc_of(s, "exit", 0)], FLOW_REJOIN_END);
}

CASE(faults_decide_nothing,
     WITH(".extern .func __assertfail(.param .b64 x);\n",
          "ld.global.u32 %r3, [%d1];\n"
          "setp.eq.u32 %p1, %r3, 0;\n"
          "setp.eq.u32 %p2, %r3, 1;\n"
          "@%p2 trap;\n"
          "@%p1 bra fails;\n"
          "st.global.u32 [%d2], %r2;\n"
          "ret;\n"
          "fails:\n"
          "{ .param .b64 q;\nst.param.b64 [q], %d1;\ncall __assertfail, (q);\n}\n"
          "bra fails;"))
{
    assert_true(proven(s, pc_of(s, "st.global", 0)));
    assert_int_equal(s->proof.class_, FLOW_INDEPENDENT);
    assert_int_equal(s->proof.rejoin[pc_of(s, "bra fails", 0)], pc_of(s, "st.global", 0));
}

CASE(shared_arrays_are_told_apart,
     WITH(".shared .align 4 .b8 clean[128];\n.shared .align 4 .b8 dirty[128];\n",
          "ld.global.u32 %r3, [%d1];\n"
          "shl.b32 %r4, %r2, 2;\n"
          "mov.u32 %r5, clean;\n"
          "mov.u32 %r6, dirty;\n"
          "add.u32 %r7, %r5, %r4;\n"
          "add.u32 %r8, %r6, %r4;\n"
          "st.shared.u32 [%r7], %r2;\n"
          "st.shared.u32 [%r8], %r3;\n"
          "bar.sync 0;\n"
          "ld.shared.u32 %r9, [%r7+4];\n"
          "ld.shared.u32 %r10, [%r8+4];\n"
          "mad.wide.u32 %d3, %r9, 4, %d2;\n"
          "mad.wide.u32 %d4, %r10, 4, %d2;\n"
          "st.global.u32 [%d3], %r2;\n"
          "st.global.u32 [%d4], %r2;\n"
          "ret;"))
{
    assert_true(proven(s, pc_of(s, "[%d3]", 0)));
    expect(s, pc_of(s, "[%d4]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_int_equal(s->proof.verdicts[pc_of(s, "[%d4]", 0)].source, pc_of(s, "ld.global", 0));
    assert_true(slice(s, pc_of(s, "st.shared", 0)));
    assert_false(slice(s, pc_of(s, "st.shared", 1)));
    assert_true(proven(s, pc_of(s, "st.shared", 1)));
    assert_true(slice(s, pc_of(s, "bar.sync", 0)));
}

/* The loaded value goes where a number says, so to any array. */
CASE(an_unknown_store_may_hit_any_array,
     WITH(".shared .align 4 .b8 table[128];\n", "ld.global.u32 %r3, [%d1];\n"
                                                "mov.u32 %r5, table;\n"
                                                "st.shared.u32 [%r5], %r2;\n"
                                                "shl.b32 %r4, %r2, 2;\n"
                                                "st.shared.u32 [%r4], %r3;\n"
                                                "bar.sync 0;\n"
                                                "ld.shared.u32 %r9, [%r5];\n"
                                                "mad.wide.u32 %d3, %r9, 4, %d2;\n"
                                                "st.global.u32 [%d3], %r2;\n"
                                                "ret;"))
{
    expect(s, pc_of(s, "[%d3]", 0), FLOW_ALIAS, FLOW_THROUGH_ADDRESS);
    assert_int_equal(s->proof.verdicts[pc_of(s, "[%d3]", 0)].source, pc_of(s, "st.shared", 1));
}

CASE(fields_in_local_memory_are_told_apart, KERNEL(".local .align 8 .b8 depot[16];\n"
                                                   "mov.b64 %d5, depot;\n"
                                                   "cvta.local.u64 %d6, %d5;\n"
                                                   "add.u64 %d7, %d6, 8;\n"
                                                   "ld.global.u32 %r3, [%d1];\n"
                                                   "st.u32 [%d6+4], %r3;\n"
                                                   "st.u32 [%d7], %r2;\n"
                                                   "ld.local.u32 %r4, [%d5+8];\n"
                                                   "ld.local.u32 %r5, [%d5+4];\n"
                                                   "mad.wide.u32 %d3, %r4, 4, %d2;\n"
                                                   "mad.wide.u32 %d4, %r5, 4, %d2;\n"
                                                   "st.global.u32 [%d3], %r2;\n"
                                                   "st.global.u32 [%d4], %r2;\n"
                                                   "ret;"))
{
    assert_true(proven(s, pc_of(s, "[%d3]", 0)));
    expect(s, pc_of(s, "[%d4]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_true(slice(s, pc_of(s, "st.u32", 1)));
    assert_false(slice(s, pc_of(s, "st.u32", 0)));
}

static const char calls[] = FLOW_HEADER
    ".func (.param .b32 out) pick(.param .b32 x, .param .b32 y)\n{\n.reg .b32 %r<9>;\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, 1;\nst.param.b32 [out], %r2;\nret;\n}\n" ENTRY
        REGS LOAD_PARAMS "ld.global.u32 %r3, [%d1];\n"
    "{ .param .b32 p0; .param .b32 p1; .param .b32 q;\n"
    "st.param.b32 [p0], %r2;\nst.param.b32 [p1], %r3;\ncall (q), pick, (p0, p1);\nld.param.b32 "
    "%r4, [q];\n}\n"
    "mad.wide.u32 %d3, %r4, 4, %d2;\n"
    "st.global.u32 [%d3], %r2;\nret;\n}\n";

CASE(results_of_functions_depend_on_what_they_use, calls)
{
    assert_int_equal(s->code.count, 2);
    assert_true(proven(s, pc_of(s, "st.global", 0)));
    assert_true(slice(s, pc_of(s, "st.param.b32 [p0]", 0)));
    assert_false(slice(s, pc_of(s, "st.param.b32 [p1]", 0)));
    assert_true(slice(s, pc_of(s, "add.u32 %r2", 0)));
}

static void sources_have_names(void **state)
{
    static const struct {
        const char *code;
        flow_reason reason;
    } cases[] = {
        {"atom.global.add.u32 %r3, [%d1], 1;", FLOW_ATOMIC},
        {"mov.u32 %r3, %clock;", FLOW_CLOCK},
        {"mov.u32 %r3, %smid;", FLOW_VOLATILE},
        {"activemask.b32 %r3;", FLOW_VOLATILE},
        {"ld.u32 %r3, [%d1];", FLOW_LOADED},
        {"mov.u32 %r3, %ctaid.y;", FLOW_CLEAN},
        {"mov.u32 %r3, %dynamic_smem_size;", FLOW_CLEAN},
        {"ld.const.u32 %r3, [table];", FLOW_CLEAN},
        {"shfl.sync.idx.b32 %r3, %r2, 0, 31, -1;", FLOW_CLEAN},
        {"ld.volatile.shared.u32 %r3, [array];", FLOW_VOLATILE},
        {"ld.shared.u32 %r3, [array];", FLOW_CLEAN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        subject s;
        strcpy(text, FLOW_HEADER
               ".const .align 4 .b8 table[16];\n.shared .align 4 .b8 array[16];\n" ENTRY REGS
                   LOAD_PARAMS);
        strcat(text, cases[i].code);
        strcat(text, "\nmad.wide.u32 %d3, %r3, 4, %d2;\nst.global.u32 [%d3], %r2;\nret;\n}\n");
        subject_begin(&s, text, "k");
        expect(&s, pc_of(&s, "st.global", 0), cases[i].reason,
               cases[i].reason ? FLOW_THROUGH_ADDRESS : FLOW_THROUGH_NONE);
        subject_end(&s);
    }
}

/* Lanes that are at different shuffles at once exchange values all the same. */
static void shuffles_on_both_sides_of_a_branch_meet(void **state)
{
    static const char body[] = "ld.global.u32 %%r3, [%%d1];\n"
                               "setp.lt.u32 %%p1, %%r%u, %u;\n"
                               "mov.u32 %%r5, 0;\n"
                               "@%%p1 bra side;\n"
                               "shfl.sync.idx.b32 %%r5, %%r2, 0, 31, -1;\n"
                               "bra.uni done;\n"
                               "side:\n"
                               "shfl.sync.idx.b32 %%r6, %%r3, 0, 31, -1;\n"
                               "done:\n"
                               "mad.wide.u32 %%d3, %%r5, 4, %%d2;\n"
                               "st.global.u32 [%%d3], %%r2;\n"
                               "ret;\n}\n";
    (void)state;
    for (int uniform = 0; uniform < 2; uniform++) {
        char text[4096] = FLOW_HEADER ENTRY REGS LOAD_PARAMS;
        subject s;
        snprintf(text + strlen(text), sizeof text - strlen(text), body, uniform ? 1 : 2, 16);
        subject_begin(&s, text, "k");
        if (uniform)
            assert_true(proven(&s, pc_of(&s, "[%d3]", 0)));
        else
            expect(&s, pc_of(&s, "[%d3]", 0), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
        subject_end(&s);
    }
}

CASE(a_barrier_under_a_loaded_branch_orders_nothing,
     WITH(".shared .align 4 .b8 table[128];\n", "mov.u32 %r5, table;\n"
                                                "st.shared.u32 [%r5], %r2;\n"
                                                "ld.global.u32 %r3, [%d1];\n"
                                                "setp.eq.u32 %p1, %r3, 0;\n"
                                                "@%p1 bra skip;\n"
                                                "bar.sync 0;\n"
                                                "skip:\n"
                                                "ld.shared.u32 %r9, [%r5];\n"
                                                "mad.wide.u32 %d3, %r9, 4, %d2;\n"
                                                "st.global.u32 [%d3], %r2;\n"
                                                "ret;"))
{
    expect(s, pc_of(s, "[%d3]", 0), FLOW_UNORDERED, FLOW_THROUGH_ADDRESS);
    assert_false(slice(s, pc_of(s, "bar.sync", 0)));
}

/* What lanes of a warp do together there orders nothing that other warps see, and what the block orders by a barrier of
 * its own is as known as it was. */
CASE(a_warps_barrier_is_none_of_the_block,
     WITH(".shared .align 4 .b8 table[128];\n", "mov.u32 %r5, table;\n"
                                                "st.shared.u32 [%r5], %r2;\n"
                                                "bar.sync 0;\n"
                                                "ld.global.u32 %r3, [%d1];\n"
                                                "setp.eq.u32 %p1, %r3, 0;\n"
                                                "@%p1 bra skip;\n"
                                                "bar.warp.sync 0xffffffff;\n"
                                                "skip:\n"
                                                "ld.shared.u32 %r9, [%r5];\n"
                                                "mad.wide.u32 %d3, %r9, 4, %d2;\n"
                                                "st.global.u32 [%d3], %r2;\n"
                                                "ret;"))
{
    assert_true(proven(s, pc_of(s, "[%d3]", 0)));
    assert_false(slice(s, pc_of(s, "bar.warp.sync", 0)));
    assert_true(slice(s, pc_of(s, "bar.sync", 0)));
}

/* A warp's barrier that all come to is where its lanes meet in the slice, too. */
CASE(a_warps_barrier_is_in_the_slice,
     WITH(".shared .align 4 .b8 table[128];\n", "mov.u32 %r5, table;\n"
                                                "st.shared.u32 [%r5], %r2;\n"
                                                "bar.warp.sync 0xffffffff;\n"
                                                "ld.shared.u32 %r9, [%r5];\n"
                                                "mad.wide.u32 %d3, %r9, 4, %d2;\n"
                                                "st.global.u32 [%d3], %r2;\n"
                                                "ret;"))
{
    assert_true(proven(s, pc_of(s, "[%d3]", 0)));
    assert_true(slice(s, pc_of(s, "bar.warp.sync", 0)));
}

/* What threads bring into a reduction is in its result: data, or a branch that data decides. */
static void reductions_of_barriers_depend_on_what_goes_in(void **state)
{
    static const struct {
        const char *code;
        flow_reason reason;
    } cases[] = {
        {"setp.lt.u32 %p1, %r2, 7;\nbar.red.popc.u32 %r4, 0, %p1;", FLOW_CLEAN},
        {"bar.red.popc.u32 %r4, 0, %p2;", FLOW_LOADED},
        {"bar.red.and.pred %p3, 0, %p2;\nselp.u32 %r4, 1, 2, %p3;", FLOW_LOADED},
        {"setp.lt.u32 %p1, %r2, 7;\n@%p2 bra other;\nbar.red.popc.u32 %r4, 0, %p1;\nbra.uni done;\n"
         "other:\nbar.red.popc.u32 %r5, 0, %p1;\nmov.u32 %r4, 0;\ndone:",
         FLOW_LOADED},
        /* the same barrier, met with clean data here and with loaded data there */
        {"setp.lt.u32 %p1, %r2, 7;\nsetp.lt.u32 %p4, %r2, 32;\n@%p4 bra other;\n"
         "bar.red.popc.u32 %r4, 0, %p1;\nbra.uni done;\n"
         "other:\nbar.red.popc.u32 %r5, 0, %p2;\nmov.u32 %r4, 0;\ndone:",
         FLOW_LOADED},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096] = FLOW_HEADER ENTRY REGS LOAD_PARAMS
            "ld.global.u32 %r3, [%d1];\nsetp.eq.u32 %p2, %r3, 0;\n";
        subject s;
        strcat(text, cases[i].code);
        strcat(text, "\nmad.wide.u32 %d3, %r4, 4, %d2;\nst.global.u32 [%d3], %r2;\nret;\n}\n");
        subject_begin(&s, text, "k");
        expect(&s, pc_of(&s, "[%d3]", 0), cases[i].reason,
               cases[i].reason ? FLOW_THROUGH_ADDRESS : FLOW_THROUGH_NONE);
        subject_end(&s);
    }
}

/* The loop goes round where both branches let it; the first, which decides whether the second is
 * reached, is named as the source of what arrives from there. */
CASE(the_outer_of_two_branches_is_named, KERNEL("mov.u32 %r5, 0;\n"
                                                "again:\n"
                                                "add.u32 %r5, %r5, 1;\n"
                                                "ld.global.u32 %r3, [%d1];\n"
                                                "setp.eq.u32 %p1, %r3, 0;\n"
                                                "mov.u32 %r4, %clock;\n"
                                                "setp.eq.u32 %p2, %r4, 0;\n"
                                                "@%p1 bra done;\n"
                                                "@%p2 bra again;\n"
                                                "done:\n"
                                                "ret;"))
{
    const flow_function *f = s->f;
    uint32_t head = f->block_of[pc_of(s, "add.u32 %r5", 0)];
    assert_int_equal(f->phi_first[head + 1] - f->phi_first[head], 1);
    const flow_source *source = &f->taint[f->phis[f->phi_first[head]]];
    assert_string_equal(flow_reason_name(source->reason), flow_reason_name(FLOW_LOADED));
    assert_int_equal(source->pc, pc_of(s, "ld.global", 0));
}

static const char pointers[] = FLOW_HEADER
    ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<9>;\n"
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.b32 [out], %r2;\nret;\n}\n" ENTRY
        REGS LOAD_PARAMS "mov.u64 %d5, twice;\n"
    "{ .param .b32 p0; .param .b32 q;\nst.param.b32 [p0], %r2;\n"
    "shape: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "call (q), %d5, (p0), shape;\nld.param.b32 %r4, [q];\n}\n"
    "mad.wide.u32 %d3, %r4, 4, %d2;\n"
    "st.global.u32 [%d3], %r2;\nret;\n}\n";

CASE(calls_through_pointers_are_unknown, pointers)
{
    uint32_t call = pc_of(s, "call", 0);
    expect(s, pc_of(s, "st.global", 0), FLOW_INDIRECT, FLOW_THROUGH_ADDRESS);
    assert_int_equal(s->proof.verdicts[pc_of(s, "st.global", 0)].source, call);
    assert_true(s->proof.flags[call] & FLOW_PC_UNKNOWN);
    assert_int_equal(s->proof.rejoin[call], call + 1);
}

/* ---- values ---- */

static flow_level level_of(const subject *s, const char *text)
{
    uint32_t insn = pc_of(s, text, 0);
    return (flow_level)s->f->level[s->f->defs[s->f->def_first[insn]]];
}

static uint32_t live_number(const subject *s, const char *name)
{
    for (uint32_t r = 0; r < s->f->func->nregs; r++)
        if (strcmp(s->f->func->regs[r].name, name) == 0)
            return s->f->live_reg[r];
    fail_msg("no register %s", name);
    return FLOW_NONE;
}

static bool live_before(const subject *s, const char *name, const char *insn)
{
    uint32_t n = live_number(s, name), block = s->f->block_of[pc_of(s, insn, 0)];
    return n != FLOW_NONE && flow_bit(s->f->live_in + (size_t)block * s->f->live_words, n);
}

/* Only registers that a block reads before it writes them have a place in the sets. */
CASE(liveness_of_registers, KERNEL("add.u32 %r3, %r2, 1;\n" /* of this block alone */
                                   "setp.lt.u32 %p1, %r3, 5;\n"
                                   "mov.u32 %r4, 7;\n"
                                   "mov.u32 %r5, 8;\n"
                                   "@%p1 bra side;\n"
                                   "mov.u32 %r4, 9;\n"
                                   "@%p1 mov.u32 %r5, 9;\n" /* may keep what was there */
                                   "side:\n"
                                   "add.u32 %r6, %r4, %r5;\n"
                                   "st.global.u32 [%d2], %r6;\n"
                                   "ret;"))
{
    assert_int_equal(live_number(s, "%r3"), FLOW_NONE);
    assert_int_equal(live_number(s, "%r6"), FLOW_NONE);
    assert_true(live_before(s, "%r4", "add.u32 %r6"));
    assert_true(live_before(s, "%r5", "add.u32 %r6"));
    assert_false(live_before(s, "%r4", "mov.u32 %r4, 9"));
    assert_true(live_before(s, "%r5", "mov.u32 %r4, 9"));
    assert_false(live_before(s, "%r4", "add.u32 %r3"));
    assert_true(live_before(s, "%d2", "mov.u32 %r4, 9"));
    assert_true(live_before(s, "%p1", "mov.u32 %r4, 9"));
    assert_false(live_before(s, "%p1", "add.u32 %r6"));
}

CASE(levels_of_values, KERNEL("mov.u32 %r3, %ctaid.x;\n"
                              "add.u32 %r4, %r1, 4;\n"
                              "add.u32 %r5, %r3, %r4;\n"
                              "add.u32 %r6, %r2, 1;\n"
                              "ld.global.u32 %r7, [%d1];\n"
                              "vote.sync.ballot.b32 %r8, %p3, -1;\n"
                              "setp.lt.u32 %p1, %r2, 7;\n"
                              "mov.u32 %r9, 1;\n"
                              "@%p1 bra side;\n"
                              "mov.u32 %r9, 2;\n"
                              "side:\n"
                              "xor.b32 %r10, %r9, 1;\n"
                              "mov.u32 %r11, 0;\n"
                              "again:\n"
                              "add.u32 %r11, %r11, 1;\n"
                              "setp.lt.u32 %p2, %r11, %r2;\n"
                              "@%p2 bra again;\n"
                              "not.b32 %r12, %r11;\n"
                              "ret;"))
{
    assert_int_equal(level_of(s, "add.u32 %r4"), FLOW_GRID);
    assert_int_equal(level_of(s, "add.u32 %r5"), FLOW_BLOCK);
    assert_int_equal(level_of(s, "add.u32 %r6"), FLOW_VARYING);
    assert_int_equal(level_of(s, "ld.global"), FLOW_WARP);
    assert_int_equal(level_of(s, "vote.sync"), FLOW_GRID); /* of a predicate that nothing sets */
    assert_int_equal(level_of(s, "xor.b32 %r10"), FLOW_VARYING);
    assert_int_equal(level_of(s, "add.u32 %r11"), FLOW_GRID); /* among those still in the loop */
    assert_int_equal(level_of(s, "not.b32 %r12"), FLOW_VARYING);
}

static void form_of(const subject *s, const char *insn, char *text, size_t size)
{
    uint32_t pc = pc_of(s, insn, 0);
    flow_affine_text(s->kernel, s->f->affine[s->f->defs[s->f->def_first[pc]]], text, size);
}

static void expect_form(const subject *s, const char *insn, const char *form)
{
    char text[512];
    form_of(s, insn, text, sizeof text);
    assert_string_equal(text, form);
}

CASE(linear_forms_and_trip_counts, KERNEL("mov.u32 %r3, %ctaid.x;\n"
                                          "mov.u32 %r4, %ntid.x;\n"
                                          "mad.lo.u32 %r5, %r3, %r4, %r2;\n"
                                          "mul.wide.u32 %d3, %r5, 4;\n"
                                          "add.s64 %d4, %d1, %d3;\n"
                                          "mov.u32 %r6, 3;\n"
                                          "outer:\n"
                                          "mov.u32 %r7, 0;\n"
                                          "inner:\n"
                                          "mad.lo.u32 %r8, %r6, 8, %r7;\n"
                                          "add.u32 %r7, %r7, 2;\n"
                                          "setp.lt.s32 %p1, %r7, %r1;\n"
                                          "@%p1 bra inner;\n"
                                          "add.u32 %r6, %r6, 5;\n"
                                          "setp.ge.s32 %p2, %r6, 20;\n"
                                          "@!%p2 bra outer;\n"
                                          "neg.s32 %r9, %r6;\n"
                                          "ret;"))
{
    expect_form(s, "add.s64 %d4", "4*ntid.x*ctaid.x + 4*tid.x + param0");
    expect_form(s, "mad.lo.u32 %r8", "40*i0 + 2*i1 + 24");
    assert_int_equal(s->f->loops.count, 2);
    assert_int_equal(s->f->loops.loops[1].depth, 2);
    const flow_trip *outer = &s->f->trips[0], *inner = &s->f->trips[1];
    assert_int_equal(outer->kind, FLOW_TRIP_CONSTANT);
    assert_int_equal(outer->count, 4); /* 3, 8, 13, 18 */
    assert_true(outer->only_exit);
    assert_int_equal(inner->kind, FLOW_TRIP_SYMBOLIC);
    assert_int_equal(inner->step, 2);
    assert_int_equal(inner->compare, IR_S_lt);
    char text[64];
    assert_string_equal(flow_affine_text(s->kernel, inner->bound, text, sizeof text), "param2");
}

/* As machine code has them: taken apart and put together again. */
CASE(forms_of_values_in_two_registers, KERNEL("ld.param.b32 %r3, [a];\n"
                                              "ld.param.b32 %r4, [a+4];\n"
                                              "mov.b32 %r5, %r4;\n"
                                              "mov.b64 %d3, {%r3, %r5};\n"
                                              "mul.wide.u32 %d4, %r2, 4;\n"
                                              "add.u64 %d4, %d3, %d4;\n"
                                              "mov.b64 {%r6, %r7}, %d4;\n"
                                              "mov.b64 %d5, {%r6, %r7};\n"
                                              "mov.b64 %d6, {%r7, %r6};\n"
                                              "ld.param.b32 %r8, [b+4];\n"
                                              "mov.b64 %d7, {%r3, %r8};\n"
                                              "ret;"))
{
    char text[64];
    expect_form(s, "mov.b64 %d3", "param0");
    expect_form(s, "mov.b64 %d5", "4*tid.x + param0");
    form_of(s, "mov.b64 %d6", text, sizeof text);
    assert_int_equal(text[0], 'v'); /* the halves the other way round, or of two values */
    form_of(s, "mov.b64 %d7", text, sizeof text);
    assert_int_equal(text[0], 'v');
}

/* Arrays are known by their names; of a function's address nothing is known. */
CASE(forms_of_addresses_of_arrays, WITH(".shared .align 4 .b8 first[64];\n"
                                        ".shared .align 4 .b8 table[64];\n"
                                        ".func nothing() { ret; }\n",
                                        "mov.u32 %r3, table;\n"
                                        "mad.lo.u32 %r4, %r2, 4, %r3;\n"
                                        "mov.u32 %r5, first+12;\n"
                                        "add.u32 %r6, %r5, %r2;\n"
                                        "mov.u64 %d3, nothing;\n"
                                        "add.u64 %d4, %d3, 8;\n"
                                        "ret;"))
{
    expect_form(s, "mad.lo.u32 %r4", "4*tid.x + &table");
    expect_form(s, "add.u32 %r6", "tid.x + &first + 12");
    char function[64], want[80];
    form_of(s, "mov.u64 %d3", function, sizeof function);
    assert_int_equal(function[0], 'v'); /* a value, and no more */
    snprintf(want, sizeof want, "%s + 8", function);
    expect_form(s, "add.u64 %d4", want);
}

CASE(origins_of_pointers, WITH(".shared .align 4 .b8 array[64];\n", "setp.lt.u32 %p1, %r2, %r1;\n"
                                                                    "selp.b64 %d3, %d1, %d2, %p1;\n"
                                                                    "mov.u32 %r3, array;\n"
                                                                    "add.u32 %r4, %r3, 12;\n"
                                                                    "cvt.u64.u32 %d4, %r4;\n"
                                                                    "cvta.shared.u64 %d5, %d4;\n"
                                                                    "ld.global.u64 %d6, [%d3];\n"
                                                                    "ld.u32 %r5, [%d5+4];\n"
                                                                    "ret;"))
{
    uint32_t select = pc_of(s, "selp", 0), load = pc_of(s, "ld.u32", 0);
    const flow_points *p = &s->f->points[s->f->defs[s->f->def_first[select]]];
    uint32_t params = 0;
    for (uint32_t e = 0; e < s->kernel->nelements; e++)
        params += flow_bit(p->set, e) && s->kernel->elements[e].kind == FLOW_TO_PARAM;
    assert_int_equal(params, 2);
    flow_reach r = flow_reach_of(s->kernel, s->f, &s->f->addresses[s->f->address_first[load]]);
    assert_true(r.object != FLOW_NONE);
    assert_string_equal(s->kernel->objects[r.object].var->name, "array");
    assert_int_equal(r.offset, 16);
    assert_false(r.global);
}

CASE(parallelism_of_a_block, FLOW_HEADER ENTRY REGS "ld.param.u64 %d1, [a];\n" /* group 1 */
                                                    "ld.param.u64 %d2, [b];\n"
                                                    "ld.global.f32 %f1, [%d1];\n" /* group 2 */
                                                    "ld.global.f32 %f2, [%d2];\n"
                                                    "add.f32 %f3, %f1, %f1;\n" /* group 3 */
                                                    "add.f32 %f4, %f2, %f2;\n"
                                                    "add.f32 %f5, %f3, %f4;\n"    /* group 4 */
                                                    "st.global.f32 [%d1], %f5;\n" /* group 5 */
                                                    "ret;\n}\n")
{
    const flow_ilp *b = &s->f->ilp[0];
    assert_int_equal(b->insns, 9);
    assert_int_equal(b->groups, 5);
    assert_int_equal(b->loads, 2);
    assert_int_equal(b->overlap,
                     2 + 1); /* both are on their way when the first is needed, then one */
}

/* ---- lanes of machine code ---- */

#define LOADED_PER_THREAD                                                            \
    "mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d4, %d1, %d3;\nld.global.u32 %r3, [%d4];\n" \
    "setp.eq.u32 %p1, %r3, 0;\nadd.u64 %d5, %d2, %d3;\n"

static bool counted(const subject *s, uint32_t pc)
{
    return s->proof.flags[pc] & FLOW_PC_COUNTED;
}

/* The loaded branch parts lanes up to the bsync; how many come to it one by one is not known. */
CASE(parted_lanes_meet_at_bsync, KERNEL("diverge;\n" LOADED_PER_THREAD "bssy 3;\n"
                                        "@%p1 bra JOIN;\nadd.u32 %r4, %r3, 1;\n"
                                        "JOIN: mov.u32 %r5, 7;\nbsync 3;\n"
                                        "st.global.u32 [%d5], %r2;\nret;"))
{
    assert_true(proven(s, pc_of(s, "st.global.u32", 0)));
    assert_true(counted(s, pc_of(s, "st.global.u32", 0)));
    assert_false(counted(s, pc_of(s, "mov.u32 %r5", 0)));
    assert_true(counted(s, pc_of(s, "bssy", 0)));
}

/* Of a register that was set after the branch only lanes that came together know. */
CASE(parted_lanes_do_not_meet_otherwise,
     KERNEL("diverge;\n" LOADED_PER_THREAD "@%p1 bra JOIN;\nadd.u32 %r4, %r3, 1;\n"
            "JOIN: st.global.u32 [%d5], %r2;\nbssy 3;\nadd.u32 %r4, %r2, 1;\nbsync 3;\n"
            "st.global.u32 [%d5+4], %r2;\nbar.warp.sync 0xffffffff;\n"
            "st.global.u32 [%d5+8], %r2;\nret;"))
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t store = pc_of(s, "st.global.u32", i);
        expect(s, store, FLOW_LOADED, FLOW_THROUGH_BRANCH);
        assert_int_equal(s->proof.verdicts[store].branch, pc_of(s, "bra", 0));
        assert_false(counted(s, store));
    }
    assert_true(proven(s, pc_of(s, "st.global.u32", 2)));
    assert_true(counted(s, pc_of(s, "st.global.u32", 2)));
}

/* A set register counts only where the parted lanes have not set it themselves since. */
CASE(parted_lanes_set_registers_for_themselves,
     KERNEL("diverge;\n" LOADED_PER_THREAD "bssy 3;\n@%p1 bra JOIN;\nadd.u32 %r4, %r3, 1;\n"
            "JOIN: bssy 3;\nadd.u32 %r4, %r2, 1;\nbsync 3;\nst.global.u32 [%d5], %r2;\nret;"))
{
    expect(s, pc_of(s, "st.global.u32", 0), FLOW_LOADED, FLOW_THROUGH_BRANCH);
}

/* All lanes of a warp go one way. */
CASE(lanes_stay_together_where_they_agree,
     KERNEL("diverge;\nld.global.u32 %r3, [%d1];\nsetp.eq.u32 %p1, %r3, 0;\n"
            "mul.wide.u32 %d3, %r2, 4;\nadd.u64 %d5, %d2, %d3;\n"
            "@%p1 bra JOIN;\nadd.u32 %r4, %r3, 1;\nJOIN: st.global.u32 [%d5], %r2;\nret;"))
{
    assert_true(proven(s, pc_of(s, "st.global.u32", 0)));
    assert_true(counted(s, pc_of(s, "st.global.u32", 0)));
}

#define WAITING(barrier)                                                                        \
    "diverge;\n.shared .align 8 .b64 gates[32];\nmov.u32 %r9, gates;\nmul.lo.u32 %r8, " barrier \
    ", 8;\nadd.u32 %r9, %r9, %r8;\nmul.wide.u32 %d3, %r2, 4;\nadd.u64 %d5, %d2, %d3;\n"         \
    "mbarrier.try_wait.parity.shared.b64 %p1, [%r9], 0;\n@%p1 bra JOIN;\n"                      \
    "AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [%r9], 0;\n@!%p1 bra AGAIN;\n"             \
    "JOIN: st.global.u32 [%d5], %r2;\nret;"

/* A barrier in shared memory has one answer for all lanes that ask it at once. */
CASE(lanes_stay_together_behind_one_barrier, KERNEL(WAITING("%r1")))
{
    assert_true(proven(s, pc_of(s, "st.global.u32", 0)));
    assert_true(counted(s, pc_of(s, "st.global.u32", 0)));
}

CASE(lanes_part_behind_barriers_of_their_own, KERNEL(WAITING("%r2")))
{
    expect(s, pc_of(s, "st.global.u32", 0), FLOW_TIMING, FLOW_THROUGH_BRANCH);
}

/* In PTX the sides of a branch join. */
CASE(lanes_of_ptx_meet_where_sides_join,
     KERNEL(LOADED_PER_THREAD "@%p1 bra JOIN;\nadd.u32 %r4, %r3, 1;\n"
                              "JOIN: st.global.u32 [%d5], %r2;\nret;"))
{
    assert_true(proven(s, pc_of(s, "st.global.u32", 0)));
}

/* ---- tensor maps ---- */

#define BOX(handle, x)                                                                            \
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r9], [" handle \
    ", {" x ", %r2}], [%r9+128];\n"

/* A box is proven where its map is a parameter or a constant, and its coordinates are: a map in
 * global memory may be written to, and one of two may lie there. */
CASE(boxes_follow_from_maps_of_the_launch, FLOW_HEADER
     ".const .align 64 .b8 fixed[128];\n.global .align 64 .b8 changing[128];\n"
     ".visible .entry k(.param .u64 a, .param .align 64 .b8 map[128], .param .u32 n)\n{\n" REGS
     ".shared .align 128 .b8 room[256];\nld.param.u64 %d1, [a];\nmov.u32 %r2, %tid.x;\n"
     "mov.u32 %r9, room;\nmov.b64 %d2, map;\ncvta.param.u64 %d3, %d2;\nmov.u64 %d4, fixed;\n"
     "cvta.const.u64 %d5, %d4;\nmov.u64 %d6, changing;\ncvta.global.u64 %d7, %d6;\n"
     "setp.eq.u32 %p1, %r2, 3;\nselp.b64 %d8, %d3, %d5, %p1;\nselp.b64 %d9, %d3, %d7, %p1;\n"
     "ld.global.u32 %r3, [%d1];\n" BOX("%d3", "%r2") BOX("%d5", "%r2") BOX("%d8", "%r2")
         BOX("%d7", "%r2") BOX("%d9", "%r2") BOX("%d1", "%r2")
             BOX("%d3", "%r3") "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d3, {%r2, "
                               "%r2}], [%r9];\nret;\n}\n")
{
    for (unsigned n = 0; n < 3; n++)
        assert_true(proven(s, pc_of(s, "complete_tx", n)));
    for (unsigned n = 3; n < 6; n++)
        expect(s, pc_of(s, "complete_tx", n), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    expect(s, pc_of(s, "complete_tx", 6), FLOW_LOADED, FLOW_THROUGH_ADDRESS);
    assert_true(proven(s, pc_of(s, "bulk_group", 0)));
    assert_true(slice(s, pc_of(s, "mov.b64", 0)));
    assert_false(slice(s, pc_of(s, "complete_tx", 0)));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_address_is_not_proven),
        cmocka_unit_test(a_loaded_branch_holds_until_its_sides_meet),
        cmocka_unit_test(a_guarded_instruction_keeps_the_old_value),
        cmocka_unit_test(a_predicate_that_is_kept_as_a_number),
        cmocka_unit_test(a_loop_that_data_ends_taints_what_it_counts),
        cmocka_unit_test(leaving_early_taints_all_that_follows),
        cmocka_unit_test(faults_decide_nothing),
        cmocka_unit_test(shared_arrays_are_told_apart),
        cmocka_unit_test(an_unknown_store_may_hit_any_array),
        cmocka_unit_test(fields_in_local_memory_are_told_apart),
        cmocka_unit_test(results_of_functions_depend_on_what_they_use),
        cmocka_unit_test(sources_have_names),
        cmocka_unit_test(shuffles_on_both_sides_of_a_branch_meet),
        cmocka_unit_test(a_barrier_under_a_loaded_branch_orders_nothing),
        cmocka_unit_test(a_warps_barrier_is_none_of_the_block),
        cmocka_unit_test(a_warps_barrier_is_in_the_slice),
        cmocka_unit_test(reductions_of_barriers_depend_on_what_goes_in),
        cmocka_unit_test(the_outer_of_two_branches_is_named),
        cmocka_unit_test(calls_through_pointers_are_unknown),
        cmocka_unit_test(parted_lanes_meet_at_bsync),
        cmocka_unit_test(parted_lanes_do_not_meet_otherwise),
        cmocka_unit_test(parted_lanes_set_registers_for_themselves),
        cmocka_unit_test(lanes_stay_together_where_they_agree),
        cmocka_unit_test(lanes_stay_together_behind_one_barrier),
        cmocka_unit_test(lanes_part_behind_barriers_of_their_own),
        cmocka_unit_test(lanes_of_ptx_meet_where_sides_join),
        cmocka_unit_test(liveness_of_registers),
        cmocka_unit_test(levels_of_values),
        cmocka_unit_test(linear_forms_and_trip_counts),
        cmocka_unit_test(forms_of_addresses_of_arrays),
        cmocka_unit_test(forms_of_values_in_two_registers),
        cmocka_unit_test(origins_of_pointers),
        cmocka_unit_test(parallelism_of_a_block),
        cmocka_unit_test(boxes_follow_from_maps_of_the_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
