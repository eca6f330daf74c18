/* The longest chain of dependences of a basic block: blocks worked out by hand, and random ones
 * against all their paths. */
#include "support.h"

#define BEGIN                                                               \
    FLOW_HEADER ".shared .align 16 .b8 tile[1024];\n"                       \
                ".visible .entry k(.param .u64 a, .param .u32 n)\n{\n"      \
                ".reg .pred %p<9>;\n.reg .b32 %r<29>;\n.reg .b64 %d<29>;\n" \
                ".reg .f32 %f<29>;\n.reg .f64 %g<9>;\n.reg .b16 %h<9>;\n"

static uint32_t of_class(const flow_ilp *b, ir_cost cost)
{
    return b->chain[cost];
}

/* ---- by hand ---- */

/* The chain of the first block of a kernel with this body. */
static flow_ilp measure(const char *body)
{
    char text[8192];
    subject s;
    assert_true((size_t)snprintf(text, sizeof text, "%s%s\nret;\n}\n", BEGIN, body) < sizeof text);
    subject_begin(&s, text, "k");
    flow_ilp b = s.f->ilp[0];
    subject_end(&s);
    return b;
}

static void expect_chain(const flow_ilp *b, uint32_t insns, uint32_t loads, uint32_t shared)
{
    assert_int_equal(flow_chain_of(b), insns);
    assert_int_equal(b->chain_loads, loads);
    assert_int_equal(b->chain_shared, shared);
}

static void a_chain_goes_through_loads(void **state)
{
    (void)state;
    flow_ilp b = measure("ld.param.u64 %d1, [a];\n"         /* 0 cycles */
                         "ld.global.u64 %d2, [%d1];\n"      /* 40 */
                         "add.u64 %d3, %d2, 8;\n"           /* 44 */
                         "ld.global.f32 %f1, [%d3];\n"      /* 84 */
                         "ld.global.f32 %f2, [%d1+16];\n"   /* 40: beside the others */
                         "fma.rn.f32 %f3, %f1, %f2, %f2;\n" /* 88 */
                         "st.global.f32 [%d1], %f3;\n");    /* 88, an instruction more */
    expect_chain(&b, 6, 2, 0);
    assert_int_equal(of_class(&b, IR_COST_MEMORY), 4);
    assert_int_equal(of_class(&b, IR_COST_INT), 1);
    assert_int_equal(of_class(&b, IR_COST_FP32), 1);
}

/* The chain that takes longest is not the one with the most loads of either kind. */
static void depths_are_of_any_chain(void **state)
{
    (void)state;
    flow_ilp b = measure("ld.shared.u32 %r1, [tile];\n"
                         "ld.shared.u32 %r2, [%r1];\n" /* 48: the deepest in shared memory */
                         "ld.local.u32 %r3, [%r9];\n"  /* 40 */
                         "ld.u32 %r4, [%d1];\n"        /* 40 */
                         "cvt.rn.f32.u32 %f1, %r4;\n"  /* 44 */
                         "sin.approx.f32 %f1, %f1;\n"  /* 61 */
                         "cos.approx.f32 %f1, %f1;\n"  /* 78 */
                         "ex2.approx.f32 %f1, %f1;\n"  /* 95: the longest */
                         "atom.global.add.u32 %r5, [%d2], %r3;\n" /* 80: two loads deep */
                         "red.global.add.u32 [%d2], %r5;\n");     /* no load: it has no result */
    expect_chain(&b, 5, 2, 2);
    assert_int_equal(of_class(&b, IR_COST_SFU), 3);
    assert_int_equal(of_class(&b, IR_COST_CONVERT), 1);
    assert_int_equal(of_class(&b, IR_COST_MEMORY), 1);
    assert_int_equal(of_class(&b, IR_COST_ATOMIC), 0);
}

/* A guard is waited for, and what the register holds where the guard is false. */
static void guards_and_kept_values_are_waited_for(void **state)
{
    (void)state;
    flow_ilp b = measure("rcp.approx.f32 %f1, %f9;\n"    /* 17 */
                         "setp.lt.f32 %p1, %f1, %f8;\n"  /* 21 */
                         "@%p1 add.u32 %r1, %r2, %r3;\n" /* 25: after its guard */
                         "mov.u32 %r4, %r1;\n"           /* 25: removed, but on the chain */
                         "xor.b32 %r5, %r4, %r3;\n");    /* 29 */
    expect_chain(&b, 5, 0, 0);
    assert_int_equal(of_class(&b, IR_COST_COMPARE), 1);
    assert_int_equal(of_class(&b, IR_COST_MOVE), 1);
    b = measure("shfl.sync.bfly.b32 %r1, %r9, 1, 31, -1;\n" /* 24 */
                "@%p1 add.u32 %r1, %r2, %r3;\n"             /* 28: after the old value */
                "sub.u32 %r5, %r1, %r3;\n");                /* 32 */
    expect_chain(&b, 3, 0, 0);
    assert_int_equal(of_class(&b, IR_COST_WARP), 1);
}

enum { TIMES = 16 };

/* A block with the instruction TIMES times, each waiting for the one before, beside a chain of
 * `cycles` cycles. */
static flow_ilp measure_beside(const char *insn, unsigned cycles)
{
    char text[8192] = "";
    size_t at = 0;
    for (unsigned i = 0; i < TIMES; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s\n", insn);
    for (unsigned left = cycles; left;) {
        bool four = left % 4 == 0;
        at += (size_t)snprintf(text + at, sizeof text - at, "%s",
                               four ? "xor.b32 %r6, %r6, 7;\n" : "rcp.approx.ftz.f32 %r6, %r6;\n");
        left -= four ? 4 : 17;
    }
    assert_true(at < sizeof text);
    return measure(text);
}

/* The chain of an instruction is the longest beside one that takes a cycle less, not beside one
 * that takes a cycle more. */
static void classes_have_nominal_cycles(void **state)
{
    (void)state;
    static const struct {
        const char *insn; /* waits for its own result */
        ir_cost cost;
        unsigned cycles;
    } cases[] = {
        {"add.u32 %r7, %r7, 1;", IR_COST_INT, 4},
        {"add.f32 %f7, %f7, %f8;", IR_COST_FP32, 4},
        {"cvt.rn.f32.u32 %r7, %r7;", IR_COST_CONVERT, 4},
        {"selp.b32 %r7, %r7, %r8, %p1;", IR_COST_COMPARE, 4},
        {"add.f64 %g7, %g7, %g8;", IR_COST_FP64, 8},
        {"add.f16 %h7, %h7, %h8;", IR_COST_HALF, 8},
        {"sqrt.approx.ftz.f32 %f7, %f7;", IR_COST_SFU, 17},
        {"shfl.sync.bfly.b32 %r7, %r7, 1, 31, -1;", IR_COST_WARP, 24},
        {"ld.shared.u32 %r7, [%r7];", IR_COST_MEMORY, 24},
        {"ld.shared::cluster.u32 %r7, [%r7];", IR_COST_MEMORY, 24},
        {"atom.shared.add.u32 %r7, [%r7], 1;", IR_COST_ATOMIC, 24},
        {"ldmatrix.sync.aligned.m8n8.x2.b16 {%r7, %r8}, [%r7];", IR_COST_MEMORY, 24},
        {"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%g7, %g6}, {%g8}, {%g8}, {%g7, %g6};",
         IR_COST_TENSOR, 25},
        {"ld.global.u64 %d7, [%d7];", IR_COST_MEMORY, 40},
        {"ld.local.u32 %r7, [%r7];", IR_COST_MEMORY, 40},
        {"ld.u64 %d7, [%d7];", IR_COST_MEMORY, 40},
        {"atom.global.add.u64 %d7, [%d7], 1;", IR_COST_ATOMIC, 40},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned more = 0; more < 2; more++) {
            flow_ilp b = measure_beside(cases[i].insn, TIMES * cases[i].cycles - 1 + 2 * more);
            bool chosen = of_class(&b, cases[i].cost) == TIMES && flow_chain_of(&b) == TIMES;
            if (chosen == more)
                fail_msg("%s takes %s than %u cycles", cases[i].insn, more ? "more" : "less",
                         cases[i].cycles);
        }
}

/* A branch waits for its predicate, and what follows for the branch: 12 cycles, as three additions
 * take, and more than two with as many moves as one likes. */
static void branches_end_chains(void **state)
{
    (void)state;
    static const char branch[] = "add.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, 9;\n";
    static const char end[] = "@%p1 bra END;\nEND:\n";
    static const char two[] = "xor.b32 %r2, %r2, 7;\nxor.b32 %r2, %r2, 7;\n";
    static const char moves[] = "mov.u32 %r2, %r2;\nmov.u32 %r2, %r2;\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s%s%s%s", branch, two, moves, moves, end);
    flow_ilp b = measure(text);
    expect_chain(&b, 3, 0, 0);
    assert_int_equal(of_class(&b, IR_COST_CONTROL), 1);
    snprintf(text, sizeof text, "%s%sxor.b32 %%r2, %%r2, 7;\n%s%s", branch, two, moves, end);
    b = measure(text);
    expect_chain(&b, 5, 0, 0);
    assert_int_equal(of_class(&b, IR_COST_CONTROL), 0);
}

/* Neither are stores, copies, prefetches and barriers loads, nor parameters and constants. */
static void what_is_no_load(void **state)
{
    (void)state;
    flow_ilp b = measure("ld.param.u64 %d1, [a];\n"
                         "ld.const.u32 %r1, [%d1];\n"
                         "cp.async.ca.shared.global [%r8], [%d1], 4;\n"
                         "prefetch.global.L1 [%d1];\n"
                         "add.u32 %r2, %r1, 1;\n" /* 4 cycles */
                         "st.shared.u32 [%r8], %r2;\n"
                         "bar.sync 0;\n"
                         "ld.global.u32 _, [%d1];\n");
    expect_chain(&b, 4, 0, 0);
    assert_int_equal(of_class(&b, IR_COST_MEMORY), 3); /* of 0 cycles: parameter, constant, store */
}

/* Loads and stores by turns: each load waits for the store before it, which waits for what it
 * stores. At other offsets from the same register, and where only others read, nothing waits. */
static void stores_hold_up_loads(void **state)
{
    static const struct {
        const char *second;
        uint32_t loads;
    } cases[] = {
        {"ld.global.u32 %r3, [%d2];\n", 2},
        {"ld.u32 %r3, [%d2];\n", 2},
        {"ld.global.u32 %r3, [%d3+4];\n", 1},
        {"ld.global.u32 %r3, [%d3+3];\n", 2},
        {"ld.global.u32 %r3, [%d3+-4];\n", 1},
        {"ld.global.v2.u32 {%r3, %r4}, [%d3+-4];\n", 2},
        {"ld.global.nc.u32 %r3, [%d2];\n", 1},
        {"ld.local.u32 %r3, [%d2];\n", 1},
        {"div.rn.f32 %f1, %f2, %f3;\nld.global.nc.u32 %r3, [%d2];\n", 2}, /* after a store */
        {"cvt.rn.f32.u32 %f2, %r1;\ndiv.rn.f32 %f1, %f2, %f3;\nld.global.nc.u32 %r3, [%d2];\n", 2},
        {"add.u32 %r2, %r1, 1;\ndiv.rn.f32 %f1, %f2, %f3;\nld.global.nc.u32 %r3, [%d2];\n", 2},
        {"cvt.rn.f32.u32 %f2, %r1;\ndiv.approx.f32 %f1, %f2, %f3;\nld.global.nc.u32 %r3, [%d2];\n",
         1},
        {"st.global.u32 [%d2], %r4;\nld.global.u32 %r3, [%d3+4];\n", 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[256];
        snprintf(text, sizeof text, "ld.global.u32 %%r1, [%%d1];\nst.global.u32 [%%d3], %%r1;\n%s",
                 cases[i].second);
        flow_ilp b = measure(text);
        if (b.chain_loads != cases[i].loads)
            fail_msg("%s: %u loads in turn, not %u", text, b.chain_loads, cases[i].loads);
    }
}

/* What comes from another block, or from the last round of a loop, is there at the start. */
static void other_blocks_are_not_waited_for(void **state)
{
    (void)state;
    static const char text[] = BEGIN "ld.global.u32 %r1, [%d1];\n"
                                     "LOOP:\n"
                                     "add.u32 %r2, %r1, 1;\n"
                                     "add.u32 %r3, %r3, 1;\n"
                                     "ld.shared.u32 %r4, [%r2];\n"
                                     "add.u32 %r1, %r4, %r4;\n"
                                     "setp.lt.u32 %p1, %r3, 9;\n"
                                     "@%p1 bra LOOP;\n"
                                     "ret;\n}\n";
    subject s;
    subject_begin(&s, text, "k");
    expect_chain(&s.f->ilp[0], 1, 1, 0);
    expect_chain(&s.f->ilp[1], 3, 0, 1); /* 4 + 24 + 4 */
    expect_chain(&s.f->ilp[2], 1, 0, 0);
    subject_end(&s);
}

/* ---- all paths of random blocks ---- */

enum { WORDS = 6, PREDS = 3, REGS = WORDS + PREDS + 1, STEPS = 12, ROUNDS = 400, NO_REG = 99 };
/* Registers by number: %r0 .. %r5, %p0 .. %p2, and %d9, which is written nowhere. */

typedef struct step {
    unsigned writes; /* or NO_REG */
    unsigned reads[5], nreads;
    ir_cost cost;
    unsigned cycles, off_chip, shared;
    unsigned global; /* 1: reads global memory, where others write; 2: writes there */
    unsigned held;   /* 1: is held up by what has branches within; 2: has them */
} step;

typedef struct path {
    unsigned cycles, insns, off_chip, shared;
    unsigned chain[IR_COST_COUNT];
} path;

typedef struct walk {
    const step *steps;
    const flow_ilp *have;
    path longest;
    unsigned off_chip, shared;
    bool seen; /* a path as long as the longest with the chain that flow found */
} walk;

/* An instruction as a template: d is a word that it writes, o a predicate; a and b are words that it
 * reads, p a predicate. */
typedef struct form {
    const char *text;
    ir_cost cost;
    unsigned cycles, off_chip, shared, global, held;
} form;

static const form forms[] = {
    {"add.u32 d, a, b", IR_COST_INT, 4, 0, 0, 0, 0},
    {"add.f32 d, a, b", IR_COST_FP32, 4, 0, 0, 0, 0},
    {"fma.rn.f16x2 d, a, b, a", IR_COST_HALF, 8, 0, 0, 0, 0},
    {"rsqrt.approx.ftz.f32 d, a", IR_COST_SFU, 17, 0, 0, 0, 0},
    {"cvt.rn.f32.u32 d, a", IR_COST_CONVERT, 4, 0, 0, 0, 0},
    {"mov.u32 d, a", IR_COST_MOVE, 0, 0, 0, 0, 0},
    {"selp.b32 d, a, b, p", IR_COST_COMPARE, 4, 0, 0, 0, 0},
    {"setp.ne.u32 o, a, b", IR_COST_COMPARE, 4, 0, 0, 0, 0},
    {"shfl.sync.idx.b32 d, a, b, 31, -1", IR_COST_WARP, 24, 0, 0, 0, 0},
    {"ld.shared.u32 d, [a]", IR_COST_MEMORY, 24, 0, 1, 0, 1},
    {"ld.local.u32 d, [a]", IR_COST_MEMORY, 40, 1, 0, 0, 1},
    {"ld.global.u32 d, [%d9]", IR_COST_MEMORY, 40, 1, 0, 1, 1},
    {"atom.global.add.u32 d, [%d9], a", IR_COST_ATOMIC, 40, 1, 0, 2, 1},
    {"atom.shared.min.u32 d, [a], b", IR_COST_ATOMIC, 24, 0, 1, 0, 1},
    {"ld.param.u32 d, [n]", IR_COST_MEMORY, 0, 0, 0, 0, 0},
    {"st.local.u32 [a], b", IR_COST_MEMORY, 0, 0, 0, 0, 0},
    {"red.shared.add.u32 [a], b", IR_COST_ATOMIC, 0, 0, 0, 0, 0},
    {"ld.global.nc.u32 d, [%d9]", IR_COST_MEMORY, 40, 1, 0, 0, 1},
    {"st.global.u32 [%d8], a", IR_COST_MEMORY, 0, 0, 0, 2, 1},
    {"div.rn.f32 d, a, b", IR_COST_FP32, 53, 0, 0, 0, 2},
    {"sqrt.rn.f32 d, a", IR_COST_SFU, 53, 0, 0, 0, 2},
};

static unsigned read_register(step *s, unsigned reg)
{
    s->reads[s->nreads++] = reg;
    return reg < WORDS ? reg : reg - WORDS;
}

/* Writes an instruction made from the form at `text`, and what it does into `s`. */
static size_t write_step(const form *f, uint64_t *seed, char *text, size_t size, step *s)
{
    size_t at = 0;
    bool guarded = rnd(seed, 4) == 0;
    *s = (step){NO_REG, {0}, 0, f->cost, f->cycles, f->off_chip, f->shared, f->global, f->held};
    if (guarded)
        at += (size_t)snprintf(text, size, "@%%p%u ", read_register(s, WORDS + rnd(seed, PREDS)));
    const char *operands = strchr(f->text, ' ');
    at += (size_t)snprintf(text + at, size - at, "%.*s", (int)(operands - f->text), f->text);
    for (const char *c = operands; *c; c++) {
        bool is_register = strchr("dabpo", *c) && c[-1] != '%' && c[-1] != 'n';
        if (!is_register)
            at += (size_t)snprintf(text + at, size - at, "%c", *c);
        else if (*c == 'd' || *c == 'o') {
            s->writes = *c == 'd' ? rnd(seed, WORDS) : WORDS + rnd(seed, PREDS);
            at += (size_t)snprintf(text + at, size - at, *c == 'd' ? "%%r%u" : "%%p%u",
                                   *c == 'd' ? s->writes : s->writes - WORDS);
        } else
            at += (size_t)snprintf(text + at, size - at, *c == 'p' ? "%%p%u" : "%%r%u",
                                   read_register(s, *c == 'p' ? WORDS + rnd(seed, PREDS)
                                                              : rnd(seed, WORDS)));
    }
    if (guarded && s->writes != NO_REG)
        read_register(s, s->writes);
    assert_true(at + 3 < size);
    return at + (size_t)snprintf(text + at, size - at, ";\n");
}

static bool same_chain(const unsigned *a, const uint32_t *b)
{
    for (uint32_t cost = 0; cost < IR_COST_COUNT; cost++)
        if (a[cost] != b[cost])
            return false;
    return true;
}

static void end_path(walk *w, const path *p)
{
    bool longer = p->cycles > w->longest.cycles ||
                  (p->cycles == w->longest.cycles && p->insns > w->longest.insns);
    bool as_long = p->cycles == w->longest.cycles && p->insns == w->longest.insns;
    if (longer)
        w->longest = *p, w->seen = false;
    if (longer || as_long)
        w->seen |= same_chain(p->chain, w->have->chain);
    w->off_chip = p->off_chip > w->off_chip ? p->off_chip : w->off_chip;
    w->shared = p->shared > w->shared ? p->shared : w->shared;
}

static void walk_back(walk *w, unsigned at, path p);

/* To the last instruction before it that writes global memory, or has branches within. */
static void walk_to_last(walk *w, unsigned at, path p, bool writes)
{
    for (unsigned before = at; before-- > 0;)
        if ((writes ? w->steps[before].global : w->steps[before].held) == 2) {
            walk_back(w, before, p);
            return;
        }
}

/* From what has branches within to all since the last such, but for loads. */
static void walk_to_region(walk *w, unsigned at, path p)
{
    for (unsigned i = at; i > 0 && w->steps[i - 1].held != 2; i--)
        if (!w->steps[i - 1].off_chip && !w->steps[i - 1].shared)
            walk_back(w, i - 1, p);
}

/* All paths backwards from an instruction: before it stands the last writer of a register that it
 * reads, or of memory, or nothing. */
static void walk_back(walk *w, unsigned at, path p)
{
    const step *s = &w->steps[at];
    p.cycles += s->cycles, p.insns++, p.chain[s->cost]++;
    p.off_chip += s->off_chip, p.shared += s->shared;
    end_path(w, &p);
    for (unsigned r = 0; r < s->nreads; r++)
        for (unsigned before = at; before-- > 0;)
            if (w->steps[before].writes == s->reads[r]) {
                walk_back(w, before, p);
                break;
            }
    if (s->global)
        walk_to_last(w, at, p, true);
    if (s->held)
        walk_to_last(w, at, p, false);
    if (s->held == 2)
        walk_to_region(w, at, p);
}

static void chains_are_the_longest_of_all_paths(void **state)
{
    (void)state;
    unsigned deep = 0, deep_shared = 0;
    for (uint64_t round = 1; round <= ROUNDS; round++) {
        uint64_t seed = round;
        step steps[STEPS];
        char text[8192];
        size_t at = (size_t)snprintf(text, sizeof text, "%sLOOP:\n", BEGIN);
        for (unsigned i = 0; i < STEPS; i++)
            at += write_step(&forms[rnd(&seed, sizeof forms / sizeof *forms)], &seed, text + at,
                             sizeof text - at, &steps[i]);
        snprintf(text + at, sizeof text - at, "bra LOOP;\n}\n");
        subject s;
        subject_begin(&s, text, "k");
        const flow_block *block = &s.f->blocks[s.f->block_of[0]];
        walk w = {.steps = steps, .have = &s.f->ilp[s.f->block_of[0]]};
        assert_int_equal(block->count, STEPS + 1); /* with the jump, which waits for nothing */
        for (unsigned i = 0; i < STEPS; i++)
            walk_back(&w, i, (path){0});
        if (!w.seen || w.off_chip != w.have->chain_loads || w.shared != w.have->chain_shared)
            fail_msg("round %llu: %u cycles in %u instructions, %u loads, %u shared, against %u, "
                     "%u, %u of:\n%s",
                     (unsigned long long)round, w.longest.cycles, w.longest.insns, w.off_chip,
                     w.shared, flow_chain_of(w.have), w.have->chain_loads, w.have->chain_shared,
                     text);
        deep += w.off_chip > 1, deep_shared += w.shared > 1;
        subject_end(&s);
    }
    assert_true(deep > ROUNDS / 8 && deep_shared > ROUNDS / 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_goes_through_loads),
        cmocka_unit_test(depths_are_of_any_chain),
        cmocka_unit_test(guards_and_kept_values_are_waited_for),
        cmocka_unit_test(classes_have_nominal_cycles),
        cmocka_unit_test(branches_end_chains),
        cmocka_unit_test(what_is_no_load),
        cmocka_unit_test(stores_hold_up_loads),
        cmocka_unit_test(other_blocks_are_not_waited_for),
        cmocka_unit_test(chains_are_the_longest_of_all_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
