/* Random kernels, run one thread at a time by an interpreter that keeps for each value the loads
 * from shared memory that it was made of: whatever it finds at a store, fills.h must tell. */
#include "flow/fills.h"
#include "support.h"

enum {
    KERNELS = 1500,
    THREADS = 3,
    MAX_STEPS = 20000,
    MAX_LOADS = 2048, /* executions of loads from shared memory */
    SET = MAX_LOADS / 64,
    WORDS = 1 << 10, /* of each space */
    MAX_REGS = 256,
    MAX_INSNS = 1024
};

/* A value, and what it was made of. */
typedef struct tagged {
    uint64_t value;
    uint64_t loads[SET];
    bool device;
} tagged;

typedef struct machine {
    const subject *s;
    const flow_fills *fills;
    uint64_t seed;
    uint32_t tid;
    tagged regs[MAX_REGS];
    tagged local[WORDS];
    uint32_t shared[WORDS], global[WORDS];
    uint32_t pc_of_load[MAX_LOADS], last[MAX_INSNS]; /* execution of each pc, from 1 */
    uint32_t loads;
    uint64_t found, earlier, stores;
} machine;

static void add_tags(tagged *to, const tagged *from)
{
    for (uint32_t i = 0; i < SET; i++)
        to->loads[i] |= from->loads[i];
    to->device |= from->device;
}

/* ---- operands ---- */

static tagged read_operand(machine *m, const ir_operand *o)
{
    tagged out = {.value = o->imm};
    if (o->kind == IR_OPD_REG)
        return m->regs[o->reg];
    if (o->kind == IR_OPD_SREG)
        out.value = o->sreg == IR_SR_tid ? m->tid : 32;
    else if (o->kind == IR_OPD_SYM)
        out.value = 0; /* each space has one variable */
    return out;
}

/* ---- memory ---- */

static uint32_t word_of(const machine *m, const ir_operand *o)
{
    uint64_t at = o->imm + (o->reg == IR_NONE ? 0 : m->regs[o->reg].value);
    return (uint32_t)(at / 4 % WORDS);
}

static void check_store(machine *m, const ir_insn *insn, const tagged *value)
{
    uint32_t at = m->fills->at[insn->pc];
    assert_int_not_equal(at, FLOW_NONE);
    const flow_fill *fill = &m->fills->fills[at];
    m->stores++;
    if (value->device && fill->origin == FLOW_COMPUTED)
        fail_msg("seed %llu: what %u stores came from device memory", (unsigned long long)m->seed,
                 insn->pc);
    for (uint32_t i = 0; i < m->loads; i++) {
        uint32_t pc = m->pc_of_load[i];
        const flow_read *read = NULL;
        if (!flow_bit(value->loads, i))
            continue;
        for (uint32_t r = fill->first; r < fill->first + fill->count; r++)
            if (m->fills->reads[r].pc == pc)
                read = &m->fills->reads[r];
        if (!read && !fill->unknown)
            fail_msg("seed %llu: what %u stores depends on the load %u",
                     (unsigned long long)m->seed, insn->pc, pc);
        m->found++;
        if (m->last[pc] == i + 1)
            continue;
        m->earlier++;
        if (read && !read->earlier)
            fail_msg("seed %llu: what %u stores depends on an earlier load %u",
                     (unsigned long long)m->seed, insn->pc, pc);
    }
}

static tagged load_word(machine *m, const ir_insn *insn, uint32_t word)
{
    tagged out = {0};
    const ir_operand *address = &insn->operands[1];
    if (insn->space == IR_SPACE_LOCAL)
        out = m->local[word];
    else if (insn->space == IR_SPACE_SHARED) {
        out.value = m->shared[word];
        flow_set(out.loads, m->loads);
        m->pc_of_load[m->loads++] = insn->pc;
        m->last[insn->pc] = m->loads;
    } else {
        out.value = m->global[word];
        out.device = true;
    }
    if (address->kind == IR_OPD_ADDR && address->reg != IR_NONE) {
        bool device = out.device;
        add_tags(&out, &m->regs[address->reg]);
        out.device = device || (insn->space == IR_SPACE_LOCAL && m->local[word].device);
    }
    return out;
}

/* ---- instructions ---- */

static void write_register(machine *m, const ir_insn *insn, const ir_operand *o, tagged value)
{
    const ir_reg *reg = &m->s->f->func->regs[o->reg];
    if (reg->type == IR_T_b32 || reg->type == IR_T_u32)
        value.value = (uint32_t)value.value;
    if (insn->guard != IR_NONE) {
        bool device = value.device;
        add_tags(&value, &m->regs[insn->guard]);
        value.device = device;
    }
    m->regs[o->reg] = value;
}

static void run_load(machine *m, const ir_insn *insn)
{
    const ir_operand *to = &insn->operands[0], *from = &insn->operands[1];
    if (insn->space == IR_SPACE_PARAM) {
        write_register(m, insn, to, (tagged){.value = 0});
        return;
    }
    uint32_t word = word_of(m, from);
    if (to->kind == IR_OPD_REG)
        write_register(m, insn, to, load_word(m, insn, word));
    for (uint32_t i = 0; i < to->count; i++)
        write_register(m, insn, &to->items[i], load_word(m, insn, (word + i) % WORDS));
}

static void run_store(machine *m, const ir_insn *insn)
{
    tagged value = read_operand(m, &insn->operands[1]);
    uint32_t word = word_of(m, &insn->operands[0]);
    if (insn->space == IR_SPACE_LOCAL)
        m->local[word] = value;
    else if (insn->space == IR_SPACE_SHARED) {
        check_store(m, insn, &value);
        m->shared[word] = (uint32_t)value.value;
    } else
        m->global[word] = (uint32_t)value.value;
}

static void run_atomic(machine *m, const ir_insn *insn)
{
    bool returns = insn->op == IR_atom;
    uint32_t word = word_of(m, &insn->operands[returns]);
    uint32_t more = (uint32_t)read_operand(m, &insn->operands[returns + 1]).value;
    if (returns)
        write_register(m, insn, &insn->operands[0], load_word(m, insn, word));
    *(insn->space == IR_SPACE_SHARED ? &m->shared[word] : &m->global[word]) += more;
}

static void run_arithmetic(machine *m, const ir_insn *insn)
{
    tagged in[4] = {{0}}, out = {0};
    for (uint32_t i = 1; i < insn->noperands && i < 4; i++) {
        in[i] = read_operand(m, &insn->operands[i]);
        bool device = out.device;
        add_tags(&out, &in[i]);
        if (insn->op == IR_selp && i == 3)
            out.device = device;
    }
    out.value = insn->op == IR_setp
                    ? insn_compares(insn, (uint32_t)in[1].value, (uint32_t)in[2].value)
                    : insn_computes(insn, in[1].value, in[2].value, in[3].value);
    write_register(m, insn, &insn->operands[0], out);
}

/* Where to go on. */
static uint32_t run_insn(machine *m, uint32_t pc)
{
    const ir_func *func = m->s->f->func;
    const ir_insn *insn = &func->insns[pc];
    if (insn->guard != IR_NONE && !m->regs[insn->guard].value != insn->guard_neg) {
        for (uint32_t d = 0; d < insn->noperands && d < 1; d++) /* the old value was chosen */
            if (insn->operands[0].kind == IR_OPD_REG && insn->op != IR_st) {
                tagged *old = &m->regs[insn->operands[0].reg];
                bool device = old->device;
                add_tags(old, &m->regs[insn->guard]);
                old->device = device;
            }
        return pc + 1;
    }
    switch (insn->op) {
    case IR_bra: return func->labels[insn->operands[0].label].pc;
    case IR_ret:
    case IR_exit: return func->ninsns;
    case IR_ld: run_load(m, insn); break;
    case IR_st: run_store(m, insn); break;
    case IR_atom:
    case IR_red: run_atomic(m, insn); break;
    default: run_arithmetic(m, insn);
    }
    return pc + 1;
}

static void run_thread(machine *m, uint32_t tid)
{
    memset(m->regs, 0, sizeof m->regs);
    memset(m->local, 0, sizeof m->local);
    memset(m->last, 0, sizeof m->last);
    m->tid = tid, m->loads = 0;
    for (uint32_t w = 0; w < WORDS; w++)
        m->global[w] = w * 2654435761u >> 28, m->shared[w] = w * 40503u % 16;
    uint32_t pc = 0, ninsns = m->s->f->func->ninsns;
    for (uint32_t step = 0; step < MAX_STEPS && pc < ninsns && m->loads < MAX_LOADS; step++)
        pc = run_insn(m, pc);
}

static void run_kernel(machine *m, uint64_t seed, const char *text)
{
    subject s;
    flow_fills fills;
    subject_begin(&s, text, "k");
    assert_true(s.f->func->nregs < MAX_REGS && s.f->func->ninsns < MAX_INSNS);
    assert_int_equal(flow_find_fills(&s.code, s.arena, &fills), WL_OK);
    m->s = &s, m->fills = &fills, m->seed = seed;
    for (uint32_t tid = 0; tid < THREADS; tid++)
        run_thread(m, 5 * tid);
    subject_end(&s);
}

/* ---- kernels that move words about ---- */

typedef struct maker {
    char *text;
    size_t size, at;
    uint64_t seed;
} maker;

__attribute__((format(printf, 2, 3))) static void say(maker *w, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    w->at += (size_t)vsnprintf(w->text + w->at, w->size - w->at, format, args);
    va_end(args);
    assert_true(w->at < w->size);
}

static uint32_t any_of(maker *w, uint32_t below)
{
    return rnd(&w->seed, below);
}

enum { VALUES = 6, PLACES = 7 };

static void say_move(maker *w)
{
    static const char *const ops[] = {"add.u32", "xor.b32", "min.u32", "and.b32"};
    unsigned to = any_of(w, VALUES), a = any_of(w, VALUES), b = any_of(w, VALUES);
    if (any_of(w, 5) == 0)
        say(w, "@%s%%p%u ", any_of(w, 2) ? "!" : "", any_of(w, 3));
    switch (any_of(w, 9)) {
    case 0: say(w, "mov.u32 %%r%u, %u;\n", to, any_of(w, 9)); break;
    case 1: say(w, "mov.u32 %%r%u, %%r%u;\n", to, a); break;
    case 2: say(w, "selp.b32 %%r%u, %%r%u, %%r%u, %%p%u;\n", to, a, b, any_of(w, 3)); break;
    case 3: say(w, "ld.local.u32 %%r%u, [kept+%u];\n", to, 4 * any_of(w, 4)); break;
    case 4: say(w, "st.local.u32 [kept+%u], %%r%u;\n", 4 * any_of(w, 4), a); break;
    case 5: say(w, "ld.global.u32 %%r%u, [%%d1+%u];\n", to, 4 * any_of(w, 9)); break;
    default: say(w, "%s %%r%u, %%r%u, %%r%u;\n", ops[any_of(w, 4)], to, a, b);
    }
}

static void say_shared(maker *w)
{
    unsigned value = any_of(w, VALUES), at = 4 * any_of(w, 9);
    switch (any_of(w, 5)) {
    case 0: say(w, "atom.shared.add.u32 %%r%u, [%%r20+%u], 1;\n", value, at); break;
    case 1:
    case 2: say(w, "ld.shared.u32 %%r%u, [%%r20+%u];\n", value, at); break;
    default: say(w, "st.shared.u32 [%%r20+%u], %%r%u;\n", at, value);
    }
}

/* Forward anywhere; back while there is fuel. */
static void say_branch(maker *w, unsigned place)
{
    unsigned forward = place + 1 + any_of(w, PLACES - place);
    say(w, "setp.lt.u32 %%p%u, %%r%u, %%r%u;\n", any_of(w, 3), any_of(w, VALUES),
        any_of(w, VALUES));
    if (any_of(w, 2))
        say(w, "@%%p%u bra B%u;\n", any_of(w, 3), forward);
    else
        say(w,
            "sub.u32 %%r21, %%r21, 1;\nsetp.eq.u32 %%p7, %%r21, 0;\n@%%p7 bra B%u;\n@%%p%u bra "
            "B%u;\n",
            PLACES, any_of(w, 3), any_of(w, place + 1));
}

static void make_kernel(uint64_t seed, char *text, size_t size)
{
    maker w = {.text = text, .size = size, .seed = seed * 7919 + 5};
    say(&w, FLOW_HEADER
        ".shared .align 4 .b8 one[1024];\n.visible .entry k(.param .u64 a)\n{\n"
        ".reg .pred %%p<9>;\n.reg .b32 %%r<30>;\n.reg .b64 %%d<3>;\n"
        ".local .align 4 .b8 kept[16];\nld.param.u64 %%d1, [a];\nmov.u32 %%r10, %%tid.x;\n"
        "mov.u32 %%r11, one;\nmad.lo.u32 %%r20, %%r10, 64, %%r11;\nmov.u32 %%r21, 9;\n");
    for (unsigned r = 0; r < VALUES; r++)
        say(&w, "mov.u32 %%r%u, %u;\n", r, any_of(&w, 9));
    for (unsigned i = 0; i < 4; i++)
        say(&w, "st.local.u32 [kept+%u], %u;\n", 4 * i, i);
    for (unsigned p = 0; p < 3; p++)
        say(&w, "setp.lt.u32 %%p%u, %%r%u, %%r10;\n", p, p);
    for (unsigned place = 0; place < PLACES; place++) {
        say(&w, "B%u:\n", place);
        for (uint32_t i = 1 + any_of(&w, 5); i; i--)
            if (any_of(&w, 2))
                say_move(&w);
            else
                say_shared(&w);
        say_branch(&w, place);
    }
    say(&w, "B%u:\nst.shared.u32 [%%r20], %%r0;\nret;\n}\n", PLACES);
}

static void all_that_values_are_made_of(void **state)
{
    static machine m;
    static char text[1 << 16];
    (void)state;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        make_kernel(seed, text, sizeof text);
        run_kernel(&m, seed, text);
    }
    print_message("%llu stores of values that %llu loads went into, %llu of them earlier ones\n",
                  (unsigned long long)m.stores, (unsigned long long)m.found,
                  (unsigned long long)m.earlier);
    assert_true(m.found > 2 * KERNELS && 4 * m.earlier > KERNELS);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_values_are_made_of)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
