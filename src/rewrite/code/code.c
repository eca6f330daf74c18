/* Prints the instructions of probes, and hands out their registers. */
#include "rewrite/code/code.h"

#include "rewrite/code/body.h"

#include <assert.h>
#include <string.h>

/* ---- registers ---- */

static const char *const type_names[RW_TYPES] = {"pred", "b32", "b64"};
static const char temp_letters[RW_TYPES] = {'p', 'w', 'd'};

rw_reg rw_kernels(const rw_body *b, uint32_t reg)
{
    const ir_reg *r = &b->func->regs[reg];
    const ir_type_info *type = ir_type_get(r->type);
    return (rw_reg){.kind = RW_OPD_KERNELS,
                    .type = type->kind == IR_KIND_P ? RW_PRED
                            : type->bits == 64      ? RW_B64
                                                    : RW_B32,
                    .name = r->name};
}

static void print_register(ptx_text *out, const rw_opd *o)
{
    if (o->kind == RW_OPD_TEMP)
        ptx_putf(out, RW_PREFIX "%c%u", temp_letters[o->type], o->number);
    else if (o->kind == RW_OPD_KERNELS)
        ptx_put(out, o->name);
    else if (o->number == IR_NONE)
        ptx_putf(out, RW_PREFIX "%s", o->name);
    else
        ptx_putf(out, RW_PREFIX "%s%u", o->name, o->number);
}

rw_reg rw_declare(rw_body *b, rw_type type, const char *name, uint32_t number)
{
    rw_reg reg = {.kind = RW_OPD_DECLARED, .type = (uint8_t)type, .name = name, .number = number};
    ptx_putf(b->out, "\t.reg .%s ", type_names[type]);
    print_register(b->out, &reg);
    ptx_put(b->out, ";\n");
    return reg;
}

rw_reg rw_temp(rw_body *b, rw_type type)
{
    rw_temps *t = &b->temps;
    rw_reg reg = {.kind = RW_OPD_TEMP, .type = (uint8_t)type, .number = t->used[type]++};
    if (t->used[type] > t->most[type])
        t->most[type] = t->used[type];
    return reg;
}

rw_temps rw_temps_now(const rw_body *b)
{
    return b->temps;
}

void rw_temps_back(rw_body *b, const rw_temps *to)
{
    memcpy(b->temps.used, to->used, sizeof to->used);
}

void rw_print_temps(ptx_text *out, const rw_temps *temps)
{
    for (unsigned type = 0; type < RW_TYPES; type++)
        if (temps->most[type])
            ptx_putf(out, "\t.reg .%s " RW_PREFIX "%c<%u>;\n", type_names[type], temp_letters[type],
                     temps->most[type]);
}

/* ---- operands ---- */

static const struct {
    const char *name, *operands;
} instructions[RW_INSTRUCTIONS] = {
#define X(name, operands) {#name, operands},
#include "rewrite/code/instructions.def"
#undef X
};

static bool is_register(const rw_opd *o, rw_type type)
{
    bool reg = o->kind == RW_OPD_TEMP || o->kind == RW_OPD_DECLARED || o->kind == RW_OPD_KERNELS;
    return reg && o->type == type;
}

/* May the operand stand where instructions.def has the letter? */
static bool fits_letter(const rw_opd *o, char letter, bool destination)
{
    bool plain = !o->is_address && !(o->negated && destination);
    bool constant = !destination && (o->kind == RW_OPD_NUMBER || o->kind == RW_OPD_NAME);
    switch (letter) {
    case 'd': return plain && (is_register(o, RW_B64) || constant);
    case 'w':
        return plain &&
               (is_register(o, RW_B32) || constant || (!destination && o->kind == RW_OPD_SREG));
    case 'p': return plain && is_register(o, RW_PRED);
    case 'v': return plain && is_register(o, RW_B32);
    case 'q': return plain && is_register(o, RW_PRED);
    case 'u': return plain && is_register(o, RW_B64);
    case 'm': return o->is_address && is_register(o, RW_B64);
    case 's': return o->is_address && is_register(o, RW_B32);
    case 'h': return o->kind == RW_OPD_PARAM;
    case 'c': return o->kind == RW_OPD_NAME;
    default: return false;
    }
}

static void print_name(ptx_text *out, const rw_opd *o)
{
    ptx_put(out, o->name);
    if (o->value)
        ptx_putf(out, "+%lld", (long long)o->value);
}

static void print_probe_address(ptx_text *out, const rw_opd *o)
{
    ptx_put(out, "[");
    if (o->kind == RW_OPD_PARAM)
        ptx_put(out, RW_PREFIX "probe");
    else if (o->kind == RW_OPD_NAME)
        ptx_put(out, o->name);
    else
        print_register(out, o);
    if (o->value)
        ptx_putf(out, "+%lld", (long long)o->value);
    ptx_put(out, "]");
}

static void print_probe_operand(ptx_text *out, const rw_opd *o, char letter)
{
    if (letter == 'm' || letter == 's' || letter == 'h' || letter == 'c')
        print_probe_address(out, o);
    else if (o->kind == RW_OPD_NUMBER && o->value == INT64_MIN) /* has no opposite to write down */
        ptx_put(out, "0x8000000000000000");
    else if (o->kind == RW_OPD_NUMBER)
        ptx_putf(out, "%lld", (long long)o->value);
    else if (o->kind == RW_OPD_NAME)
        print_name(out, o);
    else if (o->kind == RW_OPD_SREG)
        ptx_put(out, o->name);
    else {
        ptx_put(out, o->negated ? "!" : "");
        print_register(out, o);
    }
}

/* Operands that a letter stands for. */
static unsigned width_of(char letter)
{
    return letter == 'v' || letter == 'q' || letter == 'u' ? 2 : 1;
}

static void print_pair(ptx_text *out, const rw_opd *o, char letter)
{
    ptx_put(out, letter == 'q' ? "" : "{");
    print_probe_operand(out, &o[0], letter);
    ptx_put(out, letter == 'q' ? "|" : ", ");
    print_probe_operand(out, &o[1], letter);
    ptx_put(out, letter == 'q' ? "" : "}");
}

/* ---- instructions ---- */

bool rw_operands_fit(rw_instruction instruction, const rw_opd *operands, size_t count)
{
    const char *letters = instructions[instruction].operands;
    bool destination = *letters != '-';
    size_t n = 0;
    for (letters += !destination; *letters; letters++, destination = false)
        for (unsigned i = 0; i < width_of(*letters); i++, n++)
            if (n >= count || !fits_letter(&operands[n], *letters, destination))
                return false;
    return n == count;
}

static void print_mnemonic(ptx_text *out, const char *name)
{
    char text[32];
    size_t n = 0;
    for (; name[n] && strncmp(name + n, "__", 2) != 0 && n + 1 < sizeof text; n++)
        text[n] = name[n] == '_' ? '.' : name[n];
    text[n] = 0;
    ptx_put(out, text);
}

static void print_guard(ptx_text *out, const rw_opd *guard)
{
    if (guard->kind == RW_OPD_NONE)
        return;
    ptx_put(out, guard->negated ? "@!" : "@");
    print_register(out, guard);
    ptx_put(out, " ");
}

void rw_emit(rw_body *b, rw_opd guard, rw_instruction instruction, const rw_opd *operands,
             size_t count)
{
    const char *letters = instructions[instruction].operands;
    bool good = rw_operands_fit(instruction, operands, count) &&
                (guard.kind == RW_OPD_NONE || is_register(&guard, RW_PRED));
    assert(good);
    if (!good) {
        b->out->failed = true;
        return;
    }
    ptx_put(b->out, "\t");
    print_guard(b->out, &guard);
    print_mnemonic(b->out, instructions[instruction].name);
    size_t n = 0;
    for (letters += *letters == '-'; *letters; letters++) {
        ptx_put(b->out, n ? ", " : " ");
        if (width_of(*letters) == 2)
            print_pair(b->out, &operands[n], *letters);
        else
            print_probe_operand(b->out, &operands[n], *letters);
        n += width_of(*letters);
    }
    ptx_put(b->out, ";\n");
}

rw_reg rw_emit_new(rw_body *b, rw_instruction instruction, const rw_opd *sources, size_t count)
{
    char letter = instructions[instruction].operands[0];
    enum { MOST = 6 };
    rw_opd operands[MOST];
    bool good = count < MOST && (letter == 'p' || letter == 'w' || letter == 'd');
    assert(good);
    operands[0] = rw_temp(b, letter == 'p' ? RW_PRED : letter == 'w' ? RW_B32 : RW_B64);
    if (!good) {
        b->out->failed = true;
        return operands[0];
    }
    memcpy(operands + 1, sources, count * sizeof *sources);
    rw_emit(b, (rw_opd){0}, instruction, operands, count + 1);
    return operands[0];
}

/* ---- labels ---- */

rw_label rw_new_label(rw_body *b, const char *name)
{
    return (rw_label){name, (*b->labels)++};
}

static void print_probe_label(ptx_text *out, rw_label label)
{
    ptx_putf(out, "$" RW_PREFIX "%s", label.name);
    if (label.number != IR_NONE)
        ptx_putf(out, "%u", label.number);
}

void rw_put_label(rw_body *b, rw_label label)
{
    print_probe_label(b->out, label);
    ptx_put(b->out, ":\n");
}

void rw_goto_if(rw_body *b, rw_opd guard, rw_label label)
{
    ptx_put(b->out, "\t");
    print_guard(b->out, &guard);
    ptx_put(b->out, "bra ");
    print_probe_label(b->out, label);
    ptx_put(b->out, ";\n");
}

void rw_goto(rw_body *b, rw_label label)
{
    rw_goto_if(b, (rw_opd){0}, label);
}
