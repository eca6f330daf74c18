/* Loads and stores. */
#include "sass/lift_memory.h"

#include <inttypes.h>
#include <string.h>

/* ---- sizes ---- */

typedef struct access_size {
    const char *type; /* of an element */
    unsigned words;   /* registers */
} access_size;

static access_size size_of(const lifter *l)
{
    static const char *const names[] = {"U8", "S8", "U16", "S16", "64", "128", NULL};
    static const access_size sizes[] = {{"u8", 1},  {"s8", 1},  {"u16", 1},
                                        {"s16", 1}, {"b32", 2}, {"b32", 4}};
    int which = lift_which(l, names);
    return which < 0 ? (access_size){"b32", 1} : sizes[which];
}

/* ".v2.b32" */
static lift_text type_text(access_size size)
{
    lift_text text;
    if (size.words > 1)
        snprintf(text.at, sizeof text.at, ".v%u.%s", size.words, size.type);
    else
        snprintf(text.at, sizeof text.at, ".%s", size.type);
    return text;
}

/* "%r4, %r5" */
static register_list bare_list(lifter *l, unsigned i, unsigned words, bool written)
{
    register_list list = {""};
    size_t length = 0;
    for (unsigned word = 0; word < words; word++) {
        lift_text text = written ? lift_to(l, i, word) : lift_word(l, i, word);
        length += (size_t)snprintf(list.at + length, sizeof list.at - length, "%s%.20s",
                                   word ? ", " : "", text.at);
    }
    return list;
}

register_list lift_list(lifter *l, unsigned i, unsigned words, bool written)
{
    register_list list = bare_list(l, i, words, written), braced;
    if (words == 1)
        return list;
    snprintf(braced.at, sizeof braced.at, "{%.200s}", list.at);
    return braced;
}

/* ---- addresses ---- */

static bool adds_register(const sass_operand *op)
{
    return op->flags & SASS_WITH_REGISTER && op->reg != SASS_NO_REGISTER;
}

static bool has_uniform(const sass_operand *op)
{
    return op->flags & SASS_WITH_UNIFORM && !(op->flags & SASS_DESCRIBED) &&
           op->uniform != SASS_NO_REGISTER;
}

static lift_text with_offset(lift_text base, int64_t offset)
{
    lift_text text;
    snprintf(text.at, sizeof text.at, "[%.20s+%" PRId64 "]", base.at, offset);
    return text;
}

/* Of two registers, one and two uniform ones, or all four. */
lift_text lift_wide_address(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    lift_text d = lift_new(l, LIFT_B64), u = lift_new(l, LIFT_B64);
    if (!adds_register(op))
        lift_put(l, "mov.u64 %s, 0", d.at);
    else if (sass_text_is(op->suffix, "U32"))
        lift_put(l, "cvt.u64.u32 %s, %%r%u", d.at, op->reg);
    else
        lift_put(l, "mov.b64 %s, {%%r%u, %%r%u}", d.at, op->reg, op->reg + 1);
    if (has_uniform(op)) {
        lift_put(l, "mov.b64 %s, {%%u%u, %%u%u}", u.at, op->uniform, op->uniform + 1);
        lift_put(l, "add.u64 %s, %s, %s", d.at, d.at, u.at);
    }
    return with_offset(d, op->value);
}

lift_text lift_narrow_address(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    unsigned bits = sass_text_is(op->suffix, "X4")    ? 2
                    : sass_text_is(op->suffix, "X8")  ? 3
                    : sass_text_is(op->suffix, "X16") ? 4
                                                      : 0;
    lift_text t;
    if (adds_register(op) && !bits &&
        !has_uniform(op)) { /* as it is: the stack is followed word by word */
        snprintf(t.at, sizeof t.at, "%%r%u", op->reg);
        return with_offset(t, op->value);
    }
    t = lift_new(l, LIFT_B32);
    if (!adds_register(op))
        lift_put(l, "mov.u32 %s, 0", t.at);
    else
        lift_put(l, "shl.b32 %s, %%r%u, %u", t.at, op->reg, bits);
    if (has_uniform(op))
        lift_put(l, "add.u32 %s, %s, %%u%u", t.at, t.at, op->uniform);
    return with_offset(t, op->value);
}

/* ---- loads and stores ---- */

static void load(lifter *l, const char *space, unsigned to, lift_text address)
{
    access_size size = size_of(l);
    lift_do(l, "ld%s%s %s, %s", space, type_text(size).at, lift_list(l, to, size.words, true).at,
            address.at);
}

static void store(lifter *l, const char *space, lift_text address, unsigned from)
{
    access_size size = size_of(l);
    register_list list = lift_list(l, from, size.words, false);
    lift_do(l, "st%s%s %s, %s", space, type_text(size).at, address.at, list.at);
}

/* "{%r4, ..., %r7, %r12, ..., %r15}": four registers of one operand, then four of another. */
static register_list two_lists(lifter *l, unsigned low, unsigned high, bool written)
{
    register_list first = bare_list(l, low, 4, written), second = bare_list(l, high, 4, written),
                  both;
    snprintf(both.at, sizeof both.at, "{%.100s, %.100s}", first.at, second.at);
    return both;
}

/* The upper four registers, the lower four, the address, P. */
static void load_eight(lifter *l)
{
    l->known &= lift_operand(l, 3)->flags & SASS_HIDDEN ? true : false;
    if (l->known)
        lift_do(l, "ld.global.v8.b32 %s, %s", two_lists(l, 1, 0, true).at,
                lift_wide_address(l, 2).at);
}

void lift_ldg(lifter *l)
{
    if (lift_has(l, "256")) {
        load_eight(l);
        return;
    }
    bool plain = lift_is_none(lift_operand(l, 0)) &&
                 (l->in.operands < 4 || lift_operand(l, 3)->flags & SASS_HIDDEN);
    if (plain)
        load(l, ".global", 1, lift_wide_address(l, 2));
    l->known &= plain;
}

/* The address, four registers, four more. */
void lift_stg(lifter *l)
{
    if (lift_has(l, "256")) {
        lift_do(l, "st.global.v8.b32 %s, %s", lift_wide_address(l, 0).at,
                two_lists(l, 1, 2, false).at);
        return;
    }
    store(l, ".global", lift_wide_address(l, 0), 1);
}

/* d, address, P; without P nothing is known of it. */
void lift_ld(lifter *l)
{
    l->known &= lift_operand(l, 2)->flags & SASS_HIDDEN ? true : false;
    if (l->known)
        load(l, "", 0, lift_wide_address(l, 1));
}

void lift_st(lifter *l)
{
    store(l, "", lift_wide_address(l, 0), 1);
}

/* Without a register to load nothing is known to be accessed: it stands before fences, in kernels without shared
 * memory, too. */
void lift_lds(lifter *l)
{
    if (lift_is_none(lift_operand(l, 0)))
        return;
    load(l, ".shared", 0, lift_narrow_address(l, 1));
}

void lift_sts(lifter *l)
{
    store(l, ".shared", lift_narrow_address(l, 0), 1);
}

void lift_ldl(lifter *l)
{
    load(l, ".local", 0, lift_narrow_address(l, 1));
}

void lift_stl(lifter *l)
{
    store(l, ".local", lift_narrow_address(l, 0), 1);
}

/* ---- matrices ---- */

/* How many, each of 8 rows whose addresses 8 lanes have. */
static unsigned matrices_of(const lifter *l)
{
    return lift_has(l, "4") ? 4 : lift_has(l, "2") ? 2 : 1;
}

static const char *transposed(const lifter *l)
{
    return lift_has(l, "MT88") ? ".trans" : "";
}

void lift_ldsm(lifter *l)
{
    unsigned count = matrices_of(l);
    lift_text address = lift_narrow_address(l, 1);
    l->known &= !lift_has(l, "M832");
    if (l->known)
        lift_do(l, "ldmatrix.sync.aligned.m8n8.x%u%s.shared.b16 {%s}, %s", count, transposed(l),
                bare_list(l, 0, count, true).at, address.at);
}

void lift_stsm(lifter *l)
{
    unsigned count = matrices_of(l);
    lift_text address = lift_narrow_address(l, 0);
    lift_do(l, "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 %s, {%s}", count, transposed(l),
            address.at, bare_list(l, 1, count, false).at);
}

void lift_movm(lifter *l)
{
    lift_do(l, "movmatrix.sync.aligned.m8n8.trans.b16 %s, %s", lift_to(l, 0, 0).at,
            lift_word(l, 1, 0).at);
}

/* ---- constants ---- */

/* The address of an indexed constant: "[%d0]" in the space that it returns; NULL: not known. */
static const char *indexed_constant(lifter *l, const sass_operand *op, lift_text *address)
{
    const sass_places *p = &l->code->places;
    int64_t offset = op->value - (op->bank ? 0 : p->param_base);
    if (op->bank ? op->bank >= SASS_BANKS || !p->banks[op->bank].bytes : !p->param_bytes)
        return NULL;
    lift_text t = lift_new(l, LIFT_B32), d = lift_new(l, LIFT_B64), base = lift_new(l, LIFT_B64);
    char name[16] = "__params";
    if (op->bank)
        snprintf(name, sizeof name, "__bank%u", op->bank);
    l->banks |= op->bank ? UINT32_C(1) << op->bank : 0;
    lift_put(l, "add.u32 %s, %%%c%u, %" PRId64, t.at, sass_text_is(op->suffix, "U") ? 'u' : 'r',
             op->reg, offset);
    lift_put(l, "cvt.s64.s32 %s, %s", d.at, t.at);
    lift_put(l, "mov.u64 %s, %s", base.at, name);
    lift_put(l, "add.u64 %s, %s, %s", d.at, d.at, base.at);
    *address = with_offset(d, 0);
    return op->bank ? ".const" : ".param";
}

static bool has_links(const lifter *l, unsigned bank)
{
    for (uint32_t i = 0; i < l->code->places.nlinks; i++)
        if (l->code->places.links[i].bank == bank)
            return true;
    return false;
}

/* A byte or two: the last ones of parameters may be in no whole word. */
static void load_narrow_constant(lifter *l, const sass_operand *op, const char *type)
{
    const sass_places *p = &l->code->places;
    int64_t offset = op->value - p->param_base;
    unsigned bytes = type[1] == '8' ? 1 : 2;
    if (op->bank == 0 && offset >= 0 && offset + bytes <= p->param_bytes) {
        lift_do(l, "ld.param.%s %s, [__params+%" PRId64 "]", type, lift_to(l, 0, 0).at, offset);
        return;
    }
    lift_text word = lift_constant(l, op->bank, op->value & ~INT64_C(3));
    lift_do(l, "bfe.%c32 %s, %s, %u, %u", type[0], lift_to(l, 0, 0).at, word.at,
            8 * (unsigned)(op->value & 3), 8 * bytes);
}

void lift_ldc(lifter *l)
{
    const sass_operand *op = lift_operand(l, 1);
    access_size size = size_of(l);
    lift_text address;
    if (op->kind != SASS_CONSTANT || lift_has(l, "IL") || lift_has(l, "IS") || lift_has(l, "ISL")) {
        l->known = false;
    } else if (adds_register(op)) {
        bool linked = has_links(l, op->bank);
        const char *space = linked ? NULL : indexed_constant(l, op, &address);
        if (space)
            load(l, space, 0, address);
        else if (linked) /* an address that nobody knows, as by itself */
            for (unsigned word = 0; word < size.words; word++)
                lift_set(l, 0, word, lift_unknown(l).at);
        l->known &= space || linked;
    } else if (strcmp(size.type, "b32") != 0) {
        load_narrow_constant(l, op, size.type);
    } else if (size.words == 2) {
        lift_set_pair(l, 0, lift_pair(l, 1).at);
    } else {
        for (unsigned word = 0; word < size.words; word++)
            lift_set(l, 0, word, lift_constant(l, op->bank, op->value + 4 * (int64_t)word).at);
    }
}
