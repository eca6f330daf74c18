/* Lines, operands and results of lifted instructions. */
#include "sass/lifter.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

/* ---- lines ---- */

static void write_line(lifter *l, bool guarded, const char *format, va_list arguments)
    __attribute__((format(printf, 3, 0)));
static void write_line(lifter *l, bool guarded, const char *format, va_list arguments)
{
    if (guarded)
        fprintf(l->out, "@%s%s ", l->in.guard_negated ? "!" : "", l->guard_pred.at);
    vfprintf(l->out, format, arguments);
    fputs(";\n", l->out);
    l->nomem |= !wl_push(&l->lines, l->at);
}

void lift_put(lifter *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(l, false, format, arguments);
    va_end(arguments);
}

void lift_do(lifter *l, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(l, l->guarded, format, arguments);
    va_end(arguments);
}

lift_text lift_place(uint32_t copy, uint32_t insn)
{
    lift_text text;
    if (copy)
        snprintf(text.at, sizeof text.at, "L%" PRIu32 "_%" PRIu32, insn, copy);
    else
        snprintf(text.at, sizeof text.at, "L%" PRIu32, insn);
    return text;
}

void lift_label(lifter *l, uint32_t insn)
{
    fprintf(l->out, "%s:\n", lift_place(l->copy, insn).at);
    l->nomem |= !wl_push(&l->lines, insn);
}

bool lift_can_name(const char *path)
{
    return !strpbrk(path, "\"\\\n\r");
}

void lift_source(lifter *l)
{
    const sass_insn *insn = &l->code->insns[l->at];
    bool same = insn->source_file == l->source_file && insn->source_line == l->source_line;
    if (same || !insn->source_file || !lift_can_name(l->code->files[insn->source_file - 1]))
        return;
    l->source_file = insn->source_file;
    l->source_line = insn->source_line;
    fprintf(l->out, ".loc %" PRIu32 " %" PRIu32 " 0\n", l->source_file, l->source_line);
    l->nomem |= !wl_push(&l->lines, l->at);
}

lift_text lift_new(lifter *l, lift_kind kind)
{
    static const char letters[LIFT_KINDS] = {
        [LIFT_B32] = 't', [LIFT_B64] = 'd', [LIFT_B16] = 'h', [LIFT_PRED] = 'q'};
    lift_text text;
    unsigned number = l->used[kind]++;
    if (l->most[kind] < l->used[kind])
        l->most[kind] = l->used[kind];
    snprintf(text.at, sizeof text.at, "%%%c%u", letters[kind], number);
    return text;
}

lift_text lift_text_of(const char *text)
{
    lift_text copy;
    snprintf(copy.at, sizeof copy.at, "%s", text);
    return copy;
}

lift_text lift_number(int64_t value)
{
    lift_text text;
    snprintf(text.at, sizeof text.at, "%" PRId64, value);
    return text;
}

lift_text lift_unknown(lifter *l)
{
    lift_text t = lift_new(l, LIFT_B32);
    lift_put(l, "mov.b32 %s, %%unknown", t.at);
    return t;
}

/* ---- modifiers ---- */

bool lift_has(const lifter *l, const char *modifier)
{
    return sass_has_modifier(&l->in, modifier);
}

int lift_which(const lifter *l, const char *const *names)
{
    for (int n = 0; names[n]; n++)
        if (lift_has(l, names[n]))
            return n;
    return -1;
}

/* ---- constant banks ---- */

/* What a launch puts into bank 0 beside parameters. */
static const struct {
    uint16_t since, before, offset;
    const char *value;
} launch_words[] = {
    {70, 100, 0x0, "%ntid.x"},      {70, 100, 0x4, "%ntid.y"},      {70, 100, 0x8, "%ntid.z"},
    {70, 100, 0xc, "%nctaid.x"},    {70, 100, 0x10, "%nctaid.y"},   {70, 100, 0x14, "%nctaid.z"},
    {70, 100, 0x28, "%stack"},      {100, 999, 0x360, "%ntid.x"},   {100, 999, 0x364, "%ntid.y"},
    {100, 999, 0x368, "%ntid.z"},   {100, 999, 0x370, "%nctaid.x"}, {100, 999, 0x374, "%nctaid.y"},
    {100, 999, 0x378, "%nctaid.z"}, {100, 999, 0x37c, "%stack"}};

enum { CONSTANTS = 3 };             /* the bank of the program's own */
enum { FORMS_CLUSTERS_90 = 0x140 }; /* 1 where the launch's blocks form clusters, on sm_90 */

/* Where shared and local memory begin among generic addresses: lower and upper half. */
static const struct {
    uint16_t since, before, offset;
    bool local, upper;
} windows[] = {{70, 90, 0x18, false, false},   {70, 90, 0x1c, false, true},
               {70, 100, 0x20, true, false},   {70, 100, 0x24, true, true},
               {100, 999, 0x2f8, true, false}, {100, 999, 0x2fc, true, true}};

lift_text lift_window(lifter *l, bool local, bool upper)
{
    lift_text d = lift_new(l, LIFT_B64), low = lift_new(l, LIFT_B32), high = lift_new(l, LIFT_B32);
    lift_put(l, "mov.u64 %s, 0", d.at);
    lift_put(l, "cvta.%s.u64 %s, %s", local ? "local" : "shared", d.at, d.at);
    lift_put(l, "mov.b64 {%s, %s}, %s", low.at, high.at, d.at);
    return upper ? high : low;
}

/* Generic addresses of constant banks, in bank 0: of all of bank 0, of its parameters, of bank 3. */
typedef enum base_kind { BASE_NONE, BASE_BANK, BASE_PARAMS, BASE_CONSTANTS } base_kind;

static const struct {
    uint16_t since, before, offset;
    base_kind kind;
} bases[] = {{90, 100, 0xc0, BASE_BANK},
             {90, 100, 0x198, BASE_PARAMS},
             {90, 100, 0xd0, BASE_CONSTANTS},
             {100, 999, 0x348, BASE_PARAMS},
             {100, 999, 0x120, BASE_CONSTANTS}};

static base_kind base_at(const lifter *l, int64_t offset)
{
    const sass_places *p = &l->code->places;
    base_kind kind = BASE_NONE;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (l->code->sm >= bases[i].since && l->code->sm < bases[i].before &&
            offset == bases[i].offset)
            kind = bases[i].kind;
    bool there = kind == BASE_CONSTANTS ? p->banks[CONSTANTS].bytes != NULL : p->param_bytes != 0;
    return there ? kind : BASE_NONE;
}

static lift_text base_address(lifter *l, base_kind kind)
{
    lift_text d = lift_new(l, LIFT_B64);
    bool constants = kind == BASE_CONSTANTS;
    l->banks |= constants ? UINT32_C(1) << CONSTANTS : 0;
    lift_put(l, "mov.u64 %s, %s", d.at, constants ? "__bank3" : "__params");
    lift_put(l, "cvta.%s.u64 %s, %s", constants ? "const" : "param", d.at, d.at);
    if (kind == BASE_BANK)
        lift_put(l, "sub.u64 %s, %s, %" PRIu32, d.at, d.at, l->code->places.param_base);
    return d;
}

/* An empty text: there is none. */
static lift_text base_half(lifter *l, int64_t offset)
{
    base_kind first = base_at(l, offset), second = base_at(l, offset - 4);
    if (first == BASE_NONE && second == BASE_NONE)
        return (lift_text){""};
    lift_text d = base_address(l, first != BASE_NONE ? first : second), low = lift_new(l, LIFT_B32),
              high = lift_new(l, LIFT_B32);
    lift_put(l, "mov.b64 {%s, %s}, %s", low.at, high.at, d.at);
    return first != BASE_NONE ? low : high;
}

static lift_text launch_word(lifter *l, int64_t offset)
{
    uint32_t sm = l->code->sm;
    lift_text t = lift_new(l, LIFT_B32);
    for (size_t i = 0; i < sizeof launch_words / sizeof *launch_words; i++)
        if (sm >= launch_words[i].since && sm < launch_words[i].before &&
            offset == launch_words[i].offset) {
            lift_put(l, "mov.u32 %s, %s", t.at, launch_words[i].value);
            return t;
        }
    if (sm >= 90 && sm < 100 && offset == FORMS_CLUSTERS_90) {
        lift_text q = lift_new(l, LIFT_PRED);
        lift_put(l, "mov.pred %s, %%is_explicit_cluster", q.at);
        lift_put(l, "selp.b32 %s, 1, 0, %s", t.at, q.at);
        return t;
    }
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (sm >= windows[i].since && sm < windows[i].before && offset == windows[i].offset)
            return lift_window(l, windows[i].local, windows[i].upper);
    lift_text half = base_half(l, offset);
    return *half.at ? half : lift_unknown(l);
}

static bool is_param(const lifter *l, int64_t offset)
{
    const sass_places *p = &l->code->places;
    return offset >= p->param_base && offset + 4 <= (int64_t)p->param_base + p->param_bytes;
}

/* The linker puts an address there. */
static bool is_linked(const lifter *l, unsigned bank, int64_t offset)
{
    const sass_places *p = &l->code->places;
    for (uint32_t i = 0; i < p->nlinks; i++)
        if (p->links[i].bank == bank && offset >= (int64_t)p->links[i].offset - 4 &&
            offset < (int64_t)p->links[i].offset + 8)
            return true;
    return false;
}

static bool is_ptx_name(const char *name)
{
    static const char letters[] =
        "0123456789_$abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    return *name && !(*name >= '0' && *name <= '9') && name[strspn(name, letters)] == '\0';
}

/* The link whose address, of a variable in global memory, is all there is at that place; SASS_NOWHERE. */
static uint32_t linked_variable(const lifter *l, unsigned bank, int64_t offset)
{
    enum { ADDRESS = 2, ADDRESS_BYTES = 8 }; /* NVIDIA's relocation for 64 bits */
    static const unsigned char nothing[ADDRESS_BYTES];
    const sass_places *p = &l->code->places;
    for (uint32_t i = 0; bank && bank < SASS_BANKS && i < p->nlinks; i++) {
        const sass_link *link = &p->links[i];
        const sass_bank *b = &p->banks[bank];
        if (link->bank == bank && (int64_t)link->offset == offset && link->bytes &&
            link->type == ADDRESS && is_ptx_name(link->symbol) && link->addend >= 0 &&
            (uint64_t)link->addend <= link->bytes && link->offset + ADDRESS_BYTES <= b->size &&
            memcmp(b->bytes + link->offset, nothing, sizeof nothing) == 0)
            return i;
    }
    return SASS_NOWHERE;
}

static lift_text variable_address(lifter *l, uint32_t link)
{
    const sass_link *found = &l->code->places.links[link];
    lift_text d = lift_new(l, LIFT_B64);
    l->linked[link] = true;
    lift_put(l, "mov.u64 %s, %s", d.at, found->symbol);
    if (found->addend)
        lift_put(l, "add.u64 %s, %s, %" PRId64, d.at, d.at, found->addend);
    return d;
}

/* Half an address of a variable; an empty text: there is none. */
static lift_text variable_half(lifter *l, unsigned bank, int64_t offset)
{
    lift_text low, high;
    uint32_t first = linked_variable(l, bank, offset),
             second = linked_variable(l, bank, offset - 4);
    if (first == SASS_NOWHERE && second == SASS_NOWHERE)
        return (lift_text){""};
    lift_text d = variable_address(l, first != SASS_NOWHERE ? first : second);
    low = lift_new(l, LIFT_B32);
    high = lift_new(l, LIFT_B32);
    lift_put(l, "mov.b64 {%s, %s}, %s", low.at, high.at, d.at);
    return first != SASS_NOWHERE ? low : high;
}

lift_text lift_constant(lifter *l, unsigned bank, int64_t offset)
{
    const sass_places *p = &l->code->places;
    if (bank == 0 && !is_param(l, offset))
        return launch_word(l, offset);
    lift_text half = variable_half(l, bank, offset);
    if (*half.at)
        return half;
    if (bank >= SASS_BANKS || is_linked(l, bank, offset))
        return lift_unknown(l);
    if (bank && (offset < 0 || (uint64_t)offset + 4 > p->banks[bank].size))
        return lift_unknown(l);
    lift_text t = lift_new(l, LIFT_B32);
    if (bank == 0)
        lift_put(l, "ld.param.b32 %s, [__params+%" PRId64 "]", t.at, offset - p->param_base);
    else
        lift_put(l, "ld.const.b32 %s, [__bank%u+%" PRId64 "]", t.at, bank, offset);
    l->banks |= bank ? UINT32_C(1) << bank : 0;
    return t;
}

/* ---- operands ---- */

bool lift_is_none(const sass_operand *op)
{
    bool predicate = op->kind == SASS_PREDICATE || op->kind == SASS_UNIFORM_PREDICATE;
    bool reg = op->kind == SASS_REGISTER || op->kind == SASS_UNIFORM;
    return (predicate && op->reg == SASS_ALWAYS) || (reg && op->reg == SASS_NO_REGISTER);
}

static lift_text register_text(const sass_operand *op, unsigned word)
{
    lift_text text;
    snprintf(text.at, sizeof text.at, "%%%c%u", op->kind == SASS_UNIFORM ? 'u' : 'r',
             op->reg + word);
    return text;
}

lift_text lift_word(lifter *l, unsigned i, unsigned word)
{
    const sass_operand *op = lift_operand(l, i);
    lift_text text = {"0"};
    switch (op->kind) {
    case SASS_REGISTER:
    case SASS_UNIFORM: return lift_is_none(op) ? text : register_text(op, word);
    case SASS_NUMBER:
    case SASS_SIGNED:
        return word ? lift_number(op->value < 0 ? -1 : 0) : lift_number((int32_t)op->value);
    case SASS_FLOAT: snprintf(text.at, sizeof text.at, "0f%08X", (unsigned)op->value); return text;
    case SASS_CONSTANT:
        if (!(op->flags & (SASS_WITH_REGISTER | SASS_WITH_UNIFORM)))
            return lift_constant(l, op->bank, op->value + 4 * (int64_t)word);
        break;
    default: break;
    }
    l->known = false;
    return text;
}

lift_text lift_int(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    lift_text value = lift_word(l, i, 0);
    if (op->flags & (SASS_NEGATED | SASS_INVERTED)) {
        lift_text t = lift_new(l, LIFT_B32);
        lift_put(l, op->flags & SASS_NEGATED ? "neg.s32 %s, %s" : "not.b32 %s, %s", t.at, value.at);
        value = t;
    }
    if (op->flags & SASS_ABSOLUTE)
        l->known = false;
    return value;
}

/* A parameter of 64 bits stays one value. */
static bool is_wide_param(const lifter *l, const sass_operand *op)
{
    bool plain = op->kind == SASS_CONSTANT &&
                 !(op->flags & (SASS_WITH_REGISTER | SASS_WITH_UNIFORM));
    return plain && op->bank == 0 && is_param(l, op->value) && is_param(l, op->value + 4) &&
           (op->value - l->code->places.param_base) % 8 == 0;
}

lift_text lift_pair(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    if (op->kind == SASS_NUMBER || op->kind == SASS_SIGNED)
        return lift_number((int32_t)op->value);
    if (is_wide_param(l, op)) {
        lift_text wide = lift_new(l, LIFT_B64);
        lift_put(l, "ld.param.b64 %s, [__params+%" PRId64 "]", wide.at,
                 op->value - l->code->places.param_base);
        if (op->flags & (SASS_NEGATED | SASS_INVERTED))
            lift_put(l, op->flags & SASS_NEGATED ? "neg.s64 %s, %s" : "not.b64 %s, %s", wide.at,
                     wide.at);
        return wide;
    }
    bool plain = op->kind == SASS_CONSTANT &&
                 !(op->flags & (SASS_WITH_REGISTER | SASS_WITH_UNIFORM));
    uint32_t link = plain ? linked_variable(l, op->bank, op->value) : SASS_NOWHERE;
    base_kind base = plain && op->bank == 0 ? base_at(l, op->value) : BASE_NONE;
    if (base != BASE_NONE && !(op->flags & (SASS_NEGATED | SASS_INVERTED)))
        return base_address(l, base);
    if (link != SASS_NOWHERE && !(op->flags & (SASS_NEGATED | SASS_INVERTED)))
        return variable_address(l, link);
    lift_text low = lift_word(l, i, 0), high = lift_word(l, i, 1), d = lift_new(l, LIFT_B64);
    lift_put(l, "mov.b64 %s, {%s, %s}", d.at, low.at, high.at);
    if (op->flags & (SASS_NEGATED | SASS_INVERTED))
        lift_put(l, op->flags & SASS_NEGATED ? "neg.s64 %s, %s" : "not.b64 %s, %s", d.at, d.at);
    return d;
}

static lift_text pred_text(const sass_operand *op)
{
    lift_text text;
    if (op->reg == SASS_ALWAYS)
        return (lift_text){"%pt"};
    snprintf(text.at, sizeof text.at, "%%%sp%u", op->kind == SASS_UNIFORM_PREDICATE ? "u" : "",
             op->reg);
    return text;
}

lift_text lift_pred(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    if (!(op->flags & SASS_NEGATED))
        return pred_text(op);
    lift_text q = lift_new(l, LIFT_PRED);
    lift_put(l, "not.pred %s, %s", q.at, pred_text(op).at);
    return q;
}

/* ---- results ---- */

enum { WIDEST_RESULT = 4 };

static bool is_one_of(const char *name, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, name) == 0)
            return true;
    return false;
}

unsigned lift_result_width(const sass_details *in)
{
    static const char *const two[] = {"WIDE", "64", "F64", "S64", "U64", NULL};
    static const char *const one[] = {
        "ATOM",  "ATOMG", "ATOMS",  "BMSK",      "F2F",    "F2FP",  "F2I",   "FADD",   "FFMA",
        "FLO",   "FMNMX", "FMUL",   "FSEL",      "FSET",   "HADD2", "HFMA2", "HMNMX2", "HMUL2",
        "HSET2", "I2F",   "I2FP",   "IABS",      "IADD3",  "IMAD",  "IMNMX", "LD",     "LDC",
        "LDCU",  "LDG",   "LDL",    "LDS",       "LEA",    "LOP3",  "MATCH", "MOV",    "MUFU",
        "P2R",   "POPC",  "PRMT",   "R2UR",      "REDUX",  "S2R",   "S2UR",  "SEL",    "SGXT",
        "SHF",   "SHFL",  "UIADD3", "UIMAD",     "ULDC",   "ULEA",  "ULOP3", "UMOV",   "UPRMT",
        "USEL",  "USHF",  "VIADD",  "VIADDMNMX", "VIMNMX", "VOTE",  "VOTEU", NULL};
    if (sass_has_modifier(in, "256"))
        return 2 * WIDEST_RESULT;
    if (sass_has_modifier(in, "128"))
        return WIDEST_RESULT;
    for (size_t i = 0; two[i]; i++)
        if (sass_has_modifier(in, two[i]))
            return 2;
    return is_one_of(in->form->name, one) ? 1 : in->form->name[0] == 'D' ? 2 : WIDEST_RESULT;
}

lift_text lift_to(lifter *l, unsigned i, unsigned word)
{
    const sass_operand *op = lift_operand(l, i);
    return lift_is_none(op) ? lift_new(l, LIFT_B32) : register_text(op, word);
}

lift_text lift_to_pred(lifter *l, unsigned i)
{
    const sass_operand *op = lift_operand(l, i);
    return lift_is_none(op) ? lift_new(l, LIFT_PRED) : pred_text(op);
}

void lift_set(lifter *l, unsigned i, unsigned word, const char *value)
{
    const sass_operand *op = lift_operand(l, i);
    if (!lift_is_none(op))
        lift_do(l, "mov.b32 %s, %s", register_text(op, word).at, value);
}

void lift_set_pair(lifter *l, unsigned i, const char *value)
{
    const sass_operand *op = lift_operand(l, i);
    if (!lift_is_none(op))
        lift_do(l, "mov.b64 {%s, %s}, %s", register_text(op, 0).at, register_text(op, 1).at, value);
}

void lift_set_pred(lifter *l, unsigned i, const char *value)
{
    const sass_operand *op = lift_operand(l, i);
    if (!lift_is_none(op))
        lift_do(l, "mov.pred %s, %s", pred_text(op).at, value);
}
