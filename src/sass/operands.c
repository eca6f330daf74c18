/* Walks the layouts of forms.def over the bits of an instruction. */
#include "sass/operands.h"

#include <string.h>

typedef struct field {
    unsigned first, count;
} field;

typedef struct reader {
    uint64_t word[2], seen[2]; /* `seen`: the bits that the row has spoken of */
    const char *at;            /* in the row's layout */
    unsigned kind;             /* bits 9 to 11: where operands come from */
    uint32_t index, sm;
    bool failed;
    sass_details *out;
} reader;

static const sass_form forms[] = {
#define X(bits, kinds, since, before, name, layout) {bits, since, before, kinds, name, layout},
#include "sass/forms.def"
#undef X
};

/* ---- bits ---- */

static uint64_t low_ones(unsigned count)
{
    return count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
}

static bool is_within(unsigned first, unsigned count)
{
    return first < 8 * SASS_BYTES && count <= 64 && first + count <= 8 * SASS_BYTES;
}

static void mark_accounted(reader *r, unsigned first, unsigned count)
{
    if (!is_within(first, count))
        return;
    for (unsigned i = first; i < first + count; i++)
        r->seen[i / 64] |= UINT64_C(1) << i % 64;
}

static uint64_t peek_bits(const reader *r, unsigned first, unsigned count)
{
    if (!is_within(first, count))
        return 0;
    uint64_t value = r->word[first / 64] >> first % 64;
    if (first < 64 && first + count > 64 && first > 0)
        value |= r->word[1] << (64 - first % 64);
    return value & low_ones(count);
}

static uint64_t take_bits(reader *r, unsigned first, unsigned count)
{
    mark_accounted(r, first, count);
    return peek_bits(r, first, count);
}

static int64_t take_signed(reader *r, unsigned first, unsigned count)
{
    uint64_t value = take_bits(r, first, count);
    return (int64_t)(value << (64 - count)) >> (64 - count);
}

/* ---- words of a layout ---- */

static bool accept_char(reader *r, char c)
{
    bool there = *r->at == c;
    r->at += there;
    return there;
}

static unsigned take_decimal(reader *r)
{
    unsigned value = 0;
    while (*r->at >= '0' && *r->at <= '9')
        value = value * 10 + (unsigned)(*r->at++ - '0');
    return value;
}

static field take_field(reader *r)
{
    field f = {take_decimal(r), 1};
    if (accept_char(r, '+'))
        f.count = take_decimal(r);
    return f;
}

static bool ends_word(char c)
{
    return c == ' ' || c == ';' || c == '\0';
}

/* What is left of the word. */
static sass_text take_rest(reader *r)
{
    const char *begin = r->at;
    while (!ends_word(*r->at))
        r->at++;
    return (sass_text){begin, (uint8_t)(r->at - begin)};
}

/* Of "a|b|c" the text number `value`. '?' and what is beyond the last is a mistake. '-' is nothing. */
static sass_text take_choice(reader *r, uint64_t value)
{
    sass_text chosen = {NULL, 0};
    for (uint64_t i = 0; !ends_word(*r->at); i++) {
        const char *begin = r->at;
        while (*r->at != '|' && !ends_word(*r->at))
            r->at++;
        if (i == value)
            chosen = (sass_text){begin, (uint8_t)(r->at - begin)};
        if (*r->at == '|')
            r->at++;
    }
    if (!chosen.at || *chosen.at == '?')
        r->failed = true;
    return chosen.at && *chosen.at == '-' ? (sass_text){NULL, 0} : chosen;
}

/* "first+count=names by value". */
static sass_text take_named(reader *r)
{
    field f = take_field(r);
    r->failed |= !accept_char(r, '=');
    return take_choice(r, take_bits(r, f.first, f.count));
}

static void add_modifier(reader *r, sass_text text)
{
    if (!text.length)
        return;
    if (r->out->modifiers < SASS_MAX_MODIFIERS)
        r->out->modifier[r->out->modifiers++] = text;
    else
        r->failed = true;
}

/* ".NAME", which may begin with digits, or ".first+count=names by value". */
static void read_modifier(reader *r)
{
    const char *begin = r->at;
    (void)take_field(r);
    bool named = r->at > begin && *r->at == '=';
    r->at = begin;
    add_modifier(r, named ? take_named(r) : take_rest(r));
}

/* "first+count=value"; "!value" in place of "=value": another value; "^": one bit of it is set. */
static bool read_condition(reader *r)
{
    field f = take_field(r);
    char test = *r->at++;
    uint64_t wanted = take_decimal(r), value = take_bits(r, f.first, f.count);
    switch (test) {
    case '=': return value == wanted;
    case '!': return value != wanted;
    case '^': return value && !(value & (value - 1));
    default: return false;
    }
}

/* ---- operands ---- */

static uint8_t uniform_number(const reader *r, uint64_t bits)
{
    return bits == (r->sm >= 100 ? 255 : 63) ? SASS_NO_REGISTER : (uint8_t)bits;
}

static uint8_t take_uniform(reader *r, unsigned first)
{
    return uniform_number(r, take_bits(r, first, r->sm >= 100 ? 8 : 6));
}

/* Marks after an operand: -bit |bit ~bit rbit, '{bits=suffixes' and '?value' to leave it out. */
static void read_marks(reader *r, sass_operand *o, uint64_t bits, bool *absent)
{
    while (!ends_word(*r->at)) {
        char mark = *r->at++;
        unsigned bit = mark == '\'' || mark == '{' ? 0 : take_decimal(r);
        switch (mark) {
        case '-':
        case '!': o->flags |= take_bits(r, bit, 1) ? SASS_NEGATED : 0; break;
        case '|': o->flags |= take_bits(r, bit, 1) ? SASS_ABSOLUTE : 0; break;
        case '~': o->flags |= take_bits(r, bit, 1) ? SASS_INVERTED : 0; break;
        case 'r': o->flags |= take_bits(r, bit, 1) ? SASS_REUSED : 0; break;
        case '?': *absent = (bits | (o->flags & SASS_NEGATED ? 8U : 0U)) == bit; break;
        case '{': o->suffix = take_named(r); return;
        case '\'': o->suffix = take_rest(r); return;
        default: r->failed = true; return;
        }
    }
}

static void take_constant(reader *r, sass_operand *o)
{
    o->kind = SASS_CONSTANT;
    if (take_bits(r, 91, 1)) {
        o->flags |= SASS_WITH_UNIFORM;
        o->uniform = take_uniform(r, 32);
        o->value = (int64_t)take_bits(r, 40, 14) * 4;
        return;
    }
    o->value = take_signed(r, 40, 14) * 4;
    o->bank = (uint8_t)take_bits(r, 54, 5);
}

static void take_immediate(reader *r, sass_operand *o, char number)
{
    uint64_t bits = take_bits(r, 32, 32);
    o->kind = number == 'f' ? SASS_FLOAT : number == 'd' ? SASS_DOUBLE : SASS_NUMBER;
    o->value = (int64_t)bits;
    if (number == 'i') {
        o->kind = SASS_SIGNED;
        o->value = (int32_t)bits;
    }
}

/* A register, of rows of a whole warp a uniform one. */
static void take_register(reader *r, unsigned first, sass_operand *o)
{
    bool uniform = r->out->guard_uniform;
    *o = (sass_operand){.kind = uniform ? SASS_UNIFORM : SASS_REGISTER,
                        .reg = uniform ? take_uniform(r, first) : (uint8_t)take_bits(r, first, 8)};
}

/* The operand whose bits begin at 32: by `kind` a register, number, constant or uniform register. */
static void take_lower_slot(reader *r, unsigned kind, char number, sass_operand *o)
{
    switch (kind) {
    case 1: take_register(r, 32, o); return;
    case 2:
    case 4: take_immediate(r, o, number); return;
    case 3:
    case 5: take_constant(r, o); return;
    default:
        *o = (sass_operand){.kind = SASS_UNIFORM, .reg = take_uniform(r, 32)};
        r->failed |= !take_bits(r, 91, 1);
    }
}

static bool is_literal_number(const sass_operand *o)
{
    return o->kind == SASS_NUMBER || o->kind == SASS_SIGNED || o->kind == SASS_FLOAT ||
           o->kind == SASS_DOUBLE;
}

/* "lower,upper+count=suffixes": of a register, whose place decides where the field begins. */
static void read_slot_suffix(reader *r, sass_operand *o, bool lower)
{
    unsigned first = take_decimal(r);
    r->failed |= !accept_char(r, ',');
    field upper = take_field(r);
    r->failed |= !accept_char(r, '=');
    if (is_literal_number(o))
        (void)take_rest(r);
    else
        o->suffix = take_choice(r, take_bits(r, lower ? first : upper.first, upper.count));
    if (!o->suffix.at)
        o->suffix.at = ""; /* it could have one */
}

static void set_slot_flag(reader *r, sass_operand *o, unsigned bit, uint16_t flag)
{
    if (!is_literal_number(o) && take_bits(r, bit, 1))
        o->flags |= flag;
}

/* The marks of b and c: '-' '|' '~' say what their bits of turning mean, a letter how a number is
 * printed; then '{' and suffixes. */
static void read_slot_marks(reader *r, sass_operand *o, bool lower)
{
    bool high = *r->at == 'u';
    unsigned turn = lower ? 63 : high ? 84 : 75, size = lower ? 62 : high ? 83 : 74;
    while (!ends_word(*r->at))
        switch (*r->at++) {
        case '-': set_slot_flag(r, o, turn, SASS_NEGATED); break;
        case '~': set_slot_flag(r, o, turn, SASS_INVERTED); break;
        case '|': set_slot_flag(r, o, size, SASS_ABSOLUTE); break;
        case '{': read_slot_suffix(r, o, lower); return;
        default: break; /* the letter of a number */
        }
}

/* Instructions whose time is not fixed keep nothing for the next. */
static bool may_be_reused(const reader *r, const sass_operand *o)
{
    return o->kind == SASS_REGISTER && (r->word[0] & 0x1ff) < 0x100;
}

/* The operands b (the second) and c (the third): which of them stands at 32 depends on the kind; a
 * register in the other place stands at 64. */
static void read_slot(reader *r, char which, sass_operand *o)
{
    bool second_lower = r->kind != 2 && r->kind != 3 && r->kind != 7;
    bool lower = which == 'e' || (which == 'b') == second_lower;
    char number = *r->at;
    if (lower)
        take_lower_slot(r, r->kind, number, o);
    else
        take_register(r, 64, o);
    if (may_be_reused(r, o) && take_bits(r, which == 'b' ? 123 : 124, 1))
        o->flags |= SASS_REUSED;
    read_slot_marks(r, o, lower);
}

/* Two numbers of half precision in one word. */
static void read_halves(reader *r, sass_operand *high, sass_operand *low)
{
    uint8_t kind = accept_char(r, 'b') ? SASS_BFLOAT : SASS_HALF;
    *high = (sass_operand){.kind = kind, .value = (int64_t)take_bits(r, 48, 16)};
    *low = (sass_operand){.kind = kind, .value = (int64_t)take_bits(r, 32, 16)};
}

static void read_offset(reader *r, sass_operand *o)
{
    field f = take_field(r);
    o->value = take_signed(r, f.first, f.count);
    if (accept_char(r, '*'))
        o->value *= (int64_t)take_decimal(r);
}

/* U: always there; u: where a bit is set; v: where it is a register. */
static void read_added(reader *r, char part, sass_operand *o)
{
    unsigned first = take_decimal(r);
    if (part == 'u' && accept_char(r, ',') && !take_bits(r, take_decimal(r), 1))
        return;
    o->uniform = take_uniform(r, first);
    if (part != 'v' || o->uniform != SASS_NO_REGISTER)
        o->flags |= SASS_WITH_UNIFORM;
}

static void read_address_part(reader *r, char part, sass_operand *o)
{
    switch (part) {
    case 'R':
        o->reg = (uint8_t)take_bits(r, take_decimal(r), 8);
        o->flags |= SASS_WITH_REGISTER;
        return;
    case 'S': read_offset(r, o); return;
    case 'U':
    case 'u':
    case 'v': read_added(r, part, o); return;
    case 'D': o->flags |= take_bits(r, take_decimal(r), 1) ? SASS_DESCRIBED : 0; return;
    case '{': o->suffix = take_named(r); return;
    case ';': return;
    default: r->failed = true;
    }
}

static void read_place(reader *r, sass_operand *o)
{
    o->kind = SASS_MEMORY;
    while (*r->at != ' ' && *r->at && !r->failed)
        read_address_part(r, *r->at++, o);
}

/* A place in a constant bank, at a register (R), a uniform register (U, and L, whose offset has
 * another place) or none (0). */
static void read_bank(reader *r, sass_operand *o)
{
    char by = *r->at++;
    bool uniform = by == 'U' || by == 'L';
    o->kind = SASS_CONSTANT;
    o->bank = (uint8_t)take_bits(r, 54, 5);
    o->value = by == 'L' ? take_signed(r, 37, 17) : take_signed(r, 38, 16);
    if (by == '0')
        return;
    o->reg = uniform ? take_uniform(r, 24) : (uint8_t)take_bits(r, 24, 8);
    o->suffix = (sass_text){uniform ? "U" : "R", 1};
    o->flags |= o->reg != SASS_NO_REGISTER ? SASS_WITH_REGISTER : 0;
}

/* Where distances count from. */
static int64_t next_address(const reader *r)
{
    return ((int64_t)r->index + 1) * SASS_BYTES;
}

/* Of BSSY: a shorter distance. */
static void read_near_target(reader *r, sass_operand *o)
{
    o->kind = SASS_TARGET;
    o->value = next_address(r) + take_signed(r, 34, 30) * 4;
}

/* Of LEPC: a distance in bytes. */
static void read_byte_target(reader *r, sass_operand *o)
{
    field f = take_field(r);
    o->kind = SASS_TARGET;
    o->value = next_address(r) + take_signed(r, f.first, f.count);
}

static void read_descriptor(reader *r, sass_operand *o)
{
    o->kind = SASS_DESCRIPTOR;
    o->uniform = take_uniform(r, take_decimal(r));
}

/* In words of four bytes; the distances of tables (J) are only told. */
static void read_target(reader *r, bool from_here, sass_operand *o)
{
    int64_t words = take_signed(r, 34, 48);
    if (r->sm >= 90)
        words = words * 256 + (int64_t)take_bits(r, 16, 8);
    o->kind = SASS_TARGET;
    o->value = words * 4 + (from_here ? next_address(r) : 0);
    if (accept_char(r, 'R')) {
        o->flags |= SASS_WITH_REGISTER;
        o->reg = (uint8_t)take_bits(r, take_decimal(r), 8);
    } else if (accept_char(r, 'U')) {
        o->flags |= SASS_WITH_UNIFORM;
        o->uniform = take_uniform(r, take_decimal(r));
    }
}

static void read_predicate(reader *r, char kind, sass_operand *o, bool *absent)
{
    field f = take_field(r);
    uint64_t bits = take_bits(r, f.first, 3);
    if (kind == 'V') /* its bits are turned */
        bits ^= 7;
    o->kind = kind == 'Q' ? SASS_UNIFORM_PREDICATE : SASS_PREDICATE;
    o->reg = (uint8_t)bits;
    read_marks(r, o, bits, absent);
}

static void read_value(reader *r, char kind, sass_operand *o, bool *absent)
{
    field f = take_field(r);
    if (kind == 'S') {
        o->kind = SASS_SIGNED;
        o->value = take_signed(r, f.first, f.count);
    } else {
        o->kind = kind == 'B' ? SASS_BARRIER : kind == 'K' ? SASS_SCOREBOARD : SASS_NUMBER;
        o->value = (int64_t)take_bits(r, f.first, f.count);
        o->reg = (uint8_t)o->value;
    }
    if (accept_char(r, '*'))
        o->value *= (int64_t)take_decimal(r);
    if (*r->at == '?') {
        r->at++;
        *absent = o->value == (int64_t)take_decimal(r);
    }
}

static void read_register(reader *r, char kind, sass_operand *o, bool *absent)
{
    unsigned first = take_decimal(r);
    o->kind = kind == 'U' ? SASS_UNIFORM : SASS_REGISTER;
    o->reg = kind == 'U' ? take_uniform(r, first) : (uint8_t)take_bits(r, first, 8);
    read_marks(r, o, o->reg, absent);
}

static void read_set(reader *r, sass_operand *o)
{
    field f = take_field(r);
    o->kind = SASS_SET;
    o->value = (int64_t)take_bits(r, f.first, f.count);
}

/* The lookup table of PLOP3 is in two pieces. */
static void read_split(reader *r, sass_operand *o)
{
    field low = take_field(r);
    (void)accept_char(r, ',');
    field high = take_field(r);
    o->kind = SASS_NUMBER;
    o->value = (int64_t)(take_bits(r, low.first, low.count) | take_bits(r, high.first, high.count)
                                                                  << low.count);
}

/* Registers and predicates; false where the letter stands for something else. */
static bool read_numbered(reader *r, char kind, sass_operand *o, bool *absent)
{
    switch (kind) {
    case 'd': take_register(r, 16, o); return true;
    case 'a':
        take_register(r, 24, o);
        if (may_be_reused(r, o) && take_bits(r, 122, 1))
            o->flags |= SASS_REUSED;
        read_marks(r, o, o->reg, absent);
        return true;
    case 'b':
    case 'c':
    case 'e': read_slot(r, kind, o); return true;
    case 'R':
    case 'U': read_register(r, kind, o, absent); return true;
    case 'P':
    case 'Q':
    case 'V': read_predicate(r, kind, o, absent); return true;
    default: return false;
    }
}

static bool read_targets(reader *r, char kind, sass_operand *o)
{
    switch (kind) {
    case 't': read_near_target(r, o); return true;
    case 'y': read_byte_target(r, o); return true;
    case 'T':
    case 'J': read_target(r, kind == 'T', o); return true;
    default: return false;
    }
}

static void read_other(reader *r, char kind, sass_operand *o, bool *absent)
{
    switch (kind) {
    case 'I':
    case 'S':
    case 'B':
    case 'K': read_value(r, kind, o, absent); return;
    case 'Z': read_set(r, o); return;
    case 'W': read_split(r, o); return;
    case 'H': read_halves(r, &r->out->operand[r->out->operands++], o); return;
    case '[': read_place(r, o); return;
    case 'C': read_bank(r, o); return;
    case 'G': read_descriptor(r, o); return;
    case 'N':
    case '\'':
        o->kind = SASS_NAME;
        o->name = kind == 'N' ? take_named(r) : take_rest(r);
        return;
    default: r->failed = true;
    }
}

/* An operand that nvdisasm leaves out is there all the same, so that each has its place. */
static void read_sass_operand(reader *r)
{
    sass_details *out = r->out;
    sass_operand o = {.reg = SASS_NO_REGISTER, .uniform = SASS_NO_REGISTER};
    bool absent = false, written = accept_char(r, '>') || *r->at == 'd';
    char kind = *r->at++;
    if (out->operands >= SASS_MAX_OPERANDS - 1) {
        r->failed = true;
        return;
    }
    if (!read_numbered(r, kind, &o, &absent) && !read_targets(r, kind, &o))
        read_other(r, kind, &o, &absent);
    if (written)
        o.flags |= SASS_WRITTEN;
    if (absent)
        o.flags |= SASS_HIDDEN;
    out->operand[out->operands++] = o;
}

/* ---- rows ---- */

/* False where a condition of the row does not hold, so that it is not the instruction's. */
static bool read_layout_word(reader *r)
{
    if (accept_char(r, '?'))
        return read_condition(r);
    if (accept_char(r, '_')) {
        field f = take_field(r);
        mark_accounted(r, f.first, f.count);
    } else if (accept_char(r, '@')) {
        r->out->guard_uniform = true;
    } else if (accept_char(r, '.')) {
        read_modifier(r);
    } else if (accept_char(r, '(')) { /* the rest of the word only where this holds */
        bool holds = read_condition(r);
        r->failed |= !accept_char(r, ')');
        if (!holds)
            (void)take_rest(r);
        else if (accept_char(r, '.'))
            read_modifier(r);
        else
            read_sass_operand(r);
    } else
        read_sass_operand(r);
    return true;
}

static bool is_all_seen(const reader *r)
{
    return !(r->word[0] & ~r->seen[0]) && !(r->word[1] & ~r->seen[1]);
}

static void read_control(reader *r)
{
    sass_details *out = r->out;
    mark_accounted(r, 0, 12);
    out->guard = (uint8_t)take_bits(r, 12, 3);
    out->guard_negated = take_bits(r, 15, 1);
    out->stall = (uint8_t)take_bits(r, 105, 4);
    out->yield = (uint8_t)take_bits(r, 109, 1);
    out->write_barrier = (uint8_t)take_bits(r, 110, 3);
    out->read_barrier = (uint8_t)take_bits(r, 113, 3);
    out->wait = (uint8_t)take_bits(r, 116, 6);
}

static bool read_row(const sass_form *form, const reader *begin, sass_details *out)
{
    reader r = *begin;
    *out = (sass_details){.form = form};
    r.out = out;
    r.at = form->layout;
    read_control(&r);
    while (*r.at && !r.failed) {
        if (!read_layout_word(&r))
            return false;
        if (!ends_word(*r.at))
            r.failed = true;
        while (*r.at == ' ')
            r.at++;
    }
    return !r.failed && is_all_seen(&r);
}

static bool may_be(const sass_form *form, const reader *r)
{
    return form->bits == (r->word[0] & 0x1ff) && form->since <= r->sm && r->sm < form->before &&
           strchr(form->kinds, '0' + (int)r->kind) != NULL;
}

bool sass_read(const unsigned char bytes[SASS_BYTES], uint32_t index, uint32_t sm,
               sass_details *out)
{
    reader r = {.index = index, .sm = sm, .out = out};
    memcpy(r.word, bytes, SASS_BYTES);
    r.kind = (unsigned)peek_bits(&r, 9, 3);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (may_be(&forms[i], &r) && read_row(&forms[i], &r, out))
            return true;
    *out = (sass_details){0};
    read_control(&r);
    return false;
}

/* ---- pieces of the table ---- */

bool sass_text_is(sass_text text, const char *word)
{
    return strlen(word) == text.length && memcmp(word, text.at, text.length) == 0;
}

bool sass_has_modifier(const sass_details *insn, const char *modifier)
{
    for (unsigned i = 0; i < insn->modifiers; i++)
        if (sass_text_is(insn->modifier[i], modifier))
            return true;
    return false;
}
