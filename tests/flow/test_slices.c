/* Random kernels, run one thread at a time by an interpreter that knows of each register and word
 * whether the slice would have computed it: whatever a proven access, a branch or an access of the
 * slice itself needs, it must. And the same kernels with other data: what is proven is the same.
 * With a number as argument, so many kernels are tried. */
#include "flow/launch.h"
#include "generate.h"
#include "support.h"

#define GENERATED_START                                                                       \
    ".visible .entry k(.param .u64 in, .param .u64 out, .param .u32 n)\n{\n"                  \
    ".reg .pred %p<9>;\n.reg .b32 %r<30>;\n.reg .b64 %d<20>;\n"                               \
    "ld.param.u64 %d1, [in];\nld.param.u64 %d2, [out];\nld.param.u32 %r11, [n];\n"            \
    "mov.u32 %r10, %tid.x;\nmad.wide.u32 %d3, %r10, 256, %d1;\nmad.wide.u32 %d4, %r10, 256, " \
    "%d2;\n"

enum {
    N = 17, /* the parameter n */
    THREADS = 3,
    MAX_STEPS = 4000,
    MAX_REGS = 64,
    MAX_INSNS = 1024,
    SHARED_WORDS = 512,
    LOCAL_WORDS = 16,
    GLOBAL_WORDS = 2 * 32 * GENERATED_WORDS,
    IN = 1 << 20,
    OUT = IN + 4 * GLOBAL_WORDS / 2
};

static uint64_t kernels = 2500;

/* `known`: the slice has the same there. */
typedef struct cell {
    uint64_t value;
    bool known;
} cell;

typedef struct trace {
    uint32_t reached, count;
    uint64_t hash;
} trace;

typedef struct machine {
    const subject *s;
    uint64_t seed;
    uint32_t tid;
    cell regs[MAX_REGS], local[LOCAL_WORDS], shared[SHARED_WORDS];
    uint32_t global[GLOBAL_WORDS];
    uint32_t rejoin; /* the slice goes on there; IR_NONE: it is here */
    bool skips;
    trace traces[MAX_INSNS];
} machine;

static uint8_t flags_of(const machine *m, const ir_insn *insn)
{
    return m->s->proof.flags[insn->pc];
}

static bool in_slice(const machine *m, const ir_insn *insn)
{
    return !m->skips && flags_of(m, insn) & FLOW_PC_SLICE;
}

static void must_know(const machine *m, const ir_insn *insn, bool known, const char *what)
{
    if (!known)
        fail_msg("seed %llu: the slice does not know the %s of instruction %u",
                 (unsigned long long)m->seed, what, insn->pc);
}

/* ---- operands ---- */

static cell read_cell(const machine *m, const ir_operand *o)
{
    cell out = {.value = o->imm, .known = true};
    if (o->kind == IR_OPD_REG)
        out = m->regs[o->reg];
    else if (o->kind == IR_OPD_SREG)
        out.value = m->tid;
    else if (o->kind == IR_OPD_SYM)
        out.value = strcmp(o->sym.var->name, "two") == 0 ? 1024 : 0;
    if (o->kind == IR_OPD_REG && o->neg)
        out.value = !out.value;
    return out;
}

static void write_cell(machine *m, const ir_insn *insn, const ir_operand *o, cell value)
{
    if (o->kind == IR_OPD_SINK)
        return;
    const ir_reg *reg = &m->s->f->func->regs[o->reg];
    if (reg->type == IR_T_b32 || reg->type == IR_T_u32)
        value.value = (uint32_t)value.value;
    value.known &= in_slice(m, insn);
    m->regs[o->reg] = value;
}

/* ---- memory ---- */

static cell address_of(const machine *m, const ir_operand *o)
{
    cell base = {.known = true};
    if (o->reg != IR_NONE)
        base = m->regs[o->reg];
    return (cell){base.value + o->imm, base.known};
}

static uint64_t load(const machine *m, const ir_insn *insn, uint64_t address, bool *known)
{
    uint64_t word = address / 4;
    *known = false;
    switch (insn->space) {
    case IR_SPACE_SHARED: *known = m->shared[word].known; return m->shared[word].value;
    case IR_SPACE_LOCAL: *known = m->local[word].known; return m->local[word].value;
    default: return m->global[(address - IN) / 4];
    }
}

static void store(machine *m, const ir_insn *insn, uint64_t address, cell value)
{
    value.known &= in_slice(m, insn);
    value.value = (uint32_t)value.value;
    switch (insn->space) {
    case IR_SPACE_SHARED: m->shared[address / 4] = value; break;
    case IR_SPACE_LOCAL: m->local[address / 4] = value; break;
    default: m->global[(address - IN) / 4] = (uint32_t)value.value;
    }
}

static void run_memory(machine *m, const ir_insn *insn)
{
    bool stores = insn->op == IR_st, known;
    cell address = address_of(m, &insn->operands[stores ? 0 : 1]);
    trace *t = &m->traces[insn->pc];
    bool proven = flags_of(m, insn) & FLOW_PC_PROVEN;
    t->count++;
    t->hash = (t->hash ^ address.value) * UINT64_C(0x100000001b3);
    if (in_slice(m, insn) || proven)
        must_know(m, insn, address.known && !m->skips, "address");
    if (in_slice(m, insn) && !stores)
        assert_true(insn->op == IR_ld && insn->space != IR_SPACE_GLOBAL);
    uint64_t old = load(m, insn, address.value, &known);
    if (stores) {
        store(m, insn, address.value, read_cell(m, &insn->operands[1]));
        return;
    }
    write_cell(m, insn, &insn->operands[0], (cell){old, known});
    if (insn->op == IR_atom)
        store(m, insn, address.value, (cell){old + read_cell(m, &insn->operands[2]).value, false});
}

/* ---- instructions ---- */

static void run_setp(machine *m, const ir_insn *insn)
{
    cell a = read_cell(m, &insn->operands[1]), b = read_cell(m, &insn->operands[2]);
    cell c = {.known = true};
    if (insn->noperands > 3)
        c = read_cell(m, &insn->operands[3]);
    bool t = insn_compares(insn, (uint32_t)a.value, (uint32_t)b.value), r = c.value;
    bool known = a.known && b.known && c.known, pair = insn->operands[0].kind == IR_OPD_PAIR;
    ir_suffix with = ir_first_of(insn, IR_SC_BOOL);
    for (unsigned n = 0; n < (pair ? 2u : 1u); n++, t = !t) {
        bool value = with == IR_S_and  ? t && r
                     : with == IR_S_or ? t || r
                                       : t != (with == IR_S_xor && r);
        write_cell(m, insn, pair ? &insn->operands[0].items[n] : &insn->operands[0],
                   (cell){value, known});
    }
}

static void run_arithmetic(machine *m, const ir_insn *insn)
{
    cell in[4] = {{0}};
    bool known = true;
    for (uint32_t i = 1; i < insn->noperands && i < 4; i++) {
        in[i] = read_cell(m, &insn->operands[i]);
        known &= in[i].known;
    }
    uint64_t value = insn_computes(insn, in[1].value, in[2].value, in[3].value);
    write_cell(m, insn, &insn->operands[0], (cell){value, known});
}

static void forget_results(machine *m, const ir_insn *insn)
{
    for (uint32_t d = m->s->f->def_first[insn->pc]; d < m->s->f->def_first[insn->pc + 1]; d++)
        m->regs[m->s->f->values[m->s->f->defs[d]].reg].known = false;
}

/* Does the guard let it run? Where the slice does not know, neither does it know the result. */
static bool is_let(machine *m, const ir_insn *insn)
{
    cell guard = {true, true};
    if (insn->guard != IR_NONE)
        guard = (cell){(m->regs[insn->guard].value != 0) != insn->guard_neg,
                       m->regs[insn->guard].known};
    bool computes = insn->op != IR_ld && insn->op != IR_st && insn->op != IR_bra &&
                    insn->op != IR_exit && insn->op != IR_ret;
    bool needed = in_slice(m, insn) || (flags_of(m, insn) & FLOW_PC_PROVEN && !m->skips);
    if (needed && !computes)
        must_know(m, insn, guard.known, "guard");
    if (in_slice(m, insn) && !guard.known)
        forget_results(m, insn);
    return guard.value;
}

static void run_computation(machine *m, const ir_insn *insn)
{
    bool guard_known = insn->guard == IR_NONE || m->regs[insn->guard].known;
    if (insn->op == IR_setp)
        run_setp(m, insn);
    else
        run_arithmetic(m, insn);
    if (!guard_known)
        forget_results(m, insn);
}

/* Where to go on. */
static uint32_t run_insn(machine *m, uint32_t pc)
{
    const ir_func *func = m->s->f->func;
    const ir_insn *insn = &func->insns[pc];
    if (m->skips && m->rejoin == pc)
        m->skips = false;
    m->traces[pc].reached++;
    bool let = is_let(m, insn), unknown = flags_of(m, insn) & FLOW_PC_UNKNOWN;
    assert_false(unknown && flags_of(m, insn) & FLOW_PC_SLICE);
    if (unknown && !m->skips) {
        m->skips = true;
        m->rejoin = m->s->proof.rejoin[pc];
    }
    if (!let)
        return pc + 1;
    switch (insn->op) {
    case IR_bra: return func->labels[insn->operands[0].label].pc;
    case IR_ret:
    case IR_exit: return func->ninsns;
    case IR_ld:
        if (insn->space == IR_SPACE_PARAM)
            write_cell(m, insn, &insn->operands[0],
                       (cell){strcmp(insn->operands[1].sym.var->name, "in") == 0    ? IN
                              : strcmp(insn->operands[1].sym.var->name, "out") == 0 ? OUT
                                                                                    : N,
                              true});
        else
            run_memory(m, insn);
        break;
    case IR_st:
    case IR_atom: run_memory(m, insn); break;
    default: run_computation(m, insn);
    }
    return pc + 1;
}

static void run_thread(machine *m, uint32_t tid, uint64_t data)
{
    memset(m->regs, 0, sizeof m->regs);
    memset(m->local, 0, sizeof m->local);
    memset(m->shared, 0, sizeof m->shared);
    memset(m->traces, 0, sizeof m->traces);
    m->tid = tid, m->skips = false;
    for (uint32_t w = 0; w < GLOBAL_WORDS; w++)
        m->global[w] = rnd(&data, 64);
    uint32_t pc = 0, ninsns = m->s->f->func->ninsns, step = 0;
    for (; step < MAX_STEPS && pc < ninsns; step++)
        pc = run_insn(m, pc);
    assert_true(step < MAX_STEPS);
}

typedef struct tally {
    uint64_t proven, conditional, differ, unproven;
    uint64_t decided, more; /* guards, and accesses that are proven since those are decided */
    uint64_t lost;          /* that are not any more */
} tally;

static void compare(const machine *m, const trace *other, tally *t)
{
    for (uint32_t pc = 0; pc < m->s->proof.npcs; pc++) {
        uint8_t flags = m->s->proof.flags[pc];
        const trace *a = &m->traces[pc], *b = &other[pc];
        bool same = a->count == b->count && a->hash == b->hash;
        if (flags & FLOW_PC_PROVEN && !same)
            fail_msg("seed %llu: instruction %u is proven and depends on data",
                     (unsigned long long)m->seed, pc);
        if (flags & FLOW_PC_COUNTED && a->reached != b->reached)
            fail_msg("seed %llu: how often instruction %u is reached depends on data",
                     (unsigned long long)m->seed, pc);
        t->proven += flags & FLOW_PC_PROVEN && a->count;
        t->differ += !same;
        t->unproven += flags & FLOW_PC_MEMORY && !(flags & FLOW_PC_PROVEN) && a->count;
    }
}

/* Proven accesses whose address or guard is not clean but where a predicate holds. */
static uint32_t count_conditional(const subject *s)
{
    uint32_t count = 0;
    for (uint32_t pc = 0; pc < s->proof.npcs; pc++)
        for (uint32_t u = s->f->use_first[pc];
             s->proof.flags[pc] & FLOW_PC_PROVEN && u < s->f->use_first[pc + 1]; u++)
            count += s->f->uses[u].role == FLOW_USE_ADDRESS &&
                     s->f->taint[s->f->uses[u].value].reason != FLOW_CLEAN;
    return count;
}

static void run_all(machine *m, tally *t)
{
    static trace first[MAX_INSNS];
    for (uint32_t n = 0; n < THREADS; n++) {
        run_thread(m, 15 * n, m->seed);
        memcpy(first, m->traces, sizeof first);
        run_thread(m, 15 * n, m->seed + 5000);
        compare(m, first, t);
    }
}

/* The proof for the launch that run_thread() makes. */
static void decide(subject *s, tally *t)
{
    struct {
        uint64_t in, out;
        uint32_t n;
    } params = {IN, OUT, N};
    flow_launch launch = {
        .params = (const uint8_t *)&params, .nparams = 20, .grid = {1, 1, 1}, .block = {32, 1, 1}};
    uint8_t *decided = wl_new_array(s->arena, uint8_t, s->code.npcs);
    flow_proof proof;
    assert_int_equal(flow_decide(s->kernel, &launch, decided), WL_OK);
    assert_int_equal(flow_prove_decided(&s->code, decided, s->arena, &proof), WL_OK);
    for (uint32_t pc = 0; pc < s->code.npcs; pc++) {
        t->decided += decided[pc] != FLOW_DECIDED_OPEN;
        t->more += s->proof.flags[pc] & FLOW_PC_MEMORY && !(s->proof.flags[pc] & FLOW_PC_PROVEN) &&
                   proof.flags[pc] & FLOW_PC_PROVEN;
        t->lost += s->proof.flags[pc] & FLOW_PC_PROVEN && proof.flags[pc] & FLOW_PC_MEMORY &&
                   !(proof.flags[pc] & FLOW_PC_PROVEN);
    }
    s->proof = proof;
}

static void check(machine *m, const char *text, tally *t)
{
    subject s;
    subject_begin(&s, text, "k");
    assert_true(s.f->func->nregs < MAX_REGS && s.f->func->ninsns < MAX_INSNS);
    m->s = &s;
    t->conditional += count_conditional(&s);
    run_all(m, t);
    decide(&s, t);
    run_all(m, t);
    subject_end(&s);
}

static void slices_know_what_they_need(void **state)
{
    static machine m;
    static char text[1 << 16];
    tally t = {0};
    (void)state;
    for (m.seed = 1; m.seed <= kernels; m.seed++) {
        generate_kernel(m.seed, text, sizeof text);
        check(&m, text, &t);
    }
    print_message("%llu proven accesses, %llu of them where a predicate holds; %llu of %llu others "
                  "differ\n",
                  (unsigned long long)t.proven, (unsigned long long)t.conditional,
                  (unsigned long long)t.differ, (unsigned long long)t.unproven);
    print_message(
        "%llu guards that the launch decides; %llu more accesses are proven by that, %llu "
        "less\n",
        (unsigned long long)t.decided, (unsigned long long)t.more, (unsigned long long)t.lost);
    assert_true(2 * t.conditional > kernels && t.differ * 3 > t.unproven);
    assert_true(t.decided > kernels && t.more > kernels / 2 && t.lost * 50 < t.more);
}

/* What would be wrong to conclude, in kernels where it matters: register 1 is loaded where the first
 * of two predicates holds; an access that uses it follows. `proven`: it may be proven all the same. */
typedef struct example {
    const char *predicates, *access;
    bool proven;
} example;

static const example examples[] = {
    {"setp.lt.u32 %p1, %r10, 15;\nsetp.ge.u32 %p2, %r10, 15;\n", "@%p2", true},
    {"setp.lt.u32 %p1, %r10, 15;\nsetp.ge.u32 %p2, %r10, 15;\n", "@!%p2", false},
    {"setp.lt.u32 %p1, %r10, 15;\nsetp.ge.u32 %p2, %r10, 16;\n", "@%p2", false},
    {"setp.gt.u32 %p1, %r10, %r11;\nsetp.lt.u32 %p2, %r11, %r10;\n", "@!%p2", true},
    {"setp.gt.u32 %p1, %r10, 15;\nsetp.lt.u32 %p2, %r10, 15;\n", "@!%p2", false},
    {"setp.le.u32 %p1, %r10, 15;\nsetp.gt.u32 %p2, %r10, 15;\n", "@%p2", true},
    {"setp.eq.u32 %p1, %r10, 15;\nsetp.ne.s32 %p2, 15, %r10;\n", "@%p2", true},
    {"setp.eq.u32 %p1, %r10, 15;\nsetp.lt.u32 %p2, %r10, 15;\n", "@!%p2", false},
    {"sub.u32 %r9, %r10, 15;\nsetp.lt.s32 %p1, %r9, 20;\nsetp.lt.u32 %p2, %r9, 20;\n", "@!%p2",
     false},
    {"setp.lt.u32 %p2|%p1, %r10, 15;\n", "@%p2", true},
    {"setp.lt.u32 %p2|%p1, %r10, 15;\n", "@%p1", false},
    {"setp.lt.u32 %p1, %r10, 15;\nsetp.lt.u32 _|%p2, %r10, 15;\n", "@!%p2", false},
    {"setp.lt.u32 %p3, %r10, 15;\nsetp.gt.and.u32 %p1|%p2, %r10, 3, %p3;\n", "@!%p3", true},
    {"setp.lt.u32 %p3, %r10, 15;\nsetp.gt.and.u32 %p1|%p2, %r10, 3, !%p3;\n", "@!%p3", false},
    {"setp.lt.u32 %p3, %r10, 15;\nsetp.gt.and.u32 %p1|%p2, %r10, 3, %p3;\n", "@%p2", true},
    {"setp.lt.u32 %p3, %r10, 15;\nsetp.gt.or.u32 %p2|%p1, %r10, 3, %p3;\n", "@!%p2", false},
    {"setp.lt.u32 %p3, %r10, 15;\nsetp.gt.or.u32 %p1|%p2, %r10, 3, %p3;\n", "@!%p1", true},
    /* what the predicate was when the register was loaded, and what it is now */
    {"setp.lt.u32 %p1, %r10, 15;\nmov.pred %p2, %p1;\nnot.pred %p2, %p1;\n@%p2 st.global.u32 "
     "[%d4+4], 1;\n",
     "@!%p1", true},
};

static void conclusions_hold(void **state)
{
    static machine m;
    tally t = {0};
    char text[4096];
    (void)state;
    m.seed = 1;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const example *e = &examples[i];
        uint64_t before = t.conditional;
        snprintf(text, sizeof text,
                 "%s%s%s@%%p1 ld.global.u32 %%r1, [%%d3];\n@!%%p1 mov.u32 %%r1, 5;\n"
                 "and.b32 %%r2, %%r1, 63;\nmad.wide.u32 %%d5, %%r2, 4, %%d4;\n"
                 "%s st.global.u32 [%%d5], 1;\nret;\n}\n",
                 FLOW_HEADER, GENERATED_START, e->predicates, e->access);
        check(&m, text, &t);
        if ((t.conditional != before) != e->proven)
            fail_msg("example %zu is%s proven", i, e->proven ? " not" : "");
    }
}

/* Register 1 is loaded or not at the end of an iteration, and used in the next one, where the
 * predicate of the same name says something else. */
static void iterations_are_told_apart(void **state)
{
    static machine m;
    tally t = {0};
    char text[4096];
    (void)state;
    m.seed = 1;
    for (unsigned n = 0; n < 4; n++) {
        const char *not= n & 1 ? "!" : "";
        const char *at_start = n & 2 ? "and.b32 %r3, %r21, 1;\nsetp.eq.u32 %p1, %r3, 0;\n" : "";
        const char *at_end = n & 2 ? "" : "not.pred %p1, %p1;\n";
        snprintf(
            text, sizeof text,
            "%s%smov.u32 %%r21, 6;\nmov.u32 %%r1, 3;\nsetp.lt.u32 %%p1, %%r10, 15;\nL:\n%s"
            "and.b32 %%r2, %%r1, 63;\nmad.wide.u32 %%d5, %%r2, 4, %%d4;\n"
            "@%s%%p1 st.global.u32 [%%d5], 1;\n@%%p1 ld.global.u32 %%r1, [%%d3];\n"
            "@!%%p1 mov.u32 %%r1, 5;\n%ssub.u32 %%r21, %%r21, 1;\nsetp.ne.u32 %%p7, %%r21, 0;\n"
            "@%%p7 bra L;\nret;\n}\n",
            FLOW_HEADER, GENERATED_START, at_start, not, at_end);
        check(&m, text, &t);
    }
    assert_int_equal(t.conditional, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(slices_know_what_they_need),
                                              cmocka_unit_test(conclusions_hold),
                                              cmocka_unit_test(iterations_are_told_apart)};
    if (argc > 1)
        kernels = strtoull(argv[1], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
