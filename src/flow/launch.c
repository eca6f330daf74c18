/* What one launch decides: guards that are the same for all of its threads, whatever data it loads.
 *
 * Conditional constant propagation (Wegman and Zadeck, "Constant propagation with conditional
 * branches"): starts from "nothing runs, nothing is known" and raises until nothing changes. What
 * parameters hold and how large grid and blocks are is known; what is computed of that by integer
 * arithmetic and comparisons, too. */
#include "flow/launch.h"

#include "flow/kernel.h"

#include <math.h>
#include <string.h>

typedef enum seen { UNSEEN, KNOWN, VARIES } seen;

/* Bits above the width of the register are 0. */
typedef struct fact {
    seen seen;
    uint64_t value;
} fact;

typedef struct state {
    const flow_function *f;
    const flow_launch *launch;
    const ir_insn *insn;
    fact *facts; /* [nvalues] */
    bool *runs;  /* [nblocks + 1] */
    bool *taken; /* [edges], as in graph.succ */
    bool changed;
    uint8_t *decided;
} state;

static const fact varies = {VARIES, 0};

static fact known_fact(uint64_t value)
{
    return (fact){KNOWN, value};
}

static uint64_t cut_to_width(uint64_t value, unsigned bits)
{
    return bits < 64 ? value & ((UINT64_C(1) << bits) - 1) : value;
}

static int64_t sign_extended(uint64_t value, unsigned bits)
{
    unsigned up = bits < 64 ? 64 - bits : 0;
    return (int64_t)(value << up) >> up;
}

/* ---- operands ---- */

static fact fact_of_reg(const state *s, uint32_t reg)
{
    for (uint32_t u = s->f->use_first[s->insn->pc]; u < s->f->use_first[s->insn->pc + 1]; u++)
        if (s->f->values[s->f->uses[u].value].reg == reg)
            return s->facts[s->f->uses[u].value];
    return varies;
}

static fact fact_of_sreg(const state *s, const ir_operand *o)
{
    if (o->sreg == IR_SR_is_explicit_cluster)
        return known_fact(s->launch->clusters);
    const uint32_t *of = o->sreg == IR_SR_ntid     ? s->launch->block
                         : o->sreg == IR_SR_nctaid ? s->launch->grid
                                                   : NULL;
    return of && o->component >= 1 && o->component <= 3 ? known_fact(of[o->component - 1]) : varies;
}

static fact fact_of_operand(const state *s, uint32_t n)
{
    const ir_operand *o = n < s->insn->noperands ? &s->insn->operands[n] : NULL;
    if (!o)
        return varies;
    switch (o->kind) {
    case IR_OPD_INT:
    case IR_OPD_F32:
    case IR_OPD_F64: return known_fact(o->imm);
    case IR_OPD_SREG: return fact_of_sreg(s, o);
    case IR_OPD_REG: break;
    default: return varies;
    }
    fact in = o->component || o->selector ? varies : fact_of_reg(s, o->reg);
    if (o->neg && in.seen == KNOWN)
        in = s->f->func->regs[o->reg].type == IR_T_pred ? known_fact(!in.value) : varies;
    return in;
}

/* ---- comparisons ---- */

static double float_of(const state *s, uint64_t value, unsigned bits)
{
    double number;
    uint32_t half = (uint32_t)value;
    float single;
    memcpy(&single, &half, sizeof single);
    memcpy(&number, &value, sizeof number);
    if (bits == 32)
        number = ir_has(s->insn, IR_S_ftz) && fpclassify(single) == FP_SUBNORMAL ? 0 : single;
    return number;
}

/* By sign of the difference; `unordered`: one is no number. False in *can: not known here. */
static bool compares_as(ir_suffix suffix, int sign, bool unordered, bool *can)
{
    switch (suffix) {
    case IR_S_eq: return !unordered && sign == 0;
    case IR_S_ne: return !unordered && sign != 0;
    case IR_S_lo:
    case IR_S_lt: return !unordered && sign < 0;
    case IR_S_ls:
    case IR_S_le: return !unordered && sign <= 0;
    case IR_S_hi:
    case IR_S_gt: return !unordered && sign > 0;
    case IR_S_hs:
    case IR_S_ge: return !unordered && sign >= 0;
    case IR_S_equ: return unordered || sign == 0;
    case IR_S_neu: return unordered || sign != 0;
    case IR_S_ltu: return unordered || sign < 0;
    case IR_S_leu: return unordered || sign <= 0;
    case IR_S_gtu: return unordered || sign > 0;
    case IR_S_geu: return unordered || sign >= 0;
    default: *can = false; return false;
    }
}

static fact compared(const state *s)
{
    const ir_type_info *type = ir_type_get(s->insn->types[0]);
    fact a = fact_of_operand(s, 1), b = fact_of_operand(s, 2);
    bool can = type->lanes == 1, unordered = false, result;
    int sign;
    if (a.seen != KNOWN || b.seen != KNOWN)
        return a.seen == VARIES || b.seen == VARIES ? varies : (fact){UNSEEN, 0};
    if (type->kind == IR_KIND_F && type->bits >= 32) {
        double x = float_of(s, a.value, type->bits), y = float_of(s, b.value, type->bits);
        unordered = isnan(x) || isnan(y);
        sign = (x > y) - (x < y);
    } else if (type->kind == IR_KIND_S) {
        int64_t x = sign_extended(a.value, type->bits), y = sign_extended(b.value, type->bits);
        sign = (x > y) - (x < y);
    } else {
        uint64_t x = cut_to_width(a.value, type->bits), y = cut_to_width(b.value, type->bits);
        sign = (x > y) - (x < y);
        can &= type->kind == IR_KIND_U || type->kind == IR_KIND_B;
    }
    result = compares_as(ir_first_of(s->insn, IR_SC_CMP), sign, unordered, &can);
    return can ? known_fact(result) : varies;
}

/* One that is known may decide whatever the other is. */
static fact combined(ir_suffix with, fact a, fact b)
{
    for (int i = 0; i < 2; i++) {
        const fact *one = i ? &b : &a;
        if (one->seen == KNOWN && with == IR_S_and && !one->value)
            return known_fact(0);
        if (one->seen == KNOWN && with == IR_S_or && one->value)
            return known_fact(1);
    }
    if (a.seen != KNOWN || b.seen != KNOWN)
        return a.seen == VARIES || b.seen == VARIES ? varies : (fact){UNSEEN, 0};
    return known_fact(with == IR_S_and  ? a.value & b.value
                      : with == IR_S_or ? a.value | b.value
                                        : a.value ^ b.value);
}

/* The n-th of what setp defines: the second is of the comparison's negation. */
static fact fact_of_setp(const state *s, uint32_t n)
{
    fact t = compared(s);
    ir_suffix with = ir_first_of(s->insn, IR_SC_BOOL);
    bool both = s->insn->operands[0].kind == IR_OPD_PAIR &&
                s->insn->operands[0].items[0].kind == IR_OPD_REG &&
                s->insn->operands[0].items[1].kind == IR_OPD_REG;
    if (s->insn->operands[0].kind == IR_OPD_PAIR && !both)
        return varies;
    if (n && t.seen == KNOWN)
        t.value = !t.value;
    return with == IR_S_none ? t : combined(with, t, fact_of_operand(s, 3));
}

/* ---- arithmetic ---- */

static bool divide_whole(bool is_signed, bool rest, uint64_t a, uint64_t b, unsigned bits,
                         uint64_t *out)
{
    int64_t x = sign_extended(a, bits), y = sign_extended(b, bits);
    uint64_t u = cut_to_width(a, bits), v = cut_to_width(b, bits);
    if (v == 0 || (is_signed && y == -1))
        return false;
    *out = is_signed ? (uint64_t)(rest ? x % y : x / y) : rest ? u % v : u / v;
    return true;
}

static uint64_t shift_bits(const ir_insn *insn, bool is_signed, uint64_t a, uint64_t by,
                           unsigned bits)
{
    by = cut_to_width(by, 32);
    if (insn->op == IR_shl)
        return by < bits ? a << by : 0;
    if (is_signed)
        return (uint64_t)(sign_extended(a, bits) >> (by < bits ? by : bits - 1));
    return by < bits ? cut_to_width(a, bits) >> by : 0;
}

/* Of integers, untyped bits, or predicates; false where it is not done here. */
static bool calculate(const ir_insn *insn, uint64_t a, uint64_t b, uint64_t c, uint64_t *out)
{
    const ir_type_info *type = ir_type_get(insn->types[0]);
    bool is_signed = type->kind == IR_KIND_S, wide = ir_has(insn, IR_S_wide);
    unsigned bits = type->bits;
    int64_t x = sign_extended(a, bits), y = sign_extended(b, bits);
    uint64_t u = cut_to_width(a, bits), v = cut_to_width(b, bits);
    bool less = is_signed ? x < y : u < v;
    uint64_t product = !wide ? a * b : is_signed ? (uint64_t)(x * y) : u * v;
    switch (insn->op) {
    case IR_add: *out = a + b; return true;
    case IR_sub: *out = a - b; return true;
    case IR_mul: *out = product; return wide || ir_has(insn, IR_S_lo);
    case IR_mad: *out = product + c; return wide || ir_has(insn, IR_S_lo);
    case IR_and: *out = a & b; return true;
    case IR_or: *out = a | b; return true;
    case IR_xor: *out = a ^ b; return true;
    case IR_not: *out = ~a; return true;
    case IR_neg: *out = 0 - a; return true;
    case IR_min: *out = less ? a : b; return true;
    case IR_max: *out = less ? b : a; return true;
    case IR_selp: *out = c ? a : b; return true;
    case IR_shl:
    case IR_shr: *out = shift_bits(insn, is_signed, a, b, bits); return true;
    case IR_div:
    case IR_rem: return divide_whole(is_signed, insn->op == IR_rem, a, b, bits, out);
    default: return false;
    }
}

static bool is_whole_number(const ir_insn *insn)
{
    const ir_type_info *type = ir_type_get(insn->types[0]);
    bool moves = insn->op == IR_mov || insn->op == IR_selp;
    bool whole = type->kind == IR_KIND_S || type->kind == IR_KIND_U || type->kind == IR_KIND_B ||
                 type->kind == IR_KIND_P || moves;
    return whole && type->lanes == 1 && type->bits <= 64 && !ir_has(insn, IR_S_cc) &&
           !ir_has(insn, IR_S_sat) && insn->vector <= 1;
}

static fact calculated(const state *s)
{
    const ir_insn *insn = s->insn;
    fact in[3] = {{KNOWN, 0}, {KNOWN, 0}, {KNOWN, 0}};
    uint64_t out;
    bool unseen = false;
    if (ir_type_get(insn->types[0])->kind == IR_KIND_P && insn->noperands == 3)
        return combined(insn->op == IR_and  ? IR_S_and
                        : insn->op == IR_or ? IR_S_or
                                            : IR_S_xor,
                        fact_of_operand(s, 1), fact_of_operand(s, 2));
    for (uint32_t i = 1; i < insn->noperands && i < 4; i++) {
        in[i - 1] = fact_of_operand(s, i);
        unseen |= in[i - 1].seen == UNSEEN;
        if (in[i - 1].seen == VARIES)
            return varies;
    }
    if (unseen)
        return (fact){UNSEEN, 0};
    if (!calculate(insn, in[0].value, in[1].value, in[2].value, &out))
        return varies;
    return known_fact(ir_type_get(insn->types[0])->kind == IR_KIND_P ? out & 1 : out);
}

/* lop3 of 32 bits: bit by bit what the table says of the three operands' bits. */
static fact looked_up(const state *s)
{
    uint64_t in[3], value = 0;
    for (uint32_t i = 0; i < 3; i++) {
        fact one = fact_of_operand(s, i + 1);
        if (one.seen != KNOWN)
            return one;
        in[i] = one.value;
    }
    for (unsigned bit = 0; bit < 32; bit++) {
        unsigned row = (unsigned)(in[0] >> bit & 1) << 2 | (unsigned)(in[1] >> bit & 1) << 1 |
                       (unsigned)(in[2] >> bit & 1);
        value |= (s->insn->operands[4].imm >> row & 1) << bit;
    }
    return known_fact(value);
}

static fact converted(const state *s)
{
    const ir_type_info *to = ir_type_get(s->insn->types[0]), *from = ir_type_get(s->insn->types[1]);
    bool plain = (to->kind == IR_KIND_S || to->kind == IR_KIND_U) && !ir_has(s->insn, IR_S_sat) &&
                 (from->kind == IR_KIND_S || from->kind == IR_KIND_U);
    fact in = fact_of_operand(s, 1);
    if (!plain || in.seen != KNOWN)
        return plain ? in : varies;
    uint64_t value = from->kind == IR_KIND_S ? (uint64_t)sign_extended(in.value, from->bits)
                                             : cut_to_width(in.value, from->bits);
    value = cut_to_width(value, to->bits);
    return known_fact(to->kind == IR_KIND_S ? (uint64_t)sign_extended(value, to->bits) : value);
}

/* ---- parameters ---- */

static fact loaded(const state *s)
{
    const ir_operand *to = &s->insn->operands[0], *from = &s->insn->operands[1];
    const ir_type_info *type = ir_type_get(s->insn->types[0]);
    const ir_func *func = s->f->func;
    uint64_t at = 0, value = 0;
    uint32_t bytes = type->bits / 8;
    if (s->insn->space != IR_SPACE_PARAM || from->kind != IR_OPD_ADDR || !from->has_sym ||
        from->reg != IR_NONE || from->sym.kind != IR_SYM_VAR || to->kind != IR_OPD_REG ||
        type->lanes != 1 || !bytes || bytes > 8)
        return varies;
    for (uint32_t i = 0; i < func->nparams; i++) {
        uint32_t align = ir_var_align(func->params[i]);
        at = align > 1 ? (at + align - 1) & ~(uint64_t)(align - 1) : at;
        if (func->params[i] == from->sym.var)
            break;
        at += ir_var_size(func->params[i]);
    }
    at += from->imm;
    if (at > s->launch->nparams || bytes > s->launch->nparams - at)
        return varies;
    for (uint32_t i = 0; i < bytes; i++)
        value |= (uint64_t)s->launch->params[at + i] << 8 * i;
    return known_fact(type->kind == IR_KIND_S ? (uint64_t)sign_extended(value, type->bits) : value);
}

/* ---- moves ---- */

/* The parts of a vector, the first one lowest. */
static fact joined(const state *s, const ir_operand *parts)
{
    unsigned bits = parts->count ? ir_type_get(s->insn->types[0])->bits / parts->count : 0;
    uint64_t value = 0;
    bool unseen = false;
    for (uint32_t i = 0; i < parts->count; i++) {
        const ir_operand *o = &parts->items[i];
        fact one = o->kind == IR_OPD_REG && !o->component ? fact_of_reg(s, o->reg)
                   : o->kind == IR_OPD_INT                ? known_fact(o->imm)
                                                          : varies;
        if (one.seen == VARIES || bits * i >= 64)
            return varies;
        unseen |= one.seen == UNSEEN;
        value |= cut_to_width(one.value, bits) << bits * i;
    }
    return unseen ? (fact){UNSEEN, 0} : known_fact(value);
}

/* What the n-th of the registers gets that are defined. */
static fact fact_of_piece(const state *s, fact whole, uint32_t n)
{
    const ir_operand *to = &s->insn->operands[0];
    uint32_t reg = s->f->values[s->f->defs[s->f->def_first[s->insn->pc] + n]].reg;
    unsigned bits = ir_type_get(s->insn->types[0])->bits / to->count;
    for (uint32_t i = 0; i < to->count && whole.seen == KNOWN; i++)
        if (to->items[i].kind == IR_OPD_REG && to->items[i].reg == reg)
            return known_fact(cut_to_width(whole.value >> bits * i, bits));
    return whole.seen == KNOWN ? varies : whole;
}

static fact moved(const state *s, uint32_t n)
{
    const ir_operand *to = &s->insn->operands[0], *from = &s->insn->operands[1];
    unsigned bits = ir_type_get(s->insn->types[0])->bits;
    if (bits > 64 || s->insn->vector > 1)
        return varies;
    fact whole = from->kind == IR_OPD_VEC ? joined(s, from) : fact_of_operand(s, 1);
    return to->kind != IR_OPD_VEC ? whole : to->count ? fact_of_piece(s, whole, n) : varies;
}

/* ---- values ---- */

static fact computed(const state *s, uint32_t n)
{
    if (s->f->unknown[s->insn->pc])
        return varies;
    switch (s->insn->op) {
    case IR_ld: return loaded(s);
    case IR_setp: return fact_of_setp(s, n);
    case IR_cvt: return converted(s);
    case IR_mov: return moved(s, n);
    case IR_lop3: return s->insn->noperands == 5 ? looked_up(s) : varies;
    case IR_add:
    case IR_sub:
    case IR_mul:
    case IR_mad:
    case IR_and:
    case IR_or:
    case IR_xor:
    case IR_not:
    case IR_neg:
    case IR_min:
    case IR_max:
    case IR_selp:
    case IR_shl:
    case IR_shr:
    case IR_div:
    case IR_rem: return is_whole_number(s->insn) ? calculated(s) : varies;
    default: return varies;
    }
}

static void raise_fact(state *s, uint32_t value, fact to)
{
    fact *at = &s->facts[value];
    uint32_t reg = s->f->values[value].reg;
    unsigned bits = reg < s->f->func->nregs ? ir_type_get(s->f->func->regs[reg].type)->bits : 0;
    to.value = cut_to_width(to.value, bits);
    if (at->seen == KNOWN && to.seen == KNOWN && at->value != to.value)
        to = varies;
    if (to.seen <= at->seen)
        return;
    *at = to;
    s->changed = true;
}

/* Does the guard let the instruction run? */
static fact guard_of(const state *s)
{
    if (s->insn->guard == IR_NONE)
        return known_fact(1);
    fact guard = fact_of_reg(s, s->insn->guard);
    if (guard.seen == KNOWN)
        guard.value = (guard.value != 0) != s->insn->guard_neg;
    return guard;
}

static void visit_definitions(state *s)
{
    uint32_t first = s->f->def_first[s->insn->pc], last = s->f->def_first[s->insn->pc + 1];
    fact guard = guard_of(s);
    for (uint32_t d = first; d < last && guard.seen != UNSEEN; d++) {
        const flow_value *v = &s->f->values[s->f->defs[d]];
        if (v->partial)
            raise_fact(s, s->f->defs[d], varies);
        else if (guard.seen == VARIES || guard.value)
            raise_fact(s, s->f->defs[d], computed(s, d - first));
        if (!v->partial && v->old != FLOW_NONE && (guard.seen == VARIES || !guard.value))
            raise_fact(s, s->f->defs[d], s->facts[v->old]);
    }
}

/* ---- control ---- */

static void take_edge(state *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = s->f->graph.succ_first[from]; i < s->f->graph.succ_first[from + 1]; i++) {
        if (s->f->graph.succ[i] != to || s->taken[i])
            continue;
        s->taken[i] = s->runs[to] = s->changed = true;
    }
}

static bool is_edge_taken(const state *s, uint32_t from, uint32_t to)
{
    for (uint32_t i = s->f->graph.succ_first[from]; i < s->f->graph.succ_first[from + 1]; i++)
        if (s->f->graph.succ[i] == to)
            return s->taken[i];
    return false;
}

static void leave_block(state *s, uint32_t block)
{
    const flow_function *f = s->f;
    uint32_t end = f->blocks[block].first + f->blocks[block].count;
    const ir_insn *last = s->insn = &f->func->insns[end - 1];
    bool jumps = last->op == IR_bra && last->noperands == 1 &&
                 last->operands[0].kind == IR_OPD_LABEL &&
                 f->func->labels[last->operands[0].label].kind == IR_LABEL_CODE;
    fact guard = guard_of(s);
    if (guard.seen == UNSEEN)
        return;
    uint32_t to = f->nblocks, next = f->block_of[end];
    if (jumps && f->func->labels[last->operands[0].label].pc < f->func->ninsns)
        to = f->block_of[f->func->labels[last->operands[0].label].pc];
    if (guard.seen == KNOWN && last->guard != IR_NONE &&
        (jumps || last->op == IR_exit || last->op == IR_ret)) {
        take_edge(s, block, guard.value ? to : next);
        return;
    }
    for (uint32_t i = f->graph.succ_first[block]; i < f->graph.succ_first[block + 1]; i++)
        take_edge(s, block, f->graph.succ[i]);
}

static void visit_block_facts(state *s, uint32_t block)
{
    const flow_function *f = s->f;
    uint32_t first = f->graph.pred_first[block];
    for (uint32_t i = f->phi_first[block]; i < f->phi_first[block + 1]; i++)
        for (uint32_t p = first; p < f->graph.pred_first[block + 1]; p++)
            if (is_edge_taken(s, f->graph.pred[p], block))
                raise_fact(s, f->phis[i],
                           s->facts[f->args[f->values[f->phis[i]].first_arg + p - first]]);
    for (uint32_t i = f->blocks[block].first; i < f->blocks[block].first + f->blocks[block].count;
         i++) {
        s->insn = &f->func->insns[i];
        visit_definitions(s);
    }
    leave_block(s, block);
}

static void note_decided(state *s)
{
    const flow_function *f = s->f;
    for (uint32_t i = 0; i < f->func->ninsns; i++) {
        s->insn = &f->func->insns[i];
        if (!s->runs[f->block_of[i]] || s->insn->guard == IR_NONE)
            continue;
        fact guard = guard_of(s);
        if (guard.seen == KNOWN)
            s->decided[i] = guard.value ? FLOW_DECIDED_RUNS : FLOW_DECIDED_NEVER;
    }
}

typedef struct job {
    flow_mem mem;
    state s;
} job;

static void find_decided(void *ctx)
{
    job *j = ctx;
    state *s = &j->s;
    const flow_function *f = s->f;
    s->facts = flow_new(&j->mem, fact, f->nvalues);
    s->runs = flow_new(&j->mem, bool, (size_t)f->nblocks + 1);
    s->taken = flow_new(&j->mem, bool, f->graph.succ_first[f->graph.n]);
    for (uint32_t v = 0; v < f->nvalues; v++)
        if (f->values[v].kind == FLOW_VALUE_ENTRY)
            s->facts[v] = varies;
    s->runs[0] = s->changed = true;
    while (s->changed) {
        s->changed = false;
        for (uint32_t n = 0; n < f->norder; n++)
            if (f->order[n] < f->nblocks && s->runs[f->order[n]])
                visit_block_facts(s, f->order[n]);
    }
    note_decided(s);
}

wl_status flow_decide(flow_kernel *kernel, const flow_launch *launch, uint8_t *decided)
{
    memset(decided, 0, kernel->code->npcs);
    wl_status status = flow_run(kernel, FLOW_PASS_values);
    wl_arena *arena = status == WL_OK ? wl_arena_new() : NULL;
    if (!arena)
        return WL_NOMEM;
    job j = {.mem.arena = arena,
             .s = {.f = &kernel->funcs[0], .launch = launch, .decided = decided}};
    status = flow_guard(&j.mem, find_decided, &j);
    wl_arena_free(arena);
    return status;
}

wl_status flow_prove_decided(const ir_kernel *code, const uint8_t *decided, wl_arena *arena,
                             flow_proof *out)
{
    wl_arena *work = wl_arena_new();
    flow_kernel *kernel = work ? flow_kernel_new(code, work) : NULL;
    if (kernel)
        kernel->funcs[0].decided = decided;
    wl_status status = kernel ? flow_prove_kernel(kernel, arena, out) : WL_NOMEM;
    wl_arena_free(work);
    return status;
}
