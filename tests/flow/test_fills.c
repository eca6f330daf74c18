/* What fills and what updates shared memory, of kernels worked out by hand. */
#include "flow/fills.h"
#include "support.h"

#define ENTRY ".visible .entry k(.param .u64 a, .param .u64 b, .param .u32 n)\n{\n"
#define REGS ".reg .pred %p<9>;\n.reg .b32 %r<39>;\n.reg .b64 %d<9>;\n.reg .f32 %f<39>;\n"
#define LOAD_PARAMS                                                                         \
    "ld.param.u64 %d1, [a];\nld.param.u64 %d2, [b];\nld.param.u32 %r1, [n];\nmov.u32 %r2, " \
    "%tid.x;\nmad.wide.u32 %d3, %r2, 4, %d1;\n"
/* %r3: the thread's word of `tile`, %r4 that of `other`. */
#define ARRAYS ".shared .align 16 .b8 tile[4096];\n.shared .align 16 .b8 other[4096];\n"
#define ADDRESSES                                                                             \
    "mov.u32 %r5, tile;\nmov.u32 %r6, other;\nshl.b32 %r7, %r2, 2;\nadd.u32 %r3, %r5, %r7;\n" \
    "add.u32 %r4, %r6, %r7;\n"
#define WITH(declarations, body) \
    FLOW_HEADER ARRAYS declarations ENTRY REGS LOAD_PARAMS ADDRESSES body "\nret;\n}\n"
#define KERNEL(body) WITH("", body)

typedef struct filled {
    subject s;
    flow_fills fills;
} filled;

static void filled_begin(filled *f, const char *ptx)
{
    subject_begin(&f->s, ptx, "k");
    assert_int_equal(flow_find_fills(&f->s.code, f->s.arena, &f->fills), WL_OK);
}

#define CASE(name, ...)                        \
    static void check_##name(const filled *f); \
    static void name(void **state)             \
    {                                          \
        (void)state;                           \
        filled f;                              \
        filled_begin(&f, __VA_ARGS__);         \
        check_##name(&f);                      \
        subject_end(&f.s);                     \
    }                                          \
    static void check_##name(const filled *f)

/* The n-th instruction with this text, which must write shared memory. */
static const flow_fill *fill_of(const filled *f, const char *text, unsigned n)
{
    uint32_t at = f->fills.at[pc_of(&f->s, text, n)];
    assert_int_not_equal(at, FLOW_NONE);
    return &f->fills.fills[at];
}

/* "device copied 12 17:warp 20:decides,earlier": origin, flags, and the reads with the number of
 * each among the loads and atomics of shared memory, from 0. */
static const char *text_of(const filled *f, const flow_fill *fill)
{
    static char text[512];
    static const char *const scopes[] = {"", ":warp", ":block"};
    int at = snprintf(text, sizeof text, "%s%s%s%s", flow_origin_name((flow_origin)fill->origin),
                      fill->copied ? " copied" : "", fill->updates ? " updates" : "",
                      fill->unknown ? " unknown" : "");
    for (uint32_t i = fill->first; i < fill->first + fill->count; i++) {
        const flow_read *r = &f->fills.reads[i];
        uint32_t nth = 0;
        for (uint32_t pc = 0; pc < r->pc; pc++) {
            ir_place p = ir_kernel_at(&f->s.code, pc);
            nth += (p.insn->op == IR_ld || p.insn->op == IR_atom || p.insn->op == IR_ldmatrix) &&
                   p.insn->space == IR_SPACE_SHARED;
        }
        at += snprintf(text + at, sizeof text - (size_t)at, " %u%s%s%s", nth, scopes[r->scope],
                       r->decides ? ":decides" : "", r->earlier ? ":earlier" : "");
    }
    return text;
}

#define EXPECT(store, n, expected) \
    assert_string_equal(text_of(f, fill_of(f, (store), (n))), (expected))

/* ---- one value ---- */

CASE(a_loaded_value_is_a_copy, KERNEL("ld.global.f32 %f1, [%d3];\n"
                                      "st.shared.f32 [%r3], %f1;\n"
                                      "add.f32 %f2, %f1, 0f3F800000;\n"
                                      "st.shared.f32 [%r3+128], %f2;\n"
                                      "st.shared.u32 [%r3+256], %r2;\n"
                                      "st.shared.u32 [%r3+384], 7;\n"
                                      "st.global.u32 [%d3], %r2;\n"))
{
    EXPECT("st.shared.f32", 0, "device copied");
    EXPECT("st.shared.f32", 1, "device");
    EXPECT("st.shared.u32", 0, "computed");
    EXPECT("st.shared.u32", 1, "computed");
    assert_int_equal(f->fills.count, 4);
    assert_int_equal(f->fills.at[pc_of(&f->s, "st.global", 0)], FLOW_NONE);
}

/* A border of zeros is part of the copy; where an index comes in, it is none. */
CASE(what_a_selection_brings_in, KERNEL("setp.lt.u32 %p1, %r2, %r1;\n"
                                        "ld.global.u32 %r8, [%d3];\n"
                                        "selp.b32 %r9, %r8, 0, %p1;\n"
                                        "selp.b32 %r10, %r8, %r7, %p1;\n"
                                        "st.shared.u32 [%r3], %r9;\n"
                                        "st.shared.u32 [%r3], %r10;\n"))
{
    EXPECT("st.shared", 0, "device copied");
    EXPECT("st.shared", 1, "device");
}

/* The index is loaded, the value is not. */
CASE(an_address_brings_no_value, KERNEL("ld.global.u32 %r8, [%d3];\n"
                                        "add.u32 %r9, %r5, %r8;\n"
                                        "ld.shared.u32 %r10, [%r9];\n"
                                        "st.shared.u32 [%r3], %r10;\n"
                                        "setp.eq.u32 %p1, %r8, 0;\n"
                                        "@%p1 st.shared.u32 [%r3+4], 1;\n"))
{
    EXPECT("st.shared", 0, "computed 0");
    EXPECT("st.shared", 1, "computed");
}

CASE(words_that_a_word_chose, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                     "add.u32 %r9, %r5, %r8;\n"
                                     "ld.shared.u32 %r10, [%r9];\n"
                                     "st.shared.u32 [%r3], %r10;\n"))
{
    EXPECT("st.shared", 0, "computed 0 1");
}

/* ---- what decides ---- */

CASE(the_larger_one_by_a_guard, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                       "ld.shared.u32 %r9, [%r3+64];\n"
                                       "setp.lt.u32 %p1, %r8, %r9;\n"
                                       "@%p1 st.shared.u32 [%r3], %r9;\n"))
{
    EXPECT("st.shared", 0, "computed 0:decides 1");
}

CASE(the_larger_one_by_a_branch, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                        "ld.global.u32 %r9, [%d3];\n"
                                        "setp.ge.u32 %p1, %r8, %r9;\n"
                                        "@%p1 bra over;\n"
                                        "st.shared.u32 [%r3], %r9;\n"
                                        "over:\n"))
{
    EXPECT("st.shared", 0, "device copied 0:decides");
}

/* One of two constants, by a branch and by a selection. */
CASE(a_word_made_zero_or_one, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                     "setp.gt.u32 %p1, %r8, 9;\n"
                                     "mov.u32 %r9, 1;\n"
                                     "@%p1 bra over;\n"
                                     "mov.u32 %r9, 0;\n"
                                     "over:\n"
                                     "st.shared.u32 [%r3], %r9;\n"
                                     "selp.b32 %r10, 1, 0, %p1;\n"
                                     "st.shared.u32 [%r3+4], %r10;\n"
                                     "mov.u32 %r11, 3;\n"
                                     "@%p1 mov.u32 %r11, 4;\n"
                                     "st.shared.u32 [%r3+8], %r11;\n"))
{
    EXPECT("st.shared", 0, "computed 0:decides");
    EXPECT("st.shared", 1, "computed 0:decides");
    EXPECT("st.shared", 2, "computed 0:decides");
}

/* A flag that ends the loop is set anew in each iteration. */
CASE(the_end_of_a_loop_decides_nothing, KERNEL("again:\n"
                                               "st.shared.u32 [tile], 0;\n"
                                               "bar.sync 0;\n"
                                               "ld.global.u32 %r8, [%d3];\n"
                                               "st.shared.u32 [%r4], %r8;\n"
                                               "bar.sync 0;\n"
                                               "ld.shared.u32 %r9, [tile];\n"
                                               "setp.ne.u32 %p1, %r9, 0;\n"
                                               "@%p1 bra again;\n"))
{
    EXPECT("st.shared", 0, "computed");
    EXPECT("st.shared", 1, "device copied");
}

/* ---- patterns ---- */

/* for (i = 0; i < n; i++) { tile[t] = in[..]; sync; out[..] = tile[t-1] + tile[t+1]; sync; } */
CASE(jacobi_refills_its_tile, KERNEL("mov.u32 %r8, 0;\n"
                                     "again:\n"
                                     "ld.global.f32 %f1, [%d3];\n"
                                     "st.shared.f32 [%r3], %f1;\n"
                                     "bar.sync 0;\n"
                                     "ld.shared.f32 %f2, [%r3+-4];\n"
                                     "ld.shared.f32 %f3, [%r3+4];\n"
                                     "add.f32 %f4, %f2, %f3;\n"
                                     "st.global.f32 [%d3], %f4;\n"
                                     "bar.sync 0;\n"
                                     "add.u32 %r8, %r8, 1;\n"
                                     "setp.lt.u32 %p1, %r8, %r1;\n"
                                     "@%p1 bra again;\n"))
{
    EXPECT("st.shared", 0, "device copied");
}

/* from and to change places in each iteration: what is stored was read from the other one. */
CASE(buffers_that_take_turns, KERNEL("mov.u32 %r8, 0;\n"
                                     "mov.u32 %r9, %r3;\n"
                                     "mov.u32 %r10, %r4;\n"
                                     "again:\n"
                                     "ld.shared.f32 %f1, [%r9+-4];\n"
                                     "ld.shared.f32 %f2, [%r9+4];\n"
                                     "add.f32 %f3, %f1, %f2;\n"
                                     "st.shared.f32 [%r10], %f3;\n"
                                     "bar.sync 0;\n"
                                     "mov.u32 %r11, %r9;\n"
                                     "mov.u32 %r9, %r10;\n"
                                     "mov.u32 %r10, %r11;\n"
                                     "add.u32 %r8, %r8, 1;\n"
                                     "setp.lt.u32 %p1, %r8, %r1;\n"
                                     "@%p1 bra again;\n"))
{
    EXPECT("st.shared", 0, "computed 0 1");
}

/* for (s = 64; s; s /= 2) { if (t < s) tile[t] += tile[t + s]; sync; } */
CASE(a_tree_reduction_updates, KERNEL("ld.global.f32 %f1, [%d3];\n"
                                      "st.shared.f32 [%r3], %f1;\n"
                                      "mov.u32 %r8, 64;\n"
                                      "again:\n"
                                      "bar.sync 0;\n"
                                      "setp.ge.u32 %p1, %r2, %r8;\n"
                                      "@%p1 bra over;\n"
                                      "mad.lo.u32 %r9, %r8, 4, %r3;\n"
                                      "ld.shared.f32 %f2, [%r9];\n"
                                      "ld.shared.f32 %f3, [%r3];\n"
                                      "add.f32 %f4, %f2, %f3;\n"
                                      "st.shared.f32 [%r3], %f4;\n"
                                      "over:\n"
                                      "shr.u32 %r8, %r8, 1;\n"
                                      "setp.ne.u32 %p2, %r8, 0;\n"
                                      "@%p2 bra again;\n"))
{
    EXPECT("st.shared", 0, "device copied");
    EXPECT("st.shared", 1, "computed 0 1");
}

/* The compiler keeps the thread's own sum in a register: the word is still updated. */
CASE(a_sum_in_a_register_remembers, KERNEL("ld.shared.f32 %f3, [%r3];\n"
                                           "mov.u32 %r8, 64;\n"
                                           "again:\n"
                                           "mad.lo.u32 %r9, %r8, 4, %r3;\n"
                                           "ld.shared.f32 %f2, [%r9];\n"
                                           "add.f32 %f3, %f2, %f3;\n"
                                           "st.shared.f32 [%r3], %f3;\n"
                                           "bar.sync 0;\n"
                                           "shr.u32 %r8, %r8, 1;\n"
                                           "setp.ne.u32 %p2, %r8, 0;\n"
                                           "@%p2 bra again;\n"))
{
    EXPECT("st.shared", 0, "computed 0 1:earlier");
}

CASE(a_private_histogram, KERNEL("st.shared.u32 [%r3], 0;\n"
                                 "bar.sync 0;\n"
                                 "ld.global.u32 %r8, [%d3];\n"
                                 "mad.lo.u32 %r9, %r8, 4, %r5;\n"
                                 "atom.shared.add.u32 %r10, [%r9], 1;\n"
                                 "red.shared.add.u32 [%r9], 1;\n"
                                 "bar.sync 0;\n"
                                 "ld.shared.u32 %r11, [%r3];\n"
                                 "red.global.add.u32 [%d3], %r11;\n"))
{
    EXPECT("st.shared", 0, "computed");
    EXPECT("atom.shared", 0, "computed updates");
    EXPECT("red.shared", 0, "computed updates");
    assert_int_equal(f->fills.count, 3);
}

/* The bin's number comes from the data, one is added to the thread's own counter. */
CASE(counters_of_each_thread, KERNEL("ld.global.u32 %r8, [%d3];\n"
                                     "mad.lo.u32 %r9, %r8, 128, %r3;\n"
                                     "ld.shared.u32 %r10, [%r9];\n"
                                     "add.u32 %r11, %r10, 1;\n"
                                     "st.shared.u32 [%r9], %r11;\n"))
{
    EXPECT("st.shared", 0, "computed 0");
}

/* Hillis and Steele: x = tile[t] + tile[t - d]; sync; tile[t] = x; sync. */
CASE(a_scan_updates, KERNEL("mov.u32 %r8, 4;\n"
                            "again:\n"
                            "ld.shared.u32 %r10, [%r3];\n"
                            "sub.u32 %r9, %r3, %r8;\n"
                            "setp.lt.u32 %p1, %r9, %r5;\n"
                            "@%p1 bra over;\n"
                            "ld.shared.u32 %r11, [%r9];\n"
                            "add.u32 %r10, %r10, %r11;\n"
                            "over:\n"
                            "bar.sync 0;\n"
                            "st.shared.u32 [%r3], %r10;\n"
                            "bar.sync 0;\n"
                            "shl.b32 %r8, %r8, 1;\n"
                            "setp.lt.u32 %p2, %r8, %r1;\n"
                            "@%p2 bra again;\n"))
{
    EXPECT("st.shared", 0, "computed 0 1");
}

CASE(copies_into_two_buffers, KERNEL("cp.async.ca.shared.global [%r3], [%d3], 4;\n"
                                     "mov.u32 %r8, 0;\n"
                                     "again:\n"
                                     "cp.async.ca.shared.global [%r4], [%d3+4], 4;\n"
                                     "cp.async.wait_all;\n"
                                     "bar.sync 0;\n"
                                     "ld.shared.u32 %r9, [%r3];\n"
                                     "st.global.u32 [%d3], %r9;\n"
                                     "xor.b32 %r3, %r3, %r4;\n"
                                     "xor.b32 %r4, %r3, %r4;\n"
                                     "add.u32 %r8, %r8, 1;\n"
                                     "setp.lt.u32 %p1, %r8, %r1;\n"
                                     "@%p1 bra again;\n"))
{
    EXPECT("cp.async.ca", 0, "async");
    EXPECT("cp.async.ca", 1, "async");
    assert_int_equal(f->fills.count, 2);
}

CASE(a_copy_from_where_a_word_says, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                           "mad.wide.u32 %d4, %r8, 4, %d1;\n"
                                           "cp.async.ca.shared.global [%r3], [%d4], 4;\n"))
{
    EXPECT("cp.async", 0, "async 0");
}

CASE(bulk_copies, KERNEL("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], "
                         "[%d1], 1024, [%r6];\n"
                         "cp.reduce.async.bulk.shared::cluster.shared::cta."
                         "mbarrier::complete_tx::bytes.add.u32 [%r5], [%r6], 64, [%r6+2048];\n"
                         "mbarrier.init.shared.b64 [%r6+2048], 1;\n"))
{
    EXPECT("cp.async.bulk", 0, "async");
    EXPECT("cp.reduce", 0, "async updates");
    assert_int_equal(f->fills.count, 2);
}

/* tile[ty][tx] = in; sync; out = tile[tx][ty]. */
CASE(a_transposition, KERNEL("mov.u32 %r8, %tid.y;\n"
                             "mad.lo.u32 %r9, %r8, 132, %r3;\n"
                             "ld.global.f32 %f1, [%d3];\n"
                             "st.shared.f32 [%r9], %f1;\n"
                             "bar.sync 0;\n"
                             "mad.lo.u32 %r10, %r2, 132, %r5;\n"
                             "mad.lo.u32 %r11, %r8, 4, %r10;\n"
                             "ld.shared.f32 %f2, [%r11];\n"
                             "st.global.f32 [%d3+4096], %f2;\n"))
{
    EXPECT("st.shared", 0, "device copied");
}

/* A warp adds its words with shuffles, and lane 0 stores the sum. */
CASE(a_sum_of_a_warp, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                             "shfl.sync.down.b32 %r9|%p1, %r8, 16, 31, -1;\n"
                             "add.u32 %r10, %r8, %r9;\n"
                             "setp.eq.u32 %p2, %r2, 0;\n"
                             "@%p2 st.shared.u32 [%r5], %r10;\n"
                             "ld.global.u32 %r11, [%d3];\n"
                             "redux.sync.add.u32 %r12, %r11, -1;\n"
                             "st.shared.u32 [%r6], %r12;\n"
                             "shfl.sync.idx.b32 %r13, %r11, 0, 31, -1;\n"
                             "st.shared.u32 [%r6+4], %r13;\n"))
{
    EXPECT("st.shared", 0, "computed 0:warp");
    EXPECT("st.shared", 1, "device");
    EXPECT("st.shared", 2, "device copied");
}

CASE(what_a_block_counts, KERNEL("ld.shared.u32 %r8, [%r3];\n"
                                 "setp.ne.u32 %p1, %r8, 0;\n"
                                 "barrier.cta.red.popc.u32 %r9, 0, %p1;\n"
                                 "st.shared.u32 [%r4], %r9;\n"))
{
    EXPECT("st.shared", 0, "computed 0:block");
}

CASE(an_exchange_fills, KERNEL("ld.global.u32 %r8, [%d3];\n"
                               "atom.shared.exch.b32 %r9, [%r3], %r8;\n"
                               "st.shared.u32 [%r4], %r9;\n"
                               "atom.shared.cas.b32 %r10, [%r3], 0, %r8;\n"
                               "st.shared.u32 [%r4+4], %r10;\n"))
{
    EXPECT("exch", 0, "device copied");
    EXPECT("st.shared", 0, "computed 0");
    EXPECT("cas", 0, "device updates");
    EXPECT("st.shared", 1, "computed 1");
}

/* ---- loops ---- */

/* A value that waits for an iteration in a register, and one that the inner loop adds up. */
CASE(loops_within_loops, KERNEL("mov.u32 %r8, 0;\n"
                                "mov.u32 %r9, 0;\n"
                                "outer:\n"
                                "ld.shared.u32 %r10, [%r3];\n"
                                "mov.u32 %r11, 0;\n"
                                "mov.u32 %r12, 0;\n"
                                "inner:\n"
                                "mad.lo.u32 %r13, %r12, 4, %r4;\n"
                                "ld.shared.u32 %r14, [%r13];\n"
                                "add.u32 %r11, %r11, %r14;\n"
                                "add.u32 %r12, %r12, 1;\n"
                                "setp.lt.u32 %p1, %r12, %r1;\n"
                                "@%p1 bra inner;\n"
                                "st.shared.u32 [%r3+4], %r11;\n" /* the inner sum */
                                "st.shared.u32 [%r3+8], %r9;\n"  /* the last iteration's */
                                "add.u32 %r15, %r10, %r11;\n"
                                "st.shared.u32 [%r3+12], %r15;\n" /* both */
                                "mov.u32 %r9, %r10;\n"
                                "add.u32 %r8, %r8, 1;\n"
                                "setp.lt.u32 %p2, %r8, %r1;\n"
                                "@%p2 bra outer;\n"
                                "st.shared.u32 [%r3+16], %r10;\n"))
{
    EXPECT("st.shared", 0, "computed 1:earlier");
    EXPECT("st.shared", 1, "computed 0:earlier");
    EXPECT("st.shared", 2, "computed 0 1:earlier");
    EXPECT("st.shared", 3, "computed 0");
}

/* ---- memory and calls ---- */

CASE(through_local_memory, WITH("", ".local .align 4 .b8 kept[64];\n"
                                    "ld.shared.u32 %r8, [%r3];\n"
                                    "ld.shared.u32 %r9, [%r3+4];\n"
                                    "st.local.u32 [kept], %r8;\n"
                                    "st.local.u32 [kept+4], %r9;\n"
                                    "ld.local.u32 %r10, [kept];\n"
                                    "st.shared.u32 [%r4], %r10;\n"
                                    "mov.u64 %d4, kept;\n"
                                    "mad.wide.u32 %d4, %r1, 4, %d4;\n"
                                    "ld.local.u32 %r11, [%d4];\n"
                                    "st.shared.u32 [%r4+4], %r11;\n"))
{
    EXPECT("st.shared", 0, "computed 0:earlier");
    EXPECT("st.shared", 1, "computed 0:earlier 1:earlier");
}

#define TWICE                                                             \
    ".func (.param .b32 out) twice(.param .b32 x)\n{\n.reg .b32 %r<4>;\n" \
    "ld.param.u32 %r1, [x];\nadd.u32 %r2, %r1, %r1;\nst.param.u32 [out], %r2;\nret;\n}\n"
#define PUT                                                              \
    ".func put(.param .b32 where, .param .b32 x)\n{\n.reg .b32 %r<4>;\n" \
    "ld.param.u32 %r1, [where];\nld.param.u32 %r2, [x];\nst.shared.u32 [%r1], %r2;\nret;\n}\n"

CASE(through_calls,
     WITH(TWICE PUT, "ld.shared.u32 %r8, [%r3];\n"
                     "{ .param .b32 arg;\n.param .b32 res;\nst.param.b32 [arg], %r8;\n"
                     "call.uni (res), twice, (arg);\nld.param.b32 %r9, [res];\n}\n"
                     "{ .param .b32 p;\n.param .b32 q;\nst.param.b32 [p], %r4;\n"
                     "st.param.b32 [q], %r9;\ncall.uni put, (p, q);\n}\n"))
{
    EXPECT("st.shared", 0, "computed 0");
}

CASE(calls_that_are_not_known,
     WITH(".extern .func (.param .b32 out) far(.param .b32 x);\n"
          ".extern .func (.param .b32 out) vprintf(.param .b64 x, .param .b64 y);\n",
          "{ .param .b32 arg;\n.param .b32 res;\nst.param.b32 [arg], %r2;\n"
          "call.uni (res), far, (arg);\nld.param.b32 %r9, [res];\n}\n"
          "st.shared.u32 [%r3], %r9;\n"
          "{ .param .b64 x;\n.param .b64 y;\n.param .b32 res;\nst.param.b64 [x], %d1;\n"
          "st.param.b64 [y], %d1;\n"
          "call.uni (res), vprintf, (x, y);\nld.param.b32 %r10, [res];\n}\n"
          "st.shared.u32 [%r3+4], %r10;\n"))
{
    EXPECT("st.shared", 0, "computed unknown");
    EXPECT("st.shared", 1, "computed");
}

CASE(calls_through_pointers,
     WITH(TWICE, "ld.shared.u32 %r8, [%r3];\n"
                 "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
                 "mov.u64 %d4, twice;\n"
                 "{ .param .b32 arg;\n.param .b32 res;\nst.param.b32 [arg], %r8;\n"
                 "call (res), %d4, (arg), proto;\nld.param.b32 %r9, [res];\n}\n"
                 "st.shared.u32 [%r3], %r9;\n"))
{
    EXPECT("st.shared", 0, "computed unknown");
}

/* A generic pointer that may lead to either memory. */
CASE(pointers_to_either_memory, KERNEL("cvt.u64.u32 %d4, %r3;\n"
                                       "cvta.shared.u64 %d5, %d4;\n"
                                       "setp.eq.u32 %p1, %r1, 0;\n"
                                       "selp.b64 %d6, %d5, %d3, %p1;\n"
                                       "ld.u32 %r8, [%d6];\n"
                                       "st.u32 [%d6], %r8;\n"))
{
    const flow_fill *fill = fill_of(f, "st.u32", 0);
    assert_int_equal(fill->origin, FLOW_DEVICE);
    assert_false(fill->copied);
    assert_int_equal(fill->count, 1);
    assert_int_equal(f->fills.reads[fill->first].pc, pc_of(&f->s, "ld.u32", 0));
}

CASE(matrices, KERNEL("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r8}, [%r3];\n"
                      "st.shared.u32 [%r4], %r8;\n"
                      "ld.shared.u32 %r9, [%r4];\n"
                      "stmatrix.sync.aligned.m8n8.x1.shared.b16 [%r3], {%r9};\n"))
{
    EXPECT("st.shared", 0, "computed 0:warp");
    EXPECT("stmatrix", 0, "computed 1:warp");
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loaded_value_is_a_copy),
        cmocka_unit_test(what_a_selection_brings_in),
        cmocka_unit_test(an_address_brings_no_value),
        cmocka_unit_test(words_that_a_word_chose),
        cmocka_unit_test(the_larger_one_by_a_guard),
        cmocka_unit_test(the_larger_one_by_a_branch),
        cmocka_unit_test(a_word_made_zero_or_one),
        cmocka_unit_test(the_end_of_a_loop_decides_nothing),
        cmocka_unit_test(jacobi_refills_its_tile),
        cmocka_unit_test(buffers_that_take_turns),
        cmocka_unit_test(a_tree_reduction_updates),
        cmocka_unit_test(a_sum_in_a_register_remembers),
        cmocka_unit_test(a_private_histogram),
        cmocka_unit_test(counters_of_each_thread),
        cmocka_unit_test(a_scan_updates),
        cmocka_unit_test(copies_into_two_buffers),
        cmocka_unit_test(a_copy_from_where_a_word_says),
        cmocka_unit_test(bulk_copies),
        cmocka_unit_test(a_transposition),
        cmocka_unit_test(a_sum_of_a_warp),
        cmocka_unit_test(what_a_block_counts),
        cmocka_unit_test(an_exchange_fills),
        cmocka_unit_test(loops_within_loops),
        cmocka_unit_test(through_local_memory),
        cmocka_unit_test(through_calls),
        cmocka_unit_test(calls_that_are_not_known),
        cmocka_unit_test(calls_through_pointers),
        cmocka_unit_test(pointers_to_either_memory),
        cmocka_unit_test(matrices),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
