#include "inject/unwind.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* libgcc's, as in its unwind-dw2-fde.h: the entry of .eh_frame (FDE) for the code, and where its
 * function starts. */
typedef struct bases {
    void *text, *data, *function;
} bases;
extern const void *_Unwind_Find_FDE(void *pc, bases *out);

/* ---- numbers ---- */

typedef struct cursor {
    const uint8_t *at, *end;
    bool bad; /* read beyond the end, or met what is not known here */
} cursor;

static uint64_t get_fixed(cursor *c, size_t bytes)
{
    uint64_t value = 0;
    if ((size_t)(c->end - c->at) < bytes) {
        c->bad = true;
        c->at = c->end;
        return 0;
    }
    memcpy(&value, c->at, bytes);
    c->at += bytes;
    return value;
}

static void skip_bytes(cursor *c, uint64_t bytes)
{
    if ((uint64_t)(c->end - c->at) < bytes)
        c->bad = true;
    c->at = c->bad ? c->end : c->at + bytes;
}

static uint64_t get_leb(cursor *c, bool is_signed)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;
    do {
        byte = (uint8_t)get_fixed(c, 1);
        value |= shift < 64 ? (uint64_t)(byte & 0x7f) << shift : 0;
        shift += 7;
    } while (byte & 0x80);
    return is_signed && byte & 0x40 && shift < 64 ? value | UINT64_MAX << shift : value;
}

static uint64_t get_uleb(cursor *c)
{
    return get_leb(c, false);
}

static int64_t get_sleb(cursor *c)
{
    return (int64_t)get_leb(c, true);
}

/* ---- entries ---- */

enum { BP = 6, SP = 7, RA = 16 }; /* registers as DWARF numbers them */

typedef enum return_address { RA_AT_CFA, RA_NONE, RA_ELSEWHERE } return_address;

enum { BP_ELSEWHERE = UNWIND_BP_AT_BP + 1 }; /* unwind_rule.bp of a row: it has no rule */

typedef struct row { /* what holds from one place on; of a CFA by another register (UNWIND_UNKNOWN)
                        the offset */
    unwind_rule rule;
    return_address ra;
} row;

typedef struct cie {
    uint64_t code_align;
    int64_t data_align;
    uint8_t encoding; /* of addresses in its FDEs */
    bool augmented;   /* FDEs have a length of further data */
    row initial;
} cie;

/* An entry of .eh_frame without its length. */
static cursor open_entry(const uint8_t *entry)
{
    uint32_t length;
    memcpy(&length, entry, sizeof length);
    const uint8_t *at = entry + sizeof length;
    return length >= 0xfffffff0u ? (cursor){at, at, true} : (cursor){at, at + length, false};
}

static void skip_address(cursor *c, uint8_t encoding)
{
    enum { FORMAT = 0x0f, ALIGNED = 0x50 };
    static const uint8_t sizes[16] = {
        [0x0] = 8, [0x2] = 2, [0x3] = 4, [0x4] = 8, [0xa] = 2, [0xb] = 4, [0xc] = 8};
    uint8_t size = encoding == ALIGNED ? 0 : sizes[encoding & FORMAT];
    c->bad |= size == 0;
    skip_bytes(c, size);
}

/* ---- instructions ---- */

typedef struct program {
    cursor code;
    cie of;
    row now;
    row stack[8];
    unsigned depth;
    uint64_t at; /* the place that `now` holds for */
} program;

/* Nothing can be said of the places from here on. */
static void stop_program(program *p)
{
    p->code.bad = true;
}

static void set_cfa(program *p, uint64_t reg, int64_t offset)
{
    unwind_rule *r = &p->now.rule;
    if (offset != (int32_t)offset)
        stop_program(p);
    r->cfa = reg == SP ? UNWIND_SP : reg == BP ? UNWIND_BP : UNWIND_UNKNOWN;
    r->cfa_at = (int32_t)offset;
}

static void set_cfa_offset(program *p, int64_t offset)
{
    uint8_t cfa = p->now.rule.cfa;
    set_cfa(p, cfa == UNWIND_SP ? SP : cfa == UNWIND_BP ? BP : RA, offset);
}

static void set_bp(program *p, unwind_bp where, int64_t offset)
{
    bool fits = offset == (int16_t)offset;
    p->now.rule.bp = fits ? (uint8_t)where : BP_ELSEWHERE;
    p->now.rule.bp_at = fits ? (int16_t)offset : 0;
}

/* The caller's register lies at the CFA + offset. */
static void set_saved(program *p, uint64_t reg, int64_t offset)
{
    if (reg == BP)
        set_bp(p, UNWIND_BP_AT_CFA, offset);
    else if (reg == RA)
        p->now.ra = offset == -8 ? RA_AT_CFA : RA_ELSEWHERE;
    else if (reg == SP)
        stop_program(p);
}

static void set_other(program *p, uint64_t reg)
{
    if (reg == BP)
        p->now.rule.bp = BP_ELSEWHERE;
    else if (reg == RA)
        p->now.ra = RA_ELSEWHERE;
    else if (reg == SP)
        stop_program(p);
}

static void set_same(program *p, uint64_t reg)
{
    if (reg == BP)
        set_bp(p, UNWIND_BP_KEPT, 0);
    else
        set_other(p, reg);
}

static void set_undefined(program *p, uint64_t reg)
{
    if (reg == RA)
        p->now.ra = RA_NONE;
    else
        set_same(p, reg);
}

static void restore_register(program *p, uint64_t reg)
{
    const row *initial = &p->of.initial;
    if (reg == BP)
        set_bp(p, (unwind_bp)initial->rule.bp, initial->rule.bp_at);
    else if (reg == RA)
        p->now.ra = initial->ra;
}

/* A register + a constant, perhaps what lies there. *reg is 0 where it is anything else. */
static void get_expression(program *p, uint64_t *reg, int64_t *offset, bool *deref)
{
    enum { BREG0 = 0x70, DEREF = 0x06 };
    uint64_t length = get_uleb(&p->code);
    cursor c = {p->code.at, p->code.at, false};
    skip_bytes(&p->code, length);
    c.end = p->code.at;
    *reg = get_fixed(&c, 1) - BREG0;
    *offset = get_sleb(&c);
    *deref = c.at < c.end && *c.at == DEREF;
    c.at += *deref;
    if (c.bad || c.at != c.end || (*reg != BP && *reg != SP)) {
        *reg = 0;
        *offset = 0;
    }
}

static void set_cfa_expression(program *p)
{
    uint64_t reg;
    int64_t offset;
    bool deref;
    get_expression(p, &reg, &offset, &deref);
    set_cfa(p, deref && reg == SP ? 0 : reg, offset);
    if (deref && reg == BP)
        p->now.rule.cfa = UNWIND_AT_BP;
}

static void set_expression(program *p)
{
    uint64_t reg, base;
    int64_t offset;
    bool deref;
    reg = get_uleb(&p->code);
    get_expression(p, &base, &offset, &deref);
    if (reg == BP && base == BP && !deref)
        set_bp(p, UNWIND_BP_AT_BP, offset);
    else
        set_other(p, reg);
}

static void push(program *p)
{
    if (p->depth == sizeof p->stack / sizeof *p->stack)
        stop_program(p);
    else
        p->stack[p->depth++] = p->now;
}

static void pop(program *p)
{
    if (p->depth)
        p->now = p->stack[--p->depth];
    else
        stop_program(p);
}

static int64_t scaled_offset(const program *p, int64_t factor)
{
    return factor * p->of.data_align;
}

enum { /* DW_CFA_* */
       NOP = 0x00,
       ADVANCE_1 = 0x02,
       ADVANCE_2,
       ADVANCE_4,
       OFFSET_EXTENDED,
       RESTORE_EXTENDED,
       UNDEFINED,
       SAME_VALUE,
       IN_REGISTER,
       REMEMBER_STATE,
       RESTORE_STATE,
       DEF_CFA,
       DEF_CFA_REGISTER,
       DEF_CFA_OFFSET,
       DEF_CFA_EXPRESSION,
       EXPRESSION,
       OFFSET_EXTENDED_SF,
       DEF_CFA_SF,
       DEF_CFA_OFFSET_SF,
       VAL_OFFSET,
       VAL_OFFSET_SF,
       VAL_EXPRESSION,
       ARGS_SIZE = 0x2e,
       ADVANCE = 0x40, /* the upper two bits; the lower six are an operand */
       OFFSET = 0x80,
       RESTORE = 0xc0
};

static void define_cfa(program *p, uint8_t op)
{
    cursor *c = &p->code;
    uint64_t reg;
    switch (op) {
    case DEF_CFA:
        reg = get_uleb(c);
        set_cfa(p, reg, (int64_t)get_uleb(c));
        break;
    case DEF_CFA_SF:
        reg = get_uleb(c);
        set_cfa(p, reg, scaled_offset(p, get_sleb(c)));
        break;
    case DEF_CFA_REGISTER:
        reg = get_uleb(c);
        set_cfa(p, p->now.rule.cfa == UNWIND_AT_BP ? RA : reg, p->now.rule.cfa_at);
        break;
    case DEF_CFA_OFFSET: set_cfa_offset(p, (int64_t)get_uleb(c)); break;
    case DEF_CFA_OFFSET_SF: set_cfa_offset(p, scaled_offset(p, get_sleb(c))); break;
    default: set_cfa_expression(p); break;
    }
}

static void define_register(program *p, uint8_t op)
{
    cursor *c = &p->code;
    uint64_t reg = get_uleb(c);
    switch (op) {
    case OFFSET_EXTENDED: set_saved(p, reg, scaled_offset(p, (int64_t)get_uleb(c))); break;
    case OFFSET_EXTENDED_SF: set_saved(p, reg, scaled_offset(p, get_sleb(c))); break;
    case RESTORE_EXTENDED: restore_register(p, reg); break;
    case UNDEFINED: set_undefined(p, reg); break;
    case SAME_VALUE: set_same(p, reg); break;
    case VAL_EXPRESSION:
        set_other(p, reg);
        skip_bytes(c, get_uleb(c));
        break;
    default: /* IN_REGISTER, VAL_OFFSET, VAL_OFFSET_SF: one operand */
        set_other(p, reg);
        get_uleb(c);
        break;
    }
}

/* One instruction. */
static void execute_instruction(program *p)
{
    cursor *c = &p->code;
    uint8_t op = (uint8_t)get_fixed(c, 1), low = op & 0x3f;
    switch (op & 0xc0) {
    case ADVANCE: p->at += low * p->of.code_align; return;
    case OFFSET: set_saved(p, low, scaled_offset(p, (int64_t)get_uleb(c))); return;
    case RESTORE: restore_register(p, low); return;
    default: break;
    }
    switch (op) {
    case NOP: break;
    case ADVANCE_1: p->at += get_fixed(c, 1) * p->of.code_align; break;
    case ADVANCE_2: p->at += get_fixed(c, 2) * p->of.code_align; break;
    case ADVANCE_4: p->at += get_fixed(c, 4) * p->of.code_align; break;
    case REMEMBER_STATE: push(p); break;
    case RESTORE_STATE: pop(p); break;
    case ARGS_SIZE: get_uleb(c); break;
    case EXPRESSION: set_expression(p); break;
    case DEF_CFA:
    case DEF_CFA_SF:
    case DEF_CFA_REGISTER:
    case DEF_CFA_OFFSET:
    case DEF_CFA_OFFSET_SF:
    case DEF_CFA_EXPRESSION: define_cfa(p, op); break;
    default:
        if (op < OFFSET_EXTENDED || op > VAL_EXPRESSION)
            stop_program(p);
        else
            define_register(p, op);
    }
}

/* What holds at `pc`. */
static row run_to_row(cursor code, const cie *of, uint64_t start, uint64_t pc)
{
    program p = {.code = code, .of = *of, .now = of->initial, .at = start};
    while (p.code.at < p.code.end && !p.code.bad && p.at <= pc)
        execute_instruction(&p);
    if (p.code.bad)
        p.now.rule.cfa = UNWIND_UNKNOWN;
    return p.now;
}

/* ---- both kinds of entries ---- */

/* The letters of an augmentation behind its z, and their data. */
static void read_augmentation(cursor *c, const char *letters, cie *out)
{
    uint64_t length = get_uleb(c);
    cursor data = {c->at, c->at, false};
    skip_bytes(c, length);
    data.end = c->at;
    for (; *letters && !data.bad; letters++)
        if (*letters == 'R')
            out->encoding = (uint8_t)get_fixed(&data, 1);
        else if (*letters == 'L')
            skip_bytes(&data, 1);
        else if (*letters == 'P')
            skip_address(&data, (uint8_t)get_fixed(&data, 1));
        else /* S among them, a frame that a signal interrupted */
            data.bad = true;
    c->bad |= data.bad;
}

static bool read_cie(const uint8_t *entry, cie *out)
{
    cursor c = open_entry(entry);
    skip_bytes(&c, 4); /* says that it is one */
    uint64_t version = get_fixed(&c, 1);
    const char *letters = (const char *)c.at;
    while (get_fixed(&c, 1))
        ;
    *out = (cie){.code_align = get_uleb(&c), .data_align = get_sleb(&c)};
    uint64_t ra = version == 1 ? get_fixed(&c, 1) : get_uleb(&c);
    if (c.bad || (version != 1 && version != 3) || ra != RA || (*letters && *letters != 'z'))
        return false;
    out->augmented = *letters == 'z';
    if (out->augmented)
        read_augmentation(&c, letters + 1, out);
    if (c.bad)
        return false;
    cie none = *out;
    none.initial.ra = RA_ELSEWHERE; /* until it is said that it lies there */
    out->initial = run_to_row(c, &none, 0, UINT64_MAX);
    return out->initial.rule.cfa != UNWIND_UNKNOWN;
}

/* Code without tables: libgcc goes no further, unless it is a handler's way back from a signal.
 * `pc` is a byte before that. */
static bool returns_from_signal(uint64_t pc)
{
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05}; /* sigreturn */
    const uint8_t *at = (const uint8_t *)(uintptr_t)pc + 1;
    size_t i = 0;
    while (i < sizeof code && at[i] == code[i])
        i++;
    return i == sizeof code;
}

/* Reads the tables of the file that holds the code. */
static unwind_rule read_rule(uint64_t pc)
{
    static const unwind_rule nothing;
    bases found;
    cie of;
    int32_t back;
    const uint8_t *entry = _Unwind_Find_FDE((void *)(uintptr_t)pc, &found);
    if (!entry)
        return returns_from_signal(pc) ? nothing : (unwind_rule){.cfa = UNWIND_END};
    cursor c = open_entry(entry);
    const uint8_t *here = c.at;
    back = (int32_t)get_fixed(&c, 4);
    if (c.bad || !read_cie(here - back, &of))
        return nothing;
    skip_address(&c, of.encoding);
    skip_address(&c, of.encoding & 0x0f);
    if (of.augmented)
        skip_bytes(&c, get_uleb(&c));
    if (c.bad)
        return nothing;
    row at = run_to_row(c, &of, (uint64_t)(uintptr_t)found.function, pc);
    if (at.ra == RA_NONE && at.rule.cfa != UNWIND_UNKNOWN)
        return (unwind_rule){.cfa = UNWIND_END};
    return at.ra == RA_AT_CFA && at.rule.bp != BP_ELSEWHERE && at.rule.cfa != UNWIND_UNKNOWN
               ? at.rule
               : nothing;
}

/* ---- rules that are known ---- */

enum { PLACE_BITS = 14, PLACES = 1 << PLACE_BITS, RULES = 1 << 12, RULE_BITS = 16 };

/* pc << RULE_BITS | number of its rule + 1; 0: free. A rule lies at its pc's place, or at the
 * neighbour of that. */
static uint64_t places[PLACES];
static unwind_rule rules[RULES];
static uint32_t nrules;
static pthread_mutex_t adding = PTHREAD_MUTEX_INITIALIZER;

static uint64_t rule_place_of(uint64_t pc)
{
    return pc * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACE_BITS);
}

static bool look_up_rule(uint64_t place, uint64_t pc, unwind_rule *out)
{
    uint64_t known = __atomic_load_n(&places[place], __ATOMIC_ACQUIRE);
    if (known >> RULE_BITS != pc || !known)
        return false;
    *out = rules[(known & UINT16_MAX) - 1];
    return true;
}

static uint32_t number_of_rule(unwind_rule rule)
{
    uint32_t i = 0;
    while (i < nrules && memcmp(&rules[i], &rule, sizeof rule) != 0)
        i++;
    if (i == nrules && i < RULES)
        rules[nrules++] = rule;
    return i;
}

/* Who cannot have the lock at once remembers nothing. */
static void remember(uint64_t pc, unwind_rule rule)
{
    if (pc >> (64 - RULE_BITS) || pthread_mutex_trylock(&adding) != 0)
        return;
    uint64_t place = rule_place_of(pc), number = number_of_rule(rule);
    if (number < RULES) {
        __atomic_store_n(&places[place ^ 1], places[place], __ATOMIC_RELEASE);
        __atomic_store_n(&places[place], pc << RULE_BITS | (number + 1), __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&adding);
}

unwind_rule unwind_find(uint64_t pc)
{
    unwind_rule rule;
    uint64_t place = rule_place_of(pc);
    if (look_up_rule(place, pc, &rule) || look_up_rule(place ^ 1, pc, &rule))
        return rule;
    rule = read_rule(pc);
    remember(pc, rule);
    return rule;
}

void unwind_forget(void)
{
    for (uint32_t i = 0; i < PLACES; i++)
        __atomic_store_n(&places[i], 0, __ATOMIC_RELAXED);
}
