/* Prints instructions of machine code as nvdisasm does. */
#include "sass/operands.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

typedef struct printer {
    char *at;
    size_t size, length;
    uint32_t sm;
} printer;

static void print_text(printer *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_text(printer *p, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    bool room = p->length < p->size;
    int count = vsnprintf(room ? p->at + p->length : NULL, room ? p->size - p->length : 0, format,
                          arguments);
    va_end(arguments);
    p->length += count > 0 ? (size_t)count : 0;
}

static void print_piece(printer *p, const char *before, sass_text text)
{
    if (text.length)
        print_text(p, "%s%.*s", before, (int)text.length, text.at);
}

/* ---- numbers ---- */

static void print_float(printer *p, double value, bool quiet)
{
    if (isnan(value))
        print_text(p, "%c%sNAN", signbit(value) ? '-' : '+', quiet ? "Q" : "S");
    else if (value == 0 && signbit(value))
        print_text(p, "-0.0");
    else if (isinf(value))
        print_text(p, "%cINF", signbit(value) ? '-' : '+');
    else
        print_text(p, fabs(value) < 1e9 ? "%.20g" : "%.20e", value);
}

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                  : exponent == 0 ? ldexp(fraction, -24)
                                  : ldexp(1024 + fraction, exponent - 25);
    return copysign(size, bits & 0x8000 ? -1 : 1);
}

static double float_value(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return copysign((double)value, bits >> 31 ? -1 : 1);
}

static double value_of_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static void print_number(printer *p, const sass_operand *o)
{
    uint32_t bits = (uint32_t)o->value;
    switch (o->kind) {
    case SASS_FLOAT: print_float(p, float_value(bits), bits >> 22 & 1); return;
    case SASS_HALF: print_float(p, half_value((uint16_t)bits), bits >> 9 & 1); return;
    case SASS_BFLOAT: print_float(p, float_value(bits << 16), bits >> 6 & 1); return;
    case SASS_DOUBLE: print_float(p, value_of_double((uint64_t)bits << 32), bits >> 19 & 1); return;
    case SASS_SIGNED:
        print_text(p, "%s0x%" PRIx64, o->value < 0 ? "-" : "",
                   (uint64_t)(o->value < 0 ? -o->value : o->value));
        return;
    default: print_text(p, "0x%" PRIx64, (uint64_t)o->value);
    }
}

/* ---- registers and addresses ---- */

static void print_numbered(printer *p, const char *name, uint8_t number, uint8_t none,
                           const char *none_name)
{
    if (number == none)
        print_text(p, "%s", none_name);
    else
        print_text(p, "%s%u", name, number);
}

static void print_sass_register(printer *p, uint8_t number)
{
    print_numbered(p, "R", number, SASS_NO_REGISTER, "RZ");
}

static void print_uniform(printer *p, uint8_t number)
{
    print_numbered(p, "UR", number, SASS_NO_REGISTER, "URZ");
}

static void print_predicate(printer *p, uint8_t number, bool uniform)
{
    print_numbered(p, uniform ? "UP" : "P", number, SASS_ALWAYS, uniform ? "UPT" : "PT");
}

static void print_distance(printer *p, int64_t offset, bool after)
{
    if (offset || !after)
        print_text(p, "%s%s0x%" PRIx64, after ? "+" : "", offset < 0 ? "-" : "",
                   (uint64_t)(offset < 0 ? -offset : offset));
}

static void print_bank_place(printer *p, const sass_operand *o)
{
    const char *apart = o->suffix.at && o->suffix.length != 1 ? " " : ""; /* could have a suffix */
    bool indexed = o->flags & SASS_WITH_REGISTER || (o->suffix.length == 1 && !o->value);
    if (o->flags & SASS_WITH_UNIFORM) {
        print_text(p, "cx[");
        print_uniform(p, o->uniform);
        print_text(p, "]%s[", apart);
    } else
        print_text(p, "c[0x%x]%s[", o->bank, apart);
    bool by_uniform = o->suffix.at && *o->suffix.at == 'U';
    if (indexed)
        (by_uniform ? print_uniform : print_sass_register)(p, o->reg);
    print_distance(p, o->value, indexed);
    print_text(p, "]");
}

static void print_base_register(printer *p, const sass_operand *o)
{
    print_sass_register(p, o->reg);
    print_piece(p, ".", o->suffix);
}

static void print_memory(printer *p, const sass_operand *o)
{
    bool uniform = o->flags & SASS_WITH_UNIFORM, described = o->flags & SASS_DESCRIBED;
    bool base = o->flags & SASS_WITH_REGISTER && (o->reg != SASS_NO_REGISTER || o->suffix.length ||
                                                  (!uniform && !o->value) || described);
    if (described && uniform && p->sm >= 90) {
        print_text(p, "desc[");
        print_uniform(p, o->uniform);
        print_text(p, "]");
    }
    print_text(p, "[");
    if (base)
        print_base_register(p, o);
    if (uniform && !described) {
        print_text(p, "%s", base ? "+" : "");
        print_uniform(p, o->uniform);
        base = true;
    }
    print_distance(p, o->value, base);
    print_text(p, "]");
}

/* ---- operands ---- */

static const char *sign_of(const sass_operand *o)
{
    bool predicate = o->kind == SASS_PREDICATE || o->kind == SASS_UNIFORM_PREDICATE;
    return o->flags & SASS_NEGATED ? (predicate ? "!" : "-") : o->flags & SASS_INVERTED ? "~" : "";
}

static void print_target(printer *p, const sass_operand *o)
{
    if (o->flags & SASS_WITH_REGISTER)
        print_sass_register(p, o->reg);
    if (o->flags & SASS_WITH_UNIFORM)
        print_uniform(p, o->uniform);
    if (o->flags & (SASS_WITH_REGISTER | SASS_WITH_UNIFORM))
        print_text(p, " ");
    print_distance(p, o->value, false);
}

static void print_set(printer *p, uint64_t set)
{
    const char *before = "{";
    for (int bit = 63; bit >= 0; bit--)
        if (set >> bit & 1) {
            print_text(p, "%s%d", before, bit);
            before = ",";
        }
    print_text(p, "}");
}

static void print_value(printer *p, const sass_operand *o)
{
    switch (o->kind) {
    case SASS_REGISTER: print_sass_register(p, o->reg); break;
    case SASS_UNIFORM: print_uniform(p, o->reg); break;
    case SASS_PREDICATE: print_predicate(p, o->reg, false); break;
    case SASS_UNIFORM_PREDICATE: print_predicate(p, o->reg, true); break;
    case SASS_BARRIER: print_text(p, "B%u", o->reg); break;
    case SASS_SCOREBOARD: print_text(p, "SB%u", o->reg); break;
    case SASS_CONSTANT: print_bank_place(p, o); break;
    case SASS_MEMORY: print_memory(p, o); break;
    case SASS_NAME: print_piece(p, "", o->name); break;
    case SASS_SET: print_set(p, (uint64_t)o->value); break;
    case SASS_TARGET: print_target(p, o); break;
    case SASS_DESCRIPTOR:
        print_text(p, "desc[");
        print_uniform(p, o->uniform);
        print_text(p, "]");
        break;
    default: print_number(p, o);
    }
}

static void print_sass_operand(printer *p, const sass_operand *o)
{
    const char *size = o->flags & SASS_ABSOLUTE ? "|" : "";
    bool address = o->kind == SASS_MEMORY || (o->kind == SASS_CONSTANT && o->suffix.length <= 1);
    bool within = !address && (o->kind == SASS_UNIFORM || o->kind == SASS_CONSTANT);
    print_text(p, "%s%s", sign_of(o), size);
    print_value(p, o);
    if (within)
        print_piece(p, ".", o->suffix);
    print_text(p, "%s", size);
    if (o->flags & SASS_REUSED)
        print_text(p, ".reuse");
    if (!address && !within)
        print_piece(p, ".", o->suffix);
}

static void print_guarding(printer *p, const sass_details *insn)
{
    if (insn->guard == SASS_ALWAYS && !insn->guard_negated)
        return;
    print_text(p, "@%s", insn->guard_negated ? "!" : "");
    print_predicate(p, insn->guard, insn->guard_uniform);
    print_text(p, " ");
}

size_t sass_print(const sass_details *insn, uint32_t sm, char *text, size_t size)
{
    printer p = {.at = text, .size = size, .sm = sm};
    if (!insn->form) {
        print_text(&p, "UNKNOWN");
        return p.length;
    }
    print_guarding(&p, insn);
    print_text(&p, "%s", insn->form->name);
    for (unsigned i = 0; i < insn->modifiers; i++)
        print_piece(&p, ".", insn->modifier[i]);
    const char *before = " ";
    for (unsigned i = 0; i < insn->operands; i++)
        if (!(insn->operand[i].flags & SASS_HIDDEN)) {
            print_text(&p, "%s", before);
            print_sass_operand(&p, &insn->operand[i]);
            before = ", ";
        }
    return p.length;
}
